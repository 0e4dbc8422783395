"""The volumes and classes that S0 prints, and their fields, as a reader runs them: which nodes fit, where disks are made."""

import pytest
from documents.clusters import cluster, events, fits, message, reach, refusal, where
from manifests import HOST, LOCAL, claim, node, pod, storage_class, volume

from kvolsched import Cluster, ManifestError, design, example

ZONE, REGION, RACK = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "foo.io/rack"
A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"
GCE = "kubernetes.io/gce-pd"
both = pytest.mark.parametrize("revision", ["design", "upstream"])


def placed(*objects, spots, revision="design", **components):
    """Return a cluster with a node at each spot {key: value}, named n0, n1, ..., and these objects."""
    made = [node(f"n{number}", labels=spot) for number, spot in enumerate(spots)]
    return cluster(*made, *objects, revision=revision, **components)


def for_disk(name, spots, *, revision="design"):
    """Return which nodes at these spots fit a pod whose claim is bound to a printed volume."""
    shipped = example(name)
    c = Cluster.from_manifests(shipped, [node(f"n{n}", labels=spot) for n, spot in enumerate(spots)], revision=revision)
    c.apply(claim("data", "100Gi", "my-class", volumeName=name))
    c.run(f"pv/{name} Bound")
    c.apply(pod("app", "data"))
    return fits(c, "app")


def with_affinity(*terms, spots, revision="design"):
    """Return which nodes fit a pod whose disk has these terms [(key, operator, *values), ...]."""
    affinity = {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                              for key, operator, *values in term]} for term in terms]}} if terms else None
    disk = volume("disk", bound="data", **({"nodeAffinity": affinity} if affinity else {}))
    return fits(placed(disk, claim("data", bound="disk"), pod("app", "data"), spots=spots, revision=revision), "app")


# -- the affinity of a volume ------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("17", "18", "35")
def test_the_affinity_of_a_volume_is_hard_and_none_is_no_constraint(revision):
    """A bound disk's `required` filters nodes by their labels; a disk without node affinity is reached everywhere."""
    spots = [{"x": "1"}, {"x": "2"}, {}]
    assert ["n1"] == with_affinity([("x", "In", "2")], spots=spots, revision=revision)
    assert ["n0", "n1", "n2"] == with_affinity(spots=spots, revision=revision)


@both
@pytest.mark.checklist("17", "18")
def test_a_node_affinity_without_required_is_no_constraint(revision):
    """A volume whose nodeAffinity names no `required` is reached everywhere."""
    disk = volume("disk", bound="data", nodeAffinity={})
    c = placed(disk, claim("data", bound="disk"), pod("app", "data"), spots=[{}, {"x": "1"}], revision=revision)
    assert ["n0", "n1"] == fits(c, "app")
    c.run("pod/app Running", seconds=30)
    assert "Running" == c["pod/app"].status.phase


@both
@pytest.mark.checklist("19", "27")
def test_terms_are_alternatives_and_expressions_of_a_term_hold_together(revision):
    """(x=1 and y=1) or (x=2): the terms of a volume are ORed, the expressions inside one ANDed; no key is known."""
    spots = [{"x": "1", "y": "1"}, {"x": "1"}, {"x": "2"}, {"y": "1"}]
    terms = ([("x", "In", "1"), ("y", "In", "1")], [("x", "In", "2")])
    assert ["n0", "n2"] == with_affinity(*terms, spots=spots, revision=revision)


@both
@pytest.mark.checklist("20")
@pytest.mark.parametrize(("expression", "expected"), [
    (("x", "In", "1", "5"), ["n0", "n1"]),
    (("x", "NotIn", "1"), ["n1", "n2", "n3"]),
    (("x", "Exists"), ["n0", "n1", "n2"]),
    (("x", "DoesNotExist"), ["n3"]),
    (("x", "Gt", "4"), ["n1"]),
    (("x", "Lt", "4"), ["n0"]),
])  # fmt: skip
def test_every_operator_of_a_node_selector_decides(expression, expected, revision):
    """In, NotIn, Exists, DoesNotExist, Gt and Lt decide over nodes with x = 1, 5, word and none."""
    spots = [{"x": "1"}, {"x": "5"}, {"x": "word"}, {}]
    assert expected == with_affinity([expression], spots=spots, revision=revision)


