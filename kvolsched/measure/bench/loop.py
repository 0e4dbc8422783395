"""The whole loop: pods arrive all at once, and every component takes its turns until nothing is left to do.

A pod's share has everything: queue, pass, assume, binding, PV controller, provisioner, kubelet, events, the log. It is
no throughput of a cluster: there is no network, no etcd, no JSON.
"""

import gc
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from ...cluster import Cluster
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from .measuring import traced_bytes
from .workloads import Workload

MOST_STEPS = 100_000_000
FOREVER = 1e12  # simulated seconds
TRACED = 20  # pods and nodes of the run whose memory is traced, which is slow


class LoopRun(NamedTuple):
    """What one run of the loop cost; it is complete if nothing was left to do, else the time was over."""

    seconds: float  # of CPU
    turns: int
    writes: int  # that the API server was sent
    placed: int  # of the pods that arrived
    complete: bool


@attrs.frozen
class LoopCost:
    """The cost of a pod in the loop, from the fastest of some runs: CPU time, turns and writes."""

    microseconds: float
    turns: float
    writes: float
    share: float = 1.0  # of a run's turns that was measured: less than 1 where time was over

    @property
    def rate(self) -> float:
        """Pods per CPU second."""
        return 1e6 / self.microseconds


class LoopTimer:
    """A workload's cluster, on which pods arrive: every run begins with the same objects.

    Args:
        workload: whose pods and cluster.
        nodes: how many nodes there are.
        most: the most pods that will arrive: what stands beside the nodes is enough for so many.
    """

    def __init__(self, workload: Workload, nodes: int, most: int) -> None:
        self.workload = workload
        self.nodes = nodes
        self.most = most
        self._turns_per_pod = 0.0

    def begin(self, pods: int) -> Cluster:
        """Return a cluster whose components have listed everything, and to which the pods have come.

        What the scheduler has listed becomes columns when they are read: so they are, before the pods come.
        """
        cluster = Cluster("upstream", components=self.workload.components)
        cluster._load(self._objects)
        cluster.run(steps=MOST_STEPS, seconds=FOREVER)
        _ = cluster.world.processes[SCHEDULER].views["cache"].snapshot  # type: ignore[attr-defined]
        cluster._load(self.workload.pods(self.nodes, pods))
        return cluster

    @cached_property
    def _objects(self) -> list[Any]:
        """The nodes and what stands beside them: values, which runs may share."""
        return self.workload.cluster(self.nodes, self.most)

    def run(self, pods: int, limit: float = FOREVER) -> LoopRun:
        """Run the loop until nothing is left to do, or the CPU seconds are over."""
        cluster = self.begin(pods)
        before = len(cluster.world.turns)
        gc.collect()
        start = time.process_time()
        cluster.run(lambda _: time.process_time() - start > limit, steps=MOST_STEPS, seconds=FOREVER)
        seconds = time.process_time() - start
        turns = cluster.world.turns[before:]
        arrived = {f"pod-{number:05}" for number in range(pods)}
        placed = sum(1 for pod in cluster.objects("pods") if pod.spec.node_name and pod.metadata.name in arrived)
        return LoopRun(seconds, len(turns), sum(len(turn.outcomes) for turn in turns), placed, seconds <= limit)

    def cost(self, pods: int, runs: int = 2, limit: float = FOREVER) -> LoopCost:
        """Return the cost of a pod, from the fastest of some runs.

        A run whose time is over counts by its turns: as many of each pod as a complete run of this cluster had.

        Args:
            pods: how many arrive.
            runs: how many runs; no other begins when half of the limit is used.
            limit: CPU seconds of one run.
        """
        found: list[LoopRun] = []
        for _ in range(runs):
            found.append(self.run(pods, limit))
            if found[-1].seconds > limit / 2:
                break
        best = min(found, key=lambda run: run.seconds / max(1, run.turns))
        if best.complete:
            self._turns_per_pod = best.turns / pods
            return LoopCost(best.seconds / pods * 1e6, best.turns / pods, best.writes / pods)
        turns = self._turns_per_pod or best.turns / max(1, best.placed)
        share = min(1.0, best.turns / max(1.0, turns * pods))
        writes = best.writes / max(1, best.turns) * turns
        return LoopCost(best.seconds / max(1, best.turns) * turns * 1e6, turns, writes, share)

    def running(self, pods: int) -> Callable[[], object]:
        """Return a function that does one run, to which the pods have come before: what a profile is made of."""
        cluster = self.begin(pods)
        return lambda: cluster.run(steps=MOST_STEPS, seconds=FOREVER)


def bytes_per_pod(workload: Workload) -> float:
    """Return the bytes that a run leaves behind for each pod: objects, notes, views, and the history of all of them."""
    cluster = LoopTimer(workload, TRACED, TRACED).begin(TRACED)
    return traced_bytes(lambda: cluster.run(steps=MOST_STEPS, seconds=FOREVER)) / TRACED


def alternately(timers: Sequence[LoopTimer], pods: int, runs: int) -> list[LoopCost]:
    """Return for each of some timers the cost of a pod, whole runs measured in turn, of each the least."""
    found = [[timer.cost(pods, 1) for timer in timers] for _ in range(runs)]
    return [min(costs, key=lambda cost: cost.microseconds) for costs in zip(*found, strict=True)]
