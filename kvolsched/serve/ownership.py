"""Who owns which field: `managedFields`, and server-side apply, which merges by them.

A field is a path of elements as FieldsV1 writes them: `f:spec`, `k:{"name":"app"}`, `v:"finalizer"`. Each write gives
its manager the fields that it changed; an apply gives its manager the fields that it names, and takes away those that
it no longer does. Mirrors structured-merge-diff `merge.Updater` and apimachinery `managedfields` (v1.36.2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from ..api.defaults import with_defaults
from ..api.kinds.meta import EMPTY, Frozen, freeze, thaw
from ..api.text.convert import schema, to_plain
from ..api.text.patches import list_strategy
from ..api.validation.structural_schema import schema_of
from ..core.user_commands import LAST_APPLIED
from .resources import Resource
from .status import StatusError

Path = tuple[str, ...]
APPLY_OPERATION, UPDATE_OPERATION = "Apply", "Update"
KUBECTL = "kubectl"
BEFORE = "before-first-apply"  # owns what was there when the first client of a served cluster wrote
_ITEM, _TWICE = "an item", "an item, as others are"  # values of a path to an item of a list
_IGNORED = {("f:apiVersion",), ("f:kind",), ("f:metadata",), *(("f:metadata", f"f:{name}") for name in (
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion",
    "deletionTimestamp", "deletionGracePeriodSeconds"))}  # fmt: skip
# Types and fields whose values are replaced as a whole (x-kubernetes-map-type: atomic).
_ATOMIC_TYPES = frozenset({
    "LabelSelector", "NodeSelector", "NodeSelectorTerm", "ObjectReference", "LocalObjectReference", "OwnerReference",
    "TypedLocalObjectReference", "ObjectFieldSelector", "ResourceFieldSelector", "ConfigMapKeySelector",
    "SecretKeySelector", "ScopeSelector", "SecretReference",
})  # fmt: skip
_ATOMIC_MAPS = frozenset({"PodSpec.nodeSelector", "ServiceSpec.selector", "ReplicationControllerSpec.selector",
                          "Scheduling.nodeSelector"})  # fmt: skip


@attrs.frozen
class _Field:
    """How a field merges: the type of its value (or items), whether as a whole, and the keys of its items."""

    type: str
    is_atomic: bool = False
    keys: tuple[str, ...] = ()
    is_set: bool = False
    schema: Frozen | None = None  # of a custom resource, or of the items of its list

    @property
    def item(self) -> _Field:
        """How an item of a list merges."""
        return _Field(self.type, schema=self.schema)


def _root(resource: Resource) -> _Field:
    """Return how an object of a resource merges."""
    if resource.defined is not None:
        return _Field("object", schema=resource.schema)
    return _Field(resource.kind if resource.is_modelled else "object")


def _inner(field: _Field, name: str, path: Path) -> _Field:
    """Return how a part of a mapping merges."""
    if not path and name == "metadata":
        return _Field("ObjectMeta")
    if field.schema is None:
        return _field(field.type, name)
    declared = schema_of(field.schema, name) or EMPTY
    how = declared.get("x-kubernetes-list-type")
    keys = tuple(declared.get("x-kubernetes-list-map-keys", ())) if how == "map" else ()
    is_atomic = declared.get("x-kubernetes-map-type") == "atomic"
    inner = declared.get("items", EMPTY) if declared.get("type") == "array" else declared
    return _Field("object", is_atomic, keys, how == "set", freeze(inner))


@lru_cache(maxsize=1 << 12)
def _field(type_name: str, name: str) -> _Field:
    if type_name.startswith("map[string]"):
        return _Field(type_name.removeprefix("map[string]"))
    declared = schema()["types"].get(type_name, {}).get(name, "object")
    detail = declared if isinstance(declared, dict) else {"type": declared}
    found = detail["type"]
    item = found.removeprefix("[]")
    keys = () if detail.get("atomic") else tuple(detail.get("keys", ()))
    whole = bool(detail.get("atomic")) or f"{type_name}.{name}" in _ATOMIC_MAPS or found in _ATOMIC_TYPES
    return _Field(item, whole, keys, found == "[]string" and list_strategy(type_name, name).is_set)


def fields_of(resource: Resource, plain: Mapping[str, Any]) -> dict[Path, Any]:
    """Return the fields of an object by their paths, without those that only servers write."""
    found: dict[Path, Any] = {}
    _collect(plain, _root(resource), (), found)
    return {path: _ITEM if value is _TWICE else value for path, value in found.items() if path not in _IGNORED}


def untyped(resource: Resource, config: Mapping[str, Any], unknown: Sequence[str]) -> list[str]:
    """Return what a server says of fields that nobody can own: unknown ones, and items with the keys of another."""
    if unknown:
        return [f"{_typed_path(resource, config, path)}: field not declared in schema" for path in unknown]
    found: dict[Path, Any] = {}
    _collect(config, _root(resource), (), found)
    twice = [path for path, value in found.items() if value is _TWICE]
    return [f"{_path_text(path[:-1])}: duplicate entries for key {_path_text(path[-1:])}" for path in twice]


def _collect(value: Any, field: _Field, path: Path, found: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value and not field.is_atomic:
        for name, inner in value.items():
            if inner is not None:
                _collect(inner, _inner(field, name, path), (*path, f"f:{name}"), found)
    elif isinstance(value, list) and field.keys:
        for item in value:
            place = (*path, _element(item, field))
            found[place] = _TWICE if place in found else _ITEM
            _collect(item, field.item, place, found)
    elif isinstance(value, list) and field.is_set:
        found |= {(*path, f"v:{json.dumps(item)}"): _ITEM for item in value}
    else:
        found[path] = value


def _element(item: Any, field: _Field) -> str:
    """Return the path element of an item of a list with keys."""
    if not isinstance(item, dict):
        return f"v:{json.dumps(item)}"
    types = schema()["types"].get(field.type, {}) if field.schema is None else field.schema.get("properties", {})
    defaults = {key: types[key].get("default") for key in field.keys if isinstance(types.get(key), dict)}
    named = {key: item.get(key, defaults.get(key)) for key in field.keys}
    return "k:" + json.dumps({key: value for key, value in named.items() if value is not None}, sort_keys=True,
                             separators=(",", ":"))  # fmt: skip


@attrs.frozen
class Manager:
    """One owner: its name, operation, version of the API and subresource; `fields` are what it owns."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    fields: frozenset[Path] = frozenset()

    def is_same(self, other: Manager) -> bool:
        """Say whether another entry is of this owner."""
        return (self.name, self.operation, self.subresource) == (other.name, other.operation, other.subresource)

    def __str__(self) -> str:
        words = f'"{self.name}"' + (f' with subresource "{self.subresource}"' if self.subresource else "")
        if self.operation == APPLY_OPERATION:
            return words
        return f"{words} using {self.api_version}"