@pytest.mark.checklist("21", "22")
def test_a_volume_prefers_nothing():
    """The affinity of a volume is a type of its own: `preferred`, and the field names of a pod's affinity, are refused."""
    for field in ("preferred", "preferredDuringSchedulingIgnoredDuringExecution",
                  "requiredDuringSchedulingIgnoredDuringExecution"):
        with pytest.raises(ManifestError, match=f"spec.nodeAffinity.{field}"):
            Cluster().apply(volume("disk", nodeAffinity={field: []}))


@pytest.mark.checklist("27")
def test_a_selector_says_more_than_a_driver_can_be_told():
    """A volume may exclude a zone (NotIn); what a driver makes says only In: the selector is the more expressive one."""
    spots = [{ZONE: A}, {ZONE: B}]
    assert ["n1"] == with_affinity([(ZONE, "NotIn", A)], spots=spots)
    c = placed(storage_class(), claim(), pod("app", "data"), spots=spots, **{"disks.example.com": {"topology_keys": [ZONE]}})
    c.run("pod/app Running")
    operators = {part.operator for term in c[f"pv/{c['pvc/data'].spec.volume_name}"].spec.node_affinity.required.node_selector_terms
                 for part in term.match_expressions}
    assert {"In"} == operators


@pytest.mark.checklist("27")
def test_every_driver_brings_its_own_label_to_the_nodes():
    """Each of N drivers with a labelling scheme of its own labels every node that it runs on: N labels more."""
    for number in (1, 4):
        services = {f"d{n}.example.com": {"segments": {"n0": {f"d{n}.example.com/san": "left"}}} for n in range(number)}
        c = placed(spots=[{}, {}], kubelet={"services": services})
        c.run()
        assert number == len(c["node/n0"].metadata.labels) - len(c["node/n1"].metadata.labels)


@both
@pytest.mark.checklist("23")
def test_the_local_volume_fits_its_node_alone(revision):
    """`local-volume-1` lies on node-1: a pod that uses it fits only there."""
    c = Cluster.from_manifests(example("local-volume-1"), [node("node-1"), node("node-2")], revision=revision)
    c.apply(claim("data", "100Gi", "my-class", volumeName="local-volume-1"))
    c.run("pv/local-volume-1 Bound")
    c.apply(pod("app", "data"))
    assert ["node-1"] == fits(c, "app")


@both
@pytest.mark.parametrize(("name", "expected"), [
    pytest.param("zonal-volume-1", ["n0", "n1"], marks=pytest.mark.checklist("24")),
    pytest.param("multi-zonal-volume-1", ["n0", "n1", "n2", "n3"], marks=pytest.mark.checklist("25")),
    pytest.param("rack-volume-1", ["n0"], marks=pytest.mark.checklist("26")),
])  # fmt: skip
def test_the_printed_volumes_fit_the_nodes_that_the_document_says(name, expected, revision):
    """One zone; a or b; zone a and rack1 together, where a node with one of the labels does not fit."""
    spots = [{ZONE: A, RACK: "rack1"}, {ZONE: A}, {ZONE: B, RACK: "rack1"}, {ZONE: B}, {ZONE: C}, {RACK: "rack1"}]
    assert expected == for_disk(name, spots, revision=revision)


@both
@pytest.mark.checklist("37")
def test_a_kubelet_refuses_a_volume_that_its_node_does_not_reach(revision):
    """A pod put on a node by hand, past the scheduler, does not start: the kubelet does not mount the volume."""
    disk = volume("disk", "10Gi", "late", {HOST: ["n0"]}, bound="data")
    c = placed(disk, claim("data", bound="disk"), spots=[{}, {}], revision=revision)
    c.apply(pod("right", "data", node_name="n0"), pod("wrong", "data", node_name="n1"))
    c.run(seconds=30)
    assert ["Running", "Pending"] == [c[f"pod/{name}"].status.phase for name in ("right", "wrong")]
    assert any("node affinity" in text.lower() or "NodeAffinity" in text for text in events(c, "wrong", "FailedMount"))


