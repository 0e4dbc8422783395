"""Sentences of S0 and S1 about what controller, provisioner and scheduler share, each run in a whole cluster."""

import re
from pathlib import Path

import pytest
from documents.clusters import cluster, fits, reach, refusal, where
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import HOST, ZONE, claim, csi_node, node, pod, spread, storage_class, volume

from kvolsched import design
from kvolsched.writes import patch

LOCAL = "kubernetes.io/no-provisioner"
NODES = [node(f"{zone}1", zone) for zone in "abc"]


# -- the controller ----------------------------------------------------------------------------------------------------


def immediate(c):
    """A claim takes a volume, a second one finds it taken."""
    c.apply(storage_class(provisioner=LOCAL, waits=False), volume(), claim("one"), claim("two", volumeName="disk"))


def prebound(c):
    """A volume that is reserved for a claim of a waiting class."""
    c.apply(storage_class(provisioner=LOCAL), volume(claim="one"), claim("one"))


def lost(c):
    """The volume of a bound claim goes."""
    immediate(c)
    c.run(seconds=60)
    c.delete("pv/disk")


def released(c):
    """The claim of a bound volume goes."""
    immediate(c)
    c.run(seconds=60)
    c.delete("pvc/one")


def made(c):
    """A volume is made for a class that binds at once, and goes with its claim."""
    c.apply(storage_class(waits=False), claim("one"))
    c.run(seconds=60)
    c.delete("pvc/one")


@pytest.mark.parametrize("play", [immediate, prebound, lost, released, made], ids=lambda play: play.__name__)
@pytest.mark.checklist("92")
def test_nothing_but_delayed_claims_changes_with_the_gate(play):
    """The rest of the controller's state machine is the same with the gate on and off: objects, requests, events."""
    ends = []
    for on in (True, False):
        gates = {"kube-controller-manager": {"VolumeScheduling": on, "DynamicProvisioningScheduling": on}}
        c = cluster(*NODES, revision=design().with_gates(gates))
        play(c)
        c.run(seconds=120)
        told = [(each.involved_object.name, each.reason, each.message, each.count) for each in c.objects("events")]
        stored = re.sub(r"resourceVersion: '\d+'", "", c.manifests())  # it counts what components note, too
        ends.append((stored, list(c.requests()), told))
    assert ends[0] == ends[1]


@settings(max_examples=30)
@given(st.lists(st.integers(5, 12), min_size=1, max_size=5), st.lists(st.integers(4, 12), min_size=1, max_size=3),
       st.sampled_from(["design", "upstream"]))
@pytest.mark.checklist("93")
def test_controller_and_scheduler_find_the_same_volume(sizes, requests, revision):
    """One library finds and prebinds: what the controller binds at once, the scheduler chooses on a node for a pod."""
    found = {}
    for waits in (False, True):
        c = cluster(node("n1"), storage_class(provisioner=LOCAL, waits=waits),
                    *(volume(f"d{n}", f"{size}Gi", "late") for n, size in enumerate(sizes)), revision=revision)
        for number, size in enumerate(requests):  # one after the other: each finds what the earlier ones have left
            c.apply(claim(f"c{number}", f"{size}Gi"), *([pod(f"app-{number}", f"c{number}")] if waits else []))
            c.run(seconds=30)
        found[waits] = [c[f"pvc/c{number}"].spec.volume_name for number in range(len(requests))]
    assert found[False] == found[True]


# -- the provisioner ---------------------------------------------------------------------------------------------------


@pytest.mark.checklist("68")
def test_a_selector_means_whatever_nodes_there_are():
    """Listed values name their domains without any node; what NotIn, Exists or Gt means changes when a node comes."""
    listed = cluster(node("a1", "a"), storage_class(waits=False, allowed=[{ZONE: ["b"]}]), claim("data"))
    listed.run(seconds=60)
    assert [{ZONE: ["b"]}] == reach(listed, "data")  # no node of the zone is there yet
    for expression in ({"key": ZONE, "operator": "NotIn", "values": ["c"]}, {"key": ZONE, "operator": "Exists"},
                       {"key": "example.com/slots", "operator": "Gt", "values": ["3"]}):
        disk = volume("disk", "10Gi", "late", bound="data")
        disk["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        c = cluster(node("a1", "a", labels={"example.com/slots": "4"}), storage_class(provisioner=LOCAL), disk,
                    claim("data", bound="disk"), pod("app", "data", cpu="8"))
        domains = []
        for more in ([], [node("d1", "d", labels={"example.com/slots": "9"})]):
            c.apply(*more) if more else None
            c.apply(pod(f"app-{len(more)}", "data"))
            c.run(f"pod/app-{len(more)} scheduled", seconds=60)
            domains.append([c[f"node/{name}"].metadata.labels[ZONE] for name in fits(c, f"app-{len(more)}")])
        assert [["a"], ["a", "d"]] == domains, expression
    assert "operator" in refusal_of_a_selector_in_a_class()


