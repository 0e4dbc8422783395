"""Validate an object after defaulting: find the rules of its kind and collect their errors.

The API server judges a create by `validate(new)`, and an update by `validate(new) + validate_update(old, new)` (see
`immutable_fields`). Mirrors `pkg/apis/*/validation` (v1.36.2).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..kinds.pod import PodSpec
from ..kinds.workload import Namespace
from ..remembered import remembered
from .csi_rules import (
    validate_csi_driver,
    validate_csi_driver_status,
    validate_csi_node,
    validate_csi_storage_capacity,
    validate_volume_attachment,
)
from .field_error import FieldError, FieldErrors
from .job_rules import validate_job
from .metadata_rules import validate_finalizer, validate_metadata
from .node_rules import validate_node
from .pod_rules import validate_pod_spec
from .policy_rules import validate_cluster_ip, validate_disruption_budget, validate_priority_class, validate_service
from .quota_rules import validate_limit_range, validate_resource_quota, validate_runtime_class
from .volume_rules import validate_claim, validate_storage_class, validate_volume
from .workload_rules import (
    validate_daemon_set,
    validate_deployment,
    validate_replica_set,
    validate_replication_controller,
    validate_stateful_set,
)


def validate(obj: Any) -> list[FieldError]:
    """Return the errors of an object, [] if it may be stored. Kinds without rules pass."""
    kind = getattr(obj, "kind", "")
    rules = _RULES.get(kind)
    if rules is None:
        return []
    early_errors = list(_EARLY_RULES[kind](obj)) if kind in _EARLY_RULES else []
    return early_errors or [*validate_metadata(obj), *rules(obj)]


def validate_status(obj: Any) -> list[FieldError]:
    """Return the errors of a status that is written alone; only that of a CSIDriver is judged (S2)."""
    return list(validate_csi_driver_status(obj)) if obj.kind == "CSIDriver" else []


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
    "StorageClass": validate_storage_class, "PersistentVolume": validate_volume,
    "PersistentVolumeClaim": validate_claim, "Pod": lambda pod: _pod_spec_errors(pod.spec),
    "Node": validate_node, "Namespace": _validate_namespace, "StatefulSet": validate_stateful_set,
    "Deployment": validate_deployment, "ReplicaSet": validate_replica_set, "DaemonSet": validate_daemon_set,
    "ReplicationController": validate_replication_controller, "Job": validate_job,
    "Service": validate_service, "PriorityClass": validate_priority_class,
    "PodDisruptionBudget": validate_disruption_budget, "CSINode": validate_csi_node, "CSIDriver": validate_csi_driver,
    "CSIStorageCapacity": validate_csi_storage_capacity, "VolumeAttachment": validate_volume_attachment,
    "LimitRange": validate_limit_range, "ResourceQuota": validate_resource_quota,
    "RuntimeClass": validate_runtime_class,
    "Event": lambda _event: iter(()),  # only its metadata is judged
}
