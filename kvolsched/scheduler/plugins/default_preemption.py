"""DefaultPreemption: choose a node and the pods of lower priority to evict there, so that a pending pod fits.

It is asked when no node fits, and makes its dry runs on a copy of the columns. Unresolvable nodes are left out. On any
other node all pods of lower priority are removed; if the pod then fits, as many as possible are put back: those
protected by a disruption budget first, then by importance. Of the candidates it chooses the one with the least loss.
Mirrors `plugins/defaultpreemption` and `framework/preemption` (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

import attrs

from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.policy import PodDisruptionBudget
from kvolsched.scheduler.columns.hypothetical_snapshot import HypotheticalSnapshot
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.extension_points import PostFilterResult
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.verdict import Code

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
EVICTED = "PreemptionByScheduler"  # the reason in a victim's condition DisruptionTarget
MIN_CANDIDATES, MIN_CANDIDATES_PERCENT = 100, 10  # so many candidates are enough, or percent of the possible nodes
PRIORITY_OFFSET = 2**31  # added to each priority before summing, so that more victims always weigh more
NOT_STARTED = float("inf")  # a pod without start time counts as started now: later than all others


@attrs.frozen
class Candidate:
    """A node on which the pod would fit: the victims by importance, and how many of them violate a budget."""

    node: str
    victims: tuple[Pod, ...]
    violations: int

    @property
    def loss(self) -> tuple[int, int, int, int, float, str]:
        """The sort key of candidates, least loss first; equal ones go by name.

        Violated budgets; the highest priority among the victims; the sum of priorities; the number of victims; the
        earliest start among those of the highest priority (the latest is best).
        """
        priorities = [priority(pod) for pod in self.victims]
        highest = max(priorities)
        earliest = min(started(pod) for pod in self.victims if priority(pod) == highest)
        total = sum(each + PRIORITY_OFFSET for each in priorities)
        return self.violations, highest, total, len(priorities), -earliest, self.node


@attrs.frozen
class DefaultPreemption:
    """Finds the node where evicting pods loses least, or says why preemption helps on no node."""

    name: ClassVar[str] = "DefaultPreemption"
    watches: ClassVar[frozenset[str]] = frozenset({"PodDisruptionBudget"})

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return the node to nominate and its victims, or the words to add to the event message."""
        if why := self.ineligible(pod, seen, judgement):
            return PostFilterResult(f"preemption: {why}")
        possible = [node for node, status in judgement.statuses.items() if status is Code.UNSCHEDULABLE]
        candidates, failures = self.dry_run(pod, possible, seen, judgement)
        if candidates:
            best = min(candidates, key=lambda candidate: candidate.loss)
            victims = sorted(best.victims, key=lambda victim: (victim.metadata.name, victim.metadata.namespace))
            return PostFilterResult("", best.node, tuple(victims))
        if unhelpful := seen.size - len(possible):
            failures[NOT_HELPFUL] += unhelpful
        reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in failures.items()))
        return PostFilterResult(f"preemption: 0/{seen.size} nodes are available: {reasons}.", "")

    def ineligible(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> str:
        """Return why a pod may not preempt: its policy is Never, or its victims still terminate; "" if it may."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.status.nominated_node_name
        if judgement.statuses.get(nominated) is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        lower = (other for other in seen.pods_on(nominated) if priority(other) < priority(pod))
        return WAITS if any(map(_is_being_evicted, lower)) else ""

    def dry_run(self, pod: Pod, possible: Sequence[str], seen: Snapshot,
                judgement: Judgement) -> tuple[list[Candidate], Counter[str]]:
        """Remove pods from these nodes in dry runs; return the candidates, and how many other nodes failed by reason.

        Nodes are tried together if every plugin that is asked reads the judged node alone, else one by one. The search
        ends with enough candidates, if one of them violates no budget.
        """
        failures: Counter[str] = Counter()
        candidates: list[Candidate] = []
        profile = judgement.profile
        by_name = {enabled.name: enabled.plugin for enabled in profile.filters}
        reads_other_nodes = any(
            getattr(by_name[name], "reads_other_nodes", name in profile.lifted) for name in judgement.active_filters
        )
        enough = max(MIN_CANDIDATES, len(possible) * MIN_CANDIDATES_PERCENT // 100)
        lower = {node: [other for other in seen.pods_on(node) if priority(other) < priority(pod)] for node in possible}
        failures[NO_VICTIMS] = sum(not pods for pods in lower.values())
        nodes = [node for node in possible if lower[node]]
        if not nodes:  # most often so: the copy for dry runs is not needed
            return [], +failures
        run = DryRun(pod, seen, judgement)
        step = 1 if reads_other_nodes else enough
        for start in range(0, len(nodes), step):
            group = nodes[start : start + step]
            candidates += run.try_removals({node: lower[node] for node in group}, failures)
            if len(candidates) >= enough and not all(candidate.violations for candidate in candidates):
                break
        return candidates, +failures


class DryRun:
    """Removes pods on a copy of the columns; after each call all pods are back. Mutable."""

    def __init__(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> None:
        self.pod = pod
        self.profile = judgement.profile
        self.budgets = seen.budgets()
        self.view = HypotheticalSnapshot(seen)

    def try_removals(self, lower: dict[str, list[Pod]], failures: Counter[str]) -> list[Candidate]:
        """Remove the pods of lower priority from each node, then put back those that leave enough room for the pod."""
        for pods in lower.values():
            for victim in pods:
                self.view.remove(victim)
        judgement = self._judge()
        reprieves: dict[str, list[Pod]] = {}
        violating: dict[str, int] = {}
        for node, pods in lower.items():
            reasons, status = judgement.rejection(node)
            if status is Code.SUCCESS:
                protected, others = violations(sorted(pods, key=importance), self.budgets)
                reprieves[node], violating[node] = protected + others, len(protected)
            else:
                failures.update(reasons)
        victims: dict[str, list[tuple[int, Pod]]] = {node: [] for node in reprieves}
        for turn in range(max(map(len, reprieves.values()), default=0)):
            back = {node: pods[turn] for node, pods in reprieves.items() if turn < len(pods)}
            for pod in back.values():
                self.view.put_back(pod)
            judgement = self._judge()
            for node, pod in back.items():
                if judgement.rejection(node)[1] is not Code.SUCCESS:
                    self.view.remove(pod)
                    victims[node].append((turn, pod))
        for pod in list(self.view.removed_pods):
            self.view.put_back(pod)
        return [
            Candidate(node, tuple(sorted((pod for _, pod in taken), key=importance)),
                      sum(turn < violating[node] for turn, _ in taken))
            for node, taken in victims.items()
            if taken
        ]

    def _judge(self) -> Judgement:
        return judge(self.pod, self.view, self.profile)


def violations(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Split pods, in this order, into those whose eviction exceeds some budget, and the others.

    Each pod that a budget protects uses up one of its allowed disruptions, unless it is among the disrupted already.
    """
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    protected: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        exceeded = False
        for index, budget in enumerate(budgets):
            if protects(budget, pod) and pod.metadata.name not in budget.status.disrupted_pods:
                allowed[index] -= 1
                exceeded = exceeded or allowed[index] < 0
        (protected if exceeded else others).append(pod)
    return protected, others


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


def priority(pod: Pod) -> int:
    """Return a pod's priority; without one it is 0."""
    return pod.spec.priority or 0


def started(pod: Pod) -> float:
    """Return when a pod started, in seconds of Unix time."""
    text = pod.status.start_time
    return NOT_STARTED if text is None else datetime.fromisoformat(text.upper()).timestamp()


def importance(pod: Pod) -> tuple[int, float]:
    """Return the sort key in which pods are put back: by priority, then those that started earlier."""
    return -priority(pod), started(pod)


def _is_being_evicted(pod: Pod) -> bool:
    condition = pod.status.condition("DisruptionTarget")
    return (
        pod.metadata.deletion_timestamp is not None
        and condition is not None
        and (condition.status, condition.reason) == ("True", EVICTED)
    )
