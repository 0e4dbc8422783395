"""The expansion of states: every transition that is enabled in a state, and the states that they lead to.

A state that waits to be expanded is its parent and the transition from there. A transition that was remembered
(`turn_memory.py`) is not executed again, and a state of which all are remembered is expanded without the world. Where
the world is moved to a state that was foretold, it must be that state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from ...world.checkpoint import Checkpoint
from ...world.log import Change, Key
from ...world.simulation import Simulation
from .invariants import Objects
from .searched import NamedObjects, Property, SearchedObjects, never_holds
from .transitions import ChosenFault, FaultCounts, NotEnabledError, Transition, TransitionSystem
from .turn_memory import Effect, Local, StateParts, TurnMemory, parts_of

Invariant = Callable[[Objects, Objects], str]  # (before, after) -> the violation, "" for none
Goal = Property
Summary = Callable[[Objects], str]

DIGEST_BITS = 128
GENERATIONS = 8  # from one checkpoint to the next
MAX_END_STATES = 2_000


class ForetoldWrongError(Exception):
    """A state has another digest than a remembered transition foretold: the search must do without memory."""


@attrs.define(eq=False)
class Base:
    """A state that was expanded, from which its successors are executed, if it has new ones.

    It is its parent with some changes, or with a transition that was never executed, or a checkpoint, which every few
    generations have. A worker packs those of several states together; this one has a `number` in the `pack`.
    """

    parent: Base | None = None
    changes: Sequence[Change] | None = None
    transition: Transition | None = None
    struck: FaultCounts = ()
    checkpoint: Checkpoint | None = None
    generation: int = 0
    pack: bytes = b""
    number: int = 0


class Waiting(NamedTuple):
    """A state that waits to be expanded: its key, the base and transition that lead to it, what struck on the way.

    `struck` is how often each fault struck before the transition, `counts` after it. `changes` are those that the
    transition made, if it was executed; a number is theirs in the pack of the base.
    """

    key: int
    parts: StateParts
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
    parts: StateParts | None = None
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

    `until` is "stuck" to stop at the first stuck state, a predicate to stop where it holds, None to visit all states;
    `options` are lag, clock, components, eager, idle: see `TransitionSystem`; `named` are the objects that words name,
    told of every new state.
    """

    faults: tuple[ChosenFault, ...]
    options: Mapping[str, Any]
    named: NamedObjects | None
    invariants: tuple[Invariant, ...]
    never: tuple[str | Property, ...]
    at_rest: tuple[str | Property, ...]
    goal: Goal | None
    until: str | Goal | None
    summary: Summary | None


