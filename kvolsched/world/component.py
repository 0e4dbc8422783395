"""Components: what a process has seen (its watch may be stale) and remembers, and what its actors do in one turn.

A component is a process: one cursor per watched kind, its notes, one identity. Its actors are its routines and share
all three. Actors of different components interact only through API objects. A delivery moves a cursor and brings the
net change per key; for a cursor at the start of the log (a new or restarted process) it brings every object, as a list
does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from kvolsched.api.kinds.meta import EMPTY, Frozen, maker

from .apiserver import CLOCK, ApiServer, CommittedWrite, RefusedWrite, Write, moment
from .changes import Group, NetChanges
from .digest import IGNORED_KINDS, MODULUS, object_fingerprint
from .log import CURSOR, ByKind, Delivery, Key, Log, LogKey, Note, in_order
from .view import ActivationCondition, InformerCache, View, apply_list
from .work_queue import WakeUp, WorkItem, WorkQueue

_tuple = tuple.__new__  # makes a named tuple in half the time of calling its class
_work_item = maker(WorkItem)


class Actor(Protocol):
    """A routine of a component.

    `on_change` is called with every net change of a delivery (of `reacts_to` kinds, if the actor has that attribute and
    it is not None), `on_wake_up` with every wake-up; both only write notes. An actor may have a method
    `concerning(ctx, deliveries)` that picks from a long delivery the changes of which `on_change` would write notes.
    `ready_causes` lists (order, cause) that the actor may take up now, the first alone unless `every`; they depend on
    the notes of the component and of the world, and on what the component has seen.
    `act` does one turn of a cause with at most one write, and returns whether the cause goes on in another turn.
    """

    @property
    def name(self) -> str: ...
    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None: ...
    def on_wake_up(self, ctx: TurnContext, name: str) -> None: ...
    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]: ...
    def act(self, ctx: TurnContext, cause: str) -> bool: ...


@attrs.frozen
class Component:
    """The definition of a process: its name (its identity), the kinds it watches, its actors, views and options.

    `activation` makes the condition under which it watches (see `activation.py`); None: always.
    `needs_poll` says whether something outside the API has changed that a periodic wake-up of it would find; without
    such a thing a run does not wait for periodic wake-ups.
    `shared` is what processes of it share in all forks, so that it is made once; no decision depends on it.
    `reads_clock` says whether its decisions depend on the time itself, not only on waits: the time is in digests then.
    """

    name: str
    watches: tuple[str, ...]
    actors: tuple[Actor, ...]
    views: Callable[[InformerCache], Mapping[str, View]] = lambda _seen: {}
    config: Frozen = EMPTY
    activation: Callable[[], ActivationCondition] | None = None
    needs_poll: Callable[[TurnContext], bool] | None = None
    reads_clock: bool = False
    shared: Any = attrs.field(default=None, eq=False, repr=False)


class Process:
    """A running component. Mutable; only changes of the log move it.

    `pending` holds, for each kind with changes not yet seen, the position of the oldest one; `delivered` the changes of
    the last move of a cursor; `seen_sum` the sum of the fingerprints of all seen objects, `seen_changes` the number of
    their changes, both if `tracking`; `watching` whether it watches yet; `oldest_task` the position of its oldest task,
    if `knows_oldest_task` since its last change; `contexts` are those in which its actors are asked and hear changes.
    """

    def __init__(self, component: Component, log: Log) -> None:
        self.name = component.name
        self.log = log
        self.delivered: list[Delivery] = []
        self.tracking = False
        self.seen_changes = 0
        self.define(component)

    def define(self, component: Component) -> None:
        """Run a definition of the component, whose views are then to be built (`rebuild`)."""
        self.component = component
        self.cursors = {kind: Note(component.name, CURSOR, kind) for kind in component.watches}
        self.pending: dict[str, int] = {}
        self.reads_clock = component.reads_clock
        self.activation = component.activation() if component.activation is not None else None
        self.watching = self.activation is None
        self.oldest_task: int | None = None
        self.contexts: list[tuple[Actor, TurnContext]] | None = None

    def reset(self) -> None:
        """Replace every view by an empty one."""
        actors = self.component.actors
        self.actors = {actor.name: actor for actor in reversed(actors)}  # the first of a name
        self.knows_oldest_task = False
        self.contexts = None
        self.seen_sum = 0
        self.seen = InformerCache(self.component.watches)
        self.work_queues = {actor.name: WorkQueue(f"todo {actor.name}") for actor in actors}
        self.plans = {actor.name: WorkQueue(f"plan {actor.name}") for actor in actors}
        self.wake_ups = WorkQueue("wake", order=lambda wake: (wake.at, wake.order))
        self.views: dict[str, View] = dict(self.component.views(self.seen))
        self.listeners: dict[str, list[Callable[[LogKey, Any, Any], None]]] = {}
        self.followers: dict[str, list[View]] = {}
        queues = (*self.work_queues.values(), *self.plans.values(), self.wake_ups)
        views: tuple[View, ...] = (self.seen, *queues, *self.views.values())
        for view in views:
            for kind_or_sort in sorted(view.follows):
                self.listeners.setdefault(kind_or_sort, []).append(view.apply)
                self.followers.setdefault(kind_or_sort, []).append(view)

    def rebuild(self, stored: ByKind | None = None) -> None:
        """Build every view from the log, whose objects may be sorted already: the definition that a move must meet."""
        self.reset()
        self.pending = {}
        self._rebuild_condition(self.log.by_kind() if stored is None else stored)
        for kind in self.component.watches:
            cursor = self.log.notes.get(self.cursors[kind], 0)
            if cursor:
                self._take_list(kind, cursor)
            if self.watching:
                self.update_pending(kind, cursor)
        for note in sorted(note for note in self.log.notes if note.component == self.name):
            for apply in self.listeners.get(note.sort, ()):
                apply(note, None, self.log.notes[note])

    def on_note_change(self, note: Note, old: Any, new: Any) -> None:
        """Update the views after a change of one of this component's notes; a moved cursor delivers changes."""
        self.knows_oldest_task = False
        if note[1] == CURSOR:
            if note[2] in self.cursors:  # an earlier definition of the component may have watched more
                self._move_cursor(note[2], old or 0, new or 0)
            return
        for apply in self.listeners.get(note[1], ()):
            apply(note, old, new)

    def mark_pending(self, kind: str, place: int, *, undone: bool) -> None:
        """Note that a change of a watched kind is pending, or no longer if it was undone."""
        if not self.watching:
            return
        if not undone:
            if kind not in self.pending:
                self.pending[kind] = place
                self.knows_oldest_task = False
        elif self.pending.get(kind) == place:
            del self.pending[kind]
            self.knows_oldest_task = False

    def jump(self, differences: Mapping[Group, NetChanges],
             between: dict[tuple[str, int, int], list[tuple[Any, Any, Any]]]) -> None:
        """Move the views after the log has jumped, by the net changes of what is stored and of the component's notes.

        `between` has the net changes of a kind between two positions, once found; most cursors stand at the same ones.
        """
        own = {name[1]: columns for name, columns in differences.items() if len(name) > 1 and name[0] == self.name}
        if CURSOR in own and not any(map(self.log.notes.get, self.cursors.values())):
            self._forget_seen()
            own.clear()
        elif CURSOR in own:
            for note, old, new in own.pop(CURSOR).rows:
                for key, before, after in self._seen_between(note[2], old or 0, new or 0, between):
                    self.apply_seen(note[2], key, before, after)
        if self.activation is not None:
            follows = self.activation.follows
            stored = [columns for name, columns in differences.items()
                      if name[-1] in follows and (len(name) == 1 or name[0] == WORLD)]
            self.apply_to_condition(row for columns in stored for row in columns.rows)
        for sort, columns in own.items():
            for apply in self.listeners.get(sort, ()):
                for row in columns.rows:
                    apply(*row)
        self.pending.clear()
        if self.watching:
            for kind in self.component.watches:
                self.update_pending(kind, self.log.notes.get(self.cursors[kind], 0))

    def _forget_seen(self) -> None:
        """Build every view from the notes alone, back where nothing was seen: quicker than to take it all back."""
        self.reset()
        self.seen_changes += 1
        for note, value in self.log.notes.items():
            if note[0] == self.name:
                for apply in self.listeners.get(note[1], ()):
                    apply(note, None, value)

    def _seen_between(self, kind: str, start: int, stop: int,
                      between: dict[tuple[str, int, int], list[tuple[Any, Any, Any]]]) -> list[tuple[Any, Any, Any]]:
        """Return the net changes of what is seen of a kind, between two positions of its cursor."""
        if kind not in self.cursors:  # an earlier definition of the component watched it
            return []
        if not start:
            return [(key, None, obj) for _, key, _, obj in self.net_changes(kind, 0, stop)]
        if not stop:
            return [(key, seen, None) for key, seen in self.seen.kinds[kind].items()]
        if (kind, start, stop) not in between:
            between[kind, start, stop] = self.log.differences_of_kind(kind, start, stop)
        return between[kind, start, stop]

    def on_stored_change(self, key: LogKey, old: Any, new: Any) -> None:
        """Update the activation condition after a stored change; start or stop watching if it switches."""
        assert self.activation is not None
        self.activation.apply(key, old, new)
        if self.activation.is_met != self.watching:
            self.start_or_stop_watching()

    def due_wake_ups(self, now: float) -> list[tuple[tuple[float, int], str]]:
        """Return ((time, order), name) of the wake-ups whose time has come, in order."""
        return self.wake_ups.up_to((now, math.inf)) if self.wake_ups.items else []

    def start_or_stop_watching(self) -> None:
        """Watch if the condition is met or something has been seen already; every object is pending at the start."""
        was_watching, self.watching = self.watching, self._should_watch()
        self.knows_oldest_task = False
        if not self.watching:
            self.pending.clear()
        elif not was_watching:
            for kind in self.component.watches:
                self.update_pending(kind, self.log.notes.get(self.cursors[kind], 0))

    def _rebuild_condition(self, stored: ByKind) -> None:
        """Build the activation condition from what is stored."""
        if self.component.activation is None:
            return
        self.activation = self.component.activation()
        for kind in stored.keys() & self.activation.follows:
            for key, obj in stored[kind]:
                self.activation.apply(key, None, obj)
        for note, value in self.log.notes.items():
            if note[0] == WORLD and note[1] in self.activation.follows:
                self.activation.apply(note, None, value)
        self.start_or_stop_watching()

    def apply_to_condition(self, changes: Iterable[tuple[LogKey, Any, Any]]) -> None:
        """Update the activation condition only; the caller sets what is pending."""
        assert self.activation is not None
        for key, old, new in changes:
            if (key[0] if type(key) is Key else key[1]) in self.activation.follows:
                self.activation.apply(key, old, new)
        self.watching = self._should_watch()

    def _should_watch(self) -> bool:
        if self.activation is None or self.activation.is_met:
            return True
        return any(self.log.notes.get(cursor) for cursor in self.cursors.values())

    def net_changes(self, kind: str, start: int, stop: int) -> list[Delivery]:
        """Return the net change per key between two positions, in the order of the last change of each key."""
        if start == stop:
            return []
        if start > stop:
            forward = self.net_changes(kind, stop, start)
            return [Delivery(place, key, new, old) for place, key, old, new in reversed(forward)]
        first: dict[Any, Any] = {}
        last: dict[Any, tuple[int, Any]] = {}
        if start == 0:  # a list, not a watch
            return self.log.listed(kind, stop).deliveries
        only = self.log.only_change(kind, start)
        if only is not None and only[0] < stop:
            return [_tuple(Delivery, only)]
        for place, change in self.log.changes_between(kind, start, stop):
            first.setdefault(change.key, change.old)
            last[change.key] = (place, change.new)
        found = [Delivery(place, key, first[key], new) for key, (place, new) in last.items() if first[key] is not new]
        return in_order(found) if len(found) > 1 else found

    def apply_seen(self, kind: str, key: Key, old: Any, new: Any) -> None:
        """Replace one seen object by another in every view that follows its kind."""
        if self.tracking and kind not in IGNORED_KINDS:
            self._track(key, old, new)
        for apply in self.listeners.get(kind, ()):
            apply(key, old, new)

    def _track(self, key: Key, old: Any, new: Any) -> None:
        """Update the sum of the fingerprints of what is seen, and the number of changes."""
        self.seen_changes += 1
        self.seen_sum = (self.seen_sum + object_fingerprint(key, new) - object_fingerprint(key, old)) % MODULUS

    def _move_cursor(self, kind: str, start: int, stop: int) -> None:
        if not start and stop:
            self.delivered = self._take_list(kind, stop)
        else:
            self.delivered = self.net_changes(kind, start, stop)
            tracked = self.tracking and kind not in IGNORED_KINDS
            for _, key, old, new in self.delivered:
                if tracked:
                    self._track(key, old, new)
                for apply in self.listeners[kind]:
                    apply(key, old, new)
        if self.activation is not None:
            self.start_or_stop_watching()
        if stop == self.log.place:  # nothing is left to be delivered
            self.pending.pop(kind, None)
        elif self.watching:
            self.update_pending(kind, stop)

    def _take_list(self, kind: str, stop: int) -> list[Delivery]:
        """Let every view take all objects of a kind of which nothing was seen, and return them as deliveries."""
        objects, deliveries = self.log.listed(kind, stop)
        if self.tracking and kind not in IGNORED_KINDS:
            for key, obj in objects.items():
                self._track(key, None, obj)
        for view in self.followers.get(kind, ()):
            apply_list(view, kind, objects)
        return deliveries

    def update_pending(self, kind: str, cursor: int) -> None:
        """Find the oldest change of a kind from a cursor on, and note it as pending."""
        first = self.log.first_change(kind, cursor)
        if first is None:
            self.pending.pop(kind, None)
        else:
            self.pending[kind] = first


