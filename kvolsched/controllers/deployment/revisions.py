"""Revisions of a Deployment: the ReplicaSet of its present template, and those that its history keeps.

Mirrors `sync.go` (getNewReplicaSet, cleanupDeployment) and `deployment_util.go`.
"""

import attrs

from ...api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from ...api.kinds.workload import ReplicaSet, ReplicaSetSpec
from ...api.workloads import TEMPLATE_LABEL, controller_reference, template_hash
from ...world.apiserver import key_of
from ...world.plan import PlannedEvent, reference_of
from .progress import condition_of, has_deadline, with_condition
from .rollout import DESIRED_REPLICAS, MAX_REPLICAS, NAME, Rollout, size

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
    label = Frozen({TEMPLATE_LABEL: _free_hash(rollout)})
    selector = rollout.owner.spec.selector
    if selector is not None:
        selector = attrs.evolve(selector, match_labels=selector.match_labels.merged(label))
    labels = template.metadata.labels.merged(label)
    created = ReplicaSet(
        metadata=ObjectMeta(
            name=f"{meta.name}-{label[TEMPLATE_LABEL]}", namespace=meta.namespace or "default", labels=labels,
            owner_references=(controller_reference(rollout.owner),)
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
    while seen.get("ReplicaSet", f"{owner.metadata.name}-{template_hash(rollout.template, count)}", space):
        count += 1
    if count:
        rollout.owner = evolve_parts(owner, status={"rest": owner.status.rest.with_(collisionCount=count)})
    return template_hash(rollout.template, count)


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
