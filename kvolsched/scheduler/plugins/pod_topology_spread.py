"""PodTopologySpread, the hard rule: after placement no domain may be ahead of the emptiest by more than maxSkew.

S3's words (ActualSkew = matching − minimum) are enforced after placement: matching + self − minimum <= maxSkew. The
options carry what Kubernetes 1.16/1.18, which implemented S3, did otherwise, and S3's literal pseudo code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.meta import Frozen
from kvolsched.api.node import Node
from kvolsched.api.pod import Pod, TopologySpreadConstraint
from kvolsched.api.selector import LabelSelector, untolerated
from kvolsched.scheduler.extension import At, Wake
from kvolsched.scheduler.matching import admitted, admitted_rows
from kvolsched.scheduler.snapshot import Snapshot
from kvolsched.scheduler.tallies import Matcher
from kvolsched.scheduler.verdict import OK, Code, Codes, Evidence, Mask, Ok, Reason, Reject


@attrs.frozen
class Constraint:
    """One hard constraint made ready for a pod: `matcher` None counts no pod, `itself` is 1 if the pod counts."""

    topology_key: str
    max_skew: int
    matcher: Matcher | None
    itself: int
    least_domains: int
    heeds_affinity: bool
    heeds_taints: bool


@attrs.frozen
class PodTopologySpread:
    """Rejects nodes in domains that are ahead already.

    Args:
        too_skewed, no_label: the reasons.
        today: minDomains, inclusion policies and matchLabelKeys are heeded (v1.36.2; S3 has none of them).
        empty_counts_none: the empty selector counts no pod that exists (v1.36.2; 1.16 and 1.18: every pod).
        terminating: pods being deleted are counted (1.16; not 1.18 and later).
        nobody_counted_passes: where no node qualifies for counting every node passes (1.16, 1.18).
        literal: S3's pseudo code, matching − minimum < maxSkew, whether or not the pod counts itself.
    """

    name: ClassVar[str] = "PodTopologySpread"
    too_skewed: Reason = Reason(0, "node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE)
    no_label: Reason = Reason(1, "node(s) didn't match pod topology spread constraints (missing required label)")
    today: bool = True
    empty_counts_none: bool = True
    terminating: bool = False
    nobody_counted_passes: bool = False
    literal: bool = False
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
            document_name="EvenPodsSpread",
        )

    @property
    def wakes(self) -> tuple[Wake, ...]:
        """Pods that count, and nodes that make or unmake domains."""
        return (
            Wake("Pod", "a pod that counts comes, goes or changes its labels", _counts),
            Wake("Node", "a node with the topology keys comes, goes or changes", _moves),
        )

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """For each hard constraint in turn: the node has the key, and its domain would not be too far ahead."""
        constraints = self.constraints(pod)
        for constraint in constraints:
            domains = _domains(pod, constraint, constraints, seen)
            if not domains and self.nobody_counted_passes:
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
            fewest = min(domains.values(), default=0) if len(domains) >= constraint.least_domains else 0
            itself = 1 if self.literal else constraint.itself
            skew = domains.get(value, 0) + itself - fewest
            if skew > constraint.max_skew:
                here = f"{domains.get(value, 0)} in {constraint.topology_key}={value}"
                words = f"{here} + {itself} itself − minimum {fewest} = {skew}"
                return self.too_skewed.reject(
                    Evidence(words, ">", f"maxSkew {constraint.max_skew}", (skew, constraint.max_skew))
                )
        return OK

    def column(self, pod: Pod, at: At) -> Codes | None:
        """The same for all nodes: each domain is judged once, nodes without the key read the last slot."""
        constraints = self.constraints(pod)
        if not constraints:
            return None
        nodes = at.nodes
        have_all: Mask = nodes.live.now
        for constraint in constraints:
            have_all = have_all & (nodes.labels(constraint.topology_key).codes.now >= 0)
        codes: Codes | None = None
        for constraint in constraints:
            counted = have_all
            if constraint.heeds_affinity and (pod.spec.node_selector or pod.spec.affinity):
                counted = counted & admitted_rows(pod, nodes)
            if constraint.heeds_taints:
                counted = counted & _untainted(pod, at)
            labels = nodes.labels(constraint.topology_key)
            domain = labels.codes.now[counted]
            size = len(labels.values)
            exists = np.bincount(domain, minlength=size) > 0
            if self.nobody_counted_passes and not len(domain):
                continue
            matching: NDArray[Any] = np.zeros(size)
            if constraint.matcher is not None:
                matching = np.bincount(domain, at.seen.matched(constraint.matcher)[counted], size)
            enough = len(domain) > 0 and int(exists.sum()) >= constraint.least_domains
            fewest = matching[exists].min() if enough else 0
            skew = matching + (1 if self.literal else constraint.itself) - fewest
            verdict = np.append(self.too_skewed.where(skew > constraint.max_skew), np.uint16(1 << self.no_label.bit))
            here = verdict[labels.codes.now]
            codes = here if codes is None else np.where(codes == 0, here, codes)
        return codes

    def constraints(self, pod: Pod) -> tuple[Constraint, ...]:
        """Return the pod's hard constraints, made ready."""
        if not pod.spec.topology_spread_constraints:
            return ()
        return _ready(self, pod.spec.topology_spread_constraints, pod.metadata.namespace, pod.metadata.labels)


