"""What the API server makes of a write: defaults, validation, subresources, and who may write what.

These are Kubernetes' rules; the world's API server, which knows none, is handed them by a revision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from .api import defaults, validation
from .api.immutable import immutable
from .api.kind import BY_NAME
from .api.meta import Condition
from .world.apiserver import Deny
from .world.log import Key

ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")

# What each component may do beside reading (S0, Access Control and New Permissions; verb, kind). A component that is
# not named may do everything.
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


def admit(verb: str, old: Any, new: Any, objects: Mapping[Key, Any]) -> Any:  # noqa: ARG001 - the hook's shape
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
            return Deny("Conflict", f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is being deleted, cannot be assigned to a host')
        if pod.spec.node_name:
            return Deny("Conflict", f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is already assigned to node "{pod.spec.node_name}"')
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


def permit(component: str, verb: str, kind: str) -> bool:
    """Say whether a component may make such a write."""
    may = PERMISSIONS.get(component)
    return may is None or (verb, kind) in may
