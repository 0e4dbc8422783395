"""NodeAffinity: the pod's nodeSelector and required node affinity must match; preferred terms add to the score."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm
from kvolsched.scheduler.columns.arrays import Codes, Integers
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import (
    OK,
    SKIP,
    Code,
    Evidence,
    Ok,
    PreFilterReject,
    PreFilterResult,
    Reason,
    Reject,
    Skip,
)
from kvolsched.scheduler.node_selection import (
    matches_node_affinity,
    node_affinity,
    node_affinity_mask,
    required_node_affinity,
)


@attrs.frozen
class NodeAffinity:
    """Rejects nodes that the pod's nodeSelector or required node affinity does not match.

    `restricts_in_prefilter`: whether terms that all name nodes restrict the pass before filtering, as today (not in 1.11).
    """

    name: ClassVar[str] = "NodeAffinity"
    skip_without: ClassVar[tuple[str, ...]] = ("affinity", "node_selector")
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint(
            "Node",
            "a node appears that matches, or its labels change so that it does",
            lambda pod, old, new: matches_node_affinity(pod, new) and (old is None or not matches_node_affinity(pod, old)),
            Action.ADD | Action.NODE_LABEL,
        ),
    )

    unmatched: Reason = Reason(0, "node(s) didn't match Pod's node affinity/selector")
    restricts_in_prefilter: bool = True

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | PreFilterResult | None:
        """Nothing asked: nothing to do. If every required term names nodes, only these nodes come into question."""
        terms = required_node_affinity(pod)
        if terms is None and not pod.spec.node_selector:
            return SKIP
        if terms is None or not self.restricts_in_prefilter:
            return None
        named: set[str] = set()
        for term in terms.node_selector_terms:
            names = _names(term)
            if names is None:
                return None
            named |= names
        if terms.node_selector_terms and not named:
            return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "pod affinity terms conflict")
        return PreFilterResult(self.name, frozenset(named)) if named else None

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """The node carries every label of nodeSelector, and some required term matches it."""
        labels = node.metadata.labels
        for key, value in sorted(pod.spec.node_selector.items()):
            if labels.get(key) != value:
                found = f"{key}={labels[key]}" if key in labels else f"no label {key}"
                return self.unmatched.reject(
                    Evidence(f"nodeSelector {key}={value}", "≠", found, (value, labels.get(key)))
                )
        terms = required_node_affinity(pod)
        if terms is not None and not terms.matches(labels, node.metadata.name):
            keys = [part.key for term in terms.node_selector_terms for part in term.match_expressions]
            carried = ", ".join(f"{key}={labels[key]}" for key in dict.fromkeys(keys) if key in labels)
            return self.unmatched.reject(
                Evidence(f"required affinity {terms}", "does not match", carried or f"node {node.metadata.name}")
            )
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same for all nodes, over label columns."""
        return self.unmatched.where(~node_affinity_mask(pod, at.nodes))

    def score(self, pod: Pod, at: ColumnContext) -> Integers | None:
        """The weights of the preferred terms that match; terms without expressions and weights of 0 count nothing."""
        affinity = node_affinity(pod)
        if affinity is None or not affinity.preferred:
            return None
        scores = np.zeros(len(at.nodes.names), np.int64)
        for term in affinity.preferred:
            if term.weight:
                scores += term.weight * at.nodes.mask(NodeSelector(node_selector_terms=(term.preference,)))
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """The share of the largest sum."""
        most = int(raw.max())
        return 100 * raw // most if most else raw


def _names(term: NodeSelectorTerm) -> set[str] | None:
    """Return the node names that a term insists on, or None if it does not."""
    names: set[str] | None = None
    for field in term.match_fields:
        if field.key == "metadata.name" and field.operator == "In":
            names = set(field.values) if names is None else names & set(field.values)
    return names
