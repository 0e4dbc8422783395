"""Even pods spreading (S3): fields, words of the examples, both stories, and what it does not promise."""

from itertools import combinations

import pytest
from documents.clusters import cluster, fits, message, refusal, scores, where, zones
from hypothesis import given
from hypothesis import strategies as st
from manifests import (
    HOST,
    RACK,
    ZONE,
    apart,
    claim,
    csi_driver,
    deployment,
    node,
    pod,
    pool,
    required,
    spread,
    storage_class,
    together,
)

from kvolsched.api.text import manifest

both = pytest.mark.parametrize("revision", ["design", "upstream"])
FOO = {"app": "foo"}
TOO_SKEWED = "node(s) didn't match pod topology spread constraints"


def zonal(*counts, closed=(), nodes=1, revision="design", **more):
    """Zones a, b, ... with so many pods of app foo; closed ones carry a taint."""
    letters = "abcdefgh"[: len(counts)]
    made = [node(f"{zone}{n}", zone, taints=("closed",) if zone in closed else ())
            for zone in letters for n in range(1, nodes + 1)]
    made += [pod(f"{zone}-{n}", labels=FOO, running_on=f"{zone}{1 + n % nodes}") for zone, count in zip(letters, counts, strict=True)
             for n in range(count)]
    return cluster(*made, revision=revision, **more)


def asked(c, *constraints, name="app", **spec):
    """The nodes that fit a new pod of app foo with these constraints; it is placed if any does."""
    c.apply(pod(name, labels=FOO, **({"topologySpreadConstraints": list(constraints)} if constraints else {}), **spec))
    c.run(seconds=30)
    return fits(c, name)


# -- fields ------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("188", "220")
def test_constraints_bind_only_the_pods_that_have_them(revision, monkeypatch):
    """A pod without constraints fits everywhere and nothing is counted for it; with one it fits the emptiest zone."""
    from kvolsched.scheduler.plugins.pod_topology_spread import column

    c = zonal(3, 0, revision=revision)
    counted = []
    count = column.domain_rows
    monkeypatch.setattr(column, "domain_rows", lambda *args: counted.append(args) or count(*args))
    assert ["a1", "b1"] == asked(c, name="free")
    assert [] == counted
    assert ["b1"] == asked(c, spread(**FOO), name="bound")
    assert counted


@pytest.mark.checklist("189", "191", "192", "213")
def test_the_documents_manifest_is_read_with_its_defaults():
    """The printed map in the singular is read as a list; maxSkew is 1 and DoNotSchedule meant where nothing is said."""
    printed = """
apiVersion: v1
kind: Pod
metadata: {name: app, labels: {app: foo}}
spec:
  containers: [{name: app, image: "registry.k8s.io/pause:3.10"}]
  topologySpreadConstraint:
    maxSkew: 1
    topologyKey: k8s.io/zone
    whenUnsatisfiable: DoNotSchedule
    selector: {matchLabels: {app: foo}}
"""
    short = printed.replace("    maxSkew: 1\n", "").replace("    whenUnsatisfiable: DoNotSchedule\n", "")
    whole, brief = (manifest.read(text).objects[0].spec.topology_spread_constraints for text in (printed, short))
    assert whole == brief
    (one,) = whole
    said = (one.max_skew, one.topology_key, one.when_unsatisfiable, dict(one.label_selector.match_labels))
    assert (1, "k8s.io/zone", "DoNotSchedule", FOO) == said
    c = cluster(*(node(f"{zone}1", labels={"k8s.io/zone": zone}) for zone in "ab"), pod("old", labels=FOO, running_on="a1"))
    c.apply(short)
    c.run()
    assert (["b1"], ["b1"]) == (fits(c, "app"), where(c, "app"))


