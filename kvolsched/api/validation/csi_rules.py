"""Which CSI objects and attachments the API server takes, one function a rule.

Mirrors storage `ValidateCSINode`, `ValidateCSIDriver`, `ValidateCSIStorageCapacity` and `ValidateVolumeAttachment`,
with the updates of each (v1.36.2).
"""

from __future__ import annotations

import attrs

from ..kinds import quantity
from ..kinds.csi import (
    EPHEMERAL,
    FALLBACK,
    CSIDriver,
    CSINode,
    CSINodeDriver,
    CSIStorage,
    CSIStorageCapacity,
    VolumeAttachment,
    VolumeNodeResources,
)
from .invalid import Invalid, Refusals, each, immutable_field, qualified_name, subdomain, supported
from .selector_rules import label_selector

LONGEST_NODE_ID = 256
SHORTEST_TOKEN = 600  # seconds


def driver_name(path: str, name: str) -> Refusals:
    """A driver's name: a subdomain of at most 63 characters, in either case."""
    if not name:
        yield Invalid(path, "Required")
        return
    if len(name) > 63:
        yield Invalid(path, "TooLong", detail="may not be more than 63 bytes")
    yield from each(path, name, subdomain(name.lower()))


def csi_node(found: CSINode) -> Refusals:
    """A node's drivers: each once, with the node's id and proper topology keys."""
    seen: set[str] = set()
    for index, driver in enumerate(found.spec.drivers):
        path = f"spec.drivers[{index}]"
        yield from driver_name(f"{path}.name", driver.name)
        yield from _node_id(f"{path}.nodeID", driver.node_id)
        count = driver.allocatable.count if driver.allocatable is not None else None
        if count is not None and count < 0:
            yield Invalid(f"{path}.allocatable.count", "Invalid", count, "must be greater than or equal to 0")
        if driver.name in seen:
            yield Invalid(f"{path}.name", "Duplicate", driver.name)
        seen.add(driver.name)
        yield from _topology_keys(path, driver)


def _node_id(path: str, node_id: str) -> Refusals:
    if not node_id:
        yield Invalid(path, "Required")
    if len(node_id) > LONGEST_NODE_ID:
        yield Invalid(path, "Invalid", node_id, f"must be {LONGEST_NODE_ID} characters or less")


def _topology_keys(path: str, driver: CSINodeDriver) -> Refusals:
    for place, key in enumerate(driver.topology_keys):
        if not key:
            yield Invalid(path, "Required")
        if key in driver.topology_keys[:place]:
            yield Invalid(path, "Duplicate", key)
        yield from each(path, key, qualified_name(key))


def csi_node_change(old: CSINode, new: CSINode) -> Refusals:
    """Drivers come and go; of one that stays only the limit may change."""
    stay = {driver.name: _without_limit(driver) for driver in new.spec.drivers}
    for driver in old.spec.drivers:
        if stay.get(driver.name, _without_limit(driver)) != _without_limit(driver):
            yield Invalid("spec.drivers", "Invalid", new.spec.drivers, "field is immutable")


def _without_limit(driver: CSINodeDriver) -> CSINodeDriver:
    resources = driver.allocatable
    return attrs.evolve(driver, allocatable=attrs.evolve(resources, count=None) if resources else VolumeNodeResources())


