"""Published experiments, run in simulated time: each is a function whose result has rows and prints as a table.

`capacity` mirrors the experiment with csi-driver-host-path (its docs/storage-capacity-tracking.md), which shows for S2
what a scheduler gains that knows how much room is left on each node: volumes that just fit the cluster, one a pod.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Never

import attrs
from tqdm.auto import tqdm

from kvolsched.api.notebook_output import PrintedAnswer, Rows, table_text
from kvolsched.api.words import counted

from ...api import make
from ...api.text.manifest import from_plain
from ...api.volumes import selected_node
from ...cluster import Cluster

DRIVER, CLASS = "hostpath.csi.k8s.io", "csi-hostpath-fast"
SECONDS_BETWEEN_PODS = 0.1  # ten pods a second, as the experiment's load generator makes them
TIMEOUT = 2700.0  # seconds that the experiment waits for its pods: 45 minutes


@attrs.frozen
class NodeCount:
    """One node at the end: the pods that run there, and the volumes that could not be created there."""

    node: str
    pods: int
    failures: int


@attrs.frozen(repr=False)
class CapacityRun(PrintedAnswer):
    """One run of the experiment.

    Args:
        nodes, volumes, lag, tracking, seed: as they were asked for.
        failures: how often a driver was asked for a volume that it had no room for.
        last: seconds from the first pod's creation until the last pod ran; None if some pod never did.
        running: the number of pods that ran in the end.
        seconds: when the run ended.
        rows: the nodes.
        cluster: the cluster at its end, to go back in.
    """

    nodes: int
    volumes: int
    lag: float
    tracking: bool
    seed: int
    failures: int
    last: float | None
    running: int
    seconds: float
    rows: tuple[NodeCount, ...]
    cluster: Cluster = attrs.field(eq=False)

    @property
    def name(self) -> str:
        """How capacity was tracked, in words."""
        if not self.tracking:
            return "without tracking"
        return f"published {self.lag:g} s late" if self.lag else "with tracking"

    @property
    def stuck(self) -> int:
        """The number of pods that do not run."""
        return self.volumes - self.running

    @property
    def outcome(self) -> str:
        """What came of the pods, in words."""
        if self.last is not None:
            return f"all {self.running} pods run after {self.last:.1f} s"
        return f"{self.running} of {self.volumes} pods run, {self.stuck} are stuck at {self.seconds:.0f} s"

    def __repr__(self) -> str:
        head = f"{self.volumes} volumes on {self.nodes} nodes {self.name}: {self.outcome}; "
        head += f"{counted(self.failures, 'volume creation')} failed for want of room"
        rows = ((row.node, str(row.pods), str(row.failures)) for row in self.rows)
        return "\n".join([head, *table_text([("NODE", "PODS", "FAILED"), *rows], 3)])


@attrs.frozen(repr=False)
class CapacityRuns(Rows[CapacityRun], PrintedAnswer):
    """Several runs of the experiment, side by side."""

    rows: tuple[CapacityRun, ...]

    def __repr__(self) -> str:
        head = ("CAPACITY", "RUNNING", "STUCK", "FAILED", "LAST POD")
        last = {run: "never" if run.last is None else f"{run.last:.1f} s" for run in self}
        lines = [(run.name, *map(str, (run.running, run.stuck, run.failures)), last[run]) for run in self]
        return "\n".join(table_text([head, *lines], 3))


def capacity(
    nodes: int = 10, volumes: int = 100, *, lag: float = 0.0, tracking: bool = True, seed: int = 0,
    busy: int | None = None, timeout: float = TIMEOUT, progress: bool = True
) -> CapacityRun:  # fmt: skip
    """Run pods with one local volume each on nodes whose storage just fits all of them; count what fails.

    Each volume has the same size, and the nodes' pools together have room for exactly so many. Pods come ten a second,
    each with a generic ephemeral volume of a class that waits for the first consumer.

    Args:
        nodes: the number of nodes, each with a pool of its own.
        volumes: the number of volumes and pods; the first nodes have room for one more if they cannot be shared out.
        lag: seconds from the driver's answer to the publication of its capacity.
        tracking: whether the driver tells the scheduler to look at what is published.
        seed: decides ties.
        busy: how many nodes run a pod of the system too, by default half of them: the scheduler prefers the others.
        timeout: seconds after the last pod's creation at which the run ends.
        progress: show a progress bar if the run takes long.

    Raises:
        ValueError: there are no nodes or no volumes.

    >>> run = capacity(nodes=3, volumes=6, progress=False)
    >>> run.running, run.stuck
    (6, 0)
    """
    if nodes < 1 or volumes < 1:
        raise ValueError(f"{nodes} nodes and {volumes} volumes: wants at least one of each")
    cluster = _cluster(nodes, volumes, lag, seed, tracking=tracking)
    requests = {"cpu": "500m", "memory": "500Mi"}
    system = [make.pod(f"system-on-{name}", namespace="kube-system", running_on=name, requests=requests)
              for name in _names("node", nodes)[: nodes // 2 if busy is None else busy]]  # fmt: skip
    cluster._load(map(from_plain, system))
    for _ in cluster.world.pass_time(2 * lag + 1, "user", "user waits"):  # until capacity is published
        pass
    start = cluster.now
    times = _play(cluster, volumes, timeout, progress=progress)
    changes = cluster.world.log.changes_between("PersistentVolumeClaim", 0, cluster.world.log.end)
    failures = Counter(selected_node(old) for _, (_, old, new) in changes if old and new and selected_node(old)
                       and not selected_node(new))  # a provisioner without room takes the node back
    placed = Counter(cluster[f"pod/{name}"].spec.node_name for name in times)
    rows = tuple(NodeCount(name, placed[name], failures[name]) for name in _names("node", nodes))
    last = max(times.values()) - start if len(times) == volumes else None
    return CapacityRun(nodes, volumes, lag, tracking, seed, failures.total(), last, len(times), cluster.now - start,
                       rows, cluster)


def compare_capacity(
    nodes: int = 10, volumes: int = 100, *, lags: Iterable[float] = (5.0, 30.0), seed: int = 0,
    timeout: float = TIMEOUT, progress: bool = True
) -> CapacityRuns:  # fmt: skip
    """Run the experiment without tracking, with it, and with capacity that is published late; see `capacity`.

    >>> compare_capacity(nodes=4, volumes=8, lags=[5], timeout=60, progress=False)
    CAPACITY             RUNNING   STUCK   FAILED   LAST POD
    without tracking     4         4       32       never
    with tracking        8         0       2        4.0 s
    published 5 s late   8         0       12       14.0 s
    """
    dials = [(0.0, False), (0.0, True), *((lag, True) for lag in lags)]
    bar = tqdm(dials, unit=" runs", disable=not progress, leave=False, delay=1.0)
    return CapacityRuns(tuple(
        capacity(nodes, volumes, lag=lag, tracking=tracking, seed=seed, timeout=timeout, progress=progress)
        for lag, tracking in bar
    ))


def _names(what: str, count: int) -> list[str]:
    return [f"{what}-{number:0{len(str(count - 1))}}" for number in range(count)]


def _cluster(
    nodes: int, volumes: int, lag: float, seed: int, *, tracking: bool
) -> Cluster:
    """Return the cluster before its pods, under today's rules: every node with a pool, a class, and the driver."""
    names = _names("node", nodes)
    pools = {name: f"{volumes // nodes + (number < volumes % nodes)}Gi" for number, name in enumerate(names)}
    publishing = {"lag": lag, "workers": nodes}
    dials = {DRIVER: {"kind": "local", "pools": pools, "publishing": publishing}}
    cluster = Cluster("upstream", seed=seed, components=dials, name=f"{volumes} volumes on {nodes} nodes")
    made = [make.node(name, cpu="1900m", memory="4580Mi", pods="1000") for name in names]  # they allow fewer pods
    driver = make.csi_driver(DRIVER, tracks=None, storageCapacity=tracking)
    cluster._load(map(from_plain, [*made, driver, make.storage_class(CLASS, DRIVER)]))
    return cluster


