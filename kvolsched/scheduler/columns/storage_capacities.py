"""CSIStorageCapacity objects as columns by storage class: the largest volume that can be provisioned for each node.

An object is available to the nodes that its topology selects; a node can get the largest of the sizes available to it,
never their sum. Another column of the class has the room of the first object that is large enough for a request. A
column is built on first use and updated with each object. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.csi import CSIDriver, CSIStorageCapacity
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.quantity import value
from kvolsched.api.kinds.volume import PersistentVolumeClaim
from kvolsched.world.log import Key

from ..shortcuts import SHORTCUTS
from .column import Column, RowIndices
from .node_table import NodeTable

NO_CAPACITY = -1  # the column's value if no capacity is available to the node
REBUILD_LIMIT = 64  # a column of up to so many objects is rebuilt on each change
MAX_REQUESTS = 64  # columns of (class, request); the least recently built is dropped


def max_volume_size(capacity: CSIStorageCapacity) -> int:
    """Return the bytes that one volume may have: maximumVolumeSize, else capacity, else `NO_CAPACITY`."""
    text = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return NO_CAPACITY if text is None else value(text)


def free_room(capacity: CSIStorageCapacity) -> int:
    """Return the bytes that are published as free; 0 if none are, where v1.36.2 would read a nil pointer."""
    return 0 if capacity.capacity is None else max(value(capacity.capacity), 0)


def reaches(capacity: CSIStorageCapacity, node: Node) -> bool:
    """Say whether a capacity is available to a node: without a topology to none, with an empty one to all."""
    return capacity.node_topology is not None and capacity.node_topology.matches(node.metadata.labels)


def is_capacity_checked(claim: PersistentVolumeClaim, driver: CSIDriver | None) -> bool:
    """Say whether capacity is checked for a claim: it requests a size, and its driver publishes capacity."""
    published = driver is not None and driver.spec.storage_capacity is True
    return published and "storage" in claim.spec.resources.requests


class StorageCapacities:
    """All CSIStorageCapacity objects. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._of_class: dict[str, dict[Key, CSIStorageCapacity]] = {}
        # Objects are indexed by the first label that their topology requires; the others are tried on every node.
        self._by_label: dict[tuple[str, tuple[str, str]], dict[Key, CSIStorageCapacity]] = {}
        self._others: dict[str, dict[Key, CSIStorageCapacity]] = {}
        # (class, None) -> the largest volume; (class, request) -> the room of the first object that is large enough.
        self._columns: dict[tuple[str, int | None], Column] = {}
        self._version = nodes.version

    def of_class(self, storage_class: str) -> list[CSIStorageCapacity]:
        """Return the objects of a class, sorted by key."""
        of_class = self._of_class.get(storage_class, {})
        return [of_class[key] for key in sorted(of_class)]

    def on(self, storage_class: str, node: Node) -> list[CSIStorageCapacity]:
        """Return the objects of a class that are available to a node, sorted by key."""
        found = dict(self._others.get(storage_class, {}))
        for item in node.metadata.labels.items():
            found.update(self._by_label.get((storage_class, item), {}))
        return [found[key] for key in sorted(found) if reaches(found[key], node)]

    def change(self, key: Key, old: CSIStorageCapacity | None, new: CSIStorageCapacity | None) -> None:
        """Apply a change of an object."""
        self._drop_stale_columns()
        if old is not None:
            del self._of_class[old.storage_class_name][key]
            del self._index_of(old)[key]
            self._drop_empty(old)
        if new is not None:
            self._of_class.setdefault(new.storage_class_name, {})[key] = new
            self._index_of(new)[key] = new
        versions = [version for version in (old, new) if version is not None]
        for storage_class in {version.storage_class_name for version in versions}:
            changed = [version for version in versions if version.storage_class_name == storage_class]
            for (name, request), column in self._columns.items():
                if name == storage_class:
                    self._update(storage_class, request, column, changed)

    def copied(self, nodes: NodeTable) -> StorageCapacities:
        """Return an independent copy for a copied node table; its columns are built on first use."""
        copy = StorageCapacities(nodes)
        for name in ("_of_class", "_by_label", "_others"):
            setattr(copy, name, {key: dict(objects) for key, objects in getattr(self, name).items()})
        return copy

    def facts(self) -> Mapping[str, Mapping[Key, CSIStorageCapacity]]:
        """Return the objects by class, for comparing two snapshots."""
        return self._of_class

    def _index_of(self, capacity: CSIStorageCapacity) -> dict[Key, CSIStorageCapacity]:
        topology = capacity.node_topology
        if topology is None or not topology.match_labels:
            return self._others.setdefault(capacity.storage_class_name, {})
        return self._by_label.setdefault((capacity.storage_class_name, min(topology.match_labels.items())), {})

    def _drop_empty(self, capacity: CSIStorageCapacity) -> None:
        topology, name = capacity.node_topology, capacity.storage_class_name
        if topology is not None and topology.match_labels:
            item = (name, min(topology.match_labels.items()))
            if not self._by_label[item]:
                del self._by_label[item]
        elif not self._others[name]:
            del self._others[name]
        if not self._of_class[name]:
            del self._of_class[name]

    def room(self, storage_class: str, request: int | None = None) -> NDArray[np.int64]:
        """Return, by row, the free room of the first object, by key, that has room for a request in bytes; -1: none.

        Without a request, the bytes of the largest volume of a class that can be provisioned.
        """
        self._drop_stale_columns()
        column = self._columns.get((storage_class, request))
        if column is None:
            by_request = [key for key in self._columns if key[1] is not None]
            if request is not None and len(by_request) >= MAX_REQUESTS:
                self._nodes.drop(self._columns.pop(by_request[0]))
            column = self._nodes.column(np.int64, NO_CAPACITY)
            self._compute(storage_class, request, column)
            self._columns[storage_class, request] = column
        return column.array

    def _update(self, storage_class: str, request: int | None, column: Column,
                changed: list[CSIStorageCapacity]) -> None:
        """Recompute the rows to which changed objects are available: one by one if they are few, else all rows."""
        rows = sorted({row for capacity in changed for row in self._rows(capacity).tolist()})
        if len(self._of_class.get(storage_class, ())) <= REBUILD_LIMIT or len(rows) > REBUILD_LIMIT:
            self._compute(storage_class, request, column)
            return
        for row in rows:
            node = self._nodes.node(self._nodes.names[row] or "")
            available = self.on(storage_class, node) if node is not None else []
            if request is None:
                column.array[row] = max(map(max_volume_size, available), default=NO_CAPACITY)
            else:
                enough = (free_room(each) for each in available if max_volume_size(each) >= request)
                column.array[row] = next(enough, NO_CAPACITY)

    def _compute(self, storage_class: str, request: int | None, column: Column) -> None:
        column.array[:] = NO_CAPACITY
        if request is None:
            for capacity in self._of_class.get(storage_class, {}).values():
                rows = self._rows(capacity)
                column.array[rows] = np.maximum(column.array[rows], max_volume_size(capacity))
            return
        for capacity in reversed(self.of_class(storage_class)):  # so that the first by key is what remains
            if max_volume_size(capacity) >= request:
                column.array[self._rows(capacity)] = free_room(capacity)

    def _rows(self, capacity: CSIStorageCapacity) -> RowIndices:
        topology = capacity.node_topology
        if topology is None:
            return np.empty(0, np.intp)
        if len(topology.match_labels) == 1 and not topology.match_expressions and SHORTCUTS.on:
            ((key, value),) = topology.match_labels.items()
            return self._nodes.rows_labelled(key, (value,))
        return np.flatnonzero(self._nodes.label_selector_mask(topology))

    def _drop_stale_columns(self) -> None:
        """Drop all columns if names or labels of nodes have changed."""
        if self._version != self._nodes.version:
            for column in self._columns.values():
                self._nodes.drop(column)
            self._columns.clear()
            self._version = self._nodes.version
