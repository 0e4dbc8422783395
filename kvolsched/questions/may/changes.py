"""What a patch changes of a pod, as the lines of a difference: the fields that differ, below the path they share.

Values that are short stand in YAML's flow style, `{key: zone, operator: In, values: [a, b]}`, so that a requirement is
one line; every line is YAML.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from ...api.text.convert import to_plain

FLOW = 44  # characters of a value in flow style, at most
CONTEXT = 3  # equal items of a list that are shown
PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[A-Za-z][\w./-]*\Z", re.IGNORECASE)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SERVER_FIELDS = frozenset({"resourceVersion", "uid", "creationTimestamp", "generation"})


class ChangedLine(NamedTuple):
    """One line of a difference: `+` for a new one, `-` for one that is gone, a blank for one that stays."""

    sign: str
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {self.text}"


class Changes(NamedTuple):
    """What differs between two objects: the path that all changes share, the lines below it, and all on one line."""

    path: str
    lines: tuple[ChangedLine, ...]
    short: str = ""


def changes_of(before: Any, after: Any) -> Changes:
    """Return how two objects differ; without fields that the server writes."""
    old: Any = _without_server_fields(to_plain(before))
    new: Any = _without_server_fields(to_plain(after))
    path: list[str] = []
    short = ", ".join(_on_one_line(old, new, "")).replace(REQUIRED, "required…")
    while True:
        differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        inner = [(old.get(key), new.get(key)) for key in differing]
        if len(inner) != 1 or not all(isinstance(side, Mapping) for side in inner[0]):
            break
        path.append(differing[0])
        old, new = inner[0]
    return Changes(".".join(path), tuple(_compare(old, new, "")), short)


def _on_one_line(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield each change with its path: `spec.nodeSelector: + {zone: a}`, `spec.priority: 1 → 2`."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in (key for key in {**old, **new} if old.get(key) != new.get(key)):
            inner = f"{path}[{key}]" if "/" in key or "." in key else f"{path}.{key}".lstrip(".")
            yield from _on_one_line(old.get(key), new.get(key), inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and _both_nested(old, new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                yield from _on_one_line(one, other, f"{path}[{place}]")
    elif isinstance(old, list | None) and isinstance(new, list | None):
        mine, others = old or [], new or []
        if _both_nested(mine, others) or not (mine and others):
            gone = [f"- {flow(item)}" for item in mine if item not in others]
            come = [f"+ {flow(item)}" for item in others if item not in mine]
            yield f"{path}: {' '.join([*gone, *come])}"
        else:
            yield f"{path}: {flow(mine)} → {flow(others)}"
    elif old is None:
        yield f"{path}: + {flow(new)}"
    else:
        yield f"{path}: - {flow(old)}" if new is None else f"{path}: {flow(old)} → {flow(new)}"


def block(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of a value as YAML, short parts in flow style."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _entry(f"{indent}{_scalar(key)}:", inner, indent)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _item(item, indent)
    else:
        yield indent + flow(value)


def flow(value: Any) -> str:
    """Return a value in YAML's flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if PLAIN.match(value) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, default=str)


def _is_short(value: Any, indent: str) -> bool:
    nested = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    parts = (item for inner in nested for item in (inner if isinstance(inner, list) else [inner]))
    deep = any(isinstance(item, Mapping) for item in parts)
    return not deep and len(indent) + len(flow(value)) <= FLOW


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of one entry of a mapping."""
    scalar = not isinstance(value, Mapping | list) or not value
    if scalar or (isinstance(value, list) and _is_short(value, head)):
        yield f"{head} {flow(value)}"
        return
    yield head
    yield from block(value, indent + ("  " if isinstance(value, Mapping) else ""))


def _item(item: Any, indent: str) -> Iterator[str]:
    """Yield the lines of one item of a list."""
    if _is_short(item, indent) or not isinstance(item, Mapping):
        yield f"{indent}- {flow(item)}"
        return
    first, *rest = block(item, indent + "  ")
    yield f"{indent}- {first.lstrip()}"
    yield from rest


def _compare(old: Any, new: Any, indent: str, *, in_list: bool = False) -> Iterator[ChangedLine]:
    """Yield the lines that differ; an item of a list is told from others by its scalars, so these stay."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            if key in old and key in new and old[key] == new[key]:
                if in_list and not isinstance(old[key], Mapping | list):
                    yield ChangedLine(" ", f"{indent}{_scalar(key)}: {flow(old[key])}")
                continue
            head = f"{indent}{_scalar(key)}:"
            if key in old and key in new and _both_nested(old[key], new[key]):
                deeper = indent + ("  " if isinstance(old[key], Mapping) else "")
                yield ChangedLine(" ", head)
                yield from _compare(old[key], new[key], deeper)
                continue
            if key in old:
                yield from (ChangedLine("-", line) for line in _entry(head, old[key], indent))
            if key in new:
                yield from (ChangedLine("+", line) for line in _entry(head, new[key], indent))
    else:
        yield from _compare_lists(old, new, indent)


def _both_nested(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return bool(old and new)
    both = isinstance(old, list) and isinstance(new, list) and bool(old and new)
    return both and any(isinstance(item, Mapping) for item in (*old, *new))


def _compare_lists(old: Sequence[Any], new: Sequence[Any], indent: str) -> Iterator[ChangedLine]:
    left, right = ([json.dumps(item, sort_keys=True, default=str) for item in items] for items in (old, new))
    for verb, start, end, start2, end2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        pairs = list(zip(old[start:end], new[start2:end2], strict=False))
        if verb == "equal":
            shown = list(old[start:end])[:CONTEXT]
            yield from (ChangedLine(" ", line) for item in shown for line in _item(item, indent))
            if end - start > CONTEXT:
                yield ChangedLine(" ", f"{indent}# {end - start - CONTEXT} more, unchanged")
        elif verb == "replace" and end - start == end2 - start2 and all(_are_alike(*pair) for pair in pairs):
            for one, other in pairs:
                first, *rest = _compare(one, other, indent + "  ", in_list=True)
                yield ChangedLine(first.sign, f"{indent}- {first.text.lstrip()}")
                yield from rest
        else:
            yield from (ChangedLine("-", line) for item in old[start:end] for line in _item(item, indent))
            yield from (ChangedLine("+", line) for item in new[start2:end2] for line in _item(item, indent))


def _are_alike(old: Any, new: Any) -> bool:
    """Whether two items are mappings that share a scalar, or that differ in one nested value, as terms do."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return False
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    scalars = [key for key in old if key not in differing and not isinstance(old[key], Mapping | list)]
    nested = len(differing) == 1 and _both_nested(old.get(differing[0]), new.get(differing[0]))
    return nested or (bool(scalars) and len(scalars) + 1 >= len(differing))


def _without_server_fields(plain: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in plain.get("metadata", {}).items() if key not in SERVER_FIELDS}
    return {**plain, "metadata": meta}
