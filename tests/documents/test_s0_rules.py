"""Topology-aware volumes (S0, S1): restricted classes, gates, the older predicates, limits, and zonal volumes' upgrade."""

from itertools import combinations

import pytest
from documents.clusters import cluster, events, fits, message, reach, refusal, where, zones
from manifests import HOST, RACK, ZONE, claim, csi_node, node, pod, required, storage_class, volume

from kvolsched import Cluster, example
from kvolsched.rules.named import revision_named

both = pytest.mark.parametrize("revision", ["design", "upstream"])
LOCAL = "kubernetes.io/no-provisioner"
BETA_ZONE, BETA_REGION = (f"failure-domain.beta.kubernetes.io/{word}" for word in ("zone", "region"))
ELSEWHERE = "node(s) had no available volume zone"
NOTHING = "node(s) didn't find available persistent volumes to bind"
CONFLICT = {"design": "node(s) had volume node affinity conflict",
            "upstream": "node(s) didn't match PersistentVolume's node affinity"}


# -- restricted classes ------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("58")
def test_a_restricted_class_alone_does_not_help_the_pod(revision):
    """Immediate with allowedTopologies: the volume is made in an allowed zone where the pod cannot run."""
    made = [node("a1", "a"), node("b1", "b")]
    ends = {}
    for waits in (False, True):
        c = cluster(*made, storage_class(waits=waits, allowed=[{ZONE: ["a", "b"]}]), claim("data-0"), claim("data-1"),
                    pod("app-0", "data-0", nodeSelector={ZONE: "b"}), pod("app-1", "data-1", nodeSelector={ZONE: "b"}),
                    revision=revision)
        c.run(seconds=300)
        ends[waits] = sorted(where(c, "app-0", "app-1")), sorted(reach(c, f"data-{n}")[0][ZONE][0] for n in range(2))
    assert {False: (["", "b1"], ["a", "b"]), True: (["b1", "b1"], ["b", "b"])} == ends


@both
@pytest.mark.checklist("59")
def test_a_restriction_that_the_pod_does_not_share(revision):
    """A disk of the allowed zones 1 and 2, a pod of 1 and 3: when zone 1 fails, zone 3 lacks the disk and 2 is not the pod's."""
    c = cluster(*(node(f"z{n}", f"zone{n}") for n in (1, 2, 3)), claim("data"), revision=revision)
    c.apply(storage_class("late", "kubernetes.io/gce-pd", allowed=[{ZONE: ["zone1", "zone2"]}],
                          parameters={"replication-type": "regional-pd"}))
    only = {"affinity": required({ZONE: ["zone1", "zone3"]})}
    c.apply(pod("app", "data", **only))
    c.run("pod/app Running")
    assert (["z1"], [{ZONE: ["zone1", "zone2"]}]) == (where(c, "app"), reach(c, "data"))
    c.stop_nodes(f"{ZONE}=zone1")
    c.run(seconds=400)
    c.apply(pod("again", "data", **only), pod("free", "data"))
    c.run(seconds=300)
    assert ["", "z2"] == where(c, "again", "free")
    rejected = {name: why[0] for name, why in c.fits("again").rejected.items()}
    assert {"z1": "TaintToleration", "z2": "NodeAffinity", "z3": "VolumeBinding"} == rejected


@both
@pytest.mark.checklist("61")
def test_what_the_list_says_is_the_provisioners_business(revision):
    """The API server takes values that no node has, and a volume outside the list is bound all the same."""
    c = cluster(node("a1", "a"), node("b1", "b"), revision=revision,
                **{"disks.example.com": {"immediate_zone": {"data": "b"}}})
    assert "" == refusal(c.apply, storage_class(waits=False, allowed=[{ZONE: ["mars"]}]))
    c.apply(claim("data"), pod("app", "data"))
    c.run("pod/app Running")
    assert ([{ZONE: ["b"]}], ["b1"]) == (reach(c, "data"), where(c, "app"))


