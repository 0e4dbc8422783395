"""Provisioners: where a volume may lie, when it fails, and who takes the selected node away."""

from functools import partial

import attrs
import objects
import pytest
from controllers.harness import Harness
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import ZONE
from objects import node, read, storage_class

import kvolsched
from kvolsched.api import examples
from kvolsched.api.kinds.csi import CSINode, CSINodeDriver, CSINodeSpec
from kvolsched.api.kinds.meta import ObjectMeta, evolve_parts
from kvolsched.controllers import persistent_volume, provisioner
from kvolsched.controllers.provisioner import Failure, NoTopology, choose_topology
from kvolsched.controllers.provisioner.topology import DriverTopology, NodeTopologies
from kvolsched.world.apiserver import key_of
from kvolsched.world.view import InformerCache, build

EBS, LOCAL = "ebs.example.com", "local.example.com"
ebs, claim = partial(storage_class, "ebs", EBS), partial(objects.claim, storage_class="ebs")
NODES = [node("node-a", "zone-a"), node("node-b", "zone-b"), node("node-c", "zone-c")]
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def world(options=None, *, name=EBS, binder=persistent_volume.UPSTREAM, permit=None):
    """A world with the PV controller and one driver."""
    components = persistent_volume.component(binder), provisioner.component(name, options or provisioner.UPSTREAM)
    return Harness(*components, permit=permit).create(*NODES)


def reach(volume):
    """Return key -> values of a volume's only affinity term."""
    term, = volume.spec.node_affinity.required.node_selector_terms
    return {part.key: part.values for part in term.match_expressions}


def run_with(chosen, cls, options=None, *, selected="node-b", **more):
    """Provision one claim and return the world."""
    return world(options, **more).create(cls, claim(storage_class=cls.metadata.name, selected_node=selected)).run(60)


CSI_NODES = st.builds(
    lambda name, drivers: CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=tuple(
        CSINodeDriver(name=driver, topology_keys=keys) for driver, keys in drivers))),
    st.sampled_from("nml"),
    st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from([(), ("zone",), ("zone", "rack")])), max_size=3),
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.tuples(CSI_NODES, st.booleans()), max_size=8))
def test_what_drivers_registered_is_known_at_once(changes):
    """The view of the nodes' topologies follows CSINodes, and says of drivers what a walk over them says."""
    view, seen = NodeTopologies(), InformerCache(["Node", "CSINode"])
    for new, stays in changes:
        key, after = key_of(new), new if stays else None
        old = seen.get("CSINode", new.metadata.name)
        view.apply(key, old, after)
        seen.apply(key, old, after)
        assert view == build(NodeTopologies(), dict(seen.kinds["CSINode"]))
        for driver in ("a", "b"):
            registered = [found for each in seen.all("CSINode") if (found := each.driver(driver)) is not None]
            keys = next((each.topology_keys for each in registered if each.topology_keys), ())
            topology = DriverTopology(driver, seen, ("host",), counts=view)
            assert topology.any_keys() == (keys if registered else ("host",))
            assert topology.assumes == (not registered)
            assert topology.without_topology == (bool(registered) and not keys)


@pytest.mark.checklist("48", "49", "95", "97")
def test_a_zonal_driver_takes_the_zone_of_the_selected_node_and_a_local_one_the_node():
    """The domain depends on the driver's topology key; it is read off the Node."""
    made, = run_with(EBS, ebs()).all("PersistentVolume")
    assert reach(made) == {ZONE: ("zone-b",)}
    options = provisioner.ProvisionerOptions(topology_keys=("kubernetes.io/hostname",))
    made, = run_with(LOCAL, storage_class("local", provisioner=LOCAL), options, name=LOCAL).all("PersistentVolume")
    assert reach(made) == {"kubernetes.io/hostname": ("node-b",)}


@pytest.mark.parametrize("waits", [True, False])
def test_a_driver_that_registers_no_topology_reaches_every_node(waits):
    """Where the driver runs on nodes and names no label key on any, as network storage does, volumes have no affinity."""
    registered = [objects.csi_node(one.metadata.name, 25, EBS) for one in NODES]
    made, = world().create(*registered, ebs(waits=waits), claim(selected_node="node-b" if waits else "")).run(60).all("PersistentVolume")
    assert made.spec.node_affinity is None


