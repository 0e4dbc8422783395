"""StorageCapacityScoring of v1.36.2: how nodes are ranked by the size of volumes and by published room."""

import pytest
from documents.clusters import cluster, scores, where
from hypothesis import strategies as st
from manifests import HOST, claim, node, pod, storage_class, volume

from kvolsched import differ, scenario, upstream
from kvolsched.rules.named import revision_named

GATE = {"kube-scheduler": {"StorageCapacityScoring": True}}
EMPTIEST = upstream().with_gates(GATE)
LOCAL = "kubernetes.io/no-provisioner"
DRIVER = "disks.example.com"
KUBELET = {"kubelet": {"absent": True}}


def points(*pairs):
    """A shape as VolumeBindingArgs has it."""
    return [{"utilization": at, "score": score} for at, score in pairs]


FULLEST = EMPTIEST.with_volume_binding_args(shape=points((0, 0), (100, 10)))
BENT = EMPTIEST.with_volume_binding_args(shape=points((50, 0), (80, 3), (100, 5)))


def disk(name, size, of_class, on):
    """A disk of one node."""
    return volume(name, size, of_class, {HOST: [on]})


def driver(tracking=True):  # noqa: FBT002
    """A driver that publishes its room, or not."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
            "spec": {"storageCapacity": tracking, "attachRequired": False}}


def room(name, on, capacity=None, of_class="fast", **more):
    """Published room for a class on one node."""
    published = {} if capacity is None else {"capacity": capacity}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": of_class,
            "metadata": {"name": name, "namespace": "default"}, "nodeTopology": {"matchLabels": {HOST: on}},
            **published, **more}


def scored(*objects, revision=EMPTIEST, claims):
    """The scores of volumes for the pod `app` with these claims, in its first pass: {node: score}."""
    c = cluster(*objects, pod("app", *claims), revision=revision, **KUBELET)
    c.step("kube-scheduler")
    found = scores(c, "app", "VolumeBinding")
    assert all(raw == normalised == weighted for raw, normalised, weighted in found.values())
    return {name: int(raw) for name, (raw, _, _) in found.items()}


def existing(*sizes, revision):
    """The scores of nodes n1, n2, … with disks of these sizes by class, for a claim of each class: [score]."""
    classes = sorted({name for of_node in sizes for name in of_node})
    objects = [storage_class(name, DRIVER) for name in classes]
    for number, of_node in enumerate(sizes, 1):
        objects.append(node(f"n{number}"))
        objects += [disk(f"v{number}-{name}", size, name, f"n{number}") for name, (_, size) in of_node.items()]
    wanted = {name: asked for of_node in sizes for name, (asked, _) in of_node.items()}
    objects += [claim(f"c-{name}", asked, name) for name, asked in wanted.items()]
    found = scored(*objects, revision=revision, claims=[f"c-{name}" for name in wanted])
    return [found[f"n{number}"] for number in range(1, len(sizes) + 1)]


# -- volumes that exist ------------------------------------------------------------------------------------------------


def test_the_closest_volume_is_disfavoured_by_default():
    """A claim of 50Gi and disks of 200Gi, 100Gi and none: 75, 50, 0 points by default, 25, 50, 0 by the old shape."""
    sizes = {"a": ("50Gi", "200Gi")}, {"a": ("50Gi", "100Gi")}, {}
    assert [75, 50, 0] == existing(*sizes, revision=EMPTIEST)
    assert [25, 50, 0] == existing(*sizes, revision=FULLEST)


@pytest.mark.parametrize(("percent", "expected"), [((0, 30, 50, 100), [0, 30, 50, 100])])
def test_points_follow_utilisation(percent, expected):
    """With the shape from 0 to 10, the points are the utilisation in percent."""
    found = []
    for each in percent:
        asked, size = (f"{each}Gi", "100Gi") if each else ("1Mi", "100Gi")
        found += existing({"a": (asked, size)}, {}, revision=FULLEST)[:1]
    assert expected == found


@pytest.mark.parametrize(("revision", "both", "expected"), [
    (FULLEST, ("30Gi", "60Gi"), 45), (FULLEST, ("1Mi", "30Gi"), 15), (FULLEST, ("50Gi", "100Gi"), 75),
    (BENT, ("30Gi", "60Gi"), 5), (BENT, ("90Gi", "90Gi"), 40), (BENT, ("50Gi", "100Gi"), 25),
    (FULLEST, ("30Gi", "31Gi"), 31), (BENT, ("1Mi", "51Gi"), 1), (BENT, ("1Mi", "50Gi"), 0),
])
def test_classes_are_averaged(revision, both, expected):
    """The score of a node is the mean of its classes' points, half rounded up, each by the shape."""
    first, second = both
    assert [expected, 0] == existing({"a": (first, "100Gi"), "b": (second, "100Gi")}, {}, revision=revision)


