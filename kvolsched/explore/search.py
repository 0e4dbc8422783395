"""The search: breadth first over the transition system, with visited states by their semantic digest.

A state is contents, notes and what each component has seen; the frontier holds a snapshot of it until it is expanded.
The first path to a state is a shortest one. Once the space is exhausted, a property of every visited state is
invariant, and the state graph tells from which states the goal cannot be reached.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Sequence

from tqdm.auto import tqdm

from kvolsched.world.checkpoint import Checkpoint
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

from ..api.text.python_gc import infrequent_gc
from .invariants import Objects
from .named import NamedObjects
from .searched import Property, SearchedObjects, never_holds
from .transitions import ChosenFault, FaultCounts, NotEnabledError, Transition, TransitionSystem

Invariant = Callable[[Objects, Objects], str]  # (before, after) -> the violation, "" for none
Goal = Property
Summary = Callable[[Objects], str]


class StateGraph:
    """The visited states: the first path to each, and the transitions between them. Mutable."""

    def __init__(self) -> None:
        self.number: dict[tuple[str, FaultCounts], int] = {}
        self.parent = array("l")
        self.reached_by: list[Transition | None] = []
        self.depth = array("l")
        self.reaches_goal = bytearray()
        self.sources, self.targets = array("l"), array("l")

    def add(self, key: tuple[str, FaultCounts], parent: int, transition: Transition | None, *, goal: bool) -> int:
        """Add a new state and return its number."""
        number = self.number[key] = len(self.reached_by)
        self.parent.append(parent)
        self.reached_by.append(transition)
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.reaches_goal.append(goal)
        return number

    def trace(self, state: int) -> tuple[Transition, ...]:
        """Return a shortest sequence of transitions to a state."""
        transitions: list[Transition] = []
        while self.parent[state] >= 0:
            transition = self.reached_by[state]
            assert transition is not None
            transitions.append(transition)
            state = self.parent[state]
        return tuple(reversed(transitions))

    def states_without_goal(self) -> list[int]:
        """Return the states from which no goal state can be reached, nearest to the start first."""
        before: dict[int, list[int]] = {}
        for source, target in zip(self.sources, self.targets, strict=True):
            before.setdefault(target, []).append(source)
        reaches = bytearray(self.reaches_goal)
        todo = [state for state, good in enumerate(reaches) if good]
        while todo:
            for source in before.get(todo.pop(), ()):
                if not reaches[source]:
                    reaches[source] = 1
                    todo.append(source)
        return [state for state, good in enumerate(reaches) if not good]


class Search:
    """One search through the states of a world. Mutable; `run` fills it.

    Args:
        sim: the world to start from; the search changes a fork of it.
        faults, lag, clock, components, eager, idle: see `TransitionSystem`.
        invariants: what must hold at every change of API objects.
        never: what must hold after none.
        goal: what must be reachable; a state without it in which nothing more happens is stuck.
        until: "stuck" to stop at the first stuck state, a predicate to stop where it holds, None to visit all states.
        summary: words for an end state.
        named: the objects that words name, told of every new state.
    """

    def __init__(  # noqa: PLR0913 - the options of `explore`
        self,
        sim: Simulation,
        *,
        faults: Sequence[ChosenFault] = (),
        lag: str = "ordered",
        clock: str = "idle",
        components: Sequence[str] | None = None,
        eager: bool = True,
        idle: bool = True,
        invariants: Sequence[Invariant] = (),
        goal: Goal | None = None,
        until: str | Goal | None = "stuck",
        never: Sequence[str | Property] = (),
        summary: Summary | None = None,
        named: NamedObjects | None = None,
    ) -> None:
        fork = sim.fork()
        fork.records_events = False
        for key in [key for key in fork.log.objects if key.kind == "Event"]:
            del fork.log.objects[key]
        fork.rebuild()
        self.sim = fork
        self.system = TransitionSystem(fork, faults, lag, clock, components, eager=eager, idle=idle)
        self.searched = SearchedObjects(fork)
        self.invariants = (*invariants, *((never_holds(never, fork),) if never else ()))
        self.goal = goal
        self.until = until
        self.summary = summary
        self.named = named
        self.graph = StateGraph()
        self.transitions = 0
        self.outcomes: Counter[tuple[str, bool]] = Counter()
        self.exhausted = False
        self.violation = ""
        self.trace: tuple[Transition, ...] = ()
        self._frontier: deque[tuple[int, FaultCounts, Checkpoint]] = deque()

    def run(self, max_states: int, seconds: float | None, *, progress: bool) -> None:
        """Visit states until a violation is found, the space is exhausted, a bound is met, or the user interrupts."""
        end = None if seconds is None else time.monotonic() + seconds
        silent = not progress or bool(os.environ.get("TQDM_DISABLE"))  # tqdm ignores it in notebooks
        with infrequent_gc(), tqdm(desc="states", unit=" states", disable=silent, leave=False) as bar:
            try:
                self.system.run_urgent()
                start = self._key((0,) * len(self.system.faults))
                self._visit(start, -1, None, None)
                while self._frontier and not self.violation:
                    if len(self.graph.reached_by) >= max_states or (end is not None and time.monotonic() > end):
                        return
                    self._expand(*self._frontier.popleft())
                    if len(self.graph.reached_by) - bar.n > 200:
                        bar.update(len(self.graph.reached_by) - bar.n)
            except KeyboardInterrupt:
                return
        self.exhausted = not self.violation
        if self.exhausted and self.goal is not None and self.until == "stuck":
            lost = self.graph.states_without_goal()
            if lost:
                self._report("from this state the goal can never be reached", self.graph.trace(lost[0]))

    def _key(self, fault_counts: FaultCounts) -> tuple[str, FaultCounts]:
        return self.sim.digest(), fault_counts

    def _report(self, violation: str, trace: tuple[Transition, ...]) -> None:
        if not self.violation:
            self.violation, self.trace = violation, trace

    def _visit(
        self, key: tuple[str, FaultCounts], source: int, transition: Transition | None, like: Checkpoint | None
    ) -> None:
        """Record the state that a transition led to; a new state joins the frontier."""
        number = self.graph.number.get(key)
        if number is None:
            objects = self.searched
            if self.named is not None and self.named.missing:
                self.named.notice(self.sim.log.objects)
            holds = self.goal is not None and bool(self.goal(objects))
            number = self.graph.add(key, source, transition, goal=holds)
            self._frontier.append((number, key[1], self.sim.checkpoint(like)))
            if callable(self.until) and self.until(objects):
                self._report("the condition holds", self.graph.trace(number))
        if transition is not None and transition.fault < 0:  # a fault is no progress towards the goal
            self.graph.sources.append(source)
            self.graph.targets.append(number)

    def _expand(self, state: int, fault_counts: FaultCounts, snapshot: Checkpoint) -> None:
        """Execute every transition that is enabled in a state."""
        self.sim.restore(snapshot)
        transitions = self.system.enabled()
        if not transitions:
            transitions = self.system.periodic_wakeups()
            self._count_end_state(state, snapshot)
            self.sim.restore(snapshot)
        transitions += self.system.possible_faults(fault_counts)
        place = self.sim.log.place
        for transition in transitions:  # grows: other draws, refusals
            try:
                self._execute(state, fault_counts, snapshot, transition, transitions)
            except Exception as error:
                error.add_note(f"raised in the exploration, {self.graph.depth[state]} deep, by {transition}")
                raise
            finally:
                self.sim.log.seek(place)
                self.sim.log.truncate()
            if self.violation:
                return

    def _execute(
        self, state: int, fault_counts: FaultCounts, snapshot: Checkpoint, transition: Transition,
        transitions: list[Transition],
    ) -> None:
        """Execute one transition, check the invariants, and add its variants to the transitions to be executed."""
        sim, system = self.sim, self.system
        place = sim.log.place
        try:
            after = system.execute(transition, fault_counts)
        except NotEnabledError:
            transitions += system.other_draws(transition) if transition.kind == "fault" else ()
            return
        if transition.kind == "act" and transition.fault < 0:
            transitions += system.other_draws(transition)
            if system.ctx is not None and system.ctx.outcomes:
                transitions += system.refusals(transition, fault_counts)
        elif transition.kind == "fault":
            transitions += system.other_draws(transition)  # of a leader, or of the API server that answers
        if system.ctx is not None and system.ctx.failure:
            self._report(system.ctx.failure, (*self.graph.trace(state), transition))
            return
        if self.invariants and any(type(change.key) is Key for change in sim.log.changes[place - sim.log.base :]):
            for invariant in self.invariants:
                violation = invariant(snapshot.objects, sim.log.objects)
                if violation:
                    self._report(violation, (*self.graph.trace(state), transition))
                    return
        system.run_urgent(place)
        self.transitions += 1
        self._visit(self._key(after), state, transition, snapshot)

    def _count_end_state(self, state: int, snapshot: Checkpoint) -> None:
        """Count a state in which only periodic wake-ups are enabled; without the goal it is stuck.

        It is an end state only if periodic wake-ups lead to no other.
        """
        ends = self._end_states_from(snapshot)
        if all(end == ends[0] for end in ends):
            self.outcomes[ends[0]] += 1
        if not any(goal_holds for _, goal_holds in ends) and self.until == "stuck":
            self._report("nothing more happens, and the goal does not hold", self.graph.trace(state))

    def _end_states_from(self, start: Checkpoint, max_states: int = 2_000) -> list[tuple[str, bool]]:
        """Return (words, whether the goal holds) of each end state that periodic wake-ups lead to, this one first."""
        sim, system = self.sim, self.system
        fault_counts = (0,) * len(system.faults)
        ends, known, waiting = [], {sim.digest()}, deque([start])
        while waiting and len(known) < max_states:
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
