"""What the API server refuses to store, in its own field paths and words; one small function a rule.

`validate` judges an object by itself, after defaulting; `immutable` judges what changed between two versions
of it. A create is `validate(new)`, an update `validate(new) + immutable(old, new)`. Mirrors
`pkg/apis/*/validation` (v1.36.2).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any

from ..kinds import quantity
from ..kinds.csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import ObjectMeta
from ..kinds.node import Node
from ..kinds.pod import Pod
from ..kinds.policy import PodDisruptionBudget, PriorityClass
from ..kinds.service import Service
from ..kinds.storage_class import StorageClass
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim
from ..kinds.workload import DaemonSet, Deployment, Event, Namespace, ReplicaSet, StatefulSet
from .csi_rules import (
    validate_csi_driver,
    validate_csi_node,
    validate_csi_storage_capacity,
    validate_volume_attachment,
)
from .field_error import (
    FieldError,
    FieldErrors,
    check_dns_label,
    check_path_segment,
    check_qualified_name,
    check_subdomain,
    invalid_values,
    validate_labels,
)
from .immutable_fields import validate_update
from .pod_rules import validate_pod_spec
from .policy_rules import validate_cluster_ip, validate_disruption_budget, validate_priority_class, validate_service
from .selector_rules import validate_taints
from .volume_rules import validate_claim, validate_storage_class, validate_volume
from .workload_rules import validate_daemon_set, validate_deployment, validate_replica_set, validate_stateful_set

__all__ = ["FieldError", "validate", "validate_update"]

# What a name must be where it is no subdomain; a budget may have any that can stand in an address.
_NAMES: Mapping[str, Callable[[str], list[str]]] = {
    "Namespace": check_dns_label,
    "Service": check_dns_label,
    "PodDisruptionBudget": check_path_segment,
    "Deployment": lambda text: [words.replace("bytes", "characters") for words in check_subdomain(text)],
}
MAX_ANNOTATIONS_SIZE = 256 * 1024  # bytes of all keys and values together
STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate(obj: Any) -> list[FieldError]:
    """Return every refusal of this object; none if it may be stored. Kinds without rules pass."""
    rules = _RULES.get(type(obj))
    if rules is None:
        return []
    alone = _ALONE.get(type(obj))
    return (list(alone(obj)) if alone is not None else []) or [*validate_metadata(obj), *rules(obj)]




def validate_metadata(obj: Any) -> FieldErrors:
    """What every kind's metadata must be: a name, labels and annotations with proper keys, owners,
    finalizers.
    """
    meta: ObjectMeta = obj.metadata
    kind = KINDS_BY_NAME[obj.kind]
    name_rule = _NAMES.get(kind.name, check_subdomain)
    if not meta.name and not meta.generate_name:
        yield FieldError("metadata.name", "Required", detail="name or generateName is required")
    if meta.generate_name:  # what is made of it ends in five more characters
        yield from invalid_values("metadata.generateName", meta.generate_name, name_rule(_completed(meta.generate_name)))
    if meta.name:
        yield from invalid_values("metadata.name", meta.name, name_rule(meta.name))
    if kind.namespaced:
        if not meta.namespace:
            yield FieldError("metadata.namespace", "Required")
        else:
            yield from invalid_values("metadata.namespace", meta.namespace, check_dns_label(meta.namespace))
    elif meta.namespace:
        yield FieldError("metadata.namespace", "Forbidden", detail="not allowed on this type")
    yield from validate_labels("metadata.labels", meta.labels)
    for key in meta.annotations:
        yield from invalid_values("metadata.annotations", key, check_qualified_name(key.lower()))
    if sum(len(key.encode()) + len(str(text).encode()) for key, text in meta.annotations.items()) > MAX_ANNOTATIONS_SIZE:
        words = f"may not be more than {MAX_ANNOTATIONS_SIZE} bytes"
        yield FieldError("metadata.annotations", "TooLong", detail=words)
    yield from _owners("metadata.ownerReferences", meta)
    for index, name in enumerate(meta.finalizers):
        yield from _finalizer("metadata.finalizers", f"metadata.finalizers[{index}]", name)


def _completed(prefix: str) -> str:
    return f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _owners(path: str, meta: ObjectMeta) -> FieldErrors:
    for owner in meta.owner_references:
        if not owner.api_version.rpartition("/")[2]:
            yield FieldError(f"{path}.apiVersion", "Invalid", owner.api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not getattr(owner, field):
                yield FieldError(f"{path}.{field}", "Invalid", "", "must not be empty")
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield FieldError(path, "Invalid", owner, "/v1, Kind=Event is disallowed from being an owner")
    controllers = [f"{owner.kind}/{owner.name}" for owner in meta.owner_references if owner.controller]
    for other in controllers[1:]:
        words = 'Only one reference can have Controller set to true. Found "true" in references for'
        yield FieldError(path, "Invalid", [*controllers], f"{words} {controllers[0]} and {other}")


def _finalizer(path: str, item: str, name: str) -> FieldErrors:
    yield from invalid_values(path, name, check_qualified_name(name))
    if "/" not in name and name not in STANDARD_FINALIZERS:
        yield FieldError(
            item, "Invalid", name, "name is neither a standard finalizer name nor is it fully qualified"
        )




def _pod(pod: Pod) -> FieldErrors:
    return validate_pod_spec("spec", pod.spec)


def _node(node: Node) -> FieldErrors:
    yield from validate_taints("metadata.taints", node.spec.taints)
    for field in ("capacity", "allocatable"):
        for name, text in getattr(node.status, field).items():
            number = quantity.parse(text)
            if number < 0:
                yield FieldError(f"status.{field}.{name}", "Invalid", text, "must be greater than or equal to 0")
            if number.denominator != 1 and (name == "pods" or ("/" in name and "kubernetes.io/" not in name)):
                yield FieldError(f"status.{field}.{name}", "Invalid", text, "must be an integer")
    ranges = [str(text) for text in node.spec.rest.get("podCIDRs", ())]
    families = []
    for index, text in enumerate(ranges):
        try:
            families.append(ipaddress.ip_network(text, strict=False).version)
        except ValueError:
            words = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield FieldError(f"spec.podCIDRs[{index}]", "Invalid", text, words)
    if len(ranges) > 1 and (len(families) > len(set(families)) or len(ranges) > 2):
        words = "may specify no more than one CIDR for each IP family"
        yield FieldError("spec.podCIDRs", "Invalid", ranges, words)


def _namespace(namespace: Namespace) -> FieldErrors:
    for name in namespace.rest.get("spec", {}).get("finalizers", ()):
        yield from _finalizer("spec.finalizers", "spec.finalizers", str(name))


def _event(event: Event) -> FieldErrors:
    return iter(())


# Rules that are looked at before anything else: what they refuse is all that is told.
_ALONE: Mapping[type[Any], Callable[[Any], FieldErrors]] = {
    Service: validate_cluster_ip,
    PodDisruptionBudget: validate_disruption_budget,
}
_RULES: Mapping[type[Any], Callable[[Any], FieldErrors]] = {
    StorageClass: validate_storage_class,
    PersistentVolume: validate_volume,
    PersistentVolumeClaim: validate_claim,
    Pod: _pod,
    Node: _node,
    Namespace: _namespace,
    StatefulSet: validate_stateful_set,
    Deployment: validate_deployment,
    ReplicaSet: validate_replica_set,
    DaemonSet: validate_daemon_set,
    Service: validate_service,
    PriorityClass: validate_priority_class,
    PodDisruptionBudget: validate_disruption_budget,
    CSINode: validate_csi_node,
    CSIDriver: validate_csi_driver,
    CSIStorageCapacity: validate_csi_storage_capacity,
    VolumeAttachment: validate_volume_attachment,
    Event: _event,
}
