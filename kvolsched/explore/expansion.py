"""The expansion of states: every transition that is enabled in a state, and the states that they lead to.

A state that waits to be expanded is its parent's checkpoint and the transition from there. A transition that was
remembered (`turn_memory.py`) is not executed again; a state that it leads to is executed when it is expanded, and must
then have the digest that was foretold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import attrs

from kvolsched.world.checkpoint import Checkpoint
from kvolsched.world.log import Change, Key
from kvolsched.world.simulation import Simulation

from .invariants import Objects
from .named import NamedObjects
from .searched import Property, SearchedObjects, never_holds
from .transitions import ChosenFault, FaultCounts, NotEnabledError, Transition, TransitionSystem
from .turn_memory import Effect, StateParts, TurnMemory, contents_of

Invariant = Callable[[Objects, Objects], str]  # (before, after) -> the violation, "" for none
Goal = Property
Summary = Callable[[Objects], str]

DIGEST_BITS = 128
MAX_END_STATES = 2_000


class ForetoldWrongError(Exception):
    """A state has another digest than a remembered transition foretold: the search must do without memory."""


@attrs.define(eq=False)
class Base:
    """A state that was expanded, from which its successors are executed; its checkpoint is taken if it has any.

    A worker packs the checkpoints of several states together; this one's has a `number` in the `pack`.
    """

    checkpoint: Checkpoint | None = None
    pack: bytes = b""
    number: int = 0


class Waiting(NamedTuple):
    """A state that waits to be expanded: its key, the base and transition that lead to it, what struck on the way.

    `struck` is how often each fault struck before the transition, `counts` after it. `changes` are those that the
    transition made, if it was executed; a number is theirs in the pack of the base.
    """

    key: int
    depth: int
    base: Base
    transition: Transition | None
    struck: FaultCounts
    counts: FaultCounts
    changes: Sequence[Change] | int | None = None


class Successor(NamedTuple):
    """A state that a transition leads to: its key, whether the goal holds, and whether the search may stop there."""

    transition: Transition
    key: int
    counts: FaultCounts
    goal: bool
    stop: bool = False
    changes: Sequence[Change] | int | None = None


@attrs.define(eq=False)
class Expanded:
    """What the expansion of one state found.

    `ends` are the end states that only periodic wake-ups lead to, if nothing else was enabled; `violation` what was
    wrong, after `transition`; `base` leads to new successors.
    """

    successors: list[Successor]
    base: Base
    ends: list[tuple[str, bool]] | None = None
    violation: str = ""
    transition: Transition | None = None

    def report(self, violation: str, transition: Transition | None) -> None:
        """Take note of what was wrong after a transition; the first violation stands."""
        if not self.violation:
            self.violation, self.transition = violation, transition


@attrs.frozen
class Question:
    """What a search asks of every state; see `explore`.

    `until` is "stuck" to stop at the first stuck state, a predicate to stop where it holds, None to visit all states.
    """

    invariants: tuple[Invariant, ...] = ()
    never: tuple[str | Property, ...] = ()
    goal: Goal | None = None
    until: str | Goal | None = "stuck"
    summary: Summary | None = None


class Expander:
    """Expands states of one world. Mutable: it moves the world.

    Args:
        sim: the world, which is changed: a fork without Events.
        faults: the faults that may strike.
        options: lag, clock, components, eager, idle: see `TransitionSystem`.
        question: what is asked of every state.
        named: the objects that words name, told of every new state.
        known: whether a state was visited before, by its key.
        remember: whether transitions are remembered.
    """

    def __init__(self, sim: Simulation, faults: Sequence[ChosenFault], options: dict[str, object], question: Question,
                 named: NamedObjects | None, known: Callable[[int], bool], *, remember: bool = True) -> None:
        self.sim = sim
        self.system = TransitionSystem(sim, faults, **options)  # type: ignore[arg-type]
        self.searched = SearchedObjects(sim)
        never = question.never
        self.invariants = (*question.invariants, *((never_holds(never, sim),) if never else ()))
        self.goal, self.until, self.summary = question.goal, question.until, question.summary
        self.named = named
        self.known = known
        self.memory = TurnMemory(sim) if remember else None
        self._answers: dict[int, tuple[bool, bool]] = {}  # objects -> whether the goal holds, whether `until` does
        self._base: Base | None = None
        self._base_place = 0

    def start(self) -> tuple[Waiting, Successor]:
        """Return the start as a state that waits, and as a successor of none."""
        self.system.run_urgent()
        none = (0,) * len(self.system.faults)
        state = contents_of(self.sim)
        goal, stop = self._answer(state.objects)
        base = Base(self.sim.checkpoint())
        key = self._key(state.digest, none)
        return Waiting(key, 0, base, None, none, none), Successor(Transition("start"), key, none, goal, stop)

    def expand(self, state: Waiting) -> Expanded:
        """Execute every transition that is enabled in a state.

        Raises:
            ForetoldWrongError: the state has another digest than was foretold.
        """
        self._enter(state)
        here = contents_of(self.sim)
        if self._key(here.digest, state.counts) != state.key:
            raise ForetoldWrongError
        found = Expanded([], Base())
        transitions = self.system.enabled()
        place = self.sim.log.place
        if not transitions:
            transitions = self.system.periodic_wakeups()
            saved = found.base.checkpoint = self.sim.checkpoint(state.base.checkpoint)
            found.ends = self._end_states_from(saved)
            if self.until == "stuck" and not any(goal_holds for _, goal_holds in found.ends):
                found.violation = "nothing more happens, and the goal does not hold"
            self._restore(found.base)
            place = self.sim.log.place
        transitions += self.system.possible_faults(state.counts)
        objects: Objects | None = None
        for transition in transitions:  # grows: other draws, refusals
            if not self._foretell(here, state.counts, transition, transitions, found):
                if objects is None:
                    objects = dict(self.sim.log.objects) if self.invariants else {}
                try:
                    self._execute(state, here, objects, transition, transitions, found)
                except Exception as error:
                    error.add_note(f"raised in the exploration, {state.depth} deep, by {transition}")
                    raise
                finally:
                    self.sim.log.seek(place)
                    self.sim.log.truncate()
            if found.violation or (found.successors and found.successors[-1].stop):
                break
        if found.base.checkpoint is None and not all(self.known(successor.key) for successor in found.successors):
            found.base.checkpoint = self.sim.checkpoint(state.base.checkpoint)
        return found

    def _key(self, digest: int, counts: FaultCounts) -> int:
        """Return the key of a state: its digest, and how often each fault has struck."""
        return digest + sum(count << DIGEST_BITS + 16 * number for number, count in enumerate(counts) if count)

    def _restore(self, base: Base) -> None:
        assert base.checkpoint is not None
        present = None
        if self._base is not None:
            present = self._base.checkpoint
            self._return()
        self.sim.restore(base.checkpoint, present)
        self._base, self._base_place = base, self.sim.log.place

    def _enter(self, state: Waiting) -> None:
        """Move the world to a state: to its parent, and through its transition."""
        log = self.sim.log
        if self._base is state.base:
            self._return()
        else:
            self._restore(state.base)
        if isinstance(state.changes, Sequence):
            log.extend(state.changes)
            log.seek(log.end)
        elif state.transition is not None:
            place = log.place
            self.system.execute(state.transition, state.struck)
            self.system.run_urgent(place)

    def _return(self) -> None:
        """Move the world back to the base from which it was moved last."""
        self.sim.log.seek(self._base_place)
        self.sim.log.truncate()

    def _answer(self, objects: int) -> tuple[bool, bool]:
        """Return whether goal and `until` hold of the present objects, which are asked once about equal contents."""
        answer = self._answers.get(objects)
        if answer is None:
            if len(self._answers) > 1_000_000:
                self._answers.clear()
            if self.named is not None and self.named.missing:
                self.named.notice(self.sim.log.objects)
            goal = self.goal is not None and bool(self.goal(self.searched))
            stop = callable(self.until) and bool(self.until(self.searched))
            answer = self._answers[objects] = goal, stop
        return answer

    def _foretell(self, here: StateParts, counts: FaultCounts, transition: Transition, transitions: list[Transition],
                  found: Expanded) -> bool:
        """Add the successor of a remembered transition, and say whether it was remembered."""
        memory, system = self.memory, self.system
        if memory is None:
            return False
        struck = counts[transition.fault] if transition.fault >= 0 else 0
        key = memory.key(here, transition, struck)
        effect = memory.effects.get(key) if key is not None else None
        if effect is None:
            return False
        digest = memory.digest_after(here, transition, effect) if effect.enabled else 0
        answer = self._answers.get(effect.objects) if effect.enabled else (False, False)
        if digest is None or answer is None:
            return False
        system.draw_sizes = list(effect.draw_sizes)
        self._add_variants(transition, counts, transitions, wrote=effect.wrote, enabled=effect.enabled)
        if effect.enabled:
            after = system.counts_after(transition, counts)
            found.successors.append(Successor(transition, self._key(digest, after), after, *answer))
        return True

    def _add_variants(self, transition: Transition, counts: FaultCounts, transitions: list[Transition], *,
                      wrote: bool, enabled: bool) -> None:
        """Add the variants of a transition that was just executed or remembered: other draws, refusals."""
        system = self.system
        if not enabled:
            transitions += system.other_draws(transition) if transition.kind == "fault" else ()
        elif transition.kind == "act" and transition.fault < 0:
            transitions += system.other_draws(transition)
            if wrote:
                transitions += system.refusals(transition, counts)
        elif transition.kind == "fault":
            transitions += system.other_draws(transition)  # of a leader, or of the API server that answers

    def _execute(self, state: Waiting, here: StateParts, objects: Objects, transition: Transition,
                 transitions: list[Transition], found: Expanded) -> None:
        """Execute one transition, check the invariants, and add its variants to the transitions to be executed."""
        sim, system, memory = self.sim, self.system, self.memory
        place = sim.log.place
        struck = state.counts[transition.fault] if transition.fault >= 0 else 0
        key = memory.key(here, transition, struck) if memory is not None else None
        try:
            after = system.execute(transition, state.counts)
        except NotEnabledError:
            self._add_variants(transition, state.counts, transitions, wrote=False, enabled=False)
            if key is not None and memory is not None:
                memory.effects[key] = Effect(0, (0, 0, 0.0), 0, tuple(system.draw_sizes), wrote=False, enabled=False)
            return
        draw_sizes = tuple(system.draw_sizes)
        wrote = system.ctx is not None and bool(system.ctx.outcomes)
        self._add_variants(transition, state.counts, transitions, wrote=wrote, enabled=True)
        if system.ctx is not None and system.ctx.failure:
            found.report(system.ctx.failure, transition)
            return
        end = sim.log.place
        if self.invariants and any(type(change.key) is Key for change in sim.log.changes[place - sim.log.base :]):
            for invariant in self.invariants:
                violation = invariant(objects, sim.log.objects)
                if violation:
                    found.report(violation, transition)
                    return
        if key is not None and memory is not None and memory.forbids(place, end, transition.component):
            key = None
        system.run_urgent(place)
        there = contents_of(sim)
        if key is not None and memory is not None:
            memory.remember(key, here, there, transition, draw_sizes, wrote=wrote)
        goal, stop = self._answer(there.objects)
        number = self._key(there.digest, after)
        changes = None if self.known(number) else tuple(sim.log.changes[place - sim.log.base :])
        found.successors.append(Successor(transition, number, after, goal, stop, changes))

    def _end_states_from(self, start: Checkpoint) -> list[tuple[str, bool]]:
        """Return (words, whether the goal holds) of each end state that periodic wake-ups lead to, this one first."""
        sim, system = self.sim, self.system
        fault_counts = (0,) * len(system.faults)
        ends, known, waiting = [], {sim.digest()}, deque([start])
        self._base = None
        while waiting and len(known) < MAX_END_STATES:
            snapshot = waiting.popleft()
            sim.restore(snapshot)
            transitions = system.enabled()
            if not transitions:
                holds = self.goal is None or bool(self.goal(self.searched))
                words = self.summary(self.searched) if self.summary else "the goal" if holds else "stuck"
                ends.append((words, holds))
                transitions = system.periodic_wakeups()
            place = sim.log.place
            for transition in transitions:
                system.execute(transition, fault_counts)
                transitions += system.other_draws(transition)
                system.run_urgent(place)
                digest = sim.digest()
                if digest not in known:
                    known.add(digest)
                    waiting.append(sim.checkpoint(snapshot))
                sim.log.seek(place)
                sim.log.truncate()
        return ends if not waiting else [*ends, ("not known", True)]
