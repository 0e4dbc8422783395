"""The search: breadth first over the transition system, with visited states by their semantic digest.

A state is contents, notes and what each component has seen; until it is expanded it is kept as its parent and a way on.
The first path to a state is a shortest one. Once the space is exhausted, a property of every visited state is
invariant, and the state graph tells from which states the goal cannot be reached.
"""

import os
import pickle
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from ...api.text.python_gc import infrequent_gc
from ...world.simulation import Simulation
from ..executors import AnyExecutor, Workers
from .expansion import Expanded, Expander, ForetoldWrongError, Question, Successor, Waiting
from .transitions import Transition
from .workers import Crew, Level

SHOWN_AT_ONCE = 20  # new states; the progress bar need not move for fewer
SMALLEST_LEVEL = 24  # states; smaller levels are expanded here, which is faster than sending them

class StateGraph:
    """The visited states: the first path to each, and the transitions between them. Mutable."""

    def __init__(self) -> None:
        self.number: dict[int, int] = {}
        self.parent = array("l")
        self.reached_by: list[Transition | None] = []
        self.depth = array("l")
        self.reaches_goal = bytearray()
        self.sources, self.targets = array("l"), array("l")
        self._transitions: dict[Transition, Transition] = {}

    def add(self, key: int, parent: int, transition: Transition | None, *, goal: bool) -> int:
        """Add a new state and return its number."""
        number = self.number[key] = len(self.reached_by)
        self.parent.append(parent)
        self.reached_by.append(self._transitions.setdefault(transition, transition) if transition is not None else None)
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
                    reaches[source] = True
                    todo.append(source)
        return [state for state, good in enumerate(reaches) if not good]


