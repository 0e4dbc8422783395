"""What the API server makes of a write: defaults, validation, subresources, and who may write what.

These are Kubernetes' rules; the world's API server, which knows none, is handed them by a revision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from .api import defaults, validation
from .api.immutable import immutable
from .api.kind import BY_NAME, kind_named
from .api.meta import Condition
from .world.apiserver import Deny, Permit
from .world.log import Key

ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")

# What the scheduler may do beside reading (S0, Access Control; verb, kind). Other components may do everything.
PERMISSIONS: Mapping[str, frozenset[tuple[str, str]]] = {
    "kube-scheduler": frozenset(
        {
            ("bind", "Pod"),
            ("patch", "Pod"),
            ("delete", "Pod"),
            ("update", "PersistentVolume"),
            ("update", "PersistentVolumeClaim"),
        }
    ),
}


def admit(verb: str, old: Any, new: Any, objects: Mapping[Key, Any]) -> Any:
    """Return the object to store: defaults filled in; or `Deny` with every fault in the API server's words."""
    if verb == "create":
        new = defaults.defaulted(new)
        faults = validation.validate(new)
    elif verb == "update":
        new = defaults.defaulted(new)
        faults = [*validation.validate(new), *immutable(old, new)]
    else:
        return new
    if not faults:
        return new
    return Deny("Invalid", invalid(new, faults))


def invalid(obj: Any, faults: Any) -> str:
    """Return the API server's sentence for an object that validation refuses."""
    kind = BY_NAME[obj.kind]
    name = f"{obj.kind}.{kind.group}" if kind.group else obj.kind
    words = [str(fault) for fault in faults]
    said = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    return f'{name} "{obj.metadata.name}" is invalid: {said}'


def bind(*, zone_labels: bool) -> Callable[[Any, Any, Mapping[Key, Any]], Any]:
    """Return the subresource pods/binding: nodeName and PodScheduled=True in one change.

    Args:
        zone_labels: the node's zone and region labels are copied to the pod, and its nomination is cleared (v1.36.2).
    """

    def store(pod: Any, node_name: str, objects: Mapping[Key, Any]) -> Any:
        name = pod.metadata.name
        if pod.metadata.deletion_timestamp is not None:
            return _taken(name, "being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            return _taken(name, f'already assigned to node "{pod.spec.node_name}"')
        scheduled = Condition(type="PodScheduled", status="True")
        meta, status = pod.metadata, pod.status.with_condition(scheduled)
        if zone_labels:
            node = objects.get(Key("Node", "", node_name))
            labels = node.metadata.labels if node is not None else {}
            copied = {key: labels[key] for key in ZONE_LABELS if key in labels}
            meta = attrs.evolve(meta, labels=meta.labels.merged(copied))
            status = attrs.evolve(status, nominated_node_name="")
        return attrs.evolve(pod, metadata=meta, spec=attrs.evolve(pod.spec, node_name=node_name), status=status)

    return store


def _taken(pod: str, why: str) -> Deny:
    return Deny("Conflict", f'Operation cannot be fulfilled on pods/binding "{pod}": pod {pod} is {why}')


def permits(denied: Mapping[str, Iterable[str]]) -> Permit:
    """Return who may do what: everybody what is needed, less what is denied.

    Args:
        denied: component -> what it may not do: `update persistentvolumes`, `get nodes` (S0, New Permissions).

    Raises:
        ValueError: a denial is not a verb and a kind.
    """
    taken: set[tuple[str, str, str]] = set()
    for component, words in denied.items():
        for text in words:
            verb, _, kind = text.partition(" ")
            if not kind:
                raise ValueError(f"{component}: cannot deny {text!r}; write for example 'update persistentvolumes'")
            taken.add((component, verb, kind_named(kind).name))

    def permit(component: str, verb: str, kind: str) -> bool:
        may = PERMISSIONS.get(component)
        asked = "update" if verb == "update_status" else verb
        return (component, asked, kind) not in taken and (verb == "get" or may is None or (verb, kind) in may)

    return permit
