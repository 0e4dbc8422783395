"""Changes of plain data: merge patches, JSON patches, and the three-way merge that `kubectl apply` makes of them.

Pure: nothing that is given changes. What merges, and by which key, stands in `fields.json`; only the few words that
Kubernetes' types have beyond it are listed here. Mirrors RFC 7386, RFC 6902, and `strategicpatch` (v1.36.2).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from .convert import DESIGN_FIELDS, schema

PlainObject = dict[str, Any]
_ABSENT: Any = object()

# patchStrategy of Kubernetes' types where list keys alone do not tell it.
_REPLACED = frozenset({("PodDisruptionBudgetSpec", "selector")})  # always sent whole
_RETAINED = frozenset({  # what the manifest does not name goes: of two sources of a volume only one may be left
    ("PodSpec", "volumes"), ("PodSpec", "resourceClaims"), ("DeploymentSpec", "strategy"),
})  # fmt: skip
_SETS = frozenset({("ObjectMeta", "finalizers"), ("NodeSpec", "podCIDRs")})  # lists of words that merge
_WHOLE = frozenset({("ResourceRequirements", "claims")})  # has keys, yet is replaced


def merge_patch(old: Any, patch: Any) -> Any:
    """Return plain data with a merge patch (RFC 7386) laid over it: mappings merge, null removes."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(old: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """Return plain data after the operations of a JSON patch (RFC 6902), in their order.

    Raises:
        ValueError: an operation names what is not there, or is none; the message says which.
    """
    new = copy.deepcopy(old)
    for operation in operations:
        kind, path = operation.get("op"), str(operation.get("path", ""))
        match kind:
            case "add" | "replace":
                new = _put(new, path, copy.deepcopy(operation.get("value")), over=kind == "replace")
            case "remove":
                new, _ = _taken(new, path)
            case "move" | "copy":
                source = str(operation.get("from", ""))
                value = copy.deepcopy(_at(new, _steps(source), source))
                if kind == "move":
                    new, _ = _taken(new, source)
                new = _put(new, path, value, over=False)
            case "test":
                if _at(new, _steps(path), path) != operation.get("value"):
                    raise ValueError(f"testing path {path} failed")
            case _:
                raise ValueError(f"unknown operation {kind!r} in a JSON patch")
    return new


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise ValueError(f"{path!r} is no path: it must begin with a slash")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _at(data: Any, steps: Sequence[str], path: str) -> Any:
    for step in steps:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            raise ValueError(f"nothing stands at {path}")
    return data


def _put(data: Any, path: str, value: Any, *, over: bool) -> Any:
    steps = _steps(path)
    if not steps:
        return value
    parent, last = _at(data, steps[:-1], path), steps[-1]
    if over:
        _at(parent, [last], path)
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and over:
        parent[int(last)] = value
    elif isinstance(parent, list) and (last == "-" or (last.isdigit() and int(last) <= len(parent))):
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        raise ValueError(f"nothing can be put at {path}")
    return data


def _taken(data: Any, path: str) -> tuple[Any, Any]:
    steps = _steps(path)
    if not steps:
        return None, data
    parent = _at(data, steps[:-1], path)
    found = _at(parent, steps[-1:], path)
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        del parent[int(steps[-1])]
    return data, found


# --- the three-way merge ---------------------------------------------------------------------------------------------


@attrs.frozen
class MergeResult:
    """What a merge came to: the data, and whether kubectl has anything to send (even if it changes nothing)."""

    data: Any
    touched: bool


def apply_manifest(applied: Mapping[str, Any] | None, wanted: Mapping[str, Any], current: Mapping[str, Any]) -> MergeResult:
    """Merge a manifest into what is stored: what it says is set, what it no longer says goes, all else stays.

    Args:
        applied: the manifest that was applied last, None if nobody knows.
        wanted: the manifest, as plain data; its apiVersion and kind say how its lists merge.
        current: the stored object.
    """
    type_name = schema()["kinds"].get(f"{wanted.get('apiVersion')}/{wanted.get('kind')}", "object")
    return _mapping(applied or {}, wanted, current, type_name)


@lru_cache(maxsize=1 << 12)
def _field(type_name: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a field's type and the keys of its list; of what is not known the type `object`."""
    if type_name.startswith("map[string]"):
        return type_name.removeprefix("map[string]"), ()
    declared = schema()["types"].get(type_name, {}).get(name) or DESIGN_FIELDS.get(type_name, {}).get(name, "object")
    if isinstance(declared, str):
        return declared, ()
    keys = () if declared.get("atomic") or (type_name, name) in _WHOLE else tuple(declared.get("keys", ()))
    return declared["type"], keys


