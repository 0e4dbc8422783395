"""Which selectors, tolerations and taints the API server takes.

Mirrors apimachinery `ValidateLabelSelector` and core `ValidateNodeSelector`, `ValidateTolerations` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration
from .field_error import (
    FieldError,
    FieldErrors,
    check_label_value,
    check_qualified_name,
    check_subdomain,
    invalid_values,
    validate_labels,
    validate_supported,
)

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def validate_label_selector(path: str, selector: LabelSelector | None) -> FieldErrors:
    """A label selector: matchLabels are labels; operators In, NotIn, Exists, DoesNotExist."""
    if selector is None:
        return
    yield from validate_labels(f"{path}.matchLabels", selector.match_labels)
    for index, expression in enumerate(selector.match_expressions):
        here = f"{path}.matchExpressions[{index}]"
        yield from _values(here, expression, numbers=False)
        yield from invalid_values(f"{here}.key", expression.key, check_qualified_name(expression.key))
        for place, value in enumerate(expression.values):
            yield from invalid_values(f"{here}.values[{place}]", value, check_label_value(value))


def _values(path: str, expression: Requirement, *, numbers: bool) -> FieldErrors:
    """How many values each operator takes; Gt and Lt only where nodes are selected."""
    match expression.operator:
        case "In" | "NotIn":
            if not expression.values:
                yield FieldError(
                    f"{path}.values",
                    "Required",
                    detail="must be specified when `operator` is 'In' or 'NotIn'",
                )
        case "Exists" | "DoesNotExist":
            if expression.values:
                words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield FieldError(f"{path}.values", "Forbidden", detail=words)
        case "Gt" | "Lt" if numbers:
            if len(expression.values) != 1:
                words = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield FieldError(f"{path}.values", "Required", detail=words)
        case _:
            yield FieldError(f"{path}.operator", "Invalid", expression.operator, "not a valid selector operator")


def validate_node_selector(path: str, selector: NodeSelector) -> FieldErrors:
    """A node selector has at least one term; an empty term is allowed and matches nothing."""
    if not selector.node_selector_terms:
        yield FieldError(
            f"{path}.nodeSelectorTerms", "Required", detail="must have at least one node selector term"
        )
    for index, term in enumerate(selector.node_selector_terms):
        yield from validate_node_selector_term(f"{path}.nodeSelectorTerms[{index}]", term)


def validate_node_selector_term(path: str, term: NodeSelectorTerm) -> FieldErrors:
    """A term's expressions are about labels, its fields about metadata.name alone."""
    for index, expression in enumerate(term.match_expressions):
        here = f"{path}.matchExpressions[{index}]"
        yield from _values(here, expression, numbers=True)
        yield from invalid_values(f"{here}.key", expression.key, check_qualified_name(expression.key))
        for place, value in enumerate(expression.values):
            yield from invalid_values(f"{here}.values[{place}]", value, check_label_value(value))
    for index, field in enumerate(term.match_fields):
        yield from _field(f"{path}.matchFields[{index}]", field)


def _field(path: str, field: Requirement) -> FieldErrors:
    if field.operator not in ("In", "NotIn"):
        yield FieldError(f"{path}.operator", "Invalid", field.operator, "not a valid selector operator")
    elif len(field.values) != 1:
        words = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield FieldError(f"{path}.values", "Required", detail=words)
    if field.key != "metadata.name":
        yield FieldError(f"{path}.key", "Invalid", field.key, "not a valid field selector key")
        return
    for index, value in enumerate(field.values):
        yield from invalid_values(f"{path}.values[{index}]", value, check_subdomain(value))


def validate_tolerations(path: str, found: Sequence[Toleration]) -> FieldErrors:
    """Tolerations: an empty key wants Exists, seconds want NoExecute, Exists wants no value."""
    for index, toleration in enumerate(found):
        here, operator = f"{path}[{index}]", toleration.operator
        if toleration.key:
            yield from invalid_values(f"{here}.key", toleration.key, check_qualified_name(toleration.key))
        elif operator != "Exists":
            words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield FieldError(f"{here}.operator", "Invalid", operator, words)
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield FieldError(f"{here}.effect", "Invalid", toleration.effect, words)
        if operator in ("", "Equal"):
            yield from invalid_values(f"{here}.operator", toleration.value, check_label_value(toleration.value))
        elif operator == "Exists":
            if toleration.value:
                words = "value must be empty when `operator` is 'Exists'"
                yield FieldError(f"{here}.operator", "Invalid", toleration, words)
        else:
            yield from validate_supported(f"{here}.operator", operator, ("Equal", "Exists"))
        if toleration.effect:
            yield from validate_supported(f"{here}.effect", toleration.effect, TAINT_EFFECTS)


def validate_taints(path: str, found: Iterable[Taint]) -> FieldErrors:
    """Taints: a key, a label's value, an effect; unique by key and effect."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(found):
        here = f"{path}[{index}]"
        yield from invalid_values(f"{here}.key", taint.key, check_qualified_name(taint.key))
        yield from invalid_values(f"{here}.value", taint.value, check_label_value(taint.value))
        if not taint.effect:
            yield FieldError(f"{here}.effect", "Required")
        else:
            yield from validate_supported(f"{here}.effect", taint.effect, TAINT_EFFECTS)
        if taint.effect and (taint.key, taint.effect) in seen:
            yield FieldError(here, "Duplicate", taint, "taints must be unique by key and effect pair")
        seen.add((taint.key, taint.effect))
