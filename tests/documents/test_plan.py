"""The plan of S0 level by level, what the rejected packaging would have meant, and what S4's operator can watch."""

import pytest
from documents.clusters import cluster, events, message, patch, reach, refusal, where
from manifests import HOST, RACK, ZONE, claim, csi_node, node, pod, storage_class, volume

from kvolsched.rules.named import revision_named

LOCAL = "kubernetes.io/no-provisioner"
FOO = {"app": "foo"}


def at(level, *objects, **components):
    """A cluster at a level of the plan."""
    return cluster(*objects, revision=revision_named("design").matured(level), **components)


@pytest.mark.parametrize("level", ["alpha", "beta", "ga"])
@pytest.mark.checklist("143n")
def test_what_every_level_has(level):
    """Claims wait, disks are filtered and matched, a missing provisioner is noticed, unbound claims are skipped."""
    made = [node("a1", "a"), node("b1", "b"), storage_class("local", LOCAL), storage_class("late")]
    disk = volume("disk", "10Gi", "local", {ZONE: ["b"]}, labels={ZONE: "b"})
    c = at(level, *made, disk, claim("one", storage_class="local"), claim("two", storage_class="local"), claim("three"))
    c.run()
    assert {"Pending"} == {each.status.phase for each in c.objects("pvc")}
    c.apply(pod("one", "one"))
    c.run("pod/one Running", seconds=60)
    assert (["b1"], "disk") == (where(c, "one"), c["pvc/one"].spec.volume_name)
    c.apply(pod("two", "two"))
    c.run(seconds=60)
    assert "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind." in message(c, "two")
    c.apply(pod("three", "three"))
    c.run(seconds=60)
    assert ("Bound", 2) == (c["pvc/three"].status.phase, len(c.objects("pv")))


@pytest.mark.parametrize(("level", "ranked", "told", "limited"), [
    ("alpha", False, False, False), ("beta", True, True, False), ("ga", True, True, True)])
@pytest.mark.checklist("143n")
def test_what_the_levels_add(level, ranked, told, limited):
    """Beta ranks disks by their size and provisions where the node is; GA counts disks before they are bound."""
    by_size = at(level, node("n1"), node("n2"), storage_class(provisioner=LOCAL), pod("busy", running_on="n1", cpu="1"),
                 volume("close", "10Gi", "late", {HOST: ["n1"]}), volume("far", "900Gi", "late", {HOST: ["n2"]}),
                 claim("data"), pod("app", "data"))
    by_size.run("pod/app scheduled", seconds=60)
    assert ["n1" if ranked else "n2"] == where(by_size, "app")
    places = set()
    for name in ("x-0", "x-1", "x-2", "x-3"):
        c = at(level, node("a1", "a"), node("b1", "b"), storage_class(), claim(name),
               pod("app", name, nodeSelector={ZONE: "a"}))
        c.run(seconds=60)
        places.add(made_in(c, name))
    assert ({"a"} if told else {"a", "b"}) == places
    full = at(level, node("n1", "a"), csi_node("n1", 0, topology_keys=[ZONE]), storage_class(), claim("data"), pod("app", "data"))
    full.run(seconds=60)
    assert "1 node(s) exceed max volume count" in message(full, "app")
    assert ("Pending" if limited else "Bound") == full["pvc/data"].status.phase
    with pytest.raises(ValueError, match="no maturity 'stable'; there are: alpha, beta, ga"):
        revision_named("design").matured("stable")


def made_in(c, name):
    """The zone of a claim's volume, from its node affinity or, before plugins were converted, from its label."""
    labels = c[f"pv/{c[f'pvc/{name}'].spec.volume_name}"].metadata.labels
    return labels[ZONE] if ZONE in labels else reach(c, name)[0][ZONE][0]


REGION = "topology.kubernetes.io/region"


@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "disks.example.com"])
@pytest.mark.checklist("143n")
def test_zonal_plugins_are_converted_in_beta(provisioner):
    """At alpha a zonal volume has zone and region as labels, so only the zone predicate can refuse, after binding."""
    ends = {}
    for level in ("alpha", "beta"):
        nodes = [node(f"{zone}1", zone, labels={REGION: "r"}) for zone in "ab"]
        c = at(level, *nodes, storage_class(provisioner=provisioner), claim("x-0"),
               pod("app", "x-0", nodeSelector={ZONE: "a"}))
        c.run(seconds=60)
        made = c[f"pv/{c['pvc/x-0'].spec.volume_name}"]
        ends[level] = dict(made.metadata.labels), made.spec.node_affinity is not None, where(c, "app")
        if level == "alpha":
            assert "1 node(s) had no available volume zone" in message(c, "app")
    assert {"alpha": ({ZONE: "b", REGION: "r"}, False, [""]), "beta": ({}, True, ["a1"])} == ends


@pytest.mark.parametrize(("rules", "has_affinity"), [
    ("design", True), ("design (phase 0)", False), ("design (phase 1)", True), ("design (beta; phase 0)", False),
    ("design (kube-controller-manager: VolumeScheduling=false)", False)])
