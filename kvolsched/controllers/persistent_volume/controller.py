"""The PV controller as a component: two workers, one for claims and one for volumes, and what follows their writes."""

from collections.abc import Callable, Sequence

import attrs

from ...world.apiserver import CommittedWrite, RefusedWrite
from ...world.component import Actor, Component, TurnContext
from ...world.log import Key
from ...world.mutation_cache import record_written
from ...world.plan import report_outcome
from ...world.reconciler import Backoff, Reconciler, back_off_operation, forget_failures, is_backing_off
from .cache import cache_of, views
from .claims import ClaimSync
from .options import CLAIM, CLAIMS, NAME, OPERATIONS, UPSTREAM, VOLUME, VOLUMES, PVControllerOptions
from .volumes import VolumeSync


def component(options: PVControllerOptions = UPSTREAM, operations: Sequence[Actor] = ()) -> Component:
    """Return the PV controller, with the routines that run operations of in-tree plugins if there are any."""
    watches = (*options.watches, "Node") if operations else options.watches
    return Component(NAME, watches, (*PVController(options).routines(), *operations), views)


def may_start_operation(ctx: TurnContext, operation: str) -> bool:
    """Say whether an operation may start: not while it runs, and not soon after it has failed."""
    return not is_backing_off(ctx, operation) and ctx.note(f"plan {OPERATIONS}", operation) is None


@attrs.frozen
class PVController:
    """The two workers of the controller and what they do about the outcome of a write."""

    options: PVControllerOptions
    may_start: Callable[[TurnContext, str], bool] = may_start_operation

    @property
    def claims(self) -> ClaimSync:
        """What the worker of claims decides by."""
        return ClaimSync(self.options, self.may_start)

    @property
    def volumes(self) -> VolumeSync:
        """What the worker of volumes decides by."""
        return VolumeSync(self.options, self.may_start)

    def routines(self) -> tuple[Reconciler, Reconciler]:
        """Return the workers of claims and of volumes; what has failed is taken up again at the next resync."""
        claims, volumes, resync = self.claims, self.volumes, Backoff.every(self.options.resync)
        return (
            Reconciler(CLAIMS, claims.enqueue, claims.sync, self.refused, self.done, resync,
                       reacts_to=frozenset({CLAIM, VOLUME, "StorageClass"}), concerning=claims.concerning),
            Reconciler(VOLUMES, volumes.enqueue, volumes.sync, self.refused, self.done, resync,
                       reacts_to=frozenset({CLAIM, VOLUME}), concerning=volumes.concerning),
        )

    def done(self, ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Record what was written in the mutation cache, and report it."""
        if outcome.stored is not None and outcome.changed and getattr(outcome.write, "cached", True):
            record_written(ctx, outcome.stored)
        if operation := getattr(outcome.write, "operation", ""):
            forget_failures(ctx, operation)
        report_outcome(ctx, outcome)
        if last:
            self._dequeue_settled(ctx, cause)

    def _dequeue_settled(self, ctx: TurnContext, cause: str) -> None:
        """Remove what was queued while a plan was carried out, if its last write has left nothing to do about it."""
        cache, queues, volume_name = cache_of(ctx), ctx.process.work_queues, cause
        if ctx.actor.name == CLAIMS:
            claim = cache.at(Key(CLAIM, *cause.split("/")))
            volume_name = claim.spec.volume_name if claim is not None else ""
            if cause in queues[CLAIMS].items and claim is not None and self.claims.is_settled(ctx, claim):
                ctx.dequeue(cause)
        if volume_name in queues[VOLUMES].items:
            volume = cache.at(Key(VOLUME, "", volume_name))
            if volume is not None and self.volumes.is_settled(ctx, volume):
                ctx.dequeue(volume_name, VOLUMES)

    def refused(self, ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
        """Back off the operation that a refused write belongs to, and report the refusal."""
        operation = getattr(outcome.write, "operation", "")
        if operation and self.options.backs_off_after(operation):
            back_off_operation(ctx, operation)
        report_outcome(ctx, outcome)
