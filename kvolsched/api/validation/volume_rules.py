"""Validate storage classes, volumes and claims, CSI objects and volume attachments.

Mirrors storage `ValidateStorageClass`, `ValidateCSINode`, with its update, `ValidateCSIDriver`,
`ValidateCSIStorageCapacity` and `ValidateVolumeAttachment`, and core `ValidatePersistentVolume`,
`ValidatePersistentVolumeClaim` (v1.36.2).
"""

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs

from ..kinds import csi, quantity
from ..kinds.meta import EMPTY, evolve
from ..kinds.name_syntax import check_qualified_name, check_subdomain
from ..kinds.selector import NodeSelector
from ..kinds.storage_class import StorageClass, TopologySelectorTerm
from ..kinds.volume import PersistentVolume, PersistentVolumeClaimSpec
from ..remembered import remembered
from ..text.convert import schema
from .field_error import FieldError, FieldErrors, invalid_values, validate_name, validate_supported, validate_unique
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


MAX_NODE_ID_LENGTH = 256
MIN_TOKEN_SECONDS = 600  # seconds


def validate_driver_name(path: str, name: str) -> FieldErrors:
    """Validate a driver's name: a subdomain of at most 63 characters, upper case allowed."""
    if not name:
        yield FieldError(path, "Required")
        return
    if len(name) > 63:
        yield FieldError(path, "TooLong", detail="may not be more than 63 bytes")
    yield from invalid_values(path, name, check_subdomain(name.lower()))


def validate_csi_node(csi_node: csi.CSINode) -> FieldErrors:
    """Validate a CSINode: unique drivers, each with a node id and valid topology keys."""
    seen: set[str] = set()
    for index, driver in enumerate(csi_node.spec.drivers):
        path = f"spec.drivers[{index}]"
        yield from validate_driver_name(f"{path}.name", driver.name)
        yield from _validate_node_id(f"{path}.nodeID", driver.node_id)
        count = driver.allocatable.count if driver.allocatable is not None else None
        if count is not None and count < 0:
            yield FieldError(f"{path}.allocatable.count", "Invalid", count, "must be greater than or equal to 0")
        yield from validate_unique(f"{path}.name", driver.name, seen)
        yield from _validate_topology_keys(path, driver)


def _validate_node_id(path: str, node_id: str) -> FieldErrors:
    if not node_id:
        yield FieldError(path, "Required")
    if len(node_id) > MAX_NODE_ID_LENGTH:
        yield FieldError(path, "Invalid", node_id, f"must be {MAX_NODE_ID_LENGTH} characters or less")


def _validate_topology_keys(path: str, driver: csi.CSINodeDriver) -> FieldErrors:
    for index, key in enumerate(driver.topology_keys):
        if not key:
            yield FieldError(path, "Required")
        if key in driver.topology_keys[:index]:
            yield FieldError(path, "Duplicate", key)
        yield from invalid_values(path, key, check_qualified_name(key))


def validate_csi_node_update(old: csi.CSINode, new: csi.CSINode) -> FieldErrors:
    """Validate an update of a CSINode: drivers may be added and removed, and only their limits may change."""
    stay = {driver.name: _without_limit(driver) for driver in new.spec.drivers}
    for driver in old.spec.drivers:
        if stay.get(driver.name, _without_limit(driver)) != _without_limit(driver):
            yield FieldError("spec.drivers", "Invalid", new.spec.drivers, "field is immutable")


def _without_limit(driver: csi.CSINodeDriver) -> csi.CSINodeDriver:
    limits = attrs.evolve(driver.allocatable, count=None) if driver.allocatable else csi.VolumeNodeResources()
    return attrs.evolve(driver, allocatable=limits)


