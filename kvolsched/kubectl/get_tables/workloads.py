"""`kubectl get sts,deploy,rs,rc,ds`: the row of a StatefulSet, Deployment, ReplicaSet and so on (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.pod import Container
from ...api.kinds.workload import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from ..formatting import format_labels, format_selector
from .table import Table, object_age

WIDE_COLUMNS = frozenset({"CONTAINERS", "IMAGES", "SELECTOR"})


def _stateful_set_row(stateful_set: StatefulSet, now: datetime) -> Sequence[str]:
    ready = f"{stateful_set.status.ready_replicas}/{_replicas(stateful_set)}"
    return (stateful_set.metadata.name, ready, object_age(stateful_set, now), *_containers(stateful_set))


def _deployment_row(deployment: Deployment, now: datetime) -> Sequence[str]:
    status = deployment.status
    return (
        deployment.metadata.name, f"{status.ready_replicas}/{_replicas(deployment)}", str(status.updated_replicas),
        str(status.available_replicas), object_age(deployment, now), *_containers(deployment),
        format_selector(deployment.spec.selector),
    )  # fmt: skip


def _replica_set_row(replica_set: ReplicaSet, now: datetime) -> Sequence[str]:
    status = replica_set.status
    return (
        replica_set.metadata.name, _replicas(replica_set), str(status.replicas), str(status.ready_replicas),
        object_age(replica_set, now), *_containers(replica_set), format_selector(replica_set.spec.selector),
    )  # fmt: skip


def _replication_controller_row(controller: ReplicationController, now: datetime) -> Sequence[str]:
    status = controller.status
    return (
        controller.metadata.name, _replicas(controller), str(status.get("replicas", 0)),
        str(status.get("readyReplicas", 0)), object_age(controller, now), *_containers(controller),
        format_labels(controller.spec.selector),
    )  # fmt: skip


def _daemon_set_row(daemon_set: DaemonSet, now: datetime) -> Sequence[str]:
    spec, status = daemon_set.spec, daemon_set.status
    numbers = (
        status.desired_number_scheduled, status.current_number_scheduled, status.number_ready,
        status.updated_number_scheduled, status.number_available,
    )  # fmt: skip
    return (
        daemon_set.metadata.name, *map(str, numbers), format_labels(spec.template.spec.node_selector),
        object_age(daemon_set, now), *_containers(daemon_set), format_selector(spec.selector),
    )  # fmt: skip


def _replicas(workload: StatefulSet | Deployment | ReplicaSet | ReplicationController) -> str:
    return str(1 if workload.spec.replicas is None else workload.spec.replicas)


def _containers(workload: StatefulSet | Deployment | ReplicaSet | ReplicationController | DaemonSet) -> tuple[str, str]:
    containers: tuple[Container, ...] = workload.spec.template.spec.containers
    return ",".join(container.name for container in containers), ",".join(container.image for container in containers)


TABLES: Mapping[str, Table] = {
    "StatefulSet": Table(("NAME", "READY", "AGE", "CONTAINERS", "IMAGES"), _stateful_set_row,
                         frozenset({"CONTAINERS", "IMAGES"})),
    "Deployment": Table(("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"),
                        _deployment_row, WIDE_COLUMNS),
    "ReplicaSet": Table(("NAME", "DESIRED", "CURRENT", "READY", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"),
                        _replica_set_row, WIDE_COLUMNS),
    "ReplicationController": Table(("NAME", "DESIRED", "CURRENT", "READY", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"),
                                   _replication_controller_row, WIDE_COLUMNS),
    "DaemonSet": Table(
        ("NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE SELECTOR", "AGE", "CONTAINERS",
         "IMAGES", "SELECTOR"),
        _daemon_set_row, WIDE_COLUMNS,
    ),
}  # fmt: skip
