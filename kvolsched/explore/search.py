"""The search: breadth first over what can happen next, on the real actors, with visited states by digest of meaning.

A state is contents, notes and what each component has seen; it is put away as a snapshot until its turn comes. The
first way found to a state is a shortest one. When the space is exhausted, what holds in every state holds always, and
from the graph one can tell which states no longer lead to the goal.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tqdm.auto import tqdm

from kvolsched.world.checkpoint import Checkpoint
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

from ..api.text.python_gc import infrequent_gc
from .transitions import ChosenFault, FaultCounts, NotEnabledError, Transition, TransitionSystem

Objects = Mapping[Key, Any]
Invariant = Callable[[Objects, Objects], str]  # (before, after) -> what is wrong, "" if nothing is
Goal = Callable[[Objects], bool]
Summary = Callable[[Objects], str]


class StateGraph:
    """What was visited: how each state was first reached, and which states follow which. Mutable."""

    def __init__(self) -> None:
        self.number: dict[tuple[str, FaultCounts], int] = {}
        self.parent = array("l")
        self.move: list[Transition | None] = []
        self.depth = array("l")
        self.reaches_goal = bytearray()
        self.sources, self.targets = array("l"), array("l")

    def add(self, key: tuple[str, FaultCounts], parent: int, move: Transition | None, *, goal: bool) -> int:
        """Add a new state and return its number."""
        number = self.number[key] = len(self.move)
        self.parent.append(parent)
        self.move.append(move)
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.reaches_goal.append(goal)
        return number

    def trace(self, state: int) -> tuple[Transition, ...]:
        """Return the moves of a shortest way to a state."""
        moves: list[Transition] = []
        while self.parent[state] >= 0:
            move = self.move[state]
            assert move is not None
            moves.append(move)
            state = self.parent[state]
        return tuple(reversed(moves))

    def lost(self) -> list[int]:
        """Return the states from which no goal state can be reached, the nearest first."""
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
        sim: the world to start from; a fork of it is moved about.
        faults, lag, clock, components, eager, idle: see `Game`.
        invariants: what must hold at every change of API objects.
        goal: what must be reachable; a state where nothing more happens and it does not hold is stuck.
        until: "stuck" to stop at the first stuck state, a predicate to stop where it holds, None to visit everything.
        summary: words for an end state.
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
        summary: Summary | None = None,
    ) -> None:
        fork = sim.fork()
        fork.records_events = False
        for key in [key for key in fork.log.objects if key.kind == "Event"]:
            del fork.log.objects[key]
        fork.rebuild()
        self.sim = fork
        self.game = TransitionSystem(fork, faults, lag, clock, components, eager=eager, idle=idle)
        self.invariants = tuple(invariants)
        self.goal = goal
        self.until = until
        self.summary = summary
        self.graph = StateGraph()
        self.transitions = 0
        self.outcomes: Counter[tuple[str, bool]] = Counter()
        self.exhausted = False
        self.wrong = ""
        self.trace: tuple[Transition, ...] = ()
        self._waiting: deque[tuple[int, FaultCounts, Checkpoint]] = deque()

    def run(self, max_states: int, seconds: float | None, *, progress: bool) -> None:
        """Visit states until something is found, the space is exhausted, a bound is met, or the user interrupts."""
        end = None if seconds is None else time.monotonic() + seconds
        silent = not progress or bool(os.environ.get("TQDM_DISABLE"))  # in notebooks tqdm itself does not heed it
        with infrequent_gc(), tqdm(desc="states", unit=" states", disable=silent, leave=False) as bar:
            try:
                self.game.at_once()
                start = self._key((0,) * len(self.game.faults))
                self._arrive(start, -1, None, None)
                while self._waiting and not self.wrong:
                    if len(self.graph.move) >= max_states or (end is not None and time.monotonic() > end):
                        return
                    self._expand(*self._waiting.popleft())
                    if len(self.graph.move) - bar.n > 200:
                        bar.update(len(self.graph.move) - bar.n)
            except KeyboardInterrupt:
                return
        self.exhausted = not self.wrong
        if self.exhausted and self.goal is not None and self.until == "stuck":
            lost = self.graph.lost()
            if lost:
                self._find("from here on the goal can never be reached", self.graph.trace(lost[0]))

    def _key(self, used: FaultCounts) -> tuple[str, FaultCounts]:
        return self.sim.digest(), used

    def _find(self, wrong: str, trace: tuple[Transition, ...]) -> None:
        if not self.wrong:
            self.wrong, self.trace = wrong, trace

    def _arrive(self, key: tuple[str, FaultCounts], source: int, move: Transition | None, like: Checkpoint | None) -> None:
        """Note a state that a move led to; a new one waits for its turn."""
        number = self.graph.number.get(key)
        if number is None:
            objects = self.sim.log.objects
            number = self.graph.add(key, source, move, goal=self.goal is not None and self.goal(objects))
            self._waiting.append((number, key[1], self.sim.checkpoint(like)))
            if callable(self.until) and self.until(objects):
                self._find("the condition holds", self.graph.trace(number))
        if move is not None and move.fault < 0:  # that a fault might save the day is no progress
            self.graph.sources.append(source)
            self.graph.targets.append(number)

    def _expand(self, state: int, used: FaultCounts, snapshot: Checkpoint) -> None:
        """Make every move that is possible from a state."""
        self.sim.restore(snapshot)
        moves = self.game.moves()
        if not moves:
            moves = self.game.last_resort()
            self._end(state, snapshot)
            self.sim.restore(snapshot)
        moves += self.game.strikes(used)
        place = self.sim.log.place
        for move in moves:  # grows: other draws, refusals
            try:
                self._try(state, used, snapshot, move, moves)
            except Exception as error:
                error.add_note(f"met while exploring, after {self.graph.depth[state]} moves, making {move}")
                raise
            finally:
                self.sim.log.seek(place)
                self.sim.log.truncate()
            if self.wrong:
                return

    def _try(self, state: int, used: FaultCounts, snapshot: Checkpoint, move: Transition, moves: list[Transition]) -> None:
        sim, game = self.sim, self.game
        place = sim.log.place
        try:
            after = game.make(move, used)
        except NotEnabledError:
            return
        if move.what == "act" and move.fault < 0:
            moves += game.other_draws(move)
            if game.ctx is not None and game.ctx.outcomes:
                moves += game.refusals(move, used)
        if self.invariants and any(type(change.key) is Key for change in sim.log.changes[place - sim.log.base :]):
            for invariant in self.invariants:
                wrong = invariant(snapshot.objects, sim.log.objects)
                if wrong:
                    self._find(wrong, (*self.graph.trace(state), move))
                    return
        game.at_once(place)
        self.transitions += 1
        self._arrive(self._key(after), state, move, snapshot)

    def _end(self, state: int, snapshot: Checkpoint) -> None:
        """Count a state in which nothing more happens by itself; without the goal it is stuck.

        Periodic wake-ups may still come: it is an end only if they lead to no other.
        """
        ends = self._ends_from(snapshot)
        here = ends[0]
        if all(end == here for end in ends):
            self.outcomes[here] += 1
        if not any(good for _, good in ends) and self.until == "stuck":
            self._find("nothing more happens, and the goal does not hold", self.graph.trace(state))

    def _ends_from(self, start: Checkpoint, most: int = 2_000) -> list[tuple[str, bool]]:
        """Return the ends, in words and whether the goal holds, that periodic wake-ups lead to, this one first."""
        sim, game = self.sim, self.game
        used = (0,) * len(game.faults)
        ends, known, waiting = [], {sim.digest()}, deque([start])
        while waiting and len(known) < most:
            snapshot = waiting.popleft()
            sim.restore(snapshot)
            moves = game.moves()
            if not moves:
                good = self.goal is None or self.goal(sim.log.objects)
                ends.append((self.summary(sim.log.objects) if self.summary else "the goal" if good else "stuck", good))
                moves = game.last_resort()
            place = sim.log.place
            for move in moves:
                game.make(move, used)
                moves += game.other_draws(move)
                game.at_once(place)
                digest = sim.digest()
                if digest not in known:
                    known.add(digest)
                    waiting.append(sim.checkpoint(snapshot))
                sim.log.seek(place)
                sim.log.truncate()
        return ends if not waiting else [*ends, ("not known", True)]
