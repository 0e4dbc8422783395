"""The scheduling cycle: one pod, every node, one choice. One turn of the actor `scheduling pass`.

It reads only what the scheduler has seen and assumed, decides, and hands the pod to its flow: the design's two passes
or today's waiting in PreBind. A pod that fits nowhere is told so and goes back to the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import attrs

from ..api.meta import Condition
from ..world.apiserver import Write, key_of
from ..world.component import Hand
from ..world.digest import SILENT
from ..world.log import Key
from . import queue
from .assume import KINDS, AssumeCache, PodStatusPatch, Rule, drop_outdated
from .framework import Code, Judgement, Wake, judge, rank
from .profile import Profile
from .queue import QUEUE, QueueEntry, SchedulingQueue

SCHEDULER = "kube-scheduler"
RECORDER = "default-scheduler"  # the name its events carry
PASS = "scheduling pass"
FLUSH = 300.0  # seconds after which an unschedulable pod is tried again, whatever happened


@attrs.frozen
class PassNote:
    """What a pass remembers: its number for this pod, its place in the log, its choice, and a hash of its verdicts."""

    number: int = attrs.field(metadata=SILENT)
    place: int = attrs.field(metadata=SILENT)
    node: str = attrs.field(metadata=SILENT)
    fingerprint: str = attrs.field(metadata=SILENT)


class Flow(Protocol):
    """What happens to a pod once a node is chosen for it."""

    @property
    def volume_rule(self) -> Rule: ...
    @property
    def errors_are_verdicts(self) -> bool: ...
    def chosen(self, hand: Hand, name: str, pod: Any, node: str) -> None: ...
    def noticed(self, hand: Hand, key: Key, old: Any, new: Any) -> None: ...


@attrs.frozen
class SchedulingPass:
    """The actor that takes the first pod of the queue through one pass.

    Args:
        pops_backoff: with no active pod, one whose back-off is not over is tried at once (since 1.33; not after errors).
    """

    profile: Profile
    flow: Flow
    pops_backoff: bool = True
    name: str = PASS

    def ready(self, hand: Hand, *, every: bool = False) -> Sequence[tuple[int, str]]:  # noqa: ARG002 - there is one head
        """Return the pod at the head: of the active part, else the first whose back-off need not be waited for."""
        waiting: SchedulingQueue = hand.views["queue"]  # type: ignore[assignment]
        head = waiting.first(queue.ACTIVE)
        if head is None and self.pops_backoff:
            head = waiting.first(queue.BACKOFF)
            if head is not None and head[1].error:
                return ()
        return ((head[1].order, head[0]),) if head is not None else ()

    def due(self, hand: Hand, name: str) -> None:
        """End a back-off, or try an unschedulable pod again after five minutes."""
        entry: QueueEntry | None = hand.note(QUEUE, name)
        if entry is not None and entry.part in (queue.BACKOFF, queue.UNSCHEDULABLE):
            enter(hand, name, attrs.evolve(entry, part=queue.ACTIVE, until=None, error=False))

    def notice(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        """Keep the queue: new pods enter, pods that are gone or placed leave, changes wake those they may help."""
        drop_outdated(hand, key, self.flow.volume_rule)
        if key.kind == "Pod":
            self._notice_pod(hand, key, old, new)
        self.flow.noticed(hand, key, old, new)
        waiting: SchedulingQueue = hand.views["queue"]  # type: ignore[assignment]
        unschedulable = waiting.parts.get(queue.UNSCHEDULABLE)
        if not unschedulable:
            return
        for name, entry in sorted(unschedulable.items()):
            pod = hand.seen.at(_pod_key(name))
            if pod is not None and any(w.when(pod, old, new) for w in wakes(self.profile, key.kind, entry.rejected_by)):
                wake(hand, name, entry)

    def _notice_pod(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        name = f"{key.namespace}/{key.name}"
        entry: QueueEntry | None = hand.note(QUEUE, name)
        if new is None or new.spec.node_name or new.terminal:
            if entry is not None and entry.part != queue.BINDING:
                leave(hand, name)
            return
        if (new.spec.scheduler_name or RECORDER) != RECORDER:
            return
        gated = bool(new.spec.scheduling_gates)
        if entry is None or (old is not None and old.metadata.uid != new.metadata.uid):
            part = queue.GATED if gated else queue.ACTIVE
            enter(hand, name, QueueEntry(part, priority=new.spec.priority or 0))
        elif entry.part == queue.GATED and not gated:
            enter(hand, name, attrs.evolve(entry, part=queue.ACTIVE))

    def act(self, hand: Hand, name: str) -> bool:
        """Judge every node for one pod and choose, or say why there is no choice."""
        entry: QueueEntry = hand.note(QUEUE, name)
        pod = hand.seen.at(_pod_key(name))
        if pod is None or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            leave(hand, name)
            return False
        cache: AssumeCache = hand.views["cache"]  # type: ignore[assignment]
        snapshot = cache.behind
        judgement = judge(pod, snapshot, self.profile)
        last: PassNote | None = hand.note("pass", name)
        number = last.number + 1 if last is not None else 1
        node = choose(hand, name, judgement, number) if judgement.any_feasible else ""
        hand.remember("pass", name, PassNote(number, hand.place, node, judgement.fingerprint.hex()))
        fit = f"{len(judgement.rows)} of {snapshot.size} nodes fit"
        if node:
            hand.remember(QUEUE, name, attrs.evolve(entry, part=queue.BINDING, until=None, error=False))
            hand.say(f"Scheduler judges {pod.metadata.name}, pass {number}: {fit}, it chooses {node}.")
            self.flow.chosen(hand, name, pod, node)
        else:
            hand.say(f"Scheduler judges {pod.metadata.name}, pass {number}: {fit}.")
            self._nowhere(hand, name, pod, judgement)
        return False

    def _nowhere(self, hand: Hand, name: str, pod: Any, judgement: Judgement) -> None:
        """Tell the pod why no node fits; a plugin's error is no verdict, but 1.11 calls it one."""
        rejected = judgement.rejected_by
        failed = rejected.code is Code.ERROR if rejected is not None else bool(judgement.error)
        reason = "SchedulerError" if failed and not self.flow.errors_are_verdicts else "Unschedulable"
        by = {plugin for plugin in judgement.first.values() if plugin}
        by |= {restriction.plugin for restriction in judgement.restrictions}
        by |= {rejected.plugin} if rejected is not None else set()
        fail(hand, name, pod, judgement.sentence(), reason=reason, rejected_by=tuple(sorted(by)))