def _mapping(
    applied: Mapping[str, Any], wanted: Mapping[str, Any], current: Mapping[str, Any], type_name: str, *,
    retain: bool = False,
) -> MergeResult:  # fmt: skip
    """Merge one mapping; with `retain` nothing stays that the manifest does not name."""
    merged = dict(current)
    touched = False
    for name, value in wanted.items():
        before = current.get(name, _ABSENT)
        if value is None:
            merged.pop(name, None)
            touched = True
        elif before is _ABSENT or not _alike(before, value):
            merged[name] = _without_nulls(value)
            touched = True
        elif not isinstance(value, dict | list):
            merged[name] = value
            touched = touched or value != before
        else:
            part = _value(applied.get(name), value, before, type_name, name)
            merged[name] = part.data
            touched = touched or part.touched
    for name, value in applied.items():
        if value is not None and name not in wanted:
            merged.pop(name, None)
            touched = True
    if retain and (touched or any(name not in wanted for name in current)):
        merged = {name: value for name, value in merged.items() if name in wanted}
        touched = True
    return MergeResult(merged, touched)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return type(one) is type(other)
    return isinstance(one, str) == isinstance(other, str)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value


def _value(applied: Any, value: Any, current: Any, type_name: str, name: str) -> MergeResult:
    """Merge a field that is a mapping or a list on both sides."""
    place = (type_name, name)
    held, keys = _field(type_name, name)
    if isinstance(value, dict):
        if place in _REPLACED:
            return MergeResult(value, touched=True)
        said = applied if isinstance(applied, dict) else {}
        return _mapping(said, value, current, held, retain=place in _RETAINED)
    if isinstance(value, list):
        before = applied if isinstance(applied, list) else None
        if place in _SETS:
            return _words(before, value, current)
        if keys and _keyed(keys[0], value, current, before or ()):
            return _items(before, value, current, held.removeprefix("[]"), keys[0], retain=place in _RETAINED)
    return MergeResult(value, value != current)


def _keyed(key: str, *lists: Sequence[Any]) -> bool:
    """Whether every item of these lists has the key, and no value of it stands twice in one of them."""
    for items in lists:
        if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in items):
            return False
        if len({item[key] for item in items}) < len(items):
            return False
    return True


def _items(
    applied: list[PlainObject] | None, wanted: list[PlainObject], current: list[PlainObject], type_name: str, key: str, *, retain: bool
) -> MergeResult:
    """Merge a list of mappings by their key (the first of its keys, as patches do)."""
    before = {item[key]: item for item in applied or ()}
    there = {item[key]: item for item in current}
    named = {item[key] for item in wanted}
    touched = bool(before.keys() - named)  # what was applied and is no longer named goes
    if applied is not None:
        touched = touched or [item[key] for item in applied] != [item[key] for item in wanted]
    made: list[PlainObject] = []
    for item in wanted:
        held = there.get(item[key])
        if held is None:
            made.append(_without_nulls(item))
            touched = True
        else:
            part = _mapping(before.get(item[key], {}), item, held, type_name, retain=retain)
            made.append(part.data)
            touched = touched or part.touched
    if not touched:
        return MergeResult(current, touched=False)
    stays = [item for item in current if item[key] in named or item[key] not in before]
    others = [item for item in stays if item[key] not in named]
    place = {item[key]: number for number, item in enumerate(stays)}
    new = [item[key] for item in wanted if item[key] not in there]
    # Go's slices share memory: what is added takes the places of what was deleted, and counts as having stood there.
    place |= {name: number for number, name in enumerate(new[: len(current) - len(stays)], len(stays))}
    return MergeResult(_interleaved(others, made, [place[item[key]] for item in others],
                               [place.get(item[key]) for item in made]), touched=True)  # fmt: skip


def _words(applied: list[Any] | None, wanted: list[Any], current: list[Any]) -> MergeResult:
    """Merge a list of words: those named are there, those no longer named go, others stay."""
    gone = [word for word in applied or () if word not in wanted]
    added = [word for word in wanted if word not in current]
    if not gone and not added and (applied is None or applied == wanted):
        return MergeResult(current, touched=False)
    others = [word for word in current if word not in wanted and word not in gone]
    place = {word: number for number, word in enumerate(current)}
    order = [place.get(word) for word in wanted]
    return MergeResult(_interleaved(others, wanted, [place[word] for word in others], order), touched=True)


def _interleaved(left: list[Any], right: list[Any], lefts: Sequence[int], rights: Sequence[int | None]) -> list[Any]:
    """Insert what only the server has (left) into what is wanted (right), before the first that stood behind it."""
    merged: list[Any] = []
    taken = 0
    for item, place in zip(right, rights, strict=True):
        while taken < len(left) and place is not None and lefts[taken] < place:
            merged.append(left[taken])
            taken += 1
        merged.append(item)
    return merged + left[taken:]
