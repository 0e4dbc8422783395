"""The plugin InterPodAffinity: its three checks of a node, its preference, and which events are worth another try.

Mirrors `plugins/interpodaffinity` (v1.36.2).
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api.kinds.directives import pod_term_alone, without_pod_terms
from ....api.kinds.meta import evolve
from ....api.kinds.node import Node, kind_of_domain
from ....api.kinds.pod import Affinity, Pod
from ....api.words import first_of
from ...columns import pod_counts
from ...columns.column import Codes, Integers, Mask
from ...columns.pod_counts import AffinityTerm, domain_mask, required_affinity, required_anti_affinity
from ...columns.snapshot import Snapshot
from ...framework.card import Card, Clause
from ...framework.evidence import Evidence, Predicate, Sides
from ...framework.extension_points import Action, ColumnContext, QueueingHint, RawScores, is_same_pod
from ...framework.verdict import OK, SKIP, Code, Ok, Reason, Reject, Skip
from .column import (
    meets,
    meets_all,
    preference_sums,
    rows_with_objecting_pods,
    rows_with_unwanted_pods,
    rows_without_wanted_pods,
)

MAX_CARRIERS = 3  # named pods whose anti-affinity keeps the pod out


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each required pod (anti-)affinity term, and each anti-affinity of placed pods that matches."""
    for number, term in enumerate(pod_counts.required_affinity(pod)):
        words, title = f"podAffinity: the node's domain has no {term}", f"No {term}, which the pod must be with"
        variant = evolve(pod, spec=pod_term_alone(pod.spec, "pod_affinity", number))
        holds = _outside(rows_without_wanted_pods(variant, columns), columns)
        yield Clause("affinity", term.topology_key, words, title, "", variant, number, holds)
    for number, term in enumerate(pod_counts.required_anti_affinity(pod)):
        words, title = f"podAntiAffinity: the node's domain has {term}", f"The pod avoids {term}"
        variant = evolve(pod, spec=pod_term_alone(pod.spec, "pod_anti_affinity", number))
        holds = _outside(rows_with_unwanted_pods(variant, columns), columns)
        yield Clause("anti-affinity", term.topology_key, words, title, "", variant, number, holds)
    variant = evolve(pod, spec=without_pod_terms(pod.spec))
    labels = columns.seen.namespace_labels(pod.metadata.namespace)
    terms = columns.seen.pod_counts.anti_affinity_terms()
    objecting = [(term, counts) for term, counts in terms if term.meets(pod, labels)]
    for number, (term, counts) in enumerate(sorted(objecting, key=lambda found: str(found[0]))):
        carriers = _carrier_names(term, counts.column.array, columns)
        words = f"podAntiAffinity of {carriers} forbids {term}, as this one is"
        elsewhere = ~pod_counts.domain_mask(columns.nodes, term.topology_key, counts)
        title, kind = f"{carriers}: no {term} allowed", f"Other pods allow no {term}"
        yield Clause("objection", term.topology_key, words, title, kind, variant, number, elsewhere, term)


def _outside(rejected: Mask | None, columns: ColumnContext) -> Mask:
    """Return the rows where a term of the pod holds: there the plugin rejects only what other pods object to."""
    return np.ones(len(columns.nodes.names), bool) if rejected is None else ~rejected


def _carrier_names(term: pod_counts.AffinityTerm, counts: pod_counts.PodsPerRow, columns: ColumnContext) -> str:
    """Return the first pods by name that carry a term against others, and how many more there are."""
    nodes = (columns.nodes.names[row] for row in np.flatnonzero(counts > 0).tolist())
    found = sorted(
        f"{pod.metadata.namespace}/{pod.metadata.name}"
        for node in nodes
        if node is not None
        for pod in columns.seen.pods_on(node)
        if term in pod_counts.required_anti_affinity(pod)
    )
    return first_of(found, MAX_CARRIERS)


def _unranked(pod: Pod) -> Iterator[str]:
    affinity = pod.spec.affinity or Affinity()
    for name, wishes in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if wishes is not None and wishes.preferred:
            yield f"{name}.preferredDuringSchedulingIgnoredDuringExecution"


CARD = Card("I", "spread", "pods", "pods it wants near, or far", clauses=_clauses, unranked=_unranked)


@attrs.frozen
class TermNeedsLabel(Evidence):
    """The node lacks the topology key of a required affinity term."""

    term: AffinityTerm

    def of_node(self) -> Predicate:
        return "has", f"no label {self.term.topology_key}"

    def __str__(self) -> str:
        return f"{self.term} needs the label {self.term.topology_key} on the node"

    def short(self) -> Sides:
        return Sides("no such label", about=self.term.topology_key)


