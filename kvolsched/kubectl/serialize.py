"""Objects as `kubectl get -o yaml`, `-o json` and `-o name` write them: sorted keys, kubectl's quotes (v1.36.2)."""

import re
from collections.abc import Sequence
from typing import Any

from ..api.kinds.kind import find_kind
from ..api.text import json_text
from ..api.text.convert import to_plain
from ..api.text.yaml_text import to_kubectl_yaml

_CHUNKS = re.compile(r"[0-9]+|[^\W\d_]|.", re.DOTALL)
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_ESCAPED = re.compile("[<>&]")


def printed_data(objects: Sequence[Any], *, as_list: bool) -> dict[str, Any]:
    """Return what `-o yaml` and JSONPath see: the one object, or a List."""
    if not as_list:
        return to_plain(objects[0])
    items = [to_plain(obj) for obj in objects]
    return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}


def serialize(objects: Sequence[Any], output: str, *, as_list: bool) -> str:
    """Return objects as `-o yaml`, `-o json` or `-o name` writes them, in one List if asked."""
    if output == "name":
        return "\n".join(f"{find_kind(obj.kind).singular}/{obj.metadata.name}" for obj in objects)
    data = printed_data(objects, as_list=as_list)
    for plain in data["items"] if as_list else (data,):
        plain.get("metadata", {}).pop("managedFields", None)  # as without --show-managed-fields
    return to_json(data, indent=4) if output == "json" else to_kubectl_yaml(_sorted(data)).rstrip("\n")


def to_json(data: Any, indent: int | None = None) -> str:
    """Return plain data as Go's encoder writes it: sorted keys, `<`, `>`, `&` as codes; compact without an indent."""
    separators = (",", ": ") if indent else (",", ":")
    text = json_text.to_json(data, indent=indent, sort_keys=True, separators=separators)
    return _ESCAPED.sub(lambda found: _HTML[found[0]], text)


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key by which numbers in texts count as numbers, and letters come after all else."""
    return [_rank(chunk) for chunk in _CHUNKS.findall(text)]


def _rank(chunk: str) -> tuple[int, int, str]:
    if chunk[0].isdigit() and chunk.isdecimal():
        return 1, int(chunk), chunk
    return (2 if chunk.isalpha() else 0), 0, chunk


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=natural_key)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