@both
@pytest.mark.parametrize(("skew", "said"), [(0, "must be greater than zero"), (-1, "must be greater than zero")])
@pytest.mark.checklist("189")
def test_max_skew_is_positive(revision, skew, said):
    """0 and below are refused."""
    c = zonal(0, 0, revision=revision)
    words = refusal(c.apply, pod("app", labels=FOO, topologySpreadConstraints=[spread(skew=skew, **FOO)]))
    assert f"spec.topologySpreadConstraints[0].maxSkew: Invalid value: {skew}: {said}" in words


@both
@pytest.mark.checklist("190", "192")
def test_each_value_of_the_key_is_a_bucket_and_the_selector_picks_who_counts(revision):
    """By zone, by host or by a key of one's own another node is emptiest; who does not match is not counted."""
    labels = {"a1": ("a", "x"), "a2": ("a", "y"), "b1": ("b", "x"), "b2": ("b", "z")}
    made = [node(name, zone, labels={RACK: rack}) for name, (zone, rack) in labels.items()]
    made += [pod("p1", labels=FOO, running_on="a1"), pod("p2", labels=FOO, running_on="b2"), pod("p3", labels=FOO, running_on="a1"),
             pod("q", labels={"app": "bar"}, running_on="a2")]
    for key, fit in ((ZONE, ["b1", "b2"]), (HOST, ["a2", "b1"]), (RACK, ["a2"])):
        fresh = cluster(*made, revision=revision)
        assert fit == asked(fresh, spread(key, **FOO))
    fresh = cluster(*made, revision=revision)
    fresh.apply(pod("bar", labels={"app": "bar"}, topologySpreadConstraints=[spread(HOST, app="bar")]))
    fresh.run()
    assert ["a1", "b1", "b2"] == fits(fresh, "bar")


@both
@pytest.mark.checklist("191", "193")
def test_unsatisfiable_is_what_no_node_satisfies(revision):
    """One node within maxSkew is enough to be placed there; with none DoNotSchedule waits and ScheduleAnyway goes."""
    assert ["c1"] == asked(zonal(1, 1, 0, revision=revision), spread(**FOO))
    for soft, fit in ((False, []), (True, ["a1", "b1"])):
        c = zonal(1, 1, 0, closed="c", revision=revision)
        assert fit == asked(c, spread(soft=soft, **FOO))
        assert soft == bool(where(c, "app")[0])
    assert TOO_SKEWED in message(zonal_pending(revision), "app")


def zonal_pending(revision):
    """1/1/0, the empty zone closed, and a pod that must not be uneven."""
    c = zonal(1, 1, 0, closed="c", revision=revision)
    asked(c, spread(**FOO))
    return c


# -- the numbers -------------------------------------------------------------------------------------------------------

TABLE = [  # counts, closed zones, what a hard constraint leaves, S3's values of those that fit softly
    ((1, 1, 0), "c", "", {"a1": -1, "b1": -1}, ("205",)),
    ((2, 1, 0), "c", "", {"a1": 0, "b1": -1}, ("206",)),
    ((3, 3, 0), "c", "", {"a1": -1, "b1": -1}, ("203", "204")),
    ((1, 1, 1), "c", "a1 b1", {"a1": -1, "b1": -1}, ("207",)),
    ((2, 1, 1), "c", "b1", {"a1": 0, "b1": -1}, ("208",)),
    ((3, 2, 1), "", "c1", {"a1": 1, "b1": 0, "c1": -1}, ("211",)),
    ((1, 1, 0), "", "c1", {"a1": 0, "b1": 0, "c1": -1}, ("196",)),
]


@pytest.mark.parametrize(("counts", "closed", "hard", "values", "items"),
                         [pytest.param(*row, marks=pytest.mark.checklist(*row[-1], "211", "227")) for row in TABLE])
