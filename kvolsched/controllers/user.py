"""An outside user: makes writes that were scheduled beforehand, whenever a schedule or the explorer lets it act.

It watches nothing and decides nothing. Scheduled writes are a plan like that of any routine, so that others may act
between any two of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..world.apiserver import RefusedWrite, Write
from ..world.component import Component, TurnContext
from ..world.log import Note
from ..world.reconciler import Reconciler, RemainingWrites

NAME = "user"


def component() -> Component:
    """Return the user."""
    return Component(NAME, (), (Reconciler(NAME, lambda *_change: (), lambda *_cause: (), _refused),))


def schedule_writes(name: str, writes: Sequence[Write], order: int = 0) -> tuple[Note, RemainingWrites]:
    """Return the note, to be written to the world's log, that makes the user carry out these writes.

    `name` is the plan's in lanes and steps; `order` is the place in the log that decides whose turn is next.
    """
    return Note(NAME, f"plan {NAME}", name), RemainingWrites(tuple(writes), order)




def _refused(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """Report the refusal: a person does not try again."""
    ctx.cancel_wake_up(cause)
    ctx.remember("failures", f"{NAME}|{cause}", None)
    ctx.describe(f"{outcome.write.words or cause}: refused, {outcome.message}")