# -- the mode of a class -----------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("38", "39", "40")
def test_the_binding_mode_of_a_class(revision):
    """Immediate is the default and binds without a pod, WaitForFirstConsumer waits for one; another value is refused."""
    plain = {key: value for key, value in storage_class("plain").items() if key != "volumeBindingMode"}
    classes = [plain, storage_class("now", waits=False), storage_class("late")]
    c = placed(*classes, *(claim(name, storage_class=name) for name in ("plain", "now", "late")), spots=[{}],
               revision=revision)
    c.run(seconds=30)
    assert {"plain": "Bound", "now": "Bound", "late": "Pending"} == {
        name: c[f"pvc/{name}"].status.phase for name in ("plain", "now", "late")}
    assert "Immediate" == c["sc/plain"].volume_binding_mode
    with pytest.raises(ManifestError, match="volumeBindingMode"):
        c.apply({**storage_class("odd"), "volumeBindingMode": "Sometimes"})


@both
@pytest.mark.checklist("41", "47", "75")
def test_a_claim_waits_until_a_pod_gets_a_node_and_an_event_says_so(revision):
    """A pod that fits nowhere does not end the wait; only claims of the class that waits have the event."""
    c = placed(storage_class("now", waits=False), storage_class(), storage_class("local", LOCAL), claim("made", storage_class="now"),
               claim("late"), claim("disk", storage_class="local"), volume("free", "10Gi", "local", {HOST: ["n0"]}),
               spots=[{"x": "1", "topology.kubernetes.io/zone": "a"}], revision=revision)
    c.run(seconds=60)
    assert [0, 1, 1] == [len(events(c, name, "WaitForFirstConsumer")) for name in ("made", "late", "disk")]
    c.apply(pod("nowhere", "late", "disk", nodeSelector={"x": "2"}))
    c.run(seconds=300)
    assert ["Bound", "Pending", "Pending"] == [c[f"pvc/{name}"].status.phase for name in ("made", "late", "disk")]
    assert ("Available", 2) == (c["pv/free"].status.phase, len(c.objects("pv")))
    c.apply(pod("here", "late", "disk", nodeSelector={"x": "1"}))
    c.run("pod/here Running", seconds=60)
    assert ["Bound", "Bound"] == [c[f"pvc/{name}"].status.phase for name in ("late", "disk")]


@pytest.mark.checklist("38")
def test_s0s_spelling_of_the_binding_mode():
    """S0 writes `bindingMode`, S1 `volumeBindingMode`: under `design` both are read."""
    spelled = {key: value for key, value in storage_class("late").items() if key != "volumeBindingMode"}
    c = Cluster.from_manifests([{**spelled, "bindingMode": "WaitForFirstConsumer"}], revision="design")
    assert "WaitForFirstConsumer" == c["sc/late"].volume_binding_mode


# -- provisioning with topology ----------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("48", "49", "95")
@pytest.mark.parametrize(("kind", "expected"), [("zonal", {"topology.kubernetes.io/zone": ["b"]}), ("local", {HOST: ["n1"]})])
def test_a_disk_is_made_in_a_domain_with_the_selected_node(kind, expected, revision):
    """The driver takes from the selected node what it needs: a zonal one its zone, a local one the node itself."""
    c = cluster(node("n0", "a"), node("n1", "b"), storage_class(), claim(), pod("app", "data", nodeSelector={HOST: "n1"}),
                revision=revision, **{"disks.example.com": {"kind": kind}})
    c.run("pod/app Running")
    assert [expected] == reach(c, "data")
    assert ["n1"] == where(c, "app")


def with_class(printed, spots, revision, *, only=None, **components):
    """Return a cluster with a class and a pod that needs a disk of it, on nodes at these spots, or `only` on some of them."""
    name = printed["metadata"]["name"] if isinstance(printed, dict) else printed.objects[0].metadata.name
    made = [node(f"n{number}", labels=spot) for number, spot in enumerate(spots)]
    c = Cluster.from_manifests(printed, made, revision=revision, components=components)
    c.apply(claim("data", "10Gi", name), pod("app", "data", **({"nodeSelector": only} if only else {})))
    return c


@both
@pytest.mark.checklist("52", "53", "54", "56")
def test_the_topologies_of_a_class(revision):
    """(zone a or b, and rack r1) or (zone c): entries are ORed, their expressions ANDed, values ORed."""
    spots = [{"z": "a", "r": "r1"}, {"z": "b", "r": "r1"}, {"z": "a", "r": "r2"}, {"z": "c"}, {"r": "r1"}, {}]
    listed = storage_class("fancy", allowed=[{"z": ["a", "b"], "r": ["r1"]}, {"z": ["c"]}])
    assert ["n0", "n1", "n3"] == fits(with_class(listed, spots, revision), "app")


