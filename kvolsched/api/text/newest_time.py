"""The newest moment that objects tell of: about when a dump was taken, since a dump itself does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any


def newest_time(objects: Iterable[Any]) -> datetime | None:
    """Return the latest time at which something had happened: births, conditions, starts, events; None without any.

    When an object is to be deleted lies in the future and does not count.
    """
    return max(filter(None, map(_read, (text for item in objects for text in _told(item)))), default=None)


def _told(item: Any) -> Iterator[Any]:
    yield item.metadata.creation_timestamp
    if item.kind == "Event":
        yield from (item.first_timestamp, item.last_timestamp, item.rest.get("eventTime"))
        yield (item.rest.get("series") or {}).get("lastObservedTime")
        return
    status = getattr(item, "status", None)
    yield getattr(status, "start_time", None)
    for condition in getattr(status, "conditions", ()):
        yield from (condition.last_transition_time, condition.rest.get("lastHeartbeatTime"))


def _read(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text).upper()) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
