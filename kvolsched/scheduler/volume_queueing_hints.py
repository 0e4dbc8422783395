"""What pods wait for that VolumeBinding has rejected: their claims, volumes, classes, room, drivers and nodes.

Declarations and their hints. That any volume wakes everybody, of whatever class and size, is as observed; a volume that
goes wakes when its going begins. Mirrors `EventsToRegister` of `plugins/volumebinding` (v1.36.2).
"""

from __future__ import annotations

from kvolsched.api.kinds.csi import CSIDriver, CSINode
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.volume import PersistentVolume

from .columns.storage_capacities import max_volume_size
from .csi_migration import MIGRATED_PLUGINS
from .framework.cluster_event import Action
from .framework.extension_points import QueueingHint
from .pod_claims import is_claim_of_pod


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
    QueueingHint("PersistentVolume", "any volume comes, changes or goes", _is_news),
    QueueingHint(
        "PersistentVolumeClaim",
        "one of its claims comes or changes",
        lambda pod, _old, new: is_claim_of_pod(pod, new),
        Action.ADD | Action.UPDATE,
    ),
    QueueingHint("StorageClass", "a class comes", action=Action.ADD),
    QueueingHint(
        "StorageClass",
        "the allowedTopologies of a class change",
        lambda _pod, old, new: old.allowed_topologies != new.allowed_topologies,
        Action.UPDATE,
    ),
    QueueingHint("CSIStorageCapacity", "room is told for the first time", action=Action.ADD),
    QueueingHint(
        "CSIStorageCapacity",
        "more room is told",
        lambda _pod, old, new: max_volume_size(new) > max_volume_size(old),
        Action.UPDATE,
    ),
    QueueingHint("CSIDriver", "its inline volume's driver no longer tells its room", _stops_telling, Action.UPDATE),
    QueueingHint(
        "CSIDriver",
        "a driver tells other room in its status",
        lambda _pod, old, new: old.status != new.status,
        Action.UPDATE,
    ),
    QueueingHint("CSINode", "a node tells its drivers", action=Action.ADD),
    QueueingHint("CSINode", "a node hands other plugins over to their drivers", _hands_over, Action.UPDATE),
    QueueingHint("Node", "a node appears or its labels change", action=Action.ADD | Action.NODE_LABEL),
)