def validate_csi_driver(driver: csi.CSIDriver) -> FieldErrors:
    """Validate a CSIDriver: the defaulted fields are set, values are supported, token audiences are unique."""
    spec, rest = driver.spec, driver.spec.rest
    for field, value in (
        ("attachRequired", spec.attach_required), ("podInfoOnMount", spec.pod_info_on_mount),
        ("storageCapacity", spec.storage_capacity), ("fsGroupPolicy", rest.get("fsGroupPolicy")),
    ):
        if value is None:
            yield FieldError(f"spec.{field}", "Required")
    if rest.get("fsGroupPolicy") is not None:
        policies = ("File", "None", "ReadWriteOnceWithFSType")
        yield from validate_supported("spec.fsGroupPolicy", rest["fsGroupPolicy"], policies)
    for mode in spec.volume_lifecycle_modes:
        yield from validate_supported("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    yield from validate_csi_driver_status(driver)
    audiences: set[str] = set()
    for index, request in enumerate(rest.get("tokenRequests", ())):
        path, audience = f"spec.tokenRequests[{index}]", request.get("audience", "")
        yield from validate_unique(f"{path}.audience", audience, audiences)
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < MIN_TOKEN_SECONDS:
            detail = "may not specify a duration less than 10 minutes"
            yield FieldError(f"{path}.expirationSeconds", "Invalid", seconds, detail)


def validate_csi_driver_status(driver: csi.CSIDriver) -> FieldErrors:
    """Validate the storage that a driver reports (S2): each class once, by its name or a special one."""
    class_names: set[str] = set()
    for index, storage in enumerate(driver.status.storage):
        path, name = f"status.storage[{index}]", storage.storage_class_name
        if name not in (csi.EPHEMERAL_STORAGE, csi.FALLBACK_STORAGE):
            yield from invalid_values(f"{path}.storageClassName", name, check_subdomain(name))
        yield from validate_unique(f"{path}.storageClassName", name, class_names)
        yield from _validate_pools(path, storage)


def _validate_pools(path: str, storage: csi.CSIStorage) -> FieldErrors:
    """Validate pools: unique names, nodes by a list without duplicates or by a selector, no negative capacity."""
    names: set[str] = set()
    for index, pool in enumerate(storage.pools):
        item_path = f"{path}.pools[{index}]"
        if not pool.name:
            yield FieldError(f"{item_path}.name", "Required")
        yield from validate_unique(f"{item_path}.name", pool.name, names)
        if pool.node_topology is not None and pool.node_list:
            yield FieldError(f"{item_path}.nodeList", "Forbidden", detail="may not be set beside nodeTopology")
        for node_index, node in enumerate(pool.node_list):
            if node in pool.node_list[:node_index]:
                yield FieldError(f"{item_path}.nodeList[{node_index}]", "Duplicate", node)
        if pool.capacity is not None and quantity.parse(pool.capacity) < 0:
            yield FieldError(f"{item_path}.capacity", "Invalid", pool.capacity, "must be greater than or equal to 0")


def validate_csi_storage_capacity(capacity: csi.CSIStorageCapacity) -> FieldErrors:
    """Validate a CSIStorageCapacity: node topology, class, capacity; the API server ignores maximumVolumeSize."""
    yield from validate_label_selector("nodeTopology", capacity.node_topology)
    name = capacity.storage_class_name
    yield from invalid_values("storageClassName", name, check_subdomain(name))
    if capacity.capacity is not None and quantity.parse(capacity.capacity) < 0:
        yield FieldError("capacity", "Invalid", capacity.capacity, "must be greater than or equal to 0")


def validate_volume_attachment(attachment: csi.VolumeAttachment) -> FieldErrors:
    """Validate a VolumeAttachment: driver, node, and a source, either the name of a volume or an inline spec."""
    spec, source = attachment.spec, attachment.spec.source
    yield from validate_driver_name("spec.attacher", spec.attacher)
    yield from invalid_values("spec.nodeName", spec.node_name, check_subdomain(spec.node_name))
    name, inline = source.persistent_volume_name, "inlineVolumeSpec" in source.rest
    detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and not inline:
        yield FieldError("spec.source", "Required", detail=detail)
    elif name is not None and inline:
        yield FieldError("spec.source", "Forbidden", detail=detail)
    if name is not None:
        if not name and not inline:
            detail = "must specify non empty persistentVolumeName"
            yield FieldError("spec.source.persistentVolumeName", "Required", detail=detail)
        yield from invalid_values("spec.source.persistentVolumeName", name, check_subdomain(name))
