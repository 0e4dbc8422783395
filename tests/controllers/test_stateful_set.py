"""The StatefulSet controller: order, claims before pods, what stays when it shrinks, and its two spellings."""

import pytest
from controllers.harness import Harness
from controllers.workloads import cluster, events, most_and_least, pods, running, workload
from objects import node, read

from kvolsched.api.kinds.meta import Condition, evolve_parts
from kvolsched.api.pod_status import STARTED, StatusPatch
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.controllers import stateful_set

NAME = stateful_set.NAME
SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: default}
spec:
  replicas: %d
  podManagementPolicy: %s
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}
"""
CLASS = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ebs}, provisioner: ebs.example.com}"


def world(replicas, policy="OrderedReady"):
    """A world with the controller alone: the test starts the pods."""
    return Harness(stateful_set.component()).create(node("node-a", "zone-a"), *read(SET % (replicas, policy))).run()


def start(made, name):
    """Play scheduler and kubelet for one pod."""
    conditions = tuple(Condition(type=type_, status="True") for type_ in STARTED)
    made.write("bind", made[f"pod/{name}"], "node-a")
    made.write("patch", made[f"pod/{name}"], StatusPatch("Running", conditions))
    return made.run()


def created(made):
    """Return what the controller has created, in order."""
    return [subject for by, verb, subject in made.writes() if by == NAME and verb == "create"]


def test_ordered_ready_makes_one_replica_at_a_time_claims_first():
    """web-1 comes only when web-0 is running and ready; the claim is there before its pod."""
    made = world(3)
    assert created(made) == ["pvc/data-web-0", "pod/web-0"]
    start(made, "web-0")
    start(made, "web-1")
    assert created(made) == [f"{kind}-{n}" for n in range(3) for kind in ("pvc/data-web", "pod/web")]
    assert made["sts/web"].status.ready_replicas == 2
    assert start(made, "web-2")["sts/web"].status.ready_replicas == 3


def test_parallel_makes_all_at_once():
    """No waiting for anybody."""
    assert created(world(3, "Parallel")) == [f"{kind}-{n}" for n in range(3) for kind in ("pvc/data-web", "pod/web")]


def test_pods_and_claims_carry_their_names_labels_and_owner():
    """A pod knows its ordinal, its claim and its StatefulSet; a claim has the selector's labels and no owner."""
    made = world(1)
    pod, claim = made["pod/web-0"], made["pvc/data-web-0"]
    assert made["sts/web"].status.update_revision.startswith("web-")
    assert dict(pod.metadata.labels) == {
        "controller-revision-hash": made["sts/web"].status.update_revision,
        "app": "web", "statefulset.kubernetes.io/pod-name": "web-0", "apps.kubernetes.io/pod-index": "0",
    }
    assert list(pod.claim_names()) == ["data-web-0"]
    assert pod.metadata.controller.uid == made["sts/web"].metadata.uid
    assert dict(claim.metadata.labels) == {"app": "web"}
    assert claim.metadata.owner_references == ()


def test_events_in_both_spellings():
    """A claim is created with `success`, a pod with `successful`."""
    made = world(1)
    assert made.events("web") == [
        ("SuccessfulCreate", "Create Claim data-web-0 Pod web-0 in StatefulSet web success"),
        ("SuccessfulCreate", "Create Pod web-0 in StatefulSet web successful"),
    ] or sorted(made.events("web")) == sorted([
        ("SuccessfulCreate", "Create Claim data-web-0 Pod web-0 in StatefulSet web success"),
        ("SuccessfulCreate", "Create Pod web-0 in StatefulSet web successful"),
    ])


def scale(made, replicas):
    """Let the user change the number of replicas."""
    made.change("sts/web", lambda s: evolve_parts(s, spec={"replicas": replicas}))
    return made.run()


