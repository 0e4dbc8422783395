"""The simulation: chooses who acts next, makes turns and steps, advances the clock, and moves through history.
It is over 500 lines because all of these share one undo.

In a turn a component sees its pending changes, then one of its actors takes up one cause and makes at most one write.
The clock advances only when no component has anything to do, to the earliest wake-up. Contents, seed and choices
determine every run. An error or interrupt inside a step leaves the world as it was.
"""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

import attrs

from ..api.kinds.meta import maker
from .apiserver import ApiServer, CommittedWrite, RefusedWrite, Write
from .checkpoint import Checkpoint
from .component import Actor, Component, Process, TurnContext
from .history import Branch, History, Preview, StepTransaction, Turn, despite_interrupts
from .log import Log, Note
from .outage import OUTAGES, begin_outage, first_return
from .rules import RunningRules, rules_note
from .runtime import Runtime

Read = TypeVar("Read")
_turn = maker(Turn)
SPENT = frozenset({"refuse", "asked"})  # sorts of the world's notes that count what happened, even if it was refused


@attrs.frozen
class NextTurn:
    """An actor that may act next, the cause it would take up, and since when (position in the log)."""

    component: str
    actor: str
    cause: str
    since: int


class _RollBack(Exception):
    """Raised to undo the present step."""


