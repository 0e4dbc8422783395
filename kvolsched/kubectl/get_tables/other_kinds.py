"""What `kubectl get` prints of workloads, services, policies and CSI objects; with it, a table for every kind.

As in `tables`: pure functions of one object and the moment of asking, after the API server's table printer
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...api.kinds.csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from ...api.kinds.meta import EMPTY
from ...api.kinds.pod import PodTemplateSpec
from ...api.kinds.policy import PodDisruptionBudget, PriorityClass
from ...api.kinds.service import Service
from ...api.kinds.workload import DaemonSet, Deployment, ReplicaSet, ReplicationController
from ..text import NONE, UNKNOWN, UNSET, labelled, selected, since, truth
from . import core as tables
from .core import Table

LONG = frozenset({"CONTAINERS", "IMAGES", "SELECTOR"})


def deployment_row(found: Deployment, now: datetime) -> Sequence[str]:
    """NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR."""
    status, wanted = found.status, 1 if found.spec.replicas is None else found.spec.replicas
    return (
        found.metadata.name, f"{status.ready_replicas}/{wanted}", str(status.updated_replicas),
        str(status.available_replicas), _age(found, now), *_containers(found.spec.template),
        selected(found.spec.selector),
    )  # fmt: skip


def replica_set_row(found: ReplicaSet, now: datetime) -> Sequence[str]:
    """NAME DESIRED CURRENT READY AGE CONTAINERS IMAGES SELECTOR."""
    status, wanted = found.status, 1 if found.spec.replicas is None else found.spec.replicas
    return (
        found.metadata.name, str(wanted), str(status.replicas), str(status.ready_replicas), _age(found, now),
        *_containers(found.spec.template), selected(found.spec.selector),
    )  # fmt: skip


def replication_controller_row(found: ReplicationController, now: datetime) -> Sequence[str]:
    """NAME DESIRED CURRENT READY AGE CONTAINERS IMAGES SELECTOR."""
    status, wanted = found.status, 1 if found.spec.replicas is None else found.spec.replicas
    return (
        found.metadata.name, str(wanted), str(status.get("replicas", 0)), str(status.get("readyReplicas", 0)),
        _age(found, now), *_containers(found.spec.template), labelled(found.spec.selector),
    )  # fmt: skip


def daemon_set_row(found: DaemonSet, now: datetime) -> Sequence[str]:
    """NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE-SELECTOR AGE CONTAINERS IMAGES SELECTOR."""
    status = found.status
    numbers = (
        status.desired_number_scheduled, status.current_number_scheduled, status.number_ready,
        status.updated_number_scheduled, status.number_available,
    )  # fmt: skip
    return (
        found.metadata.name, *map(str, numbers), labelled(found.spec.template.spec.node_selector), _age(found, now),
        *_containers(found.spec.template), selected(found.spec.selector),
    )  # fmt: skip


def service_row(found: Service, now: datetime) -> Sequence[str]:
    """NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR."""
    spec, given = found.spec, ",".join(found.spec.rest.get("externalIPs", ()))
    ports = [f"{one.port}{f':{one.node_port}' if one.node_port else ''}/{one.protocol or 'TCP'}" for one in spec.ports]
    external = spec.external_name if spec.type == "ExternalName" else given
    if spec.type == "LoadBalancer":
        balancer = found.rest.get("status", EMPTY).get("loadBalancer", EMPTY)
        reached = ",".join(one.get("ip") or one.get("hostname", "") for one in balancer.get("ingress", ()))
        external = ",".join(part for part in (reached, given) if part) or "<pending>"
    return (
        found.metadata.name, spec.type or "ClusterIP", spec.cluster_ip or NONE, external or NONE,
        ",".join(ports) or NONE, _age(found, now), labelled(spec.selector),
    )  # fmt: skip


def priority_class_row(found: PriorityClass, now: datetime) -> Sequence[str]:
    """NAME VALUE GLOBAL-DEFAULT AGE PREEMPTIONPOLICY."""
    policy = found.preemption_policy or "PreemptLowerPriority"
    return found.metadata.name, str(found.value), truth(found.global_default), _age(found, now), policy


def budget_row(found: PodDisruptionBudget, now: datetime) -> Sequence[str]:
    """NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE."""
    numbers = ("N/A" if one is None else str(one) for one in (found.spec.min_available, found.spec.max_unavailable))
    return found.metadata.name, *numbers, str(found.status.disruptions_allowed), _age(found, now)


def csi_node_row(found: CSINode, now: datetime) -> Sequence[str]:
    """NAME DRIVERS AGE."""
    return found.metadata.name, str(len(found.spec.drivers)), _age(found, now)


def csi_driver_row(found: CSIDriver, now: datetime) -> Sequence[str]:
    """NAME ATTACHREQUIRED PODINFOONMOUNT STORAGECAPACITY TOKENREQUESTS REQUIRESREPUBLISH MODES AGE."""
    spec = found.spec
    tokens = ",".join(one.get("audience", "") for one in spec.rest.get("tokenRequests", ()))
    return (
        found.metadata.name, truth(spec.attach_required is not False), truth(bool(spec.pod_info_on_mount)),
        truth(bool(spec.storage_capacity)), tokens or UNSET, truth(spec.rest.get("requiresRepublish", False)),
        ",".join(spec.volume_lifecycle_modes) or "Persistent", _age(found, now),
    )  # fmt: skip


def capacity_row(found: CSIStorageCapacity, now: datetime) -> Sequence[str]:
    """NAME CREATED AT: the API server has no printer for this kind, so kubectl gets the table of any kind."""
    return found.metadata.name, found.metadata.creation_timestamp or UNKNOWN


def attachment_row(found: VolumeAttachment, now: datetime) -> Sequence[str]:
    """NAME ATTACHER PV NODE ATTACHED AGE."""
    spec = found.spec
    volume = spec.source.persistent_volume_name or ""
    return (
        found.metadata.name, spec.attacher, volume, spec.node_name, truth(bool(found.status.attached)),
        _age(found, now),
    )  # fmt: skip


def _age(found: Any, now: datetime) -> str:
    return since(found.metadata.creation_timestamp, now)


def _containers(template: PodTemplateSpec) -> tuple[str, str]:
    containers = template.spec.containers
    return ",".join(one.name for one in containers), ",".join(one.image for one in containers)


TABLES: Mapping[str, Table] = {
    **tables.TABLES,
    "Deployment": Table(
        ("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"), deployment_row, LONG
    ),
    "ReplicaSet": Table(
        ("NAME", "DESIRED", "CURRENT", "READY", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"), replica_set_row, LONG
    ),
    "ReplicationController": Table(
        ("NAME", "DESIRED", "CURRENT", "READY", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"),
        replication_controller_row, LONG,
    ),
    "DaemonSet": Table(
        ("NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE SELECTOR", "AGE", "CONTAINERS",
         "IMAGES", "SELECTOR"),
        daemon_set_row, LONG,
    ),
    "Service": Table(
        ("NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE", "SELECTOR"), service_row, LONG
    ),
    "PriorityClass": Table(("NAME", "VALUE", "GLOBAL-DEFAULT", "AGE", "PREEMPTIONPOLICY"), priority_class_row),
    "PodDisruptionBudget": Table(
        ("NAME", "MIN AVAILABLE", "MAX UNAVAILABLE", "ALLOWED DISRUPTIONS", "AGE"), budget_row
    ),
    "CSINode": Table(("NAME", "DRIVERS", "AGE"), csi_node_row),
    "CSIDriver": Table(
        ("NAME", "ATTACHREQUIRED", "PODINFOONMOUNT", "STORAGECAPACITY", "TOKENREQUESTS", "REQUIRESREPUBLISH", "MODES",
         "AGE"),
        csi_driver_row,
    ),
    "CSIStorageCapacity": Table(("NAME", "CREATED AT"), capacity_row),
    "VolumeAttachment": Table(("NAME", "ATTACHER", "PV", "NODE", "ATTACHED", "AGE"), attachment_row),
}  # fmt: skip
