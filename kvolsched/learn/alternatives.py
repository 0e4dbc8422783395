"""Experiments: the scenario on which a rejected design fails by itself, and the design it was rejected for does not.

No failure is scripted. A run in the natural order finds it, or a search of every order of turns does, in which a user's
act or a crash may come at any moment or never.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import Any

import attrs
from tqdm.auto import tqdm

from kvolsched.api.notebook_output import PrintedAnswer, Rows

from ..api.text.yaml_text import packaged_data
from ..api.unknown_name import UnknownName, did_you_mean
from ..cluster import Cluster
from ..controllers.custom_controller import writes
from ..core.core import ClusterCore
from ..questions.explore import Crash, Exploration, UserAct, explore
from ..questions.explore.expansion import Goal
from ..questions.explore.invariants import outcome
from ..questions.explore.transitions import ChosenFault
from ..rules import alternatives as designs
from ..rules.alternatives import *  # noqa: F403 - every rejected design by its name
from ..rules.alternatives import ALTERNATIVES, endings
from ..rules.alternatives.binding_places import KUBELET_VOLUMES, kubelet_reads
from ..rules.alternatives.endings import Failure, Objects
from ..rules.named import revision_named
from ..rules.revision import Revision
from ..scheduler.loop.binding_flow import TwoPasses
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from .scenario import load

__all__ = [  # noqa: PLE0604 - with the names of the designs
    "ALTERNATIVES", "Comparison", "Ending", "Experiment", "FailureGrid", "compare", "experiment", "experiments",
    "readable_volumes", *designs.__all__,
]

RESYNC = 15.0  # the design's scheduler looks again: S0 asks in a TODO whether it should
SECONDS = 600.0
MOST_STATES = 10_000


@attrs.frozen(repr=False)
class Ending(PrintedAnswer):
    """How an experiment ended under one set of rules; true if it failed.

    Args:
        rules: the name of the revision.
        scenario: the name of the scenario.
        failure: what is wrong at the end, "" if nothing.
        words: where the pods are at the end; for a search, how much it has searched.
        certain: whether every order of turns was tried, or one is enough since it failed.
    """

    rules: str
    scenario: str
    failure: str
    words: str
    certain: bool = False

    def __bool__(self) -> bool:
        return bool(self.failure)

    def __repr__(self) -> str:
        return f"{self.rules} on {self.scenario}: {self.cell}"

    @property
    def cell(self) -> str:
        """The ending without its name: a cell of the table."""
        return f"fails: {self.failure}" if self.failure else f"ok: {self.words}"


@attrs.frozen
class Experiment:
    """A scenario, what may happen in it, and what shows that a design has failed.

    Args:
        alternative: the rejected design.
        scenario: the name of the scenario.
        fails: what is wrong with the objects at the end.
        section: where the document says so.
        checklist: the items of the documents.
        acts: what may come at any moment, or never; then every order of turns is searched.
        seeds: how many seeds run in the natural order; 0: the scenario's own alone.
        seconds: how long a run goes on, in simulated seconds.
    """

    alternative: str
    scenario: str
    fails: Failure
    section: str
    checklist: tuple[str, ...] = ()
    acts: tuple[ChosenFault, ...] = ()
    seeds: int = 0
    seconds: float = SECONDS

    @property
    def question(self) -> str:
        """The scenario's question."""
        return load(self.scenario).question

    def cluster(self, rules: str | Revision = "", *, seed: int | None = None) -> Cluster:
        """Return the scenario's cluster under these rules, by default those of the rejected design."""
        revision = revision_named(rules or self.alternative)
        resync = self.acts and type(revision.flow) is TwoPasses
        dials = {SCHEDULER: {"resync": RESYNC}} if resync else {}
        return load(self.scenario).cluster(revision, seed=seed, components=dials)

    def explore(self, rules: str | Revision = "", **options: Any) -> Exploration:
        """Search every order of turns and acts for an end that fails; options: see `Cluster.explore`."""
        cluster = self.cluster(rules)
        goal: Goal = lambda objects: not self.fails(objects)  # noqa: E731
        usual = {"goal": goal, "faults": self.acts, "lag": "none", "progress": False, "max_states": MOST_STATES}
        return explore(cluster, **{**usual, **options})

    def run(self, rules: str | Revision = "") -> Ending:
        """Run or search the scenario under these rules, by default those of the rejected design.

        >>> experiment("place_first").run()
        place_first on disk-on-the-small-node: fails: placed and never started: app on big
        >>> experiment("place_first").run("design")
        design on disk-on-the-small-node: ok: app runs on small
        """
        name = revision_named(rules or self.alternative).name
        if self.acts:
            return self._searched(name, self.explore(rules))
        if not self.seeds:
            objects = self._natural_end(rules, None)
            return Ending(name, self.scenario, self.fails(objects), outcome(objects))
        failures = [self.fails(self._natural_end(rules, seed)) for seed in range(self.seeds)]
        failed = [failure for failure in failures if failure]
        rate = f"{len(failed)} of {self.seeds} seeds"
        return Ending(name, self.scenario, f"{rate}, {failed[0]}" if failed else "", rate if failed else f"{rate} fail")

    def _searched(self, name: str, found: Exploration) -> Ending:
        if found.counterexample is not None:
            failure = self.fails(found.counterexample.objects) or found.counterexample.violation
            return Ending(name, self.scenario, failure, outcome(found.counterexample.objects), certain=True)
        how = "in no order" if found.exhausted else "not found"
        return Ending(name, self.scenario, "", f"{how}, {found.states:,} states", certain=found.exhausted)

    def _natural_end(self, rules: str | Revision, seed: int | None) -> Objects:
        cluster = self.cluster(rules, seed=seed)
        load(self.scenario).play(cluster)
        cluster.run(seconds=self.seconds)
        return dict(cluster.world.log.objects)