class Simulation(Runtime):
    """A world whose components act turn by turn. Mutable; moves only by steps, turns, `goto` and `switch`."""

    def __init__(self, components: Iterable[Component], server: ApiServer | None = None, seed: int = 0) -> None:
        super().__init__(components, server, seed)
        self.history = History(self.log)
        self.listeners: tuple[Callable[[], object], ...] = ()
        self.watching: dict[str, Mapping[Any, tuple[int, bool]]] = {}  # by client that is served

    @property
    def turns(self) -> list[Turn]:
        """The turns of this branch, including its known future."""
        return self.history.turns

    @property
    def step_number(self) -> int:
        """The number of steps that lead to the present position."""
        return self.history.step_number

    @property
    def known_steps(self) -> int:
        """The number of steps of this branch, including its known future."""
        return self.history.known_steps

    @property
    def branch(self) -> str:
        """The name of the present branch."""
        return self.history.branch

    @property
    def branches(self) -> list[Branch]:
        """The other branches."""
        return self.history.branches

    def reset_history(self) -> None:
        """Make the present position the start: earlier changes belong to no turn and cannot be gone back over."""
        self.history = History(self.log)

    def advance_clock(self, limit: float = math.inf, *, polls: bool = False) -> bool:
        """Advance the clock to the earliest wake-up or end of an outage; return False if there is none till then.

        Idle periodic wake-ups alone are none, unless `polls` says so.
        """
        at = self.next_time(polls=polls)
        if at is None or at > limit:
            return False
        self.set_clock(max(at, self.now))
        return True

    def next_time(self, *, polls: bool = False) -> float | None:
        """Return the time of the earliest wake-up or end of an outage; None if there is none."""
        acting = [process.wake_ups for process in self.processes.values() if not self.is_delayed(process)]
        ends = first_return(self.log.notes, self.processes)
        idle = ends is None and all(wake_up.periodic for wake_ups in acting for wake_up in wake_ups.items.values())
        if not polls and idle and not any(map(self._needs_poll, self.processes.values())):
            return None
        first = (wake_ups.first() for wake_ups in acting)
        times = [*(wake_up[0][0] for wake_up in first if wake_up is not None), *(() if ends is None else (ends,))]
        return min(times, default=None)

    def _needs_poll(self, process: Process) -> bool:
        """Say whether a periodic wake-up of a component will find news outside the API."""
        needs_poll = process.component.needs_poll
        if needs_poll is None or not process.watching or not process.wake_ups.items:
            return False
        return needs_poll(self.read_only_context(process, process.component.actors[0]))

    def _longest_waiting(self) -> Process | None:
        """Return the component whose oldest task lies furthest back in the log, or None.

        Only components are asked of which something has changed since they were asked last.
        """
        found: Process | None = None
        furthest: int | None = None
        any_is_out = OUTAGES in self.log.notes
        for process in self.processes.values():
            if not process.watching or (any_is_out and self.is_delayed(process)):
                continue
            oldest = process.oldest_task if process.knows_oldest_task else self.oldest_task(process)
            if oldest is not None and (furthest is None or oldest < furthest):
                found, furthest = process, oldest
        return found

    def next_actors(self) -> list[NextTurn]:
        """List who may act next, in the order of the lanes, by a trial of all deliveries that is undone."""
        with self.transaction() as trial:
            for process in self.processes.values():
                self.deliver(process)
                self.fire_due_wake_ups(process)
            found = [NextTurn(process.name, actor.name, cause, order) for process in self.processes.values()
                     for actor in (() if self.is_delayed(process) else process.component.actors)
                     for order, cause in actor.ready_causes(TurnContext(self, process, actor), every=True)]
            trial.drop()
        return found

    def preview(self, most: int | None = None, each: int | None = None) -> Preview:
        """Return the turn of a plain step, then the turns that other actors could make now, by lanes; all are undone.

        Quiet turns are left out. The first turn may lie in the future (its `time`), since a plain step waits.

        Args:
            most: how many turns are enough; the rest is not tried.
            each: how many causes of an actor are tried.
        """
        found = Preview()
        with self.transaction() as trial:
            first = self._next_visible_turn(trial)
            trial.drop()
            if first is not None:
                found.append(first)
                others = self._trials((first.actor, first.cause), each, found)
                found += islice(others, None if most is None else max(0, most - 1))
                trial.drop()
        return found

    def _trials(self, known: tuple[str, str], each: int | None, preview: Preview) -> Iterator[Turn]:
        """Yield the visible turn of every other ready cause by lanes, of an actor's first ones; each is undone."""
        for process in self.processes.values():
            self.deliver(process)  # not to those that are not asked, as enough is known
            self.fire_due_wake_ups(process)
            for actor in () if self.is_delayed(process) else process.component.actors:
                causes = actor.ready_causes(TurnContext(self, process, actor), every=True)
                preview.untried += len(causes) - len(causes[:each])
                for _, cause in causes[:each]:
                    if (actor.name, cause) == known:
                        continue
                    start = self.log.place
                    turn = self.turn(process, actor, cause, see=False, goes_on=True)
                    self.log.seek(start)
                    self.log.truncate()
                    if not turn.quiet:
                        yield turn

    def turn(self, process: Process, actor: Actor | None = None, cause: str | None = None, *, see: bool = True,
             goes_on: bool = False) -> Turn:
        """Make one turn and return its record: deliver pending changes (if `see`), then let an actor take up a cause.

        If the cause `goes_on`, as the actor has said in its last turn, it is not asked for its ready causes again.

        Raises:
            LookupError: the actor has no such cause.
        """
        start = self.log.place
        if see:
            if process.pending:
                self.deliver(process)
            if process.wake_ups.items:
                self.fire_due_wake_ups(process)
        if self.is_delayed(process):
            chosen = None
        elif goes_on and actor is not None and cause is not None:
            chosen = (actor, cause)
        else:
            chosen = self._choose(process, actor, cause)
        if chosen is None:
            return self.actorless_turn(start, process.name, quiet=True)
        ctx, goes_on = self.act(process, *chosen)
        return self.actor_turn(ctx, chosen[1], start, goes_on=goes_on)

    def actor_turn(self, ctx: TurnContext, cause: str, start: int, *, goes_on: bool) -> Turn:
        """Return the record of a turn that an actor has just made."""
        outcomes = ctx.outcomes
        words = ctx.words or _words_of_first(outcomes)
        return _turn(
            len(self.history.ends), ctx.component, ctx.actor.name, cause, start, self.log.place, self.now, words,
            tuple(outcomes), tuple(ctx.reads), ctx.events, ctx.visits, goes_on,
            not (goes_on or outcomes or ctx.events or words), calls=ctx.calls, failed=bool(ctx.failure),
        )

    def actorless_turn(self, start: int, component: str, words: str = "", fault: str = "", *,
                       quiet: bool = False) -> Turn:
        """Return the record of a turn since `start` without an actor: deliveries, time or a fault."""
        return Turn(len(self.history.ends), component, "", "", start, self.log.place, self.now, words, fault=fault,
                    quiet=quiet)

    def transaction(self) -> StepTransaction:
        """Return a context manager that records what is done inside it as one step, and undoes it after an error."""
        return StepTransaction(self.history, self._undo, self._tell_moved)

    def _choose(self, process: Process, actor: Actor | None, cause: str | None) -> tuple[Actor, str] | None:
        best: tuple[int, int, Actor, str] | None = None
        for lane, (candidate, ctx) in enumerate(self.contexts(process)):
            if actor is not None and candidate is not actor:
                continue
            for order, ready in candidate.ready_causes(ctx, every=cause is not None):
                if (cause is None or ready == cause) and (best is None or (order, lane) < best[:2]):
                    best = (order, lane, candidate, ready)
        if best is None and cause is not None:
            raise LookupError(f"{actor.name if actor else process.name} has nothing to do about {cause!r}")
        return (best[2], best[3]) if best else None

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False,
             limit: float = math.inf, polls: bool = False, idle: str = "") -> list[Turn]:
        """Make one step, the turns of one cause, and return them; an empty list means that there is nothing to do.

        Args:
            actor: the name of an actor, or of a component (any of its actors); by default the longest waiting goes.
            cause: which of its ready causes the actor takes up.
            turns: stop after one visible turn.
            limit: a time that the clock does not pass.
            polls: idle periodic wake-ups are something to do.
            idle: the words of a step that moves the clock to the limit, if nothing but time is left before it.

        Raises:
            LookupError: there is no such actor, or it has no such cause.
        """
        with self.transaction() as step:
            if actor is not None:
                last = self._visible_turn_of(actor, cause, step)
            else:
                last = self._next_visible_turn(step, limit, polls=polls)
            if last is None and idle and self.next_time() is not None:
                last = self._idle(step, limit, "world", idle)
            if last is None:
                return []
            if not turns:
                self._finish(step, last)
        return step.turns

    def _finish(self, step: StepTransaction, last: Turn) -> None:
        """Make the other turns of a cause, after its last one in this step."""
        while last.goes_on:
            process = self.processes[last.component]
            last = step.add(self.turn(process, process.actors[last.actor], last.cause, goes_on=True))

    def _next_visible_turn(self, step: StepTransaction, limit: float = math.inf, *, polls: bool = False) -> Turn | None:
        """Make turns of the longest waiting component, and advance the clock, until one is visible or none is left."""
        while True:
            waiting = self._longest_waiting()
            if waiting is not None:
                turn = step.add(self.turn(waiting))
                if not turn.quiet:
                    return turn
            else:
                start = self.log.place
                if not self.advance_clock(limit, polls=polls):
                    return None
                step.add(self.actorless_turn(start, "world", f"t = {self.now:g} s", quiet=True))

    def _visible_turn_of(self, actor: str, cause: str | None, step: StepTransaction) -> Turn | None:
        """Make turns of an actor, or of a component's actors, until one is visible; undo all if none is."""
        process = self.processes.get(actor)
        who: Actor | None = None
        if process is None or cause is not None or any(other.name == actor for other in process.component.actors):
            process, who = self.find(actor)
        while True:
            turn = step.add(self.turn(process, who, cause))
            if not turn.quiet:
                return turn
            if cause is not None or not turn.actor:
                step.drop()
                return None

    def perform(self, component: str, writes: Sequence[Write], words: str = "", *,
                atomic: bool = False, actor: str = "") -> list[CommittedWrite | RefusedWrite]:
        """Make writes in the name of a component as one step, a turn each (a person at kubectl).

        If `atomic` and one of them is refused, none is made. `actor` is who of the component writes: itself by default.
        """
        outcomes: list[CommittedWrite | RefusedWrite] = []
        place, spent = self.log.place, {}
        with suppress(_RollBack), self.transaction() as step:
            for write in writes:
                start = self.log.place
                outcomes.append(self.commit(component, write))
                step.add(self._request_turn(component, actor, outcomes[-1], start, words))
            if atomic and any(isinstance(outcome, RefusedWrite) for outcome in outcomes):
                changes = self.log.changes[place - self.log.base :]
                spent = {key: new for key, _, new in changes if type(key) is Note and key[1] in SPENT}
                raise _RollBack
        refused = [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]
        if refused and self.log.place == place:
            self.record_refused(component, actor, refused, words, spent)
        return outcomes

    def record_refused(self, component: str, actor: str, refused: Sequence[RefusedWrite], words: str,
                       spent: Mapping[Note, Any] | None = None) -> None:
        """Record requests that changed nothing: as a step if they met a fault or a draw, else beside the steps."""
        if not spent:
            place = self.log.place
            self.history.refused += [self._request_turn(component, actor, outcome, place, words) for outcome in refused]
            return
        with self.transaction() as step:
            for note, value in spent.items():
                self.log.write(note, value)
            for outcome in refused:
                step.add(self._request_turn(component, actor, outcome, self.log.place, words))

    def _request_turn(self, component: str, actor: str, outcome: CommittedWrite | RefusedWrite, start: int,
                      words: str) -> Turn:
        """Return the record of a turn that made one write in the name of a component."""
        fields = len(self.history.ends), component, actor or component, words, start, self.log.place, self.now
        return Turn(*fields, words or _words_of_first([outcome]), outcomes=(outcome,))

    def pass_time(self, seconds: float, component: str, words: str) -> Iterator[list[Turn]]:
        """Let the components act for some seconds while one waits, yielding each step; the last moves the clock.

        The quiet turns at the end belong to that last step, so that going back over it undoes all that came of it.
        """
        end, is_over = self.now + seconds, False
        while not is_over:
            with self.transaction() as step:
                last = self._next_visible_turn(step, end, polls=True)
                is_over = last is None
                if last is None:
                    self._idle(step, end, component, words)
                else:
                    self._finish(step, last)
            yield step.turns

    def idle_until(self, end: float) -> None:
        """Move the clock to a time before which nothing is left to do; it belongs to the step before."""
        with self.transaction() as step:
            self._idle(step, end, "world", "")

    def _idle(self, step: StepTransaction, end: float, component: str, words: str) -> Turn:
        """Move the clock in a turn of its own, which is quiet without words."""
        start = self.log.place
        self.set_clock(max(end, self.now))
        return step.add(self.actorless_turn(start, component, words or f"t = {self.now:g} s", quiet=not words))

    def run(self, until: Callable[[Simulation], bool] | None = None, *, steps: int = 100_000,
            seconds: float = 3_600.0) -> Iterator[list[Turn]]:
        """Step until the condition holds or nothing is left to do, yielding each step; bounded in steps and seconds."""
        limit = self.now + seconds
        for _ in range(steps):
            if until is not None and until(self):
                return
            turns = self.step(limit=limit)
            if not turns:
                if self.next_time() is not None:
                    self.idle_until(limit)
                return
            yield turns

    def inject(self, component: str, words: str, fault: str, notes: Mapping[Note, Any]) -> None:
        """Inject a fault that consists of notes, as one step of its own; None removes a note."""
        with self.transaction() as step:
            start = self.log.place
            for note, value in notes.items():
                self.log.write(note, value)
            step.add(self.actorless_turn(start, component, words, fault))

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict", parts: Sequence[str] = ()) -> None:
        """Inject a fault: the nth write of a component, or of each part of one, is refused with this reason."""
        with self.transaction() as step:
            start = self.log.place
            for note in (Note("world", "refuse", part) for part in parts or (component,)):
                self.log.write(note, (*self.log.notes.get(note, ()), (nth, reason)))
            whose = f"each component of {component}" if len(parts) > 1 else component
            words = f"injected fault: write {nth} of {whose} will be refused with {reason}"
            step.add(self.actorless_turn(start, "world", words, "refuse"))

    def change_outside(self, words: str, change: Callable[[Log], None]) -> None:
        """Change notes of the world as one step: something outside the API happens that no component does."""
        with self.transaction() as step:
            start = self.log.place
            change(self.log)
            step.add(self.actorless_turn(start, "world", words))

    def crash(self, *components: str, process: str = "") -> None:
        """Crash and restart the components of one process, as one step: their notes and cursors are removed.

        One leader is elected. The process has the name of the one component by default.
        """
        process = process or components[0]
        running = (self.log.notes.get(rules_note(component)) for component in components)
        elections = 1 + max((each.elections for each in running if each is not None), default=0)
        with self.transaction() as step:
            for component in components:
                start = self.log.place
                elected = self.restart(self.processes[component], process, elections)
                words = f"{process} crashes and restarts: what it remembered is lost{elected}"
                if self.log.place > start or process == component:
                    step.add(self.actorless_turn(start, component, words, "crash"))

    def outage(self, server: str, seconds: float) -> None:
        """Begin an outage of the API server or of a webhook: for some seconds it answers nobody."""
        with self.transaction() as step:
            start = self.log.place
            begin_outage(self.log, server, self.now + seconds)
            step.add(self.actorless_turn(start, "world", f"{server} is out for {seconds:g} s", "outage"))

    def delay(self, *components: str, seconds: float, process: str = "") -> None:
        """Delay the components of a process, as one step: for some seconds they see nothing and do nothing."""
        words = f"{process or components[0]} is delayed by {seconds:g} s: it sees nothing and does nothing"
        with self.transaction() as step:
            for component in components:
                start = self.log.place
                begin_outage(self.log, component, self.now + seconds)
                step.add(self.actorless_turn(start, component, words, "delay"))

    def run_rules(self, changes: Mapping[str, RunningRules | None], restarting: Sequence[str], words: str) -> None:
        """Let components run other rules, as one step; those that restart lose their notes.

        `changes` has the rules that a component runs (None: as everybody); `EVERYBODY`: those without a note.
        """
        with self.transaction() as step:
            start = self.log.place
            for component in restarting:
                self.drop_notes(self.processes[component])
                if component in changes:
                    self.log.write(rules_note(component), changes[component])
                step.add(self.actorless_turn(start, component, words, "crash"))
                start = self.log.place
            for component in sorted(set(changes) - set(restarting)):
                self.log.write(rules_note(component), changes[component])
            if self.log.place > start or not restarting:
                step.add(self.actorless_turn(start, "world", words, "upgrade"))

    def goto(self, step: int) -> None:
        """Move to the end of a step of this branch (0: the start).

        Raises:
            IndexError: the branch has no such step.
        """
        start, target = self.log.place, self.history.place_of(step)
        try:
            self.log.seek(target)
        except BaseException:
            self._recover(lambda: self.log.recover(start, target))
            raise
        if target != start:
            self._tell_moved()

    def visit(self, place: int, read: Callable[[], Read]) -> Read:
        """Return what a function reads in the world as it was at another position; what it writes is undone.

        Cheaper than a fork, which builds every view. Recorded turns and steps stay as they are. The function is called
        here, since an interrupt on the way into or out of a `with` would leave the world where it is.

        Raises:
            IndexError: the branch has no such position.
        """
        log, present = self.log, self.log.place
        later = log.changes_from(place)
        try:
            log.seek(place)
            log.truncate()
            found = read()
            log.seek(place)
            log.truncate()
            log.extend(later)
            log.seek(present)
        except BaseException:
            self._recover(lambda: log.recover_changes(place, later, present))
            raise
        return found

    def back(self, steps: int = 1) -> None:
        """Go back some steps, to the start at most."""
        self.goto(max(0, self.step_number - steps))

    def switch(self, branch: str) -> None:
        """Switch to the end of another branch; the present one is kept under its name.

        Raises:
            LookupError: there is no such branch.
        """
        self._rearrange(self.history.leaving_place(branch), lambda: self.history.switch(branch))

    def begin_branch(self, name: str) -> None:
        """Begin a branch at the present position; the known future stays under the present branch's name.

        Raises:
            ValueError: the name is empty, or taken.
        """
        self._rearrange(self.log.place, lambda: self.history.begin_branch(name))

    def _rearrange(self, place: int, change: Callable[[], None]) -> None:
        """Change which branch goes on from a position; after an error or interrupt all branches are as they were."""
        log, present = self.log, self.log.place
        later, saved = log.changes_from(place), self.history.saved()
        try:
            change()
        except BaseException:
            self._recover(lambda: log.recover_changes(place, later, present), lambda: self.history.restore(saved))
            raise
        self._tell_moved()

    def _recover(self, *steps: Callable[[], None]) -> None:
        """Put log and history back by these steps, and build every view from the log."""
        despite_interrupts(lambda: [step() for step in (*steps, self.rebuild)])

    def fork(self) -> Simulation:
        """Return an independent simulation at this position with a copy of the past; it shares every frozen value."""
        other = Simulation(self.components, self.server, self.seed)
        other.rule_sets, other.lock = self.rule_sets, self.lock
        other._run_over(self.log.copy())
        other.history = self.history.copy(other.log)
        return other

    def restore(self, checkpoint: Checkpoint, present: Checkpoint | None = None) -> None:
        """Restore a checkpoint of this world, which may be at another one; the past before it is lost."""
        super().restore(checkpoint, present)
        self.history = History(self.log)
        self._tell_moved()

    def on_move(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call a function after every move: a step, `goto`, another branch; return what ends that.

        The move is made by then, whatever the function does: an error of it becomes a warning.
        """
        self.listeners += (listener,)

        def end() -> None:
            self.listeners = tuple(each for each in self.listeners if each is not listener)

        return end

    def _tell_moved(self) -> None:
        """Call the listeners, in the order in which they came."""
        for listener in self.listeners:
            try:
                listener()
            except Exception as error:  # noqa: BLE001 - the step that it was told of stands
                name = getattr(listener, "__qualname__", repr(listener))
                where = traceback.extract_tb(error.__traceback__)[-1]
                warnings.warn(f"{name}, called by on_move, raised {type(error).__name__}: {error} "
                              f"({where.filename}, line {where.lineno}); the cluster has moved", stacklevel=2)


def _words_of_first(outcomes: Sequence[CommittedWrite | RefusedWrite]) -> str:
    """Return the sentence of the first outcome, "" if there is none."""
    for outcome in outcomes:
        write = outcome.write
        if isinstance(outcome, RefusedWrite):
            return f"{write.words or f'{write.verb} {write.subject}'}: refused ({outcome.reason})"
        return write.words or f"{write.verb} {write.subject}"
    return ""
