"""kubectl's print of Events: their order, the row of one, and the section `Events` of what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ...api.kinds.workload import Event
from ...world.log import Key
from ..formatting import NONE, format_age, parse_time
from .printer import Cell, DescribeContext, printer


def _event_cells(event: Event) -> Iterable[Cell]:
    series, involved = event.rest.get("series"), event.involved_object
    first = event.first_timestamp or event.rest.get("eventTime")
    last, count = event.last_timestamp or first, event.count or 1
    if series is not None:
        last, count = series.get("lastObservedTime"), series.get("count", 0)
    host = event.source.host or event.rest.get("reportingInstance", "")
    source = ", ".join(part for part in (event_source(event), host) if part)
    target = involved.kind.lower() + (f"/{involved.name}" if involved.name else "")
    return (
        partial(format_age, last), event.type, event.reason, target, involved.rest.get("fieldPath", ""), source,
        event.message.strip(), partial(format_age, first), str(count),
    )  # fmt: skip


def event_source(event: Event) -> str:
    """Return the component that wrote an Event."""
    return str(event.source.component or event.rest.get("reportingComponent", ""))


def sort_events(events: Iterable[tuple[Key, Event]]) -> list[Event]:
    """Return Events in the API server's order: by name, which begins with the object's name and ends with the time.

    A simulated name ends with a digest instead; simulated Events have no uid and are sorted by their last write.
    """

    def sort_key(item: tuple[Key, Event]) -> tuple[Any, ...]:
        key, event = item
        meta = event.metadata
        version = 0 if meta.uid else meta.resource_version
        return key.namespace, key.name.rpartition(".")[0] + ".", meta.creation_timestamp or "", version, key.name

    return [event for _, event in sorted(events, key=sort_key)]


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


PRINTER = printer(
    "LAST SEEN  TYPE  REASON  OBJECT  [SUBOBJECT]  [SOURCE]  MESSAGE  [FIRST SEEN]  [COUNT]  [NAME]", _event_cells)
