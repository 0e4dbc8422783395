"""The dry run of preemption on a hypothetical snapshot: pods are removed, and put back as far as the pod still fits."""

from collections import Counter
from collections.abc import Iterable, Mapping

from ....api.kinds.pod import Pod
from ...columns.hypothetical_snapshot import HypotheticalSnapshot
from ...columns.ranked_pods import by_importance
from ...columns.snapshot import Snapshot
from ...framework.judgement import Judgement, judge
from ...framework.trials import NodeVerdicts
from ...framework.verdict import Code, ReasonsAndStatus
from ...shortcuts import SHORTCUTS
from .candidate import Candidate, Exceeding, exceeding


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
            Candidate(node, tuple(pod for pod in ranked[node] if any(pod is other for _, other in taken)),
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
