"""The API server's refusals of a field: path, type of error, value and detail, in its own words.

Mirrors apimachinery `field.Error` (v1.36.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..kinds.name_syntax import check_label_value, check_qualified_name
from .go_values import as_go_value

NO_VALUE = object()  # the value of an error that shows none (Required, Forbidden, TooLong)
_WORDS = {
    "Required": "Required value", "Invalid": "Invalid value", "NotSupported": "Unsupported value",
    "Forbidden": "Forbidden", "Duplicate": "Duplicate value", "NotFound": "Not found", "TooLong": "Too long",
}


@attrs.frozen
class FieldError:
    """Error of one field; `type` is Required, Invalid, NotSupported, Forbidden, Duplicate, NotFound or TooLong."""

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
