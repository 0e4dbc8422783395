"""What has just failed is not run again at once: half a second of pause for each operation."""

from __future__ import annotations

import attrs

from .component import Hand
from .digest import WAIT


@attrs.frozen
class Pause:
    """A note: an operation failed and is not run again before this moment."""

    until: float = attrs.field(metadata=WAIT)


def pause(hand: Hand, operation: str, seconds: float = 0.5) -> None:
    """Note that an operation has failed: it is not run again for half a second."""
    hand.remember("pause", operation, Pause(hand.now + seconds))


def paused(hand: Hand, operation: str) -> bool:
    """Say whether an operation failed a moment ago; the note is forgotten when its time is over."""
    note: Pause | None = hand.note("pause", operation)
    if note is not None and note.until > hand.now:
        return True
    hand.remember("pause", operation, None)
    return False