@lru_cache(maxsize=256)
def wakes(profile: Profile, kind: str, rejected_by: tuple[str, ...]) -> tuple[Wake, ...]:
    """Return which changes of this kind the plugins that rejected a pod want it to be tried again for."""
    plugins = [enabled.plugin for enabled in profile.plugins if enabled.name in rejected_by]
    return tuple(wake for plugin in plugins for wake in getattr(plugin, "wakes", ()) if wake.kind == kind)


def choose(hand: Hand, name: str, judgement: Judgement, number: int) -> str:
    """Return the node with the highest score; a tie is drawn."""
    if len(judgement.rows) == 1:
        return judgement.feasible[0]
    best = rank(judgement).best
    return best[hand.draw("tie", name, len(best), number)]


def enter(hand: Hand, name: str, entry: QueueEntry) -> None:
    """Put a pod into a part of the queue, behind those that are there."""
    hand.remember(QUEUE, name, attrs.evolve(entry, order=hand.place))


def leave(hand: Hand, name: str) -> None:
    """Take a pod out of the queue, and its wake-ups with it."""
    hand.remember(QUEUE, name, None)
    hand.unwake(name, PASS)


def wake(hand: Hand, name: str, entry: QueueEntry) -> None:
    """Let an unschedulable pod be tried again: at once, or when its back-off has ended."""
    until = entry.until
    if until is not None and until > hand.now:
        enter(hand, name, attrs.evolve(entry, part=queue.BACKOFF))
        hand.wake(name, until - hand.now, actor=PASS)
    else:
        enter(hand, name, attrs.evolve(entry, part=queue.ACTIVE, until=None))
        hand.unwake(name, PASS)


def fail(
    hand: Hand,
    name: str,
    pod: Any,
    message: str,
    *,
    reason: str = "Unschedulable",
    event: str = "Warning",
    rejected_by: tuple[str, ...] = (),
    part: str = queue.UNSCHEDULABLE,
    denominate: bool = False,
) -> None:
    """Say why the pod was not placed (event, condition) and put it back into the queue."""
    entry: QueueEntry | None = hand.note(QUEUE, name)
    if entry is not None:
        failures = min(entry.failures + 1, queue.MOST_FAILURES)
        wait = queue.backoff(failures)
        error = reason == "SchedulerError"
        part = queue.BACKOFF if error else part
        until = hand.now + wait
        enter(hand, name, QueueEntry(part, entry.priority, 0, failures, rejected_by, until, error))
        hand.wake(name, wait if error else FLUSH, periodic=not error, actor=PASS)
    hand.event(pod, event, "FailedScheduling", message, RECORDER)
    condition = Condition(type="PodScheduled", status="False", reason=reason, message=message)
    patch = PodStatusPatch(condition, "" if denominate else None)
    words = f"scheduler puts {pod.metadata.name} back: {message}"
    hand.commit(Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words))


def _pod_key(name: str) -> Key:
    namespace, _, pod = name.partition("/")
    return Key("Pod", namespace, pod)


__all__ = ["KINDS", "PASS", "RECORDER", "SCHEDULER", "Flow", "PassNote", "SchedulingPass", "fail", "leave", "wake"]