def test_shrinking_deletes_the_highest_first_and_keeps_claims():
    """One at a time, each gone before the next; grown again, the old claim is used."""
    made = start(start(world(2), "web-0"), "web-1")
    scale(made, 0)
    deleted = [subject for by, verb, subject in made.writes() if verb == "delete"]
    assert deleted == ["pod/web-1"]
    made.write("delete", made["pod/web-1"], 0)
    made.run()
    assert [subject for by, verb, subject in made.writes() if verb == "delete"] == ["pod/web-1", "pod/web-0"]
    assert made["pvc/data-web-1"] is not None
    made.write("delete", made["pod/web-0"], 0)
    made.run()
    before = len(created(made))
    scale(made, 1)
    assert created(made)[before:] == ["pod/web-0"]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_deleted_pod_is_made_again_with_its_claim(policy):
    """A replica that is gone comes back under its name and finds its claim."""
    made = start(world(1, policy), "web-0")
    uid = made["pod/web-0"].metadata.uid
    made.write("delete", made["pod/web-0"], 0)
    made.run()
    assert made["pod/web-0"].metadata.uid != uid
    assert created(made) == ["pvc/data-web-0", "pod/web-0", "pod/web-0"]


def test_a_pod_that_waits_gets_a_claim_that_is_gone_again():
    """Whoever deletes the claim of a replica that is Pending gets a new one, at the next look."""
    made = world(1)
    made.write("delete", made["pvc/data-web-0"], 0)
    made.write("patch", made["pod/web-0"], StatusPatch("Pending", (Condition(type="PodScheduled", status="False"),)))
    assert created(made.run()) == ["pvc/data-web-0", "pod/web-0", "pvc/data-web-0"]


def test_no_replica_is_made_while_its_claim_is_being_deleted():
    """The set tries again, each time with an Event, until the claim is gone; then it makes both anew."""
    made = world(1)
    claim = made["pvc/data-web-0"]
    made.write("update", claim, evolve_parts(claim, metadata={"finalizers": ("example.com/kept",)}))
    made.write("delete", made["pvc/data-web-0"], 0)
    made.write("delete", made["pod/web-0"], 0)
    made.run(seconds=1)
    failed = "create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted"
    assert ("FailedCreate", failed) in made.events("web")
    assert created(made) == ["pvc/data-web-0", "pod/web-0"]

    claim = made["pvc/data-web-0"]
    made.write("update", claim, evolve_parts(claim, metadata={"finalizers": ()}))
    assert created(made.run(seconds=60)) == ["pvc/data-web-0", "pod/web-0"] * 2


def test_a_failed_pod_is_deleted_and_made_again():
    """With the controller's words."""
    made = start(world(1), "web-0")
    made.write("patch", made["pod/web-0"], StatusPatch("Failed", reason="OutOfcpu"))
    made.run()
    assert ("RecreatingFailedPod", "StatefulSet default/web is recreating failed Pod web-0") in made.events("web")
    assert made["pod/web-0"].status.phase != "Failed"


# -- a changed template, as a user sees it ------------------------------------------------------------------------------


def stateful(replicas=3, rev="1", spec="", *, claims=False):
    """Return a StatefulSet's manifest."""
    made = "{accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}"
    template = f"volumeClaimTemplates: [{{metadata: {{name: data}}, spec: {made}}}]"
    return workload("StatefulSet", replicas, rev, spec=f"serviceName: web\n{template if claims else ''}\n{spec}")


def revisions(made):
    """Return the `rev` of each replica, by ordinal."""
    return [pod.metadata.labels["rev"] for pod in pods(made)]


def changed(made, *args, **more):
    """Apply another manifest and let the cluster go on."""
    made.apply(stateful(*args, **more))
    made.run(seconds=100)
    return made


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_an_update_replaces_from_the_highest_down_one_at_a_time(policy):
    """Each successor is ready before the next goes; then the new revision is the current one."""
    spec = f"podManagementPolicy: {policy}"
    made = changed(cluster(stateful(spec=spec)), rev="2", spec=spec)
    assert ["2", "2", "2"] == revisions(made)
    deleted = [message for reason, message in events(made, "StatefulSet") if reason == "SuccessfulDelete"]
    assert {f"Delete Pod web-{n} in StatefulSet web successful" for n in range(3)} == set(deleted)
    order = [
        outcome.write.key.name for turn in made.world.turns for outcome in turn.outcomes
        if (turn.component, outcome.write.verb) == (NAME, "delete")
    ]
    assert ["web-2", "web-1", "web-0"] == order
    assert 2 == most_and_least(made)[1]
    status = made["sts/web"].status
    assert (status.update_revision, 3, 3) == (status.current_revision, status.current_replicas, status.updated_replicas)


