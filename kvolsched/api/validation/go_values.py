"""Show composite values in errors as the API server's Go code does.

Label selectors are shown as in a manifest; the internal types of core (node selectors, taints, tolerations, specs) by
the names of Go's fields, with null for empty lists and pointers.
"""

from __future__ import annotations

from typing import Any

import attrs

from ..kinds.meta import thaw
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
