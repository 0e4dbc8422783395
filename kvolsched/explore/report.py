"""What an exploration found: the failure in words, the shortest way to it, how much was visited, what was assumed.

A trace is replayed on a fork as ordinary steps, so that the panel shows it like any run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs

from kvolsched.results import as_sentence, hanging_indent
from kvolsched.world.history import Turn
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

from .transitions import ChosenFault, FaultCounts, Transition, TransitionSystem


class EndState(NamedTuple):
    """One way in which things can end: in words, in how many end states, and whether the goal holds there."""

    words: str
    count: int  # type: ignore[assignment]  # that a tuple can count hides here
    good: bool


@attrs.frozen(repr=False)
class Counterexample:
    """A failure: what is wrong, the sentences of the steps that lead there, and the objects as they are then."""

    wrong: str
    story: tuple[str, ...]
    objects: Mapping[Key, Any] = attrs.field(eq=False)

    def __repr__(self) -> str:
        lines = [f"{number:3}. {hanging_indent([as_sentence(line)], 5)}" for number, line in enumerate(self.story, 1)]
        return "\n".join([self.wrong[:1].upper() + self.wrong[1:] + ":", *lines])


@attrs.frozen(repr=False)
class Exploration:
    """What was found, and what was visited.

    Args:
        found: the failure, or None.
        trace: the moves that lead to it, a shortest way.
        exhausted: whether every reachable state was visited: then what was not found is not there.
        states, transitions, depth: how much was visited, and how far from the start.
        outcomes: the ways in which things end, in the order they were met.
        assumptions: a sentence each: which faults, which lag, which components, which clock.
    """

    found: Counterexample | None
    trace: tuple[Transition, ...]
    exhausted: bool
    states: int
    transitions: int
    depth: int
    outcomes: tuple[EndState, ...]
    assumptions: tuple[str, ...]
    faults: tuple[ChosenFault, ...] = attrs.field(default=(), repr=False)
    options: Mapping[str, Any] = attrs.field(factory=dict, eq=False)
    seconds: float = attrs.field(default=0.0, eq=False)

    def __bool__(self) -> bool:
        return self.found is not None

    def __repr__(self) -> str:
        size = f"{self.states:,} states, {self.transitions:,} transitions, depth {self.depth}"
        lines = [repr(self.found)] if self.found else []
        if self.found:
            lines.append(f"Found after {size}.")
        elif self.exhausted:
            lines.append(f"Exhausted: {size}; nothing wrong in any of them.")
        else:
            lines.append(f"Not exhausted: {size}; nothing wrong in those visited.")
        ends = [] if self.found else self.outcomes
        lines += [f"Ends {end.count:,} time{'s' if end.count != 1 else ''}: {end.words}" for end in ends]
        lines += [f"Assumed: {hanging_indent([assumption], 9)}" for assumption in self.assumptions]
        return "\n".join(lines)

    def replay(self, world: Any, name: str = "found") -> Any:
        """Make the moves of the trace on a fork of a world (the one that was explored), as ordinary steps.

        Returns:
            the fork, at the end of the trace: a Cluster if a Cluster was given.
        """
        fork = world.fork() if isinstance(world, Simulation) else world.fork(name)
        sim = fork if isinstance(fork, Simulation) else fork.world
        for _ in replay_trace(sim, self.trace, self.faults, self.options):
            pass
        return fork


def replay_trace(
    sim: Simulation, trace: tuple[Transition, ...], faults: tuple[ChosenFault, ...], options: Mapping[str, Any]
) -> list[Turn]:
    """Make moves on a simulation as steps and return the turns; what is only seen goes before what follows."""
    game = TransitionSystem(sim, faults, **options)
    used: FaultCounts = (0,) * len(faults)
    moves, shown = list(trace), []
    try:
        while moves:
            with sim.transaction() as step:
                while moves:
                    start = sim.place
                    game.at_once()
                    step.add(sim.actorless_turn(start, "world", quiet=True))
                    move, start = moves.pop(0), sim.place
                    used = game.make(move, used)
                    turn = step.add(_turn(game, move, start))
                    if not turn.quiet:
                        shown.append(turn)
                        break
    finally:
        sim.chooser = None
    return shown


def _turn(game: TransitionSystem, move: Transition, start: int) -> Turn:
    """Return the record of a move that was just made."""
    sim = game.sim
    if game.ctx is not None:
        return sim.actor_turn(game.ctx, move.cause, start, goes_on=game.goes_on)
    if move.fault >= 0:
        return sim.actorless_turn(start, move.component, game.words, "chosen")
    return sim.actorless_turn(start, move.component or "world", game.words, quiet=True)
