"""Components and their actors: what a process sees, what it remembers, and the hand an actor holds for one turn.

A component is a process: one cursor per kind it watches, one space of notes, one identity. Its actors are its
routines and share all three. Actors of different components meet only in the API objects. A delivery moves a cursor
and brings the net change per key; from the start of the log (a new or restarted process) it brings everything there
is, as a list does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import attrs

from kvolsched.api.kinds.meta import EMPTY, Frozen

from .activation import ActivationCondition
from .apiserver import CLOCK, ApiServer, CommittedWrite, RefusedWrite, Write, moment
from .digest import IGNORED_KINDS, MODULUS, object_fingerprint
from .log import Key, Log, LogKey, Note
from .view import InformerCache, View
from .work_queue import WakeUp, WorkItem, WorkQueue


class Actor(Protocol):
    """A routine of a component.

    `notice` hears of every net change that a delivery brings, `due` of a wake-up; both only note what is to be done.
    `ready` lists (order, cause) of what the actor may take up now, the default first; only that one unless `every`.
    `act` does one turn of a cause, makes at most one write, and says whether the cause goes on in another turn.
    """

    @property
    def name(self) -> str: ...
    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None: ...
    def on_wake_up(self, ctx: TurnContext, name: str) -> None: ...
    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]: ...
    def act(self, ctx: TurnContext, cause: str) -> bool: ...


@attrs.frozen
class Component:
    """What a process is made of: its name (its identity), what it watches, its actors, its own views, its options.

    `need` makes a view that says when it begins to watch (see `need.py`); None: from the start.
    """

    name: str
    watches: tuple[str, ...]
    actors: tuple[Actor, ...]
    views: Callable[[InformerCache], Mapping[str, View]] = lambda _seen: {}
    config: Frozen = EMPTY
    activation: Callable[[], ActivationCondition] | None = None


class Delivery(NamedTuple):
    """What a delivery brings of one key: the net change, and the place of the last change in it."""

    place: int
    key: Key
    old: Any
    new: Any


class Process:
    """A running component. Mutable; follows the log and is moved by nothing else.

    `pending` holds, for each kind of which there is something yet to see, the place of the oldest such change;
    `arrived` what the last move of a cursor brought; `sum` the meaning of all it has seen, if `tracking`; `listening`
    whether it watches yet.
    """

    def __init__(self, component: Component, log: Log) -> None:
        self.component = component
        self.name = component.name
        self.log = log
        self.cursors = {kind: Note(component.name, "cursor", kind) for kind in component.watches}
        self.pending: dict[str, int] = {}
        self.delivered: list[Delivery] = []
        self.tracking = False
        self.activation = component.activation() if component.activation is not None else None
        self.watching = self.activation is None
        self.reset()

    def reset(self) -> None:
        """Empty every view."""
        actors = self.component.actors
        self.seen_sum = 0
        self.seen = InformerCache(self.component.watches)
        self.work_queues = {actor.name: WorkQueue(f"todo {actor.name}") for actor in actors}
        self.plans = {actor.name: WorkQueue(f"plan {actor.name}") for actor in actors}
        self.wake_ups = WorkQueue("wake", order=lambda wake: (wake.at, wake.order))
        self.views: dict[str, View] = dict(self.component.views(self.seen))
        self.listeners: dict[str, list[Callable[[LogKey, Any, Any], None]]] = {}
        views: list[View] = [self.seen, *self.work_queues.values(), *self.plans.values(), self.wake_ups, *self.views.values()]
        for view in views:
            for word in sorted(view.follows):
                self.listeners.setdefault(word, []).append(view.apply)

    def rebuild(self) -> None:
        """Build every view anew from the log: the definition that every move must meet."""
        self.reset()
        self.pending = {}
        self._consider()
        for kind in self.component.watches:
            cursor = self.log.notes.get(self.cursors[kind], 0)
            for _, key, _, new in self.net_changes(kind, 0, cursor):
                self.apply_seen(kind, key, None, new)
            if self.watching:
                self.update_pending(kind, cursor)
        for note in sorted(note for note in self.log.notes if note.component == self.name):
            for apply in self.listeners.get(note.sort, ()):
                apply(note, None, self.log.notes[note])

    def on_note_change(self, note: Note, old: Any, new: Any) -> None:
        """Follow a change of one of this component's notes; a cursor's takes what is seen along."""
        if note[1] == "cursor":
            self._move(note[2], old or 0, new or 0)
            return
        for apply in self.listeners.get(note[1], ()):
            apply(note, old, new)

    def mark_pending(self, kind: str, place: int, *, undone: bool) -> None:
        """Follow a change of an API object of a watched kind: from now on there is something to see, or no longer."""
        if not self.watching:
            return
        if not undone:
            self.pending.setdefault(kind, place)
        elif self.pending.get(kind) == place:
            del self.pending[kind]

    def on_stored_change(self, key: LogKey, old: Any, new: Any) -> None:
        """Follow a change of what this component's need is about; who begins to listen has everything yet to see."""
        assert self.activation is not None
        self.activation.apply(key, old, new)
        if self.activation.is_met != self.watching:
            self.start_or_stop_watching()

    def start_or_stop_watching(self) -> None:
        """Listen if the need is met or something has been seen already, else await nothing."""
        before, self.watching = self.watching, self._listens()
        if not self.watching:
            self.pending.clear()
        elif not before:
            for kind in self.component.watches:
                self.update_pending(kind, self.log.notes.get(self.cursors[kind], 0))

    def _consider(self) -> None:
        """Build the need anew from what is stored."""
        if self.component.activation is None:
            return
        self.activation = self.component.activation()
        for key, obj in self.log.objects.items():
            if key[0] in self.activation.follows:
                self.activation.apply(key, None, obj)
        for note, value in self.log.notes.items():
            if note[0] == WORLD and note[1] in self.activation.follows:
                self.activation.apply(note, None, value)
        self.start_or_stop_watching()

    def rebuild_condition(self, changes: Sequence[tuple[LogKey, Any, Any]]) -> None:
        """Follow changes of which nothing is to be expected: what there is yet to see is set elsewhere."""
        assert self.activation is not None
        for key, old, new in changes:
            if (key[0] if type(key) is Key else key[1]) in self.activation.follows:
                self.activation.apply(key, old, new)
        self.watching = self._listens()

    def _listens(self) -> bool:
        notes = self.log.notes
        return self.activation is None or self.activation.is_met or any(notes.get(cursor) for cursor in self.cursors.values())

    def net_changes(self, kind: str, start: int, stop: int) -> list[Delivery]:
        """Return the net change per key that moving a cursor brings, in the order of the last change of each key."""
        if start == stop:
            return []
        if start > stop:
            forth = self.net_changes(kind, stop, start)
            return [Delivery(place, key, new, old) for place, key, old, new in reversed(forth)]
        first: dict[Any, Any] = {}
        last: dict[Any, tuple[int, Any]] = {}
        if start == 0:  # a list, not a watch: what there is now, less what has come since `stop`
            for key, obj in self.log.objects.items():
                if key[0] == kind:
                    last[key] = (obj.metadata.resource_version, obj)
            if stop < self.log.place:
                for change in reversed([change for _, change in self.log.changes_between(kind, stop, self.log.place)]):
                    old = change.old
                    last[change.key] = (old.metadata.resource_version if old is not None else 0, old)
            found = [Delivery(place, key, None, obj) for key, (place, obj) in last.items() if obj is not None]
            return sorted(found, key=_order)
        changes = list(self.log.changes_between(kind, start, stop))
        if len(changes) == 1:
            place, only = changes[0]
            return [Delivery(place, only.key, only.old, only.new)]  # type: ignore[arg-type]
        for place, change in changes:
            first.setdefault(change.key, change.old)
            last[change.key] = (place, change.new)
        found = [Delivery(place, key, first[key], new) for key, (place, new) in last.items() if first[key] is not new]
        return sorted(found, key=_order) if len(found) > 1 else found

    def apply_seen(self, kind: str, key: Key, old: Any, new: Any) -> None:
        """Put one object in place of another in everything that follows what is seen."""
        if self.tracking and kind not in IGNORED_KINDS:
            self.seen_sum = (self.seen_sum + object_fingerprint(key, new) - object_fingerprint(key, old)) % MODULUS
        for apply in self.listeners.get(kind, ()):
            apply(key, old, new)

    def _move(self, kind: str, start: int, stop: int) -> None:
        self.delivered = self.net_changes(kind, start, stop)
        for _, key, old, new in self.delivered:
            self.apply_seen(kind, key, old, new)
        if self.activation is not None:
            self.start_or_stop_watching()
        if self.watching:
            self.update_pending(kind, stop)

    def update_pending(self, kind: str, cursor: int) -> None:
        """Find out what there is yet to see of a kind from a cursor on."""
        first = self.log.first_change(kind, cursor)
        if first is None:
            self.pending.pop(kind, None)
        else:
            self.pending[kind] = first


