"""The StatefulSet controller: order, claims before pods, what stays when it shrinks, and its two spellings."""

import attrs
import pytest
from controllers.small import Small, node, objects

from kvolsched.controllers import kubelet, stateful_set

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


def world(replicas, policy="OrderedReady"):
    """A world with the controller alone: the test starts the pods."""
    return Small(stateful_set.component()).create(node("node-a"), *objects(SET % (replicas, policy))).run()


def start(made, name):
    """Play scheduler and kubelet for one pod."""
    conditions = tuple(kubelet.Condition(type=type_, status="True") for type_ in kubelet.STARTED)
    made.write("bind", made[f"pod/{name}"], "node-a")
    made.write("patch", made[f"pod/{name}"], kubelet.StatusPatch("Running", conditions))
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
    made.change("sts/web", lambda s: attrs.evolve(s, spec=attrs.evolve(s.spec, replicas=replicas)))
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


def test_a_failed_pod_is_deleted_and_made_again():
    """With the controller's words."""
    made = start(world(1), "web-0")
    made.write("patch", made["pod/web-0"], kubelet.StatusPatch("Failed", reason="OutOfcpu"))
    made.run()
    assert ("RecreatingFailedPod", "StatefulSet default/web is recreating failed Pod web-0") in made.events("web")
    assert made["pod/web-0"].status.phase != "Failed"