@both
@pytest.mark.checklist("69")
def test_listing_whole_topologies_would_enumerate_pairs(revision):
    """A regional disk takes the node's zone and one more of four listed values: all six pairs, from a list of four."""
    listed = [f"r-{letter}" for letter in "abcd"]
    seen = set()
    for first in "abcd":
        for extra in listed:
            c = cluster(node(f"{first}1", f"r-{first}"),
                        storage_class(provisioner="disks.example.com", parameters={"replication-type": "regional-pd"},
                                      allowed=[{ZONE: sorted({f"r-{first}", extra} | ({listed[0]} if extra == f"r-{first}"
                                                                                       else set()))}]),
                        claim("data"), pod("app", "data"), revision=revision)
            c.run(seconds=30)
            if c["pvc/data"].spec.volume_name:
                seen.add(tuple(reach(c, "data")[0][ZONE]))
    assert set(combinations(listed, 2)) == seen
    assert (4, 6) == (len(listed), len(seen))


# -- gates -------------------------------------------------------------------------------------------------------------


def gated(on, *objects, **components):
    """A cluster of the design's rules with these gates: {process: {gate: on}}."""
    return cluster(*objects, revision=revision_named("design").with_gates(on), **components)


SCHEDULING, PROVISIONING = "VolumeScheduling", "DynamicProvisioningScheduling"
SCHEDULER, MANAGER = "kube-scheduler", "kube-controller-manager"


@pytest.mark.checklist("71")
def test_volume_scheduling_covers_affinity_the_mode_and_the_kubelets():
    """Off everywhere: claims of a waiting class bind at once, affinity is ignored, and kubelets mount what they get."""
    def run(on):
        off = {process: {SCHEDULING: on} for process in (SCHEDULER, MANAGER, "kubelet")}
        c = gated(off, node("a1", "a"), node("b1", "b"), storage_class(provisioner=LOCAL),
                  volume("disk", "10Gi", "late", {ZONE: ["b"]}), claim("data"))
        c.run()
        phase = c["pvc/data"].status.phase
        c.apply(pod("app", "data", nodeSelector={ZONE: "a"}))
        c.run(seconds=60)
        return phase, where(c, "app"), c["pod/app"].status.phase

    assert ("Pending", [""], "Pending") == run(True)
    assert ("Bound", ["a1"], "Running") == run(False)
    one_left_on = gated({process: {SCHEDULING: False} for process in (SCHEDULER, MANAGER)}, node("a1", "a"),
                        storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["b"]}), claim("data"),
                        pod("app", "data"))
    one_left_on.run(seconds=60)
    assert (["a1"], "Pending") == (where(one_left_on, "app"), one_left_on["pod/app"].status.phase)
    assert 'MountVolume.NodeAffinity check failed for volume "disk" : no matching NodeSelectorTerms' in events(
        one_left_on, "app", "FailedMount")


@pytest.mark.checklist("72", "267")
def test_dynamic_provisioning_scheduling_covers_volumes_to_be_made():
    """Off: nothing is provisioned for a node, allowed topologies or not; free local disks are bound as ever."""
    def run(on, *objects, **spec):
        gates = {process: {PROVISIONING: on} for process in (SCHEDULER, MANAGER)}
        c = gated(gates, node("a1", "a"), node("b1", "b"), *objects, claim("data"), pod("app", "data", **spec))
        c.run(seconds=60)
        return where(c, "app"), len(c.objects("pv"))

    restricted = storage_class(allowed=[{ZONE: ["b"]}])
    assert (["b1"], 1) == run(True, restricted)
    assert ([""], 0) == run(False, restricted)
    assert (["b1"], 1) == run(False, storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["b"]}))


