"""Preemption in the loop: who writes what in which order, who is told what, and that it travels in time."""

import manifests
import pytest
from manifests import node

from kvolsched.cluster import Cluster

FOUND = [
    *({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"class-{value}"}, "value": value}
      for value in (1, 10, 100)),
    node("n", cpu="2"),
]


def pod(name, priority):
    """Return a pod of a priority that fills the node."""
    return manifests.pod(name, cpu="2", priority=priority, priorityClassName=f"class-{priority}")


@pytest.fixture
def cluster():
    """A node that a pod of low priority fills, and a pod of high priority that wants it."""
    made = Cluster.from_manifests([*FOUND, pod("low", 1)], revision="upstream")
    made.run()
    made.apply(pod("high", 10))
    return made


def writes(cluster, since):
    """Every write of the turns from this one on: actor, verb, object."""
    return [
        (turn.actor, outcome.write.verb, outcome.write.subject)
        for turn in cluster.world.turns[since:]
        for outcome in turn.outcomes
    ]


def test_the_writes_in_their_order(cluster):
    """Nominated, the victim told and deleted, stopped by its kubelet, then the pod is bound: one write a turn."""
    since = len(cluster.world.turns)
    cluster.run()

    assert [
        ("scheduling pass", "patch", "pod/high"),
        ("preemption", "patch", "pod/low"),
        ("preemption", "delete", "pod/low"),
        ("kubelet", "patch", "pod/low"),
        ("kubelet", "delete", "pod/low"),
        ("bind worker", "bind", "pod/high"),
        ("kubelet", "patch", "pod/high"),
    ] == writes(cluster, since)
    assert cluster["pod/high"].spec.node_name == "n"


def test_who_is_told_what(cluster):
    """The pod is promised the node, without a word of preemption; the victim hears by whom and why."""
    cluster.step("scheduling pass")
    high = cluster["pod/high"]
    cluster.step("preemption")
    told = cluster["pod/low"].status.condition("DisruptionTarget")
    cluster.step("preemption")
    messages = {event.reason: event.message for event in cluster.objects("events")}

    assert high.status.nominated_node_name == "n"
    assert high.status.condition("PodScheduled").message == "0/1 nodes are available: 1 Insufficient cpu."
    assert (told.status, told.reason, told.message) == (
        "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"
    )  # fmt: skip
    assert messages["Preempted"] == f"Preempted by pod {high.metadata.uid} on node n"


def under_design(*objects, **components):
    """The same cluster under the rules of 1.11."""
    made = Cluster.from_manifests([*FOUND, pod("low", 1), *objects], revision="design", components=components)
    made.run()
    made.apply(pod("high", 10))
    return made


def test_the_writes_of_1_11_in_their_order():
    """The condition alone, the nomination, the victim's deletion without a condition; nobody is scheduled meanwhile."""
    made = under_design()
    since = len(made.world.turns)
    made.step("scheduling pass")
    made.apply(pod("other", 100))
    begun = bool(made.step("scheduling pass"))
    made.run("pod/low gone")
    gone = writes(made, since)
    messages = {event.involved_object.name: event.message for event in made.objects("events") if event.reason != "Started"}

    assert not begun
    assert [("scheduling pass", "patch", "pod/high"), ("user", "create", "pod/other"), ("preemption", "patch", "pod/high"),
            ("preemption", "delete", "pod/low")] == gone[:4]
    assert "0/1 nodes are available: 1 Insufficient cpu." == made["pod/high"].status.condition("PodScheduled").message
    assert "by default/high on node n" == messages["low"]


def test_a_refused_write_ends_an_eviction_of_1_11():
    """If the API server refuses to delete a victim, none is deleted or told; the pod keeps its nomination."""
    made = under_design(**{"kube-scheduler": {"denied": ["delete pods"]}})
    made.run(seconds=30)

    assert ("n", "Running") == (made["pod/high"].status.nominated_node_name, made["pod/low"].status.phase)
    assert [] == [event for event in made.objects("events") if event.reason == "Preempted"]


@pytest.mark.parametrize("write", [2, 3])
def test_one_refused_write_delays_a_pod_of_1_11(write):
    """After a conflict on the nomination or on a victim's deletion the pod is tried again, and runs in the end."""
    made = under_design()
    made.refuse("scheduler", write)
    made.run()

    assert "Running" == made["pod/high"].status.phase


