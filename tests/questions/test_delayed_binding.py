"""One pod, a disk that exists and a volume to be made: what a crash between the writes of one decision costs."""

import pytest

import kvolsched
from kvolsched.explore import Crash

POD = """
apiVersion: v1
kind: Pod
metadata: {name: both}
spec:
  containers: [{name: app, image: app, resources: {requests: {cpu: "1"}}}]
  volumes:
  - {name: fast, persistentVolumeClaim: {claimName: fast}}
  - {name: big, persistentVolumeClaim: {claimName: big}}
"""
RULES = ("design", "upstream")


def decided(rules, writes):
    """Give the cluster whose scheduler crashed after so many writes of its decision for node-2."""
    cluster = kvolsched.scenario("disk-and-volume", rules)
    cluster.apply(POD)
    cluster.step("scheduler")
    for _ in range(writes):
        cluster.step("bind worker", turns=True)
    cluster.crash("kube-scheduler")
    return cluster


@pytest.mark.checklist("109")
@pytest.mark.parametrize("rules", RULES)
def test_existing_disk_and_volume_to_be_made_are_decided_together(rules):
    """The pass takes the node whose disk is closer in size, and the volume is made where that disk is."""
    cluster = kvolsched.scenario("disk-and-volume", rules)
    cluster.apply(POD)
    cluster.run()
    (made,) = [volume for volume in cluster.objects("pv") if volume.metadata.name.startswith("pvc-")]

    assert "ssd" == cluster["pvc/fast"].spec.volume_name
    assert ("b",) == made.spec.node_affinity.required.node_selector_terms[0].match_expressions[0].values
    assert ("node-2", "Running") == (cluster["pod/both"].spec.node_name, cluster["pod/both"].status.phase)


@pytest.mark.parametrize("rules", RULES)
def test_what_was_not_written_can_be_decided_anew(rules):
    """A decision that died in the scheduler's memory binds nobody: with the node cordoned, another one is taken."""
    cluster = decided(rules, 0)
    cluster.cordon("node-2")
    cluster.run()

    assert ("node-3", "ssd-large") == (cluster["pod/both"].spec.node_name, cluster["pvc/fast"].spec.volume_name)


@pytest.mark.parametrize(("rules", "writes"), [("design", 1), ("upstream", 2)])
def test_what_was_written_is_the_plan(rules, writes):
    """Once the disk names its claim, the decision outlives the scheduler: the pod waits for that node alone."""
    cluster = decided(rules, writes)
    cluster.cordon("node-2")
    cluster.run()
    assert ("", "ssd") == (cluster["pod/both"].spec.node_name, cluster["pvc/fast"].spec.volume_name)
    cluster.uncordon("node-2")
    cluster.run()
    assert "node-2" == cluster["pod/both"].spec.node_name


@pytest.mark.parametrize("rules", RULES)
def test_no_crash_of_the_scheduler_leaves_the_pod_behind(rules):
    """Wherever it strikes, in any order, the pod runs in the end."""
    cluster = kvolsched.scenario("disk-and-volume", rules)
    cluster.apply(POD)
    found = cluster.explore(faults=[Crash("kube-scheduler")], lag="none", progress=False)

    assert found.exhausted
    assert not found


def test_a_pod_whose_claims_were_bound_before_it_waits_is_not_forgotten():
    """The volume controller may complete every bond before the bind worker requeues the pod: no change is to come."""
    found = kvolsched.scenario("disk-stolen", "design").explore(lag="none", progress=False)
    assert found.exhausted
    assert not found
