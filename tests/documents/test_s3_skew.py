"""S3's MaxSkew and its algorithm as a reader runs them: which zones fit the next pod, and the ledger of the skew."""

import pytest
from documents.clusters import cluster, fits
from manifests import HOST, ZONE, node, pod, required, spread, together

from kvolsched import Cluster, design, example, upstream

both = pytest.mark.parametrize("revision", ["design", "upstream"])
WEB = {"app": "web"}


def zones_with(*counts, nodes=1):
    """Return nodes in zones 1, 2, ... and as many running pods app=web in each as the counts say."""
    made = [node(f"z{zone}n{number}", str(zone)) for zone in range(1, len(counts) + 1) for number in range(nodes)]
    running = [pod(f"w{zone}-{number}", running_on=f"z{zone}n0", labels=WEB)
               for zone, count in enumerate(counts, 1) for number in range(count)]
    return [*made, *running]


def next_pod(*counts, revision, skew=1, labels=None, **spec):
    """Return a cluster in which the scheduler has judged the next pod of a spread over zones with these counts."""
    wanted = pod("next", labels=WEB if labels is None else labels,
                 topologySpreadConstraints=[spread(ZONE, skew, app="web")], **spec)
    c = cluster(*zones_with(*counts), wanted, revision=revision)
    c.step("scheduler")
    return c


@both
@pytest.mark.checklist("195", "196", "197", "210")
@pytest.mark.parametrize(("counts", "skew", "expected"), [
    ((1, 1, 0), 1, ["z3n0"]),
    ((1, 1, 0), 2, ["z1n0", "z2n0", "z3n0"]),
    ((3, 2, 1), 1, ["z3n0"]),
    ((3, 2, 1), 2, ["z2n0", "z3n0"]),
    ((3, 2, 1), 3, ["z1n0", "z2n0", "z3n0"]),
])  # fmt: skip
def test_a_zone_fits_while_its_skew_after_placement_is_at_most_max_skew(counts, skew, expected, revision):
    """Pods in the zone, minus the minimum over all zones, must be below maxSkew before the pod is placed."""
    assert expected == fits(next_pod(*counts, revision=revision, skew=skew), "next")


ACTUAL = pytest.mark.parametrize(("counts", "skews"), [((1, 1, 0), [1, 1, 0]), ((3, 2, 1), [2, 1, 0])])


@both
@pytest.mark.checklist("195")
@ACTUAL
def test_the_ledger_has_the_actual_skew_of_each_domain(counts, skews, revision):
    """ActualSkew of 1/1/0 is 1/1/0, that of 3/2/1 is 2/1/0; the ledger adds the pod itself if it matches, else nothing."""
    for labels, self_match in ((WEB, 1), ({"app": "db"}, 0)):
        words = next_pod(*counts, revision=revision, labels=labels).skew("next").reading
        for zone, (count, skew) in enumerate(zip(counts, skews, strict=True), 1):
            (line,) = (line for line in words.splitlines() if line.startswith(f"{zone} "))
            assert f"{count} + {self_match} − {min(counts)} = {skew + self_match} " in line


@pytest.mark.checklist("195", "211")
@ACTUAL
@pytest.mark.parametrize("max_skew", [1, 2])
def test_the_actual_skew_is_what_a_soft_constraint_ranks_by(counts, skews, max_skew):
    """S3's priority is ActualSkew − maxSkew of the node's zone, so the scores have the ActualSkew of each."""
    c = cluster(*zones_with(*counts), pod("next", labels=WEB, topologySpreadConstraints=[spread(ZONE, max_skew, soft=True, app="web")]))
    c.step("scheduler")
    raw = [c.fits("next").scores[f"z{zone}n0"]["PodTopologySpread"].raw for zone in (1, 2, 3)]
    assert skews == [each + max_skew for each in raw]


@both
@pytest.mark.checklist("198", "210")
@pytest.mark.parametrize("limit", [{"affinity": required({ZONE: ["1", "2"]})}, {"affinity": required({ZONE: ["1"]}, {ZONE: ["2"]})},
                                   {"nodeSelector": {"of": "first-two"}}])
def test_the_affinity_or_selector_of_a_pod_limits_the_domains_that_count(limit, revision):
    """Of ten zones a node affinity or selector chooses two: the eight empty ones do not hold the minimum any more."""
    counts = (2, 1, *[0] * 8)
    wanted = pod("next", labels=WEB, topologySpreadConstraints=[spread(ZONE, app="web")], **limit)
    made = [*zones_with(*counts), wanted]
    for each in made[:2]:
        each["metadata"]["labels"]["of"] = "first-two"
    c = cluster(*made, revision=revision)
    c.step("scheduler")
    assert ["z2n0"] == fits(c, "next")
    assert [f"z{zone}n0" for zone in (10, *range(3, 10))] == fits(next_pod(*counts, revision=revision), "next")


@both
@pytest.mark.checklist("199")
def test_the_first_pod_fits_everywhere_if_it_matches_its_own_selector(revision):
    """Chicken and egg: no pod matches yet, the incoming one matches itself, so every node fits."""
    assert ["z1n0", "z2n0", "z3n0"] == fits(next_pod(0, 0, 0, revision=revision), "next")


