"""The explorer: an explicit-state model checker that finds reachable failures by a shortest trace, or none exist.

Breadth-first search over the turns of the real actors and over chosen faults. Seeing is a separate transition: a
component may see every change up to now at any moment, so it may act on every prefix of the log. Draws and ties are
branched over; time passes only when nothing else is enabled (or, with clock="free", any wake-up may ring at any
moment), and periodic wake-ups come last, in any order. Events are left out. Every result lists its assumptions.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from ...api.unknown_name import UnknownName, did_you_mean
from ...core.component_names import component_called
from ...core.core import ClusterCore
from ...core.upgrades import process_called
from ...world.simulation import Simulation
from ..executors import AnyExecutor
from .cause import Reruns, causes, shows_the_end
from .expansion import Goal, Invariant, Question, Summary
from .invariants import (
    claims_and_volumes_match,
    everybody_runs,
    nodes_hold_what_they_run,
    outcome,
    pods_forgotten,
    pods_reach_their_volumes,
    pods_stay,
    pods_within_max_skew,
    versions_grow,
)
from .report import Counterexample, EndState, Exploration, Sample, replay_trace, sample
from .search import Search
from .searched import NamedObjects, Property, SearchedObjects, property_named
from .transitions import ChosenFault, Crash, Refuse, StopNodes, Transition, UserAct

REDUCTIONS = ("eager", "idle")


def explore(  # noqa: PLR0913 - named options, each with its default
    world: Simulation | ClusterCore,
    *,
    until: str | Goal | None = "auto",
    never: str | Property | Sequence[str | Property] = (),
    at_rest: str | Property | Sequence[str | Property] = (),
    invariants: Sequence[Invariant] = (),
    goal: str | Goal | None = None,
    faults: Sequence[ChosenFault] = (),
    lag: str = "ordered",
    clock: str = "idle",
    components: Sequence[str] | None = None,
    reductions: Sequence[str] = REDUCTIONS,
    summary: Summary | None = None,
    max_states: int = 200_000,
    seconds: float | None = None,
    progress: bool = True,
    executor: AnyExecutor | None = None,
    branch: str = "",
) -> Exploration:
    """Search every order of turns from a world's present place for a failure; the world does not change by that.

    Args:
        world: a Simulation or a Cluster.
        until: "stuck" to find a state in which nothing more happens without the goal, or from which the goal cannot
            be reached; a predicate to find a state where it holds; None to visit all states. By default "stuck", but
            None if `never` or `at_rest` is given without a goal.
        never: what must never hold: a function of the cluster that answers True or says what is wrong, words such as
            "pod/web-0 Running", or several of them; checked after every write.
        at_rest: the same for what must never hold where nothing is left to do but to wait for the end of a period, such
            as `pods_forgotten`.
        invariants: functions (objects before, objects after) -> the violation, "" for none; checked at every write.
        goal: what every run should be able to reach, as a function or in words; by default every pod runs
            (`everybody_runs`). The functions `goal`, `never` and `until` are told the objects as a cluster has them:
            `c.objects("pods")`, `c["pod/web-0"]`, `"pod/web-0" in c`; they are mappings by key, too.
        faults: the faults that may strike: `Refuse`, `Crash`, `UserAct`, `StopNodes`.
        lag: how watches may lag: "ordered", "per kind" or "none".
        clock: "idle" (time passes only when nothing else is enabled) or "free" (any wake-up may ring at any moment).
        components: names of the components that act; None for all.
        reductions: "eager" (a component without work sees changes at once), "idle" (a reconcile that finds no work
            runs at once).
        summary: words for an end state, counted in `outcomes`.
        max_states: the most states to visit.
        seconds: the longest time to search.
        progress: show a progress bar.
        executor: expands the states of large levels: any executor of `concurrent.futures`, or a function that makes
            one, such as `ProcessPoolExecutor`: a pool that breaks is then made again. `client.get_executor()` of
            `dask.distributed` is one, too. Nothing of the result depends on it. Processes need cloudpickle.
        branch: the name of a branch of the world on which it then replays the failure that was found.

    Raises:
        UnknownName: an option has no such value, there is no such component, or words name an object that is not there
            and that no workload of the cluster could create. It is a ValueError.
    """
    sim = world if isinstance(world, Simulation) else world.world
    _check_option("lag", lag, ("ordered", "per kind", "none"))
    _check_option("clock", clock, ("idle", "free"))
    for reduction in reductions:
        _check_option("reduction", reduction, REDUCTIONS)
    components = None if components is None else [component_called(sim, name) for name in components]
    faults = tuple(_by_component_name(world, sim, fault) for fault in faults)
    options: dict[str, Any] = {
        "lag": lag, "clock": clock, "components": components,
        "eager": "eager" in reductions, "idle": "idle" in reductions,
    }  # fmt: skip
    never, at_rest = (
        (asked,) if isinstance(asked, str) or callable(asked) else tuple(asked) for asked in (never, at_rest)
    )
    if until == "auto":
        until = None if (never or at_rest) and goal is None else "stuck"
    stop = until if until is None or until == "stuck" else property_named(until, sim)
    reached = property_named(goal, sim) if goal is not None else everybody_runs(sim)
    named = NamedObjects([*never, *at_rest, goal, *((until,) if until != "stuck" else ())], sim.log.objects)
    if isinstance(world, ClusterCore) and not any(isinstance(fault, UserAct) for fault in faults):
        named.check(world)  # a user may create anything
    question = Question(faults, options, named, tuple(invariants), never, at_rest, reached, stop, summary or outcome)
    search = Search(sim, question, executor)
    search.run(max_states, seconds, progress=progress)
    counterexample = reruns = None
    if search.violation:
        fork = sim.fork()
        turns = replay_trace(fork, search.trace, faults, options)
        if branch:
            sim.begin_branch(branch)
            replay_trace(sim, search.trace, faults, options)
        objects, end = dict(fork.log.objects), (summary or outcome)(SearchedObjects(fork))
        cause = "What it hangs on was not found out."
        try:
            reruns = Reruns(fork, search.trace, turns, question)
            matter = [each for each in turns if reruns.matters(each)]
            cause = next(causes(reruns, matter))
            turns = [attrs.evolve(each, is_told=each in matter or (bool(matter) and shows_the_end(fork, each)))
                     for each in turns]
        except (KeyboardInterrupt, Exception):  # noqa: BLE001 - what was found is kept
            turns = [attrs.evolve(each, is_told=False) for each in turns]
        told = tuple(each for each in turns if each.turn.words)
        counterexample = Counterexample(search.violation, objects, told, end, cause)
    return Exploration(
        counterexample=counterexample, trace=search.trace, exhausted=search.exhausted,
        states=len(search.graph.reached_by), transitions=search.transitions, depth=max(search.graph.depth, default=0),
        outcomes=tuple(EndState(words, count, holds) for (words, holds), count in search.outcomes.items()),
        assumptions=_assumptions_of(sim, faults, lag, clock, components),
        unseen=named.sentences({**sim.log.objects, **search.expander.sim.log.objects}), faults=faults, options=options,
        ended=search.ended, bytes_per_state=search.bytes_per_state,
        random_run=reruns.random_run if reruns is not None else None,
    )  # fmt: skip


def _by_component_name(world: Simulation | ClusterCore, sim: Simulation, fault: ChosenFault) -> ChosenFault:
    """Return a fault with the component's own name, where people wrote the one that they see."""
    if isinstance(fault, UserAct):
        return fault
    if isinstance(fault, Crash) and isinstance(world, ClusterCore):
        process, parts = process_called(world, fault.component)
        return attrs.evolve(fault, component=process, parts=tuple(parts))
    return attrs.evolve(fault, component=component_called(sim, fault.component))


