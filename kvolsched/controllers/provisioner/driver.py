"""A driver as the routines of its provisioner know it: its names, its dials, its storage, and who publishes that."""

from collections.abc import Mapping

import attrs

from ...api.kinds.meta import EMPTY
from ...api.kinds.node import Node
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.volumes import Topology, class_of_claim, requested, selected_node, volume_fits_node
from ...world.component import TurnContext
from ...world.plan import enqueue
from ...world.storage_pools import CapacityResponse, DriverStorage, segment_of_node, segments_of
from .capacity import CapacityPublisher, component_name
from .driver_status import StatusPublisher
from .new_volume import is_csi
from .options import ProvisionerOptions


@attrs.frozen
class StorageDriver:
    """A driver with its options.

    `in_tree`: it plays a plugin inside the PV controller. `node`: the node on which this instance of its provisioner
    runs; "": there is one for all nodes.
    """

    component: str
    name: str
    in_tree: bool
    options: ProvisionerOptions
    node: str = ""

    @property
    def label(self) -> str:
        """The driver's provisioner as sentences name it."""
        return f"provisioner {component_name(self.name.removeprefix('kubernetes.io/'), self.node)}"

    @property
    def source(self) -> str:
        """The source of Events: the driver's controller pod, or the PV controller for its own plugins."""
        if self.in_tree:
            return "persistentvolume-controller"
        if not is_csi(self.name):
            return f"{self.name}_{self.name.rpartition('/')[2]}-provisioner-0"
        return f"{self.name}_{self.name.partition('.')[0]}-csi-controller-0"

    @property
    def storage(self) -> DriverStorage:
        """The driver's pools."""
        return DriverStorage(self.name, self.options.pools)

    @property
    def publisher(self) -> CapacityPublisher | StatusPublisher:
        """The controller that publishes the capacity."""
        options, backoff = self.options.publishing, self.options.backoff
        if options.form != "objects":
            return StatusPublisher(self.name, self.get_capacity, options, self.node, backoff)
        return CapacityPublisher(self.name, self.get_capacity, options, self.node, backoff, self.options.topology_keys)

    def get_capacity(self, ctx: TurnContext, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity."""
        return self.storage.get_capacity(ctx.sim.log, parameters, segment)

    def acts_for(self, provisioner: str) -> bool:
        """Say whether classes and annotations with this provisioner mean the driver."""
        return provisioner == self.name or provisioner in self.options.serves

    def serves_claim(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim is this instance's: its node is selected, or none and it is the first node with room."""
        chosen = selected_node(claim)
        if not self.node or chosen:
            return self.node in ("", chosen)
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        parameters = storage_class.parameters if storage_class is not None else EMPTY
        nodes: list[Node] = ctx.seen.all("Node")
        room = (node for node in nodes if not self.options.pools or self.storage.has_room(
            ctx.sim.log, parameters, segment_of_node(node), requested(claim)))
        first = next(room, nodes[0] if nodes else None)
        return first is not None and first.metadata.name == self.node

    def serves_volume(self, ctx: TurnContext, volume: PersistentVolume) -> bool:
        """Say whether a volume is this instance's: it can be reached from its node."""
        node: Node | None = ctx.seen.get("Node", self.node) if self.node else None
        return not self.node or (node is not None and volume_fits_node(volume, node))

    @staticmethod
    def parameters(ctx: TurnContext, volume: PersistentVolume) -> Mapping[str, str]:
        """Return the parameters of a volume's class, as last seen."""
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", volume.spec.storage_class_name)
        return storage_class.parameters if storage_class is not None else EMPTY

    def refresh_capacity(self, ctx: TurnContext, volume: PersistentVolume, *, failed: bool = False) -> None:
        """Have the publisher ask again where a volume was created, was deleted or found no room."""
        segments = None if failed else segments_of(volume)
        for cause in self.publisher.causes_to_refresh(ctx, segments, volume.spec.storage_class_name):
            enqueue(ctx, self.publisher.name, cause)