def test_a_pod_of_1_11_waits_for_whoever_terminates_on_its_node():
    """While any pod of lower priority terminates on the nominated node, 1.11 evicts no other, and it reads no policy."""
    never = {**FOUND[1], "metadata": {"name": "never"}, "preemptionPolicy": "Never"}
    made = Cluster.from_manifests([*FOUND, never, node("m", cpu="2"), pod("low", 1), pod("lower", 1)], revision="design",
                                  components={"kubelet": {"stop_delay": 400}})
    made.run()
    made.apply(manifests.pod("high", cpu="2", priorityClassName="never"))
    made.run(seconds=350)

    assert 1 < len(made.passes("high"))
    assert 1 == len([event for event in made.objects("events") if event.reason == "Preempted"])
    made.run(seconds=300)
    assert made["pod/high"].spec.node_name == made["pod/high"].status.nominated_node_name != ""


def test_back_to_the_start(cluster):
    """Taken back step by step, the victim runs again and nobody is promised anything; run again, it ends alike."""
    start, steps = cluster.get("pods"), cluster.world.step_number
    cluster.run()
    end, taken = cluster.get("pods"), cluster.world.step_number - steps
    cluster.back(taken)
    assert start == cluster.get("pods")
    cluster.run()

    assert end == cluster.get("pods")


def test_a_promised_node_is_kept_for_its_pod():
    """While its victim takes its time, nobody of the same or lower priority takes the place or evicts for it."""
    made = Cluster.from_manifests(
        [*FOUND, pod("low", 1)], revision="upstream", components={"kubelet": {"stop_delay": 60}}
    )
    made.run()
    made.apply(pod("high", 10))
    for actor in ("scheduling pass", "preemption", "preemption"):
        made.step(actor)
    made.apply(pod("other", 10))
    made.step("scheduling pass")

    assert made["pod/high"].status.nominated_node_name == "n"
    assert made["pod/other"].status.nominated_node_name == ""
    assert made["pod/other"].status.condition("PodScheduled").message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Insufficient cpu."
    )
    made.run()
    assert made["pod/high"].spec.node_name == "n"
    assert made["pod/other"].spec.node_name == ""


def test_a_more_important_pod_takes_the_promise():
    """Of a higher priority it is not bound by promises: it takes the node, and the promise is taken back."""
    made = Cluster.from_manifests(
        [*FOUND, pod("low", 1)], revision="upstream", components={"kubelet": {"stop_delay": 60}}
    )
    made.run()
    made.apply(pod("high", 10))
    made.step("scheduling pass")
    made.apply(pod("highest", 100))
    made.step("scheduling pass")
    made.run()

    assert made["pod/highest"].spec.node_name == "n"
    assert made["pod/high"].spec.node_name == ""
    assert made["pod/high"].status.nominated_node_name == ""


SLOW = [
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "slow"}, "provisioner": "slow.csi",
     "volumeBindingMode": "WaitForFirstConsumer"},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
     "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "slow", "resources": {"requests": {"storage": "1Gi"}}}},
]  # fmt: skip


def test_the_binding_of_a_victim_that_waits_for_its_volumes_is_cancelled():
    """It is not deleted: its binding fails, it goes back to the queue, and the node is free for the other pod."""
    low = pod("low", 1)
    low["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    made = Cluster.from_manifests([*FOUND, *SLOW, low], revision="upstream",
                                  components={"slow.csi": {"kind": "zonal", "delay": 50.0}})  # fmt: skip
    made.run(seconds=5.0)
    assert made["pod/low"].status.nominated_node_name == "n"
    made.apply(pod("high", 10))
    since = len(made.world.turns)
    made.run(seconds=5.0)
    events = {(event.involved_object.name, event.reason): event.message for event in made.objects("events")}
    failed = 'running PreBind plugin "VolumeBinding": binding volumes: context canceled'

    assert "n" == made["pod/high"].spec.node_name
    assert ("delete", "pod/low") not in [each[1:] for each in writes(made, since)]
    assert f"Preempted by pod {made['pod/high'].metadata.uid} on node n" == events["low", "Preempted"]
    assert any(failed == event.message for event in made.objects("events") if event.reason == "FailedScheduling")
    assert ("", "") == (made["pod/low"].spec.node_name, made["pod/low"].status.nominated_node_name)
    assert made["pod/low"].status.condition("DisruptionTarget") is None