@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "disks.example.com"])
@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("71", "140")
def test_an_old_manager_provisions_at_once_in_tree_as_external(revision, provisioner):
    """VolumeScheduling off in the manager: a claim of a waiting class has its volume before any pod; then the pod runs.

    An in-tree plugin in the manager says the zone in labels then, as before the gate.
    """
    rules = revision_named(revision).with_gates({MANAGER: {SCHEDULING: False}})
    c = cluster(node("a1", "a"), node("b1", "b"), storage_class(provisioner=provisioner), claim("data-0"), revision=rules)
    c.run(seconds=60)
    labelled = provisioner.startswith("kubernetes.io/") and revision == "design"
    found = [{ZONE: [c.objects("pv")[0].metadata.labels[ZONE]]}] if labelled else reach(c, "data-0")
    assert ("Bound", [{ZONE: ["b"]}]) == (c["pvc/data-0"].status.phase, found)
    c.apply(pod("app", "data-0"))
    c.run("pod/app Running", seconds=60)
    assert ["b1"] == where(c, "app")


@pytest.mark.parametrize("process", [SCHEDULER, MANAGER])
@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "disks.example.com"])
@pytest.mark.checklist("72")
def test_nothing_is_made_for_a_selected_node(provisioner, process):
    """DynamicProvisioningScheduling off in one of the two: no volume is made for a pod, in-tree as external."""
    c = gated({process: {PROVISIONING: False}}, node("a1", "a"), storage_class(provisioner=provisioner), claim("data"),
              pod("app", "data"))
    c.run(seconds=60)
    assert ([], [""]) == (c.objects("pv"), where(c, "app"))
    selected = any("selected" in key for key in c["pvc/data"].metadata.annotations)
    assert (process == MANAGER) == selected


@pytest.mark.checklist("72")
def test_the_managers_gate_hides_allowed_topologies_from_its_own_plugins():
    """A class that binds at once and allows zone a: without the gate the in-tree plugin does not know, a driver reads it."""
    zones_by_provisioner = {}
    for provisioner in ("kubernetes.io/gce-pd", "disks.example.com"):
        for on in (True, False):
            c = gated({MANAGER: {PROVISIONING: on}}, node("a1", "a"), node("b1", "b"), claim("data-0"),
                      storage_class(provisioner=provisioner, waits=False, allowed=[{ZONE: ["a"]}]))
            c.run(seconds=60)
            zones_by_provisioner[provisioner, on] = reach(c, "data-0")[0][ZONE]
    assert [["a"], ["b"], ["a"], ["a"]] == list(zones_by_provisioner.values())


@pytest.mark.checklist("71")
def test_a_disk_that_comes_later_is_bound_by_an_old_manager():
    """VolumeScheduling off in the manager: a claim of a waiting class takes the volume that an administrator adds."""
    for revision in ("design", "upstream"):
        c = cluster(node("a1", "a"), storage_class(provisioner=LOCAL), claim("data"),
                    revision=revision_named(revision).with_gates({MANAGER: {SCHEDULING: False}}))
        c.run()
        c.apply(volume("disk", "10Gi", "late", {ZONE: ["a"]}))
        c.run(seconds=60)
        assert "Bound" == c["pvc/data"].status.phase, revision


@pytest.mark.checklist("71")
def test_the_draft_has_one_gate_in_two_processes():
    """S1 sets VolumeScheduling in scheduler and manager; kubelets have no such gate there, and nobody has the other."""
    draft = revision_named("draft")
    assert "draft (kube-scheduler: VolumeScheduling=false)" == draft.with_gates({SCHEDULER: {SCHEDULING: False}}).name
    for process, gate in (("kubelet", SCHEDULING), (MANAGER, PROVISIONING)):
        with pytest.raises(ValueError, match=f"no gate .* of {process}: kube-scheduler has VolumeScheduling"):
            draft.with_gates({process: {gate: False}})


