"""Plain data to objects and back, by one generic converter for all kinds.

Which fields exist, and their types, stands in `fields.json`; which of them are modelled, in the attrs
classes. No line here is written for one field. What Kubernetes knows and no class models is checked alike and
kept in the `rest` of the object it belongs to. Plans are made once per class; neither direction changes what
it is given.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from operator import attrgetter
from typing import Any, TypeVar

import attrs

from ..kinds import quantity
from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import Frozen, freeze, thaw
from .fault import Fault, ManifestError, PathChain, Problem, format_value, path_steps, suggest_nearest

Reader = Callable[[Any, PathChain, list[Problem]], Any]
ConversionPlan = TypeVar("ConversionPlan", bound=Callable[..., Any])


def _once(make: ConversionPlan) -> ConversionPlan:
    """Make a plan once for each class: `functools.cache` with the function's own types."""
    return typing.cast(ConversionPlan, cache(make))


# Spellings of the design documents: accepted, reported as "spelling", and normalised to the name that
# shipped.
DESIGN_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "ObjectMeta": {"Name": "name"},
    "StorageClass": {"bindingMode": "volumeBindingMode"},
    "NodeSelectorTerm": {"fieldExpressions": "matchFields"},
    "PodSpec": {"topologySpreadConstraint": "topologySpreadConstraints"},
    "TopologySpreadConstraint": {"selector": "labelSelector"},
    "GCEPersistentDiskVolumeSource": {"diskName": "pdName"},
}
# What is meant where a document's spelling is used and nothing is said (S3; Kubernetes wants both written).
SPELLING_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "TopologySpreadConstraint": {"max_skew": 1, "when_unsatisfiable": "DoNotSchedule"}
}
# Fields of the design documents that Kubernetes never got: accepted, reported as "design".
DESIGN_FIELDS: Mapping[str, Mapping[str, Any]] = {  # the first S0's, all others S2's
    "PersistentVolumeClaimStatus": {"content": {"type": "string", "enum": ["clean", "dirty"]}},
    "CSIVolumeSource": {"fsSize": "quantity"},
    "CSIDriverSpec": {"capacityTracking": "boolean"},
    "CSIDriver": {"status": "CSIDriverStatus"},
    "CSIDriverStatus": {"storage": {"type": "[]CSIStorage", "keys": ["storageClassName"]}},
    "CSIStorage": {"storageClassName": "string", "pools": {"type": "[]CSIStoragePool", "keys": ["name"]}},
    "CSIStoragePool": {
        "name": "string",
        "nodeTopology": "NodeSelector",
        "nodeList": "[]string",
        "capacity": "quantity",
        "expiryTime": "time",
    },
}
# Decoding lets these pass: an unknown word of an enumeration is for validation to judge.
DECODABLE_RULES = frozenset({"enum", "spelling", "design"})
_KEEP = object()  # what a reader returns for a value that its attribute cannot hold: it is kept in `rest`
_INTEGERS = {"int32": 2**31, "int64": 2**63}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d([.,]\d+)?([Zz]|[+-]\d\d:\d\d)")


@_once
def schema() -> Mapping[str, Any]:
    """Return fields.json: `kinds` (apiVersion/kind to type name) and `types` (type to fields)."""
    text = resources.files(__package__).joinpath("fields.json").read_text(encoding="utf-8")
    return typing.cast(Mapping[str, Any], json.loads(text))


def find_class(api_version: str, kind: str) -> type[Any] | None:
    """Return the class that models this kind, if one does."""
    found = KINDS_BY_NAME.get(kind)
    return found.type if found is not None and found.type.api_version == api_version else None


def decode(data: Mapping[str, Any]) -> tuple[Any, list[Problem]]:
    """Return plain data as an object, with everything that is wrong in it.

    The object is of the kind's class, or a `Frozen` mapping where no class models its kind. Problems of the
    rules `enum` and `spelling` do not hinder the API server from decoding; all others do.
    """
    api_version, kind = data.get("apiVersion", ""), data.get("kind", "")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return freeze(data), []
    cls = find_class(api_version, kind)
    type_name = schema()["kinds"].get(f"{api_version}/{kind}")
    if type_name is None:
        return freeze(data), []
    problems: list[Problem] = []
    return _reader(type_name, cls)(data, None, problems), problems


