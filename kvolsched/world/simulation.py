"""Time and turns: who may act, what one turn does to the log, and how to go back, forward and elsewhere.

A turn is: the component sees what there is to see, one of its actors does one thing, makes at most one write. Time
moves only when nobody has anything due, to the earliest wake-up. Every run is decided by contents, seed and choices
alone. Acting in the past opens a branch; acting there again alike finds the known future again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from ..api.kind import BY_NAME
from ..api.meta import ObjectMeta, ObjectReference
from ..api.workload import Event, EventSource
from .apiserver import CLOCK, ApiServer, Done, Refused, Write, key_of, timestamp
from .component import Actor, Component, Hand, Process, Wake, Worklist, seeded
from .digest import MODULUS, SILENT_KINDS, encode, meaning, notes_sum
from .log import Branch, Change, Key, Log, Note


@attrs.frozen
class Turn:
    """The record of one turn: who did what, between which places of the log, at what simulated time.

    `quiet` turns only saw something (or let time pass); they belong to the step that follows them.
    """

    step: int
    component: str
    actor: str
    cause: str
    start: int
    end: int
    time: float
    words: str
    outcomes: tuple[Done | Refused, ...] = ()
    reads: tuple[Key, ...] = ()
    events: int = 0
    quiet: bool = False
    fault: str = ""


@attrs.frozen
class Next:
    """Who may act next, about what, since when (place in the log)."""

    component: str
    actor: str
    cause: str
    since: int


class Simulation:
    """A world with components in it. Mutable; moves only by turns, `goto` and `restore`."""

    def __init__(self, components: Iterable[Component], server: ApiServer | None = None, seed: int = 0) -> None:
        self.server = server or ApiServer()
        self.seed = seed
        self.components = tuple(components)
        self.log = Log()
        self.turns: list[Turn] = []
        self.ends: list[int] = [0]
        self.branch = "main"
        self.branches: list[Branch] = []
        self.processes = {component.name: Process(component) for component in self.components}
        self.wakes = Worklist("wake", order=lambda wake: (wake.at, wake.order))
        self.chooser: Callable[[str, str, int, int], int] | None = None
        self.tracking = False
        self.objects_sum = 0
        self._wake_of: dict[str, dict[str, Wake]] = {name: {} for name in self.processes}
        self._left: tuple[int, tuple[Change, ...], list[Turn], list[int]] | None = None
        self.log.listeners.append(self._hear)

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
    def step_number(self) -> int:
        """How many steps lead to the present place."""
        return bisect_right(self.ends, self.log.place) - 1

    @property
    def known_steps(self) -> int:
        """How many steps this branch knows, visited again or not."""
        return len(self.ends) - 1

    def pending(self, process: Process) -> list[str]:
        """Return the kinds of which a component has not yet seen every change."""
        log = self.log
        return [
            kind
            for kind, note in process.cursor_notes.items()
            if log.first(kind, log.notes.get(note, 0)) is not None
        ]

    def behind(self, process: Process, kind: str) -> list[Change]:
        """Return the changes of a kind that a component has not yet seen."""
        cursor = self.log.notes.get(process.cursor_notes[kind], 0)
        return list(self.log.between(kind, cursor, self.log.place))

    # -- the log moves, views follow --------------------------------------------------------------------------

    def _hear(self, key: Key | Note, old: Any, new: Any) -> None:
        if type(key) is Key:
            if self.tracking and key.kind not in SILENT_KINDS:
                self.objects_sum = (self.objects_sum + meaning(key, new) - meaning(key, old)) % MODULUS
            return
        process = self.processes.get(key[0])
        if process is None:
            return
        sort = key[1]
        if sort == "cursor":
            self._move(process, key[2], old or 0, new or 0)
            return
        if sort == "wake":
            mine = self._wake_of[process.name]
            if new is None:
                mine.pop(key[2], None)
            else:
                mine[key[2]] = new
            self.wakes.apply(Note("", "wake", f"{process.name}|{key[2]}"), old, new)
        for apply in process.hear.get(sort, ()):
            apply(key, old, new)

    def _net(self, process: Process, kind: str, start: int, stop: int) -> list[tuple[Key, Any, Any]]:
        """Return the net change per key that a cursor's move brings, in order of the last change of each key."""
        if start == stop:
            return []
        if start == 0:  # a list, not a watch: everything there is
            return [(key, None, obj) for key, obj in self.log.objects.items() if key.kind == kind]
        if stop == 0:
            return [(key, obj, None) for key, obj in process.seen.kinds[kind].items()]
        if start < stop:
            first: dict[Key, Any] = {}
            last: dict[Key, Any] = {}
            for key, old, new in self.log.between(kind, start, stop):
                first.setdefault(key, old)  # type: ignore[arg-type]
                last.pop(key, None)  # type: ignore[arg-type]
                last[key] = new  # type: ignore[index]
            return [(key, first[key], new) for key, new in last.items() if first[key] is not new]
        return [(key, new, old) for key, old, new in reversed(self._net(process, kind, stop, start))]

    def _move(self, process: Process, kind: str, start: int, stop: int) -> None:
        """Move what a component has seen of a kind from one place to another."""
        hear = process.hear.get(kind, ())
        for key, old, new in self._net(process, kind, start, stop):
            if self.tracking and kind not in SILENT_KINDS:
                process.sum = (process.sum + meaning(key, new) - meaning(key, old)) % MODULUS
            for apply in hear:
                apply(key, old, new)

    # -- the parts of a turn ----------------------------------------------------------------------------------

    def commit(self, component: str, write: Write) -> Done | Refused:
        """Have the API server carry out a write of a component, unless a fault notes that it is to be refused."""
        fault = Note("world", "refuse", component)
        plan: tuple[tuple[int, str], ...] | None = self.log.notes.get(fault)
        if plan:
            (left, reason), *others = plan
            if left > 1:
                self.log.write(fault, ((left - 1, reason), *others))
            else:
                self.log.write(fault, tuple(others) or None)
                return Refused(write, reason, f"{reason}: injected fault, the write of {write.subject} was refused")
        return self.server.commit(self.log, write, component)

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Write or count an Event, as the recorders do: equal ones are one object with a count.

        The scheduler's start anew when the pod object has changed in between (its reference carries the version).
        """
        key = key_of(about)
        words = [source, *key, about.metadata.uid, type_, reason, message]
        if source == "default-scheduler":
            words.append(str(about.metadata.resource_version))
        name = f"{key.name}.{hashlib.blake2b(chr(0).join(words).encode(), digest_size=8).hexdigest()}"
        where = Key("Event", key.namespace or "default", name)
        old, now = self.log.objects.get(where), timestamp(self.now)
        if old is None:
            kind = BY_NAME.get(key.kind)
            event = Event(
                metadata=ObjectMeta(
                    name=name, namespace=where.namespace, creation_timestamp=now, resource_version=self.log.place + 1
                ),
                involved_object=ObjectReference(
                    kind=key.kind,
                    namespace=key.namespace,
                    name=key.name,
                    uid=about.metadata.uid,
                    api_version=kind.type.api_version if kind else "",
                    resource_version=about.metadata.resource_version,
                ),
                type=type_,
                reason=reason,
                message=message,
                source=EventSource(component=source),
                count=1,
                first_timestamp=now,
                last_timestamp=now,
            )
        else:
            meta = attrs.evolve(old.metadata, resource_version=self.log.place + 1)
            event = attrs.evolve(old, metadata=meta, count=old.count + 1, last_timestamp=now)
        self.log.write(where, event)

    def draw(self, purpose: str, key: str, among: int, attempt: int) -> int:
        """Return a number below `among`: by the chooser if there is one (the explorer's), else by the seed."""
        if among <= 1:
            return 0
        if self.chooser is not None:
            return self.chooser(purpose, key, attempt, among)
        return seeded(self.seed, purpose, key, attempt, among)

    def deliver(self, process: Process, kinds: Sequence[str] | None = None) -> bool:
        """Let a component see every change of these kinds (None: of all), and let its actors note what they must do."""
        log, moved = self.log, []
        for kind in self.pending(process) if kinds is None else kinds:
            note = process.cursor_notes[kind]
            cursor = log.notes.get(note, 0)
            moved += self._net(process, kind, cursor, log.place)
            log.write(note, log.place)
        if not moved:
            return False
        moved.sort(key=lambda change: _since(change[2], change[1]))
        for actor in process.component.actors:
            hand = Hand(self, process, actor)
            for key, old, new in moved:
                actor.notice(hand, key, old, new)
        return True

    def wake(self, process: Process) -> bool:
        """Hand every due wake-up of a component to its actor."""
        mine = self._wake_of[process.name]
        if not mine:
            return False
        now = self.now
        due = sorted((wake.at, wake.order, name) for name, wake in mine.items() if wake.at <= now)
        for _, _, name in due:
            self.ring(process, name)
        return bool(due)

    def ring(self, process: Process, name: str) -> None:
        """Take one wake-up note away and tell its actor."""
        self.log.write(Note(process.name, "wake", name), None)
        actor_name, _, cause = name.partition("|")
        actor = next(actor for actor in process.component.actors if actor.name == actor_name)
        actor.due(Hand(self, process, actor), cause)

    # -- who goes next ----------------------------------------------------------------------------------------

    def _oldest(self, process: Process) -> int | None:
        """Return the place of the oldest thing that a component has not yet seen or done, or None."""
        log, notes = self.log, self.log.notes
        oldest: int | None = None
        for kind, note in process.cursor_notes.items():
            first = log.first(kind, notes.get(note, 0))
            if first is not None and (oldest is None or first < oldest):
                oldest = first
        for actor in process.component.actors:
            ready = actor.ready(Hand(self, process, actor))
            if ready and (oldest is None or ready[0][0] < oldest):
                oldest = ready[0][0]
        mine = self._wake_of[process.name]
        if mine:
            now = self.now
            for wake in mine.values():
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
        """List who may act next, the default first, then in the order of the lanes: tried out and taken back."""
        start = self.log.place
        future, turns, ends = self._cut()
        try:
            for process in self.processes.values():
                self.deliver(process)
                self.wake(process)
            found = [
                Next(process.name, actor.name, cause, order)
                for process in self.processes.values()
                for actor in process.component.actors
                for order, cause in actor.ready(Hand(self, process, actor), every=True)
            ]
        finally:
            self._back_to(start)
            self._restore_future(future, turns, ends)
        return found

    # -- turns ------------------------------------------------------------------------------------------------

    def turn(self, process: Process, actor: Actor | None = None, cause: str | None = None, *, see: bool = True) -> Turn:
        """Do one turn: see, then let an actor take a cause up; an error leaves the world as it was.

        Raises:
            LookupError: the actor has no such cause to take up.
        """
        start, more, hand = self.log.place, False, None
        try:
            if see:
                self.deliver(process)
                self.wake(process)
            chosen = self._choose(process, actor, cause)
            if chosen is not None:
                acting, what = chosen
                hand = Hand(self, process, acting)
                more = acting.act(hand, what)
        except BaseException:
            self._back_to(start)
            self.rebuild()
            raise
        return self._seal(start, process.name, chosen, hand, more=more)

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

    def _seal(
        self, start: int, component: str, chosen: tuple[Actor, str] | None, hand: Hand | None, *, more: bool = False
    ) -> Turn:
        quiet = hand is None or not (more or hand.outcomes or hand.events or hand.words)
        record = Turn(
            step=len(self.ends),
            component=component,
            actor=chosen[0].name if chosen else "",
            cause=chosen[1] if chosen else "",
            start=start,
            end=self.log.place,
            time=self.now,
            words=(hand.words if hand else "") or (_words(hand.outcomes) if hand else ""),
            outcomes=tuple(hand.outcomes) if hand else (),
            reads=tuple(hand.reads) if hand else (),
            events=hand.events if hand else 0,
            quiet=quiet,
            fault="" if not more else "more",
        )
        self.turns.append(record)
        return record

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False) -> list[Turn]:
        """Do one step: the turns of one cause, by default of whoever has waited longest; an empty list means nothing to do.

        Args:
            actor: the name of the actor who is to go.
            cause: which of the things it may take up.
            turns: stop after one visible turn (the fine gear).

        Raises:
            LookupError: there is no such actor, or it has no such cause.
        """
        with _Recording(self) as done:
            if actor is not None:
                process, who = self.find(actor)
                done.append(self.turn(process, who, cause))
                while done[-1].quiet:
                    if cause is not None or not done[-1].actor:
                        return []
                    done.append(self.turn(process, who))
            else:
                while not done or done[-1].quiet:
                    waiting = self._default()
                    if waiting is None and not self._pass_time():
                        break
                    if waiting is not None:
                        done.append(self.turn(waiting))
                if not done or done[-1].quiet:
                    return []
                process, who = self.find(done[-1].actor, done[-1].component)
            while done[-1].fault == "more" and not turns:
                done.append(self.turn(process, who, done[-1].cause))
            self.ends.append(self.log.place)
        return list(done)

    def perform(self, component: str, writes: Sequence[Write], words: str = "") -> list[Done | Refused]:
        """Carry out writes in the name of a component as one step, a turn each (a person at kubectl)."""
        outcomes: list[Done | Refused] = []
        with _Recording(self) as done:
            for write in writes:
                start = self.log.place
                outcome = self.commit(component, write)
                outcomes.append(outcome)
                record = Turn(
                    step=len(self.ends), component=component, actor=component, cause=words, start=start,
                    end=self.log.place, time=self.now, words=words or _words([outcome]), outcomes=(outcome,),
                )  # fmt: skip
                self.turns.append(record)
                done.append(record)
            self.ends.append(self.log.place)
        return outcomes

    def _pass_time(self) -> bool:
        """Let time pass to the earliest wake-up; False when only periodic ones are left (the world is idle)."""
        if all(wake.periodic for wake in self.wakes.items.values()):
            return False
        first = self.wakes.first()
        if first is None:
            return False
        start, at = self.log.place, first[0][0]
        if at > self.now:
            self.log.write(CLOCK, at)
            self.turns.append(
                Turn(len(self.ends), "world", "clock", "", start, self.log.place, at, f"t = {at:g} s", quiet=True)
            )
        return True

    def run(self, until: Callable[[Simulation], bool] | None = None, *, steps: int = 100_000, seconds: float = 3_600.0) -> Iterator[list[Turn]]:
        """Step until the condition holds or nothing is left to do, yielding each step; bounded in steps and time."""
        limit = self.now + seconds
        for _ in range(steps):
            if (until is not None and until(self)) or self.now > limit:
                return
            done = self.step()
            if not done:
                return
            yield done

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

    # -- faults -----------------------------------------------------------------------------------------------

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> None:
        """Note that the nth write of a component from now on is to be refused with this reason."""
        note = Note("world", "refuse", component)
        self._note_fault(note, (*self.log.notes.get(note, ()), (nth, reason)), f"the {nth}. write of {component} will be refused: {reason}")

    def crash(self, component: str) -> None:
        """Let a component crash and restart: its notes are dropped, its cursors start anew."""
        with _Recording(self) as done:
            start = self.log.place
            for note in sorted(note for note in self.log.notes if note.component == component):
                if note.sort != "config":
                    self.log.write(note, None)
            record = Turn(
                len(self.ends), component, "", "", start, self.log.place, self.now,
                f"{component} crashes and starts anew: what it remembered is gone", fault="crash",
            )  # fmt: skip
            self.turns.append(record)
            done.append(record)
            self.ends.append(self.log.place)

    def _note_fault(self, note: Note, value: Any, words: str) -> None:
        with _Recording(self) as done:
            start = self.log.place
            self.log.write(note, value)
            record = Turn(len(self.ends), "world", "", "", start, self.log.place, self.now, words, fault="fault")
            self.turns.append(record)
            done.append(record)
            self.ends.append(self.log.place)

    # -- back, forward, elsewhere -----------------------------------------------------------------------------

    def goto(self, step: int) -> None:
        """Move to the end of a step of this branch (0: the start).

        Raises:
            IndexError: the branch knows no such step.
        """
        if not 0 <= step < len(self.ends):
            raise IndexError(f"step {step} is not between 0 and {len(self.ends) - 1}")
        self.log.seek(self.ends[step])

    def back(self, steps: int = 1) -> None:
        """Go back some steps, to the start at most."""
        self.goto(max(0, self.step_number - steps))

    def switch(self, branch: str) -> None:
        """Go to the end of the future of another branch; the present one is kept under its name.

        Raises:
            LookupError: there is no such branch.
        """
        other = next((b for b in self.branches if b.name == branch), None)
        if other is None:
            raise LookupError(f"no branch is called {branch!r}; there are: {', '.join(b.name for b in self.branches)}")
        self.branches.remove(other)
        self.log.seek(other.start)
        future, turns, ends = self._cut()
        self.branches.append(Branch(self.branch, other.start, future, (turns, ends)))
        self.branch = branch
        self.log.extend(other.changes)
        self.turns += other.beside[0]
        self.ends += other.beside[1]
        self.log.seek(self.log.end)

    def _cut(self) -> tuple[tuple[Change, ...], list[Turn], list[int]]:
        """Forget what lies behind the present place and return it."""
        place = self.log.place
        future = self.log.cut()
        turns = [turn for turn in self.turns if turn.end > place or (turn.end == place and turn.step > self.step_number)]
        if turns:
            del self.turns[-len(turns) :]
        known = bisect_right(self.ends, place)
        ends = self.ends[known:]
        del self.ends[known:]
        return future, turns, ends

    def _restore_future(self, future: tuple[Change, ...], turns: list[Turn], ends: list[int]) -> None:
        self.log.extend(future)
        self.turns += turns
        self.ends += ends

    def _back_to(self, place: int) -> None:
        """Undo an unfinished turn: cut the log back to where it started."""
        self.log.seek(place)
        self.log.cut()
        while self.turns and self.turns[-1].end > place:
            self.turns.pop()

    def rebuild(self) -> None:
        """Build every view anew from contents (after an error, or to check that moving equals building)."""
        for process in self.processes.values():
            kinds = process.seen.kinds
            process.reset()
            for objects in kinds.values():
                for key in sorted(objects):
                    for apply in process.hear.get(key.kind, ()):
                        apply(key, None, objects[key])
                    if self.tracking and key.kind not in SILENT_KINDS:
                        process.sum = (process.sum + meaning(key, objects[key])) % MODULUS
            for note in sorted(note for note in self.log.notes if note.component == process.name):
                for apply in process.hear.get(note.sort, ()):
                    apply(note, None, self.log.notes[note])

    def fork(self) -> Simulation:
        """Return another simulation at the same place with the same past; nothing that one does touches the other."""
        other = Simulation(self.components, self.server, self.seed)
        other.branch = self.branch
        other.log.changes = self.log.changes[: self.log.place - self.log.base]
        other.log.base = self.log.base
        other.log.by_kind = {
            kind: places[: bisect_right(places, self.log.place - 1)] for kind, places in self.log.by_kind.items()
        }
        other.log.objects = dict(self.log.objects)
        other.log.notes = dict(self.log.notes)
        other.log._place = self.log.place  # noqa: SLF001 - a fork is the log's own business
        other.ends = self.ends[: bisect_right(self.ends, self.log.place)]
        other.turns = [turn for turn in self.turns if turn.end <= self.log.place]
        for name, process in self.processes.items():
            for kind, objects in process.seen.kinds.items():
                other.processes[name].seen.kinds[kind] = dict(objects)
            other._wake_of[name] = dict(self._wake_of[name])  # noqa: SLF001 - as above
        for name, wake in self.wakes.items.items():
            other.wakes.apply(Note("", "wake", name), None, wake)
        other.rebuild()
        return other

    def track(self) -> None:
        """Keep the sums of the digest up to date from now on (the explorer asks for a digest after every turn)."""
        self.tracking = True
        self.objects_sum = sum(meaning(k, o) for k, o in self.log.objects.items() if k.kind not in SILENT_KINDS) % MODULUS
        self.rebuild()

    def digest(self) -> str:
        """Return the digest of meaning of the present place (see `digest`)."""
        if not self.tracking:
            self.track()
        seen = []
        for name, process in self.processes.items():
            stale = []
            for kind in self.pending(process):
                for key in {change.key for change in self.behind(process, kind)}:
                    here, there = process.seen.kinds[kind].get(key), self.log.objects.get(key)  # type: ignore[arg-type]
                    if here is not None and here == there and here is not there:
                        stale.append(key)
            seen.append((name, process.sum, tuple(sorted(stale))))
        text = f"{self.objects_sum}|{seen!r}|{notes_sum(self.log, self.now)}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class _Recording:
    """One step being made: cuts the future off first, and finds it again when the step came out alike."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.done: list[Turn] = []

    def __enter__(self) -> list[Turn]:
        sim = self.sim
        self.start = sim.log.place
        self.known = sim.step_number
        self.future, self.turns, self.ends = sim._cut()  # noqa: SLF001 - one with the simulation
        self.quiet = len(sim.turns)
        return self.done

    def __exit__(self, failed: object, *_: object) -> None:
        sim = self.sim
        if failed is not None or sim.log.place == self.start:
            sim._back_to(self.start)  # noqa: SLF001
            sim._restore_future(self.future, self.turns, self.ends)  # noqa: SLF001
            return
        made = sim.log.changes[self.start - sim.log.base :]
        if not self.future:
            return
        if tuple(made) == self.future[: len(made)]:
            sim.log.extend(self.future[len(made) :])
            sim.turns += [turn for turn in self.turns if turn.end > sim.log.place]
            sim.ends += [end for end in self.ends if end > sim.log.place]
        else:
            names = {branch.name for branch in sim.branches} | {sim.branch}
            name = next(f"branch-{n}" for n in range(1, len(names) + 2) if f"branch-{n}" not in names)
            sim.branches.append(Branch(sim.branch, self.start, self.future, (self.turns, self.ends)))
            sim.branch = name


def _since(new: Any, old: Any) -> int:
    """Return the version of the later state of a net change: the order in which a component hears of several."""
    obj = new if new is not None else old
    return int(obj.metadata.resource_version)


def _words(outcomes: Sequence[Done | Refused]) -> str:
    for outcome in outcomes:
        write = outcome.write
        if isinstance(outcome, Refused):
            return f"{write.words or f'{write.verb} {write.subject}'}: refused ({outcome.reason})"
        return write.words or f"{write.verb} {write.subject}"
    return ""


__all__ = ["Next", "Simulation", "Turn", "encode"]
