"""The earlier draft (S1): a claim is handed to its provisioner, and nobody says where the volume is wanted."""

import pytest
from documents.clusters import cluster, events, fits, message, reach, where
from manifests import HOST, ZONE, claim, node, pod, storage_class, volume

from kvolsched import draft, scenario

LOCAL = "kubernetes.io/no-provisioner"
HANDED = "volume.beta.kubernetes.io/storage-provisioner"
SELECTED = "volume.alpha.kubernetes.io/selectedNode"
NODES = [node("a1", "a"), node("b1", "b")]


def first_fits(c):
    """The nodes that fitted in the pod's first pass."""
    back = c.fork()
    back.goto(c.passes("app")[0].step)
    return fits(back, "app")


@pytest.mark.parametrize("revision", ["draft", "design"])
@pytest.mark.checklist("89", "118", "122", "262")
def test_the_signal_names_the_provisioner_and_is_only_remembered(revision):
    """S1's scheduler writes who provisions and assumes nothing for it; S0's writes the node, and assumes it before."""
    c = cluster(*NODES, storage_class(), claim("data"), pod("app", "data"), revision=revision,
                **{"disks.example.com": {"running": False}})
    c.run(seconds=10)
    written = c["pvc/data"].metadata.annotations
    assert (revision == "design") == (SELECTED in written)
    assert "disks.example.com" == written[HANDED]
    by_scheduler = [row for row in c.story("pvc/data") if row.actor.startswith("kube-scheduler") or "bind worker" in row.actor]
    told = " ".join(change for row in by_scheduler for change in row.changed)
    assert (HANDED if revision == "draft" else SELECTED) in told
    assumed = [change for row in c.story("pvc/data") for change in row.changed if "notes assumed" in change]
    assert (revision == "design") == bool(assumed)


@pytest.mark.parametrize(("level", "told"), [("alpha", False), ("beta", True), ("ga", True)])
def test_from_beta_on_provisioners_are_told_the_node(level, told):
    """At beta S1's provisioning becomes topology aware: the node is written, and the class's topologies count."""
    c = cluster(*NODES, storage_class(allowed=[{ZONE: ["b"]}]), claim("data"), pod("app", "data"),
                revision=draft().matured(level), **{"disks.example.com": {"running": False}})
    c.run(seconds=10)
    assert (told, ["b1"] if told else ["a1", "b1"]) == (SELECTED in c["pvc/data"].metadata.annotations, first_fits(c))


@pytest.mark.checklist("107", "262")
def test_it_is_enough_that_a_class_names_a_provisioner():
    """S1 asks for a provisioner alone; S0 looks at the class's topologies, and both find none where there is none."""
    limited = storage_class(allowed=[{ZONE: ["b"]}])
    fit = {revision: first_fits(_run(revision, limited)) for revision in ("draft", "design")}
    assert {"draft": ["a1", "b1"], "design": ["b1"]} == fit
    for revision in ("draft", "design"):
        nobody = _run(revision, storage_class(provisioner=LOCAL))
        assert "2 node(s) didn't find available persistent volumes to bind" in message(nobody, "app")


@pytest.mark.checklist("76", "130")
def test_bound_volumes_have_a_predicate_of_their_own():
    """In the draft VolumeNode judges bound volumes and MatchUnboundPVCs unbound claims; S0 has one predicate for both."""
    bound = [volume("disk", "10Gi", "late", {ZONE: ["a"]}, bound="data"), claim("data", bound="disk")]
    conflict, names = "node(s) had volume node affinity conflict", {"draft": ("VolumeBinding", "VolumeNode"), "design": ("VolumeBinding",)}
    cells = {}
    for revision in ("draft", "design"):
        c = cluster(*NODES, storage_class(), *bound, pod("app", "data"), revision=revision)
        c.run("pod/app Running", seconds=60)
        assert ["a1"] == where(c, "app") == first_fits(c)
        back = c.fork()
        back.goto(c.passes("app")[0].step)
        cells[revision] = {each: conflict in str(back.verdicts("app", "b1", each)) for each in names[revision]}
    assert {"draft": {"VolumeBinding": False, "VolumeNode": True}, "design": {"VolumeBinding": True}} == cells
    with pytest.raises(LookupError, match="no plugin VolumeNode in the last pass of pod/app"):
        back.verdicts("app", "b1", "VolumeNode")
    assert conflict in repr(cluster_at_a_dead_end("draft").why("pod/app"))


def cluster_at_a_dead_end(revision):
    """A pod whose bound disk lies in the other zone."""
    c = cluster(*NODES, storage_class(), volume("disk", "10Gi", "late", {ZONE: ["a"]}, bound="data"),
                claim("data", bound="disk"), pod("app", "data", nodeSelector={ZONE: "b"}), revision=revision)
    c.run(seconds=30)
    return c


