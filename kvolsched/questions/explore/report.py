"""The results of an exploration, a counterexample with its trace, states and assumptions; and samples of runs.

A trace is replayed on a fork as ordinary steps, so that the panel shows it like any run. A sample is of a world in its
natural order under one seed after another, which decide ties and draws: it counts how often runs end in a state; only
an exploration can prove that a state is unreachable.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, overload

import attrs

from ...api.notebook_output import DrawnAnswer, PrintedAnswer, Table
from ...api.progress import ProgressBar
from ...api.words import hanging_indent, listed
from ...core.core import AnyCluster, ClusterCore
from ...core.results import as_sentence
from ...world.history import Turn
from ...world.log import Key
from ...world.simulation import Simulation
from .expansion import Goal, Summary
from .invariants import everybody_runs, everybody_runs_in_words, outcome
from .searched import SearchedObjects, property_named
from .transitions import ChosenFault, FaultCounts, Transition, TransitionSystem


class EndState(NamedTuple):
    """One way in which runs end: in words, the number of such end states, and whether the goal holds there."""

    words: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    goal_holds: bool


@attrs.frozen(repr=False)
class Sample(DrawnAnswer):
    """The end states of sampled runs with their counts."""

    seeds: int
    end_states: tuple[EndState, ...]
    about: str
    """Whose runs: the cluster's name and its rules."""
    goal: str
    """What every run should reach, in words: `every pod runs`."""
    how: str = "seeds"
    """Which runs these are: each in the natural order, with a seed of its own, or `random runs`."""

    @property
    def table(self) -> Table:
        """The ways to end as rows: how many runs, which share, and its 95 % interval."""
        rows: Table = self.figure().table
        return rows

    @property
    def chart(self) -> Any:
        """The same as an altair chart."""
        return self.figure().chart

    @property
    def stuck(self) -> int:
        """The number of runs that end without the goal."""
        return sum(end.count for end in self.end_states if not end.goal_holds)

    @property
    def reached(self) -> str:
        """In how many runs the goal holds at the end, in words: `every pod runs in 12 of 20`."""
        count = self.seeds - self.stuck
        share = "none" if not count else "all" if not self.stuck else f"{count} of {self.seeds}"
        return f"{self.goal} in {share}"

    def __repr__(self) -> str:
        lines = [f"{end.count:>4}  {end.words}" for end in self.end_states]
        return "\n".join([f"{self.seeds} {self.how}; in the end {self.reached}:", *lines])


def count_ends(run: Callable[[int], tuple[str, bool]], runs: int, seconds: float = math.inf, *,
               progress: bool = True) -> tuple[EndState, ...]:
    """Return how the runs of some seeds end; fewer are made if it takes too many seconds, or is interrupted.

    `run` makes the run of a seed, and returns how it ends in words, and whether the goal holds.
    """
    ends, last = Counter[tuple[str, bool]](), time.monotonic() + seconds
    with suppress(KeyboardInterrupt), ProgressBar(runs, unit=" runs", disable=not progress) as bar:
        for seed in range(runs):
            if time.monotonic() > last:
                break
            ends[run(seed)] += 1
            bar.update()
    return tuple(EndState(words, count, holds) for (words, holds), count in ends.most_common())


def sample(
    world: Simulation | ClusterCore,
    seeds: int = 20,
    *,
    goal: str | Goal | None = None,
    summary: Summary | None = None,
    steps: int = 10_000,
) -> Sample:
    """Run forks of a world in their natural order to their ends, one for each seed.

    Args:
        world: a Simulation or a Cluster.
        seeds: the number of seeds: 0, 1, 2, ...
        goal: what every run should reach, as a function or in words; by default every pod runs.
        summary: words for an end state.
        steps: the most steps of a run.
    """
    sim = world if isinstance(world, Simulation) else world.world
    reached, summary = everybody_runs(sim) if goal is None else property_named(goal, sim), summary or outcome

    def run(seed: int) -> tuple[str, bool]:
        fork = sim.fork()
        fork.seed = seed
        for _ in fork.run(steps=steps):
            pass
        searched = SearchedObjects(fork)
        return summary(searched), bool(reached(searched))

    wanted = "the goal holds" if callable(goal) else f"{goal} holds" if goal else everybody_runs_in_words(sim)
    about = f"{world.name}, rules {world.revision.name}".removeprefix(", ") if isinstance(world, ClusterCore) else ""
    ends = count_ends(run, seeds)
    return Sample(sum(end.count for end in ends), ends, about, wanted)


@attrs.frozen
class TracedTurn:
    """A visible turn of a trace: its transition's index, the steps that its component had not seen then.

    It is told if the failure does not happen without it, or if it shows what is wrong in the end.
    """

    turn: Turn
    index: int
    unseen: tuple[int, ...]
    is_told: bool = False

    @property
    def words(self) -> str:
        """What was done, and what had not been seen then."""
        blind = f" It had not seen {in_steps(self.unseen)}." if self.unseen else ""
        return as_sentence(self.turn.words) + blind


