"""Deletes released volumes of a driver, and removes the driver's finalizer once a volume is being deleted."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ...api.kinds.meta import without_finalizers
from ...api.kinds.volume import PROVISIONED_BY, PersistentVolume
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.log import Delivery, Key
from ...world.plan import PlanBuilder, reference_of
from .driver import StorageDriver
from .new_volume import FINALIZER


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
        if key.kind != "PersistentVolume" or new is None:
            return
        if not self.driver.serves_volume(ctx, new):
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
                if volume.spec.node_affinity is not None:
                    driver.refresh_capacity(ctx, volume)
        elif volume is not None and self._is_going(volume):
            words = f"{driver.label} removes its finalizer from {reference_of(volume)}: the storage is deleted"
            plan.update(volume, without_finalizers(volume, FINALIZER), words)
        return plan.writes
