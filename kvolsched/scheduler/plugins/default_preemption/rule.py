"""DefaultPreemption: choose a node and the pods of lower priority to evict there, so that a pending pod fits.

It is asked when no node fits, and makes its dry runs on a copy of the columns. Unresolvable nodes are left out. On any
other node all pods of lower priority are removed; if the pod then fits, as many as possible are put back: those
protected by a disruption budget first, then by importance. Of the candidates it chooses the one with the least loss.
Mirrors `plugins/defaultpreemption` and `framework/preemption` (v1.36.2), for 1.11 and 1.16 `core/generic_scheduler.go`:
of candidates of equal loss 1.11 took any; 1.16 took the one with the latest start, as today, and so do these rules.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np

from ....api.kinds.pod import Pod
from ....api.kinds.policy import PodDisruptionBudget
from ...columns.column import RowIndices
from ...columns.hypothetical_snapshot import HypotheticalSnapshot
from ...columns.ranked_pods import by_importance, priority
from ...columns.snapshot import Snapshot
from ...framework.card import Card, Objects
from ...framework.extension_points import PostFilterResult
from ...framework.judgement import Judgement, judge
from ...framework.trials import NodeVerdicts, read_rows_alone
from ...framework.verdict import Code, ReasonsAndStatus
from ...shortcuts import SHORTCUTS
from .column import Candidate, ColumnDryRun, Exceeding, Found, exceeding, protects

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
NEVER_POLICY = "Never"
EVICTED = "PreemptionByScheduler"  # the reason in a victim's condition DisruptionTarget


def lower_pods(pod: Pod, node: str, seen: Snapshot) -> list[Pod]:
    """Return the pods of lower priority on a node."""
    return [other for other in seen.pods_on(node) if priority(other) < priority(pod)]


@attrs.frozen
class DefaultPreemption:
    """Finds the node where evicting pods loses least, or says why preemption helps on no node.

    Args:
        exceeding: says of pods whether their eviction exceeds a budget.
        min_candidate_nodes_percentage, min_candidate_nodes_absolute: so many candidates are enough, the larger number.
    """

    name: ClassVar[str] = "DefaultPreemption"
    card: ClassVar[Card] = Card(looks_at="pods of lower priority")
    watches: ClassVar[frozenset[str]] = frozenset({"PodDisruptionBudget"})

    exceeding: Exceeding = exceeding
    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return the node to nominate and its victims, or the words to add to the event message."""
        if why := self.ineligible(pod, seen, judgement):
            return PostFilterResult(f"preemption: {why}", counted=((None, why),))
        possible = judgement.rows_with(Code.UNSCHEDULABLE)
        found, failures = self.dry_run(pod, possible, seen, judgement)
        if found.best is not None:
            victims = sorted(found.best.victims, key=lambda victim: (victim.metadata.name, victim.metadata.namespace))
            return PostFilterResult("", found.best.node, tuple(victims))
        if unhelpful := seen.size - len(possible):
            failures[NOT_HELPFUL] += unhelpful
        counted = sorted((f"{count} {reason}", count, reason) for reason, count in failures.items())
        reasons = ", ".join(words for words, _, _ in counted)
        return PostFilterResult(f"preemption: 0/{seen.size} nodes are available: {reasons}.", "",
                                counted=tuple((count, reason) for _, count, reason in counted))  # fmt: skip

    def ineligible(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> str:
        """Return why a pod may not preempt: its policy is Never, or its victims still terminate; "" if it may."""
        if pod.spec.preemption_policy == NEVER_POLICY:
            return NEVER
        nominated = pod.status.nominated_node_name
        if judgement.status(nominated) is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        return WAITS if any(map(_is_being_evicted, lower_pods(pod, nominated, seen))) else ""

    def dry_run(self, pod: Pod, possible: RowIndices, seen: Snapshot,
                judgement: Judgement) -> tuple[Found, Counter[str]]:
        """Remove pods from these rows in dry runs; return what was found, and how many other nodes failed by reason.

        Nodes are tried together if every plugin that is asked reads the judged node alone, else one by one. The search
        ends with enough candidates, if one of them violates no budget.
        """
        failures: Counter[str] = Counter()
        share = len(possible) * self.min_candidate_nodes_percentage // 100
        enough = max(self.min_candidate_nodes_absolute, share)
        rows = possible[seen.lowest_priorities()[possible] < priority(pod)]
        failures[NO_VICTIMS] = len(possible) - len(rows)
        found = Found()
        if not len(rows):  # most often so: the copy for dry runs is not needed
            return found, +failures
        run = _Search(pod, seen, judgement, self.exceeding)
        start, step = 0, 1 if run.one_by_one else enough
        while start < len(rows) and not (found.number >= enough and found.harmless):
            found = found.and_also(run.try_removals(rows[start : start + step], failures))
            start += step
            if not run.one_by_one:  # no more than are needed, but not many times a few
                step = max(enough - found.number, start // 4, 1)  # there may be enough, each of which costs a budget
        return found, +failures


class _Search:
    """Tries removals over columns where that is exact, else on a hypothetical snapshot. Mutable."""

    def __init__(self, pod: Pod, seen: Snapshot, judgement: Judgement, exceeding: Exceeding) -> None:
        self._pod, self._seen, self._judgement, self._exceeding = pod, seen, judgement, exceeding
        self._by_column = SHORTCUTS.on and read_rows_alone(pod, judgement.filters, seen.nodes)
        self._dry_run: DryRun | None = None
        active = judgement.active_filters
        self.one_by_one = any(entry.reads_other_nodes for entry in judgement.filters if entry.name in active)
        """Whether a filter reads other nodes than the judged one, so that nodes cannot be tried together."""
        keeps = self._by_column and judgement.kept is not None and not seen.budgets()
        self._key = (judgement.kept, priority(pod)) if keeps else None

    def try_removals(self, rows: RowIndices, failures: Counter[str]) -> Found:
        """Return what is found on some rows, and count the failures."""
        pod, seen = self._pod, self._seen
        known: list[Candidate] = []
        if self._key is not None:
            known, rows = self._recall(rows)
        if not len(rows):
            return Found.of(known)
        if self._by_column:
            columns = ColumnDryRun(pod, seen, self._judgement, rows, self._exceeding)
            if columns.exact:
                found = columns.try_removals(seen.budgets(), failures)
                if self._key is not None:
                    columns.keep(found, self._key)
                return Found.of(known + found)
        if self._dry_run is None:
            self._dry_run = DryRun(pod, seen, self._judgement, self._exceeding)
        names = [str(seen.nodes.names[row]) for row in rows.tolist()]
        lower = {name: lower_pods(pod, name, seen) for name in names}
        return Found.of(known + self._dry_run.try_removals(lower, failures))

    def _recall(self, rows: RowIndices) -> tuple[list[Candidate], RowIndices]:
        """Return what passes for pods alike found on nodes of which nothing has changed since, and the other rows."""
        names, row_of, ranked_pods_on = self._seen.nodes.names, self._seen.nodes.row_of, self._seen.ranked_pods_on
        kept = [ranked_pods_on(names[row]).kept for row in rows.tolist()]
        known = np.array([key == self._key for key, _ in kept], bool)
        known &= ~np.isin(rows, [row_of[name] for name in self._judgement.nominated])
        return [kept[place][1] for place in np.flatnonzero(known).tolist()], rows[~known]


def _is_being_evicted(pod: Pod) -> bool:
    condition = pod.status.condition("DisruptionTarget")
    return (
        pod.metadata.deletion_timestamp is not None
        and condition is not None
        and (condition.status, condition.reason) == ("True", EVICTED)
    )


class DryRun:
    """Removes pods on a copy of the columns; after each call all pods are back. Mutable."""

    def __init__(self, pod: Pod, seen: Snapshot, judgement: Judgement, exceeding: Exceeding = exceeding) -> None:
        self._exceeding = exceeding
        self.pod = pod
        self.profile = judgement.profile
        self.skipped = judgement.skipped
        self.budgets = seen.budgets()
        self.view = HypotheticalSnapshot(seen)
        self._verdicts = NodeVerdicts(pod, judgement.filters, judgement.columns, self.view, judgement.nominated)

    def try_removals(self, lower: Mapping[str, list[Pod]], failures: Counter[str]) -> list[Candidate]:
        """Remove the pods of lower priority from each node, then put back those that leave enough room for the pod."""
        for pods in lower.values():
            for victim in pods:
                self.view.remove(victim)
        ranked: dict[str, list[Pod]] = {}
        reprieves: dict[str, list[Pod]] = {}
        violating: dict[str, int] = {}
        for node, (reasons, status) in self._rejections(lower).items():
            if status is Code.SUCCESS:
                ranked[node] = by_importance(lower[node])
                exceeds = self._exceeding(ranked[node], self.budgets)
                protected, others = ([pod for pod, one in zip(ranked[node], exceeds, strict=True) if one is side]
                                     for side in (True, False))  # fmt: skip
                reprieves[node], violating[node] = protected + others, len(protected)
            else:
                failures.update(reasons)
        victims: dict[str, list[tuple[int, Pod]]] = {node: [] for node in reprieves}
        for turn in range(max(map(len, reprieves.values()), default=0)):
            back = {node: pods[turn] for node, pods in reprieves.items() if turn < len(pods)}
            for pod in back.values():
                self.view.put_back(pod)
            rejections = self._rejections(back)
            for node, pod in back.items():
                if rejections[node][1] is not Code.SUCCESS:
                    self.view.remove(pod)
                    victims[node].append((turn, pod))
        for pod in list(self.view.removed_pods):
            self.view.put_back(pod)
        return [
            Candidate.of(node, tuple(pod for pod in ranked[node] if any(pod is other for _, other in taken)),
                      sum(turn < violating[node] for turn, _ in taken))
            for node, taken in victims.items()
            if taken
        ]

    def _rejections(self, nodes: Iterable[str]) -> dict[str, ReasonsAndStatus]:
        """Return what these nodes say now: reasons and status of the first plugin that rejects, or SUCCESS."""
        if SHORTCUTS.on:
            return self._verdicts.rejection(nodes)
        judgement = judge(self.pod, self.view, self.profile, self.skipped)
        return {node: judgement.rejection(node) for node in nodes}


def exceeding_alone(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> list[bool]:
    """Say of each pod by itself whether a budget protects it that allows no disruption; none is used up."""
    used_up = [budget for budget in budgets if budget.status.disruptions_allowed <= 0]
    return [any(protects(budget, pod) for budget in used_up) for pod in pods]


@attrs.frozen
class EarlyPreemption(DefaultPreemption):
    """Preemption that reads no preemptionPolicy, and of which the event says nothing."""

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return the node to nominate and its victims; a nomination is cleared only if eviction helps nowhere."""
        found = DefaultPreemption.postfilter(self, pod, seen, judgement)
        keeps = found.nominated == "" and len(judgement.rows_with(Code.UNSCHEDULABLE))
        return attrs.evolve(found, message="", counted=(), nominated=None if keeps else found.nominated)

    def ineligible(self, pod: Pod, seen: Snapshot, _judgement: Judgement) -> str:
        """Return why a pod may not preempt: any pod of lower priority terminates on its nominated node."""
        lower = lower_pods(pod, pod.status.nominated_node_name, seen)
        return WAITS if any(other.metadata.deletion_timestamp is not None for other in lower) else ""

    @staticmethod
    def unread(pod: Pod, _objects: Objects) -> Iterator[str]:
        """Yield the fields of a pod that it does not read."""
        if pod.spec.preemption_policy == NEVER_POLICY:
            yield "preemptionPolicy"


PREEMPTION_1_11 = EarlyPreemption(exceeding_alone, min_candidate_nodes_percentage=100)  # it tries every node
