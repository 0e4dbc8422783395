"""PersistentVolume and PersistentVolumeClaim: storage, and requests for storage."""

from collections.abc import Mapping
from typing import ClassVar

import attrs

from .meta import EMPTY, ApiObject, Condition, Frozen, ManifestPart, ObjectReference, Resources
from .selector import LabelSelector, NodeSelector, NodeSelectorTerm

# Annotation keys of volume binding; every revision reads all of them.
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
SELECTED_NODE_KEYS = (
    SELECTED_NODE,  # today
    "volume.alpha.kubernetes.io/selected-node",  # Kubernetes 1.11
    "volume.alpha.kubernetes.io/selectedNode",  # S0, Dynamic Provisioning interface changes
)

# Sources that are attached to nodes: name -> (driver that counts them, "" for csi, which names it; field of the id).
ATTACHABLE_SOURCES: Mapping[str, tuple[str, str]] = {
    "csi": ("", "volumeHandle"), "awsElasticBlockStore": ("ebs.csi.aws.com", "volumeID"),
    "gcePersistentDisk": ("pd.csi.storage.gke.io", "pdName"), "azureDisk": ("disk.csi.azure.com", "diskURI"),
    "cinder": ("cinder.csi.openstack.org", "volumeID"), "portworxVolume": ("pxd.portworx.com", "volumeID"),
}


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeNodeAffinity(ManifestPart):
    """spec.nodeAffinity of a volume: the nodes that can reach it (S0, Volume Topology Specification)."""

    required: NodeSelector | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolumeSpec(ManifestPart):
    """spec: the source (csi, local, gcePersistentDisk, ...) is kept in `rest` under its manifest name."""

    capacity: Frozen = EMPTY
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    mount_options: tuple[str, ...] = ()

    @property
    def required_node_affinity(self) -> NodeSelector | None:
        """The terms that a node must match to reach the volume; None: every node reaches it."""
        return None if self.node_affinity is None else self.node_affinity.required

    @property
    def node_terms(self) -> tuple[NodeSelectorTerm, ...]:
        """These terms one by one; none if every node reaches the volume."""
        required = self.required_node_affinity
        return () if required is None else required.node_selector_terms


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolumeStatus(ManifestPart):
    phase: str = ""
    message: str = ""
    reason: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolume(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @property
    def driver_and_handle(self) -> tuple[str, str] | None:
        """The CSI driver and volume handle by which this volume counts towards a node's attach limit, or None.

        In-tree disks count for the CSI driver that replaced them, by their unchanged id.
        """
        for name, (driver, field) in ATTACHABLE_SOURCES.items():
            source = self.spec.rest.get(name)
            if isinstance(source, dict):
                return str(source.get("driver", "")) if name == "csi" else driver, str(source.get(field, ""))
        return None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolumeClaimSpec(ManifestPart):
    """spec: `storage_class_name` None is a missing field (a default may be assigned), "" means no class."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: Resources = Resources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class PersistentVolumeClaimStatus(ManifestPart):
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PersistentVolumeClaim(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()
