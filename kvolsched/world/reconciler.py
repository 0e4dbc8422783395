"""A routine that reconciles: it takes up one cause at a time, decides once, and carries that out write by write.

`sync` looks at what the component has seen and returns the writes it means to make. They become a plan, which is a
note; each turn makes one of them. A refused write ends the plan, and the cause is taken up again after a back-off.
Between two writes anybody else may act: that is where the races of this loop live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from .apiserver import CommittedWrite, RefusedWrite, Write
from .component import TurnContext
from .digest import DIGEST_IGNORES
from .log import Key


@attrs.frozen
class RemainingWrites:
    """A note: the writes that remain of one decision, and where in the log it was taken."""

    writes: tuple[Write, ...]
    order: int = attrs.field(metadata=DIGEST_IGNORES)


def _no_refusal(_hand: TurnContext, _cause: str, _refused: RefusedWrite) -> None:
    return None


def _no_done(_hand: TurnContext, _cause: str, _done: CommittedWrite, *, last: bool) -> None:
    return None


@attrs.frozen
class Reconciler:
    """An actor after the controller pattern.

    Args:
        name: the lane it is shown in.
        enqueue: (hand, key, old, new) -> the causes that a change of what is seen makes dirty.
        sync: (hand, cause) -> the writes to make, in order; none ends the cause. It may note, read and say events.
        refused: told of a refused write, to say an event.
        done: told of each write that was carried out; `last` says whether the plan is finished.
        backoff: (failures so far, from 1) -> seconds to wait after a refused write.
        max_failures: how many failures are counted.
    """

    name: str
    causes_of: Callable[[TurnContext, Key, Any, Any], Iterable[str]]
    sync: Callable[[TurnContext, str], Sequence[Write]]
    on_refused: Callable[[TurnContext, str, RefusedWrite], None] = _no_refusal
    on_committed: Callable[..., None] = _no_done
    backoff: Callable[[int], float] = lambda failures: min(0.005 * 2 ** (failures - 1), 1000.0)
    max_failures: int = 6

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Put the causes that this change makes dirty on the list."""
        for cause in self.causes_of(ctx, key, old, new):
            ctx.enqueue(cause)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Take up a cause again whose wait is over."""
        ctx.enqueue(name)

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List what may be taken up: a plan that is under way goes before anything new (one worker a queue)."""
        plans = ctx.process.plans[self.name]
        if plans.items:
            return plans.all() if every else plans.all()[:1]
        return ctx.process.work_queues[self.name].next(every=every)

    def act(self, ctx: TurnContext, cause: str) -> bool:
        """Take one write of the cause's plan further, deciding first if there is no plan yet."""
        sort = f"plan {self.name}"
        plan: RemainingWrites | None = ctx.note(sort, cause)
        if plan is None:
            ctx.dequeue(cause)
            plan = RemainingWrites(tuple(self.sync(ctx, cause)), ctx.place)
        if not plan.writes:
            ctx.remember("failures", f"{self.name}|{cause}", None)
            ctx.remember(sort, cause, None)
            return False
        write, *rest = plan.writes
        outcome = ctx.commit(write)
        if isinstance(outcome, RefusedWrite):
            ctx.remember(sort, cause, None)
            self._fail(ctx, cause)
            self.on_refused(ctx, cause, outcome)
            return False
        self.on_committed(ctx, cause, outcome, last=not rest)
        if outcome.stored is not None:
            version = outcome.stored.metadata.resource_version
            rest = [attrs.evolve(w, version=version) if w.version and w.key == write.key else w for w in rest]
        if not rest:
            ctx.remember("failures", f"{self.name}|{cause}", None)
        ctx.remember(sort, cause, RemainingWrites(tuple(rest), plan.order) if rest else None)
        return bool(rest)

    def _fail(self, ctx: TurnContext, cause: str) -> None:
        """Count a failure (up to where it no longer matters) and ask to be woken after the back-off."""
        failures = min((ctx.note("failures", f"{self.name}|{cause}") or 0) + 1, self.max_failures)
        ctx.remember("failures", f"{self.name}|{cause}", failures)
        ctx.wake_after(cause, self.backoff(failures))
