"""An outside user: tries an eviction that a budget forbids again every 5 seconds, as `kubectl drain` does.

It watches nothing and decides nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..world.apiserver import CommittedWrite, RefusedWrite, Write
from ..world.component import Component, TurnContext
from ..world.log import Note
from ..world.reconciler import Reconciler
from ..world.work_queue import WakeUp

NAME = "user"
ATTEMPT = "attempt"  # sort of the notes with writes that are tried again
RETRY_SECONDS = 5.0


def component() -> Component:
    """Return the user."""
    return Component(NAME, (), (Reconciler(NAME, lambda *_change: (), _try_again, _refused, _done),))


def retried_eviction(write: Write, now: float, order: int) -> Mapping[Note, Any]:
    """Return the notes that make the user try an eviction again and again until it is allowed or the pod is gone."""
    cause = f"evict {write.key.namespace}/{write.key.name}"
    wake_up = WakeUp(now + RETRY_SECONDS, order)
    return {Note(NAME, ATTEMPT, cause): write, Note(NAME, "wake", f"{NAME}|{cause}"): wake_up}


def _try_again(ctx: TurnContext, cause: str) -> Sequence[Write]:
    write: Write | None = ctx.note(ATTEMPT, cause)
    return () if write is None else (write,)


def _done(ctx: TurnContext, cause: str, _outcome: CommittedWrite, *, last: bool) -> None:
    if last:
        ctx.remember(ATTEMPT, cause, None)


def blocked_words(outcome: RefusedWrite) -> str:
    """Return what kubectl says of an eviction that a budget forbids."""
    key = outcome.write.key
    pod = f'pods/"{key.name}" -n "{key.namespace}"'
    return f"error when evicting {pod} (will retry after {RETRY_SECONDS:g}s): {outcome.message}"


def _refused(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """Report the refusal: a person does not try again, but for an eviction that a budget forbids for now."""
    ctx.cancel_wake_up(cause)
    ctx.remember("failures", f"{NAME}|{cause}", None)
    if ctx.note(ATTEMPT, cause) is not None:
        if outcome.reason == "TooManyRequests":
            ctx.wake_after(cause, RETRY_SECONDS)
            ctx.describe(blocked_words(outcome))
            return
        ctx.remember(ATTEMPT, cause, None)
    ctx.describe(f"{outcome.write.words or cause}: refused, {outcome.message}")