@pytest.mark.checklist("130")
def test_an_unbound_claim_is_ignored_by_the_predicate_of_bound_volumes():
    """VolumeNode lets every node pass while a claim has no volume; it is older than the gate, and judges without it."""
    c = cluster(*NODES, storage_class(), volume("disk", "10Gi", "late", {ZONE: ["a"]}), claim("data"),
                pod("app", "data"), revision="draft")
    c.run("pod/app scheduled", seconds=60)
    assert ["a1", "b1"] == first_fits(c)
    off = draft().with_gates({"kube-scheduler": {"VolumeScheduling": False}})
    for rules in ("draft", off):
        assert "VolumeNode" in repr(cluster_at_a_dead_end(rules).verdicts("pod/app"))


def _run(revision, *objects, **spec):
    c = cluster(*NODES, *objects, claim("data"), pod("app", "data", **spec), revision=revision)
    c.run(seconds=60)
    return c


@pytest.mark.checklist("262")
def test_nobody_says_where_the_volume_is_wanted():
    """The draft's volumes go to zones by their names, and a pod that wanted the other zone is stuck; S0's follow it."""
    ends = {}
    for revision in ("draft", "design"):
        placed = []
        for name in ("x-0", "x-1"):
            c = cluster(*NODES, storage_class(), claim(name), pod("app", name, nodeSelector={ZONE: "a"}), revision=revision)
            c.run(seconds=120)
            assert "Bound" == c[f"pvc/{name}"].status.phase
            placed.append((reach(c, name)[0][ZONE][0], where(c, "app")[0]))
        ends[revision] = sorted(placed)
    assert {"draft": [("a", "a1"), ("b", "")], "design": [("a", "a1"), ("a", "a1")]} == ends


@pytest.mark.checklist("262")
def test_a_failure_gives_nothing_back():
    """In the draft a failed provisioning is tried again and again and the pod never moves; S0 takes the annotation off."""
    fails = {"disks.example.com": {"fails": [{"times": None}], "topology_keys": [ZONE]}}
    draft = cluster(*NODES, storage_class(), claim("data"), pod("app", "data"), revision="draft", **fails)
    draft.run(seconds=300)
    assert HANDED in draft["pvc/data"].metadata.annotations
    assert len({row.node for row in draft.passes("app") if row.node}) == 1
    assert events(draft, "data", "ProvisioningFailed")
    design = cluster(*NODES, storage_class(), claim("data"), pod("app", "data"), revision="design", **fails)
    design.run(seconds=300)
    assert len(design.passes("app")) > len(draft.passes("app"))


@pytest.mark.checklist("129", "262")
def test_volumes_of_zonal_plugins_have_labels_alone():
    """Its plugins are not converted before beta: labels name the zone, and VolumeZone finds them in the second pass."""
    def made(revision, provisioner="kubernetes.io/gce-pd"):
        c = cluster(*NODES, storage_class(provisioner=provisioner), claim("data"), pod("app", "data"), revision=revision)
        c.run(seconds=60)
        (disk,) = c.objects("pv")
        return disk.metadata.labels.get(ZONE, ""), disk.spec.node_affinity is not None, c

    zone, has_affinity, c = made("draft")
    assert (True, False) == (zone in ("a", "b"), has_affinity)
    assert [f"{zone}1"] == fits(c, "app")
    for rules in ("design", draft().matured("beta")):
        assert ("", True) == made(rules)[:2]
    assert ("", True) == made("draft", "disks.example.com")[:2]


@pytest.mark.checklist("262", "267")
def test_disks_that_exist_are_bound_alike():
    """The draft served pre-provisioned local storage first: there it decides as S0 does, pass by pass."""
    ends = []
    for revision in ("draft", "design"):
        c = cluster(node("n1"), node("n2"), storage_class(provisioner=LOCAL), volume("d1", "10Gi", "late", {HOST: ["n1"]}),
                    volume("d2", "20Gi", "late", {HOST: ["n2"]}), claim("one", "15Gi"), claim("two"),
                    pod("app", "one"), pod("other", "two"), revision=revision)
        c.run(seconds=60)
        ends.append((where(c, "app", "other"), [len(c.passes(name)) for name in ("app", "other")],
                     [c[f"pvc/{name}"].spec.volume_name for name in ("one", "two")]))
    assert ends[0] == ends[1]
    assert (["n2", "n1"], ["d2", "d1"]) == (ends[0][0], ends[0][2])


@pytest.mark.parametrize("name", ["zonal-example", "local-disks", "replicated-database"])
@pytest.mark.checklist("262")
def test_scenarios_run_under_the_draft(name):
    """A shipped scenario runs under the draft's rules as well, and says so."""
    c = scenario(name, "draft")
    c.run(steps=500)
    assert "draft" == c.revision.name
    assert "rules draft" in repr(c)
