"""Validate an object after defaulting: find the rules of its kind and collect their errors.

The API server judges a create by `validate(new)`, and an update by `validate(new) + validate_update(old, new)` (see
`immutable_fields`). Mirrors `pkg/apis/*/validation` (v1.36.2).
"""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..kinds import quantity
from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import ObjectMeta
from ..kinds.name_syntax import check_dns_label, check_path_segment, check_qualified_name, check_subdomain
from ..kinds.node import Node
from ..kinds.pod import PodSpec
from ..kinds.workload import Namespace
from ..remembered import remembered
from . import volume_rules, workload_rules
from .field_error import FieldError, FieldErrors, invalid_values, validate_labels, validate_name
from .job_rules import validate_job
from .pod_rules import validate_pod_spec
from .policy_rules import validate_cluster_ip, validate_disruption_budget, validate_priority_class, validate_service
from .quota_rules import validate_limit_range, validate_resource_quota, validate_runtime_class
from .selector_rules import validate_taints

# The syntax of names that need not be subdomains.
_NAME_CHECKS: Mapping[str, Callable[[str], list[str]]] = {
    "Namespace": check_dns_label, "Service": check_dns_label, "PodDisruptionBudget": check_path_segment,
}
MAX_ANNOTATIONS_SIZE = 256 * 1024  # bytes of all keys and values together
STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate_metadata(obj: Any) -> FieldErrors:
    """Validate an object's metadata."""
    meta: ObjectMeta = obj.metadata
    kind = KINDS_BY_NAME[obj.kind]
    check_name = _NAME_CHECKS.get(kind.name, check_subdomain)
    if not meta.name and not meta.generate_name:
        yield FieldError("metadata.name", "Required", detail="name or generateName is required")
    if meta.generate_name:
        prefix = meta.generate_name  # a generated name ends in five more characters
        messages = check_name(f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix)
        yield from invalid_values("metadata.generateName", meta.generate_name, messages)
    yield from validate_name("metadata.name", meta.name, check_name)
    if kind.namespaced:
        yield from validate_name("metadata.namespace", meta.namespace, check_dns_label, required=True)
    elif meta.namespace:
        yield FieldError("metadata.namespace", "Forbidden", detail="not allowed on this type")
    yield from validate_labels("metadata.labels", meta.labels)
    for key in meta.annotations:
        yield from invalid_values("metadata.annotations", key, check_qualified_name(key.lower()))
    if len(meta.annotations) and _size(meta.annotations) > MAX_ANNOTATIONS_SIZE:
        detail = f"may not be more than {MAX_ANNOTATIONS_SIZE} bytes"
        yield FieldError("metadata.annotations", "TooLong", detail=detail)
    yield from _validate_owners("metadata.ownerReferences", meta)
    for index, name in enumerate(meta.finalizers):
        yield from validate_finalizer("metadata.finalizers", f"metadata.finalizers[{index}]", name)


def _size(annotations: Mapping[str, Any]) -> int:
    """Return the size of annotations in bytes."""
    return len("".join([*annotations, *map(str, annotations.values())]).encode())


def _validate_owners(path: str, meta: ObjectMeta) -> FieldErrors:
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
        detail = 'Only one reference can have Controller set to true. Found "true" in references for'
        yield FieldError(path, "Invalid", [*controllers], f"{detail} {controllers[0]} and {other}")


def validate_finalizer(path: str, item: str, name: str) -> FieldErrors:
    """Validate a finalizer: a qualified name, or one of the standard names."""
    yield from invalid_values(path, name, check_qualified_name(name))
    if "/" not in name and name not in STANDARD_FINALIZERS:
        yield FieldError(item, "Invalid", name, "name is neither a standard finalizer name nor is it fully qualified")


def validate_node(node: Node) -> FieldErrors:
    """Validate a node."""
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
            detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield FieldError(f"spec.podCIDRs[{index}]", "Invalid", text, detail)
    if len(ranges) > 1 and (len(families) > len(set(families)) or len(ranges) > 2):
        detail = "may specify no more than one CIDR for each IP family"
        yield FieldError("spec.podCIDRs", "Invalid", ranges, detail)


def validate(obj: Any) -> list[FieldError]:
    """Return the errors of an object, [] if it may be stored. Kinds without rules pass."""
    kind = getattr(obj, "kind", "")
    rules = _RULES.get(kind)
    if rules is None:
        return []
    early_errors = list(_EARLY_RULES[kind](obj)) if kind in _EARLY_RULES else []
    return early_errors or [*validate_metadata(obj), *rules(obj)]


def _validate_namespace(namespace: Namespace) -> FieldErrors:
    for name in namespace.rest.get("spec", {}).get("finalizers", ()):
        yield from validate_finalizer("spec.finalizers", "spec.finalizers", str(name))


@remembered
def _pod_spec_errors(spec: PodSpec) -> tuple[FieldError, ...]:
    """Return the errors of a pod's spec; the pods of one template have one."""
    return tuple(validate_pod_spec("spec", spec))


# Rules that are judged first; if they find errors, no other rule is judged.
_EARLY_RULES: Mapping[str, Callable[[Any], FieldErrors]] = {
    "Service": validate_cluster_ip, "PodDisruptionBudget": validate_disruption_budget
}
_RULES: Mapping[str, Callable[[Any], Iterable[FieldError]]] = {
    "StorageClass": volume_rules.validate_storage_class, "PersistentVolume": volume_rules.validate_volume,
    "PersistentVolumeClaim": lambda claim: volume_rules.validate_claim_spec("spec", claim.spec),
    "Pod": lambda pod: _pod_spec_errors(pod.spec), "Node": validate_node, "Namespace": _validate_namespace,
    "StatefulSet": workload_rules.validate_stateful_set, "Deployment": workload_rules.validate_deployment,
    "ReplicaSet": workload_rules.validate_replica_set, "DaemonSet": workload_rules.validate_daemon_set,
    "ReplicationController": workload_rules.validate_replication_controller, "Job": validate_job,
    "Service": validate_service, "PriorityClass": validate_priority_class,
    "PodDisruptionBudget": validate_disruption_budget, "CSINode": volume_rules.validate_csi_node,
    "CSIDriver": volume_rules.validate_csi_driver, "LimitRange": validate_limit_range,
    "CSIStorageCapacity": volume_rules.validate_csi_storage_capacity, "ResourceQuota": validate_resource_quota,
    "VolumeAttachment": volume_rules.validate_volume_attachment, "RuntimeClass": validate_runtime_class,
    "Event": lambda _event: iter(()),  # only its metadata is judged
}
