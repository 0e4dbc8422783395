"""Patch plain data: merge patches, JSON patches, and the three-way strategic merge of `kubectl apply`.

Pure: arguments never change. `fields.json` says which lists merge by which key; patch strategies that it lacks are
listed here. Mirrors RFC 7386, RFC 6902, and `strategicpatch` (v1.36.2).
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from .convert import DESIGN_FIELDS, schema

PlainObject = dict[str, Any]
_ABSENT: Any = object()

# patchStrategy of Kubernetes' types where list keys do not imply it.
_REPLACED = frozenset({("PodDisruptionBudgetSpec", "selector")})
_RETAIN_KEYS = frozenset({  # keys that the manifest lacks are removed, so that a volume keeps only one source
    ("PodSpec", "volumes"), ("PodSpec", "resourceClaims"), ("DeploymentSpec", "strategy"),
})  # fmt: skip
_SETS = frozenset({("ObjectMeta", "finalizers"), ("NodeSpec", "podCIDRs")})  # lists of texts that merge
_ATOMIC = frozenset({("ResourceRequirements", "claims")})  # has keys, but is replaced


def merge_patch(old: Any, patch: Any) -> Any:
    """Return plain data with a merge patch (RFC 7386) applied: mappings merge, null removes."""
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
    """Return plain data with the operations of a JSON patch (RFC 6902) applied in their order.

    Raises:
        ValueError: an operation is unknown, or its path does not exist.
    """
    patched = copy.deepcopy(old)
    if not isinstance(operations, list | tuple) or not all(isinstance(each, Mapping) for each in operations):
        raise ValueError("a JSON patch is a list of operations, each a mapping with op and path")
    for operation in operations:
        kind, path = operation.get("op"), str(operation.get("path", ""))
        match kind:
            case "add" | "replace":
                patched = _set_at(patched, path, copy.deepcopy(operation.get("value")), replace=kind == "replace")
            case "remove":
                patched = _remove_at(patched, path)
            case "move" | "copy":
                source = str(operation.get("from", ""))
                value = copy.deepcopy(_value_at(patched, _path_steps(source), source))
                if kind == "move":
                    patched = _remove_at(patched, source)
                patched = _set_at(patched, path, value, replace=False)
            case "test":
                if _value_at(patched, _path_steps(path), path) != operation.get("value"):
                    raise ValueError(f"testing path {path} failed")
            case _:
                raise ValueError(f"unknown operation {kind!r} in a JSON patch")
    return patched


def _path_steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise ValueError(f"{path!r} is no path: it must begin with a slash")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _value_at(data: Any, steps: Sequence[str], path: str) -> Any:
    for step in steps:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            raise ValueError(f"there is no value at {path}")
    return data


def _set_at(data: Any, path: str, value: Any, *, replace: bool) -> Any:
    steps = _path_steps(path)
    if not steps:
        return value
    parent, last = _value_at(data, steps[:-1], path), steps[-1]
    if replace:
        _value_at(parent, [last], path)
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and replace:
        parent[int(last)] = value
    elif isinstance(parent, list) and (last == "-" or (last.isdigit() and int(last) <= len(parent))):
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        raise ValueError(f"no value can be added at {path}")
    return data


def _remove_at(data: Any, path: str) -> Any:
    steps = _path_steps(path)
    if not steps:
        return None
    parent = _value_at(data, steps[:-1], path)
    _value_at(parent, steps[-1:], path)
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        del parent[int(steps[-1])]
    return data


@attrs.frozen
class MergeResult:
    """Merged data, and whether kubectl sends a patch, which may change nothing."""

    data: Any
    patched: bool


def apply_manifest(applied: Mapping[str, Any] | None, wanted: Mapping[str, Any],
                   current: Mapping[str, Any]) -> MergeResult:
    """Merge a manifest into the stored object as `kubectl apply` does.

    Fields of the manifest are set, fields of the last applied manifest (None: unknown) that it lacks are removed, all
    others stay. All are plain data; apiVersion and kind of the manifest say how its lists merge.
    """
    type_name = schema()["kinds"].get(f"{wanted.get('apiVersion')}/{wanted.get('kind')}", "object")
    return _merge_mapping(applied or {}, wanted, current, type_name)


@lru_cache(maxsize=1 << 12)
def _field_type(type_name: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a field's type, `object` if it is unknown, and the keys of its list."""
    if type_name.startswith("map[string]"):
        return type_name.removeprefix("map[string]"), ()
    declared = schema()["types"].get(type_name, {}).get(name) or DESIGN_FIELDS.get(type_name, {}).get(name, "object")
    if isinstance(declared, str):
        return declared, ()
    keys = () if declared.get("atomic") or (type_name, name) in _ATOMIC else tuple(declared.get("keys", ()))
    return declared["type"], keys


@attrs.frozen
class ListStrategy:
    """How a field merges: the type of its items (or of the mapping), and how.

    `key`: a list merges by this key; `is_set`: a list of texts that merges; `replaces`: a mapping that is replaced.
    """

    type: str
    key: str = ""
    is_set: bool = False
    replaces: bool = False


def list_strategy(type_name: str, name: str) -> ListStrategy:
    """Return how a field of a type merges in a strategic merge patch."""
    field_type, keys = _field_type(type_name, name)
    field_key = (type_name, name)
    key = keys[0] if keys else ""
    return ListStrategy(field_type.removeprefix("[]"), key, field_key in _SETS, field_key in _REPLACED)


