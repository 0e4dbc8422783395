"""What a pod may say of where it is to run: gates, affinity, spreading; one function a rule.

Mirrors core `validateSchedulingGates`, `validateAffinity` and `validateTopologySpreadConstraints` (v1.36.2).
"""

from __future__ import annotations

from ..kinds.meta import EMPTY
from ..kinds.pod import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpreadConstraint,
)
from .invalid import Invalid, Refusals, dns_label, each, qualified_name, supported
from .selector_rules import label_selector, node_selector, node_selector_term


def gates(path: str, spec: PodSpec) -> Refusals:
    """Scheduling gates: qualified names, each once, and no node as long as there are any (S4)."""
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        here = f"{path}.schedulingGates[{index}]"
        yield from each(here, gate.name, qualified_name(gate.name))
        if gate.name in seen:
            yield Invalid(here, "Duplicate", gate.name)
        seen.add(gate.name)
    if spec.scheduling_gates and spec.node_name:
        yield Invalid(
            f"{path}.nodeName",
            "Forbidden",
            detail="cannot be set until all schedulingGates have been cleared",
        )


def affinity(path: str, found: Affinity | None) -> Refusals:
    """Node and pod affinity: selectors, weights from 1 to 100, topology keys."""
    if found is None:
        return
    if found.node_affinity is not None:
        required, preferred = found.node_affinity.required, found.node_affinity.preferred
        if required is not None:
            yield from node_selector(f"{path}.nodeAffinity.{_REQUIRED}", required)
        for index, term in enumerate(preferred):
            here = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
            yield from _weight(here, term.weight)
            yield from node_selector_term(f"{here}.preference", term.preference)
    yield from _pod_affinity(f"{path}.podAffinity", found.pod_affinity)
    yield from _pod_affinity(f"{path}.podAntiAffinity", found.pod_anti_affinity)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _weight(path: str, weight: int) -> Refusals:
    if not 1 <= weight <= 100:
        yield Invalid(f"{path}.weight", "Invalid", weight, "must be in the range 1-100")


def _pod_affinity(path: str, found: PodAffinity | None) -> Refusals:
    if found is None:
        return
    for index, term in enumerate(found.required):
        yield from _pod_affinity_term(f"{path}.{_REQUIRED}[{index}]", term)
    for index, weighted in enumerate(found.preferred):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(here, weighted.weight)
        yield from _pod_affinity_term(f"{here}.podAffinityTerm", weighted.pod_affinity_term)


def _pod_affinity_term(path: str, term: PodAffinityTerm) -> Refusals:
    yield from label_selector(f"{path}.labelSelector", term.label_selector)
    yield from label_selector(f"{path}.namespaceSelector", term.namespace_selector)
    for name in term.namespaces:
        yield from each(f"{path}.namespace", name, dns_label(name))
    if not term.topology_key:
        yield Invalid(f"{path}.topologyKey", "Required", detail="can not be empty")
    yield from each(f"{path}.topologyKey", term.topology_key, qualified_name(term.topology_key))


def spread(path: str, found: tuple[TopologySpreadConstraint, ...]) -> Refusals:
    """Spread constraints (S3, API): each of them, and no two with the same key and mode."""
    for index, constraint in enumerate(found):
        here = f"{path}[{index}]"
        yield from _constraint(here, constraint)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        for other in found[index + 1 :]:
            if pair == (other.topology_key, other.when_unsatisfiable):
                words = f"{{{pair[0]}, {pair[1]}}}"
                yield Invalid(f"{here}.{{topologyKey, whenUnsatisfiable}}", "Duplicate", words)


def _constraint(path: str, constraint: TopologySpreadConstraint) -> Refusals:
    if constraint.max_skew <= 0:
        yield Invalid(f"{path}.maxSkew", "Invalid", constraint.max_skew, "must be greater than zero")
    if not constraint.topology_key:
        yield Invalid(f"{path}.topologyKey", "Required", detail="can not be empty")
    mode = constraint.when_unsatisfiable
    yield from supported(f"{path}.whenUnsatisfiable", mode, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            yield Invalid(
                f"{path}.minDomains", "Invalid", constraint.min_domains, "must be greater than zero"
            )
        if mode != DO_NOT_SCHEDULE:
            words = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}, not {mode}"
            yield Invalid(f"{path}.minDomains", "Invalid", constraint.min_domains, words)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None:
            yield from supported(f"{path}.{field}", policy, ("Honor", "Ignore"))
    yield from _label_keys(path, constraint)
    yield from label_selector(f"{path}.labelSelector", constraint.label_selector)


def _label_keys(path: str, constraint: TopologySpreadConstraint) -> Refusals:
    if not constraint.match_label_keys:
        return
    selector = constraint.label_selector
    if selector is None:
        words = "must not be specified when labelSelector is not set"
        yield Invalid(f"{path}.matchLabelKeys", "Forbidden", detail=words)
    labelled = selector.match_labels if selector is not None else EMPTY
    expressed = selector.match_expressions if selector is not None else ()
    selected = {*labelled, *(expression.key for expression in expressed)}
    for index, key in enumerate(constraint.match_label_keys):
        yield from each(f"{path}.matchLabelKeys[{index}]", key, qualified_name(key))
        if key in selected:
            yield Invalid(
                f"{path}[{index}]", "Invalid", key, "exists in both matchLabelKeys and labelSelector"
            )
