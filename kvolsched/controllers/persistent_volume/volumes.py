"""Sync of volumes: a volume's phase follows its claim; without one it is released and reclaimed by its policy.

Mirrors `syncVolume` and `reclaimVolume` of `pv_controller.go`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ...api.kinds.volume import PROVISIONED_BY, PersistentVolume, PersistentVolumeClaim
from ...api.volumes import claim_key
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.log import Delivery, Key
from ...world.plan import PlanBuilder, enqueue, reference_of
from .cache import cache_of, object_to_sync
from .operations import has_operations
from .options import CLAIM, CLAIMS, MIGRATED_TO, OPERATIONS, SOURCE, VOLUME, PVControllerOptions


@attrs.frozen
class VolumeSync:
    """Decides about one volume at a time; `may_start` says whether an operation may run now."""

    options: PVControllerOptions
    may_start: Callable[[TurnContext, str], bool]

    def concerning(self, _ctx: TurnContext, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Pick the volumes, and what is gone: of the rest `enqueue` has no causes."""
        return [each for each in deliveries if each.key.kind == VOLUME or _is_gone(each.old, each.new)]

    def enqueue(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the volumes that a change concerns: a changed one that is not settled, and that of a deleted claim.

        A sync would hand a volume whose claim does not name it yet on to the claims' worker: that is done at once.
        """
        if key.kind == CLAIM and _is_gone(old, new) and old.spec.volume_name:
            yield old.spec.volume_name
        elif key.kind == VOLUME and new is not None:
            claim = self._claim_as_seen(ctx, new)
            if claim is None or claim.spec.volume_name or not self._is_marked(ctx, new):
                yield from () if self.is_settled(ctx, new) else (key.name,)
            elif self.options.rules.modes_match(claim, new):
                enqueue(ctx, CLAIMS, claim_key(claim))
            else:
                yield key.name

    def is_settled(self, ctx: TurnContext, volume: PersistentVolume) -> bool:
        """Say whether a volume's phase and marks are as its claim has them: a sync would do nothing."""
        ref, claim = volume.spec.claim_ref, self._claim_as_seen(ctx, volume)
        is_claimed = claim is not None and claim.spec.volume_name == volume.metadata.name
        phase = "Available" if ref is None or not ref.uid else "Bound" if is_claimed else ""
        return volume.status.phase == phase and self._is_marked(ctx, volume)

    def _is_marked(self, ctx: TurnContext, volume: PersistentVolume) -> bool:
        return self.options.migration.mark_volume(PlanBuilder(ctx, SOURCE), volume) is volume

    @staticmethod
    def _claim_as_seen(ctx: TurnContext, volume: PersistentVolume) -> PersistentVolumeClaim | None:
        """Return the claim with the uid of a volume's claimRef, if the controller has seen it."""
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            return None
        claim: PersistentVolumeClaim | None = cache_of(ctx).at(Key(CLAIM, ref.namespace or "default", ref.name))
        return claim if claim is not None and claim.metadata.uid == ref.uid else None

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Set one volume's phase after its claim, or release it."""
        volume: PersistentVolume | None = object_to_sync(ctx, Key(VOLUME, "", cause))
        if volume is None:
            return ()
        plan, writes = PlanBuilder(ctx, SOURCE), self.options.writes
        volume = self.options.migration.mark_volume(plan, volume)
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:  # free, or kept for a claim that has not come
            writes.set_volume_phase(plan, volume, "Available")
            return plan.writes
        claim = self._claim_of(ctx, volume)
        if claim is None:
            self._release(plan, volume)
        elif not claim.spec.volume_name:
            self._finish_binding(plan, volume, claim)
        elif claim.spec.volume_name == volume.metadata.name:
            writes.set_volume_phase(plan, volume, "Bound")
        elif PROVISIONED_BY in volume.metadata.annotations and volume.spec.persistent_volume_reclaim_policy == "Delete":
            self._release(plan, volume)  # provisioned for a claim that has got another
        else:
            writes.unbind(plan, volume, "its claim is bound to another volume")
        return plan.writes

    def _claim_of(self, ctx: TurnContext, volume: PersistentVolume) -> PersistentVolumeClaim | None:
        """Return the claim of a volume's claimRef; None if it is gone or another of its name was created."""
        ref = volume.spec.claim_ref
        assert ref is not None
        key = Key(CLAIM, ref.namespace or "default", ref.name)
        cache = cache_of(ctx)
        claim: PersistentVolumeClaim | None = cache.at(key)
        if not self.options.reread_claim_before_reclaim:
            return self._claim_as_seen(ctx, volume)
        if claim is None and volume.status.phase not in ("Released", "Failed"):
            claim = cache.watched.get(key) or ctx.get_live(key)
        if claim is not None and claim.metadata.uid != ref.uid:
            claim = ctx.get_live(key)
        return claim if claim is not None and claim.metadata.uid == ref.uid else None

    def _finish_binding(self, plan: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Have the claims' worker finish a binding: the claim does not name its volume yet."""
        if not self.options.rules.modes_match(claim, volume):
            requested, why = "to requested PersistentVolumeClaim", "due to incompatible volumeMode."
            message = f'Cannot bind PersistentVolume {requested} "{claim.metadata.name}" {why}'
            plan.event(volume, "Warning", "VolumeMismatch", message)
            message = f'Cannot bind PersistentVolume "{volume.metadata.name}" {requested} {why}'
            plan.event(claim, "Warning", "VolumeMismatch", message)
            return
        plan.enqueue(CLAIMS, claim_key(claim))

    def _release(self, plan: PlanBuilder, volume: PersistentVolume) -> None:
        """Set a volume Released, then reclaim it by its policy."""
        if volume.status.phase != "Failed":
            volume = self.options.writes.set_volume_phase(plan, volume, "Released")
        if volume.metadata.annotations.get(MIGRATED_TO):
            return  # the external provisioner reclaims it
        match volume.spec.persistent_volume_reclaim_policy:
            case "Retain":
                plan.describe(f"PV controller keeps {reference_of(volume)}: its reclaim policy is Retain")
            case "Delete" | "Recycle" as policy:
                self._start_operation(plan, volume, f"{policy.lower()}-{volume.metadata.name}[{volume.metadata.uid}]")
            case _:
                message = "Volume has unrecognized PersistentVolumeReclaimPolicy"
                self.options.writes.fail_volume(plan, volume, "VolumeUnknownReclaimPolicy", message)

    def _start_operation(self, plan: PlanBuilder, volume: PersistentVolume, operation: str) -> None:
        """Start the operation that reclaims a volume; an external driver reclaims what it has provisioned."""
        ctx = plan.ctx
        provisioner = volume.metadata.annotations.get(PROVISIONED_BY, "")
        if has_operations(ctx):
            if self.may_start(ctx, operation):
                plan.enqueue(OPERATIONS, operation)
        elif not operation.startswith("recycle") and not provisioner and (
            self.options.driven_sources.isdisjoint(volume.spec.rest)
        ):
            words = self.options.messages.no_deleter.format(volume=volume.metadata.name, why="no volume plugin matched")
            self.options.writes.fail_volume(plan, volume, "VolumeFailedDelete", words)


def _is_gone(old: Any, new: Any) -> bool:
    """Whether an object is gone, though another one may have its name by now."""
    return old is not None and (new is None or new.metadata.uid != old.metadata.uid)