WORLD = "world"  # who owns the notes that are nobody's


class World(Protocol):
    """What a hand reaches of the world: its log, the API server, the recorder of Events, and draws."""

    log: Log
    server: ApiServer

    def commit(self, component: str, write: Write) -> CommittedWrite | RefusedWrite: ...
    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None: ...
    def draw(self, purpose: str, key: str, among: int, attempt: int) -> int: ...


class TurnContext:
    """What an actor holds during its turn: what its component has seen, its notes, and one write."""

    def __init__(self, sim: World, process: Process, actor: Actor) -> None:
        self.sim = sim
        self.process = process
        self.actor = actor
        self.seen = process.seen
        self.views = process.views
        self.outcomes: list[CommittedWrite | RefusedWrite] = []
        self.reads: list[Key] = []
        self.events = 0
        self.words = ""

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.sim.log.notes.get(CLOCK, 0.0))

    @property
    def moment(self) -> str:
        """The present moment as manifests write it."""
        return moment(self.sim.log)

    @property
    def place(self) -> int:
        """The present place in the log, for orders."""
        return self.sim.log.place

    def note(self, sort: str, name: str) -> Any:
        """Return what the component remembers of this sort about this name, or None."""
        return self.sim.log.notes.get(Note(self.process.name, sort, name))

    def remember(self, sort: str, name: str, value: Any) -> None:
        """Put a note in place of the old one; None forgets it."""
        self.sim.log.write(Note(self.process.name, sort, name), value)

    def enqueue(self, cause: str, actor: Actor | None = None) -> None:
        """Note that this actor (or another of the component) has something to do; already noted, it keeps its order."""
        name = (actor or self.actor).name
        if cause not in self.process.work_queues[name].items:
            self.remember(f"todo {name}", cause, WorkItem(self.place))

    def dequeue(self, cause: str) -> None:
        """Note that there is nothing more to do about this cause."""
        if cause in self.process.work_queues[self.actor.name].items:
            self.remember(f"todo {self.actor.name}", cause, None)

    def wake_after(self, name: str, after: float, *, periodic: bool = False, actor: str = "") -> None:
        """Ask for this actor (or another of the component) to be woken in `after` seconds, whatever it wished."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", WakeUp(self.now + after, self.place, periodic))

    def cancel_wake_up(self, name: str, actor: str = "") -> None:
        """Take the wish of this name back."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", None)

    def commit(self, write: Write) -> CommittedWrite | RefusedWrite:
        """Have the API server carry out one write, or learn why it refuses.

        Raises:
            RuntimeError: the turn has written already (law: one turn, at most one write).
        """
        if self.outcomes:
            raise RuntimeError(f"{self.actor.name} tried a second write in one turn: {write.verb} {write.subject}")
        outcome = self.sim.commit(self.process.name, write)
        self.outcomes.append(outcome)
        return outcome

    def get_live(self, key: Key) -> Any:
        """Read one object from the API server itself, past what the component has seen; the turn's record says so."""
        self.reads.append(key)
        return self.sim.log.objects.get(key)

    def event(self, about: Any, type_: str, reason: str, message: str, source: str = "") -> None:
        """Say something of an object; an Event rides along with the turn and is not counted as its write."""
        self.events += 1
        self.sim.record_event(source or self.process.name, about, type_, reason, message)

    def draw(self, purpose: str, key: str, among: int, attempt: int = 0) -> int:
        """Return a number below `among`, the same for the same seed, purpose, key and attempt."""
        return self.sim.draw(purpose, key, among, attempt)

    def describe(self, words: str) -> None:
        """Give the sentence that describes this turn."""
        self.words = words


def seeded_draw(seed: int, purpose: str, key: str, attempt: int, among: int) -> int:
    """Return hash(seed, purpose, key, attempt) mod `among`."""
    text = f"{seed}|{purpose}|{key}|{attempt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % among


def _order(arrival: Delivery) -> tuple[int, Key]:
    return arrival.place, arrival.key
