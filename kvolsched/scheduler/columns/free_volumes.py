"""Free volumes as columns: for a claim's shape and size, how many volumes each node could use.

Volumes of a class with one node affinity form a segment; a segment's rows are found once. A volume taken or freed moves
the counts of its segment's rows by one; which volume a node would get is looked up on that node alone. What a volume
must be to suit a claim is decided by the rules of `kvolsched.volumes`, here only remembered. Mutable; the snapshot
alone moves it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kvolsched import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import NodeSelector
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.world.log import Key

from .arrays import Mask, RowIndices
from .node_table import Column, NodeTable

MAX_CACHED_SHAPES = 512  # demands; the one not asked for longest goes first
VolumesPerRow = NDArray[np.int32]
Sizes = NDArray[np.float64]


class VolumeMatcher(Protocol):
    """The shape of a claim without its size: hashable, and able to say whether an unclaimed volume suits it."""

    @property
    def storage_class(self) -> str: ...

    def suits(self, volume: PersistentVolume) -> bool: ...

    def __hash__(self) -> int: ...


class VolumeSegment:
    """The unclaimed volumes of one class and one node affinity, by size and name. Mutable."""

    __slots__ = ("affinity", "free", "rows", "version")

    def __init__(self, affinity: NodeSelector | None) -> None:
        self.affinity = affinity
        self.free: list[tuple[int, str]] = []
        self.rows: RowIndices = np.empty(0, np.intp)
        self.version = -1


class ClassIndex:
    """The segments of one class, found from a node by its labels. Mutable."""

    def __init__(self) -> None:
        self.segments: dict[NodeSelector | None, VolumeSegment] = {}
        # A segment each of whose terms names values of a key is found by them; any other is tried on every node.
        self._by_label: dict[tuple[str, str], dict[NodeSelector | None, VolumeSegment]] = {}
        self._others: dict[NodeSelector | None, VolumeSegment] = {}

    def segment(self, affinity: NodeSelector | None) -> VolumeSegment:
        """Return the segment of an affinity, made if it is new."""
        found = self.segments.get(affinity)
        if found is None:
            found = self.segments[affinity] = VolumeSegment(affinity)
            for home in self._homes(affinity):
                home[affinity] = found
        return found

    def remove(self, affinity: NodeSelector | None) -> None:
        """Forget an empty segment."""
        del self.segments[affinity]
        for home in self._homes(affinity):
            del home[affinity]

    def reaching(self, node: Node) -> list[VolumeSegment]:
        """Return the segments whose volumes a node can use."""
        found = dict(self._others)
        for item in node.metadata.labels.items():
            found.update(self._by_label.get(item, _NONE))
        labels = node.metadata.labels
        return [
            segment
            for segment in found.values()
            if segment.affinity is None or segment.affinity.matches(labels)
        ]

    def _homes(self, affinity: NodeSelector | None) -> list[dict[NodeSelector | None, VolumeSegment]]:
        words: list[tuple[str, str]] = []
        for term in affinity.node_selector_terms if affinity is not None else ():
            named = next((part for part in term.match_expressions if part.operator == "In"), None)
            if named is None:
                return [self._others]
            words += [(named.key, value) for value in named.values]
        return [self._by_label.setdefault(word, {}) for word in sorted(set(words))] or [self._others]


_NONE: dict[NodeSelector | None, VolumeSegment] = {}


class VolumeMatches:
    """For one shape and size: by row, how many volumes suit, and (once asked) how large the smallest is. Mutable."""

    __slots__ = ("ask", "count", "size", "smallest")

    def __init__(self, ask: VolumeMatcher, size: int, count: Column) -> None:
        self.ask = ask
        self.size = size
        self.count = count
        self.smallest: Column | None = None


def _required(volume: PersistentVolume) -> NodeSelector | None:
    affinity = volume.spec.node_affinity
    return None if affinity is None else affinity.required


class FreeVolumes:
    """All unclaimed volumes, by class and reach; and who is named by those that are claimed. Mutable."""

    def __init__(self, nodes: NodeTable, objects: Mapping[str, PersistentVolume]) -> None:
        self._nodes = nodes
        self._objects = objects
        self._shelves: dict[str, ClassIndex] = {}
        self._claimed: dict[tuple[str, str], set[str]] = {}
        self._demands: dict[tuple[VolumeMatcher, int], VolumeMatches] = {}
        self._of_class: dict[str, dict[tuple[VolumeMatcher, int], VolumeMatches]] = {}
        self._version = nodes.version

    # --- asking -----------------------------------------------------------------------------------------------------

    def count(self, ask: VolumeMatcher, size: int) -> VolumesPerRow:
        """Return, by row, how many unclaimed volumes of at least this size suit the shape and reach the node."""
        return self._demand(ask, size).count.now

    def unserved(self, asks: Sequence[tuple[VolumeMatcher, int]]) -> Iterator[Mask]:
        """Yield, for each of these asks, by row whether it finds no volume once those before it have taken theirs.

        Sizes must rise, and each ask takes the smallest volume that is left: so of the volumes that are large enough
        for the next ask, those taken are the smallest.
        """
        before: dict[str, tuple[VolumesPerRow, VolumesPerRow]] = {}
        for ask, size in asks:
            count = self.count(ask, size)
            larger, taken = before.get(ask.storage_class, (count, np.zeros_like(count)))
            taken = np.maximum(taken - (larger - count), 0)
            lacking = count <= taken
            before[ask.storage_class] = (count, taken + ~lacking)
            yield lacking

    def smallest(self, ask: VolumeMatcher, size: int) -> Sizes:
        """Return, by row, the size in bytes of the smallest such volume; infinite where there is none."""
        demand = self._demand(ask, size)
        if demand.smallest is None:
            demand.smallest = self._nodes.column(np.float64, np.inf)
            self._measure(demand, demand.smallest)
        return demand.smallest.now

    def named(self, claim: Key) -> list[PersistentVolume]:
        """Return the volumes whose claimRef names a claim, sorted by name."""
        return [
            self._objects[name]
            for name in sorted(self._claimed.get((claim.namespace or "default", claim.name), ()))
        ]

    def on(
        self, node: Node, ask: VolumeMatcher, size: int, taken: frozenset[str] = frozenset()
    ) -> PersistentVolume | None:
        """Return the smallest unclaimed volume for the shape and size on a node (ties: by name), or None."""
        shelf = self._shelves.get(ask.storage_class)
        best: tuple[int, str] | None = None
        for segment in shelf.reaching(node) if shelf is not None else ():
            for entry in self._suiting(segment, ask, size):
                if best is not None and entry >= best:
                    break
                if entry[1] not in taken:
                    best = entry
                    break
        return None if best is None else self._objects[best[1]]

    def segments(self, storage_class: str) -> list[tuple[VolumeSegment, RowIndices]]:
        """Return the segments of a class and the rows each reaches."""
        shelf = self._shelves.get(storage_class)
        return (
            [] if shelf is None else [(segment, self._rows(segment)) for segment in shelf.segments.values()]
        )

    # --- following --------------------------------------------------------------------------------------------------

    def change(self, name: str, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        """Put one version of a volume in place of another."""
        if self._version != self._nodes.version:
            self._drop()
        if old is not None:
            self._move(name, old, -1)
        if new is not None:
            self._move(name, new, 1)

    def meaning(self) -> dict[str, Any]:
        """Return the free volumes and the claims named, for comparing two snapshots."""
        return {
            "free": {
                name: {affinity: segment.free for affinity, segment in shelf.segments.items()}
                for name, shelf in self._shelves.items()
            },
            "claimed": self._claimed,
        }

    # --- inside -----------------------------------------------------------------------------------------------------

    def _move(self, name: str, volume: PersistentVolume, sign: int) -> None:
        reference = volume.spec.claim_ref
        if reference is not None:
            claim = (reference.namespace or "default", reference.name)
            names = self._claimed.setdefault(claim, set())
            (names.add if sign > 0 else names.discard)(name)
            if not names:
                del self._claimed[claim]
            return
        if volume.metadata.deletion_timestamp is not None:
            return
        storage_class = volumes.class_of_volume(volume)
        shelf = self._shelves.setdefault(storage_class, ClassIndex())
        segment = shelf.segment(_required(volume))
        entry = (volumes.capacity(volume), name)
        if sign > 0:
            insort(segment.free, entry)
        else:
            del segment.free[bisect_left(segment.free, entry)]
        for demand in self._of_class.get(storage_class, {}).values():
            if entry[0] >= demand.size and demand.ask.suits(volume):
                rows = self._rows(segment)
                demand.count.now[rows] += sign
                if demand.smallest is not None:
                    self._remeasure(demand, demand.smallest, segment, rows)
        if not segment.free:
            shelf.remove(segment.affinity)
            if not shelf.segments:
                del self._shelves[storage_class]

    def _demand(self, ask: VolumeMatcher, size: int) -> VolumeMatches:
        if self._version != self._nodes.version:
            self._drop()
        key = (ask, size)
        demand = self._demands.pop(key, None)
        if demand is None:
            demand = self._make(ask, size)
            self._of_class.setdefault(ask.storage_class, {})[key] = demand
        self._demands[key] = demand  # the order of this dict is the order of last use
        return demand

    def _make(self, ask: VolumeMatcher, size: int) -> VolumeMatches:
        while len(self._demands) >= MAX_CACHED_SHAPES:
            self._forget(next(iter(self._demands)))
        demand = VolumeMatches(ask, size, self._nodes.column(np.int32, 0))
        for segment, rows in self.segments(ask.storage_class):
            suiting = sum(1 for _ in self._suiting(segment, ask, size))
            if suiting:
                demand.count.now[rows] += suiting
        return demand

    def _suiting(self, segment: VolumeSegment, ask: VolumeMatcher, size: int) -> Iterator[tuple[int, str]]:
        free = segment.free
        for index in range(bisect_left(free, (size, "")), len(free)):
            if ask.suits(self._objects[free[index][1]]):
                yield free[index]

    def _measure(self, demand: VolumeMatches, column: Column) -> None:
        column.now[:] = np.inf
        for segment, rows in self.segments(demand.ask.storage_class):
            for size, _ in self._suiting(segment, demand.ask, demand.size):
                column.now[rows] = np.minimum(column.now[rows], size)
                break

    def _remeasure(self, demand: VolumeMatches, column: Column, segment: VolumeSegment, rows: RowIndices) -> None:
        """Find the smallest volume of a segment's rows anew; where rows share segments, of all rows."""
        shelf = self._shelves[demand.ask.storage_class]
        if len(rows) <= 8 or len(shelf.segments) > 64:
            for row in rows.tolist():
                name = self._nodes.names[row]
                node = self._nodes.node(name) if name is not None else None
                found = None if node is None else self.on(node, demand.ask, demand.size)
                column.now[row] = np.inf if found is None else volumes.capacity(found)
        else:
            self._measure(demand, column)

    def _rows(self, segment: VolumeSegment) -> RowIndices:
        if segment.version != self._nodes.version:
            segment.rows = np.flatnonzero(self._nodes.reached(segment.affinity))
            segment.version = self._nodes.version
        return segment.rows

    def _forget(self, key: tuple[VolumeMatcher, int]) -> None:
        demand = self._demands.pop(key)
        self._nodes.drop(demand.count)
        if demand.smallest is not None:
            self._nodes.drop(demand.smallest)
        of_class = self._of_class[key[0].storage_class]
        del of_class[key]
        if not of_class:
            del self._of_class[key[0].storage_class]

    def _drop(self) -> None:
        """Forget every demand: names or labels of nodes have changed, and with them what reaches whom."""
        for key in list(self._demands):
            self._forget(key)
        self._version = self._nodes.version
