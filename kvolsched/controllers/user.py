"""An outside user: carries out what was noted beforehand, at any moment that a schedule or an explorer chooses.

It watches nothing and decides nothing. A wish is a plan like that of any routine, so the moments between its writes are
as open as everybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..world.apiserver import Refused, Write
from ..world.component import Component, Hand
from ..world.log import Key, Note
from ..world.routine import Plan, Routine

NAME = "user"


def component() -> Component:
    """Return the user."""
    return Component(NAME, (), (Routine(NAME, _nothing_dirty, _nothing_to_decide, _refused),))


def wish(name: str, writes: Sequence[Write], order: int = 0) -> tuple[Note, Plan]:
    """Return the note that makes the user carry out these writes: to be put into the world's log.

    Args:
        name: what the wish is called in lanes and steps.
        writes: what to do, in order.
        order: the place in the log that its turn counts from.
    """
    return Note(NAME, f"plan {NAME}", name), Plan(tuple(writes), order)


def _nothing_dirty(_hand: Hand, _key: Key, _old: Any, _new: Any) -> Iterator[str]:
    yield from ()


def _nothing_to_decide(_hand: Hand, _cause: str) -> Sequence[Write]:
    return ()


def _refused(hand: Hand, cause: str, outcome: Refused) -> None:
    """A person reads the refusal and does not try again."""
    hand.unwake(cause)
    hand.remember("failures", f"{NAME}|{cause}", None)
    hand.say(f"{outcome.write.words or cause}: refused, {outcome.message}")


__all__ = ["NAME", "component", "wish"]
