"""The log of changes `(key, old, new)`, and the map from key to frozen value that results from it.

Everything that can change is in the map: API objects under a `Key`, and what a component remembers under a `Note`.
Going back applies a change with old and new swapped, a branch is another tail of changes, and a watch is a cursor into
the list. The log is mutable; everything in it is frozen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from ..api.text.python_gc import paused_gc
from .changes import Change, ChangeColumns, Group, Key, LogKey, Maps, NetChanges, Note

__all__ = ["Change", "Delivery", "Key", "ListedObjects", "Log", "LogKey", "Note"]

CURSOR = "cursor"  # sort of the notes that say how far a component has seen a kind
FAR = 2_000  # changes from which on a seek goes by the differences of two places
NOTHING: Maps = ({}, {})
_PLACE, _PLACE_AND_KEY = itemgetter(0), itemgetter(0, 1)
ByKind = Mapping[str, Sequence[tuple[Key, Any]]]


class Delivery(NamedTuple):
    """Net change of one key that a delivery brings, and the position of the last change in it."""

    place: int
    key: Key
    old: Any
    new: Any


class ListedObjects(NamedTuple):
    """All objects of a kind as a list has them, by key and as what is delivered: the oldest version first.

    All components that start list the same, so it is shared and never changes.
    """

    objects: Mapping[Key, Any]
    deliveries: list[Delivery]


KEEP_EVERY = 1 << 18  # changes after which the map is kept once more, so that no place is far from a known map


class Log:
    """The log and the map at its present position. Mutable.

    `place`, the position, counts changes: the map results from all changes before it; later changes are a future known
    from an earlier visit. `base` is the position of the first change that is kept: 0, unless the world was restored.
    `listener` is called with the position, key, old and new value of each change, and whether it is `undone`: then old
    and new are swapped. `jump_listener` is called once the map has jumped, with the position from which it has.
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.notes: dict[Note, Any] = {}
        self.changes = ChangeColumns()
        self.listener: Callable[..., None] | None = None
        self.jump_listener: Callable[[int], None] | None = None
        self.place = 0
        """Present position: the number of changes that lead to the map."""
        self._is_cleared = False  # the map was emptied to begin with another one, and is not whole yet
        self._lists: dict[tuple[str, int], ListedObjects] = {}  # by kind and the position of its last change

    @property
    def base(self) -> int:
        """The position of the first change that is kept."""
        return self.changes.start

    @property
    def end(self) -> int:
        """Position after the last known change."""
        return self.changes.start + len(self.changes)

    def keys_ever(self) -> set[Key]:
        """Return the keys of the objects that this branch changes anywhere: deleted ones too."""
        changes = self.changes
        return {key for places in changes.by_kind.values() for key in changes.keys(places)}  # type: ignore[misc]

    def get(self, key: LogKey) -> Any:
        """Return the value at a key, or None."""
        return self.objects.get(key) if type(key) is Key else self.notes.get(key)  # type: ignore[arg-type]

    def write(self, key: LogKey, new: Any) -> bool:
        """Put a value at a key (None removes it) and return whether that changed anything.

        Raises:
            RuntimeError: the log has a future, which must be truncated first.
        """
        place, changes = self.place, self.changes
        if place != changes.start + len(changes.codes):
            raise RuntimeError("the log has a future: truncate it before writing")
        is_object = type(key) is Key
        store: dict[Any, Any] = self.objects if is_object else self.notes
        old = store.get(key)
        if old is new:
            return False
        both = old is not None and new is not None  # else they differ, and need not be compared
        if both and not (is_object and _versions_differ(old, new)) and old == new and not _versions_differ(old, new):
            return False
        key = changes.append(key, old, new)
        if new is None:
            del store[key]
        else:
            store[key] = new
        if self.listener is not None:
            self.listener(place, key, old, new, undone=False)
        self.place = place + 1
        if not (place + 1) % KEEP_EVERY:
            changes.maps[place + 1] = (self.objects.copy(), self.notes.copy())
        return True

    def seek(self, place: int) -> None:
        """Move the map to another position of this branch: change by change, or by the net change of each key if far.

        Raises:
            IndexError: the branch has no such position.
        """
        self._check(place)
        is_far = abs(place - self.place) >= FAR or self._takes_back_lists(place)
        if is_far and (self.listener is None or self.jump_listener is not None):
            with paused_gc():
                self._jump(place)
            return
        base, changes = self.base, self.changes
        while self.place > place:
            self.place -= 1
            key, old, new = changes[self.place - base]
            self._apply(self.place, key, new, old, undone=True)
        while self.place < place:
            key, old, new = changes[self.place - base]
            self._apply(self.place, key, old, new, undone=False)
            self.place += 1

    def _check(self, place: int) -> None:
        if not self.base <= place <= self.end:
            raise IndexError(f"position {place} is not between {self.base} and {self.end}")

    def _takes_back_lists(self, place: int) -> bool:
        """Say whether a move back in a large world takes back what somebody has listed, which is done at once."""
        if place >= self.place or len(self.objects) < FAR:
            return False
        between = self.changes[place - self.base : self.place - self.base]
        return any(old is None and type(key) is Note and key[1] == CURSOR for key, old, _ in between)

    def _jump(self, place: int) -> None:
        """Move the map to a position, from the nearest known one by the net change of each key."""
        start = near = self.place
        kept = self._nearest_kept(place)
        if kept is not None and abs(kept - place) < abs(start - place):
            near = kept
            self._begin_with_kept(near)
        for name, columns in self.differences(near, place).items():
            store: dict[Any, Any] = self.objects if len(name) == 1 else self.notes
            store.update(zip(columns.keys, columns.new, strict=True))
            for key in [key for key, new in zip(columns.keys, columns.new, strict=True) if new is None]:
                del store[key]
        self._is_cleared = False
        self.place = place
        if self.jump_listener is not None:
            self.jump_listener(start)

    def _nearest_kept(self, place: int) -> int | None:
        """Return the nearest position whose map is known, apart from the present one."""
        maps = self.changes.maps if self.base else (0, *self.changes.maps)
        return min(maps, key=lambda kept: abs(kept - place), default=None)

    def _begin_with_kept(self, place: int) -> None:
        """Replace the map by the one that was kept at a position; the caller goes on from there."""
        self._is_cleared = True
        for now, kept in zip((self.objects, self.notes), self.changes.maps.get(place, NOTHING), strict=True):
            now.clear()  # type: ignore[attr-defined]
            now.update(kept)  # type: ignore[attr-defined]

    def differences(self, start: int, stop: int, wanted: Container[Group] | None = None) -> dict[Group, NetChanges]:
        """Return the keys that may differ between two positions by group, and their values there (see `changes.py`)."""
        found = self.changes.differences(range(min(start, stop), max(start, stop)), wanted)
        return found if start <= stop else _swapped(found)

    def differences_of_kind(self, kind: str, start: int, stop: int) -> list[tuple[Any, Any, Any]]:
        """Return (key, value at `start`, value at `stop`) of every API object of a kind that differs."""
        found = self.changes.differences(self.changes.in_kind(kind, min(start, stop), max(start, stop)))
        for columns in (found if start <= stop else _swapped(found)).values():
            return columns.rows
        return []

    def recover(self, place: int, other: int) -> None:
        """Put the map at `place` after a move between it and `other` was interrupted at any point.

        The listener is not called: the caller rebuilds every view.
        """
        if self._is_cleared and (kept := self._nearest_kept(place)) is not None:
            self._begin_with_kept(kept)
            other = kept
        between = self.changes[min(place, other) - self.base : max(place, other) - self.base]
        for key, old, new in reversed(between) if place < other else between:
            self._put(key, old if place < other else new)
        self._is_cleared = False
        self.place = place

    def changes_from(self, place: int) -> ChangeColumns:
        """Return a copy of the known changes from a position on.

        Raises:
            IndexError: the branch has no such position.
        """
        self._check(place)
        return self.changes.copy(place - self.base, len(self.changes.codes))

    def recover_changes(self, place: int, later: ChangeColumns, present: int) -> None:
        """Put back the changes from `place` on, and the map of `present`, after a visit was interrupted at any point.

        The listener is not called: the caller rebuilds every view.
        """
        first = min(place, present)
        self.recover(first, self.end)
        self.drop_after(place)
        self.extend(later)
        self.recover(present, first)

    def drop_after(self, place: int) -> None:
        """Remove the changes after a position, also after a removal or an addition was interrupted."""
        self._lists = {at: found for at, found in self._lists.items() if at[1] < place}
        self.changes.shorten(place - self.base)

    def truncate(self) -> ChangeColumns | None:
        """Remove the changes after the present position and return them, None if there are none."""
        count = self.place - self.base
        if count == len(self.changes.codes):
            return None
        self._lists = {at: found for at, found in self._lists.items() if at[1] < self.place}
        return self.changes.cut(count)

    def extend(self, changes: Iterable[Change]) -> None:
        """Append a known future after the end, without moving there."""
        self.changes.extend(changes)

    def changes_between(self, kind: str, start: int, stop: int) -> Iterator[tuple[int, Change]]:
        """Yield (position, change) of the API objects of a kind with `start` <= position < `stop`, in order."""
        for place in self.changes.in_kind(kind, start, stop):
            yield place, self.changes[place - self.base]

    def only_change(self, kind: str, start: int) -> tuple[int, Any, Any, Any] | None:
        """Return (position, key, old, new) of the last known change of a kind if it is the only one from `start` on."""
        changes = self.changes
        places = changes.by_kind.get(kind)
        if not places or places[-1] < start or (len(places) > 1 and places[-2] >= start):
            return None
        index = places[-1] - changes.start
        return places[-1], changes.table.keys[changes.codes[index]], changes.old[index], changes.new[index]

    def first_change(self, kind: str, start: int) -> int | None:
        """Return the position of the first change of a kind from `start` on and before the present, or None."""
        if not start and self.base:  # changes before `base` are not kept, only the objects that they left
            versions = (obj.metadata.resource_version for key, obj in self.objects.items() if key[0] == kind)
            if any(version <= self.base for version in versions):
                return start
            created: set[LogKey] = set()
            for place in self.changes.by_kind.get(kind, ()):
                change = self.changes[place - self.base]
                if change.old is not None and change.key not in created:
                    return start  # an object that was there at `base` and has changed since
                created.add(change.key)
        places = self.changes.by_kind.get(kind)
        if not places or places[-1] < start:
            return None
        place = places[bisect_left(places, start)]
        return place if place < self.place else None

    def by_kind(self) -> ByKind:
        """Return (key, object) of every object, by kind."""
        kinds: dict[str, list[tuple[Key, Any]]] = {}
        for key, obj in self.objects.items():
            kinds.setdefault(key[0], []).append((key, obj))
        return kinds

    def listed(self, kind: str, place: int) -> ListedObjects:
        """Return the objects of a kind as a list at a position up to the present has them; it is found once."""
        places = self.changes.by_kind.get(kind, ())
        counted = bisect_left(places, place)
        at = kind, places[counted - 1] if counted else -1
        if at not in self._lists:
            objects: Any = self.objects
            if self.base:  # changes before `base` are not in the index
                found = {key: obj for key, obj in objects.items() if key[0] == kind}
            else:
                found = {key: objects.get(key) for key in self.changes.keys(places[:counted])}
            for _, change in reversed(list(self.changes_between(kind, place, self.place))):
                found[change.key] = change.old
            made = tuple.__new__  # makes a named tuple in half the time of calling its class
            rows = [made(Delivery, (obj.metadata.resource_version, key, None, obj))
                    for key, obj in found.items() if obj is not None]  # fmt: skip
            versions = [row[0] for row in rows]
            in_order(rows)
            if len(rows) < len(found) or [row[0] for row in rows] != versions:
                found = {key: obj for _, key, _, obj in rows}
            self._lists[at] = ListedObjects(found, rows)
        return self._lists[at]

    def of_kind(self, kind: str) -> list[Any]:
        """Return the API objects of a kind, looked up through the index of changes by kind."""
        if self.base:  # changes before `base` are not in the index
            return [obj for key, obj in self.objects.items() if key[0] == kind]
        if kind not in self.changes.by_kind:
            return []
        written: Any = self.changes.keys(self.changes.in_kind(kind, 0, self.place))
        return [self.objects[key] for key in written if key in self.objects]

    def copy(self) -> Log:
        """Return an independent log that ends at the present position."""
        other = Log()
        other.objects, other.notes = dict(self.objects), dict(self.notes)
        other.changes = self.changes.copy(0, self.place - self.base)
        other.place = self.place
        return other

    def restore(self, objects: Mapping[Key, Any], notes: Mapping[Note, Any], tail: Sequence[Change],
                place: int) -> None:
        """Replace the contents, with `tail` as the only past kept; the listener is not called."""
        self._lists.clear()
        self.objects.clear()
        self.objects.update(objects)
        self.notes.clear()
        self.notes.update(notes)
        self.changes.clear(place - len(tail))
        self.extend(tail)
        self.place = place

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


def in_order(deliveries: list[Delivery]) -> list[Delivery]:
    """Sort deliveries by position and key, in place, and return them."""
    if len(deliveries) > FAR and len({delivery[0] for delivery in deliveries}) == len(deliveries):
        deliveries.sort(key=_PLACE)  # numbers are compared in a tenth of the time of pairs
    else:
        deliveries.sort(key=_PLACE_AND_KEY)
    return deliveries


def _swapped(found: Mapping[Group, NetChanges]) -> dict[Group, NetChanges]:
    """Return differences taken back."""
    return {name: NetChanges(columns.keys, columns.new, columns.old) for name, columns in found.items()}


def _versions_differ(old: Any, new: Any) -> bool:
    """Return whether two API objects differ in version: equality ignores it, yet a write must store it."""
    before, after = getattr(old, "metadata", None), getattr(new, "metadata", None)
    return before is not None and after is not None and before.resource_version != after.resource_version
