"""A driver as the routines of its provisioner know it: its names, its dials, its storage, and who publishes that."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.kinds.meta import EMPTY
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume
from ...storage_pools import CapacityResponse, DriverStorage, segments_of
from ...volumes import Topology
from ...world.component import TurnContext
from ...world.plan import enqueue
from .capacity import CapacityPublisher
from .driver_status import StatusPublisher
from .options import ProvisionerOptions


@attrs.frozen
class StorageDriver:
    """A driver with its options; `in_tree`: it plays a plugin inside the PV controller."""

    component: str
    name: str
    in_tree: bool
    options: ProvisionerOptions

    @property
    def label(self) -> str:
        """The driver's provisioner as sentences name it."""
        return f"provisioner {self.name.removeprefix('kubernetes.io/')}"

    @property
    def source(self) -> str:
        """The source of Events: the driver's controller pod, or the PV controller for its own plugins."""
        if self.in_tree:
            return "persistentvolume-controller"
        return f"{self.name}_{self.name.partition('.')[0]}-csi-controller-0"

    @property
    def storage(self) -> DriverStorage:
        """The driver's pools."""
        return DriverStorage(self.name, self.options.pools)

    @property
    def publisher(self) -> CapacityPublisher | StatusPublisher:
        """The controller that publishes the capacity."""
        if self.options.publishing.form != "objects":
            return StatusPublisher(self.name, self.get_capacity, self.options.publishing)
        return CapacityPublisher(self.name, self.options.topology_keys, self.get_capacity, self.options.publishing)

    def get_capacity(self, ctx: TurnContext, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity."""
        return self.storage.get_capacity(ctx.sim.log, parameters, segment)

    def acts_for(self, provisioner: str) -> bool:
        """Say whether classes and annotations with this provisioner mean the driver."""
        return provisioner == self.name or provisioner in self.options.serves

    @staticmethod
    def parameters(ctx: TurnContext, volume: PersistentVolume) -> Mapping[str, str]:
        """Return the parameters of a volume's class, as last seen."""
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", volume.spec.storage_class_name)
        return storage_class.parameters if storage_class is not None else EMPTY

    def refresh_capacity(self, ctx: TurnContext, volume: PersistentVolume, *, failed: bool = False) -> None:
        """Have the publisher ask again where a volume was created, was deleted or found no room."""
        segments = segments_of(volume) if volume.spec.node_affinity is not None and not failed else None
        for cause in self.publisher.causes_to_refresh(ctx, segments, volume.spec.storage_class_name):
            enqueue(ctx, self.publisher.name, cause)
