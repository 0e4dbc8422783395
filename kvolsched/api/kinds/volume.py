"""PersistentVolume and PersistentVolumeClaim: storage that exists, and storage that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs

from .meta import EMPTY, Condition, Frozen, ObjectMeta, ObjectReference
from .resources import Resources
from .selector import LabelSelector, NodeSelector

# Annotation keys that the binding loop is written in (upstream.md names the same; all are read in every
# revision).
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

# Sources that are attached to nodes: name -> the driver that counts them ("csi" names its own), the field of the id.
ATTACHABLE_SOURCES: Mapping[str, tuple[str, str]] = {
    "csi": ("", "volumeHandle"),
    "awsElasticBlockStore": ("ebs.csi.aws.com", "volumeID"),
    "gcePersistentDisk": ("pd.csi.storage.gke.io", "pdName"),
    "azureDisk": ("disk.csi.azure.com", "diskURI"),
    "cinder": ("cinder.csi.openstack.org", "volumeID"),
}


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeNodeAffinity:
    """A volume's own type, not the pod's: `required` is hard (S0, Volume Topology Specification)."""

    required: NodeSelector | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeSpec:
    """spec: the source itself (csi, local, gcePersistentDisk, ...) is kept in `rest` under its own name."""

    capacity: Frozen = EMPTY
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    mount_options: tuple[str, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeStatus:
    phase: str = ""
    message: str = ""
    reason: str = ""
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolume:
    kind: ClassVar[str] = "PersistentVolume"
    api_version: ClassVar[str] = "v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()
    rest: Frozen = EMPTY

    @property
    def driver_and_handle(self) -> tuple[str, str] | None:
        """The CSI driver and the handle under which this volume counts towards a node's attach limit; None: never.

        In-tree disks count for the driver that replaced them, by their id as it is written.
        """
        for source, (driver, field) in ATTACHABLE_SOURCES.items():
            found = self.spec.rest.get(source)
            if isinstance(found, dict):
                return str(found.get("driver", "")) if source == "csi" else driver, str(found.get(field, ""))
        return None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeClaimSpec:
    """spec: `storage_class_name` None is not given (a default may be assigned), "" means no class."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: Resources = Resources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeClaimStatus:
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeClaim:
    kind: ClassVar[str] = "PersistentVolumeClaim"
    api_version: ClassVar[str] = "v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()
    rest: Frozen = EMPTY
