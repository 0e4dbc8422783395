"""Components and their actors: what a process sees, what it remembers, and the hand an actor holds for one turn.

A component is a process: one cursor per kind it watches, one space of notes, one identity. Its actors are its
routines and share all three. Actors of different components meet only in the API objects.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ..api.meta import EMPTY, Frozen
from .apiserver import CLOCK, Done, Refused, Write
from .digest import SILENT, WAIT
from .log import Key, Note, Place
from .view import Seen, View

if TYPE_CHECKING:
    from .simulation import Simulation


@attrs.frozen
class Todo:
    """A note that an actor has something to do; `order` is the place in the log where it learned so."""

    order: int = attrs.field(metadata=SILENT)


@attrs.frozen
class Wake:
    """A note that an actor wants to be woken at a simulated time (s); a periodic one does not keep a run going."""

    at: float = attrs.field(metadata=WAIT)
    order: int = attrs.field(metadata=SILENT)
    periodic: bool = False


class Actor(Protocol):
    """A routine of a component.

    `notice` hears of every net change that a delivery brings, `due` of a wake-up; both only note what is to be done.
    `ready` lists (order, cause) of what the actor may take up now, the default first; only that one unless `every`.
    `act` does one turn of a cause, makes at most one write, and says whether the cause goes on in another turn.
    """

    @property
    def name(self) -> str: ...
    def notice(self, hand: Hand, key: Key, old: Any, new: Any) -> None: ...
    def due(self, hand: Hand, name: str) -> None: ...
    def ready(self, hand: Hand, *, every: bool = False) -> Sequence[tuple[int, str]]: ...
    def act(self, hand: Hand, cause: str) -> bool: ...


@attrs.frozen
class Component:
    """What a process is made of: its name (its identity), what it watches, its actors, its own views, its options."""

    name: str
    watches: tuple[str, ...]
    actors: tuple[Actor, ...]
    views: Callable[[Seen], Mapping[str, View]] = lambda _seen: {}
    config: Frozen = EMPTY


class Worklist:
    """Notes of one sort by their order: a view that finds the first at once. Mutable."""

    def __init__(self, sort: str, order: Callable[[Any], Any] = lambda note: note.order) -> None:
        self.follows = frozenset([sort])
        self.order = order
        self.items: dict[str, Any] = {}
        self._heap: list[tuple[Any, str]] = []

    def apply(self, key: Place, old: Any, new: Any) -> None:
        """Add, replace or drop one note."""
        name = key[2]
        if new is None:
            self.items.pop(name, None)
        else:
            self.items[name] = new
            heapq.heappush(self._heap, (self.order(new), name))

    def first(self) -> tuple[Any, str] | None:
        """Return (order, name) of the first note, or None."""
        heap = self._heap
        while heap:
            order, name = heap[0]
            note = self.items.get(name)
            if note is not None and self.order(note) == order:
                return heap[0]
            heapq.heappop(heap)
        return None

    def all(self) -> list[tuple[Any, str]]:
        """Return (order, name) of every note, sorted."""
        return sorted((self.order(note), name) for name, note in self.items.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Worklist) and self.items == other.items

    __hash__ = None  # type: ignore[assignment]


class Process:
    """A component as it runs: its cursors' contents and the views of them. Mutable, moved by the log only."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.name = component.name
        self.cursor_notes = {kind: Note(component.name, "cursor", kind) for kind in component.watches}
        self.seen = Seen(component.watches)
        self.views: dict[str, View] = {}
        self.sum = 0
        self.reset()

    def reset(self) -> None:
        """Empty every view."""
        self.seen = Seen(self.component.watches)
        self.sum = 0
        self.todo = {actor.name: Worklist(f"todo {actor.name}") for actor in self.component.actors}
        self.plans = {actor.name: Worklist(f"plan {actor.name}") for actor in self.component.actors}
        self.views = dict(self.component.views(self.seen))
        self.hear: dict[str, list[Callable[[Place, Any, Any], None]]] = {}
        views: list[View] = [self.seen, *self.todo.values(), *self.plans.values(), *self.views.values()]
        for view in views:
            for word in view.follows:
                self.hear.setdefault(word, []).append(view.apply)


class Hand:
    """What an actor holds during its turn: what its component has seen, its notes, and one write."""

    def __init__(self, sim: Simulation, process: Process, actor: Actor) -> None:
        self.sim = sim
        self.process = process
        self.actor = actor
        self.seen = process.seen
        self.views = process.views
        self.outcomes: list[Done | Refused] = []
        self.reads: list[Key] = []
        self.events = 0
        self.words = ""

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.sim.log.notes.get(CLOCK, 0.0))

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

    def todo(self, cause: str, actor: Actor | None = None) -> None:
        """Note that this actor (or another of the component) has something to do; already noted, it keeps its order."""
        name = (actor or self.actor).name
        if cause not in self.process.todo[name].items:
            self.remember(f"todo {name}", cause, Todo(self.place))

    def done(self, cause: str) -> None:
        """Note that there is nothing more to do about this cause."""
        if cause in self.process.todo[self.actor.name].items:
            self.remember(f"todo {self.actor.name}", cause, None)

    def wake(self, name: str, after: float, *, periodic: bool = False, actor: str = "") -> None:
        """Ask for this actor (or another of the component) to be woken `after` seconds from now, instead of earlier wishes."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", Wake(self.now + after, self.place, periodic))

    def unwake(self, name: str, actor: str = "") -> None:
        """Take the wish of this name back."""
        self.remember("wake", f"{actor or self.actor.name}|{name}", None)

    def commit(self, write: Write) -> Done | Refused:
        """Have the API server carry out one write, or learn why it refuses.

        Raises:
            RuntimeError: the turn has written already (law: one turn, at most one write).
        """
        if self.outcomes:
            raise RuntimeError(f"{self.actor.name} tried a second write in one turn: {write.verb} {write.subject}")
        outcome = self.sim.commit(self.process.name, write)
        self.outcomes.append(outcome)
        return outcome

    def get(self, key: Key) -> Any:
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

    def say(self, words: str) -> None:
        """Give the sentence that describes this turn."""
        self.words = words


def seeded(seed: int, purpose: str, key: str, attempt: int, among: int) -> int:
    """Return hash(seed, purpose, key, attempt) mod `among`."""
    text = f"{seed}|{purpose}|{key}|{attempt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % among
