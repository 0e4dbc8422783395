"""A driver's provisioner as a component: the routines that provision, delete and publish capacity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ...volumes import MIGRATED
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


def component(name: str, options: ProvisionerOptions = UPSTREAM) -> Component:
    """Return the provisioner of a driver: a component of the driver's name.

    A name of an in-tree plugin (`kubernetes.io/gce-pd`) stands for the plugin, or for the CSI driver that acts for it.
    """
    if not options.running:
        return Component(name, WATCHES, ())
    in_tree = options.plays_in_tree and name.startswith("kubernetes.io/")
    driver = StorageDriver(name, name if in_tree else MIGRATED.get(name, name), in_tree, options)
    provisioning, deletion = VolumeProvisioning(driver), VolumeDeletion(driver)
    routines = [
        Reconciler(label, routine.enqueue, routine.sync, report_refused, report_done, capacity.backoff)
        for label, routine in ((f"{name} provisioner", provisioning), (f"{name} deleter", deletion))
    ]
    watches: tuple[str, ...] = WATCHES
    views: dict[str, Callable[[], View]] = {TOPOLOGIES: NodeTopologies}
    if options.pools:
        publishing = capacity if options.publishing.form == "objects" else driver_status
        watches = tuple(dict.fromkeys((*watches, *publishing.WATCHES)))
        views |= {sort: partial(NotesByName, sort) for sort in (capacity.ITEM, ANSWER)}
        routines.append(driver.publisher.routine())
    needs_poll = driver.publisher.needs_poll if options.pools else None
    return Component(name, watches, tuple(routines), partial(_views, views), needs_poll=needs_poll)


def _views(kinds: Mapping[str, Callable[[], View]], _seen: InformerCache) -> Mapping[str, View]:
    return {name: view() for name, view in kinds.items()}