class Search:
    """One search through the states of a world. Mutable; `run` fills it.

    Args:
        sim: the world to start from; the search changes forks of it.
        question: what is asked of every state.
        executor: expands the states of large levels; None: here, one after the other.
    """

    def __init__(self, sim: Simulation, question: Question, executor: AnyExecutor | None = None) -> None:
        self.sim, self.question = sim, question
        self.remember = True
        self.ended = ""
        self.bytes_per_state = 0
        self._workers = Workers(executor) if executor is not None else None
        self._begin()

    def _begin(self) -> None:
        self.graph = StateGraph()
        self.transitions = 0
        self.outcomes: Counter[tuple[str, bool]] = Counter()
        self.violation = ""
        self.trace: tuple[Transition, ...] = ()
        self._next: list[tuple[int, Waiting]] = []
        self._pack: tuple[bytes, Any, Any] = b"", (), ()  # the one that was opened last
        self.expander = Expander(searched_fork(self.sim), self.question, self.graph.number.__contains__,
                                 remember=self.remember)  # fmt: skip
        self._crew: Crew | None = None
        if self._workers is not None:
            self._crew = Crew(self._workers, self.expander.sim, self.question, remember=self.remember)

    def run(self, max_states: int, seconds: float | None, *, progress: bool) -> None:
        """Visit states until a violation is found, the space is exhausted, a bound is met, or the user interrupts."""
        end = None if seconds is None else time.monotonic() + seconds
        silent = not progress or bool(os.environ.get("TQDM_DISABLE"))  # tqdm ignores it in notebooks
        complete, before = False, resident_bytes()
        with ExitStack() as stack:
            stack.enter_context(infrequent_gc())
            if self._workers is not None:
                stack.enter_context(self._workers)
            bar = stack.enter_context(tqdm(desc="states", unit=" states", disable=silent, leave=False))
            try:
                try:
                    complete = self._search(max_states, end, bar)
                except ForetoldWrongError:
                    self.remember = False
                    self._begin()
                    bar.reset()
                    complete = self._search(max_states, end, bar)
            except KeyboardInterrupt:
                self.ended = "interrupted"
            except BrokenExecutor as broken:
                self.ended = f"the executor broke: {str(broken) or type(broken).__name__}"
        self.bytes_per_state = max(0, resident_bytes() - before) // max(1, len(self.graph.reached_by))
        self.exhausted = complete and not self.violation
        if self.exhausted and self.question.goal is not None and self.question.until == "stuck":
            lost = self.graph.states_without_goal()
            if lost:
                self._report("from this state the goal can never be reached", self.graph.trace(lost[0]))

    def _search(self, max_states: int, end: float | None, bar: Any) -> bool:
        """Visit states level by level, and return whether no bound stopped it."""
        waiting, first = self.expander.start()
        self._visit(-1, waiting, first)
        if not self.violation:
            self._next = [(0, waiting)]
        while level := self._next:
            self._next = []
            for state, waiting, found in self._expansions(level):
                self._merge(state, waiting, found)
                if len(self.graph.reached_by) - bar.n > SHOWN_AT_ONCE:
                    bar.set_postfix(depth=waiting.depth + 1, refresh=False)
                    bar.update(len(self.graph.reached_by) - bar.n)
                if self.violation:
                    return True
                if len(self.graph.reached_by) >= max_states or (end is not None and time.monotonic() > end):
                    return not self._next and state == level[-1][0]
        return True

    def _expansions(self, level: Level) -> Iterator[tuple[int, Waiting, Expanded]]:
        """Yield what the expansion of each state finds, in their order."""
        if self._crew is not None and len(level) >= SMALLEST_LEVEL:
            yield from self._crew.expansions(level)
            return
        for state, waiting in level:
            yield state, waiting, self.expander.expand(self._opened(waiting))

    def _opened(self, waiting: Waiting) -> Waiting:
        """Return a state that waits, with what a worker packed of it taken out of the pack."""
        base = waiting.base
        if not base.pack:
            return waiting
        if base.pack is not self._pack[0]:
            self._pack = base.pack, *pickle.loads(base.pack)  # noqa: S301 - our own bytes
        _, bases, changes = self._pack
        made = changes[waiting.changes] if isinstance(waiting.changes, int) else waiting.changes
        return waiting._replace(base=bases[base.number], changes=made)

    def _report(self, violation: str, trace: tuple[Transition, ...]) -> None:
        if not self.violation:
            self.violation, self.trace = violation, trace

    def _merge(self, state: int, waiting: Waiting, found: Expanded) -> None:
        """Take what the expansion of a state found: its end states, its successors, a violation."""
        if found.ends is not None and all(end == found.ends[0] for end in found.ends):
            self.outcomes[found.ends[0]] += 1  # an end state only if periodic wake-ups lead to no other
        if found.violation and found.transition is None:
            self._report(found.violation, self.graph.trace(state))
        for successor in found.successors:
            self.transitions += 1
            number = self._visit(state, waiting, successor)
            if number is not None:
                assert successor.parts is not None
                self._next.append((number, Waiting(
                    successor.key, successor.parts, waiting.depth + 1, found.base, self.graph.reached_by[number],
                    waiting.counts, successor.counts, successor.changes,
                )))  # fmt: skip
        if found.violation and found.transition is not None:
            self._report(found.violation, (*self.graph.trace(state), found.transition))

    def _visit(self, source: int, waiting: Waiting, successor: Successor) -> int | None:
        """Record the state that a transition led to, and return its number if it is new."""
        key, transition = successor.key, successor.transition
        number = self.graph.number.get(key)
        new = number is None
        if number is None:
            number = self.graph.add(key, source, transition if source >= 0 else None, goal=successor.goal)
            if successor.stop:
                self._report("the condition holds", self.graph.trace(number))
        if source >= 0 and transition.fault < 0:  # a fault is no progress towards the goal
            self.graph.sources.append(source)
            self.graph.targets.append(number)
        return number if new else None


def resident_bytes() -> int:
    """Return how much memory this process has, as far as the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def searched_fork(sim: Simulation) -> Simulation:
    """Return a fork of a world that records no Events and has none."""
    fork = sim.fork()
    fork.records_events = False
    for key in [key for key in fork.log.objects if key.kind == "Event"]:
        del fork.log.objects[key]
    fork.rebuild()
    return fork
