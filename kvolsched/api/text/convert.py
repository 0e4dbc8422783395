"""Convert plain data to objects and back, by one generic converter for all kinds.

`fields.json` lists the fields of Kubernetes and their types, the attrs classes those that are modelled; nothing here is
written for a single field. Fields that no class models are checked too, and kept in the object's `rest`. Readers and
writers are built once for each class and never change their input.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import attrs

from ..kinds import quantity
from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import Frozen, freeze, thaw
from .fault import Fault, ManifestError, PathChain, Problem, format_path, format_value, path_steps, suggest_nearest

Reader = Callable[[Any, PathChain, list[Problem]], Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def _cached(function: Function) -> Function:
    """Cache a function as `functools.cache` does, but keep its type."""
    return typing.cast(Function, cache(function))


# Field names of the design documents: accepted, reported as "spelling", and replaced by the name that shipped.
DESIGN_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "ObjectMeta": {"Name": "name"}, "StorageClass": {"bindingMode": "volumeBindingMode"},
    "NodeSelectorTerm": {"fieldExpressions": "matchFields"},
    "PodSpec": {"topologySpreadConstraint": "topologySpreadConstraints"},
    "TopologySpreadConstraint": {"selector": "labelSelector"}, "GCEPersistentDiskVolumeSource": {"diskName": "pdName"},
}
# Defaults where a document's spelling is used (S3; Kubernetes requires both fields).
SPELLING_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "TopologySpreadConstraint": {"max_skew": 1, "when_unsatisfiable": "DoNotSchedule"}
}
# Fields of the design documents that Kubernetes does not have: accepted, reported as "design".
DESIGN_FIELDS: Mapping[str, Mapping[str, Any]] = {  # the first is of S0, all others of S2
    "PersistentVolumeClaimStatus": {"content": {"type": "string", "enum": ["clean", "dirty"]}},
    "CSIVolumeSource": {"fsSize": "quantity"},
    "CSIDriverSpec": {"capacityTracking": "boolean"},
    "CSIDriver": {"status": "CSIDriverStatus"},
    "CSIDriverStatus": {"storage": {"type": "[]CSIStorage", "keys": ["storageClassName"]}},
    "CSIStorage": {"storageClassName": "string", "pools": {"type": "[]CSIStoragePool", "keys": ["name"]}},
    "CSIStoragePool": {
        "name": "string", "nodeTopology": "NodeSelector", "nodeList": "[]string", "capacity": "quantity",
        "expiryTime": "time",
    },
}
# Rules whose problems do not prevent decoding; validation judges enumerations.
DECODABLE_RULES = frozenset({"enum", "spelling", "design"})
_KEEP_IN_REST = object()  # returned by a reader for a value that the attribute cannot hold
_HEAD = {"apiVersion", "kind"}
_INTEGERS = {"int32": 2**31, "int64": 2**63}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d([.,]\d+)?([Zz]|[+-]\d\d:\d\d)")


@_cached
def schema() -> Mapping[str, Any]:
    """Return fields.json: `kinds` (apiVersion/kind to type name) and `types` (type to fields)."""
    text = Path(__file__).with_name("fields.json").read_text(encoding="utf-8")
    return typing.cast(Mapping[str, Any], json.loads(text))


def decode(data: Mapping[str, Any]) -> tuple[Any, list[Problem]]:
    """Return the object of plain data, and all problems in it.

    The object is of its kind's class, or a `Frozen` mapping if no class models the kind. Only problems of the rules
    `DECODABLE_RULES` leave a valid object.
    """
    api_version, kind = data.get("apiVersion", ""), data.get("kind", "")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return freeze(data), []
    found = KINDS_BY_NAME.get(kind)
    cls = found.type if found is not None and found.type.api_version == api_version else None
    type_name = schema()["kinds"].get(f"{api_version}/{kind}")
    if type_name is None:
        return freeze(data), []
    problems: list[Problem] = []
    return _reader(type_name, cls)(data, None, problems), problems


def from_plain(data: Mapping[str, Any]) -> Any:
    """Return the object of plain data (as JSON or YAML holds it), a `Frozen` mapping if its kind is not modelled.

    Raises:
        ManifestError: unknown fields, wrong types or bad quantities; enumerations are left to validation.
    """
    found, problems = decode(data)
    faults = [
        Fault(object=object_reference(data), path=problem.field, rule=problem.rule, value=problem.value,
              message=problem.message)
        for problem in problems
        if problem.rule not in DECODABLE_RULES
    ]
    if not data.get("kind") or not data.get("apiVersion"):
        missing = "apiVersion" if data.get("kind") else "kind"
        faults.append(Fault(path=missing, rule="required", message=f"{missing} is missing"))
    if faults:
        raise ManifestError(faults)
    return found


def without_unknown(data: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return plain data without the fields that nothing knows, and their paths."""
    unknown = [problem.path for problem in decode(data)[1] if problem.rule == "unknown"]
    known: Any = thaw(freeze(data)) if unknown else data
    for path in unknown:
        parent = known
        for step in path[:-1]:
            parent = parent[step]
        parent.pop(path[-1], None)
    return typing.cast(dict[str, Any], known), tuple(map(format_path, unknown))


