"""Counts of runs over simulated time: read off the log, over the whole branch, without moving the cluster."""

import re

import pytest

import kvolsched
from kvolsched import make
from kvolsched.questions.series import EventsSoFar, LargestSkew, cluster_labels, timelines
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.plugins.pod_topology_spread import PodTopologySpread
from kvolsched.scheduler.plugins.pod_topology_spread.skew import match_domains
from kvolsched.world.log import Key


def ran(name, revision=None, **dials):
    """Return a scenario at the end of its run."""
    cluster = kvolsched.scenario(name, *([revision] if revision else []), **dials)
    cluster.run()
    return cluster


def values(cluster, what, part=""):
    """Return the values of one line, in order."""
    line = next(line for line in timelines([cluster], what) if line.part == part)
    return [point.value for point in line.points]


def test_held_cpu_counts_assumed_pods_once():
    """Under today's rules a pod holds its cpu from its pass on, and no more when the API has it too."""
    design, upstream = (ran("zonal-example", rules) for rules in ("design", "upstream"))
    held = {line.cluster: line for line in timelines([design, upstream], "cpu held")}

    assert [(point.time, point.value) for point in held["upstream"].points] == [(0.0, 0.0), (0.0, 1.0)]
    assert [(point.time, point.value) for point in held["design"].points] == [(0.0, 0.0), (design.now, 1.0)]


def test_pods_that_are_loaded_on_nodes_count_from_the_start():
    """A pod that runs when the cluster is loaded runs and holds its cpu at time 0."""
    cluster = ran("zonal-example")
    loaded = kvolsched.Cluster.from_manifests(cluster.manifests())

    assert values(loaded, "running") == [1]
    assert values(loaded, "cpu held") == [1.0]


def test_running_and_pending_pods():
    """Each pod of a StatefulSet waits, then runs; in a world without kubelet, one with a node runs."""
    cluster = ran("replicated-database")

    assert values(cluster, "running") == [0, 1, 2]
    assert values(cluster, "pending") == [0, 1, 2, 1, 0]
    assert cluster.components["kubelet"] == {"absent": True}


def test_the_branch_counts_beyond_the_present_place():
    """Steps that are known after the present place are counted; asking moves nothing."""
    cluster = ran("zonal-example")
    whole = timelines([cluster], ["running", {"steps": lambda c: c.world.step_number}])
    cluster.goto(3)
    before = cluster.world.place

    assert [line.points for line in timelines([cluster], ["running", {"steps": lambda c: c.world.step_number}])] == [
        line.points for line in whole
    ]
    assert (cluster.world.place, cluster.world.step_number) == (before, 3)


def test_failures_are_warnings_and_stay_counted():
    """Every Warning counts as often as it was recorded, by its reason; other Events do not."""
    measure = EventsSoFar()
    cluster = ran("two-volumes-one-pool")
    line = timelines([cluster], "failures")[0]
    for event in cluster.objects("events"):
        measure.change(("Event", "", event.metadata.name), None, event)

    assert dict(line.reasons) == {"FailedScheduling": 3, "ProvisioningFailed": 1}
    assert line.points[-1].value == 4
    assert values(cluster, "ProvisioningFailed")[-1] == 1


def test_skew_is_that_of_the_rule():
    """The third pod of six raises the skew to 1 and the next one in an empty zone does not; nothing without one."""
    assert values(ran("six-in-three-zones"), "skew") == [0, 1, 0, 1, 0]
    assert timelines([ran("zonal-example")], "skew")[0].points == ()


@pytest.mark.parametrize("name", ["six-in-three-zones", "zones", "a-zone-is-closed"])
def test_skew_counts_as_the_rule_does(name):
    """After each change the counts of domains, kept change by change, are those of the rule's own function."""
    cluster, measure = kvolsched.scenario(name), LargestSkew(PodTopologySpread())
    for key, obj in cluster.world.log.objects.items():
        measure.change(key, None, obj)
    cluster.run()
    placed = [pod.metadata.name for pod in cluster.objects("pods") if pod.spec.node_name]
    cluster.taint(cluster.objects("nodes")[0].metadata.name, "closed=now:NoSchedule")
    cluster.delete(f"pod/{placed[-1]}")
    cluster.run(seconds=30)
    log, start = cluster.world.log, cluster.world.history.ends[0]
    seen = snapshot(cluster.world.log.objects.values())
    for change in log.changes[start - log.base : log.place - log.base]:
        measure.change(*change)

    assert measure.counts
    for counted in measure.counts.values():
        expected = match_domains(counted.pod, counted.constraint, counted.group, seen)
        assert (expected.match_num, expected.min_match) == (counted.pods, max(counted.pods.values()) - counted.skew)


def test_room_is_published_later_than_it_is_taken():
    """The true room falls when a volume is made, the published one when the driver tells."""
    cluster = ran("redis-pmem")
    lines = {line.part: line for line in timelines([cluster], "room")}

    assert [point.value for point in lines["driver now"].points] == [48, 40, 32, 24, 16, 8, 0]
    assert [point.value for point in lines["published"].points][-7:] == [48, 40, 32, 24, 16, 8, 0]
    falls = [next(point.time for point in lines[part].points if point.value == 32 and point.step > 4) for part in lines]
    assert falls == [2.0, 3.0]


def test_functions_of_equal_names_are_numbered():
    """Each function has a line of its own; a lambda is called a function."""
    cluster = kvolsched.scenario("zonal-example")
    asked = [lambda c: len(c.objects("nodes")), lambda c: len(c.objects("pv"))]

    assert [(line.measure, line.points[0].value) for line in timelines([cluster], asked)] == [
        ("function", 4), ("function 2", 0)]  # fmt: skip


def test_an_unknown_count_lists_what_there_is():
    """The message has the measures and the reasons of Events."""
    with pytest.raises(ValueError, match=r"no measure 'runing'; there are: running, .*WaitForFirst.*; did you mean running\?"):
        ran("zonal-example").series(what="runing")
    with pytest.raises(ValueError, match="no axis 'days'; there are: time, steps"):
        kvolsched.scenario("zonal-example").series(over="days")


def test_one_pod_of_skew_is_no_pods():
    """The sentence of a count of pods names no unit, which would be wrong of one."""
    c = ran("six-in-three-zones")
    told = c.series(what="skew").reading.partition("\n")[0]
    assert re.fullmatch(r"skew: \d+ at the end", told)


def test_clusters_without_a_name_are_numbered():
    """Clusters under the same rules that have no names of their own are told apart by numbers."""
    assert ["cluster 1", "cluster 2"] == cluster_labels([kvolsched.Cluster(), kvolsched.Cluster()])


def test_a_node_that_is_gone_counts_no_more():
    """Without the domain that had no pod, the skew is that of the domains that are left."""
    measure = LargestSkew(PodTopologySpread())
    rule = make.spread(app="web")
    pods = [make.pod(f"web-{i}", running_on="a", labels={"app": "web"}) for i in (1, 2)]
    for each in pods:
        each["spec"]["topologySpreadConstraints"] = [rule]
    cluster = kvolsched.Cluster.from_manifests([make.node("a", zone="a"), make.node("b", zone="b"), *pods])
    for key, there in cluster.world.log.objects.items():
        measure.change(key, None, there)
    before = dict(measure.values())
    gone = Key("Node", "", "b")
    measure.change(gone, cluster.world.log.objects[gone], None)

    assert ([2], [0]) == (list(before.values()), list(measure.values().values()))
