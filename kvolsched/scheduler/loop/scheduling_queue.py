"""The scheduling queue: which pod is tried next, who waits for what, and what wakes whom.

Every pod that wants a place has one entry, a note; the parts are active, backoff, unschedulable, gated, deciding (its
pass has begun), waiting (for its volumes, under the design's two passes) and binding (its binding cycle runs). Mirrors
kube-scheduler's SchedulingQueue (v1.36.2): priority first, then who came first; 1, 2, 4, 8, 10 s of back-off.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import attrs

from ...world.digest import DIGEST_RANK, DIGEST_WAIT
from ...world.log import LogKey

QUEUE = "queue"
RECORDER = "default-scheduler"  # the scheduler that pods ask for, and the name its events carry
ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
GATED, DECIDING, WAITING, BINDING = "gated", "deciding", "waiting", "binding"
INITIAL_BACKOFF, MAX_BACKOFF = 1.0, 10.0
MOST_FAILURES = 5  # from here on the back-off no longer grows, so counting stops


@attrs.frozen
class QueueEntry:
    """One pod's place in the queue.

    `order` is the place in the log where it came to its part; `failures` counts up to where it no longer matters;
    `until` is the end of its back-off (simulated s); `error` tells an error from a plain No.
    """

    part: str
    priority: int = 0
    order: int = attrs.field(default=0, metadata=DIGEST_RANK)
    failures: int = 0
    rejected_by: tuple[str, ...] = ()
    until: float | None = attrs.field(default=None, metadata=DIGEST_WAIT)
    error: bool = False


def backoff(failures: int) -> float:
    """Return the seconds that a pod waits after its `failures`-th failure in a row."""
    return min(INITIAL_BACKOFF * 2.0 ** (failures - 1), MAX_BACKOFF) if failures else 0.0


def back_at(now: float, failures: int) -> float:
    """Return when a pod that fails now may be tried again: its back-off, up to the next tick of the 1 s timer."""
    return math.floor(now + backoff(failures)) + 1.0


class SchedulingQueue:
    """The entries by part, and the first of each at once. Mutable view over the queue notes.

    `rejected` holds the names of the unschedulable pods by the plugins that rejected them.
    """

    def __init__(self) -> None:
        self.follows = frozenset([QUEUE])
        self.entries: dict[str, QueueEntry] = {}
        self.parts: dict[str, dict[str, QueueEntry]] = {}
        self.rejected: dict[tuple[str, ...], set[str]] = {}
        self._heaps: dict[str, list[tuple[Any, str]]] = {ACTIVE: [], BACKOFF: []}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Move one pod's entry."""
        name = key[2]
        if old is not None:
            self.parts.get(old.part, {}).pop(name, None)
            if old.part == UNSCHEDULABLE:
                names = self.rejected[old.rejected_by]
                names.discard(name)
                if not names:
                    del self.rejected[old.rejected_by]
        if new is None:
            self.entries.pop(name, None)
            return
        self.entries[name] = new
        self.parts.setdefault(new.part, {})[name] = new
        if new.part == UNSCHEDULABLE:
            self.rejected.setdefault(new.rejected_by, set()).add(name)
        if new.part in self._heaps and not new.error:
            heapq.heappush(self._heaps[new.part], (self._rank(new), name))

    @staticmethod
    def _rank(entry: QueueEntry) -> Any:
        if entry.part == BACKOFF:
            return (entry.until or 0.0, -entry.priority, entry.order)
        return (-entry.priority, entry.order)

    def first(self, part: str) -> tuple[str, QueueEntry] | None:
        """Return the pod that is tried first of the active part, or whose back-off ends first (errors left out)."""
        heap, here = self._heaps[part], self.parts.get(part, {})
        while heap:
            rank, name = heap[0]
            entry = here.get(name)
            if entry is not None and not entry.error and self._rank(entry) == rank:
                return name, entry
            heapq.heappop(heap)
        return None

    def of(self, part: str) -> list[tuple[str, QueueEntry]]:
        """Return the pods of one part, sorted by name."""
        return sorted(self.parts.get(part, {}).items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchedulingQueue) and self.entries == other.entries

    __hash__ = None  # type: ignore[assignment]
