"""Which storage classes, volumes and claims the API server takes, one function a rule.

Mirrors storage `ValidateStorageClass` and core `ValidatePersistentVolume`, `ValidatePersistentVolumeClaim`
(v1.36.2).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from ..kinds import quantity
from ..kinds.storage_class import StorageClass, TopologySelectorTerm
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec
from ..text.convert import schema
from .csi_rules import validate_driver_name
from .field_error import (
    FieldError,
    FieldErrors,
    check_qualified_name,
    check_subdomain,
    invalid_values,
    validate_supported,
)
from .selector_rules import validate_label_selector, validate_node_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
# The order in which Kubernetes looks at them: the first is the volume's type, every further one is refused.
VOLUME_SOURCES = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "local",
    "storageos",
    "csi",
)




def validate_storage_class(storage_class: StorageClass) -> FieldErrors:
    """A class: a provisioner, parameters with keys, one of the two modes, topologies."""
    if not storage_class.provisioner:
        yield FieldError("provisioner", "Required")
    else:
        name = storage_class.provisioner.lower()
        yield from invalid_values("provisioner", name, check_qualified_name(name))
    if len(storage_class.parameters) > 512:
        yield FieldError("parameters", "TooLong", detail="may not be more than 512 bytes")
    if "" in storage_class.parameters:
        yield FieldError("parameters", "Invalid", "", "field can not be empty.")
    if storage_class.reclaim_policy:
        yield from validate_supported("reclaimPolicy", storage_class.reclaim_policy, ("Delete", "Retain"))
    if storage_class.volume_binding_mode is None:
        yield FieldError("volumeBindingMode", "Required")
    else:
        yield from validate_supported(
            "volumeBindingMode", storage_class.volume_binding_mode, ("Immediate", "WaitForFirstConsumer")
        )
    yield from _topologies("allowedTopologies", storage_class.allowed_topologies)


def _topologies(path: str, terms: tuple[TopologySelectorTerm, ...]) -> FieldErrors:
    """Keys are label names, values are given and differ, no key twice in a term, no two equal terms (S0)."""
    seen: list[Mapping[str, frozenset[str]]] = [{}]  # a term without expressions equals this one
    for index, term in enumerate(terms):
        here = f"{path}[{index}].matchLabelExpressions"
        said: dict[str, frozenset[str]] = {}
        for place, requirement in enumerate(term.match_label_expressions):
            item = f"{here}[{place}]"
            yield from invalid_values(f"{item}.key", requirement.key, check_qualified_name(requirement.key))
            if not requirement.values:
                yield FieldError(f"{item}.values", "Required")
            for other, value in enumerate(requirement.values):
                if value in requirement.values[:other]:
                    yield FieldError(f"{item}.values[{other}]", "Duplicate", value)
            if requirement.key in said:
                yield FieldError(f"{item}.key", "Duplicate", requirement.key)
            said[requirement.key] = frozenset(requirement.values)
        if said in seen:
            yield FieldError(here, "Duplicate", "")
        seen.append(said)




def _access_modes(path: str, modes: tuple[str, ...], required: str) -> FieldErrors:
    if not modes:
        yield FieldError(path, "Required", detail=required)
    for mode in modes:
        yield from validate_supported(path, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield FieldError(path, "Forbidden", detail="may not use ReadWriteOncePod with other access modes")


def _positive(path: str, text: str) -> FieldErrors:
    number = quantity.parse(text)
    if number < 0:
        yield FieldError(path, "Invalid", quantity.value(text), "must be a valid resource quantity")
    if number <= 0:
        yield FieldError(path, "Invalid", text, "must be greater than zero")


def validate_volume(volume: PersistentVolume) -> FieldErrors:
    """A volume: access modes, a capacity of storage alone, exactly one source, node affinity that says
    something.
    """
    spec = volume.spec
    yield from _access_modes("spec.accessModes", spec.access_modes, "")
    if not spec.capacity:
        yield FieldError("spec.capacity", "Required")
    if list(spec.capacity) != ["storage"]:
        yield from validate_supported("spec.capacity", dict(spec.capacity) or None, ("storage",))
    for name, text in spec.capacity.items():
        yield from _positive(f"spec.capacity[{name}]", text)
    if spec.persistent_volume_reclaim_policy:
        policies = ("Delete", "Recycle", "Retain")
        yield from validate_supported(
            "spec.persistentVolumeReclaimPolicy", spec.persistent_volume_reclaim_policy, policies
        )
    if spec.node_affinity is not None and spec.node_affinity.required is None:
        yield FieldError(
            "spec.nodeAffinity.required", "Required", detail="must specify required node constraints"
        )
    elif spec.node_affinity is not None and spec.node_affinity.required is not None:
        yield from validate_node_selector("spec.nodeAffinity.required", spec.node_affinity.required)
    yield from _sources(volume)
    if spec.storage_class_name:
        yield from invalid_values("spec.storageClassName", spec.storage_class_name, check_subdomain(spec.storage_class_name))
    if spec.volume_mode is not None:
        yield from validate_supported("spec.volumeMode", spec.volume_mode, ("Block", "Filesystem"))
    yield from _attributes_class(volume)


def _attributes_class(volume: PersistentVolume) -> FieldErrors:
    name = volume.spec.volume_attributes_class_name
    if name is None:
        return
    path = "spec.volumeAttributesClassName"
    if not name:
        yield FieldError(path, "Required", detail="an empty string is disallowed")
    else:
        yield from invalid_values(path, name, check_subdomain(name))
    if "csi" not in volume.spec.rest:
        words = "has to be specified when using volumeAttributesClassName"
        yield FieldError("spec.csi", "Required", detail=words)


def _sources(volume: PersistentVolume) -> FieldErrors:
    """Exactly one source; what some of them require; a local volume requires node affinity."""
    given = [name for name in VOLUME_SOURCES if name in volume.spec.rest]
    if not given:
        yield FieldError("spec", "Required", detail="must specify a volume type")
        return
    for name in given[1:]:
        yield FieldError(f"spec.{name}", "Forbidden", detail="may not specify more than 1 volume type")
    source, path = volume.spec.rest[given[0]], f"spec.{given[0]}"
    source = source if isinstance(source, dict) else {}
    if given[0] == "local" and volume.spec.node_affinity is None:
        yield FieldError("spec.nodeAffinity", "Required", detail="Local volume requires node affinity")
    for field in _REQUIRED_IN_SOURCE.get(given[0], ()):
        if not source.get(field):
            yield FieldError(f"{path}.{field}", "Required")
    where = str(source.get("path", ""))
    if given[0] in ("local", "hostPath") and ".." in where.split("/"):
        yield FieldError(f"{path}.path", "Invalid", where, "must not contain '..'")
    if given[0] == "nfs" and where and not where.startswith("/"):
        yield FieldError(f"{path}.path", "Invalid", where, "must be an absolute path")
    if given[0] == "hostPath" and source.get("type"):
        types = schema()["types"]["HostPathVolumeSource"]["type"].get("enum", ())
        yield from validate_supported(f"{path}.type", source["type"], ["", *(word for word in types if word)])
    whole = given[0] == "hostPath" and posixpath.normpath(where or ".") in ("/", "//")
    if whole and volume.spec.persistent_volume_reclaim_policy == "Recycle":
        words = "may not be 'recycle' for a hostPath mount of '/'"
        yield FieldError("spec.persistentVolumeReclaimPolicy", "Forbidden", detail=words)
    if given[0] == "csi":
        yield from _csi(path, source)


def _csi(path: str, source: Mapping[str, Any]) -> FieldErrors:
    yield from validate_driver_name(f"{path}.driver", source.get("driver", ""))
    for field in _SECRETS:
        if field in source:
            for part in ("name", "namespace"):
                if not source[field].get(part):
                    yield FieldError(f"{path}.{field}.{part}", "Required")


_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
_REQUIRED_IN_SOURCE: Mapping[str, tuple[str, ...]] = {
    "local": ("path",),
    "hostPath": ("path",),
    "nfs": ("server", "path"),
    "csi": ("volumeHandle",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
}


def _data_source(path: str, found: Mapping[str, Any]) -> FieldErrors:
    """What a claim is filled from: named, of a kind, of a proper group; without a group it is a claim."""
    kind, group = found.get("kind", ""), found.get("apiGroup") or ""
    if not found.get("name"):
        yield FieldError(f"{path}.name", "Required")
    if not kind:
        yield FieldError(f"{path}.kind", "Required")
    if not group and kind != "PersistentVolumeClaim":
        words = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield FieldError(path, "Invalid", kind, words)
    if group:
        yield from invalid_values(f"{path}.apiGroup", group, check_subdomain(group))


def validate_claim(claim: PersistentVolumeClaim) -> FieldErrors:
    """A claim is its spec."""
    return validate_claim_spec("spec", claim.spec)


def validate_claim_spec(path: str, spec: PersistentVolumeClaimSpec) -> FieldErrors:
    """A claim's spec, or that of a template at this path: modes, a request for storage, proper names."""
    yield from validate_label_selector(f"{path}.selector", spec.selector)
    yield from _access_modes(f"{path}.accessModes", spec.access_modes, "at least 1 access mode is required")
    storage = spec.resources.requests.get("storage")
    if storage is None:
        yield FieldError(f"{path}.resources[storage]", "Required")
    else:
        yield from _positive(f"{path}.resources[storage]", storage)
    if spec.storage_class_name:
        yield from invalid_values(
            f"{path}.storageClassName", spec.storage_class_name, check_subdomain(spec.storage_class_name)
        )
    if spec.volume_mode is not None:
        yield from validate_supported(f"{path}.volumeMode", spec.volume_mode, ("Block", "Filesystem"))
    source, reference = spec.rest.get("dataSource"), spec.rest.get("dataSourceRef")
    for field, named in (("dataSource", source), ("dataSourceRef", reference)):
        if named is not None:
            yield from _data_source(f"{path}.{field}", named)
    if source is not None and reference is not None and source != reference:
        yield FieldError(path, "Invalid", source, "must match dataSourceRef")
    if spec.volume_attributes_class_name:
        name = spec.volume_attributes_class_name
        yield from invalid_values(f"{path}.volumeAttributesClassName", name, check_subdomain(name))