@attrs.frozen
class NoPodWanted(Evidence):
    """No pod meets a required affinity term in a domain; with no domain, no pod anywhere does."""

    term: AffinityTerm
    domain: str | None = None

    def of_node(self) -> Predicate:
        verb, run = ("has", "") if self.domain is not None else ("fails:", " run")
        return verb, f"no {self.term.pods}{run}, which the pod needs {_place(self.term)}"

    def __str__(self) -> str:
        place = "anywhere" if self.domain is None else f"in {self.term.topology_key}={self.domain}"
        return f"needs {self.term}: none {place}"

    def short(self) -> Sides:
        return Sides("no such pod", about=self.domain or "")


@attrs.frozen
class PodBeside(Evidence):
    """A pod (`namespace/name`) in the node's domain meets an anti-affinity term, or is it that carries the term."""

    term: AffinityTerm
    pod: str
    domain: str
    carried: bool = False

    def of_node(self) -> Predicate:
        if self.carried:
            return "has", f"pod {self.pod}, which allows no {self.term.pods} {_place(self.term)}"
        return "has", f"{self.term.pods} already, which the pod avoids {_place(self.term)}"

    def __str__(self) -> str:
        where = f"pod {self.pod} in {self.term.topology_key}={self.domain}"
        return f"{self.term} carried by {where}" if self.carried else f"avoids {self.term.pods}: {where}"

    def short(self) -> Sides:
        return Sides(self.pod, about=f"in {self.domain}")


def _place(term: AffinityTerm) -> str:
    """Return the domain of which a term speaks: `on its host`, `in its zone`."""
    kind = kind_of_domain(term.topology_key)
    return f"{'on' if kind == 'host' else 'in'} its {kind}"


def lacks_wanted_pods(pod: Pod, node: Node, seen: Snapshot) -> Evidence | None:
    """Return the required affinity term that no pod in the node's domain meets; the first pod of its kind passes."""
    terms = required_affinity(pod)
    labels = node.metadata.labels
    for term in terms:
        if term.topology_key not in labels:
            return TermNeedsLabel(term)
    wanted = [(other, there) for other, there in _pods_with_labels_of_nodes(seen) if meets_all(terms, other, seen)]
    if terms and not any(term.topology_key in there for _, there in wanted for term in terms):
        # No pod to be near to: allowed if the pod meets its own terms (S3's chicken and egg).
        return None if meets_all(terms, pod, seen) else NoPodWanted(terms[0])
    for term in terms:
        value = labels[term.topology_key]
        if not any(there.get(term.topology_key) == value for _, there in wanted):
            return NoPodWanted(term, value)
    return None


def holds_unwanted_pods(pod: Pod, node: Node, seen: Snapshot) -> Evidence | None:
    """Return the required anti-affinity term that a pod in the node's domain meets."""
    for term in required_anti_affinity(pod):
        value = node.metadata.labels.get(term.topology_key)
        if value is None:
            continue
        domain = (each for each in seen.all_nodes() if each.metadata.labels.get(term.topology_key) == value)
        for other in (pod for each in domain for pod in seen.pods_on(each.metadata.name)):
            if meets(term, other, seen):
                return PodBeside(term, _name(other), value)
    return None


def objections(pod: Pod, node: Node, seen: Snapshot) -> Iterator[PodBeside]:
    """Yield each required anti-affinity term of a pod in the node's domain that this pod meets."""
    labels = seen.namespace_labels(pod.metadata.namespace)
    for other, there in _pods_with_labels_of_nodes(seen):
        for term in required_anti_affinity(other):
            value = node.metadata.labels.get(term.topology_key)
            if value is not None and there.get(term.topology_key) == value and term.meets(pod, labels):
                yield PodBeside(term, _name(other), value, carried=True)


@attrs.frozen
class AffinityCheck:
    """One check: its reason, the evidence against one node, and the rejected nodes by row (None: none)."""

    reason: Reason
    evidence: Callable[[Pod, Node, Snapshot], Evidence | None]
    rejected_rows: Callable[[Pod, ColumnContext], Mask | None]


AFFINITY = AffinityCheck(Reason(1, "node(s) didn't match pod affinity rules"), lacks_wanted_pods,
                         rows_without_wanted_pods)
ANTI_AFFINITY = AffinityCheck(Reason(2, "node(s) didn't match pod anti-affinity rules", Code.UNSCHEDULABLE),
                              holds_unwanted_pods, rows_with_unwanted_pods)
EXISTING_ANTI_AFFINITY = AffinityCheck(
    Reason(3, "node(s) didn't satisfy existing pods anti-affinity rules", Code.UNSCHEDULABLE),
    lambda pod, node, seen: next(objections(pod, node, seen), None),
    rows_with_objecting_pods,
)