@both
@pytest.mark.checklist("199")
def test_pod_affinity_has_the_same_implication(revision):
    """An affinity to pods that do not exist fits a pod that is one of them everywhere, and another pod nowhere."""
    for labels, fit in ((WEB, ["z1n0", "z2n0"]), ({"app": "db"}, [])):
        c = cluster(*zones_with(0, 0), pod("next", labels=labels, affinity=together(app="web")), revision=revision)
        c.step("scheduler")
        assert fit == fits(c, "next")


@both
@pytest.mark.checklist("200", "210")
def test_a_pod_that_does_not_match_its_own_selector_adds_nothing(revision):
    """Without itself in the count a zone fits while its skew now is at most maxSkew: one pod more than for a matching pod."""
    assert ["z2n0", "z3n0"] == fits(next_pod(2, 1, 0, revision=revision, labels={"app": "db"}), "next")
    assert ["z3n0"] == fits(next_pod(2, 1, 0, revision=revision), "next")


@both
@pytest.mark.checklist("200", "210")
@pytest.mark.parametrize(("labels", "as_written"), [({"app": "db"}, ["z3n0"]), (WEB, ["z3n0"])])
def test_the_pseudo_code_as_it_is_written(labels, as_written, revision):
    """`matching − minimum < maxSkew` is the skew after placement for a pod that matches itself, and stricter for another."""
    literal = upstream() if revision == "upstream" else design()
    after = ["z3n0"] if labels == WEB else ["z2n0", "z3n0"]
    assert after == fits(next_pod(2, 1, 0, revision=revision, labels=labels), "next")
    assert as_written == fits(next_pod(2, 1, 0, revision=literal.with_pseudo_code(), labels=labels), "next")


@both
@pytest.mark.checklist("203", "204")
@pytest.mark.parametrize("why", ["taint", "cpu", "unschedulable"])
def test_what_makes_a_zone_infeasible_does_not_matter(why, revision):
    """3/3/0: whether by a taint or for lack of cpu, the third zone counts as 0 for a hard constraint, not for a soft one."""
    made = zones_with(3, 3, 0)
    made[2] = node("z3n0", "3", **{"taint": {"taints": ["closed"]}, "cpu": {"cpu": "50m"}, "unschedulable": {"unschedulable": True}}[why])
    for soft, fit in ((False, []), (True, ["z1n0", "z2n0"])):
        c = cluster(*made, pod("next", labels=WEB, topologySpreadConstraints=[spread(ZONE, soft=soft, app="web")]), revision=revision)
        c.run(seconds=30)
        assert fit == fits(c, "next")
        assert soft == bool(c["pod/next"].spec.node_name)


@both
@pytest.mark.checklist("212")
def test_hard_constraints_are_all_to_be_met(revision):
    """A zone that is even is not enough if the node is too full, nor a node if its zone is: both constraints hold."""
    made = [*(node(f"{zone}{n}", zone) for zone in "ab" for n in (1, 2)),
            *(pod(f"p{n}", labels=WEB, running_on=on) for n, on in enumerate(("a1", "b2", "b2")))]
    found = {}
    for words, keys in (("zone", [ZONE]), ("node", [HOST]), ("both", [ZONE, HOST]), ("turned", [HOST, ZONE])):
        c = cluster(*made, pod("next", labels=WEB, topologySpreadConstraints=[spread(key, app="web") for key in keys]), revision=revision)
        c.step("scheduler")
        found[words] = fits(c, "next")
    assert {"zone": ["a1", "a2"], "node": ["a2", "b1"], "both": ["a2"], "turned": ["a2"]} == found
    c = cluster(*made, pod("next", labels=WEB, topologySpreadConstraints=[spread(ZONE, app="web"), spread(HOST, 2, app="web")]),
                revision=revision)
    c.step("scheduler")
    assert ["a1", "a2"] == fits(c, "next")


@both
@pytest.mark.checklist("188")
def test_without_constraints_nothing_is_spread(revision):
    """The field is effective only when it is set: without it no zone is refused, however uneven they are."""
    c = cluster(*zones_with(5, 0, 0), pod("next", labels=WEB), revision=revision)
    c.step("scheduler")
    assert ["z1n0", "z2n0", "z3n0"] == fits(c, "next")


@both
@pytest.mark.checklist("213")
def test_the_manifest_of_story_1(revision):
    """`spread-story-1` (maxSkew 1 over k8s.io/zone, DoNotSchedule, app=foo): the next pod goes to the emptier zone only."""
    made = [node(name, labels={"k8s.io/zone": name}) for name in ("a", "b")]
    c = Cluster.from_manifests([*made, pod("old", running_on="a", labels={"app": "foo"})], example("spread-story-1"),
                               revision=revision)
    c.run(seconds=30)
    placed = [each for each in c.objects("pods") if each.metadata.name != "old"]
    assert [("b", {"app": "foo"})] == [(each.spec.node_name, dict(each.metadata.labels)) for each in placed]
