"""A driver's provisioner as a component: the routines that provision, delete and publish capacity."""

from collections.abc import Callable, Mapping
from functools import partial

from ...api.kinds.node import Node
from ...api.volumes import MIGRATED
from ...world.activation import Exists
from ...world.component import Component
from ...world.plan import report_done, report_refused
from ...world.reconciler import Reconciler
from ...world.view import InformerCache, View
from . import capacity, driver_status
from .deletion import VolumeDeletion
from .driver import StorageDriver
from .options import UPSTREAM, ProvisionerOptions
from .pace import ANSWER, NotesByName
from .provisioning import TOPOLOGIES, VolumeProvisioning
from .topology import NodeTopologies

WATCHES = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Node", "CSINode")


def component(name: str, options: ProvisionerOptions = UPSTREAM, node: str = "") -> Component:
    """Return the provisioner of a driver: a component of the driver's name, or its instance on a node, `NAME on NODE`.

    A name of an in-tree plugin (`kubernetes.io/gce-pd`) stands for the plugin, or for the CSI driver that acts for it.
    An instance watches while its node exists; one that publishes for inline volumes alone makes no volumes.
    """
    instance = capacity.component_name(name, node)
    activation = partial(Exists, "Node", partial(_is_named, node)) if node else None
    if not options.running:
        return Component(instance, WATCHES, ())
    in_tree = options.plays_in_tree and name.startswith("kubernetes.io/")
    driver = StorageDriver(instance, name if in_tree else MIGRATED.get(name, name), in_tree, options, node)
    provisioning, deletion = VolumeProvisioning(driver), VolumeDeletion(driver)
    routines = [
        Reconciler(label, routine.enqueue, routine.sync, report_refused, report_done, options.backoff,
                   reacts_to=frozenset([kind]), concerning=concerning)
        for label, routine, kind, concerning in (
            (f"{instance} provisioner", provisioning, "PersistentVolumeClaim", None),
            (f"{instance} deleter", deletion, "PersistentVolume", deletion.concerning),
        )
    ]
    publishes = bool(options.pools) and bool(node) == options.per_node
    if node and options.publishing.form == capacity.NODE:
        routines = []
    watches: tuple[str, ...] = WATCHES
    views: dict[str, Callable[[], View]] = {TOPOLOGIES: NodeTopologies}
    if publishes:
        publishing = capacity if options.publishing.form == "objects" else driver_status
        watches = tuple(dict.fromkeys((*watches, *publishing.WATCHES)))
        views |= {sort: partial(NotesByName, sort) for sort in (capacity.ITEM, ANSWER)}
        routines.append(driver.publisher.routine())
    needs_poll = driver.publisher.needs_poll if publishes else None
    made = partial(_views, views)
    return Component(instance, watches, tuple(routines), made, activation=activation, needs_poll=needs_poll)


def _is_named(name: str, node: Node) -> bool:
    return node.metadata.name == name


def _views(kinds: Mapping[str, Callable[[], View]], _seen: InformerCache) -> Mapping[str, View]:
    return {name: view() for name, view in kinds.items()}