def test_a_class_counts_its_volumes_together():
    """Requests and capacities of one class are summed: 10Gi of 100Gi and 90Gi of 100Gi are half, two classes 10 and 90."""
    nodes = node("n1"), node("n2"), storage_class("fast", DRIVER), storage_class("slow", DRIVER)
    asked = claim("small", "10Gi", "fast"), claim("large", "90Gi", "fast")
    disks = disk("v1", "20Gi", "fast", "n1"), disk("v2", "180Gi", "fast", "n1")
    assert {"n1": 50, "n2": 0} == scored(*nodes, *asked, *disks, revision=FULLEST, claims=["small", "large"])
    third = claim("other", "1Gi", "slow"), disk("v3", "1Gi", "slow", "n1")
    found = scored(*nodes, *asked, *disks, *third, revision=FULLEST, claims=["small", "large", "other"])
    assert {"n1": 75, "n2": 0} == found


def test_divisions_truncate():
    """Utilisation is rounded down, and a falling shape loses less than a whole point nowhere: 7 of 60 are 12 of 100."""
    falling = EMPTIEST.with_volume_binding_args(shape=points((0, 10), (60, 0)))
    assert [89, 0] == existing({"a": ("7Gi", "100Gi")}, {}, revision=falling)  # 100 - 11, though 100·7/60 is 11.67
    assert [33, 0] == existing({"a": ("1Gi", "3Gi")}, {}, revision=FULLEST)


def test_outside_of_the_shape_its_ends_count():
    """Below the first point and above the last one, the nearest point's score holds."""
    narrow = EMPTIEST.with_volume_binding_args(shape=points((40, 2), (60, 8)))
    ends = [existing({"a": (asked, "100Gi")}, {}, revision=narrow)[0] for asked in ("1Gi", "40Gi", "50Gi", "60Gi", "99Gi")]
    assert [20, 20, 50, 80, 80] == ends


def test_sizes_beyond_exact_floats():
    """A request equal to a volume of 2^53 + 1 bytes uses all of it, one byte less does not."""
    size = 2**53 + 1
    assert [100, 0] == existing({"a": (str(size), str(size))}, {}, revision=FULLEST)
    assert [99, 0] == existing({"a": (str(size - 1), str(size))}, {}, revision=FULLEST)


# -- volumes to be made ------------------------------------------------------------------------------------------------

MADE = [node("n1"), node("n2"), node("n3"), storage_class("fast", DRIVER), claim("data", "30Gi", "fast")]


def test_published_room_ranks_nodes():
    """A claim to be provisioned is compared with the room on each node: the emptiest first, by the other shape last."""
    rooms = driver(), room("r1", "n1", "60Gi"), room("r2", "n2", "120Gi"), room("r3", "n3", "30Gi")
    assert {"n1": 50, "n2": 75, "n3": 0} == scored(*MADE, *rooms, claims=["data"])
    assert {"n1": 50, "n2": 25, "n3": 100} == scored(*MADE, *rooms, revision=FULLEST, claims=["data"])


def test_several_claims_share_the_room():
    """Requests of a class are added up, its room is not: two claims of 30Gi want all of 60Gi, and half of 120Gi."""
    rooms = driver(), room("r1", "n1", "60Gi"), room("r2", "n2", "120Gi"), room("r3", "n3", "59Gi")
    both = [*MADE, claim("more", "30Gi", "fast")]
    assert {"n1": 0, "n2": 50, "n3": 0} == scored(*both, *rooms, claims=["data", "more"])
    assert {"n1": 100, "n2": 50, "n3": 100} == scored(*both, *rooms, revision=FULLEST, claims=["data", "more"])


def test_without_published_room_nothing_is_scored():
    """A driver that does not publish its room gives no class, and so no points."""
    assert {"n1": 0, "n2": 0, "n3": 0} == scored(*MADE, driver(tracking=False), room("r1", "n1", "60Gi"), claims=["data"])
    assert {"n1": 0, "n2": 0, "n3": 0} == scored(*MADE, claims=["data"])


