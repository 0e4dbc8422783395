"""NodeAffinity: the pod's nodeSelector and required node affinity must match; preferred terms add to the score.

Mirrors `plugins/nodeaffinity` (v1.36.2).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.kinds.directives import first_unmet, selecting_only, selects_node
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod, PreferredSchedulingTerm
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm
from ..columns.column import Codes, Integers
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, RuleReads, SpreadPolicy
from ..framework.evidence import NO_LABEL, Evidence, Labels, Sides, labels_text, listed, node_text, values_text
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, PreFilterReject, PreFilterResult, Reason, Reject, Skip


def nodes_named_by(terms: NodeSelector) -> frozenset[str] | None:
    """Return the nodes that required terms name, or None if some term names none and so may match any node."""
    names: set[str] = set()
    for term in terms.node_selector_terms:
        named = _names(term)
        if named is None:
            return None
        names |= named
    return frozenset(names)


def any_node(_terms: NodeSelector) -> None:
    """Restrict no pass before filtering: 1.11 does not read the names in terms."""


def unreadable_preferences(terms: Sequence[PreferredSchedulingTerm]) -> list[str]:
    """Return what cannot be read as requirements on labels; terms of weight 0 are not read."""
    return [
        fault
        for place, term in enumerate(terms)
        if term.weight
        for number, part in enumerate(term.preference.match_expressions)
        for fault in part.label_faults(f"[{place}].matchExpressions[{number}]")
    ]


def any_preference(_terms: Sequence[PreferredSchedulingTerm]) -> tuple[str, ...]:
    """Refuse no preference: what a release before PreScore says of such a term is not modelled, it matches no node."""
    return ()


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each nodeSelector entry and each expression of a single term; several terms are one clause."""
    for number, (key, value) in enumerate(sorted(pod.spec.node_selector.items())):
        alone = selecting_only(pod.spec, {key: value})
        words = f"the node lacks the label {key}={value} of nodeSelector"
        title = f"Label {key} is not {value}"
        yield Clause("node selector", key, words, title, "", attrs.evolve(pod, spec=alone), number)
    required = pod.spec.required_node_affinity
    if required is None:
        return
    terms = required.node_selector_terms
    parts: list[tuple[str, NodeSelector]] = []
    if len(terms) == 1:
        only = terms[0]
        terms_apart = [(part.key, NodeSelectorTerm(match_expressions=(part,))) for part in only.match_expressions]
        terms_apart += [(part.key, NodeSelectorTerm(match_fields=(part,))) for part in only.match_fields]
        parts += [(key, NodeSelector(node_selector_terms=(term,))) for key, term in terms_apart]
    if len(parts) < 2:
        parts = [(parts[0][0] if parts else "", required)]
    for number, (key, selector) in enumerate(parts):
        alone = selecting_only(pod.spec, {}, selector)
        words = f"the node does not match the required node affinity {selector}"
        title = f"Node affinity not met: {selector}"
        yield Clause("node affinity", key, words, title, "", attrs.evolve(pod, spec=alone), number)


@attrs.frozen
class LabelDiffers(Evidence):
    """The node has another value of a label of nodeSelector, or none."""

    key: str
    wanted: str
    found: str | None

    def __str__(self) -> str:
        return f"nodeSelector {self.key}={self.wanted} ≠ {labels_text(((self.key, self.found),))}"

    def short(self) -> Sides:
        return Sides(NO_LABEL if self.found is None else self.found, "≠", self.wanted)


@attrs.frozen
class TermsUnmatched(Evidence):
    """No required term matches the node; `carried` are its labels of which terms speak."""

    terms: NodeSelector
    carried: Labels
    node: str

    def __str__(self) -> str:
        return f"required affinity {self.terms} does not match {labels_text(self.carried) or node_text(self.node)}"

    def short(self) -> Sides:
        only = self.terms.only_requirement
        if only is None:
            return Sides(labels_text(self.carried) or NO_LABEL)
        value = values_text(self.carried) or NO_LABEL
        return Sides(value, "not in", listed(only.values)) if only.operator == "In" else Sides(value)


