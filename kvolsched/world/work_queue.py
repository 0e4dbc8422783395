"""Work queues and wake-ups: notes of one sort in order, with quick access to the first."""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from .digest import DIGEST_IGNORES, DIGEST_WAIT
from .log import LogKey


@attrs.frozen
class WorkItem:
    """A note that an actor has something to do; `order` is the position in the log where it was enqueued."""

    order: int = attrs.field(metadata=DIGEST_IGNORES)


@attrs.frozen
class WakeUp:
    """A note that an actor is to be woken at a simulated time (s); a run does not wait for periodic wake-ups."""

    at: float = attrs.field(metadata=DIGEST_WAIT)
    order: int = attrs.field(metadata=DIGEST_IGNORES)
    periodic: bool = False


class WorkQueue:
    """Notes of one sort in order, the first in O(log n). Mutable view."""

    def __init__(self, sort: str, order: Callable[[Any], Any] = lambda note: note.order) -> None:
        self.follows = frozenset([sort])
        self.order = order
        self.items: dict[str, Any] = {}
        self._entries: dict[str, tuple[Any, str]] = {}  # (order, name) of each note; others in the heap are outdated
        self._heap: list[tuple[Any, str]] = []

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Add, replace or remove one note."""
        name = key[2]
        if new is None:
            if name in self.items:
                del self.items[name], self._entries[name]
            return
        self.items[name] = new
        entry = self._entries[name] = (self.order(new), name)
        if len(self._heap) > 64 + 4 * len(self.items):  # drop outdated entries that `first` never reached
            self._heap = list(self._entries.values())
            heapq.heapify(self._heap)
        else:
            heapq.heappush(self._heap, entry)

    def next(self, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Return (order, name) of the first note, or of every note."""
        if every:
            return self.all()
        first = self.first()
        return (first,) if first else ()

    def first(self) -> tuple[Any, str] | None:
        """Return (order, name) of the first note, or None."""
        if not self.items:
            return None
        heap, entries = self._heap, self._entries
        while True:
            first = heap[0]
            if entries.get(first[1]) is first:
                return first
            heapq.heappop(heap)

    def all(self) -> list[tuple[Any, str]]:
        """Return (order, name) of every note, sorted."""
        return sorted(self._entries.values())

    def up_to(self, limit: Any) -> list[tuple[Any, str]]:
        """Return (order, name) of every note whose order is at most `limit`, sorted; other notes cost nothing."""
        first = self.first()
        if first is None or first[0] > limit:
            return []
        heap, found, below = self._heap, [], [0]
        for index in below:  # no entry of a heap comes before its parent
            if index < len(heap) and heap[index][0] <= limit:
                entry = heap[index]
                if self._entries.get(entry[1]) is entry:
                    found.append(entry)
                below += (2 * index + 1, 2 * index + 2)
        return sorted(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkQueue) and self.items == other.items

    __hash__ = None  # type: ignore[assignment]
