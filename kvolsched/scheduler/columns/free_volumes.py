"""Unclaimed volumes as columns: how many volumes each node could use for a claim of a given shape and size.

Volumes of one class and node affinity form a segment, whose rows are computed once. When a volume is claimed or
released, the counts in its segment's rows change by one; which volume a node would get is looked up for that node only.
Whether a volume suits a claim is decided by `kvolsched.api.volumes`. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kvolsched.api import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import NodeSelector
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.world.log import Key

from ..shortcuts import SHORTCUTS
from .column import Column, Mask, RowIndices
from .node_table import NodeTable

Found = TypeVar("Found")


class VolumeVisits:
    """The number of volumes that were looked at since the pass began, and what it has found (S0, Caching). Mutable.

    Findings are dropped when anything that is seen changes. With and without, the same volume is found.
    """

    __slots__ = ("_found", "count")

    def __init__(self) -> None:
        self.count = 0
        self._found: dict[Hashable, Any] = {}

    def begin_pass(self) -> None:
        """Start to count anew, and forget what earlier passes found."""
        self.count = 0
        self._found.clear()

    def forget(self) -> None:
        """Forget what was found: something that is seen has changed."""
        if self._found:
            self._found.clear()

    def counted(self, volumes: Iterable[PersistentVolume]) -> Iterator[PersistentVolume]:
        """Yield volumes, and count each that is looked at."""
        for volume in volumes:
            self.count += 1
            yield volume

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what was found under a key in this pass, or find it now and remember it."""
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found


MAX_CACHED_SHAPES = 512  # columns of (shape, size); the least recently used is dropped
VolumesPerRow = NDArray[np.int32]
Sizes = NDArray[np.float64]


class VolumeMatcher(Protocol):
    """The shape of a claim without its size: hashable, and a predicate on unclaimed volumes."""

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
    """The segments of one storage class, indexed by the labels of nodes. Mutable."""

    def __init__(self) -> None:
        self.segments: dict[NodeSelector | None, VolumeSegment] = {}
        # A segment is indexed by a label if each of its terms requires one; the others are tried on every node.
        self._by_label: dict[tuple[str, str], dict[NodeSelector | None, VolumeSegment]] = {}
        self._others: dict[NodeSelector | None, VolumeSegment] = {}

    def segment(self, affinity: NodeSelector | None) -> VolumeSegment:
        """Return the segment of a node affinity; create it if it does not exist."""
        found = self.segments.get(affinity)
        if found is None:
            found = self.segments[affinity] = VolumeSegment(affinity)
            for index in self._indexes(affinity):
                index[affinity] = found
        return found

    def remove(self, affinity: NodeSelector | None) -> None:
        """Remove an empty segment."""
        del self.segments[affinity]
        for index in self._indexes(affinity):
            del index[affinity]

    def reaching(self, node: Node) -> list[VolumeSegment]:
        """Return the segments whose node affinity admits a node."""
        segments = dict(self._others)
        for item in node.metadata.labels.items():
            segments.update(self._by_label.get(item, _NO_SEGMENTS))
        labels = node.metadata.labels
        return [
            segment
            for segment in segments.values()
            if segment.affinity is None or segment.affinity.matches(labels)
        ]

    def _indexes(self, affinity: NodeSelector | None) -> list[dict[NodeSelector | None, VolumeSegment]]:
        labels: list[tuple[str, str]] = []
        for term in affinity.node_selector_terms if affinity is not None else ():
            expression = next((part for part in term.match_expressions if part.operator == "In"), None)
            if expression is None:
                return [self._others]
            labels += [(expression.key, value) for value in expression.values]
        return [self._by_label.setdefault(label, {}) for label in sorted(set(labels))] or [self._others]


_NO_SEGMENTS: dict[NodeSelector | None, VolumeSegment] = {}


class VolumeMatches:
    """The columns of one shape and size: how many volumes suit, and, once requested, the smallest size. Mutable."""

    __slots__ = ("count", "matcher", "size", "smallest")

    def __init__(self, matcher: VolumeMatcher, size: int, count: Column) -> None:
        self.matcher = matcher
        self.size = size
        self.count = count
        self.smallest: Column | None = None


