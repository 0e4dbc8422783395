"""The list of changes `(key, old, new)` in columns: a million of them fit into memory, and any two places compare fast.

A key is kept once, in a table that all forks of a log share, and each change has its number. So a change costs twenty
bytes, and which keys differ between two places is a question to one array of numbers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from sys import intern
from typing import Any, NamedTuple, overload

NUMBER = "i"  # the number of a key in a column
PLACE = "q"  # a position in an index
FEW = 256  # changes whose kinds are looked up one by one
_tuple = tuple.__new__  # makes a named tuple in half the time of calling its class


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


Group = tuple[str] | tuple[str, str]  # the kind of API objects, or the component and sort of notes


Maps = tuple[dict[Key, Any], dict[Note, Any]]  # API objects and notes at a position


class NetChanges:
    """Keys of one group whose values may differ between two places, and the values at the first and at the second."""

    def __init__(self, keys: list[LogKey], old: list[Any], new: list[Any]) -> None:
        self.keys = keys
        self.old = old
        self.new = new

    @cached_property
    def rows(self) -> list[tuple[Any, Any, Any]]:
        """(key, old, new) where they differ."""
        return [row for row in zip(self.keys, self.old, self.new, strict=True) if row[1] is not row[2]]


class KeyTable:
    """Every key that was ever written, by number; it only grows, so that the forks of a log share it. Mutable.

    `groups` has for each key the number of its group in `names`.
    """

    __slots__ = ("_group_numbers", "groups", "keys", "names", "numbers")

    def __init__(self) -> None:
        self.keys: list[LogKey] = []
        self.numbers: dict[LogKey, int] = {}
        self.groups = array(NUMBER)
        self.names: list[Group] = []
        self._group_numbers: dict[Group, int] = {}

    def add(self, key: LogKey) -> int:
        """Add a new key and return its number; a name that several notes have is kept once."""
        one = key if type(key) is Key else _tuple(Note, (intern(key[0]), intern(key[1]), intern(key[2])))
        name = (one[0],) if type(key) is Key else (one[0], one[1])
        group = self._group_numbers.get(name)
        if group is None:
            group = len(self.names)
            self.names.append(name)
            self._group_numbers[name] = group
        number = len(self.numbers)
        if len(self.keys) + len(self.groups) > 2 * number:  # of a key whose addition was interrupted
            del self.keys[number:], self.groups[number:]
        self.keys.append(one)
        self.groups.append(group)
        self.numbers[one] = number
        return number


class ChangeColumns(Sequence[Change]):
    """A list of changes in columns, from position `start` on. Mutable.

    `codes` are the numbers of the keys; `by_kind` has the positions of the changes of each kind of API object; `maps`
    the maps that were kept at some positions, to begin with where the present one is far.
    """

    __slots__ = ("by_kind", "codes", "maps", "new", "old", "start", "table")

    def __init__(self, table: KeyTable | None = None, start: int = 0) -> None:
        self.table = KeyTable() if table is None else table
        self.start = start
        self.codes = array(NUMBER)
        self.old: list[Any] = []
        self.new: list[Any] = []
        self.by_kind: dict[str, array[int]] = {}
        self.maps: dict[int, Maps] = {}

    def append(self, key: LogKey, old: Any, new: Any) -> LogKey:
        """Append a change and return its key as the table has it."""
        table = self.table
        number = table.numbers.get(key)
        if number is None:
            number = table.add(key)
        key = table.keys[number]
        self.codes.append(number)
        self.old.append(old)
        self.new.append(new)
        if type(key) is Key:
            places = self.by_kind.get(key[0])
            if places is None:
                places = self.by_kind[key[0]] = array(PLACE)
            places.append(self.start + len(self.codes) - 1)
        return key

    def extend(self, changes: Iterable[Change]) -> None:
        """Append changes; those that were cut off here join in one go."""
        end = self.start + len(self)
        if isinstance(changes, ChangeColumns) and (changes.table, changes.start) == (self.table, end):
            self.codes.extend(changes.codes)
            self.old += changes.old
            self.new += changes.new
            for kind, places in changes.by_kind.items():
                self.by_kind.setdefault(kind, array(PLACE)).extend(places)
            self.maps |= changes.maps
            return
        for key, old, new in changes:
            self.append(key, old, new)

    def cut(self, count: int) -> ChangeColumns:
        """Remove all changes but the first `count` and return them."""
        rest = self.copy(count, len(self.codes))
        del self.codes[count:]  # an interrupted write may have filled some of the columns only
        del self.old[count:]
        del self.new[count:]
        for kind in rest.by_kind:
            places = self.by_kind[kind]
            del places[bisect_left(places, rest.start) :]
        for place in rest.maps:
            del self.maps[place]
        return rest

    def shorten(self, count: int) -> None:
        """Remove all changes but the first `count`, also after a removal or an addition was interrupted."""
        end = self.start + count
        del self.codes[count:], self.old[count:], self.new[count:]
        for places in self.by_kind.values():
            del places[bisect_left(places, end) :]
        self.maps = {place: maps for place, maps in self.maps.items() if place <= end}

    def copy(self, first: int, stop: int) -> ChangeColumns:
        """Return a copy of the changes from the number `first` to before `stop`."""
        part = ChangeColumns(self.table, self.start + first)
        part.codes, part.old, part.new = self.codes[first:stop], self.old[first:stop], self.new[first:stop]
        kinds: Iterable[str] = self.by_kind
        if stop - first < FEW:
            kinds = dict.fromkeys(key[0] for number in part.codes if type(key := self.table.keys[number]) is Key)
        for kind in kinds:  # an interrupted write may not be in the index yet
            if places := self.in_kind(kind, part.start, self.start + stop):
                part.by_kind[kind] = places
        part.maps = {place: maps for place, maps in self.maps.items() if part.start < place <= self.start + stop}
        return part

    def clear(self, start: int) -> None:
        """Remove all changes; the next one is at position `start`."""
        self.codes = array(NUMBER)
        self.old, self.new, self.by_kind, self.maps = [], [], {}, {}
        self.start = start

    def in_kind(self, kind: str, start: int, stop: int) -> array[int]:
        """Return the positions of the changes of a kind with `start` <= position < `stop`, in order."""
        places = self.by_kind.get(kind)
        if places is None:
            return array(PLACE)
        return places[bisect_left(places, start) : bisect_left(places, stop)]

    def keys(self, places: Iterable[int]) -> list[LogKey]:
        """Return the keys that are changed at these positions, each once, in the order of its first change."""
        keys, codes, start = self.table.keys, self.codes, self.start
        return [keys[number] for number in dict.fromkeys(codes[place - start] for place in places)]

    def differences(self, places: Sequence[int], wanted: Container[Group] | None = None) -> dict[Group, NetChanges]:
        """Return the keys that these changes change by their group, with the values before and after all of them.

        The positions ascend, and have every change of their keys between the first and the last of them: those of a
        kind, or a range, of which only the `wanted` groups are looked at (None: all).
        """
        if not places or len(places) < FEW:
            return self._few_differences(places)
        import numpy as np  # noqa: PLC0415 - a short history needs none

        lowest = places[0] - self.start
        numbers = np.array(self.codes[lowest : places[-1] + 1 - self.start])  # a copy: the column goes on to grow
        groups = np.array(self.table.groups)
        if not isinstance(places, range):
            rows = np.array(places) - self.start
            numbers = numbers[rows - lowest]
        elif wanted is not None:
            chosen = np.array([name in wanted for name in self.table.names])[groups]
            rows = np.flatnonzero(chosen[numbers])
            numbers, rows = numbers[rows], rows + lowest
        else:
            rows = np.arange(lowest, lowest + len(numbers))
        first = np.full(len(groups), -1)
        last = np.full(len(groups), -1)
        last[numbers] = rows  # of several values for one number the last stays
        first[numbers[::-1]] = rows[::-1]
        found = np.flatnonzero(last >= 0)
        order = np.argsort(groups[found], kind="stable")
        found = found[order]
        bounds = np.flatnonzero(np.diff(groups[found])) + 1
        keys, old, new = self.table.keys, self.old, self.new
        return {
            self.table.names[groups[some[0]]]: NetChanges(
                list(map(keys.__getitem__, some.tolist())),
                list(map(old.__getitem__, first[some].tolist())),
                list(map(new.__getitem__, last[some].tolist())),
            )
            for some in np.split(found, bounds) if len(some)
        }

    def _few_differences(self, places: Sequence[int]) -> dict[Group, NetChanges]:
        first: dict[int, Any] = {}
        last: dict[int, Any] = {}
        for place in places:
            row = place - self.start
            number = self.codes[row]
            first.setdefault(number, self.old[row])
            last[number] = self.new[row]
        found: dict[Group, NetChanges] = {}
        for number, old in first.items():
            columns = found.setdefault(self.table.names[self.table.groups[number]], NetChanges([], [], []))
            columns.keys.append(self.table.keys[number])
            columns.old.append(old)
            columns.new.append(last[number])
        return found

    def rest_after(self, beginning: ChangeColumns) -> ChangeColumns | None:
        """Return the changes that follow these ones, None if this list begins with others."""
        count = len(beginning)
        return self.copy(count, len(self)) if self.copy(0, count) == beginning else None

    def __len__(self) -> int:
        return len(self.new)

    @overload
    def __getitem__(self, where: int) -> Change: ...
    @overload
    def __getitem__(self, where: slice) -> list[Change]: ...
    def __getitem__(self, where: int | slice) -> Change | list[Change]:
        keys = self.table.keys
        if isinstance(where, slice):
            columns = zip(self.codes[where], self.old[where], self.new[where], strict=False)
            return [Change(keys[number], old, new) for number, old, new in columns]
        return Change(keys[self.codes[where]], self.old[where], self.new[where])

    def __iter__(self) -> Iterator[Change]:
        keys = map(self.table.keys.__getitem__, self.codes)
        return map(Change._make, zip(keys, self.old, self.new, strict=False))

    def __reversed__(self) -> Iterator[Change]:
        keys = map(self.table.keys.__getitem__, reversed(self.codes))
        return map(Change._make, zip(keys, reversed(self.old), reversed(self.new), strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ChangeColumns) and other.table is self.table:
            return (self.codes, self.old, self.new) == (other.codes, other.old, other.new)
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Change.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]
