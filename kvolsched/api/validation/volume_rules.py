"""Validate storage classes, volumes and claims.

Mirrors storage `ValidateStorageClass` and core `ValidatePersistentVolume`, `ValidatePersistentVolumeClaim`
(v1.36.2).
"""

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..kinds import quantity
from ..kinds.meta import EMPTY, evolve
from ..kinds.name_syntax import check_qualified_name, check_subdomain
from ..kinds.selector import NodeSelector
from ..kinds.storage_class import StorageClass, TopologySelectorTerm
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec
from ..remembered import remembered
from ..text.convert import schema
from .csi_rules import validate_driver_name
from .field_error import FieldError, FieldErrors, invalid_values, validate_name, validate_supported
from .selector_rules import validate_label_selector, validate_node_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
# In Kubernetes' order: the first source is the volume's type, every further one is refused.
VOLUME_SOURCES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
    "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
    "portworxVolume", "scaleIO", "local", "storageos", "csi",
)


def validate_storage_class(storage_class: StorageClass) -> FieldErrors:
    """Validate a StorageClass: provisioner, parameters, reclaim policy, binding mode, allowed topologies."""
    yield from validate_name("provisioner", storage_class.provisioner.lower(), check_qualified_name, required=True)
    if len(storage_class.parameters) > 512:
        yield FieldError("parameters", "TooLong", detail="may not be more than 512 bytes")
    if "" in storage_class.parameters:
        yield FieldError("parameters", "Invalid", "", "field can not be empty.")
    if storage_class.reclaim_policy:
        yield from validate_supported("reclaimPolicy", storage_class.reclaim_policy, ("Delete", "Retain"))
    if storage_class.volume_binding_mode is None:
        yield FieldError("volumeBindingMode", "Required")
    else:
        yield from validate_supported("volumeBindingMode", storage_class.volume_binding_mode,
                                      ("Immediate", "WaitForFirstConsumer"))
    yield from _validate_topologies("allowedTopologies", storage_class.allowed_topologies)


def _validate_topologies(path: str, terms: tuple[TopologySelectorTerm, ...]) -> FieldErrors:
    """Validate allowedTopologies: valid and unique keys, at least one value, unique values, unique terms (S0)."""
    seen: list[Mapping[str, frozenset[str]]] = [{}]  # a term without expressions equals this one
    for index, term in enumerate(terms):
        item_path = f"{path}[{index}].matchLabelExpressions"
        values_by_key: dict[str, frozenset[str]] = {}
        for requirement_index, requirement in enumerate(term.match_label_expressions):
            requirement_path = f"{item_path}[{requirement_index}]"
            yield from invalid_values(f"{requirement_path}.key", requirement.key, check_qualified_name(requirement.key))
            if not requirement.values:
                yield FieldError(f"{requirement_path}.values", "Required")
            for value_index, value in enumerate(requirement.values):
                if value in requirement.values[:value_index]:
                    yield FieldError(f"{requirement_path}.values[{value_index}]", "Duplicate", value)
            if requirement.key in values_by_key:
                yield FieldError(f"{requirement_path}.key", "Duplicate", requirement.key)
            values_by_key[requirement.key] = frozenset(requirement.values)
        if values_by_key in seen:
            yield FieldError(item_path, "Duplicate", "")
        seen.append(values_by_key)


