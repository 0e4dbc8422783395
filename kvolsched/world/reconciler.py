"""The reconciler: an actor that takes up one cause at a time, decides once, and makes its writes turn by turn.

`sync` looks at what the component has seen and returns the writes to make. They become a plan, which is a note; each
turn makes one of them. A refused write ends the plan, and the cause is taken up again after a back-off. Other
components may act between two writes: this is where races come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import evolve
from .apiserver import CommittedWrite, RefusedWrite, Write
from .component import TurnContext
from .digest import DIGEST_IGNORES, DIGEST_WAIT
from .log import Key


@attrs.frozen
class RemainingWrites:
    """A note with the writes that remain of a plan, and the position in the log where it was made."""

    writes: tuple[Write, ...]
    order: int = attrs.field(metadata=DIGEST_IGNORES)


class ReconcileError(Exception):
    """Raised by a `sync` that cannot decide; its sentence describes the turn, and the cause is retried later."""


def _ignore_refused(_ctx: TurnContext, _cause: str, _refused: RefusedWrite) -> None:
    return None


def _ignore_committed(_ctx: TurnContext, _cause: str, _committed: CommittedWrite, *, last: bool) -> None:
    return None


@attrs.frozen
class Reconciler:
    """An actor that follows the controller pattern.

    Args:
        name: the lane it is shown in.
        causes_of: (ctx, key, old, new) -> the causes to enqueue after a change of a seen object.
        sync: (ctx, cause) -> the writes to make, in order; none ends the cause. It may note, read and record Events.
            After a `ReconcileError` the cause is taken up again as after a refused write.
        on_refused: (ctx, cause, refused write), to record an Event.
        on_committed: (ctx, cause, committed write, last=whether the plan is finished).
        backoff: (failures so far, from 1) -> seconds to wait after a refused write.
        max_failures: the count of failures goes no higher.
        seldom: its lane is shown only where it has acted.
        reacts_to: the kinds for which `causes_of` may have causes; None for all.
    """

    name: str
    causes_of: Callable[[TurnContext, Key, Any, Any], Iterable[str]]
    sync: Callable[[TurnContext, str], Sequence[Write]]
    on_refused: Callable[[TurnContext, str, RefusedWrite], None] = _ignore_refused
    on_committed: Callable[..., None] = _ignore_committed
    backoff: Callable[[int], float] = lambda failures: min(0.005 * 2 ** (failures - 1), 1000.0)
    max_failures: int = 6
    seldom: bool = False
    reacts_to: frozenset[str] | None = None

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Enqueue the causes that a change concerns."""
        for cause in self.causes_of(ctx, key, old, new):
            ctx.enqueue(cause)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Enqueue a cause whose wait is over."""
        ctx.enqueue(name)

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List (order, cause) that may be taken up: a plan under way comes before new causes (one worker a queue)."""
        plans = ctx.process.plans[self.name]
        if plans.items:
            first = plans.first()
            if not every and first is not None and not ctx.awaits_answer(first[1]):
                return (first,)
            ready = [(order, cause) for order, cause in plans.all() if not ctx.awaits_answer(cause)]
            return ready if every else ready[:1]
        return ctx.process.work_queues[self.name].next(every=every)

    def act(self, ctx: TurnContext, cause: str) -> bool:
        """Make the next write of the cause's plan, after calling `sync` if there is no plan yet."""
        sort = f"plan {self.name}"
        plan: RemainingWrites | None = ctx.note(sort, cause)
        if plan is None:
            ctx.dequeue(cause)
            try:
                plan = RemainingWrites(tuple(self.sync(ctx, cause)), ctx.place)
            except ReconcileError as error:
                self._retry_later(ctx, cause)
                ctx.fail(str(error))
                return False
        if not plan.writes:
            ctx.remember("failures", f"{self.name}|{cause}", None)
            ctx.remember(sort, cause, None)
            return False
        write, *rest = plan.writes
        if ctx.must_wait(cause, write):
            ctx.remember(sort, cause, plan)
            return False
        outcome = ctx.commit(write)
        if isinstance(outcome, RefusedWrite):
            ctx.remember(sort, cause, None)
            self._retry_later(ctx, cause)
            self.on_refused(ctx, cause, outcome)
            return False
        self.on_committed(ctx, cause, outcome, last=not rest)
        if outcome.stored is not None:
            version = outcome.stored.metadata.resource_version
            rest = [evolve(w, version=version) if w.version and w.key == write.key else w for w in rest]
        if not rest:
            ctx.remember("failures", f"{self.name}|{cause}", None)
        ctx.remember(sort, cause, RemainingWrites(tuple(rest), plan.order) if rest else None)
        return bool(rest)

    def _retry_later(self, ctx: TurnContext, cause: str) -> None:
        """Count a failure and schedule a wake-up after the back-off."""
        failures = min((ctx.note("failures", f"{self.name}|{cause}") or 0) + 1, self.max_failures)
        ctx.remember("failures", f"{self.name}|{cause}", failures)
        ctx.wake_after(cause, self.backoff(failures))


@attrs.frozen
class OperationBackoff:
    """A note that an operation failed and is not run again before `until` (simulated time, s)."""

    until: float = attrs.field(metadata=DIGEST_WAIT)


def back_off_operation(ctx: TurnContext, operation: str, seconds: float = 0.5) -> None:
    """Note that an operation has failed and is not run again for some seconds."""
    ctx.remember("pause", operation, OperationBackoff(ctx.now + seconds))


def is_backing_off(ctx: TurnContext, operation: str) -> bool:
    """Return whether an operation is backing off; remove the note when its time is over."""
    note: OperationBackoff | None = ctx.note("pause", operation)
    if note is not None and note.until > ctx.now:
        return True
    ctx.remember("pause", operation, None)
    return False
