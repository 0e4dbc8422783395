"""The dry run of preemption over columns, for a pod of which all filters read its template and a row's resources alone.

It finds what `DryRun` finds, and copies no snapshot: what pods hold is added up by row, and in each turn one pod of
every node is put back at once. A node with nominated pods has a twin among the trial rows, where they are there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ....api.kinds.pod import Pod
from ....api.kinds.policy import PodDisruptionBudget
from ...columns.column import Integers, Mask, RowIndices
from ...columns.ranked_pods import PRIORITY, STARTED, priority, started
from ...columns.snapshot import Snapshot
from ...framework.judgement import Judgement
from ...framework.trials import Guests, RowVerdicts, TrialRows

PRIORITY_OFFSET = 2**31  # added to each priority before summing, so that more victims always weigh more

loss_of = itemgetter(0)
Exceeding = Callable[[Sequence[Pod], Sequence[PodDisruptionBudget]], list[bool]]


class Candidate(NamedTuple):
    """A node on which the pod would fit if these of its pods, ranked by importance, had gone.

    The loss is the sort key of candidates, least loss first; equal ones go by name: violated budgets; the highest
    priority among the victims; the sum of priorities; the number of victims; the earliest start among those of the
    highest priority (the latest is best).
    """

    loss: tuple[int, int, int, int, float, str]
    ranked: Sequence[Pod]
    places: Sequence[int]

    @classmethod
    def of(cls, node: str, victims: Sequence[Pod], violations: int) -> Candidate:
        """Return the candidate with these victims by importance, so many of which violate a budget."""
        priorities = [priority(pod) for pod in victims]
        highest = max(priorities)
        earliest = min(started(pod) for pod in victims if priority(pod) == highest)
        total = sum(each + PRIORITY_OFFSET for each in priorities)
        return cls((violations, highest, total, len(priorities), -earliest, node), victims, range(len(victims)))

    @property
    def node(self) -> str:
        """The node's name."""
        return self.loss[-1]

    @property
    def victims(self) -> tuple[Pod, ...]:
        """The victims by importance."""
        return tuple(self.ranked[place] for place in self.places)


class Found(NamedTuple):
    """What was found on some nodes: how many candidates, whether one of them violates no budget, the least loss."""

    number: int = 0
    harmless: bool = False
    best: Candidate | None = None

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Found:
        """Return what these candidates come to."""
        harmless = not all(candidate.loss[0] for candidate in candidates)
        return cls(len(candidates), harmless, min(candidates, key=loss_of, default=None))

    def and_also(self, other: Found) -> Found:
        """Return both together."""
        best = [each for each in (self.best, other.best) if each is not None]
        least = min(best, key=loss_of, default=None)
        return Found(self.number + other.number, self.harmless or other.harmless, least)