@attrs.frozen(repr=False)
class Counterexample(PrintedAnswer):
    """A reachable failure: its cause, what is wrong, the turns that lead there, and the objects at the end."""

    violation: str
    objects: Mapping[Key, Any] = attrs.field(eq=False)
    turns: tuple[TracedTurn, ...] = attrs.field(eq=False)
    """The turns that lead there, in their order."""
    end: str = attrs.field(eq=False)
    """What is so then, in words: "web-0 on node-a, web-1 has no node"."""
    cause: str = attrs.field(eq=False)
    """Why it happens, in a sentence: what whoever decided had not seen or could not know."""

    @property
    def story(self) -> tuple[str, ...]:
        """What each turn did, in words."""
        return tuple(each.turn.words for each in self.turns)

    @property
    def told(self) -> tuple[TracedTurn, ...]:
        """The turns that matter, and the one that shows what is wrong; all if it hangs on no single one."""
        return tuple(each for each in self.turns if each.is_told) or self.turns

    @property
    def found(self) -> str:
        """What is wrong and how it ends, in a sentence."""
        end = "" if self.end in ("", "no pods") else f" ({self.end})"
        return f"Found: {self.violation}{end}."

    @property
    def title(self) -> str:
        """What the turns that are told are, of how many."""
        count = len(self.turns)
        return "The turns" if len(self.told) == count else f"The turns that matter, {len(self.told)} of {count}"

    def __repr__(self) -> str:
        lines = [f"{each.turn.step:3}. {hanging_indent([each.words], 5)}" for each in self.told]
        heads = [self.cause, self.found, *([f"{self.title}:"] if lines else [])]
        return "\n".join([*(hanging_indent([head], 2) for head in heads), *lines])


def in_steps(steps: Sequence[int]) -> str:
    """Return numbers of steps in words: `step 3`, `steps 2, 5 and 8`."""
    return f"step{'s' * (len(steps) > 1)} {listed(map(str, steps))}"


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
        bytes_per_state: what the process grew by, for each state.
        random_run: seed -> how a run in a random order ends, and whether it goes well; if a failure was found.
    """

    counterexample: Counterexample | None
    trace: tuple[Transition, ...]
    exhausted: bool
    states: int
    transitions: int
    depth: int
    outcomes: tuple[EndState, ...]
    assumptions: tuple[str, ...]
    unseen: tuple[str, ...]
    faults: tuple[ChosenFault, ...] = attrs.field(repr=False)
    options: Mapping[str, Any] = attrs.field(eq=False)
    ended: str
    bytes_per_state: int = attrs.field(eq=False)
    random_run: Callable[[int], tuple[str, bool]] | None = attrs.field(eq=False, repr=False)

    def __bool__(self) -> bool:
        return self.counterexample is not None

    @property
    def headline(self) -> str:
        """The cause of the failure that was found, or what it means that none was."""
        if self.counterexample is not None:
            return self.counterexample.cause
        more = "Nothing wrong in the states that were visited; more remain"
        none = "Exhausted: no failure in any state" if self.exhausted else more
        return "; but ".join([none, *self.unseen])  # what never was can prove nothing

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
        told = (sentence if sentence.endswith("?") else f"{sentence}." for sentence in self.unseen)
        lines += [f"But {hanging_indent([sentence], 4)}" for sentence in told]
        ends = [] if self.counterexample else self.outcomes
        lines += [f"Ends {end.count:,} time{'s' if end.count != 1 else ''}: {end.words}" for end in ends]
        lines += [f"Assumed: {hanging_indent([assumption], 9)}" for assumption in self.assumptions]
        return "\n".join(lines)

    def sample(self, runs: int = 200, *, seconds: float = 30.0, progress: bool = True) -> Sample:
        """Count how often the failure that was found happens if all that may come next is as likely.

        Every turn, every look at what was written, every fault and every outcome of a draw may come next. After so many
        `seconds` no other run begins; Ctrl-C ends it, too. What was counted is kept.

        Raises:
            ValueError: no failure was found.

        >>> import kvolsched
        >>> found = kvolsched.scenario("zonal-example").explore(until="my-pod Running", progress=False)
        >>> print(found.sample(3).stuck)
        3
        """
        if self.random_run is None:
            raise ValueError("there is nothing to count: the search found no failure")
        ends = count_ends(self.random_run, runs, seconds, progress=progress)
        return Sample(sum(end.count for end in ends), ends, "", "it goes well", "random runs")

    @overload
    def replay(self, world: Simulation) -> Simulation: ...

    @overload
    def replay(self, world: AnyCluster, name: str = ...) -> AnyCluster: ...

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
) -> list[TracedTurn]:
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
                    unseen = _unseen(sim, transition.component)
                    fault_counts = system.execute(transition, fault_counts)
                    turn = step.add(_turn(system, transition, start))
                    if not turn.quiet:
                        shown.append(TracedTurn(turn, len(trace) - len(transitions) - 1, unseen))
                        break
    finally:
        sim.chooser = None
    return shown


def _unseen(sim: Simulation, component: str) -> tuple[int, ...]:
    """Return the steps that wrote what a component has not seen."""
    process, log = sim.processes.get(component), sim.log
    pending = process.pending.items() if process is not None else ()
    places = (place for kind, first in pending for place, _ in log.changes_between(kind, first, log.place))
    turns = map(sim.history.turn_at, places)
    return tuple(sorted({turn.step for turn in turns if turn is not None}))


def _turn(system: TransitionSystem, transition: Transition, start: int) -> Turn:
    """Return the record of the last transition."""
    sim = system.sim
    if system.ctx is not None:
        return sim.actor_turn(system.ctx, transition.cause, start, goes_on=system.continues)
    if transition.fault >= 0:
        return sim.actorless_turn(start, transition.component, system.words, "chosen")
    return sim.actorless_turn(start, transition.component or "world", system.words, quiet=True)