def test_a_driver_that_registers_keys_on_one_node_has_topology():
    """One node with keys is enough: a selected node without keys is then no place for its volumes."""
    registered = [objects.csi_node("node-a", 25, EBS, topology_keys=[ZONE]), objects.csi_node("node-b", 25, EBS)]
    ran = world().create(*registered, ebs(), claim(selected_node="node-b")).run(60)
    assert ran.all("PersistentVolume") == []
    assert any("no topology key found for node node-b" in event.message for event in ran.all("Event"))


def test_a_volume_is_made_bound_to_its_claim_and_never_available():
    """The order of writes: annotations, volume with claimRef, its phase Bound, claim, claim status."""
    made = run_with(EBS, ebs())
    volume, = made.all("PersistentVolume")
    name = f"pvc-{made['pvc/data'].metadata.uid}"
    assert volume.metadata.name == name
    assert volume.spec.claim_ref.uid == made["pvc/data"].metadata.uid
    binder = persistent_volume.NAME
    assert made.writes() == [
        (binder, "update", "pvc/data"),
        (EBS, "create", f"pv/{name}"),
        (binder, "update_status", f"pv/{name}"),
        (binder, "update", "pvc/data"),
        (binder, "update_status", "pvc/data"),
    ]
    assert dict(made.events("data")) == {
        "ExternalProvisioning": f"Waiting for a volume to be created either by the external provisioner '{EBS}' or manually by "
        "the system administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered.",
        "Provisioning": 'External provisioner is provisioning volume for claim "default/data"',
        "ProvisioningSucceeded": f"Successfully provisioned volume {name}",
    }


@pytest.mark.checklist("60", "96")
def test_a_single_domain_driver_ignores_the_list_when_a_node_is_given():
    """The same place with allowedTopologies and without."""
    with_list = ebs(allowed=[{ZONE: ["zone-a", "zone-b"]}])
    assert choose_topology("data", with_list, NODES[1], NODES, [ZONE]) == choose_topology("data", ebs(), NODES[1], NODES, [ZONE])


@pytest.mark.checklist("57", "98")
def test_an_immediate_volume_lies_within_the_class_list():
    """Without a node the class's list decides, replicas of a StatefulSet taking one domain after the other."""
    cls = ebs(waits=False, allowed=[{ZONE: ["zone-a", "zone-b"]}])
    found = [choose_topology(f"data-web-{n}", cls, None, NODES, [ZONE])[0][ZONE] for n in range(4)]
    assert sorted(set(found)) == [("zone-a",), ("zone-b",)]
    assert found[:2] == found[2:]


def test_an_immediate_volume_of_a_class_with_a_list_can_land_where_the_pod_cannot_run():
    """Both zones of the list are taken by some claim, whatever any pod needs."""
    cls = ebs(waits=False, allowed=[{ZONE: ["zone-a", "zone-b"]}])
    made = world().create(cls, *(claim(f"data-web-{n}") for n in range(2))).run(60)
    assert {reach(volume)[ZONE] for volume in made.all("PersistentVolume")} == {("zone-a",), ("zone-b",)}


def shipped(name):
    """Return the class of a shipped example."""
    return next(obj for obj in examples.example(name).objects if obj.kind == "StorageClass")


def zoned(name, zone, region="", **more):
    """Return a node with the zone labels of the documents' time."""
    made = node(name)
    labels = {OLD_ZONE: zone, "kubernetes.io/hostname": name} | more
    if region:
        labels["failure-domain.beta.kubernetes.io/region"] = region
    return evolve_parts(made, metadata={"labels": type(made.metadata.labels)(labels)})


GCE = [zoned(f"n-{z}", f"us-central1-{z}", "us-central1") for z in "abc"]


