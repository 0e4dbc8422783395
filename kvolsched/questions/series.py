"""Counts of a run over simulated time: pods that run, failures, skew, room of pools, cpu that pods hold.

Each is computed from the log, over the steps up to now and those known after it; nothing is stored. A class for each
count is told of every change of the log in turn, in one pass for all of them; it keeps sums, so that a change costs
little however large the cluster is. Skew and room are computed again only after a change that can move them; functions
are asked step by step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import attrs

from ..api.kinds import quantity
from ..api.kinds.csi import CSIDriver, CSIStorageCapacity
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod
from ..api.progress import ProgressBar
from ..api.unknown_name import UnknownName, did_you_mean
from ..controllers import kubelet
from ..core.core import ClusterCore
from ..rules.releases.kubernetes_1_36 import upstream_profile
from ..scheduler import requests
from ..scheduler.columns.snapshot import Snapshot
from ..scheduler.framework.extension_points import DomainCounter
from ..scheduler.loop.assume_cache import ASSUMED, key_of_note
from ..scheduler.plugins.pod_topology_spread.constraint import SpreadConstraint
from ..scheduler.plugins.pod_topology_spread.skew import DomainMatches
from ..world.history import Turn
from ..world.log import Key, Log, LogKey, Note

GIBIBYTE = 1 << 30
FAILURES = "failures"
CPU_HELD = "cpu held"
RUNNING, PENDING, SKEW, ROOM = "running", "pending", "skew", "room"


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
        if type(key) is Key and key.kind == "Pod":
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
        if type(key) is not Key or key.kind != "Event" or new is None:
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
        holds = getattr(new, "kind", "") == "Pod" and new.spec.node_name and not new.terminal
        self.held[("assumed", pod) if assumed else pod] = requests.held_requests(new).cpu if holds else 0  # type: ignore[index]
        self.total += self._of(pod)

    def _of(self, pod: Any) -> int:
        """Return what one pod holds: assumed and written in the API it counts once."""
        return self.held.get(("assumed", pod), 0) or self.held.get(pod, 0)  # type: ignore[call-overload]

    def values(self) -> Mapping[str, float]:
        return {"": self.total / 1000}


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
        before, after = self.placed.pop(key, None), None
        if new is not None and new.holds_node:
            after = self.placed[key] = new
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
        if pod is None or pod.spec.node_name not in self.domains or not self.constraint.matches(pod):
            return False
        self.pods[self.domains[pod.spec.node_name]] += sign
        return True

    @property
    def skew(self) -> int:
        """The fullest domain − the minimum of the rule."""
        return max(self.pods.values()) - DomainMatches(self.constraint, self.pods).min_match


class FreeRoom:
    """How much room drivers' pools have in all, GiB: as it is published, and as the drivers have it."""

    unit = "GiB"
    published, true = "published", "driver now"

    def __init__(self, storages: Mapping[str, Any], contents: _Contents) -> None:
        self.storages, self.contents = storages, contents
        self.known: dict[str, float] | None = None

    def change(self, key: LogKey, old: Any, new: Any) -> None:
        moves = key.sort in ("room", "pool") if isinstance(key, Note) else key.kind in (
            "CSIStorageCapacity", "CSIDriver", "StorageClass")  # fmt: skip
        if moves:
            self.known = None

    def values(self) -> Mapping[str, float]:
        if self.known is None:
            log = cast(Log, self.contents)  # only its map is read
            free = [max(0, each.free_bytes(log, pool)) for each in self.storages.values() for pool in each.pools]
            rooms = ((self.published, self._published().values()), (self.true, free))
            self.known = {name: sum(room) / GIBIBYTE for name, room in rooms if room}
        return self.known

    def _published(self) -> Mapping[Any, int]:
        """Return the bytes that are published of each pool; one that is published for several classes counts once."""
        found = defaultdict[Any, int](int)
        objects = self.contents.objects
        for key, obj in objects.items():
            if isinstance(obj, CSIStorageCapacity) and obj.capacity is not None:
                of_class = objects.get(Key("StorageClass", "", obj.storage_class_name))
                driver = of_class.provisioner if of_class is not None else obj.storage_class_name
                pool = (driver, obj.node_topology)
                found[pool] = max(found[pool], quantity.value(obj.capacity))
            elif isinstance(obj, CSIDriver):
                for entry in obj.status.storage:
                    for each in entry.pools:
                        named = (key.name, each.name)
                        found[named] = max(found[named], quantity.value(each.capacity or "0"))
        return found


