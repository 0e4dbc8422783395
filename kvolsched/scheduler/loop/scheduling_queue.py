"""The scheduling queue: its parts, the moves between them, the back-off of a pod, and which pod is scheduled next.

Every pod that wants a node has one entry, a note, in one part. `QUEUE_MOVES` lists every legal move; `move_entry` makes
them, and nothing else writes entries. `docs/scheduling-queue.md` draws the table. Mirrors kube-scheduler's
SchedulingQueue (v1.36.2): pods are popped by priority, then in order of arrival; back-offs are 1, 2, 4, 8, 10 s. A
rejected pod is moved only by events that the plugins which rejected it declare as `events_to_register`
(`isPodWorthRequeuing`, `buildQueueingHintMap`).
"""

import heapq
import math
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import attrs

from ...api.kinds.meta import evolve, maker
from ...api.kinds.pod import Pod
from ...world.component import TurnContext
from ...world.digest import DIGEST_RANK, DIGEST_WAIT
from ...world.log import Key, LogKey
from ..framework.extension_points import Action, ClusterEvent, QueueingHint, events_of
from ..framework.profile import Profile

QUEUE = "queue"
RECORDER = "default-scheduler"  # the scheduler that pods ask for, and the name its events carry
ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
GATED, DECIDING, WAITING, BINDING = "gated", "deciding", "waiting", "binding"
ABSENT = ""  # not in the queue
PARTS = {
    ACTIVE: "is scheduled as soon as it is the first",
    BACKOFF: "waits for the end of its back-off",
    UNSCHEDULABLE: "waits for a cluster event that may make it schedulable",
    GATED: "has scheduling gates",
    DECIDING: "a node is chosen, nothing is assumed yet (passes of two turns)",
    BINDING: "its binding cycle runs",
    WAITING: "waits for its volumes outside the binding cycle (the design's two passes)",
}
INITIAL_BACKOFF, MAX_BACKOFF = 1.0, 10.0
MAX_FAILURES = 5  # the back-off no longer grows, so failures are not counted further


class QueueEvent(Enum):
    """What moves a pod's entry."""

    POD_ADDED = "pod added"
    GATES_REMOVED = "scheduling gates removed"
    POD_DELETED = "pod deleted, ended or bound"
    POD_REPLACED = "pod deleted and created again"
    POD_SKIPPED = "popped pod is deleted or bound"
    NODE_CHOSEN = "node chosen, pass of two turns"
    NODE_RESERVED = "node chosen, binding cycle starts"
    NO_NODE_FITS = "no node fits"
    ATTEMPT_FAILED = "error in the scheduling or binding cycle"
    VOLUMES_BINDING = "volume binding started"
    BINDING_ENDED = "pod bound, or deleted while binding"
    VOLUMES_CHANGED = "a claim or volume of the pod changes"
    CLUSTER_EVENT = "a cluster event may make it schedulable"
    BACKOFF_OVER = "end of back-off"
    LEFTOVER = "300 s without a helpful event"
    RESYNC = "resync"


class QueueMove(NamedTuple):
    """A row of the table: an event, the parts that it moves from and to, and upstream's function for it."""

    event: QueueEvent
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    upstream: str


NOT_BINDING = (ACTIVE, BACKOFF, UNSCHEDULABLE, GATED, DECIDING, WAITING)
QUEUE_MOVES = (
    QueueMove(QueueEvent.POD_ADDED, (ABSENT,), (ACTIVE, GATED), "Add, PreEnqueue"),
    QueueMove(QueueEvent.GATES_REMOVED, (GATED,), (ACTIVE,), "Update"),
    QueueMove(QueueEvent.POD_DELETED, NOT_BINDING, (ABSENT,), "Delete"),
    QueueMove(QueueEvent.POD_REPLACED, NOT_BINDING, (ACTIVE, GATED), "Delete, Add"),
    QueueMove(QueueEvent.POD_SKIPPED, (ACTIVE, BACKOFF), (ABSENT,), "Pop, skipPodSchedule"),
    QueueMove(QueueEvent.NODE_CHOSEN, (ACTIVE, BACKOFF), (DECIDING,), "Pop"),
    QueueMove(QueueEvent.NODE_RESERVED, (ACTIVE, BACKOFF, DECIDING), (BINDING,), "Pop, assume"),
    QueueMove(QueueEvent.NO_NODE_FITS, (ACTIVE, BACKOFF), (UNSCHEDULABLE,), "AddUnschedulableIfNotPresent"),
    QueueMove(QueueEvent.ATTEMPT_FAILED, (ACTIVE, BACKOFF, BINDING), (BACKOFF,), "AddUnschedulableIfNotPresent"),
    QueueMove(QueueEvent.VOLUMES_BINDING, (BINDING,), (WAITING,), ""),
    QueueMove(QueueEvent.BINDING_ENDED, (BINDING,), (ABSENT,), "Done"),
    QueueMove(QueueEvent.VOLUMES_CHANGED, (WAITING,), (ACTIVE, BACKOFF), ""),
    QueueMove(QueueEvent.CLUSTER_EVENT, (UNSCHEDULABLE,), (ACTIVE, BACKOFF), "MoveAllToActiveOrBackoffQueue"),
    QueueMove(QueueEvent.BACKOFF_OVER, (BACKOFF,), (ACTIVE,), "flushBackoffQCompleted"),
    QueueMove(QueueEvent.LEFTOVER, (UNSCHEDULABLE,), (ACTIVE,), "flushUnschedulablePodsLeftover"),
    QueueMove(QueueEvent.RESYNC, (WAITING,), (ACTIVE,), ""),
)
LEGAL_MOVES = frozenset(
    (move.event, source, target) for move in QUEUE_MOVES for source in move.sources for target in move.targets
)
TIMEOUTS = {BACKOFF: QueueEvent.BACKOFF_OVER, UNSCHEDULABLE: QueueEvent.LEFTOVER, WAITING: QueueEvent.RESYNC}
"""The event when the time of a pod in this part is over."""


