"""The reconciler: an actor that takes up one cause at a time, decides once, and makes its writes turn by turn.

`sync` looks at what the component has seen and returns the writes to make. They become a plan, which is a note; each
turn makes one of them. A refused write ends the plan, and the cause is taken up again after a back-off. Other
components may act between two writes: this is where races come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import evolve, maker
from .apiserver import RefusedWrite, Write
from .component import TurnContext
from .digest import BUCKET_SORT, DIGEST_IGNORES, DIGEST_WAIT
from .log import Delivery, Key


@attrs.frozen
class RemainingWrites:
    """A note with the writes that remain of a plan, and the position in the log where it was made."""

    writes: tuple[Write, ...]
    order: int = attrs.field(metadata=DIGEST_IGNORES)


@attrs.frozen
class Backoff:
    """How long a failed cause waits until it is taken up again; by default as client-go's DefaultControllerRateLimiter.

    Args:
        first: seconds after the first failure, doubled by each further one.
        last: the most seconds.
        qps: how many causes of a queue are taken up again a second, once `burst` of them were; 0: any number.
        burst: how many may be taken up again at once.
        retries: after so many retries in a row the cause is dropped, until a change enqueues it; None: never.
    """

    first: float = 0.005
    last: float = 1000.0
    qps: float = 10.0
    burst: int = 100
    retries: int | None = None

    @classmethod
    def per_cause(cls, first: float, last: float, retries: int | None = None) -> Backoff:
        """Return a back-off that does not count the failures of other causes."""
        return cls(first, last, 0.0, 0, retries)

    @classmethod
    def every(cls, seconds: float, retries: int | None = None) -> Backoff:
        """Return a back-off of always the same length."""
        return cls.per_cause(seconds, seconds, retries)

    @property
    def counted(self) -> int:
        """The number of failures up to which their count matters."""
        growing = 1 + math.ceil(math.log2(self.last / self.first)) if self.last > self.first > 0 else 1
        return growing if self.retries is None else self.retries + 1

    def seconds(self, failures: int) -> float:
        """Return the wait after so many failures in a row, from 1."""
        return min(self.first * 2.0 ** (failures - 1), self.last)

    def count_failure(self, ctx: TurnContext, sort: str, name: str) -> int:
        """Count a failure in the note of this sort and name; return the failures in a row, at most `counted`."""
        failures = min((ctx.note(sort, name) or 0) + 1, self.counted)
        ctx.remember(sort, name, failures)
        return failures

    def wait_for_others(self, ctx: TurnContext) -> float:
        """Take a retry out of the bucket of the actor's queue, and return the seconds until it may be made."""
        if not self.qps:
            return 0.0
        full_at = max(ctx.note(BUCKET_SORT, ctx.actor.name) or 0.0, ctx.now) + 1 / self.qps
        ctx.remember(BUCKET_SORT, ctx.actor.name, full_at)
        return max(0.0, full_at - ctx.now - self.burst / self.qps)


class ReconcileError(Exception):
    """Raised by a `sync` that cannot decide; its sentence describes the turn, and the cause is retried later."""


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
        backoff: how long a cause waits after a refused write.
        seldom: its lane is shown only where it has acted.
        reacts_to: the kinds for which `causes_of` may have causes; None for all.
        concerning: (ctx, deliveries) -> those of a long delivery for which `causes_of` may have causes; None for all.
    """

    name: str
    causes_of: Callable[[TurnContext, Key, Any, Any], Iterable[str]]
    sync: Callable[[TurnContext, str], Sequence[Write]]
    on_refused: Callable[[TurnContext, str, RefusedWrite], None] = lambda _ctx, _cause, _refused: None
    on_committed: Callable[..., None] = lambda _ctx, _cause, _committed, last: None  # noqa: ARG005
    backoff: Backoff = Backoff()
    seldom: bool = False
    reacts_to: frozenset[str] | None = None
    concerning: Callable[[TurnContext, Sequence[Delivery]], Sequence[Delivery]] | None = None

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
                plan = _remaining(tuple(self.sync(ctx, cause)), ctx.place)
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
        ctx.remember(sort, cause, _remaining(tuple(rest), plan.order) if rest else None)
        return bool(rest)

    def _retry_later(self, ctx: TurnContext, cause: str) -> None:
        """Count a failure and schedule a wake-up after the back-off, unless there were too many."""
        name = f"{self.name}|{cause}"
        failures = self.backoff.count_failure(ctx, "failures", name)
        if self.backoff.retries is not None and failures > self.backoff.retries:
            ctx.remember("failures", name, None)
            return
        ctx.wake_after(cause, max(self.backoff.seconds(failures), self.backoff.wait_for_others(ctx)))


_remaining = maker(RemainingWrites)
OPERATION_BACKOFF = Backoff.per_cause(0.5, 122.0)
"""That of goroutinemap: 500 ms up to 2 min 2 s."""


@attrs.frozen
class FailedOperation:
    """A note: how often in a row an operation failed, and until when it is not run again (simulated time, s)."""

    failures: int
    until: float = attrs.field(metadata=DIGEST_WAIT)


def back_off_operation(ctx: TurnContext, operation: str) -> FailedOperation:
    """Note that an operation has failed and is not run again for some time."""
    last: FailedOperation | None = ctx.note("pause", operation)
    failures = min((last.failures if last is not None else 0) + 1, OPERATION_BACKOFF.counted)
    failed = FailedOperation(failures, ctx.now + OPERATION_BACKOFF.seconds(failures))
    ctx.remember("pause", operation, failed)
    return failed


def is_backing_off(ctx: TurnContext, operation: str) -> bool:
    """Return whether an operation is backing off."""
    note: FailedOperation | None = ctx.note("pause", operation)
    return note is not None and note.until > ctx.now


def forget_failures(ctx: TurnContext, operation: str) -> None:
    """Note that an operation has succeeded."""
    ctx.remember("pause", operation, None)
