"""NodeResourcesBalancedAllocation: prefer nodes whose cpu and memory would be used to a similar share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.kinds.pod import Pod
from .. import requests
from ..columns.column import ALL_ROWS, Integers, RowWise
from ..columns.node_table import NodeTable
from ..framework.card import Card
from ..framework.extension_points import ColumnContext
from ..requests import CPU, MEMORY

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
    card: ClassVar[Card] = Card(letter="B", family="resources", short="balance", looks_at="shares of cpu and memory")
    template_fields: ClassVar[tuple[str, ...]] = ("containers", "init_containers", "overhead", "rest")

    score_of: Callable[[Any, Any], Any] = score_improvement

    def score(self, pod: Pod, columns: ColumnContext) -> Integers | None:
        """Score by the balance with and without the pod; a pod that asks for neither resource is not scored."""
        row_wise = self.score_by_row(pod, columns.nodes)
        return None if row_wise is None else row_wise.some(ALL_ROWS)

    def score_by_row(self, pod: Pod, nodes: NodeTable) -> RowWise | None:
        """Return the score as a computation by row."""
        asks = requests.pod_requests(pod.spec)
        if not asks.cpu and not asks.memory:
            return None
        score_of, ask_cpu, ask_memory = self.score_of, asks.cpu, asks.memory

        def score_row(row: int) -> int:
            cpu, memory = _amounts(nodes, CPU, row), _amounts(nodes, MEMORY, row)
            return int(score_of(_balance(cpu, memory, ask_cpu, ask_memory), _balance(cpu, memory, 0, 0)))

        def score_rows(rows: Any) -> Integers:
            without_pod = nodes.cached_by_row("balance", present)[rows]
            scores: Integers = score_of(_NodeUsage(nodes, rows).balance(ask_cpu, ask_memory), without_pod)
            return scores

        def present() -> RowWise:
            return _present_balance(nodes)

        return RowWise(None if nodes.huge else score_row, score_rows)  # 64 bits overflow as they do in Kubernetes

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores unchanged: they are 0 to 100."""
        return raw


def _amounts(nodes: NodeTable, resource: str, row: int) -> tuple[int, int]:
    return nodes.total(resource).item(row), nodes.free(resource).item(row)


def _balance(cpu: tuple[int, int], memory: tuple[int, int], more_cpu: int, more_memory: int) -> int:
    """Return int(100 (1 − deviation of the shares)) of one node, given (total, free) and what the pod asks for.

    With a total of 0 the node counts as balanced.
    """
    if cpu[0] <= 0 or memory[0] <= 0:
        return 100
    of_cpu = min(float(cpu[0] - cpu[1] + more_cpu) / float(cpu[0]), 1.0)
    of_memory = min(float(memory[0] - memory[1] + more_memory) / float(memory[0]), 1.0)
    return int((1 - abs(of_cpu - of_memory) / 2) * 100)


def _present_balance(nodes: NodeTable) -> RowWise:
    """Return the balance of the nodes as they are, which all pods share."""

    def balance_row(row: int) -> int:
        return _balance(_amounts(nodes, CPU, row), _amounts(nodes, MEMORY, row), 0, 0)

    return RowWise(None if nodes.huge else balance_row, lambda rows: _NodeUsage(nodes, rows).balance(0, 0))


class _NodeUsage:
    """Used and total cpu and memory of some rows."""

    def __init__(self, nodes: NodeTable, rows: Any) -> None:
        self.total = [nodes.total(resource)[rows] for resource in (CPU, MEMORY)]
        self.used = [
            there - nodes.free(resource)[rows] for there, resource in zip(self.total, (CPU, MEMORY), strict=True)
        ]
        self.floor = [np.maximum(there, 1) for there in self.total]
        self.both = (self.total[0] > 0) & (self.total[1] > 0)

    def balance(self, cpu: int, memory: int) -> Integers:
        """Return the balance by row, as `_balance` does for one node."""
        of_cpu = np.minimum((self.used[0] + cpu) / self.floor[0], 1.0)
        of_memory = np.minimum((self.used[1] + memory) / self.floor[1], 1.0)
        deviation = np.abs(of_cpu - of_memory) / 2 * self.both
        balance: Integers = ((1 - deviation) * 100).astype(np.int64)
        return balance