def test_tables_of_the_document(counts, closed, hard, values, items):
    """Hard: the minimum of all zones counts; soft: (matching - minimum of those that passed) - maxSkew, lower first."""
    assert items
    assert hard.split() == asked(zonal(*counts, closed=closed), spread(**FOO))
    c = zonal(*counts, closed=closed)
    assert sorted(values) == asked(c, spread(soft=True, **FOO))
    given = scores(c, "app", "PodTopologySpread")
    assert values == {name: raw for name, (raw, _, _) in given.items()}
    spoken = {name: normalised for name, (_, normalised, _) in given.items()}
    best = {name for name in values if values[name] == min(values.values())}
    assert best == {name for name in spoken if spoken[name] == max(spoken.values())}
    assert where(c, "app")[0] in best


@pytest.mark.checklist("211", "212")
def test_a_soft_constraint_ranks_and_several_add_up():
    """Zones and hosts both count: the node that is low in both is preferred, one without a key is ranked last."""
    made = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("none")]
    made += [pod("p1", labels=FOO, running_on="a1"), pod("p2", labels=FOO, running_on="a1"), pod("p3", labels=FOO, running_on="b1")]
    c = cluster(*made)
    asked(c, spread(ZONE, 2, soft=True, **FOO), spread(HOST, soft=True, **FOO))
    given = scores(c, "app", "PodTopologySpread")
    assert {"a1": (2 - 1 - 2) + (2 - 0 - 1), "a2": (2 - 1 - 2) + (0 - 0 - 1), "b1": (1 - 1 - 2) + (1 - 0 - 1)} == {
        name: given[name][0] for name in ("a1", "a2", "b1")}
    assert [0, 100, 100, 0] == [given[name][1] for name in ("a1", "a2", "b1", "none")]


# -- when it is asked --------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("209", "219")
def test_later_imbalance_stays(revision):
    """Pods that go, a taint: nobody moves, not even when a pod's turn would now go elsewhere."""
    c = zonal(0, 0, 0, revision=revision)
    for n in range(6):
        asked(c, spread(**FOO), name=f"app-{n}")
    assert [2, 2, 2] == [zones(c, *(f"app-{n}" for n in range(6))).count(zone) for zone in "abc"]
    gone = [f"app-{n}" for n in range(6) if zones(c, f"app-{n}") == ["a"]]
    c.delete(*(f"pod/{name}" for name in gone))
    c.taint("b1", "closed=x:NoSchedule")
    c.run(seconds=900)
    rest = [name for n in range(6) if (name := f"app-{n}") not in gone]
    assert ["b", "b", "c", "c"] == sorted(zones(c, *rest))
    assert ["a1"] == asked(c, spread(**FOO), name="next")


@both
@pytest.mark.checklist("209")
@pytest.mark.parametrize("effect", ["taint", "lost"])
def test_nobody_is_moved_when_a_zone_is_emptied(revision, effect):
    """A zone is lost, or its pods are evicted by a taint: the other pods stay; what comes back is not rebalanced."""
    template = {"topologySpreadConstraints": [spread(ZONE, 2, **FOO)]}
    made = deployment("foo", 6, **template)
    c = cluster(*(node(f"{zone}1", zone) for zone in "abc"), made, revision=revision)
    c.run(seconds=60)

    def held():
        """Where pods are that are not being deleted, and who they are."""
        alive = [each for each in c.objects("pods") if each.metadata.deletion_timestamp is None]
        return {each.metadata.name: each.spec.node_name for each in alive}

    before = held()
    assert [2, 2, 2] == [[*before.values()].count(f"{zone}1") for zone in "abc"]
    if effect == "lost":
        c.stop_nodes(f"{ZONE}=c")
    else:
        c.taint("c1", "closed=x:NoExecute")
    c.run(seconds=900)
    kept = {name: on for name, on in held().items() if name in before}
    assert {name: on for name, on in before.items() if on != "c1"} == kept
    assert 2 == [*held().values()].count("")  # a hard constraint counts the emptied zone as 0: 3/2/0 is too skewed
    if effect == "lost":
        c.start_nodes("c1")
    else:
        c.taint("c1", "closed-")
    c.run(seconds=900)
    assert kept.items() <= held().items()


