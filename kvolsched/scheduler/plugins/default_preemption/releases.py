"""Preemption as Kubernetes 1.11 and 1.16 had it: who may preempt, whom a budget protects, and what is told of it.

Mirrors `core/generic_scheduler.go`. Of candidates of equal loss 1.11 took any; 1.16 took the one with the latest start,
as today, and so do these rules.
"""

from collections.abc import Iterator, Sequence

import attrs

from ....api.kinds.pod import Pod
from ....api.kinds.policy import PodDisruptionBudget
from ...columns.snapshot import Snapshot
from ...framework.card import Objects
from ...framework.extension_points import PostFilterResult
from ...framework.judgement import Judgement
from ...framework.verdict import Code
from .candidate import protects
from .rule import NEVER_POLICY, WAITS, DefaultPreemption, lower_pods


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