def _matching_pod_changed(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Say whether a pod came that all affinity terms match, or one went that an anti-affinity term speaks of."""
    if is_same_pod(pod, new):
        return True
    affinity, anti_affinity = (
        [other is not None and bool(terms) and all(_may_match(term, other) for term in terms) for other in (old, new)]
        for terms in (required_affinity(pod), required_anti_affinity(pod))
    )
    if new is None and old is not None and any(_may_match(term, pod) for term in required_anti_affinity(old)):
        return True
    return affinity == [False, True] or anti_affinity == [True, False]


def _may_match(term: AffinityTerm, pod: Pod) -> bool:
    """Say whether a term may match a pod; hints do not know the labels of namespaces."""
    selector = term.label_selector
    in_namespace = pod.metadata.namespace in term.namespaces or term.namespace_selector is not None
    return in_namespace and selector is not None and selector.matches(pod.metadata.labels)


def _domain_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Say whether a node came with a wanted domain, or without unwanted pods, or changed its domain."""
    affinity, anti_affinity = (
        [term.topology_key for term in terms] for terms in (required_affinity(pod), required_anti_affinity(pod))
    )
    after = new.metadata.labels
    if old is None:
        return bool(anti_affinity) or not affinity or any(key in after for key in affinity)
    before = old.metadata.labels
    entered = any(key in after and after[key] != before.get(key) for key in affinity)
    left = any(key in before and before[key] != after.get(key) for key in anti_affinity)
    return entered or left


@attrs.frozen
class InterPodAffinity:
    """Rejects nodes whose domain lacks a wanted pod, holds an unwanted one, or holds one that does not want this pod.

    It prefers nodes whose domains hold pods that this pod prefers to be near, or that prefer to be near it.

    Args:
        checks: what is checked, in order; a node is rejected by the first.
        general_reason: a reason before that of each check (1.11 gave two).
    """

    name: ClassVar[str] = "InterPodAffinity"
    card: ClassVar[Card] = CARD
    skip_without: ClassVar[tuple[str, ...]] = ("affinity", "has_pods_with_affinity")
    reads_other_nodes: ClassVar[bool] = True
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a wanted pod comes or an unwanted one goes, or its own labels change",
                     _matching_pod_changed, Action.ADD | Action.DELETE | Action.POD_LABEL),
        QueueingHint("Node", "a node appears or changes its domain", _domain_changed, Action.ADD | Action.NODE_LABEL),
    )

    checks: tuple[AffinityCheck, ...] = (AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY)
    general_reason: Reason = Reason(0, "")

    def reasons(self, pod: Pod) -> tuple[Reason, ...]:
        """Return the reasons by bit."""
        return (self.general_reason, *sorted((check.reason for check in self.checks), key=lambda reason: reason.bit))

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Skip if the pod has no required term, and none of a pod on a node with such a label is against it."""
        if required_affinity(pod) or required_anti_affinity(pod):
            return None
        labels = seen.namespace_labels(pod.metadata.namespace)
        against = any(
            term.meets(pod, labels) and domain_mask(seen.nodes, term.topology_key, carriers).any()
            for term, carriers in seen.pod_counts.anti_affinity_terms()
        )
        return None if against else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node if one of the checks finds evidence against it."""
        for check in self.checks:
            evidence = check.evidence(pod, node, seen)
            if evidence is not None:
                texts = tuple(part.text for part in (self.general_reason, check.reason) if part.text)
                return Reject(texts, check.reason.status, (evidence,))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once."""
        codes: Codes | None = None
        family = np.uint16(1 if self.general_reason.text else 0)
        for check in self.checks:
            mask = check.rejected_rows(pod, columns)
            if mask is not None:
                rejected = mask * (np.uint16(1 << check.reason.bit) | family)
                codes = rejected if codes is None else np.where(codes == 0, rejected, codes)
        return codes

    def score(self, pod: Pod, columns: ColumnContext) -> RawScores:
        """Score by the weights of preferred terms, the pod's own and those of pods on nodes."""
        return preference_sums(pod, columns)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 · (raw − least) / (most − least); 0 for all if they are equal."""
        least, most = int(raw[raw.argmin()]), int(raw[raw.argmax()])
        if least == most:
            return np.zeros(len(raw), np.int64)
        return (100.0 * ((raw - least) / (most - least))).astype(np.int64)


INTER_POD_AFFINITY_1_11 = InterPodAffinity(
    checks=(EXISTING_ANTI_AFFINITY, AFFINITY, ANTI_AFFINITY),
    general_reason=Reason(0, "node(s) didn't match pod affinity/anti-affinity", Code.UNSCHEDULABLE),
)


def _pods_with_labels_of_nodes(seen: Snapshot) -> list[tuple[Pod, dict[str, str]]]:
    """Return every pod on a known node with that node's labels."""
    return [(pod, node.metadata.labels) for node in seen.all_nodes() for pod in seen.pods_on(node.metadata.name)]


def _name(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