def test_a_partition_keeps_the_lower_replicas_also_when_they_come_back():
    """Below the partition a replica that is deleted returns with the template it had."""
    spec = "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}"
    made = changed(cluster(stateful(spec=spec)), rev="2", spec=spec)
    assert ["1", "1", "2"] == revisions(made)
    made.delete("pod/web-0")
    made.run(seconds=100)
    assert ["1", "1", "2"] == revisions(made)
    status = made["sts/web"].status
    assert (2, 1) == (status.current_replicas, status.updated_replicas)
    assert ["2", "2", "2"] == revisions(changed(made, rev="2"))


def test_on_delete_waits_for_the_user():
    """Only what a user deletes returns with the new template."""
    spec = "updateStrategy: {type: OnDelete}"
    made = changed(cluster(stateful(spec=spec)), rev="2", spec=spec)
    assert ["1", "1", "1"] == revisions(made)
    made.delete("pod/web-1")
    made.run(seconds=100)
    assert ["1", "2", "1"] == revisions(made)


def test_a_broken_update_stops_at_the_first_replica():
    """Its successor never gets ready, so the others stay as they are."""
    broken = stateful(rev="2") + "\n      nodeSelector: {disk: none}"
    made = cluster(stateful())
    made.apply(broken)
    made.run(seconds=100)
    assert ["1", "1", "2"] == revisions(made)
    assert 2 == running(made)


@pytest.mark.parametrize(
    ("policy", "scaled", "deleted"),
    [
        ("", 3, 3),
        ("{whenScaled: Delete, whenDeleted: Retain}", 1, 1),
        ("{whenScaled: Retain, whenDeleted: Delete}", 3, 0),
        ("{whenScaled: Delete, whenDeleted: Delete}", 1, 0),
    ],
)
def test_claims_follow_the_retention_policy(policy, scaled, deleted):
    """They stay, go with the pod that is scaled away, or with the whole set: collected when their owner is gone."""
    spec = f"persistentVolumeClaimRetentionPolicy: {policy}" if policy else ""
    made = cluster(CLASS, stateful(claims=True, spec=spec))
    changed(made, 1, claims=True, spec=spec)
    assert scaled == len(made.objects("persistentvolumeclaims"))
    made.delete("sts/web")
    made.run(seconds=100)
    assert (0, deleted) == (len(made.objects("pods")), len(made.objects("persistentvolumeclaims")))


def test_replicas_of_a_loaded_cluster_are_left_alone():
    """A dump's revisions are called otherwise than ours would be: nothing has changed, so nothing is replaced."""
    made = cluster(stateful())
    found = [to_plain(one) for one in (made["sts/web"], *made.objects("pods"))]
    for plain in found:
        for where in (plain["status"], plain["metadata"]["labels"] if plain["kind"] == "Pod" else {}):
            for word in ("currentRevision", "updateRevision", "controller-revision-hash"):
                if word in where:
                    where[word] = "web-7d9f8c6b5"
    other = cluster()
    other._load(map(from_plain, found))
    before = [pod.metadata.uid for pod in pods(other)]
    other.run(seconds=100)
    assert before == [pod.metadata.uid for pod in pods(other)]
    assert ["2", "2", "2"] == revisions(changed(other, rev="2"))


def test_a_claim_is_given_to_its_set_once_the_replica_is_ready():
    """Not at its creation: the claim is changed when its pod runs, before the next replica comes."""
    spec = "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}"
    made = cluster(CLASS, stateful(2, claims=True, spec=spec))
    written = [
        (outcome.write.verb, outcome.write.key.name) for turn in made.world.turns for outcome in turn.outcomes
        if turn.component == NAME and outcome.write.verb != "update_status"
    ]
    assert [
        (verb, f"{of}web-{n}") for n in range(2)
        for verb, of in (("create", "data-"), ("create", ""), ("update", "data-"))
    ] == written
    assert ("SuccessfulUpdate", "Update Pod web-0 in StatefulSet web successful") in events(made, "StatefulSet")
