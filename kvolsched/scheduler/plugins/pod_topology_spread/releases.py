"""PodTopologySpread as S3 specifies it and as Kubernetes 1.16 and 1.18 shipped it: how pods are counted and ranked.

Where S3 is silent it has the words of 1.16 and the counting of 1.18.
"""

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api.kinds.meta import Frozen
from ....api.kinds.pod import Pod, TopologySpreadConstraint
from ...columns.column import Integers
from ...columns.owner_selectors import Selectors
from ...framework.extension_points import ColumnContext
from ...framework.verdict import Code, Reason
from .column import domain_rows, matches_by_row, rows_with
from .constraint import Preparation, SpreadConstraint, prepare_constraint
from .rule import PodTopologySpread

NOT_RANKED = 2**31
"""The raw score of a node that lacks one of the topology keys; S3's raw scores may be negative."""


def prepare_as_1_18(stated: TopologySpreadConstraint, namespace: str, labels: Frozen,
                    selectors: Selectors) -> SpreadConstraint:
    """Ignore minDomains, policies and matchLabelKeys; count every pod if the selector is empty.

    Where no node is counted, every node passes.
    """
    known = attrs.evolve(stated, min_domains=None, node_affinity_policy=None, node_taints_policy=None,
                         match_label_keys=())
    constraint = prepare_constraint(known, namespace, labels, selectors)
    every = constraint.move_matcher
    matcher = None if every is None else attrs.evolve(every, terminating=False)
    return attrs.evolve(constraint, stated=stated, matcher=matcher, skipped_below=1, known=known)


def prepare_as_1_16(stated: TopologySpreadConstraint, namespace: str, labels: Frozen,
                    selectors: Selectors) -> SpreadConstraint:
    """Prepare as 1.18, but count terminating pods too."""
    constraint = prepare_as_1_18(stated, namespace, labels, selectors)
    return attrs.evolve(constraint, matcher=constraint.move_matcher)


def prepare_soft_as_1_16(stated: TopologySpreadConstraint, namespace: str, labels: Frozen,
                         selectors: Selectors) -> SpreadConstraint:
    """Prepare as 1.16, but count the pods of every namespace."""
    constraint = prepare_as_1_16(stated, namespace, labels, selectors)
    every = constraint.matcher
    return attrs.evolve(constraint, matcher=None if every is None else attrs.evolve(every, namespaces=None))


@attrs.frozen
class PseudoCode:
    """S3's pseudo code: matching − minimum < maxSkew for every pod, as if each matched its own selector.

    Args:
        prepare: how the constraint is read otherwise.
    """

    prepare: Preparation

    def __call__(self, stated: TopologySpreadConstraint, namespace: str, labels: Frozen,
                 selectors: Selectors = ()) -> SpreadConstraint:
        """Prepare a constraint, and count the pod itself whether or not it matches."""
        return attrs.evolve(self.prepare(stated, namespace, labels, selectors), self_match=1)


@attrs.frozen
class SkewScore:
    """Ranks by S3's priority: Σ over constraints of (matching − least matching) − maxSkew, the lower the better."""

    formula: ClassVar[str] = (
        "raw = matching pods − least matching pods − maxSkew; score = 100 × (greatest − raw) ÷ (greatest − least)"
    )

    def raw(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], keys: tuple[str, ...],
            columns: ColumnContext) -> Integers:
        """Return the sums by row; the least is that of the nodes that passed the filters."""
        ranked = rows_with(keys, columns.nodes)
        passed = ranked if columns.candidates is None else ranked & columns.candidates
        total = np.zeros(len(ranked), np.int64)
        for constraint in constraints:
            matching = _matching(pod, constraint, keys, columns)
            total += matching - matching[passed].min(initial=matching.max()) - constraint.max_skew
        return np.where(ranked, total, NOT_RANKED)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 for the lowest value and 0 for the highest; 100 for all if they are equal, 0 if not ranked."""
        ranked = raw != NOT_RANKED
        if not ranked.any():
            return np.zeros(len(raw), np.int64)
        least, most = int(raw[ranked].min()), int(raw[ranked].max())
        if least == most:
            return np.where(ranked, 100, 0)
        scores: Integers = np.where(ranked, 100 * (most - raw) // (most - least), 0)
        return scores


@attrs.frozen
class ShareScore:
    """Ranks by the share of the counted pods that are in other domains.

    Args:
        max_points: the score of the emptiest node.
        not_ranked_points: the score of nodes that are not ranked where all others are equal.
    """

    formula: ClassVar[str] = (
        "raw = matching pods; score = all points × (sum − raw) ÷ (sum − least), sum over the nodes that fit"
    )
    max_points: int
    not_ranked_points: int = 0

    def raw(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], keys: tuple[str, ...],
            columns: ColumnContext) -> Integers:
        """Return by row how many pods are counted in the node's domains."""
        counts = sum(_matching(pod, constraint, keys, columns) for constraint in constraints)
        return np.where(rows_with(keys, columns.nodes), counts, NOT_RANKED)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return max_points · (total − raw) / (total − least), rounded down; max_points if that divides by 0."""
        ranked = raw != NOT_RANKED
        total = int(raw[ranked].sum())
        span = total - int(raw[ranked].min()) if ranked.any() else 0
        if not span:
            return np.where(ranked, self.max_points, self.not_ranked_points if ranked.any() else 0)
        scores: Integers = np.where(ranked, np.floor(self.max_points * ((total - raw) / span)), 0).astype(np.int64)
        return scores


def _matching(pod: Pod, constraint: SpreadConstraint, keys: tuple[str, ...], columns: ColumnContext) -> Integers:
    """Return by row how many pods a constraint counts in the node's domain."""
    by_domain = domain_rows(pod, constraint, keys, columns.nodes).sums(matches_by_row(constraint, columns.seen))
    codes = columns.nodes.labels(constraint.topology_key).codes.array
    by_row: Integers = np.append(by_domain, 0)[codes].astype(np.int64)
    return by_row


# S3's EvenPodsSpread.
EVEN_PODS_SPREAD = PodTopologySpread(
    no_label=Reason(1, "node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE),
    prepare_hard=prepare_as_1_18, prepare_soft=prepare_as_1_18,
    spread_score=SkewScore(), defaults=(), document_name="EvenPodsSpread",
)
EVEN_PODS_SPREAD_LITERALLY = attrs.evolve(EVEN_PODS_SPREAD, prepare_hard=PseudoCode(prepare_as_1_18))
EVEN_PODS_SPREAD_1_16 = attrs.evolve(EVEN_PODS_SPREAD, prepare_hard=prepare_as_1_16, prepare_soft=prepare_soft_as_1_16,
                                     spread_score=ShareScore(10))
EVEN_PODS_SPREAD_1_18 = attrs.evolve(EVEN_PODS_SPREAD, spread_score=ShareScore(100, not_ranked_points=100))