@lru_cache(maxsize=1 << 12)
def _ready(
    plugin: PodTopologySpread,
    constraints: tuple[TopologySpreadConstraint, ...],
    namespace: str,
    labels: Frozen,
) -> tuple[Constraint, ...]:
    ready = []
    for constraint in constraints:
        if constraint.when_unsatisfiable not in ("DoNotSchedule", ""):
            continue
        keys = constraint.match_label_keys if plugin.today else ()
        extra = Frozen({key: labels[key] for key in keys if key in labels})
        selectors = () if constraint.label_selector is None else (constraint.label_selector,)
        if extra:
            selectors = (*selectors, LabelSelector(match_labels=extra))
        empty = bool(selectors) and not any(one.match_labels or one.match_expressions for one in selectors)
        counts_none = not selectors or (empty and plugin.empty_counts_none)
        ready.append(
            Constraint(
                constraint.topology_key,
                constraint.max_skew or 1,
                None if counts_none else Matcher(frozenset((namespace,)), selectors, plugin.terminating),
                int(bool(selectors) and all(selector.matches(labels) for selector in selectors)),
                (constraint.min_domains or 1) if plugin.today else 1,
                constraint.node_affinity_policy != "Ignore" if plugin.today else True,
                constraint.node_taints_policy == "Honor" if plugin.today else False,
            )
        )
    return tuple(ready)


def _domains(
    pod: Pod, constraint: Constraint, constraints: tuple[Constraint, ...], seen: Snapshot
) -> Mapping[str, int]:
    """Return how many pods count in each domain, over the nodes that have all keys and pass the policies."""
    domains: dict[str, int] = {}
    for node in seen.all_nodes():
        labels = node.metadata.labels
        if not all(other.topology_key in labels for other in constraints):
            continue
        if constraint.heeds_affinity and not admitted(pod, node):
            continue
        if constraint.heeds_taints and untolerated(node.spec.taints, pod.spec.tolerations) is not None:
            continue
        matcher = constraint.matcher
        matching = 0 if matcher is None else sum(map(matcher.matches, seen.pods_on(node.metadata.name)))
        value = labels[constraint.topology_key]
        domains[value] = domains.get(value, 0) + matching
    return domains


def _untainted(pod: Pod, at: At) -> Mask:
    passes = [untolerated(taints, pod.spec.tolerations) is None for taints in at.nodes.taint_sets]
    untainted: Mask = np.array(passes)[at.nodes.taints.now]
    return untainted


def _hard(pod: Pod) -> tuple[Constraint, ...]:
    return PodTopologySpread().constraints(pod)


def _counts(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Whether a bound pod that some constraint counts has come, gone or changed its labels."""
    for constraint in _hard(pod):
        matcher = constraint.matcher
        before = old is not None and bool(old.spec.node_name) and matcher is not None and matcher.matches(old)
        after = new is not None and bool(new.spec.node_name) and matcher is not None and matcher.matches(new)
        if before != after:
            return True
    return False


def _moves(pod: Pod, old: Node | None, new: Node | None) -> bool:
    """Whether a node with all topology keys has come, gone, or changed what the keys or policies read."""
    keys = [constraint.topology_key for constraint in _hard(pod)]
    has = [node is not None and all(key in node.metadata.labels for key in keys) for node in (old, new)]
    if old is None or new is None or has[0] != has[1]:
        return any(has)
    moved = any(old.metadata.labels.get(key) != new.metadata.labels.get(key) for key in keys)
    return has[1] and (moved or old.spec.taints != new.spec.taints)
