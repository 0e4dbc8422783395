"""What the scheduler has seen, as columns: the view that every rule and every column reads.

A function of its contents (nodes, pods, volumes, claims, classes, namespaces, what CSI drivers tell, what groups pods
and what protects them; seen and assumed already counted once). `apply` moves it one change at a time, in any order of
arrival and back again, and leaves it equal to one built anew. Equality compares what is said of each node by name,
never row numbers. Mutable; changed through `apply` alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from kvolsched import volumes
from kvolsched.api.kinds.csi import CSIDriver, CSINode
from kvolsched.api.kinds.meta import EMPTY, Frozen
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.policy import PodDisruptionBudget
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.world.log import Key, LogKey

from ..csi_migration import hands_over
from . import owner_selectors as groups
from .arrays import Mask
from .attachments import Attachments
from .exclusive_use import ExclusiveUse, host_ports
from .free_volumes import FreeVolumes
from .images import Images
from .node_table import NodeInfo, NodeTable
from .owner_selectors import OwnerSelectors
from .pod_counts import PodCounts, PodMatcher, PodsPerRow
from .storage_capacities import StorageCapacities


class Snapshot:
    """The effective contents of the kinds that scheduling reads, as objects and as columns. Mutable view."""

    follows = frozenset(
        [
            *("Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Namespace"),
            *("CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "PodDisruptionBudget", *groups.KINDS),
        ]
    )

    moment = ""
    """The present, for what expires: told by the pass that asks, not by what was seen."""
    removed: Collection[Pod] = ()
    """Pods taken away for a dry run; of what is really seen, none."""

    def __init__(self) -> None:
        self._rooms: dict[str, NodeInfo] = {}
        self._pods: dict[Key, Pod] = {}
        self._promised: dict[Key, Pod] = {}
        self._claims: dict[Key, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._by_class: dict[str, dict[str, PersistentVolume]] = {}
        self._classes: dict[str, StorageClass] = {}
        self._namespaces: dict[str, Frozen] = {}
        self._budgets: dict[Key, PodDisruptionBudget] = {}
        self.groups = OwnerSelectors()
        self._csi_nodes: dict[str, CSINode] = {}
        self._csi_nodes_written = 0
        self._csi_drivers: dict[str, CSIDriver] = {}
        self.nodes = NodeTable(self._rooms)
        self.tallies = PodCounts(self.nodes)
        self.supply = FreeVolumes(self.nodes, self._volumes)
        self.holdings = ExclusiveUse()
        self.attachments = Attachments(self.nodes, self._rooms, self)
        self.capacities = StorageCapacities(self.nodes)
        self.images = Images(self.nodes)

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.nodes.size

    def node(self, name: str) -> Node | None:
        """Return a node, or None."""
        room = self._rooms.get(name)
        return None if room is None else room.node

    def all_nodes(self) -> list[Node]:
        """Return every node, sorted by name."""
        return [node for name in sorted(self.nodes.row_of) if (node := self._rooms[name].node) is not None]

    def room(self, name: str) -> NodeInfo:
        """Return a node's room: what is there, used and free in exact integers."""
        return self._rooms.get(name) or NodeInfo()

    def pods_on(self, name: str) -> list[Pod]:
        """Return the pods that count on a node (assigned and not ended), sorted by key."""
        room = self._rooms.get(name)
        return [] if room is None else [room.pods[key] for key in sorted(room.pods)]

    @property
    def promises(self) -> Collection[Pod]:
        """The pods without node that are promised one."""
        return self._promised.values()

    def promised(self, name: str) -> list[Pod]:
        """Return the pods without node that are promised this one, sorted by key."""
        return [pod for _, pod in sorted(self._promised.items()) if pod.status.nominated_node_name == name]

    def pod(self, key: Key) -> Pod | None:
        """Return a pod, or None."""
        return self._pods.get(key)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """Return a claim, or None."""
        return self._claims.get(Key("PersistentVolumeClaim", namespace, name))

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a volume, or None."""
        return self._volumes.get(name)

    def storage_class(self, name: str) -> StorageClass | None:
        """Return a class, or None."""
        return self._classes.get(name)

    def csi_node(self, name: str) -> CSINode | None:
        """Return what CSI drivers say of a node, or None."""
        return self._csi_nodes.get(name)

    def handing_over(self, source: str) -> Mask:
        """Return, by row, which nodes leave this in-tree source to its CSI driver; kept until a CSINode is written."""
        key = ("handing over", source, self._csi_nodes_written)
        return self.nodes.kept(key, lambda: self._handing_over(source))

    def _handing_over(self, source: str) -> Mask:
        rows = [row for name, row in self.nodes.rows() if hands_over(self._csi_nodes.get(name), source)]
        found = np.zeros(len(self.nodes.names), bool)
        found[rows] = True
        return found

    def csi_driver(self, name: str) -> CSIDriver | None:
        """Return a CSI driver's own object, or None."""
        return self._csi_drivers.get(name)

    def volumes_of_class(self, name: str) -> list[PersistentVolume]:
        """Return the volumes of a class ("" = of none), sorted by name."""
        found = self._by_class.get(name, {})
        return [found[volume] for volume in sorted(found)]

    def namespaces(self) -> Mapping[str, Frozen]:
        """Return the labels of every known namespace."""
        return self._namespaces

    def namespace_labels(self, name: str) -> Frozen:
        """Return a namespace's labels; of one that was not seen, none."""
        return self._namespaces.get(name, EMPTY)

    def budgets(self) -> list[PodDisruptionBudget]:
        """Return the disruption budgets, sorted by key."""
        return [self._budgets[key] for key in sorted(self._budgets)]

    def matched(self, *matchers: PodMatcher) -> PodsPerRow:
        """Return, by row, how many pods every one of these matchers means."""
        return self.tallies.matched(*matchers, rooms=self._rooms.values())

    # --- following --------------------------------------------------------------------------------------------------

    @property
    def has_pods_with_affinity(self) -> bool:
        """Whether any pod on a node has a term for or against others."""
        return self.tallies.any_term

    @property
    def has_pod_selectors(self) -> bool:
        """Whether there are services or owners that group pods."""
        return self.groups.any

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Put one object in place of another; None stands for absent."""
        assert type(key) is Key
        match key.kind:
            case "Pod":
                self._pod(key, old, new)
            case "Node":
                self._node(key.name, old, new)
            case "PersistentVolume":
                self._volume(key.name, old, new)
            case "PersistentVolumeClaim":
                _put(self._claims, key, new)
                self.attachments.claim(key.namespace, key.name)
            case "StorageClass":
                _put(self._classes, key.name, new)
                self.attachments.storage_class()
            case "CSINode":
                _put(self._csi_nodes, key.name, new)
                self._csi_nodes_written += 1
                self.attachments.csi_node(key.name, old, new)
            case "VolumeAttachment":
                self.attachments.attachment(key.name, old, new)
            case "CSIStorageCapacity":
                self.capacities.change(key, old, new)
            case kind if kind in groups.KINDS:
                self.groups.change(key, new)
            case _:
                self._keep(key, new)

    def _keep(self, key: Key, new: Any) -> None:
        """Keep an object of a kind that is looked up and makes no column."""
        match key.kind:
            case "Namespace":
                _put(self._namespaces, key.name, None if new is None else new.metadata.labels)
            case "CSIDriver":
                _put(self._csi_drivers, key.name, new)
            case "PodDisruptionBudget":
                _put(self._budgets, key, new)

    def _pod(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        _put(self._pods, key, new)
        if new is not None and new.status.nominated_node_name and not new.spec.node_name:
            self._promised[key] = new
        elif self._promised:
            self._promised.pop(key, None)
        before = old.spec.node_name if old is not None and not old.terminal else ""
        after = new.spec.node_name if new is not None and not new.terminal else ""
        if before and before == after:
            assert old is not None
            assert new is not None
            if old.spec is new.spec or old.spec == new.spec:  # it stays, asks for the same, and holds the same
                stays = self._rooms[before]
                stays.pods[key] = new
                if stays.row >= 0 and not _counts_alike(old, new):
                    self.tallies.place(old, stays.row, -1)
                    self.tallies.place(new, stays.row, 1)
                return
        if before:
            assert old is not None
            self._move(self._rooms[before], key, old, -1)
            self._tidy(before)
        if after:
            assert new is not None
            room = self._rooms.get(after)
            if room is None:
                room = self._rooms[after] = NodeInfo()
            self._move(room, key, new, 1)

    def _move(self, room: NodeInfo, key: Key, pod: Pod, sign: int) -> None:
        if sign > 0:
            room.pods[key] = pod
        else:
            del room.pods[key]
        if pod.spec.volumes or host_ports(pod.spec):
            name = pod.spec.node_name
            self.holdings.place(name, key, pod, sign)
            self.attachments.place(name, pod, sign)
        asked = room.hold(pod, sign)
        if room.row >= 0:
            self.nodes.write_room(room, asked)
            self.tallies.place(pod, room.row, sign)

    def _node(self, name: str, old: Node | None, new: Node | None) -> None:
        room = self._rooms.get(name)
        if room is None:
            room = self._rooms[name] = NodeInfo()
        if new is None:
            for pod in room.pods.values():
                self.tallies.place(pod, room.row, -1)
            self.nodes.leave(room)
            room.node = None
            self.images.change(name, old, None)
            self._tidy(name)
            return
        room.node = new
        if old is not None:
            self.nodes.write_node(room, old)
            self.images.change(name, old, new)
            return
        row = self.nodes.enter(room)
        self.images.change(name, None, new)
        self.attachments.enter(name, row)
        for pod in room.pods.values():
            self.tallies.place(pod, row, 1)

    def _tidy(self, name: str) -> None:
        room = self._rooms[name]
        if room.node is None and not room.pods:
            del self._rooms[name]

    def _volume(self, name: str, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        _put(self._volumes, name, new)
        if old is not None:
            word = volumes.class_of_volume(old)
            shelf = self._by_class[word]
            del shelf[name]
            if not shelf:
                del self._by_class[word]
        if new is not None:
            self._by_class.setdefault(volumes.class_of_volume(new), {})[name] = new
        self.supply.change(name, old, new)
        self.attachments.volume(name)

    # --- comparing --------------------------------------------------------------------------------------------------

    def meaning(self) -> dict[str, Any]:
        """Return everything this view says, by name: equal for equal contents, however they came."""
        nodes = self.nodes
        resources = sorted(
            {resource for room in self._rooms.values() for resource in (*room.total, *room.used)}
        )
        return {
            "pods": self._pods,
            "claims": self._claims,
            "volumes": self._volumes,
            "by class": self._by_class,
            "classes": self._classes,
            "namespaces": self._namespaces,
            "budgets": self._budgets,
            "groups": self.groups.meaning(),
            "csi nodes": self._csi_nodes,
            "csi drivers": self._csi_drivers,
            "rooms": {name: (room.node, room.pods) for name, room in self._rooms.items()},
            "columns": {
                name: {
                    "unschedulable": bool(nodes.unschedulable.now[row]),
                    "taints": nodes.taint_sets[nodes.taints.now[row]],
                    "scored": (int(nodes.scored_cpu.now[row]), int(nodes.scored_memory.now[row])),
                    "room": {
                        resource: (int(nodes.total(resource)[row]), int(nodes.free(resource)[row]))
                        for resource in (*resources, "pods")
                        if nodes.total(resource)[row] or nodes.free(resource)[row]
                    },
                }
                for name, row in nodes.rows()
            },
            "huge": nodes.huge,
            "carried": self.tallies.meaning(),
            "supply": self.supply.meaning(),
            "held": self.holdings.meaning(),
            "attached": self.attachments.meaning(),
            "capacities": self.capacities.meaning(),
            "images": self.images.meaning(),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.meaning() == other.meaning()

    __hash__ = None  # type: ignore[assignment]


def _put(store: dict[Any, Any], key: Any, new: Any) -> None:
    if new is None:
        store.pop(key, None)
    else:
        store[key] = new


def _counts_alike(old: Pod, new: Pod) -> bool:
    """Say whether two versions of a pod with one spec count the same: a status alone moves no tally."""
    before, after = old.metadata, new.metadata
    same = before.labels is after.labels or before.labels == after.labels
    return same and (before.deletion_timestamp is None) == (after.deletion_timestamp is None)


def snapshot(objects: Iterable[Any]) -> Snapshot:
    """Return the view of these API objects: for tests, cases and one-off questions."""
    made = Snapshot()
    for item in objects:
        if item.kind in Snapshot.follows:
            made.apply(Key(item.kind, item.metadata.namespace, item.metadata.name), None, item)
    return made
