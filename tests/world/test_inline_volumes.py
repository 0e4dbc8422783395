"""Inline volumes take a driver's room: they are made when a pod starts, wait where there is none, and are given back."""

import attrs
import pytest
from documents.clusters import cluster, events, where
from manifests import HOST, node, pod

from kvolsched.world.apiserver import Write, key_of

PMEM = "pmem-csi.intel.com"
FULL = 'MountVolume.SetUp failed for volume "pmem" : rpc error: code = ResourceExhausted desc = not enough capacity on {} for {}'


def driver(*, tracking=True, pod_info=True):
    """A driver of inline volumes."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": PMEM},
            "spec": {"capacityTracking": tracking, "podInfoOnMount": pod_info, "volumeLifecycleModes": ["Ephemeral"]}}


def redis(name, size="8Gi", *, attribute="", **spec):
    """A pod with an inline volume, sized by fsSize or by the driver's own attribute."""
    source = {"driver": PMEM, **({"volumeAttributes": {"size": attribute}} if attribute else {"fsSize": size} if size else {})}
    return pod(name, volumes=[{"name": "pmem", "csi": source}], **spec)


def world(pools, *pods, nodes=("n0", "n1"), tracking=True, revision="design", publishing=None, pod_info=True, **dials):
    """A cluster whose driver has a pool a node, run until all is quiet."""
    options = {PMEM: {"kind": "local", "pools": pools, "publishing": {"form": "node", **(publishing or {})}}, **dials}
    made = cluster(*map(node, nodes), driver(tracking=tracking, pod_info=pod_info), *pods, revision=revision, **options)
    made.run(seconds=100)
    return made


def told(made):
    """The capacity that is published, by pool."""
    entries = made[f"csidriver/{PMEM}"].status.storage
    return {pool.name: pool.capacity for entry in entries for pool in entry.pools}


@pytest.mark.checklist("145", "174")
def test_an_inline_volume_takes_room_and_the_next_poll_publishes_it():
    """8Gi of 10Gi are taken when the kubelet starts the pod; the published capacity shrinks to 2Gi at the next poll."""
    made = world({"n0": "10Gi", "n1": "1Gi"}, redis("app"))

    assert (["n0"], "Running") == (where(made, "app"), made["pod/app"].status.phase)
    assert {"n0": "2Gi", "n1": "1Gi"} == told(made)


def test_a_volume_larger_than_every_pool_never_runs():
    """50Gi on nodes of 10Gi: the scheduler finds no node, whose words are those of a claim."""
    made = world({"n0": "10Gi", "n1": "10Gi"}, redis("app", "50Gi"))

    assert [""] == where(made, "app")
    assert ["0/2 nodes are available: 2 node(s) did not have enough free storage."] == events(made, "app", "FailedScheduling")


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("144")
def test_without_tracking_the_pod_stays_on_its_node_and_is_retried(revision):
    """Nobody checks: the kubelet cannot mount, says so in Kubernetes' words, and tries 0.5, 1, 2, ... seconds later."""
    made = world({"n0": "10Gi"}, redis("app", "", attribute="50Gi"), nodes=["n0"], tracking=False, revision=revision)

    assert ["n0"] == where(made, "app")
    assert "ContainerCreating" in repr(made.get("pods"))
    assert [FULL.format("n0", "50Gi")] == events(made, "app", "FailedMount")
    tries = [row.time for row in made.story("pod/app") if "MountVolume.SetUp failed" in row.words]
    assert [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5] == tries[:8]


@pytest.mark.checklist("268")
def test_a_retried_mount_succeeds_when_another_pod_has_ended():
    """Two pods of 8Gi on one node of 10Gi: the second starts after the first was deleted, on the same node."""
    made = world({"n0": "10Gi"}, redis("one"), redis("two"), nodes=["n0"], tracking=False)
    first, second = sorted(("one", "two"), key=lambda name: made[f"pod/{name}"].status.phase != "Running")
    assert ("Running", "Pending") == (made[f"pod/{first}"].status.phase, made[f"pod/{second}"].status.phase)
    made.delete(f"pod/{first}")
    made.run(seconds=300)

    assert "Running" == made[f"pod/{second}"].status.phase
    assert not made[f"pod/{second}"].status.rest.get("containerStatuses")


@pytest.mark.checklist("183")
def test_replicas_of_redis_fill_the_memory_of_the_nodes():
    """Two fit on n0 and one on n1; the fourth has no node, until one is deleted and its memory is free again."""
    made = world({"n0": "16Gi", "n1": "8Gi"}, publishing={"interval": 1.0})
    for name in ("r0", "r1", "r2", "r3"):
        made.apply(redis(name))
        made.run(seconds=30)
    assert ["n0", "n0", "n1"] == sorted(where(made, "r0", "r1", "r2"))
    assert [""] == where(made, "r3")
    assert {"n0": "0", "n1": "0"} == told(made)
    made.delete("pod/r0")
    made.run(seconds=60)

    assert where(made, "r3")[0]
    assert "Running" == made["pod/r3"].status.phase


def test_room_is_given_back_however_a_pod_ends():
    """A pod deleted by force and a pod that has failed hold no room; nor does one deleted while the kubelet was down."""
    made = world({"n0": "30Gi"}, redis("forced"), redis("failed"), redis("unseen"), nodes=["n0"], publishing={"interval": 1.0})
    assert {"n0": "6Gi"} == told(made)
    made.world.perform("user", [delete_now(made, "forced")])
    made.run(seconds=10)
    assert {"n0": "14Gi"} == told(made)
    fail(made, "failed")
    made.run(seconds=10)
    assert {"n0": "22Gi"} == told(made)
    made.world.perform("user", [delete_now(made, "unseen")])
    made.crash("kubelet")
    made.run(seconds=10)
    assert {"n0": "30Gi"} == told(made)


