"""What drivers were asked to make, read off the history: the node, the topologies in their order, and the answer."""

import pytest

from kvolsched import Cluster, UnknownName, make, scenario
from kvolsched.make import DRIVER, ZONE

FULL = {"a": "100Gi", "b": "5Gi", "c": "100Gi"}


def asked(c, claim="data"):
    """Run a cluster for a minute, and return node, requisite, preferred and answer of each request."""
    c.run(seconds=60)
    return [(row.node, row.requisite, row.preferred, row.answer) for row in c.create_volume_requests(claim)]


@pytest.mark.parametrize(("rules", "node", "requisite", "preferred", "zone"), [
    ("draft", "", "abc", "abc", "a"), ("design", "node-b", "b", "b", "b"), ("upstream", "node-b", "abc", "bca", "b"),
])
def test_each_revision_hands_the_driver_what_its_provisioner_is_told(rules, node, requisite, preferred, zone):
    """S1 names no node, S0 the node alone, today's provisioner the class's list with the node's zone first."""
    assert [(node, (*requisite,), (*preferred,), f"a volume in {zone}")] == asked(scenario("told-where", rules))


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_without_a_list_every_topology_of_the_cluster_is_requisite(delay):
    """The engine keeps the node's topology alone, since its driver takes the first; the request has them all."""
    nodes = [make.node(f"n{zone}", zone, cpu="8" if zone == "c" else "2") for zone in "abc"]
    c = Cluster.from_manifests([*nodes, make.storage_class(), make.claim(), make.pod("app", "data")],
                               components={DRIVER: {"delay": delay}})
    assert [("nc", ("a", "b", "c"), ("c", "a", "b"), "a volume in c")] == asked(c)
    assert (ZONE,) == c.create_volume_requests()[0].keys


def test_a_strict_provisioner_asks_for_the_node_alone():
    """With strict_topology the list is checked, and not handed over."""
    c = scenario("told-where", "upstream", **{DRIVER: {"strict_topology": True}})
    assert [("node-b", ("b",), ("b",), "a volume in b")] == asked(c)


def test_failures_are_answers_and_going_back_takes_them_back():
    """Each attempt has a row; one that is under way has no answer, and what has not begun no row."""
    c = scenario("told-where", **{DRIVER: {"pools": FULL}})
    c.run(seconds=3)
    assert {"ResourceExhausted: not enough capacity in b"} == {row.answer for row in c.create_volume_requests()}
    assert 2 == len(c.create_volume_requests())
    assert repr(c.create_volume_requests()[1:]).splitlines()[1:] == repr(c.create_volume_requests()).splitlines()[2:]
    c.goto(c.create_volume_requests()[0].step)
    assert ["not answered yet"] == [row.answer for row in c.create_volume_requests()]
    c.goto(0)
    assert "no driver has been asked for a volume" == repr(c.create_volume_requests())


def test_an_attempt_ends_with_its_provisioner():
    """A provisioner that crashes has forgotten its attempt, and asks again."""
    c = scenario("told-where", **{DRIVER: {"delay": 5.0}})
    c.run(seconds=1)
    c.crash(DRIVER)
    assert ["given up", "a volume in b"] == [answer for *_, answer in asked(c)]


@pytest.mark.parametrize(("pools", "tries", "answer", "node"), [
    (FULL, False, "ResourceExhausted: not enough capacity in b", ""),
    (FULL, True, "a volume in c", "node-c"),
    ({**FULL, "c": "5Gi"}, True, "a volume in a", ""),
])
def test_a_driver_may_try_every_preferred_topology(pools, tries, answer, node):
    """The first alone, or all in their order: then the pod follows its volume, if there is a node for it."""
    c = scenario("told-where", "upstream", **{DRIVER: {"pools": pools, "tries_preferred": tries}})
    assert answer == asked(c)[-1][-1]
    assert node == c["pod/web"].spec.node_name


def test_a_driver_that_tries_every_topology_does_so_without_a_list():
    """No allowedTopologies: the topologies of all nodes are tried."""
    nodes = [make.node("na", "a", cpu="8"), make.node("nb", "b")]
    c = Cluster.from_manifests([*nodes, make.storage_class(), make.claim(), make.pod("app", "data", cpu="1")],
                               components={DRIVER: {"pools": {"a": "5Gi", "b": "50Gi"}, "tries_preferred": True}})
    assert [("na", ("a", "b"), ("a", "b"), "a volume in b")] == asked(c)
    assert "nb" == c["pod/app"].spec.node_name


def test_a_claim_that_never_was_is_no_claim():
    """An unknown name is refused, a deleted one is not."""
    c = scenario("told-where")
    c.run()
    c.delete("pod/web", "pvc/data")
    assert 1 == len(c.create_volume_requests("data"))
    with pytest.raises(UnknownName):
        c.create_volume_requests("date")


@pytest.mark.checklist("48", "143o")
@pytest.mark.parametrize(("rules", "node", "allowed"), [
    ("design", "n2", ("a", "b")), ("design (alpha)", "", ()),
    ("design (kube-controller-manager: DynamicProvisioningScheduling=false)", "", ()),
])
def test_a_plugin_in_the_controller_is_handed_node_and_list(rules, node, allowed):
    """What `Provision` was called with: the selected node and the class's topologies; at alpha and without the gate nothing."""
    late = make.storage_class(provisioner="kubernetes.io/gce-pd", allowed=[{ZONE: ["a", "b"]}])
    made = [make.node("n1", "a", cpu="1"), make.node("n2", "b"), late, make.claim(), make.pod("app", "data", cpu="2")]
    c = Cluster.from_manifests(made, revision=rules)
    c.run(seconds=60)
    rows = [(row.node, row.allowed, row.requisite) for row in c.create_volume_requests()]
    assert [(node, allowed, ())] == rows[:1] or (not rows and "Dynamic" in rules)
    told = f"   {', '.join(allowed) or 'any'}   "
    assert not rows or ("ALLOWED" in repr(c.create_volume_requests()) and told in repr(c.create_volume_requests()))


def test_both_sorts_of_provisioners_stand_in_one_table():
    """Columns that one of them has no value for have a dash."""
    made = [make.node("n1", "a"), make.storage_class(), make.storage_class("old", provisioner="kubernetes.io/gce-pd"), make.claim(),
            make.claim("disk", storage_class="old"), make.pod("app", "data"), make.pod("other", "disk")]
    c = Cluster.from_manifests(made, revision="design")
    c.run(seconds=60)
    head, *rows = (line.split("   ") for line in repr(c.create_volume_requests()).splitlines())
    assert ["ALLOWED", "REQUISITE", "PREFERRED"] == [cell.strip() for cell in head if cell.strip()][4:7]
    cells = sorted([cell.strip() for cell in row if cell.strip()][2:7] for row in rows)
    assert [["data", "n1", "–", "a", "a"], ["disk", "n1", "any", "–", "–"]] == cells
