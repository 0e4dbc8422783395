"""Discovery: which groups, versions and resources are served, in the aggregated form and in the older one; OpenAPI v3.

OpenAPI is made of `fields.json`, as far as kubectl's validation and `explain` read it: parameters of each patch, fields
of each kind and their types. It does not describe them, nor how lists merge: kubectl knows that of its own types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ..api.kinds.meta import thaw
from ..api.text.convert import schema
from .http import JSON, ServerResponse, json_response
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
Served = Mapping[tuple[str, str], list[Resource]]
AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUBRESOURCE_VERBS = {"scale": ["get", "patch", "update"], "status": ["get", "patch", "update"]}  # others: create
VERSION = {
    "major": "1", "minor": "36", "gitVersion": "v1.36.2", "gitCommit": "", "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "kvolsched",
    "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
}  # fmt: skip


def discover(path: tuple[str, ...], headers: Mapping[str, str], custom: Custom) -> ServerResponse:
    """Answer `/api`, `/apis` and what lies below, down to the resources of one version, `custom` ones among them."""
    served = group_versions(custom)
    if len(path) == 1 and "apidiscovery.k8s.io" in headers.get("Accept", ""):
        return json_response(_aggregated(served, core=path[0] == "api"), content_type=AGGREGATED)
    if path == ("api",):
        return json_response({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
    if path == ("apis",):
        groups = [_group(served, name) for name in dict.fromkeys(group for group, _ in served if group)]
        return json_response({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if path[0] == "apis" and len(path) == 2 and any(group == path[1] for group, _ in served):
        return json_response({"kind": "APIGroup", "apiVersion": "v1", **_group(served, path[1])})
    group, version = ("", path[1]) if path[0] == "api" else (path[1], path[-1])
    found = served.get((group, version))
    if found is None:
        raise no_such_path()
    listed = [line for resource in found for line in _lines(resource)]
    return json_response({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": found[0].api_version,
                          "resources": listed})  # fmt: skip


def _group(served: Served, name: str) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{version}", "version": version}
                for group, version in served if group == name]  # fmt: skip
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _lines(resource: Resource) -> Iterable[dict[str, Any]]:
    line = {"name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": list(resource.verbs), "storageVersionHash": ""}  # fmt: skip
    yield {**line, **_named(resource)}
    for name, api_version, kind in resource.subresources:
        group, _, version = api_version.rpartition("/")
        yield {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced,
               "group": group, "version": version, "kind": kind, "verbs": _verbs(name)}  # fmt: skip


def _named(resource: Resource) -> dict[str, Any]:
    named = {"shortNames": list(resource.short), "categories": list(resource.categories)}
    return {name: words for name, words in named.items() if words}


def _verbs(subresource: str) -> list[str]:
    return _SUBRESOURCE_VERBS.get(subresource, ["create"])


def _aggregated(served: Served, *, core: bool) -> dict[str, Any]:
    groups: dict[str, list[Any]] = {}
    for (group, version), resources in served.items():
        if bool(group) is not core:
            listed = [_aggregated_resource(resource) for resource in resources]
            groups.setdefault(group, []).append({"version": version, "resources": listed, "freshness": "Current"})
    items = [{"metadata": {"name": group} if group else {}, "versions": versions} for group, versions in groups.items()]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_resource(resource: Resource) -> dict[str, Any]:
    found = {"resource": resource.plural, "responseKind": _response_kind(resource.api_version, resource.kind),
             "scope": "Namespaced" if resource.namespaced else "Cluster", "singularResource": resource.singular,
             "verbs": list(resource.verbs), **_named(resource)}  # fmt: skip
    if resource.subresources:
        found["subresources"] = [
            {"subresource": name, "responseKind": _response_kind(api_version, kind), "verbs": _verbs(name)}
            for name, api_version, kind in resource.subresources
        ]
    return found


def _response_kind(api_version: str, kind: str) -> dict[str, str]:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version, "kind": kind}


def openapi_index(custom: Custom) -> dict[str, Any]:
    """Return the index of the documents: one for each group and version."""
    paths = {_path_of(group, version): {"serverRelativeURL": f"/openapi/v3/{_path_of(group, version)}"}
             for group, version in group_versions(custom)}  # fmt: skip
    return {"paths": paths}


def openapi_document(path: tuple[str, ...], custom: Custom) -> dict[str, Any]:
    """Return the document of one group and version."""
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
    kind = {"x-kubernetes-group-version-kind": _response_kind(resource.api_version, resource.kind)}

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


def _schema_of_kind(resource: Resource) -> dict[str, Any]:
    known = {"x-kubernetes-group-version-kind": [_response_kind(resource.api_version, resource.kind)]}
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
