"""`kubectl describe` of one object: the sections of its kind, then its Events.

Pure functions of the objects and the time of the request: each kind yields lines, which are aligned once at the end.
Mirrors kubectl `pkg/describe/describe.go` (v1.36.2). A simulated cluster has no leases and no quotas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ...world.log import Key
from ..formatting import align_columns
from .context import DescribeContext
from .events import event_lines, events_of
from .namespace import describe_namespace
from .node import describe_node
from .other_kinds import describe_any_kind
from .pod import describe_pod
from .policies import describe_disruption_budget, describe_priority_class
from .service import describe_service
from .storage import describe_claim, describe_csi_node, describe_storage_class, describe_volume
from .workloads import (
    describe_daemon_set,
    describe_deployment,
    describe_replica_set,
    describe_replication_controller,
    describe_stateful_set,
)

_DESCRIBERS: Mapping[str, Callable[[Any, DescribeContext], Iterator[str]]] = {
    "Pod": describe_pod, "Node": describe_node, "PersistentVolume": describe_volume,
    "PersistentVolumeClaim": describe_claim, "StorageClass": describe_storage_class,
    "StatefulSet": describe_stateful_set, "Deployment": describe_deployment, "ReplicaSet": describe_replica_set,
    "ReplicationController": describe_replication_controller, "DaemonSet": describe_daemon_set,
    "Service": describe_service, "PodDisruptionBudget": describe_disruption_budget,
    "PriorityClass": describe_priority_class, "CSINode": describe_csi_node, "Namespace": describe_namespace,
}


def describe_object(objects: Mapping[Key, Any], key: Key, now: datetime) -> str:
    """Return what `kubectl describe` prints of the object with this key.

    Raises:
        KeyError: there is no such object.
    """
    obj, context = objects[key], DescribeContext(objects, now)
    lines = list(_DESCRIBERS.get(key.kind, describe_any_kind)(obj, context))
    if key.kind != "Namespace":
        lines += event_lines(events_of(obj, context), now)
    return align_columns(lines)
