"""How pods move between the parts of the queue, and which event moves whom.

A pod that was rejected hears of the events that the plugins which rejected it declare, and of no others; what they
declare stands beside each rule. Mirrors `isPodWorthRequeuing` and `buildQueueingHintMap` (kube-scheduler v1.36.2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs

from ...api.kinds.pod import Pod
from ...world.component import TurnContext
from ...world.log import Key
from ..framework.cluster_event import Action, ClusterEvent, events_of
from ..framework.extension_points import QueueingHint
from ..framework.profile import Profile
from . import scheduling_queue as queue
from .scheduling_queue import QUEUE, RECORDER, QueueEntry, SchedulingQueue

PASS = "scheduling pass"  # noqa: S105 - no password
CYCLE = "cycle"  # the sort of note that a pass leaves between its two turns
FLUSH = 300.0  # seconds after which an unschedulable pod is tried again, whatever happened

FIRST_NODE = QueueingHint("Node", "a node appears", action=Action.ADD)
"""What pods wait for that nobody rejected: there was no node."""
TAINT = QueueingHint("Node", "a taint changes or a node is uncordoned", action=Action.NODE_TAINT)
"""What every plugin hears that waits for new nodes and says nothing of taints: once such nodes were overlooked."""


def queue_of(ctx: TurnContext) -> SchedulingQueue:
    """Return the scheduling queue."""
    waiting = ctx.views["queue"]
    assert isinstance(waiting, SchedulingQueue)
    return waiting


def pod_key_of_entry(name: str) -> Key:
    """Return the key of a pod by its name in the queue."""
    namespace, _, pod = name.partition("/")
    return Key("Pod", namespace, pod)


def add_to_queue(ctx: TurnContext, name: str, entry: QueueEntry) -> None:
    """Put a pod into a part of the queue, behind those that are there."""
    ctx.remember(QUEUE, name, attrs.evolve(entry, order=ctx.place))


def remove_from_queue(ctx: TurnContext, name: str) -> None:
    """Take a pod out of the queue, with all that a pass had begun."""
    ctx.remember(QUEUE, name, None)
    ctx.remember(CYCLE, name, None)
    ctx.cancel_wake(name, PASS)


def requeue(
    ctx: TurnContext, name: str, part: str, *, rejected_by: tuple[str, ...] = (), after: float | None = FLUSH
) -> None:
    """Put a pod that was not placed into a part of the queue; but for back-off it is tried again after `after` s."""
    entry: QueueEntry = ctx.note(QUEUE, name)
    failures = min(entry.failures + 1, queue.MOST_FAILURES)
    until = queue.back_at(ctx.now, failures)
    error = part == queue.BACKOFF
    add_to_queue(ctx, name, QueueEntry(part, entry.priority, 0, failures, rejected_by, until, error))
    if error:
        ctx.wake(name, until - ctx.now, actor=PASS)
    elif after is not None:
        ctx.wake(name, after, periodic=part == queue.UNSCHEDULABLE, actor=PASS)


def move_to_active_or_backoff(ctx: TurnContext, name: str, entry: QueueEntry) -> None:
    """Let a pod that waits be tried again: at once, or when its back-off has ended."""
    until = entry.until
    if until is not None and until > ctx.now:
        add_to_queue(ctx, name, attrs.evolve(entry, part=queue.BACKOFF))
        ctx.wake(name, until - ctx.now, actor=PASS)
    else:
        add_to_queue(ctx, name, attrs.evolve(entry, part=queue.ACTIVE, until=None))
        ctx.cancel_wake(name, PASS)


def sync_entry(ctx: TurnContext, key: Key, old: Pod | None, new: Pod | None) -> None:
    """Keep one pod's entry: it enters when it wants a place, and leaves when it has one or is gone."""
    name = f"{key.namespace}/{key.name}"
    entry: QueueEntry | None = ctx.note(QUEUE, name)
    if new is None or new.spec.node_name or new.terminal:
        if entry is not None and entry.part != queue.BINDING:
            remove_from_queue(ctx, name)
        return
    if (new.spec.scheduler_name or RECORDER) != RECORDER:
        return
    gated = bool(new.spec.scheduling_gates)
    another = old is not None and old.metadata.uid != new.metadata.uid
    if entry is None or (another and entry.part != queue.BINDING):
        part = queue.GATED if gated else queue.ACTIVE
        ctx.remember(QUEUE, name, QueueEntry(part, new.spec.priority or 0, ctx.place))
    elif entry.part == queue.GATED and not gated:
        add_to_queue(ctx, name, attrs.evolve(entry, part=queue.ACTIVE))


def move_pods_on_event(ctx: TurnContext, profile: Profile, key: Key, old: Any, new: Any) -> None:
    """Wake the unschedulable pods that a change may help, as the plugins that rejected them declare."""
    if queue_of(ctx).rejected:
        for event in events_of(key, old, new):
            _wake_for(ctx, profile, event)


def _wake_for(ctx: TurnContext, profile: Profile, event: ClusterEvent) -> None:
    """Ask the hints, pod by pod in the order of names; pods whose plugins do not listen are not even looked at."""
    hints: dict[str, tuple[QueueingHint, ...]] = {}
    for by, names in queue_of(ctx).rejected.items():
        if declared := hints_for(profile, event.kind, event.action, by):
            hints |= dict.fromkeys(names if not event.only_pod else names & {event.only_pod}, declared)
    for name in sorted(hints):
        entry: QueueEntry = ctx.note(QUEUE, name)
        pod = ctx.seen.at(pod_key_of_entry(name))
        concerned = event.max_priority is None or entry.priority <= event.max_priority
        if pod is not None and concerned and any(hint.hint_fn(pod, event.old, event.new) for hint in hints[name]):
            move_to_active_or_backoff(ctx, name, entry)


@lru_cache(maxsize=1024)
def hints_for(profile: Profile, kind: str, action: Action, rejected_by: tuple[str, ...]) -> tuple[QueueingHint, ...]:
    """Return what the plugins that rejected a pod declare of an event; a pod that none rejected waits for a node."""
    declared = [wake for plugin in profile.plugins if plugin.name in rejected_by for wake in registered_events(plugin.plugin)]
    return tuple(wake for wake in declared or (FIRST_NODE,) if wake.kind == kind and wake.action & action)


def registered_events(plugin: Any) -> tuple[QueueingHint, ...]:
    """Return what a plugin waits for: as it declares, and changes of taints if it waits for nodes otherwise."""
    declared: tuple[QueueingHint, ...] = tuple(getattr(plugin, "events_to_register", ()))
    of_nodes = [wake.action for wake in declared if wake.kind == "Node"]
    overlooks = any(on & Action.ADD for on in of_nodes) and not any(on & Action.NODE_TAINT for on in of_nodes)
    return (*declared, TAINT) if overlooks else declared