def test_when_in_tree_volumes_have_an_affinity(rules, has_affinity):
    """Before phase 1 of the upgrade, and without the gate of nodeAffinity, a new in-tree volume has its zone as a label."""
    c = cluster(node("a1", "a"), storage_class(provisioner="kubernetes.io/gce-pd"), claim("data"), pod("app", "data"),
                revision=revision_named(rules))
    c.run(seconds=60)
    (made,) = c.objects("pv")
    assert (has_affinity, None if has_affinity else "a") == (
        made.spec.node_affinity is not None, made.metadata.labels.get(ZONE))


@pytest.mark.checklist("54")
def test_an_in_tree_plugin_refuses_a_key_that_it_does_not_know():
    """A plugin that knows zones refuses racks where it reads the list: without a node; a driver of other keys makes it."""
    told = {}
    for provisioner, dials in (("kubernetes.io/gce-pd", {}), ("disks.example.com", {"topology_keys": [RACK]})):
        c = cluster(node("n1", "a", labels={RACK: "r"}), claim("data"), pod("app", "data"),
                    storage_class(provisioner=provisioner, allowed=[{RACK: ["r"]}], waits=False), **{provisioner: dials})
        c.run(seconds=60)
        told[provisioner] = where(c, "app"), {each.partition(": ")[2] for each in events(c, "data", "ProvisioningFailed")}
    assert ([""], {f"unsupported key found in matchLabelExpressions: {RACK}"}) == told["kubernetes.io/gce-pd"]
    assert (["n1"], set()) == told["disks.example.com"]


@pytest.mark.checklist("143n", "135", "136")
def test_optimisations_come_with_the_levels():
    """Alpha visits every volume for every node; beta those without affinity once; GA a node's own volumes only."""
    visited = {}
    for affine in (True, False):
        for level in ("alpha", "beta", "ga"):
            disks = [volume(f"d{n}", "10Gi", "late", *([{HOST: [f"n{n}"]}] if affine else [])) for n in range(4)]
            c = at(level, *(node(f"n{n}") for n in range(4)), storage_class(provisioner=LOCAL), *disks, claim("data"),
                   pod("app", "data"))
            c.run("pod/app Running", seconds=60)
            visited[level, affine] = c.passes("app")[0].visits
    assert {("alpha", True): 16, ("beta", True): 16, ("ga", True): 4,
            ("alpha", False): 16, ("beta", False): 4, ("ga", False): 4} == visited


@pytest.mark.checklist("143n")
def test_alpha_knows_no_allowed_topologies():
    """At alpha a class must name a provisioner, that is all; beta looks at allowedTopologies, and so does its driver."""
    found = {}
    for level in ("alpha", "beta"):
        fitting, zones = set(), set()
        for name in ("x-0", "x-1"):
            c = at(level, node("a1", "a"), node("b1", "b"), storage_class(allowed=[{ZONE: ["a"]}]), claim(name),
                   pod("app", name))
            c.run(seconds=60)
            fitting.add(c.passes("app")[0].fit)
            zones.add(made_in(c, name))
        found[level] = fitting, zones
    assert {"alpha": ({"2 of 2 nodes fit"}, {"a", "b"}), "beta": ({"1 of 2 nodes fit"}, {"a"})} == found


@pytest.mark.checklist("253")
def test_the_documents_indicator_counts_nothing():
    """Refused updates of pods are PATCH (or PUT) with 422; the counter that the document names (UPDATE, 400) stays at 0."""
    c = cluster(node("a1", "a"), pod("gated", gates=("g",), nodeSelector={RACK: "r"}), pod("free"), revision="upstream")
    assert "" == refusal(patch, c, "pod/gated", spec={"nodeSelector": {ZONE: "a"}})
    assert refusal(patch, c, "pod/gated", spec={"nodeSelector": {RACK: "other"}})
    assert refusal(patch, c, "pod/free", spec={"nodeSelector": {ZONE: "a"}})
    updates = c.requests(resource="pods", operation=("update", "patch"), subresource="")
    assert {("PATCH", 200): 1, ("PATCH", 422): 2} == updates.count(by=("verb", "code"))
    assert 0 == len(c.requests(resource="pods", verb="UPDATE")) + len(c.requests(resource="pods", code=400))
    assert {"free", "gated"} == {row.name for row in c.requests(code=422)}


@pytest.mark.checklist("253")
def test_an_update_is_counted_where_the_documents_look():
    """A replace is the UPDATE of the document's indicator: 200 and 422 by the directives, 400 if it names another object."""
    c = cluster(node("a1", "a"), pod("gated", gates=("g",), nodeSelector={RACK: "r"}), revision="upstream")
    c.replace(pod("gated", gates=("g",), nodeSelector={RACK: "r", ZONE: "a"}))
    assert {RACK: "r", ZONE: "a"} == dict(c["pod/gated"].spec.node_selector)
    assert refusal(c.replace, pod("gated", gates=("g",), nodeSelector={ZONE: "a"}))
    said = refusal(c.replace, pod("other", gates=("g",)), "pod/gated")
    assert "the name of the object (other) does not match the name on the URL (gated)" in said
    assert {200: 1, 400: 1, 422: 1} == c.requests(resource="pods", operation="update").count()
