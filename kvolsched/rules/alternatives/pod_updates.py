"""Other rules for updates of a pod's node selection (S4, rejected): as relaxations of the API server's validation."""

from __future__ import annotations

from typing import Any

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Affinity, NodeAffinity, Pod
from ...api.kinds.selector import NodeSelector
from ..revision import Revision, revision_named
from .building import based_on


def lax_updates(base: str | Revision = "design") -> Revision:
    """Return rules in which any pod's node selector and node affinity may change at any time, gated or not.

    S4 (Design Details) names two problems. An update races with the scheduler, which may place the pod by what it has
    seen before; behind a gate it cannot. And a policy webhook that looks at a pod's creation alone has judged in vain,
    if an update may widen what it allowed.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("lax_updates").run()
    lax_updates on narrowed-too-late: fails: app is on node-a, and its selector wants topology.kubernetes.io/zone=b
    """
    rules = revision_named(base)
    return based_on(rules, "lax_updates", relaxations=(*rules.relaxations, allow_any_selection))


def added_terms(base: str | Revision = "design") -> Revision:
    """Return rules in which a gated pod's list of node selector terms may grow, as its list of requirements may.

    It reads "only additions" for every list. S4 (Design Details) allows it for requirements alone: terms are ORed, so
    one more lets the pod onto more nodes, and a decision of a policy webhook on creation is void.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("added_terms").run()
    added_terms on one-more-term: fails: app is in zone b; it was created for zone a
    """
    rules = revision_named(base)
    return based_on(rules, "added_terms", relaxations=(*rules.relaxations, allow_added_terms))


def allow_any_selection(old: Any, new: Any) -> Any:
    """Return a pod with the node selector and node affinity of its update, so that both may change."""
    if not isinstance(old, Pod):
        return old
    changed = evolve_parts(old, spec={"node_selector": new.spec.node_selector})
    after = new.spec.affinity.node_affinity if new.spec.affinity is not None else None
    return _with_node_affinity(changed, after)


def allow_added_terms(old: Any, new: Any) -> Any:
    """Return a gated pod with the terms that its update adds after its own."""
    if not isinstance(old, Pod) or not old.spec.scheduling_gates:
        return old
    before, after = _required(old), _required(new)
    if before is None or after is None or not before.node_selector_terms:
        return old
    count = len(before.node_selector_terms)
    longer = attrs.evolve(before, node_selector_terms=(*before.node_selector_terms, *after.node_selector_terms[count:]))
    assert old.spec.affinity is not None
    assert old.spec.affinity.node_affinity is not None
    return _with_node_affinity(old, attrs.evolve(old.spec.affinity.node_affinity, required=longer))


def _required(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    return affinity.required if affinity is not None else None


def _with_node_affinity(pod: Pod, wanted: NodeAffinity | None) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None and wanted is None:
        return pod
    return evolve_parts(pod, spec={"affinity": attrs.evolve(affinity or Affinity(), node_affinity=wanted)})