MEASURES: Mapping[str, Callable[[ClusterCore, _Contents], Measure]] = {  # name -> the measure over a log
    RUNNING: lambda cluster, _: PodsInState(RUNNING, has_kubelet=kubelet.NAME in cluster.world.processes),
    PENDING: lambda cluster, _: PodsInState(PENDING, has_kubelet=kubelet.NAME in cluster.world.processes),
    FAILURES: lambda _cluster, _: EventsSoFar(),
    SKEW: lambda cluster, _: LargestSkew(
        cluster.revision.profile.extending(DomainCounter) or upstream_profile().extending(DomainCounter)),
    ROOM: lambda cluster, now: FreeRoom(cluster.revision.drivers(cluster.components).storages, now),
    CPU_HELD: lambda _cluster, _: CpuHeld(),
}


Function = Callable[[Any], float]
Wanted = str | Function | Mapping[str, Function]
DEFAULT = ("running", "pending", "failures")


@attrs.frozen
class TimelinePoint:
    """A value from a moment on: seconds, value, and the step that led to it."""

    time: float
    value: float
    step: int


@attrs.frozen
class Timeline:
    """One count of one cluster over simulated time.

    Args:
        measure: what is counted: a name of `MEASURES`, the reason of an Event, or the name of a function.
        cluster: whose line it is.
        part: which of the lines of its measure: "published" or "driver now"; "" if there is one.
        unit: of the values; "" if unknown.
        points: where the value changes, in order; the first is the start. Empty: there is nothing to count.
        until: where the longest of the known runs ends, seconds; the last value holds until then.
        reasons: of a count of Events, how many have each reason.
        last_step: how many steps are known.
    """

    measure: str
    cluster: str
    part: str
    unit: str
    points: tuple[TimelinePoint, ...]
    until: float
    reasons: tuple[tuple[str, int], ...]
    last_step: int


def timelines(clusters: Sequence[ClusterCore], what: Wanted | Iterable[Wanted] = DEFAULT) -> tuple[Timeline, ...]:
    """Return a line for each measure and cluster, over the known steps of each cluster's branch.

    Args:
        clusters: whose runs are counted.
        what: names of `MEASURES`, reasons of Events, functions of a cluster, or mappings from name to function.

    Raises:
        UnknownName: there is no such measure and no Event of such a reason. It is a ValueError.
        TypeError: another cluster is none, or a measure is neither a name nor a function.
    """
    for each in clusters:
        if not isinstance(each, ClusterCore):
            raise TypeError(f'a series is of clusters, not of {each!r:.60}; a measure is named by what="running"')
    wanted = list(_numbered(_wanted(what)))
    names = cluster_labels(clusters)
    reasons = {event.reason for cluster in clusters for event in cluster.objects("events")}
    for name, function in wanted:
        if function is None and name not in MEASURES and name not in reasons:
            there = f"{', '.join(MEASURES)}; reasons of Events: {', '.join(sorted(reasons)) or 'none yet'}"
            hint = did_you_mean(name, [*MEASURES, *sorted(reasons)])
            raise UnknownName(f"no measure {name!r}; there are: {there}; any function of a cluster will do{hint}")
    found = [dict(_lines(cluster, label, wanted)) for label, cluster in zip(names, clusters, strict=True)]
    lines = [line for name, _ in wanted for of_cluster in found for line in of_cluster[name]]
    until = max([0.0, *(line.until for line in lines)])
    return tuple(attrs.evolve(line, until=until) for line in lines)


def cluster_labels(clusters: Sequence[ClusterCore]) -> list[str]:
    """Return a name for each cluster: that of its rules, else its own, else with a number."""
    choices = [[cluster.revision.name for cluster in clusters], [cluster.name for cluster in clusters]]
    for names in choices:
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{cluster.name or 'cluster'} {number}" for number, cluster in enumerate(clusters, 1)]


def _wanted(what: Wanted | Iterable[Wanted]) -> Iterator[tuple[str, Function | None]]:
    if isinstance(what, str):
        yield what, None
    elif isinstance(what, Mapping):
        yield from what.items()
    elif callable(what):
        name = getattr(what, "__name__", "")
        yield name if name.isidentifier() else "function", what
    elif isinstance(what, Iterable):
        for each in what:
            yield from _wanted(each)
    else:
        raise TypeError(f"a measure is a name such as 'running', or a function of a cluster, not {what!r:.60}")