@pytest.mark.checklist("264")
def test_rollback_deletes_and_recreates_claims():
    """What was claimed while the feature was on is stuck after a rollback of the scheduler; made anew it is bound."""
    objects = [node("a1", "a"), storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["a"]})]
    on = gated({}, *objects, claim("data"))
    on.run()
    off = gated({SCHEDULER: {SCHEDULING: False}}, on.manifests())
    off.apply(pod("app", "data"))
    off.run(seconds=60)
    assert ("Pending", "Pending") == (off["pvc/data"].status.phase, off["pod/app"].status.phase)
    assert "pod has unbound PersistentVolumeClaims" in message(off, "app")
    off.delete("pod/app", "pvc/data")
    off.apply(storage_class("early", LOCAL, waits=False), volume("other", "10Gi", "early"), claim("data", storage_class="early"),
              pod("app", "data"))
    off.run("pod/app Running", seconds=60)
    assert "other" == off["pvc/data"].spec.volume_name


# -- the provisioner is told ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "disks.example.com"])
@pytest.mark.checklist("48", "94")
def test_a_selected_node_counts_with_late_binding_only(provisioner):
    """The annotation on a claim of an Immediate class tells the provisioner nothing; of a waiting one it decides."""
    zones_of = {}
    for waits in (False, True):
        c = cluster(node("a1", "a"), node("b1", "b"), storage_class(provisioner=provisioner, waits=waits))
        c.apply(claim("data-0", annotations={"volume.alpha.kubernetes.io/selectedNode": "a1"}))
        c.run("pvc/data-0 Bound", seconds=60)
        zones_of[waits] = reach(c, "data-0")[0][ZONE]
        assert "a1" == c["pvc/data-0"].metadata.annotations["volume.alpha.kubernetes.io/selectedNode"]
    assert {False: ["b"], True: ["a"]} == zones_of


@pytest.mark.checklist("94")
def test_a_node_that_is_not_told_is_not_taken_back():
    """Where the annotation does not count, a failed attempt leaves it: there is no node to choose another for."""
    c = cluster(node("a1", "a"), node("b1", "b"), storage_class(waits=False),
                **{"disks.example.com": {"fails": [{"times": 2}]}})
    c.apply(claim("data-0", annotations={"volume.alpha.kubernetes.io/selectedNode": "a1"}))
    c.run("pvc/data-0 Bound", seconds=120)
    assert 2 == sum(each.count for each in c.objects("events") if each.reason == "ProvisioningFailed")
    assert "a1" == c["pvc/data-0"].metadata.annotations["volume.alpha.kubernetes.io/selectedNode"]


@pytest.mark.parametrize("provisioner", ["kubernetes.io/gce-pd", "disks.example.com"])
@pytest.mark.checklist("94")
def test_allowed_topologies_are_told_if_the_class_has_them(provisioner):
    """Without a selected node the class's list decides, if it has one: else the claim's name does."""
    zones_of = {}
    for allowed in (None, [{ZONE: ["a"]}]):
        c = cluster(node("a1", "a"), node("b1", "b"), storage_class(provisioner=provisioner, waits=False, allowed=allowed),
                    claim("data-0"))
        c.run("pvc/data-0 Bound", seconds=60)
        zones_of[allowed is None] = reach(c, "data-0")[0][ZONE]
    assert {True: ["b"], False: ["a"]} == zones_of


# -- the older predicates ----------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("36")
def test_zone_labels_and_affinity_must_both_hold(revision):
    """A bound volume labelled with zone a whose affinity names a1 and b1: only a1, and each rule says its own."""
    c = cluster(node("a1", "a"), node("a2", "a"), node("b1", "b"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {HOST: ["a1", "b1"]}, labels={ZONE: "a"}, bound="data"),
                claim("data", bound="disk"), pod("app", "data"), revision=revision)
    c.run("pod/app Running")
    assert ["a1"] == fits(c, "app")
    assert CONFLICT[revision] in c.verdicts("app", "a2", "VolumeBinding")
    assert ELSEWHERE in c.verdicts("app", "b1", "VolumeZone")


