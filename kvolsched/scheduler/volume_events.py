"""What pods wait for that VolumeBinding has rejected: their claims, volumes, classes, room, drivers and nodes.

Declarations and their hints. That any volume wakes everybody, of whatever class and size, is as observed; a volume that
goes wakes when its going begins. Mirrors `EventsToRegister` of `plugins/volumebinding` (v1.36.2).
"""

from __future__ import annotations

from kvolsched.api.csi import CSIDriver, CSINode
from kvolsched.api.pod import Pod
from kvolsched.api.volume import PersistentVolume

from .capacities import limit_of
from .claims import is_own
from .cluster_event import Action
from .extension import Wake
from .migration import MIGRATED_PLUGINS


def _is_news(_pod: Pod, old: PersistentVolume | None, new: PersistentVolume | None) -> bool:
    """Whether a volume is there, or its going was not told before."""
    return new is not None or old is None or old.metadata.deletion_timestamp is None


def _stops_telling(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    """Whether the driver of one of the pod's inline volumes no longer tells how much room it has."""
    stops = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    return stops and any(
        volume.csi is not None and volume.csi.driver == new.metadata.name for volume in pod.spec.volumes
    )


def _hands_over(_pod: Pod, old: CSINode, new: CSINode) -> bool:
    """Whether a node leaves other in-tree plugins to their drivers than before."""
    return old.metadata.annotations.get(MIGRATED_PLUGINS) != new.metadata.annotations.get(MIGRATED_PLUGINS)


WAKES = (
    Wake("PersistentVolume", "any volume comes, changes or goes", _is_news),
    Wake(
        "PersistentVolumeClaim",
        "one of its claims comes or changes",
        lambda pod, _old, new: is_own(pod, new),
        Action.ADD | Action.UPDATE,
    ),
    Wake("StorageClass", "a class comes", on=Action.ADD),
    Wake(
        "StorageClass",
        "the allowedTopologies of a class change",
        lambda _pod, old, new: old.allowed_topologies != new.allowed_topologies,
        Action.UPDATE,
    ),
    Wake("CSIStorageCapacity", "room is told for the first time", on=Action.ADD),
    Wake(
        "CSIStorageCapacity",
        "more room is told",
        lambda _pod, old, new: limit_of(new) > limit_of(old),
        Action.UPDATE,
    ),
    Wake("CSIDriver", "its inline volume's driver no longer tells its room", _stops_telling, Action.UPDATE),
    Wake(
        "CSIDriver",
        "a driver tells other room in its status",
        lambda _pod, old, new: old.status != new.status,
        Action.UPDATE,
    ),
    Wake("CSINode", "a node tells its drivers", on=Action.ADD),
    Wake("CSINode", "a node hands other plugins over to their drivers", _hands_over, Action.UPDATE),
    Wake("Node", "a node appears or its labels change", on=Action.ADD | Action.NODE_LABEL),
)