class FreeVolumes:
    """All unclaimed volumes by class and node affinity, and the claims that the other volumes name. Mutable."""

    def __init__(self, nodes: NodeTable, objects: Mapping[str, PersistentVolume]) -> None:
        self._nodes = nodes
        self._objects = objects
        self._classes: dict[str, ClassIndex] = {}
        self._claimed: dict[tuple[str, str], set[str]] = {}
        self._matches: dict[tuple[VolumeMatcher, int], VolumeMatches] = {}
        self._of_class: dict[str, dict[tuple[VolumeMatcher, int], VolumeMatches]] = {}
        self._version = nodes.version

    def count(self, matcher: VolumeMatcher, size: int) -> VolumesPerRow:
        """Return, by row, how many unclaimed volumes of at least this size suit the shape and admit the node."""
        return self._matches_of(matcher, size).count.array

    def rows_lacking(self, requests: Sequence[tuple[VolumeMatcher, int]]) -> Iterator[Mask]:
        """Yield, for each (shape, size), the rows without a volume left after the earlier ones have taken theirs.

        Sizes must rise, and each takes the smallest remaining volume; so of the volumes large enough for the next size,
        the taken ones are the smallest.
        """
        before: dict[str, tuple[VolumesPerRow, VolumesPerRow]] = {}
        for matcher, size in requests:
            count = self.count(matcher, size)
            larger, taken = before.get(matcher.storage_class, (count, np.zeros_like(count)))
            taken = np.maximum(taken - (larger - count), 0)
            lacking = count <= taken
            before[matcher.storage_class] = (count, taken + ~lacking)
            yield lacking

    def smallest_size(self, matcher: VolumeMatcher, size: int) -> Sizes:
        """Return, by row, the size in bytes of the smallest volume that suits; infinity if none does."""
        matches = self._matches_of(matcher, size)
        if matches.smallest is None:
            column = self._nodes.column(np.float64, np.inf)
            self._compute_smallest(matches, column)
            matches.smallest = column
        return matches.smallest.array

    def claimed_for(self, claim: Key) -> list[PersistentVolume]:
        """Return the volumes whose claimRef names a claim, sorted by name."""
        return [
            self._objects[name]
            for name in sorted(self._claimed.get((claim.namespace or "default", claim.name), ()))
        ]

    def smallest_on(self, node: Node, matcher: VolumeMatcher, size: int,
                    taken: frozenset[str] = frozenset()) -> PersistentVolume | None:
        """Return the smallest unclaimed volume that suits on a node (ties: first by name), or None."""
        class_index = self._classes.get(matcher.storage_class)
        best: tuple[int, str] | None = None
        for segment in class_index.reaching(node) if class_index is not None else ():
            for entry in self._suiting_entries(segment, matcher, size):
                if best is not None and entry >= best:
                    break
                if entry[1] not in taken:
                    best = entry
                    break
        return None if best is None else self._objects[best[1]]

    def on(self, node: Node, storage_class: str) -> list[PersistentVolume]:
        """Return the unclaimed volumes of a class that reach a node."""
        class_index = self._classes.get(storage_class)
        segments = class_index.reaching(node) if class_index is not None else ()
        return [self._objects[name] for segment in segments for _, name in segment.free]

    def segments(self, storage_class: str) -> list[tuple[VolumeSegment, RowIndices]]:
        """Return the segments of a class, each with the rows of the nodes that it admits."""
        class_index = self._classes.get(storage_class)
        return (
            [] if class_index is None else [(segment, self._rows(segment)) for segment in class_index.segments.values()]
        )

    def change(self, name: str, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        """Apply a change of a volume."""
        if self._version != self._nodes.version:
            self._clear()
        if old is not None:
            self._count(name, old, -1)
        if new is not None:
            self._count(name, new, 1)

    def copied(self, nodes: NodeTable, objects: Mapping[str, PersistentVolume]) -> FreeVolumes:
        """Return an independent copy for a copied node table; its columns are built on first use."""
        copy = FreeVolumes(nodes, objects)
        copy._claimed = {claim: set(names) for claim, names in self._claimed.items()}
        for name, class_index in self._classes.items():
            index = copy._classes[name] = ClassIndex()
            for affinity, segment in class_index.segments.items():
                made = index.segment(affinity)
                made.free, made.rows, made.version = list(segment.free), segment.rows, segment.version
        return copy

    def facts(self) -> dict[str, Any]:
        """Return the unclaimed volumes and the claims that volumes name, for comparing two snapshots."""
        return {
            "free": {
                name: {affinity: segment.free for affinity, segment in class_index.segments.items()}
                for name, class_index in self._classes.items()
            },
            "claimed": self._claimed,
        }

    def _count(self, name: str, volume: PersistentVolume, sign: int) -> None:
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
        class_index = self._classes.setdefault(storage_class, ClassIndex())
        segment = class_index.segment(volume.spec.required_node_affinity)
        entry = (volumes.capacity(volume), name)
        if sign > 0:
            insort(segment.free, entry)
        else:
            del segment.free[bisect_left(segment.free, entry)]
        for matches in self._of_class.get(storage_class, {}).values():
            if entry[0] >= matches.size and matches.matcher.suits(volume):
                rows = self._rows(segment)
                matches.count.array[rows] += sign
                if matches.smallest is not None:
                    self._update_smallest(matches, matches.smallest, segment, rows)
        if not segment.free:
            class_index.remove(segment.affinity)
            if not class_index.segments:
                del self._classes[storage_class]

    def _matches_of(self, matcher: VolumeMatcher, size: int) -> VolumeMatches:
        if self._version != self._nodes.version:
            self._clear()
        key = (matcher, size)
        matches = self._matches.pop(key, None)
        if matches is None:
            matches = self._compute(matcher, size)
            self._of_class.setdefault(matcher.storage_class, {})[key] = matches
        self._matches[key] = matches  # the order of this dict is the order of last use
        return matches

    def _compute(self, matcher: VolumeMatcher, size: int) -> VolumeMatches:
        while len(self._matches) >= MAX_CACHED_SHAPES:
            self._forget(next(iter(self._matches)))
        matches = VolumeMatches(matcher, size, self._nodes.column(np.int32, 0))
        for segment, rows in self.segments(matcher.storage_class):
            suiting = sum(1 for _ in self._suiting_entries(segment, matcher, size))
            if suiting:
                matches.count.array[rows] += suiting
        return matches

    def _suiting_entries(self, segment: VolumeSegment, matcher: VolumeMatcher, size: int) -> Iterator[tuple[int, str]]:
        free = segment.free
        for index in range(bisect_left(free, (size, "")), len(free)):
            if matcher.suits(self._objects[free[index][1]]):
                yield free[index]

    def _compute_smallest(self, matches: VolumeMatches, column: Column) -> None:
        column.array[:] = np.inf
        for segment, rows in self.segments(matches.matcher.storage_class):
            for size, _ in self._suiting_entries(segment, matches.matcher, matches.size):
                column.array[rows] = np.minimum(column.array[rows], size)
                break

    def _update_smallest(self, matches: VolumeMatches, column: Column, segment: VolumeSegment,
                         rows: RowIndices) -> None:
        """Recompute the smallest size in a segment's rows: row by row if they are few, else for all rows."""
        class_index = self._classes[matches.matcher.storage_class]
        if len(rows) <= 8 or len(class_index.segments) > 64:
            for row in rows.tolist():
                name = self._nodes.names[row]
                node = self._nodes.node(name) if name is not None else None
                volume = None if node is None else self.smallest_on(node, matches.matcher, matches.size)
                column.array[row] = np.inf if volume is None else volumes.capacity(volume)
        else:
            self._compute_smallest(matches, column)

    def _rows(self, segment: VolumeSegment) -> RowIndices:
        if segment.version != self._nodes.version:
            segment.rows = self._rows_in(segment.affinity)
            segment.version = self._nodes.version
        return segment.rows

    def _rows_in(self, affinity: NodeSelector | None) -> RowIndices:
        """Return the rows that an affinity admits; those with values of one label, as of local volumes, at once."""
        terms = affinity.node_selector_terms if affinity is not None and SHORTCUTS.on else ()
        if len(terms) == 1 and terms[0].is_readable and not terms[0].match_fields:
            expressions = terms[0].match_expressions
            if len(expressions) == 1 and expressions[0].operator == "In":
                return self._nodes.rows_labelled(expressions[0].key, expressions[0].values)
        return np.flatnonzero(self._nodes.volume_affinity_mask(affinity))

    def _forget(self, key: tuple[VolumeMatcher, int]) -> None:
        matches = self._matches.pop(key)
        self._nodes.drop(matches.count)
        if matches.smallest is not None:
            self._nodes.drop(matches.smallest)
        of_class = self._of_class[key[0].storage_class]
        del of_class[key]
        if not of_class:
            del self._of_class[key[0].storage_class]

    def _clear(self) -> None:
        """Drop all columns after names or labels of nodes have changed."""
        for key in list(self._matches):
            self._forget(key)
        self._version = self._nodes.version
