"""The PV controller as a component: two workers, one for claims and one for volumes, and what follows their writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from ...world.apiserver import CommittedWrite, RefusedWrite
from ...world.component import Actor, Component, TurnContext
from ...world.mutation_cache import record_written
from ...world.plan import report_outcome
from ...world.reconciler import Backoff, Reconciler, back_off_operation, forget_failures, is_backing_off
from .cache import views
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

    def routines(self) -> tuple[Reconciler, Reconciler]:
        """Return the workers of claims and of volumes; what has failed is taken up again at the next resync."""
        claims, volumes = ClaimSync(self.options, self.may_start), VolumeSync(self.options, self.may_start)
        resync = Backoff.every(self.options.resync)
        return (
            Reconciler(CLAIMS, claims.enqueue, claims.sync, self.refused, self.done, resync,
                       reacts_to=frozenset({CLAIM, VOLUME, "StorageClass"}), concerning=claims.concerning),
            Reconciler(VOLUMES, volumes.enqueue, volumes.sync, self.refused, self.done, resync,
                       reacts_to=frozenset({CLAIM, VOLUME}), concerning=volumes.concerning),
        )

    def done(self, ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Record what was written in the mutation cache, and report it."""
        if outcome.stored is not None and outcome.changed and getattr(outcome.write, "cached", True):
            record_written(ctx, outcome.stored)
        if operation := getattr(outcome.write, "operation", ""):
            forget_failures(ctx, operation)
        report_outcome(ctx, outcome)

    def refused(self, ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
        """Back off the operation that a refused write belongs to, and report the refusal."""
        operation = getattr(outcome.write, "operation", "")
        if operation and self.options.backs_off_after(operation):
            back_off_operation(ctx, operation)
        report_outcome(ctx, outcome)
