"""The pod garbage collector: orphaned pods, pods that nobody stops, and the oldest of too many ended ones."""

import pytest

from kvolsched import Cluster, make
from kvolsched.controllers import pod_garbage_collector
from kvolsched.make import node, pod

TAINT = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}


def turns(c):
    """What the pod garbage collector did, in words, and when."""
    return [(turn.time, turn.words) for turn in c.world.turns if turn.component == pod_garbage_collector.NAME and turn.words]


def test_pods_of_a_deleted_node_are_failed_and_deleted_within_a_minute():
    """20 s until it looks, 40 s of quarantine; then the condition DisruptionTarget, Failed, and gone at once."""
    c = Cluster.from_manifests([node("n1"), node("n2"), pod("app", running_on="n1"), pod("other", running_node_name="n2")])
    c.delete("node/n1")
    c.wait(59)
    assert ("Running", []) == (c["pod/app"].status.phase, turns(c))
    c.step(turns=True)
    lost = c["pod/app"]
    condition = lost.status.condition("DisruptionTarget")
    assert ("Failed", "True") == (lost.status.phase, condition.status)
    assert ("DeletionByPodGC", "PodGC: node no longer exists") == (condition.reason, condition.message)
    c.run()
    assert ["other"] == [each.metadata.name for each in c.objects("pods")]
    why = "its node n1 no longer exists"
    assert [(60.0, f"pod garbage collector marks pod/app as failed: {why}"),
            (60.0, f"pod garbage collector deletes pod/app: {why}")] == turns(c)


def test_workloads_are_made_whole_again():
    """Replicas of a Deployment and the pod of a StatefulSet run on other nodes; nobody else loses one."""
    c = Cluster.from_manifests([node("n1", "a"), node("n2", "b"), node("n3", "c")])
    c.apply(make.deployment("web", 3), make.stateful_set("db", 2))
    c.run()
    c.delete(f"node/{c['pod/db-0'].spec.node_name}")
    c.run()
    pods = c.objects("pods")
    assert [("Running", True)] * 5 == [(each.status.phase, f"node/{each.spec.node_name}" in c) for each in pods]


def test_a_node_that_comes_back_in_time_keeps_its_pods():
    """In quarantine the node may turn up again; a turn that does nothing is not told."""
    c = Cluster.from_manifests([node("n1"), node("n2"), pod("app", running_on="n1")])
    c.delete("node/n1")
    c.wait(30)
    c.apply(node("n1"))
    c.run()
    assert ("Running", []) == (c["pod/app"].status.phase, turns(c))


def test_a_pod_made_for_a_node_that_never_was():
    """A nodeName with a typo: no kubelet starts it, and it is gone in a minute; `why` says so."""
    c = Cluster.from_manifests([node("n1")])
    c.apply(pod("app", node_name="n2"))
    c.run(seconds=30)
    assert "Pending" == c["pod/app"].status.phase
    assert "on n2, a node that does not exist, and Pending" in str(c.why("app"))
    assert "pod garbage collector deletes it within a minute" in str(c.why("app"))
    c.run()
    assert "pod/app" not in c


def test_pods_without_any_nodes_stay():
    """Where no node was loaded none is missing: the pods stay, and nobody takes a turn."""
    c = Cluster.from_manifests([pod("app", running_on="n1")])
    assert () == c.run().steps
    assert "pod/app" in c
    assert "garbage" not in str(c.why("app"))


def test_a_deleted_pod_without_node_is_removed():
    """One that a dump caught in deletion goes after 20 s; one that a finalizer holds is failed, and stays."""
    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    free, held = pod("free"), pod("held")
    free["metadata"] |= deleted
    held["metadata"] |= {**deleted, "finalizers": ["example.com/wait"]}
    c = Cluster.from_manifests([node("n1"), free, held])
    c.run()
    assert ["held"] == [each.metadata.name for each in c.objects("pods")]
    assert ("Failed", 20.0) == (c["pod/held"].status.phase, c.now)


def test_a_node_out_of_service_lets_its_deleted_pods_go():
    """A stopped node that somebody taints as out of service: its pods are deleted, and forced out after 20 s."""
    c = Cluster.from_manifests([node("n1"), node("n2"), pod("app", running_on="n1")])
    c.stop_nodes("n1")
    c.run(seconds=60)
    c.patch("node/n1", {"spec": {"taints": [*({"key": each.key, "effect": each.effect} for each in c["node/n1"].spec.taints), TAINT]}})
    c.run()
    assert "pod/app" not in c
    assert "pod garbage collector deletes pod/app: its node n1 is out of service" in [words for _, words in turns(c)]


def test_the_oldest_of_too_many_ended_pods_are_deleted(monkeypatch):
    """Above the threshold evicted pods go first, then the oldest; so many stay as it allows."""
    monkeypatch.setattr(pod_garbage_collector, "TERMINATED_THRESHOLD", 2)

    def ended(name, minute, reason=""):
        found = pod(name, running_on="n1")
        found["metadata"]["creationTimestamp"] = f"2025-12-31T00:{minute:02}:00Z"
        return {**found, "status": {"phase": "Failed", "reason": reason}}

    c = Cluster.from_manifests([node("n1"), ended("old", 1), ended("young", 3), ended("middle", 2), ended("evicted", 9, "Evicted")])
    c.run()
    assert ["middle", "young"] == [each.metadata.name for each in c.objects("pods")]


def test_a_pod_that_somebody_else_removes_is_not_waited_for():
    """Its deletion is refused as not found, and nothing is tried again."""
    c = Cluster.from_manifests([node("n1"), node("n2"), pod("app", running_on="n1")])
    c.delete("node/n1")
    c.wait(59)
    c.step(turns=True)
    c.kubectl("delete pod app --force --grace-period=0")
    c.run()
    assert ("pod/app" in c, c.now) == (False, 60.0)


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_no_kubelet_acts_on_a_node_that_is_not_ready(status):
    """A pod bound there stays Pending, and `why` says so; it starts when the node is ready."""
    c = Cluster.from_manifests([node("n1", ready=status)])
    c.apply(pod("app", node_name="n1", tolerations=[{"operator": "Exists"}]))
    c.run()
    assert "Pending" == c["pod/app"].status.phase
    assert f"a node whose condition Ready is {status}, so that no kubelet starts it" in " ".join(str(c.why("app")).split())
    c.stop_nodes("n1")
    c.start_nodes("n1")
    c.run()
    assert "Running" == c["pod/app"].status.phase
