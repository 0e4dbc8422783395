"""The words of a scenario's script that are acts of a user or faults, each with the value that it takes.

| word | value |
|---|---|
| `patch` | `{pv/disk: {spec: {claimRef: null}}}`; with `kind: json`, `subresource: status` beside it |
| `label`, `annotate` | `{node/a: {disk: ssd, rack: null}}`, `{node/a: disk=ssd}`; with `overwrite: true` |
| `taint`, `untaint` | `{node-a: dedicated=db:NoSchedule}`, or a list of taints, or `{node: node-a, taint: ...}` |
| `cordon`, `uncordon` | `node-a` |
| `scale` | `{deployment/web: 3}` |
| `restart` | `deployment/web` |
| `ungate` | `pod/job`, or `{pod/job: example.com/quota}` |
| `evict` | `pod/web-0`, or a list |
| `drain` | `node-a`, or `{node: node-a, force: true}` |
| `crash` | `scheduler` |
| `refuse` | `{component: scheduler, nth: 1, reason: Conflict}` |
| `delay` | `{PV controller: 5}` in seconds |
| `outage` | `30` in seconds, or `{server: quota.example.com, seconds: 30}` |
| `upgrade` | `design`, or `{rules: design, component: kube-scheduler, beside: true}`; rules may be gates |
| `api servers` | `upstream`, or `{old: upstream, new: {PodSchedulingReadiness: false}, share: 0.5}` |
| `stop nodes` | `node-a`, a label selector, or a list of them |
| `start nodes` | the same, or nothing for all |
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..api.text import manifest
from ..cluster import Cluster
from ..core.conditions import condition
from ..core.results import ApplyRefused
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import key_of
from ..world.log import Note
from ..world.outage import API_SERVER
from .templates import ExpectationFailed


def listed(value: Any) -> list[Any]:
    """Return a list as it is, anything else as a list of it alone."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _named(value: Any, name: str) -> dict[str, Any]:
    """Return a mapping of arguments; any other value is the argument of this name."""
    return dict(value) if isinstance(value, Mapping) else {name: value}


def _patch(cluster: Cluster, value: Mapping[str, Any]) -> None:
    how = {word: value[word] for word in ("kind", "subresource") if word in value}
    for reference, change in value.items():
        if reference not in how:
            cluster.patch(reference, change, **how)


def _set_texts(act: Callable[..., Any], value: Mapping[str, Any]) -> None:
    for reference, changes in value.items():
        if reference != "overwrite":
            act(reference, *listed(changes), overwrite=value.get("overwrite", False))


def _each(act: Callable[[str, Any], Any], value: Mapping[str, Any]) -> None:
    for name, argument in value.items():
        act(name, argument)


def _taint(cluster: Cluster, value: Mapping[str, Any], sign: str = "") -> None:
    for node, taints in ({value["node"]: value["taint"]} if {"node", "taint"} == set(value) else value).items():
        cluster.taint(node, *(taint.removesuffix(sign) + sign for taint in listed(taints)))


def _drain(cluster: Cluster, value: Any) -> None:
    options = _named(value, "node")
    cluster.drain(*listed(options.pop("node")), **options)


def _api_servers(cluster: Cluster, value: Any) -> None:
    servers = _named(value, "old")
    cluster.upgrade(servers["old"], API_SERVER)
    if "new" in servers:
        cluster.upgrade(servers["new"], API_SERVER, beside=True, share=servers.get("share", 0.5))


ACT_WORDS: Mapping[str, Callable[[Cluster, Any], Any]] = {
    "patch": _patch,
    "label": lambda cluster, value: _set_texts(cluster.label, value),
    "annotate": lambda cluster, value: _set_texts(cluster.annotate, value),
    "cordon": lambda cluster, value: cluster.cordon(value),
    "uncordon": lambda cluster, value: cluster.uncordon(value),
    "taint": _taint,
    "untaint": lambda cluster, value: _taint(cluster, value, "-"),
    "scale": lambda cluster, value: _each(cluster.scale, value),
    "restart": lambda cluster, value: cluster.rollout_restart(value),
    "ungate": lambda cluster, value: _each(
        lambda pod, gates: cluster.ungate(pod, *listed(gates)), value if isinstance(value, Mapping) else {value: []}),
    "evict": lambda cluster, value: [cluster.evict(pod) for pod in listed(value)],
    "drain": _drain,
    "crash": lambda cluster, value: cluster.crash(value),
    "refuse": lambda cluster, value: cluster.refuse(**value),
    "delay": lambda cluster, value: _each(cluster.delay, value),
    "outage": lambda cluster, value: cluster.outage(**_named(value, "seconds")),
    "upgrade": lambda cluster, value: cluster.upgrade(**_named(value, "rules")),
    "api servers": _api_servers,
    "stop nodes": lambda cluster, value: cluster.stop_nodes(*listed(value)),
    "start nodes": lambda cluster, value: cluster.start_nodes(*(listed(value) if value else ())),
}