def test_a_driver_without_room_does_not_lower_another():
    """Only classes with published room are averaged."""
    more = storage_class("plain", "other.example.com"), claim("log", "1Gi", "plain")
    rooms = driver(), room("r1", "n1", "60Gi"), room("r2", "n2", "120Gi"), room("r3", "n3", "30Gi")
    assert {"n1": 50, "n2": 75, "n3": 0} == scored(*MADE, *more, *rooms, claims=["data", "log"])


def test_any_volume_that_exists_hides_the_claims_to_be_made():
    """On a node with a static binding only static bindings count; elsewhere only those to be provisioned."""
    more = claim("old", "10Gi", "fast"), disk("v", "20Gi", "fast", "n1")
    rooms = driver(), *(room(f"r{number}", f"n{number}", "120Gi") for number in (1, 2, 3))
    found = scored(*MADE, *more, *rooms, revision=FULLEST, claims=["data", "old"])
    assert {"n1": 50, "n2": 33, "n3": 33} == found


def test_the_first_object_that_is_large_enough_counts():
    """Of several objects for a node the first by name with room for the claim counts, by its free capacity."""
    rooms = driver(), room("a", "n1", "20Gi"), room("b", "n1", "40Gi"), room("c", "n1", "300Gi"), room("d", "n2", "60Gi")
    largest = room("e", "n3", "120Gi", maximumVolumeSize="30Gi")
    assert {"n1": 75, "n2": 50, "n3": 25} == scored(*MADE, *rooms, largest, revision=FULLEST, claims=["data"])


def test_the_largest_claim_names_the_room():
    """The room of a class is that of its last claim by rising size: here the object that has room for 30Gi."""
    both = [*MADE, claim("small", "10Gi", "fast")]
    rooms = driver(), room("a", "n1", "20Gi"), room("b", "n1", "120Gi"), room("c", "n2", "80Gi")
    assert {"n1": 33, "n2": 50} == scored(*both, *rooms, revision=FULLEST, claims=["data", "small"])


def test_a_request_whose_hundredfold_is_no_64_bit_number():
    """90Pi are 90 of 100Pi, and 75 of 120Pi."""
    objects = node("n1"), node("n2"), storage_class("fast", DRIVER), claim("data", "90Pi", "fast"), driver()
    found = scored(*objects, room("a", "n1", "100Pi"), room("b", "n2", "120Pi"), revision=FULLEST, claims=["data"])
    assert {"n1": 90, "n2": 75} == found


def test_without_a_free_capacity_no_room_is_left():
    """An object with a maximumVolumeSize alone admits the claim and counts as full."""
    rooms = driver(), room("a", "n1", maximumVolumeSize="40Gi"), room("b", "n2", "60Gi")
    assert {"n1": 100, "n2": 50} == scored(*MADE, *rooms, revision=FULLEST, claims=["data"])


def test_scores_follow_what_is_published():
    """Room that changes in a running cluster changes the next pod's scores."""
    c = cluster(*MADE, driver(), room("r1", "n1", "60Gi"), room("r2", "n2", "120Gi"), claim("next", "30Gi", "fast"),
                revision=EMPTIEST, **KUBELET, **{DRIVER: {"absent": True}})
    c.apply(pod("app", "data"))
    c.step("kube-scheduler")
    assert {"n1": 50, "n2": 75} == {name: raw for name, (raw, _, _) in scores(c, "app", "VolumeBinding").items()}
    c.patch("csistoragecapacity/r1", {"capacity": "300Gi"})
    c.delete("csistoragecapacity/r2")
    c.apply(room("r3", "n3", "40Gi"))
    c.apply(pod("later", "next"))
    c.run(lambda now: now.passes("later"))
    assert {"n1": 90, "n3": 25} == {name: raw for name, (raw, _, _) in scores(c, "later", "VolumeBinding").items()}


def test_two_volumes_find_the_node_with_room_for_both():
    """With room for one claim here and for both there, the gate decides what otherwise a tie decides."""
    def stuck(rules):
        c = scenario("two-volumes-one-pool", rules)
        c.set_pool("lvm.example.com", "node-1", capacity="120Gi")
        return c.sample(20).stuck

    assert 0 == stuck(EMPTIEST)
    assert 5 < stuck("upstream") < 15


# -- gate, weight and shape --------------------------------------------------------------------------------------------