def from_plain(data: Mapping[str, Any]) -> Any:
    """Return plain data (what JSON or YAML holds) as an object, a `Frozen` mapping if its kind is not
    modelled.

    Raises:
        ManifestError: unknown fields, wrong types or bad quantities; enumerations are left to validation.
    """
    found, problems = decode(data)
    faults = [
        Fault(
            object=object_reference(data),
            path=problem.field,
            rule=problem.rule,
            value=problem.value,
            message=problem.message,
        )
        for problem in problems
        if problem.rule not in DECODABLE_RULES
    ]
    if not data.get("kind") or not data.get("apiVersion"):
        missing = "apiVersion" if data.get("kind") else "kind"
        faults.append(Fault(path=missing, rule="required", message=f"{missing} is missing"))
    if faults:
        raise ManifestError(faults)
    return found


def to_plain(value: Any) -> dict[str, Any]:
    """Return an object as plain data under its manifest names; empty and default values are left out."""
    if isinstance(value, dict):
        return typing.cast(dict[str, Any], thaw(value))
    return _writer(type(value))(value)


def object_reference(data: Mapping[str, Any]) -> str:
    """Return how a person refers to an object given as plain data: `pod/web-0`."""
    kind, metadata = data.get("kind"), data.get("metadata")
    if not isinstance(kind, str):
        return ""
    known = KINDS_BY_NAME.get(kind)
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or metadata.get("Name") or metadata.get("generateName") or "?"
    return f"{known.alias if known else kind.lower()}/{name}"


def unmodelled_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field that is kept in some `rest` of this object."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from unmodelled_paths(item, (*path, index))
    elif attrs.has(type(value)):
        for attribute, name in _names(type(value)).values():
            yield from unmodelled_paths(getattr(value, attribute), (*path, name))
        for name in value.rest:
            yield (*path, name)


def _mistyped(
    value: Any, wants: str, words: str, path: PathChain, found: list[Problem], rule: str = "type"
) -> Any:
    got = _go_name(value)
    if got == "number" and wants in _INTEGERS:
        got = f"number {value}"
    found.append(Problem(path_steps(path), rule, value, f"wants {words}, got {format_value(value)}", got, wants))
    return _KEEP


def _go_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


def _read_string(value: Any, path: PathChain, found: list[Problem]) -> Any:
    return value if type(value) is str else _mistyped(value, "string", "a text", path, found)


def _read_boolean(value: Any, path: PathChain, found: list[Problem]) -> Any:
    return value if type(value) is bool else _mistyped(value, "bool", "true or false", path, found)


def _read_integer(name: str) -> Reader:
    bound = _INTEGERS[name]

    def read(value: Any, path: PathChain, found: list[Problem]) -> Any:
        if type(value) is int and -bound <= value < bound:
            return value
        return _mistyped(value, name, f"an integer ({name})", path, found)

    return read


def _read_int_or_string(value: Any, path: PathChain, found: list[Problem]) -> Any:
    if type(value) is str or (type(value) is int and -(2**31) <= value < 2**31):
        return value
    return _mistyped(value, "intstr.IntOrString", "an integer or a text", path, found)


@lru_cache(maxsize=1 << 14)
def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _read_time(value: Any, path: PathChain, found: list[Problem]) -> Any:
    if type(value) is str and _is_time(value):
        return value
    return _mistyped(value, "time", "a time such as 2024-01-31T12:00:00Z", path, found)


def _read_quantity(value: Any, path: PathChain, found: list[Problem]) -> Any:
    text = value if type(value) is str else repr(value) if type(value) in (int, float) else None
    if text is None:
        return _mistyped(value, "quantity", "a quantity such as 100Gi or 500m", path, found, "quantity")
    try:
        return quantity.canonical(text)
    except ValueError:
        return _mistyped(value, "quantity", "a quantity such as 100Gi or 500m", path, found, "quantity")


