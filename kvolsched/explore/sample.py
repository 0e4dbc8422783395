"""What usually happens: the natural order, run under one seed after another; only ties and draws come out otherwise.

A sample proves nothing: it says how often an end was met, where an exploration says whether it can be.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from ..world.simulation import Simulation
from .invariants import everybody_runs, outcome
from .report import EndState
from .search import Goal, Summary


@attrs.frozen(repr=False)
class Sample:
    """How often each end was met; `stuck` counts those without the goal."""

    seeds: int
    endings: tuple[EndState, ...]

    @property
    def stuck(self) -> int:
        """How many seeds ended without the goal."""
        return sum(ending[1] for ending in self.endings if not ending.good)

    def __repr__(self) -> str:
        lines = [f"{ending[1]:>4}  {ending.words}" for ending in self.endings]
        return "\n".join([f"{self.seeds} seeds, {self.stuck} of them stuck in the end:", *lines])


def sample(
    world: Any, seeds: int = 20, *, goal: Goal | None = None, summary: Summary | None = None, steps: int = 10_000
) -> Sample:
    """Run forks of a world in the natural order to their ends, each under a seed of its own.

    Args:
        world: a Simulation, or a Cluster.
        seeds: how many: 0, 1, 2, ...
        goal: what all should reach; by default every pod runs.
        summary: words for an end.
        steps: the most that one run may take.
    """
    sim: Simulation = world if isinstance(world, Simulation) else world.world
    goal, words = goal or everybody_runs(sim), summary or outcome
    ends: Counter[tuple[str, bool]] = Counter()
    for seed in range(seeds):
        fork = sim.fork()
        fork.seed = seed
        for _ in fork.run(steps=steps):
            pass
        ends[words(fork.log.objects), goal(fork.log.objects)] += 1
    return Sample(seeds, tuple(EndState(said, count, good) for (said, good), count in ends.most_common()))


__all__ = ["Sample", "sample"]