@both
@pytest.mark.checklist("55")
def test_a_class_without_topologies_restricts_nothing(revision):
    """Without allowedTopologies a disk may be made for every node."""
    assert ["n0", "n1"] == fits(with_class(storage_class(), [{"z": "a"}, {}], revision), "app")


@both
@pytest.mark.checklist("57", "98")
def test_the_list_reaches_the_provisioner(revision):
    """With Immediate binding no scheduler decides: the provisioner alone makes the disks within the class' list."""
    now = storage_class("now", waits=False, allowed=[{ZONE: [B]}])
    c = placed(now, *(claim(f"data-{n}", storage_class="now") for n in range(3)), spots=[{ZONE: A}, {ZONE: B}, {ZONE: C}],
               revision=revision, **{"disks.example.com": {"topology_keys": [ZONE]}})
    c.run(seconds=60)
    assert [[{ZONE: [B]}]] * 3 == [reach(c, f"data-{n}") for n in range(3)]


@both
@pytest.mark.checklist("57", "96")
@pytest.mark.parametrize(("allowed", "expected"), [(None, [A, B]), ([{ZONE: [A, C]}], [A, C])])
def test_the_list_restricts_the_further_domains_of_a_volume(allowed, expected, revision):
    """A regional disk for a node in a takes its second zone from the class' list, if there is one."""
    c = with_class(storage_class("now", GCE, allowed=allowed, parameters={"replication-type": "regional-pd"}),
                   [{ZONE: zone, REGION: "us-central1"} for zone in (A, B, C)], revision, only={ZONE: A})
    c.run("pod/app Running", seconds=60)
    assert [{ZONE: expected}] == reach(c, "data")


@both
@pytest.mark.checklist("60", "96")
@pytest.mark.parametrize("zone", [A, B])
def test_with_a_node_the_list_changes_nothing_for_a_disk_of_one_zone(zone, revision):
    """A disk of one zone for a selected node is the same without a list as with any that allows the node."""
    spots, dials = [{ZONE: A}, {ZONE: B}, {ZONE: C}], {"disks.example.com": {"topology_keys": [ZONE]}}
    for allowed in (None, [{ZONE: [A, B, C]}], [{ZONE: [C, B, A]}], [{ZONE: [C]}, {ZONE: [zone]}]):
        c = with_class(storage_class(allowed=allowed), spots, revision, only={ZONE: zone}, **dials)
        c.run("pod/app Running", seconds=60)
        assert [{ZONE: [zone]}] == reach(c, "data"), allowed


@pytest.mark.checklist("49", "60", "96")
@pytest.mark.parametrize("provisioner", [GCE, "disks.example.com"])
@pytest.mark.parametrize("allowed", [None, {ZONE: [A]}, {HOST: ["n0", "n1"]}, {ZONE: [A, B], HOST: ["n1"]}])
def test_a_disk_of_one_node_needs_no_list(provisioner, allowed):
    """The scheduler has looked at the list: a local plugin makes the disk on the node, whatever keys the list has."""
    c = placed(storage_class(provisioner=provisioner, allowed=[allowed] if allowed else None), claim(),
               pod("app", "data", nodeSelector={HOST: "n1"}), spots=[{ZONE: A}, {ZONE: A}, {ZONE: B}], **{provisioner: {"kind": "local"}})
    c.run("pod/app Running", seconds=60)
    assert [{HOST: ["n1"]}] == reach(c, "data")


@both
@pytest.mark.checklist("64")
def test_the_zonal_class_provisions_for_its_two_zones(revision):
    """`zonal-class`: as printed its disks lie in a and b alone; waiting for a pod, only nodes there can be provisioned for."""
    spots = [{ZONE: zone, REGION: "us-central1"} for zone in (A, B, C)]
    assert {(A,), (B,)} == {zones for zones, _ in made_of("zonal-class", spots, revision)}
    assert ["n0", "n1"] == fits(with_class(example("zonal-class-wffc"), spots, revision), "app")


