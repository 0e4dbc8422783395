"""The Deployment controller as a component, and one sync: scale, roll out or recreate, then write the status."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...api.kinds.workload import Deployment
from ...api.workloads import by_controller_uid, changed_or_owner, controller_cause, sorted_by_age
from ...world.activation import Exists
from ...world.apiserver import Write
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, report_done, report_refused
from ...world.reconciler import Backoff, Reconciler
from ...world.view import Index, InformerCache, View
from .progress import is_complete, write_status
from .revisions import clean_up, ensure_new_set
from .rollout import KIND, NAME, Rollout
from .scaling import follow_replicas, is_scaled, scale_down_old, scale_up_new

BACKOFF = Backoff(retries=15)
"""A Deployment is dropped from the queue after so many (maxRetries)."""


def component() -> Component:
    """Return the Deployment controller."""
    routine = Reconciler(NAME, _deployments_of, sync, report_refused, report_done, BACKOFF)
    return Component(NAME, (KIND, "ReplicaSet", "Pod"), (routine,), _views, activation=partial(Exists, KIND))


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"sets": Index("ReplicaSet", by_controller_uid(KIND)), "pods": Index("Pod", by_controller_uid("ReplicaSet"))}


def _deployments_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    if key.kind in (KIND, "ReplicaSet"):
        yield from changed_or_owner(KIND, key, old, new)
    elif new is None and (owner := old.metadata.controller) is not None and owner.kind == "ReplicaSet":
        found = ctx.seen.get("ReplicaSet", owner.name, key.namespace)
        if found is not None:
            yield from controller_cause(KIND, found)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Bring one Deployment a step nearer to its template and size, then write its status."""
    owner: Deployment | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        return ()
    index: Index = ctx.views["sets"]
    rollout = Rollout(PlanBuilder(ctx, NAME), owner, sorted_by_age(index.get(owner.metadata.uid)))
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
    if len(rollout.plan.writes) == before and not _old_pods_run(rollout):
        ensure_new_set(rollout, create=True)
        if rollout.new_set is not None:
            rollout.scale(rollout.new_set, rollout.replicas)
        if is_complete(rollout, rollout.owner.status):
            clean_up(rollout)
    write_status(rollout)


def _old_pods_run(rollout: Rollout) -> bool:
    pods: Index = rollout.plan.ctx.views["pods"]
    return any(not pod.terminal for old in rollout.old_sets for pod in pods.get(old.metadata.uid))
