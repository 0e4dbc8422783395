"""A cluster in which something waits, acts on it, and the stars that they earn."""

import json

import pytest

import kvolsched
from kvolsched.learn.rescue import Rescue

MACHINE = """apiVersion: v1
kind: Node
metadata: {name: node-%(z)s2, labels: {kubernetes.io/hostname: node-%(z)s2, topology.kubernetes.io/zone: zone-%(z)s}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}, capacity: {cpu: "16", memory: 64Gi, pods: "110"}}
"""
IN_A, IN_B = (("apply -f -", MACHINE % {"z": zone}) for zone in "ab")
SMALLER = {"spec": {"template": {"spec": {"containers": [{"name": "db", "resources": {"requests": {"cpu": "1"}}}]}}}}
LARGER = {"status": {"allocatable": {"cpu": "16"}}}


@pytest.fixture(scope="module")
def night():
    """The database that does not come back."""
    return kvolsched.play("shop-night")


@pytest.mark.parametrize(("acts", "stars", "words"), [
    (["delete pod db-0"], 0, "db-0 still waits"),
    ([IN_A], 0, "db-0 still waits"),
    ([IN_B], 3, "it runs, nobody is harmed, nothing is given up"),
    (["delete pvc data-db-0", "delete pod db-0"], 1, "of claim default/data-db-0 is gone with its files"),
    (["scale deployment report --replicas=0"], 1, "Deployment report asks for 0 replicas instead of 1"),
    (["delete pod REPORT"], 0, "waits now: the lack has only moved"),
    ([IN_A, "delete pod REPORT"], 3, "nobody is harmed"),
    (["delete node node-b"], 0, "db-0 still waits"),
    (["delete statefulset db"], 0, "db-0 is gone"),
    (["delete deployment report"], 1, "Deployment report is gone"),
    (["scale statefulset db --replicas=0"], 0, "db-0 is gone"),
    ([f"patch statefulset db -p '{json.dumps(SMALLER)}'", "delete pod db-0"], 2, "StatefulSet db asks for 1 cpu instead of 2"),
    ([f"patch node node-b --subresource=status -p '{json.dumps(LARGER)}'"], 1, "node-b says 16 cpu and has 4"),
    (["label node node-a topology.kubernetes.io/zone=zone-b --overwrite"], 1, "node-a stands in zone-a as before, and so do its disks"),
    (["cordon node-b"], 0, "db-0 still waits"),
])  # fmt: skip
def test_each_way_through_the_night(night, acts, stars, words):
    """A machine where the disk is earns three stars; what harms somebody one, what is given up two, all else none."""
    found = Rescue(night)
    report = next(pod.metadata.name for pod in night.objects("pods") if pod.metadata.name.startswith("report"))
    for act in acts:
        command, *stdin = [act] if isinstance(act, str) else act
        assert found.kubectl(command.replace("REPORT", report), *stdin).code == 0

    assert (stars, True) == (found.stars.count, words in found.stars.sentence), found.stars


def test_looking_is_free_and_an_act_can_be_taken_back(night):
    """`get` and `help` are no acts; what kubectl refuses is none; after `undo` everything is as it was."""
    found = Rescue(night, "What frees it?")
    found.kubectl("get pods"), found.kubectl("help")
    found.kubectl("delete pod nobody")
    assert found.acts == []
    assert "★" not in repr(found)

    found.kubectl("scale deployment report --replicas=0")
    assert "★☆☆" in repr(found)
    assert found.undo().stars.count == 0
    assert dict(found.cluster.world.log.objects) == dict(night.world.log.objects)
    assert found.undo().acts == []


def test_a_fix_is_judged_alike(night):
    """A fix that `c.fix` tries has the stars that its commands have."""
    best = [fix.try_it().stars.count for fix in night.fix("db-0")]
    assert 3 in best