@both
@pytest.mark.checklist("128")
def test_zone_labels_count_for_bound_volumes_only(revision):
    """A free volume's zone label keeps no node away; once it is bound, the label does."""
    def made(**bound):
        disk = volume("disk", "10Gi", "late", labels={BETA_ZONE: "a"}, **({"claim": "data"} if bound else {}))
        c = cluster(*(node(f"{zone}1", labels={BETA_ZONE: zone}) for zone in "ab"), storage_class(provisioner=LOCAL),
                    disk, claim("data", **bound), pod("app", "data"), revision=revision)
        c.run("pod/app scheduled", seconds=60)
        return c

    assert ["a1", "b1"] == fits_at_first(made())
    assert ["a1"] == fits_at_first(made(bound="disk"))


def fits_at_first(c):
    """The nodes that fitted in the pod's first pass."""
    back = c.fork()
    back.goto(c.passes("app")[0].step)
    return fits(back, "app")


@both
@pytest.mark.checklist("129")
def test_legacy_zonal_volumes_are_bound_blindly(revision):
    """With labels alone the choice knows no topology; after binding the zone rule finds it, when it is too late."""
    c = cluster(*(node(f"{zone}1", labels={BETA_ZONE: zone}) for zone in "ab"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", labels={BETA_ZONE: "a"}), claim("data"),
                pod("app", "data", nodeSelector={BETA_ZONE: "b"}), revision=revision)
    c.run(seconds=120)
    assert "Bound" == c["pvc/data"].status.phase
    if revision == "design":
        assert 2 <= len(c.passes("app"))
        assert [""] == where(c, "app")
        assert f"1 {ELSEWHERE}" in message(c, "app")
    else:  # one pass, so nobody asks again
        assert ["b1"] == where(c, "app")


@both
@pytest.mark.checklist("130")
def test_affinity_counts_for_bound_volumes_here_and_for_free_ones_in_matching(revision):
    """A bound volume's affinity leaves its node; of an unbound claim nothing is asked but what could be bound."""
    disk = [storage_class(), volume("disk", "10Gi", "late", {ZONE: ["a"]})]
    free = cluster(node("a1", "a"), node("b1", "b"), *disk, claim("data"), pod("app", "data"), revision=revision)
    free.run("pod/app scheduled", seconds=60)
    assert ["a1", "b1"] == fits_at_first(free)
    bound = cluster(node("a1", "a"), node("b1", "b"), disk[0],
                    volume("disk", "10Gi", "late", {ZONE: ["a"]}, bound="data"), claim("data", bound="disk"),
                    pod("app", "data"), revision=revision)
    bound.run("pod/app scheduled", seconds=60)
    assert ["a1"] == fits_at_first(bound)
    assert ("VolumeBinding", CONFLICT[revision]) == bound.fits("app").rejected["b1"]


@pytest.mark.checklist("127")
def test_the_limit_of_disks_before_and_after_it_is_part_of_the_decision():
    """Counted for bound volumes only, a disk is bound to a full node and the second pass refuses it; today, up front."""
    objects = [node("n1"), csi_node("n1", 1, topology_keys=[HOST]), storage_class(), volume("old", "10Gi", "late", {HOST: ["n1"]}, bound="old"),
               claim("old", bound="old"), pod("there", "old", running_on="n1"), claim("data"), pod("app", "data")]
    local = {"disks.example.com": {"kind": "local"}}
    then, now = cluster(*objects, revision="design", **local), cluster(*objects, revision="upstream", **local)
    for c in (then, now):
        c.run(seconds=120)
        assert [""] == where(c, "app")
        assert "1 node(s) exceed max volume count" in message(c, "app")
    assert ("Bound", "Pending") == (then["pvc/data"].status.phase, now["pvc/data"].status.phase)
    assert (2, 1) == (len(then.objects("pv")), len(now.objects("pv")))


@pytest.mark.parametrize("revision", ["design", "draft"])
@pytest.mark.parametrize(("source", "field", "most"), [
    ("gcePersistentDisk", "pdName", 16), ("awsElasticBlockStore", "volumeID", 39), ("azureDisk", "diskURI", 16)])
@pytest.mark.checklist("127")
def test_a_node_that_tells_no_limit_has_that_of_its_time(revision, source, field, most):
    """In-tree disks are limited without any CSINode, each once a node; a node may tell another limit; today none is."""
    def disks(first, number):
        more = {"azureDisk": {"diskName": "d"}, "gcePersistentDisk": {"readOnly": True}}.get(source, {})
        return {"volumes": [{"name": f"d{n}", source: {field: f"disk-{n}", **more}} for n in range(first, first + number)]}

    def ends(rules):
        c = cluster(node("n1"), pod("there", running_on="n1", **disks(0, most - 1)), pod("same", **disks(0, 1)), pod("last", **disks(100, 1)), revision=rules)
        c.run(seconds=60)
        c.apply(pod("more", **disks(200, 1)))
        c.run(seconds=60)
        return c

    c = ends(revision)
    shared = "" if source == "awsElasticBlockStore" else "n1"  # of which a node takes a disk for one pod alone
    assert [shared, "n1", ""] == where(c, "same", "last", "more")
    assert "0/1 nodes are available: 1 node(s) exceed max volume count." == message(c, "more")
    assert f"{most} volumes of" in str(c.why("more"))
    assert f"+ 1 new > limit {most}" in str(c.why("more"))
    c.apply(node("n2"))
    c.run("pod/more Running", seconds=60)
    assert ["n2"] == where(c, "more")
    assert ["n1", "n1"] == where(ends("upstream"), "last", "more")
    name = {"gcePersistentDisk": "gce-pd", "awsElasticBlockStore": "aws-ebs", "azureDisk": "azure-disk"}[source]
    told = node("n1")
    told["status"]["allocatable"][f"attachable-volumes-{name}"] = "3"
    small = cluster(told, node("n2"), pod("two", running_on="n1", **disks(0, 2)), pod("app", **disks(10, 2)), revision=revision)
    small.run(seconds=60)
    small.goto(small.passes("app")[0].step)
    assert {"n1": ("NodeVolumeLimits", "node(s) exceed max volume count")} == small.fits("app").rejected
    assert "NodeVolumeLimits (MaxPDVolumeCount)" in str(small.verdicts("app"))


@pytest.mark.parametrize("revision", ["draft", "design", "upstream"])
def test_a_disk_is_attached_for_one_pod_of_a_node(revision):
    """NoDiskConflict: a second pod waits for another node, unless both only read; claims are not looked at then."""
    def with_disk(name, *, reads=False):
        return pod(name, volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "disk", "readOnly": reads}}])

    c = cluster(node("n1"), with_disk("first"), with_disk("second"), revision=revision)
    c.run()
    assert ["", "n1"] == sorted(where(c, "first", "second"))
    waits = next(name for name in ("first", "second") if not c[name].spec.node_name)
    assert "1 node(s) had no available disk" in c.why(waits).sentence
    if revision != "upstream":
        assert "VolumeRestrictions (NoDiskConflict)" in str(c.verdicts(waits))
    c.apply(node("n2"))
    c.run(seconds=60)
    assert ["n1", "n2"] == sorted(where(c, "first", "second"))
    readers = cluster(node("n1"), with_disk("first", reads=True), with_disk("second", reads=True), revision=revision)
    readers.run()
    assert ["n1", "n1"] == where(readers, "first", "second")


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.checklist("114")
def test_weights_are_configuration_and_remove_no_node():
    """The volumes' weight decides between a close disk on a busy node and a far one on an idle node; all fit always."""
    def run(weight):
        rules = revision_named("design").with_weights({"VolumeBinding": weight})
        c = cluster(node("n1"), node("n2"), storage_class(provisioner=LOCAL), pod("busy", running_on="n1", cpu="3500m"),
                    volume("close", "10Gi", "late", {HOST: ["n1"]}), volume("far", "200Gi", "late", {HOST: ["n2"]}),
                    claim("data"), pod("app", "data"), revision=rules)
        c.run("pod/app scheduled")
        return fits_at_first(c), where(c, "app")

    assert (["n1", "n2"], ["n2"]) == run(0)
    assert (["n1", "n2"], ["n1"]) == run(10)