def _play(cluster: Cluster, volumes: int, timeout: float, *, progress: bool) -> dict[str, float]:
    """Create the pods at their pace and let everybody act; return when each pod began to run, by name."""
    times: dict[str, float] = {}
    seen = len(cluster.world.turns)
    template = {"spec": make.claim(size="1Gi", storage_class=CLASS)["spec"]}
    volume = {"name": "vol", "ephemeral": {"volumeClaimTemplate": template}}
    with tqdm(total=volumes, unit=" pods", disable=not progress, leave=False, delay=1.0) as bar:
        for name in _names("pod", volumes):
            cluster.apply(make.pod(name, requests={}, volumes=[volume]))
            for _ in cluster.world.pass_time(SECONDS_BETWEEN_PODS, "user", "user waits"):
                pass
            seen = _note_times(cluster, seen, times, bar)
        limit = cluster.now + timeout
        while len(times) < volumes and cluster.now < limit and cluster.step():
            seen = _note_times(cluster, seen, times, bar)
    return times


def _note_times(cluster: Cluster, seen: int, times: dict[str, float], bar: tqdm[Never]) -> int:
    """Note which pods began to run in the turns from `seen` on; return the number of turns."""
    turns = cluster.world.turns
    for turn in turns[seen:]:
        for outcome in turn.outcomes:
            stored = getattr(outcome, "stored", None)
            if stored is not None and stored.kind == "Pod" and stored.status.phase == "Running":
                times.setdefault(stored.metadata.name, turn.time)
    bar.update(len(times) - bar.n)
    return len(turns)


