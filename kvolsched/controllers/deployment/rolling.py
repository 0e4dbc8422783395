"""RollingUpdate: scale the new ReplicaSet up and the old ones down, within maxSurge and maxUnavailable.

Mirrors `rolling.go`.
"""

from __future__ import annotations

from .rollout import Rollout, size


def scale_up_new(rollout: Rollout) -> bool:
    """Scale the new ReplicaSet to the size that is allowed now; say whether its size changes."""
    new = rollout.new_set
    if new is None or size(new) == rollout.replicas:
        return False
    return rollout.scale(new, rollout.replicas if size(new) > rollout.replicas else rollout.new_set_size(size(new)))


def scale_down_old(rollout: Rollout) -> bool:
    """Scale the old ReplicaSets down, unavailable pods first; say whether any is scaled."""
    new = rollout.new_set
    if not sum(map(size, rollout.old_sets)) or new is None:
        return False
    min_available = rollout.replicas - rollout.max_unavailable
    removable = rollout.total - min_available - (size(new) - new.status.available_replicas)
    if removable <= 0:
        return False
    before = len(rollout.plan.writes)
    for old in rollout.old_sets:
        unavailable = min(removable, size(old) - old.status.available_replicas)
        if unavailable > 0:
            removable -= unavailable
            rollout.scale(old, size(old) - unavailable)
    spare = sum(replica_set.status.available_replicas for replica_set in rollout.sets.values()) - min_available
    for old in rollout.old_sets:
        removed = min(size(old), spare)
        if removed > 0:
            spare -= removed
            rollout.scale(old, size(old) - removed)
    return len(rollout.plan.writes) > before