def to_plain(value: Any) -> dict[str, Any]:
    """Return an object as plain data with manifest names, without empty and default values."""
    if isinstance(value, dict):
        return typing.cast(dict[str, Any], thaw(value))
    return _writer(type(value))(value)


def object_reference(data: Mapping[str, Any]) -> str:
    """Return the reference of an object in plain data: `pod/web-0`."""
    kind, metadata = data.get("kind"), data.get("metadata")
    if not isinstance(kind, str):
        return ""
    known = KINDS_BY_NAME.get(kind)
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or metadata.get("Name") or metadata.get("generateName") or "?"
    return f"{known.alias if known else kind.lower()}/{name}"


def unmodelled_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field that this object keeps in a `rest`."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from unmodelled_paths(item, (*path, index))
    elif attrs.has(type(value)):
        for attribute, name in _manifest_names(type(value)).values():
            yield from unmodelled_paths(getattr(value, attribute), (*path, name))
        for name in value.rest:
            yield (*path, name)


def fields_of_parts(type_name: str, cls: type[Any]) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """Yield path, class, modelled and other fields of each part of a type that a class models, each class once."""
    waiting, seen = [("", type_name, cls)], {cls}
    while waiting:
        path, name, part = waiting.pop(0)
        shipped, names, hints = schema()["types"].get(name, {}), _manifest_names(part), typing.get_type_hints(part)
        own = {field: names[field] for field in sorted(names) if field in shipped and field not in _HEAD}
        yield path, part.__name__, set(own), shipped.keys() - names.keys() - _HEAD
        for field, (attribute, _) in own.items():
            declared, inner = shipped[field], _inner_type(hints[attribute])
            of_field = declared["type"] if isinstance(declared, dict) else declared
            if attrs.has(inner) and inner not in seen and field != "metadata":
                seen.add(inner)
                listed = "[]" * of_field.startswith("[]")
                waiting.append((f"{path}.{field}".lstrip(".") + listed, of_field.removeprefix("[]"), inner))


def _wrong_type(value: Any, go_type: str, description: str, path: PathChain, problems: list[Problem],
                rule: str = "type") -> Any:
    got_type = _go_name(value)
    if got_type == "number" and go_type in _INTEGERS:
        got_type = f"number {value}"
    message = f"wants {description}, got {format_value(value)}"
    problems.append(Problem(path_steps(path), rule, value, message, got_type, go_type))
    return _KEEP_IN_REST


def _go_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


