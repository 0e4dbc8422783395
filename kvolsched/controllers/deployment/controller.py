"""The Deployment controller as a component, and one sync: scale, roll out or recreate, then write the status.

Mirrors `sync.go`, `rolling.go`, `progress.go` and `deployment_util.go`: RollingUpdate scales the new ReplicaSet up and
the old ones down, within maxSurge and maxUnavailable; ReplicaSets follow the number of replicas, all in proportion
during a rollout.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ...api import workloads
from ...api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from ...api.kinds.workload import Deployment, DeploymentStatus, ReplicaSet, ReplicaSetSpec
from ...world.apiserver import Write, key_of
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, PlannedEvent, reference_of, report_done, report_refused
from ...world.reconciler import Backoff, Reconciler
from ...world.view import Exists, Index
from .rollout import DESIRED_REPLICAS, KIND, MAX_REPLICAS, NAME, Rollout, size

NO_DEADLINE = 2**31 - 1
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NOT_COPIED = frozenset({REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, LAST_APPLIED})


def ensure_new_set(rollout: Rollout, *, create: bool) -> None:
    """Give the template a ReplicaSet with the newest revision, and the Deployment that revision."""
    number = 1 + max((_revision(old) for old in rollout.old_sets), default=0)
    new, owner = rollout.new_set, rollout.owner
    if new is not None:
        annotated = _annotated(rollout, new, number)
        annotated = evolve_parts(annotated, spec={"min_ready_seconds": owner.spec.min_ready_seconds})
        if annotated != new:
            rollout.update(new, annotated, f"Deployment controller sets revision {number} on {reference_of(new)}")
            return
        number = _revision(new)
        adopted = condition_of(owner.status, "Progressing") is None
        reason, message = "FoundNewReplicaSet", f'Found new replica set "{rollout.new_name}"'
    elif create:
        created, adopted = _create(rollout, number), True
        reason, message = "NewReplicaSetCreated", f'Created new replica set "{created.metadata.name}"'
    else:
        return
    owner = rollout.owner
    changed = evolve_parts(owner, metadata={"annotations": owner.metadata.annotations.merged({REVISION: str(number)})})
    if adopted and has_deadline(owner):
        condition = Frozen(type="Progressing", status="True", reason=reason, message=message)
        changed = attrs.evolve(changed, status=with_condition(changed.status, condition))
    words = f"Deployment controller sets revision {number} on {reference_of(owner)}"
    rollout.owner = rollout.plan.update_status(owner, changed, words)


def _create(rollout: Rollout, number: int) -> ReplicaSet:
    """Create the ReplicaSet of the present template, as large as the strategy allows at once."""
    template, meta = rollout.template, rollout.owner.metadata
    label = Frozen({workloads.TEMPLATE_LABEL: _free_hash(rollout)})
    selector = rollout.owner.spec.selector
    if selector is not None:
        selector = attrs.evolve(selector, match_labels=selector.match_labels.merged(label))
    labels = template.metadata.labels.merged(label)
    created = ReplicaSet(
        metadata=ObjectMeta(
            name=f"{meta.name}-{label[workloads.TEMPLATE_LABEL]}", namespace=meta.namespace or "default", labels=labels,
            owner_references=(workloads.controller_reference(rollout.owner),)
        ),
        spec=ReplicaSetSpec(
            replicas=rollout.new_set_size(0), selector=selector,
            template=evolve_parts(template, metadata={"labels": labels}),
            min_ready_seconds=rollout.owner.spec.min_ready_seconds
        ),
    )
    annotations = _annotated(rollout, created, number).metadata.annotations.merged(rollout.size_annotations())
    created = evolve_parts(created, metadata={"annotations": annotations})
    name, replicas = created.metadata.name, size(created)
    failed = f'Failed to create new replica set "{name}": {{error}}'
    rollout.plan.create(
        created,
        f"Deployment controller creates {reference_of(created)} with {replicas} replica{'' if replicas == 1 else 's'}",
        on_success=(rollout.scaling_event(created, 0, replicas),) if replicas else (),
        silent_reason="AlreadyExists",  # created before, and not yet seen
        on_failure=(PlannedEvent(key_of(rollout.owner), "Warning", "ReplicaSetCreateError", failed, NAME),),
    )
    rollout.new_name = name
    rollout.sets[name] = rollout.seen_sets[name] = created
    return created


def _free_hash(rollout: Rollout) -> str:
    """Return the template's hash; while another ReplicaSet has its name, count a collision and hash again."""
    owner, seen = rollout.owner, rollout.plan.ctx.seen
    space, count = owner.metadata.namespace or "default", int(owner.status.rest.get("collisionCount", 0))
    while seen.get("ReplicaSet", f"{owner.metadata.name}-{workloads.template_hash(rollout.template, count)}", space):
        count += 1
    if count:
        rollout.owner = evolve_parts(owner, status={"rest": owner.status.rest.with_(collisionCount=count)})
    return workloads.template_hash(rollout.template, count)


def _annotated(rollout: Rollout, replica_set: ReplicaSet, number: int) -> ReplicaSet:
    """Return a ReplicaSet with the Deployment's annotations and a revision, if that is newer."""
    copied = {key: value for key, value in rollout.owner.metadata.annotations.items() if key not in NOT_COPIED}
    annotations = replica_set.metadata.annotations.merged(copied)
    present = _revision(replica_set)
    if present < number:
        annotations = annotations.merged({REVISION: str(number)})
        if present:
            history = [text for text in annotations.get(REVISION_HISTORY, "").split(",") if text]
            annotations = annotations.merged({REVISION_HISTORY: ",".join([*history, str(present)])})
    return evolve_parts(replica_set, metadata={"annotations": annotations})


