"""Plugins of ports, disks, limits, zones, capacity and images: each column equals its rule, in Kubernetes' words."""

from collections import Counter
from contextlib import suppress

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from matrices import check, matrix
from objects import claim, csi_node, node, pod, storage_class, volume

from kvolsched.api.text.manifest import from_plain
from kvolsched.make import SELECTED_NODE
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.exclusive_use import ANY_ADDRESS, host_ports
from kvolsched.scheduler.columns.hypothetical_snapshot import HypotheticalSnapshot
from kvolsched.scheduler.columns.images import full_name, images_of
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.extension_points import ColumnContext, EnabledPlugin
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.framework.verdict import OK, Code
from kvolsched.scheduler.plugins.node_ports import NodePorts
from kvolsched.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding
from kvolsched.scheduler.plugins.volume_binding.releases import largest_first
from kvolsched.scheduler.plugins.volume_binding.scoring import CapacityShape, ShapePoint, SizeMatch
from kvolsched.scheduler.plugins.volume_restrictions import VolumeRestrictions
from kvolsched.scheduler.plugins.volume_zone import VolumeZone
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key
from scheduler.volume_strategies import changes, disks

PLUGINS = [NodePorts(), VolumeRestrictions(), NodeVolumeLimits(), VolumeBinding(), VolumeZone()]
# One profile a plugin, so that none hides behind the rejection of another; and all together.
ALONE = [Profile(plugin.name, (EnabledPlugin(plugin),)) for plugin in PLUGINS]
ALONE.append(Profile("falling", (EnabledPlugin(VolumeBinding(claim_order=largest_first)),)))
ALONE.append(Profile("scored", (EnabledPlugin(VolumeBinding(scoring=CapacityShape())),)))
PROFILES = [*ALONE, upstream_profile()]
SENTENCES = [
    (NodePorts(), "node(s) didn't have free ports for the requested pod ports"),
    (VolumeRestrictions(), "node(s) had no available disk"),
    (
        VolumeRestrictions(),
        (
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by"
            " another pod"
        ),
    ),
    (NodeVolumeLimits(), "node(s) exceed max volume count"),
    (VolumeBinding(), "node(s) didn't find available persistent volumes to bind"),
    (VolumeBinding(), "node(s) did not have enough free storage"),
    (VolumeZone(), "node(s) had no available volume zone"),
]


@settings(max_examples=300)
@given(disks())
@pytest.mark.checklist("100")
def test_column_equals_rule(world):
    """For every random cluster, each plugin's column says of each node what its rule says."""
    objects, wanted = world
    seen = snapshot(objects)
    for profile in PROFILES:
        judgement = judge(wanted, seen, profile)
        check(judgement)
        for plugin in judgement.skipped:
            for each in seen.all_nodes():
                assert profile.plugin(plugin).rule(wanted, each, seen) is OK


RISING = CapacityShape((ShapePoint(0, 1), ShapePoint(60, 9), ShapePoint(70, 2)))
SCORINGS = [SizeMatch(), CapacityShape(), RISING]


@st.composite
def rooms(draw):
    """Give nodes with disks and with published room, and a pod whose claims want either."""
    def one_of(*choices):
        return draw(st.sampled_from(choices))

    def some(make, most):
        return [make(number) for number in range(draw(st.integers(0, most)))]

    def asked(number):
        selected = {SELECTED_NODE: "n1"} if one_of(*[False] * 5, True) else {}
        return claim(f"c{number}", one_of("1Gi", "2Gi", "2Gi", "-1Gi"), one_of("fast", "slow"), annotations=selected)

    def published(number):
        most = {"maximumVolumeSize": one_of("1Gi", "9Gi")} if one_of(False, False, True) else {}
        return room(f"r{number}", one_of("1Gi", "3Gi", "7Gi"), one_of("a", "b"), storageClassName=one_of("fast", "slow"), **most)

    objects = [node(name, labels={"zone": zone}) for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))]
    objects += [storage_class("fast", "one.csi"), storage_class("slow", one_of("one.csi", "two.csi")), DRIVER]
    objects += some(lambda number: volume(f"v{number}", one_of("1Gi", "2Gi", "5Gi"), one_of("fast", "slow"), {"zone": [one_of("a", "b")]}), 3)
    objects += [*some(published, 5), *(claims := [asked(0), *some(lambda number: asked(number + 1), 2)])]
    return objects, pod(volumes=[{"name": each.metadata.name, "persistentVolumeClaim": {"claimName": each.metadata.name}} for each in claims])


