"""The evictor: evicts the victims of preemption, one write per turn.

`Evictor` does so asynchronously, as kube-scheduler does since v1.33: each victim gets the condition DisruptionTarget
and is deleted, but of one that still waits in PreBind the binding is cancelled. `SerialEvictor` is a part of the pass,
as in 1.11. Pods of lower priority that are nominated to the node lose their nomination. The preempting pod waits in the
queue and is retried when its victims are gone.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import attrs

from ...api.kinds.meta import Condition, evolve
from ...api.kinds.pod import Pod
from ...world.apiserver import RefusedWrite, Write, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key
from .assume_cache import PodStatusPatch
from .scheduling_queue import QUEUE, RECORDER, UNSCHEDULABLE, QueueEntry, QueueEvent, move_to_active_or_backoff

EVICTION = "eviction"  # the kind of note
EVICTOR = "preemption"
TARGET, REASON = "DisruptionTarget", "PreemptionByScheduler"
MESSAGE = f"{RECORDER}: preempting to accommodate a higher priority pod"


@attrs.frozen
class Eviction:
    """The remaining work for one preempting pod: the victims to evict and the pods that lose their nomination.

    `marked`: the first victim has its condition already. `nominates`: the pod is yet to be nominated.
    """

    pod: Key
    uid: str
    node: str
    victims: tuple[Key, ...]
    displaced: tuple[Key, ...] = ()
    marked: bool = False
    nominates: bool = False


@attrs.frozen
class Evictor:
    """The actor that evicts victims, one preempting pod after another; `seldom`: shown only where it has acted.

    Args:
        cancel_binding: cancels the binding cycle of a pod (`namespace/name`) that is still in PreBind, and says whether
            it was: such a victim is requeued, not deleted.
    """

    cancel_binding: Callable[[TurnContext, str], bool] = lambda _ctx, _name: False
    name: str = EVICTOR
    seldom: ClassVar[bool] = True
    reacts_to: ClassVar[frozenset[str]] = frozenset()
    holds_passes: ClassVar[bool] = False  # whether no pod is scheduled while it has anything to do

    def begin(self, ctx: TurnContext, name: str, eviction: Eviction) -> str | None:
        """Queue the victims of a pod; return the nomination to write with the pod's condition, None for none."""
        ctx.remember(EVICTION, name, eviction)
        ctx.enqueue(name, ctx.process.actors[EVICTOR])
        return eviction.node

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the preempting pods whose victims are to be evicted."""
        return ctx.process.work_queues[self.name].next(every=every)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Do nothing: the evictor sets no timers."""

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Ignore changes of objects."""

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Make the next write for one preempting pod: a condition, a deletion, or a cleared nomination."""
        eviction: Eviction | None = ctx.note(EVICTION, name)
        remaining = eviction
        while remaining is not None and not ctx.outcomes:
            remaining = self._next(ctx, remaining)
        if remaining != eviction:
            ctx.remember(EVICTION, name, remaining)
        if remaining is None:
            ctx.dequeue(name)
        return remaining is not None

    def _next(self, ctx: TurnContext, eviction: Eviction) -> Eviction | None:
        """Do the first step unless it is done already; return the remaining work."""
        if eviction.victims:
            victim = ctx.seen.at(eviction.victims[0])
            after = evolve(eviction, victims=eviction.victims[1:], marked=False)
            if victim is None or victim.metadata.deletion_timestamp is not None:
                return after
            return self._evict(ctx, eviction, after, victim)
        if eviction.displaced:
            self._clear_nomination(ctx, eviction.displaced[0])
            return evolve(eviction, displaced=eviction.displaced[1:])
        return None

    def _evict(self, ctx: TurnContext, eviction: Eviction, after: Eviction, victim: Pod) -> Eviction | None:
        key = eviction.victims[0]
        if not eviction.marked and self.cancel_binding(ctx, f"{key.namespace}/{key.name}"):
            ctx.describe(f"Scheduler cancels the binding of {victim.metadata.name} for {eviction.pod.name}.")
            self._tell(ctx, eviction, victim)
            return after
        if not eviction.marked:
            patch = PodStatusPatch(Condition(type=TARGET, status="True", reason=REASON, message=MESSAGE))
            words = f"Scheduler marks {victim.metadata.name} as a victim of preemption"
            outcome = ctx.commit(Write("patch", key, patch, uid=victim.metadata.uid, words=words))
            return after if isinstance(outcome, RefusedWrite) else evolve(eviction, marked=True)
        self._delete(ctx, eviction, victim)
        return after

    def _delete(self, ctx: TurnContext, eviction: Eviction, victim: Pod) -> bool:
        """Delete a victim and tell it by whom; say whether the API server has done so."""
        words = f"Scheduler evicts {victim.metadata.name} from {eviction.node} for {eviction.pod.name}"
        outcome = ctx.commit(Write("delete", key_of(victim), uid=victim.metadata.uid, words=words))
        if not isinstance(outcome, RefusedWrite):
            self._tell(ctx, eviction, victim)
        return not isinstance(outcome, RefusedWrite)

    def _tell(self, ctx: TurnContext, eviction: Eviction, victim: Pod) -> None:
        ctx.event(victim, "Normal", "Preempted", self._by_whom(eviction), RECORDER)

    @staticmethod
    def _by_whom(eviction: Eviction) -> str:
        return f"Preempted by pod {eviction.uid} on node {eviction.node}"

    @staticmethod
    def _clear_nomination(ctx: TurnContext, key: Key) -> None:
        pod: Pod | None = ctx.seen.at(key)
        if pod is not None and pod.status.nominated_node_name:
            patch = PodStatusPatch(nominated_node_name="")
            words = f"Scheduler clears the nominated node of {ref(key)}"
            ctx.commit(Write("patch", key, patch, uid=pod.metadata.uid, words=words))


