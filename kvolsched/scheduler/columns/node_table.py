"""The nodes as columns: one row a node, one numpy array a fact, so that a rule can be asked of all nodes at once.

A row says what its node and the pods on it say, nothing else: it is written anew from exact integers whenever they
change, so every column returns bit by bit when a change is taken back. Row numbers and label codes are this table's
own affair: they never reach a decision or an output. The table is mutable; the snapshot alone changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint
from kvolsched.api.kinds.storage_class import TopologySelectorTerm
from kvolsched.world.log import Key

from .. import requests
from ..requests import CPU, LARGEST, MEMORY, PODS
from .arrays import Mask, RowIndices

T = TypeVar("T")

FOLLOWED = 256  # derived columns kept; the one not asked for longest goes first
SINGLY = 16  # so many written rows, or a share of this of all, are made anew one by one

# Above this 100 * free no longer fits a float64 exactly, and shares are computed with integer division.
EXACT = 2**53 // 100


class Column:
    """One value a row, grown with the table; `now` is the array of the rows in use. Mutable."""

    __slots__ = ("_store", "fill", "now")

    def __init__(self, dtype: Any, fill: Any, capacity: int, size: int) -> None:
        self.fill = fill
        self._store = np.full(capacity, fill, dtype)
        self.now: NDArray[Any] = self._store[:size]

    def resize(self, capacity: int, size: int) -> None:
        """Show `size` rows, in a larger store when the capacity has grown."""
        if capacity > len(self._store):
            store = np.full(capacity, self.fill, self._store.dtype)
            store[: len(self._store)] = self._store
            self._store = store
        self.now = self._store[:size]

    def copied(self) -> Column:
        """Return a column that reads the same and is written by itself."""
        return Column.of(self.now.copy(), self.fill)

    @classmethod
    def of(cls, values: NDArray[Any], fill: Any) -> Column:
        """Return a column over these very values."""
        made = cls(values.dtype, fill, 0, 0)
        made._store = made.now = values
        return made


class LabelColumn:
    """The values of one label key, as codes: -1 where a node lacks the key. Mutable."""

    __slots__ = ("_code_of", "codes", "key", "values")

    def __init__(self, key: str, codes: Column) -> None:
        self.key = key
        self.codes = codes
        self.values: list[str] = []
        self._code_of: dict[str, int] = {}

    def code(self, value: str) -> int:
        """Return the code of a value that some node has or had, or -2: no node's."""
        return self._code_of.get(value, -2)

    def write(self, row: int, value: str | None) -> None:
        """Set a row's value."""
        if value is None:
            self.codes.now[row] = -1
            return
        code = self._code_of.get(value)
        if code is None:
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        self.codes.now[row] = code

    def table(self, holds: Callable[[str | None], bool]) -> Mask:
        """Judge each value once and return the verdicts by code; the last one, read by -1, is of the missing label."""
        return np.array([*map(holds, self.values), holds(None)], bool)


class NodeInfo:
    """A node by name and the pods that count on it, whether or not the node is known yet. Mutable."""

    __slots__ = ("node", "pods", "row", "scored_cpu", "scored_memory", "total", "used")

    def __init__(self) -> None:
        self.node: Node | None = None
        self.row = -1
        self.pods: dict[Key, Pod] = {}
        self.total: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.scored_cpu = 0
        self.scored_memory = 0

    def hold(self, pod: Pod, sign: int) -> tuple[str, ...]:
        """Count a pod's requests (sign 1) or take them away (-1); return the resources it asks for."""
        asks = requests.of(pod.spec)
        for resource, amount in asks.asked.items():
            self.used[resource] = self.used.get(resource, 0) + sign * amount
        self.scored_cpu += sign * asks.scored_cpu
        self.scored_memory += sign * asks.scored_memory
        return tuple(asks.asked)

    def copied(self) -> NodeInfo:
        """Return a room of the same node and pods, from which pods can go without this one's knowing."""
        room = NodeInfo()
        room.node, room.row, room.total = self.node, self.row, self.total
        room.pods, room.used = dict(self.pods), dict(self.used)
        room.scored_cpu, room.scored_memory = self.scored_cpu, self.scored_memory
        return room

    def free(self, resource: str) -> int:
        """Return how much of a resource no pod has asked for; for `pods`, how many more may come."""
        used = len(self.pods) if resource == PODS else self.used.get(resource, 0)
        return self.total.get(resource, 0) - used


