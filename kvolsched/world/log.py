"""The log of changes `(key, old, new)`, and the map from key to frozen value that results from it.

Everything that can change is in the map: API objects under a `Key`, and what a component remembers under a `Note`.
Going back applies a change with old and new swapped, a branch is another tail of changes, and a watch is a cursor into
the list. The log is mutable; everything in it is frozen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol


class Key(NamedTuple):
    """Key of an API object: its kind, namespace ("" if it has none) and name."""

    kind: str
    namespace: str
    name: str


class Note(NamedTuple):
    """Key of what a component remembers: the component, the sort of memory, and the name of its subject."""

    component: str
    sort: str
    name: str


LogKey = Key | Note


class Change(NamedTuple):
    """One change of the map; None means that the key is absent."""

    key: LogKey
    old: Any
    new: Any


class Listener(Protocol):
    """A function called with each change and its position; if the change is `undone`, old and new are swapped."""

    def __call__(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None: ...


class Log:
    """The log and the map at its present position. Mutable.

    `place`, the position, counts changes: the map results from all changes before it; later changes are a future known
    from an earlier visit. `base` is the position of the first change that is kept: 0, unless the world was restored.
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
        """Present position: the number of changes that lead to the map."""
        return self._place

    @property
    def end(self) -> int:
        """Position after the last known change."""
        return self.base + len(self.changes)

    def keys_ever(self) -> set[Key]:
        """Return the keys of the objects that this branch changes anywhere: deleted ones too."""
        return {change.key for change in self.changes if type(change.key) is Key}

    def get(self, key: LogKey) -> Any:
        """Return the value at a key, or None."""
        return self.objects.get(key) if type(key) is Key else self.notes.get(key)  # type: ignore[arg-type]

    def write(self, key: LogKey, new: Any) -> bool:
        """Put a value at a key (None removes it) and return whether that changed anything.

        Raises:
            RuntimeError: the log has a future, which must be truncated first.
        """
        place = self._place
        if place != self.base + len(self.changes):
            raise RuntimeError("the log has a future: truncate it before writing")
        is_object = type(key) is Key
        old = self.objects.get(key) if is_object else self.notes.get(key)  # type: ignore[arg-type]
        if old is new:
            return False
        if not (is_object and _versions_differ(old, new)) and old == new and not _versions_differ(old, new):
            return False
        self.changes.append(Change(key, old, new))
        if is_object:
            self.by_kind.setdefault(key[0], []).append(place)
        self._apply(place, key, old, new, undone=False)
        self._place = place + 1
        return True

    def seek(self, place: int) -> None:
        """Move the map to another position of this branch, one change at a time.

        Raises:
            IndexError: the branch has no such position.
        """
        if not self.base <= place <= self.end:
            raise IndexError(f"position {place} is not between {self.base} and {self.end}")
        while self._place > place:
            self._place -= 1
            key, old, new = self.changes[self._place - self.base]
            self._apply(self._place, key, new, old, undone=True)
        while self._place < place:
            key, old, new = self.changes[self._place - self.base]
            self._apply(self._place, key, old, new, undone=False)
            self._place += 1

    def recover(self, place: int, other: int) -> None:
        """Put the map at `place` after a move between it and `other` was interrupted at any point.

        The listener is not called: the caller rebuilds every view.
        """
        between = self.changes[min(place, other) - self.base : max(place, other) - self.base]
        for key, old, new in reversed(between) if place < other else between:
            self._put(key, old if place < other else new)
        self._place = place

    def truncate(self) -> tuple[Change, ...]:
        """Remove the changes after the present position and return them."""
        count = self._place - self.base
        if count == len(self.changes):
            return ()
        future = tuple(self.changes[count:])
        del self.changes[count:]
        for kind in {change.key[0] for change in future if type(change.key) is Key}:
            places = self.by_kind.get(kind, [])  # an interrupted write may not be in the index yet
            del places[bisect_left(places, self._place) :]
        return future

    def extend(self, changes: Iterable[Change]) -> None:
        """Append a known future after the end, without moving there."""
        for change in changes:
            if type(change.key) is Key:
                self.by_kind.setdefault(change.key.kind, []).append(self.end)
            self.changes.append(change)

    def changes_between(self, kind: str, start: int, stop: int) -> Iterator[tuple[int, Change]]:
        """Yield (position, change) of the API objects of a kind with `start` <= position < `stop`, in order."""
        places = self.by_kind.get(kind, ())
        for index in range(bisect_left(places, start), len(places)):
            place = places[index]
            if place >= stop:
                return
            yield place, self.changes[place - self.base]

    def first_change(self, kind: str, start: int) -> int | None:
        """Return the position of the first change of a kind from `start` on and before the present, or None."""
        if not start and self.base:  # changes before `base` are not kept, only the objects that they left
            versions = (obj.metadata.resource_version for key, obj in self.objects.items() if key[0] == kind)
            if any(version <= self.base for version in versions):
                return start
        places = self.by_kind.get(kind)
        if not places or places[-1] < start:
            return None
        place = places[bisect_left(places, start)]
        return place if place < self._place else None

    def of_kind(self, kind: str) -> list[Any]:
        """Return the API objects of a kind, looked up through the index of changes by kind."""
        if self.base:  # changes before `base` are not in the index
            return [obj for key, obj in self.objects.items() if key[0] == kind]
        places = self.by_kind.get(kind, ())
        written = dict.fromkeys(self.changes[place].key for place in places if place < self._place)
        return [self.objects[key] for key in written if key in self.objects]

    def copy(self) -> Log:
        """Return an independent log that ends at the present position."""
        other = Log()
        other.objects, other.notes = dict(self.objects), dict(self.notes)
        other.changes = self.changes[: self._place - self.base]
        other.base, other._place = self.base, self._place
        other.by_kind = {kind: places[: bisect_left(places, self._place)] for kind, places in self.by_kind.items()}
        return other

    def restore(self, objects: Mapping[Key, Any], notes: Mapping[Note, Any], tail: tuple[Change, ...],
                place: int) -> None:
        """Replace the contents, with `tail` as the only past kept; the listener is not called."""
        self.objects.clear()
        self.objects.update(objects)
        self.notes.clear()
        self.notes.update(notes)
        self.changes.clear()
        self.by_kind.clear()
        self.base = place - len(tail)
        self.extend(tail)
        self._place = place

    def _put(self, key: LogKey, new: Any) -> None:
        store: dict[Any, Any] = self.objects if type(key) is Key else self.notes
        if new is None:
            store.pop(key, None)
        else:
            store[key] = new

    def _apply(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None:
        self._put(key, new)
        if self.listener is not None:
            self.listener(place, key, old, new, undone=undone)


def _versions_differ(old: Any, new: Any) -> bool:
    """Return whether two API objects differ in version: equality ignores it, yet a write must store it."""
    before, after = getattr(old, "metadata", None), getattr(new, "metadata", None)
    return before is not None and after is not None and before.resource_version != after.resource_version
