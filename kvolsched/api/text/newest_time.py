"""Estimate when a dump was taken, by the newest time in its objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any


def newest_time(objects: Iterable[Any]) -> datetime | None:
    """Return the newest creation, condition, start or event time of objects, None without any.

    Deletion timestamps lie in the future and are not counted.
    """
    return max(filter(None, map(_parse_time, (text for item in objects for text in _times(item)))), default=None)


def _times(item: Any) -> Iterator[Any]:
    yield item.metadata.creation_timestamp
    if item.kind == "Event":
        yield from (item.first_timestamp, item.last_timestamp, item.rest.get("eventTime"))
        yield (item.rest.get("series") or {}).get("lastObservedTime")
        return
    status = getattr(item, "status", None)
    yield getattr(status, "start_time", None)
    for condition in getattr(status, "conditions", ()):
        yield from (condition.last_transition_time, condition.rest.get("lastHeartbeatTime"))


def _parse_time(text: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text).upper()) if text else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