@both
@pytest.mark.checklist("219")
def test_scaling_down_is_not_even(revision):
    """Four replicas, two in each zone; scaled down to two, some runs keep both in one zone, and nobody moves them."""
    ends = set()
    for seed in range(8):
        made = deployment("foo", 4, topologySpreadConstraints=[spread(**FOO)])
        c = cluster(*(node(f"{zone}{n}", zone) for zone in "ab" for n in (1, 2)), made, revision=revision, seed=seed)
        c.run(seconds=60)
        assert ["a", "a", "b", "b"] == sorted(each.spec.node_name[0] for each in c.objects("pods"))
        c.scale("deploy/foo", 2)
        c.run(seconds=600)
        ends.add("".join(sorted(each.spec.node_name[0] for each in c.objects("pods"))))
    assert {"ab"} < ends


@both
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 5))
@pytest.mark.checklist("214", "227")
def test_story_1_pods_end_evenly(revision, pods, count, seed):
    """N pods over Z zones, whatever the ties: the fullest zone has at most one more than the emptiest."""
    made = [node(f"{zone}{n}", zone) for zone in "abcd"[:count] for n in (1, 2)]
    c = cluster(*made, revision=revision, seed=seed)
    c.apply(*(pod(f"app-{n}", labels=FOO, topologySpreadConstraints=[spread(**FOO)]) for n in range(pods)))
    c.run()
    held = [zones(c, *(f"app-{n}" for n in range(pods))).count(zone) for zone in "abcd"[:count]]
    assert pods == sum(held)
    assert max(held) - min(held) <= 1


@both
@pytest.mark.checklist("215", "223", "227")
def test_story_2_the_third_pod_of_an_update(revision):
    """Two replicas kept apart on two nodes: the update's third pod waits for ever; with spreading it is tolerated."""
    def updating(**spec):
        old = [pod(f"old-{n}", labels=FOO, running_on=f"{zone}1", **spec) for n, zone in enumerate("ab")]
        c = cluster(node("a1", "a"), node("b1", "b"), *old, revision=revision)
        c.apply(pod("new", labels=FOO, **spec))
        c.run(seconds=1800)
        return c

    stuck = updating(affinity=apart(HOST, **FOO))
    assert [""] == where(stuck, "new")
    assert "0/2 nodes are available: 2 node(s) didn't match pod a" in message(stuck, "new")
    tolerated = updating(topologySpreadConstraints=[spread(HOST, **FOO)])
    assert where(tolerated, "new")[0] in {"a1", "b1"}


@both
@pytest.mark.checklist("216")
def test_story_2_on_three_nodes(revision):
    """The third pod goes to the third node; only where that is too small (the soft form) it joins another."""
    for soft, room, ends in ((False, "4", {"c1"}), (True, "4", {"c1"}), (True, "50m", {"a1", "b1"}), (False, "50m", {""})):
        old = [pod(f"old-{n}", labels=FOO, running_on=f"{zone}1") for n, zone in enumerate("ab")]
        c = cluster(node("a1", "a"), node("b1", "b"), node("c1", "c", cpu=room), *old, revision=revision)
        asked(c, spread(HOST, soft=soft, **FOO))
        assert where(c, "app")[0] in ends


@both
@pytest.mark.checklist("217")
def test_motivation_affinity_packs_anti_affinity_allows_one(revision):
    """Six pods over three zones: affinity puts all in one, anti-affinity three of them, spreading two in each."""
    ends = {}
    for word, spec in (("near", {"affinity": together(ZONE, **FOO)}), ("apart", {"affinity": apart(ZONE, **FOO)}),
                       ("even", {"topologySpreadConstraints": [spread(**FOO)]})):
        c = zonal(0, 0, 0, revision=revision)
        c.apply(*(pod(f"app-{n}", labels=FOO, **spec) for n in range(6)))
        c.run(seconds=60)
        placed = zones(c, *(f"app-{n}" for n in range(6)))
        ends[word] = sorted(placed.count(zone) for zone in "abc")
    assert {"near": [0, 0, 6], "apart": [1, 1, 1], "even": [2, 2, 2]} == ends


