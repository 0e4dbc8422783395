"""Pods that wait for an event though a node would fit: what is asked of a cluster at rest, and of every order of turns."""

import pytest

from kvolsched import Cluster
from kvolsched.explore import UserAct, explore, pods_forgotten
from kvolsched.make import HOST, ZONE, node, pod
from kvolsched.scheduler.loop.scheduling_queue import hints_for
from kvolsched.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kvolsched.writes import delete

NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": HOST}]}}
FORGOTTEN = "pod default/second waits for an event, and n2 would fit"


def group():
    """A pod that wants to be near another one, whose node is cordoned."""
    c = Cluster.from_manifests([node("n1"), node("n2"), pod("first", labels={"app": "db"}, running_on="n1")])
    c.cordon("n1")
    c.apply(pod("second", labels={"app": "db"}, affinity=NEAR))
    c.run()
    return c


def test_a_pod_that_kube_scheduler_leaves_is_told():
    """The first of a group needs no other pod; but no hint of InterPodAffinity speaks of a wanted pod that goes."""
    c = group()
    assert "" == pods_forgotten(c)
    c.delete("pod/first")
    c.run()
    assert (FORGOTTEN, None) == (pods_forgotten(c), c["pod/second"].spec.node_name or None)
    assert "n2" in str(c.why("second"))


def test_the_pods_of_a_node_that_goes_keep_nobody_out_and_nobody_is_told():
    """Anti-affinity counts pods on nodes; InterPodAffinity has not registered for a node's deletion."""
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE}]}}
    c = Cluster.from_manifests([node("n1", "zone-a"), node("n2", "zone-a"), pod("first", labels={"app": "db"}, running_on="n1")])
    c.apply(pod("second", labels={"app": "db"}, affinity=apart))
    c.run()
    assert "" == pods_forgotten(c)
    c.delete("node/n1")
    c.wait(50)
    assert FORGOTTEN == pods_forgotten(c)
    c.run()  # the pod garbage collector deletes the first one
    assert ("n2", "") == (c["pod/second"].spec.node_name, pods_forgotten(c))


def test_after_five_minutes_it_is_looked_at_again():
    """The pod gets its node at 300 s without any event, and nobody is forgotten."""
    c = group()
    c.delete("pod/first")
    while c.world.step(limit=400, polls=True):
        pass
    assert ("n2", "") == (c["pod/second"].spec.node_name, pods_forgotten(c))
    assert 300 <= c.now < 400


def test_the_explorer_asks_at_rest():
    """In every order of turns: found after the deletion by a shortest trace, and proved absent without it."""
    c = group()
    found = explore(c, at_rest=pods_forgotten, faults=[UserAct("a user", [delete("pod/first")])], progress=False)
    assert FORGOTTEN == found.counterexample.violation
    assert "It takes step 5 (a user: delete pod/first)." == found.counterexample.cause
    end = found.replay(c)
    end.run()
    assert FORGOTTEN == pods_forgotten(end)
    none = explore(c, at_rest=pods_forgotten, progress=False)
    assert (None, True) == (none.counterexample, none.exhausted)


@pytest.fixture
def deaf(monkeypatch):
    """NodeResourcesFit without its hint for pods that leave their nodes."""
    monkeypatch.setattr(NodeResourcesFit, "events_to_register", NodeResourcesFit.events_to_register[1:])
    hints_for.cache_clear()
    yield
    monkeypatch.undo()
    hints_for.cache_clear()


@pytest.mark.usefixtures("deaf")
def test_a_plugin_without_a_hint_forgets():
    """A pod that wanted room is not tried when another one goes, if no plugin registered for that."""
    c = Cluster.from_manifests([node("n1", cpu="100m"), pod("first", running_on="n1")])
    c.apply(pod("second"))
    c.run()
    c.delete("pod/first")
    c.run()
    assert "pod default/second waits for an event, and n1 would fit" == pods_forgotten(c)


def test_nothing_is_said_while_a_scheduler_is_busy():
    """What it has not seen yet, it cannot have forgotten; nor if it is delayed."""
    c = group()
    c.delay("scheduler", 60)
    c.delete("pod/first")
    assert "" == pods_forgotten(c)
    while c.now < 60:
        assert "" == pods_forgotten(c)
        c.step()
    c.run()
    assert FORGOTTEN == pods_forgotten(c)


@pytest.mark.parametrize("rules", ["upstream", "design"])
def test_a_pod_made_again_takes_the_place_of_one_that_was_assumed(rules):
    """A scheduler that sees binding, deletion and new pod at once judges the new one without the old one on its node."""
    c = Cluster.from_manifests([node("n1", cpu="1", pods="1"), pod("db", cpu="900m")], revision=rules)
    c.run(lambda c: c["pod/db"].spec.node_name)
    c.delay("scheduler", 30)
    c.delete("pod/db")
    c.run(lambda c: not c.objects("pod"))
    c.apply(pod("db", cpu="900m"))
    c.run()
    assert ("n1", "Running", "") == (c["pod/db"].spec.node_name, c["pod/db"].status.phase, pods_forgotten(c))
