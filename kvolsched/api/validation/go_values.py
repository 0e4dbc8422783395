"""How the API server shows a composite value in a refusal: by the names of Go's fields, or as JSON where it has tags.

Selectors over labels are shown as in a manifest; what core defines for itself (node selectors, taints, tolerations,
whole specs) under its internal names, empty lists and pointers as null.
"""

from __future__ import annotations

from typing import Any

import attrs

from ..kinds.meta import thaw
from ..kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration

# class -> (Go's name, attribute); an empty tuple stands for a nil slice
_INTERNAL: dict[type[Any], tuple[tuple[str, str], ...]] = {
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
    """Return a refused value as plain data, as the API server shows it."""
    if isinstance(value, LabelSelector):
        return _selector(value)
    if isinstance(value, tuple | list):
        return [as_go_value(item) for item in value]
    if not attrs.has(type(value)):
        return thaw(value)
    fields = _INTERNAL.get(type(value))
    if fields is None:
        given = [field for field in attrs.fields(type(value)) if field.name != "rest"]
        fields = tuple((_go_name(field.name, field.metadata.get("name", "")), field.name) for field in given)
    shown = {name: getattr(value, attribute) for name, attribute in fields}
    return {name: None if item == () else as_go_value(item) for name, item in shown.items()}


def _go_name(attribute: str, manifest: str) -> str:
    """Return Go's name of a field: its manifest name, or that which follows from the attribute, with a capital."""
    return manifest[:1].upper() + manifest[1:] or "".join(part.capitalize() for part in attribute.split("_"))


def _selector(selector: LabelSelector) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if selector.match_labels:
        shown["matchLabels"] = thaw(selector.match_labels)
    if selector.match_expressions:
        shown["matchExpressions"] = [
            {"key": one.key, "operator": one.operator, **({"values": list(one.values)} if one.values else {})}
            for one in selector.match_expressions
        ]
    return shown
