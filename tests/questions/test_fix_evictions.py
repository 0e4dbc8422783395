"""A fix on a node whose NoExecute taint the pod tolerates for a time only: it is told last, and when it ends."""

import pytest

from kvolsched import Cluster
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.questions.fix import ObjectChange
from kvolsched.questions.fix.trials import AskedCluster
from kvolsched.world.log import Key

TAINT = {"key": "maintenance", "effect": "NoExecute"}
ZONE = "topology.kubernetes.io/zone"


def node(name, *taints):
    """Return a node without room for the pod."""
    status = {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "9"}}
    labels = {"kubernetes.io/hostname": name, ZONE: "a"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}, "status": status}


def template(seconds):
    """Return a pod's spec that tolerates the taint so many seconds long, for ever with None."""
    toleration = {**TAINT, "operator": "Exists", **({} if seconds is None else {"tolerationSeconds": seconds})}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    return {"containers": [container], "tolerations": [toleration], "nodeSelector": {"kubernetes.io/hostname": "n0"}}


def lone_pod(seconds):
    """Return a pending pod of nobody."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": template(seconds)}


def more_room(cluster, pod="p"):
    """Try what happens if the tainted node has more cpu."""
    old = cluster["node/n0"]
    new = evolve_parts(old, status={"allocatable": old.status.allocatable.merged({"cpu": "3"})})
    asked = AskedCluster(cluster, Key("Pod", "default", pod), cluster.why(pod))
    return asked.try_changes((ObjectChange(old, new),), "Use a larger machine for n0")


@pytest.mark.parametrize(("seconds", "how"), [(30, "gone"), (300, "gone"), (900, "still there"), (3600, "still there")],
                         ids=["short", "usual", "longer", "long"])
def test_a_fix_that_holds_for_a_time_says_for_how_long(seconds, how):
    """The pod gets the node and is deleted when its toleration ends, also if that is after the run."""
    tried = more_room(Cluster.from_manifests([node("n0", TAINT), lone_pod(seconds)]))

    headline = f"default/p is evicted from n0 after {seconds} s: it does not tolerate maintenance:NoExecute for longer"
    assert headline == tried.headline
    assert not tried.helps
    assert (how == "gone") == tried.is_gone == (not tried.node) == ("default/p is gone, and nobody creates it again" in repr(tried))


def test_all_taints_that_evict_are_named():
    """A pod that tolerates two taints for a time is evicted by the first that ends; a taint of both names is named once."""
    other = {"key": "upgrade", "value": "now", "effect": "NoExecute"}
    pod = lone_pod(30)
    pod["spec"]["tolerations"].append({"key": "upgrade", "operator": "Exists", "tolerationSeconds": 60})
    tried = more_room(Cluster.from_manifests([node("n0", TAINT, other), pod]))

    assert "default/p is evicted from n0 after 30 s: it does not tolerate maintenance:NoExecute, upgrade=now:NoExecute for longer" == (
        tried.headline)


def test_a_fix_that_holds_for_a_time_is_told_as_refuted():
    """A node more holds; more room on the tainted one does not, and says when it ends."""
    pod = lone_pod(60)
    pod["spec"]["nodeSelector"] = {ZONE: "a"}
    found = Cluster.from_manifests([node("n0", TAINT), pod]).fix("p")

    assert {("add node",)} == {fix.kinds for fix in found}
    assert "Use a larger machine for n0: at least 2 cpu allocatable (default/p is evicted from n0 after 60 s" in "; ".join(found.refuted)


def test_a_toleration_without_end_holds():
    """Nothing is evicted, and the pod keeps the node."""
    tried = more_room(Cluster.from_manifests([node("n0", TAINT), lone_pod(None)]))

    assert (None, "n0", True, False) == (tried.eviction, tried.node, tried.helps, tried.is_gone)


def test_a_pod_that_is_made_again_does_not_hide_its_eviction():
    """A StatefulSet makes a pod of the same name, which gets the node again, and loses it again."""
    meta = {"labels": {"app": "db"}}
    sets = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "replicas": 1, "serviceName": "db", "selector": {"matchLabels": meta["labels"]}, "template": {"metadata": meta, "spec": template(300)}}}  # fmt: skip
    cluster = Cluster.from_manifests([node("n0", TAINT), sets])
    cluster.run()
    tried = more_room(cluster, "db-0")

    assert ("n0", False, False) == (tried.node, tried.is_gone, tried.helps)
    assert tried.headline.startswith("default/db-0 is evicted from n0 after 300 s: ")


def test_the_picture_of_such_a_fix_says_so():
    """The card's outcome, and its reading."""
    tried = more_room(Cluster.from_manifests([node("n0", TAINT), lone_pod(300)]))

    assert "evicted from n0 after 300 s" in str(tried._repr_mimebundle_())