def _merge_mapping(applied: Mapping[str, Any], wanted: Mapping[str, Any], current: Mapping[str, Any], type_name: str, *,
                   retain: bool = False) -> MergeResult:
    """Merge one mapping; with `retain` only keys of the manifest stay."""
    merged = dict(current)
    patched = False
    for name, value in wanted.items():
        before = current.get(name, _ABSENT)
        if value is None:
            merged.pop(name, None)
            patched = True
        elif before is _ABSENT or not _same_json_type(before, value):
            merged[name] = _without_nulls(value)
            patched = True
        elif not isinstance(value, dict | list):
            merged[name] = value
            patched = patched or value != before
        else:
            part = _merge_field(applied.get(name), value, before, type_name, name)
            merged[name] = part.data
            patched = patched or part.patched
    for name, value in applied.items():
        if value is not None and name not in wanted:
            merged.pop(name, None)
            patched = True
    if retain and (patched or any(name not in wanted for name in current)):
        merged = {name: value for name, value in merged.items() if name in wanted}
        patched = True
    return MergeResult(merged, patched)


def _same_json_type(old: Any, new: Any) -> bool:
    if isinstance(old, dict | list) or isinstance(new, dict | list):
        return type(old) is type(new)
    return isinstance(old, str) == isinstance(new, str)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value


def _merge_field(applied: Any, value: Any, current: Any, type_name: str, name: str) -> MergeResult:
    """Merge a field that is a mapping or a list in manifest and stored object."""
    field_key = (type_name, name)
    field_type, keys = _field_type(type_name, name)
    if isinstance(value, dict):
        if field_key in _REPLACED:
            return MergeResult(value, patched=True)
        applied_fields = applied if isinstance(applied, dict) else {}
        return _merge_mapping(applied_fields, value, current, field_type, retain=field_key in _RETAIN_KEYS)
    if isinstance(value, list):
        applied_items = applied if isinstance(applied, list) else None
        if field_key in _SETS:
            return _merge_set(applied_items, value, current)
        if keys and _have_unique_keys(keys[0], value, current, applied_items or ()):
            item_type, retain = field_type.removeprefix("[]"), field_key in _RETAIN_KEYS
            return _merge_keyed_list(applied_items, value, current, item_type, keys[0], retain=retain)
    return MergeResult(value, value != current)


def _have_unique_keys(key: str, *lists: Sequence[Any]) -> bool:
    """Say whether every item of these lists has the key, with unique values in each list."""
    for items in lists:
        if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in items):
            return False
        if len({item[key] for item in items}) < len(items):
            return False
    return True


def _merge_keyed_list(applied: list[PlainObject] | None, wanted: list[PlainObject], current: list[PlainObject],
                      type_name: str, key: str, *, retain: bool) -> MergeResult:
    """Merge a list of mappings by a key (the first of the list's keys, as patches do)."""
    applied_items = {item[key]: item for item in applied or ()}
    current_items = {item[key]: item for item in current}
    wanted_keys = {item[key] for item in wanted}
    patched = bool(applied_items.keys() - wanted_keys)
    if applied is not None:
        patched = patched or [item[key] for item in applied] != [item[key] for item in wanted]
    merged_items: list[PlainObject] = []
    for item in wanted:
        current_item = current_items.get(item[key])
        if current_item is None:
            merged_items.append(_without_nulls(item))
            patched = True
        else:
            part = _merge_mapping(applied_items.get(item[key], {}), item, current_item, type_name, retain=retain)
            merged_items.append(part.data)
            patched = patched or part.patched
    if not patched:
        return MergeResult(current, patched=False)
    remaining = [item for item in current if item[key] in wanted_keys or item[key] not in applied_items]
    unnamed = [item for item in remaining if item[key] not in wanted_keys]
    index_of = {item[key]: number for number, item in enumerate(remaining)}
    new = [item[key] for item in wanted if item[key] not in current_items]
    # Go's slices share memory: added items take the indices of deleted ones and are ordered by them.
    index_of |= {name: number for number, name in enumerate(new[: len(current) - len(remaining)], len(remaining))}
    merged = interleaved(unnamed, merged_items, [index_of[item[key]] for item in unnamed],
                         [index_of.get(item[key]) for item in merged_items])
    return MergeResult(merged, patched=True)


def _merge_set(applied: list[Any] | None, wanted: list[Any], current: list[Any]) -> MergeResult:
    """Merge a list of texts: the manifest's are set, those it no longer has are removed, others stay."""
    removed = [word for word in applied or () if word not in wanted]
    added = [word for word in wanted if word not in current]
    if not removed and not added and (applied is None or applied == wanted):
        return MergeResult(current, patched=False)
    unnamed = [word for word in current if word not in wanted and word not in removed]
    index_of = {word: number for number, word in enumerate(current)}
    order = [index_of.get(word) for word in wanted]
    return MergeResult(interleaved(unnamed, wanted, [index_of[word] for word in unnamed], order), patched=True)


def interleaved(left: list[Any], right: list[Any], left_indices: Sequence[int],
                right_indices: Sequence[int | None]) -> list[Any]:
    """Insert the server's items (left) into the wanted ones (right), each before the first that followed it."""
    merged: list[Any] = []
    count = 0
    for item, index in zip(right, right_indices, strict=True):
        while count < len(left) and index is not None and left_indices[count] < index:
            merged.append(left[count])
            count += 1
        merged.append(item)
    return merged + left[count:]
