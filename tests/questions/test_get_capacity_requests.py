"""What drivers were asked about their capacity: class, parameters, segment and answer, also where nothing was published."""

import pytest

from kvolsched import Cluster
from kvolsched.make import DRIVER, HOST, ZONE, csi_driver, node, storage_class

POOLS = {"a": "9Gi", "b": "1Gi"}


def asked(c):
    """Return class, parameters, segment and answer of each request."""
    return [(row.storage_class, dict(row.parameters), dict(row.segment), row.answer) for row in c.get_capacity_requests()]


@pytest.mark.checklist("171")
@pytest.mark.parametrize(("rules", "form"), [
    ("upstream", {"form": "objects"}), ("design", {"form": "central", "prefix": "topology.kubernetes.io"})])
def test_each_class_is_asked_for_in_each_segment(rules, form):
    """Both forms of publishing ask for each class of the driver in each segment, with the parameters of the class."""
    made = [node("a1", "a"), node("b1", "b"), storage_class(parameters={"type": "ssd"}), csi_driver()]
    c = Cluster.from_manifests(made, revision=rules, components={DRIVER: {"kind": "zonal", "pools": POOLS, "publishing": form}})
    c.run(seconds=30)
    assert [("late", {"type": "ssd"}, {ZONE: zone}, size) for zone, size in POOLS.items()] == asked(c)


@pytest.mark.checklist("166")
def test_a_provisioner_on_a_node_asks_with_an_empty_request():
    """No parameters and no topology: the driver means the node where it runs; the row says which."""
    made = [node("a"), node("b"), csi_driver()]
    dials = {"topology_keys": [HOST], "pools": POOLS, "publishing": {"form": "node"}}
    c = Cluster.from_manifests(made, revision="design", components={DRIVER: dials})
    c.run(seconds=30)
    assert [("<ephemeral>", {}, {}, "9Gi"), ("<ephemeral>", {}, {}, "1Gi")] == asked(c)
    assert [f"{DRIVER} on a", f"{DRIVER} on b"] == [row.driver for row in c.get_capacity_requests(DRIVER)]
    assert 1 == len(c.get_capacity_requests(f"{DRIVER} on a"))


def test_what_is_no_news_was_asked_for_all_the_same():
    """A driver is asked at each poll in which one pool has news, and answers for the others too; going back forgets it."""
    dials = {"pools": POOLS, "publishing": {"interval": 60.0}}
    c = Cluster.from_manifests([node("a1", "a"), node("b1", "b"), storage_class()], components={DRIVER: dials})
    assert "no driver has been asked for its capacity" == repr(c.get_capacity_requests())
    c.run(seconds=90)
    c.set_pool(DRIVER, "b", capacity="5Gi", largest="2Gi")
    c.run(seconds=90)
    answers = [row.answer for row in c.get_capacity_requests()]
    assert ["9Gi", "1Gi", "9Gi", "5Gi, volumes of at most 2Gi"] == answers
    assert 2 + 1 == len(c.requests(resource="csistoragecapacities.storage.k8s.io"))
    assert c.get_capacity_requests()[3].available == 5 * 2**30
    c.goto(1)
    assert 1 == len(c.get_capacity_requests())
