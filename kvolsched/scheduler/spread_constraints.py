"""Spread constraints made ready for a pod: whom each counts, on which nodes, and in which domains.

Read by PodTopologySpread, which asks the hard ones and ranks by the soft ones: the readable count of one domain after
the other (`domains`), and its shadow over columns (`domain_rows`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod, TopologySpreadConstraint
from kvolsched.api.kinds.selector import LabelSelector, untolerated

from .columns.arrays import Mask
from .columns.node_table import NodeTable
from .columns.owner_selectors import Selectors
from .columns.pod_counts import PodMatcher
from .columns.snapshot import Snapshot
from .node_selection import matches_node_affinity, node_affinity_mask, required_node_affinity

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
# What kube-scheduler spreads by where a pod says nothing, among the pods of its services and its owner.
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SOFT),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SOFT),
)


@attrs.frozen
class CountingOptions:
    """What Kubernetes' releases did differently in counting.

    Args:
        today: minDomains, inclusion policies and matchLabelKeys are heeded (v1.36.2; S3 has none of them).
        empty_counts_none: the empty selector counts no pod that exists (v1.36.2; 1.16 and 1.18: every pod).
        terminating: pods being deleted are counted (1.16; not 1.18 and later).
        everywhere: pods of every namespace are counted (1.16, where it ranks).
    """

    today: bool = True
    empty_counts_none: bool = True
    terminating: bool = False
    everywhere: bool = False


@attrs.define(frozen=True, cache_hash=True)
class SpreadConstraint:
    """One constraint made ready for a pod.

    Args:
        matcher: which pods count; None: no pod.
        itself: 1 if the pod would count, where it goes.
        leaving: whom preemption counts down where it takes them away; it does not ask whether they had been counted,
            so that terminating pods, and those of an empty selector, bring a domain below what it holds.
        heeds_affinity, heeds_taints: only nodes that the pod selects, or tolerates, are counted.
    """

    topology_key: str
    max_skew: int
    matcher: PodMatcher | None
    itself: int
    least_domains: int
    heeds_affinity: bool
    heeds_taints: bool
    leaving: PodMatcher | None = None

    def holds(self, node: Node, seen: Snapshot) -> int:
        """Return how many pods count on a node; in a dry run, after some have left."""
        matcher, leaving = self.matcher, self.leaving
        here = 0 if matcher is None else sum(map(matcher.matches, seen.pods_on(node.metadata.name)))
        gone = [pod for pod in seen.removed_pods if pod.spec.node_name == node.metadata.name]
        return here - sum(leaving is not None and leaving.matches(pod) and not self._counted(pod) for pod in gone)

    def counts(self, seen: Snapshot) -> NDArray[np.int32] | None:
        """Return the same by row; None if nowhere any."""
        counts = None if self.matcher is None else seen.count_matching(self.matcher)
        if self.leaving is None or not seen.removed_pods:
            return counts
        gone = np.zeros(len(seen.nodes.names), np.int32)
        for pod in seen.removed_pods:
            if self.leaving.matches(pod) and not self._counted(pod):
                gone[seen.nodes.row_of[pod.spec.node_name]] += 1
        return -gone if counts is None else counts - gone

    def _counted(self, pod: Pod) -> bool:
        return self.matcher is not None and self.matcher.matches(pod)


@attrs.frozen(eq=False)
class Domains:
    """Where a constraint counts: by row the code of the node's domain, `size` where the node is not counted.

    `exists`: which codes have a counted node. Depends on names, labels and taints alone.
    """

    code: NDArray[np.intp]
    size: int
    exists: Mask
    number: int

    def sums(self, counts: NDArray[np.int32] | None) -> NDArray[Any]:
        """Return how many pods each domain holds."""
        if counts is None:
            return np.zeros(self.size)
        return np.bincount(self.code, counts, self.size + 1)[: self.size]


@lru_cache(maxsize=1 << 12)
def prepare_constraints(
    counting: CountingOptions,
    constraints: tuple[TopologySpreadConstraint, ...],
    namespace: str,
    labels: Frozen,
    selectors: Selectors = (),
) -> tuple[SpreadConstraint, ...]:
    """Make these constraints ready for a pod with these labels; `selectors` stand in for those that defaults lack."""
    return tuple(_ready(counting, constraint, namespace, labels, selectors) for constraint in constraints)


def _ready(
    counting: CountingOptions,
    constraint: TopologySpreadConstraint,
    namespace: str,
    labels: Frozen,
    selectors: Selectors,
) -> SpreadConstraint:
    keys = constraint.match_label_keys if counting.today else ()
    extra = Frozen({key: labels[key] for key in keys if key in labels})
    if constraint.label_selector is not None:
        selectors = (constraint.label_selector,)
    if extra:
        selectors = (*selectors, LabelSelector(match_labels=extra))
    empty = bool(selectors) and not any(one.match_labels or one.match_expressions for one in selectors)
    counts_none = not selectors or (empty and counting.empty_counts_none)
    where = None if counting.everywhere else frozenset((namespace,))
    return SpreadConstraint(
        constraint.topology_key,
        constraint.max_skew or 1,
        None if counts_none else PodMatcher(where, selectors, counting.terminating),
        int(bool(selectors) and all(selector.matches(labels) for selector in selectors)),
        (constraint.min_domains or 1) if counting.today else 1,
        constraint.node_affinity_policy != "Ignore" if counting.today else True,
        constraint.node_taints_policy == "Honor" if counting.today else False,
        PodMatcher(where, selectors) if selectors else None,
    )


def has_all(node: Node, constraints: tuple[SpreadConstraint, ...]) -> bool:
    """Say whether a node carries the topology keys of all constraints."""
    return all(constraint.topology_key in node.metadata.labels for constraint in constraints)


def is_counted(pod: Pod, constraint: SpreadConstraint, node: Node) -> bool:
    """Say whether a constraint's policies let a node's pods count."""
    return (not constraint.heeds_affinity or matches_node_affinity(pod, node)) and (
        not constraint.heeds_taints or untolerated(node.spec.taints, pod.spec.tolerations) is None
    )


def pods_per_domain(
    pod: Pod, constraint: SpreadConstraint, constraints: tuple[SpreadConstraint, ...], seen: Snapshot
) -> dict[str, int]:
    """Return how many pods count in each domain, over the nodes that have all keys and pass the policies."""
    found: dict[str, int] = {}
    for node in seen.all_nodes():
        if has_all(node, constraints) and is_counted(pod, constraint, node):
            value = node.metadata.labels[constraint.topology_key]
            found[value] = found.get(value, 0) + constraint.holds(node, seen)
    return found


def rows_with(keys: tuple[str, ...], nodes: NodeTable) -> Mask:
    """Return, by row, whether the node carries all these labels."""

    def make() -> Mask:
        have: Mask = nodes.live.array.copy()
        for key in keys:
            have &= nodes.labels(key).codes.array >= 0
        return have

    return nodes.cached(("rows with", keys), make)


def domain_rows(pod: Pod, constraint: SpreadConstraint, keys: tuple[str, ...], nodes: NodeTable) -> Domains:
    """Return where a constraint counts, over the nodes that carry all of `keys` (and its own)."""
    heeded = (pod.spec.node_selector, required_node_affinity(pod)) if constraint.heeds_affinity else None
    tolerated = pod.spec.tolerations if constraint.heeds_taints else None

    def make() -> Domains:
        labels = nodes.labels(constraint.topology_key)
        counted = rows_with(keys, nodes) & (labels.codes.array >= 0)
        if heeded is not None and (heeded[0] or heeded[1] is not None):
            counted = counted & node_affinity_mask(pod, nodes)
        if tolerated is not None:
            passes = [untolerated(taints, tolerated) is None for taints in nodes.taint_sets]
            counted = counted & np.array(passes)[nodes.taints.array]
        size = len(labels.values)
        exists = np.bincount(labels.codes.array[counted], minlength=size) > 0
        code = np.where(counted, labels.codes.array, size).astype(np.intp)
        return Domains(code, size, exists, int(exists.sum()))

    return nodes.cached(("domains", constraint.topology_key, keys, heeded, tolerated), make)


def touched(constraints: tuple[SpreadConstraint, ...]) -> tuple[str, ...]:
    """Return the topology keys of these constraints."""
    return tuple(constraint.topology_key for constraint in constraints)