def test_weights_that_cannot_be_set_are_named():
    """A plugin without a score is named with those that have one, a wrong weight with what it must be."""
    with pytest.raises(ValueError, match=r"no score plugin 'Volumes'; there are: .*VolumeBinding"):
        revision_named("design").with_weights({"Volumes": 1})
    for weight in (-1, 1.5, True):
        with pytest.raises(ValueError, match=f"weight of VolumeBinding: {weight}: must be a whole number from 0"):
            revision_named("design").with_weights({"VolumeBinding": weight})
    rules = revision_named("design").with_weights({"VolumeBinding": 3}).matured("alpha")
    assert "design (alpha; weights: VolumeBinding=3)" == rules.name


# -- zonal volumes -----------------------------------------------------------------------------------------------------


def phase(number):
    """The design's rules in a phase of the upgrade."""
    return revision_named("design").in_phase(number)


def labelled(name="disk", zone="us-central1-a", **more):
    """A zonal volume as it was before node affinity."""
    return volume(name, "10Gi", "late", labels={BETA_ZONE: zone, BETA_REGION: "us-central1"}, **more)


def affinity(c, name="disk"):
    """A volume's terms as {key: values}, or None."""
    found = c[f"pv/{name}"].spec.node_affinity
    return found and [{part.key: list(part.values) for part in term.match_expressions}
                      for term in found.required.node_selector_terms]


