"""Topology-aware volumes (S0, S1): goals, what is no goal, and the failures that delayed binding was made for."""

import random

import pytest
from documents.clusters import cluster, events, fits, message, reach, where, zones
from hypothesis import given
from hypothesis import strategies as st
from manifests import HOST, RACK, ZONE, apart, claim, node, pod, required, storage_class, together, volume

from kvolsched import Cluster, example

both = pytest.mark.parametrize("revision", ["design", "upstream"])
CONFLICT = {"design": "node(s) had volume node affinity conflict",
            "upstream": "node(s) didn't match PersistentVolume's node affinity"}
LOCAL = "kubernetes.io/no-provisioner"


def stateful(name, replicas, claims, *, parallel=True, **spec):
    """A StatefulSet whose replicas have a claim of each of these (name, size, class)."""
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}},
                     "podManagementPolicy": "Parallel" if parallel else "OrderedReady",
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10",
                                                           "resources": {"requests": {"cpu": "1"}}}], **spec}},
                     "volumeClaimTemplates": [
                         {"metadata": {"name": each}, "spec": {
                             "storageClassName": of, "accessModes": ["ReadWriteOnce"],
                             "resources": {"requests": {"storage": size}}}} for each, size, of in claims]}}


# -- goals -------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("2", "16", "130")
def test_topology_of_disks_that_exist_and_of_disks_to_come(revision):
    """A bound disk, a free one and one to be made: the pod goes where its affinity, or its class, allows."""
    made = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
    bound = cluster(*made, storage_class(), volume("disk", "10Gi", "late", {ZONE: ["c"]}, bound="data"),
                    claim("data", bound="disk"), pod("app", "data"), revision=revision)
    free = cluster(*made, storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["b"]}),
                   claim("data"), pod("app", "data"), revision=revision)
    later = cluster(*made, storage_class(allowed=[{ZONE: ["a"]}]), claim("data"), pod("app", "data"), revision=revision)
    for c in (bound, free, later):
        c.run("pod/app Running")
    assert [["c1"], ["b1"], ["a1"]] == [where(c, "app") for c in (bound, free, later)]
    assert [{ZONE: ["a"]}] == reach(later, "data")
    assert ["c1"] == fits(bound, "app")


@both
@pytest.mark.checklist("16")
def test_affinity_of_a_bound_disk_counted_before_and_only_the_first_choice_is_new(revision):
    """The pod must be in zone a, the smallest disk is in b: bound at once it is taken and honoured; delayed it is not taken."""
    made = [node("a1", "a"), node("b1", "b"), volume("in-a", "20Gi", "late", zone="a"), volume("in-b", "10Gi", "late", zone="b"),
            claim("data"), pod("app", "data", nodeSelector={ZONE: "a"})]
    before, now = (cluster(*made, storage_class(provisioner=LOCAL, waits=waits), revision=revision) for waits in (False, True))
    for c in (before, now):
        c.run(seconds=60)
    assert [("in-b", [""]), ("in-a", ["a1"])] == [(c["pvc/data"].spec.volume_name, where(c, "app")) for c in (before, now)]
    assert f"1 {CONFLICT[revision]}" in message(before, "app")


KEYS = ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "example.com/rack", "foo", "bar.io/x"]


def keyed(key, spots, disks, allowed, revision, seed):
    """Nodes at spots of a key, disks at others, a class with a list, and two pods; where everything ends."""
    made = [node(f"n{n}", labels={key: spot}) for n, spot in enumerate(spots)]
    made += [volume(f"d{n}", f"{10 + n}Gi", "late", {key: [spot]}) for n, spot in enumerate(disks)]
    made += [storage_class(allowed=[{key: sorted(allowed)}] if allowed else None)]
    for n in range(2):
        made += [claim(f"data-{n}"), pod(f"app-{n}", f"data-{n}")]
    c = cluster(*made, revision=revision, seed=seed, **{"disks.example.com": {"topology_keys": [key]}})
    c.run(seconds=120)
    found = [(each.metadata.name, each.spec.volume_name) for each in c.objects("pvc")]
    volumes = [c.manifests(f"pv/{each.metadata.name}").replace(key, "KEY") for each in c.objects("pv")]
    return where(c, "app-0", "app-1"), found, volumes


