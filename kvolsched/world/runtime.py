"""Components running over a log: what they see, how they act, what a write of theirs becomes.

Here are the parts that turns are made of, and none of their order: who goes next, steps and time are the
simulation's, and an explorer puts the same parts together in every order. Views follow the log wherever it moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .apiserver import CLOCK, ApiServer, CommittedWrite, RefusedWrite, Write
from .checkpoint import Checkpoint, restore_checkpoint, take_checkpoint
from .component import WORLD, Actor, Component, Process, TurnContext, seeded_draw
from .digest import IncrementalDigest
from .events import record_event
from .log import Key, Log, LogKey, Note


class Runtime:
    """A log, the components that run over it, and an API server between them. Mutable.

    Args:
        components: who lives in it; their order is the order of the lanes.
        server: who commits or refuses writes.
        seed: decides draws.
    """

    def __init__(self, components: Iterable[Component], server: ApiServer | None = None, seed: int = 0) -> None:
        self.components = tuple(components)
        self.server = server or ApiServer()
        self.seed = seed
        self.chooser: Callable[[str, str, int, int], int] | None = None  # the explorer's: draws instead of the seed
        self.records_events = True  # whether Events are written; the explorer needs none
        self._hold(Log())

    def _hold(self, log: Log) -> None:
        """Follow this log from now on."""
        self.log = log
        self.processes = {component.name: Process(component, log) for component in self.components}
        self.watchers: dict[str, list[Process]] = {}
        self.conditional: dict[str, list[Process]] = {}
        for process in self.processes.values():
            self._introduce(process)
        self.incremental_digest: IncrementalDigest | None = None
        self._looks: dict[tuple[str, str], TurnContext] = {}
        log.listener = self._hear

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.log.notes.get(CLOCK, 0.0))

    @property
    def place(self) -> int:
        """The present place in the log."""
        return self.log.place

    def find(self, actor: str, component: str | None = None) -> tuple[Process, Actor]:
        """Return the process and actor of this name.

        Raises:
            LookupError: there is none; the message lists the names.
        """
        for process in self.processes.values():
            for candidate in process.component.actors:
                if candidate.name == actor and component in (None, process.name):
                    return process, candidate
        names = [a.name for p in self.processes.values() for a in p.component.actors]
        raise LookupError(f"no actor is called {actor!r}; there are: {', '.join(names)}")

    def read_only_context(self, process: Process, actor: Actor) -> TurnContext:
        """Return a hand to ask an actor what it may take up: the same one each time, so never to act with."""
        known = self._looks.get((process.name, actor.name))
        if known is None or known.seen is not process.seen:
            known = self._looks[process.name, actor.name] = TurnContext(self, process, actor)
        return known

    def add_components(self, components: Iterable[Component]) -> None:
        """Let further components live here; they have seen nothing yet."""
        for component in components:
            self.components += (component,)
            process = self.processes[component.name] = Process(component, self.log)
            self._introduce(process)
        self.rebuild()

    def replace_components(self, components: Iterable[Component]) -> None:
        """Let components live here in place of those of their names; what those noted and saw is theirs now."""
        by_name = {component.name: component for component in components}
        self.components = tuple(by_name.get(component.name, component) for component in self.components)
        self._hold(self.log)
        self.rebuild()

    def _introduce(self, process: Process) -> None:
        for kind in process.cursors:
            self.watchers.setdefault(kind, []).append(process)
        for word in process.activation.follows if process.activation is not None else ():
            self.conditional.setdefault(word, []).append(process)

    # -- the log moves, views follow --------------------------------------------------------------------------

    def _hear(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None:
        if type(key) is Key:
            for process in self.conditional.get(key[0], ()):
                process.on_stored_change(key, old, new)
            for process in self.watchers.get(key[0], ()):
                process.mark_pending(key[0], place, undone=undone)
        else:
            owner = self.processes.get(key[0])
            if owner is not None:
                owner.on_note_change(key, old, new)  # type: ignore[arg-type]
            elif key[0] == WORLD:
                for process in self.conditional.get(key[1], ()):
                    process.on_stored_change(key, old, new)
        if self.incremental_digest is not None:
            self.incremental_digest.mark_changed(key)

    def rebuild(self) -> None:
        """Build every view anew from the log (after an error, or to check that moving equals building)."""
        for process in self.processes.values():
            process.rebuild()
        if self.incremental_digest is not None:
            self.incremental_digest = IncrementalDigest(self.log, self.processes)

    def _undo(self, place: int) -> None:
        """Cut the log back to a place, wherever an error or interrupt struck."""
        self.log.recover(place, self.log.end)
        self.log.truncate()
        self.rebuild()

    # -- what hands reach -------------------------------------------------------------------------------------

    def commit(self, component: str, write: Write) -> CommittedWrite | RefusedWrite:
        """Have the API server carry out a write of a component, unless a fault notes that it is to be refused."""
        note = Note("world", "refuse", component)
        faults: tuple[tuple[int, str], ...] | None = self.log.notes.get(note)
        if faults:
            (left, reason), *others = faults
            if left > 1:
                self.log.write(note, ((left - 1, reason), *others))
            else:
                self.log.write(note, tuple(others) or None)
                return RefusedWrite(write, reason, f"{reason}: injected fault, the write of {write.subject} was refused")
        return self.server.commit(self.log, write, component)

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Write or count an Event about an object."""
        if self.records_events:
            record_event(self.log, source, about, type_, reason, message, series=source in self.server.series)

    def draw(self, purpose: str, key: str, among: int, attempt: int) -> int:
        """Return a number below `among`: by the chooser if there is one (the explorer's), else by the seed."""
        if among <= 1:
            return 0
        if self.chooser is not None:
            return self.chooser(purpose, key, attempt, among)
        return seeded_draw(self.seed, purpose, key, attempt, among)

    # -- the parts of a turn ----------------------------------------------------------------------------------

    def deliver(self, process: Process, kinds: Sequence[str] | None = None) -> bool:
        """Let a component see every change of these kinds (None: of all), and let its actors note what they must do."""
        if not process.pending:
            return False
        moved = []
        for kind in process.cursors if kinds is None else kinds:
            if kind in process.pending:
                self.log.write(process.cursors[kind], self.log.place)
                moved += process.delivered
        if not moved:
            return False
        if len(moved) > 1:
            moved.sort(key=lambda arrival: arrival[:2])
        for actor in process.component.actors:
            ctx = TurnContext(self, process, actor)
            for _, key, old, new in moved:
                actor.on_change(ctx, key, old, new)
        return True

    def fire_due_wake_ups(self, process: Process) -> bool:
        """Hand every due wake-up of a component to its actor."""
        due = self.due_wake_ups(process)
        for name in due:
            self.fire_wake_up(process, name)
        return bool(due)

    def due_wake_ups(self, process: Process) -> list[str]:
        """Return the names of a component's wake-ups whose time has come, in order."""
        wakes = process.wake_ups.items
        if not wakes:
            return []
        now = self.now
        return [name for _, _, name in sorted((w.at, w.order, n) for n, w in wakes.items() if w.at <= now)]

    def fire_wake_up(self, process: Process, name: str) -> None:
        """Take one wake-up note away and tell its actor, due or not."""
        self.log.write(Note(process.name, "wake", name), None)
        actor_name, _, cause = name.partition("|")
        actor = next(actor for actor in process.component.actors if actor.name == actor_name)
        actor.on_wake_up(TurnContext(self, process, actor), cause)

    def act(self, process: Process, actor: Actor, cause: str) -> tuple[TurnContext, bool]:
        """Let an actor take up a cause, knowing what its component has seen; return its hand and whether it goes on."""
        ctx = TurnContext(self, process, actor)
        return ctx, actor.act(ctx, cause)

    def drop_notes(self, process: Process) -> None:
        """Drop every note of a component but its configuration."""
        for note in sorted(note for note in self.log.notes if note.component == process.name):
            if note.sort != "config":
                self.log.write(note, None)

    # -- elsewhere --------------------------------------------------------------------------------------------

    def checkpoint(self, like: Checkpoint | None = None) -> Checkpoint:
        """Put the present place away without its past; what is as in `like` is shared with it."""
        return take_checkpoint(self.log, self.processes, like)

    def restore(self, snapshot: Checkpoint) -> None:
        """Be where a snapshot of this world was taken; there is no way back from here but another snapshot."""
        restore_checkpoint(self.log, self.processes, self.incremental_digest, snapshot)

    def digest(self) -> str:
        """Return the digest of meaning of the present place (see `digest`)."""
        return self._summed().digest()

    def local_state(self, component: str) -> tuple[Any, ...]:
        """Return what a component can know now, hashable: equal where it means the same to it."""
        return self._summed().local_state(component)

    def _summed(self) -> IncrementalDigest:
        if self.incremental_digest is None:
            self.incremental_digest = IncrementalDigest(self.log, self.processes)
        return self.incremental_digest
