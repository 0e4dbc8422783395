"""The plugin PodTopologySpread: which nodes it rejects, which it prefers, and which events are worth another try.

What releases do differently are values that it is handed: how a constraint is read (`prepare_hard`, `prepare_soft`) and
the score. Mirrors `plugins/podtopologyspread` (v1.36.2).
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
from numpy.typing import NDArray

from ....api.kinds.directives import constraint_alone
from ....api.kinds.meta import evolve, evolve_parts
from ....api.kinds.node import Node
from ....api.kinds.pod import Pod, TopologySpreadConstraint
from ...columns.column import Codes, Integers
from ...columns.owner_selectors import GROUPING_KINDS
from ...columns.snapshot import Snapshot
from ...framework.card import Card, Clause, Objects, RuleReads
from ...framework.evidence import LabelMissing
from ...framework.extension_points import Action, ColumnContext, QueueingHint, RawScores, is_same_pod
from ...framework.verdict import OK, Code, Ok, Reason, Reject
from .column import reject_rows
from .constraint import (
    SYSTEM_DEFAULTS,
    Preparation,
    SpreadConstraint,
    hard_of,
    prepare_constraint,
    prepare_constraints,
    soft_of,
    topology_keys,
    unread_fields,
)
from .score import SpreadScore, WeightedCountScore
from .skew import SkewExceeds, skews_on


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each hard constraint; in its variant the others allow any skew but still select nodes.

    The plugin reads the variant's constraints in order: where it finds a label missing that this one, the first, does
    not ask for, this one holds.
    """
    for number, constraint in enumerate(pod.spec.topology_spread_constraints):
        if not constraint.is_hard:
            continue
        variant = evolve(pod, spec=constraint_alone(pod.spec, number))
        codes, key = plugin.column(variant, columns), constraint.topology_key
        labelled = columns.nodes.labels(key).codes.array >= 0
        lacks_another = None if codes is None else (codes == 1 << plugin.no_label.bit) & labelled
        is_key_there = bool((labelled & columns.nodes.live.array).any())
        words, title = _words(constraint), f"Spread over {key} would exceed maxSkew {constraint.skew_limit}"
        if not is_key_there:
            words, title = f"the node has no label {key}, over which the pod is to spread", f"No label {key}"
        yield Clause("spread", key, words, title, "", variant, number, lacks_another)


def _words(constraint: TopologySpreadConstraint) -> str:
    domains = f", minDomains {constraint.min_domains}" if constraint.min_domains else ""
    selector = constraint.label_selector
    pods = f"pods with {selector}" if selector is not None else "no pods"
    limits = f"maxSkew {constraint.skew_limit}{domains}"
    return f"the node would break the spread of {pods} over {constraint.topology_key} ({limits})"


CARD = Card(
    "S", "spread", "spread", "spread constraints",
    reads=RuleReads(
        ("metadata.labels", "spec.topologySpreadConstraints", "spec.nodeSelector", "spec.affinity.nodeAffinity",
         "spec.tolerations"), ("metadata.labels", "spec.taints"),
    ),
    clauses=_clauses,
    unread=lambda pod, _objects: ["topologySpreadConstraints"] if pod.spec.topology_spread_constraints else (),
)  # fmt: skip


