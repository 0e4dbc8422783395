"""NodeResourcesFit: every resource that the pod asks for must be free on the node; the emptiest node is preferred."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from .. import requests
from ..columns.column import ALL_ROWS, Codes, Integers, RowWise
from ..columns.node_table import NodeTable
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, RuleReads
from ..framework.evidence import Evidence, RequestExceeds
from ..framework.extension_points import Action, ColumnContext, QueueingHint, RowResources, is_same_pod
from ..framework.verdict import OK, Code, Ok, Reason, Reject
from ..requests import CPU, MEMORY, NATIVE, PODS

UNRESOLVABLE_BIT = 15
"""The bit that says: the pod asks for more than the node has in all, so that removing pods cannot help."""


def is_asked_for(asks: Mapping[str, int], resource: str) -> bool:
    """Compare the resources that the pod asks for."""
    return bool(asks.get(resource))


def is_any_asked_for(asks: Mapping[str, int], _resource: str) -> bool:
    """Compare every resource if the pod asks for any (before v1.17: overcommitted nodes reject such pods)."""
    return bool(asks)


def _asks_for_less(pod: Pod, old: Pod, new: Pod) -> bool:
    """Say whether this pod, or another one in a resource that this one asks for, asks for less than before."""
    before, after = requests.held_requests(old).amounts, requests.held_requests(new).amounts
    asks = requests.pod_requests(pod.spec).amounts
    return is_same_pod(pod, new) or any(before.get(resource, 0) > after.get(resource, 0) for resource in asks)


def _has_more(pod: Pod, old: Node | None, new: Node) -> bool:
    """Say whether a new or changed node has, in all, what the pod asks for, and more than before."""
    total = requests.allocatable(new.status.allocatable)
    before = requests.allocatable(old.status.allocatable) if old is not None else {}
    asks = {PODS: 1, **requests.pod_requests(pod.spec).amounts}
    covers = all(total.get(resource, 0) >= ask for resource, ask in asks.items())
    return covers and any(total.get(resource, 0) > before.get(resource, 0) for resource in asks)


def _clause_of_reason(pod: Pod, reason: str) -> Clause:
    """Return the request that a reason is about."""
    resource = reason.removeprefix("Insufficient ")
    if resource in (reason, PODS):
        return Clause("request", PODS, "the node takes no more pods", title="No room for one more pod")
    ask = requests.pod_requests(pod.spec).amounts.get(resource, 0)
    asked, kind = requests.format_amount(resource, ask), f"Too little {resource}"
    words = f"the node has less than {asked} {resource} left"
    return Clause("request", resource, words, title=f"{kind}: {asked} asked", kind=kind)


@attrs.frozen
class NodeResourcesFit:
    """Rejects nodes that are short of a resource, with one reason for each; scores what would be left.

    Args:
        too_many_pods, beyond: the reasons that do not depend on the pod.
        is_compared: whether a resource is compared, by what the pod asks for.
        of_device_classes: resources that are not compared on a node that has none: there they are allocated dynamically
            (by DynamicResources, v1.36.2), which is not modelled.
    """

    name: ClassVar[str] = "NodeResourcesFit"
    card: ClassVar[Card] = Card(
        "F", "resources", "fit", "requests and what is free", clause_of_reason=_clause_of_reason,
        reads=RuleReads(("spec.initContainers", "spec.containers", "spec.overhead"), ("status.allocatable",)),
    )
    template_fields: ClassVar[tuple[str, ...]] = ("containers", "init_containers", "overhead", "rest")
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod leaves its node", action=Action.DELETE),
        QueueingHint("Pod", "it, or a pod on a node, asks for less", _asks_for_less, Action.POD_SCALE_DOWN),
        QueueingHint("Node", "a node appears that has enough in all, or comes to have more of it", _has_more,
                     Action.ADD | Action.NODE_ALLOCATABLE),
    )

    too_many_pods: Reason = Reason(0, "Too many pods", Code.UNSCHEDULABLE)
    beyond: Reason = Reason(UNRESOLVABLE_BIT, "")
    is_compared: Callable[[Mapping[str, int], str], bool] = is_asked_for
    of_device_classes: frozenset[str] = frozenset()

    def reasons(self, pod: Pod) -> tuple[Reason, ...]:
        """Return the reasons in Kubernetes' order: pods, cpu, memory, ephemeral-storage, then other resources."""
        short = (
            Reason(bit, f"Insufficient {resource}", Code.UNSCHEDULABLE)
            for bit, resource in enumerate(self._asked(pod), start=1)
        )
        return (self.too_many_pods, *short, self.beyond)

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node if allocatable less its pods' requests does not cover a request; every shortage is a reason."""
        room = seen.node_info(node.metadata.name)
        short: list[str] = []
        evidence: list[Evidence] = []
        status = Code.UNSCHEDULABLE
        if room.free(PODS) < 1:
            short.append(self.too_many_pods.text)
            evidence.append(RequestExceeds(PODS, 1, room.total.get(PODS, 0), len(room.pods)))
        asks = requests.pod_requests(pod.spec).amounts
        for resource in self._asked(pod):
            ask = asks.get(resource, 0)
            total = room.total.get(resource, 0)
            if not total and resource in self.of_device_classes:
                continue
            if self.is_compared(asks, resource) and ask > room.free(resource):
                short.append(f"Insufficient {resource}")
                evidence.append(RequestExceeds(resource, ask, total, room.used.get(resource, 0)))
                if ask > total:
                    status = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        return Reject(tuple(short), status, tuple(evidence)) if short else OK

    def column(self, pod: Pod, columns: ColumnContext) -> Any:
        """Apply the rule to all nodes at once; NotImplemented if a pod asks for more resources than bits."""
        row_wise = self.column_by_row(pod, columns.nodes)
        return NotImplemented if row_wise is None else row_wise.some(ALL_ROWS)

    def column_by_row(self, pod: Pod, nodes: RowResources) -> RowWise | None:
        """Return the column as a computation by row; None if a pod asks for more resources than bits."""
        asks = requests.pod_requests(pod.spec).amounts
        asked = self._asked(pod)
        if len(asked) >= UNRESOLVABLE_BIT:
            return None
        wanted = tuple(
            (bit, resource, asks.get(resource, 0))
            for bit, resource in enumerate(asked, start=1)
            if self.is_compared(asks, resource)
        )
        no_room, beyond, dynamic = 1 << self.too_many_pods.bit, self.beyond.bit, self.of_device_classes

        def judge_row(row: int) -> int:
            code = no_room if nodes.free(PODS).item(row) < 1 else 0
            for bit, resource, ask in wanted:
                if dynamic and resource in dynamic and not nodes.total(resource).item(row):
                    continue
                if nodes.free(resource).item(row) < ask:
                    code |= 1 << bit
                if nodes.total(resource).item(row) < ask:
                    code |= 1 << beyond
            return code

        def judge_rows(rows: Any) -> Codes:
            codes = self.too_many_pods.where(nodes.free(PODS)[rows] < 1)
            for bit, resource, ask in wanted:
                counts = resource not in dynamic or nodes.total(resource)[rows] > 0
                codes |= ((nodes.free(resource)[rows] < ask) & counts) * np.uint16(1 << bit)
                codes |= self.beyond.where((nodes.total(resource)[rows] < ask) & counts)
            return codes

        return RowWise(judge_row, judge_rows)

    def score(self, pod: Pod, columns: ColumnContext) -> Integers:
        """Score the mean share of cpu and memory that would be left, rounded down each time (LeastAllocated)."""
        scores: Integers = self.score_by_row(pod, columns.nodes).some(ALL_ROWS)
        return scores

    def score_by_row(self, pod: Pod, nodes: NodeTable) -> RowWise:
        """Return the score as a computation by row."""
        asks, huge = requests.pod_requests(pod.spec), bool(nodes.huge)
        asked = ((CPU, nodes.scored_cpu, asks.placed_cpu), (MEMORY, nodes.scored_memory, asks.placed_memory))

        def score_row(row: int) -> int:
            total = counted = 0
            for resource, used, ask in asked:
                there = nodes.total(resource).item(row)
                if there > 0:
                    left = max(there - used.array.item(row) - ask, 0)
                    total += math.floor(100.0 * left / there)
                    counted += 1
            return total // max(counted, 1)

        def score_rows(rows: Any) -> Integers:
            total: Any = 0
            counted: Any = 0
            for resource, used, ask in asked:
                there = nodes.total(resource)[rows]
                left = np.maximum(there - used.array[rows] - ask, 0)
                total = total + _share(left, np.maximum(there, 1), exact=huge)
                counted = counted + (there > 0).astype(np.int64)
            scores: Integers = total // np.maximum(counted, 1)
            return scores

        return RowWise(None if huge else score_row, score_rows)  # 64 bits overflow as they do in Kubernetes

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores unchanged: they are 0 to 100."""
        return raw

    def _asked(self, pod: Pod) -> tuple[str, ...]:
        asked = requests.pod_requests(pod.spec).amounts
        return (*NATIVE, *(resource for resource in asked if resource not in NATIVE and resource != PODS))


def _share(part: Integers, whole: Integers, *, exact: bool) -> Integers:
    """Return floor(100 part / whole); in floats unless `exact` is asked for, which is four times as fast."""
    if exact:
        return 100 * part // whole
    return np.floor(100.0 * part / whole).astype(np.int64)
