"""Keeps as many pods of a ReplicaSet, or of a ReplicationController, as are asked for.

A pod that has ended or is being deleted is no replica any more, so its successor is created at once. If there are too
many, Kubernetes' order decides which pods are deleted first. Until the controller has seen its own writes (client-go's
expectations) it neither creates nor deletes. Adoption of pods by selector is not modelled: a pod is its owner's.
Mirrors `replica_set.go` and `ActivePodsWithRanks.Less` of `pkg/controller` (v1.36.2), for which ages are
compared by powers of two (LogarithmicScaleDown), so that of pods of about the same age any may go: the UID decides.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cmp_to_key, partial
from itertools import islice
from typing import Any

import attrs

from ..api import workloads
from ..api.kinds.pod import Pod
from ..api.kinds.workload import ReplicaSet, ReplicaSetStatus, ReplicationController
from ..api.workloads import is_ready
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.mutation_cache import forget_writes, has_seen_write, refused_if_taken, unused_names, wait_until_seen
from ..world.plan import PlanBuilder, reference_of
from ..world.reconciler import Reconciler
from ..world.view import Exists, Index

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
COST_FORMAT = re.compile(r"0|-[0-9]{1,10}|[1-9][0-9]{0,9}")
_PHASE_ORDER = {"Pending": 0, "": 0, "Unknown": 1, "Running": 2}


def in_deletion_order(pods: Iterable[Pod], per_node: Mapping[str, int], now: datetime) -> list[Pod]:
    """Return active pods in the order in which their ReplicaSet deletes them.

    First those without node, then pending ones, not ready ones, those of a low deletion cost, those with many related
    pods on their node (`per_node`), those that became ready last, those with more restarts, the youngest.
    """

    def compare(one: Pod, other: Pod) -> int:
        place, other_place = _place(one, per_node), _place(other, per_node)
        if place != other_place:
            return -1 if place < other_place else 1
        ready = _compare_ages(one, other, _ready_since(one), _ready_since(other), now) if is_ready(one) else 0
        if ready:
            return ready
        restarts, other_restarts = _restarts(one), _restarts(other)
        if restarts != other_restarts:
            return -1 if restarts > other_restarts else 1
        return _compare_ages(one, other, one.metadata.creation_timestamp, other.metadata.creation_timestamp, now)

    return sorted(sorted(pods, key=lambda pod: pod.metadata.uid), key=cmp_to_key(compare))


def _place(pod: Pod, per_node: Mapping[str, int]) -> tuple[Any, ...]:
    """Return what is compared before any time is."""
    phase, text = _PHASE_ORDER.get(pod.status.phase, 1), pod.metadata.annotations.get(DELETION_COST, "")
    cost = int(text) if COST_FORMAT.fullmatch(text) else 0
    cost = cost if -(2**31) <= cost < 2**31 else 0  # what is no 32-bit number, without plus sign, counts as 0
    return bool(pod.spec.node_name), phase, is_ready(pod), cost, -per_node.get(pod.spec.node_name, 0)


def _ready_since(pod: Pod) -> str | None:
    condition = pod.status.condition("Ready")
    return condition.last_transition_time if condition is not None else None


def _compare_ages(one: Pod, other: Pod, since: str | None, other_since: str | None, now: datetime) -> int:
    """Compare two times: an unknown one first, then the smaller power of two since then; in the same one by UID."""
    if since == other_since:
        return 0
    if not since or not other_since:
        return 1 if since else -1
    difference = _power_of_age(since, now) - _power_of_age(other_since, now)
    return difference or (-1 if one.metadata.uid < other.metadata.uid else 1)


def _power_of_age(since: str, now: datetime) -> int:
    """Return the power of two that the nanoseconds since a time have reached; -1 if it is not past."""
    nanoseconds = (now - datetime.fromisoformat(since.upper())).total_seconds() * 1e9
    return int(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a container, and those of a sidecar."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    statuses, of_init = (pod.status.rest.get(field, ()) for field in ("containerStatuses", "initContainerStatuses"))
    counted = (statuses, [status for status in of_init if status.get("name") in sidecars])
    most, most_of_sidecars = (max((each.get("restartCount", 0) for each in some), default=0) for some in counted)
    return most, most_of_sidecars


BURST = 500  # most pods that one sync creates or deletes


Owner = ReplicaSet | ReplicationController


@attrs.frozen
class ReplicaController:
    """Decides about one owner of replicas.

    `NAME` is the component's, `words` its name in sentences, `source` that of its Events; `counts_terminating`: a
    status counts the pods that are terminating.
    """

    NAME: str
    kind: str
    words: str
    source: str = "replicaset-controller"
    counts_terminating: bool = True

    def component(self) -> Component:
        """Return the component; it begins to watch when there is an owner."""
        routine = Reconciler(self.NAME, self.owners_of, self.sync, refused_if_taken, wait_until_seen("Pod"))
        return Component(self.NAME, (self.kind, "Pod"), (routine,),
                         lambda _seen: {"pods": Index("Pod", workloads.by_controller_uid(self.kind)),
                                        "siblings": Index(self.kind, workloads.by_controller_uid("Deployment"))},
                         activation=partial(Exists, self.kind))

    def owners_of(self, _ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield a changed owner, or that of a changed pod."""
        return workloads.changed_or_owner(self.kind, key, old, new)

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Create or delete pods until there are as many as asked for, then write the status of what was seen."""
        owner: Owner | None = ctx.seen.at(Key(self.kind, *cause.split("/")))
        if owner is None:
            forget_writes(ctx, cause, "Pod")
            return ()
        pods: list[Pod] = ctx.views["pods"].get(owner.metadata.uid)
        replicas = [pod for pod in pods if workloads.is_active(pod)]
        plan = PlanBuilder(ctx, self.source)
        wanted = 1 if owner.spec.replicas is None else owner.spec.replicas
        if has_seen_write(ctx, cause, "Pod") and owner.metadata.deletion_timestamp is None:
            missing = min(wanted - len(replicas), BURST)
            if missing > 0:
                self._create(plan, owner, cause, missing)
            elif missing < 0:
                per_node = Counter(pod.spec.node_name for pod in _related(ctx, owner))
                now = datetime.fromisoformat(ctx.moment) + timedelta(seconds=ctx.now % 1)
                for pod in in_deletion_order(replicas, per_node, now)[: min(-missing, BURST)]:
                    plan.delete_pod(owner, pod, f"{self.words} deletes {reference_of(pod)}")
        status = self._status(ctx, owner, replicas, pods)
        words = f"{self.words} updates the status of {reference_of(owner)}: {status.ready_replicas} of {wanted} ready"
        plan.update_status(owner, attrs.evolve(owner, status=status), words)
        ready = filter(workloads.is_ready, replicas)
        if waits := workloads.waits_for_available(ready, owner.spec.min_ready_seconds, ctx.moment):
            ctx.wake_after(cause, min(waits))
        return plan.writes

    def _create(self, plan: PlanBuilder, owner: Owner, cause: str, count: int) -> None:
        def replica(number: int) -> Pod:
            return pod_for(owner, workloads.pod_name_suffix(owner.metadata.uid, number))

        for number in islice(unused_names(plan.ctx, cause, lambda number: key_of(replica(number))), count):
            pod = replica(number)
            plan.create_pod(owner, pod, f"{self.words} creates {reference_of(pod)}")

    def _status(self, ctx: TurnContext, owner: Owner, replicas: Sequence[Pod], pods: Sequence[Pod]) -> ReplicaSetStatus:
        """Return the status with counts of the pods that were seen, without this sync's writes."""
        min_ready_seconds, now = owner.spec.min_ready_seconds, ctx.moment
        labels, rest = owner.spec.template.metadata.labels, owner.status.rest
        if self.counts_terminating:
            rest = rest.with_(terminatingReplicas=sum(map(workloads.is_terminating, pods)))
        return attrs.evolve(
            owner.status, observed_generation=workloads.generation(owner), replicas=len(replicas),
            fully_labeled_replicas=sum(labels.items() <= pod.metadata.labels.items() for pod in replicas),
            ready_replicas=sum(map(workloads.is_ready, replicas)),
            available_replicas=sum(workloads.is_available(pod, min_ready_seconds, now) for pod in replicas),
            rest=rest
        )


REPLICA_SETS = ReplicaController("replicaset-controller", "ReplicaSet", "ReplicaSet controller")
REPLICATION_CONTROLLERS = ReplicaController(  # as Kubernetes wraps it, `pkg/controller/replication`
    "replicationcontroller-controller", "ReplicationController", "replication controller",
    source="replication-controller", counts_terminating=False,
)


def pod_for(owner: Owner, suffix: str) -> Pod:
    """Return a replica: a pod of the template, whose name ends with a suffix."""
    prefix, labels = f"{owner.metadata.name}-", owner.spec.template.metadata.labels
    return workloads.replica_of(owner, f"{prefix}{suffix}", labels, prefix)


def _related(ctx: TurnContext, owner: Owner) -> list[Pod]:
    """Return the active pods of a ReplicaSet and of all others of its Deployment."""
    pods: Index = ctx.views["pods"]
    deployment = owner.metadata.controller
    related = ctx.views["siblings"].get(deployment.uid) if deployment is not None else [owner]
    return [pod for related_set in related or [owner]
            for pod in pods.get(related_set.metadata.uid) if workloads.is_active(pod)]