class NodeTable:
    """All nodes by row. Columns read as `table.free(resource)`, `table.labels(key).codes.now`, `table.mask(...)`."""

    def __init__(self, rooms: Mapping[str, NodeInfo]) -> None:
        self.size = 0
        self._rooms = rooms
        self.names: list[str | None] = []
        self.row_of: dict[str, int] = {}
        self.version = 0
        """Counts changes of names, labels and taints: what is derived from them alone may be kept until it moves."""
        self.huge = 0
        """How many nodes have so much memory or cpu that shares need integer division."""
        self._holes: list[int] = []
        self._columns: list[Column] = []
        self._capacity = 8
        self._labels: dict[str, LabelColumn] = {}
        self._free: dict[str, Column] = {}
        self._total: dict[str, Column] = {}
        self._none = self.column(np.int64, 0)
        self.live = self.column(np.bool_, fill=False)
        self.unschedulable = self.column(np.bool_, fill=False)
        self.taints = self.column(np.int32, 0)
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self.scored_cpu = self.column(np.int64, 0)
        self.scored_memory = self.column(np.int64, 0)
        self._taint_code: dict[tuple[Taint, ...], int] = {(): 0}
        self._kept: dict[Any, Any] = {}
        self._kept_version = 0
        self._written: list[int] = []
        self._written_before = 0
        self._followed: dict[Any, tuple[int, int, NDArray[Any]]] = {}
        for resource in (*requests.NATIVE, PODS):
            self._resource(resource)

    def copied(self, rooms: Mapping[str, NodeInfo]) -> NodeTable:
        """Return a table of the same nodes to which pods come and go by themselves: what they write is copied."""
        table = copy(self)
        vars(table).update(
            _rooms=rooms,
            _columns=[],
            _labels=dict(self._labels),
            _total=dict(self._total),
            _kept=dict(self._kept),
            _written=[],
            _written_before=0,
            _followed={},
            _free={resource: column.copied() for resource, column in self._free.items()},
            scored_cpu=self.scored_cpu.copied(),
            scored_memory=self.scored_memory.copied(),
        )
        return table

    # --- rows -------------------------------------------------------------------------------------------------------

    def column(self, dtype: Any, fill: Any) -> Column:
        """Return a new column that grows with the table; a row given up reads `fill` again."""
        column = Column(dtype, fill, self._capacity, len(self.names))
        self._columns.append(column)
        return column

    def adopt(self, column: Column) -> Column:
        """Take a copied column among this table's own."""
        self._columns.append(column)
        return column

    def drop(self, column: Column) -> None:
        """Stop growing a column that nobody reads any more."""
        self._columns.remove(column)

    def enter(self, room: NodeInfo) -> int:
        """Give a room with a node a row, write it and return its number."""
        node = room.node
        assert node is not None
        if self._holes:
            row = self._holes.pop()
        else:
            row = len(self.names)
            self.names.append(None)
            if row >= self._capacity:
                self._capacity *= 2
            for column in self._columns:
                column.resize(self._capacity, row + 1)
        self.names[row] = node.metadata.name
        self.row_of[node.metadata.name] = row
        self.size += 1
        room.row = row
        self.live.now[row] = True
        self.write_node(room, None)
        return row

    def leave(self, room: NodeInfo) -> None:
        """Take a room's row away; it reads as empty until another node gets it."""
        row = room.row
        name = self.names[row]
        assert name is not None
        self.huge -= _huge(room.total)
        room.total = {}
        self.names[row] = None
        del self.row_of[name]
        for column in self._columns:
            column.now[row] = column.fill
        self._holes.append(row)
        self.size -= 1
        room.row = -1
        self.version += 1

    def write_node(self, room: NodeInfo, old: Node | None) -> None:
        """Write what a node says of itself into its row; `old` is what the row says now."""
        node = room.node
        assert node is not None
        row = room.row
        if old is None or old.status.allocatable != node.status.allocatable:
            gone = set(room.total)
            self.huge -= _huge(room.total)
            room.total = requests.allocatable(node.status.allocatable)
            self.huge += _huge(room.total)
            self.write_room(room, gone | set(room.total) | set(room.used))
        if old is None or old.spec != node.spec:
            self.unschedulable.now[row] = node.spec.unschedulable
            self.taints.now[row] = self._taints(node.spec.taints)
            self.version += 1
        if old is None or old.metadata.labels != node.metadata.labels:
            for key, labels in self._labels.items():
                labels.write(row, node.metadata.labels.get(key))
            self.version += 1

    def write_room(self, room: NodeInfo, resources: Iterable[str]) -> None:
        """Write how much of these resources is there and free, after the pods or the node have changed."""
        row = room.row
        for resource in resources:
            free = self._free.get(resource) or self._resource(resource)
            free.now[row] = max(-LARGEST, room.free(resource))
            self._total[resource].now[row] = room.total.get(resource, 0)
        self._free[PODS].now[row] = room.free(PODS)
        self.scored_cpu.now[row] = min(LARGEST, room.scored_cpu)
        self.scored_memory.now[row] = min(LARGEST, room.scored_memory)
        self._written.append(row)
        if len(self._written) > 64 + 4 * len(self.names):
            self._written_before += len(self._written)
            self._written.clear()

    # --- columns ----------------------------------------------------------------------------------------------------

    def free(self, resource: str) -> NDArray[np.int64]:
        """Return, by row, how much of a resource no pod has asked for; for `pods`, how many more may come."""
        return (self._free.get(resource) or self._none).now

    def total(self, resource: str) -> NDArray[np.int64]:
        """Return, by row, the allocatable amount of a resource."""
        return (self._total.get(resource) or self._none).now

    def labels(self, key: str) -> LabelColumn:
        """Return the column of a label key; it is made when first asked for."""
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = LabelColumn(key, self.column(np.int32, -1))
            for name, row in self.row_of.items():
                node = self._rooms[name].node
                assert node is not None
                found.write(row, node.metadata.labels.get(key))
        return found

    def mask(self, selector: NodeSelector) -> Mask:
        """Return, by row, whether a node selector matches (terms are ORed, a term without expressions matches none)."""
        return self.kept(("mask", selector), lambda: self._match(selector))

    def reached(self, selector: NodeSelector | None) -> Mask:
        """Return, by row, whether a volume's affinity admits the node: it reads labels only, no names; None admits all.

        Not kept: there are as many affinities as local volumes.
        """
        if selector is None:
            return self.live.now
        return self._match(selector, named=False)

    def _match(self, selector: NodeSelector, *, named: bool = True) -> Mask:
        matching: Mask | None = None
        for term in selector.node_selector_terms:
            found = self._term(term, named)
            matching = found if matching is None else matching | found
        return np.zeros(len(self.names), bool) if matching is None else matching

    def has(self, labels: Iterable[tuple[str, str]]) -> Mask:
        """Return, by row, whether a node carries every one of these labels."""
        matching = self.live.now.copy()
        for key, value in labels:
            column = self.labels(key)
            matching &= column.codes.now == column.code(value)
        return matching

    def selected(self, selector: LabelSelector) -> Mask:
        """Return, by row, whether a label selector matches a node's labels; an empty one matches all."""
        matching = self.has(selector.match_labels.items())
        for expression in selector.match_expressions:
            matching &= self._expression(expression)
        return matching

    def allowed(self, topologies: tuple[TopologySelectorTerm, ...]) -> Mask:
        """Return, by row, whether a class's allowedTopologies admit it: none given admits all, an empty term none."""
        return self.kept(("allowed", topologies), lambda: self._allowed(topologies))

    def kept(self, key: Any, make: Callable[[], T]) -> T:
        """Return what `make` makes of names, labels and taints alone; it is kept until one of these changes."""
        if self._kept_version != self.version or len(self._kept) > 256:
            self._kept.clear()
            self._kept_version = self.version
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = make()
        made: T = found
        return made

    def followed(
        self, key: Any, one: Callable[[int], int], every: Callable[[], NDArray[Any]]
    ) -> NDArray[Any]:
        """Return what is made, row by row, of what is there and free; only rows written since are made anew.

        Args:
            key: says all that is read beside these columns.
            one: returns a row's value.
            every: returns the same for all rows at once; nobody may write to it.
        """
        place = self._written_before + len(self._written)
        found = self._followed.pop(key, None)
        if found is None or found[1] != self.version or found[0] < self._written_before:
            values = every()
        else:
            values = found[2]
            rows = self._written[found[0] - self._written_before :]
            if len(rows) > max(SINGLY, len(values) // SINGLY):
                values = every()
            elif rows:
                values = values.copy()  # whoever holds the old ones judged the nodes as they were
                for row in set(rows):
                    values[row] = one(row)
        self._followed[key] = (place, self.version, values)
        if len(self._followed) > FOLLOWED:
            del self._followed[next(iter(self._followed))]
        return values

    def rows_by_name(self) -> RowIndices:
        """Return the live rows in the order of their names."""
        return self.kept("by name", lambda: np.array([self.row_of[name] for name in sorted(self.row_of)], np.intp))

    def names_array(self) -> NDArray[Any]:
        """Return the names by row, as an array."""
        return self.kept("names", lambda: np.array(self.names, object))

    def names_digest(self) -> bytes:
        """Return a hash of the sorted names."""
        return self.kept("digest", lambda: blake2b("\n".join(sorted(self.row_of)).encode(), digest_size=8).digest())

    def node(self, name: str) -> Node | None:
        """Return a node, or None."""
        room = self._rooms.get(name)
        return None if room is None else room.node

    def rows(self) -> Iterator[tuple[str, int]]:
        """Yield the names and rows of the nodes, sorted by name."""
        for name in sorted(self.row_of):
            yield name, self.row_of[name]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _resource(self, resource: str) -> Column:
        self._total[resource] = self.column(np.int64, 0)
        free = self._free[resource] = self.column(np.int64, 0)
        return free

    def _taints(self, taints: tuple[Taint, ...]) -> int:
        code = self._taint_code.get(taints)
        if code is None:
            code = self._taint_code[taints] = len(self.taint_sets)
            self.taint_sets.append(taints)
        return code

    def _term(self, term: NodeSelectorTerm, named: bool) -> Mask:  # noqa: FBT001
        if not term.match_expressions and not term.match_fields:
            return np.zeros(len(self.names), bool)
        matching: Mask | None = None
        for expression in term.match_expressions:
            found = self._expression(expression)
            matching = found if matching is None else matching & found
        for field in term.match_fields:
            found = self._field(field, named)
            matching = found if matching is None else matching & found
        assert matching is not None
        return matching & self.live.now if self._holes else matching

    def _expression(self, expression: Requirement) -> Mask:
        labels = self.labels(expression.key)
        codes = labels.codes.now
        if expression.operator == "In":  # by far the most common, and a key such as the hostname has many values
            matching = np.zeros(len(codes), bool)
            for value in expression.values:
                matching |= codes == labels.code(value)
            return matching
        key = expression.key
        table = labels.table(lambda value: expression.matches({} if value is None else {key: value}))
        found: Mask = table[codes]
        return found

    def _field(self, field: Requirement, named: bool) -> Mask:  # noqa: FBT001
        matching = np.zeros(len(self.names), bool)
        if field.key == "metadata.name":
            if not named:
                return np.full(len(self.names), field.matches({field.key: ""}))
            if field.operator == "In":
                rows = [self.row_of[name] for name in field.values if name in self.row_of]
            else:
                rows = [row for name, row in self.row_of.items() if field.matches({field.key: name})]
            matching[rows] = True
        return matching

    def _allowed(self, topologies: tuple[TopologySelectorTerm, ...]) -> Mask:
        if not topologies:
            return self.live.now.copy()
        matching = np.zeros(len(self.names), bool)
        for term in topologies:
            if term.match_label_expressions:
                here = self.live.now.copy()
                for expression in term.match_label_expressions:
                    here &= self._expression(Requirement(key=expression.key, operator="In", values=expression.values))
                matching |= here
        return matching


def _huge(total: dict[str, int]) -> bool:
    return total.get(MEMORY, 0) > EXACT or total.get(CPU, 0) > EXACT
