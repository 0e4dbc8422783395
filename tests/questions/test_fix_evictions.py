"""A fix on a node whose NoExecute taint the pod tolerates for a time only: it is told last, and when it ends."""

import pytest

from kvolsched import Cluster

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


def more_room(found):
    """Return the fix that gives the tainted node more cpu."""
    return next(fix for fix in found if fix.words.startswith("give n0 "))


@pytest.mark.parametrize(("seconds", "how"), [(30, "gone"), (300, "gone"), (3600, "still there")], ids=["short", "usual", "long"])
def test_a_fix_that_holds_for_a_time_says_for_how_long(seconds, how):
    """The pod gets the node and is deleted when its toleration ends, also if that is after the run."""
    found = Cluster.from_manifests([node("n0", TAINT), lone_pod(seconds)]).fix("p")
    tried = more_room(found).try_it()

    headline = f"default/p is evicted from n0 after {seconds} s: it does not tolerate maintenance:NoExecute for longer"
    assert headline == tried.headline
    assert not tried.helps
    assert (how == "gone") == tried.is_gone == (not tried.node) == ("default/p is gone, and nobody creates it again" in repr(tried))
    assert f"but {tried.headline[:40]}" in repr(found)


def test_a_fix_that_holds_for_a_time_comes_after_those_that_hold():
    """A node more is dearer than more room on the tainted one, and yet comes first."""
    pod = lone_pod(60)
    pod["spec"]["nodeSelector"] = {ZONE: "a"}
    found = Cluster.from_manifests([node("n0", TAINT), pod]).fix("p")
    helps = [fix.try_it().helps for fix in found]

    assert {True, False} == set(helps)
    assert sorted(helps, reverse=True) == helps
    assert found[0].cost > more_room(found).cost


def test_a_toleration_without_end_holds():
    """Nothing is evicted, and the fix is among the first."""
    tried = more_room(Cluster.from_manifests([node("n0", TAINT), lone_pod(None)]).fix("p")).try_it()

    assert (None, "n0", True, False) == (tried.eviction, tried.node, tried.helps, tried.is_gone)


def test_a_pod_that_is_made_again_does_not_hide_its_eviction():
    """A StatefulSet makes a pod of the same name, which gets the node again, and loses it again."""
    meta = {"labels": {"app": "db"}}
    sets = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "replicas": 1, "serviceName": "db", "selector": {"matchLabels": meta["labels"]}, "template": {"metadata": meta, "spec": template(300)}}}  # fmt: skip
    cluster = Cluster.from_manifests([node("n0", TAINT), sets])
    cluster.run()
    tried = more_room(cluster.fix("db-0")).try_it()

    assert ("n0", False, False) == (tried.node, tried.is_gone, tried.helps)
    assert tried.headline.startswith("default/db-0 is evicted from n0 after 300 s: ")


def test_the_picture_of_such_a_fix_says_so():
    """The card's outcome, and its reading."""
    found = Cluster.from_manifests([node("n0", TAINT), lone_pod(300)]).fix("p")

    assert "it is evicted after 300 s" in str(more_room(found)._repr_mimebundle_())
