"""What the API server fills in when an object is created: every default of a modelled field, and no more.

Pure: `defaulted` returns another object. Includes what admission adds to each pod (tolerations of lost nodes,
priority 0) and what its strategies write (phases, the condition of a gated pod). Mirrors
`pkg/apis/*/v1/defaults.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from .kind import BY_NAME
from .meta import Condition, ObjectMeta
from .node import Node
from .pod import Container, ContainerPort, Pod, PodSpec
from .selector import Toleration
from .storage import IMMEDIATE, StorageClass
from .volume import PersistentVolume, PersistentVolumeClaim
from .workload import Namespace, StatefulSet

NAMESPACE = "default"
SCHEDULER = "default-scheduler"
LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
LOST_SECONDS = 300
GRACE_SECONDS = 30
# Without a class, and of the two classes that every cluster has; others are for an admission that sees the
# classes.
PRIORITIES = {"": 0, "system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
GATED = Condition(
    type="PodScheduled",
    status="False",
    reason="SchedulingGated",
    message="Scheduling is blocked due to non-empty scheduling gates",
)


def defaulted(found: Any) -> Any:
    """Return the object as the API server stores it on create; what is given stays."""
    kind = BY_NAME.get(getattr(found, "kind", ""))
    if kind is None:
        return found
    if kind.namespaced and not found.metadata.namespace:
        found = attrs.evolve(found, metadata=attrs.evolve(found.metadata, namespace=NAMESPACE))
    fill = _FILLS.get(type(found))
    return found if fill is None else fill(found)


def _filled(found: Any, **values: Any) -> Any:
    """Return the value with those fields set that are empty in it."""
    missing = {name: value for name, value in values.items() if getattr(found, name) in (None, "", ())}
    return attrs.evolve(found, **missing) if missing else found


def _storage_class(found: StorageClass) -> StorageClass:
    mode = found.volume_binding_mode if found.volume_binding_mode is not None else IMMEDIATE
    policy = found.reclaim_policy if found.reclaim_policy is not None else "Delete"
    return attrs.evolve(found, reclaim_policy=policy, volume_binding_mode=mode)


def _volume(found: PersistentVolume) -> PersistentVolume:
    mode = found.spec.volume_mode if found.spec.volume_mode is not None else "Filesystem"
    spec = attrs.evolve(_filled(found.spec, persistent_volume_reclaim_policy="Retain"), volume_mode=mode)
    return attrs.evolve(found, spec=spec, status=_filled(found.status, phase="Pending"))


def _claim(found: PersistentVolumeClaim) -> PersistentVolumeClaim:
    mode = found.spec.volume_mode if found.spec.volume_mode is not None else "Filesystem"
    spec = attrs.evolve(found.spec, volume_mode=mode)
    return attrs.evolve(found, spec=spec, status=_filled(found.status, phase="Pending"))


def _pod(found: Pod) -> Pod:
    spec = _pod_spec(found.spec)
    priority = PRIORITIES.get(spec.priority_class_name)
    if spec.priority is None and priority is not None:
        spec = attrs.evolve(spec, priority=priority)
    spec = _filled(spec, preemption_policy="PreemptLowerPriority")
    spec = attrs.evolve(spec, tolerations=(*spec.tolerations, *_lost(spec.tolerations)))
    status = _filled(found.status, phase="Pending")
    if spec.scheduling_gates and status.condition(GATED.type) is None:
        status = status.with_condition(GATED)
    return attrs.evolve(found, spec=spec, status=status)


def _lost(tolerations: tuple[Toleration, ...]) -> list[Toleration]:
    """Return the tolerations of lost nodes that admission adds, as far as none covers them yet."""
    return [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=LOST_SECONDS)
        for key in LOST
        if not any(one.key in (key, "") and one.effect in ("NoExecute", "") for one in tolerations)
    ]


def _pod_spec(spec: PodSpec) -> PodSpec:
    spec = _filled(
        spec,
        scheduler_name=SCHEDULER,
        restart_policy="Always",
        termination_grace_period_seconds=GRACE_SECONDS,
    )
    if (spec.termination_grace_period_seconds or 0) < 0:
        spec = attrs.evolve(spec, termination_grace_period_seconds=1)
    return attrs.evolve(
        spec,
        containers=tuple(map(_container, spec.containers)),
        init_containers=tuple(map(_container, spec.init_containers)),
    )


def _container(found: Container) -> Container:
    limits, requests = found.resources.limits, found.resources.requests
    if any(name not in requests for name in limits):
        found = attrs.evolve(found, resources=attrs.evolve(found.resources, requests=limits.merged(requests)))
    ports: tuple[ContainerPort, ...] = tuple(_filled(port, protocol="TCP") for port in found.ports)
    return attrs.evolve(found, ports=ports) if ports != found.ports else found


def _node(found: Node) -> Node:
    capacity = found.status.capacity
    if capacity and not found.status.allocatable:
        return attrs.evolve(found, status=attrs.evolve(found.status, allocatable=capacity))
    return found


def _namespace(found: Namespace) -> Namespace:
    meta: ObjectMeta = found.metadata
    if not meta.name:
        return found
    labelled = attrs.evolve(meta, labels=meta.labels.with_(**{"kubernetes.io/metadata.name": meta.name}))
    return attrs.evolve(found, metadata=labelled)


def _stateful_set(found: StatefulSet) -> StatefulSet:
    spec = found.spec
    spec = attrs.evolve(
        spec,
        replicas=1 if spec.replicas is None else spec.replicas,
        pod_management_policy=spec.pod_management_policy or "OrderedReady",
        template=attrs.evolve(spec.template, spec=_pod_spec(spec.template.spec)),
        volume_claim_templates=tuple(map(_claim, spec.volume_claim_templates)),
    )
    return attrs.evolve(found, spec=spec)


_FILLS: Mapping[type[Any], Callable[[Any], Any]] = {
    StorageClass: _storage_class,
    PersistentVolume: _volume,
    PersistentVolumeClaim: _claim,
    Pod: _pod,
    Node: _node,
    Namespace: _namespace,
    StatefulSet: _stateful_set,
}
