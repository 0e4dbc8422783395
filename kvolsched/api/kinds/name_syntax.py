"""The syntax of names: DNS subdomains and labels, qualified names, label values, port names.

Each `check_*` returns the API server's messages for a text that breaks the syntax, [] for one that is valid. Mirrors
apimachinery `util/validation` (v1.36.2).
"""

import re
from functools import lru_cache

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


@lru_cache(maxsize=1 << 14)
def check_subdomain(text: str) -> list[str]:
    """Check that a text is a DNS-1123 subdomain, as most objects' names are."""
    return _check_length(text, 253, "characters") + ([] if _SUBDOMAIN.fullmatch(text) else [_SUBDOMAIN_WORDS])


@lru_cache(maxsize=1 << 14)
def check_dns_label(text: str) -> list[str]:
    """Check that a text is a DNS-1123 label, as names of containers, volumes and namespaces are."""
    return _check_length(text, 63) + ([] if _LABEL.fullmatch(text) else [_LABEL_WORDS])


@lru_cache(maxsize=1 << 14)
def check_qualified_name(text: str) -> list[str]:
    """Check that a text is a label key: a name of at most 63 characters, with an optional subdomain before `/`."""
    *prefixes, name = text.split("/")
    if len(prefixes) > 1:
        return [_KEY_WORDS]
    errors = []
    if prefixes:
        errors = [f"prefix part {words}"
                  for words in (check_subdomain(prefixes[0]) if prefixes[0] else ["must be non-empty"])]
    if not name:
        errors.append("name part must be non-empty")
    errors += [f"name part {words}" for words in _check_length(name, 63)]
    return errors + ([] if _QUALIFIED.fullmatch(name) else [f"name part {_QUALIFIED_WORDS}"])


@lru_cache(maxsize=1 << 14)
def check_label_value(text: str) -> list[str]:
    """Check that a text is a label value."""
    return _check_length(text, 63) + ([] if not text or _QUALIFIED.fullmatch(text) else [_VALUE_WORDS])


def check_port_name(text: str) -> list[str]:
    """Check that a text is the name of a port."""
    errors = _check_length(text, 15)
    if not re.fullmatch("[-a-z0-9]+", text):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        errors.append("must contain at least one letter (a-z)")
    if "--" in text:
        errors.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def check_path_segment(text: str) -> list[str]:
    """Check that a text can be one segment of a URL path."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in text]


def _check_length(text: str, max_length: int, of: str = "bytes") -> list[str]:
    return [f"must be no more than {max_length} {of}"] if len(text.encode()) > max_length else []
