"""NoSchedule taints of nodes: they follow cordons and pressure conditions, as the node lifecycle controller has it."""

import pytest
from manifests import node, pod

from kvolsched import Cluster
from kvolsched.explore import explore

CORDON = "node.kubernetes.io/unschedulable:NoSchedule"
PRESSURE = {"MemoryPressure": "memory-pressure", "DiskPressure": "disk-pressure", "PIDPressure": "pid-pressure",
            "NetworkUnavailable": "network-unavailable"}  # fmt: skip
ZONE = "topology.kubernetes.io/zone"


def ran(*manifests, rules="upstream", **more):
    """Return a cluster that has run."""
    c = Cluster.from_manifests(list(manifests), revision=rules, **more)
    c.run()
    return c


def taints(c, name):
    """Return a node's taints as texts."""
    return [str(taint) for taint in c[f"node/{name}"].spec.taints]


def test_a_cordoned_node_gets_its_taint_and_loses_it_with_the_cordon():
    """The controller writes the taint in a step of its own, by PATCH, and removes it after the uncordon."""
    c = ran(node("n1"), node("n2"))
    c.cordon("n1")
    assert [] == taints(c, "n1")
    (step,) = c.run()
    assert f"Node lifecycle controller taints node/n1 {CORDON}." == step.words
    assert "PATCH" == list(c.requests())[-1].verb
    assert ([CORDON], []) == (taints(c, "n1"), taints(c, "n2"))
    c.uncordon("n1")
    (step,) = c.run()
    assert f"Node lifecycle controller removes {CORDON} from node/n1." == step.words
    assert [] == taints(c, "n1")


def test_a_drained_node_has_the_taint():
    """A drain cordons, so the taint follows."""
    c = ran(node("n1"), node("n2"))
    c.drain("n1")
    c.run()
    assert [CORDON] == taints(c, "n1")


@pytest.mark.parametrize("rules", ["design", "draft"])
def test_the_documents_releases_wrote_no_taint(rules):
    """The gate TaintNodesByCondition was off in 1.11."""
    c = ran(node("n1"), rules=rules)
    c.cordon("n1")
    assert (False, []) == (bool(c.run()), taints(c, "n1"))


def test_the_sentence_names_the_cordon_and_not_its_taint():
    """NodeUnschedulable comes before TaintToleration."""
    c = ran(node("n1", unschedulable=True), pod("app"))
    c.delete("pod/app")
    c.apply(pod("app"))
    c.run()
    assert [CORDON] == taints(c, "n1")
    message = c["pod/app"].status.condition("PodScheduled").message
    assert "0/1 nodes are available: 1 node(s) were unschedulable." == message.partition(" no new")[0]


@pytest.mark.parametrize(("policy", "phase"), [("Ignore", "Pending"), ("Honor", "Running")])
def test_spread_leaves_a_cordoned_node_out_if_it_honors_taints(policy, phase):
    """With nodeTaintsPolicy Honor the zone of the cordoned node counts no more, by its taint; with Ignore it does."""
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": policy,
              "labelSelector": {"matchLabels": {"app": "web"}}}  # fmt: skip
    web = {"labels": {"app": "web"}, "topologySpreadConstraints": [spread]}
    c = ran(node("a", "a"), node("b", "b", unschedulable=True))
    c.apply(pod("one", **web))
    c.run()
    c.apply(pod("two", **web))
    c.run()
    assert ("Running", phase) == (c["pod/one"].status.phase, c["pod/two"].status.phase)


def test_a_pod_that_an_uncordon_wakes_runs_once_the_taint_is_gone():
    """The scheduler may look before the taint is removed; the removal is an event for TaintToleration."""
    c = ran(node("n1", unschedulable=True), pod("app"))
    c.uncordon("n1")
    c.run()
    assert ("Running", []) == (c["pod/app"].status.phase, taints(c, "n1"))


def test_no_order_of_turns_leaves_a_taint_behind():
    """Whoever acts first, in the end an uncordoned node has no taint and its pod a node."""
    c = ran(node("n1", unschedulable=True))
    c.uncordon("n1")
    c.apply(pod("app"))
    found = explore(c, goal="pod/app Running", progress=False)
    assert (None, True) == (found.counterexample, found.exhausted)


@pytest.mark.parametrize("condition", PRESSURE)
def test_a_condition_is_a_taint_as_long_as_it_holds(condition):
    """Pressure and a missing network taint the node, and both of two taints are written at once."""
    sick = node("n1", unschedulable=True)
    sick["status"]["conditions"] = [{"type": condition, "status": "True"}]
    c = ran(sick)
    wanted = [f"node.kubernetes.io/{PRESSURE[condition]}:NoSchedule", CORDON]
    assert (1, wanted) == (c.world.known_steps, taints(c, "n1"))
    well = node("n1")
    well["status"]["conditions"] = [{"type": condition, "status": "False"}]
    c._load(Cluster.from_manifests([well]).objects("nodes"))
    c.run()
    assert [] == taints(c, "n1")


def test_a_taint_without_its_cordon_is_removed():
    """The keys are the controller's: what a user writes by hand goes again; taints of other keys and effects stay."""
    c = ran(node("n1"))
    c.taint("n1", CORDON, "node.kubernetes.io/unschedulable:PreferNoSchedule", "mine:NoSchedule")
    c.run()
    assert ["node.kubernetes.io/unschedulable:PreferNoSchedule", "mine:NoSchedule"] == taints(c, "n1")


def test_the_taint_of_a_condition_that_nobody_states_stays():
    """A manifest that taints a node as unreachable, without its condition Ready, means it so; with Ready it goes."""
    lost = node("n1", unschedulable=True, taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    c = ran(lost)
    assert ["node.kubernetes.io/unreachable:NoSchedule", CORDON] == taints(c, "n1")
    lost["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert [CORDON] == taints(ran(lost), "n1")


def test_the_controller_does_not_begin_where_all_taints_are_right():
    """A dump of a real cluster has the taint of each cordoned node: nobody watches, nothing is written."""
    c = ran(node("n1", unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]))
    assert (0, False) == (c.world.known_steps, c.world.processes["node-lifecycle-controller"].watching)


def test_a_cordon_costs_one_turn_among_many_nodes():
    """Nodes that are in order are no work for the controller that begins to watch."""
    c = ran(*(node(f"n{number}") for number in range(300)))
    c.cordon("n7")
    before = len(c.world.turns)
    c.run()
    told = [turn.cause for turn in c.world.turns[before:] if turn.component == "node-lifecycle-controller" and turn.actor]
    assert ["n7"] == told


def test_a_dial_switches_the_taint_off():
    """Where a control plane runs without it, a scenario may say so."""
    c = ran(node("n1"), components={"node-lifecycle-controller": {"taints_by_condition": False}})
    c.cordon("n1")
    assert not c.run()