SPOTS = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)


@given(SPOTS, st.lists(st.sampled_from("xyz"), max_size=2), st.sets(st.sampled_from("xyz")), st.sampled_from(KEYS),
       st.sampled_from(["design", "upstream"]), st.integers(0, 3))
@pytest.mark.checklist("3")
def test_no_key_is_special(spots, disks, allowed, other, revision, seed):
    """A label key renamed on nodes, volumes and classes alike leaves every decision as it was."""
    first = keyed("failure-domain.example.com/spot", spots, disks, allowed, revision, seed)
    for renamed in (other, "zz" + other.replace("/", "-")):
        assert first == keyed(renamed, spots, disks, allowed, revision, seed)


@both
@pytest.mark.checklist("6")
def test_an_administrator_restricts_a_class(revision):
    """The same claim of a restricted class is provisioned in its zones alone, though the pod would fit anywhere."""
    made = [node(f"{zone}1", zone) for zone in "abc"]
    ends = set()
    for seed in range(6):
        c = cluster(*made, storage_class(allowed=[{ZONE: ["b", "c"]}]), claim("data"), pod("app", "data"),
                    revision=revision, seed=seed)
        c.run("pod/app Running")
        assert ["b1", "c1"] == fits_of_first(c)
        ends |= set(zones(c, "app"))
    assert ends <= {"b", "c"}


def fits_of_first(c):
    """The nodes that fitted in a pod's first pass."""
    first = c.passes("app")[0]
    back = c.fork()
    back.goto(first.step)
    return fits(back, "app")


# -- no goals ----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("7")
def test_a_bound_pod_is_not_fitted_again(revision):
    """Its disk is on node a, which is full: the pod waits although b is empty."""
    c = cluster(node("a1", cpu="1"), node("b1"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {HOST: ["a1"]}, bound="data"), claim("data", bound="disk"),
                pod("full", running_on="a1", cpu="900m"), pod("app", "data", cpu="500m"), revision=revision)
    c.run(seconds=900)
    assert [""] == where(c, "app")
    assert f"1 Insufficient cpu, 1 {CONFLICT[revision]}" in message(c, "app")


PRIORITIES = [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
              for name, value in (("high", 1000), ("low", 1))]


@pytest.mark.checklist("7")
def test_the_advice_is_a_higher_priority():
    """The same pod with a higher priority evicts whoever fills the only node that reaches its disk."""
    full = pod("full", running_on="a1", cpu="900m", priority=1, priorityClassName="low")
    c = cluster(*PRIORITIES, node("a1", cpu="1"), node("b1"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {HOST: ["a1"]}, bound="data"), claim("data", bound="disk"), full,
                revision="upstream")
    c.apply(pod("app", "data", cpu="500m", priorityClassName="high"))
    c.run("pod/app Running")
    assert (["a1"], False) == (where(c, "app"), "pod/full" in c)


@both
@pytest.mark.checklist("8")
def test_two_pods_that_share_a_claim(revision):
    """The first pod fixes zone a, the second needs b: stuck. Merged, or placed together by an operator, they run."""
    made = [node("a1", "a", cpu="8"), node("b1", "b", cpu="2"), storage_class(), claim("data")]
    wants_b = {"nodeSelector": {ZONE: "b"}}
    c = cluster(*made, pod("full", running_on="b1", cpu="1900m"), revision=revision)
    c.apply(pod("one", "data", cpu="1"))
    c.run("pod/one Running")
    c.delete("pod/full")
    c.apply(pod("two", "data", **wants_b))
    c.run(seconds=900)
    assert ["a1", ""] == where(c, "one", "two")
    assert CONFLICT[revision] in message(c, "two")
    merged = cluster(*made, revision=revision)
    merged.apply(pod("both", "data", cpu="1100m", **wants_b))
    merged.run("pod/both Running")
    operator = cluster(*made, revision=revision)
    operator.apply(*(pod(name, "data", cpu="500m", **wants_b) for name in ("one", "two")))
    operator.run(seconds=60)
    assert ["b1", "b1", "b1"] == [*where(merged, "both"), *where(operator, "one", "two")]