def exceeding(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> list[bool]:
    """Say of pods, in this order, whether their eviction exceeds some budget.

    Each pod that a budget protects uses up one of its allowed disruptions, unless it is among the disrupted already.
    """
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    found: list[bool] = []
    for pod in pods:
        exceeded = False
        for index, budget in enumerate(budgets):
            if protects(budget, pod) and pod.metadata.name not in budget.status.disrupted_pods:
                allowed[index] -= 1
                exceeded = exceeded or allowed[index] < 0
        found.append(exceeded)
    return found


def protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Say whether a budget protects a pod by the scheduler's rule: an empty selector protects no pod."""
    selector = budget.spec.selector
    return (
        budget.metadata.namespace == pod.metadata.namespace
        and bool(pod.metadata.labels)
        and selector is not None
        and bool(selector.match_labels or selector.match_expressions)
        and selector.matches(pod.metadata.labels)
    )


NO_TWIN = -1


class ColumnDryRun:
    """A dry run on some nodes at once, given their rows in order of their names. Mutable.

    `read_rows_alone` is true of the pod; `exceeding` says of pods whether their eviction exceeds a budget.
    """

    def __init__(self, pod: Pod, seen: Snapshot, judgement: Judgement, rows: RowIndices, exceeding: Exceeding) -> None:
        self._exceeding = exceeding
        nominated = judgement.nominated
        self._names = [str(seen.nodes.names[row]) for row in rows.tolist()]
        self._ranked = [seen.ranked_pods_on(name) for name in self._names]
        limit = priority(pod)
        self._starts = [ranked.first_below(limit) for ranked in self._ranked]
        lower = [Guests(index, ranked, len(ranked.pods), start)
                 for index, (ranked, start) in enumerate(zip(self._ranked, self._starts, strict=True))]  # fmt: skip
        both = [index for index, name in enumerate(self._names) if name in nominated]
        twins = [lower[index]._replace(row=len(rows) + number) for number, index in enumerate(both)]
        beside = [nominated[self._names[index]] for index in both]
        guests = [Guests(len(rows) + number, *each) for number, each in enumerate(beside)]
        self.exact = all(each.exact for each in self._ranked) and all(each.ranked.exact for each in beside)
        """Whether all amounts can be added up in 64 bits; if not, nothing else may be asked."""
        self._twin: RowIndices = np.full(len(rows), NO_TWIN, np.intp)
        self._twin[both] = np.arange(len(rows), len(rows) + len(both))
        self._lengths: Integers = np.array([each.stop - each.start for each in lower + twins], np.int64)
        ends = np.cumsum(self._lengths)
        self._first = ends - self._lengths  # by trial row, the number of its first pod of lower priority
        self._number = int(self._first[len(rows)]) if both else len(self._lengths) and int(ends[-1])
        self._trial = TrialRows(seen.nodes, np.concatenate([rows, rows[both]]), [*lower, *twins, *guests])
        removed = int(ends[-1]) if len(ends) else 0
        self._trial.move(slice(0, removed), -1)
        self._trial.move(slice(removed, None), 1)
        self._verdicts = RowVerdicts(pod, judgement.filters, judgement.columns, self._trial,
                                     np.concatenate([rows, rows[both]]))  # fmt: skip

    def try_removals(self, budgets: Sequence[PodDisruptionBudget], failures: Counter[str]) -> list[Candidate]:
        """Put back the removed pods that leave enough room, and count why the pod does not fit on the other nodes."""
        nodes = np.arange(len(self._names))
        rejected, with_twin = self._rejected(nodes)
        failures.update(self._verdicts.reasons(np.where(with_twin, self._twin, nodes)[rejected]))
        fitting = nodes[~rejected]
        order, protected = self._order(fitting, budgets)
        violations, needed = np.zeros(len(nodes), np.int64), np.zeros(self._number, bool)
        for turn in range(int(self._lengths[fitting].max(initial=0))):
            fitting = fitting[self._lengths[fitting] > turn]
            pods = order[self._first[fitting] + turn]
            self._move(fitting, pods, 1)
            rejected, _ = self._rejected(fitting)
            losing = fitting[rejected]
            self._move(losing, pods[rejected], -1)
            needed[pods[rejected]] = True
            violations[losing] += turn < protected[losing]
        return self._found(np.flatnonzero(needed), violations)

    def _rejected(self, nodes: RowIndices) -> tuple[Mask, Mask]:
        """Say of nodes whether they reject the pod, and whether they do so beside their nominated pods."""
        rejected, with_twin = self._verdicts.rejects(nodes), np.zeros(len(nodes), bool)
        twins = self._twin[nodes]
        both = twins != NO_TWIN
        if both.any():
            with_twin[both] = self._verdicts.rejects(twins[both])
        return rejected | with_twin, with_twin

    def _move(self, nodes: RowIndices, pods: RowIndices, sign: int) -> None:
        """Move one pod of each node, also in its twin."""
        self._trial.move(pods, sign)
        twins = self._twin[nodes]
        both = twins != NO_TWIN
        if both.any():
            self._trial.move((pods - self._first[nodes])[both] + self._first[twins[both]], sign)

    def _order(self, nodes: RowIndices, budgets: Sequence[PodDisruptionBudget]) -> tuple[RowIndices, Integers]:
        """Return the numbers of the pods in the order in which they are put back, and how many of a node go first."""
        order, protected = np.arange(self._number), np.zeros(len(self._names), np.int64)
        for node in nodes.tolist() if budgets else ():
            exceeds = np.array(self._exceeding(self._ranked[node].pods[self._starts[node] :], budgets), bool)
            first, number = int(self._first[node]), int(exceeds.sum())
            if number:
                order[first : first + len(exceeds)] = first + np.argsort(~exceeds, kind="stable")
                protected[node] = number
        return order, protected

    def keep(self, found: Sequence[Candidate], key: Any) -> None:
        """Keep what was found beside a node's pods, for passes of the same key; not where other pods are nominated."""
        alone = {self._names[node] for node in np.flatnonzero(self._twin == NO_TWIN).tolist()}
        ranked = dict(zip(self._names, self._ranked, strict=True))
        for candidate in found:
            if candidate.node in alone:
                ranked[candidate.node].kept = key, candidate

    def _found(self, pods: RowIndices, violations: Integers) -> list[Candidate]:
        """Return what it comes to that these pods have to go, given the violated budgets by node."""
        if not len(pods):
            return []
        of_node = self._trial.of_row[pods]
        begins = np.flatnonzero(np.diff(of_node, prepend=-1))
        nodes = of_node[begins]
        priorities = self._trial.by_pod(PRIORITY)[pods]
        started = self._trial.by_pod(STARTED)[pods].view(np.float64)
        highest, counts = np.maximum.reduceat(priorities, begins), np.diff(begins, append=len(pods))
        of_highest = priorities == np.repeat(highest, counts)
        earliest = np.minimum.reduceat(np.where(of_highest, started, np.inf), begins)
        totals = np.add.reduceat(priorities + PRIORITY_OFFSET, begins)
        places = (pods - self._first[of_node] + np.array(self._starts)[of_node]).tolist()
        columns = (nodes, begins, violations[nodes], highest, totals, counts, -earliest)
        return [
            Candidate((violated, most, total, count, begun, self._names[node]), self._ranked[node].pods,
                      places[begin : begin + count])
            for node, begin, violated, most, total, count, begun in zip(*map(np.ndarray.tolist, columns), strict=True)
        ]  # fmt: skip
