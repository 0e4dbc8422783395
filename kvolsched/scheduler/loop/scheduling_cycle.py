"""The scheduling cycle: one pod, every node, one choice. One turn of the actor `scheduling pass`.

It reads only what the scheduler has seen and assumed, decides, and hands the pod to its flow: the design's two passes
or today's waiting in PreBind. A pod that fits nowhere is told so and goes back to the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from ...api.kinds.meta import Condition, evolve_parts
from ...api.kinds.pod import Pod
from ...world.apiserver import Write, key_of
from ...world.component import TurnContext
from ...world.digest import SILENT
from ...world.log import Key
from ..framework.extension_points import PostFilter, PostFilterResult
from ..framework.judgement import Judgement, judge
from ..framework.profile import Profile
from ..framework.ranking import rank
from ..framework.verdict import Code
from . import evictor
from . import scheduling_queue as queue
from .assume_cache import KINDS, AssumeCache, AssumeRule, PodStatusPatch, drop_outdated
from .requeueing import (
    CYCLE,
    PASS,
    add_to_queue,
    move_pods_on_event,
    pod_key_of_entry,
    queue_of,
    remove_from_queue,
    requeue,
    sync_entry,
)
from .scheduling_queue import QUEUE, RECORDER, QueueEntry
from .volume_binder import FoundVolumes

SCHEDULER = "kube-scheduler"

@attrs.frozen
class PassNote:
    """What a pass remembers: its number for this pod, its place in the log, its choice, and a hash of its verdicts.

    `fit` of the `judged` nodes passed every filter.
    """

    number: int = attrs.field(metadata=SILENT)
    place: int = attrs.field(metadata=SILENT)
    node: str = attrs.field(metadata=SILENT)
    fingerprint: str = attrs.field(metadata=SILENT)
    fit: int = attrs.field(default=0, metadata=SILENT)
    judged: int = attrs.field(default=0, metadata=SILENT)


@attrs.frozen
class CycleState:
    """A note of the fine gear: a pass that has chosen a node and has yet to assume what goes with it."""

    pod: Pod
    node: str
    found: FoundVolumes


class Flow(Protocol):
    """What happens to a pod once a node is chosen for it."""

    @property
    def volume_rule(self) -> AssumeRule: ...
    @property
    def errors_are_verdicts(self) -> bool: ...
    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes: ...
    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str: ...
    def noticed(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None: ...


@attrs.frozen
class SchedulingPass:
    """The actor that takes the first pod of the queue through one pass.

    Args:
        profile: the plugins that judge and rank.
        flow: what happens once a node is chosen.
        pops_backoff: with no active pod, one in back-off is tried at once (since 1.33; not after errors).
        fine: a pass is two turns: judge and choose, then assume; in between others may act.
        heeds_gates: scheduling gates keep pods out of the queue (gate PodSchedulingReadiness).
    """

    profile: Profile
    flow: Flow
    pops_backoff: bool = True
    fine: bool = False
    heeds_gates: bool = True
    name: str = PASS

    def ready(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Return the pod whose pass has begun, else the head of the active part, else of those in back-off."""
        waiting = queue_of(ctx)
        begun = waiting.parts.get(queue.DECIDING)
        if begun:
            name, entry = next(iter(begun.items()))
            return ((entry.order, name),)
        head = waiting.first(queue.ACTIVE)
        if head is None and self.pops_backoff:
            head = waiting.first(queue.BACKOFF)
        return ((head[1].order, head[0]),) if head is not None else ()

    def due(self, ctx: TurnContext, name: str) -> None:
        """End a back-off, or try a pod again that has waited long enough."""
        entry: QueueEntry | None = ctx.note(QUEUE, name)
        if entry is not None and entry.part in (queue.BACKOFF, queue.UNSCHEDULABLE, queue.WAITING):
            add_to_queue(ctx, name, attrs.evolve(entry, part=queue.ACTIVE, until=None, error=False))

    def notice(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Keep the queue: new pods enter, pods that are gone or placed leave, changes wake those they may help."""
        drop_outdated(ctx, key, self.flow.volume_rule)
        if key.kind == "Pod":
            sync_entry(ctx, key, *((old, new) if self.heeds_gates else map(_ungated, (old, new))))
        self.flow.noticed(ctx, key, old, new)
        move_pods_on_event(ctx, self.profile, key, old, new)

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Judge every node for one pod and choose, or say why there is no choice; then assume what goes with it."""
        begun: CycleState | None = ctx.note(CYCLE, name)
        if begun is not None:
            ctx.remember(CYCLE, name, None)
            self._reserve(ctx, name, begun.pod, begun.node, begun.found)
            return False
        entry: QueueEntry = ctx.note(QUEUE, name)
        pod: Pod | None = ctx.seen.at(pod_key_of_entry(name))
        if pod is None or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            remove_from_queue(ctx, name)
            return False
        cache: AssumeCache = ctx.views["cache"]  # type: ignore[assignment]
        cache.behind.moment = ctx.moment
        judgement = judge(pod, cache.behind, self.profile)
        last: PassNote | None = ctx.note("pass", name)
        number = last.number + 1 if last is not None else 1
        node = select_host(ctx, name, judgement, number) if judgement.any_feasible else ""
        size, fit = cache.behind.size, len(judgement.rows)
        ctx.remember("pass", name, PassNote(number, ctx.place, node, judgement.fingerprint.hex(), fit, size))
        judged = f"Scheduler judges {pod.metadata.name}, pass {number}: "
        if not node:
            way = post_filter(pod, judgement)
            words = f"{judged}{f'none of {size} nodes fits' if size else 'there are no nodes'}"
            ctx.say(f"{words}{_evicting(way)}.")
            self._nowhere(ctx, name, pod, judgement, way)
            return False
        ctx.say(f"{judged}{fit} of {size} node{'s fit' if size != 1 else ' fits'}, it chooses {node}.")
        found = self.flow.find(pod, node, cache)
        if self.fine:
            ctx.remember(QUEUE, name, attrs.evolve(entry, part=queue.DECIDING, until=None, error=False))
            ctx.remember(CYCLE, name, CycleState(pod, node, found))
            return True
        self._reserve(ctx, name, pod, node, found)
        return False

    def _reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> None:
        """Assume what goes with the choice; the flow says in a sentence what that is."""
        entry: QueueEntry = ctx.note(QUEUE, name)
        binding = QueueEntry(queue.BINDING, entry.priority, entry.order, entry.failures, entry.rejected_by)
        ctx.remember(QUEUE, name, binding)
        words = self.flow.reserve(ctx, name, pod, node, found)
        ctx.say(f"{ctx.words} {words}" if ctx.words else words)

    def _nowhere(
        self, ctx: TurnContext, name: str, pod: Pod, judgement: Judgement, way: PostFilterResult
    ) -> None:
        """Tell the pod why no node fits, and have those evicted whose place it may take.

        A plugin's error is no verdict, but 1.11 calls it one.
        """
        rejected = judgement.rejected_by
        failed = rejected.code is Code.ERROR if rejected is not None else bool(judgement.error)
        reason = "SchedulerError" if failed and not self.flow.errors_are_verdicts else "Unschedulable"
        by = {plugin for plugin in judgement.first_rejecting.values() if plugin}
        by |= {restriction.plugin for restriction in judgement.restrictions}
        by |= {rejected.plugin} if rejected is not None else set()
        said = judgement.sentence(postfilter=way.words)
        if way.nominated:
            victims = tuple(key_of(victim) for victim in way.victims)
            losers = tuple(key_of(one) for one in judgement.seen.nominated_to(way.nominated) if _is_lower(one, pod))
            uid = pod.metadata.uid
            evictor.begin_eviction(ctx, name, evictor.Eviction(pod.metadata.name, uid, way.nominated, victims, losers))
        handle_failure(ctx, name, pod, said, reason=reason, rejected_by=tuple(sorted(by)), nominated=way.nominated)


def _evicting(way: PostFilterResult) -> str:
    """Say who must leave which node, if that helps."""
    names = [victim.metadata.name for victim in way.victims]
    return f"; {' and '.join(names)} must leave {way.nominated} for it" if names else ""


def _is_lower(pod: Pod, than: Pod) -> bool:
    return (pod.spec.priority or 0) < (than.spec.priority or 0)


def post_filter(pod: Pod, judgement: Judgement) -> PostFilterResult:
    """Ask the plugins that are asked when no node fits, in order: the first way found, or what all of them say."""
    if judgement.rejected_by is not None or judgement.error:
        return PostFilterResult()
    said: list[str] = []
    nominated: str | None = None
    for enabled in judgement.profile.plugins:
        if isinstance(enabled.plugin, PostFilter):
            found = enabled.plugin.postfilter(pod, judgement.seen, judgement)
            if found.nominated:
                return found
            said.append(found.words)
            nominated = nominated if found.nominated is None else found.nominated
    return PostFilterResult(", ".join(filter(None, said)), nominated)


def post_filter_message(pod: Pod, judgement: Judgement) -> str:
    """Return what the plugins that are asked when no node fits have to say; "" if one of them has found a way."""
    return post_filter(pod, judgement).words


def select_host(ctx: TurnContext, name: str, judgement: Judgement, number: int) -> str:
    """Return the node with the highest score; a tie is drawn."""
    if len(judgement.rows) == 1:
        return judgement.feasible[0]
    ranking = rank(judgement)
    return ranking.best_node(ctx.draw("tie", name, ranking.tie_count, number))


def handle_failure(
    ctx: TurnContext,
    name: str,
    pod: Pod,
    message: str,
    *,
    reason: str = "Unschedulable",
    rejected_by: tuple[str, ...] = (),
    said: str | None = None,
    nominated: str | None = None,
) -> None:
    """Say why the pod was not placed (event, condition), and put it back into the queue.

    A verdict waits for a change that may help; everything else is tried again after its back-off.

    Args:
        reason: the condition's; what is `Unschedulable` is a verdict.
        rejected_by: the plugins whose verdict it is.
        said: the condition's message, if it is not the event's.
        nominated: the node that the pod is promised; "" takes a promise back, None leaves it.
    """
    if ctx.note(QUEUE, name) is not None:
        verdict = reason == "Unschedulable"
        requeue(ctx, name, queue.UNSCHEDULABLE if verdict else queue.BACKOFF, rejected_by=rejected_by)
    report_failure(ctx, pod, "Warning", message, reason, message if said is None else said, nominated=nominated)


def report_failure(
    ctx: TurnContext, pod: Pod, event: str, message: str, reason: str, said: str, *, nominated: str | None = None
) -> None:
    """Say FailedScheduling of a pod, and write the condition that goes with it, unless the pod is seen to have it."""
    ctx.event(pod, event, "FailedScheduling", message, RECORDER)
    condition = Condition(type="PodScheduled", status="False", reason=reason, message=said)
    patch = PodStatusPatch(condition, nominated)
    seen = ctx.seen.at(key_of(pod))
    if seen is not None and seen.metadata.uid == pod.metadata.uid and patch.apply(seen) == seen:
        return
    words = f"Scheduler puts {pod.metadata.name} back: {message}"
    ctx.commit(Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words))


def _ungated(pod: Pod | None) -> Pod | None:
    return pod and evolve_parts(pod, spec={"scheduling_gates": ()})


__all__ = ["KINDS", "PASS", "RECORDER", "SCHEDULER", "CycleState", "Flow", "PassNote", "SchedulingPass"]