@pytest.mark.checklist("8")
def test_pods_that_share_a_claim_one_after_the_other_by_priority():
    """Two pods share a claim whose node has room for one: the second waits, unless its priority is higher; then it takes over."""
    c = cluster(*PRIORITIES, node("a1", cpu="1"), node("b1"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {HOST: ["a1"]}), claim("data"), revision="upstream")
    c.apply(pod("day", "data", cpu="800m", priorityClassName="low"))
    c.run("pod/day Running")
    c.apply(pod("equal", "data", cpu="800m", priorityClassName="low"))
    c.run(seconds=60)
    assert ["a1", ""] == where(c, "day", "equal")
    c.apply(pod("night", "data", cpu="800m", priorityClassName="high"))
    c.run("pod/night Running", seconds=120)
    assert (["a1"], False) == (where(c, "night"), "pod/day" in c)


@pytest.mark.parametrize(("advice", "expected"), [("none", ""), ("autoscaler", "b"), ("room to spare", "b")])
@pytest.mark.checklist("9")
def test_the_advice_is_an_autoscaler_or_room_to_spare(advice, expected):
    """Zone a loses its power: in the failover zone b there is room only if somebody saw to it."""
    groups = {"cluster-autoscaler": {"groups": [{"name": "in-b", "template": node("in-b", "b")}]}}
    c = cluster(node("a1", "a"), node("b1", "b", cpu="4" if advice == "room to spare" else "1"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {ZONE: ["a", "b"]}), claim("data"), pod("full", running_on="b1", cpu="800m"),
                revision="upstream", **(groups if advice == "autoscaler" else {}))
    c.apply(pod("app", "data", cpu="500m", nodeSelector={HOST: "a1"}))
    c.run("pod/app Running")
    c.stop_nodes(f"{ZONE}=a")
    c.run(seconds=400)
    c.apply(pod("again", "data", cpu="500m"))
    c.run("pod/again Running", seconds=300)
    assert [expected] == zones(c, "again")


@both
@pytest.mark.checklist("9")
def test_a_volume_in_two_zones_does_not_make_room_there(revision):
    """A regional volume in a and b: a fails, b is full, the pod waits; a node more in b (an autoscaler) takes it."""
    c = cluster(node("a1", "a"), node("b1", "b", cpu="1"), node("c1", "c"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {ZONE: ["a", "b"]}), claim("data"), pod("full", running_on="b1", cpu="800m"),
                pod("app", "data", cpu="500m"), revision=revision)
    c.run("pod/app Running")
    assert ["a1"] == where(c, "app")
    c.cordon("a1")
    c.delete("pod/app")
    c.run()
    c.apply(pod("again", "data", cpu="500m"))
    c.run(seconds=900)
    assert [""] == where(c, "again")
    assert {"1 Insufficient cpu", "1 node(s) were unschedulable", f"1 {CONFLICT[revision]}"} <= set(
        message(c, "again").partition(": ")[2].partition(".")[0].split(", "))
    c.apply(node("b2", "b"))
    c.run(seconds=900)
    assert ["b2"] == where(c, "again")


@both
@pytest.mark.checklist("10")
def test_topology_that_no_node_has_reaches_no_node(revision):
    """A volume reachable by a key that no node carries is reached from nowhere."""
    c = cluster(node("a1", "a"), node("b1", "b"), storage_class(provisioner=LOCAL),
                volume("disk", "10Gi", "late", {"san.example.com/fabric": ["f1"]}, bound="data"),
                claim("data", bound="disk"), pod("app", "data"), revision=revision)
    c.run(seconds=60)
    assert [] == fits(c, "app")
    assert message(c, "app").startswith(f"0/2 nodes are available: 2 {CONFLICT[revision]}.")


# -- the failures that delayed binding was made for --------------------------------------------------------------------


@both
@pytest.mark.checklist("11")
def test_baseline_1_a_zone_chosen_by_name(revision):
    """Volumes made at once go to zones by their names; the replica whose zone is full never runs. Delayed, all run."""
    def run(*, waits):
        c = cluster(node("a1", "a"), node("b1", "b", cpu="500m"), storage_class(waits=waits),
                    stateful("db", 2, [("data", "10Gi", "late")]), revision=revision)
        c.run(seconds=900)
        return c

    early, late = run(waits=False), run(waits=True)
    assert ["a", "b"] == sorted(reach(early, f"data-db-{n}")[0][ZONE][0] for n in range(2))
    assert ["", "a1"] == sorted(where(early, "db-0", "db-1"))
    stuck = "db-0" if not where(early, "db-0")[0] else "db-1"
    assert f"1 Insufficient cpu, 1 {CONFLICT[revision]}" in message(early, stuck)
    assert ["a1", "a1"] == where(late, "db-0", "db-1")