def _numbered(wanted: Iterable[tuple[str, Function | None]]) -> Iterator[tuple[str, Function | None]]:
    """Yield each measure once, and functions of equal names with numbers."""
    seen: dict[str, list[Function | None]] = {}
    for name, function in wanted:
        functions = seen.setdefault(name, [])
        if function not in functions:
            functions.append(function)
            yield name if len(functions) == 1 else f"{name} {len(functions)}", function


def _lines(cluster: ClusterCore, label: str,
           wanted: Sequence[tuple[str, Function | None]]) -> Iterator[tuple[str, list[Timeline]]]:
    contents = _Contents(cluster)
    measures = {name: MEASURES[name](cluster, contents) if name in MEASURES else EventsSoFar(name)
                for name, function in wanted if function is None}  # fmt: skip
    points = _read_log(contents, measures)
    until = max([cluster.now, *(turn.time for turn in contents.turns)])
    steps = cluster.world.known_steps
    for name, measure in measures.items():
        counts = tuple(sorted(measure.reasons.items())) if isinstance(measure, EventsSoFar) else ()
        parts = points[name] or {"": []}
        yield name, [
            Timeline(name, label, part, measure.unit, tuple(line), until, counts, steps)
            for part, line in parts.items()
        ]
    functions = {name: function for name, function in wanted if function is not None}
    for name, line in _read_steps(cluster, functions).items():
        yield name, [Timeline(name, label, "", "", tuple(line), until, (), steps)]


@attrs.define
class _Contents:
    """The map of a cluster's log, moved over its turns beside the cluster itself. Mutable."""

    cluster: ClusterCore
    objects: dict[Key, Any] = attrs.field(init=False)
    notes: dict[Note, Any] = attrs.field(init=False)
    turns: tuple[Turn, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        log, history = self.cluster.world.log, self.cluster.world.history
        self.objects, self.notes = dict(log.objects), dict(log.notes)
        for key, old, _ in reversed(log.changes[history.ends[0] - log.base : log.place - log.base]):
            self.put(key, old)
        self.turns = tuple(history.turns)

    def put(self, key: Any, value: Any) -> None:
        """Put a value at a key; None removes it."""
        held: dict[Any, Any] = self.objects if type(key) is Key else self.notes
        if value is None:
            held.pop(key, None)
        else:
            held[key] = value


def _read_log(contents: _Contents, measures: Mapping[str, Measure]) -> dict[str, dict[str, list[TimelinePoint]]]:
    """Return the points of each line of each measure, in one pass over the log."""
    log, history = contents.cluster.world.log, contents.cluster.world.history
    points: dict[str, dict[str, list[TimelinePoint]]] = {name: {} for name in measures}

    def note(time: float, step: int) -> None:
        for name, measure in measures.items():
            for part, value in measure.values().items():
                line = points[name].setdefault(part, [])
                if not line or line[-1].value != value:
                    line.append(TimelinePoint(time, value, step))

    for held in (contents.objects, contents.notes):
        for key, value in held.items():
            for measure in measures.values():
                measure.change(key, None, value)
    place = history.ends[0]
    note(contents.turns[0].time if contents.turns and contents.turns[0].quiet else 0.0, 0)
    for turn in contents.turns:
        for key, old, new in log.changes[place - log.base : turn.end - log.base]:
            contents.put(key, new)
            for measure in measures.values():
                measure.change(key, old, new)
        place = max(place, turn.end)
        note(turn.time, turn.step)
    return points


def _read_steps(cluster: ClusterCore, functions: Mapping[str, Function]) -> dict[str, list[TimelinePoint]]:
    """Return the points of functions, asked at the end of every step of a copy."""
    points: dict[str, list[TimelinePoint]] = {name: [] for name in functions}
    if not functions:
        return points
    copy = _with_future(cluster)
    with ProgressBar(copy.world.known_steps + 1, unit=" steps") as bar:
        for step in range(copy.world.known_steps + 1):
            copy.goto(step)
            for name, function in functions.items():
                value = float(function(copy))
                if not points[name] or points[name][-1].value != value:
                    points[name].append(TimelinePoint(copy.now, value, step))
            bar.update()
    return points


def _with_future(cluster: ClusterCore) -> ClusterCore:
    """Return a copy of a cluster with the known steps after its place; the cluster ends where it was."""
    log = cluster.world.log
    start, end = log.place, log.end
    try:
        log.seek(end)
        copy = cluster.fork(cluster.name)
        log.seek(start)
    except BaseException:
        log.recover(start, end)
        cluster.world.rebuild()
        raise
    return copy
