"""The snapshot: the objects that the scheduler has seen and assumed, as objects and as columns, for rules and columns.

It is a function of its contents: nodes, pods, volumes, claims, classes, namespaces, CSI objects, services and owners,
disruption budgets. `apply` makes one change, in any order of arrival and also backwards, and leaves the snapshot equal
to one built from scratch. Equality compares facts by node name, never row numbers. Mutable; changed by `apply` only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from kvolsched.api import volumes
from kvolsched.api.kinds.csi import CSIDriver, CSINode
from kvolsched.api.kinds.meta import EMPTY, Frozen
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.policy import PodDisruptionBudget
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.world.log import Key, LogKey

from ..csi_migration import is_migrated
from ..requests import is_resized
from .attachments import Attachments
from .column import Integers, Mask, RowWise
from .exclusive_use import ExclusiveUse, HostPort, host_ports
from .free_volumes import FreeVolumes, VolumeVisits
from .images import Images
from .node_table import NodeInfo, NodeTable
from .owner_selectors import GROUPING_KINDS, OwnerSelectors
from .pod_counts import PodCount, PodCounts, PodMatcher, PodsPerRow
from .ranked_pods import NO_PRIORITY, NominatedPods, RankedPods, priority
from .storage_capacities import StorageCapacities


class Snapshot:
    """The objects that scheduling reads, each key counted once, with their columns. Mutable view."""

    follows = frozenset((
        "Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Namespace", "CSINode", "CSIDriver",
        "CSIStorageCapacity", "VolumeAttachment", "PodDisruptionBudget", *GROUPING_KINDS,
    ))  # fmt: skip

    moment = ""
    """The present time; set by each pass, as it is no object that is seen."""
    removed_pods: Collection[Pod] = ()
    """Pods removed in a `HypotheticalSnapshot`; here none."""
    added_pods: Collection[Pod] = ()
    """Pods added in a `HypotheticalSnapshot`, with their nodes; here none."""
    freed_ports: AbstractSet[tuple[str, HostPort]] = frozenset()
    """Ports, with their nodes, that pods took along when they were removed in a `HypotheticalSnapshot`; here none.

    kube-scheduler keeps a node's ports as a set (v1.36.2): they are free, also if other pods hold them, until a pod is
    added that holds them.
    """

    def __init__(self) -> None:
        self._node_infos: dict[str, NodeInfo] = {}
        self._pods: dict[Key, Pod] = {}
        self._nominated: dict[Key, Pod] = {}
        self._nominations: dict[str, NominatedPods] = {}
        self._claims: dict[Key, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._by_class: dict[str, dict[str, PersistentVolume]] = {}
        self._classes: dict[str, StorageClass] = {}
        self._namespaces: dict[str, Frozen] = {}
        self._budgets: dict[Key, PodDisruptionBudget] = {}
        self.owner_selectors = OwnerSelectors()
        self._csi_nodes: dict[str, CSINode] = {}
        self._csi_nodes_written = 0
        self._csi_drivers: dict[str, CSIDriver] = {}
        self.nodes = NodeTable(self._node_infos)
        self.pod_counts = PodCounts(self.nodes)
        self.free_volumes = FreeVolumes(self.nodes, self._volumes)
        self.exclusive_use = ExclusiveUse()
        self.attachments = Attachments(self.nodes, self._node_infos, self)
        self.storage_capacities = StorageCapacities(self.nodes)
        self.images = Images(self.nodes)
        self.visits = VolumeVisits()

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.nodes.size

    def node(self, name: str) -> Node | None:
        """Return a node, or None."""
        info = self._node_infos.get(name)
        return None if info is None else info.node

    def all_nodes(self) -> list[Node]:
        """Return every node, sorted by name."""
        return [node for name in sorted(self.nodes.row_of) if (node := self._node_infos[name].node) is not None]

    def node_info(self, name: str) -> NodeInfo:
        """Return a node's info: what is there, used and free in exact integers."""
        return self._node_infos.get(name) or NodeInfo()

    def pods_on(self, name: str) -> list[Pod]:
        """Return the pods that are assigned to a node and have not ended, sorted by key."""
        info = self._node_infos.get(name)
        return [] if info is None else [info.pods[key] for key in sorted(info.pods)]

    def ranked_pods_on(self, name: str) -> RankedPods:
        """Return the pods on a node by importance; kept until one of them changes."""
        info = self._node_infos[name]
        if info.ranked is None:
            info.ranked = RankedPods(info.pods[key] for key in sorted(info.pods))
        return info.ranked

    def lowest_priorities(self) -> Integers:
        """Return, by row, the lowest priority of a pod on the node; without pods the highest there can be."""
        return self.nodes.cached_by_row("lowest priority", self._lowest_priorities)

    def _lowest_priorities(self) -> RowWise:
        nodes, infos = self.nodes, self._node_infos

        def one(row: int) -> int:
            name = nodes.names[row]
            return NO_PRIORITY if name is None else min(map(priority, infos[name].pods.values()), default=NO_PRIORITY)

        return RowWise(one, lambda rows: np.array([one(row) for row in np.arange(len(nodes.names))[rows]], np.int64))

    @property
    def nominations(self) -> Mapping[str, NominatedPods]:
        """The pods without a node that are nominated to one, by the name of that node."""
        return self._nominations

    def nominated_to(self, name: str) -> list[Pod]:
        """Return the pods without a node that are nominated to this one, sorted by key."""
        return self._nominations[name].sorted() if name in self._nominations else []

    def pod(self, key: Key) -> Pod | None:
        """Return a pod, or None."""
        return self._pods.get(key)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """Return a claim, or None."""
        return self._claims.get(Key("PersistentVolumeClaim", namespace, name))

    def claim_names(self, namespace: str) -> list[str]:
        """Return the names of a namespace's claims, sorted."""
        return sorted(key.name for key in self._claims if key.namespace == namespace)

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a volume, or None."""
        return self._volumes.get(name)

    def storage_class(self, name: str) -> StorageClass | None:
        """Return a storage class, or None."""
        return self._classes.get(name)

    def storage_class_names(self) -> list[str]:
        """Return the names of the storage classes, sorted."""
        return sorted(self._classes)

    def csi_node(self, name: str) -> CSINode | None:
        """Return a node's CSINode, or None."""
        return self._csi_nodes.get(name)

    def migrated_rows(self, source: str) -> Mask:
        """Return, by row, whether an in-tree source is migrated on the node; cached until a CSINode changes."""
        key = ("migrated", source, self._csi_nodes_written)
        return self.nodes.cached(key, lambda: self._migrated_rows(source))

    def _migrated_rows(self, source: str) -> Mask:
        rows = [row for name, row in self.nodes.rows() if is_migrated(self._csi_nodes.get(name), source)]
        mask = np.zeros(len(self.nodes.names), bool)
        mask[rows] = True
        return mask

    def csi_driver(self, name: str) -> CSIDriver | None:
        """Return a CSIDriver, or None."""
        return self._csi_drivers.get(name)

    def volumes_of_class(self, name: str) -> list[PersistentVolume]:
        """Return the volumes of a storage class ("": without class), sorted by name."""
        of_class = self._by_class.get(name, {})
        return [of_class[volume] for volume in sorted(of_class)]

    def all_volumes(self) -> list[PersistentVolume]:
        """Return every volume, sorted by name."""
        return [self._volumes[name] for name in sorted(self._volumes)]

    def volumes_on(self, node: Node, class_name: str, claim: Key) -> list[PersistentVolume]:
        """Return the free volumes of a class that reach a node, and those reserved for a claim, sorted by name."""
        free, reserved = self.free_volumes.on(node, class_name), self.free_volumes.claimed_for(claim)
        reserved = [volume for volume in reserved if volumes.class_of_volume(volume) == class_name]
        return sorted((*free, *reserved), key=lambda volume: volume.metadata.name)

    def namespaces(self) -> Mapping[str, Frozen]:
        """Return the labels of every namespace, by name."""
        return self._namespaces

    def namespace_labels(self, name: str) -> Frozen:
        """Return a namespace's labels; none if it was not seen."""
        return self._namespaces.get(name, EMPTY)

    def budgets(self) -> list[PodDisruptionBudget]:
        """Return the disruption budgets, sorted by key."""
        return [self._budgets[key] for key in sorted(self._budgets)]

    def count_matching(self, *matchers: PodMatcher) -> PodsPerRow:
        """Return, by row, how many pods match all of these matchers."""
        return self.pod_count(*matchers).column.array

    def pod_count(self, *matchers: PodMatcher) -> PodCount:
        """Return the count of the pods that match all of these matchers, for its sums by domain."""
        return self.pod_counts.count_matching(*matchers, node_infos=self._node_infos.values())

    @property
    def has_pods_with_affinity(self) -> bool:
        """Whether any pod on a node has an affinity or anti-affinity term."""
        return self.pod_counts.any_affinity_term

    @property
    def has_pod_selectors(self) -> bool:
        """Whether there are services or controllers that select pods."""
        return self.owner_selectors.any

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Apply a change of one object; None is absent."""
        assert type(key) is Key
        self.visits.forget()
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
                self.storage_capacities.change(key, old, new)
            case kind if kind in GROUPING_KINDS:
                self.owner_selectors.change(key, new)
            case _:
                self._keep(key, new)

    def take(self, objects: Mapping[Key, Any]) -> None:
        """Take all objects, of which none is here yet, as if each were applied; those of other kinds are left out.

        Nodes come last: a row is written as often as a pod comes to its node.
        """
        by_kind: dict[str, list[tuple[Key, Any]]] = {}
        for key, obj in objects.items():
            by_kind.setdefault(key[0], []).append((key, obj))
        pods, nodes = by_kind.pop("Pod", []), by_kind.pop("Node", [])
        for kind, there in by_kind.items():
            for key, obj in there if kind in self.follows else ():
                self.apply(key, None, obj)
        self._pods.update(pods)
        users, infos = [], self._node_infos
        for key, pod in pods:
            spec = pod.spec
            name = spec.node_name
            if not name:
                self._nominate(key, pod)
            elif not pod.terminal:
                info = infos.get(name)
                if info is None:
                    info = infos[name] = NodeInfo()
                info.pods[key] = pod
                info.add_requests(pod, 1)
                if spec.volumes or host_ports(spec):
                    users.append((name, key, pod))
        self.exclusive_use.take(users)
        self.nodes.reserve(len(nodes))
        for key, node in nodes:
            self._node(key.name, None, node)

    def _keep(self, key: Key, new: Any) -> None:
        """Store an object of a kind that has no column."""
        match key.kind:
            case "Namespace":
                _put(self._namespaces, key.name, None if new is None else new.metadata.labels)
            case "CSIDriver":
                _put(self._csi_drivers, key.name, new)
            case "PodDisruptionBudget":
                _put(self._budgets, key, new)

    def _pod(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        _put(self._pods, key, new)
        self._nominate(key, new)
        before = old.spec.node_name if old is not None and not old.terminal else ""
        after = new.spec.node_name if new is not None and not new.terminal else ""
        if before and before == after:
            assert old is not None
            assert new is not None
            if (old.spec is new.spec or old.spec == new.spec) and not is_resized(old, new):  # all that counts is alike
                current = self._node_infos[before]
                current.pods[key] = new
                current.ranked = None
                if current.row >= 0 and not _counts_alike(old, new):
                    self.pod_counts.place(old, current.row, -1)
                    self.pod_counts.place(new, current.row, 1)
                return
        if before:
            assert old is not None
            self._move(self._node_infos[before], key, old, -1)
            self._tidy(before)
        if after:
            assert new is not None
            info = self._node_infos.get(after)
            if info is None:
                info = self._node_infos[after] = NodeInfo()
            self._move(info, key, new, 1)

    def _nominate(self, key: Key, new: Pod | None) -> None:
        """Note that a pod is nominated to a node, or no longer."""
        before = self._nominated.pop(key, None) if self._nominated else None
        if before is not None:
            left = self._nominations[before.status.nominated_node_name].without(key)
            _put(self._nominations, before.status.nominated_node_name, left if left.pods else None)
        if new is None or not new.status.nominated_node_name or new.terminal:
            return
        if not (new.spec.node_name or new.spec.scheduling_gates):
            self._nominated[key] = new
            name = new.status.nominated_node_name
            self._nominations[name] = NominatedPods({**self._nominations.get(name, NominatedPods({})).pods, key: new})

    def _move(self, info: NodeInfo, key: Key, pod: Pod, sign: int) -> None:
        info.ranked = None
        if sign > 0:
            info.pods[key] = pod
        else:
            del info.pods[key]
        if pod.spec.volumes or host_ports(pod.spec):
            name = pod.spec.node_name
            self.exclusive_use.place(name, key, pod, sign)
            self.attachments.place(name, pod, sign)
        resources = info.add_requests(pod, sign)
        if info.row >= 0:
            self.nodes.write_resources(info, resources)
            self.pod_counts.place(pod, info.row, sign)

    def _node(self, name: str, old: Node | None, new: Node | None) -> None:
        info = self._node_infos.get(name)
        if info is None:
            info = self._node_infos[name] = NodeInfo()
        if new is None:
            for pod in info.pods.values():
                self.pod_counts.place(pod, info.row, -1)
            self.nodes.leave(info)
            info.node = None
            self.images.change(name, old, None)
            self._tidy(name)
            return
        info.node, info.ranked = new, None
        if old is not None:
            self.nodes.write_node(info, old)
            self.images.change(name, old, new)
            return
        row = self.nodes.enter(info)
        self.images.change(name, None, new)
        self.attachments.enter(name, row)
        for pod in info.pods.values():
            self.pod_counts.place(pod, row, 1)

    def _tidy(self, name: str) -> None:
        info = self._node_infos[name]
        if info.node is None and not info.pods:
            del self._node_infos[name]

    def _volume(self, name: str, old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        _put(self._volumes, name, new)
        if old is not None:
            class_name = volumes.class_of_volume(old)
            of_class = self._by_class[class_name]
            del of_class[name]
            if not of_class:
                del self._by_class[class_name]
        if new is not None:
            self._by_class.setdefault(volumes.class_of_volume(new), {})[name] = new
        self.free_volumes.change(name, old, new)
        self.attachments.volume(name)

    def copied(self) -> Snapshot:
        """Return an independent copy; it takes a fiftieth of what building it takes, as frozen objects are shared."""
        copy = Snapshot()
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(copy, name, dict(value))
        copy._by_class = {name: dict(of_class) for name, of_class in self._by_class.items()}
        copy._node_infos = {name: info.copied() for name, info in self._node_infos.items()}
        copy._csi_nodes_written, copy.moment = self._csi_nodes_written, self.moment
        copy.nodes = nodes = self.nodes.whole_copy(copy._node_infos)
        copy.owner_selectors = self.owner_selectors.copied()
        copy.pod_counts = self.pod_counts.copied(nodes)
        copy.free_volumes = self.free_volumes.copied(nodes, copy._volumes)
        copy.exclusive_use = self.exclusive_use.copied()
        copy.attachments = self.attachments.whole_copy(nodes, copy._node_infos, copy)
        copy.storage_capacities = self.storage_capacities.copied(nodes)
        copy.images = self.images.copied(nodes)
        return copy

    def facts(self) -> dict[str, Any]:
        """Return all facts by name, for comparison: equal contents give equal facts in whatever order they arrived."""
        nodes = self.nodes
        resources = sorted({resource for info in self._node_infos.values() for resource in (*info.total, *info.used)})
        return {
            "pods": self._pods, "claims": self._claims, "volumes": self._volumes, "by class": self._by_class,
            "classes": self._classes, "namespaces": self._namespaces, "budgets": self._budgets,
            "owner selectors": self.owner_selectors.facts(),
            "csi nodes": self._csi_nodes, "csi drivers": self._csi_drivers,
            "nodes": {name: (info.node, info.pods) for name, info in self._node_infos.items()},
            "columns": {
                name: {
                    "unschedulable": bool(nodes.unschedulable.array[row]),
                    "taints": nodes.taint_sets[nodes.taints.array[row]],
                    "scored": (int(nodes.scored_cpu.array[row]), int(nodes.scored_memory.array[row])),
                    "resources": {
                        resource: (int(nodes.total(resource)[row]), int(nodes.free(resource)[row]))
                        for resource in (*resources, "pods")
                        if nodes.total(resource)[row] or nodes.free(resource)[row]
                    },
                }
                for name, row in nodes.rows()
            },
            "huge": nodes.huge, "carried": self.pod_counts.facts(), "supply": self.free_volumes.facts(),
            "held": self.exclusive_use.facts(), "attached": self.attachments.facts(),
            "capacities": self.storage_capacities.facts(), "images": self.images.facts(),
        }  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.facts() == other.facts()

    __hash__ = None  # type: ignore[assignment]


def _put(store: dict[Any, Any], key: Any, new: Any) -> None:
    if new is None:
        store.pop(key, None)
    else:
        store[key] = new


def _counts_alike(old: Pod, new: Pod) -> bool:
    """Say whether two versions of a pod with the same spec are counted alike: by labels and whether it terminates."""
    before, after = old.metadata, new.metadata
    same = before.labels is after.labels or before.labels == after.labels
    return same and (before.deletion_timestamp is None) == (after.deletion_timestamp is None)


def snapshot(objects: Iterable[Any]) -> Snapshot:
    """Return a snapshot of these API objects."""
    return snapshot_of({Key(obj.kind, obj.metadata.namespace, obj.metadata.name): obj for obj in objects})


def snapshot_of(objects: Mapping[Key, Any]) -> Snapshot:
    """Return a snapshot of API objects by key, made in a third of the time of one that applies each."""
    view = Snapshot()
    view.take(objects)
    return view
