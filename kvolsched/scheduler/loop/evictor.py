"""Evicting the victims of preemption: beside the passes, one write a turn, as kube-scheduler does since v1.33.

Each victim is told why by a condition, then deleted; pods of lower priority that were promised the node lose their
promise. The pod it is all for waits meanwhile, and is tried again when its victims are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from ...api.kinds.meta import Condition
from ...api.kinds.pod import Pod
from ...world.apiserver import RefusedWrite, Write, ref
from ...world.component import TurnContext
from ...world.log import Key
from .assume_cache import PodStatusPatch
from .scheduling_queue import RECORDER

EVICTION = "eviction"  # the sort of note
EVICTOR = "preemption"
TARGET, REASON = "DisruptionTarget", "PreemptionByScheduler"
MESSAGE = f"{RECORDER}: preempting to accommodate a higher priority pod"


@attrs.frozen
class Eviction:
    """What is still to be done for one preempting pod: whom to evict from its node, whose promise to take back.

    `told`: the first of the victims has its condition already.
    """

    pod: str
    uid: str
    node: str
    victims: tuple[Key, ...]
    losers: tuple[Key, ...] = ()
    told: bool = False


@attrs.frozen
class Evictor:
    """The actor that evicts, the victims of one pod after another; `seldom`: it is shown only where it has acted."""

    name: str = EVICTOR
    seldom: ClassVar[bool] = True

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods that wait for their victims to be evicted."""
        return ctx.process.work_queues[self.name].next(every=every)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Nothing here waits for a time."""

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Changes concern nobody here."""

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Make the next write for one preempting pod: a condition, a deletion, or a promise taken back."""
        eviction: Eviction | None = ctx.note(EVICTION, name)
        left = eviction
        while left is not None and not ctx.outcomes:
            left = self._next(ctx, left)
        if left != eviction:
            ctx.remember(EVICTION, name, left)
        if left is None:
            ctx.dequeue(name)
        return left is not None

    def _next(self, ctx: TurnContext, eviction: Eviction) -> Eviction | None:
        """Take the first thing to do, if it is still to be done; return what is left then."""
        if eviction.victims:
            victim = ctx.seen.at(eviction.victims[0])
            after = attrs.evolve(eviction, victims=eviction.victims[1:], told=False)
            if victim is None or victim.metadata.deletion_timestamp is not None:
                return after
            return self._evict(ctx, eviction, after, victim)
        if eviction.losers:
            self._take_back(ctx, eviction.losers[0])
            return attrs.evolve(eviction, losers=eviction.losers[1:])
        return None

    def _evict(self, ctx: TurnContext, eviction: Eviction, after: Eviction, victim: Pod) -> Eviction:
        key = eviction.victims[0]
        if not eviction.told:
            patch = PodStatusPatch(Condition(type=TARGET, status="True", reason=REASON, message=MESSAGE))
            words = f"Scheduler marks {victim.metadata.name} as a victim of preemption"
            outcome = ctx.commit(Write("patch", key, patch, uid=victim.metadata.uid, words=words))
            return after if isinstance(outcome, RefusedWrite) else attrs.evolve(eviction, told=True)
        words = f"Scheduler evicts {victim.metadata.name} from {eviction.node} for {eviction.pod}"
        outcome = ctx.commit(Write("delete", key, uid=victim.metadata.uid, words=words))
        if not isinstance(outcome, RefusedWrite):
            message = f"Preempted by pod {eviction.uid} on node {eviction.node}"
            ctx.event(victim, "Normal", "Preempted", message, RECORDER)
        return after

    @staticmethod
    def _take_back(ctx: TurnContext, key: Key) -> None:
        pod: Pod | None = ctx.seen.at(key)
        if pod is not None and pod.status.nominated_node_name:
            patch = PodStatusPatch(nominated_node_name="")
            words = f"Scheduler takes back what it promised {ref(key)}"
            ctx.commit(Write("patch", key, patch, uid=pod.metadata.uid, words=words))


def begin_eviction(ctx: TurnContext, name: str, eviction: Eviction) -> None:
    """Hand the victims of a pod to the evictor."""
    ctx.remember(EVICTION, name, eviction)
    evictor = next(actor for actor in ctx.process.component.actors if actor.name == EVICTOR)
    ctx.enqueue(name, evictor)