MEANT = [{BETA_ZONE: ["us-central1-a"], BETA_REGION: ["us-central1"]}]


@pytest.mark.checklist("28")
def test_phase_1_gives_new_volumes_their_affinity():
    """A volume created in phase 1 has node affinity beside its labels; one that was there stays, also on a downgrade."""
    c = cluster(labelled("old"), revision=phase(1))
    c.apply(labelled("new"))
    c.run(seconds=600)
    assert (None, MEANT) == (affinity(c, "old"), affinity(c, "new"))
    back = cluster(c.manifests(), revision=phase(0))
    back.apply(labelled("later"))
    assert (None, MEANT, None) == tuple(affinity(back, name) for name in ("old", "new", "later"))


@pytest.mark.parametrize("name", ["zonal-volume-1", "multi-zonal-volume-1"])
@pytest.mark.checklist("29", "31", "32")
def test_phase_2_converts_the_printed_volumes(name):
    """The controller makes of the printed volume the printed result: two expressions, `a__b` split, labels kept."""
    c = Cluster.from_manifests(example(f"{name}-labels"), revision=phase(2))
    c.run(seconds=60)
    (printed,) = example(f"{name}-converted").objects
    assert printed.spec.node_affinity == c[f"pv/{name}"].spec.node_affinity
    assert printed.metadata.labels == c[f"pv/{name}"].metadata.labels


@pytest.mark.checklist("33")
def test_conversion_changes_nothing_twice_and_no_affinity_that_is_there():
    """What has an affinity stays as it is, a second run writes nothing, and what has no zone label is left alone."""
    own = volume("own", "10Gi", "late", {HOST: ["n1"]}, labels={BETA_ZONE: "a"})
    c = cluster(labelled(), own, volume("plain", "10Gi", "late"), revision=phase(2))
    c.run(seconds=60)
    assert (MEANT, [{HOST: ["n1"]}], None) == tuple(affinity(c, name) for name in ("disk", "own", "plain"))
    again = cluster(c.manifests(), revision=phase(2))
    before = [each.spec for each in again.objects("pv")]
    again.run(seconds=60)
    assert before == [each.spec for each in again.objects("pv")]
    assert not [each for each in again.requests() if each.by == "zonal-pv-upgrade-controller"]


