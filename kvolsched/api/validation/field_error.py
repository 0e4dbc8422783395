"""What validation refuses, in the API server's words: field paths, the types of refusal, and the syntax of
names.

Mirrors apimachinery `field.Error` and `util/validation` (v1.36.2). These functions look at texts, not at
kinds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs

from .go_values import as_go_value

NO_VALUE = object()  # the value of a refusal that names none (Required, Forbidden, TooLong)
_WORDS = {
    "Required": "Required value",
    "Invalid": "Invalid value",
    "NotSupported": "Unsupported value",
    "Forbidden": "Forbidden",
    "Duplicate": "Duplicate value",
    "NotFound": "Not found",
    "TooLong": "Too long",
}


@attrs.frozen
class FieldError:
    """One refusal: `type` is Required, Invalid, NotSupported, Forbidden, Duplicate, NotFound or TooLong."""

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

_PART = "[A-Za-z0-9][-A-Za-z0-9_.]*"
_ENDS = "must start and end with an alphanumeric character"
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED_WORDS = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS} (e.g. 'MyName',  or 'my.name',  "
    f"or '123-abc', regex used for validation is '{_QUALIFIED.pattern}')"
)
_KEY_WORDS = (
    f"a valid label key {_QUALIFIED_WORDS} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_ENDS} (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN.pattern}')"
)
_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"and {_ENDS} (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL.pattern}')"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_QUALIFIED.pattern})?')"
)


def _longer(text: str, most: int) -> list[str]:
    return [f"must be no more than {most} bytes"] if len(text.encode()) > most else []


@lru_cache(maxsize=1 << 14)
def check_subdomain(text: str) -> list[str]:
    """Say what keeps a text from being a DNS-1123 subdomain: most objects' names."""
    return _longer(text, 253) + ([] if _SUBDOMAIN.fullmatch(text) else [_SUBDOMAIN_WORDS])


@lru_cache(maxsize=1 << 14)
def check_dns_label(text: str) -> list[str]:
    """Say what keeps a text from being a DNS-1123 label: names of containers, volumes, namespaces."""
    return _longer(text, 63) + ([] if _LABEL.fullmatch(text) else [_LABEL_WORDS])


def check_path_segment(text: str) -> list[str]:
    """Say what keeps a text from standing between two slashes of an address."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in text]


@lru_cache(maxsize=1 << 14)
def check_qualified_name(text: str) -> list[str]:
    """Say what keeps a text from being a key: a name of at most 63 characters, with an optional subdomain
    before `/`.
    """
    *prefixes, name = text.split("/")
    if len(prefixes) > 1:
        return [_KEY_WORDS]
    found = []
    if prefixes:
        found = [
            f"prefix part {words}"
            for words in (check_subdomain(prefixes[0]) if prefixes[0] else ["must be non-empty"])
        ]
    if not name:
        found.append("name part must be non-empty")
    found += [f"name part {words}" for words in _longer(name, 63)]
    return found + ([] if _QUALIFIED.fullmatch(name) else [f"name part {_QUALIFIED_WORDS}"])


@lru_cache(maxsize=1 << 14)
def check_label_value(text: str) -> list[str]:
    """Say what keeps a text from being a label's value."""
    return _longer(text, 63) + ([] if not text or _QUALIFIED.fullmatch(text) else [_VALUE_WORDS])


def check_port_name(text: str) -> list[str]:
    """Say what keeps a text from being the name of a port."""
    found = _longer(text, 15)
    if not re.fullmatch("[-a-z0-9]+", text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def invalid_values(path: str, value: Any, words: Iterable[str]) -> FieldErrors:
    """Yield one Invalid refusal for each of these words."""
    return (FieldError(path, "Invalid", value, said) for said in words)


def validate_labels(path: str, found: Mapping[str, str]) -> FieldErrors:
    """Refuse keys and values that no label may have."""
    for key, value in found.items():
        yield from invalid_values(path, key, check_qualified_name(key))
        yield from invalid_values(path, value, check_label_value(value))


def validate_immutable(path: str, before: Any, after: Any, shown: Any = NO_VALUE) -> FieldErrors:
    """Refuse any change of a field; the value shown is the new one unless another is given."""
    if before != after:
        yield FieldError(path, "Invalid", after if shown is NO_VALUE else shown, "field is immutable")


def validate_supported(path: str, value: Any, allowed: Iterable[str]) -> FieldErrors:
    """Refuse a word that is not among the allowed, in the order in which the API server lists them."""
    allowed = tuple(allowed)
    if value not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed)
        yield FieldError(path, "NotSupported", value, f"supported values: {words}")
