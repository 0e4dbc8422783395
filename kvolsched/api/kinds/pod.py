"""Pod: its containers, volumes and scheduling directives (affinity, spread constraints, tolerations, gates)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from .meta import EMPTY, TIMESTAMP, Condition, Frozen, ObjectMeta, Resources, evolve
from .pod_volume import Volume
from .selector import LabelSelector, NodeSelector, NodeSelectorTerm, Toleration


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ContainerPort:
    container_port: int = 0
    host_port: int = 0
    host_ip: str = attrs.field(default="", alias="host_ip", metadata={"name": "hostIP"})
    protocol: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Container:
    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PreferredSchedulingTerm:
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class NodeAffinity:
    """A pod's `affinity.nodeAffinity`. Not to be confused with the scheduler's plugin NodeAffinity."""

    required: NodeSelector | None = attrs.field(default=None,
                                                metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"})
    preferred: tuple[PreferredSchedulingTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodAffinityTerm:
    """One term of pod affinity: the selected pods, within one domain of the topology key."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class WeightedPodAffinityTerm:
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodAffinity:
    """podAffinity or podAntiAffinity, which have equal fields."""

    required: tuple[PodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"}
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Affinity:
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
    rest: Frozen = EMPTY


DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"  # what whenUnsatisfiable may be


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class TopologySpreadConstraint:
    """spec.topologySpreadConstraints[] (S3, API); `max_skew` 0 and empty texts stand for missing fields."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodSchedulingGate:
    name: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class PodSpec:
    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: Frozen = EMPTY
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Frozen = EMPTY
    volumes: tuple[Volume, ...] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class PodStatus:
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    rest: Frozen = EMPTY

    def condition(self, type_: str) -> Condition | None:
        """Return the condition of this type, or None."""
        return next((condition for condition in self.conditions if condition.type == type_), None)

    def with_condition(self, condition: Condition) -> PodStatus:
        """Return this status with a condition that replaces the one of its type, or is appended."""
        if self.condition(condition.type) is None:
            return evolve(self, conditions=(*self.conditions, condition))
        changed = tuple(condition if old.type == condition.type else old for old in self.conditions)
        return evolve(self, conditions=changed)


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Pod:
    kind: ClassVar[str] = "Pod"
    api_version: ClassVar[str] = "v1"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
    rest: Frozen = EMPTY

    @property
    def terminal(self) -> bool:
        """Whether the pod has Succeeded or Failed, and so no longer uses its node's resources."""
        return self.status.phase in ("Succeeded", "Failed")

    def claim_names(self) -> Iterator[str]:
        """Yield the names of this pod's claims, with those of ephemeral volumes, in the order of its volumes."""
        for volume in self.spec.volumes:
            if volume.persistent_volume_claim is not None:
                yield volume.persistent_volume_claim.claim_name
            elif volume.ephemeral is not None:
                yield f"{self.metadata.name}-{volume.name}"


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodTemplateSpec:
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    rest: Frozen = EMPTY
