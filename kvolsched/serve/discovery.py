"""Discovery: which groups, versions and resources are served, in the aggregated form and in the older one."""

from collections.abc import Iterable, Mapping
from typing import Any

from .http import JSON, ServerResponse, json_response
from .resources import Custom, Resource, group_versions
from .status import no_such_path

Served = Mapping[tuple[str, str], list[Resource]]
AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUBRESOURCE_VERBS = {"scale": ["get", "patch", "update"], "status": ["get", "patch", "update"]}  # others: create
VERSION = {
    "major": "1", "minor": "36", "gitVersion": "v1.36.2", "gitCommit": "", "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "kvolsched",
    "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
}  # fmt: skip


def discover(path: tuple[str, ...], headers: Mapping[str, str], custom: Custom) -> ServerResponse:
    """Answer `/api`, `/apis` and what lies below them, down to the resources of one version, `custom` ones among them.

    Raises:
        StatusError: there is no such group or version.
    """
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
