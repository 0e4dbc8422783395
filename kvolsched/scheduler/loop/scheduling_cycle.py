"""The scheduling cycle: choose a node for one pod. One turn of the actor `scheduling pass`.

It reads only what the scheduler has seen and assumed, chooses a node, and calls Reserve of the binding flow. A pod that
fits on no node gets an event and a condition and is requeued.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from ...api.kinds.meta import Condition, evolve, evolve_parts
from ...api.kinds.pod import Pod
from ...world.apiserver import Write, key_of
from ...world.component import TurnContext
from ...world.digest import DIGEST_IGNORES
from ...world.log import Delivery, Key
from ..framework.extension_points import PostFilterResult
from ..framework.judgement import Judgement, judge
from ..framework.profile import Profile
from ..framework.ranking import rank
from ..framework.verdict import Code
from .assume_cache import KINDS, AssumeCache, AssumeRule, PodStatusPatch, drop_outdated
from .evictor import EVICTOR, Eviction, Evictor
from .scheduling_queue import (
    ACTIVE,
    BACKOFF,
    BINDING,
    CYCLE,
    DECIDING,
    PASS,
    QUEUE,
    RECORDER,
    TIMEOUTS,
    UNSCHEDULABLE,
    QueueEntry,
    QueueEvent,
    move_entry,
    move_pods_on_event,
    pod_key_of_entry,
    queue_entry,
    queue_of,
    remove_from_queue,
    requeue,
    sync_entry,
)
from .volume_binder import FoundVolumes

SCHEDULER = "kube-scheduler"


@attrs.frozen
class PassNote:
    """The note of a pass: its number for this pod, its position in the log, the chosen node, a hash of the verdicts.

    `fit` of the `judged` nodes passed all filters.
    """

    number: int = attrs.field(metadata=DIGEST_IGNORES)
    place: int = attrs.field(metadata=DIGEST_IGNORES)
    node: str = attrs.field(metadata=DIGEST_IGNORES)
    fingerprint: str = attrs.field(metadata=DIGEST_IGNORES)
    fit: int = attrs.field(default=0, metadata=DIGEST_IGNORES)
    judged: int = attrs.field(default=0, metadata=DIGEST_IGNORES)


@attrs.frozen
class CycleState:
    """The note of a pass of two turns that has chosen a node and not yet called Reserve."""

    pod: Pod
    node: str
    found: FoundVolumes


class Flow(Protocol):
    """What follows the choice of a node: Reserve and the binding cycle."""

    @property
    def volume_rule(self) -> AssumeRule: ...
    @property
    def errors_are_verdicts(self) -> bool: ...
    @property
    def fine(self) -> bool: ...
    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes: ...
    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str: ...
    def requeue_waiting_pods(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None: ...


@attrs.frozen
class SchedulingPass:
    """The actor that takes the first pod of the queue through one pass.

    Args:
        profile: the plugins that judge and rank nodes.
        flow: what follows the choice of a node.
        pops_backoff: if no pod is active, pop one in back-off at once (since 1.33; not after errors).
        respects_gates: scheduling gates keep pods out of the active part (feature gate PodSchedulingReadiness).
        evictor: who evicts the victims that PostFilter found; None: no plugin finds any.
    """

    profile: Profile
    flow: Flow
    pops_backoff: bool = True
    respects_gates: bool = True
    evictor: Evictor | None = None
    name: str = PASS

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Return the pod whose pass has begun, else the first of the active part, else of the back-off part.

        None is ready while an evictor holds all passes.
        """
        if self.evictor is not None and self.evictor.holds_passes and ctx.process.work_queues[EVICTOR].first():
            return ()
        queue = queue_of(ctx)
        deciding = queue.parts.get(DECIDING)
        if deciding:
            name, entry = next(iter(deciding.items()))
            return ((entry.order, name),)
        head = queue.first(ACTIVE)
        if head is None and self.pops_backoff:
            head = queue.first(BACKOFF)
        return ((head[1].order, head[0]),) if head is not None else ()

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Activate a pod whose back-off or timeout is over."""
        entry: QueueEntry | None = ctx.note(QUEUE, name)
        if entry is not None and entry.part in TIMEOUTS:
            active = evolve(entry, part=ACTIVE, order=ctx.place, until=None, error=False)
            move_entry(ctx, name, TIMEOUTS[entry.part], active)

    def concerning(self, ctx: TurnContext, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Pick the pods that want a node, if nothing is queued or assumed: then `on_change` has no other work."""
        if queue_of(ctx).entries or ctx.views["cache"].assumed:
            return deliveries
        return [each for each in deliveries
                if each.key.kind == "Pod" and each.new is not None and not each.new.spec.node_name]

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Update assumed objects and the queue after a change of an object."""
        drop_outdated(ctx, ctx.views["cache"], key, self.flow.volume_rule)
        if key.kind == "Pod":
            if not self.respects_gates:
                old, new = (pod and evolve_parts(pod, spec={"scheduling_gates": ()}) for pod in (old, new))
            sync_entry(ctx, key, old, new)
        self.flow.requeue_waiting_pods(ctx, key, old, new)
        move_pods_on_event(ctx, self.profile, key, old, new)

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Judge all nodes for one pod, choose one and call Reserve; or report why none fits."""
        state: CycleState | None = ctx.note(CYCLE, name)
        if state is not None:
            ctx.remember(CYCLE, name, None)
            self._reserve(ctx, name, state.pod, state.node, state.found)
            return False
        entry: QueueEntry = ctx.note(QUEUE, name)
        pod: Pod | None = ctx.seen.at(pod_key_of_entry(name))
        if pod is None or pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            remove_from_queue(ctx, name, QueueEvent.POD_SKIPPED)
            return False
        cache: AssumeCache = ctx.views["cache"]
        cache.snapshot.moment = ctx.moment
        cache.snapshot.visits.begin_pass()
        judgement = judge(pod, cache.snapshot, self.profile)
        last: PassNote | None = ctx.note("pass", name)
        number = last.number + 1 if last is not None else 1
        node = self.choose(ctx, name, judgement, number)
        size, fit = cache.snapshot.size, len(judgement.rows)
        ctx.remember("pass", name, PassNote(number, ctx.place, node, judgement.fingerprint.hex(), fit, size))
        judged = f"Scheduler judges {pod.metadata.name}, pass {number}: "
        found = self.flow.find(pod, node, cache) if node else None
        ctx.visits = cache.snapshot.visits.count
        if found is None:
            preemption = post_filter(pod, judgement)
            none = "an error ends it" if judgement.any_feasible and judgement.error else f"none of {size} nodes fits"
            sentence = f"{judged}{none if size else 'there are no nodes'}"
            names = " and ".join(victim.metadata.name for victim in preemption.victims)
            ctx.describe(f"{sentence}; it preempts {names} on {preemption.nominated}." if names else f"{sentence}.")
            self._handle_no_fit(ctx, name, pod, judgement, preemption)
            return False
        nominated = ", the nominated node" if judgement.fitting_nominated_node else ""
        ctx.describe(f"{judged}{fit} of {size} node{'s fit' if size != 1 else ' fits'}, it chooses {node}{nominated}.")
        if self.flow.fine:
            deciding = evolve(entry, part=DECIDING, until=None, error=False)
            move_entry(ctx, name, QueueEvent.NODE_CHOSEN, deciding)
            ctx.remember(CYCLE, name, CycleState(pod, node, found))
            return True
        self._reserve(ctx, name, pod, node, found)
        return False

    def choose(self, ctx: TurnContext, name: str, judgement: Judgement, number: int) -> str:
        """Return the node for a pod, "" for none: the best of those that fit."""
        if not judgement.any_feasible or judgement.error:
            return ""
        return select_host(ctx, name, judgement, number)

    def _reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> None:
        """Call Reserve of the flow and say what it has assumed."""
        entry: QueueEntry = ctx.note(QUEUE, name)
        binding = queue_entry(BINDING, entry.priority, entry.order, entry.failures, entry.rejected_by)
        move_entry(ctx, name, QueueEvent.NODE_RESERVED, binding)
        words = self.flow.reserve(ctx, name, pod, node, found)
        ctx.describe(f"{ctx.words} {words}" if ctx.words else words)

    def _handle_no_fit(self, ctx: TurnContext, name: str, pod: Pod, judgement: Judgement,
                       preemption: PostFilterResult) -> None:
        """Report why no node fits, and start the eviction of the victims that PostFilter found.

        A plugin's error makes the reason SchedulerError; 1.11 reports Unschedulable all the same.
        """
        rejected = judgement.rejected_by
        failed = rejected.code is Code.ERROR if rejected is not None else bool(judgement.error)
        reason = "SchedulerError" if failed and not self.flow.errors_are_verdicts else "Unschedulable"
        plugins = judgement.rejecting_plugins
        plugins |= {restriction.plugin for restriction in judgement.restrictions}
        plugins |= {rejected.plugin} if rejected is not None else set()
        message = judgement.sentence(postfilter=preemption.message)
        nominated = preemption.nominated
        if nominated and self.evictor is not None:
            victims = tuple(key_of(victim) for victim in preemption.victims)
            lower = tuple(key_of(other) for other in judgement.seen.nominated_to(nominated)
                  if (other.spec.priority or 0) < (pod.spec.priority or 0))
            eviction = Eviction(key_of(pod), pod.metadata.uid, nominated, victims, lower)
            nominated = self.evictor.begin(ctx, name, eviction)
        rejected_by = tuple(sorted(plugins))
        handle_failure(ctx, name, pod, message, reason=reason, rejected_by=rejected_by, nominated=nominated)