def test_the_gate_is_off():
    """Without its gate VolumeBinding has no score, whatever its weight."""
    two = node("n1"), node("n2"), disk("v", "20Gi", "late", "n1"), storage_class("late", DRIVER), claim("c", "10Gi")
    for rules in ("upstream", upstream().with_weights({"VolumeBinding": 10}), upstream().with_gates(GATE).with_gates(
        {"kube-scheduler": {"StorageCapacityScoring": False}})):
        assert {} == scored(*two, revision=rules, claims=["c"])
    assert upstream() == EMPTIEST.with_gates({"kube-scheduler": {"StorageCapacityScoring": False}})


def test_every_index_gives_the_same_scores():
    """However volumes are searched, the points are those of what is found."""
    disks = [disk("v1", "20Gi", "fast", "n1"), disk("v2", "40Gi", "fast", "n2")]
    rooms = driver(), *(room(f"r{number}", f"n{number}", "120Gi") for number in (1, 2, 3))
    objects = [*MADE, claim("old", "10Gi", "fast"), *disks, *rooms]
    found = [scored(*objects, revision=EMPTIEST.with_volume_index(index), claims=["data", "old"])
             for index in ("columns", "none", "class", "node", "class and node")]
    assert [{"n1": 50, "n2": 75, "n3": 67}] * 5 == found


def test_weight_and_formula():
    """The gate brings the weight 1, which can be set; `design` prefers the closest volume, v1.36.2 the emptiest."""
    objects = [node("n1"), node("n2"), storage_class("fast", LOCAL), claim("data", "10Gi", "fast"),
               disk("near", "20Gi", "fast", "n1"), disk("far", "100Gi", "fast", "n2"), pod("app", "data")]
    found = []
    for rules in (EMPTIEST.with_weights({"VolumeBinding": 3}), "design"):
        c = cluster(*objects, revision=rules, **KUBELET)
        c.step("kube-scheduler")
        first = scores(c, "app", "VolumeBinding")
        c.run("pod/app scheduled")
        found.append((first, where(c, "app")))
    assert found == [({"n1": (50, 50, 150), "n2": (90, 90, 270)}, ["n2"]), ({"n1": (50, 50, 50), "n2": (10, 10, 10)}, ["n1"])]


def test_only_todays_rules_have_the_gate():
    """The design documents rank by their own formula, and know no such gate."""
    for rules in ("design", "draft"):
        with pytest.raises(ValueError, match="no gate StorageCapacityScoring of kube-scheduler"):
            revision_named(rules).with_gates(GATE)


def test_the_gate_is_turned_on_in_a_running_cluster():
    """An upgrade of kube-scheduler turns the gate on; going back turns it off."""
    c = cluster(node("n1"), node("n2"), disk("v", "20Gi", "late", "n1"), storage_class("late", DRIVER), claim("c", "10Gi"),
                pod("app", "c"), **KUBELET, revision="upstream")
    c.upgrade({"StorageCapacityScoring": True}, "kube-scheduler")
    c.step("kube-scheduler")
    assert {"n1": (50, 50, 50), "n2": (0, 0, 0)} == scores(c, "app", "VolumeBinding")
    c.goto(0)
    c.step("kube-scheduler")
    assert {} == scores(c, "app", "VolumeBinding")


def test_rules_are_found_by_their_names():
    """Gate and shape stand in the name of rules, and a name with them is those rules, in either order."""
    name = "upstream (kube-scheduler: StorageCapacityScoring=true; shape: 0=0, 100=10)"
    assert (name, FULLEST) == (FULLEST.name, revision_named(name))
    assert FULLEST == revision_named("upstream (shape: 0=0, 100=10; kube-scheduler: StorageCapacityScoring=true)")
    assert EMPTIEST == FULLEST.with_volume_binding_args(shape=None)
    assert FULLEST != EMPTIEST.with_volume_binding_args(shape=points((0, 10), (100, 0)))


RANGE = "not in valid range [0, "