@settings(max_examples=200)
@given(rooms() | disks(), st.sampled_from(SCORINGS), st.booleans())
@pytest.mark.checklist("111", "112", "113")
def test_the_score_of_all_nodes_is_that_of_each_decision(world, scoring, falling):
    """For every formula, the column of scores has for each node that fits the score of what is decided for it alone."""
    objects, wanted = world
    seen = snapshot(objects)
    order = {"claim_order": largest_first} if falling else {}
    plugin = VolumeBinding(scoring=scoring, **order)
    ranking = rank(judge(wanted, seen, Profile("scored", (EnabledPlugin(plugin),))))
    found = {name: plugin.decide(wanted, name, seen) for name in ranking.nodes}
    if plugin.name in ranking.raw:
        assert {name: each.score for name, each in found.items()} == ranking.total()
    else:
        assert not any(each.static or each.provision for each in found.values())


@pytest.mark.parametrize("made", ["static", "provision", "both"])
def test_random_clusters_meet_every_way_of_scoring(made):
    """Some random cluster scores two nodes differently by volumes that exist, by room, or one by each."""
    plugin = VolumeBinding(scoring=RISING)

    def says(world):
        seen = snapshot(world[0])
        ranking = rank(judge(world[1], seen, Profile("scored", (EnabledPlugin(plugin),))))
        found = [plugin.decide(world[1], name, seen) for name in ranking.nodes]
        ways = {"static": [each.score for each in found if each.static],
                "provision": [each.score for each in found if each.score and not each.static]}  # fmt: skip
        return len(set(ways[made])) > 1 if made in ways else all(ways.values())

    find(rooms(), says, settings=settings(max_examples=1000, database=None, phases=[Phase.generate]))


def test_a_freed_row_does_not_answer_for_a_node():
    """Nodes with the inputs of a removed node's row are judged by themselves."""
    local = storage_class("local", "kubernetes.io/no-provisioner", allowed=[{"zone": ["elsewhere"]}])
    claims = claim("one", storage_class="local"), claim("many", storage_class="local", accessModes=["ReadOnlyMany"])
    first = node("a")
    seen = snapshot([first, node("b"), local, *claims])
    seen.apply(key_of(first), first, None)
    judgement = judge(pod("app", "one", "many"), seen, upstream_profile())
    check(judgement)
    assert not judgement.any_feasible


def test_random_clusters_meet_every_reason():
    """Some random cluster gives each reason to one node and not to another."""
    missing = dict.fromkeys(SENTENCES)

    def says_the_last(world):
        seen = snapshot(world[0])
        for plugin, sentence in list(missing):
            judgement = judge(world[1], seen, Profile("alone", (EnabledPlugin(plugin),)))
            given_to = [sentence in judgement.verdict(name, plugin.name)[0] for name in judgement.nodes]
            if any(given_to) and ("PersistentVolumeClaim" in sentence or not all(given_to)):
                del missing[plugin, sentence]
        return not missing

    with suppress(NoSuchExample):
        find(disks(), says_the_last, settings=settings(max_examples=4000, database=None, phases=[Phase.generate]))
    assert [] == list(missing)


def _said(seen, wanted):
    """Return the verdicts of every plugin, and every score."""
    every = [judge(wanted, seen, profile) for profile in PROFILES]
    totals = [rank(judgement).total() for judgement in every]
    return [(matrix(judgement), judgement.rejected_by) for judgement in every], totals


@settings(max_examples=60)
@given(changes(), st.booleans())
def test_moved_equals_built(world, asked):
    """A snapshot that followed changes, forth and back, equals one built of the result, read before or not."""
    objects, wanted, moves = world
    present = {Key(item.kind, item.metadata.namespace, item.metadata.name): item for item in objects}
    moved, trail = snapshot(objects), []
    before = _said(moved, wanted) if asked else None
    for key, new in moves:
        old = present.pop(key, None)
        if old is None and new is None:
            continue
        moved.apply(key, old, new)
        trail.append((key, old, new))
        if new is not None:
            present[key] = new
        built = snapshot(present.values())
        assert moved == built
        assert _said(moved, wanted) == _said(built, wanted)
    for key, old, new in reversed(trail):
        moved.apply(key, new, old)
    assert moved == snapshot(objects)
    if asked:
        assert _said(moved, wanted) == before


