"""An outside user: carries out what was noted beforehand, at any moment that a schedule or an explorer chooses.

It watches nothing and decides nothing. A wish is a plan like that of any routine, so the moments between its writes are
as open as everybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..world.apiserver import RefusedWrite, Write
from ..world.component import Component, TurnContext
from ..world.log import Key, Note
from ..world.reconciler import Reconciler, RemainingWrites

NAME = "user"


def component() -> Component:
    """Return the user."""
    return Component(NAME, (), (Reconciler(NAME, _nothing_dirty, _nothing_to_decide, _refused),))


def schedule_writes(name: str, writes: Sequence[Write], order: int = 0) -> tuple[Note, RemainingWrites]:
    """Return the note that makes the user carry out these writes: to be put into the world's log.

    Args:
        name: what the wish is called in lanes and steps.
        writes: what to do, in order.
        order: the place in the log that its turn counts from.
    """
    return Note(NAME, f"plan {NAME}", name), RemainingWrites(tuple(writes), order)


def _nothing_dirty(_hand: TurnContext, _key: Key, _old: Any, _new: Any) -> Iterator[str]:
    yield from ()


def _nothing_to_decide(_hand: TurnContext, _cause: str) -> Sequence[Write]:
    return ()


def _refused(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """A person reads the refusal and does not try again."""
    ctx.cancel_wake_up(cause)
    ctx.remember("failures", f"{NAME}|{cause}", None)
    ctx.describe(f"{outcome.write.words or cause}: refused, {outcome.message}")


__all__ = ["NAME", "component", "schedule_writes"]
