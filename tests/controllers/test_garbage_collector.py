"""The garbage collector: what goes with its owner, what stays, and who waits for whom."""

import attrs
from controllers.workloads import cluster, pods, running, workload

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.world.apiserver import Write, key_of
from kvolsched.world.log import Key

CONFIG = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: %s
  ownerReferences: [%s]
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
"""
REF = "{apiVersion: v1, kind: Pod, name: %s, uid: %s, controller: false, blockOwnerDeletion: true}"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: app, image: app}]}"
COLLECTOR = "generic-garbage-collector"


def owned(made, name, *owners):
    """Let a claim belong to these pods."""
    refs = ", ".join(REF % (owner, made[f"pod/{owner}"].metadata.uid) for owner in owners)
    made.apply(CONFIG % (name, refs))
    made.run(seconds=100)


def names(made, kinds="claims"):
    """Return the names of what there is of a kind."""
    return [one.metadata.name for one in made.objects(kinds.replace("claims", "persistentvolumeclaims"))]


def test_a_deployment_goes_with_everything_below_it():
    """First the ReplicaSet, then its pods, with their grace; no controller else deletes them."""
    made = cluster(workload("Deployment", 3))
    made.delete("deploy/web")
    made.run(seconds=100)
    assert [] == made.objects("replicasets") == made.objects("pods")
    deleted = [
        (turn.component, outcome.write.key.kind)
        for turn in made.world.turns for outcome in turn.outcomes if outcome.write.verb == "delete"
    ]
    assert [("user", "Deployment"), (COLLECTOR, "ReplicaSet"), *[(COLLECTOR, "Pod")] * 3] == deleted[:5]


def test_what_has_another_owner_stays_without_the_one_that_went():
    """The last owner takes it along."""
    made = cluster(POD % "a", POD % "b")
    owned(made, "both", "a", "b")
    owned(made, "one", "a")
    made.delete("pod/a")
    made.run(seconds=100)
    assert ["both"] == names(made)
    assert ["b"] == [ref.name for ref in made["pvc/both"].metadata.owner_references]
    made.delete("pod/b")
    made.run(seconds=100)
    assert [] == names(made)


def test_an_owner_that_is_not_seen_is_asked_for_live():
    """Before it deletes, it reads the owner from the API server itself, and the turn's record says so."""
    made = cluster(POD % "a")
    owned(made, "one", "a")
    made.delete("pod/a")
    made.run(seconds=100)
    deleting = [turn for turn in made.world.turns if turn.component == COLLECTOR and turn.outcomes]
    assert [(Key("Pod", "default", "a"),)] == [turn.reads for turn in deleting][:1]


def test_a_successor_of_the_same_name_is_no_owner():
    """A uid counts, not a name."""
    made = cluster(POD % "a")
    owned(made, "old", "a")
    made.delete("pod/a")
    made.apply(POD % "a")
    made.run(seconds=100)
    assert [] == names(made)


def test_an_owner_that_was_never_seen_is_somebody_elses():
    """Objects of a dump whose owners are not in it are not collected."""
    made = cluster(workload("ReplicaSet", 2))
    alone = [attrs.evolve(pod) for pod in made.objects("pods")]
    other = cluster(POD % "a")
    other._load(alone)
    other.delete("pod/a")
    other.run(seconds=100)
    assert 2 == running(other)


def test_foreground_the_owner_goes_last():
    """With the finalizer foregroundDeletion it waits for its dependents; with orphan it lets them go."""
    made = cluster(workload("ReplicaSet", 2))
    owner = made["rs/web"]
    for finalizer, left in (("orphan", 2), ("foregroundDeletion", 0)):
        here = made.fork()
        marked = evolve_parts(owner, metadata={"finalizers": (finalizer,)})
        here.world.perform("user", [Write("update", key_of(owner), marked), Write("delete", key_of(owner))])
        assert here["rs/web"].metadata.deletion_timestamp
        here.run(seconds=100)
        assert [] == here.objects("replicasets")
        assert left == running(here)
        gone = [change.key.kind for change in here.world.log.changes if change.new is None and change.key[0] in ("Pod", "ReplicaSet")]
        assert ["Pod"] * (2 - left) + ["ReplicaSet"] == gone
        assert [()] * left == [pod.metadata.owner_references for pod in pods(here)]


def test_a_world_without_owners_has_no_collector_in_it():
    """It begins to watch when an owner is gone, and not before."""
    made = cluster(workload("ReplicaSet", 2))
    assert not made.world.processes[COLLECTOR].watching
    made.delete("rs/web")
    assert made.world.processes[COLLECTOR].watching
    made.back()
    assert not made.world.processes[COLLECTOR].watching