@pytest.mark.checklist("65")
@pytest.mark.parametrize("selected", GCE, ids=lambda n: n.metadata.name)
def test_a_regional_disk_takes_two_of_three_zones_with_that_of_the_node(selected):
    """`multi-zonal-class`: the node's zone and another of the list."""
    term, = choose_topology("data", shipped("multi-zonal-class"), selected, GCE, [ZONE])
    (key, zones), = term.items()
    assert len(zones) == 2
    assert selected.metadata.labels[key] in zones


@pytest.mark.checklist("66")
def test_a_regional_disk_in_one_zone_fails():
    """Fewer than two zones: provisioning fails with words, and so it does with two zones of different regions."""
    one = ebs(parameters={"replication-type": "regional-pd"}, allowed=[{OLD_ZONE: ["us-central1-a"]}])
    far = ebs(parameters={"replication-type": "regional-pd"}, allowed=[{OLD_ZONE: ["us-central1-a", "europe-west1-b"]}])
    nodes = [*GCE, zoned("n-eu", "europe-west1-b", "europe-west1")]
    for cls in (one, far):
        with pytest.raises(NoTopology, match="Need at least 2 distinct zones"):
            choose_topology("data", cls, GCE[0], nodes, [ZONE])
    made = world(name="pd").create(attrs.evolve(one, provisioner="pd"), GCE[0], claim(selected_node="n-a")).run(30)
    assert any("Need at least 2 distinct zones" in words for reason, words in made.events("data") if reason == "ProvisioningFailed")


@pytest.mark.checklist("67")
def test_a_fancy_class_names_exactly_three_topologies():
    """`something-fancy`: (a, rack1), (b, rack1), (b, rack2), and not (a, rack2)."""
    found = {tuple(sorted(one.items())) for one in provisioner.allowed_segments(shipped("something-fancy"))}
    values = {tuple(value for _, value in one) for one in found}
    assert len(values) == 3
    assert not any("rack2" in value and any(part.endswith("a") for part in value) for value in values)


@pytest.mark.checklist("62")
def test_legacy_zone_parameters_work_and_contradictions_are_survived():
    """`zone` and `zones` choose; with a node or with allowedTopologies the driver refuses in words."""
    one, two = ebs(waits=False, parameters={"zone": "zone-c"}), ebs(waits=False, parameters={"zones": "zone-a, zone-b"})
    assert choose_topology("data", one, None, NODES, [ZONE]) == ({ZONE: ("zone-c",)},)
    assert {choose_topology(f"data-{n}", two, None, NODES, [ZONE])[0][ZONE] for n in range(2)} == {("zone-a",), ("zone-b",)}
    with pytest.raises(NoTopology, match="VolumeBindingMode is set to WaitForFirstConsumer"):
        choose_topology("data", one, NODES[0], NODES, [ZONE])
    both = ebs(waits=False, parameters={"zone": "zone-c"}, allowed=[{ZONE: ["zone-a"]}])
    with pytest.raises(NoTopology, match="if allowedTopologies specified"):
        choose_topology("data", both, None, NODES, [ZONE])
    made = world().create(both, claim()).run(30)
    assert "ProvisioningFailed" in dict(made.events("data"))


@pytest.mark.checklist("91")
def test_the_driver_itself_gives_the_node_back_when_capacity_runs_out():
    """ResourceExhausted: the selected node goes, the provisioner annotations stay, and nothing is remembered."""
    made = run_with(EBS, ebs(), provisioner.ProvisionerOptions(fails=(Failure(),)))
    annotations = made["pvc/data"].metadata.annotations
    assert "volume.kubernetes.io/selected-node" not in annotations
    assert annotations["volume.kubernetes.io/storage-provisioner"] == EBS
    words = 'failed to provision volume with StorageClass "ebs": rpc error: code = ResourceExhausted desc = not enough capacity in zone-b'
    assert ("ProvisioningFailed", words) in made.events("data")
    assert (EBS, "update", "pvc/data") in made.writes()
    assert made.all("PersistentVolume") == []


def test_only_exhausted_resources_are_told_as_a_lack_of_capacity():
    """A failure with another code and no words of its own says that the volume cannot be created."""
    made = run_with(EBS, ebs(), provisioner.ProvisionerOptions(fails=(Failure(code="Internal"),)))
    assert any("code = Internal desc = cannot create a volume in zone-b" in words for _, words in made.events("data"))