def _matching_pod_changed(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Say whether a pod that some constraint counts came, went or changed sides, or this pod tolerates more nodes."""
    constraints = _hard_constraints(pod, prepare_constraint)
    if is_same_pod(pod, new) and old is not None and new is not None and old.spec.tolerations != new.spec.tolerations:
        return any(constraint.honors_node_taints for constraint in constraints)
    # A terminating pod is not counted, but its deletion is an event.
    matchers = [attrs.evolve(each.matcher, terminating=True) for each in constraints if each.matcher is not None]
    before, after = ([other is not None and each.matches(other) for each in matchers] for other in (old, new))
    return before != after


def _domain_changed(pod: Pod, old: Node | None, new: Node | None) -> bool:
    """Say whether a node with all topology keys came, went, or changed its domains or taints."""
    keys = topology_keys(_hard_constraints(pod, prepare_constraint))
    had_keys, has_keys = (node is not None and all(key in node.metadata.labels for key in keys) for node in (old, new))
    if old is None or new is None or had_keys != has_keys:
        return had_keys or has_keys
    moved = any(old.metadata.labels.get(key) != new.metadata.labels.get(key) for key in keys)
    return has_keys and (moved or old.spec.taints != new.spec.taints)


@attrs.frozen
class PodTopologySpread:
    """Rejects nodes whose domain is too far ahead of the emptiest; prefers nodes whose domains hold few pods.

    Args:
        too_skewed, no_label: the reasons.
        prepare_hard, prepare_soft: how a constraint is read that rejects, or that ranks.
        spread_score: how nodes are ranked.
        defaults: the constraints of pods that state none, over the pods of their services and their owner.
        document_name: the name that a document gives the plugin.
    """

    name: ClassVar[str] = "PodTopologySpread"
    card: ClassVar[Card] = CARD
    skip_without: ClassVar[tuple[str, ...]] = ("topology_spread_constraints", "has_pod_selectors")
    filter_skip_without: ClassVar[tuple[str, ...]] = ("topology_spread_constraints",)
    reads_other_nodes: ClassVar[bool] = True
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod that counts comes, goes or changes its labels", _matching_pod_changed,
                     Action.ADD | Action.DELETE | Action.POD_LABEL | Action.POD_TOLERATION),
        QueueingHint("Node", "a node with the topology keys comes, goes or changes", _domain_changed,
                     Action.ADD | Action.DELETE | Action.NODE_LABEL | Action.NODE_TAINT),
    )

    too_skewed: Reason = Reason(0, "node(s) didn't match pod topology spread constraints", Code.UNSCHEDULABLE)
    no_label: Reason = Reason(1, "node(s) didn't match pod topology spread constraints (missing required label)")
    prepare_hard: Preparation = prepare_constraint
    prepare_soft: Preparation = prepare_constraint
    spread_score: SpreadScore = WeightedCountScore()
    defaults: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULTS
    document_name: str = ""

    @property
    def watches(self) -> frozenset[str]:
        """The kinds read beside those that every scheduler reads."""
        return GROUPING_KINDS if self.defaults else frozenset()

    def hard_constraints(self, pod: Pod) -> tuple[SpreadConstraint, ...]:
        """Return the pod's constraints that reject nodes, prepared."""
        return _hard_constraints(pod, self.prepare_hard)

    def as_read(self, pod: Pod) -> Pod:
        """Return the pod with its constraints as these rules read them: without fields that they do not know."""
        stated, meta = pod.spec.topology_spread_constraints, pod.metadata
        known = tuple(self.prepare_hard(each, meta.namespace, meta.labels, ()).read for each in stated)
        return evolve_parts(pod, spec={"topology_spread_constraints": known})

    def unread(self, pod: Pod, _objects: Objects) -> tuple[str, ...]:
        """Return the fields of the pod's constraints that these rules do not read and today's would heed."""
        pairs = zip(pod.spec.topology_spread_constraints, self.as_read(pod).spec.topology_spread_constraints,
                    strict=True)  # fmt: skip
        return tuple(dict.fromkeys(name for one, read in pairs for name in unread_fields(pod, one, read)))

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node that lacks a topology key, or whose domain's skew with this pod would exceed maxSkew."""
        for skew in skews_on(pod, node, self.hard_constraints(pod), seen):
            if skew.fits:
                continue
            if skew.domain is None:
                return self.no_label.reject(LabelMissing(skew.constraint.topology_key, node.metadata.name))
            return self.too_skewed.reject(SkewExceeds(skew))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once."""
        return reject_rows(pod, self.hard_constraints(pod), columns, self.too_skewed, self.no_label)

    def soft_constraints(self, pod: Pod, seen: Snapshot) -> tuple[SpreadConstraint, ...]:
        """Return the pod's constraints that rank nodes, prepared; if it states none, the defaults for its group."""
        stated = pod.spec.topology_spread_constraints
        selectors = seen.owner_selectors.selectors(pod) if self.defaults and not stated else ()
        if not stated and not selectors:
            return ()
        soft = soft_of(stated or self.defaults)
        return prepare_constraints(self.prepare_soft, soft, pod.metadata.namespace, pod.metadata.labels, selectors)

    def score(self, pod: Pod, columns: ColumnContext) -> RawScores:
        """Score nodes by the soft constraints; a node that lacks a key of the pod's own constraints is not ranked."""
        constraints = self.soft_constraints(pod, columns.seen)
        if not constraints:
            return None
        keys = topology_keys(constraints) if pod.spec.topology_spread_constraints else ()
        return self.spread_score.raw(pod, constraints, keys, columns)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Bring the raw scores of feasible nodes to 0 to 100."""
        return self.spread_score.normalise(raw)


def _hard_constraints(pod: Pod, prepare: Preparation) -> tuple[SpreadConstraint, ...]:
    hard = hard_of(pod.spec.topology_spread_constraints)
    return prepare_constraints(prepare, hard, pod.metadata.namespace, pod.metadata.labels)