def _act(told: Mapping[str, Any]) -> ChosenFault:
    if "crash" in told:
        return Crash(told["crash"])
    patched = (writes.patch(name, change) for name, change in told.get("patch", {}).items())
    return UserAct(told["words"], (*map(writes.create, told.get("create", ())), *patched,
                                   *map(writes.delete, told.get("delete", ()))))  # fmt: skip


@cache
def _all_experiments() -> tuple[Experiment, ...]:
    return tuple(Experiment(**{
        **told, "fails": getattr(endings, told["fails"]), "checklist": tuple(told["checklist"]),
        "acts": tuple(map(_act, told.get("acts", ()))),
    }) for told in packaged_data("kvolsched.learn", "rejected_designs.yaml"))  # fmt: skip


def experiments(*alternatives: str) -> tuple[Experiment, ...]:
    """Return the experiments of these rejected designs, by default of all.

    Raises:
        UnknownName: there is none of this name; the message lists the names. It is a KeyError.

    >>> [each.scenario for each in experiments("late_binder")]
    ['two-disks-one-by-one', 'a-disk-on-each-node']
    """
    known = list(dict.fromkeys(each.alternative for each in _all_experiments()))
    for name in alternatives:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownName(f"no rejected design is called {name!r}; there are: {', '.join(known)}{hint}")
    return tuple(each for each in _all_experiments() if not alternatives or each.alternative in alternatives)


def experiment(alternative: str, scenario: str = "") -> Experiment:
    """Return the experiment of a rejected design, by default its first.

    Raises:
        UnknownName: there is none of this name or on this scenario; the message lists what there is. It is a KeyError.

    >>> experiment("late_binder", "a-disk-on-each-node").section
    'S0, Keep all PVC binding in the PV controller'
    """
    found = experiments(alternative)
    chosen = next((each for each in found if scenario in ("", each.scenario)), None)
    if chosen is None:
        known = [each.scenario for each in found]
        hint = did_you_mean(scenario, known)
        raise UnknownName(f"{alternative} has no experiment on {scenario!r}; there are: {', '.join(known)}{hint}")
    return chosen


