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

from collections.abc import Callable, Mapping
from typing import Any

from ..cluster import Cluster
from ..world.outage import API_SERVER


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