def post_filter(pod: Pod, judgement: Judgement) -> PostFilterResult:
    """Run PostFilter plugins in order: return the first result that nominates a node, or the messages of all."""
    if judgement.rejected_by is not None or judgement.error:
        return PostFilterResult()
    messages: list[str] = []
    counted: tuple[tuple[int | None, str], ...] = ()
    nominated: str | None = None
    for plugin in judgement.profile.postfilters:
        result = plugin.postfilter(pod, judgement.seen, judgement)
        if result.nominated:
            return result
        messages.append(result.message)
        counted += result.counted
        nominated = nominated if result.nominated is None else result.nominated
    return PostFilterResult(", ".join(filter(None, messages)), nominated, counted=counted)


def select_host(ctx: TurnContext, name: str, judgement: Judgement, number: int) -> str:
    """Return the nominated node if that is taken, else the node with the highest score; a seeded draw breaks ties."""
    if judgement.fitting_nominated_node:
        return judgement.fitting_nominated_node
    if len(judgement.rows) == 1:
        return judgement.feasible[0]
    ranking = rank(judgement)
    return ranking.best_node(ctx.draw("tie", name, ranking.tie_count, number))


def handle_failure(ctx: TurnContext, name: str, pod: Pod, message: str, *, reason: str = "Unschedulable",
                   rejected_by: tuple[str, ...] = (), condition_message: str | None = None,
                   nominated: str | None = None) -> None:
    """Report why a pod was not scheduled (event, condition) and requeue it.

    Unschedulable pods wait for a cluster event; after an error a pod is retried when its back-off ends.

    Args:
        reason: the reason of the condition, `Unschedulable` or that of an error.
        rejected_by: the plugins that rejected the pod.
        condition_message: the message of the condition if it differs from that of the event.
        nominated: the nominated node; "" clears it, None keeps it.
    """
    if ctx.note(QUEUE, name) is not None:
        if reason == "Unschedulable":
            requeue(ctx, name, QueueEvent.NO_NODE_FITS, UNSCHEDULABLE, rejected_by=rejected_by)
        else:
            requeue(ctx, name, QueueEvent.ATTEMPT_FAILED, BACKOFF, rejected_by=rejected_by)
    if condition_message is None:
        condition_message = message
    report_failure(ctx, pod, "Warning", message, reason, condition_message, message, nominated=nominated)


def report_failure(ctx: TurnContext, pod: Pod, event_type: str, message: str, reason: str, condition_message: str,
                   why: str, *, nominated: str | None = None) -> None:
    """Emit the event FailedScheduling, and patch the condition PodScheduled unless the pod has it already."""
    ctx.event(pod, event_type, "FailedScheduling", message, RECORDER)
    condition = Condition(type="PodScheduled", status="False", reason=reason, message=condition_message)
    patch = PodStatusPatch(condition, nominated)
    seen = ctx.seen.at(key_of(pod))
    if seen is not None and seen.metadata.uid == pod.metadata.uid and patch.apply(seen) == seen:
        return
    words = f"Scheduler requeues {pod.metadata.name}: {why}"
    ctx.commit(Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words))


__all__ = ["KINDS", "PASS", "RECORDER", "SCHEDULER", "CycleState", "Flow", "PassNote", "SchedulingPass"]
