"""NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar share."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.arrays import Integers
from kvolsched.scheduler.framework.extension_points import ColumnContext
from kvolsched.scheduler.requests import CPU, MEMORY


@attrs.frozen
class NodeResourcesBalancedAllocation:
    """Scores balance by the requests proper.

    `by_change`: v1.36.2 scores how much the pod improves the balance, 75 = not at all; before, the balance itself.
    """

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    by_change: bool = True

    def score(self, pod: Pod, at: ColumnContext) -> Integers | None:
        """50 + (50 + balance with the pod − balance without it) / 2; a pod asking for neither is not scored."""
        asks = requests.pod_requests(pod.spec)
        if not asks.cpu and not asks.memory:
            return None
        nodes = at.nodes

        def one(row: int) -> int:
            cpu, memory = (
                (nodes.total(resource).item(row), nodes.free(resource).item(row)) for resource in (CPU, MEMORY)
            )
            with_pod = _balance(cpu, memory, asks.cpu, asks.memory)
            return 50 + (50 + with_pod - _balance(cpu, memory, 0, 0)) // 2 if self.by_change else with_pod

        def every() -> Integers:
            shares = _Shares(at)
            with_pod = shares.balance(asks.cpu, asks.memory)
            return 50 + (50 + with_pod - shares.balance(0, 0)) // 2 if self.by_change else with_pod

        if nodes.huge:  # 64 bits overflow here as they do in Kubernetes
            return every()
        return nodes.cached_by_row(("balance", self.by_change, asks.cpu, asks.memory), one, every)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw


def _balance(cpu: tuple[int, int], memory: tuple[int, int], more_cpu: int, more_memory: int) -> int:
    """Return int(100 (1 − deviation of the shares)) of one node, of what is there and free of each resource.

    A resource that the node lacks is left out, so it is balanced.
    """
    if cpu[0] <= 0 or memory[0] <= 0:
        return 100
    of_cpu, of_memory = (
        min(float(there - free + more) / float(there), 1.0)
        for (there, free), more in ((cpu, more_cpu), (memory, more_memory))
    )
    return int((1 - abs(of_cpu - of_memory) / 2) * 100)


class _Shares:
    """The same over all nodes: how full they are of both, with and without the pod."""

    def __init__(self, at: ColumnContext) -> None:
        nodes = at.nodes
        self.total = [nodes.total(resource) for resource in (CPU, MEMORY)]
        self.used = [there - nodes.free(resource) for there, resource in zip(self.total, (CPU, MEMORY), strict=True)]
        self.floor = [np.maximum(there, 1) for there in self.total]
        self.both = (self.total[0] > 0) & (self.total[1] > 0)

    def balance(self, cpu: int, memory: int) -> Integers:
        """Return what `_balance` returns, by row."""
        of_cpu = np.minimum((self.used[0] + cpu) / self.floor[0], 1.0)
        of_memory = np.minimum((self.used[1] + memory) / self.floor[1], 1.0)
        deviation = np.abs(of_cpu - of_memory) / 2 * self.both
        balance: Integers = ((1 - deviation) * 100).astype(np.int64)
        return balance
