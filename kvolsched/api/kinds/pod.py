"""Pod: its containers, volumes and scheduling directives (affinity, spread constraints, tolerations, gates)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from .meta import EMPTY, TIMESTAMP, ApiObject, Condition, Frozen, ManifestPart, ObjectMeta, Resources, evolve
from .pod_volume import Volume
from .selector import LabelSelector, NodeSelector, NodeSelectorTerm, Toleration


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ContainerPort(ManifestPart):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = attrs.field(default="", alias="host_ip", metadata={"name": "hostIP"})
    protocol: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Container(ManifestPart):
    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PreferredSchedulingTerm(ManifestPart):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class NodeAffinity(ManifestPart):
    """A pod's `affinity.nodeAffinity`. Not to be confused with the scheduler's plugin NodeAffinity."""

    required: NodeSelector | None = attrs.field(default=None,
                                                metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"})
    preferred: tuple[PreferredSchedulingTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodAffinityTerm(ManifestPart):
    """One term of pod affinity: the selected pods, within one domain of the topology key."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class WeightedPodAffinityTerm(ManifestPart):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodAffinity(ManifestPart):
    """podAffinity or podAntiAffinity, which have equal fields."""

    required: tuple[PodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"}
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Affinity(ManifestPart):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"  # what whenUnsatisfiable may be


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class TopologySpreadConstraint(ManifestPart):
    """spec.topologySpreadConstraints[] (S3, API); `max_skew` 0 and empty texts stand for missing fields."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()

    @property
    def is_hard(self) -> bool:
        """Whether it rejects nodes; not given means that it does."""
        return self.when_unsatisfiable in (DO_NOT_SCHEDULE, "")

    @property
    def skew_limit(self) -> int:
        """The largest skew that it allows: maxSkew, 1 if not given."""
        return self.max_skew or 1


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodSchedulingGate(ManifestPart):
    name: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class PodSpec(ManifestPart):
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

    @property
    def node_affinity(self) -> NodeAffinity | None:
        """The node affinity, or None."""
        return None if self.affinity is None else self.affinity.node_affinity

    @property
    def required_node_affinity(self) -> NodeSelector | None:
        """The required terms of node affinity, or None."""
        affinity = self.node_affinity
        return None if affinity is None else affinity.required

    @property
    def pod_terms(self) -> Iterator[PodAffinityTerm]:
        """The terms of affinity and anti-affinity to pods, required and preferred."""
        sides = () if self.affinity is None else (self.affinity.pod_affinity, self.affinity.pod_anti_affinity)
        for side in sides:
            if side is not None:
                yield from side.required
                yield from (preference.pod_affinity_term for preference in side.preferred)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class PodStatus(ManifestPart):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)

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
class Pod(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def terminal(self) -> bool:
        """Whether the pod has Succeeded or Failed, and so no longer uses its node's resources."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def holds_node(self) -> bool:
        """Whether the pod is bound to a node and has not ended, and so uses the node's resources."""
        return bool(self.spec.node_name) and not self.terminal

    def claim_names(self) -> Iterator[str]:
        """Yield the names of this pod's claims, with those of ephemeral volumes, in the order of its volumes."""
        for volume in self.spec.volumes:
            if volume.persistent_volume_claim is not None:
                yield volume.persistent_volume_claim.claim_name
            elif volume.ephemeral is not None:
                yield f"{self.metadata.name}-{volume.name}"


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodTemplateSpec(ManifestPart):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