@pytest.mark.parametrize("options", [
    provisioner.ProvisionerOptions(fails=(Failure(times=2, code="Internal", desc="oops"),)),
    provisioner.ProvisionerOptions(fails=(Failure(times=2),), on_failure="retry"),
], ids=["other code", "dial"])
def test_other_failures_are_retried_on_the_same_node(options):
    """Nothing is written; the third attempt makes the volume where it was asked for, after 1 and 2 seconds."""
    made = run_with(EBS, ebs(), options)
    volume, = made.all("PersistentVolume")
    assert reach(volume) == {ZONE: ("zone-b",)}
    assert made.sim.now == pytest.approx(3 * options.delay + 1 + 2)
    assert not [w for w in made.writes() if w[:2] == (EBS, "update")]


def test_a_selected_node_that_is_gone_is_given_back():
    """Nothing is begun: the annotation goes at once, in the driver's words, so that the scheduler chooses again."""
    made = run_with(EBS, ebs(), selected="node-gone")
    assert "volume.kubernetes.io/selected-node" not in made["pvc/data"].metadata.annotations
    assert ("ProvisioningFailed", 'node "node-gone" not found') in made.events("data")
    assert "Provisioning" not in dict(made.events("data"))
    assert made.all("PersistentVolume") == []


@pytest.mark.parametrize("revision", ["upstream", "design"])
def test_a_node_deleted_after_it_was_selected_is_replaced(revision):
    """The scheduler selects another one, where claim and pod end."""
    cluster = kvolsched.scenario("zonal-example", revision=revision)
    for _ in range(3):
        cluster.step()
    cluster.delete("node/node-a")
    cluster.run()
    assert (cluster["pvc/my-pvc"].status.phase, cluster["pod/my-pod"].spec.node_name) == ("Bound", "node-b")


@pytest.mark.checklist("99")
@pytest.mark.parametrize("kind", ["Node", "StorageClass"])
def test_a_driver_that_may_not_read_says_so(kind):
    """Without `get` on Node or StorageClass: a clear provisioning error, and nothing is made."""
    made = run_with(EBS, ebs(), permit=lambda _by, verb, what: (verb, what) != ("get", kind))
    words = [words for reason, words in made.events("data") if reason == "ProvisioningFailed"]
    assert f'User "system:{EBS}" cannot get resource' in words[0]
    assert "is forbidden" in words[0]
    assert made.all("PersistentVolume") == []


def test_delete_follows_release_and_what_was_begun_is_brought_to_its_end():
    """Delete: Released, then gone. A claim deleted while its volume is being made leaves a volume that goes too."""
    made = run_with(EBS, ebs())
    made.delete("pvc/data").run(60)
    assert made.all("PersistentVolume") == []
    made = world(provisioner.ProvisionerOptions(delay=3.0)).create(ebs(), claim(selected_node="node-a")).run(1)
    made.delete("pvc/data").run(60)
    assert made.all("PersistentVolume") == []
    assert [w[1] for w in made.writes() if w[0] == EBS] == ["create", "delete", "update"]


def test_under_design_an_in_tree_name_plays_kubernetes_own_plugin():
    """`kubernetes.io/gce-pd`: no annotation hands the claim over, the words are the controller's, failures give the node back."""
    name = "kubernetes.io/gce-pd"
    cls = storage_class("standard", provisioner=name)
    made = run_with(EBS, cls, provisioner.DESIGN, name=name, binder=persistent_volume.DESIGN)
    volume, = made.all("PersistentVolume")
    assert volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] == name
    assert ("ProvisioningSucceeded", f"Successfully provisioned volume {volume.metadata.name} using {name}") in made.events("data")
    assert made["pvc/data"].status.phase == "Bound"
    options = attrs.evolve(provisioner.DESIGN, fails=(Failure(code="Internal", desc="quota"),))
    made = run_with(EBS, cls, options, name=name, binder=persistent_volume.DESIGN)
    assert "volume.kubernetes.io/selected-node" not in made["pvc/data"].metadata.annotations