def _check_option(option: str, value: str, values: Sequence[str]) -> None:
    if value not in values:
        raise UnknownName(f"{value!r} is no {option}; there are: {', '.join(values)}{did_you_mean(value, values)}")


def _assumptions_of(
    sim: Simulation, faults: Sequence[ChosenFault], lag: str, clock: str, components: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the assumptions of a result, one sentence each."""
    if components is not None:
        acting, others = [name for name in sim.processes if name in components], "no other component does"
    else:
        acting = [name for name, process in sim.processes.items() if process.watching]
        complete = len(acting) == len(sim.processes)
        others = "there is no other" if complete else "others once there is something for them to do"
    return (
        f"{', '.join(acting)} act, in any order; {others}.",
        {
            "ordered": "Each sees changes late, but in their order.",
            "per kind": "Each sees changes late, in their order within a kind, in any order between kinds.",
            "none": "Each sees every change at once.",
        }[lag],
        f"Faults that may strike: {'; '.join(map(str, faults))}." if faults else "No fault strikes.",
        {
            "idle": "Time passes only when nothing else can happen; periodic wake-ups come last.",
            "free": "A wait may end at any moment; periodic wake-ups come when nothing else can happen.",
        }[clock],
        "Every outcome of a tie or a draw is tried.",
    )


__all__ = [
    "Counterexample", "Crash", "EndState", "Exploration", "Refuse", "Sample", "SearchedObjects", "StopNodes",
    "Transition", "UserAct", "claims_and_volumes_match", "everybody_runs", "explore", "nodes_hold_what_they_run",
    "outcome", "pods_forgotten", "pods_reach_their_volumes", "pods_stay", "pods_within_max_skew", "sample",
    "versions_grow",
]  # fmt: skip
