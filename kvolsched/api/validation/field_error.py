"""The API server's refusals of a field: path, type of error, value and detail, in its own words.

Values are shown as Go does: label selectors as in a manifest; the internal types of core (node selectors, taints,
tolerations, specs) by the names of Go's fields, with null for empty lists and pointers. Mirrors apimachinery
`field.Error` (v1.36.2).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..kinds.meta import thaw
from ..kinds.name_syntax import check_label_value, check_qualified_name
from ..kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration

# class -> (Go's field name, attribute); an empty tuple stands for a nil slice
_INTERNAL_TYPES: dict[type[Any], tuple[tuple[str, str], ...]] = {
    Requirement: (("Key", "key"), ("Operator", "operator"), ("Values", "values")),
    NodeSelectorTerm: (("MatchExpressions", "match_expressions"), ("MatchFields", "match_fields")),
    NodeSelector: (("NodeSelectorTerms", "node_selector_terms"),),
    Taint: (("Key", "key"), ("Value", "value"), ("Effect", "effect"), ("TimeAdded", "time_added")),
    Toleration: (
        ("Key", "key"), ("Operator", "operator"), ("Value", "value"), ("Effect", "effect"),
        ("TolerationSeconds", "toleration_seconds"),
    ),
}  # fmt: skip


def as_go_value(value: Any) -> Any:
    """Return a value as the plain data that the API server shows in errors."""
    if isinstance(value, LabelSelector):
        return _selector(value)
    if isinstance(value, tuple | list):
        return [as_go_value(item) for item in value]
    if not attrs.has(type(value)):
        return thaw(value)
    fields = _INTERNAL_TYPES.get(type(value))
    if fields is None:
        modelled = [field for field in attrs.fields(type(value)) if field.name != "rest"]
        fields = tuple((_go_name(field.name, field.metadata.get("name", "")), field.name) for field in modelled)
    values = {name: getattr(value, attribute) for name, attribute in fields}
    return {name: None if item == () else as_go_value(item) for name, item in values.items()}


def _go_name(attribute: str, manifest_name: str) -> str:
    """Return Go's name of a field: its manifest name if it differs from the attribute, with a capital letter."""
    if manifest_name:
        return manifest_name[:1].upper() + manifest_name[1:]
    return "".join(part.capitalize() for part in attribute.split("_"))


def _selector(selector: LabelSelector) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if selector.match_labels:
        plain["matchLabels"] = thaw(selector.match_labels)
    if selector.match_expressions:
        plain["matchExpressions"] = [
            {"key": item.key, "operator": item.operator, **({"values": list(item.values)} if item.values else {})}
            for item in selector.match_expressions
        ]
    return plain


NO_VALUE = object()  # the value of an error that shows none (Required, Forbidden, TooLong)
_WORDS = {
    "Required": "Required value", "Invalid": "Invalid value", "NotSupported": "Unsupported value",
    "Forbidden": "Forbidden", "Duplicate": "Duplicate value", "NotFound": "Not found", "TooLong": "Too long",
    "TooMany": "Too many",
}


@attrs.frozen
class FieldError:
    """Error of one field; `type` is a reason of field.Error: Required, Invalid, NotSupported, Forbidden, ..."""

    path: str
    type: str
    value: Any = NO_VALUE
    detail: str = ""

    def __str__(self) -> str:
        parts = [self.path, _WORDS[self.type]]
        if self.value is not NO_VALUE:
            parts.append(json.dumps(as_go_value(self.value), default=str, separators=(",", ":")))
        return ": ".join([*parts, self.detail] if self.detail else parts)


FieldErrors = Iterator[FieldError]


def invalid_values(path: str, value: Any, messages: Iterable[str]) -> FieldErrors:
    """Yield an error of type Invalid for each of these messages."""
    return (FieldError(path, "Invalid", value, message) for message in messages)


def validate_name(path: str, name: str, check: Callable[[str], list[str]], *, required: bool = False) -> FieldErrors:
    """Validate the syntax of a name, unless it is missing; refuse a missing one if it is `required`."""
    if name:
        yield from invalid_values(path, name, check(name))
    elif required:
        yield FieldError(path, "Required")


def validate_unique(path: str, value: Any, seen: set[Any]) -> FieldErrors:
    """Refuse a value that was seen before, and add it to those seen."""
    if value in seen:
        yield FieldError(path, "Duplicate", value)
    seen.add(value)


def validate_labels(path: str, labels: Mapping[str, str]) -> FieldErrors:
    """Validate the keys and values of labels."""
    for key, value in labels.items():
        yield from invalid_values(path, key, check_qualified_name(key))
        yield from invalid_values(path, value, check_label_value(value))


def validate_immutable(path: str, before: Any, after: Any, shown: Any = NO_VALUE) -> FieldErrors:
    """Refuse any change of a field; the error shows the new value unless another is given."""
    if before != after:
        yield FieldError(path, "Invalid", after if shown is NO_VALUE else shown, "field is immutable")


def validate_supported(path: str, value: Any, allowed: Iterable[str]) -> FieldErrors:
    """Refuse a value that is not among the allowed ones, which the error lists in this order."""
    allowed = tuple(allowed)
    if value not in allowed:
        detail = ", ".join(f'"{word}"' for word in allowed)
        yield FieldError(path, "NotSupported", value, f"supported values: {detail}")
