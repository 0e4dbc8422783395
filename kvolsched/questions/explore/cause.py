"""Why a failure happens, and how often: the trace of a failure is run again with something changed.

Nothing here looks for known mistakes. A turn matters if the failure is gone without it, the rest of the trace being
taken as far as it still can be. A turn was decided in ignorance if, told of a write that it had not seen or that came
later, it decides otherwise, and with that decision the failure is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ...api.kinds.meta import evolve_parts
from ...core.component_names import DISPLAY_NAMES
from ...core.results import as_sentence
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import RefusedWrite
from ...world.component import seeded_draw
from ...world.log import Change, Key, Note
from ...world.reconciler import RemainingWrites
from ...world.simulation import Simulation
from ..explain import changed_fields
from .expansion import Question
from .invariants import outcome
from .report import TracedTurn, in_steps
from .searched import SearchedObjects, never_holds
from .transitions import FaultCounts, NotEnabledError, Transition, TransitionSystem

SEEDS = 8  # of runs that go on after a trace, until one ends well
LONGEST = 1_000  # turns of one run
MOST_TURNS = 20_000  # of all runs that look for the cause


class Reruns:
    """Runs a trace again, with something changed. Mutable: it moves a world that has replayed the trace."""

    def __init__(self, sim: Simulation, trace: Sequence[Transition], turns: Sequence[TracedTurn],
                 question: Question) -> None:
        self.sim, self.trace, self.turns, self.question = sim, trace, turns, question
        self.system = TransitionSystem(sim, question.faults, **question.options)
        self.searched = SearchedObjects(sim)
        self.invariants = (*question.invariants, never_holds(question.never, sim))
        self.wrong_at_rest = never_holds(question.at_rest, sim)
        self.left = MOST_TURNS
        self.goes_on = False  # whether what is wrong shows only where nothing is left to do
        self.goes_on = not (turns and self.fails(turns[0], trace[turns[0].index :]))

    def matters(self, at: TracedTurn) -> bool:
        """Whether the failure is gone without a turn.

        Left out are that turn and those in which its actor goes on with its cause: they come when all else is done.
        """
        out, later = attrs.evolve(self.trace[at.index], choices=()), self.trace[at.index + 1 :]
        return not self.fails(at, [each for each in later if attrs.evolve(each, choices=()) != out])

    def fails(self, at: TracedTurn, rest: Sequence[Transition], instead: Sequence[Change] = ()) -> bool:
        """Whether the failure is met if these changes are made in the place of a turn, and then the rest of a trace."""
        def run() -> bool:
            struck = self._struck(at)
            for change in instead:
                self.sim.log.write(change.key, change.new)
            self.system.run_urgent()
            for transition in rest:
                struck, wrong = self._take(transition, struck)
                if wrong:
                    return True
            return self.goes_on and self._ends_badly()

        return self.sim.visit(at.turn.start, run)

    def otherwise(self, at: TracedTurn, known: Sequence[Change] = ()) -> str | None:
        """Return what a turn would have done if its component had seen all there was, and these changes too.

        None if that is the same, or does not cure the failure; "" if it is nothing.
        """
        sim, transition = self.sim, self.trace[at.index]

        def act() -> tuple[str, Sequence[Change]]:
            for change in known:
                sim.log.write(change.key, change.new)
            sim.deliver(sim.processes[transition.component])
            start = sim.log.place
            self._take(transition, self._struck(at), urgent=False)
            ctx = self.system.ctx if sim.log.place > start else None
            words = sim.actor_turn(ctx, transition.cause, start, goes_on=False).words if ctx is not None else ""
            return words, sim.log.changes[start - sim.log.base :]

        words, changes = sim.visit(at.turn.start, act)
        same = words == at.turn.words and _decided(changes) == _decided(self.changes(at))
        return None if same or self.fails(at, self.trace[at.index + 1 :], changes) else words

    def changes(self, at: TracedTurn) -> Sequence[Change]:
        """Return what a turn changed."""
        log = self.sim.log
        return log.changes[at.turn.start - log.base : at.turn.end - log.base]

    def independent_of(self, at: TracedTurn) -> dict[TracedTurn, Sequence[Change]]:
        """Return the later turns that wrote objects and did not come of a turn, with what they wrote.

        What comes of it is what its actor writes for its cause, and what is then written to these objects, for them, or
        with their names.
        """
        touched, found = set[Key](), dict[TracedTurn, Sequence[Change]]()
        for each in self.turns[self.turns.index(at) :]:
            written = [change for change in self.changes(each) if type(change.key) is Key]
            names = {name for key in touched for name in (key.name, f"{key.namespace}/{key.name}".lstrip("/"))}
            named = {field.new for change in written for field in changed_fields(change.old, change.new)}
            same = (each.turn.component, each.turn.cause) == (at.turn.component, at.turn.cause)
            if same or names & {each.turn.cause, *named} or any(change.key in touched for change in written):
                touched.update(change.key for change in written)  # type: ignore[misc]
            elif written:
                found[each] = written
        return found

    def random_run(self, seed: int) -> tuple[str, bool]:
        """Return how a run in a random order ends, and whether it goes well.

        Of all that may happen next, everything is as likely: every turn, look, wake-up and fault, and every draw.
        """
        def run() -> tuple[str, bool]:
            system, struck, wrong = self.system, (0,) * len(self.system.faults), False
            self.left = MOST_TURNS
            system.run_urgent()
            for number in range(LONGEST):
                found = system.enabled()
                if not found:
                    break
                refusals = (each for act in found if act.kind == "act" for each in system.refusals(act, struck))
                found = [*found, *system.possible_faults(struck), *refusals]
                chosen = found[seeded_draw(seed, "transition", "", number, len(found))]
                draws = tuple(seeded_draw(seed, "draw", "", number * 10 + draw, 1 << 30) for draw in range(10))
                struck, wrong = self._take(attrs.evolve(chosen, choices=draws), struck)
                if wrong:
                    break
            fails = wrong or (self.goes_on and self._is_wrong_in_the_end())
            return (self.question.summary or outcome)(self.searched), not fails

        steps = self.sim.history.ends
        return self.sim.visit(steps[self.turns[0].turn.step - 1] if self.turns else steps[-1], run)

    def _struck(self, at: TracedTurn) -> FaultCounts:
        """Return how often each fault has struck before a turn."""
        struck = [transition.fault for transition in self.trace[: at.index]]
        return tuple(struck.count(fault) for fault in range(len(self.system.faults)))

    def _take(self, transition: Transition, struck: FaultCounts, *, urgent: bool = True) -> tuple[FaultCounts, bool]:
        """Make a transition if it is enabled; return how often each fault has struck, and whether it fails there.

        Raises:
            TimeoutError: there were too many.
        """
        system, log = self.system, self.sim.log
        self.left -= 1
        if self.left < 0:
            raise TimeoutError(f"the cause was not found in {MOST_TURNS:,} turns")
        place, before = log.place, dict(log.objects)
        plain = attrs.evolve(transition, choices=(), fault=-1)
        if transition.kind != "fault" and plain not in (system.enabled() or system.periodic_wakeups()):
            return struck, False
        try:
            struck = system.execute(transition, struck)
        except NotEnabledError:
            log.seek(place)
            log.truncate()
            return struck, False
        failed = system.ctx is not None and system.ctx.failure
        if failed or any(wrong(before, log.objects) for wrong in self.invariants):
            return struck, True
        if urgent:
            system.run_urgent(place)
        return struck, callable(self.question.until) and bool(self.question.until(self.searched))

    def _ends_badly(self) -> bool:
        """Whether what was asked for is missing in the end, whatever comes of the draws on the way."""
        sim, chooser, drawn = self.sim, self.sim.chooser, set[int]()

        def run(seed: int) -> bool:
            def choose(purpose: str, key: str, attempt: int, among: int) -> int:
                drawn.add(among)
                return seeded_draw(seed, purpose, key, attempt, among)

            sim.chooser = choose
            return self._is_wrong_in_the_end()

        try:
            return all(sim.visit(sim.place, partial(run, seed)) for seed in range(SEEDS) if not seed or drawn - {1})
        finally:
            sim.chooser = chooser

    def _is_wrong_in_the_end(self) -> bool:
        """Let everybody act in the natural order until nothing is left to do, and say whether that is wrong."""
        sim, question = self.sim, self.question
        for _ in range(LONGEST):
            self.left -= 1
            acting = (each for each in self.system.processes if each.watching and not sim.is_delayed(each))
            waiting = [(task, each.name) for each in acting if (task := sim.oldest_task(each)) is not None]
            if waiting:
                sim.turn(sim.processes[min(waiting)[1]])
            elif not sim.advance_clock():
                break
        stuck = question.until == "stuck" and question.goal is not None and not question.goal(self.searched)
        return stuck or bool(self.wrong_at_rest(sim.log.objects, sim.log.objects))


def shows_the_end(sim: Simulation, each: TracedTurn) -> bool:
    """Whether a turn is the last pass of a pod that no node fits in the end."""
    note = sim.log.notes.get(Note(each.turn.component, "pass", each.turn.cause)) if each.turn.actor == PASS else None
    return note is not None and not note.fit and each.turn.start <= note.place <= each.turn.end


def causes(reruns: Reruns, matter: Sequence[TracedTurn]) -> Iterator[str]:
    """Yield what may be the cause of a failure, the nearest first: what was not seen, lost, or not yet known.

    Args:
        reruns: the failure.
        matter: the turns without which it does not happen.
    """
    acts = [each for each in reversed(matter) if reruns.trace[each.index].kind == "act"]
    faults = [each for each in matter if reruns.trace[each.index].fault >= 0]
    if matter and matter[-1].turn.failed:
        yield f"{_who(matter[-1])} failed at step {matter[-1].turn.step}."
    for each in acts:
        if each.unseen and (instead := reruns.otherwise(each)) is not None:
            missed = max({other.turn.step for other in matter} & {*each.unseen}, default=each.unseen[-1])
            words = (turn.words for turn in reruns.sim.history.turns_of(missed) if turn.words and not turn.quiet)
            yield (f"{_who(each)} had not seen step {missed} ({_inside(next(words, 'a change'))}) when it took "
                   f"{_named(each)}. {_had_it_known(each, instead)}")  # fmt: skip
    for each in faults:
        yield from _lost(reruns, matter, each)
    for each in acts:
        later = reruns.independent_of(each)
        for other in sorted(later, key=lambda other: other not in matter):
            if (instead := reruns.otherwise(each, later[other])) is not None:
                yield f"{_too_early(matter, each, other)}. {_had_it_known(each, instead)}"
    steps = in_steps([each.turn.step for each in matter])
    if special := faults or [each for each in matter if _refused(each)]:
        yield f"It takes {_named(special[0])}{f', of {steps}' if len(matter) > 1 else ''}."
    elif matter:
        yield f"It takes {steps}; with all there was to see each would have gone the same way."
    elif reruns.turns:
        yield "It happens in the natural order of turns, too, and hangs on no single turn."
    else:
        yield "It is so from the start."


def _lost(reruns: Reruns, matter: Sequence[TracedTurn], fault: TracedTurn) -> Iterator[str]:
    """Yield what was lost by a fault: a write that was refused, or what a crash made a component forget."""
    if _refused(fault):
        yield f"Nobody made a write again that was refused: {_named(fault)}."
    lost = {change.key: change.old for change in reruns.changes(fault)
            if type(change.key) is Note and change.new is None and change.key.component == fault.turn.component}
    noted = [each for each in matter
             if each.index < fault.index and any(change.key in lost for change in reruns.changes(each))]
    if noted:
        plans = (write for old in lost.values() if isinstance(old, RemainingWrites) for write in old.writes)
        left = next((f"; it still had to {write.verb} {write.subject}" for write in plans), "")
        yield f"{_who(fault)} forgot at step {fault.turn.step} what it had noted at {_named(noted[-1])}{left}."


def _too_early(matter: Sequence[TracedTurn], each: TracedTurn, other: TracedTurn) -> str:
    """Say that a turn was decided before another one came, or that two were without either knowing of the other."""
    twin = next((twin for twin in matter if twin is not each and twin.turn.actor == each.turn.actor
                 and twin.turn.cause == other.turn.cause), None)  # fmt: skip
    if twin is None:
        return as_sentence(f"{_named(each)} was decided before {_named(other)}")[:-1]
    pair = sorted((twin, each), key=lambda one: one.index)
    first, second = (one.turn.cause.rpartition("/")[2] for one in pair)
    what = "nodes were chosen" if each.turn.actor == PASS else "turns were decided"
    steps = in_steps([one.turn.step for one in pair])
    return f"{first}'s and {second}'s {what} at {steps} without either knowing of the other's"


def _decided(changes: Sequence[Change]) -> list[tuple[Key, Any]]:
    """Return the objects that a turn wrote, without their versions."""
    return [(change.key, change.new and evolve_parts(change.new, metadata={"resource_version": 0}))
            for change in changes if type(change.key) is Key and change.key.kind != "Event"]  # fmt: skip


def _refused(each: TracedTurn) -> bool:
    return any(isinstance(outcome, RefusedWrite) for outcome in each.turn.outcomes)


def _named(each: TracedTurn) -> str:
    return f"step {each.turn.step} ({_inside(each.turn.words)})"


def _who(each: TracedTurn) -> str:
    who = DISPLAY_NAMES.get(each.turn.component, each.turn.component)
    return who[:1].upper() + who[1:] if who.isalpha() else who


def _had_it_known(each: TracedTurn, instead: str) -> str:
    new = next((sentence for sentence in instead.split(". ") if sentence not in each.turn.words), "")
    otherwise = "written something else" if instead else "done nothing"
    return f"Had it known: {_inside(new)}." if new else f"Had it known, it would have {otherwise}."


def _inside(words: str) -> str:
    """Return the first sentence of words as it stands in another: without a capital, unless it is a name's."""
    first = f"{words} ".partition(". ")[0].rstrip(" .")
    return first[:1].lower() + first[1:] if first.partition(" ")[0].istitle() else first
