"""Operations of in-tree plugins as the controller asks for them: one at a time, and not soon after one has failed."""

from __future__ import annotations

import attrs

from ...world.component import Hand
from ...world.digest import WAIT
from .options import OPERATIONS


@attrs.frozen
class Pause:
    """A note: an operation failed and is not run again before this moment."""

    until: float = attrs.field(metadata=WAIT)


def starts(hand: Hand, operation: str) -> bool:
    """Say whether an operation may start: not while it is under way, and not soon after it has failed."""
    paused: Pause | None = hand.note("pause", operation)
    if paused is not None and paused.until > hand.now:
        return False
    hand.remember("pause", operation, None)
    return hand.note(f"plan {OPERATIONS}", operation) is None


def pause(hand: Hand, operation: str, seconds: float = 0.5) -> None:
    """Note that an operation has failed: it is not run again for half a second."""
    hand.remember("pause", operation, Pause(hand.now + seconds))


def has_operations(hand: Hand) -> bool:
    """Say whether a routine of the component runs them."""
    return any(actor.name == OPERATIONS for actor in hand.process.component.actors)