def refusal_of_a_selector_in_a_class():
    """What is said of a class whose topologies have operators."""
    wrong = storage_class(allowed=[])
    wrong["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["c"]}]}]
    c = cluster(node("a1", "a"))
    try:
        return refusal(c.apply, wrong)
    except ValueError as fault:
        return str(fault)


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("272")
def test_the_schedulers_cache_points_at_the_informers_objects(revision):
    """What a plugin reads from the cache is the stored object itself, no copy; what is assumed takes its place."""
    looked = []

    def look(_pod, _node, seen):
        looked.append((seen.volume("disk"), seen.claim("default", "data")))
        return True

    c = cluster(node("n1"), storage_class(provisioner=LOCAL), volume(), claim("data"), pod("app", "data"),
                pod("later", cpu="1"), revision=revision).with_plugin(look, name="look")
    stored = c["pv/disk"], c["pvc/data"]
    c.step("scheduler")
    assert all(seen is there for seen, there in zip(looked[-1], stored, strict=True))
    c.step("scheduling pass")
    assert looked[-1][0] is not c["pv/disk"]
    assert "data" == looked[-1][0].spec.claim_ref.name  # assumed: the API server does not have it yet
    assert c["pv/disk"].spec.claim_ref is None
    assert looked[-1][1] is c["pvc/data"]


# -- functions and extension points ------------------------------------------------------------------------------------


@pytest.mark.checklist("266")
def test_the_documents_functions_show_in_what_a_pass_says():
    """A node that a predicate refuses is shown with the document's name of it and today's plugin; so are assume and bind."""
    page = (Path(__file__).parents[2] / "docs" / "documents.md").read_text(encoding="utf-8")
    table = page.split("\n## Functions and extension points\n", 1)[1].split("\n## ", 1)[0]
    names = re.findall(r"^\| (\w+)(?:, \w+)? \| (\w+) \|", table, re.MULTILINE)
    assert ("CheckVolumeBinding", "VolumeBinding") in names
    disk = volume("disk", "10Gi", "late", {HOST: ["n1", "n3", "n4"]}, labels={ZONE: "a"}, bound="data")
    exclusive = {"name": "d", "gcePersistentDisk": {"pdName": "exclusive"}}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, exclusive]
    refused = cluster(*(node(f"n{n}", "b" if n == 3 else "a") for n in (1, 2, 3, 4, 5)), csi_node("n1", 0), disk,
                      storage_class(provisioner=LOCAL), claim("data", bound="disk"),
                      pod("there", labels={"app": "x"}, running_on="n4"), pod("holds", running_on="n5", volumes=[exclusive]),
                      pod("app", labels={"app": "x"}, volumes=volumes, topologySpreadConstraints=[spread(HOST, app="x")]))
    refused.run(seconds=10)
    shown = repr(refused.verdicts("app"))
    for function, plugin in names:
        assert f"{plugin} ({function})" in shown
    c = cluster(node("a1", "a"), storage_class(), claim("data"), pod("app", "data"))
    c.run("pod/app Running")
    told = " ".join(row.words for row in c.story("pod/app"))
    assert told.index("It assumes pvc/data") < told.index("volume binding started") < told.index("binds app")


# -- no goals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("8")
def test_an_operator_schedules_pods_that_share_a_claim_together(revision):
    """An operator holds both pods by a gate until it knows what each needs, and sends them to the same zone."""
    def operate(seen, _ref):
        group = [each for each in seen.list("pods", selector="app=shared") if each.spec.scheduling_gates]
        if len(seen.list("pods", selector="app=shared")) < 2:
            return []
        wanted = dict(next((each.spec.node_selector for each in group if each.spec.node_selector), {}))
        return [write for each in group for write in (
            patch(f"pod/{each.metadata.name}", {"spec": {"nodeSelector": wanted}}),
            patch(f"pod/{each.metadata.name}", {"spec": {"schedulingGates": []}}))]

    c = cluster(node("a1", "a"), node("b1", "b", cpu="2"), storage_class(), claim("data"), revision=revision)
    c = c.with_controller("operator", watches=["Pod"], reconcile=operate)
    c.apply(pod("one", "data", cpu="500m", gates=["together"], labels={"app": "shared"}))
    c.run(seconds=60)
    assert ("Pending", [""]) == (c["pvc/data"].status.phase, where(c, "one"))
    c.apply(pod("two", "data", cpu="500m", gates=["together"], labels={"app": "shared"}, nodeSelector={ZONE: "b"}))
    c.run("pod/two Running", seconds=60)
    c.run(seconds=60)
    assert ["b1", "b1"] == where(c, "one", "two")
