"""What the schema of a custom resource does to an object: unknown fields go, defaults come, faults are named.

Mirrors apiextensions-apiserver `pkg/apiserver/schema` (pruning, defaulting) and `validation` (v1.36.2). Rules in CEL
(`x-kubernetes-validations`) are not evaluated.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .field_error import FieldError

Schema = Mapping[str, Any]
PRESERVE, INT_OR_STRING = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"
_HEAD = ("apiVersion", "kind", "metadata")  # of an object: their schema is that of every kind
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "integer": (int,),
    "number": (int, float),
}  # fmt: skip
_LIMITS = (  # rule, types of value that it measures, whether a value breaks it, and what is said
    ("minimum", (int, float), lambda got, limit: got < limit, "should be greater than or equal to {}"),
    ("maximum", (int, float), lambda got, limit: got > limit, "should be less than or equal to {}"),
    ("minLength", (str,), lambda got, limit: len(got) < limit, "should be at least {} chars long"),
    ("minItems", (list,), lambda got, limit: len(got) < limit, "should have at least {} items"),
    ("minProperties", (dict,), lambda got, limit: len(got) < limit, "should have at least {} properties"),
    ("pattern", (str,), lambda got, limit: re.search(limit, got) is None, "should match '{}'"),
)
_MOST = (("maxItems", list, "must have at most {} items"), ("maxProperties", dict, "must have at most {} items"))


def schema_of(schema: Schema, name: str) -> Schema | None:
    """Return the schema of a property; None if nobody declares it."""
    declared = schema.get("properties", {}).get(name)
    if declared is None:
        declared = schema.get("additionalProperties")
    return declared if isinstance(declared, Mapping) else {PRESERVE: True} if declared else None


def _parts(value: Any, schema: Schema, path: str, *, root: bool) -> Iterator[tuple[Any, Schema, str]]:
    """Yield the declared parts of a value: each with its schema and path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            declared = None if root and name in _HEAD else schema_of(schema, name)
            if declared is not None:
                named = name in schema.get("properties", {})
                yield inner, declared, f"{path}.{name}".lstrip(".") if named else f"{path}[{name}]"
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for index, inner in enumerate(value):
            yield inner, schema["items"], f"{path}[{index}]"


def prune(value: Any, schema: Schema, path: str = "", *, root: bool = True) -> list[str]:
    """Remove the fields that no schema declares from plain data, and return their paths."""
    unknown = []
    if isinstance(value, dict) and not schema.get(PRESERVE):
        embedded = root or schema.get("x-kubernetes-embedded-resource")
        for name in [name for name in value if schema_of(schema, name) is None and not (embedded and name in _HEAD)]:
            del value[name]
            unknown.append(f"{path}.{name}".lstrip("."))
    for inner, declared, place in _parts(value, schema, path, root=root):
        unknown += prune(inner, declared, place, root=False)
    return unknown


def fill_defaults(value: Any, schema: Schema, *, root: bool = True) -> None:
    """Set the defaults of a schema in plain data; a null that the schema does not allow counts as absent."""
    if isinstance(value, dict):
        for name, declared in schema.get("properties", {}).items():
            is_void = name in value and value[name] is None and not declared.get("nullable")
            if "default" in declared and (name not in value or is_void):
                value[name] = json.loads(json.dumps(declared["default"]))
            elif is_void and not root:
                del value[name]
    for inner, declared, _ in _parts(value, schema, "", root=root):
        fill_defaults(inner, declared, root=False)


def schema_faults(value: Any, schema: Schema, path: str = "", *, root: bool = True) -> Iterator[FieldError]:
    """Yield what is wrong with plain data, in the words of the API server."""
    if value is None and schema.get("nullable"):
        return
    fault = _wrong_type(value, schema, path)
    if fault:
        yield fault
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        listed = ", ".join(f'"{word}"' for word in allowed)
        yield FieldError(path, "NotSupported", value, f"supported values: {listed}")
    if fault:
        return
    yield from _broken_limits(value, schema, path)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield FieldError(f"{path}.{name}".lstrip("."), "Required")
    for inner, declared, place in _parts(value, schema, path, root=root):
        yield from schema_faults(inner, declared, place, root=False)


def _broken_limits(value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
    for rule, types, breaks, words in _LIMITS:
        if rule in schema and isinstance(value, types) and breaks(value, schema[rule]):
            shown = len(value) if isinstance(value, list | dict) else value
            yield FieldError(path, "Invalid", shown, f"{path} in body {words.format(schema[rule])}")
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        yield FieldError(path, "TooLong", detail=f"may not be more than {schema['maxLength']} bytes")
    for rule, of_type, words in _MOST:
        if rule in schema and isinstance(value, of_type) and len(value) > schema[rule]:
            yield FieldError(path, "TooMany", len(value), words.format(schema[rule]))


def _wrong_type(value: Any, schema: Schema, path: str) -> FieldError | None:
    wanted = schema.get("type", "")
    if schema.get(INT_OR_STRING):
        fits, wanted = isinstance(value, int | str) and not isinstance(value, bool), "integer,string"
    else:
        fits = wanted not in _TYPES or (isinstance(value, _TYPES[wanted]) and (
            wanted == "boolean" or not isinstance(value, bool)))  # fmt: skip
        if wanted == "integer" and isinstance(value, float) and value.is_integer():
            fits = True
    if fits:
        return None
    got = next((name for name, types in _TYPES.items() if type(value) in types), "null")
    return FieldError(path, "Invalid", got, f'{path} in body must be of type {wanted}: "{got}"')
