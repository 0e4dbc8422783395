"""PodTopologySpread: no domain may get ahead of the emptiest by more than maxSkew, and emptier domains are preferred.

S3's words (ActualSkew = matching − minimum) are enforced after placement: matching + self − minimum <= maxSkew. The
options carry what Kubernetes 1.16/1.18, which implemented S3, did otherwise, and S3's literal pseudo code. Mirrors
`plugins/podtopologyspread` (v1.36.2); how pods are counted stands in `spreading`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod, TopologySpreadConstraint
from kvolsched.scheduler.columns.arrays import Codes, Integers
from kvolsched.scheduler.columns.owner_selectors import GROUPING_KINDS
from kvolsched.scheduler.columns.pod_counts import PodMatcher
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action, is_same_pod
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, Code, Evidence, Ok, Reason, Reject
from kvolsched.scheduler.spread_constraints import (
    HARD,
    HOSTNAME,
    SOFT,
    SYSTEM_DEFAULTS,
    CountingOptions,
    SpreadConstraint,
    domain_rows,
    pods_per_domain,
    prepare_constraints,
    rows_with,
    touched,
)

IGNORED = -1
"""The raw score of a node that lacks one of the keys; it ends as 0."""
UNRANKED = 2**31
"""The same among S3's values, which may be negative."""


