"""`kubectl get events`: the order of Events, and the row of one (v1.36.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...api.kinds.workload import Event
from ...world.log import Key
from ..formatting import format_age
from .table import Table


def _event_row(event: Event, now: datetime) -> Sequence[str]:
    series, involved = event.rest.get("series"), event.involved_object
    first = format_age(event.first_timestamp or event.rest.get("eventTime"), now)
    last = format_age(event.last_timestamp, now) if event.last_timestamp else first
    count = event.count or 1
    if series is not None:
        last, count = format_age(series.get("lastObservedTime"), now), series.get("count", 0)
    host = event.source.host or event.rest.get("reportingInstance", "")
    source = ", ".join(part for part in (event_source(event), host) if part)
    target = involved.kind.lower() + (f"/{involved.name}" if involved.name else "")
    return (
        last, event.type, event.reason, target, involved.rest.get("fieldPath", ""), source, event.message.strip(),
        first, str(count), event.metadata.name,
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


TABLES: Mapping[str, Table] = {
    "Event": Table(
        ("LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "FIRST SEEN", "COUNT", "NAME"),
        _event_row, frozenset({"SUBOBJECT", "SOURCE", "FIRST SEEN", "COUNT", "NAME"}),
    ),
}  # fmt: skip