@attrs.frozen
class SerialEvictor(Evictor):
    """The evictor of 1.11: the pass itself nominates the pod and deletes the victims, and then the next pass begins.

    The victims get no condition, and a binding that waits is not cancelled; a refused write ends the eviction, and the
    pod is queued again, as the next update of any node does. Mirrors `scheduler.go::preempt`.
    """

    holds_passes: ClassVar[bool] = True

    def begin(self, ctx: TurnContext, name: str, eviction: Eviction) -> str | None:
        """Queue the nomination and the victims: the condition is written before, alone."""
        super().begin(ctx, name, evolve(eviction, nominates=True))
        return None

    def _next(self, ctx: TurnContext, eviction: Eviction) -> Eviction | None:
        if not eviction.nominates:
            return super()._next(ctx, eviction)
        words = f"Scheduler nominates {eviction.node} for {eviction.pod.name}"
        patch = PodStatusPatch(nominated_node_name=eviction.node)
        outcome = ctx.commit(Write("patch", eviction.pod, patch, uid=eviction.uid, words=words))
        done = not isinstance(outcome, RefusedWrite)
        return evolve(eviction, nominates=False) if done else self._queue_again(ctx, eviction.pod)

    def _evict(self, ctx: TurnContext, eviction: Eviction, after: Eviction, victim: Pod) -> Eviction | None:
        return after if self._delete(ctx, eviction, victim) else self._queue_again(ctx, eviction.pod)

    @staticmethod
    def _queue_again(ctx: TurnContext, key: Key) -> None:
        """Queue a pod for which nobody is evicted: a kubelet of 1.11 updates its node's status every 10 s."""
        name = f"{key.namespace}/{key.name}"
        entry: QueueEntry | None = ctx.note(QUEUE, name)
        if entry is not None and entry.part == UNSCHEDULABLE:
            move_to_active_or_backoff(ctx, name, QueueEvent.CLUSTER_EVENT, entry)

    @staticmethod
    def _by_whom(eviction: Eviction) -> str:
        return f"by {eviction.pod.namespace}/{eviction.pod.name} on node {eviction.node}"