def _revision(replica_set: ReplicaSet) -> int:
    text = replica_set.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def clean_up(rollout: Rollout) -> None:
    """Delete old ReplicaSets beyond revisionHistoryLimit."""
    limit = rollout.owner.spec.rest.get("revisionHistoryLimit", 10)
    idle = [
        old for old in sorted(rollout.old_sets, key=_revision)
        if not size(old) and not old.status.replicas and old.metadata.deletion_timestamp is None
    ]
    for old in idle[: max(0, len(idle) - limit)]:
        words = f"Deployment controller deletes {reference_of(old)}: its history keeps {limit} old ReplicaSets"
        rollout.plan.delete(old, words)


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
    ordered = workloads.sorted_by_age(active)
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


def write_status(rollout: Rollout, *, progressing: bool = True) -> None:
    """Write the status; `progressing`: also whether the Deployment progresses."""
    owner, old, status = rollout.owner, rollout.owner.status, _counted(rollout)
    present = condition_of(old, "Progressing")
    done = present is not None and present["reason"] == "NewReplicaSetAvailable"
    done = done and status.replicas == status.updated_replicas
    if progressing and has_deadline(owner) and not done:
        subject = f'ReplicaSet "{rollout.new_name}"' if rollout.new_name else f'Deployment "{owner.metadata.name}"'
        if is_complete(rollout, status):
            reason, message = "NewReplicaSetAvailable", f"{subject} has successfully progressed."
            condition = Frozen(type="Progressing", status="True", reason=reason, message=message)
            status = with_condition(status, condition)
        elif (status.updated_replicas > old.updated_replicas
              or status.replicas - status.updated_replicas < old.replicas - old.updated_replicas
              or status.ready_replicas > old.ready_replicas or status.available_replicas > old.available_replicas):
            message = f"{subject} is progressing."
            condition = Frozen(type="Progressing", status="True", reason="ReplicaSetUpdated", message=message)
            status = with_condition(status, condition, replace=True)
    words = f"Deployment controller updates the status of {reference_of(owner)}: "
    words += f"{status.available_replicas} of {rollout.replicas} available"
    rollout.plan.update_status(owner, attrs.evolve(owner, status=status), words)


def is_complete(rollout: Rollout, status: DeploymentStatus) -> bool:
    """Say whether a status counts all replicas as updated and available, and no others."""
    counts = {status.updated_replicas, status.replicas, status.available_replicas}
    return counts == {rollout.replicas} and (status.observed_generation or 0) >= workloads.generation(rollout.owner)


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
        old, observed_generation=workloads.generation(rollout.owner),
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
BACKOFF = Backoff(retries=15)
"""A Deployment is dropped from the queue after so many (maxRetries)."""


def component() -> Component:
    """Return the Deployment controller."""
    routine = Reconciler(NAME, _deployments_of, sync, report_refused, report_done, BACKOFF)
    return Component(NAME, (KIND, "ReplicaSet", "Pod"), (routine,),
                     lambda _seen: {"sets": Index("ReplicaSet", workloads.by_controller_uid(KIND)),
                                    "pods": Index("Pod", workloads.by_controller_uid("ReplicaSet"))},
                     activation=partial(Exists, KIND))


def _deployments_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    if key.kind in (KIND, "ReplicaSet"):
        yield from workloads.changed_or_owner(KIND, key, old, new)
    elif new is None and (owner := old.metadata.controller) is not None and owner.kind == "ReplicaSet":
        found = ctx.seen.get("ReplicaSet", owner.name, key.namespace)
        if found is not None:
            yield from workloads.controller_cause(KIND, found)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Bring one Deployment a step nearer to its template and size, then write its status."""
    owner: Deployment | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        return ()
    index: Index = ctx.views["sets"]
    rollout = Rollout(PlanBuilder(ctx, NAME), owner, workloads.sorted_by_age(index.get(owner.metadata.uid)))
    if owner.metadata.deletion_timestamp is not None:
        write_status(rollout)
    elif owner.spec.paused or is_scaled(rollout):
        ensure_new_set(rollout, create=False)
        follow_replicas(rollout)
        write_status(rollout, progressing=False)
    elif rollout.is_rolling:
        ensure_new_set(rollout, create=True)
        if not scale_up_new(rollout) and not scale_down_old(rollout) and is_complete(rollout, rollout.owner.status):
            clean_up(rollout)
        write_status(rollout)
    else:
        _recreate(rollout)
    return rollout.plan.writes


def _recreate(rollout: Rollout) -> None:
    ensure_new_set(rollout, create=False)
    before = len(rollout.plan.writes)
    for old in rollout.old_sets:
        rollout.scale(old, 0)
    pods: Index = rollout.plan.ctx.views["pods"]
    old_run = any(not pod.terminal for old in rollout.old_sets for pod in pods.get(old.metadata.uid))
    if len(rollout.plan.writes) == before and not old_run:
        ensure_new_set(rollout, create=True)
        if rollout.new_set is not None:
            rollout.scale(rollout.new_set, rollout.replicas)
        if is_complete(rollout, rollout.owner.status):
            clean_up(rollout)
    write_status(rollout)