def csi_driver(found: CSIDriver) -> Refusals:
    """A driver: what the API server fills in must be there, known words, tokens for one audience each."""
    spec, rest = found.spec, found.spec.rest
    for field, given in (
        ("attachRequired", spec.attach_required),
        ("podInfoOnMount", spec.pod_info_on_mount),
        ("storageCapacity", spec.storage_capacity),
        ("fsGroupPolicy", rest.get("fsGroupPolicy")),
    ):
        if given is None:
            yield Invalid(f"spec.{field}", "Required")
    if rest.get("fsGroupPolicy") is not None:
        policies = ("File", "None", "ReadWriteOnceWithFSType")
        yield from supported("spec.fsGroupPolicy", rest["fsGroupPolicy"], policies)
    for mode in spec.volume_lifecycle_modes:
        yield from supported("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    yield from _driver_storage(found)
    audiences: set[str] = set()
    for index, request in enumerate(rest.get("tokenRequests", ())):
        path, audience = f"spec.tokenRequests[{index}]", request.get("audience", "")
        if audience in audiences:
            yield Invalid(f"{path}.audience", "Duplicate", audience)
        audiences.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < SHORTEST_TOKEN:
            words = "may not specify a duration less than 10 minutes"
            yield Invalid(f"{path}.expirationSeconds", "Invalid", seconds, words)


def _driver_storage(found: CSIDriver) -> Refusals:
    """What a driver tells of its room (S2): each class once, by its name or one of the two special ones."""
    named: set[str] = set()
    for index, storage in enumerate(found.status.storage):
        path, name = f"status.storage[{index}]", storage.storage_class_name
        if name not in (EPHEMERAL, FALLBACK):
            yield from each(f"{path}.storageClassName", name, subdomain(name))
        if name in named:
            yield Invalid(f"{path}.storageClassName", "Duplicate", name)
        named.add(name)
        yield from _pools(path, storage)


def _pools(path: str, storage: CSIStorage) -> Refusals:
    """Pools: each name once, nodes by a list without repetition or by a selector but not both, no negative room."""
    names: set[str] = set()
    for index, pool in enumerate(storage.pools):
        here = f"{path}.pools[{index}]"
        if not pool.name:
            yield Invalid(f"{here}.name", "Required")
        if pool.name in names:
            yield Invalid(f"{here}.name", "Duplicate", pool.name)
        names.add(pool.name)
        if pool.node_topology is not None and pool.node_list:
            yield Invalid(f"{here}.nodeList", "Forbidden", detail="may not be set beside nodeTopology")
        for place, node in enumerate(pool.node_list):
            if node in pool.node_list[:place]:
                yield Invalid(f"{here}.nodeList[{place}]", "Duplicate", node)
        if pool.capacity is not None and quantity.parse(pool.capacity) < 0:
            yield Invalid(f"{here}.capacity", "Invalid", pool.capacity, "must be greater than or equal to 0")


def csi_driver_change(old: CSIDriver, new: CSIDriver) -> Refusals:
    """Whether it attaches and which volumes it makes is for life (the first is misspelt in Kubernetes' path)."""
    before, after = old.spec, new.spec
    yield from immutable_field("spec.attachedRequired", before.attach_required, after.attach_required)
    yield from immutable_field(
        "spec.volumeLifecycleModes", before.volume_lifecycle_modes, after.volume_lifecycle_modes
    )


def csi_storage_capacity(found: CSIStorageCapacity) -> Refusals:
    """Room: of a class, where a label selector says, not negative; the maximum size is not looked at."""
    yield from label_selector("nodeTopology", found.node_topology)
    yield from each("storageClassName", found.storage_class_name, subdomain(found.storage_class_name))
    if found.capacity is not None and quantity.parse(found.capacity) < 0:
        yield Invalid("capacity", "Invalid", found.capacity, "must be greater than or equal to 0")


def csi_storage_capacity_change(old: CSIStorageCapacity, new: CSIStorageCapacity) -> Refusals:
    """Only the numbers change."""
    yield from immutable_field("nodeTopology", old.node_topology, new.node_topology)
    yield from immutable_field("storageClassName", old.storage_class_name, new.storage_class_name)


def volume_attachment(found: VolumeAttachment) -> Refusals:
    """An attachment: by a driver, to a node, of a volume by name or by its own spec."""
    spec, source = found.spec, found.spec.source
    yield from driver_name("spec.attacher", spec.attacher)
    yield from each("spec.nodeName", spec.node_name, subdomain(spec.node_name))
    name, inline = source.persistent_volume_name, "inlineVolumeSpec" in source.rest
    words = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and not inline:
        yield Invalid("spec.source", "Required", detail=words)
    elif name is not None and inline:
        yield Invalid("spec.source", "Forbidden", detail=words)
    if name is not None:
        if not name and not inline:
            words = "must specify non empty persistentVolumeName"
            yield Invalid("spec.source.persistentVolumeName", "Required", detail=words)
        yield from each("spec.source.persistentVolumeName", name, subdomain(name))


def volume_attachment_change(old: VolumeAttachment, new: VolumeAttachment) -> Refusals:
    """What is attached where stays."""
    yield from immutable_field("spec", old.spec, new.spec)