@attrs.frozen
class NodeAffinity:
    """Rejects nodes that the pod's nodeSelector or required node affinity does not match.
    Not to be confused with the field of that name, `api.kinds.pod.NodeAffinity`.

    Args:
        unmatched: the reason.
        restriction: the nodes to which required terms restrict the pass before filtering; None: any.
        preference_faults: what of the preferred terms cannot be read; an error if several nodes are to be ranked.
    """

    name: ClassVar[str] = "NodeAffinity"
    card: ClassVar[Card] = Card(
        "A", "node", "affinity", "node selector and node affinity",
        reads=RuleReads(("spec.nodeSelector", "spec.affinity.nodeAffinity"), ("metadata.labels",)),
        spread_policy=SpreadPolicy("nodeAffinityPolicy", "node_affinity_policy", "honors_node_affinity",
                                   "node that the pod does not select"),
        clauses=_clauses,
    )  # fmt: skip
    template_fields: ClassVar[tuple[str, ...]] = ("affinity", "node_selector")
    skip_without: ClassVar[tuple[str, ...]] = ("affinity", "node_selector")
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint(
            "Node",
            "a node appears that matches, or its labels change so that it does",
            lambda pod, old, new: selects_node(pod.spec, new) and (old is None or not selects_node(pod.spec, old)),
            Action.ADD | Action.NODE_LABEL,
        ),
    )

    unmatched: Reason = Reason(0, "node(s) didn't match Pod's node affinity/selector")
    restriction: Callable[[NodeSelector], frozenset[str] | None] = nodes_named_by
    preference_faults: Callable[[Sequence[PreferredSchedulingTerm]], Sequence[str]] = unreadable_preferences

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | PreFilterResult | None:
        """Skip if the pod asks for nothing; restrict the pass if every required term names nodes."""
        terms = pod.spec.required_node_affinity
        if terms is None:
            return None if pod.spec.node_selector else SKIP
        names = self.restriction(terms)
        if names is None or not terms.node_selector_terms:
            return None
        if not names:
            return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "pod affinity terms conflict")
        return PreFilterResult(self.name, names)

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node that lacks a label of nodeSelector, or that no required term matches."""
        labels, unmet = node.metadata.labels, first_unmet(pod.spec, node)
        if unmet is None:
            return OK
        if isinstance(unmet, tuple):
            key, value = unmet
            return self.unmatched.reject(LabelDiffers(key, value, labels.get(key)))
        carried = tuple((key, labels[key]) for key in unmet.keys if key in labels)
        return self.unmatched.reject(TermsUnmatched(unmet, carried, node.metadata.name))

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once."""
        return self.unmatched.where(~columns.nodes.selected_by(pod.spec))

    def prescore(self, pod: Pod) -> str:
        """Return what cannot be read of the preferred terms, in Kubernetes' words."""
        affinity = pod.spec.node_affinity
        faults = self.preference_faults(affinity.preferred) if affinity is not None else ()
        return faults[0] if len(faults) == 1 else f"[{', '.join(dict.fromkeys(faults))}]" if faults else ""

    def score(self, pod: Pod, columns: ColumnContext) -> Integers | None:
        """Score the sum of the weights of the preferred terms that match."""
        affinity = pod.spec.node_affinity
        if affinity is None or not affinity.preferred:
            return None
        scores = np.zeros(len(columns.nodes.names), np.int64)
        for term in affinity.preferred:
            if term.weight:
                scores += term.weight * columns.nodes.mask(NodeSelector(node_selector_terms=(term.preference,)))
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 · raw / largest raw."""
        most = int(raw.max())
        return 100 * raw // most if most else raw


def _names(term: NodeSelectorTerm) -> set[str] | None:
    """Return the node names that a term requires, or None if it requires none."""
    names: set[str] | None = None
    for field in term.match_fields:
        if field.key == "metadata.name" and field.operator == "In":
            names = set(field.values) if names is None else names & set(field.values)
    return names
