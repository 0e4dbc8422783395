"""CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment: drivers, their nodes, capacity and attached volumes."""

from typing import ClassVar

import attrs

from .meta import ApiObject, ManifestPart
from .selector import LabelSelector, NodeSelector

EPHEMERAL_STORAGE, FALLBACK_STORAGE = "<ephemeral>", "<fallback>"
"""Special class names in a driver's status (S2): storage for inline volumes, and storage for every class not listed."""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeNodeResources(ManifestPart):
    """How many volumes of a driver a node can attach; None: no limit."""

    count: int | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSINodeDriver(ManifestPart):
    """One driver on a node: the driver's id of the node, the label keys of its topology, its attach limit."""

    name: str = ""
    node_id: str = attrs.field(default="", metadata={"name": "nodeID"})
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSINodeSpec(ManifestPart):
    drivers: tuple[CSINodeDriver, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSINode(ApiObject):
    """The drivers on one node; the names of CSINode and node are equal."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    spec: CSINodeSpec = CSINodeSpec()

    def driver(self, name: str) -> CSINodeDriver | None:
        """Return the driver with this name, or None if it is not on the node."""
        return next((driver for driver in self.spec.drivers if driver.name == name), None)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIDriverSpec(ManifestPart):
    """spec: the scheduler checks capacity by CSIStorageCapacity objects if `storage_capacity` is true.

    If `capacity_tracking` (S2) is true, it checks the driver's status.
    """

    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    storage_capacity: bool | None = None
    capacity_tracking: bool | None = None
    volume_lifecycle_modes: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIStoragePool(ManifestPart):
    """A pool (S2) of the listed or selected nodes: `capacity` is its largest possible volume, None if unknown."""

    name: str = ""
    node_topology: NodeSelector | None = None
    node_list: tuple[str, ...] = ()
    capacity: str | None = None
    expiry_time: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIStorage(ManifestPart):
    """The pools for one class, for inline volumes (`<ephemeral>`) or for all classes not listed (`<fallback>`)."""

    storage_class_name: str = ""
    pools: tuple[CSIStoragePool, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIDriverStatus(ManifestPart):
    """status: the storage capacity that a driver reports (S2)."""

    storage: tuple[CSIStorage, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIDriver(ApiObject):
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    spec: CSIDriverSpec = CSIDriverSpec()
    status: CSIDriverStatus = CSIDriverStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class CSIStorageCapacity(ApiObject):
    """Capacity for volumes of a class on the nodes that `node_topology` selects; `capacity` None is unknown."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: str | None = None
    maximum_volume_size: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeAttachmentSource(ManifestPart):
    """The attached volume: a PersistentVolume by name, or an inline spec (in `rest`)."""

    persistent_volume_name: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeAttachmentSpec(ManifestPart):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeAttachmentStatus(ManifestPart):
    attached: bool | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class VolumeAttachment(ApiObject):
    """A volume that is attached to a node, or is to be attached."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
