"""Validate CSI objects and volume attachments.

Mirrors storage `ValidateCSINode`, with its update, `ValidateCSIDriver`, `ValidateCSIStorageCapacity` and
`ValidateVolumeAttachment` (v1.36.2).
"""

import attrs

from ..kinds import csi, quantity
from ..kinds.name_syntax import check_qualified_name, check_subdomain
from .field_error import FieldError, FieldErrors, invalid_values, validate_supported, validate_unique
from .selector_rules import validate_label_selector

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