def _validate_access_modes(path: str, modes: tuple[str, ...], required: str) -> FieldErrors:
    if not modes:
        yield FieldError(path, "Required", detail=required)
    for mode in modes:
        yield from validate_supported(path, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield FieldError(path, "Forbidden", detail="may not use ReadWriteOncePod with other access modes")


@remembered
def _node_selector_errors(selector: NodeSelector) -> tuple[FieldError, ...]:
    return tuple(validate_node_selector("spec.nodeAffinity.required", selector))


@lru_cache(maxsize=1 << 12)
def _validate_positive(path: str, text: str) -> tuple[FieldError, ...]:
    return tuple(_judge_positive(path, text))


def _judge_positive(path: str, text: str) -> FieldErrors:
    number = quantity.parse(text)
    if number < 0:
        yield FieldError(path, "Invalid", quantity.value(text), "must be a valid resource quantity")
    if number <= 0:
        yield FieldError(path, "Invalid", text, "must be greater than zero")


def validate_volume(volume: PersistentVolume) -> FieldErrors:
    """Validate a PersistentVolume: access modes, capacity, exactly one source, node affinity, class, mode."""
    spec = volume.spec
    yield from _validate_access_modes("spec.accessModes", spec.access_modes, "")
    if not spec.capacity:
        yield FieldError("spec.capacity", "Required")
    if list(spec.capacity) != ["storage"]:
        value = None if spec.capacity is EMPTY else dict(spec.capacity)  # not given, or given as {}
        yield from validate_supported("spec.capacity", value, ("storage",))
    for name, text in spec.capacity.items():
        yield from _validate_positive(f"spec.capacity[{name}]", text)
    if spec.persistent_volume_reclaim_policy:
        policies = ("Delete", "Recycle", "Retain")
        yield from validate_supported("spec.persistentVolumeReclaimPolicy", spec.persistent_volume_reclaim_policy,
                                      policies)
    if spec.node_affinity is not None and spec.node_affinity.required is None:
        yield FieldError("spec.nodeAffinity.required", "Required", detail="must specify required node constraints")
    elif spec.node_affinity is not None and spec.node_affinity.required is not None:
        yield from _node_selector_errors(spec.node_affinity.required)
    yield from _validate_source(volume)
    yield from validate_name("spec.storageClassName", spec.storage_class_name, check_subdomain)
    if spec.volume_mode is not None:
        yield from validate_supported("spec.volumeMode", spec.volume_mode, ("Block", "Filesystem"))
    yield from _validate_attributes_class(volume)


def _validate_attributes_class(volume: PersistentVolume) -> FieldErrors:
    name = volume.spec.volume_attributes_class_name
    if name is None:
        return
    path = "spec.volumeAttributesClassName"
    if not name:
        yield FieldError(path, "Required", detail="an empty string is disallowed")
    else:
        yield from invalid_values(path, name, check_subdomain(name))
    if "csi" not in volume.spec.rest:
        detail = "has to be specified when using volumeAttributesClassName"
        yield FieldError("spec.csi", "Required", detail=detail)


def _validate_source(volume: PersistentVolume) -> FieldErrors:
    """Validate the source of a volume: exactly one, with its required fields; local needs node affinity."""
    names = [name for name in VOLUME_SOURCES if name in volume.spec.rest]
    if not names:
        yield FieldError("spec", "Required", detail="must specify a volume type")
        return
    for name in names[1:]:
        yield FieldError(f"spec.{name}", "Forbidden", detail="may not specify more than 1 volume type")
    source, path = volume.spec.rest[names[0]], f"spec.{names[0]}"
    source = source if isinstance(source, dict) else {}
    if names[0] == "local" and volume.spec.node_affinity is None:
        yield FieldError("spec.nodeAffinity", "Required", detail="Local volume requires node affinity")
    for field in _REQUIRED_FIELDS.get(names[0], ()):
        if not source.get(field):
            yield FieldError(f"{path}.{field}", "Required")
    source_path = str(source.get("path", ""))
    if names[0] in ("local", "hostPath") and ".." in source_path.split("/"):
        yield FieldError(f"{path}.path", "Invalid", source_path, "must not contain '..'")
    if names[0] == "nfs" and source_path and not source_path.startswith("/"):
        yield FieldError(f"{path}.path", "Invalid", source_path, "must be an absolute path")
    if names[0] == "hostPath" and source.get("type"):
        types = schema()["types"]["HostPathVolumeSource"]["type"].get("enum", ())
        yield from validate_supported(f"{path}.type", source["type"], ["", *(word for word in types if word)])
    is_root = names[0] == "hostPath" and posixpath.normpath(source_path or ".") in ("/", "//")
    if is_root and volume.spec.persistent_volume_reclaim_policy == "Recycle":
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        yield FieldError("spec.persistentVolumeReclaimPolicy", "Forbidden", detail=detail)
    if names[0] == "csi":
        yield from _validate_csi_source(path, source)


def _validate_csi_source(path: str, source: Mapping[str, Any]) -> FieldErrors:
    yield from validate_driver_name(f"{path}.driver", source.get("driver", ""))
    for field in _SECRET_REFERENCES:
        if field in source:
            for part in ("name", "namespace"):
                if not source[field].get(part):
                    yield FieldError(f"{path}.{field}.{part}", "Required")


_SECRET_REFERENCES = (
    "controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"
)  # fmt: skip
_REQUIRED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "local": ("path",), "hostPath": ("path",), "nfs": ("server", "path"), "csi": ("volumeHandle",),
    "gcePersistentDisk": ("pdName",), "awsElasticBlockStore": ("volumeID",),
}


