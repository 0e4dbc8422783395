"""Time and turns: who may act, what one turn does to the log, and how to go back, forward and elsewhere.

A turn is: the component sees what there is to see, one of its actors does one thing, makes at most one write. Time
moves only when nobody has anything due, to the earliest wake-up. Every run is decided by contents, seed and choices
alone. An error or interrupt inside a step leaves the world as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from .apiserver import CLOCK, ApiServer, Done, Refused, Write
from .component import Actor, Component, Hand, Process, seeded
from .digest import Sums
from .events import record_event
from .history import Branch, History, Recording, Turn
from .log import Key, Log, Note, Place
from .snapshot import Snapshot, restore, take


@attrs.frozen
class Next:
    """Who may act next, about what, since when (place in the log)."""

    component: str
    actor: str
    cause: str
    since: int


class Simulation:
    """A world with components in it. Mutable; moves only by steps, turns, `goto` and `switch`.

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
        self.recording = True  # whether Events are written; the explorer needs none
        self._hold(Log())
        self.history = History(self.log)

    def _hold(self, log: Log) -> None:
        """Follow this log from now on."""
        self.log = log
        self.processes = {component.name: Process(component, log) for component in self.components}
        self.watchers: dict[str, list[Process]] = {}
        for process in self.processes.values():
            for kind in process.cursors:
                self.watchers.setdefault(kind, []).append(process)
        self.sums: Sums | None = None
        log.listener = self._hear

    # -- what everybody can ask -------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.log.notes.get(CLOCK, 0.0))

    @property
    def place(self) -> int:
        """The present place in the log."""
        return self.log.place

    @property
    def turns(self) -> list[Turn]:
        """The turns of this branch, those known to follow included."""
        return self.history.turns

    @property
    def step_number(self) -> int:
        """How many steps lead to the present place."""
        return self.history.step_number

    @property
    def known_steps(self) -> int:
        """How many steps this branch knows, visited again or not."""
        return self.history.known_steps

    @property
    def branch(self) -> str:
        """The name of the present branch."""
        return self.history.branch

    @property
    def branches(self) -> list[Branch]:
        """The futures that were left."""
        return self.history.branches

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

    def begin(self) -> None:
        """Make the present place the start: what was written so far has no turns and is not gone back over."""
        self.history = History(self.log)

    def add(self, components: Iterable[Component]) -> None:
        """Let further components live here; they have seen nothing yet."""
        for component in components:
            self.components += (component,)
            process = self.processes[component.name] = Process(component, self.log)
            for kind in process.cursors:
                self.watchers.setdefault(kind, []).append(process)
        self.rebuild()

    # -- the log moves, views follow --------------------------------------------------------------------------

    def _hear(self, place: int, key: Place, old: Any, new: Any, *, undone: bool) -> None:
        if type(key) is Key:
            for process in self.watchers.get(key[0], ()):
                process.expect(key[0], place, undone=undone)
        else:
            process = self.processes.get(key[0])  # type: ignore[assignment]
            if process is not None:
                process.hear(key, old, new)  # type: ignore[arg-type]
        if self.sums is not None:
            self.sums.hear(key)

    def rebuild(self) -> None:
        """Build every view anew from the log (after an error, or to check that moving equals building)."""
        for process in self.processes.values():
            process.rebuild()
        if self.sums is not None:
            self.sums = Sums(self.log, self.processes)

    def _undo(self, place: int) -> None:
        """Cut the log back to a place, wherever an error or interrupt struck."""
        self.log.settle(place, self.log.end)
        self.log.cut()
        self.rebuild()

    # -- what hands reach -------------------------------------------------------------------------------------

    def commit(self, component: str, write: Write) -> Done | Refused:
        """Have the API server carry out a write of a component, unless a fault notes that it is to be refused."""
        note = Note("world", "refuse", component)
        faults: tuple[tuple[int, str], ...] | None = self.log.notes.get(note)
        if faults:
            (left, reason), *others = faults
            if left > 1:
                self.log.write(note, ((left - 1, reason), *others))
            else:
                self.log.write(note, tuple(others) or None)
                return Refused(write, reason, f"{reason}: injected fault, the write of {write.subject} was refused")
        return self.server.commit(self.log, write, component)

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Write or count an Event about an object."""
        if self.recording:
            record_event(self.log, source, about, type_, reason, message)

    def draw(self, purpose: str, key: str, among: int, attempt: int) -> int:
        """Return a number below `among`: by the chooser if there is one (the explorer's), else by the seed."""
        if among <= 1:
            return 0
        if self.chooser is not None:
            return self.chooser(purpose, key, attempt, among)
        return seeded(self.seed, purpose, key, attempt, among)

    # -- the parts of a turn ----------------------------------------------------------------------------------

    def deliver(self, process: Process, kinds: Sequence[str] | None = None) -> bool:
        """Let a component see every change of these kinds (None: of all), and let its actors note what they must do."""
        if not process.pending:
            return False
        moved = []
        for kind in process.cursors if kinds is None else kinds:
            if kind in process.pending:
                self.log.write(process.cursors[kind], self.log.place)
                moved += process.arrived
        if not moved:
            return False
        moved.sort(key=lambda arrival: arrival[:2])
        for actor in process.component.actors:
            hand = Hand(self, process, actor)
            for _, key, old, new in moved:
                actor.notice(hand, key, old, new)
        return True

    def wake(self, process: Process) -> bool:
        """Hand every due wake-up of a component to its actor."""
        due = self.due(process)
        for name in due:
            self.ring(process, name)
        return bool(due)

    def due(self, process: Process) -> list[str]:
        """Return the names of a component's wake-ups whose time has come, in order."""
        wakes = process.wakes.items
        if not wakes:
            return []
        now = self.now
        return [name for _, _, name in sorted((w.at, w.order, n) for n, w in wakes.items() if w.at <= now)]

    def ring(self, process: Process, name: str) -> None:
        """Take one wake-up note away and tell its actor, due or not."""
        self.log.write(Note(process.name, "wake", name), None)
        actor_name, _, cause = name.partition("|")
        actor = next(actor for actor in process.component.actors if actor.name == actor_name)
        actor.due(Hand(self, process, actor), cause)

    def act(self, process: Process, actor: Actor, cause: str) -> tuple[Hand, bool]:
        """Let an actor take up a cause with what its component has seen; return its hand and whether the cause goes on."""
        hand = Hand(self, process, actor)
        return hand, actor.act(hand, cause)

    def pass_time(self) -> bool:
        """Let time pass to the earliest wake-up; False when only periodic ones are left (the world is idle)."""
        wakes = [wake for process in self.processes.values() for wake in process.wakes.items.values()]
        if all(wake.periodic for wake in wakes):
            return False
        self.log.write(CLOCK, max(min(wake.at for wake in wakes), self.now))
        return True

    # -- who goes next ----------------------------------------------------------------------------------------

    def _oldest(self, process: Process) -> int | None:
        """Return the place of the oldest thing that a component has not yet seen or done, or None."""
        oldest = min(process.pending.values()) if process.pending else None
        for actor in process.component.actors:
            ready = actor.ready(Hand(self, process, actor))
            if ready and (oldest is None or ready[0][0] < oldest):
                oldest = ready[0][0]
        if process.wakes.items:
            now = self.now
            for wake in process.wakes.items.values():
                if wake.at <= now and (oldest is None or wake.order < oldest):
                    oldest = wake.order
        return oldest

    def _default(self) -> Process | None:
        """Return the component whose oldest undelivered change, task or due wake-up lies furthest back."""
        found: tuple[int, Process] | None = None
        for process in self.processes.values():
            oldest = self._oldest(process)
            if oldest is not None and (found is None or oldest < found[0]):
                found = (oldest, process)
        return found[1] if found else None

    def next_actors(self) -> list[Next]:
        """List who may act next, in the order of the lanes: everything is delivered, looked at and taken back."""
        with self.record() as trial:
            for process in self.processes.values():
                self.deliver(process)
                self.wake(process)
            found = [
                Next(process.name, actor.name, cause, order)
                for process in self.processes.values()
                for actor in process.component.actors
                for order, cause in actor.ready(Hand(self, process, actor), every=True)
            ]
            trial.drop()
        return found

    def preview(self) -> list[Turn]:
        """Try out what a plain step would do, then what everybody else could do now, by lanes; all is taken back.

        Turns that would show nothing are left out; the first may lie in the future (its `time`), as a plain step waits.
        """
        trials: list[Turn] = []
        with Recording(self.history, self._undo) as trial:
            first = self._first(trial)
            self._undo(trial.start)
            for process in self.processes.values():
                self.deliver(process)
                self.wake(process)
            for process in self.processes.values():
                for actor in process.component.actors:
                    for _, cause in actor.ready(Hand(self, process, actor), every=True):
                        start = self.log.place
                        trials.append(self.turn(process, actor, cause, see=False))
                        self._undo(start)
            trial.drop()
        if first is None:
            return []
        known = (first.actor, first.cause)
        return [first, *(turn for turn in trials if not turn.quiet and (turn.actor, turn.cause) != known)]

    # -- turns and steps --------------------------------------------------------------------------------------

    def turn(self, process: Process, actor: Actor | None = None, cause: str | None = None, *, see: bool = True) -> Turn:
        """Do one turn and return its record: see (unless told not to), then let an actor take a cause up.

        Raises:
            LookupError: the actor has no such cause to take up.
        """
        start = self.log.place
        if see:
            self.deliver(process)
            self.wake(process)
        chosen = self._choose(process, actor, cause)
        if chosen is None:
            return self.record_of(start, process.name, quiet=True)
        hand, more = self.act(process, *chosen)
        return self.turn_of(hand, chosen[1], start, goes_on=more)

    def turn_of(self, hand: Hand, cause: str, start: int, *, goes_on: bool) -> Turn:
        """Return the record of a turn that an actor has just done."""
        words = hand.words or _words(hand.outcomes)
        return Turn(
            step=len(self.history.ends),
            component=hand.process.name,
            actor=hand.actor.name,
            cause=cause,
            start=start,
            end=self.log.place,
            time=self.now,
            words=words,
            outcomes=tuple(hand.outcomes),
            reads=tuple(hand.reads),
            events=hand.events,
            goes_on=goes_on,
            quiet=not (goes_on or hand.outcomes or hand.events or words),
        )

    def record_of(self, start: int, component: str, words: str = "", fault: str = "", *, quiet: bool = False) -> Turn:
        """Return the record of what happened since `start` without any actor."""
        return Turn(
            len(self.history.ends), component, "", "", start, self.log.place, self.now, words, fault=fault, quiet=quiet
        )

    def record(self) -> Recording:
        """Return a context: what is done inside it is one step, an error inside it undoes it."""
        return Recording(self.history, self._undo)

    def _choose(self, process: Process, actor: Actor | None, cause: str | None) -> tuple[Actor, str] | None:
        best: tuple[int, int, Actor, str] | None = None
        for lane, candidate in enumerate(process.component.actors):
            if actor is not None and candidate is not actor:
                continue
            for order, what in candidate.ready(Hand(self, process, candidate), every=cause is not None):
                if (cause is None or what == cause) and (best is None or (order, lane) < best[:2]):
                    best = (order, lane, candidate, what)
        if best is None and cause is not None:
            raise LookupError(f"{actor.name if actor else process.name} has nothing to do about {cause!r}")
        return (best[2], best[3]) if best else None

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False) -> list[Turn]:
        """Do one step: the turns of one cause, by default of whoever has waited longest; an empty list: nothing to do.

        Args:
            actor: the name of the actor who is to go.
            cause: which of the things it may take up.
            turns: stop after one visible turn (the fine gear).

        Raises:
            LookupError: there is no such actor, or it has no such cause.
        """
        with self.record() as step:
            last = self._first_of(actor, cause, step) if actor is not None else self._first(step)
            if last is None:
                return []
            process, who = self.find(last.actor, last.component)
            while last.goes_on and not turns:
                last = step.add(self.turn(process, who, last.cause))
        return step.done

    def _first(self, step: Recording) -> Turn | None:
        """Let whoever has waited longest go, and time pass, until something visible happens or nothing is left."""
        while True:
            waiting = self._default()
            if waiting is not None:
                turn = step.add(self.turn(waiting))
                if not turn.quiet:
                    return turn
            else:
                start = self.log.place
                if not self.pass_time():
                    return None
                step.add(self.record_of(start, "world", f"t = {self.now:g} s", quiet=True))

    def _first_of(self, actor: str, cause: str | None, step: Recording) -> Turn | None:
        """Let one actor go until something visible happens; if it has nothing to do, nothing has happened."""
        process, who = self.find(actor)
        while True:
            turn = step.add(self.turn(process, who, cause))
            if not turn.quiet:
                return turn
            if cause is not None or not turn.actor:
                step.drop()
                return None

    def perform(self, component: str, writes: Sequence[Write], words: str = "") -> list[Done | Refused]:
        """Carry out writes in the name of a component as one step, a turn each (a person at kubectl)."""
        outcomes: list[Done | Refused] = []
        with self.record() as step:
            for write in writes:
                start = self.log.place
                outcome = self.commit(component, write)
                outcomes.append(outcome)
                record = self.record_of(start, component, words or _words([outcome]))
                step.add(attrs.evolve(record, actor=component, cause=words, outcomes=(outcome,)))
        return outcomes

    def run(
        self, until: Callable[[Simulation], bool] | None = None, *, steps: int = 100_000, seconds: float = 3_600.0
    ) -> Iterator[list[Turn]]:
        """Step until the condition holds or nothing is left to do, yielding each step; bounded in steps and time."""
        limit = self.now + seconds
        for _ in range(steps):
            if (until is not None and until(self)) or self.now > limit:
                return
            done = self.step()
            if not done:
                return
            yield done

    # -- faults -----------------------------------------------------------------------------------------------

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> None:
        """Note that the nth write of a component from now on is to be refused with this reason."""
        note = Note("world", "refuse", component)
        faults = (*self.log.notes.get(note, ()), (nth, reason))
        with self.record() as step:
            start = self.log.place
            self.log.write(note, faults)
            words = f"the {nth}. write of {component} will be refused: {reason}"
            step.add(self.record_of(start, "world", words, "refuse"))

    def crash(self, component: str) -> None:
        """Let a component crash and restart: its notes are dropped, its cursors start anew."""
        with self.record() as step:
            start = self.log.place
            self.forget(self.processes[component])
            words = f"{component} crashes and starts anew: what it remembered is gone"
            step.add(self.record_of(start, component, words, "crash"))

    def forget(self, process: Process) -> None:
        """Drop every note of a component but its configuration."""
        for note in sorted(note for note in self.log.notes if note.component == process.name):
            if note.sort != "config":
                self.log.write(note, None)

    # -- back, forward, elsewhere -----------------------------------------------------------------------------

    def goto(self, step: int) -> None:
        """Move to the end of a step of this branch (0: the start).

        Raises:
            IndexError: the branch knows no such step.
        """
        start, target = self.log.place, self.history.place_of(step)
        try:
            self.log.seek(target)
        except BaseException:
            self.log.settle(start, target)
            self.rebuild()
            raise

    def back(self, steps: int = 1) -> None:
        """Go back some steps, to the start at most."""
        self.goto(max(0, self.step_number - steps))

    def switch(self, branch: str) -> None:
        """Go to the end of the future of another branch; the present one is kept under its name.

        Raises:
            LookupError: there is no such branch.
        """
        self.history.switch(branch)

    def fork(self) -> Simulation:
        """Return another simulation at the same place with the same past; nothing that one does touches the other."""
        other = Simulation(self.components, self.server, self.seed)
        other._hold(self.log.copy())  # noqa: SLF001 - a fork is one of us
        other.history = self.history.copy(other.log)
        other.rebuild()
        return other

    def snapshot(self, like: Snapshot | None = None) -> Snapshot:
        """Put the present place away without its past; what is as in `like` is shared with it."""
        return take(self.log, self.processes, like)

    def restore(self, snapshot: Snapshot) -> None:
        """Be where a snapshot of this world was taken; there is no way back from here but another snapshot."""
        restore(self.log, self.processes, self.sums, snapshot)
        self.history = History(self.log)

    def digest(self) -> str:
        """Return the digest of meaning of the present place (see `digest`)."""
        return self._summed().digest()

    def local(self, component: str) -> tuple[Any, ...]:
        """Return what a component can know now, hashable: equal where it means the same to it."""
        return self._summed().local(component)

    def _summed(self) -> Sums:
        if self.sums is None:
            self.sums = Sums(self.log, self.processes)
        return self.sums


def _words(outcomes: Sequence[Done | Refused]) -> str:
    for outcome in outcomes:
        write = outcome.write
        if isinstance(outcome, Refused):
            return f"{write.words or f'{write.verb} {write.subject}'}: refused ({outcome.reason})"
        return write.words or f"{write.verb} {write.subject}"
    return ""
