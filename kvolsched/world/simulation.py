"""Time and turns: who may act, what one turn does to the log, and how to go back, forward and elsewhere.

A turn is: the component sees what there is to see, one of its actors does one thing, makes at most one write. Time
moves only when nobody has anything due, to the earliest wake-up. Every run is decided by contents, seed and choices
alone. An error or interrupt inside a step leaves the world as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import attrs

from .apiserver import CLOCK, ApiServer, CommittedWrite, RefusedWrite, Write
from .checkpoint import Checkpoint
from .component import Actor, Component, Process, TurnContext
from .history import Branch, History, StepTransaction, Turn
from .log import Note
from .runtime import Runtime


@attrs.frozen
class NextTurn:
    """Who may act next, about what, since when (place in the log)."""

    component: str
    actor: str
    cause: str
    since: int


class _TakenBack(Exception):
    """Ends a step of which nothing is to stay."""


class Simulation(Runtime):
    """A world with components in it. Mutable; moves only by steps, turns, `goto` and `switch`.

    Args:
        components: who lives in it; their order is the order of the lanes.
        server: who commits or refuses writes.
        seed: decides draws.
    """

    def __init__(self, components: Iterable[Component], server: ApiServer | None = None, seed: int = 0) -> None:
        super().__init__(components, server, seed)
        self.history = History(self.log)

    # -- what everybody can ask -------------------------------------------------------------------------------

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

    def reset_history(self) -> None:
        """Make the present place the start: what was written so far has no turns and is not gone back over."""
        self.history = History(self.log)

    def advance_clock(self) -> bool:
        """Let time pass to the earliest wake-up; False when only periodic ones are left (the world is idle)."""
        wakes = [wake for process in self.processes.values() for wake in process.wake_ups.items.values()]
        if all(wake.periodic for wake in wakes):
            return False
        self.log.write(CLOCK, max(min(wake.at for wake in wakes), self.now))
        return True

    # -- who goes next ----------------------------------------------------------------------------------------

    def _oldest(self, process: Process) -> int | None:
        """Return the place of the oldest thing that a component has not yet seen or done, or None."""
        oldest = min(process.pending.values()) if process.pending else None
        for actor in process.component.actors:
            ready = actor.ready_causes(self.read_only_context(process, actor))
            if ready and (oldest is None or ready[0][0] < oldest):
                oldest = ready[0][0]
        if process.wake_ups.items:
            now = self.now
            for wake in process.wake_ups.items.values():
                if wake.at <= now and (oldest is None or wake.order < oldest):
                    oldest = wake.order
        return oldest

    def _default(self) -> Process | None:
        """Return the component whose oldest undelivered change, task or due wake-up lies furthest back."""
        found: tuple[int, Process] | None = None
        for process in self.processes.values():
            if not process.watching:
                continue
            oldest = self._oldest(process)
            if oldest is not None and (found is None or oldest < found[0]):
                found = (oldest, process)
        return found[1] if found else None

    def next_actors(self) -> list[NextTurn]:
        """List who may act next, in the order of the lanes: everything is delivered, looked at and taken back."""
        with self.transaction() as trial:
            for process in self.processes.values():
                self.deliver(process)
                self.fire_due_wake_ups(process)
            found = [
                NextTurn(process.name, actor.name, cause, order)
                for process in self.processes.values()
                for actor in process.component.actors
                for order, cause in actor.ready_causes(TurnContext(self, process, actor), every=True)
            ]
            trial.drop()
        return found

    def preview(self) -> list[Turn]:
        """Try out what a plain step would do, then what everybody else could do now, by lanes; all is taken back.

        Turns that would show nothing are left out; the first may lie in the future (its `time`), as a plain step waits.
        """
        trials: list[Turn] = []
        with StepTransaction(self.history, self._undo) as trial:
            first = self._first(trial)
            self._undo(trial.start)
            for process in self.processes.values():
                self.deliver(process)
                self.fire_due_wake_ups(process)
            for process in self.processes.values():
                for actor in process.component.actors:
                    for _, cause in actor.ready_causes(TurnContext(self, process, actor), every=True):
                        start = self.log.place
                        trials.append(self.turn(process, actor, cause, see=False))
                        self.log.seek(start)
                        self.log.truncate()
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
            self.fire_due_wake_ups(process)
        chosen = self._choose(process, actor, cause)
        if chosen is None:
            return self.actorless_turn(start, process.name, quiet=True)
        ctx, more = self.act(process, *chosen)
        return self.actor_turn(ctx, chosen[1], start, goes_on=more)

    def actor_turn(self, ctx: TurnContext, cause: str, start: int, *, goes_on: bool) -> Turn:
        """Return the record of a turn that an actor has just done."""
        words = ctx.words or _words(ctx.outcomes)
        return Turn(
            step=len(self.history.ends),
            component=ctx.process.name,
            actor=ctx.actor.name,
            cause=cause,
            start=start,
            end=self.log.place,
            time=self.now,
            words=words,
            outcomes=tuple(ctx.outcomes),
            reads=tuple(ctx.reads),
            events=ctx.events,
            goes_on=goes_on,
            quiet=not (goes_on or ctx.outcomes or ctx.events or words),
        )

    def actorless_turn(self, start: int, component: str, words: str = "", fault: str = "", *, quiet: bool = False) -> Turn:
        """Return the record of what happened since `start` without any actor."""
        return Turn(
            len(self.history.ends), component, "", "", start, self.log.place, self.now, words, fault=fault, quiet=quiet
        )

    def transaction(self) -> StepTransaction:
        """Return a context: what is done inside it is one step, an error inside it undoes it."""
        return StepTransaction(self.history, self._undo)

    def _choose(self, process: Process, actor: Actor | None, cause: str | None) -> tuple[Actor, str] | None:
        best: tuple[int, int, Actor, str] | None = None
        for lane, candidate in enumerate(process.component.actors):
            if actor is not None and candidate is not actor:
                continue
            for order, what in candidate.ready_causes(TurnContext(self, process, candidate), every=cause is not None):
                if (cause is None or what == cause) and (best is None or (order, lane) < best[:2]):
                    best = (order, lane, candidate, what)
        if best is None and cause is not None:
            raise LookupError(f"{actor.name if actor else process.name} has nothing to do about {cause!r}")
        return (best[2], best[3]) if best else None

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False) -> list[Turn]:
        """Do one step: the turns of one cause, by default of whoever has waited longest; an empty list: nothing to do.

        Args:
            actor: the name of the actor who is to go, or of a component: any of its actors, one after another.
            cause: which of the things it may take up.
            turns: stop after one visible turn (the fine gear).

        Raises:
            LookupError: there is no such actor, or it has no such cause.
        """
        with self.transaction() as step:
            last = self._first_of(actor, cause, step) if actor is not None else self._first(step)
            if last is None:
                return []
            process, who = self.find(last.actor, last.component)
            while last.goes_on and not turns:
                last = step.add(self.turn(process, who, last.cause))
        return step.done

    def _first(self, step: StepTransaction) -> Turn | None:
        """Let whoever has waited longest go, and time pass, until something visible happens or nothing is left."""
        while True:
            waiting = self._default()
            if waiting is not None:
                turn = step.add(self.turn(waiting))
                if not turn.quiet:
                    return turn
            else:
                start = self.log.place
                if not self.advance_clock():
                    return None
                step.add(self.actorless_turn(start, "world", f"t = {self.now:g} s", quiet=True))

    def _first_of(self, actor: str, cause: str | None, step: StepTransaction) -> Turn | None:
        """Let one actor go, or those of a component, until something visible happens; else nothing has happened."""
        process = self.processes.get(actor)
        who: Actor | None = None
        if process is None or cause is not None or any(each.name == actor for each in process.component.actors):
            process, who = self.find(actor)
        while True:
            turn = step.add(self.turn(process, who, cause))
            if not turn.quiet:
                return turn
            if cause is not None or not turn.actor:
                step.drop()
                return None

    def perform(
        self, component: str, writes: Sequence[Write], words: str = "", *, atomic: bool = False
    ) -> list[CommittedWrite | RefusedWrite]:
        """Carry out writes in the name of a component as one step, a turn each (a person at kubectl).

        With `atomic` it is all or nothing: is one of them refused, nothing has happened.
        """
        outcomes: list[CommittedWrite | RefusedWrite] = []
        with suppress(_TakenBack), self.transaction() as step:
            for write in writes:
                start = self.log.place
                outcome = self.commit(component, write)
                outcomes.append(outcome)
                said = words or _words([outcome])
                place = len(self.history.ends), component, component, words, start, self.log.place, self.now, said
                step.add(Turn(*place, outcomes=(outcome,)))
            if atomic and any(isinstance(outcome, RefusedWrite) for outcome in outcomes):
                raise _TakenBack
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
        with self.transaction() as step:
            start = self.log.place
            self.log.write(note, faults)
            words = f"the {nth}. write of {component} will be refused: {reason}"
            step.add(self.actorless_turn(start, "world", words, "refuse"))

    def crash(self, component: str) -> None:
        """Let a component crash and restart: its notes are dropped, its cursors start anew."""
        with self.transaction() as step:
            start = self.log.place
            self.drop_notes(self.processes[component])
            words = f"{component} crashes and starts anew: what it remembered is gone"
            step.add(self.actorless_turn(start, component, words, "crash"))

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
            self.log.recover(start, target)
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
        other._hold(self.log.copy())
        other.history = self.history.copy(other.log)
        other.rebuild()
        return other

    def restore(self, snapshot: Checkpoint) -> None:
        """Be where a snapshot of this world was taken; there is no way back from here but another snapshot."""
        super().restore(snapshot)
        self.history = History(self.log)


def _words(outcomes: Sequence[CommittedWrite | RefusedWrite]) -> str:
    for outcome in outcomes:
        write = outcome.write
        if isinstance(outcome, RefusedWrite):
            return f"{write.words or f'{write.verb} {write.subject}'}: refused ({outcome.reason})"
        return write.words or f"{write.verb} {write.subject}"
    return ""
