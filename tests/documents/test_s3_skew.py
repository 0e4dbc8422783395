"""S3's MaxSkew and its algorithm as a reader runs them: which zones fit the next pod, and the ledger of the skew."""

import pytest
from documents.clusters import cluster, fits, message
from manifests import ZONE, node, pod, required, spread

from kvolsched import Cluster, example

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


@both
@pytest.mark.checklist("195")
@pytest.mark.parametrize(("counts", "skews"), [((1, 1, 0), [1, 1, 0]), ((3, 2, 1), [2, 1, 0])])
def test_the_ledger_has_the_actual_skew_of_each_domain(counts, skews, revision):
    """ActualSkew is the count of a zone minus the smallest count: 1/1/0 has skews 1/1/0, and 3/2/1 has 2/1/0."""
    words = next_pod(*counts, revision=revision).skew("next").reading
    smallest = min(counts)
    for zone, (count, skew) in enumerate(zip(counts, skews, strict=True), 1):
        assert skew == count - smallest
        assert f"{count} + 1 − {smallest} = {skew + 1}" in words, f"zone {zone}: {words}"


@both
@pytest.mark.checklist("198", "210")
@pytest.mark.parametrize("limit", [{"affinity": required({ZONE: ["1", "2"]})}, {"affinity": required({ZONE: ["1"]}, {ZONE: ["2"]})}])
def test_the_affinity_of_a_pod_limits_the_domains_that_count(limit, revision):
    """With an affinity to two of ten zones, the eight empty ones do not hold the minimum: the skew is that of the two."""
    counts = (2, 1, *[0] * 8)
    assert ["z2n0"] == fits(next_pod(*counts, revision=revision, **limit), "next")
    assert [f"z{zone}n0" for zone in (10, *range(3, 10))] == fits(next_pod(*counts, revision=revision), "next")


@both
@pytest.mark.checklist("199")
def test_the_first_pod_fits_everywhere_if_it_matches_its_own_selector(revision):
    """Chicken and egg: no pod matches yet, the incoming one matches itself, so every node fits."""
    assert ["z1n0", "z2n0", "z3n0"] == fits(next_pod(0, 0, 0, revision=revision), "next")


@both
@pytest.mark.checklist("200", "210")
def test_a_pod_that_does_not_match_its_own_selector_adds_nothing(revision):
    """Without itself in the count a zone fits while its skew now is at most maxSkew: one pod more than for a matching pod."""
    assert ["z2n0", "z3n0"] == fits(next_pod(2, 1, 0, revision=revision, labels={"app": "db"}), "next")
    assert ["z3n0"] == fits(next_pod(2, 1, 0, revision=revision), "next")


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


@both
@pytest.mark.checklist("220")
def test_pods_without_constraints_are_judged_without_the_plugin(revision):
    """A pod without constraints is not asked about them: the plugin gives no score and no reason."""
    c = cluster(*zones_with(1, 0), pod("next", cpu="100"), revision=revision)
    c.step("scheduler")
    assert "topology spread" not in message(c, "next")
    assert all("PodTopologySpread" != plugin for plugin, *_ in c.fits("next").rejected.values())
