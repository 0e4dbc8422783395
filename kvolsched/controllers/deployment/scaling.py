"""Scaling: ReplicaSets follow the number of replicas, all in proportion during a rollout; RollingUpdate.

RollingUpdate scales the new ReplicaSet up and the old ones down, within maxSurge and maxUnavailable. Mirrors `sync.go`
(isScalingEvent, scale) and `rolling.go`.
"""

from collections.abc import Sequence

from ...api.kinds.workload import ReplicaSet
from ...api.workloads import sorted_by_age
from .rollout import DESIRED_REPLICAS, MAX_REPLICAS, Rollout, size


def is_scaled(rollout: Rollout) -> bool:
    """Say whether an active ReplicaSet was sized for another number of replicas."""
    wanted = str(rollout.replicas)
    return any(
        size(replica_set) and replica_set.metadata.annotations.get(DESIRED_REPLICAS, wanted) != wanted
        for replica_set in rollout.sets.values()
    )


def follow_replicas(rollout: Rollout) -> None:
    """Scale the only active ReplicaSet to the number of replicas, or all of them in proportion."""
    active = [replica_set for replica_set in rollout.sets.values() if size(replica_set)]
    new, old_sets = rollout.new_set, rollout.old_sets
    if len(active) <= 1:
        only = active[0] if active else new or (old_sets[-1] if old_sets else None)
        if only is not None and size(only) != rollout.replicas:
            rollout.scale(only, rollout.replicas)
    elif new is not None and _is_saturated(rollout, new):
        for old in old_sets:
            rollout.scale(old, 0)
    elif rollout.is_rolling:
        _scale_in_proportion(rollout, active)


def _is_saturated(rollout: Rollout, new: ReplicaSet) -> bool:
    """Say whether the new ReplicaSet has all replicas, and all of them are available."""
    sized = new.metadata.annotations.get(DESIRED_REPLICAS) == str(size(new)) == str(rollout.replicas)
    return sized and new.status.available_replicas == rollout.replicas


def _scale_in_proportion(rollout: Rollout, active: Sequence[ReplicaSet]) -> None:
    """Share what is to be added or removed among the active ReplicaSets by size; the largest takes the rest."""
    allowed = rollout.replicas + rollout.max_surge if rollout.replicas else 0
    left = allowed - sum(map(size, active))
    ordered = sorted_by_age(active)
    if left > 0:
        ordered.reverse()
    ordered.sort(key=size, reverse=True)
    sizes = {}
    for replica_set in ordered:
        text = replica_set.metadata.annotations.get(MAX_REPLICAS, "")
        max_replicas = (int(text) if text.isdecimal() else 0) or rollout.owner.status.replicas or 1
        share = int(size(replica_set) * allowed / max_replicas + 0.5) - size(replica_set) if left else 0
        share = min(share, left) if left > 0 else max(share, left)
        sizes[replica_set.metadata.name] = size(replica_set) + share
        left -= share
    for number, replica_set in enumerate(ordered):
        wanted = max(0, sizes[replica_set.metadata.name] + (left if number == 0 else 0))
        rollout.scale(replica_set, wanted, annotate=True)


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
