"""PodTopologySpread's filter over all nodes at once; a test holds it equal to the rule."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api.kinds.pod import Pod
from ....api.kinds.selector import find_untolerated_taint
from ...columns.column import Codes, Integers, Mask, sum_by_group
from ...columns.node_table import NodeTable
from ...columns.snapshot import Snapshot
from ...framework.extension_points import ColumnContext
from ...framework.verdict import Reason
from .constraint import SpreadConstraint, topology_keys


def reject_rows(pod: Pod, constraints: tuple[SpreadConstraint, ...], columns: ColumnContext, too_skewed: Reason,
                no_label: Reason) -> Codes | None:
    """Return, by row, the code of the first constraint's reason that rejects the node; None if none rejects any.

    Each domain is judged once; nodes without the topology key read the last slot.
    """
    nodes, keys = columns.nodes, topology_keys(constraints)
    codes: Codes | None = None
    for constraint in constraints:
        domains = domain_rows(pod, constraint, keys, nodes)
        if domains.number < constraint.skipped_below:
            continue
        match_num = match_nums(constraint, domains, columns.seen)
        has_min_domains = domains.number >= constraint.min_domains
        min_match = match_num[domains.exists].min() if has_min_domains else 0
        skewed = match_num > constraint.max_skew - constraint.self_match + min_match
        if not domains.lacking and not skewed.any():
            by_row = nodes.no_codes()
        else:
            by_domain = np.full(domains.size + 1, 1 << no_label.bit, np.uint16)
            by_domain[:-1] = too_skewed.where(skewed)
            by_row = by_domain.take(domains.label)
        codes = by_row if codes is None or codes is nodes.no_codes() else np.where(codes == 0, by_row, codes)
    return codes


@attrs.frozen(eq=False)
class Domains:
    """The domains of a constraint's counted nodes. Not to be confused with the widget of all domains.

    Args:
        code: by row, the code of the node's domain; `size` if the node is not counted.
        label: by row, the code of the node's domain, counted or not; `size` if the node lacks the topology key.
        size: how many values the topology key has.
        exists: which codes have a counted node.
        number: how many codes have one.
        lacking: whether some row lacks the topology key.
    """

    code: NDArray[np.intp]
    label: NDArray[np.intp]
    size: int
    exists: Mask
    number: int
    lacking: bool

    def sums(self, counts: NDArray[np.int32] | None) -> Integers:
        """Sum counts by row (None: all 0) up by domain."""
        if counts is None:
            return np.zeros(self.size, np.int64)
        return sum_by_group(counts, self.code, self.size)[: self.size]


def match_nums(constraint: SpreadConstraint, domains: Domains, seen: Snapshot) -> Integers:
    """Return how many pods a constraint counts in each domain; valid until the snapshot changes."""
    if constraint.matcher is None or (seen.removed_pods or seen.added_pods):
        return domains.sums(matches_by_row(constraint, seen))
    count = seen.pod_count(constraint.matcher)
    return count.sums(domains.code, domains.size, seen.nodes.version)[: domains.size]


def matches_by_row(constraint: SpreadConstraint, seen: Snapshot) -> NDArray[np.int32] | None:
    """Return, by row, how many pods a constraint counts; None if it counts none anywhere."""
    counts = None if constraint.matcher is None else seen.count_matching(constraint.matcher)
    moves = list(constraint.counted_by_moving(seen))
    if not moves:
        return counts
    moved = np.zeros(len(seen.nodes.names), np.int32)
    for pod, sign in moves:
        moved[seen.nodes.row_of[pod.spec.node_name]] += sign
    return moved if counts is None else counts + moved


def rows_with(keys: tuple[str, ...], nodes: NodeTable) -> Mask:
    """Return, by row, whether the node has all these labels."""

    def make() -> Mask:
        have: Mask = nodes.live.array.copy()
        for key in keys:
            have &= nodes.labels(key).codes.array >= 0
        return have

    return nodes.cached(("rows with", keys), make)


def domain_rows(pod: Pod, constraint: SpreadConstraint, keys: tuple[str, ...], nodes: NodeTable) -> Domains:
    """Return the domains of a constraint over the nodes that have its topology key and all of `keys`."""
    selected = (pod.spec.node_selector, pod.spec.required_node_affinity) if constraint.honors_node_affinity else None
    tolerated = pod.spec.tolerations if constraint.honors_node_taints else None

    def make() -> Domains:
        labels = nodes.labels(constraint.topology_key)
        counted = rows_with(keys, nodes) & (labels.codes.array >= 0)
        if selected is not None:
            counted = counted & nodes.selected_by(pod.spec)
        if tolerated is not None:
            passes = [find_untolerated_taint(taints, tolerated) is None for taints in nodes.taint_sets]
            counted = counted & np.array(passes)[nodes.taints.array]
        size = len(labels.values)
        exists = np.bincount(labels.codes.array[counted], minlength=size) > 0
        label = nodes.groups((constraint.topology_key,)).at
        code = np.where(counted, label, size)
        return Domains(code, label, size, exists, int(exists.sum()), bool((label == size).any()))

    return nodes.cached(("domains", constraint.topology_key, keys, selected, tolerated), make)
