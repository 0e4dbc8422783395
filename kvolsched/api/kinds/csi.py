"""What CSI drivers tell the cluster: who they are, on which nodes they run, what room they have, what is attached."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .meta import EMPTY, Frozen, ObjectMeta
from .selector import LabelSelector, NodeSelector

EPHEMERAL, FALLBACK = "<ephemeral>", "<fallback>"
"""Names of no class (S2): storage of inline volumes, and storage that is the same whatever the class."""


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeNodeResources:
    """How many volumes of a driver a node takes; None: as many as come."""

    count: int | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSINodeDriver:
    """One driver on a node: its name for the node, the label keys of its topology, its limit."""

    name: str = ""
    node_id: str = attrs.field(default="", metadata={"name": "nodeID"})
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSINodeSpec:
    drivers: tuple[CSINodeDriver, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSINode:
    """The drivers of the node of the same name."""

    kind: ClassVar[str] = "CSINode"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()
    rest: Frozen = EMPTY

    def driver(self, name: str) -> CSINodeDriver | None:
        """Return the driver of this name, if it runs here."""
        return next((driver for driver in self.spec.drivers if driver.name == name), None)


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIDriverSpec:
    """What a driver is: `storage_capacity` says whether the scheduler is to look at CSIStorageCapacity objects.

    `capacity_tracking` says so of the driver's own status (S2).
    """

    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    storage_capacity: bool | None = None
    capacity_tracking: bool | None = None
    volume_lifecycle_modes: tuple[str, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIStoragePool:
    """A pool (S2): `capacity` is the largest volume it makes, None not known; reached by nodes named or selected."""

    name: str = ""
    node_topology: NodeSelector | None = None
    node_list: tuple[str, ...] = ()
    capacity: str | None = None
    expiry_time: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIStorage:
    """The pools for one class, for inline volumes (`<ephemeral>`) or for all that is not named (`<fallback>`)."""

    storage_class_name: str = ""
    pools: tuple[CSIStoragePool, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIDriverStatus:
    """What a driver tells of its room (S2)."""

    storage: tuple[CSIStorage, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIDriver:
    kind: ClassVar[str] = "CSIDriver"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()
    status: CSIDriverStatus = CSIDriverStatus()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIStorageCapacity:
    """Room for volumes of a class where `node_topology` matches; `capacity` None is not known."""

    kind: ClassVar[str] = "CSIStorageCapacity"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    metadata: ObjectMeta = ObjectMeta()
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: str | None = None
    maximum_volume_size: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeAttachmentSource:
    """What is attached: a PersistentVolume by name, or a spec of its own (in `rest`)."""

    persistent_volume_name: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeAttachmentSpec:
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeAttachmentStatus:
    attached: bool | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class VolumeAttachment:
    """A volume that is attached to a node, or is to be."""

    kind: ClassVar[str] = "VolumeAttachment"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
    rest: Frozen = EMPTY
