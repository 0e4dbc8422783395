"""The node table: one row per node, one numpy array per fact, so that a rule can be evaluated on all nodes at once.

A row is a function of its node and the pods on it: it is rewritten from exact integers on every change, so undoing a
change restores every column bit by bit. Row numbers and label codes are internal: they never reach a decision or an
output. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod, PodSpec
from kvolsched.api.kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint
from kvolsched.api.kinds.storage_class import TopologySelectorTerm
from kvolsched.world.log import Key

from .. import requests
from ..requests import CPU, LARGEST, MEMORY, PODS
from ..shortcuts import SHORTCUTS
from .column import Codes, Column, Groups, KeptColumn, LabelColumn, Mask, RowIndices, RowWise
from .ranked_pods import RankedPods

T = TypeVar("T")


# Above this 100 * free is not exact in a float64, and scores are computed with integer division.
MAX_EXACT = 2**53 // 100


class NodeInfo:
    """A node and the pods assigned to it (kube-scheduler's NodeInfo); the node is None until it is seen. Mutable."""

    __slots__ = ("node", "pods", "ranked", "row", "scored_cpu", "scored_memory", "total", "used")

    def __init__(self) -> None:
        self.node: Node | None = None
        self.row = -1
        self.pods: dict[Key, Pod] = {}
        self.ranked: RankedPods | None = None  # None: not asked for since a pod changed
        self.total: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.scored_cpu = 0
        self.scored_memory = 0

    def add_requests(self, pod: Pod, sign: int) -> tuple[str, ...]:
        """Add a pod's requests (sign 1) or subtract them (-1); return the resources that the pod requests."""
        requested = requests.held_requests(pod)
        for resource, amount in requested.amounts.items():
            self.used[resource] = self.used.get(resource, 0) + sign * amount
        self.scored_cpu += sign * requested.scored_cpu
        self.scored_memory += sign * requested.scored_memory
        return tuple(requested.amounts)

    def copied(self) -> NodeInfo:
        """Return a copy from which pods can be removed independently."""
        info = NodeInfo()
        info.node, info.row, info.total = self.node, self.row, self.total
        info.pods, info.used = dict(self.pods), dict(self.used)
        info.scored_cpu, info.scored_memory = self.scored_cpu, self.scored_memory
        return info

    def free(self, resource: str) -> int:
        """Return how much of a resource is not requested by any pod; for `pods`, how many more fit."""
        used = len(self.pods) if resource == PODS else self.used.get(resource, 0)
        return self.total.get(resource, 0) - used


class NameOrder(NamedTuple):
    """The order of the nodes' names.

    Args:
        rows: the live rows, by name.
        place_of_row: by row, its place among these.
        by_row: whether rows that rise are names that rise.
    """

    rows: RowIndices
    place_of_row: RowIndices
    by_row: bool

    @classmethod
    def of(cls, row_of: Mapping[str, int]) -> NameOrder:
        """Return the order of these names, given their rows."""
        rows = np.array([row_of[name] for name in sorted(row_of)], np.intp)
        place_of_row = np.zeros(int(rows.max(initial=-1)) + 1, np.intp)
        place_of_row[rows] = np.arange(len(rows))
        return cls(rows, place_of_row, bool((rows[1:] > rows[:-1]).all()))


class NodeTable:
    """All nodes by row. Columns are `table.free(resource)`, `table.labels(key).codes.array`, `table.mask(...)`."""

    def __init__(self, node_infos: Mapping[str, NodeInfo]) -> None:
        self.size = 0
        self._node_infos = node_infos
        self.names: list[str | None] = []
        self.row_of: dict[str, int] = {}
        self.version = 0
        """Counts changes of names, labels, taints and declared features: what these give is cached until it changes."""
        self.huge = 0
        """How many nodes have so much memory or cpu that scores need integer division."""
        self._holes: list[int] = []
        self._columns: list[Column] = []
        self._capacity = 8
        self._labels: dict[str, LabelColumn] = {}
        self._free: dict[str, Column] = {}
        self._total: dict[str, Column] = {}
        self._told: dict[str, Column] = {}
        self._none = self.column(np.int64, 0)
        self.live = self.column(np.bool_, fill=False)
        self.unschedulable = self.column(np.bool_, fill=False)
        self.taints = self.column(np.int32, 0)
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self.scored_cpu = self.column(np.int64, 0)
        self.scored_memory = self.column(np.int64, 0)
        self._taint_code: dict[tuple[Taint, ...], int] = {(): 0}
        self._cache: dict[Any, Any] = {}
        self._cache_version = 0
        self._written: list[int] = []
        self._written_dropped = 0
        self._row_caches: dict[tuple[str, bool], KeptColumn] = {}
        self.kept_verdicts: dict[Any, Any] = {}
        """What the framework keeps of passes, by pod template: it goes with the table."""
        for resource in (*requests.NATIVE, PODS):
            self._resource(resource)

    def copied(self, node_infos: Mapping[str, NodeInfo]) -> NodeTable:
        """Return a table of the same nodes for hypothetical pods: the columns that pods change are copied."""
        table = copy(self)
        vars(table).update(
            _node_infos=node_infos, _columns=[], _written=[], _written_dropped=0, _row_caches={}, kept_verdicts={},
            _labels=dict(self._labels), _total=dict(self._total), _told=dict(self._told), _cache=dict(self._cache),
            _free={resource: column.copied() for resource, column in self._free.items()},
            scored_cpu=self.scored_cpu.copied(), scored_memory=self.scored_memory.copied(),
        )
        return table

    def whole_copy(self, node_infos: Mapping[str, NodeInfo]) -> NodeTable:
        """Return an independent table of the same nodes, in which nodes may change, come and go, too."""
        table = self.copied(node_infos)
        single = {name: getattr(table, name) for name in ("_none", "live", "unschedulable", "taints")}
        single = {name: column.copied() for name, column in single.items()}
        labels = {key: column.copied() for key, column in self._labels.items()}
        total = {resource: column.copied() for resource, column in self._total.items()}
        told = {resource: column.copied() for resource, column in self._told.items()}
        vars(table).update(
            names=list(self.names), row_of=dict(self.row_of), _holes=list(self._holes),
            taint_sets=list(self.taint_sets), _taint_code=dict(self._taint_code), _labels=labels, _total=total,
            _told=told, **single,
        )
        free: dict[str, Column] = vars(table)["_free"]
        for column in (*(each.codes for each in labels.values()), *total.values(), *told.values(), *free.values(),
                       *single.values(), table.scored_cpu, table.scored_memory):  # fmt: skip
            table.adopt(column)
        return table

    def column(self, dtype: Any, fill: Any) -> Column:
        """Return a new column that grows with the table; a freed row is reset to `fill`."""
        column = Column(dtype, fill, self._capacity, len(self.names))
        self._columns.append(column)
        return column

    def adopt(self, column: Column) -> Column:
        """Add a copied column to this table."""
        self._columns.append(column)
        return column

    def drop(self, column: Column) -> None:
        """Remove a column that is no longer read."""
        self._columns.remove(column)

    def reserve(self, count: int) -> None:
        """Make empty rows for so many nodes at once; they get them in this order."""
        first = len(self.names)
        self.names += [None] * count
        while self._capacity < len(self.names):
            self._capacity *= 2
        for column in self._columns:
            column.resize(self._capacity, len(self.names))
        self._holes += reversed(range(first, len(self.names)))

    def enter(self, info: NodeInfo) -> int:
        """Give a node a row, write the row and return its number."""
        node = info.node
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
        info.row = row
        self.live.array[row] = True
        self.write_node(info, None)
        return row

    def leave(self, info: NodeInfo) -> None:
        """Free a node's row; it is empty until another node gets it."""
        row = info.row
        name = self.names[row]
        assert name is not None
        self.huge -= _huge(info.total)
        info.total = {}
        self.names[row] = None
        del self.row_of[name]
        for column in self._columns:
            column.array[row] = column.fill
        self._holes.append(row)
        self.size -= 1
        info.row = -1
        self.version += 1

    def write_node(self, info: NodeInfo, old: Node | None) -> None:
        """Write a node's fields into its row; `old` is the version that the row holds."""
        node = info.node
        assert node is not None
        row = info.row
        if old is None or old.status.allocatable != node.status.allocatable:
            before = set(info.total)
            self.huge -= _huge(info.total)
            info.total = requests.allocatable(node.status.allocatable)
            self.huge += _huge(info.total)
            self.write_resources(info, before | set(info.total) | set(info.used))
            for resource, told in self._told.items():
                told.array[row] = resource in info.total
        if old is None or old.spec != node.spec:
            self.unschedulable.array[row] = node.spec.unschedulable
            self.taints.array[row] = self._taints(node.spec.taints)
            self.version += 1
        if old is not None and old.status.declared_features != node.status.declared_features:
            self.version += 1
        if old is None or old.metadata.labels != node.metadata.labels:
            for key, labels in self._labels.items():
                labels.write(row, node.metadata.labels.get(key))
            self.version += 1

    def write_resources(self, info: NodeInfo, resources: Iterable[str]) -> None:
        """Write the total and free amounts of these resources after the pods or the node have changed."""
        row = info.row
        for resource in resources:
            free = self._free.get(resource) or self._resource(resource)
            free.array[row] = max(-LARGEST, info.free(resource))
            self._total[resource].array[row] = info.total.get(resource, 0)
        self._free[PODS].array[row] = info.free(PODS)
        self.scored_cpu.array[row] = min(LARGEST, info.scored_cpu)
        self.scored_memory.array[row] = min(LARGEST, info.scored_memory)
        self._written.append(row)
        if len(self._written) > 64 + 4 * len(self.names):
            self._written_dropped += len(self._written)
            self._written.clear()

    def free(self, resource: str) -> NDArray[np.int64]:
        """Return, by row, how much of a resource is not requested by any pod; for `pods`, how many more fit."""
        return (self._free.get(resource) or self._none).array

    def total(self, resource: str) -> NDArray[np.int64]:
        """Return, by row, the allocatable amount of a resource."""
        return (self._total.get(resource) or self._none).array

    def told(self, resource: str) -> NDArray[np.bool_]:
        """Return, by row, whether the node says how much of a resource is allocatable, be it nothing."""
        found = self._told.get(resource)
        if found is None:
            found = self.column(np.bool_, fill=False)
            for name, row in self.row_of.items():
                found.array[row] = resource in self._node_infos[name].total
            self._told[resource] = found  # not before it is whole, as below
        return found.array

    def labels(self, key: str) -> LabelColumn:
        """Return the column of a label key; it is built on first use."""
        found = self._labels.get(key)
        if found is None:
            found = LabelColumn(key, self.column(np.int32, -1))
            for name, row in self.row_of.items():
                node = self._node_infos[name].node
                assert node is not None
                found.write(row, node.metadata.labels.get(key))
            self._labels[key] = found  # not before it is whole: an interrupt must leave no half of it
        return found

    def groups(self, keys: tuple[str, ...]) -> Groups:
        """Return the rows grouped by their values of label keys; the last value of a key is that it is missing."""
        return self.cached(("groups", keys), lambda: self._groups(keys))

    def _groups(self, keys: tuple[str, ...]) -> Groups:
        at, size = np.zeros(len(self.names), np.intp), 1
        for key in keys:
            labels = self.labels(key)
            codes, values = labels.codes.array, len(labels.values)
            at, size = at * (values + 1) + np.where(codes < 0, values, codes), size * (values + 1)
        return Groups(at, size)

    def rows_labelled(self, key: str, values: Iterable[str]) -> RowIndices:
        """Return the rows with one of these values of a label, rising."""
        return self.groups((key,)).rows_of(map(self.labels(key).code, values))

    def mask(self, selector: NodeSelector) -> Mask:
        """Return, by row, whether a node selector matches: terms are ORed, an empty term matches nothing."""
        return self.cached(("mask", selector), lambda: self._match(selector))

    def mask_by_node(self, key: Any, holds: Callable[[Node], bool]) -> Mask:
        """Return, by row, whether nodes pass a test of their declared features, which the key names."""
        def make() -> Mask:
            mask = np.zeros(len(self.names), bool)
            for name, row in self.row_of.items():
                node = self.node(name)
                mask[row] = node is not None and holds(node)
            return mask

        return self.cached(key, make)

    def volume_affinity_mask(self, selector: NodeSelector | None) -> Mask:
        """Return, by row, whether a volume's node affinity admits the node by its labels; None admits all.

        Not cached: there are as many affinities as local volumes.
        """
        if selector is None:
            return self.live.array
        return self._match(selector, named=False)

    def _match(self, selector: NodeSelector, *, named: bool = True) -> Mask:
        matching: Mask | None = None
        for term in selector.node_selector_terms:
            found = self._term(term, named)
            matching = found if matching is None else matching | found
        return np.zeros(len(self.names), bool) if matching is None else matching

    def has_labels(self, labels: Iterable[tuple[str, str]]) -> Mask:
        """Return, by row, whether the node has all of these labels."""
        matching = self.live.array.copy()
        for key, value in labels:
            column = self.labels(key)
            matching &= column.codes.array == column.code(value)
        return matching

    def selected_by(self, spec: PodSpec) -> Mask:
        """Return, by row, whether the node matches a pod's nodeSelector and required node affinity."""
        terms = spec.required_node_affinity
        rows = self.has_labels(spec.node_selector.items())
        return rows if terms is None else rows & self.mask(terms)

    def label_selector_mask(self, selector: LabelSelector) -> Mask:
        """Return, by row, whether a label selector matches the node's labels; an empty selector matches all nodes."""
        matching = self.has_labels(selector.match_labels.items())
        for expression in selector.match_expressions:
            matching &= self._expression(expression)
        return matching

    def allowed_topologies_mask(self, topologies: tuple[TopologySelectorTerm, ...]) -> Mask:
        """Return, by row, whether allowedTopologies admit the node: no terms admit all nodes, an empty term none."""
        return self.cached(("allowed", topologies), lambda: self._allowed(topologies))

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Return a value computed of names, labels, taints and declared features; cached until one of these changes."""
        if not SHORTCUTS.on:
            return make()
        if self._cache_version != self.version or len(self._cache) > 256:
            self._cache.clear()
            self._cache_version = self.version
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = make()
        value: T = found
        return value

    @property
    def position(self) -> int:
        """How many rows have been written so far: a place in the sequence of writes."""
        return self._written_dropped + len(self._written)

    def rows_written_since(self, position: int) -> list[int] | None:
        """Return the rows whose resources were written since a position, or None if these are no longer known."""
        start = position - self._written_dropped
        return self._written[start:] if start >= 0 else None

    def cached_by_row(self, name: str, make: Callable[[], RowWise]) -> NDArray[Any]:
        """Return a column that reads rows only, no pod; only rows written since the last call are computed again."""
        found = self._row_caches.get((name, bool(self.huge)))
        if found is None:
            found = self._row_caches[name, bool(self.huge)] = KeptColumn(make())
        return found.values(self)

    def rows_by_name(self) -> RowIndices:
        """Return the live rows in the order of their names."""
        return self.name_order().rows

    def name_order(self) -> NameOrder:
        """Return the order of the nodes' names."""
        return self.cached("by name", lambda: NameOrder.of(self.row_of))

    def no_codes(self) -> Codes:
        """Return the column, always the same array, of a plugin that is known to reject no node."""
        return self.cached("no codes", lambda: np.zeros(len(self.names), np.uint16))

    def names_array(self) -> NDArray[Any]:
        """Return the names by row, as an array."""
        return self.cached("names", lambda: np.array(self.names, object))

    def names_digest(self) -> bytes:
        """Return a hash of the sorted names."""
        return self.cached("digest", lambda: blake2b("\n".join(sorted(self.row_of)).encode(), digest_size=8).digest())

    def node(self, name: str) -> Node | None:
        """Return a node, or None."""
        info = self._node_infos.get(name)
        return None if info is None else info.node

    def rows(self) -> Iterator[tuple[str, int]]:
        """Yield the names and rows of the nodes, sorted by name."""
        for name in sorted(self.row_of):
            yield name, self.row_of[name]

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
        if not term.is_readable:
            return np.zeros(len(self.names), bool)
        matching: Mask | None = None
        for expression in term.match_expressions:
            found = self._expression(expression)
            matching = found if matching is None else matching & found
        for field in term.match_fields if named else ():
            found = self._field(field)
            matching = found if matching is None else matching & found
        if matching is None:
            return self.live.array
        return matching & self.live.array if self._holes else matching

    def _expression(self, expression: Requirement) -> Mask:
        labels = self.labels(expression.key)
        codes = labels.codes.array
        if expression.operator == "In":  # most common, and keys such as the hostname have many values
            matching = np.zeros(len(codes), bool)
            for value in expression.values:
                matching |= codes == labels.code(value)
            return matching
        key = expression.key
        table = labels.table(lambda value: expression.matches({} if value is None else {key: value}))
        found: Mask = table[codes]
        return found

    def _field(self, field: Requirement) -> Mask:
        matching = np.zeros(len(self.names), bool)
        if field.key == "metadata.name":
            if field.operator == "In":
                rows = [self.row_of[name] for name in field.values if name in self.row_of]
            else:
                rows = [row for name, row in self.row_of.items() if field.matches({field.key: name})]
            matching[rows] = True
        return matching

    def _allowed(self, topologies: tuple[TopologySelectorTerm, ...]) -> Mask:
        if not topologies:
            return self.live.array.copy()
        matching = np.zeros(len(self.names), bool)
        for term in topologies:
            if term.match_label_expressions:
                term_mask = self.live.array.copy()
                for expression in term.match_label_expressions:
                    requirement = Requirement(key=expression.key, operator="In", values=expression.values)
                    term_mask &= self._expression(requirement)
                matching |= term_mask
        return matching


def _huge(total: dict[str, int]) -> bool:
    return total.get(MEMORY, 0) > MAX_EXACT or total.get(CPU, 0) > MAX_EXACT
