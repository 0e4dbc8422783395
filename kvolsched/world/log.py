"""The one thing that changes: a map from key to frozen value, and the log of changes `(key, old, new)` that made it.

Everything that can change is in the map: API objects under a `Key`, and what a component remembers under a `Note`.
Back is the change swapped, a branch is another tail of changes, and a watch is a cursor into the same list. The log
itself is mutable; everything in it is frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import attrs


class Key(NamedTuple):
    """Where an API object is: its kind, namespace ("" if it has none) and name."""

    kind: str
    namespace: str
    name: str


class Note(NamedTuple):
    """Where a component remembers something: the component, what sort of memory it is, and about what."""

    component: str
    sort: str
    name: str


Place = Key | Note


class Change(NamedTuple):
    """One change of the map; None stands for absent."""

    key: Place
    old: Any
    new: Any


Listener = Callable[[Place, Any, Any], None]


@attrs.frozen
class Branch:
    """A future that was left: the changes from `start` on, and what their owner keeps beside them (turns)."""

    name: str
    start: int
    changes: tuple[Change, ...]
    beside: Any = None


class Log:
    """The map now, and every change that led here or was known to follow. Mutable.

    `place` counts changes: the map is the result of `changes[:place]`; changes behind it are a future known from an
    earlier visit. `base` is the place of the first change that is kept (0 but for snapshots).
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.notes: dict[Note, Any] = {}
        self.changes: list[Change] = []
        self.base = 0
        self.by_kind: dict[str, list[int]] = {}
        self.listeners: list[Listener] = []
        self._place = 0

    @property
    def place(self) -> int:
        """How many changes lead to the map as it is now."""
        return self._place

    @property
    def end(self) -> int:
        """The place behind the last known change."""
        return self.base + len(self.changes)

    def get(self, key: Place) -> Any:
        """Return what is at a key, or None."""
        return self.objects.get(key) if type(key) is Key else self.notes.get(key)  # type: ignore[arg-type]

    def write(self, key: Place, new: Any) -> bool:
        """Put a value at a key (None removes it) and say whether that changed anything.

        Writing is possible only at the end of the log: whoever acts in the past cuts the future off first.
        """
        if self._place != self.end:
            raise RuntimeError("the log has a future: cut it before writing")
        old = self.get(key)
        if old is new or (old == new and not _newer(old, new)):
            return False
        self.changes.append(Change(key, old, new))
        if type(key) is Key:
            self.by_kind.setdefault(key.kind, []).append(self._place)
        self._move(key, old, new)
        self._place += 1
        return True

    def seek(self, place: int) -> None:
        """Move the map to another place of this branch, one change at a time.

        Raises:
            IndexError: the branch has no such place.
        """
        if not self.base <= place <= self.end:
            raise IndexError(f"place {place} is not between {self.base} and {self.end}")
        while self._place > place:
            key, old, new = self.changes[self._place - 1 - self.base]
            self._place -= 1
            self._move(key, new, old)
        while self._place < place:
            key, old, new = self.changes[self._place - self.base]
            self._place += 1
            self._move(key, old, new)

    def cut(self) -> tuple[Change, ...]:
        """Forget the changes behind the present place and return them."""
        keep = self._place - self.base
        future = tuple(self.changes[keep:])
        del self.changes[keep:]
        for kind in {change.key.kind for change in future if type(change.key) is Key}:
            places = self.by_kind[kind]
            while places and places[-1] >= self._place:
                places.pop()
        return future

    def extend(self, changes: tuple[Change, ...]) -> None:
        """Append a known future behind the end, without going there."""
        for change in changes:
            if type(change.key) is Key:
                self.by_kind.setdefault(change.key.kind, []).append(self.end)
            self.changes.append(change)

    def between(self, kind: str, start: int, stop: int) -> Iterator[Change]:
        """Yield the changes of API objects of a kind with `start` <= place < `stop`, in order."""
        places = self.by_kind.get(kind, ())
        low = _first_at_least(places, start)
        for index in range(low, len(places)):
            if places[index] >= stop:
                return
            yield self.changes[places[index] - self.base]

    def first(self, kind: str, start: int) -> int | None:
        """Return the place of the first change of this kind at or behind `start` and before the present, or None."""
        places = self.by_kind.get(kind)
        if not places or places[-1] < start:
            return None
        place = places[_first_at_least(places, start)]
        return place if place < self._place else None

    def _move(self, key: Place, old: Any, new: Any) -> None:
        store: dict[Any, Any] = self.objects if type(key) is Key else self.notes
        if new is None:
            del store[key]
        else:
            store[key] = new
        for listener in self.listeners:
            listener(key, old, new)


def _newer(old: Any, new: Any) -> bool:
    """Whether two equal API objects differ in version: a version is not meaning, yet a write must keep it."""
    before, after = getattr(old, "metadata", None), getattr(new, "metadata", None)
    return before is not None and after is not None and before.resource_version != after.resource_version


def _first_at_least(places: Any, place: int) -> int:
    """Return the index of the first place >= `place`; mostly it is near the end, so look there first."""
    if not places or places[-1] < place:
        return len(places)
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if places[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low
