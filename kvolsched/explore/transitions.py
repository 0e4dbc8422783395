"""What can happen next in a world: who sees, who acts, which wake-up rings, which chosen fault strikes.

A move is what the search branches over and what a trace is made of. Making one is the same code in the search and in
the replay, so that a trace found is a trace that happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.world.apiserver import CLOCK, CommittedWrite, Write
from kvolsched.world.component import Actor, Process, TurnContext
from kvolsched.world.log import Key, Note
from kvolsched.world.simulation import Simulation


@attrs.frozen
class Refuse:
    """A fault: a write of this component is refused, at most so many times."""

    component: str
    reason: str = "Conflict"
    times: int = 1

    def __str__(self) -> str:
        return f"{self.component}'s writes refused with {self.reason}, {_times_text(self.times)}"


@attrs.frozen
class Crash:
    """A fault: this component crashes and starts anew, at most so many times."""

    component: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.component} crashes, {_times_text(self.times)}"


@attrs.frozen
class UserAct:
    """A fault: somebody outside carries these writes out, one after the other, each at any moment or never.

    A write may be a function of the API objects that returns it, or None while it is not possible.
    """

    words: str
    writes: tuple[Write | Callable[[Mapping[Key, Any]], Write | None], ...]
    component: str = "user"

    @property
    def times(self) -> int:
        """How often it can strike."""
        return len(self.writes)

    def __str__(self) -> str:
        return self.words


ChosenFault = Refuse | Crash | UserAct
FaultCounts = tuple[int, ...]


@attrs.frozen
class Transition:
    """One thing that happens.

    `what` is see, act, ring, time or fault; `cause` what is acted on, or the name of the wake-up; `choices` the
    outcomes of the draws on the way; `fault` the number of the chosen fault that strikes (-1: none).
    """

    what: str
    component: str = ""
    actor: str = ""
    cause: str = ""
    kinds: tuple[str, ...] | None = None
    choices: tuple[int, ...] = ()
    fault: int = -1


class NotEnabledError(Exception):
    """A move that turned out to be none: a fault that met no write."""


class TransitionSystem:
    """The moves of one world under chosen faults, lag and clock. Mutable: it moves the world.

    Args:
        sim: the world; a fork, it is moved about.
        faults: which faults may strike.
        lag: "ordered" (a component sees everything up to some place), "per kind" (each kind up to its own place) or
            "none" (everybody sees every write at once).
        clock: "idle" (time passes only when nothing else can happen) or "free" (any wake-up may ring at any moment).
        components: who may act; None for all.
        eager, idle: which moves are made without asking (see `at_once`).
    """

    def __init__(
        self,
        sim: Simulation,
        faults: Sequence[ChosenFault] = (),
        lag: str = "ordered",
        clock: str = "idle",
        components: Sequence[str] | None = None,
        *,
        eager: bool = True,
        idle: bool = True,
    ) -> None:
        self.sim = sim
        self.faults = tuple(faults)
        self.lag = lag
        self.clock = clock
        self.processes = [p for name, p in sim.processes.items() if components is None or name in components]
        self.eager = eager
        self.idle = idle
        self.drawn: list[int] = []
        self._choices: tuple[int, ...] = ()
        self.ctx: TurnContext | None = None
        self.goes_on = False
        self.words = ""
        self._known_idle: dict[Any, bool] = {}
        sim.chooser = self._choose

    # -- which moves there are --------------------------------------------------------------------------------

    def moves(self) -> list[Transition]:
        """Return what can happen next, without faults."""
        found: list[Transition] = []
        for process in self.processes:
            if not process.watching:
                continue
            name = process.name
            if process.pending and self.lag == "ordered":
                found.append(Transition("see", name))
            elif process.pending and self.lag == "per kind":
                found += [Transition("see", name, kinds=(kind,)) for kind in process.cursors if kind in process.pending]
            found += [Transition("ring", name, cause=wake) for wake in self._wakes(process)]
            for actor in process.component.actors:
                ctx = TurnContext(self.sim, process, actor)
                found += [Transition("act", name, actor.name, cause) for _, cause in actor.ready_causes(ctx, every=True)]
        if not found and self._next_wake() is not None:
            return [Transition("time")]
        return found

    def last_resort(self) -> list[Transition]:
        """Return the periodic wake-ups: they come when nothing else can happen, in any order."""
        return [
            Transition("ring", process.name, cause=name)
            for process in self.processes
            for name, wake in sorted(process.wake_ups.items.items())
            if wake.periodic
        ]

    def strikes(self, used: FaultCounts) -> Iterator[Transition]:
        """Yield the faults that may strike now on their own; refusals strike an act."""
        for number, fault in enumerate(self.faults):
            if used[number] < fault.times and not isinstance(fault, Refuse):
                yield Transition("fault", fault.component, fault=number)

    def refusals(self, move: Transition, used: FaultCounts) -> Iterator[Transition]:
        """Yield an act that has just written once more, with its write refused."""
        for number, fault in enumerate(self.faults):
            if isinstance(fault, Refuse) and fault.component == move.component and used[number] < fault.times:
                yield attrs.evolve(move, fault=number)

    def other_draws(self, move: Transition) -> Iterator[Transition]:
        """Yield the move that was just made with other outcomes of the draws that were made first now."""
        made = move.choices + (0,) * (len(self.drawn) - len(move.choices))
        for place in range(len(move.choices), len(made)):
            for other in range(1, self.drawn[place]):
                yield attrs.evolve(move, choices=(*made[:place], other))

    def _next_wake(self) -> float | None:
        """Return when the next wake-up comes that is not periodic, or None."""
        wakes = (wake for process in self.processes for wake in process.wake_ups.items.values())
        return min((wake.at for wake in wakes if not wake.periodic), default=None)

    def _wakes(self, process: Process) -> list[str]:
        wakes = process.wake_ups.items
        if not wakes:
            return []
        now = self.sim.now
        return sorted(n for n, w in wakes.items() if not w.periodic and (self.clock == "free" or w.at <= now))

    # -- making them ------------------------------------------------------------------------------------------

    def make(self, move: Transition, used: FaultCounts) -> FaultCounts:
        """Make one move and return how often each fault has struck then.

        Raises:
            NotPossibleError: it is none: the fault met nothing.
        """
        sim = self.sim
        self.ctx, self.goes_on, self.drawn, self._choices = None, False, [], move.choices
        match move.what:
            case "see":
                sim.deliver(sim.processes[move.component], move.kinds)
                self.words = f"{move.component} sees {', '.join(move.kinds or ()) or 'what there is to see'}"
            case "ring":
                wake = sim.processes[move.component].wake_ups.items[move.cause]
                if wake.periodic and wake.at > sim.now:
                    sim.log.write(CLOCK, wake.at)
                sim.fire_wake_up(sim.processes[move.component], move.cause)
                self.words = f"{move.component} has waited long enough: {move.cause.replace('|', ' ')}"
            case "time":
                sim.log.write(CLOCK, self._next_wake())
                self.words = f"t = {sim.now:g} s"
            case "act":
                self._act(move)
            case _:
                self._strike(move, used)
        if move.fault < 0:
            return used
        return (*used[: move.fault], used[move.fault] + 1, *used[move.fault + 1 :])

    def at_once(self, since: int | None = None) -> None:
        """Make the moves that need no choice, until there is none: part of the move before them.

        `since` is the place where that move began (None: nothing of the kind was made before).

        `eager`: a component that has nothing to do and no wake-up to come sees at once (without lag everybody does).
        It cannot act before it sees, and what it could do having seen later it can still do, by seeing again. What is
        lost is only that it skips versions: an object that came and went, or two changes heard of as one. A watch
        that does not break skips none. With lag per kind this holds for who watches one kind only: who sees one kind
        late may see another first, and act.

        `idle`: a reconcile that finds nothing to do is made at once: it touches nothing that others see. Postponed
        until its component has seen more, it might find something; but then what was seen makes its cause dirty
        again, if the routine listens to all that it reads, and it is taken up then.
        """
        log = self.sim.log
        while True:
            place = log.place
            for process in self.processes:
                if process.pending and self._sees_at_once(process):
                    self.sim.deliver(process)
            if self.idle:
                changed = log.changes[since - log.base : log.place - log.base] if since is not None else ()
                moved = {change.key[0] for change in changed if type(change.key) is Note}
                for process in self.processes:  # who has neither seen nor noted anything has as much to do as before
                    if since is None or process.name in moved or CLOCK[0] in moved:
                        self._reconcile_idly(process)
            if log.place == place:
                return
            since = place

    def _reconcile_idly(self, process: Process) -> None:
        """Make the turns of a component that change nothing but its own list of what to do."""
        for actor in process.component.actors:
            for _, cause in actor.ready_causes(TurnContext(self.sim, process, actor), every=True):
                # Whether a turn is idle depends on what its component knows, so it is tried once for each of that.
                key = (self.sim.local_state(process.name), actor.name, cause)
                idle = self._known_idle.get(key)
                if idle is not False:
                    self._known_idle[key] = self._try_idly(process, actor, cause)

    def _try_idly(self, process: Process, actor: Actor, cause: str) -> bool:
        """Make a turn, and take it back unless it was idle."""
        log = self.sim.log
        start = log.place
        self.drawn, self._choices = [], ()
        ctx, goes_on = self.sim.act(process, actor, cause)
        if goes_on or ctx.outcomes or ctx.reads or ctx.events or self.drawn or not self._only_forgot(start):
            log.seek(start)
            log.truncate()
            return False
        return True

    def _only_forgot(self, start: int) -> bool:
        log = self.sim.log
        return all(type(change.key) is Note and change.new is None for change in log.changes[start - log.base :])

    def _sees_at_once(self, process: Process) -> bool:
        if self.lag == "none":
            return True
        if not self.eager or (self.lag == "per kind" and len(process.cursors) > 1) or self._wakes(process):
            return False
        actors = process.component.actors
        return not any(actor.ready_causes(TurnContext(self.sim, process, actor), every=True) for actor in actors)

    def _act(self, move: Transition) -> None:
        sim = self.sim
        process, actor = sim.find(move.actor, move.component)
        note = Note("world", "refuse", move.component)
        if move.fault >= 0:
            sim.log.write(note, ((1, self.faults[move.fault].reason),))  # type: ignore[union-attr]
        self.ctx, self.goes_on = sim.act(process, actor, move.cause)
        if move.fault >= 0 and note in sim.log.notes:
            raise NotEnabledError

    def _strike(self, move: Transition, used: FaultCounts) -> None:
        fault = self.faults[move.fault]
        place = self.sim.log.place
        if isinstance(fault, Crash):
            self.sim.drop_notes(self.sim.processes[fault.component])
            self.words = f"{fault.component} crashes and restarts: what it remembered is lost"
        elif isinstance(fault, UserAct):
            write = fault.writes[used[move.fault]]
            made = write(self.sim.log.objects) if callable(write) else write
            if made is None or not isinstance(self.sim.commit(fault.component, made), CommittedWrite):
                raise NotEnabledError
            self.words = made.words or f"{fault.words}: {made.verb} {made.subject}"
        if self.sim.log.place == place:
            raise NotEnabledError

    def _choose(self, _purpose: str, _key: str, _attempt: int, among: int) -> int:
        """Answer a draw: as the move says, then the first."""
        self.drawn.append(among)
        place = len(self.drawn) - 1
        return self._choices[place] if place < len(self._choices) else 0


def _times_text(number: int) -> str:
    return "once" if number == 1 else f"up to {number} times"
