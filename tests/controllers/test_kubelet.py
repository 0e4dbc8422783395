"""The kubelets: what starts, what waits, what is refused, and how a pod ends."""

import pytest
from controllers.harness import Harness
from objects import claim, node, pod, storage_class, volume

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.controllers import kubelet, persistent_volume


def world(**dials):
    """A world with the kubelets and the PV controller."""
    return Harness(kubelet.component(kubelet.KubeletOptions(**dials)), persistent_volume.component()).create(
        node("node-a", "zone-a"), node("node-b", "zone-b"), storage_class(waits=False)
    )


@pytest.mark.checklist("81")
def test_a_bound_pod_runs_with_its_conditions_and_start_time_in_one_write():
    """Phase, four conditions and startTime are one change."""
    made = world().create(pod(node_name="node-a")).run()
    status = made["pod/app"].status
    assert status.phase == "Running"
    assert status.start_time is not None
    names = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
    assert [status.condition(name).status for name in names] == ["True"] * 4
    assert made.writes() == [("kubelet", "patch", "pod/app")]


@pytest.mark.checklist("37")
@pytest.mark.parametrize(("block", "verb"), [(False, "MountVolume"), (True, "MapVolume")])
def test_a_volume_out_of_reach_is_not_mounted(block, verb):
    """NodeName set by hand on a node that the volume's affinity does not match: refused in Kubernetes' words."""
    made = world()
    kind = {"volumeMode": "Block"} if block else {}
    disk = volume(zone="zone-b")

    disk = evolve_parts(disk, spec={"volume_mode": "Block" if block else None})
    made.create(disk).run().create(claim(**kind)).run().create(pod("app", "data", node_name="node-a")).run()
    words = f'{verb}.NodeAffinity check failed for volume "disk" : no matching NodeSelectorTerms'
    assert words in [message for _, message in made.events("app")]
    assert made["pod/app"].status.phase == "Pending"
    made.create(pod("other", "data", node_name="node-b")).run()
    assert made["pod/other"].status.phase == "Running"


def test_a_pod_waits_for_its_claims_and_starts_when_they_are_bound():
    """A pod put on a node by hand waits until the binding is complete."""
    made = world().create(claim(), pod("app", "data", node_name="node-a")).run(5)
    assert made["pod/app"].status.phase == "Pending"
    made.create(volume()).run(60)
    assert made["pod/app"].status.phase == "Running"


def test_a_pod_for_which_there_is_no_room_fails():
    """OutOfcpu: the pod has failed, with reason and message; what it asked for is free again."""
    made = world().create(pod("one", node_name="node-a", cpu="3")).run().create(pod("two", node_name="node-a", cpu="2")).run()
    status = made["pod/two"].status
    assert (status.phase, status.reason) == ("Failed", "OutOfcpu")
    assert status.message == "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
    made.delete("pod/one").run().create(pod("three", node_name="node-a", cpu="4")).run()
    assert made["pod/three"].status.phase == "Running"


def test_a_deleted_pod_ends_in_three_changes():
    """Status Succeeded, then the final delete, which first clears the grace and then takes the object away."""
    made = world().create(pod(node_name="node-a")).run()
    before = len(made.sim.log.changes)
    made.delete("pod/app", 1).run()
    assert made["pod/app"] is None
    changes = [c.new for c in made.sim.log.changes[before:] if c.key[0] == "Pod"]
    assert [None if pod is None else pod.metadata.deletion_grace_period_seconds for pod in changes] == [1, 1, 0, None]
    assert changes[1].status.phase == "Succeeded"
    assert changes[1].status.condition("Ready").reason == "PodCompleted"


def test_starting_and_stopping_take_the_time_they_are_given():
    """The dials are simulated seconds."""
    made = world(start_delay=0.2, stop_delay=0.5).create(pod(node_name="node-a")).run()
    assert made.sim.now == pytest.approx(0.2)
    made.delete("pod/app").run()
    assert made.sim.now == pytest.approx(0.7)
    assert made["pod/app"] is None
