"""The ReplicaSet controller: it alone keeps as many pods of a ReplicaSet as are asked for.

A pod that has ended or is being deleted is no replica any more, so its successor is made at once. Which pod goes first
when there are too many is Kubernetes' order. What it wrote and has not seen yet is waited for: until then it neither
makes nor deletes. Adoption of pods by selector is not modelled: a pod is its owner's.
Mirrors `pkg/controller/replicaset/replica_set.go` (v1.36.2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import ObjectMeta
from ..api.kinds.pod import Pod
from ..api.kinds.workload import ReplicaSet, ReplicaSetStatus
from ..workloads import (
    by_controller_uid,
    controller_cause,
    controller_reference,
    generation,
    is_active,
    is_available,
    is_ready,
    is_terminating,
    pod_name_suffix,
    seconds_until_available,
)
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.mutation_cache import has_seen_write, wait_until_seen
from ..world.plan import PlanBuilder, PlannedEvent, reference_of, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "replicaset-controller"
KIND = "ReplicaSet"
COST = "controller.kubernetes.io/pod-deletion-cost"
NUMBER = re.compile(r"0|-[0-9]{1,10}|[1-9][0-9]{0,9}")  # neither a plus nor leading zeros
BURST = 500  # pods made or deleted in one sync at most
_PHASES = {"Pending": 0, "": 0, "Unknown": 1, "Running": 2}


def component() -> Component:
    """Return the ReplicaSet controller."""
    routine = Reconciler(NAME, _sets_of, sync, report_refused, wait_until_seen("Pod"))
    return Component(NAME, (KIND, "Pod"), (routine,), _views, activation=_need)


def _need() -> ActivationCondition:
    return Exists(KIND)


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"pods": Index("Pod", by_controller_uid(KIND)), "siblings": Index(KIND, by_controller_uid("Deployment"))}


def _sets_of(_hand: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield the ReplicaSet that has changed, or that owns the pod which has."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
    else:
        yield from controller_cause(KIND, new if new is not None else old)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Make or delete pods until there are as many as asked for, then tell the status of what was seen."""
    owner: ReplicaSet | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        ctx.remember("made", cause, None)
        return ()
    index = ctx.views["pods"]
    assert isinstance(index, Index)
    pods: list[Pod] = index.get(owner.metadata.uid)
    living = [pod for pod in pods if is_active(pod)]
    decision = PlanBuilder(ctx, NAME)
    if has_seen_write(ctx, cause, "Pod") and owner.metadata.deletion_timestamp is None:
        wanted = 1 if owner.spec.replicas is None else owner.spec.replicas
        missing = min(wanted - len(living), BURST)
        if missing > 0:
            _create(decision, owner, cause, missing)
        elif missing < 0:
            for pod in _chosen(ctx, owner, living, min(-missing, BURST)):
                _delete(decision, owner, pod)
    status = _status(ctx, owner, living, pods)
    told = attrs.evolve(owner, status=status)
    decision.update_status(owner, told, f"ReplicaSet controller counts {reference_of(owner)}")
    _wait(ctx, cause, owner, living)
    return decision.writes


def _create(decision: PlanBuilder, owner: ReplicaSet, cause: str, count: int) -> None:
    ctx, template = decision.ctx, owner.spec.template
    first: int = ctx.note("made", cause) or 0
    for number in range(first, first + count):
        pod = Pod(
            metadata=ObjectMeta(
                name=f"{owner.metadata.name}-{pod_name_suffix(owner.metadata.uid, number)}",
                generate_name=f"{owner.metadata.name}-",
                namespace=owner.metadata.namespace or "default",
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
                owner_references=(controller_reference(owner),),
            ),
            spec=template.spec,
        )
        about = key_of(owner)
        decision.create(
            pod,
            f"ReplicaSet controller creates {reference_of(pod)}",
            on_success=(PlannedEvent(about, "Normal", "SuccessfulCreate", f"Created pod: {pod.metadata.name}", NAME),),
            on_failure=(PlannedEvent(about, "Warning", "FailedCreate", "Error creating: {error}", NAME),),
        )
    ctx.remember("made", cause, first + count)


def _delete(decision: PlanBuilder, owner: ReplicaSet, pod: Pod) -> None:
    decision.delete(pod, f"ReplicaSet controller deletes {reference_of(pod)}")
    decision.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")


def _chosen(ctx: TurnContext, owner: ReplicaSet, living: Sequence[Pod], count: int) -> list[Pod]:
    """Return the pods that go: without node, not started, not ready, cheap, doubled on a node, and young ones first."""
    crowd = Counter(pod.spec.node_name for pod in _related(ctx, owner))
    by_age = sorted(living, key=lambda pod: pod.metadata.uid)
    by_age.sort(key=lambda pod: pod.metadata.creation_timestamp or "", reverse=True)

    def order(pod: Pod) -> tuple[Any, ...]:
        return (
            bool(pod.spec.node_name),
            _PHASES.get(pod.status.phase, 1),
            is_ready(pod),
            _cost(pod),
            -crowd[pod.spec.node_name],
        )

    return sorted(by_age, key=order)[:count]


def _cost(pod: Pod) -> int:
    """Return what a pod's deletion costs; what is no 32-bit number in Kubernetes' spelling costs nothing."""
    text = pod.metadata.annotations.get(COST, "")
    cost = int(text) if NUMBER.fullmatch(text) else 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _related(ctx: TurnContext, owner: ReplicaSet) -> list[Pod]:
    """Return the living pods of this and of all ReplicaSets that belong to the same Deployment."""
    pods, siblings = ctx.views["pods"], ctx.views["siblings"]
    assert isinstance(pods, Index)
    assert isinstance(siblings, Index)
    above = owner.metadata.controller
    related = siblings.get(above.uid) if above is not None else [owner]
    return [pod for one in related or [owner] for pod in pods.get(one.metadata.uid) if is_active(pod)]


def _status(ctx: TurnContext, owner: ReplicaSet, living: Sequence[Pod], pods: Sequence[Pod]) -> ReplicaSetStatus:
    """Count the pods as they were seen, before this sync's own writes."""
    least, now = owner.spec.min_ready_seconds, ctx.moment
    labels = owner.spec.template.metadata.labels
    ending = sum(map(is_terminating, pods))
    return attrs.evolve(
        owner.status,
        observed_generation=generation(owner),
        replicas=len(living),
        fully_labeled_replicas=sum(labels.items() <= pod.metadata.labels.items() for pod in living),
        ready_replicas=sum(map(is_ready, living)),
        available_replicas=sum(is_available(pod, least, now) for pod in living),
        rest=owner.status.rest.with_(terminatingReplicas=ending),
    )


def _wait(ctx: TurnContext, cause: str, owner: ReplicaSet, living: Sequence[Pod]) -> None:
    """Ask to be woken when the next ready pod becomes available."""
    least = owner.spec.min_ready_seconds
    waits = [seconds_until_available(pod, least, ctx.moment) for pod in living if is_ready(pod)] if least else []
    if any(wait > 0 for wait in waits):
        ctx.wake_after(cause, min(wait for wait in waits if wait > 0))


__all__ = ["NAME", "component"]
