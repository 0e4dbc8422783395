"""Pod: its containers, volumes and scheduling directives (affinity, spread constraints, tolerations, gates).

Modelled sources of volumes are claims, generic ephemeral volumes, those that two pods cannot share (GCE PD, AWS EBS,
RBD, iSCSI) and those that count towards a node's attach limit. Every other source is kept in `rest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from .meta import (
    ALWAYS_WRITTEN,
    EMPTY,
    TIMESTAMP,
    ApiObject,
    Condition,
    Frozen,
    ManifestPart,
    ObjectMeta,
    Resources,
    evolve,
)
from .selector import LabelSelector, NodeSelector, NodeSelectorTerm, Toleration
from .volume import ATTACHABLE_SOURCES, PersistentVolumeClaimSpec


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class PersistentVolumeClaimVolumeSource(ManifestPart):
    claim_name: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolumeClaimTemplate(ManifestPart):
    """Template of an ephemeral volume's claim, which is named after the pod and the volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class EphemeralVolumeSource(ManifestPart):
    """A generic ephemeral volume: a claim that is created and deleted with its pod."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIVolumeSource(ManifestPart):
    """An inline CSI volume; `fs_size` (S2) is its size, None if unknown, which is not zero."""

    driver: str = ""
    read_only: bool | None = None
    fs_size: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class GCEPersistentDiskVolumeSource(ManifestPart):
    pd_name: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class AWSElasticBlockStoreVolumeSource(ManifestPart):
    volume_id: str = attrs.field(default="", metadata={"name": "volumeID"})
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class AzureDiskVolumeSource(ManifestPart):
    disk_name: str = ""
    disk_uri: str = attrs.field(default="", metadata={"name": "diskURI"})
    read_only: bool | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CinderVolumeSource(ManifestPart):
    volume_id: str = attrs.field(default="", metadata={"name": "volumeID"})
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class RBDVolumeSource(ManifestPart):
    """A Ceph image; two sources are one image if pool and image are equal and they share a monitor."""

    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ISCSIVolumeSource(ManifestPart):
    target_portal: str = ""
    iqn: str = ""
    lun: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class Volume(ManifestPart):
    """spec.volumes[]: a name and one source."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None

    @property
    def driver_and_handle(self) -> tuple[str, str] | None:
        """The CSI driver and volume handle by which an inline in-tree disk counts towards a node's attach limit."""
        if self.aws_elastic_block_store is not None:
            return ATTACHABLE_SOURCES["awsElasticBlockStore"][0], self.aws_elastic_block_store.volume_id
        if self.gce_persistent_disk is not None:
            return ATTACHABLE_SOURCES["gcePersistentDisk"][0], self.gce_persistent_disk.pd_name
        if self.azure_disk is not None:
            return ATTACHABLE_SOURCES["azureDisk"][0], self.azure_disk.disk_uri
        if self.cinder is not None:
            return ATTACHABLE_SOURCES["cinder"][0], self.cinder.volume_id
        if "portworxVolume" in self.rest:
            return ATTACHABLE_SOURCES["portworxVolume"][0], str(self.rest["portworxVolume"].get("volumeID", ""))
        return None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ContainerPort(ManifestPart):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = attrs.field(default="", alias="host_ip", metadata={"name": "hostIP"})
    protocol: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Container(ManifestPart):
    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PreferredSchedulingTerm(ManifestPart):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class NodeAffinity(ManifestPart):
    """A pod's `affinity.nodeAffinity`. Not to be confused with the scheduler's plugin NodeAffinity."""

    required: NodeSelector | None = attrs.field(default=None,
                                                metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"})
    preferred: tuple[PreferredSchedulingTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodAffinityTerm(ManifestPart):
    """One term of pod affinity: the selected pods, within one domain of the topology key."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class WeightedPodAffinityTerm(ManifestPart):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodAffinity(ManifestPart):
    """podAffinity or podAntiAffinity, which have equal fields."""

    required: tuple[PodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "requiredDuringSchedulingIgnoredDuringExecution"}
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = attrs.field(
        default=(), metadata={"name": "preferredDuringSchedulingIgnoredDuringExecution"}
    )


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Affinity(ManifestPart):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"  # what whenUnsatisfiable may be


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
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


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodSchedulingGate(ManifestPart):
    name: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
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
    def mounted_images(self) -> tuple[str, ...]:
        """The images that are mounted as volumes."""
        given = [volume.rest["image"] for volume in self.volumes if "image" in volume.rest]
        return tuple(image["reference"] for image in given if image.get("reference"))

    @property
    def pod_terms(self) -> Iterator[PodAffinityTerm]:
        """The terms of affinity and anti-affinity to pods, required and preferred."""
        sides = () if self.affinity is None else (self.affinity.pod_affinity, self.affinity.pod_anti_affinity)
        for side in sides:
            if side is not None:
                yield from side.required
                yield from (preference.pod_affinity_term for preference in side.preferred)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
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


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
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


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodTemplateSpec(ManifestPart):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