@pytest.mark.checklist("12")
def test_baseline_2_the_smaller_the_domain_the_likelier_the_failure():
    """Nodes are full at random: a volume tied to one node strands its pod oftener than one tied to a zone of four."""
    def stranded(kind, utilisation):
        count, draw = 0, random.Random(7)
        for run in range(25):
            full = [draw.random() < utilisation for _ in range(8)]
            made = [node(f"{'ab'[n // 4]}{n}", "ab"[n // 4], cpu="100m" if full[n] else "4") for n in range(8)]
            c = cluster(*made, storage_class(waits=False), claim(f"data-x{run}"), pod("app", f"data-x{run}", cpu="1"),
                        **{"disks.example.com": {"kind": kind, "delay": 0.0}})
            c.run(seconds=30)
            count += not where(c, "app")[0]
        return count

    shares = {kind: [stranded(kind, share) for share in (0.3, 0.6)] for kind in ("zonal", "local")}
    assert shares["zonal"][0] < shares["local"][0]
    assert shares["zonal"][1] < shares["local"][1]
    assert shares["local"][0] < shares["local"][1]


def disks_of_two_nodes(waits, revision, *, of="late"):
    """Two small disks on one node, a larger one on the other, and two replicas that must not share a node."""
    c = cluster(node("n1"), node("n2"), storage_class(of, LOCAL, waits=waits),
                volume("d1", "10Gi", of, {HOST: ["n1"]}), volume("d2", "11Gi", of, {HOST: ["n1"]}),
                volume("d3", "50Gi", of, {HOST: ["n2"]}),
                stateful("db", 2, [("data", "10Gi", of)], affinity=apart(HOST, app="db"), parallel=False),
                revision=revision)
    c.run(seconds=900)
    return c


@both
@pytest.mark.checklist("13", "46")
def test_baseline_3_immediate_local_disks_collide_with_anti_affinity(revision):
    """Bound at once, both claims get the small disks of one node; in a class that waits each goes with its pod."""
    early, late = disks_of_two_nodes(False, revision), disks_of_two_nodes(True, revision)
    assert {"d1", "d2"} == {early[f"pvc/data-db-{n}"].spec.volume_name for n in range(2)}
    assert ["n1", ""] == where(early, "db-0", "db-1")
    assert ["n1", "n2"] == sorted(where(late, "db-0", "db-1"))


@both
@pytest.mark.checklist("14")
def test_baseline_4_two_kinds_of_disks(revision):
    """An SSD and an HDD claim bound at once end on different nodes; delayed they end on the one that has both."""
    def run(*, waits):
        made = [node("n1"), node("n2"), storage_class("ssd", LOCAL, waits=waits), storage_class("hdd", LOCAL, waits=waits),
                volume("s1", "10Gi", "ssd", {HOST: ["n1"]}), volume("s2", "20Gi", "ssd", {HOST: ["n2"]}),
                volume("h2", "10Gi", "hdd", {HOST: ["n2"]}), claim("fast", storage_class="ssd"), claim("log", storage_class="hdd")]
        c = cluster(*made, revision=revision)
        c.run()
        c.apply(pod("app", "fast", "log"))
        c.run(seconds=300)
        return c

    early, late = run(waits=False), run(waits=True)
    assert ["s1", "h2"] == [early[f"pvc/{name}"].spec.volume_name for name in ("fast", "log")]
    assert ([""], ["n2"]) == (where(early, "app"), where(late, "app"))
    assert f"2 {CONFLICT[revision]}" in message(early, "app")


@both
@pytest.mark.checklist("15")
def test_baseline_5_several_zonal_volumes(revision):
    """Claims provisioned one by one spread over zones and no node reaches all; delayed they follow one node."""
    def run(*, waits):
        c = cluster(node("a1", "a"), node("b1", "b"), storage_class(waits=waits), claim("data-0"), claim("data-1"),
                    pod("app", "data-0", "data-1"), revision=revision)
        c.run(seconds=300)
        return c

    early, late = run(waits=False), run(waits=True)
    assert reach(early, "data-0") != reach(early, "data-1")
    assert [] == fits(early, "app")
    assert reach(late, "data-0") == reach(late, "data-1") == [{ZONE: zones(late, "app")}]


# -- delayed binding ---------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("42")
def test_both_kinds_of_classes_in_one_pod(revision):
    """A claim bound at once and one that waits, side by side: each goes its way, and the pod runs."""
    c = cluster(node("a1", "a"), node("b1", "b"), storage_class("early", waits=False), storage_class("late"),
                claim("now", storage_class="early"), claim("then", storage_class="late"), revision=revision)
    c.run()
    assert ("Bound", "Pending") == (c["pvc/now"].status.phase, c["pvc/then"].status.phase)
    c.apply(pod("app", "now", "then"))
    c.run("pod/app Running")
    assert reach(c, "now") == reach(c, "then") == [{ZONE: zones(c, "app")}]


@both
@pytest.mark.checklist("43")
def test_automation_that_waits_for_bound_before_it_creates_the_pod(revision):
    """With Immediate it gets its pod; with WaitForFirstConsumer both wait for each other for ever."""
    def automation(*, waits):
        c = cluster(node("a1", "a"), storage_class(waits=waits), revision=revision)
        c.apply(claim("data"))
        c.run("pvc/data Bound", seconds=7200)
        if c["pvc/data"].status.phase == "Bound":
            c.apply(pod("app", "data"))
            c.run("pod/app Running")
        return "pod/app" in c, c

    (early, _), (late, c) = automation(waits=False), automation(waits=True)
    assert (True, False) == (early, late)
    assert events(c, "data", "WaitForFirstConsumer")
    assert [] == c.objects("pv")


@both
@pytest.mark.checklist("44")
def test_slow_storage_is_ready_before_deployment_if_made_at_once(revision):
    """Storage that takes five minutes: made at once it is there when the pod comes, delayed the pod waits for it."""
    def started(*, waits):
        c = cluster(node("a1", "a"), storage_class(waits=waits), claim("data"), revision=revision,
                    **{"disks.example.com": {"delay": 300.0}})
        c.run(seconds=600)
        c.apply(pod("app", "data"))
        begun = c.now
        c.run("pod/app Running")
        return c.now - begun

    assert started(waits=False) < 60
    assert started(waits=True) >= 300


@both
@pytest.mark.checklist("45")
def test_without_a_class_nothing_can_wait(revision):
    """Disks and a claim of no class are bound at once: to wait, local disks need a class that provisions nothing."""
    made = [node("n1"), node("n2"), volume("d1", "10Gi", "", {HOST: ["n1"]}), claim("data", storage_class="")]
    c = cluster(*made, revision=revision)
    c.run()
    assert ("Bound", "d1") == (c["pvc/data"].status.phase, c["pvc/data"].spec.volume_name)
    waits = cluster(*made[:2], storage_class("late", LOCAL), volume("d1", "10Gi", "late", {HOST: ["n1"]}), claim("data"),
                    revision=revision)
    waits.run()
    assert ("Pending", "Available") == (waits["pvc/data"].status.phase, waits["pv/d1"].status.phase)


@both
@pytest.mark.parametrize(("disks", "fit"), [(3, ["n1"]), (2, [])])
@pytest.mark.checklist("106")
def test_all_claims_matched_is_enough(revision, disks, fit):
    """Three claims and three disks on a node: it fits, though nothing can be provisioned; with one disk less it does not."""
    c = cluster(node("n1"), node("n2"), storage_class(provisioner=LOCAL),
                *(volume(f"d{n}", f"{10 + n}Gi", "late", {HOST: ["n1"]}) for n in range(disks)),
                *(claim(f"c{n}") for n in range(3)), pod("app", "c0", "c1", "c2"), revision=revision)
    c.run("pod/app Running", seconds=60)
    assert fit == fits_of_first(c)
    assert bool(fit) == (c["pod/app"].status.phase == "Running")


BETA = "failure-domain.beta.kubernetes.io/zone"


@both
@pytest.mark.checklist("50")
def test_the_end_to_end_example(revision):
    """The printed class, claim and pod, unchanged, in the seven steps: the volume is made in the node's zone, the pod lands there."""
    nodes = [node(f"node-{zone}", labels={BETA: f"us-central1-{zone}", ZONE: f"us-central1-{zone}",
                                          "topology.gke.io/zone": f"us-central1-{zone}"}) for zone in "ab"]
    c = Cluster.from_manifests(nodes, revision=revision)
    given = {obj.metadata.name: obj for obj in example("end-to-end").objects}
    c.apply(given["standard"], given["my-pvc"])
    c.run(seconds=60)
    assert ("Pending", []) == (c["pvc/my-pvc"].status.phase, c.objects("pv"))  # 3: it is not bound at once
    c.apply(given["my-pod"])
    c.run(lambda c: c.objects("pv"), seconds=60)
    (made,) = c.objects("pv")
    assert [""] == where(c, "my-pod")  # 5 and 6: a node was passed to the provisioner, 7: and then comes the pod
    (passed,) = {value for key, value in c["pvc/my-pvc"].metadata.annotations.items() if "selected" in key}
    c.run("pod/my-pod Running")
    assert [passed] == where(c, "my-pod")
    chosen = c[f"node/{where(c, 'my-pod')[0]}"].metadata.labels[ZONE]
    assert [[chosen]] == [list(part.values) for term in made.spec.node_affinity.required.node_selector_terms
                          for part in term.match_expressions]
    assert ("my-pvc", made.metadata.name) == (made.spec.claim_ref.name, c["pvc/my-pvc"].spec.volume_name)
    asked, got = given["my-pvc"].spec, c["pvc/my-pvc"].spec
    assert (asked.storage_class_name, asked.access_modes, asked.resources) == (
        got.storage_class_name, got.access_modes, got.resources)
    assert given["my-pod"].spec.volumes == c["pod/my-pod"].spec.volumes
    assert given["standard"].parameters == c["sc/standard"].parameters


NEAR = {"app": "near"}


@both
@pytest.mark.parametrize(("spec", "zone"), [
    ({"nodeSelector": {RACK: "r2"}}, "b"), ({"affinity": required({ZONE: ["b"]})}, "b"),
    ({"affinity": together(ZONE, **NEAR)}, "a"), ({"affinity": apart(ZONE, **NEAR)}, "b"), ({"cpu": "3"}, "a"),
])
@pytest.mark.checklist("4", "51")
def test_whatever_restricts_the_pod_restricts_the_volume(revision, spec, zone):
    """Selector, node affinity, pod affinity, anti-affinity and requests: the volume is made where the pod can be."""
    c = cluster(node("a1", "a", labels={RACK: "r1"}), node("b1", "b", cpu="2", labels={RACK: "r2"}), storage_class(),
                claim("data"), pod("other", labels=NEAR, running_on="a1"), revision=revision)
    c.apply(pod("app", "data", **spec))
    c.run("pod/app Running")
    assert ([zone], [{ZONE: [zone]}]) == (zones(c, "app"), reach(c, "data"))


@both
@pytest.mark.parametrize(("spec", "zone"), [
    ({"nodeSelector": {RACK: "r2"}}, "b"), ({"affinity": required({ZONE: ["b"]})}, "b"),
    ({"affinity": together(ZONE, **NEAR)}, "a"), ({"affinity": apart(ZONE, **NEAR)}, "b"), ({"cpu": "3"}, "a"),
])
@pytest.mark.checklist("4")
def test_whatever_restricts_the_pod_chooses_among_disks_that_exist(revision, spec, zone):
    """The same restrictions decide which disk is bound, though the other one is closer in size."""
    sizes = {each: "99Gi" if each == zone else "10Gi" for each in "ab"}
    c = cluster(node("a1", "a", labels={RACK: "r1"}), node("b1", "b", cpu="2", labels={RACK: "r2"}), storage_class(provisioner=LOCAL),
                *(volume(f"in-{each}", size, "late", zone=each) for each, size in sizes.items()), claim("data"),
                pod("other", labels=NEAR, running_on="a1"), revision=revision)
    c.apply(pod("app", "data", **spec))
    c.run("pod/app Running", seconds=60)
    assert ([zone], f"in-{zone}") == (zones(c, "app"), c["pvc/data"].spec.volume_name)
