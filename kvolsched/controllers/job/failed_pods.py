"""How long a Job waits before it replaces a failed pod: 10 s, doubled by each failure since the last success.

Mirrors `backoff_utils.go` (v1.36.2); what has failed so far is forgotten when the controller restarts.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from ...api.kinds.pod import Pod
from ...world.component import TurnContext
from ...world.digest import DIGEST_WAIT
from ...world.reconciler import Backoff

BACKOFF = Backoff.per_cause(10.0, 600.0)
SEEN, COUNTED = "failed pods seen", "failed pods"  # sorts of notes: before and after the status with them was written


@attrs.frozen
class FailedPods:
    """A note: how many pods have failed since the last success, and until when no successor is made."""

    failures: int = 0
    until: float = attrs.field(default=0.0, metadata=DIGEST_WAIT)


def note_failures(ctx: TurnContext, cause: str, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> FailedPods:
    """Return the record of a Job whose newly ended pods are these; it is kept once they stand in its status."""
    record: FailedPods = ctx.note(COUNTED, cause) or FailedPods()
    if not succeeded and not failed:
        return record
    last_success = max(map(_end_of, succeeded), default=None)
    later = [end for end in map(_end_of, failed) if last_success is None or end > last_success]
    before = record.failures if last_success is None else 0
    if later:
        failures = min(before + len(later), BACKOFF.counted)
        passed = datetime.fromisoformat(ctx.moment) - max(later)
        record = FailedPods(failures, ctx.now + BACKOFF.seconds(failures) - passed.total_seconds())
    else:
        record = FailedPods()
    ctx.remember(SEEN, cause, record)
    return record


def keep_failures(ctx: TurnContext, cause: str) -> None:
    """Keep the record of the pods that now stand in the Job's status."""
    if (record := ctx.note(SEEN, cause)) is not None:
        ctx.remember(COUNTED, cause, record if record.failures else None)
        ctx.remember(SEEN, cause, None)


def forget_failures(ctx: TurnContext, cause: str) -> None:
    """Forget what has failed of a Job that is over."""
    ctx.remember(COUNTED, cause, None)
    ctx.remember(SEEN, cause, None)


def _end_of(pod: Pod) -> datetime:
    """Return when a pod ended: when it was no longer ready, else when it was deleted, else its creation."""
    ready, meta = pod.status.condition("Ready"), pod.metadata
    if ready is not None and ready.status == "False" and ready.last_transition_time:
        return datetime.fromisoformat(ready.last_transition_time.upper())
    if meta.deletion_timestamp:
        grace = timedelta(seconds=meta.deletion_grace_period_seconds or 0)
        return datetime.fromisoformat(meta.deletion_timestamp.upper()) - grace
    return datetime.fromisoformat((meta.creation_timestamp or "").upper())