@both
@pytest.mark.checklist("218")
def test_pods_count_whoever_made_them(revision):
    """Pods of another workload with matching labels count like the pod's own."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "other", "uid": "u", "controller": True}
    other = pod("other-1", labels={**FOO, "tier": "x"}, running_on="a1")
    other["metadata"]["ownerReferences"] = [owner]
    c = cluster(node("a1", "a"), node("b1", "b"), other, revision=revision)
    assert ["b1"] == asked(c, spread(**FOO))


@both
@pytest.mark.checklist("219")
def test_there_is_no_maximum_in_a_domain(revision):
    """In one zone alone, any number of pods is even: spreading is no limit of pods in a domain."""
    c = zonal(5, revision=revision)
    for n in range(4):
        assert ["a1"] == asked(c, spread(**FOO), name=f"app-{n}")


# -- beside other rules ------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("224")
def test_affinity_and_spreading_both_apply(revision):
    """A node must please both; an affinity to pods of one zone leaves the nodes that an affinity to that zone leaves."""
    made = [node(f"{zone}{n}", zone) for zone in "ab" for n in (1, 2)]
    made += [pod("db", labels={"app": "db"}, running_on="a1"), pod("p", labels=FOO, running_on="a1")]
    hosts, near = spread(HOST, **FOO), together(ZONE, app="db")
    assert ["a1", "a2"] == asked(cluster(*made, revision=revision), affinity=near)
    assert ["a2", "b1", "b2"] == asked(cluster(*made, revision=revision), hosts)
    assert ["a2"] == asked(cluster(*made, revision=revision), hosts, affinity=near)
    assert ["a2"] == asked(cluster(*made, revision=revision), hosts, affinity=required({ZONE: ["a"]}))


@both
@pytest.mark.checklist("225")
def test_apart_in_zones_is_spread_in_zones_and_apart_on_nodes(revision):
    """Up to one pod a zone both decide alike at every step; beyond that only the combination goes on."""
    kinds = {"zones": {"affinity": apart(ZONE, **FOO)},
             "both": {"affinity": apart(HOST, **FOO), "topologySpreadConstraints": [spread(ZONE, **FOO)]}}
    steps = {}
    for word, spec in kinds.items():
        c = cluster(*(node(f"{zone}{n}", zone) for zone in "abc" for n in (1, 2)), revision=revision)
        placed = []
        for n in range(7):
            c.apply(pod(f"app-{n}", labels=FOO, **spec))
            c.run(seconds=20)
            placed.append(zones(c, f"app-{n}")[0])
        steps[word] = placed
    assert [set("abc")] * 2 == [set(placed[:3]) for placed in steps.values()]
    assert [""] * 4 == steps["zones"][3:]
    assert (set("abc"), "") == (set(steps["both"][3:6]), steps["both"][6])


@both
@pytest.mark.checklist("273")
def test_pod_affinity_still_says_what_spreading_cannot(revision):
    """In a rack and in a zone of the group, whatever their numbers: no constraint over the same pods leaves these nodes."""
    made = [node(f"{zone}{rack}", zone, labels={RACK: f"r{rack}"}) for zone in "abc" for rack in (1, 2, 3)]
    made += [pod("x", labels={"group": "x"}, running_on="b1"), pod("y", labels={"group": "x"}, running_on="a2")]
    two = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": {"group": "x"}}} for key in (RACK, ZONE)]}}
    fit = ["a1", "a2", "b1", "b2"]
    assert fit == asked(cluster(*made, revision=revision), affinity=two)
    for first, second in combinations((RACK, ZONE, HOST), 2):
        for skew in (1, 2, 3):
            for wanted in ([spread(first, skew, group="x")], [spread(first, skew, group="x"), spread(second, group="x")]):
                assert fit != asked(cluster(*made, revision=revision), *wanted)


# -- with volumes ------------------------------------------------------------------------------------------------------


def replicas(revision, *, waits):
    """Four replicas, hard spread over two zones, each with a claim."""
    immediate = {"immediate_zone": {f"data-{n}": "a" for n in range(4)}}
    c = cluster(*(node(f"{zone}{n}", zone) for zone in "ab" for n in (1, 2)), storage_class(waits=waits),
                revision=revision, **{"disks.example.com": immediate})
    for n in range(4):
        c.apply(claim(f"data-{n}"), pod(f"app-{n}", f"data-{n}", labels=FOO, topologySpreadConstraints=[spread(**FOO)]))
        c.run(seconds=60)
    return c


@both
@pytest.mark.checklist("255")
def test_replicas_and_their_volumes_end_evenly_if_the_class_waits(revision):
    """Volumes that wait follow the spread pods, two a zone; made at once, they hold pods where no more may go."""
    late, early = replicas(revision, waits=True), replicas(revision, waits=False)
    assert ["a", "a", "b", "b"] == sorted(zones(late, *(f"app-{n}" for n in range(4))))
    assert ["a", "a", "b", "b"] == sorted(v.spec.node_affinity.required.node_selector_terms[0].match_expressions[0].values[0]
                                          for v in late.objects("pv"))
    assert ["", "", "", "a"] == sorted(zones(early, *(f"app-{n}" for n in range(4))))


@pytest.mark.checklist("257")
def test_a_zone_without_capacity_is_an_infeasible_zone():
    """3/3/0 and no room for a volume in the third zone: hard waits with both reasons, soft goes to one of the others."""
    def asked_for(*, soft):
        c = zonal(3, 3, 0, revision="upstream")
        c.apply(storage_class(), claim("data", "50Gi"),
                {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "disks.example.com"},
                 "spec": {"storageCapacity": True}},
                *({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                   "metadata": {"name": zone, "namespace": "default"}, "storageClassName": "late", "capacity": size,
                   "nodeTopology": {"matchLabels": {ZONE: zone}}} for zone, size in zip("abc", ("1Ti", "1Ti", "10Gi"),
                                                                                       strict=True)),
                pod("app", "data", labels=FOO, topologySpreadConstraints=[spread(soft=soft, **FOO)]))
        c.run(seconds=60)
        return c

    hard, soft = asked_for(soft=False), asked_for(soft=True)
    assert [""] == where(hard, "app")
    assert ("0/3 nodes are available: 1 node(s) did not have enough free storage, "
            "2 node(s) didn't match pod topology spread constraints.") in message(hard, "app")
    assert zones(soft, "app")[0] in {"a", "b"}


@pytest.mark.checklist("257")
@pytest.mark.parametrize(("size", "hard", "soft"), [("1Ti", ["c1"], ["a1", "b1", "c1"]), ("10Gi", [], ["a1", "b1"])])
def test_a_pool_without_room_is_an_infeasible_zone(size, hard, soft):
    """The same by S2's own pools: with room in the third zone hard goes there alone; without it 3/3/0 is infeasible."""
    pools = [pool(zone, room, topology={ZONE: [zone]}) for zone, room in zip("abc", ("1Ti", "1Ti", size), strict=True)]
    for is_soft, fit in ((False, hard), (True, soft)):
        c = zonal(3, 3, 0)
        c.apply(storage_class(), claim("data", "50Gi"), csi_driver(told={"late": pools}),
                pod("app", "data", labels=FOO, topologySpreadConstraints=[spread(soft=is_soft, **FOO)]))
        c.step("scheduling pass")
        assert fit == fits(c, "app")
