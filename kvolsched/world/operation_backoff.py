"""Back-off of operations: one that failed is not run again for half a second."""

from __future__ import annotations

import attrs

from .component import TurnContext
from .digest import DIGEST_WAIT


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
