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

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..cluster import Cluster
from ..world.outage import API_SERVER


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _patch(cluster: Cluster, value: Mapping[str, Any]) -> None:
    how = {word: value[word] for word in ("kind", "subresource") if word in value}
    for reference, change in value.items():
        if reference not in how:
            cluster.patch(reference, change, **how)


def _label(cluster: Cluster, value: Mapping[str, Any]) -> None:
    for reference, changes in value.items():
        if reference != "overwrite":
            cluster.label(reference, *_listed(changes), overwrite=value.get("overwrite", False))


def _annotate(cluster: Cluster, value: Mapping[str, Any]) -> None:
    for reference, changes in value.items():
        if reference != "overwrite":
            cluster.annotate(reference, *_listed(changes), overwrite=value.get("overwrite", False))


def _taints(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return taints by node, from either form."""
    return {value["node"]: value["taint"]} if {"node", "taint"} == set(value) else value


def _taint(cluster: Cluster, value: Mapping[str, Any]) -> None:
    for node, taints in _taints(value).items():
        cluster.taint(node, *_listed(taints))


def _untaint(cluster: Cluster, value: Mapping[str, Any]) -> None:
    for node, taints in _taints(value).items():
        cluster.taint(node, *(f"{taint.removesuffix('-')}-" for taint in _listed(taints)))


def _ungate(cluster: Cluster, value: Any) -> None:
    for pod, gates in (value if isinstance(value, Mapping) else {value: []}).items():
        cluster.ungate(pod, *_listed(gates))


def _evict(cluster: Cluster, value: Any) -> None:
    for pod in _listed(value):
        cluster.evict(pod)


def _drain(cluster: Cluster, value: Any) -> None:
    options = dict(value) if isinstance(value, Mapping) else {"node": value}
    cluster.drain(*_listed(options.pop("node")), **options)


def _scale(cluster: Cluster, value: Mapping[str, int]) -> None:
    for reference, replicas in value.items():
        cluster.scale(reference, replicas)


def _delay(cluster: Cluster, value: Mapping[str, float]) -> None:
    for component, seconds in value.items():
        cluster.delay(component, seconds)


def _outage(cluster: Cluster, value: Any) -> None:
    cluster.outage(**(value if isinstance(value, Mapping) else {"seconds": value}))


def _upgrade(cluster: Cluster, value: Any) -> None:
    cluster.upgrade(**(value if isinstance(value, Mapping) else {"rules": value}))


def _api_servers(cluster: Cluster, value: Any) -> None:
    servers = value if isinstance(value, Mapping) else {"old": value}
    cluster.upgrade(servers["old"], API_SERVER)
    if "new" in servers:
        cluster.upgrade(servers["new"], API_SERVER, beside=True, share=servers.get("share", 0.5))


ACT_WORDS: Mapping[str, Callable[[Cluster, Any], Any]] = {
    "patch": _patch,
    "label": _label,
    "annotate": _annotate,
    "cordon": lambda cluster, value: cluster.cordon(value),
    "uncordon": lambda cluster, value: cluster.uncordon(value),
    "taint": _taint,
    "untaint": _untaint,
    "scale": _scale,
    "restart": lambda cluster, value: cluster.rollout_restart(value),
    "ungate": _ungate,
    "evict": _evict,
    "drain": _drain,
    "crash": lambda cluster, value: cluster.crash(value),
    "refuse": lambda cluster, value: cluster.refuse(**value),
    "delay": _delay,
    "outage": _outage,
    "upgrade": _upgrade,
    "api servers": _api_servers,
    "stop nodes": lambda cluster, value: cluster.stop_nodes(*_listed(value)),
    "start nodes": lambda cluster, value: cluster.start_nodes(*(_listed(value) if value else ())),
}
