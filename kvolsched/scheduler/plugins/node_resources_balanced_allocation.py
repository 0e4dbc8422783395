"""NodeResourcesBalancedAllocation: prefer nodes whose cpu and memory would be used to a similar share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.arrays import Integers
from kvolsched.scheduler.framework.extension_points import ColumnContext
from kvolsched.scheduler.requests import CPU, MEMORY

Balance = TypeVar("Balance", int, Integers)


def score_improvement(with_pod: Balance, without_pod: Balance) -> Balance:
    """Score how much the pod improves the balance (v1.36.2): 75 if it does not change it."""
    return 50 + (50 + with_pod - without_pod) // 2


def score_balance(with_pod: Balance, _without_pod: Balance) -> Balance:
    """Score the balance itself, as earlier releases did."""
    return with_pod


@attrs.frozen
class NodeResourcesBalancedAllocation:
    """Scores the balance of the requests of cpu and memory; `score_of` makes a score of the balance, 0 to 100."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    score_of: Callable[[Any, Any], Any] = score_improvement

    def score(self, pod: Pod, columns: ColumnContext) -> Integers | None:
        """Score by the balance with and without the pod; a pod that asks for neither resource is not scored."""
        asks = requests.pod_requests(pod.spec)
        if not asks.cpu and not asks.memory:
            return None
        nodes = columns.nodes

        def score_row(row: int) -> int:
            cpu, memory = (
                (nodes.total(resource).item(row), nodes.free(resource).item(row)) for resource in (CPU, MEMORY)
            )
            with_pod = _balance(cpu, memory, asks.cpu, asks.memory)
            return int(self.score_of(with_pod, _balance(cpu, memory, 0, 0)))

        def score_rows() -> Integers:
            usage = _NodeUsage(columns)
            scores: Integers = self.score_of(usage.balance(asks.cpu, asks.memory), usage.balance(0, 0))
            return scores

        if nodes.huge:  # 64 bits overflow here as they do in Kubernetes
            return score_rows()
        return nodes.cached_by_row(("balance", self.score_of, asks.cpu, asks.memory), score_row, score_rows)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores unchanged: they are 0 to 100."""
        return raw


def _balance(cpu: tuple[int, int], memory: tuple[int, int], more_cpu: int, more_memory: int) -> int:
    """Return int(100 (1 − deviation of the shares)) of one node.

    Args:
        cpu, memory: (total, free) of the resource; with a total of 0 the node counts as balanced.
        more_cpu, more_memory: what the pod asks for.
    """
    if cpu[0] <= 0 or memory[0] <= 0:
        return 100
    of_cpu, of_memory = (
        min(float(there - free + more) / float(there), 1.0)
        for (there, free), more in ((cpu, more_cpu), (memory, more_memory))
    )
    return int((1 - abs(of_cpu - of_memory) / 2) * 100)


class _NodeUsage:
    """Used and total cpu and memory of all nodes."""

    def __init__(self, columns: ColumnContext) -> None:
        nodes = columns.nodes
        self.total = [nodes.total(resource) for resource in (CPU, MEMORY)]
        self.used = [there - nodes.free(resource) for there, resource in zip(self.total, (CPU, MEMORY), strict=True)]
        self.floor = [np.maximum(there, 1) for there in self.total]
        self.both = (self.total[0] > 0) & (self.total[1] > 0)

    def balance(self, cpu: int, memory: int) -> Integers:
        """Return the balance by row, as `_balance` does for one node."""
        of_cpu = np.minimum((self.used[0] + cpu) / self.floor[0], 1.0)
        of_memory = np.minimum((self.used[1] + memory) / self.floor[1], 1.0)
        deviation = np.abs(of_cpu - of_memory) / 2 * self.both
        balance: Integers = ((1 - deviation) * 100).astype(np.int64)
        return balance