class IllegalMove(Exception):
    """An event that does not move an entry from its part to the requested one: an error in this package."""


@attrs.frozen
class QueueEntry:
    """The queue entry of one pod.

    `order` is the position in the log at which it came to its part; `failures` counts failed attempts up to
    `MAX_FAILURES`; `until` is the end of its back-off (simulated s); `error`: the last attempt ended in an error.
    """

    part: str
    priority: int = 0
    order: int = attrs.field(default=0, metadata=DIGEST_RANK)
    failures: int = 0
    rejected_by: tuple[str, ...] = ()
    until: float | None = attrs.field(default=None, metadata=DIGEST_WAIT)
    error: bool = False


def backoff(failures: int) -> float:
    """Return the back-off in seconds after this many failures in a row."""
    return min(INITIAL_BACKOFF * 2.0 ** (failures - 1), MAX_BACKOFF) if failures else 0.0


def end_of_backoff(now: float, failures: int) -> float:
    """Return when the back-off of a pod that fails now ends: at the next tick of the 1 s timer."""
    return math.floor(now + backoff(failures)) + 1.0


def move_entry(ctx: TurnContext, name: str, event: QueueEvent, entry: QueueEntry | None) -> None:
    """Write one pod's entry; None removes it.

    Raises:
        IllegalMove: `QUEUE_MOVES` has no such move.
    """
    old: QueueEntry | None = ctx.note(QUEUE, name)
    source, target = ABSENT if old is None else old.part, ABSENT if entry is None else entry.part
    if (event, source, target) not in LEGAL_MOVES:
        raise IllegalMove(f"{name}: {event.value!r} does not move a pod from {source!r} to {target!r}")
    ctx.remember(QUEUE, name, entry)


class SchedulingQueue:
    """The entries by part, with heaps of the active and back-off parts. Mutable view over the queue notes.

    `rejected` has the names of the unschedulable pods by the plugins that rejected them.
    """

    def __init__(self) -> None:
        self.follows = frozenset([QUEUE])
        self.entries: dict[str, QueueEntry] = {}
        self.parts: dict[str, dict[str, QueueEntry]] = {}
        self.rejected: dict[tuple[str, ...], set[str]] = {}
        self._heaps: dict[str, list[tuple[Any, str]]] = {ACTIVE: [], BACKOFF: []}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Apply a change of one entry."""
        name = key[2]
        if old is not None:
            self.parts.get(old.part, {}).pop(name, None)
            if old.part == UNSCHEDULABLE:
                names = self.rejected[old.rejected_by]
                names.discard(name)
                if not names:
                    del self.rejected[old.rejected_by]
        if new is None:
            self.entries.pop(name, None)
            return
        self.entries[name] = new
        self.parts.setdefault(new.part, {})[name] = new
        if new.part == UNSCHEDULABLE:
            self.rejected.setdefault(new.rejected_by, set()).add(name)
        if new.part in self._heaps and not new.error:
            heapq.heappush(self._heaps[new.part], (self._rank(new), name))

    @staticmethod
    def _rank(entry: QueueEntry) -> Any:
        if entry.part == BACKOFF:
            return (entry.until or 0.0, -entry.priority, entry.order)
        return (-entry.priority, entry.order)

    def first(self, part: str) -> tuple[str, QueueEntry] | None:
        """Return the first pod of the active part, or the one whose back-off ends first (without pods after errors)."""
        heap = self._heaps[part]
        if not heap:
            return None
        entries = self.parts.get(part, {})
        while heap:
            rank, name = heap[0]
            entry = entries.get(name)
            if entry is not None and not entry.error and self._rank(entry) == rank:
                return name, entry
            heapq.heappop(heap)
        return None

    def of(self, part: str) -> list[tuple[str, QueueEntry]]:
        """Return the pods of one part, sorted by name."""
        return sorted(self.parts.get(part, {}).items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchedulingQueue) and self.entries == other.entries

    __hash__ = None  # type: ignore[assignment]


queue_entry = maker(QueueEntry)
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
    move_entry(ctx, name, event, queue_entry(part, entry.priority, ctx.place, failures, rejected_by, until, error))
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
        move_entry(ctx, name, event, queue_entry(GATED if gated else ACTIVE, new.spec.priority or 0, ctx.place))
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
