"""Validate label selectors, node selectors, tolerations and taints.

Mirrors apimachinery `ValidateLabelSelector` and core `ValidateNodeSelector`, `ValidateTolerations` (v1.36.2).
"""

from collections.abc import Iterable, Sequence

from ..kinds.name_syntax import check_label_value, check_qualified_name, check_subdomain
from ..kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration
from .field_error import FieldError, FieldErrors, invalid_values, validate_labels, validate_supported

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def validate_label_selector(path: str, selector: LabelSelector | None) -> FieldErrors:
    """Validate a label selector: matchLabels, and requirements with In, NotIn, Exists or DoesNotExist."""
    if selector is None:
        return
    yield from validate_labels(f"{path}.matchLabels", selector.match_labels)
    yield from _validate_expressions(path, selector.match_expressions, numeric=False)


def _validate_expressions(path: str, requirements: Iterable[Requirement], *, numeric: bool) -> FieldErrors:
    """Validate matchExpressions: operators with their number of values, label keys and label values."""
    for index, requirement in enumerate(requirements):
        item_path = f"{path}.matchExpressions[{index}]"
        yield from _validate_values(item_path, requirement, numeric=numeric)
        yield from invalid_values(f"{item_path}.key", requirement.key, check_qualified_name(requirement.key))
        for value_index, value in enumerate(requirement.values):
            yield from invalid_values(f"{item_path}.values[{value_index}]", value, check_label_value(value))


def _validate_values(path: str, requirement: Requirement, *, numeric: bool) -> FieldErrors:
    """Validate the number of values for an operator; Gt and Lt are for node selectors only."""
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                yield FieldError(f"{path}.values", "Required",
                                 detail="must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield FieldError(f"{path}.values", "Forbidden", detail=detail)
        case "Gt" | "Lt" if numeric:
            if len(requirement.values) != 1:
                detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield FieldError(f"{path}.values", "Required", detail=detail)
        case _:
            yield FieldError(f"{path}.operator", "Invalid", requirement.operator, "not a valid selector operator")


def validate_node_selector(path: str, selector: NodeSelector) -> FieldErrors:
    """Validate a node selector: at least one term; an empty term is allowed and matches nothing."""
    if not selector.node_selector_terms:
        yield FieldError(f"{path}.nodeSelectorTerms", "Required", detail="must have at least one node selector term")
    for index, term in enumerate(selector.node_selector_terms):
        yield from validate_node_selector_term(f"{path}.nodeSelectorTerms[{index}]", term)


def validate_node_selector_term(path: str, term: NodeSelectorTerm) -> FieldErrors:
    """Validate a node selector term: matchExpressions select labels, matchFields select metadata.name only."""
    yield from _validate_expressions(path, term.match_expressions, numeric=True)
    for index, field in enumerate(term.match_fields):
        yield from _validate_field(f"{path}.matchFields[{index}]", field)


def _validate_field(path: str, field: Requirement) -> FieldErrors:
    if field.operator not in ("In", "NotIn"):
        yield FieldError(f"{path}.operator", "Invalid", field.operator, "not a valid selector operator")
    elif len(field.values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield FieldError(f"{path}.values", "Required", detail=detail)
    if field.key != "metadata.name":
        yield FieldError(f"{path}.key", "Invalid", field.key, "not a valid field selector key")
        return
    for index, value in enumerate(field.values):
        yield from invalid_values(f"{path}.values[{index}]", value, check_subdomain(value))


def validate_tolerations(path: str, tolerations: Sequence[Toleration]) -> FieldErrors:
    """Validate tolerations: an empty key needs Exists, tolerationSeconds need NoExecute, Exists has no value."""
    for index, toleration in enumerate(tolerations):
        item_path, operator = f"{path}[{index}]", toleration.operator
        if toleration.key:
            yield from invalid_values(f"{item_path}.key", toleration.key, check_qualified_name(toleration.key))
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield FieldError(f"{item_path}.operator", "Invalid", operator, detail)
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield FieldError(f"{item_path}.effect", "Invalid", toleration.effect, detail)
        if operator in ("", "Equal"):
            yield from invalid_values(f"{item_path}.operator", toleration.value, check_label_value(toleration.value))
        elif operator == "Exists":
            if toleration.value:
                detail = "value must be empty when `operator` is 'Exists'"
                yield FieldError(f"{item_path}.operator", "Invalid", toleration, detail)
        else:
            yield from validate_supported(f"{item_path}.operator", operator, ("Equal", "Exists"))
        if toleration.effect:
            yield from validate_supported(f"{item_path}.effect", toleration.effect, TAINT_EFFECTS)


def validate_taints(path: str, taints: Iterable[Taint]) -> FieldErrors:
    """Validate taints: key, value and effect; pairs of key and effect are unique."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        item_path = f"{path}[{index}]"
        yield from invalid_values(f"{item_path}.key", taint.key, check_qualified_name(taint.key))
        yield from invalid_values(f"{item_path}.value", taint.value, check_label_value(taint.value))
        if not taint.effect:
            yield FieldError(f"{item_path}.effect", "Required")
        else:
            yield from validate_supported(f"{item_path}.effect", taint.effect, TAINT_EFFECTS)
        if taint.effect and (taint.key, taint.effect) in seen:
            yield FieldError(item_path, "Duplicate", taint, "taints must be unique by key and effect pair")
        seen.add((taint.key, taint.effect))