class Expander:
    """Expands states of one world. Mutable: it moves the world.

    Args:
        sim: the world, which is changed: a fork without Events.
        question: what is asked of every state.
        known: whether a state was visited before, by its key.
        remember: whether transitions are remembered.
    """

    def __init__(self, sim: Simulation, question: Question, known: Callable[[int], bool], *,
                 remember: bool = True) -> None:
        self.sim = sim
        self.system = TransitionSystem(sim, question.faults, **question.options)
        self.searched = SearchedObjects(sim)
        never = question.never
        self.invariants = (*question.invariants, *((never_holds(never, sim),) if never else ()))
        self.wrong_at_rest = never_holds(question.at_rest, sim)
        self.goal, self.until, self.summary = question.goal, question.until, question.summary
        self.named = question.named
        self.known = known
        self.memory = TurnMemory(sim) if remember else None
        names = list(sim.processes)
        self._components = [names.index(process.name) for process in self.system.processes]
        self._answers: dict[int, tuple[bool, bool]] = {}  # objects -> whether the goal holds, whether `until` does
        self._kept: dict[Local, Local] = {}
        self._path: list[tuple[Base, int]] = []  # the bases from the last checkpoint to the world, with their places

    def start(self) -> tuple[Waiting, Successor]:
        """Return the start as a state that waits, and as a successor of none."""
        self.system.run_urgent()
        none = (0,) * len(self.system.faults)
        parts = self._parts()
        goal, stop = self._answer(parts.objects)
        base = Base(checkpoint=self.sim.checkpoint())
        key = self._key(parts.digest, none)
        waiting = Waiting(key, parts, 0, base, None, none, none)
        return waiting, Successor(Transition("start"), key, none, goal, stop)

    def expand(self, state: Waiting) -> Expanded:
        """Execute every transition that is enabled in a state, or take what is remembered of it.

        Raises:
            ForetoldWrongError: the state has another digest than was foretold.
        """
        found = Expanded([], Base())
        here, memory = state.parts, self.memory
        transitions = memory.enabled_in(here, self._components) if memory is not None else None
        place = -1  # the world is elsewhere
        remembers = True
        if not transitions:
            place = self._enter(state)
            transitions = self._enabled(here)
            if not transitions:
                remembers = False  # the times of periodic wake-ups are in no digest
                transitions = self.system.periodic_wakeups()
                place = self._end(state, found)
        transitions += self.system.possible_faults(state.counts)
        objects: Objects | None = None
        for transition in transitions:  # grows: other draws, refusals
            if not remembers or not self._foretell(here, state.counts, transition, transitions, found):
                if place < 0:
                    place = self._enter(state)
                if objects is None:
                    objects = dict(self.sim.log.objects) if self.invariants else {}
                try:
                    self._execute(state, objects, transition, transitions, found, remember=remembers)
                except Exception as error:
                    error.add_note(f"raised in the exploration, {state.depth} deep, by {transition}")
                    raise
                finally:
                    self.sim.log.seek(place)
                    self.sim.log.truncate()
            if found.violation or (found.successors and found.successors[-1].stop):
                break
        if found.base.checkpoint is None and not all(self.known(successor.key) for successor in found.successors):
            self._keep(found.base, state, executed=place >= 0)
        return found

    def _parts(self) -> StateParts:
        return parts_of(self.sim, self.memory.kept if self.memory is not None else self._kept)

    def _enabled(self, here: StateParts) -> list[Transition]:
        """Return the transitions that are enabled where the world is, and remember those of each component."""
        found: list[Transition] = []
        for number, process in zip(self._components, self.system.processes, strict=True):
            enabled = tuple(self.system.enabled_of(process))
            if self.memory is not None:
                self.memory.enabled[number, here.locals[number], here.outside] = enabled
            found += enabled
        return found or self.system.enabled()

    def _end(self, state: Waiting, found: Expanded) -> int:
        """Find the end states from one in which only periodic wake-ups are enabled; return the world's place."""
        saved = found.base.checkpoint = self.sim.checkpoint()
        if violation := self.wrong_at_rest(self.sim.log.objects, self.sim.log.objects):
            found.report(violation, None)
        self._path = []
        found.ends = self._end_states_from(saved)
        if self.until == "stuck" and not any(goal_holds for _, goal_holds in found.ends):
            found.report("nothing more happens, and the goal does not hold", None)
        self._move_to(found.base)
        return self.sim.log.place

    def _keep(self, base: Base, state: Waiting, *, executed: bool) -> None:
        """Make a state that was just expanded, and executed perhaps, a base of its successors."""
        base.parent, base.generation = state.base, state.base.generation + 1
        if isinstance(state.changes, Sequence):
            base.changes = state.changes
        else:
            base.transition, base.struck = state.transition, state.struck
        if executed:
            self._shorten(base)

    def _shorten(self, base: Base) -> None:
        """Give a base, at which the world is, a checkpoint if there are many generations since the last."""
        if base.generation >= GENERATIONS:
            base.generation, base.checkpoint = 0, self.sim.checkpoint()
            base.parent = base.changes = None

    def _key(self, digest: int, counts: FaultCounts) -> int:
        """Return the key of a state: its digest, and how often each fault has struck."""
        return digest + sum(count << DIGEST_BITS + 16 * number for number, count in enumerate(counts) if count)

    def _move_to(self, base: Base) -> None:
        """Move the world to a base: back to the nearest base on its path, or to a checkpoint, and on from there."""
        log, path = self.sim.log, self._path
        known = {each: number for number, (each, _) in enumerate(path)}
        ahead: list[Base] = []
        while base not in known and base.checkpoint is None:
            ahead.append(base)
            assert base.parent is not None
            base = base.parent
        if path:
            number = known.get(base, 0)
            log.seek(path[number][1])
            log.truncate()
            del path[number + 1 :]
        if base not in known:
            assert base.checkpoint is not None
            self.sim.restore(base.checkpoint, path[0][0].checkpoint if path else None)
            path[:] = [(base, log.place)]
        for each in reversed(ahead):
            changes = self._go(each.changes, each.transition, each.struck)
            if each.changes is None:
                each.changes = changes
            path.append((each, log.place))
            self._shorten(each)

    def _go(self, changes: Sequence[Change] | int | None, transition: Transition | None,
            struck: FaultCounts) -> Sequence[Change]:
        """Make changes that are known, or execute a transition, and return its changes."""
        log = self.sim.log
        if isinstance(changes, Sequence):
            log.extend(changes)
            log.seek(log.end)
            return changes
        place = log.place
        if transition is not None:
            self.system.execute(transition, struck)
            self.system.run_urgent(place)
        return log.changes[place - log.base :]

    def _enter(self, state: Waiting) -> int:
        """Move the world to a state, to its base and through its transition, and return the place there.

        Raises:
            ForetoldWrongError: the state is another one than was foretold.
        """
        self._move_to(state.base)
        self._go(state.changes, state.transition, state.struck)
        if self._parts().digest != state.parts.digest:  # kinds whose pending changes undo each other are in none
            raise ForetoldWrongError
        return self.sim.log.place

    def _answer(self, objects: int) -> tuple[bool, bool]:
        """Return whether goal and `until` hold of the present objects, which are asked once about equal contents."""
        answer = self._answers.get(objects)
        if answer is None:
            if len(self._answers) > 1_000_000:
                self._answers.clear()
            if self.named is not None:
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
        there = memory.state_after(here, transition, effect) if effect.enabled else here
        answer = self._answers.get(effect.objects) if effect.enabled else (False, False)
        if there is None or answer is None:
            return False
        system.draw_sizes = list(effect.draw_sizes)
        self._add_variants(transition, counts, transitions, wrote=effect.wrote, enabled=effect.enabled)
        if effect.enabled:
            after = system.counts_after(transition, counts)
            number = self._key(there.digest, after)
            found.successors.append(
                Successor(transition, number, after, *answer, None if self.known(number) else there))
        return True

    def _add_variants(self, transition: Transition, counts: FaultCounts, transitions: list[Transition], *,
                      wrote: bool, enabled: bool) -> None:
        """Add the variants of a transition that was just executed or remembered: other draws, refusals."""
        acted = enabled and transition.kind == "act" and transition.fault < 0
        if acted or transition.kind == "fault":  # a fault draws a leader, or the API server that answers
            transitions += self.system.other_draws(transition)
        if acted and wrote:
            transitions += self.system.refusals(transition, counts)

    def _execute(self, state: Waiting, objects: Objects, transition: Transition, transitions: list[Transition],
                 found: Expanded, *, remember: bool) -> None:
        """Execute one transition, check the invariants, and add its variants to the transitions to be executed."""
        sim, system, memory = self.sim, self.system, self.memory if remember else None
        place, here = sim.log.place, state.parts
        struck = state.counts[transition.fault] if transition.fault >= 0 else 0
        key = memory.key(here, transition, struck) if memory is not None else None
        try:
            after = system.execute(transition, state.counts)
        except NotEnabledError:
            self._add_variants(transition, state.counts, transitions, wrote=False, enabled=False)
            if key is not None and memory is not None:
                draw_sizes = tuple(system.draw_sizes)
                memory.effects[key] = Effect(0, (0, 0, 0.0), (0, ()), draw_sizes, wrote=False, enabled=False)
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
        there = self._parts()
        if key is not None and memory is not None:
            memory.remember(key, here, there, transition, draw_sizes, wrote=wrote)
        goal, stop = self._answer(there.objects)
        number = self._key(there.digest, after)
        new = not self.known(number)
        changes = sim.log.changes[place - sim.log.base :] if new else None
        found.successors.append(Successor(transition, number, after, goal, stop, there if new else None, changes))

    def _end_states_from(self, start: Checkpoint) -> list[tuple[str, bool]]:
        """Return (words, whether the goal holds) of each end state that periodic wake-ups lead to, this one first."""
        sim, system = self.sim, self.system
        fault_counts = (0,) * len(system.faults)
        ends, known, waiting = [], {sim.digest()}, deque([start])
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
