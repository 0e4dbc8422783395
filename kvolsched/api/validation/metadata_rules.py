"""Validate metadata: an object's name, namespace, labels, annotations, owners and finalizers.

Mirrors apimachinery `ValidateObjectMeta` (v1.36.2).
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import ObjectMeta
from ..kinds.name_syntax import check_dns_label, check_path_segment, check_qualified_name, check_subdomain
from .field_error import FieldError, FieldErrors, invalid_values, validate_labels, validate_name

# The syntax of names that need not be subdomains.
_NAME_CHECKS: Mapping[str, Callable[[str], list[str]]] = {
    "Namespace": check_dns_label, "Service": check_dns_label, "PodDisruptionBudget": check_path_segment,
}
MAX_ANNOTATIONS_SIZE = 256 * 1024  # bytes of all keys and values together
STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate_metadata(obj: Any) -> FieldErrors:
    """Validate an object's metadata."""
    meta: ObjectMeta = obj.metadata
    kind = KINDS_BY_NAME[obj.kind]
    check_name = _NAME_CHECKS.get(kind.name, check_subdomain)
    if not meta.name and not meta.generate_name:
        yield FieldError("metadata.name", "Required", detail="name or generateName is required")
    if meta.generate_name:
        prefix = meta.generate_name  # a generated name ends in five more characters
        messages = check_name(f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix)
        yield from invalid_values("metadata.generateName", meta.generate_name, messages)
    yield from validate_name("metadata.name", meta.name, check_name)
    if kind.namespaced:
        yield from validate_name("metadata.namespace", meta.namespace, check_dns_label, required=True)
    elif meta.namespace:
        yield FieldError("metadata.namespace", "Forbidden", detail="not allowed on this type")
    yield from validate_labels("metadata.labels", meta.labels)
    for key in meta.annotations:
        yield from invalid_values("metadata.annotations", key, check_qualified_name(key.lower()))
    if len(meta.annotations) and _size(meta.annotations) > MAX_ANNOTATIONS_SIZE:
        detail = f"may not be more than {MAX_ANNOTATIONS_SIZE} bytes"
        yield FieldError("metadata.annotations", "TooLong", detail=detail)
    yield from _validate_owners("metadata.ownerReferences", meta)
    for index, name in enumerate(meta.finalizers):
        yield from validate_finalizer("metadata.finalizers", f"metadata.finalizers[{index}]", name)


def _size(annotations: Mapping[str, Any]) -> int:
    """Return the size of annotations in bytes."""
    return len("".join([*annotations, *map(str, annotations.values())]).encode())


def _validate_owners(path: str, meta: ObjectMeta) -> FieldErrors:
    for owner in meta.owner_references:
        if not owner.api_version.rpartition("/")[2]:
            yield FieldError(f"{path}.apiVersion", "Invalid", owner.api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not getattr(owner, field):
                yield FieldError(f"{path}.{field}", "Invalid", "", "must not be empty")
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield FieldError(path, "Invalid", owner, "/v1, Kind=Event is disallowed from being an owner")
    controllers = [f"{owner.kind}/{owner.name}" for owner in meta.owner_references if owner.controller]
    for other in controllers[1:]:
        detail = 'Only one reference can have Controller set to true. Found "true" in references for'
        yield FieldError(path, "Invalid", [*controllers], f"{detail} {controllers[0]} and {other}")


def validate_finalizer(path: str, item: str, name: str) -> FieldErrors:
    """Validate a finalizer: a qualified name, or one of the standard names."""
    yield from invalid_values(path, name, check_qualified_name(name))
    if "/" not in name and name not in STANDARD_FINALIZERS:
        yield FieldError(item, "Invalid", name, "name is neither a standard finalizer name nor is it fully qualified")
