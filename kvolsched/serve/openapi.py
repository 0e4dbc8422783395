"""OpenAPI v3 of the served resources, made of `fields.json`: as far as kubectl's validation and `explain` read it.

It says of each resource which parameters its patch takes, and of each kind its fields and their types. It does not
describe them, nor how lists merge: kubectl knows that of its own types.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..api.kinds.meta import thaw
from ..api.text.convert import schema
from .resources import Custom, Resource, group_versions
from .status import no_such_path

_SCALARS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"}, "boolean": {"type": "boolean"}, "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"}, "object": {"type": "object"},
    "intOrString": {"type": "string", "format": "int-or-string", "x-kubernetes-int-or-string": True},
    "time": {"type": "string", "format": "date-time"},
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
}  # fmt: skip
_NAME = "io.k8s.api."
_NAMED = re.compile(rf"{re.escape(_NAME)}(\w+)")


def openapi_index(custom: Custom) -> dict[str, Any]:
    """Return the index of the documents: one for each group and version."""
    paths = {_path_of(group, version): {"serverRelativeURL": f"/openapi/v3/{_path_of(group, version)}"}
             for group, version in group_versions(custom)}  # fmt: skip
    return {"paths": paths}


def openapi_document(path: tuple[str, ...], custom: Custom) -> dict[str, Any]:
    """Return the document of one group and version.

    Raises:
        StatusError: there is none at this path.
    """
    found = {_path_of(*each): each for each in group_versions(custom)}.get("/".join(path))
    if found is None:
        raise no_such_path()
    return _document(*found, tuple(custom))


def _path_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


@lru_cache(maxsize=64)
def _document(group: str, version: str, custom: tuple[Resource, ...]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for resource in group_versions(custom)[group, version]:
        paths |= _paths(resource)
        schemas[_NAME + resource.kind] = _schema_of_kind(resource)
    waiting = _NAMED.findall(str(schemas))
    while waiting:
        name = waiting.pop()
        if _NAME + name not in schemas:
            schemas[_NAME + name] = made = _schema(name)
            waiting += _NAMED.findall(str(made))
    info = {"title": "Kubernetes", "version": "v1.36.2"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _paths(resource: Resource) -> dict[str, Any]:
    namespaced = "namespaces/{namespace}/" if resource.namespaced else ""
    base = f"/{_path_of(resource.group, resource.version)}/{namespaced}{resource.plural}"
    kind = {"x-kubernetes-group-version-kind": _kind(resource)}

    def act(name: str, *parameters: str) -> dict[str, Any]:
        named = [{"name": each, "in": "query", "schema": {"type": "string"}} for each in parameters]
        answer = {"200": {"description": "OK", "content": {"application/json": {
            "schema": {"$ref": f"#/components/schemas/{_NAME}{resource.kind}"}}}}}  # fmt: skip
        return {"x-kubernetes-action": name, **kind, "parameters": named, "responses": answer}

    written = ("dryRun", "fieldManager", "fieldValidation")
    every = {"get": act("list", "limit", "continue", "fieldSelector", "labelSelector"), "post": act("post", *written)}
    one = {"get": act("get"), "put": act("put", *written), "patch": act("patch", *written, "force"),
           "delete": act("delete", "dryRun", "gracePeriodSeconds", "propagationPolicy")}  # fmt: skip
    return {base: every, f"{base}/{{name}}": one} if "get" in resource.verbs else {base: {"post": every["post"]}}


def _kind(resource: Resource) -> dict[str, str]:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _schema_of_kind(resource: Resource) -> dict[str, Any]:
    known = {"x-kubernetes-group-version-kind": [_kind(resource)]}
    if resource.is_modelled:
        return {**_schema(resource.kind), **known}
    fields = {"apiVersion": "string", "kind": "string", "metadata": "ObjectMeta"}
    properties = {name: _type(each) for name, each in fields.items()}
    if resource.defined is not None:
        declared = thaw(resource.schema)
        return {**declared, "properties": {**declared.get("properties", {}), **properties}, **known}
    return {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True, **known}


def _schema(name: str) -> dict[str, Any]:
    """Return the schema of a type of fields.json."""
    properties, required = {}, []
    for field, declared in schema()["types"].get(name, {}).items():
        detail = declared if isinstance(declared, dict) else {"type": declared}
        properties[field] = _type(detail["type"])
        if enum := detail.get("enum"):
            properties[field]["enum"] = enum
        if detail.get("keys") and not detail.get("atomic"):
            properties[field] |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": detail["keys"]}
        if detail.get("required"):
            required.append(field)
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _type(name: str) -> dict[str, Any]:
    if name.startswith("[]"):
        return {"type": "array", "items": _type(name[2:])}
    if name.startswith("map[string]"):
        return {"type": "object", "additionalProperties": _type(name.removeprefix("map[string]"))}
    if name in _SCALARS:
        return dict(_SCALARS[name])
    return {"allOf": [{"$ref": f"#/components/schemas/{_NAME}{name}"}]}
