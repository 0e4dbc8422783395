"""Protection: a claim stays while a pod on a node uses it, a volume while it is bound; nobody else is bothered."""

import pytest
from controllers.harness import Harness
from controllers.workloads import cluster
from objects import claim, pod, volume

from kvolsched import Cluster
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.controllers.protection import CLAIM_PROTECTION, VOLUME_PROTECTION

POD = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: app, image: app}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}
"""
CLASS = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ebs}, provisioner: ebs.example.com}"


def world():
    """A world of both controllers alone."""
    return Harness(CLAIM_PROTECTION.component(), VOLUME_PROTECTION.component(), protects=True)


def test_new_claims_and_volumes_are_protected():
    """Admission gives each its finalizer, once; nothing else gets one."""
    made = world().create(claim(), volume(), pod())
    assert ("kubernetes.io/pvc-protection",) == made["pvc/data"].metadata.finalizers
    assert ("kubernetes.io/pv-protection",) == made["pv/disk"].metadata.finalizers
    assert () == made["pod/app"].metadata.finalizers


def test_a_claim_in_use_stays_until_its_pod_is_gone():
    """It is Terminating meanwhile; an ended pod still holds it, one without a node does not."""
    made = world().create(claim(), pod("app", "data", node_name="node-a")).delete("pvc/data").run()
    assert made["pvc/data"].metadata.deletion_timestamp
    ended = evolve_parts(made["pod/app"], status={"phase": "Succeeded"})
    made.write("update_status", ended, ended)
    assert made.run()["pvc/data"] is not None
    made.delete("pod/app", grace=0).run()
    assert made["pvc/data"] is None

    made = world().create(claim(), pod("app", "data")).delete("pvc/data").run()
    assert made["pvc/data"] is None


def test_a_volume_stays_while_it_is_bound():
    """Released or never used, it goes."""
    made = world().create(volume("free"), volume("held"))
    held = made["pv/held"]
    made.write("update_status", held, evolve_parts(held, status={"phase": "Bound"}))
    made.delete("pv/free").delete("pv/held").run()
    assert made["pv/free"] is None
    assert made["pv/held"].metadata.deletion_timestamp
    held = made["pv/held"]
    made.write("update_status", held, evolve_parts(held, status={"phase": "Released"}))
    assert made.run()["pv/held"] is None


def test_a_finalizer_of_somebody_else_keeps_it_further():
    """Only the own finalizer is taken off."""
    guarded = evolve_parts(claim(), metadata={"finalizers": ("example.com/backup",)})
    made = world().create(guarded).delete("pvc/data").run()
    assert ("example.com/backup",) == made["pvc/data"].metadata.finalizers


def test_the_whole_way_of_a_volume_that_is_given_back():
    """Pod, claim and volume go in this order, the volume with both finalizers taken off by whom they belong to."""
    made = cluster(CLASS, CLAIM, POD)
    name = made["pvc/data"].spec.volume_name
    assert {"external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"} == set(
        made[f"pv/{name}"].metadata.finalizers
    )
    made.delete("pvc/data")
    made.run(seconds=60)
    assert "Terminating" in str(made.get("pvc"))
    made.delete("pod/app")
    made.run(seconds=60)
    gone = [change.key for change in made.world.log.changes if change.new is None and hasattr(change.key, "kind")]
    assert ["Pod", "PersistentVolumeClaim", "PersistentVolume"] == [key.kind for key in gone]
    last = [
        (turn.component, outcome.write.verb) for turn in made.world.turns for outcome in turn.outcomes
        if outcome.write.key.kind == "PersistentVolume" and outcome.write.verb != "update_status"
    ]
    assert [
        ("ebs.example.com", "create"), ("ebs.example.com", "delete"), ("pv-protection-controller", "update"),
        ("ebs.example.com", "update"),
    ] == last


@pytest.mark.parametrize("revision", ["upstream", "design"])
def test_what_is_loaded_is_protected_under_upstream(revision):
    """Hand-written objects were admitted there; under the documents' rules a claim goes at once."""
    made = Cluster(revision)
    made._load([claim()])
    made.delete("pvc/data")
    assert len(made.objects("pvc")) == (revision == "upstream")
    made.run()
    assert [] == made.objects("pvc")


def test_nobody_watches_before_there_is_something_to_do():
    """Without a deletion the controllers see nothing and have no turn."""
    made = cluster(CLASS, CLAIM, POD)
    ours = {"pvc-protection-controller", "pv-protection-controller"}
    assert not ours & {turn.component for turn in made.world.turns}
    assert not any(made.world.processes[name].watching for name in ours)


def test_a_grace_can_be_shortened_but_not_prolonged():
    """A second deletion with less grace counts; one with more changes nothing; with none the pod goes."""
    made = world().create(pod(node_name="node-a")).delete("pod/app", grace=30)
    assert 30 == made["pod/app"].metadata.deletion_grace_period_seconds
    assert not made.write("delete", made["pod/app"], 60).changed
    made.delete("pod/app", grace=5)
    assert 5 == made["pod/app"].metadata.deletion_grace_period_seconds
    assert made.delete("pod/app", grace=0)["pod/app"] is None
