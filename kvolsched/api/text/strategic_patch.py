"""Strategic merge patches: mappings merge, and lists merge by the keys that Kubernetes' types declare, with directives.

Directives: `$patch: replace | delete` in a mapping or an item of a list, `$retainKeys`, `$setElementOrder/FIELD` and
`$deleteFromPrimitiveList/FIELD`. Mirrors `strategicpatch.StrategicMergePatch` (v1.36.2).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from .convert import schema
from .patches import PlainObject, interleaved, list_strategy

PATCH, RETAIN = "$patch", "$retainKeys"
DELETE_FROM, ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
_ABSENT: Any = object()


def strategic_patch(old: Mapping[str, Any], patch: Any) -> PlainObject:
    """Return plain data with a strategic merge patch applied; the object's apiVersion and kind say how lists merge.

    Raises:
        ValueError: a directive is malformed, or an item lacks its list's key.
    """
    if not isinstance(patch, Mapping):
        raise ValueError(f"a strategic merge patch is a mapping, not {patch!r}")  # noqa: TRY004 - a client's bad request
    type_name = schema()["kinds"].get(f"{old.get('apiVersion')}/{old.get('kind')}", "object")
    return _merge(copy.deepcopy(dict(old)), copy.deepcopy(dict(patch)), type_name)


def _merge(old: PlainObject, patch: PlainObject, type_name: str) -> PlainObject:
    directive = patch.pop(PATCH, None)
    if directive == "replace":
        return patch
    if directive == "delete":
        return {}
    if directive is not None:
        raise ValueError(f"unknown patch type found: {directive} in map: {patch}")
    merged = _retained(old, patch)
    _merge_ordered_lists(merged, patch, type_name)
    for name, value in patch.items():
        removes = name.startswith(DELETE_FROM)
        field = name.removeprefix(DELETE_FROM)
        before = merged.get(field, _ABSENT)
        if value is None:
            merged.pop(field, None)
        elif before is _ABSENT:
            if not removes:
                merged[field] = _without_nulls(value)
        elif removes:
            merged[field] = [item for item in before if item not in value]
        elif isinstance(value, dict) and isinstance(before, dict):
            strategy = list_strategy(type_name, field)
            merged[field] = value if strategy.replaces else _merge(before, value, strategy.type)
        elif isinstance(value, list) and isinstance(before, list):
            merged[field] = _merge_list(before, value, type_name, field)
        else:
            merged[field] = value
    return merged


def _retained(old: PlainObject, patch: PlainObject) -> PlainObject:
    """Return the keys of a mapping that `$retainKeys` keeps; all if the patch has no such directive."""
    keep = patch.pop(RETAIN, None)
    if keep is None:
        return old
    fields = [name for name in patch if not name.startswith("$")]
    if not isinstance(keep, list) or any(name not in keep for name in fields):
        raise ValueError(f"invalid patch format of retainKeys: {keep!r} must be a list with every field of the patch")
    return {name: value for name, value in old.items() if name in keep}


def _without_nulls(value: Any) -> Any:
    """Return new data without nulls and directives."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None and name[:1] != "$"}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if not (isinstance(item, dict) and item.get(PATCH) == "delete")]
    return value


def _merge_list(old: list[Any], patch: list[Any], type_name: str, field: str) -> list[Any]:
    """Merge a list of a patch into the stored one, and order the result as the patch does."""
    strategy = list_strategy(type_name, field)
    if strategy.is_set:
        merged = list(dict.fromkeys([*old, *patch]))
        return _ordered(merged, list(dict.fromkeys(patch)), old, "")
    if not strategy.key:
        return patch
    items, kept, replaces = _follow_directives(old, patch, strategy.key)
    if replaces:
        return kept
    merged = list(kept)
    for item in items:
        name = _key_of(item, strategy.key)
        place = next((n for n, there in enumerate(merged) if there.get(strategy.key) == name), None)
        if place is None:
            merged.append(_without_nulls(item))
        else:
            merged[place] = _merge(merged[place], item, strategy.type)
    order, before = [item[strategy.key] for item in items], [item.get(strategy.key) for item in old]
    return _ordered(merged, order, before, strategy.key)


def _follow_directives(old: list[Any], patch: list[Any], key: str) -> tuple[list[PlainObject], list[Any], bool]:
    """Return the patch's items without directives, the stored items that remain, and whether they are all there is."""
    items = [item for item in patch if isinstance(item, dict) and PATCH not in item]
    special = [item for item in patch if isinstance(item, dict) and PATCH in item]
    if len(items) + len(special) < len(patch):
        raise ValueError(f"cannot merge: the items of this list are mappings with the key {key}, not {patch!r}")
    kept = old
    for item in special:
        match item[PATCH]:
            case "replace":
                return items, items, True
            case "delete":
                gone = _key_of(item, key)
                kept = [there for there in kept if there.get(key) != gone]
            case "merge":
                raise ValueError("merging lists cannot yet be specified in the patch")
            case other:
                raise ValueError(f"unknown patch type found: {other} in map: {item}")
    return items, kept, False


def _key_of(item: Mapping[str, Any], key: str) -> Any:
    if key not in item:
        raise ValueError(f"map: {dict(item)!r} does not contain declared merge key: {key}")
    return item[key]


def _ordered(merged: list[Any], order: Sequence[Any], old: Sequence[Any], key: str) -> list[Any]:
    """Return merged items: those of the patch in its order, each other before the first that it stood before."""

    def name(item: Any) -> Any:
        return item.get(key) if key else item

    named = sorted((item for item in merged if name(item) in order), key=lambda item: order.index(name(item)))
    others = [item for item in merged if name(item) not in order]
    index_of = {word: number for number, word in reversed(list(enumerate(old)))}
    left = [index_of.get(name(item), len(old)) for item in others]
    return interleaved(others, named, left, [index_of.get(name(item)) for item in named])


def _merge_ordered_lists(merged: PlainObject, patch: PlainObject, type_name: str) -> None:
    """Merge the lists whose order the patch gives by `$setElementOrder`, and take them out of the patch."""
    for directive in [name for name in patch if name.startswith(ORDER)]:
        order, field = patch.pop(directive), directive.removeprefix(ORDER)
        strategy = list_strategy(type_name, field)
        if not isinstance(order, list) or not (strategy.key or strategy.is_set):
            raise ValueError(f"invalid patch format of setElementOrder list: {field} is no list that merges by a key")
        old, change = merged.get(field), patch.pop(field, None)
        words = [_key_of(item, strategy.key) if strategy.key else item for item in order]
        for item in change or ():
            if not (isinstance(item, dict) and PATCH in item) and _named(item, strategy.key) not in words:
                lacking = f"{field} lacks {_named(item, strategy.key)}"
                raise ValueError(f"invalid patch format of setElementOrder list: {lacking}")
        gone = patch.pop(DELETE_FROM + field, [])
        if old is None:
            result = _without_nulls(change or [])
        else:
            result = _merge_list(old, change, type_name, field) if change else old
            result = [item for item in result if item not in gone]
        if result or old is not None:
            merged[field] = _ordered(result, words, [_named(item, strategy.key) for item in old or ()], strategy.key)


def _named(item: Any, key: str) -> Any:
    return item.get(key) if key else item
