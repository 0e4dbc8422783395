"""CustomResourceDefinitions: what each of them serves, what a server makes of one, and of the objects of its kind.

A definition is an object of the log like any other: going back undoes it. Of its versions the stored one is served;
nothing converts. Mirrors apiextensions-apiserver `registry/customresource` and `controller/status` (v1.36.2).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.kinds.meta import EMPTY, Frozen, evolve, evolve_parts, freeze, thaw
from ..api.text.convert import to_plain
from ..api.validation.field_error import FieldError
from ..api.validation.structural_schema import fill_defaults, schema_faults
from .bodies import decode_object
from .resources import CRD, RESOURCES, Resource
from .status import invalid

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def admitted(resource: Resource, old: Any, new: Any, time: str, custom: Sequence[Resource]) -> Any:
    """Return an object of an unmodelled kind with what a server fills in."""
    if resource.kind == CRD:
        return _established(resource, old, new, time, custom)
    if resource.defined is not None:
        plain = to_plain(new)
        fill_defaults(plain, resource.schema)
        if faults := list(schema_faults(plain, resource.schema)):
            raise invalid(resource, new.metadata.name, *faults)
        new, _ = decode_object(resource, plain)
    if resource.has_generation and old is None:
        if resource.has_status:
            new = evolve(new, rest=new.rest.with_(status=None))
        return evolve_parts(new, metadata={"rest": new.metadata.rest.with_(generation=1)})
    return new


def counted(resource: Resource, old: Any, new: Any) -> int | None:
    """Return the generation of a changed object: all but metadata and a status of its own is counted."""
    before: int | None = old.metadata.rest.get("generation")
    return before + (new.rest != old.rest) if resource.has_generation and before is not None else before


def _established(resource: Resource, old: Any, new: Any, time: str, custom: Sequence[Resource]) -> Any:
    """Return a definition with its defaults and the status of one whose names are accepted."""
    spec = thaw(new.rest.get("spec", EMPTY))
    if faults := list(_definition_faults(new.metadata.name, spec, custom)):
        raise invalid(resource, new.metadata.name, *faults)
    names = spec["names"]
    names = {**names, "singular": names.get("singular") or names["kind"].lower(),
             "listKind": names.get("listKind") or f"{names['kind']}List"}  # fmt: skip
    spec |= {"names": names, "conversion": spec.get("conversion", {"strategy": "None"})}
    words = (("NamesAccepted", "NoConflicts", "no conflicts found"),
             ("Established", "InitialNamesAccepted", "the initial names have been accepted"))  # fmt: skip
    since = old.metadata.creation_timestamp if old is not None else time
    conditions = [{"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since}
                  for kind, reason, message in words]  # fmt: skip
    stored = [each["name"] for each in spec["versions"] if each.get("storage")]
    status = {"acceptedNames": names, "conditions": conditions, "storedVersions": stored}
    rest: Frozen = new.rest.with_(spec=freeze(spec), status=freeze(status))
    if old is not None:
        return evolve(new, rest=rest)
    meta = {"finalizers": (*new.metadata.finalizers, CLEANUP), "rest": new.metadata.rest.with_(generation=1)}
    return evolve(evolve_parts(new, metadata=meta), rest=rest)


def _definition_faults(name: str, spec: Any, custom: Sequence[Resource]) -> Iterator[FieldError]:
    names, versions = spec.get("names"), spec.get("versions")
    names = names if isinstance(names, dict) else {}
    required = {"spec.group": spec.get("group"), "spec.names.plural": names.get("plural"),
                "spec.names.kind": names.get("kind"), "spec.versions": versions}  # fmt: skip
    if missing := [path for path, value in required.items() if not value]:
        yield from (FieldError(path, "Required") for path in missing)
        return
    if spec.get("scope") not in ("Namespaced", "Cluster"):
        supported = 'supported values: "Cluster", "Namespaced"'
        yield FieldError("spec.scope", "NotSupported", spec.get("scope", ""), supported)
    if name != (wanted := f"{names['plural']}.{spec['group']}"):
        yield FieldError("metadata.name", "Invalid", name, f'must be spec.names.plural+"."+spec.group: "{wanted}"')
    versions = [each for each in versions if isinstance(each, dict)]
    if sum(bool(each.get("storage")) for each in versions) != 1:
        yield FieldError("spec.versions", "Invalid", versions,
                         "must have exactly one version marked as storage version")  # fmt: skip
    for index, each in enumerate(versions):
        schema = each.get("schema")
        path = f"spec.versions[{index}].schema.openAPIV3Schema"
        declared = schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
        if not isinstance(declared, dict):
            yield FieldError(path, "Required", detail="schemas are required")
        elif declared.get("type") != "object":
            yield FieldError(f"{path}.type", "Invalid", declared.get("type", ""), "must be object at the root")
    others = [(each.kind, f"{each.plural}.{each.group}") for each in (*RESOURCES, *custom)]
    if any(kind == names["kind"] and other != name for kind, other in others):
        yield FieldError("spec.names.kind", "Invalid", names["kind"], "is served here for another group already")


def scale_of(resource: Resource, plain: dict[str, Any]) -> dict[str, Any]:
    """Return spec and status of the Scale of a custom object."""
    found = {}
    for name, path in _scale_paths(resource).items():
        value: Any = plain
        for part in path.strip(".").split("."):
            value = value.get(part) if isinstance(value, dict) else None
        found[name] = value
    status = {"replicas": found.get("statusReplicasPath") or 0, "selector": found.get("labelSelectorPath") or ""}
    return {"spec": {"replicas": found.get("specReplicasPath") or 0}, "status": status}


def with_replicas(resource: Resource, obj: Any, replicas: int) -> Any:
    """Return a custom object with the replicas that a Scale asks for."""
    plain = to_plain(obj)
    *parents, last = _scale_paths(resource)["specReplicasPath"].strip(".").split(".")
    place = plain
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = replicas
    return decode_object(resource, plain)[0]


def _scale_paths(resource: Resource) -> dict[str, str]:
    assert resource.defined is not None
    return dict(resource.defined["subresources"]["scale"])
