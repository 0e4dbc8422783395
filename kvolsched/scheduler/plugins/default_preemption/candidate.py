"""What a dry run finds: nodes on which the pod would fit, whom that costs, and which of these a budget protects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import attrs

from ....api.kinds.pod import Pod
from ....api.kinds.policy import PodDisruptionBudget
from ...columns.ranked_pods import priority, started

PRIORITY_OFFSET = 2**31  # added to each priority before summing, so that more victims always weigh more

Exceeding = Callable[[Sequence[Pod], Sequence[PodDisruptionBudget]], list[bool]]


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


class Found(NamedTuple):
    """What was found on some nodes: how many candidates, whether one of them violates no budget, the least loss."""

    number: int = 0
    harmless: bool = False
    best: Candidate | None = None

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Found:
        """Return what these candidates come to."""
        harmless = not all(candidate.violations for candidate in candidates)
        return cls(len(candidates), harmless, min(candidates, key=lambda each: each.loss, default=None))

    def and_also(self, other: Found) -> Found:
        """Return both together."""
        best = [each for each in (self.best, other.best) if each is not None]
        least = min(best, key=lambda each: each.loss, default=None)
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
