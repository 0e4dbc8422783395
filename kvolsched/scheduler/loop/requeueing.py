"""Which event moves which pod between the parts of the scheduling queue.

A rejected pod is moved only by events that the plugins which rejected it declare as `events_to_register`. Mirrors
`isPodWorthRequeuing` and `buildQueueingHintMap` (kube-scheduler v1.36.2).
"""

from functools import lru_cache
from typing import Any

from ...api.kinds.meta import evolve
from ...api.kinds.pod import Pod
from ...world.component import TurnContext
from ...world.log import Key
from ..framework.cluster_event import Action, ClusterEvent, events_of
from ..framework.extension_points import QueueingHint
from ..framework.profile import Profile
from .scheduling_queue import (
    ACTIVE,
    BACKOFF,
    BINDING,
    GATED,
    MAX_FAILURES,
    QUEUE,
    RECORDER,
    UNSCHEDULABLE,
    QueueEntry,
    QueueEvent,
    SchedulingQueue,
    end_of_backoff,
    move_entry,
)

PASS = "scheduling pass"  # noqa: S105 - the name of the actor
CYCLE = "cycle"  # the kind of note that a pass of two turns leaves after the first
LEFTOVER_TIMEOUT = 300.0  # seconds after which an unschedulable pod is retried without any event

NODE_ADDED = QueueingHint("Node", "a node appears", action=Action.ADD)
"""The event for pods that no plugin rejected: there was no node."""
TAINT_CHANGED = QueueingHint("Node", "a taint changes or a node is uncordoned", action=Action.NODE_TAINT)
"""Added to plugins that wait for nodes but not for taints: upstream's preCheck may drop the event of a new node."""


def queue_of(ctx: TurnContext) -> SchedulingQueue:
    """Return the scheduling queue."""
    queue = ctx.views["queue"]
    assert isinstance(queue, SchedulingQueue)
    return queue


def pod_key_of_entry(name: str) -> Key:
    """Return the key of a pod by its name in the queue."""
    namespace, _, pod = name.partition("/")
    return Key("Pod", namespace, pod)


def remove_from_queue(ctx: TurnContext, name: str, event: QueueEvent) -> None:
    """Remove a pod's entry, the choice of its pass, and its timer."""
    if ctx.note(QUEUE, name) is not None:
        move_entry(ctx, name, event, None)
    ctx.remember(CYCLE, name, None)
    ctx.cancel_wake_up(name, PASS)


def requeue(ctx: TurnContext, name: str, event: QueueEvent, part: str, *, rejected_by: tuple[str, ...] = (),
            timeout: float | None = LEFTOVER_TIMEOUT) -> None:
    """Put a pod back into a part of the queue; from back-off it is retried by itself, else after the timeout."""
    entry: QueueEntry = ctx.note(QUEUE, name)
    failures = min(entry.failures + 1, MAX_FAILURES)
    until = end_of_backoff(ctx.now, failures)
    error = part == BACKOFF
    move_entry(ctx, name, event, QueueEntry(part, entry.priority, ctx.place, failures, rejected_by, until, error))
    if error:
        ctx.wake_after(name, until - ctx.now, actor=PASS)
    elif timeout is not None:
        ctx.wake_after(name, timeout, periodic=part == UNSCHEDULABLE, actor=PASS)


def move_to_active_or_backoff(ctx: TurnContext, name: str, event: QueueEvent, entry: QueueEntry) -> None:
    """Move a waiting pod to the active part, or to the back-off part while its back-off lasts."""
    until = entry.until
    if until is not None and until > ctx.now:
        move_entry(ctx, name, event, evolve(entry, part=BACKOFF, order=ctx.place))
        ctx.wake_after(name, until - ctx.now, actor=PASS)
    else:
        move_entry(ctx, name, event, evolve(entry, part=ACTIVE, order=ctx.place, until=None))
        ctx.cancel_wake_up(name, PASS)


def sync_entry(ctx: TurnContext, key: Key, old: Pod | None, new: Pod | None) -> None:
    """Add a pod that wants a node to the queue, and remove one that is bound, ended or deleted."""
    name = f"{key.namespace}/{key.name}"
    entry: QueueEntry | None = ctx.note(QUEUE, name)
    if new is None or new.spec.node_name or new.terminal:
        if entry is not None and entry.part != BINDING:
            remove_from_queue(ctx, name, QueueEvent.POD_DELETED)
        return
    if (new.spec.scheduler_name or RECORDER) != RECORDER:
        return
    gated = bool(new.spec.scheduling_gates)
    replaced = old is not None and old.metadata.uid != new.metadata.uid
    if entry is None or (replaced and entry.part != BINDING):
        event = QueueEvent.POD_ADDED if entry is None else QueueEvent.POD_REPLACED
        move_entry(ctx, name, event, QueueEntry(GATED if gated else ACTIVE, new.spec.priority or 0, ctx.place))
    elif entry.part == GATED and not gated:
        move_entry(ctx, name, QueueEvent.GATES_REMOVED, evolve(entry, part=ACTIVE, order=ctx.place))


def move_pods_on_event(ctx: TurnContext, profile: Profile, key: Key, old: Any, new: Any) -> None:
    """Move the unschedulable pods that a change may help, as the plugins that rejected them declare."""
    if queue_of(ctx).rejected:
        for event in events_of(key, old, new):
            _move_pods(ctx, profile, event)


def _move_pods(ctx: TurnContext, profile: Profile, event: ClusterEvent) -> None:
    """Ask the queueing hints pod by pod, in the order of names; pods without a hint for this event are skipped."""
    hints: dict[str, tuple[QueueingHint, ...]] = {}
    for rejected_by, names in queue_of(ctx).rejected.items():
        if declared := hints_for(profile, event.kind, event.action, rejected_by):
            hints |= dict.fromkeys(names if not event.only_pod else names & {event.only_pod}, declared)
    for name in sorted(hints):
        entry: QueueEntry = ctx.note(QUEUE, name)
        pod = ctx.seen.at(pod_key_of_entry(name))
        concerned = event.max_priority is None or entry.priority <= event.max_priority
        if pod is not None and concerned and any(hint.hint_fn(pod, event.old, event.new) for hint in hints[name]):
            move_to_active_or_backoff(ctx, name, QueueEvent.CLUSTER_EVENT, entry)


@lru_cache(maxsize=1024)
def hints_for(profile: Profile, kind: str, action: Action, rejected_by: tuple[str, ...]) -> tuple[QueueingHint, ...]:
    """Return the hints for an event of the plugins that rejected a pod; without any plugin the pod waits for a node."""
    plugins = [enabled.plugin for enabled in profile.plugins if enabled.name in rejected_by]
    declared = [hint for plugin in plugins for hint in registered_events(plugin)]
    return tuple(hint for hint in declared or (NODE_ADDED,) if hint.kind == kind and hint.action & action)


def registered_events(plugin: Any) -> tuple[QueueingHint, ...]:
    """Return the events that a plugin declares, and changes of taints if it declares only other events of nodes."""
    declared: tuple[QueueingHint, ...] = tuple(getattr(plugin, "events_to_register", ()))
    node_actions = [hint.action for hint in declared if hint.kind == "Node"]
    waits_for_nodes = any(action & Action.ADD for action in node_actions)
    waits_for_taints = any(action & Action.NODE_TAINT for action in node_actions)
    return (*declared, TAINT_CHANGED) if waits_for_nodes and not waits_for_taints else declared