def _read_version(value: Any, path: PathChain, found: list[Problem]) -> Any:
    """A resource version: a text that holds an integer; a foreign one is kept as it is."""
    if type(value) is not str:
        return _mistyped(value, "string", "a text", path, found)
    return (
        int(value) if value.isascii() and value.isdigit() and len(value) < 19 and value[0] != "0" else _KEEP
    )


def _read_anything(value: Any, path: PathChain, found: list[Problem]) -> Any:
    return freeze(value)


_SCALARS: Mapping[
    str, tuple[Reader, Any]
] = {  # type -> its reader, and what null stands for in a list or mapping
    "string": (_read_string, ""),
    "boolean": (_read_boolean, False),
    "int32": (_read_integer("int32"), 0),
    "int64": (_read_integer("int64"), 0),
    "intOrString": (_read_int_or_string, 0),
    "time": (_read_time, None),
    "quantity": (_read_quantity, "0"),
    "object": (_read_anything, None),
}


def _enumerated(read: Reader, allowed: tuple[str, ...]) -> Reader:
    accepted = frozenset(allowed) | {""}
    words = ", ".join(f'"{word}"' for word in allowed)

    def checked(value: Any, path: PathChain, found: list[Problem]) -> Any:
        result = read(value, path, found)
        if result is not _KEEP and result not in accepted:
            message = f"{format_value(value)} is none of {words}{suggest_nearest(result, allowed)}"
            found.append(Problem(path_steps(path), "enum", value, message))
        return result

    return checked


def _list(item: Reader, null: Any, wants: str) -> Reader:
    def read(value: Any, path: PathChain, found: list[Problem]) -> Any:
        if not isinstance(value, list | tuple):
            return _mistyped(value, wants, "a list", path, found)
        return tuple([null if v is None else item(v, (path, i), found) for i, v in enumerate(value)])

    return read


def _mapping(item: Reader, null: Any, wants: str) -> Reader:
    def read(value: Any, path: PathChain, found: list[Problem]) -> Any:
        if not isinstance(value, dict):
            return _mistyped(value, wants, "a mapping", path, found)
        return Frozen({str(k): null if v is None else item(v, (path, k), found) for k, v in value.items()})

    return read


@_once
def _reader(type_name: str, cls: Any, enum: tuple[str, ...] = ()) -> Reader:
    """Return what reads a value of this type of fields.json, as this class where it is modelled."""
    if type_name.startswith("[]"):
        item = _reader(type_name[2:], cls, enum)
        return _list(item, _null(type_name[2:], cls), type_name)
    if type_name.startswith("map[string]"):
        value_type = type_name.removeprefix("map[string]")
        return _mapping(_reader(value_type, None), _null(value_type, None), type_name)
    if type_name in _SCALARS:
        read = _SCALARS[type_name][0]
        return _enumerated(read, enum) if enum else read
    return _structure(type_name, cls)


def _null(type_name: str, cls: type[Any] | None) -> Any:
    if type_name in _SCALARS:
        return _SCALARS[type_name][1]
    return cls() if cls is not None else Frozen()


@attrs.frozen
class _Fields:
    """The fields of one type: manifest name -> (attribute, reader); which of them are lists or mappings.

    The attribute is "" for what is kept in `rest`, and "-" for a kind's own apiVersion and kind.
    """

    readers: Mapping[str, tuple[str, Reader]]
    collections: frozenset[str]


@_once
def _fields(type_name: str, cls: Any) -> _Fields:
    names = _names(cls) if cls is not None else {}
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
            held = _held(hints[attribute])
            version = held is int and field_type == "string"
            model = held if attrs.has(held) else None
            readers[name] = attribute, _read_version if version else _reader(field_type, model, enum)
        else:
            own = cls is not None and name in ("kind", "apiVersion") and hasattr(cls, "kind")
            readers[name] = "-" if own else "", _reader(field_type, None, enum)
        if name in designed and shipped:
            readers[name] = readers[name][0], _designed(readers[name][1])
    if unknown := names.keys() - readers.keys():
        raise TypeError(f"{cls}: fields.json has no {', '.join(sorted(unknown))} in {type_name}")
    return _Fields(readers, frozenset(collections))


