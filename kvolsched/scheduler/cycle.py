"""The scheduling cycle: one pod, every node, one choice. One turn of the actor `scheduling pass`.

It reads only what the scheduler has seen and assumed, decides, and hands the pod to its flow: the design's two passes
or today's waiting in PreBind. A pod that fits nowhere is told so and goes back to the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from ..api.meta import Condition
from ..api.pod import Pod
from ..world.apiserver import Write, key_of
from ..world.component import Hand
from ..world.digest import SILENT
from ..world.log import Key
from . import evictor, queue
from .assume import KINDS, AssumeCache, PodStatusPatch, Rule, drop_outdated
from .binder import Found
from .framework import Code, Judgement, PostFilter, PostFilterResult, judge, rank
from .profile import Profile
from .queue import QUEUE, RECORDER, QueueEntry
from .requeue import CYCLE, PASS, enter, keep, leave, pod_key, put_back, queue_of, wake_helped

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
    found: Found


class Flow(Protocol):
    """What happens to a pod once a node is chosen for it."""

    @property
    def volume_rule(self) -> Rule: ...
    @property
    def errors_are_verdicts(self) -> bool: ...
    def find(self, pod: Pod, node: str, cache: AssumeCache) -> Found: ...
    def reserve(self, hand: Hand, name: str, pod: Pod, node: str, found: Found) -> str: ...
    def noticed(self, hand: Hand, key: Key, old: Any, new: Any) -> None: ...


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

    def ready(self, hand: Hand, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Return the pod whose pass has begun, else the head of the active part, else of those in back-off."""
        waiting = queue_of(hand)
        begun = waiting.parts.get(queue.DECIDING)
        if begun:
            name, entry = next(iter(begun.items()))
            return ((entry.order, name),)
        head = waiting.first(queue.ACTIVE)
        if head is None and self.pops_backoff:
            head = waiting.first(queue.BACKOFF)
        return ((head[1].order, head[0]),) if head is not None else ()

    def due(self, hand: Hand, name: str) -> None:
        """End a back-off, or try a pod again that has waited long enough."""
        entry: QueueEntry | None = hand.note(QUEUE, name)
        if entry is not None and entry.part in (queue.BACKOFF, queue.UNSCHEDULABLE, queue.WAITING):
            enter(hand, name, attrs.evolve(entry, part=queue.ACTIVE, until=None, error=False))

    def notice(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        """Keep the queue: new pods enter, pods that are gone or placed leave, changes wake those they may help."""
        drop_outdated(hand, key, self.flow.volume_rule)
        if key.kind == "Pod":
            keep(hand, key, *((old, new) if self.heeds_gates else map(_ungated, (old, new))))
        self.flow.noticed(hand, key, old, new)
        wake_helped(hand, self.profile, key, old, new)

    def act(self, hand: Hand, name: str) -> bool:
        """Judge every node for one pod and choose, or say why there is no choice; then assume what goes with it."""
        begun: CycleState | None = hand.note(CYCLE, name)
        if begun is not None:
            hand.remember(CYCLE, name, None)
            self._reserve(hand, name, begun.pod, begun.node, begun.found)
            return False
        entry: QueueEntry = hand.note(QUEUE, name)
        pod: Pod | None = hand.seen.at(pod_key(name))
        if pod is None or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            leave(hand, name)
            return False
        cache: AssumeCache = hand.views["cache"]  # type: ignore[assignment]
        cache.behind.moment = hand.moment
        judgement = judge(pod, cache.behind, self.profile)
        last: PassNote | None = hand.note("pass", name)
        number = last.number + 1 if last is not None else 1
        node = choose(hand, name, judgement, number) if judgement.any_feasible else ""
        size, fit = cache.behind.size, len(judgement.rows)
        hand.remember("pass", name, PassNote(number, hand.place, node, judgement.fingerprint.hex(), fit, size))
        judged = f"Scheduler judges {pod.metadata.name}, pass {number}: "
        if not node:
            way = post_filter(pod, judgement)
            words = f"{judged}{f'none of {size} nodes fits' if size else 'there are no nodes'}"
            hand.say(f"{words}{_evicting(way)}.")
            self._nowhere(hand, name, pod, judgement, way)
            return False
        hand.say(f"{judged}{fit} of {size} node{'s fit' if size != 1 else ' fits'}, it chooses {node}.")
        found = self.flow.find(pod, node, cache)
        if self.fine:
            hand.remember(QUEUE, name, attrs.evolve(entry, part=queue.DECIDING, until=None, error=False))
            hand.remember(CYCLE, name, CycleState(pod, node, found))
            return True
        self._reserve(hand, name, pod, node, found)
        return False

    def _reserve(self, hand: Hand, name: str, pod: Pod, node: str, found: Found) -> None:
        """Assume what goes with the choice; the flow says in a sentence what that is."""
        entry: QueueEntry = hand.note(QUEUE, name)
        binding = QueueEntry(queue.BINDING, entry.priority, entry.order, entry.failures, entry.rejected_by)
        hand.remember(QUEUE, name, binding)
        words = self.flow.reserve(hand, name, pod, node, found)
        hand.say(f"{hand.words} {words}" if hand.words else words)

    def _nowhere(
        self, hand: Hand, name: str, pod: Pod, judgement: Judgement, way: PostFilterResult
    ) -> None:
        """Tell the pod why no node fits, and have those evicted whose place it may take.

        A plugin's error is no verdict, but 1.11 calls it one.
        """
        rejected = judgement.rejected_by
        failed = rejected.code is Code.ERROR if rejected is not None else bool(judgement.error)
        reason = "SchedulerError" if failed and not self.flow.errors_are_verdicts else "Unschedulable"
        by = {plugin for plugin in judgement.first.values() if plugin}
        by |= {restriction.plugin for restriction in judgement.restrictions}
        by |= {rejected.plugin} if rejected is not None else set()
        said = judgement.sentence(postfilter=way.words)
        if way.nominated:
            victims = tuple(key_of(victim) for victim in way.victims)
            losers = tuple(key_of(one) for one in judgement.seen.promised(way.nominated) if _is_lower(one, pod))
            uid = pod.metadata.uid
            evictor.begin(hand, name, evictor.Eviction(pod.metadata.name, uid, way.nominated, victims, losers))
        fail(hand, name, pod, said, reason=reason, rejected_by=tuple(sorted(by)), nominated=way.nominated)


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


def after_filtering(pod: Pod, judgement: Judgement) -> str:
    """Return what the plugins that are asked when no node fits have to say; "" if one of them has found a way."""
    return post_filter(pod, judgement).words


def choose(hand: Hand, name: str, judgement: Judgement, number: int) -> str:
    """Return the node with the highest score; a tie is drawn."""
    if len(judgement.rows) == 1:
        return judgement.feasible[0]
    ranking = rank(judgement)
    return ranking.tied(hand.draw("tie", name, ranking.ties, number))


def fail(
    hand: Hand,
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
    if hand.note(QUEUE, name) is not None:
        verdict = reason == "Unschedulable"
        put_back(hand, name, queue.UNSCHEDULABLE if verdict else queue.BACKOFF, rejected_by=rejected_by)
    tell(hand, pod, "Warning", message, reason, message if said is None else said, nominated=nominated)


def tell(
    hand: Hand, pod: Pod, event: str, message: str, reason: str, said: str, *, nominated: str | None = None
) -> None:
    """Say FailedScheduling of a pod, and write the condition that goes with it, unless the pod is seen to have it."""
    hand.event(pod, event, "FailedScheduling", message, RECORDER)
    condition = Condition(type="PodScheduled", status="False", reason=reason, message=said)
    patch = PodStatusPatch(condition, nominated)
    seen = hand.seen.at(key_of(pod))
    if seen is not None and seen.metadata.uid == pod.metadata.uid and patch.apply(seen) == seen:
        return
    words = f"Scheduler puts {pod.metadata.name} back: {message}"
    hand.commit(Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words))


def _ungated(pod: Pod | None) -> Pod | None:
    return pod and attrs.evolve(pod, spec=attrs.evolve(pod.spec, scheduling_gates=()))


__all__ = ["KINDS", "PASS", "RECORDER", "SCHEDULER", "CycleState", "Flow", "PassNote", "SchedulingPass"]