def _refused(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Do an act of the script and expect that it is refused with this message: `{apply: ..., message: ...}`."""
    try:
        for word, act in value.items():
            if word != "message":
                SCRIPT_WORDS[word](cluster, act)
    except (ApplyRefused, ValueError) as refused:
        _expect_equal("the refusal", value["message"], str(refused))
    else:
        raise ExpectationFailed(f"expected the refusal {value['message']!r}, nothing was refused")


def _step(cluster: Cluster, value: Any) -> None:
    for until in [None] * value if isinstance(value, int) else [value]:
        cluster.step(until)


def _expect_equal(what: str, expected: Any, actual: Any) -> None:
    if expected != actual:
        raise ExpectationFailed(f"expected {what} {expected!r}, it is {actual!r}")


def _expect(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Compare objects by field with expected values, and by the words of EXPECTATIONS whatever else is asked."""
    for word, wanted in value.items():
        if word in EXPECTATIONS:
            EXPECTATIONS[word](cluster, wanted)
            continue
        plain = manifest.to_plain(cluster[word])
        for path, field in wanted.items():
            _expect_equal(f"{word} {path}", field, _value_at(plain, path))


def _expect_events(cluster: Cluster, wanted: Any, *, exist: bool) -> None:
    """Look for events about objects, by their reason and message if they are given."""
    for event in listed(wanted):
        name = event["about"].rpartition("/")[2]
        events = [found for found in cluster.objects("events") if found.involved_object.name == name]
        reason, message = event.get("reason"), event.get("message")
        found = any(reason in (None, each.reason) and message in (None, each.message) for each in events)
        if found != exist:
            existing = sorted({f"{each.reason}: {each.message}" for each in events})
            raise ExpectationFailed(f"expected {'an' if exist else 'no'} event {dict(event)!r}, there are {existing!r}")


def _expect_conditions(cluster: Cluster, wanted: Any, *, holds: bool) -> None:
    for text in listed(wanted):
        found = condition(text, cluster.world.log.objects)
        _expect_equal(f"{text!r} to be", holds, found is not None and found(cluster))


def _expect_passes(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    for pod, number in wanted.items():
        name = "/".join(key_of(cluster[f"pod/{pod}"])[1:])
        note = cluster.world.log.notes.get(Note(SCHEDULER, "pass", name))
        _expect_equal(f"passes of {pod}", number, note.number if note is not None else 0)


def _expect_phases(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    """Compare how many pods are in each of these phases."""
    phases = Counter(each.status.phase for each in cluster.objects("pods"))
    for phase, number in wanted.items():
        _expect_equal(f"number of {phase} pods to be", number, phases[phase])


def _expect_skews(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    """Compare how many pods the fullest and the emptiest domain of each key hold: those that some node has."""
    for key, most in wanted.items():
        domains = {node.metadata.name: node.metadata.labels.get(key) for node in cluster.objects("nodes")}
        held = dict.fromkeys((domain for domain in domains.values() if domain), 0)
        for pod in cluster.objects("pods"):
            if domain := domains.get(pod.spec.node_name):
                held[domain] += 1
        skew = max(held.values(), default=0) - min(held.values(), default=0)
        if skew > most:
            raise ExpectationFailed(f"expected a skew of at most {most} by {key}, it is {skew}: {held}")


def _value_at(plain: Any, path: str) -> Any:
    """Return the value at a dotted path of plain data; None if there is none.

    An item of a list is named by its number, its type or its name: `status.conditions.PodScheduled.message`. A part
    with dots is written in brackets: `metadata.annotations[pv.kubernetes.io/bind-completed]`.
    """
    for bracketed, bare in re.findall(r"\[([^\]]*)\]|([^.\[]+)", path):
        part = bracketed or bare
        if isinstance(plain, list):
            items = (item for item in plain if isinstance(item, dict) and part in (item.get("type"), item.get("name")))
            plain = plain[int(part)] if part.isdigit() and int(part) < len(plain) else next(items, None)
        elif isinstance(plain, dict):
            plain = plain.get(part)
    return plain


EXPECTATIONS: Mapping[str, Callable[[Cluster, Any], None]] = {
    "event": partial(_expect_events, exist=True),
    "no event": partial(_expect_events, exist=False),
    "is": partial(_expect_conditions, holds=True),
    "is not": partial(_expect_conditions, holds=False),
    "passes": _expect_passes,
    "phases": _expect_phases,
    "skew": _expect_skews,
}
SCRIPT_WORDS: Mapping[str, Callable[[Cluster, Any], Any]] = {
    **ACT_WORDS,
    "apply": lambda cluster, value: cluster.apply(*listed(value)),
    "refused": _refused,
    "delete": lambda cluster, value: cluster.delete(*listed(value)),
    "step": _step,
    "run": lambda cluster, value: cluster.run(until=value if isinstance(value, str) else None),
    "set_pool": lambda cluster, value: cluster.set_pool(**value),
    "back": lambda cluster, value: cluster.back(int(value)),
    "expect": _expect,
}
