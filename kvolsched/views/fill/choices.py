"""What there is to choose from when a user acts: names of nodes, pods, workloads, components, rules and gates."""

from collections.abc import Callable
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.kinds.node import ZONE_LABELS
from ...core.component_names import DISPLAY_NAMES
from ...core.core import USER, ClusterCore
from ...core.node_faults import stopped_nodes
from ...rules.named import REVISIONS
from ...rules.settings import MANAGER
from ...world.apiserver import ref
from ...world.log import Key
from .next_replica import REPLICATED

UNTOLD = frozenset({"Event", "Lease"})  # nobody acts on them
RESTARTED = ("kube-scheduler", MANAGER, "kube-apiserver", "kubelet")

Choice = tuple[str, str]
"""How a choice is shown, and the value that the act takes."""


def choices(cluster: ClusterCore, kind: str) -> list[Choice]:
    """Return what there is of a kind, such as "node", "gated" or "component": each as it is shown, and its value.

    Raises:
        KeyError: there is no such kind of choice.
    """
    return {
        "node": lambda: _named(cluster, "Node"),
        "cordoned": lambda: _named(cluster, "Node", lambda node: node.spec.unschedulable),
        "stopped": lambda: [_same(name) for name in stopped_nodes(cluster.world.log)],
        "stoppable": lambda: [*_zones(cluster), *_named(cluster, "Node")],
        "pod": lambda: _named(cluster, "Pod"),
        "gated": lambda: _named(cluster, "Pod", lambda pod: bool(pod.spec.scheduling_gates)),
        "workload": lambda: [_same(ref(key)) for key in sorted(cluster.world.log.objects) if key.kind in REPLICATED],
        "object": lambda: [_same(ref(key)) for key in _everything(cluster)],
        "component": lambda: _components(cluster),
        "process": lambda: [*_components(cluster), _same(MANAGER)],
        "condition": lambda: [_same(words) for words in _conditions(cluster)],
        "rules": lambda: [_same(name) for name in REVISIONS],
        "restarted": lambda: [("all components", ""), *map(_same, RESTARTED)],
        "gate": lambda: [_same(f"{process}: {gate}") for process, gates in cluster.revision.gates_of.items()
                         for gate in gates],
    }[kind]()


def offered(cluster: ClusterCore) -> frozenset[str]:
    """Return which of the choices there is anything of that an act may need: pod, gated, cordoned, workload, stopped.

    It is asked at every step, so it looks at each object once.
    """
    found = {"stopped"} if stopped_nodes(cluster.world.log) else set()
    for key, obj in cluster.world.log.objects.items():
        if key.kind == "Pod":
            found.add("pod")
            if obj.spec.scheduling_gates:
                found.add("gated")
        elif key.kind == "Node":
            if obj.spec.unschedulable:
                found.add("cordoned")
        elif key.kind in REPLICATED:
            found.add("workload")
    return frozenset(found)


def _same(text: str) -> Choice:
    return text, text


def _named(cluster: ClusterCore, kind: str, chosen: Callable[[Any], bool] = bool) -> list[Choice]:
    """Return the names of chosen nodes, or the references of chosen pods."""
    objects = cluster.world.log.objects
    keys = sorted(key for key in objects if key.kind == kind and chosen(objects[key]))
    return [_same(key.name if kind == "Node" else ref(key)) for key in keys]


def _zones(cluster: ClusterCore) -> list[Choice]:
    """Return each zone with two nodes or more as a label selector."""
    found: dict[str, tuple[str, int]] = {}
    for node in (node for key, node in cluster.world.log.objects.items() if key.kind == "Node"):
        label = next((label for label in ZONE_LABELS if label in node.metadata.labels), "")
        if label:
            zone = node.metadata.labels[label]
            found[f"{label}={zone}"] = (zone, found.get(f"{label}={zone}", (zone, 0))[1] + 1)
    counted = sorted(found.items())
    return [(f"zone {zone} ({count} nodes)", selector) for selector, (zone, count) in counted if count > 1]


def _everything(cluster: ClusterCore) -> list[Key]:
    """Return every object but Events, those first that people delete: pods, claims, nodes."""
    order = {kind: place for place, kind in enumerate(("Pod", "PersistentVolumeClaim", "Node"))}
    known = (key for key in cluster.world.log.objects if key.kind not in UNTOLD and key.kind in KINDS_BY_NAME)
    return sorted(known, key=lambda key: (order.get(key.kind, len(order)), key))


def _components(cluster: ClusterCore) -> list[Choice]:
    """Return the components that take part, under the names that people see."""
    processes = (process for process in cluster.world.processes.values() if process.name != USER)
    names = (DISPLAY_NAMES.get(process.name, process.name) for process in processes if process.watching)
    return [_same(name) for name in names]


def _conditions(cluster: ClusterCore) -> list[str]:
    """Return what a run can be stopped at: each pod that does not run yet, each claim that is not bound."""
    words = {"Pod": "Running", "PersistentVolumeClaim": "Bound"}
    objects = cluster.world.log.objects
    keys = sorted((key for key in objects if key.kind in words), key=lambda key: (key.kind != "Pod", key))
    return [f"{ref(key)} {words[key.kind]}" for key in keys if objects[key].status.phase != words[key.kind]]
