"""The pod garbage collector: it alone deletes pods that no kubelet will ever remove.

These are orphaned pods, whose node is not there; pods that are being deleted and have no node, or one that is out of
service; and the oldest of very many that have ended. They are deleted at once, without a grace period; a pod that has
not ended is marked as failed before. Kubernetes looks at all pods every 20 s; here a pod is looked at 20 s after the
change that makes it such a one, an orphaned one 40 s later: the node may yet turn up. In a cluster that never had a
node nobody is orphaned: its nodes were not loaded.
Mirrors `pkg/controller/podgc` (v1.36.2), which records no Events.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from ..api.kinds.meta import evolve_parts
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod
from ..api.workloads import PodConditionPatch, by_node
from ..world.apiserver import RefusedWrite, Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key, LogKey, Note
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Backoff, Reconciler
from ..world.view import Index

NAME = "pod-garbage-collector-controller"
CHECK_PERIOD = 20.0  # seconds (gcCheckPeriod)
QUARANTINE = 40.0  # seconds for which the node of an orphaned pod may yet turn up (quarantineTime)
TERMINATED_THRESHOLD = 12_500  # pods that have ended and are kept (--terminated-pod-gc-threshold)
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
ENDED = "ended"  # the cause of all pods that have ended
GONE = "gone"  # sort of the world's notes that count removed objects
NODE = "Node"


def component() -> Component:
    """Return the pod garbage collector."""
    routine = Reconciler(NAME, _schedule_checks, sync, _report_refused, report_done, Backoff.every(CHECK_PERIOD))
    return Component(NAME, (NODE, "Pod"), (routine,),
                     lambda _seen: {"on node": Index("Pod", by_node),
                                    "ended": Index("Pod", lambda pod: (ENDED,) if pod.terminal else ())},
                     activation=SomePodToCollect)


class SomePodToCollect:
    """Condition that a pod's node is not there, that one is deleted and nobody stops it, or that many ended. Mutable.

    `pods` counts pods by their node, `missing` holds those of these nodes that are not there.
    """

    follows = frozenset({NODE, "Pod", GONE})

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.pods: dict[str, int] = {}
        self.missing: set[str] = set()
        self.removed_nodes = self.out_of_service = self.unscheduled = self.ended = 0

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Follow one node or pod, or the count of nodes removed at a key."""
        if type(key) is Note:
            self.removed_nodes += (bool(new) - bool(old)) * key[2].startswith(f"{NODE}/")
        elif key[0] == NODE:
            (self.nodes.discard if new is None else self.nodes.add)(key[2])
            self.out_of_service += is_out_of_service(new) - is_out_of_service(old)
            self._update_missing(key[2])
        elif (old is None or new is None or old.spec.node_name != new.spec.node_name
              or old.status.phase != new.status.phase
              or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp):
            self._count(new, 1)
            self._count(old, -1)

    def _count(self, pod: Pod | None, step: int) -> None:
        if pod is None:
            return
        if node := pod.spec.node_name:
            self.pods[node] = self.pods.get(node, 0) + step
            if node not in self.nodes:
                self._update_missing(node)
        elif pod.metadata.deletion_timestamp is not None:
            self.unscheduled += step
        if pod.terminal:
            self.ended += step

    def _update_missing(self, node: str) -> None:
        (self.missing.add if node not in self.nodes and self.pods.get(node) else self.missing.discard)(node)

    @property
    def is_met(self) -> bool:
        """Whether there is such a pod."""
        orphans = self.missing and (self.nodes or self.removed_nodes)
        return bool(orphans or self.out_of_service or self.unscheduled or self.ended > TERMINATED_THRESHOLD)


def is_out_of_service(node: Node | None) -> bool:
    """Return whether somebody has said that a node which is not ready will not come back."""
    if node is None or not node.spec.taints or node.readiness == "True":
        return False
    return any(taint.key == OUT_OF_SERVICE for taint in node.spec.taints)


