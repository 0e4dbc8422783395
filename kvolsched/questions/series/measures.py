"""What is counted over simulated time: a class for each count, told of every change of the log in turn.

A measure keeps sums, so that a change costs little however large the cluster is; skew and room are computed again only
after a change that can move them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, cast

from ...api.kinds.csi import CSIDriver, CSIStorageCapacity
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.quantity import value
from ...controllers import kubelet
from ...core.core import ClusterCore
from ...rules.releases.kubernetes_1_36 import upstream_profile
from ...scheduler import requests
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.extension_points import DomainCounter
from ...scheduler.loop.assume_cache import ASSUMED, key_of_note
from ...scheduler.plugins.pod_topology_spread.constraint import SpreadConstraint
from ...scheduler.plugins.pod_topology_spread.skew import DomainMatches
from ...world.log import Key, Log, LogKey, Note

GIBIBYTE = 1 << 30
FAILURES = "failures"
CPU_HELD = "cpu held"
RUNNING, PENDING, SKEW, ROOM = "running", "pending", "skew", "room"


class Contents(Protocol):
    """The map of a log at some position."""

    objects: dict[Key, Any]
    notes: dict[Note, Any]


class Measure(Protocol):
    """One count over simulated time, or several that belong together. Mutable."""

    unit: str

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        """Take a change into account; at first every value of the start comes as a change from None."""

    def values(self) -> Mapping[str, float]:
        """Return the present value of each line by its name ("" if there is one line); empty if there is nothing."""


class PodsInState:
    """How many pods are in one state: running (in a world without kubelet: on a node) or pending."""

    unit = "pods"

    def __init__(self, state: str, *, has_kubelet: bool) -> None:
        self.state, self.has_kubelet, self.count = state, has_kubelet, 0

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        if key[0] == "Pod" and type(key) is Key:
            self.count += self._is_counted(new) - self._is_counted(old)

    def _is_counted(self, pod: Pod | None) -> bool:
        if pod is None or pod.terminal:
            return False
        runs = pod.status.phase == "Running" if self.has_kubelet else bool(pod.spec.node_name)
        return runs == (self.state == RUNNING)

    def values(self) -> Mapping[str, float]:
        return {"": self.count}


class EventsSoFar:
    """How many Events were recorded so far: those of one reason, or every Warning. Events that expire stay counted."""

    unit = "events"

    def __init__(self, reason: str = "") -> None:
        self.reason, self.reasons = reason, Counter[str]()

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        if key[0] != "Event" or type(key) is not Key or new is None:
            return
        if new.reason == self.reason if self.reason else new.type == "Warning":
            self.reasons[new.reason] += max(0, new.count - (old.count if old is not None else 0))

    def values(self) -> Mapping[str, float]:
        return {"": self.reasons.total()}


class CpuHeld:
    """How many cores pods hold: their requests, once they have a node or the scheduler assumes them on one."""

    unit = "cores"

    def __init__(self) -> None:
        self.held: dict[LogKey, int] = {}
        self.total = 0

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        assumed = isinstance(key, Note)
        if (key[1] if assumed else key[0]) != (ASSUMED if assumed else "Pod"):
            return
        pod = key_of_note(key.name) if isinstance(key, Note) else key
        self.total -= self._of(pod)
        self.held[("assumed", pod) if assumed else pod] = _millicores(new)  # type: ignore[index]
        self.total += self._of(pod)

    def _of(self, pod: Any) -> int:
        """Return what one pod holds: assumed and written in the API it counts once."""
        return self.held.get(("assumed", pod), 0) or self.held.get(pod, 0)  # type: ignore[call-overload]

    def values(self) -> Mapping[str, float]:
        return {"": self.total / 1000}


def _millicores(pod: Any) -> int:
    if getattr(pod, "kind", "") != "Pod" or not pod.spec.node_name or pod.terminal:
        return 0
    return requests.held_requests(pod).cpu


class LargestSkew:
    """The largest ActualSkew (S3) of all spread constraints: matching pods of a domain − those of the emptiest one."""

    unit = "pods"

    def __init__(self, plugin: Any) -> None:
        self.plugin = plugin
        self.nodes: dict[str, Node] = {}
        self.placed: dict[Key, Pod] = {}
        self.counts: dict[Any, _DomainCount] = {}  # by constraint, and by what of the pod decides on nodes
        self.known: dict[str, float] | None = None

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        if type(key) is not Key:
            return
        if key.kind == "Node":
            if old is None or new is None or old.spec != new.spec or old.metadata.labels != new.metadata.labels:
                self.nodes.pop(key.name, None)
                if new is not None:
                    self.nodes[key.name] = new
                for counted in self.counts.values():
                    counted.recount(self.nodes, self.placed)
                self.known = None
        elif key.kind == "Pod":
            self._change_pod(key, old, new)

    def _change_pod(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        before, after = self.placed.pop(key, None), new if new and new.holds_node else None
        if after is not None:
            self.placed[key] = after
        for counted in self.counts.values():
            if counted.add(before, -1) | counted.add(after, 1):
                self.known = None
        if old is None or new is None or _spreading_of(old) != _spreading_of(new):
            for pod, sign in ((old, -1), (new, 1)):
                if pod is not None and pod.spec.topology_spread_constraints:
                    self._use(pod, sign)

    def _use(self, pod: Pod, sign: int) -> None:
        """Begin to count a constraint with the first pod that has it, and stop with the last one."""
        spec = pod.spec
        for group in (self.plugin.hard_constraints(pod), self.plugin.soft_constraints(pod, Snapshot())):
            for each in group:
                name = (each, pod.metadata.namespace, spec.node_selector, spec.affinity, spec.tolerations)
                counted = self.counts.get(name)
                if counted is None:
                    counted = self.counts[name] = _DomainCount(each, pod, group)
                    counted.recount(self.nodes, self.placed)
                counted.users += sign
                if not counted.users:
                    del self.counts[name]
                self.known = None

    def values(self) -> Mapping[str, float]:
        if self.known is None:
            skews = [counted.skew for counted in self.counts.values() if counted.pods]
            self.known = {"": max(skews)} if skews else {}
        return self.known


def _spreading_of(pod: Pod) -> tuple[Any, ...]:
    """Return what of a pod its constraints depend on."""
    spec = pod.spec
    return spec.topology_spread_constraints, pod.metadata.labels, spec.node_selector, spec.affinity, spec.tolerations


class _DomainCount:
    """How many pods a constraint counts in each domain, as `skew.match_domains` counts them. Mutable.

    `users`: how many pods have it. `domains`: of the counted nodes. `pods`: by domain.
    """

    def __init__(self, constraint: SpreadConstraint, pod: Pod, group: tuple[SpreadConstraint, ...]) -> None:
        self.constraint, self.pod, self.group, self.users = constraint, pod, group, 0
        self.domains: dict[str, str] = {}
        self.pods: dict[str, int] = {}

    def recount(self, nodes: Mapping[str, Node], placed: Mapping[Key, Pod]) -> None:
        """Count all pods on all nodes."""
        self.domains = {
            name: node.metadata.labels[self.constraint.topology_key]
            for name, node in nodes.items()
            if not self.constraint.node_exclusion(self.pod, node, self.group)
        }
        self.pods = dict.fromkeys(self.domains.values(), 0)
        for pod in placed.values():
            self.add(pod, 1)

    def add(self, pod: Pod | None, sign: int) -> bool:
        """Count a pod, or no longer, and say whether it is one that counts."""
        domain = self.domains.get(pod.spec.node_name) if pod is not None else None
        if pod is None or domain is None or not self.constraint.matches(pod):
            return False
        self.pods[domain] += sign
        return True

    @property
    def skew(self) -> int:
        """The fullest domain − the minimum of the rule."""
        return max(self.pods.values()) - DomainMatches(self.constraint, self.pods).min_match


class FreeRoom:
    """How much room drivers' pools have in all, GiB: as it is published, and as the drivers have it."""

    unit = "GiB"
    published, true = "published", "driver now"

    def __init__(self, storages: Mapping[str, Any], contents: Contents) -> None:
        self.storages, self.contents = storages, contents
        self.known: dict[str, float] | None = None

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        moves = key.sort in ("room", "pool") if isinstance(key, Note) else key.kind in (
            "CSIStorageCapacity", "CSIDriver", "StorageClass")  # fmt: skip
        if moves:
            self.known = None

    def values(self) -> Mapping[str, float]:
        if self.known is None:
            self.known = {name: room / GIBIBYTE for name, room in self._rooms()}
        return self.known

    def _rooms(self) -> Iterator[tuple[str, int]]:
        if published := self._published():
            yield self.published, sum(published.values())
        log = cast(Log, self.contents)  # only its map is read
        free = [max(0, storage.free_bytes(log, pool)) for storage in self.storages.values() for pool in storage.pools]
        if free:
            yield self.true, sum(free)

    def _published(self) -> Mapping[Any, int]:
        """Return the bytes that are published of each pool; one that is published for several classes counts once."""
        found: dict[Any, int] = {}
        objects = self.contents.objects
        for key, obj in objects.items():
            if isinstance(obj, CSIStorageCapacity) and obj.capacity is not None:
                of_class = objects.get(Key("StorageClass", "", obj.storage_class_name))
                driver = of_class.provisioner if of_class is not None else obj.storage_class_name
                pool = (driver, obj.node_topology)
                found[pool] = max(found.get(pool, 0), value(obj.capacity))
            elif isinstance(obj, CSIDriver):
                for entry in obj.status.storage:
                    for each in entry.pools:
                        size = 0 if each.capacity is None else value(each.capacity)
                        found[key.name, each.name] = max(found.get((key.name, each.name), 0), size)
        return found


def _spreading(cluster: ClusterCore) -> Any:
    """Return the plugin whose constraints are counted: that of the rules, else the shipped one."""
    return cluster.revision.profile.extending(DomainCounter) or upstream_profile().extending(DomainCounter)


MEASURES: Mapping[str, Callable[[ClusterCore, Contents], Measure]] = {  # name -> the measure over a log
    RUNNING: lambda cluster, _: PodsInState(RUNNING, has_kubelet=kubelet.NAME in cluster.world.processes),
    PENDING: lambda cluster, _: PodsInState(PENDING, has_kubelet=kubelet.NAME in cluster.world.processes),
    FAILURES: lambda _cluster, _: EventsSoFar(),
    SKEW: lambda cluster, _: LargestSkew(_spreading(cluster)),
    ROOM: lambda cluster, now: FreeRoom(cluster.revision.drivers(cluster.components).storages, now),
    CPU_HELD: lambda _cluster, _: CpuHeld(),
}
