"""The one thing that changes: a map from key to frozen value, and the log of changes `(key, old, new)` that made it.

Everything that can change is in the map: API objects under a `Key`, and what a component remembers under a `Note`.
Back is the change swapped, a branch is another tail of changes, and a watch is a cursor into the same list. The log
itself is mutable; everything in it is frozen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol


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


LogKey = Key | Note


class Change(NamedTuple):
    """One change of the map; None stands for absent."""

    key: LogKey
    old: Any
    new: Any


class Listener(Protocol):
    """Who follows the log: told of each change, its place, and whether it was undone (old and new are then swapped)."""

    def __call__(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None: ...


class Log:
    """The map now, and every change that led here or was known to follow. Mutable.

    `place` counts changes: the map is the result of all changes before it; changes behind it are a future known from
    an earlier visit. `base` is the place of the first change that is kept: 0, but in a world that was restored.
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.notes: dict[Note, Any] = {}
        self.changes: list[Change] = []
        self.base = 0
        self.by_kind: dict[str, list[int]] = {}
        self.listener: Listener | None = None
        self._place = 0

    @property
    def place(self) -> int:
        """How many changes lead to the map as it is now."""
        return self._place

    @property
    def end(self) -> int:
        """The place behind the last known change."""
        return self.base + len(self.changes)

    def get(self, key: LogKey) -> Any:
        """Return what is at a key, or None."""
        return self.objects.get(key) if type(key) is Key else self.notes.get(key)  # type: ignore[arg-type]

    def write(self, key: LogKey, new: Any) -> bool:
        """Put a value at a key (None removes it) and say whether that changed anything.

        Raises:
            RuntimeError: the log has a future; whoever acts in the past cuts it off first.
        """
        place = self._place
        if place != self.base + len(self.changes):
            raise RuntimeError("the log has a future: cut it before writing")
        api = type(key) is Key
        old = self.objects.get(key) if api else self.notes.get(key)  # type: ignore[arg-type]
        if old is new or (not (api and _newer(old, new)) and old == new and not _newer(old, new)):
            return False
        self.changes.append(Change(key, old, new))
        if api:
            self._file(key[0], place)
        self._move(place, key, old, new, undone=False)
        self._place = place + 1
        return True

    def seek(self, place: int) -> None:
        """Move the map to another place of this branch, one change at a time.

        Raises:
            IndexError: the branch has no such place.
        """
        if not self.base <= place <= self.end:
            raise IndexError(f"place {place} is not between {self.base} and {self.end}")
        while self._place > place:
            self._place -= 1
            key, old, new = self.changes[self._place - self.base]
            self._move(self._place, key, new, old, undone=True)
        while self._place < place:
            key, old, new = self.changes[self._place - self.base]
            self._move(self._place, key, old, new, undone=False)
            self._place += 1

    def recover(self, place: int, other: int) -> None:
        """Put the map at `place` after a move between it and `other` was interrupted, wherever that stopped.

        Nobody is told: who follows the log builds anew.
        """
        between = self.changes[min(place, other) - self.base : max(place, other) - self.base]
        for key, old, new in reversed(between) if place < other else between:
            self._put(key, old if place < other else new)
        self._place = place

    def truncate(self) -> tuple[Change, ...]:
        """Forget the changes behind the present place and return them."""
        keep = self._place - self.base
        if keep == len(self.changes):
            return ()
        future = tuple(self.changes[keep:])
        del self.changes[keep:]
        for kind in {change.key[0] for change in future if type(change.key) is Key}:
            places = self.by_kind.get(kind, [])  # an interrupted write may not have been filed
            del places[bisect_left(places, self._place) :]
        return future

    def extend(self, changes: Iterable[Change]) -> None:
        """Append a known future behind the end, without going there."""
        for change in changes:
            if type(change.key) is Key:
                self._file(change.key.kind, self.end)
            self.changes.append(change)

    def changes_between(self, kind: str, start: int, stop: int) -> Iterator[tuple[int, Change]]:
        """Yield (place, change) of the API objects of a kind with `start` <= place < `stop`, in order."""
        places = self.by_kind.get(kind, ())
        for index in range(bisect_left(places, start), len(places)):
            place = places[index]
            if place >= stop:
                return
            yield place, self.changes[place - self.base]

    def first_change(self, kind: str, start: int) -> int | None:
        """Return the place of the first change of this kind at or behind `start` and before the present, or None."""
        if not start and self.base:  # what happened before `base` is known only by the objects that it left
            left = (obj.metadata.resource_version for key, obj in self.objects.items() if key[0] == kind)
            if any(version <= self.base for version in left):
                return start
        places = self.by_kind.get(kind)
        if not places or places[-1] < start:
            return None
        place = places[bisect_left(places, start)]
        return place if place < self._place else None

    def of_kind(self, kind: str) -> list[Any]:
        """Return the API objects of a kind; found by what was written of it, so that few among many are quick."""
        if self.base:  # of what happened before, only the objects are known
            return [obj for key, obj in self.objects.items() if key[0] == kind]
        places = self.by_kind.get(kind, ())
        written = dict.fromkeys(self.changes[place].key for place in places if place < self._place)
        return [self.objects[key] for key in written if key in self.objects]

    def copy(self) -> Log:
        """Return a log of its own that ends at the present place."""
        other = Log()
        other.objects, other.notes = dict(self.objects), dict(self.notes)
        other.changes = self.changes[: self._place - self.base]
        other.base, other._place = self.base, self._place
        other.by_kind = {kind: places[: bisect_left(places, self._place)] for kind, places in self.by_kind.items()}
        return other

    def restore(
        self, objects: Mapping[Key, Any], notes: Mapping[Note, Any], tail: tuple[Change, ...], place: int
    ) -> None:
        """Hold other contents at a place, with no more of the past than `tail`; nobody is told."""
        self.objects.clear()
        self.objects.update(objects)
        self.notes.clear()
        self.notes.update(notes)
        self.changes.clear()
        self.by_kind.clear()
        self.base = place - len(tail)
        self.extend(tail)
        self._place = place

    def _file(self, kind: str, place: int) -> None:
        places = self.by_kind.get(kind)
        if places is None:
            self.by_kind[kind] = [place]
        else:
            places.append(place)

    def _put(self, key: LogKey, new: Any) -> None:
        store: dict[Any, Any] = self.objects if type(key) is Key else self.notes
        if new is None:
            store.pop(key, None)
        else:
            store[key] = new

    def _move(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None:
        self._put(key, new)
        if self.listener is not None:
            self.listener(place, key, old, new, undone=undone)


def _newer(old: Any, new: Any) -> bool:
    """Whether two API objects differ in version: a version is not meaning, yet a write must keep it."""
    before, after = getattr(old, "metadata", None), getattr(new, "metadata", None)
    return before is not None and after is not None and before.resource_version != after.resource_version