def _schedule_checks(ctx: TurnContext, key: Key, old: Any, new: Any) -> Sequence[str]:
    """Schedule the check of each pod that a change makes a candidate; none is a cause before its time has come."""
    pods: Sequence[Pod] = ()
    if key.kind == NODE:
        if new is None or (is_out_of_service(new) and not is_out_of_service(old)):
            pods = ctx.views["on node"].get(key.name)
    elif new is not None:
        pods = (new,) if old is None or not _seconds_until_check(ctx, old) else ()
        if new.terminal and len(ctx.views["ended"].objects[ENDED]) > TERMINATED_THRESHOLD:
            _wake_once(ctx, ENDED, CHECK_PERIOD)
    for pod in pods:
        if seconds := _seconds_until_check(ctx, pod):
            _wake_once(ctx, "/".join(key_of(pod)[1:]), seconds)
    return ()


def _wake_once(ctx: TurnContext, cause: str, seconds: float) -> None:
    if ctx.note("wake", f"{NAME}|{cause}") is None:
        ctx.wake_after(cause, seconds)


def _seconds_until_check(ctx: TurnContext, pod: Pod) -> float:
    """Return in how many seconds a pod is looked at, as far as is seen; 0: it is left alone."""
    name = pod.spec.node_name
    node: Node | None = ctx.seen.get(NODE, name)
    if name and node is None:
        was_there = ctx.seen.kinds[NODE] or ctx.sim.log.notes.get(Note("world", GONE, f"{NODE}//{name}"))
        return CHECK_PERIOD + QUARANTINE if was_there else 0.0
    return CHECK_PERIOD if pod.metadata.deletion_timestamp and (not name or is_out_of_service(node)) else 0.0


@attrs.frozen
class FailedPatch:
    """A patch of a pod's status: it has failed, with this condition if there is one."""

    condition: PodConditionPatch | None

    def apply(self, pod: Pod) -> Pod:
        """Return the pod as failed."""
        marked = pod if self.condition is None else self.condition.apply(pod)
        return evolve_parts(marked, status={"phase": "Failed"})


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Delete a pod that nobody else removes, or the oldest of too many that have ended."""
    plan = PlanBuilder(ctx, NAME)
    if cause == ENDED:
        ended: list[Pod] = ctx.views["ended"].get(ENDED)
        ended.sort(key=lambda pod: (pod.status.reason != "Evicted", pod.metadata.creation_timestamp or ""))
        for pod in ended[: max(0, len(ended) - TERMINATED_THRESHOLD)]:
            _delete(plan, pod, f"more than {TERMINATED_THRESHOLD:,} pods have ended")
        return plan.writes
    pod = ctx.seen.at(Key("Pod", *cause.split("/")))
    if pod is None or not _seconds_until_check(ctx, pod):
        return ()
    node = pod.spec.node_name
    if not node:
        _delete(plan, pod, "it has no node, so no kubelet does")
    elif ctx.seen.get(NODE, node) is not None:
        _delete(plan, pod, f"its node {node} is out of service")
    elif ctx.get_live(Key(NODE, "", node)) is None:
        message = "PodGC: node no longer exists"
        condition = PodConditionPatch("DisruptionTarget", "True", "DeletionByPodGC", message, ctx.moment)
        _delete(plan, pod, f"its node {node} no longer exists", condition)
    return plan.writes


def _delete(plan: PlanBuilder, pod: Pod, why: str, condition: PodConditionPatch | None = None) -> None:
    """Plan to mark a pod as failed, unless it has ended, and to delete it at once, unless finalizers alone keep it."""
    meta = pod.metadata
    if not pod.terminal:
        words = f"pod garbage collector marks {reference_of(pod)} as failed: {why}"
        plan.patch(key_of(pod), FailedPatch(condition), words, uid=meta.uid)
    if meta.deletion_timestamp is None or meta.deletion_grace_period_seconds or not meta.finalizers:
        plan.delete(pod, f"pod garbage collector deletes {reference_of(pod)}: {why}", grace=0)


def _report_refused(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """Report a refused write; a pod that somebody else has removed meanwhile is not tried again."""
    report_refused(ctx, cause, outcome)
    if outcome.reason in ("NotFound", "Conflict") and cause != ENDED:
        ctx.cancel_wake_up(cause)
