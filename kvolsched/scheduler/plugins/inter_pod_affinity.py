"""InterPodAffinity: which pods want to be near each other and which do not, required or preferred, asked both ways.

Mirrors `plugins/interpodaffinity` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Codes, Integers, Mask
from kvolsched.scheduler.columns.pod_counts import (
    AffinityTerm,
    PodMatcher,
    PodsPerRow,
    domain_mask,
    preferred_terms,
    required_affinity,
    required_anti_affinity,
)
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action, is_same_pod
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, Reason, Reject, Skip


@attrs.frozen
class InterPodAffinity:
    """Rejects nodes whose domain lacks a wanted pod, holds an unwanted one, or holds one that does not want this pod.

    Of the others it prefers those whose domains hold pods that this one would like to be near, or that would like it.

    Args:
        affinity, own, existing: the reasons, in the order in which they are looked at.
        general_reason: an extra reason before each of them (1.11 gave two).
        existing_first: whether the pods already there are asked first (1.11).
        hard_weight: what a required affinity of a pod already there weighs for a pod that meets it.
        ranks: whether preferences make a score.
    """

    name: ClassVar[str] = "InterPodAffinity"
    skip_without: ClassVar[tuple[str, ...]] = ("affinity", "has_pods_with_affinity")
    reads_other_nodes: ClassVar[bool] = True
    general_reason: Reason = Reason(0, "")
    affinity: Reason = Reason(1, "node(s) didn't match pod affinity rules")
    own: Reason = Reason(2, "node(s) didn't match pod anti-affinity rules", Code.UNSCHEDULABLE)
    existing: Reason = Reason(3, "node(s) didn't satisfy existing pods anti-affinity rules", Code.UNSCHEDULABLE)
    existing_first: bool = False
    hard_weight: int = 1
    ranks: bool = True

    @classmethod
    def of_the_design(cls) -> InterPodAffinity:
        """Return the words and the order of 1.11."""
        return cls(
            general_reason=Reason(0, "node(s) didn't match pod affinity/anti-affinity", Code.UNSCHEDULABLE),
            existing_first=True,
            ranks=False,
        )

    @property
    def events_to_register(self) -> tuple[QueueingHint, ...]:
        """Pods that are wanted or not, and nodes that make domains."""
        return (
            QueueingHint(
                "Pod",
                "a wanted pod comes or an unwanted one goes, or its own labels change",
                _concerns,
                Action.ADD | Action.DELETE | Action.POD_LABEL,
            ),
            QueueingHint(
                "Node",
                "a node appears or changes its domain",
                _moves,
                Action.ADD | Action.NODE_LABEL,
            ),
        )

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Nothing to do where neither the pod nor any pod on a node has required terms."""
        return None if required_affinity(pod) or required_anti_affinity(pod) or any(seen.pod_counts.anti_affinity_terms()) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Wanted pods are in the node's domain, unwanted ones are not, and no pod there objects to this one."""
        questions = [self._affinity, self._own, self._existing]
        if self.existing_first:
            questions = [self._existing, self._affinity, self._own]
        for question in questions:
            answer = question(pod, node, seen)
            if answer is not None:
                return answer
        return OK

    def _affinity(self, pod: Pod, node: Node, seen: Snapshot) -> Reject | None:
        terms = required_affinity(pod)
        labels = node.metadata.labels
        for term in terms:
            if term.topology_key not in labels:
                return self._no(self.affinity, term, "needs the label", f"{term.topology_key} on the node")
        wanted = [(other, there) for other, there in _others(seen) if _all_meet(terms, other, seen)]
        if terms and not any(term.topology_key in there for _, there in wanted for term in terms):
            # The first of its kind: nobody to be near to, and it would be near itself (S3's chicken and egg).
            return None if _all_meet(terms, pod, seen) else self._no(self.affinity, terms[0], "is met by", "no pod")
        for term in terms:
            value = labels[term.topology_key]
            if not any(there.get(term.topology_key) == value for _, there in wanted):
                return self._no(self.affinity, term, "is met by no pod in", f"{term.topology_key}={value}")
        return None

    def _own(self, pod: Pod, node: Node, seen: Snapshot) -> Reject | None:
        for term in required_anti_affinity(pod):
            value = node.metadata.labels.get(term.topology_key)
            for other, there in _others(seen):
                if value is not None and there.get(term.topology_key) == value and _meets(term, other, seen):
                    return self._no(self.own, term, "excludes", f"{_called(other)} in {term.topology_key}={value}")
        return None

    def _existing(self, pod: Pod, node: Node, seen: Snapshot) -> Reject | None:
        labels = seen.namespace_labels(pod.metadata.namespace)
        for other, there in _others(seen):
            for term in required_anti_affinity(other):
                value = node.metadata.labels.get(term.topology_key)
                if value is not None and there.get(term.topology_key) == value and term.meets(pod, labels):
                    return self._no(
                        self.existing, term, "carried by", f"{_called(other)} in {term.topology_key}={value}"
                    )
        return None

    def _no(self, reason: Reason, term: AffinityTerm, relation: str, found: str) -> Reject:
        texts = tuple(part.text for part in (self.general_reason, reason) if part.text)
        return Reject(texts, reason.status, (Evidence(str(term), relation, found),))

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same for all nodes, over counts per node that are gathered into domains."""
        steps: list[tuple[Reason, Mask | None]] = [
            (self.affinity, self._lacks_wanted(pod, at)),
            (self.own, self._has_unwanted(pod, at)),
        ]
        steps.insert(0 if self.existing_first else 2, (self.existing, self._is_unwanted(pod, at)))
        codes: Codes | None = None
        family = np.uint16(1 if self.general_reason.text else 0)
        for reason, mask in steps:
            if mask is not None:
                here = mask * (np.uint16(1 << reason.bit) | family)
                codes = here if codes is None else np.where(codes == 0, here, codes)
        return codes

    def _lacks_wanted(self, pod: Pod, at: ColumnContext) -> Mask | None:
        terms = required_affinity(pod)
        if not terms:
            return None
        matchers = _matchers(terms, at.seen)
        lacks = ~at.nodes.live.array
        somewhere = False
        missing = lacks
        for term in terms:
            codes = at.nodes.labels(term.topology_key).codes.array
            missing = missing | (codes < 0)
            if matchers is not None:
                near = domain_mask(at.nodes, term.topology_key, at.seen.count_matching(*matchers))
                somewhere = somewhere or bool(near.any())
                lacks = lacks | ~near
        if not somewhere:
            return missing if _all_meet(terms, pod, at.seen) else np.ones(len(lacks), bool)
        rejected: Mask = lacks | missing
        return rejected

    def _has_unwanted(self, pod: Pod, at: ColumnContext) -> Mask | None:
        mask: Mask | None = None
        for term in required_anti_affinity(pod):
            matcher = term.matcher(at.seen.namespaces())
            if matcher is not None:
                here = domain_mask(at.nodes, term.topology_key, at.seen.count_matching(matcher))
                mask = here if mask is None else mask | here
        return mask

    def _is_unwanted(self, pod: Pod, at: ColumnContext) -> Mask | None:
        mask: Mask | None = None
        labels = at.seen.namespace_labels(pod.metadata.namespace)
        for term, counts in at.seen.pod_counts.anti_affinity_terms():
            if term.meets(pod, labels):
                here = domain_mask(at.nodes, term.topology_key, counts)
                mask = here if mask is None else mask | here
        return mask


    # --- what is preferred ------------------------------------------------------------------------------------------

    def score(self, pod: Pod, at: ColumnContext) -> Integers | None:
        """Σ weight over what this pod would like of pods in the node's domain, and what they would like of it."""
        if not self.ranks:
            return None
        total: Integers | None = None
        for term, weight, counts in self._liked(pod, at):
            labels = at.nodes.labels(term.topology_key)
            codes, size = labels.codes.array, len(labels.values)
            if total is None and not (counts[codes >= 0] > 0).any():
                continue  # nobody is met: if that goes for every term, there is nothing to rank by
            held = np.bincount(np.where(codes < 0, size, codes), counts, size + 1)
            held[size] = 0
            here: Integers = weight * held.astype(np.int64)[codes]
            total = here if total is None else total + here
        return total

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """The share of the way from the least to the most liked node; 0 for all if they are liked alike."""
        least, most = int(raw.min()), int(raw.max())
        if least == most:
            return np.zeros(len(raw), np.int64)
        return (100.0 * ((raw - least) / (most - least))).astype(np.int64)

    def _liked(self, pod: Pod, at: ColumnContext) -> Iterator[tuple[AffinityTerm, int, PodsPerRow]]:
        """Yield each term that speaks for or against a node: with its weight, and by row how many pods it counts."""
        for wish in preferred_terms(pod):
            matcher = wish.term.matcher(at.seen.namespaces()) if wish.weight is not None else None
            if matcher is not None and wish.weight is not None:
                yield wish.term, wish.weight, at.seen.count_matching(matcher)
        labels = at.seen.namespace_labels(pod.metadata.namespace)
        for wish, counts in at.seen.pod_counts.preferred_terms():
            weight = self.hard_weight if wish.weight is None else wish.weight
            if wish.term.meets(pod, labels) and (wish.weight is not None or weight):
                yield wish.term, weight, counts


