"""The results of an exploration: the counterexample with its trace, the visited states, the assumptions.

A trace is replayed on a fork as ordinary steps, so that the panel shows it like any run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, overload

import attrs

from kvolsched.api.notebook_output import DrawnAnswer, PrintedAnswer
from kvolsched.core.core import AnyCluster
from kvolsched.core.results import as_sentence, hanging_indent
from kvolsched.world.history import Turn
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

from .transitions import ChosenFault, FaultCounts, Transition, TransitionSystem

MANY_STATES = 10_000  # from there on the memory that a state takes is measured well enough to tell


class EndState(NamedTuple):
    """One way in which runs end: in words, the number of such end states, and whether the goal holds there."""

    words: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    goal_holds: bool


@attrs.frozen(repr=False)
class Counterexample(PrintedAnswer):
    """A reachable failure: the violation, the sentences of the steps that lead there, and the objects at the end."""

    violation: str
    story: tuple[str, ...]
    objects: Mapping[Key, Any] = attrs.field(eq=False)
    turns: tuple[Turn, ...] = attrs.field(default=(), eq=False)
    """The turns that lead there, in their order."""
    end: str = attrs.field(default="", eq=False)
    """What is so then, in words: "web-0 on node-a, web-1 has no node"."""

    def __repr__(self) -> str:
        lines = [f"{number:3}. {hanging_indent([as_sentence(line)], 5)}" for number, line in enumerate(self.story, 1)]
        return "\n".join([self.violation[:1].upper() + self.violation[1:] + ":", *lines])


@attrs.frozen(repr=False)
class Exploration(DrawnAnswer):
    """The result of an exploration; true if it has a counterexample.

    Args:
        counterexample: the failure that was found, or None.
        trace: a shortest sequence of transitions to the failure.
        exhausted: whether every reachable state was visited; then a missing counterexample is a proof.
        states, transitions, depth: the number of visited states and transitions, and the greatest distance.
        outcomes: the ways in which runs end, in the order of discovery.
        assumptions: a sentence each about faults, lag, components and clock.
        unseen: a sentence for each object that words name and that no visited state had.
        ended: why the search ended before its bounds: "interrupted", or that the executor broke; else "".
        bytes_per_state: what the process grew by, for each state; printed from 10,000 states on.
    """

    counterexample: Counterexample | None
    trace: tuple[Transition, ...]
    exhausted: bool
    states: int
    transitions: int
    depth: int
    outcomes: tuple[EndState, ...]
    assumptions: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    faults: tuple[ChosenFault, ...] = attrs.field(default=(), repr=False)
    options: Mapping[str, Any] = attrs.field(factory=dict, eq=False)
    seconds: float = attrs.field(default=0.0, eq=False)
    ended: str = ""
    bytes_per_state: int = attrs.field(default=0, eq=False)

    def __bool__(self) -> bool:
        return self.counterexample is not None

    def __repr__(self) -> str:
        size = f"{self.states:,} states, {self.transitions:,} transitions, depth {self.depth}"
        lines = [repr(self.counterexample)] if self.counterexample else []
        if self.counterexample:
            lines.append(f"Found after {size}.")
        elif self.exhausted:
            lines.append(f"Exhausted: {size}; no failure in any state.")
        else:
            why = f" ({self.ended})" if self.ended else ""
            lines.append(f"Not exhausted{why}: {size}; no failure in the visited states.")
        if self.states >= MANY_STATES and self.bytes_per_state:
            rate = f"{self.transitions / self.seconds:,.0f} transitions/s, " if self.seconds else ""
            lines.append(f"Took {rate}{self.bytes_per_state:,} bytes a state.")
        told = (sentence if sentence.endswith("?") else f"{sentence}." for sentence in self.unseen)
        lines += [f"But {hanging_indent([sentence], 4)}" for sentence in told]
        ends = [] if self.counterexample else self.outcomes
        lines += [f"Ends {end.count:,} time{'s' if end.count != 1 else ''}: {end.words}" for end in ends]
        lines += [f"Assumed: {hanging_indent([assumption], 9)}" for assumption in self.assumptions]
        return "\n".join(lines)

    @overload
    def replay(self, world: Simulation) -> Simulation: ...

    @overload
    def replay(self, world: AnyCluster, name: str = "found") -> AnyCluster: ...

    def replay(self, world: Simulation | AnyCluster, name: str = "found") -> Simulation | AnyCluster:
        """Replay the trace on a fork of the explored world, as ordinary steps, and return the fork at its end.

        >>> import kvolsched
        >>> c = kvolsched.scenario("zonal-example")
        >>> found = c.explore(until="my-pod Running", progress=False)
        >>> found.replay(c)["my-pod"].status.phase
        'Running'
        """
        if isinstance(world, Simulation):
            sim = world.fork()
            replay_trace(sim, self.trace, self.faults, self.options)
            return sim
        fork = world.fork(name)
        replay_trace(fork.world, self.trace, self.faults, self.options)
        return fork


def replay_trace(
    sim: Simulation, trace: tuple[Transition, ...], faults: tuple[ChosenFault, ...], options: Mapping[str, Any]
) -> list[Turn]:
    """Execute transitions on a simulation as steps and return the visible turns; seeing joins the next turn's step."""
    system = TransitionSystem(sim, faults, **options)
    fault_counts: FaultCounts = (0,) * len(faults)
    transitions, shown = list(trace), []
    try:
        while transitions:
            with sim.transaction() as step:
                while transitions:
                    start = sim.place
                    system.run_urgent()
                    step.add(sim.actorless_turn(start, "world", quiet=True))
                    transition, start = transitions.pop(0), sim.place
                    fault_counts = system.execute(transition, fault_counts)
                    turn = step.add(_turn(system, transition, start))
                    if not turn.quiet:
                        shown.append(turn)
                        break
    finally:
        sim.chooser = None
    return shown


def _turn(system: TransitionSystem, transition: Transition, start: int) -> Turn:
    """Return the record of the last transition."""
    sim = system.sim
    if system.ctx is not None:
        return sim.actor_turn(system.ctx, transition.cause, start, goes_on=system.continues)
    if transition.fault >= 0:
        return sim.actorless_turn(start, transition.component, system.words, "chosen")
    return sim.actorless_turn(start, transition.component or "world", system.words, quiet=True)
