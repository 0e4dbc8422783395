"""The card of PodTopologySpread, and each hard constraint of a pod as a clause."""

from collections.abc import Iterator
from typing import Any

from ....api.kinds.directives import constraint_alone
from ....api.kinds.meta import evolve
from ....api.kinds.pod import Pod, TopologySpreadConstraint
from ...framework.card import Card, Clause, RuleReads
from ...framework.extension_points import ColumnContext


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