def test_under_upstream_an_in_tree_name_stands_for_its_csi_driver():
    """The claim is handed to `pd.csi.storage.gke.io`, and a component of the old name answers for it."""
    name = "kubernetes.io/gce-pd"
    made = run_with(EBS, storage_class("standard", provisioner=name), name=name)
    volume, = made.all("PersistentVolume")
    assert volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] == "pd.csi.storage.gke.io"
    assert made["pvc/data"].status.phase == "Bound"


def test_a_chance_of_failure_is_drawn_by_seed():
    """The same seed gives the same run; over many claims the share is about what was asked."""
    options = provisioner.ProvisionerOptions(fail_chance=50, delay=0)
    claims = [claim(f"data-{n}", selected_node="node-a") for n in range(60)]
    runs = [world(options).create(ebs(), *claims).run(5) for _ in range(2)]
    made = [[volume.metadata.name for volume in run.all("PersistentVolume")] for run in runs]
    assert made[0] == made[1]
    assert 15 < len(made[0]) < 45


def test_objects_of_this_file_are_manifests():
    """The helpers write what the converter reads."""
    assert read("apiVersion: v1\nkind: Node\nmetadata: {name: x}")[0].metadata.name == "x"


# -- what the driver is asked for -------------------------------------------------------------------------------------


def relabelled(world, name, zone):
    """Let the user move a node to another zone."""
    def change(old):
        labels = old.metadata.labels.merged({ZONE: zone})
        return evolve_parts(old, metadata={"labels": labels})

    return world.change(f"node/{name}", change)


@pytest.mark.parametrize(("code", "zone"), [("DeadlineExceeded", "zone-b"), ("InvalidArgument", "zone-c")])
def test_an_attempt_that_may_still_be_running_is_repeated_with_the_same_words(code, zone):
    """The first answer leaves it open: what was read then counts, though the node has moved; a final one is forgotten."""
    made = world(provisioner.ProvisionerOptions(fails=(Failure(code=code),))).create(ebs(), claim(selected_node="node-b")).run(0.2)
    assert made.all("PersistentVolume") == []
    volume, = relabelled(made, "node-b", "zone-c").run(60).all("PersistentVolume")
    assert reach(volume) == {ZONE: (zone,)}


@pytest.mark.parametrize(("strict", "said"), [
    (False, f'topology [{{{ZONE} zone-b}}] from selected node "node-b" is not in requisite: [[{{{ZONE} zone-a}}]]'),
    (True, f"selected node '\"node-b\"' topology '[{{{ZONE} zone-b}}]' is not in allowed topologies: [[{{{ZONE} zone-a}}]]"),
])  # fmt: skip
def test_a_node_outside_the_list_is_refused_in_the_provisioners_words(strict, said):
    """The list was changed after the node was selected: the claim is told, and tried again later."""
    cls = ebs(allowed=[{ZONE: ["zone-a"]}])
    made = world(provisioner.ProvisionerOptions(strict_topology=strict)).create(cls, claim(selected_node="node-b")).run(3)
    words = {said for reason, said in made.events("data") if reason == "ProvisioningFailed"}
    assert made.all("PersistentVolume") == []
    assert words == {f'failed to provision volume with StorageClass "ebs": error generating accessibility requirements: {said}'}


def test_csinodes_say_which_labels_count():
    """Where some CSINode names the driver, a node whose CSINode does not is no place for its volumes."""
    racks, = read("""
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: node-a}
spec: {drivers: [{name: ebs.example.com, nodeID: node-a, topologyKeys: [example.com/rack]}]}
""")
    made = world().create(racks, ebs(), claim(selected_node="node-b")).run(3)
    words = {said for reason, said in made.events("data") if reason == "ProvisioningFailed"}
    missing = 'failed to get selected CSINode node-b: csinode.storage.k8s.io "node-b" not found'
    assert words == {f'failed to provision volume with StorageClass "ebs": error generating accessibility requirements: {missing}'}
