"""NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory would be used to a similar share."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.pod import Pod
from kvolsched.scheduler import requests
from kvolsched.scheduler.extension import At
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
        with_pod = _balance(at, asks.cpu, asks.memory)
        if not self.by_change:
            return with_pod
        return 50 + (50 + with_pod - _balance(at, 0, 0)) // 2

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw


def _balance(at: At, cpu: int, memory: int) -> Integers:
    """Return int(100 (1 − deviation of the two shares)); a resource that a node lacks is left out, so is balanced."""
    nodes = at.nodes
    shares = []
    both: Any = True
    for resource, ask in ((CPU, cpu), (MEMORY, memory)):
        there = nodes.total(resource)
        shares.append(np.minimum((there - nodes.free(resource) + ask) / np.maximum(there, 1), 1.0))
        both = both & (there > 0)
    deviation = np.abs(shares[0] - shares[1]) / 2 * both
    balance: Integers = ((1 - deviation) * 100).astype(np.int64)
    return balance
