"""Cluster events after which a pod that VolumeBinding rejected is tried again.

As recorded, every volume counts, of whatever class and size, and a deleted one counts once, when its deletion begins.
Mirrors `EventsToRegister` of `plugins/volumebinding` (v1.36.2).
"""

from ....api.kinds.csi import CSIDriver, CSINode
from ....api.kinds.pod import Pod
from ....api.kinds.volume import PersistentVolume
from ...columns.storage_capacities import max_volume_size
from ...csi_migration import MIGRATED_PLUGINS
from ...framework.cluster_event import Action
from ...framework.extension_points import QueueingHint
from ...pod_claims import is_claim_of_pod


def _exists_or_begins_deletion(_pod: Pod, old: PersistentVolume | None, new: PersistentVolume | None) -> bool:
    """Say whether a volume exists, or is gone without an earlier deletion timestamp."""
    return new is not None or old is None or old.metadata.deletion_timestamp is None


def _stops_tracking_inline(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    """Say whether the driver of one of the pod's inline volumes stops publishing capacity."""
    stops = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    return stops and any(
        volume.csi is not None and volume.csi.driver == new.metadata.name for volume in pod.spec.volumes
    )


def _migrates_other_plugins(_pod: Pod, old: CSINode, new: CSINode) -> bool:
    """Say whether the set of in-tree plugins changes that a node leaves to their drivers."""
    return old.metadata.annotations.get(MIGRATED_PLUGINS) != new.metadata.annotations.get(MIGRATED_PLUGINS)


EVENTS = (
    QueueingHint("PersistentVolume", "a volume is added, changed or deleted", _exists_or_begins_deletion),
    QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added or changed",
                 lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD | Action.UPDATE),
    QueueingHint("StorageClass", "a class is added", action=Action.ADD),
    QueueingHint("StorageClass", "the allowedTopologies of a class change",
                 lambda _pod, old, new: old.allowed_topologies != new.allowed_topologies, Action.UPDATE),
    QueueingHint("CSIStorageCapacity", "capacity is published for the first time", action=Action.ADD),
    QueueingHint("CSIStorageCapacity", "published capacity grows",
                 lambda _pod, old, new: max_volume_size(new) > max_volume_size(old), Action.UPDATE),
    QueueingHint("CSIDriver", "the driver of an inline volume stops publishing capacity", _stops_tracking_inline,
                 Action.UPDATE),
    QueueingHint("CSIDriver", "the status of a driver, with its pools, changes",
                 lambda _pod, old, new: old.status != new.status, Action.UPDATE),
    QueueingHint("CSINode", "the drivers of a node are published", action=Action.ADD),
    QueueingHint("CSINode", "a node migrates other in-tree plugins", _migrates_other_plugins, Action.UPDATE),
    QueueingHint("Node", "a node is added or its labels change", action=Action.ADD | Action.NODE_LABEL),
)
