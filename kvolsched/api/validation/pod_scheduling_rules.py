"""Validate a pod's scheduling directives: gates, affinity, topology spread constraints.

Mirrors core `validateSchedulingGates`, `validateAffinity` and `validateTopologySpreadConstraints` (v1.36.2).
"""

from ..kinds import pod
from ..kinds.meta import EMPTY
from ..kinds.name_syntax import check_dns_label, check_qualified_name
from .field_error import FieldError, FieldErrors, invalid_values, validate_supported, validate_unique
from .selector_rules import validate_label_selector, validate_node_selector, validate_node_selector_term


def validate_scheduling_gates(path: str, spec: pod.PodSpec) -> FieldErrors:
    """Validate scheduling gates: unique qualified names; a gated pod may not name a node (S4)."""
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        item_path = f"{path}.schedulingGates[{index}]"
        yield from invalid_values(item_path, gate.name, check_qualified_name(gate.name))
        yield from validate_unique(item_path, gate.name, seen)
    if spec.scheduling_gates and spec.node_name:
        yield FieldError(f"{path}.nodeName", "Forbidden",
                         detail="cannot be set until all schedulingGates have been cleared")


def validate_affinity(path: str, affinity: pod.Affinity | None) -> FieldErrors:
    """Validate node and pod affinity: selectors, weights from 1 to 100, topology keys."""
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        required, preferred = affinity.node_affinity.required, affinity.node_affinity.preferred
        if required is not None:
            yield from validate_node_selector(f"{path}.nodeAffinity.{_REQUIRED}", required)
        for index, term in enumerate(preferred):
            item_path = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
            yield from _validate_weight(item_path, term.weight)
            yield from validate_node_selector_term(f"{item_path}.preference", term.preference)
    yield from _validate_pod_affinity(f"{path}.podAffinity", affinity.pod_affinity)
    yield from _validate_pod_affinity(f"{path}.podAntiAffinity", affinity.pod_anti_affinity)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _validate_weight(path: str, weight: int) -> FieldErrors:
    if not 1 <= weight <= 100:
        yield FieldError(f"{path}.weight", "Invalid", weight, "must be in the range 1-100")


def _validate_pod_affinity(path: str, pod_affinity: pod.PodAffinity | None) -> FieldErrors:
    if pod_affinity is None:
        return
    for index, term in enumerate(pod_affinity.required):
        yield from _validate_pod_affinity_term(f"{path}.{_REQUIRED}[{index}]", term)
    for index, weighted in enumerate(pod_affinity.preferred):
        item_path = f"{path}.{_PREFERRED}[{index}]"
        yield from _validate_weight(item_path, weighted.weight)
        yield from _validate_pod_affinity_term(f"{item_path}.podAffinityTerm", weighted.pod_affinity_term)


def _validate_pod_affinity_term(path: str, term: pod.PodAffinityTerm) -> FieldErrors:
    yield from validate_label_selector(f"{path}.labelSelector", term.label_selector)
    yield from validate_label_selector(f"{path}.namespaceSelector", term.namespace_selector)
    for name in term.namespaces:
        yield from invalid_values(f"{path}.namespace", name, check_dns_label(name))
    if not term.topology_key:
        yield FieldError(f"{path}.topologyKey", "Required", detail="can not be empty")
    yield from invalid_values(f"{path}.topologyKey", term.topology_key, check_qualified_name(term.topology_key))


def validate_spread_constraints(path: str, constraints: tuple[pod.TopologySpreadConstraint, ...]) -> FieldErrors:
    """Validate topology spread constraints (S3, API): no two may have equal topologyKey and whenUnsatisfiable."""
    for index, constraint in enumerate(constraints):
        item_path = f"{path}[{index}]"
        yield from _validate_constraint(item_path, constraint)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        for other in constraints[index + 1 :]:
            if pair == (other.topology_key, other.when_unsatisfiable):
                detail = f"{{{pair[0]}, {pair[1]}}}"
                yield FieldError(f"{item_path}.{{topologyKey, whenUnsatisfiable}}", "Duplicate", detail)


def _validate_constraint(path: str, constraint: pod.TopologySpreadConstraint) -> FieldErrors:
    if constraint.max_skew <= 0:
        yield FieldError(f"{path}.maxSkew", "Invalid", constraint.max_skew, "must be greater than zero")
    if not constraint.topology_key:
        yield FieldError(f"{path}.topologyKey", "Required", detail="can not be empty")
    mode = constraint.when_unsatisfiable
    yield from validate_supported(f"{path}.whenUnsatisfiable", mode, (pod.DO_NOT_SCHEDULE, pod.SCHEDULE_ANYWAY))
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            yield FieldError(f"{path}.minDomains", "Invalid", constraint.min_domains, "must be greater than zero")
        if mode != pod.DO_NOT_SCHEDULE:
            detail = f"can only use minDomains if whenUnsatisfiable={pod.DO_NOT_SCHEDULE}, not {mode}"
            yield FieldError(f"{path}.minDomains", "Invalid", constraint.min_domains, detail)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy), ("nodeTaintsPolicy", constraint.node_taints_policy)
    ):
        if policy is not None:
            yield from validate_supported(f"{path}.{field}", policy, ("Honor", "Ignore"))
    yield from _validate_match_label_keys(path, constraint)
    yield from validate_label_selector(f"{path}.labelSelector", constraint.label_selector)


def _validate_match_label_keys(path: str, constraint: pod.TopologySpreadConstraint) -> FieldErrors:
    if not constraint.match_label_keys:
        return
    selector = constraint.label_selector
    if selector is None:
        detail = "must not be specified when labelSelector is not set"
        yield FieldError(f"{path}.matchLabelKeys", "Forbidden", detail=detail)
    match_labels = selector.match_labels if selector is not None else EMPTY
    requirements = selector.match_expressions if selector is not None else ()
    selected = {*match_labels, *(expression.key for expression in requirements)}
    for index, key in enumerate(constraint.match_label_keys):
        yield from invalid_values(f"{path}.matchLabelKeys[{index}]", key, check_qualified_name(key))
        if key in selected:
            yield FieldError(f"{path}[{index}]", "Invalid", key, "exists in both matchLabelKeys and labelSelector")