WORLD = "world"  # owner of the notes that belong to no component
ANSWER = "answer to "  # begins the name of the wake-up when a waiting write is answered


class World(Protocol):
    """What a `TurnContext` needs of the world: its log, the API server, the recorder of Events, and draws."""

    log: Log
    server: ApiServer

    def commit(self, component: str, write: Write) -> CommittedWrite | RefusedWrite: ...
    def request_time(self, write: Write) -> float: ...
    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None: ...
    def draw(self, purpose: str, key: str, bound: int, attempt: int) -> int: ...


class TurnContext:
    """What an actor may read and write during one turn: what its component has seen, its notes, and one write.

    `failure` says how the actor failed, "" if it did not; `looked_beyond` whether its decision depends on more than the
    object of its cause, so that other changes may reverse it without queueing the cause again. `calls` are requests to
    others than the API server, such as drivers, with their answers.
    """

    calls: tuple[Any, ...] = ()

    def __init__(self, sim: World, process: Process, actor: Actor) -> None:
        self.sim = sim
        self.log = sim.log
        self.process = process
        self.component = process.name
        self.actor = actor
        self.seen = process.seen
        self.views: Mapping[str, Any] = process.views  # a reader declares the type that its component built
        self.outcomes: list[CommittedWrite | RefusedWrite] = []
        self.reads: list[Key] = []
        self.events = 0
        self.visits = 0  # volumes that were looked at to find one for a claim
        self.words = ""
        self.failure = ""
        self.looked_beyond = False

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.log.notes.get(CLOCK, 0.0))

    @property
    def moment(self) -> str:
        """The present simulated time as manifests write it."""
        return moment(self.log)

    @property
    def place(self) -> int:
        """The present position in the log, used to order notes."""
        return self.log.place

    def note(self, sort: str, name: str) -> Any:
        """Return the component's note of a sort and name, or None."""
        return self.log.notes.get((self.component, sort, name))  # type: ignore[call-overload]  # equal to a Note

    def remember(self, sort: str, name: str, value: Any) -> None:
        """Write a note of a sort and name; None removes it."""
        self.log.write(_tuple(Note, (self.component, sort, name)), value)

    def enqueue(self, cause: str, actor: Actor | None = None) -> None:
        """Enqueue a cause for this actor (or another of the component); one already queued keeps its order."""
        name = (actor or self.actor).name
        if cause not in self.process.work_queues[name].items:
            self.remember(f"todo {name}", cause, _work_item(self.place))

    def dequeue(self, cause: str, actor: str = "") -> None:
        """Remove a cause from the work queue of this actor (or another of the component)."""
        name = actor or self.actor.name
        if cause in self.process.work_queues[name].items:
            self.remember(f"todo {name}", cause, None)

    def wake_after(self, name: str, seconds: float, *, periodic: bool = False, actor: str = "") -> None:
        """Schedule a wake-up of this actor (or another of the component) in some seconds, replacing the old one."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", WakeUp(self.now + seconds, self.place, periodic))

    def cancel_wake_up(self, name: str, actor: str = "") -> None:
        """Remove the wake-up of a name."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", None)

    def commit(self, write: Write) -> CommittedWrite | RefusedWrite:
        """Send a write to the API server and return its outcome.

        Raises:
            RuntimeError: the turn has already made its one write.
        """
        if self.outcomes:
            raise RuntimeError(f"{self.actor.name} tried a second write in one turn: {write.verb} {write.subject}")
        outcome = self.sim.commit(self.process.name, write)
        self.outcomes.append(outcome)
        return outcome

    def must_wait(self, cause: str, write: Write) -> bool:
        """Return whether a slow webhook has yet to answer before this write of a cause is committed or refused.

        The first call starts to wait: the cause is taken up again when the answer comes.
        """
        request = self.note("request", f"{self.actor.name}|{cause}")
        if request == "sent":
            return True
        if request is not None:
            self.remember("request", f"{self.actor.name}|{cause}", None)
            return False
        seconds = self.sim.request_time(write)
        if not seconds:
            return False
        self.remember("request", f"{self.actor.name}|{cause}", "sent")
        self.wake_after(f"{ANSWER}{cause}", seconds)
        self.describe(f"{write.words or f'{write.verb} {write.subject}'}: sent, the answer takes {seconds:g} s")
        return True

    def awaits_answer(self, cause: str) -> bool:
        """Return whether the last write of a cause still waits for its answer."""
        return bool(self.note("request", f"{self.actor.name}|{cause}") == "sent")

    def receive_answer(self, cause: str) -> None:
        """Note that a write is answered, so that its cause is taken up again."""
        if not self.awaits_answer(cause):
            return
        self.remember("request", f"{self.actor.name}|{cause}", "answered")
        if cause not in self.process.plans[self.actor.name].items:
            self.enqueue(cause)

    def get_live(self, key: Key) -> Any:
        """Read an object from the API server instead of the component's cache; the turn's record lists such reads."""
        self.reads.append(key)
        return self.sim.log.objects.get(key)

    def event(self, about: Any, type_: str, reason: str, message: str, source: str = "") -> None:
        """Record an Event about an object; it does not count as the turn's write."""
        self.events += 1
        self.sim.record_event(source or self.process.name, about, type_, reason, message)

    def draw(self, purpose: str, key: str, bound: int, attempt: int = 0) -> int:
        """Return a number below `bound` that depends on seed, purpose, key and attempt only."""
        return self.sim.draw(purpose, key, bound, attempt)

    def describe(self, words: str) -> None:
        """Set the sentence that describes this turn."""
        self.words = words

    def fail(self, words: str) -> None:
        """Set the sentence that says how the actor failed in this turn."""
        self.words = self.failure = words


def seeded_draw(seed: int, purpose: str, key: str, attempt: int, bound: int) -> int:
    """Return hash(seed, purpose, key, attempt) mod `bound`."""
    text = f"{seed}|{purpose}|{key}|{attempt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % bound