@attrs.frozen(repr=False)
class Comparison(Rows[tuple[Ending, ...]]):
    """Endings of experiments under several sets of rules: a table with a row for each experiment."""

    experiments: tuple[Experiment, ...]
    rows: tuple[tuple[Ending, ...], ...]

    def __repr__(self) -> str:
        lines = []
        for each, row in zip(self.experiments, self.rows, strict=True):
            lines.append(f"{each.scenario} ({each.section}): {each.question}")
            width = max(len(end.rules) for end in row)
            lines += [f"  {end.rules:<{width}}  {end.cell}" for end in row]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ("Question", "Rejected design", *("" for _ in self.rows[0][1:])) if self.rows else ()
        style = ' style="text-align:left;vertical-align:top"'
        head = "".join(f"<th{style}>{escape(word)}</th>" for word in heads)
        cells = ((f"{each.scenario}: {each.question}", *(f"{end.rules} {end.cell}" for end in row))
                 for each, row in zip(self.experiments, self.rows, strict=True))  # fmt: skip
        body = "".join(f"<tr>{''.join(f'<td{style}>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        return f"<table><tr>{head}</tr>{body}</table>"

    def grid(self) -> FailureGrid:
        """Return the same as a grid: a row for each set of rules, a column for each experiment."""
        return FailureGrid(self.experiments, self.rows)


@attrs.frozen(repr=False)
class FailureGrid(PrintedAnswer):
    """Which sets of rules fail on which experiments: ✕ where they fail, ✓ where they do not, – where none was run."""

    experiments: tuple[Experiment, ...]
    rows: tuple[tuple[Ending, ...], ...]

    @property
    def failures(self) -> dict[str, list[str]]:
        """By the name of the rules: the scenarios on which they fail."""
        names = dict.fromkeys(end.rules for row in self.rows for end in row)
        return {name: [end.scenario for row in self.rows for end in row if end.rules == name and end] for name in names}

    def __repr__(self) -> str:
        failures = self.failures
        width = max(map(len, failures), default=0)
        numbers = [f"{number:>2}" for number in range(1, len(self.rows) + 1)]
        lines = [f"{'':<{width}}  {' '.join(numbers)}"]
        for name, failed in failures.items():
            found = [next((end for end in row if end.rules == name), None) for row in self.rows]
            marks = [" –" if end is None else " ✕" if end else " ✓" for end in found]
            lines.append(f"{name:<{width}}  {' '.join(marks)}  fails on {len(failed)}")
        told = (f"{number} {each.scenario}: {each.question}"
                for number, each in zip(numbers, self.experiments, strict=True))
        return "\n".join([*lines, "", *(textwrap.fill(line, 110, subsequent_indent="   ") for line in told)])


def compare(
    *alternatives: str, rules: Iterable[str | Revision] = (), searches: bool = True, progress: bool = True,
) -> Comparison:  # fmt: skip
    r"""Run the experiments of these rejected designs, by default of all, each under its own rules and under others.

    Args:
        alternatives: names of rejected designs.
        rules: the other sets of rules, by default `design` and `upstream`; `names()` gives the whole table of
            alternatives and scenarios.
        searches: with the experiments that try every order of turns, which take seconds each.
        progress: show a progress bar.

    Raises:
        KeyError: there is no such design or revision.

    >>> for row in compare("single_function", rules=["design"], progress=False):
    ...     print(*row, sep="\n")
    single_function on evicted-in-vain: fails: victim was evicted, and app has no node all the same
    design on evicted-in-vain: ok: app stays pending, victim runs on open

    `grid()` has the same in short:

    >>> compare("single_function", rules=["design"], progress=False).grid()
                      1
    single_function   ✕  fails on 1
    design            ✓  fails on 0
    <BLANKLINE>
     1 evicted-in-vain: A pod of high priority has its disk on a closed node. Is anybody evicted from the open one
       for it?
    """
    chosen = tuple(each for each in experiments(*alternatives) if searches or not each.acts)
    others = [revision_named(each) for each in rules or ("design", "upstream")]
    jobs = [(each, [revision_named(each.alternative), *(other for other in others if other.name != each.alternative)])
            for each in chosen]  # fmt: skip
    rows: list[tuple[Ending, ...]] = []
    with tqdm(total=sum(len(each) for _, each in jobs), unit=" runs", disable=not progress, leave=False) as bar:
        for each, revisions in jobs:
            row = []
            for revision in revisions:
                row.append(each.run(revision))
                bar.update()
            rows.append(tuple(row))
    return Comparison(chosen, tuple(rows))


def readable_volumes(cluster: ClusterCore) -> dict[str, tuple[str, ...]]:
    """Return by node the volumes that its kubelet can read although no pod on the node uses them.

    A kubelet that binds nothing reads the volumes of its pods alone (the node authorizer sees to that). One that binds
    must read every unbound volume that its node reaches (S0, Move PVC binding to kubelet).

    >>> from kvolsched import scenario
    >>> readable_volumes(scenario("own-disk-first", "bind_in_kubelet"))
    {'node-1': ('disk-of-zone-a',), 'node-2': ('disk-of-zone-a', 'local-disk-2')}
    >>> readable_volumes(scenario("own-disk-first", "design"))
    {'node-1': (), 'node-2': ()}
    """
    actors = [actor.name for process in cluster.world.processes.values() for actor in process.component.actors]
    free = [volume for volume in cluster.objects("pv") if volume.spec.claim_ref is None and KUBELET_VOLUMES in actors]
    return {
        node.metadata.name: tuple(volume.metadata.name for volume in free if kubelet_reads(volume, node))
        for node in cluster.objects("nodes")
    }