def _managers_of(resource: Resource, obj: Any) -> list[Manager]:
    """Return the owners of an object's fields; if no client of a server has written it yet, `BEFORE` owns them."""
    known = read_managers(obj.metadata.rest.get("managedFields", ())) if obj is not None else []
    if known or obj is None:
        return known
    fields = frozenset(_settable(resource, "", fields_of(resource, to_plain(obj))))
    return [Manager(BEFORE, UPDATE_OPERATION, resource.api_version, "", obj.metadata.creation_timestamp or "", fields)]


def _settable(resource: Resource, subresource: str, fields: Mapping[Path, Any]) -> Mapping[Path, Any]:
    """Return the fields that a write of an object sets, or one of its status."""
    if not resource.has_status:
        return fields
    of_status = subresource == "status"
    return {path: value for path, value in fields.items() if (path[0] == "f:status") is of_status}


def read_managers(entries: Any) -> list[Manager]:
    """Return the owners that a client or an object lists; none if the list is malformed."""
    try:
        return [Manager(each.get("manager", ""), each.get("operation", ""), each.get("apiVersion", ""),
                        each.get("subresource", ""), each.get("time", ""), frozenset(_paths(each.get("fieldsV1", {}))))
                for each in entries]  # fmt: skip
    except (AttributeError, TypeError):
        return []