@pytest.mark.parametrize(("shape", "words"), [
    ([], "shape: Required value: at least one point must be specified"),
    (points((3, 3), (1, 1)), "shape[1].utilization: Invalid value: 1: values must be sorted in increasing order"),
    (points((3, 3), (3, 4)), "shape[1].utilization: Invalid value: 3: values must be sorted in increasing order"),
    (points((-1, 1), (10, -1), (20, 11), (101, 1)),
     f"[shape[0].utilization: Invalid value: -1: {RANGE}100], shape[1].score: Invalid value: -1: {RANGE}10], "  # noqa: ISC004
     f"shape[2].score: Invalid value: 11: {RANGE}10], shape[3].utilization: Invalid value: 101: {RANGE}100]]"),
    ([{"utilisation": 0}], 'strict decoding error: unknown field "shape[0].utilisation"'),
    ([{"score": "ten"}], "shape[0].score: Invalid value: 'ten': must be a whole number"),
    ([{"score": True}], "shape[0].score: Invalid value: True: must be a whole number"),
    (["0=1"], "shape[0]: Invalid value: '0=1': must be a mapping of utilization and score"),
])
def test_a_wrong_shape_is_refused(shape, words):
    """The error has the field's path, the value and the rule, all at once."""
    with pytest.raises(ValueError) as refused:
        EMPTIEST.with_volume_binding_args(shape=shape)
    assert words == str(refused.value)


def test_a_shape_without_its_gate_is_refused():
    """A shape while the gate is off is an error, as is taking away the gate of a shape."""
    words = ('shape: Invalid value: [{"Utilization":0,"Score":10}]: unexpected field `shape`, remove it or turn on the '
             "feature gate StorageCapacityScoring")
    one = EMPTIEST.with_volume_binding_args(shape=points((0, 10)))
    for act in (lambda: upstream().with_volume_binding_args(shape=points((0, 10))),
                lambda: one.with_gates({"kube-scheduler": {"StorageCapacityScoring": False}}),
                lambda: revision_named("upstream (shape: 0=10)")):
        with pytest.raises(ValueError) as refused:
            act()
        assert words == str(refused.value)
    with pytest.raises(ValueError, match=r"shape\[1\].utilization: Invalid value: 0: values must be sorted"):
        revision_named("upstream (kube-scheduler: StorageCapacityScoring=true; shape: 0=0, 0=10)")


# -- where it shows ----------------------------------------------------------------------------------------------------


def test_scores_are_shown():
    """The picture of scores and a prediction's reason have the plugin's points."""
    rooms = driver(), room("r1", "n1", "60Gi"), room("r2", "n2", "120Gi"), room("r3", "n3", "30Gi")
    c = cluster(*MADE, *rooms, pod("app", "data"), revision=EMPTIEST, **KUBELET)
    c.step("kube-scheduler")
    shown = repr(c.scores("app"))
    assert "VolumeBinding 75 → 75 × 1 = 75" in shown
    assert "VolumeBinding 50 → 50 × 1 = 50" in shown
    assert "n2 is chosen" in repr(c.fits("app"))
    told = "claim data would be provisioned for n2\n  class fast: 30Gi of 120Gi count 75 of 100 points"
    assert told in repr(c.verdicts("app", "n2", "VolumeBinding"))


def test_the_rules_that_the_scheduler_runs_tell_what_counts():
    """After an upgrade of kube-scheduler a verdict tells by its new rules what would be bound, and what that counts."""
    c = cluster(node("n1"), node("n2"), disk("v", "20Gi", "late", "n1"), storage_class("late", DRIVER), claim("c", "10Gi"),
                pod("app", "c"), **KUBELET, revision="upstream")
    c.upgrade({"StorageCapacityScoring": True}, "kube-scheduler")
    c.step("kube-scheduler")
    told = "claim c would take volume v\n  class late: 10Gi of 20Gi count 50 of 100 points"
    assert told in repr(c.verdicts("app", "n1", "VolumeBinding"))


@pytest.mark.long
def test_the_smallest_cluster_that_tells_on_from_off():
    """`differ` finds a node with less cpu, which is chosen with the gate alone, for it has room that is published."""
    cpu, size = st.sampled_from(["4", "8"]), st.sampled_from(["60Gi", "600Gi"])
    drawn = st.tuples(cpu, cpu, size, size).map(lambda each: [
        node("n1", cpu=each[0]), node("n2", cpu=each[1]), storage_class("fast", DRIVER), driver(), claim("data", "30Gi", "fast"),
        room("r1", "n1", each[2]), room("r2", "n2", each[3]), pod("app", "data", cpu="1")])
    found = differ("upstream", EMPTIEST.name, clusters=drawn, of="nodes", examples=40, progress=False)
    assert found
    assert (found.plugins, found.rules[0].revision, found.rules[1].revision) == ((), upstream(), EMPTIEST)
    assert "the same nodes fit" in found.sentence
    assert ["CSIDriver", "CSIStorageCapacity", "CSIStorageCapacity", "Node", "Node", "PersistentVolumeClaim", "Pod",
            "StorageClass"] == sorted(each["kind"] for each in found.case.objects)
