"""`kubectl describe` of the kinds for which kubectl has no describer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...api.text.convert import to_plain
from ..formatting import annotation_lines, go_string, label_lines
from .context import DescribeContext


def describe_any_kind(obj: Any, context: DescribeContext) -> Iterator[str]:
    """Yield every field of an object under a readable label."""
    plain = to_plain(obj)
    meta = plain.get("metadata", {})
    yield f"Name:\t{meta.get('name', '')}"
    yield f"Namespace:\t{meta.get('namespace', '')}"
    yield from label_lines("Labels", meta.get("labels", {}))
    yield from annotation_lines("Annotations", meta.get("annotations", {}))
    shown = {name: value for name, value in meta.items() if name not in ("name", "namespace", "labels", "annotations")}
    yield from _tree({**plain, "metadata": shown}, "")


def _tree(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for field, value in sorted(content.items()):
        if isinstance(value, dict):
            yield f"{indent}{_label(field)}:"
            yield from _tree(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{_label(field)}:"
            for child in value:
                if isinstance(child, dict):
                    yield from _tree(child, f"{indent}  ")
                else:
                    yield f"{indent}  {go_string(child)}"
        else:
            yield f"{indent}{_label(field)}:\t{go_string(value)}"


ACRONYMS = ("API", "URL", "UID", "OSB", "GUID")


def _label(field: str) -> str:
    if not re.fullmatch(r"[A-Za-z-]*", field):
        return field
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-", field)
    return " ".join(part.upper() if part.upper() in ACRONYMS else part[:1].upper() + part[1:] for part in parts)