def _paths(node: Mapping[str, Any], path: Path = ()) -> Iterable[Path]:
    if path and (not node or "." in node):
        yield path
    for name, inner in node.items():
        if name != ".":
            yield from _paths(inner, (*path, name))


def _tree(paths: Iterable[Path]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in sorted(paths):
        node = tree
        for element in path[:-1]:
            node = node.setdefault(element, {})
            if not node:
                node["."] = {}
        node.setdefault(path[-1], {})
    return _without_marks(tree, frozenset(paths), ())


def _without_marks(node: Mapping[str, Any], members: frozenset[Path], path: Path) -> dict[str, Any]:
    """Return a tree in which only members with parts below them are marked by a dot."""
    found = {name: _without_marks(inner, members, (*path, name)) for name, inner in node.items() if name != "."}
    return {".": {}, **found} if found and path in members else found


def with_managers(obj: Any, managers: Iterable[Manager]) -> Any:
    """Return an object with these owners of its fields, those that apply first, then in the order of time."""
    entries = []
    for each in sorted(managers, key=lambda each: (each.operation, each.time, each.name, each.subresource)):
        if each.fields:
            entry = {"manager": each.name, "operation": each.operation, "apiVersion": each.api_version,
                     "time": each.time, "fieldsType": "FieldsV1", "fieldsV1": _tree(each.fields)}  # fmt: skip
            entries.append({**entry, "subresource": each.subresource} if each.subresource else entry)
    rest = obj.metadata.rest.with_(managedFields=freeze(entries) or None)
    return attrs.evolve(obj, metadata=attrs.evolve(obj.metadata, rest=rest))


def updated(resource: Resource, old: Any, new: Any, manager: Manager, given: Any = ()) -> Any:
    """Return an object that a manager wrote: it owns what it changed, defaults included, and nobody what is gone.

    `given` are the owners that the client itself lists; without any, the stored ones stay.
    """
    before = fields_of(resource, to_plain(old)) if old is not None else {}
    after = fields_of(resource, to_plain(with_defaults(new)))
    stored = _managers_of(resource, old)
    known = [attrs.evolve(each, time=next((own.time for own in stored if own.is_same(each)), manager.time))
             for each in read_managers(given)]  # fmt: skip
    changed = {path for path, value in _settable(resource, manager.subresource, after).items()
               if before.get(path, _Field) != value}  # fmt: skip
    if old is not None and not changed and before.keys() == after.keys():
        return with_managers(new, known or read_managers(old.metadata.rest.get("managedFields", ())))
    known = known or stored
    if not any(each.is_same(manager) for each in known):
        known.append(manager)
    found = []
    for each in known:
        is_ours = each.is_same(manager)
        fields = (each.fields | changed if is_ours else each.fields - changed) & after.keys()
        found.append(attrs.evolve(each, fields=fields, time=manager.time if is_ours and changed else each.time))
    return with_managers(new, found)


def applied(resource: Resource, live: Any, config: Mapping[str, Any], manager: Manager, *, force: bool,
            ) -> tuple[dict[str, Any], list[Manager]]:
    """Return what a manager's apply makes of a stored object or None, as plain data, and the owners of its fields.

    `force` takes fields that others own.
    """
    before = to_plain(live) if live is not None else {}
    wanted, present = _settable(resource, manager.subresource, fields_of(resource, config)), fields_of(resource, before)
    known = _managers_of(resource, live)
    others = [each for each in known if not each.is_same(manager)]
    last = next((each for each in known if each.is_same(manager)), manager)
    differing = {path for path, value in wanted.items() if path in present and present[path] != value}
    clashes = [(each, path) for each in others for path in sorted(each.fields & differing)]
    earlier = _last_applied(resource, before) if manager.name == KUBECTL else {}
    refused = [clash for clash in clashes if earlier.get(clash[1], _Field) != present[clash[1]]]
    if refused and not force:
        raise _conflict(refused)
    taken = frozenset(path for _, path in clashes)
    others = [attrs.evolve(each, fields=each.fields - taken) for each in others]
    kept = frozenset[Path]().union(*(each.fields for each in others))
    asked = thaw(config) if manager.subresource or not resource.has_status else {**thaw(config), "status": None}
    merged = _merge(before, {name: value for name, value in asked.items() if value is not None}, _root(resource), ())
    gone = {path for path in last.fields - wanted.keys() if not any(other[: len(path)] == path for other in kept)}
    merged = _without(merged, _root(resource), (), gone)
    if earlier:  # what a client-side apply would compare with next
        text = json.dumps(config, sort_keys=True, separators=(",", ":"))
        merged["metadata"]["annotations"][LAST_APPLIED] = f"{text}\n"
    fields = frozenset(wanted)
    time = last.time if (merged, fields) == (before, last.fields) else manager.time
    return merged, [*others, attrs.evolve(manager, fields=fields, time=time)]


def _last_applied(resource: Resource, plain: Mapping[str, Any]) -> dict[Path, Any]:
    """Return the fields that kubectl's client-side apply asked for last, which its server-side apply takes over."""
    try:
        found = json.loads(plain.get("metadata", {}).get("annotations", {}).get(LAST_APPLIED, "{}"))
    except ValueError:
        return {}
    return fields_of(resource, found) if found and isinstance(found, dict) else {}


def _merge(live: Any, config: Any, field: _Field, path: Path) -> Any:
    """Merge what a manager wants into the live value, by the rules of its field."""
    if isinstance(config, dict) and isinstance(live, dict) and not field.is_atomic:
        merged = dict(live)
        for name, value in config.items():
            merged[name] = _merge(live.get(name), value, _inner(field, name, path), (*path, f"f:{name}"))
        return merged
    if isinstance(config, list) and isinstance(live, list) and field.keys:
        there = {_element(item, field): item for item in live}
        asked = {_element(item, field): item for item in config}
        changed = {name: _merge(there.get(name), item, field.item, (*path, name)) for name, item in asked.items()}
        return list({**there, **changed}.values())
    if isinstance(config, list) and isinstance(live, list) and field.is_set:
        return [*live, *(item for item in config if item not in live)]
    return config


def _without(value: Any, field: _Field, path: Path, gone: set[Path]) -> Any:
    """Return a value without the fields at these paths."""
    if isinstance(value, dict) and not field.is_atomic:
        kept = {name: _without(inner, _inner(field, name, path), (*path, f"f:{name}"), gone)
                for name, inner in value.items() if (*path, f"f:{name}") not in gone}  # fmt: skip
        return {name: inner for name, inner in kept.items() if inner not in ({}, []) or value[name] == inner}
    if isinstance(value, list) and field.keys:
        places = [(*path, _element(item, field)) for item in value]
        return [_without(item, field.item, place, gone) for item, place in zip(value, places, strict=True)
                if place not in gone]  # fmt: skip
    if isinstance(value, list) and field.is_set:
        return [item for item in value if (*path, f"v:{json.dumps(item)}") not in gone]
    return value


def _conflict(clashes: Sequence[tuple[Manager, Path]]) -> StatusError:
    causes = [{"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": _path_text(path)}
              for manager, path in clashes]  # fmt: skip
    if len(clashes) == 1:
        words = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = []
        for name in sorted({str(manager) for manager, _ in clashes}):
            lines.append(f"conflicts with {name}:")
            lines += [f"- {_path_text(path)}" for manager, path in clashes if str(manager) == name]
        words = f"{len(clashes)} conflicts: " + "\n".join(lines)
    return StatusError("Conflict", f"Apply failed with {words}", {"causes": causes})


def _typed_path(resource: Resource, config: Any, path: str) -> str:
    """Return the path of a field in a config with the keys of items in place of their numbers."""
    field, value, found = _root(resource), config, Path()
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, list):
            element = _element(value[int(step)], field) if field.keys else f"i:{step}"
            field, value, found = field.item, value[int(step)], (*found, element)
        else:
            field, value, found = _inner(field, step, found), value.get(step), (*found, f"f:{step}")
    return _path_text(found)


def _path_text(path: Path) -> str:
    """Return a path as structured-merge-diff writes it: `.spec.containers[name="app"].image`."""
    text = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            text += "[" + ",".join(f"{name}={json.dumps(value)}" for name, value in json.loads(rest).items()) + "]"
        else:
            text += f"[={rest}]" if kind == "v" else f"[{rest}]"
    return text
