"""`Events` in `kubectl describe`: the Events of one object, and their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ...api.kinds.workload import Event
from ..formatting import NONE, format_age, parse_time
from ..get_tables.events import event_source, sort_events
from .context import DescribeContext

SCHEDULER = "default-scheduler"
MIRROR_POD = "kubernetes.io/config.mirror"
EARLIEST = datetime.min.replace(tzinfo=UTC)


def events_of(obj: Any, context: DescribeContext) -> list[Event]:
    """Return the Events about an object (by uid), sorted by lastTimestamp as `describe` does.

    The scheduler writes the newer form of Event, which has no lastTimestamp: its Events come first.
    """
    meta = obj.metadata
    uids = {meta.annotations[MIRROR_POD]} if MIRROR_POD in meta.annotations else {meta.uid}
    if obj.kind == "Node":
        uids |= {meta.name}  # kubelets write the node's name for its uid
    pairs = [
        (key, event)
        for key, event in context.objects.items()
        if key.kind == "Event"
        and (target := event.involved_object).name == meta.name
        and target.kind == obj.kind
        and target.namespace == meta.namespace
        and target.uid in uids
    ]

    def last_time(event: Event) -> datetime:
        return EARLIEST if event_source(event) == SCHEDULER else parse_time(event.last_timestamp) or EARLIEST

    return sorted(sort_events(pairs), key=last_time)


def event_lines(events: Sequence[Event], now: datetime) -> Iterator[str]:
    """Yield the section `Events`."""
    if not events:
        yield f"Events:\t{NONE}"
        return
    yield "Events:"
    yield "  Type\tReason\tAge\tFrom\tMessage"
    yield "  ----\t------\t----\t----\t-------"
    for event in events:
        age, series = format_age(event.rest.get("eventTime") or event.first_timestamp, now), event.rest.get("series")
        if series is not None:
            age = f"{format_age(series.get('lastObservedTime'), now)} (x{series.get('count', 0)} over {age})"
        elif event.count > 1:
            age = f"{format_age(event.last_timestamp, now)} (x{event.count} over {age})"
        yield f"  {event.type}\t{event.reason}\t{age}\t{event_source(event)}\t{event.message.strip()}"