def made_of(name, spots, revision):
    """Return where disks of a printed class are made for eight claims without pods: [(zones, claim), ...]."""
    c = Cluster.from_manifests(example(name), [node(f"n{n}", labels=spot) for n, spot in enumerate(spots)], revision=revision)
    c.apply([claim(f"data-{n}", storage_class=name) for n in range(8)])
    c.run(seconds=60)
    return [(tuple(reach(c, f"data-{n}")[0][ZONE]), f"data-{n}") for n in range(8)]


@both
@pytest.mark.checklist("65")
def test_a_regional_disk_takes_two_zones_with_that_of_the_node(revision):
    """`multi-zonal-class`: the provisioner picks two of the three zones, and the node's is one of them if there is a node."""
    spots = [{ZONE: zone, REGION: "us-central1"} for zone in (A, B, C, "us-central1-d")]
    assert {(A, B), (A, C), (B, C)} == {zones for zones, _ in made_of("multi-zonal-class", spots, revision)}
    c = with_class(example("multi-zonal-class-wffc"), spots, revision)
    c.run("pod/app Running")
    [node_name], [zone] = where(c, "app"), [set(reach(c, "data")[0][ZONE])]
    assert 2 == len(zone)
    assert {c[f"node/{node_name}"].metadata.labels[ZONE]} < zone <= {A, B, C}


@both
@pytest.mark.parametrize("region", ["us-central1", "eu-west1"])
@pytest.mark.checklist("66")
def test_a_regional_disk_within_one_zone_cannot_be_made(region, revision):
    """Restricted to one zone, or to one in each of two regions: provisioning fails for lack of a second zone, and says so."""
    spots = [{ZONE: A, REGION: "us-central1"}, {ZONE: f"{region}-b", REGION: region}]
    printed = example("multi-zonal-class-one-zone")
    if region != "us-central1":
        printed = storage_class("multi-zonal-class", GCE, waits=False, parameters={"replication-type": "regional-pd"},
                                allowed=[{ZONE: [A, f"{region}-b"]}])
    c = with_class(printed, spots, revision)
    c.run(seconds=60)
    assert ("Pending", []) == (c["pvc/data"].status.phase, c.objects("pv"))
    why = "Need at least 2 distinct zones for a volume with 2 replicas"
    assert all(text.endswith(why) for text in events(c, "data", "ProvisioningFailed"))
    assert events(c, "data", "ProvisioningFailed")


@both
@pytest.mark.checklist("67")
def test_something_fancy_is_exactly_three_places(revision):
    """`something-fancy` allows (a, rack1), (b, rack1) and (b, rack2); (a, rack2) is refused."""
    spots = [{"zone": zone, "rack": rack} for zone in (A, B) for rack in ("rack1", "rack2")]
    c = with_class(example("something-fancy-wffc"), spots, revision)
    assert ["n0", "n2", "n3"] == fits(c, "app")
    assert "n1" not in fits(c, "app")


@both
@pytest.mark.checklist("86")
def test_disks_of_a_class_of_their_own_are_not_taken_by_others(revision):
    """With a class for each kind of user, claims of one cannot take the disk that a pod of the other waits for."""
    mine, theirs = (storage_class(name, LOCAL) for name in ("mine", "theirs"))
    disks = [volume("m", "10Gi", "mine", {HOST: ["n0"]}), volume("t", "10Gi", "theirs", {HOST: ["n0"]})]
    c = placed(mine, theirs, *disks, claim("a", storage_class="mine"), claim("b", storage_class="theirs"), pod("p", "a"),
               pod("q", "b"), spots=[{}], revision=revision)
    c.run(seconds=60)
    assert {"a": "m", "b": "t"} == {name: c[f"pvc/{name}"].spec.volume_name for name in "ab"}


@both
@pytest.mark.checklist("86")
def test_a_prebound_disk_is_taken_by_nobody_else(revision):
    """A disk that the administrator reserves for a claim is not matched with another claim."""
    late = storage_class("late", LOCAL)
    c = placed(late, volume("disk", "10Gi", "late", {HOST: ["n0"]}, claim="data"), claim("other"), pod("first", "other"),
               spots=[{}], revision=revision)
    c.run(seconds=30)
    assert "Pending" == c["pvc/other"].status.phase
    assert "didn't find available persistent volumes to bind" in message(c, "first")
    c.apply(claim("data"), pod("second", "data"))
    c.run("pod/second Running")
    assert "disk" == c["pvc/data"].spec.volume_name


