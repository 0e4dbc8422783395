"""Disruption budgets: how many pods may be taken away, counted as pods come, get ready and go."""

import pytest
from controllers.workloads import cluster, events, pods, workload

BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {%s, selector: {matchLabels: {app: web}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: alone, labels: {app: web}}
spec: {containers: [{name: app, image: app}]}
"""


def counts(made):
    """Return what a budget's status says: allowed, healthy, desired, expected."""
    status = made["pdb/web"].status
    return status.disruptions_allowed, status.current_healthy, status.desired_healthy, status.expected_pods


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("minAvailable: 2", (2, 4, 2, 4)),
        ("minAvailable: 5", (0, 4, 5, 4)),
        ("minAvailable: 30%", (2, 4, 2, 4)),
        ("maxUnavailable: 1", (1, 4, 3, 4)),
        ("maxUnavailable: 30%", (2, 4, 2, 4)),
        ("maxUnavailable: 0", (0, 4, 4, 4)),
    ],
)
@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_budget_counts_what_its_pods_are_sized_for(kind, asked, found):
    """Numbers and percentages, both rounded up; the condition says whether any pod may go."""
    made = cluster(BUDGET % asked, workload(kind, 4))
    assert found == counts(made)
    (condition,) = made["pdb/web"].status.conditions
    expected = ("True", "SufficientPods") if found[0] else ("False", "InsufficientPods")
    assert ("DisruptionAllowed", *expected) == (condition.type, condition.status, condition.reason)


def test_it_follows_the_pods():
    """One that is being deleted is healthy no more; its successor is, once it is ready; scaling changes what is wanted."""
    made = cluster(BUDGET % "maxUnavailable: 1", workload("ReplicaSet", 3))
    made.delete(f"pod/{pods(made)[0].metadata.name}")
    made.run(seconds=100)
    told = [change.new.status for change in made.world.log.changes if change.key[0] == "PodDisruptionBudget"]
    assert (0, 2) in [(status.disruptions_allowed, status.current_healthy) for status in told]
    assert (1, 3, 2, 3) == counts(made)
    made.apply(workload("ReplicaSet", 1))
    made.run(seconds=100)
    assert (1, 1, 0, 1) == counts(made)


def test_pods_without_a_controller_count_only_for_a_number():
    """A percentage of nobody is nothing: the budget is told so; without any pods it is told that, too."""
    made = cluster(BUDGET % "minAvailable: 50%", POD)
    assert (0, 1, 0, 0) == counts(made)
    said = dict(events(made, "PodDisruptionBudget"))
    assert "selector: &LabelSelector{MatchLabels:map[string]string{app: web,}" in said["UnmanagedPods"]
    assert (0, 1, 1, 1) == counts(cluster(BUDGET % "minAvailable: 1", POD))
    assert ("NoPods", "No matching pods found") in events(cluster(BUDGET % "minAvailable: 1"), "PodDisruptionBudget")


def test_what_has_no_size_cannot_be_counted():
    """Nothing may go then, and the reason is told."""
    made = cluster(BUDGET % "maxUnavailable: 1", workload("DaemonSet"))
    why = "Failed to calculate the number of expected pods: daemonsets.apps does not implement the scale subresource"
    assert ("CalculateExpectedPodCountFailed", why) in events(made, "PodDisruptionBudget")
    assert 0 == made["pdb/web"].status.disruptions_allowed
    assert ["SyncFailed"] == [one.reason for one in made["pdb/web"].status.conditions]
