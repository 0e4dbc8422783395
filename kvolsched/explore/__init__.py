"""Interleavings: which failures are reachable, by which shortest way, and which are not reachable at all.

Breadth first over who goes next and which chosen fault strikes, on the real actors. Seeing is a move of its own: a
component may see everything up to now at any moment, so it may act on every prefix of the log. Draws and ties are
branched over; time passes only when nothing else can happen (or, if asked, any wake-up may ring at any moment), and
periodic wake-ups come last of all, in any order. Events are left out. Every result says what it assumed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kvolsched.world.simulation import Simulation

from .invariants import (
    claims_and_volumes_match,
    everybody_runs,
    nodes_hold_what_they_run,
    outcome,
    pods_reach_their_volumes,
    pods_stay,
    pods_within_max_skew,
    versions_grow,
)
from .report import Counterexample, EndState, Exploration, replay_trace
from .sample import Sample, sample
from .search import Goal, Invariant, Search, Summary
from .transitions import ChosenFault, Crash, Refuse, Transition, UserAct

REDUCTIONS = ("eager", "idle")


def explore(  # noqa: PLR0913 - named options, each with its default
    world: Any,
    *,
    until: str | Goal | None = "stuck",
    invariants: Sequence[Invariant] = (),
    goal: Goal | None = None,
    faults: Sequence[ChosenFault] = (),
    lag: str = "ordered",
    clock: str = "idle",
    components: Sequence[str] | None = None,
    reductions: Sequence[str] = REDUCTIONS,
    summary: Summary | None = None,
    max_states: int = 200_000,
    seconds: float | None = None,
    progress: bool = True,
) -> Exploration:
    """Search what can happen from a world's present place, without moving it.

    Args:
        world: a Simulation, or a Cluster.
        until: "stuck" to look for states where nothing more happens and the goal does not hold, or from which it
            cannot be reached; a predicate over the objects to look for a state where it holds; None to visit all.
        invariants: (objects before, objects after) -> what is wrong, "" if nothing is; asked at every write.
        goal: what all runs should be able to reach; by default every pod runs (`everybody_runs`).
        faults: which faults may strike: `Refuse`, `Crash`, `UserAct`.
        lag: "ordered", "per kind" or "none": how what a component has seen may lag behind.
        clock: "idle" (time passes only when nothing else can happen) or "free" (any wake-up may ring at any moment).
        components: who acts (names); None for everybody.
        reductions: "eager": a component that has nothing to do sees at once; "idle": a reconcile that finds nothing to
            do is made at once.
        summary: words for an end state, counted in `outcomes`.
        max_states: how many states to visit at most.
        seconds: how long to search at most.
        progress: whether to show a progress bar.

    Raises:
        ValueError: an option is none of the words above, or a name is no component.
    """
    sim: Simulation = world if isinstance(world, Simulation) else world.world
    _check_option("lag", lag, ("ordered", "per kind", "none"))
    _check_option("clock", clock, ("idle", "free"))
    for reduction in reductions:
        _check_option("reduction", reduction, REDUCTIONS)
    for name in (*(components or ()), *(f.component for f in faults if not isinstance(f, UserAct))):
        _check_option("component", name, tuple(sim.processes))
    options: dict[str, Any] = {
        "lag": lag, "clock": clock, "components": components,
        "eager": "eager" in reductions, "idle": "idle" in reductions,
    }  # fmt: skip
    goal = goal or everybody_runs(sim)
    search = Search(
        sim, faults=faults, invariants=invariants, goal=goal, until=until, summary=summary or outcome, **options
    )
    start = time.monotonic()
    search.run(max_states, seconds, progress=progress)
    found = None
    if search.wrong:
        fork = sim.fork()
        shown = replay_trace(fork, search.trace, tuple(faults), options)
        found = Counterexample(search.wrong, tuple(turn.words for turn in shown if turn.words), dict(fork.log.objects))
    return Exploration(
        found=found,
        trace=search.trace,
        exhausted=search.exhausted,
        states=len(search.graph.move),
        transitions=search.transitions,
        depth=max(search.graph.depth, default=0),
        outcomes=tuple(EndState(words, count, good) for (words, good), count in search.outcomes.items()),
        assumptions=_assumptions_of(sim, faults, lag, clock, components),
        faults=tuple(faults),
        options=options,
        seconds=time.monotonic() - start,
    )


def _check_option(what: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise ValueError(f"{word!r} is no {what}; there are: {', '.join(words)}")


def _assumptions_of(
    sim: Simulation, faults: Sequence[ChosenFault], lag: str, clock: str, components: Sequence[str] | None
) -> tuple[str, ...]:
    """Return what a result holds under, a sentence each."""
    if components is not None:
        acting, others = [name for name in sim.processes if name in components], "nobody else does"
    else:
        acting = [name for name, process in sim.processes.items() if process.watching]
        others = "nobody else does" if len(acting) == len(sim.processes) else "others once there is something for them"
    return (
        f"{', '.join(acting)} act, in any order; {others}.",
        {
            "ordered": "Each sees changes late, but in the order in which they were made.",
            "per kind": "Each sees changes late, and those of one kind before or after those of another.",
            "none": "Each sees every change at once.",
        }[lag],
        "; ".join(["Faults that may strike: " + "; ".join(map(str, faults)) if faults else "No fault strikes"]) + ".",
        {
            "idle": "Time passes only when nothing else can happen; periodic wake-ups come last of all.",
            "free": "A wait may end at any moment; periodic wake-ups come when nothing else can happen.",
        }[clock],
        "Every outcome of a tie or a draw is tried.",
    )


__all__ = [
    "Counterexample",
    "Crash",
    "EndState",
    "Exploration",
    "Refuse",
    "Sample",
    "Transition",
    "UserAct",
    "claims_and_volumes_match",
    "everybody_runs",
    "explore",
    "nodes_hold_what_they_run",
    "outcome",
    "pods_reach_their_volumes",
    "pods_stay",
    "pods_within_max_skew",
    "sample",
    "versions_grow",
]
