"""NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar share."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.pod import Pod
from kvolsched.scheduler import requests
from kvolsched.scheduler.extension import At
from kvolsched.scheduler.nodetable import Some
from kvolsched.scheduler.requests import CPU, MEMORY
from kvolsched.scheduler.verdict import Integers


@attrs.frozen
class NodeResourcesBalancedAllocation:
    """Scores balance by the requests proper.

    `by_change`: v1.36.2 scores how much the pod improves the balance, 75 = not at all; before, the balance itself.
    """

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    by_change: bool = True

    def score(self, pod: Pod, at: At) -> Integers | None:
        """50 + (50 + balance with the pod − balance without it) / 2; a pod asking for neither is not scored."""
        asks = requests.of(pod.spec)
        if not asks.cpu and not asks.memory:
            return None

        def scores(rows: Some) -> Integers:
            shares = _Shares(at, rows)
            with_pod = shares.balance(asks.cpu, asks.memory)
            return 50 + (50 + with_pod - shares.balance(0, 0)) // 2 if self.by_change else with_pod

        return at.nodes.followed(("balance", self.by_change, asks.cpu, asks.memory), scores)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw


class _Shares:
    """How full the nodes are of cpu and memory: what both balances, with and without the pod, are made of."""

    def __init__(self, at: At, rows: Some) -> None:
        nodes = at.nodes
        self.total = [nodes.total(resource)[rows] for resource in (CPU, MEMORY)]
        free = [nodes.free(resource)[rows] for resource in (CPU, MEMORY)]
        self.used = [there - left for there, left in zip(self.total, free, strict=True)]
        self.floor = [np.maximum(there, 1) for there in self.total]
        self.both = (self.total[0] > 0) & (self.total[1] > 0)

    def balance(self, cpu: int, memory: int) -> Integers:
        """Return int(100 (1 − deviation of the shares)); a resource that a node lacks is left out, so is balanced."""
        of_cpu = np.minimum((self.used[0] + cpu) / self.floor[0], 1.0)
        of_memory = np.minimum((self.used[1] + memory) / self.floor[1], 1.0)
        deviation = np.abs(of_cpu - of_memory) / 2 * self.both
        balance: Integers = ((1 - deviation) * 100).astype(np.int64)
        return balance
