"""What is counted over simulated time: a class for each count, told of every change of the log in turn.

A measure keeps sums, so that a change costs little however large the cluster is; skew and room are computed again only
after a change that can move them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, cast

from ..api.kinds.csi import CSIDriver, CSIStorageCapacity
from ..api.kinds.pod import Pod
from ..api.kinds.quantity import value
from ..cluster_core import ClusterCore
from ..controllers import kubelet
from ..scheduler import requests
from ..scheduler.columns.snapshot import Snapshot
from ..scheduler.loop.assume_cache import ASSUMED, key_of_note
from ..scheduler.plugins.pod_topology_spread import PodTopologySpread
from ..scheduler.plugins.pod_topology_spread.constraint import SpreadConstraint
from ..scheduler.plugins.pod_topology_spread.skew import match_domains
from ..world.log import Key, Log, LogKey, Note

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
    return requests.pod_requests(pod.spec).cpu


class LargestSkew:
    """The largest ActualSkew (S3) of all spread constraints: matching pods of a domain − those of the emptiest one."""

    unit = "pods"

    def __init__(self, plugin: PodTopologySpread) -> None:
        self.plugin, self.seen, self.pods = plugin, Snapshot(), dict[Key, Pod]()
        self.known: dict[str, float] | None = None

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        if type(key) is not Key or key.kind not in Snapshot.follows:
            return
        self.seen.apply(key, old, new)
        if key.kind == "Pod":
            self.pods.pop(key, None)
            if new is not None and new.spec.topology_spread_constraints:
                self.pods[key] = new
            if old is None or new is None or old.spec.node_name != new.spec.node_name or old.terminal != new.terminal:
                self.known = None
        elif key.kind == "Node":
            self.known = None

    def values(self) -> Mapping[str, float]:
        if self.known is None:
            counted = (match_domains(pod, each, group, self.seen) for pod, each, group in self._constraints())
            skews = [max(found.match_num.values()) - found.min_match for found in counted if found.match_num]
            self.known = {"": max(skews)} if skews else {}
        return self.known

    def _constraints(self) -> Iterator[tuple[Pod, SpreadConstraint, tuple[SpreadConstraint, ...]]]:
        """Yield each constraint once, with a pod that has it and the constraints it is checked with."""
        found = set()
        for pod in self.pods.values():
            spec = pod.spec
            for group in (self.plugin.hard_constraints(pod), self.plugin.soft_constraints(pod, self.seen)):
                for each in group:
                    same = (each, pod.metadata.namespace, spec.node_selector, spec.affinity, spec.tolerations)
                    if same not in found:
                        found.add(same)
                        yield pod, each, group


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


def _spreading(cluster: ClusterCore) -> PodTopologySpread:
    """Return the plugin whose constraints are counted: that of the rules, else the shipped one."""
    try:
        plugin = cluster.revision.profile.plugin("PodTopologySpread")
    except KeyError:
        plugin = None
    return plugin if isinstance(plugin, PodTopologySpread) else PodTopologySpread()


MEASURES: Mapping[str, Callable[[ClusterCore, Contents], Measure]] = {  # name -> the measure over a log
    RUNNING: lambda cluster, _: PodsInState(RUNNING, has_kubelet=kubelet.NAME in cluster.world.processes),
    PENDING: lambda cluster, _: PodsInState(PENDING, has_kubelet=kubelet.NAME in cluster.world.processes),
    FAILURES: lambda _cluster, _: EventsSoFar(),
    SKEW: lambda cluster, _: LargestSkew(_spreading(cluster)),
    ROOM: lambda cluster, now: FreeRoom(cluster.revision.drivers(cluster.components).storages, now),
    CPU_HELD: lambda _cluster, _: CpuHeld(),
}