@pytest.mark.checklist("29", "30")
def test_phase_3_has_neither_the_predicate_nor_the_controller():
    """In phase 2 labels still count; in phase 3 an unconverted volume is reached from anywhere, and stays unconverted."""
    def made(number, **components):
        c = cluster(*(node(f"{zone}1", labels={BETA_ZONE: f"us-central1-{zone}", BETA_REGION: "us-central1"})
                      for zone in "ab"), storage_class(provisioner=LOCAL), labelled(bound="data"),
                    claim("data", bound="disk"), pod("app", "data"), revision=phase(number), **components)
        c.run("pod/app scheduled", seconds=60)
        return fits_at_first(c), affinity(c)

    assert (["a1"], None) == made(2, **{"zonal-pv-upgrade-controller": {"absent": True}})
    assert (["a1", "b1"], None) == made(3)
    with pytest.raises(ValueError, match="no phase 4 of the zonal upgrade"):
        phase(4)


@pytest.mark.checklist("29", "34")
def test_up_and_down_and_up_again():
    """Every phase places the pod in its volume's zone, before conversion and after, upgraded and downgraded.

    Once volumes are converted, a scheduler that is taken back further must ignore affinity altogether (its gate off).
    """
    nodes = [node(f"{zone}1", labels={BETA_ZONE: f"us-central1-{zone}", BETA_REGION: "us-central1"}) for zone in "ab"]
    found = [*nodes, storage_class(provisioner=LOCAL), labelled(bound="data"), claim("data", bound="disk")]
    for number, converted in ((0, None), (1, None), (2, MEANT), (1, MEANT), (0, MEANT), (2, MEANT), (3, MEANT)):
        c = cluster(*found, revision=phase(number))
        c.run(seconds=60)
        found = [c.manifests()]
        assert converted == affinity(c), number
        c.apply(pod("app", "data"))
        c.run("pod/app Running", seconds=60)
        assert (["a1"], ["a1"]) == (fits(c, "app"), where(c, "app")), number
    renamed = cluster(*found, revision=phase(0).with_gates({SCHEDULER: {SCHEDULING: False}}))
    renamed.apply(node("a2", labels={BETA_ZONE: "us-central1-a"}), pod("app", "data"))
    renamed.run("pod/app scheduled", seconds=60)
    assert ["a1"] == fits(renamed, "app")


@pytest.mark.checklist("29", "34")
def test_a_downgrade_after_conversion_needs_the_gate_off_too():
    """Back in phase 0 a converted volume is still judged by its affinity, until VolumeScheduling is off as well."""
    there = node("a1", labels={BETA_ZONE: "us-central1-a", BETA_REGION: "us-central1"})
    c = cluster(there, storage_class(provisioner=LOCAL), labelled(bound="data"), claim("data", bound="disk"),
                revision=phase(2))
    c.run(seconds=60)
    assert MEANT == affinity(c)
    reached = {}
    for on in (True, False):
        back = cluster(c.manifests(), revision=phase(0).with_gates({SCHEDULER: {SCHEDULING: on}}))
        relabelled = {ZONE: "us-central1-a", "topology.kubernetes.io/region": "us-central1"}  # the affinity names others
        back.apply(node("a2", labels=relabelled), pod("app", "data"))
        back.run("pod/app scheduled", seconds=60)
        reached[on] = fits(back, "app")
    assert {True: ["a1"], False: ["a1", "a2"]} == reached


@pytest.mark.checklist("1")
def test_racks_within_zones():
    """A domain within a larger one: a volume of the rack is reached from its nodes, which all lie in the rack's zone."""
    made = [node(f"{zone}{rack}{n}", zone, labels={RACK: f"{zone}-{rack}"}) for zone in "ab" for rack in "xy" for n in "12"]
    c = cluster(*made, storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {RACK: ["a-x"]}), claim("data"),
                pod("app", "data"))
    c.run("pod/app scheduled")
    assert ["ax1", "ax2"] == fits_at_first(c)
    assert ["a"] == zones(c, "app")