def _validate_data_source(path: str, reference: Mapping[str, Any]) -> FieldErrors:
    """Validate dataSource or dataSourceRef of a claim: name, kind, API group; without a group it is a claim."""
    kind, group = reference.get("kind", ""), reference.get("apiGroup") or ""
    if not reference.get("name"):
        yield FieldError(f"{path}.name", "Required")
    if not kind:
        yield FieldError(f"{path}.kind", "Required")
    if not group and kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield FieldError(path, "Invalid", kind, detail)
    yield from validate_name(f"{path}.apiGroup", group, check_subdomain)


def validate_claim(claim: PersistentVolumeClaim) -> FieldErrors:
    """Validate a PersistentVolumeClaim."""
    return validate_claim_spec("spec", claim.spec)


def validate_claim_spec(path: str, spec: PersistentVolumeClaimSpec) -> FieldErrors:
    """Validate the spec of a claim or of a claim template, at this path."""
    if not _is_valid_claim_spec(evolve(spec, volume_name="") if spec.volume_name else spec):
        yield from _judge_claim_spec(path, spec)


@remembered
def _is_valid_claim_spec(spec: PersistentVolumeClaimSpec) -> bool:
    """Say whether a spec has no errors; the volume's name is not judged, so that claims of one template share it."""
    return next(_judge_claim_spec("", spec), None) is None


def _judge_claim_spec(path: str, spec: PersistentVolumeClaimSpec) -> FieldErrors:
    yield from validate_label_selector(f"{path}.selector", spec.selector)
    yield from _validate_access_modes(f"{path}.accessModes", spec.access_modes, "at least 1 access mode is required")
    storage = spec.resources.requests.get("storage")
    if storage is None:
        yield FieldError(f"{path}.resources[storage]", "Required")
    elif quantity.parse(storage) <= 0:
        yield FieldError(f"{path}.resources[storage]", "Invalid", storage, "must be greater than zero")
    yield from validate_name(f"{path}.storageClassName", spec.storage_class_name or "", check_subdomain)
    if spec.volume_mode is not None:
        yield from validate_supported(f"{path}.volumeMode", spec.volume_mode, ("Block", "Filesystem"))
    source, reference = spec.rest.get("dataSource"), spec.rest.get("dataSourceRef")
    for field, given in (("dataSource", source), ("dataSourceRef", reference)):
        if given is not None:
            yield from _validate_data_source(f"{path}.{field}", given)
    if source is not None and reference is not None and source != reference:
        yield FieldError(path, "Invalid", source, "must match dataSourceRef")
    attributes_class = spec.volume_attributes_class_name or ""
    yield from validate_name(f"{path}.volumeAttributesClassName", attributes_class, check_subdomain)