@attrs.frozen
class PodTopologySpread:
    """Rejects nodes in domains that are ahead already; prefers nodes in domains that hold few.

    Args:
        too_skewed, no_label: the reasons.
        today, empty_counts_none, terminating: how pods are counted (`spreading.Counting`).
        nobody_counted_passes: where no node qualifies for counting every node passes (1.16, 1.18).
        literal: S3's pseudo code, matching − minimum < maxSkew, whether or not the pod counts itself.
        defaults: the constraints of pods that have none, over the pods of their services and their owner.
        by_difference: S3's priority: (matching − minimum over the nodes that passed) − maxSkew, the lower the better.
        by_share: the priority of 1.16 (10) and 1.18 (100), so many points at most, by the share of what matches.
        everywhere: the priority counts pods of every namespace (1.16).
        unranked_share: where all that are ranked are alike, the others get as much (1.18).
    """

    name: ClassVar[str] = "PodTopologySpread"
    skip_without: ClassVar[tuple[str, ...]] = ("topology_spread_constraints", "has_pod_selectors")
    reads_other_nodes: ClassVar[bool] = True
    too_skewed: Reason = Reason(0, "node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE)
    no_label: Reason = Reason(1, "node(s) didn't match pod topology spread constraints (missing required label)")
    today: bool = True
    empty_counts_none: bool = True
    terminating: bool = False
    nobody_counted_passes: bool = False
    literal: bool = False
    defaults: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULTS
    by_difference: bool = False
    by_share: int = 0
    everywhere: bool = False
    unranked_share: bool = False
    document_name: str = ""

    @classmethod
    def of_the_design(cls, *, literal: bool = False) -> PodTopologySpread:
        """Return S3's form, with the words of 1.16 and the counting of 1.18 where S3 is silent."""
        text = "node(s) didn't match pod topology spread constraints"
        return cls(
            no_label=Reason(1, text, Code.UNSCHEDULABLE),
            today=False,
            empty_counts_none=False,
            nobody_counted_passes=True,
            literal=literal,
            defaults=(),
            by_difference=True,
            document_name="EvenPodsSpread",
        )

    @property
    def watches(self) -> frozenset[str]:
        """The kinds read beside those that every scheduler reads."""
        return GROUPING_KINDS if self.defaults else frozenset()

    @property
    def events_to_register(self) -> tuple[QueueingHint, ...]:
        """Pods that count, and nodes that make or unmake domains."""
        return (
            QueueingHint(
                "Pod",
                "a pod that counts comes, goes or changes its labels",
                _counts,
                Action.ADD | Action.DELETE | Action.POD_LABEL | Action.POD_TOLERATION,
            ),
            QueueingHint(
                "Node",
                "a node with the topology keys comes, goes or changes",
                _moves,
                Action.ADD | Action.DELETE | Action.NODE_LABEL | Action.NODE_TAINT,
            ),
        )

    # --- what must hold ---------------------------------------------------------------------------------------------

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """For each hard constraint in turn: the node has the key, and its domain would not be too far ahead."""
        constraints = self.constraints(pod)
        for constraint in constraints:
            counted = pods_per_domain(pod, constraint, constraints, seen)
            if not counted and self.nobody_counted_passes:
                continue
            value = node.metadata.labels.get(constraint.topology_key)
            if value is None:
                return self.no_label.reject(
                    Evidence(
                        f"topologyKey {constraint.topology_key}",
                        "not among the labels of",
                        f"node {node.metadata.name}",
                    )
                )
            fewest = min(counted.values(), default=0) if len(counted) >= constraint.least_domains else 0
            itself = 1 if self.literal else constraint.itself
            skew = counted.get(value, 0) + itself - fewest
            if skew > constraint.max_skew:
                here = f"{counted.get(value, 0)} in {constraint.topology_key}={value}"
                words = f"{here} + {itself} itself − minimum {fewest} = {skew}"
                return self.too_skewed.reject(
                    Evidence(words, ">", f"maxSkew {constraint.max_skew}", (skew, constraint.max_skew))
                )
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same for all nodes: each domain is judged once, nodes without the key read the last slot."""
        constraints = self.constraints(pod)
        if not constraints:
            return None
        nodes, keys = at.nodes, touched(constraints)
        codes: Codes | None = None
        for constraint in constraints:
            where = domain_rows(pod, constraint, keys, nodes)
            if self.nobody_counted_passes and not where.number:
                continue
            matching = where.sums(constraint.counts(at.seen))
            enough = where.number >= max(constraint.least_domains, 1)
            fewest = matching[where.exists].min() if enough else 0
            skew = matching + (1 if self.literal else constraint.itself) - fewest
            verdict = np.append(self.too_skewed.where(skew > constraint.max_skew), np.uint16(1 << self.no_label.bit))
            here = verdict[nodes.labels(constraint.topology_key).codes.array]
            codes = here if codes is None else np.where(codes == 0, here, codes)
        return codes

    def constraints(self, pod: Pod) -> tuple[SpreadConstraint, ...]:
        """Return the pod's hard constraints, made ready."""
        spoken = pod.spec.topology_spread_constraints
        if not spoken:
            return ()
        hard = tuple(one for one in spoken if one.when_unsatisfiable in (HARD, ""))
        return self._ready(pod, hard) if hard else ()

    # --- what is preferred ------------------------------------------------------------------------------------------

    def score(self, pod: Pod, at: ColumnContext) -> Integers | None:
        """Σ over soft constraints of count · ln(domains + 2) + maxSkew − 1, rounded half up: the fewer the better.

        A host counts its own pods, any other domain those of all its counted nodes. Domains are those of the nodes that
        passed the filters; a node that lacks a key of the pod's own constraints is not ranked.
        """
        constraints = self.soft(pod, at.seen)
        if not constraints:
            return None
        if self.by_share or self.by_difference:
            return _differences(pod, constraints, at, shares=bool(self.by_share))
        nodes = at.nodes
        keys = touched(constraints) if pod.spec.topology_spread_constraints else ()
        ranked = rows_with(keys, nodes)
        passed = ranked if at.candidates is None else ranked & at.candidates
        total: NDArray[Any] | None = None
        for constraint in constraints:
            codes = nodes.labels(constraint.topology_key).codes.array
            counts = constraint.counts(at.seen)
            flat = constraint.max_skew - 1
            if constraint.topology_key == HOSTNAME:
                weight = np.log(int(np.count_nonzero(passed)) + 2)
                share: NDArray[Any] = np.full(len(codes), float(flat)) if counts is None else counts * weight + flat
                if not keys:
                    share = np.where(codes >= 0, share, 0)
            else:  # each domain once; nodes without the key read the last slot
                where = domain_rows(pod, constraint, keys, nodes)
                weight = np.log(_distinct(codes, passed, where.size) + 2)
                table = np.append(where.sums(counts) * weight + flat, 0)
                share = (_rounded(table) if len(constraints) == 1 else table)[codes]
            total = share if total is None else total + share
        assert total is not None
        raw = total if total.dtype == np.int64 else _rounded(total)
        return raw if not keys or ranked.all() else np.where(ranked, raw, IGNORED)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Emptiest first: 100 · (most + least − raw) / most, rounded down; 100 for all if there is nothing to count."""
        if self.by_share:
            return _shares(raw, self.by_share, unranked_share=self.unranked_share)
        if self.by_difference:
            return _lowest_first(raw)
        least = int(raw.min())
        if least == IGNORED:
            ranked = raw != IGNORED
            partly = np.zeros(len(raw), np.int64)
            if ranked.any():
                partly[ranked] = self.normalise(raw[ranked])
            return partly
        most = int(raw.max())
        if not most:
            return np.full(len(raw), 100)
        if most - least > len(raw):
            shares: Integers = 100 * (most + least - raw) // most
            return shares
        score_of = 100 * (most + least - np.arange(least, most + 1)) // most  # each number once
        scores: Integers = score_of[raw - least]
        return scores

    def soft(self, pod: Pod, seen: Snapshot) -> tuple[SpreadConstraint, ...]:
        """Return the pod's soft constraints, made ready, or else the defaults, if anything groups it with others."""
        spoken = pod.spec.topology_spread_constraints
        if spoken:
            soft = tuple(one for one in spoken if one.when_unsatisfiable == SOFT)
            return self._ready(pod, soft, everywhere=self.everywhere) if soft else ()
        selectors = seen.owner_selectors.selectors(pod) if self.defaults else ()
        if not selectors:
            return ()
        defaults = tuple(one for one in self.defaults if one.when_unsatisfiable == SOFT)
        return prepare_constraints(self._counting, defaults, pod.metadata.namespace, pod.metadata.labels, selectors)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _ready(
        self, pod: Pod, constraints: tuple[TopologySpreadConstraint, ...], *, everywhere: bool = False
    ) -> tuple[SpreadConstraint, ...]:
        counting = attrs.evolve(self._counting, everywhere=True) if everywhere else self._counting
        return prepare_constraints(counting, constraints, pod.metadata.namespace, pod.metadata.labels)

    @property
    def _counting(self) -> CountingOptions:
        return CountingOptions(self.today, self.empty_counts_none, self.terminating)


def _differences(pod: Pod, constraints: tuple[SpreadConstraint, ...], at: ColumnContext, *, shares: bool = False) -> Integers:
    """Return S3's value by row: Σ of what matches in the node's domain less the least of them, less maxSkew.

    For `shares` nothing is taken off.
    """
    nodes, keys = at.nodes, touched(constraints)
    ranked = rows_with(keys, nodes)
    passed = ranked if at.candidates is None else ranked & at.candidates
    total = np.zeros(len(ranked), np.int64)
    for constraint in constraints:
        matching = np.append(domain_rows(pod, constraint, keys, nodes).sums(constraint.counts(at.seen)), 0)
        here = matching[nodes.labels(constraint.topology_key).codes.array].astype(np.int64)
        total += here
        if not shares:
            total -= (here[passed].min() if passed.any() else 0) + constraint.max_skew
    return np.where(ranked, total, UNRANKED)


def _shares(raw: NDArray[Any], most: int, *, unranked_share: bool) -> Integers:
    """Return most · (total − here) / (total − least), rounded down; `most` for all if nothing is to be shared."""
    ranked = raw != UNRANKED
    total = int(raw[ranked].sum())
    reach = total - int(raw[ranked].min()) if ranked.any() else 0
    if not reach:
        return np.where(ranked | (unranked_share and bool(ranked.any())), most, 0)
    shares: Integers = np.where(ranked, np.floor(most * ((total - raw) / reach)), 0).astype(np.int64)
    return shares


def _lowest_first(raw: NDArray[Any]) -> Integers:
    """Return 100 for the lowest value and 0 for the highest; 100 for all if they are equal, 0 for what is unranked."""
    ranked = raw != UNRANKED
    if not ranked.any():
        return np.zeros(len(raw), np.int64)
    least, most = int(raw[ranked].min()), int(raw[ranked].max())
    if least == most:
        return np.where(ranked, 100, 0)
    scores: Integers = np.where(ranked, 100 * (most - raw) // (most - least), 0)
    return scores


def _distinct(codes: NDArray[np.int32], passed: NDArray[np.bool_], size: int) -> int:
    """Return how many domains the nodes that passed are in; those without the label are one together."""
    held = np.zeros(size + 1, bool)
    held[codes if passed.all() else codes[passed]] = True
    return int(np.count_nonzero(held))


def _rounded(numbers: NDArray[Any]) -> Integers:
    """Return numbers, none below 0, rounded to whole ones, halves up."""
    whole = np.floor(numbers)
    rounded: Integers = (whole + (numbers - whole >= 0.5)).astype(np.int64)
    return rounded


def _hard(pod: Pod) -> tuple[SpreadConstraint, ...]:
    return PodTopologySpread().constraints(pod)


def _counts(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Whether a pod that some constraint counts has come, gone or changed sides, or this one tolerates more nodes."""
    constraints = _hard(pod)
    if is_same_pod(pod, new) and old is not None and new is not None and old.spec.tolerations != new.spec.tolerations:
        return any(constraint.heeds_taints for constraint in constraints)
    matchers = [constraint.matcher for constraint in constraints if constraint.matcher is not None]
    return any(_is_met(matcher, old) != _is_met(matcher, new) for matcher in matchers)


def _is_met(matcher: PodMatcher, pod: Pod | None) -> bool:
    """Whether a constraint speaks of a pod, also of one being deleted: it had ceased to count, and now it is gone."""
    return pod is not None and attrs.evolve(matcher, terminating=True).matches(pod)


def _moves(pod: Pod, old: Node | None, new: Node | None) -> bool:
    """Whether a node with all topology keys has come, gone, or changed what the keys or policies read."""
    keys = [constraint.topology_key for constraint in _hard(pod)]
    has = [node is not None and all(key in node.metadata.labels for key in keys) for node in (old, new)]
    if old is None or new is None or has[0] != has[1]:
        return any(has)
    moved = any(old.metadata.labels.get(key) != new.metadata.labels.get(key) for key in keys)
    return has[1] and (moved or old.spec.taints != new.spec.taints)
