"""A driver's provisioner as a component: the routines that provision, delete and publish capacity."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ...api.kinds.meta import without_finalizers
from ...api.kinds.volume import PROVISIONED_BY, PersistentVolume
from ...api.volumes import MIGRATED
from ...world.apiserver import Write
from ...world.component import Component, TurnContext
from ...world.log import Delivery, Key
from ...world.plan import PlanBuilder, reference_of, report_done, report_refused
from ...world.reconciler import Reconciler
from ...world.view import Exists, View
from ...world.work_queue import WorkQueue
from . import capacity
from .driver import StorageDriver
from .new_volume import FINALIZER
from .options import UPSTREAM, ProvisionerOptions
from .pace import ANSWER
from .provisioning import TOPOLOGIES, VolumeProvisioning
from .topology import NodeTopologies


@attrs.frozen
class VolumeDeletion:
    """The routine that deletes volumes of one driver."""

    driver: StorageDriver

    def concerning(self, _ctx: TurnContext, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Pick the volumes that were released or are being deleted: of the rest `enqueue` has no causes."""
        return [each for each in deliveries if each.new is not None
                and (each.new.status.phase == "Released" or each.new.metadata.deletion_timestamp is not None)]

    def enqueue(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a volume of this driver that was released or is being deleted."""
        if key.kind != "PersistentVolume" or new is None or not self.driver.serves_volume(ctx, new):
            return
        if self._is_released(new) and self.driver.options.delay > 0:
            ctx.wake_after(key.name, self.driver.options.delay)
        elif self._is_released(new) or self._is_going(new):
            yield key.name

    def _is_released(self, volume: PersistentVolume) -> bool:
        return (
            volume.status.phase == "Released" and volume.spec.persistent_volume_reclaim_policy == "Delete"
            and self.driver.acts_for(volume.metadata.annotations.get(PROVISIONED_BY, ""))
            and volume.metadata.deletion_timestamp is None
        )

    def _is_going(self, volume: PersistentVolume) -> bool:
        """Say whether a volume's deletion waits for this driver; that of a bound volume does not yet."""
        return (
            volume.metadata.deletion_timestamp is not None and FINALIZER in volume.metadata.finalizers
            and volume.status.phase != "Bound"
            and self.driver.acts_for(volume.metadata.annotations.get(PROVISIONED_BY, ""))
        )

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Delete a released volume; remove the driver's finalizer from one that is being deleted."""
        volume: PersistentVolume | None = ctx.seen.get("PersistentVolume", cause)
        driver = self.driver
        plan = PlanBuilder(ctx, driver.source)
        if volume is not None and self._is_released(volume):
            plan.delete(volume, f"{driver.label} deletes {reference_of(volume)}: it was released")
            if driver.options.pools:
                driver.storage.free(ctx.sim.log, volume)
                if volume.spec.node_affinity is not None or driver.options.publishing.form != "objects":
                    driver.refresh_capacity(ctx, volume)
        elif volume is not None and self._is_going(volume):
            words = f"{driver.label} removes its finalizer from {reference_of(volume)}: the storage is deleted"
            plan.update(volume, without_finalizers(volume, FINALIZER), words)
        return plan.writes


WATCHES = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Node", "CSINode")


def component(name: str, options: ProvisionerOptions = UPSTREAM, node: str = "") -> Component:
    """Return the provisioner of a driver: a component of the driver's name, or its instance on a node, `NAME on NODE`.

    A name of an in-tree plugin (`kubernetes.io/gce-pd`) stands for the plugin, or for the CSI driver that acts for it.
    An instance watches while its node exists; one that publishes for inline volumes alone makes no volumes.
    """
    instance = capacity.component_name(name, node)
    activation = partial(Exists, "Node", lambda found: found.metadata.name == node) if node else None
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
    if node and options.publishing.form == capacity.NODE:
        routines = []
    watches: tuple[str, ...] = WATCHES
    views: dict[str, Callable[[], View]] = {TOPOLOGIES: NodeTopologies}
    if options.pools:
        watches = (*WATCHES, "CSIStorageCapacity" if options.publishing.form == "objects" else "CSIDriver")
        views |= {sort: partial(WorkQueue, sort, lambda _note: 0) for sort in (capacity.ITEM, ANSWER)}
        routines.append(driver.publisher.routine())
    needs_poll = driver.publisher.needs_poll if options.pools else None
    return Component(instance, watches, tuple(routines), lambda _seen: {name: view() for name, view in views.items()},
                     activation=activation, needs_poll=needs_poll)