def _read_string(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    return value if type(value) is str else _wrong_type(value, "string", "a text", path, problems)


def _read_boolean(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    return value if type(value) is bool else _wrong_type(value, "bool", "true or false", path, problems)


def _integer_reader(name: str) -> Reader:
    bound = _INTEGERS[name]

    def read(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        if type(value) is int and -bound <= value < bound:
            return value
        return _wrong_type(value, name, f"an integer ({name})", path, problems)

    return read


def _read_int_or_string(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    if type(value) is str or (type(value) is int and -(2**31) <= value < 2**31):
        return value
    return _wrong_type(value, "intstr.IntOrString", "an integer or a text", path, problems)


@lru_cache(maxsize=1 << 14)
def _is_time(text: str) -> bool:
    """Say whether a text is a moment of the years 1 to 9999, written as RFC 3339 wants it."""
    if _TIME.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):  # the 30th of February, or a year before the first
        return False
    return True


def _read_time(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    if type(value) is str and _is_time(value):
        return value
    return _wrong_type(value, "time", "a time such as 2024-01-31T12:00:00Z", path, problems)


def _read_quantity(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    text = value if type(value) is str else repr(value) if type(value) in (int, float) else None
    if text is None:
        return _wrong_type(value, "quantity", "a quantity such as 100Gi or 500m", path, problems, "quantity")
    try:
        return quantity.canonical(text)
    except ValueError:
        return _wrong_type(value, "quantity", "a quantity such as 100Gi or 500m", path, problems, "quantity")


def _read_resource_version(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    """Read a resource version: a text with an integer; other texts are kept in `rest`."""
    if type(value) is not str:
        return _wrong_type(value, "string", "a text", path, problems)
    return (
        int(value) if value.isascii() and value.isdigit() and len(value) < 19 and value[0] != "0" else _KEEP_IN_REST
    )


def _read_anything(value: Any, path: PathChain, problems: list[Problem]) -> Any:
    return freeze(value)


# type -> (reader, value of null in a list or mapping)
_SCALARS: Mapping[str, tuple[Reader, Any]] = {
    "string": (_read_string, ""), "boolean": (_read_boolean, False), "int32": (_integer_reader("int32"), 0),
    "int64": (_integer_reader("int64"), 0), "intOrString": (_read_int_or_string, 0), "time": (_read_time, None),
    "quantity": (_read_quantity, "0"), "object": (_read_anything, None),
}


def _enum_reader(read: Reader, allowed: tuple[str, ...]) -> Reader:
    accepted = frozenset(allowed) | {""}
    choices = ", ".join(f'"{word}"' for word in allowed)

    def checked(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        result = read(value, path, problems)
        if result is not _KEEP_IN_REST and result not in accepted:
            message = f"{format_value(value)} is none of {choices}{suggest_nearest(result, allowed)}"
            problems.append(Problem(path_steps(path), "enum", value, message))
        return result

    return checked


def _list_reader(item: Reader, null: Any, wants: str) -> Reader:
    def read(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        if not isinstance(value, list | tuple):
            return _wrong_type(value, wants, "a list", path, problems)
        return tuple([null if v is None else item(v, (path, i), problems) for i, v in enumerate(value)])

    return read


def _mapping_reader(item: Reader, null: Any, wants: str) -> Reader:
    def read(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        if not isinstance(value, dict):
            return _wrong_type(value, wants, "a mapping", path, problems)
        return Frozen({str(k): null if v is None else item(v, (path, k), problems) for k, v in value.items()})

    return read


@_cached
def _reader(type_name: str, cls: Any, enum: tuple[str, ...] = ()) -> Reader:
    """Return a reader of values of this type of fields.json, into this class if it is not None."""
    if type_name.startswith("[]"):
        item = _reader(type_name[2:], cls, enum)
        return _list_reader(item, _null_value(type_name[2:], cls), type_name)
    if type_name.startswith("map[string]"):
        value_type = type_name.removeprefix("map[string]")
        return _mapping_reader(_reader(value_type, None), _null_value(value_type, None), type_name)
    if type_name in _SCALARS:
        read = _SCALARS[type_name][0]
        return _enum_reader(read, enum) if enum else read
    return _structure_reader(type_name, cls)


def _null_value(type_name: str, cls: type[Any] | None) -> Any:
    if type_name in _SCALARS:
        return _SCALARS[type_name][1]
    return cls() if cls is not None else Frozen()


@attrs.frozen
class _Fields:
    """The fields of one type: manifest name -> (attribute, reader), and which of them are lists or mappings.

    The attribute is "" for fields kept in `rest`, and "-" for apiVersion and kind of a modelled kind.
    """

    readers: Mapping[str, tuple[str, Reader]]
    collections: frozenset[str]


@_cached
def _fields_of(type_name: str, cls: Any) -> _Fields:
    names = _manifest_names(cls) if cls is not None else {}
    hints = typing.get_type_hints(cls) if cls is not None else {}
    readers: dict[str, tuple[str, Reader]] = {}
    collections = set()
    designed = DESIGN_FIELDS.get(type_name, {})
    shipped = schema()["types"].get(type_name, {})
    for name, field in {**shipped, **designed}.items():
        declared = field if isinstance(field, dict) else {"type": field}
        field_type, enum = declared["type"], tuple(declared.get("enum", ()))
        if field_type.startswith(("[]", "map[")):
            collections.add(name)
        if name in names:
            attribute = names[name][0]
            inner = _inner_type(hints[attribute])
            is_version = inner is int and field_type == "string"
            model = inner if attrs.has(inner) else None
            read = _read_resource_version if is_version else _reader(field_type, model, enum)
            readers[name] = attribute, _with_go_name(read, _GO_NAMES[name]) if name in _GO_NAMES else read
        else:
            is_kind_field = cls is not None and name in ("kind", "apiVersion") and hasattr(cls, "kind")
            readers[name] = "-" if is_kind_field else "", _reader(field_type, None, enum)
        if name in designed and shipped:
            readers[name] = readers[name][0], _reporting_design(readers[name][1])
    if unknown := names.keys() - readers.keys():
        raise TypeError(f"{cls}: fields.json has no {', '.join(sorted(unknown))} in {type_name}")
    return _Fields(readers, frozenset(collections))


# Fields of which Kubernetes names the type as Go does, not as the OpenAPI schema.
_GO_NAMES = {"accessModes": "[]v1.PersistentVolumeAccessMode"}


def _with_go_name(read: Reader, wants: str) -> Reader:
    def renamed(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        if isinstance(value, list) or value is None:
            return read(value, path, problems)
        return _wrong_type(value, wants, "a list", path, problems)

    return renamed


def _reporting_design(read: Reader) -> Reader:
    def report_and_read(value: Any, path: PathChain, problems: list[Problem]) -> Any:
        message = "is a field of the design documents that Kubernetes does not know"
        problems.append(Problem(path_steps(path), "design", value, message))
        return read(value, path, problems)

    return report_and_read


def _structure_reader(type_name: str, cls: Any) -> Reader:
    """Return a reader of mappings with known fields: into the class's attributes, others into `rest`."""
    fields: _Fields | None = None  # built when first needed, since a type may contain itself

    def read(data: Any, path: PathChain, problems: list[Problem]) -> Any:
        nonlocal fields
        if not isinstance(data, dict):
            return _wrong_type(data, type_name, "a mapping", path, problems)
        if fields is None:
            fields = _fields_of(type_name, cls)
        readers = fields.readers
        values: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for given, value in data.items():
            name = given if given in readers else _shipped_name(type_name, data, given, path, problems)
            if name is None:
                rest[given] = freeze(value)
                continue
            if value is None:
                continue
            attribute, convert = readers[name]
            values = values if name == given else {**SPELLING_DEFAULTS.get(type_name, {}), **values}
            converted = convert(value if name == given else _as_list(value, given, name), (path, given), problems)
            if converted is _KEEP_IN_REST:
                rest[name] = freeze(value)
            elif attribute == "":
                if converted or name not in fields.collections:
                    rest[name] = converted
            elif attribute != "-":
                values[attribute] = converted
        if cls is None:
            return Frozen(rest)
        return cls(**values, rest=Frozen(rest)) if rest else cls(**values)

    return read


def _as_list(value: Any, given: str, name: str) -> Any:
    """Return a list for the only item of a list whose name S3 writes in the singular."""
    return [value] if name == f"{given}s" else value


def _shipped_name(type_name: str, data: Any, given: str, path: PathChain, problems: list[Problem]) -> str | None:
    """Return the field with this spelling in the design documents, or None; report the problem."""
    name, value = DESIGN_SPELLINGS.get(type_name, {}).get(given), data[given]
    if name is None:
        names = schema()["types"].get(type_name, DESIGN_FIELDS.get(type_name))
        message = f"unknown field{suggest_nearest(str(given), names)}"
        problems.append(Problem(path_steps((path, given)), "unknown", value, message))
        return None
    if data.get(name) is not None and data[name] != value:
        message = f"{given} {format_value(value)} and {name} {format_value(data[name])} are one field with two values"
        problems.append(Problem(path_steps((path, given)), "conflict", value, message))
    problems.append(Problem(path_steps((path, given)), "spelling", value, f"read as {name}"))
    return name


def _inner_type(hint: Any) -> Any:
    """Return the inner type of a hint: X of `X | None`, of `tuple[X, ...]`, or X."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    return typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else hint


@_cached
def _manifest_names(cls: Any) -> Mapping[str, tuple[str, str]]:
    """Return manifest name -> (attribute, manifest name) of a class without `rest`."""
    names = {}
    for field in attrs.fields(cls):
        first, *others = field.name.split("_")
        name = field.metadata.get("name", first + "".join(word.capitalize() for word in others))
        names[name] = field.name, name
    del names["rest"]
    return names


@_cached
def _writer(cls: Any) -> Callable[[Any], dict[str, Any]]:
    """Return a function that writes an object of this class as plain data."""
    names = list(_manifest_names(cls).values())
    defaults = {field.name: field.default for field in attrs.fields(cls)}
    always = {field.name for field in attrs.fields(cls) if field.metadata.get("written") == "always"}
    plan = [(name, _KEEP_IN_REST if attribute in always else defaults[attribute]) for attribute, name in names]
    versions = frozenset(name for name in ("resourceVersion",) if name in _manifest_names(cls))
    is_kind = hasattr(cls, "kind") and "kind" not in _manifest_names(cls)  # written inside too, as in claim templates
    head = {"apiVersion": cls.api_version, "kind": cls.kind} if is_kind else {}
    values_of = attrgetter(*(attribute for attribute, _ in names), "rest")

    def write(value: Any) -> dict[str, Any]:
        plain: dict[str, Any] = {**head}
        *values, rest = values_of(value)
        for (name, default), item in zip(plan, values, strict=True):
            if item is default or item == default:
                continue
            kind = type(item)
            if kind is str or kind is int or kind is bool:
                plain[name] = str(item) if name in versions else item
            else:
                plain[name] = _plain_value(item)
        for name, item in rest.items():
            plain[name] = thaw(item)
        return plain

    return write


def _plain_value(item: Any) -> Any:
    if isinstance(item, tuple):
        return [_plain_value(part) for part in item]
    if isinstance(item, dict):
        return thaw(item)
    return _writer(type(item))(item) if attrs.has(type(item)) else item
