"""Status of a Deployment: counts of its ReplicaSets, whether it is available, and whether it progresses.

Mirrors `progress.go` and `sync.go` (calculateStatus).
"""

import attrs

from ...api.kinds.meta import Frozen
from ...api.kinds.workload import Deployment, DeploymentStatus
from ...api.workloads import generation
from ...world.plan import reference_of
from .rollout import Rollout, size

NO_DEADLINE = 2**31 - 1


def write_status(rollout: Rollout, *, progressing: bool = True) -> None:
    """Write the status; `progressing`: also whether the Deployment progresses."""
    owner, status = rollout.owner, _counted(rollout)
    present = condition_of(owner.status, "Progressing")
    done = present is not None and present["reason"] == "NewReplicaSetAvailable"
    done = done and status.replicas == status.updated_replicas
    if progressing and has_deadline(owner) and not done:
        subject = f'ReplicaSet "{rollout.new_name}"' if rollout.new_name else f'Deployment "{owner.metadata.name}"'
        if is_complete(rollout, status):
            reason, message = "NewReplicaSetAvailable", f"{subject} has successfully progressed."
            condition = Frozen(type="Progressing", status="True", reason=reason, message=message)
            status = with_condition(status, condition)
        elif _has_progressed(owner.status, status):
            message = f"{subject} is progressing."
            condition = Frozen(type="Progressing", status="True", reason="ReplicaSetUpdated", message=message)
            status = with_condition(status, condition, replace=True)
    words = f"Deployment controller updates the status of {reference_of(owner)}: "
    words += f"{status.available_replicas} of {rollout.replicas} available"
    rollout.plan.update_status(owner, attrs.evolve(owner, status=status), words)


def is_complete(rollout: Rollout, status: DeploymentStatus) -> bool:
    """Say whether a status counts all replicas as updated and available, and no others."""
    counts = {status.updated_replicas, status.replicas, status.available_replicas}
    return counts == {rollout.replicas} and (status.observed_generation or 0) >= generation(rollout.owner)


def _has_progressed(old: DeploymentStatus, new: DeploymentStatus) -> bool:
    return (
        new.updated_replicas > old.updated_replicas
        or new.replicas - new.updated_replicas < old.replicas - old.updated_replicas
        or new.ready_replicas > old.ready_replicas or new.available_replicas > old.available_replicas
    )


def _counted(rollout: Rollout) -> DeploymentStatus:
    """Return the status with counts of the ReplicaSets and the condition Available."""
    sets, new = list(rollout.seen_sets.values()), rollout.seen_sets.get(rollout.new_name)
    available = sum(replica_set.status.available_replicas for replica_set in sets)
    enough = available >= rollout.replicas - rollout.max_unavailable
    condition = Frozen(
        type="Available", status="True" if enough else "False",
        reason="MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        message=f"Deployment {'has' if enough else 'does not have'} minimum availability."
    )
    old = rollout.owner.status
    terminating = sum(int(replica_set.status.rest.get("terminatingReplicas", 0)) for replica_set in sets)
    counted = attrs.evolve(
        old, observed_generation=generation(rollout.owner),
        replicas=sum(replica_set.status.replicas for replica_set in sets),
        updated_replicas=new.status.replicas if new is not None else 0,
        ready_replicas=sum(replica_set.status.ready_replicas for replica_set in sets), available_replicas=available,
        unavailable_replicas=max(0, sum(map(size, sets)) - available),
        rest=old.rest.with_(terminatingReplicas=terminating)
    )
    return with_condition(counted, condition)


def has_deadline(owner: Deployment) -> bool:
    """Say whether a Deployment has a deadline for its progress."""
    return int(owner.spec.rest.get("progressDeadlineSeconds", 600)) != NO_DEADLINE


def condition_of(status: DeploymentStatus, type_: str) -> Frozen | None:
    """Return a condition of a status, or None."""
    return next((found for found in status.rest.get("conditions", ()) if found["type"] == type_), None)


def with_condition(status: DeploymentStatus, condition: Frozen, *, replace: bool = False) -> DeploymentStatus:
    """Return a status with a condition; `replace`: also if its status and reason are unchanged."""
    old = condition_of(status, condition["type"])
    if old is not None and not replace and all(old[part] == condition[part] for part in ("status", "reason")):
        return status
    others = tuple(found for found in status.rest.get("conditions", ()) if found["type"] != condition["type"])
    return attrs.evolve(status, rest=status.rest.with_(conditions=(*others, condition)))
