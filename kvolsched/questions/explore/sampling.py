"""Samples of runs: a world in its natural order under one seed after another, which decide ties and draws.

A sample counts how often runs end in a state; only an exploration can prove that a state is unreachable.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import attrs

from kvolsched.api.notebook_output import DrawnAnswer, Table
from kvolsched.api.progress import ProgressBar

from ...core.core import ClusterCore
from ...world.simulation import Simulation
from .expansion import Goal, Summary
from .invariants import everybody_runs, everybody_runs_in_words, outcome
from .searched import SearchedObjects, property_named


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
    about: str = ""
    """Whose runs: the cluster's name and its rules."""
    goal: str = "the goal holds"
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