def _designed(read: Reader) -> Reader:
    def told(value: Any, path: PathChain, found: list[Problem]) -> Any:
        words = "is a field of the design documents that Kubernetes does not know"
        found.append(Problem(path_steps(path), "design", value, words))
        return read(value, path, found)

    return told


def _structure(type_name: str, cls: Any) -> Reader:
    """Read a mapping with known fields: into the class's attributes, the others into `rest`."""
    fields: _Fields | None = None  # made when first needed: a type may contain itself

    def read(data: Any, path: PathChain, found: list[Problem]) -> Any:
        nonlocal fields
        if not isinstance(data, dict):
            return _mistyped(data, type_name, "a mapping", path, found)
        if fields is None:
            fields = _fields(type_name, cls)
        readers = fields.readers
        values: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for given, value in data.items():
            name = given if given in readers else _respelled(type_name, data, given, path, found)
            if name is None:
                rest[given] = freeze(value)
                continue
            if value is None:
                continue
            attribute, convert = readers[name]
            values = values if name == given else {**SPELLING_DEFAULTS.get(type_name, {}), **values}
            converted = convert(value if name == given else _listed(value, given, name), (path, given), found)
            if converted is _KEEP:
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


def _listed(value: Any, given: str, name: str) -> Any:
    """Return a value as its field wants it: S3 writes a list as its only item, in the singular."""
    return [value] if name == f"{given}s" else value


def _respelled(type_name: str, data: Any, given: str, path: PathChain, found: list[Problem]) -> str | None:
    """Return the field that an unknown name stands for in the design documents, or None with the fault
    reported.
    """
    name, value = DESIGN_SPELLINGS.get(type_name, {}).get(given), data[given]
    if name is None:
        words = f"unknown field{suggest_nearest(str(given), schema()['types'].get(type_name, DESIGN_FIELDS.get(type_name)))}"
        found.append(Problem(path_steps((path, given)), "unknown", value, words))
        return None
    if data.get(name) is not None and data[name] != value:
        words = f"{given} {format_value(value)} and {name} {format_value(data[name])} say the same thing differently"
        found.append(Problem(path_steps((path, given)), "conflict", value, words))
    found.append(Problem(path_steps((path, given)), "spelling", value, f"read as {name}"))
    return name


def _held(hint: Any) -> Any:
    """Return what a type hint holds: X of `X | None`, of `tuple[X, ...]`, or X itself."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    return typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else hint


@_once
def _names(cls: Any) -> Mapping[str, tuple[str, str]]:
    """Return manifest name -> (attribute, manifest name) of a class, without `rest`."""
    found = {}
    for field in attrs.fields(cls):
        first, *others = field.name.split("_")
        name = field.metadata.get("name", first + "".join(word.capitalize() for word in others))
        found[name] = field.name, name
    del found["rest"]
    return found


@_once
def _writer(cls: Any) -> Callable[[Any], dict[str, Any]]:
    """Return what writes an object of this class as plain data."""
    names = list(_names(cls).values())
    defaults = {field.name: field.default for field in attrs.fields(cls)}
    always = {field.name for field in attrs.fields(cls) if field.metadata.get("written") == "always"}
    plan = [(name, _KEEP if attribute in always else defaults[attribute]) for attribute, name in names]
    versions = frozenset(name for name in ("resourceVersion",) if name in _names(cls))
    own = hasattr(cls, "kind") and "kind" not in _names(cls)  # also inside: a claim template says what it is
    head = {"apiVersion": cls.api_version, "kind": cls.kind} if own else {}
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
                plain[name] = _plain(item)
        for name, item in rest.items():
            plain[name] = thaw(item)
        return plain

    return write


def _plain(item: Any) -> Any:
    if isinstance(item, tuple):
        return [_plain(part) for part in item]
    if isinstance(item, dict):
        return thaw(item)
    return _writer(type(item))(item) if attrs.has(type(item)) else item
