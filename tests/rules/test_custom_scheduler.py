"""The library for schedulers of one's own: the nodes that a pod fits, and what is to be written next for each."""

import pytest
from documents.clusters import cluster, where
from manifests import HOST, claim, node, pod, storage_class, volume

from kvolsched import UnknownName
from kvolsched.custom_scheduler import WATCHES, ways
from kvolsched.make import DRIVER, LOCAL

NODES = [node("a1", "a"), node("b1", "b"), storage_class(), storage_class("local", LOCAL), storage_class("now", waits=False)]


def asked(*objects, rules="upstream", revision=None, watches=WATCHES, **more):
    """Ask for the ways of pod/app on the first turn of a controller: by node, the write and what it is about."""
    told = []

    def ask(seen, _):
        if not told:
            told.append({on: [(write.verb, write.subject) for write in writes]
                         for on, writes in ways(seen, seen.get("pod/app"), rules).items()})

    c = cluster(*NODES, *objects, revision=revision or rules, **more).with_controller("mine", watches, ask)
    step = c.step("mine")
    return told[0] if told else step.words


@pytest.mark.parametrize("rules", ["upstream", "design", "draft"])
@pytest.mark.checklist("139")
def test_the_ways_of_a_pod(rules):
    """Where its disk lies the disk is reserved, where one can be made the claim is handed on; without claims it is bound."""
    mine = {"schedulerName": "mine"}
    assert {"a1": [("bind", "pod/app")], "b1": [("bind", "pod/app")]} == asked(pod("app", **mine), rules=rules)
    disk = volume("disk", "10Gi", "late", {HOST: ["a1"]})
    assert {"a1": [("update", "pv/disk")], "b1": [("update", "pvc/data")]} == asked(
        disk, claim("data"), pod("app", "data", **mine), rules=rules)
    assert {"a1": [("update", "pv/disk"), ("update", "pvc/more")]} == asked(
        volume("disk", "10Gi", "local", {HOST: ["a1"]}), claim("data", storage_class="local"), claim("more"),
        pod("app", "data", "more", **mine), rules=rules)


@pytest.mark.checklist("139")
def test_a_pod_without_a_way():
    """A pod that fits nowhere, or whose claim is still to be bound before it comes, has none."""
    assert {} == asked(pod("app", schedulerName="mine", cpu="99"))
    assert {} == asked(claim("data", storage_class="now"), pod("app", "data", schedulerName="mine"), **{DRIVER: {"delay": 60.0}})


@pytest.mark.parametrize("rules", ["upstream", "design", "draft"])
@pytest.mark.checklist("139")
def test_nothing_is_written_while_others_bind(rules):
    """Between its write and the bound claim the library asks for nothing more; each write is made once."""
    def first(seen, _):
        found = seen.get("pod/app")
        fit = {} if found.spec.node_name else ways(seen, found, rules)
        return fit[min(fit)] if fit else []

    c = cluster(*NODES, claim("data"), pod("app", "data", schedulerName="mine"), revision=rules)
    c = c.with_controller("mine", WATCHES, first)
    c.run("pod/app Running", seconds=60)
    assert [("PUT", ""), ("POST", "binding")] == [(each.verb, each.subresource) for each in c.requests(by="mine")]
    assert (["b1"] if rules == "draft" else ["a1"]) == where(c, "app")  # the draft's driver is not told where


def test_what_the_library_refuses():
    """A controller that watches too little, and rules that nobody knows or that decide no volumes, are named."""
    assert "does not watch" in asked(pod("app", schedulerName="mine"), watches=["Pod", "Node"])
    with pytest.raises(UnknownName, match="nothing-such"):
        ways(None, None, "nothing-such")
    blind = asked(pod("app", schedulerName="mine"), rules="place_first", revision="upstream")
    assert "no plugin of the rules place_first decides volumes" in blind