@pytest.mark.checklist("21")
def test_a_pods_words_for_affinity_do_not_change_a_volumes():
    """A pod's preferred affinity ranks nodes; the same words on a volume are unknown, so a volume cannot rank them."""
    assert "" != refusal_of_manifest(volume("disk", nodeAffinity={"preferredDuringSchedulingIgnoredDuringExecution": []}))
    weights = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]}}
    assert "" == refusal(Cluster().apply, pod("app", affinity=weights))


@both
@pytest.mark.checklist("21")
def test_a_volumes_affinity_means_something_else_in_the_same_words(revision):
    """A pod's matchFields choose a node by its name; a volume is judged by labels alone: there the fields are not read."""
    term = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    c = placed(volume("disk", bound="data", nodeAffinity={"required": term}), claim("data", bound="disk"), pod("by-volume", "data"),
               pod("by-pod", affinity=affinity), spots=[{}, {}], revision=revision)
    assert (["n1"], ["n0", "n1"]) == (fits(c, "by-pod"), fits(c, "by-volume"))


def refusal_of_manifest(manifest):
    """Return why a manifest cannot be read, "" if it can."""
    try:
        Cluster().apply(manifest)
    except ManifestError as error:
        return str(error)
    return ""


# -- provisioners: old parameters, permissions -------------------------------------------------------------------------


@both
@pytest.mark.checklist("62")
@pytest.mark.parametrize("provisioner", [GCE, "kubernetes.io/aws-ebs"])
@pytest.mark.parametrize(("parameters", "allowed"), [({"zone": C}, {C}), ({"zones": f"{A}, {B}"}, {A, B})])
def test_the_zone_parameters_of_old_classes_still_choose(parameters, allowed, provisioner, revision):
    """`zone` and `zones` of a class of GCE PD or AWS EBS decide where its disks are made."""
    old = storage_class("old", provisioner, waits=False, parameters=parameters)
    asked = [claim(f"data-{number}", storage_class="old") for number in range(4)]
    c = placed(old, *asked, spots=[{ZONE: zone, REGION: "us-central1"} for zone in (A, B, C)], revision=revision)
    c.run(seconds=60)
    assert allowed == {zone for each in asked for term in reach(c, each["metadata"]["name"]) for zone in term[ZONE]}


@both
@pytest.mark.checklist("62")
def test_a_zone_parameter_contradicts_waiting_for_a_node(revision):
    """A class that waits for the first consumer may not name a zone: the driver says so."""
    c = with_class(storage_class("old", GCE, parameters={"zone": C}), [{ZONE: A, REGION: "r"}], revision)
    c.run(seconds=60)
    assert any("VolumeBindingMode is set to WaitForFirstConsumer" in text for text in events(c, "data", "ProvisioningFailed"))


@both
@pytest.mark.checklist("99")
@pytest.mark.parametrize("resource", ["nodes", "storageclasses"])
def test_a_provisioner_that_may_not_read_says_so(resource, revision):
    """Without `get` on Node or StorageClass provisioning fails with a clear event, and no volume is made."""
    c = with_class(storage_class(), [{ZONE: A}], revision, **{
        "disks.example.com": {"topology_keys": [ZONE], "denied": [f"get {resource}"]}})
    c.run(seconds=30)
    told = events(c, "data", "ProvisioningFailed")
    assert any("cannot get resource" in text and "is forbidden" in text for text in told), told
    assert [] == c.objects("pv")


@pytest.mark.checklist("92")
@pytest.mark.parametrize("gate", ["VolumeScheduling", "DynamicProvisioningScheduling"])
def test_the_gates_change_nothing_for_claims_that_do_not_wait(gate):
    """Immediate, prebound and lost claims, and one whose volume is deleted, end alike with a gate of the manager on and off."""
    now = storage_class("now", waits=False)
    objects = [now, claim("made", storage_class="now"), volume("mine", "10Gi", "now", claim="bound"),
               claim("bound", storage_class="now"), claim("lost", storage_class="now", bound="gone"), claim("none", storage_class="")]
    ends = []
    for on in (True, False):
        c = placed(*objects, spots=[{ZONE: A}], revision=design().with_gates({"kube-controller-manager": {gate: on}}))
        c.run(seconds=60)
        c.delete("pvc/made")
        c.run(seconds=60)
        ends.append((c.manifests(), [str(request) for request in c.requests()]))
    assert ends[0] == ends[1]
