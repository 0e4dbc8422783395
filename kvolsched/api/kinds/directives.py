"""What a pod's scheduling directives say of a node, and specs with one directive alone, changed or left out.

Scheduler, controllers and admission ask here; `why`, `fix` and rejected designs make their variants of a pod here.
"""

from collections.abc import Mapping
from typing import Any

from .meta import Frozen, evolve
from .node import Node
from .pod import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, PodSpec, WeightedPodAffinityTerm
from .selector import NodeSelector, Toleration

ANY_SKEW = 2**31 - 1  # the largest maxSkew


def first_unmet(spec: PodSpec, node: Node) -> tuple[str, str] | NodeSelector | None:
    """Return the first directive that a node does not meet: an entry of nodeSelector, or the required node affinity."""
    labels = node.metadata.labels
    for key, value in sorted(spec.node_selector.items()):
        if labels.get(key) != value:
            return key, value
    terms = spec.required_node_affinity
    return None if terms is None or terms.matches(labels, node.metadata.name) else terms


def selects_node(spec: PodSpec, node: Node) -> bool:
    """Say whether a node matches a pod's nodeSelector and required node affinity."""
    return first_unmet(spec, node) is None


def with_node_affinity(spec: PodSpec, wanted: NodeAffinity | None) -> PodSpec:
    """Return a spec with another node affinity; its affinity to pods stays."""
    if wanted == spec.node_affinity:
        return spec
    return evolve(spec, affinity=evolve(spec.affinity or Affinity(), node_affinity=wanted))


def with_required_node_affinity(spec: PodSpec, required: NodeSelector | None) -> PodSpec:
    """Return a spec with other required terms of node affinity; preferred ones stay."""
    if required == spec.required_node_affinity:
        return spec
    return with_node_affinity(spec, evolve(spec.node_affinity or NodeAffinity(), required=required))


def selecting_only(spec: PodSpec, labels: Mapping[str, str], required: NodeSelector | None = None) -> PodSpec:
    """Return a spec that requires of a node these labels and one of these terms, and nothing else of its labels."""
    return evolve(with_required_node_affinity(spec, required), node_selector=Frozen(labels))


def with_tolerations(spec: PodSpec, *more: Toleration) -> PodSpec:
    """Return a spec with further tolerations."""
    return evolve(spec, tolerations=(*spec.tolerations, *more))


def with_constraint(spec: PodSpec, number: int, **changes: Any) -> PodSpec:
    """Return a spec with these fields of one spread constraint changed."""
    constraints = list(spec.topology_spread_constraints)
    constraints[number] = evolve(constraints[number], **changes)
    return evolve(spec, topology_spread_constraints=tuple(constraints))


def constraint_alone(spec: PodSpec, number: int) -> PodSpec:
    """Return a spec with one spread constraint first; the others allow any skew, but still say which nodes count."""
    stated = spec.topology_spread_constraints
    others = (evolve(other, max_skew=ANY_SKEW, min_domains=None) for other in (*stated[:number], *stated[number + 1 :]))
    return evolve(spec, topology_spread_constraints=(stated[number], *others))


def pod_term_alone(spec: PodSpec, side: str, number: int) -> PodSpec:
    """Return a spec with one required term of a side, `pod_affinity` or `pod_anti_affinity`, and no other pod term."""
    term = getattr(spec.affinity, side).required[number]
    return _with_pod_terms(without_pod_terms(spec), **{side: PodAffinity(required=(term,))})


def without_pod_term(spec: PodSpec, side: str, number: int) -> PodSpec:
    """Return a spec without one required term of a side, `pod_affinity` or `pod_anti_affinity`."""
    terms = getattr(spec.affinity, side)
    left = terms.required[:number] + terms.required[number + 1 :]
    return _with_pod_terms(spec, **{side: evolve(terms, required=left) if left or terms.preferred else None})


def with_pod_term(spec: PodSpec, side: str, number: int, term: PodAffinityTerm) -> PodSpec:
    """Return a spec with another term in place of one required term of a side."""
    terms = getattr(spec.affinity, side)
    required = (*terms.required[:number], term, *terms.required[number + 1 :])
    return _with_pod_terms(spec, **{side: evolve(terms, required=required)})


def with_pod_term_preferred(spec: PodSpec, side: str, number: int) -> PodSpec:
    """Return a spec in which one required term of a side is a preference of the greatest weight."""
    terms = getattr(spec.affinity, side)
    wish = WeightedPodAffinityTerm(weight=100, pod_affinity_term=terms.required[number])
    left = terms.required[:number] + terms.required[number + 1 :]
    return _with_pod_terms(spec, **{side: evolve(terms, required=left, preferred=(*terms.preferred, wish))})


def without_pod_terms(spec: PodSpec) -> PodSpec:
    """Return a spec without affinity and anti-affinity to pods."""
    return spec if spec.affinity is None else _with_pod_terms(spec, pod_affinity=None, pod_anti_affinity=None)


def _with_pod_terms(spec: PodSpec, **sides: PodAffinity | None) -> PodSpec:
    return evolve(spec, affinity=evolve(spec.affinity or Affinity(), **sides))
