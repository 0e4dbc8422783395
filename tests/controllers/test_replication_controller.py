"""The replication controller: ReplicationControllers keep their pods as ReplicaSets do, under their own kind and names."""

import pytest

from kvolsched import ApplyRefused, Cluster, check
from kvolsched.make import node

TEMPLATE = {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}


def controller(**spec):
    """A ReplicationController `old` in its shortest form."""
    spec = {"template": TEMPLATE, **spec}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"}, "spec": spec}


def ran(*objects):
    """Two nodes, and what a user applied there, at the end of a run."""
    c = Cluster.from_manifests([node("n1"), node("n2")])
    c.apply(*objects)
    c.run()
    return c


def counts(c):
    """Pods that are there, and the counts of the status."""
    status = c["rc/old"].status
    return len(c.objects("pods")), status.replicas, status.ready_replicas, status.available_replicas


def test_the_shortest_form_is_filled_in_and_made_whole():
    """One replica by default; selector and labels are those of the template; the pod names its controller by kind v1."""
    c = ran(controller())
    old, (made,) = c["rc/old"], c.objects("pods")
    assert (1, {"app": "old"}, {"app": "old"}) == (old.spec.replicas, old.spec.selector, old.metadata.labels)
    owner = made.metadata.controller
    assert ("v1", "ReplicationController", "old") == (owner.api_version, owner.kind, owner.name)
    assert (1, 1, 1, 1) == counts(c)
    assert "terminatingReplicas" not in old.status.rest


def test_it_is_scaled_and_replaces_a_deleted_pod():
    """As many pods as its scale says, again after one is deleted; Events come from replication-controller."""
    c = ran(controller(replicas=2))
    c.scale("rc/old", 4)
    c.run()
    c.delete(f"pod/{c.objects('pods')[0].metadata.name}")
    c.run()
    assert (4, 4, 4, 4) == counts(c)
    c.scale("rc/old", 1)
    c.run()
    assert (1, 1, 1, 1) == counts(c)
    told = [(event.reason, event.source.component) for event in c.objects("events") if event.involved_object.kind == "ReplicationController"]
    assert {("SuccessfulCreate", "replication-controller"), ("SuccessfulDelete", "replication-controller")} == set(told)
    assert "NAME   DESIRED   CURRENT   READY   AGE\nold    1         1         1       0s" in str(c.kubectl("get rc"))
    assert "Pods Status:  1 Running" in str(c.kubectl("describe rc old"))


def test_its_pods_go_with_it():
    """The garbage collector deletes the pods of a deleted one; its generation counted what users wrote."""
    c = ran(controller(replicas=2))
    assert (1, 1) == (c["rc/old"].metadata.rest["generation"], c["rc/old"].status.observed_generation)
    c.delete("rc/old")
    c.run()
    assert [] == c.objects("pods")


def test_a_file_of_one_fits():
    """`check` counts its pods; too large ones do not fit."""
    large = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "3"}}}]}}
    nodes = [node("n1", cpu="4"), node("n2", cpu="4")]
    assert [True, False] == [check([controller(replicas=count, template=large)], nodes).fits for count in (2, 3)]


@pytest.mark.parametrize(("spec", "fault"), [
    ({"selector": {"app": "other"}}, 'spec.template.metadata.labels: Invalid value: {"app":"old"}: `selector` does not match template `labels`'),
    ({"template": None}, "spec.template: Required value"),
    ({"template": {"spec": TEMPLATE["spec"]}}, "spec.selector: Required value"),
    ({"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
    ({"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}},
     'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'),
    ({"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "activeDeadlineSeconds": 5}}},
     "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported"),
])  # fmt: skip
def test_the_api_server_refuses_what_is_wrong(spec, fault):
    """Kubernetes' words for each fault of ValidateReplicationController."""
    with pytest.raises(ApplyRefused) as refused:
        ran(controller(**spec))
    assert fault in str(refused.value)