@settings(max_examples=40)
@given(disks(), st.data())
def test_a_dry_run_leaves_no_trace(world, data):
    """Pods removed in a dry run are missing in its verdicts, and the snapshot itself is unchanged."""
    objects, wanted = world
    seen = snapshot(objects)
    _said(seen, wanted)
    on = [other for each in seen.all_nodes() for other in seen.pods_on(each.metadata.name)]
    gone = data.draw(st.lists(st.sampled_from(on), unique=True) if on else st.just([]))
    before = _said(seen, wanted)
    trial = HypotheticalSnapshot(seen)
    for other in gone:
        trial.remove(other)
    without = snapshot([item for item in objects if item not in gone])
    ports = Counter((other.spec.node_name, port) for other in on for port in {*host_ports(other.spec)})
    apart = {"VolumeRestrictions", "NodePorts" if any(number > 1 for number in ports.values()) else ""}
    for profile in ALONE:
        if profile.name not in apart:  # a claim of a single pod, and a port that two pods hold, are counted otherwise
            assert matrix(judge(wanted, trial, profile)) == matrix(judge(wanted, without, profile))
    assert seen == snapshot(objects)
    assert _said(seen, wanted) == before


@settings(max_examples=40)
@given(disks())
def test_image_locality_is_its_formula(world):
    """Σ size · nodes having it / all nodes, 23 MiB to 1,000 MiB a container, of 100; an image has its first node's size."""
    objects, wanted = world
    seen = snapshot(objects)
    ranking = rank(judge(wanted, seen, upstream_profile()))
    containers = (*wanted.spec.containers, *wanted.spec.init_containers)
    every = [images_of(each) for each in sorted(seen.all_nodes(), key=lambda each: each.metadata.name)]
    sizes = {image: size for each in reversed(every) for image, size in each.items()}
    for name in ranking.nodes:
        here = images_of(seen.node(name))
        total = sum(
            int(sizes[image] * (sum(image in there for there in every) / len(every)))
            for image in map(full_name, (one.image for one in containers))
            if image in here
        )
        least, most = 23 * 2**20, 1000 * 2**20 * len(containers)
        expected = 100 * (min(max(total, least), most) - least) // (most - least)
        assert expected == ranking.scores_of(name)["ImageLocality"][1]


# --- Kubernetes' words, case by case --------------------------------------------------------------------------------


def judged(wanted, *objects):
    """Judge a pod in a cluster."""
    return judge(wanted, snapshot(objects), upstream_profile())


def with_volumes(name="p", on="", **sources):
    """Make a pod with these volume sources."""
    return pod(name, node_name=on, volumes=[{"name": source.lower(), source: value} for source, value in sources.items()])


def with_port(name="p", on="", **port):
    """Make a pod with a host port."""
    ports = [{"containerPort": 80, "hostPort": 80, **port}]
    return pod(name, node_name=on, containers=[{"name": "c", "image": "i", "ports": ports}])


