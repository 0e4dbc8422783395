"""How large a volume could be made where: CSIStorageCapacity objects as a column per class.

An object reaches the nodes that its topology selects; what a node can get is the largest of what reaches it, never the
sum. A column is made when a class is first asked for, and follows each object that comes, changes or goes. Mutable; the
snapshot alone moves it.
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

from .arrays import RowIndices
from .node_table import Column, NodeTable

NOTHING = -1  # the column's value where no object reaches
FEW = 64  # up to so many objects of a class a column is simply made anew


def limit_of(capacity: CSIStorageCapacity) -> int:
    """Return the bytes one volume may have: the maximum size, if given, else the capacity; not known is nothing."""
    text = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return NOTHING if text is None else value(text)


def reaches(capacity: CSIStorageCapacity, node: Node) -> bool:
    """Say whether a node gets its volumes from here: without a topology nowhere, with an empty one everywhere."""
    return capacity.node_topology is not None and capacity.node_topology.matches(node.metadata.labels)


def is_capacity_checked(claim: PersistentVolumeClaim, driver: CSIDriver | None) -> bool:
    """Say whether room is looked at for a claim: it asks for a size, and its driver tells how much room there is."""
    told = driver is not None and driver.spec.storage_capacity is True
    return told and "storage" in claim.spec.resources.requests


class StorageCapacities:
    """All CSIStorageCapacity objects. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._of_class: dict[str, dict[Key, CSIStorageCapacity]] = {}
        # The first label that an object's topology wants finds it; any other object is tried on every node.
        self._by_label: dict[tuple[str, tuple[str, str]], dict[Key, CSIStorageCapacity]] = {}
        self._others: dict[str, dict[Key, CSIStorageCapacity]] = {}
        self._columns: dict[str, Column] = {}
        self._version = nodes.version

    # --- asking -----------------------------------------------------------------------------------------------------

    def of_class(self, storage_class: str) -> list[CSIStorageCapacity]:
        """Return the objects of a class, sorted by key."""
        found = self._of_class.get(storage_class, {})
        return [found[key] for key in sorted(found)]

    def on(self, storage_class: str, node: Node) -> list[CSIStorageCapacity]:
        """Return the objects of a class that reach a node, sorted by key."""
        found = dict(self._others.get(storage_class, {}))
        for item in node.metadata.labels.items():
            found.update(self._by_label.get((storage_class, item), {}))
        return [found[key] for key in sorted(found) if reaches(found[key], node)]

    def largest(self, storage_class: str) -> NDArray[np.int64]:
        """Return, by row, the bytes of the largest volume of a class that could be made; -1: none."""
        self._check()
        column = self._columns.get(storage_class)
        if column is None:
            column = self._columns[storage_class] = self._nodes.column(np.int64, NOTHING)
            self._measure(storage_class, column)
        return column.now

    # --- following --------------------------------------------------------------------------------------------------

    def change(self, key: Key, old: CSIStorageCapacity | None, new: CSIStorageCapacity | None) -> None:
        """Put one version of an object in place of another."""
        self._check()
        if old is not None:
            del self._of_class[old.storage_class_name][key]
            home = self._home(old)
            del home[key]
            self._tidy(old)
        if new is not None:
            self._of_class.setdefault(new.storage_class_name, {})[key] = new
            self._home(new)[key] = new
        for storage_class in {each.storage_class_name for each in (old, new) if each is not None}:
            column = self._columns.get(storage_class)
            if column is not None:
                touched = [each for each in (old, new) if each is not None and each.storage_class_name == storage_class]
                self._follow(storage_class, column, touched)

    def meaning(self) -> Mapping[str, Mapping[Key, CSIStorageCapacity]]:
        """Return the objects by class, for comparing two snapshots."""
        return self._of_class

    # --- inside -----------------------------------------------------------------------------------------------------

    def _home(self, capacity: CSIStorageCapacity) -> dict[Key, CSIStorageCapacity]:
        topology = capacity.node_topology
        if topology is None or not topology.match_labels:
            return self._others.setdefault(capacity.storage_class_name, {})
        return self._by_label.setdefault((capacity.storage_class_name, min(topology.match_labels.items())), {})

    def _tidy(self, capacity: CSIStorageCapacity) -> None:
        topology, name = capacity.node_topology, capacity.storage_class_name
        if topology is not None and topology.match_labels:
            item = (name, min(topology.match_labels.items()))
            if not self._by_label[item]:
                del self._by_label[item]
        elif not self._others[name]:
            del self._others[name]
        if not self._of_class[name]:
            del self._of_class[name]

    def _follow(self, storage_class: str, column: Column, touched: list[CSIStorageCapacity]) -> None:
        """Measure the rows anew that changed objects reach: where these are few, one by one."""
        rows = sorted({row for capacity in touched for row in self._rows(capacity).tolist()})
        if len(self._of_class.get(storage_class, ())) <= FEW or len(rows) > FEW:
            self._measure(storage_class, column)
            return
        for row in rows:
            node = self._nodes.node(self._nodes.names[row] or "")
            found = self.on(storage_class, node) if node is not None else []
            column.now[row] = max(map(limit_of, found), default=NOTHING)

    def _measure(self, storage_class: str, column: Column) -> None:
        column.now[:] = NOTHING
        for capacity in self._of_class.get(storage_class, {}).values():
            rows = self._rows(capacity)
            column.now[rows] = np.maximum(column.now[rows], limit_of(capacity))

    def _rows(self, capacity: CSIStorageCapacity) -> RowIndices:
        topology = capacity.node_topology
        if topology is None:
            return np.empty(0, np.intp)
        return np.flatnonzero(self._nodes.selected(topology))

    def _check(self) -> None:
        """Forget every column: names or labels of nodes have changed, and with them who is reached."""
        if self._version != self._nodes.version:
            for column in self._columns.values():
                self._nodes.drop(column)
            self._columns.clear()
            self._version = self._nodes.version