def _others(seen: Snapshot) -> list[tuple[Pod, dict[str, str]]]:
    """Return every pod on a known node with that node's labels."""
    return [(pod, node.metadata.labels) for node in seen.all_nodes() for pod in seen.pods_on(node.metadata.name)]


def _meets(term: AffinityTerm, pod: Pod, seen: Snapshot) -> bool:
    """Say whether an own term means a pod: a namespace selector chooses among the namespaces that were seen."""
    matcher = term.matcher(seen.namespaces())
    return matcher is not None and matcher.matches(pod)


def _all_meet(terms: tuple[AffinityTerm, ...], pod: Pod, seen: Snapshot) -> bool:
    return all(_meets(term, pod, seen) for term in terms)


def _matchers(terms: tuple[AffinityTerm, ...], seen: Snapshot) -> tuple[PodMatcher, ...] | None:
    """Return what a pod must be to meet every term, or None if no pod can."""
    found = [term.matcher(seen.namespaces()) for term in terms]
    matchers = tuple(matcher for matcher in found if matcher is not None)
    return matchers if len(matchers) == len(found) else None


def _called(pod: Pod) -> str:
    return f"pod {pod.metadata.namespace}/{pod.metadata.name}"


def _concerns(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Whether all own terms speak of a pod that comes or goes; or its terms of this one, which then goes unopposed."""
    if is_same_pod(pod, new):
        return True
    wanted, unwanted = (
        [_all_speak_of(terms, other) for other in (old, new)] for terms in (required_affinity(pod), required_anti_affinity(pod))
    )
    if new is None and old is not None and any(_speaks_of(term, pod) for term in required_anti_affinity(old)):
        return True
    return wanted == [False, True] or unwanted == [True, False]


def _all_speak_of(terms: tuple[AffinityTerm, ...], pod: Pod | None) -> bool:
    return pod is not None and bool(terms) and all(_speaks_of(term, pod) for term in terms)


def _speaks_of(term: AffinityTerm, pod: Pod) -> bool:
    """Whether a term may mean a pod; of a namespace that it chooses by labels nothing is known here."""
    selector = term.label_selector
    there = pod.metadata.namespace in term.namespaces or term.namespace_selector is not None
    return there and selector is not None and selector.matches(pod.metadata.labels)


def _moves(pod: Pod, old: Node | None, new: Node) -> bool:
    """Whether a node has come with a wanted domain, or without unwanted pods, or has changed its domain."""
    wanted, unwanted = ([term.topology_key for term in terms] for terms in (required_affinity(pod), required_anti_affinity(pod)))
    after = new.metadata.labels
    if old is None:
        return bool(unwanted) or not wanted or any(key in after for key in wanted)
    before = old.metadata.labels
    entered = any(key in after and after[key] != before.get(key) for key in wanted)
    left = any(key in before and before[key] != after.get(key) for key in unwanted)
    return entered or left