@pytest.mark.parametrize(
    ("asked", "held", "fits"),
    [
        ({}, {}, False),
        ({"protocol": "UDP"}, {}, True),
        ({"hostPort": 81}, {}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.1"}, False),
        ({"hostIP": ANY_ADDRESS}, {"hostIP": "10.0.0.1"}, False),
    ],
)
def test_host_ports(asked, held, fits):
    """Ports conflict if protocol and number are equal, and so are the addresses or one of them means all."""
    judgement = judged(with_port(**asked), node("a"), node("b"), with_port("holder", "a", **held))

    assert (("a", "b") if fits else ("b",)) == judgement.feasible
    if not fits:
        said = ("node(s) didn't have free ports for the requested pod ports",)
        assert (said, Code.UNSCHEDULABLE) == judgement.verdict("a", "NodePorts")
        assert "is taken by" in str(judgement.cell("a", "NodePorts").evidence[0])


def test_a_host_port_is_removed_by_protocol_and_address():
    """The edit takes the port that conflicts from the pod, not another one of the same number; an unknown one nothing."""
    ports = [{"containerPort": 80, "hostPort": 80, "protocol": "UDP"}, {"containerPort": 80, "hostPort": 80},
             {"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}]
    asked = judged(pod("app", containers=[{"name": "c", "image": "i", "ports": ports}]), node("a")).pod
    (edit,) = NodePorts.card.edits(asked, "80/TCP", [])
    assert "Remove host port 80/TCP" == edit.words
    assert [80, 0, 80] == [port.host_port for port in edit.new.spec.containers[0].ports]
    assert [] == [*NodePorts.card.edits(asked, "81/TCP", [])]


@pytest.mark.parametrize(
    ("asked", "held", "fits"),
    [
        ({"pdName": "d"}, {"pdName": "d"}, False),
        ({"pdName": "d", "readOnly": True}, {"pdName": "d"}, False),
        ({"pdName": "d", "readOnly": True}, {"pdName": "d", "readOnly": True}, True),
        ({"pdName": "d"}, {"pdName": "e"}, True),
    ],
)
def test_a_gce_disk_is_shared_only_by_readers(asked, held, fits):
    """Two pods share a GCE disk on a node only if both only read it."""
    judgement = judged(
        with_volumes(gcePersistentDisk=asked), node("a"), with_volumes("h", "a", gcePersistentDisk=held)
    )

    assert fits == (judgement.verdict("a", "VolumeRestrictions")[1] is Code.SUCCESS)
    assert (() if fits else ("node(s) had no available disk",)) == judgement.verdict("a", "VolumeRestrictions")[0]


def test_an_ebs_volume_is_never_shared():
    """Two pods cannot share an EBS volume even if both only read it."""
    source = {"volumeID": "vol-1", "readOnly": True}
    judgement = judged(
        with_volumes(awsElasticBlockStore=source), node("a"), with_volumes("h", "a", awsElasticBlockStore=source)
    )

    assert ("node(s) had no available disk",) == judgement.verdict("a", "VolumeRestrictions")[0]


def single(name="c"):
    """Make a bound claim for a single pod, with its volume."""
    modes = ["ReadWriteOncePod"]
    return volume("v", "5Gi", driver="one.csi", accessModes=modes), claim(name, "5Gi", bound="v", accessModes=modes)


def uses(name="p", on="", claim_name="c"):
    """Make a pod that uses a claim."""
    return with_volumes(name, on, persistentVolumeClaim={"claimName": claim_name})


def test_a_single_pod_claim_serves_one_pod_in_the_whole_cluster():
    """Its user excludes every node for other pods; if a dry run removes that user, every node fits."""
    holder = uses("holder", "a")
    seen = snapshot([node("a"), node("b"), *single(), holder])
    judgement = judge(uses(), seen, upstream_profile())

    assert () == judgement.feasible
    assert "2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod" in judgement.sentence()
    trial = HypotheticalSnapshot(seen)
    trial.remove(holder)
    assert ("a", "b") == judge(uses(), trial, upstream_profile()).feasible


def test_two_users_of_a_single_pod_claim_count_as_one_conflict():
    """A claim in use counts once and each removed user subtracts one, so the second is overlooked (as in v1.36.2)."""
    first, second = uses("first", "a"), uses("second", "b")
    trial = HypotheticalSnapshot(snapshot([node("a"), node("b"), *single(), first, second]))
    trial.remove(first)

    assert ("a", "b") == judge(uses(), trial, upstream_profile()).feasible


def test_a_volume_to_be_provisioned_counts_towards_the_limit():
    """A waiting claim counts for its class's provisioner, but only once on a node where another pod uses it."""
    objects = [node("a"), node("b"), csi_node("a", 0, "one.csi"), csi_node("b", 1, "one.csi")]
    objects += [storage_class("fast", "one.csi"), claim("c", storage_class="fast")]
    judgement = judged(uses(), *objects)

    assert ("b",) == judgement.feasible
    assert (("node(s) exceed max volume count",), Code.UNSCHEDULABLE) == judgement.verdict("a", "NodeVolumeLimits")
    assert ("b",) == judged(uses(), *objects, uses("e", "b")).feasible
    assert "0 volumes of one.csi attached + 1 new > limit 0" == str(judgement.cell("a", "NodeVolumeLimits").evidence[0])


def test_an_in_tree_disk_counts_for_the_driver_it_was_migrated_to():
    """An inline EBS disk counts for ebs.csi.aws.com, in either spelling of its volume ID."""
    disk = with_volumes("p", awsElasticBlockStore={"volumeID": "aws://us-east-1a/vol-2"})
    other = with_volumes("e", "a", awsElasticBlockStore={"volumeID": "vol-1"})
    judgement = judged(disk, node("a"), csi_node("a", 1, "ebs.csi.aws.com"), other)

    assert ("node(s) exceed max volume count",) == judgement.verdict("a", "NodeVolumeLimits")[0]


@pytest.mark.parametrize("told", [{}, {"attachable-volumes-gce-pd": "2"}, {"attachable-volumes-gce-pd": "0"}])
def test_the_column_of_in_tree_limits_is_their_rule(told):
    """A CSINode's limit counts before what a node tells, be it nothing, and that before the default."""
    def disks(name, first, number, on=""):
        return pod(name, node_name=on, volumes=[{"name": f"d{n}", "gcePersistentDisk": {"pdName": f"disk-{n}"}}
                                                for n in range(first, first + number)])  # fmt: skip

    first = attrs.evolve(node("a"), status=attrs.evolve(node("a").status, allocatable=node("a").status.allocatable.merged(told)))
    nodes = [first, node("b"), node("c"), csi_node("c", 1, "pd.csi.storage.gke.io"), node("d")]
    seen = snapshot([*nodes, disks("e", 0, 1, "a"), disks("f", 20, 16, "b"), disks("g", 40, 1, "c"), disks("h", 60, 15, "d")])
    judgement = judge(disks("p", 100, 1), seen, design_profile())
    check(judgement)
    column = design_profile().plugin("NodeVolumeLimits").column(disks("p", 100, 1), ColumnContext(seen))
    assert len(nodes) - 1 == len(column)  # no rule is asked node by node

    assert (("d",) if told.get("attachable-volumes-gce-pd") == "0" else ("a", "d")) == judgement.feasible


def labelled(label, zone):
    """Make a bound claim whose volume names its zone in a label."""
    return single()[1], volume("v", "5Gi", labels={label: zone}, accessModes=["ReadWriteOncePod"])


@pytest.mark.parametrize(
    ("label", "zone", "fits"),
    [
        ("topology.kubernetes.io/zone", "a", ("bare", "za")),
        ("topology.kubernetes.io/zone", "a__b", ("bare", "za", "zb")),
        ("failure-domain.beta.kubernetes.io/zone", "b", ("bare", "zb")),
        ("topology.kubernetes.io/zone", "a__", ("bare", "za", "zb")),
        ("topology.kubernetes.io/region", "r", ("bare",)),
    ],
)
def test_a_zone_in_a_volumes_labels(label, zone, fits):
    """`a__b` means either, the beta label is compared with the GA label, a node without such labels fits always."""
    nodes = [node(f"z{name}", labels={"topology.kubernetes.io/zone": name}) for name in "ab"]
    judgement = judged(uses(), node("bare"), *nodes, *labelled(label, zone))

    assert fits == judgement.feasible
    if "za" not in fits:
        said = (("node(s) had no available volume zone",), Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        assert said == judgement.verdict("za", "VolumeZone")


def test_a_claim_bound_to_a_missing_volume_rejects_the_pod():
    """VolumeZone rejects the pod in PreFilter."""
    _, bound = single()
    judgement = judged(uses(), node("a"), bound)

    assert "VolumeZone" == judgement.rejected_by.plugin
    assert '0/1 nodes are available: persistentvolume "v" not found. not found' == judgement.sentence()


DRIVER = from_plain({
    "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "one.csi"}, "spec": {"storageCapacity": True},
})


def room(name, size, zone, **more):
    """Make a CSIStorageCapacity of the class `fast`."""
    return from_plain(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": name, "namespace": "kube-system"},
            "storageClassName": "fast",
            "capacity": size,
            **({} if zone is None else {"nodeTopology": {"matchLabels": {"zone": zone}}}),
            **more,
        }
    )


def test_capacity_is_checked_where_the_driver_publishes_it():
    """Each claim by itself must fit into one object that reaches the node; one without topology reaches no node."""
    objects = [node(name, labels={"zone": name}) for name in "abc"]
    objects += [storage_class("fast", "one.csi"), room("ra", "10Gi", "a"), room("rb", "4Gi", "b"), room("r", "9Ti", None)]
    objects += [claim("c", "6Gi", "fast"), claim("d", "6Gi", "fast"), room("rc", "9Ti", "c", maximumVolumeSize="5Gi")]
    both = pod(volumes=[{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in "cd"])
    judgement = judged(both, *objects, DRIVER)

    assert ("a",) == judgement.feasible
    said = (("node(s) did not have enough free storage",), Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    assert said == judgement.verdict("b", "VolumeBinding") == judgement.verdict("c", "VolumeBinding")
    assert "claim c asks 6Gi > 4Gi, the largest volume published for class fast" == str(judgement.cell("b", "VolumeBinding").evidence[0])
    assert ("a", "b", "c") == judged(both, *objects).feasible


def test_an_emptied_snapshot_equals_a_new_one():
    """A snapshot keeps nothing of objects that were deleted."""
    objects = [node("a"), csi_node("a", 1, "one.csi"), *single(), uses("e", "a"), room("r", "1Gi", "a")]
    seen = snapshot(objects)
    _said(seen, uses())
    for item in objects:
        seen.apply(Key(item.kind, item.metadata.namespace, item.metadata.name), item, None)

    assert Snapshot() == seen