def delete_now(made, name):
    """The write of `kubectl delete --grace-period=0 --force`."""
    return Write("delete", key_of(made[f"pod/{name}"]), 0)


def fail(made, name):
    """Let somebody report that a pod has failed."""
    old = made[f"pod/{name}"]
    new = attrs.evolve(old, status=attrs.evolve(old.status, phase="Failed"))
    made.world.perform("user", [Write("update_status", key_of(old), new)])


def test_a_crash_of_the_kubelet_forgets_no_volume():
    """What inline volumes take is the storage's to know: the restarted kubelet makes none twice."""
    made = world({"n0": "10Gi"}, redis("app"), nodes=["n0"], publishing={"interval": 1.0})
    made.crash("kubelet")
    made.run(seconds=10)

    assert {"n0": "2Gi"} == told(made)


def test_back_takes_the_room_back():
    """The room that a volume takes is part of the history: before the pod's start it is free, and the digest knows."""
    made = world({"n0": "10Gi"}, nodes=["n0"])
    before = made.digest()
    made.apply(redis("app"))
    step = made._last_step.number
    made.run(seconds=100)
    taken = made.digest()
    made.goto(step - 1)

    assert before == made.digest() != taken
    assert {"n0": "10Gi"} == told(made)


@pytest.mark.parametrize(("source", "service", "pod_info", "left"), [
    ({"fsSize": "4Gi"}, {}, True, "6Gi"),
    ({"fsSize": "4Gi"}, {}, False, "6Gi"),  # it is not told; the room is taken all the same
    ({"fsSize": "4Gi"}, {"default_size": "1Gi"}, False, "9Gi"),
    ({"volumeAttributes": {"size": "3Gi"}}, {}, True, "7Gi"),
    ({"volumeAttributes": {"gigabytes": "3Gi"}}, {"size_parameter": "gigabytes"}, True, "7Gi"),
    ({"fsSize": "4Gi"}, {"heeds_size": False}, True, "10Gi"),
    ({}, {}, True, "10Gi"),
])  # fmt: skip
@pytest.mark.checklist("161", "164")
def test_whose_size_counts(source, service, pod_info, left):
    """The size that the driver is told, its own parameter, its default; and nothing of a size that it ignores."""
    made = world({"n0": "10Gi"}, pod("app", volumes=[{"name": "pmem", "csi": {"driver": PMEM, **source}}]), nodes=["n0"],
                 pod_info=pod_info, kubelet={"services": {PMEM: service}})

    assert ("Running", left) == (made["pod/app"].status.phase, told(made)["n0"])


def test_a_size_that_is_no_quantity_is_the_drivers_error():
    """InvalidArgument, with what was given."""
    made = world({"n0": "10Gi"}, redis("app", "", attribute="lots"), nodes=["n0"])

    assert "code = InvalidArgument desc = size 'lots'" in events(made, "app", "FailedMount")[0]


def test_every_order_of_turns_takes_no_more_than_there_is():
    """Two pods of 8Gi, one node of 10Gi, no tracking: in every order exactly one runs."""
    made = world({"n0": "10Gi"}, nodes=["n0"], tracking=False)
    made.apply(redis("one"), redis("two"))

    def never_both(_before, after):
        running = [key.name for key, obj in after.items() if key.kind == "Pod" and obj.status.phase == "Running"]
        return "both run" if len(running) > 1 else ""

    found = made.explore(until=None, invariants=[never_both], max_states=3_000, progress=False)
    assert not found.counterexample, repr(found)
    assert "Exhausted" in repr(found)


def test_a_hostname_label_is_not_needed():
    """A pool of a node is found by the node's name where the label is missing."""
    bare = node("n0")
    del bare["metadata"]["labels"][HOST]
    made = cluster(bare, driver(), redis("app"), **{PMEM: {"kind": "local", "pools": {"n0": "10Gi"},
                                                           "publishing": {"form": "node"}}})
    made.run(seconds=100)
    assert {"n0": "2Gi"} == told(made)


@pytest.mark.checklist("174", "175")
def test_the_chart_of_capacity_speaks_of_inline_volumes():
    """What is published for inline volumes, what the driver has now, and the verdict; else why nobody looks."""
    made = world({"n0": "10Gi", "n1": "2Gi"}, redis("one"), publishing={"interval": 0.0})
    made.apply(redis("two"))
    made.run("pod/two scheduled")
    text = repr(made.capacity("two"))
    assert text.startswith("Where could inline volume pmem be made? 8Gi of class <ephemeral>; now: step")
    published = "published 10Gi, 2 s old, stale: driver now 2Gi"
    assert f"n0  1 node  {published}  rule ✓ 8Gi ≤ 10Gi  driver ✕ has 2Gi: creation fails" in text
    assert "n1  1 node  published 2Gi, 2 s old, driver now 2Gi          rule ✕ 8Gi > 2Gi   driver ✕ has 2Gi: never" in text

    untracked = world({"n0": "10Gi", "n1": "2Gi"}, redis("one"), tracking=False)
    assert f"Driver {PMEM} does not track capacity: not checked; driver now: n0 10Gi, n1 2Gi" in repr(untracked.capacity("one"))
    unsized = world({"n0": "10Gi"}, redis("one", "", attribute="4Gi"), nodes=["n0"])
    title, why = repr(unsized.capacity("one")).splitlines()
    assert "4Gi of class <ephemeral>; now:" in title
    assert "The volume has no fsSize: not checked; driver now: n0 6Gi" == why
    today = world({"n0": "10Gi"}, redis("one", "", attribute="4Gi"), nodes=["n0"], revision="upstream")
    assert "These rules do not check inline volumes: their driver finds out when the pod starts" in repr(today.capacity("one"))
