"""Counts of runs over simulated time: read off the log, over the whole branch, without moving the cluster."""

import functools
import re
from types import SimpleNamespace

import attrs
import pytest

import kvolsched
from kvolsched import make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions import series
from kvolsched.questions.series import (
    CpuHeld,
    EventsSoFar,
    FreeRoom,
    LargestSkew,
    PodsInState,
    cluster_labels,
    timelines,
)
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.plugins.pod_topology_spread import PodTopologySpread
from kvolsched.scheduler.plugins.pod_topology_spread.skew import match_domains
from kvolsched.world.log import Key, Note


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

    assert line.reasons == (("FailedScheduling", 3), ("ProvisioningFailed", 1))
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


@pytest.mark.parametrize(("rules", "names", "labels"), [
    (("design", "upstream"), ("a", "b"), ["design", "upstream"]), (("upstream", "upstream"), ("a", "b"), ["a", "b"]),
    (("upstream", "upstream"), ("a", ""), ["a 1", "cluster 2"]), (("upstream", "upstream"), ("a", "a"), ["a 1", "a 2"]),
    (("upstream", "upstream"), ("", ""), ["cluster 1", "cluster 2"]), (("upstream",), ("a",), ["upstream"]),
])  # fmt: skip
def test_lines_are_told_apart_by_rules_by_names_or_by_numbers(rules, names, labels):
    """What clusters are called: by their rules, if these differ, else by their names, if each has one of its own, else numbered."""
    assert labels == cluster_labels([kvolsched.Cluster(rule, name=name) for rule, name in zip(rules, names, strict=True)])


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


def pods_of_life():
    """Return one pod as it is made, bound, runs and ends, and two more on the node that ended or only hold it."""
    plain = [make.pod("p", cpu="500m"), make.pod("p", node_name="n", cpu="500m"), make.pod("p", running_on="n", cpu="500m"),
             make.pod("p", running_on="n", cpu="500m", status={"phase": "Succeeded"})]
    return [from_plain(each) for each in plain]


@pytest.mark.parametrize(("state", "has_kubelet", "counts"), [
    ("running", True, [0, 0, 1, 0, 0]), ("running", False, [0, 1, 1, 0, 0]),
    ("pending", True, [1, 1, 0, 0, 0]), ("pending", False, [1, 0, 0, 0, 0]),
])  # fmt: skip
def test_a_pod_that_has_ended_neither_runs_nor_is_pending(state, has_kubelet, counts):
    """A pod that is made, bound, runs, succeeds and goes: without a kubelet it runs as soon as it has its node."""
    measure, found, before = PodsInState(state, has_kubelet=has_kubelet), [], None
    for pod in [*pods_of_life(), None]:
        measure.change(Key("Pod", "default", "p"), before, pod)
        measure.change(Note("Pod", "default", "p"), None, "a note of a component that is called like a kind")
        found.append(measure.values()[""])
        before = pod

    assert counts == found


def test_pods_hold_their_cpu_until_they_have_ended():
    """What was assumed and what is written count once; a pod that has ended or is gone holds nothing."""
    made, bound, runs, ended = pods_of_life()
    measure, found = CpuHeld(), []
    place, note = Key("Pod", "default", "p"), Note("kube-scheduler", "assumed", "Pod/default/p")
    for key, value in [(place, made), (note, bound), (place, bound), (note, None), (place, runs), (place, ended), (place, runs), (place, None)]:
        measure.change(key, None, value)
        found.append(measure.values()[""])

    assert [0, 0.5, 0.5, 0.5, 0.5, 0, 0.5, 0] == found


def test_an_event_counts_by_how_often_it_was_recorded():
    """Only what its count grew by is added; an Event that expires, and one of another type, change nothing."""
    warning, normal, other = EventsSoFar(), EventsSoFar("Pulled"), Note("Event", "default", "e")
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"}, "reason": "BackOff", "type": "Warning",
             "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
    counted = [from_plain(event | {"count": count}) for count in (1, 4, 4, 2)]
    found, before = [], None
    for now in [*counted, None, from_plain(event | {"count": 2, "reason": "Pulled", "type": "Normal"})]:
        for measure in (warning, normal):
            measure.change(Key("Event", "default", "e"), before, now)
            measure.change(other, None, "a note of a component that is called like a kind")
        found.append((warning.values()[""], normal.values()[""]))
        before = now

    assert [(1, 0), (4, 0), (4, 0), (4, 0), (4, 0), (4, 2)] == found


def skews(*changes):
    """Return the skew after each change (key, old, new)."""
    measure, found = LargestSkew(PodTopologySpread()), []
    for change in changes:
        measure.change(*change)
        found.append(measure.values().get(""))
    return found


def test_skew_follows_every_change_of_what_is_counted():
    """Nodes that come and go, taints and labels of nodes, labels of pods, their end, and the last pod with a constraint."""
    a, b, c, d = (from_plain(make.node(name, zone)) for name, zone in (("a", "1"), ("b", "2"), ("c", ""), ("d", "1")))
    tainted = from_plain(make.node("b", "2", taints=["team=x:NoSchedule"]))
    moved = from_plain(make.node("d", "2"))
    honors = {**make.spread(app="web"), "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["version"]}
    p, q, r, s = (from_plain(make.pod(name, running_on=node, labels=labels, topologySpreadConstraints=rules)) for name, node, labels, rules in (
        ("p", "a", {"app": "web", "version": "1"}, [honors]), ("q", "a", {"app": "web", "version": "1"}, [honors]),
        ("r", "d", {"app": "web", "version": "1"}, []), ("s", "c", {"app": "web", "version": "1"}, [])))  # fmt: skip
    other, ended = (evolve_parts(r, **{part: change}) for part, change in (
        ("metadata", {"labels": r.metadata.labels.merged({"version": "2"})}), ("status", {"phase": "Failed"})))
    new_p, new_q = (evolve_parts(pod, metadata={"labels": pod.metadata.labels.merged({"version": "2"})}) for pod in (p, q))
    no_key = from_plain(make.pod("t", labels={"app": "web"}, topologySpreadConstraints=[make.spread("rack", app="web")]))
    node, pod = (lambda name, kind=kind, namespace=namespace: Key(kind, namespace, name)
                 for kind, namespace in (("Node", ""), ("Pod", "default")))  # fmt: skip
    told = [
        (node("c"), None, c, None), (node("a"), None, a, None), (pod("p"), None, p, 0), (node("b"), None, b, 1), (pod("q"), None, q, 2),
        (node("d"), None, d, 2), (pod("r"), None, r, 3), (pod("s"), None, s, 3),  # in no zone: counted nowhere
        (node("b"), b, tainted, 0), (node("b"), tainted, b, 3), (node("d"), d, moved, 1), (node("d"), moved, d, 3),
        (pod("r"), r, ended, 2), (pod("r"), ended, r, 3), (pod("r"), r, other, 2),
        (pod("p"), p, new_p, 2),  # two of version 2 in the zone of one of version 1, each in its own count
        (pod("q"), q, new_q, 3), (pod("t"), None, no_key, 3), (pod("q"), new_q, None, 2), (pod("p"), new_p, None, None),
        (Note("Pod", "default", "p"), None, "a note", None),
    ]  # fmt: skip

    assert [skew for *_, skew in told] == skews(*(change for *change, _ in told))


def test_the_largest_skew_of_several_constraints_counts():
    """Of a constraint over zones and one over hosts that is shown which is skewed most; what nobody counts in has none."""
    nodes = [from_plain(make.node(name, zone)) for name, zone in (("a", "1"), ("b", "1"), ("c", "2"))]
    rules = [make.spread(app="web"), make.spread(make.HOST, soft=True, app="web")]
    pods = [from_plain(make.pod(f"p{n}", running_on=on, labels={"app": "web"}, topologySpreadConstraints=rules)) for n, on in enumerate("aabb")]
    changes = [(Key(each.kind, each.metadata.namespace, each.metadata.name), None, each) for each in (*nodes, *pods)]

    assert [None, None, None, 1, 2, 3, 4] == skews(*changes)


def test_room_is_counted_once_for_each_pool():
    """What is published for several classes of a driver at one place is one pool, the larger figure; a missing amount is none."""
    def room(name, size, of_class, zone="a"):
        capacity = {"capacity": size} if size else {}
        return from_plain({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": name, "namespace": "csi"},
                           "storageClassName": of_class, "nodeTopology": {"matchLabels": {make.ZONE: zone}}, **capacity})

    there, free = {}, {"p": 5 << 30, "q": -(1 << 30)}
    pools = {"disks": SimpleNamespace(pools=["p", "q"], free_bytes=lambda _, pool: free[pool])}
    measure, found = FreeRoom({}, SimpleNamespace(objects=there)), []

    def put(key, value):
        there[key] = value
        measure.change(key, None, value)
        found.append(dict(measure.values()))

    fast, slow = (from_plain(make.storage_class(name, "disks")) for name in ("fast", "slow"))
    told = from_plain(make.csi_driver("other", told={"fast": [make.pool("vg", None), make.pool("vh", "2Gi")]}))
    for number, each in enumerate([room("r1", "4Gi", "fast"), room("r2", "", "fast", "z"), room("r3", "3Gi", "slow"), fast, slow, room("r4", "1Gi", "slow", "b"), told]):
        put(Key(each.kind, "", f"{number}"), each) if each not in (fast, slow) else put(Key(each.kind, "", each.metadata.name), each)
    measure.change(Note("disks", "pool", "p"), None, 1)

    assert [4, 4, 7, 7, 4, 5, 7] == [each["published"] for each in found]
    assert {"published": 0} == FreeRoom({}, SimpleNamespace(objects={Key("CSIDriver", "", "o"): from_plain(
        make.csi_driver("o", told={"fast": [make.pool("vg", None)]}))})).values()
    true = FreeRoom(pools, SimpleNamespace(objects={}))
    for sort, left, shown in (("", 5, 5), ("room", 4, 4), ("pool", 3, 3), ("queue", 2, 3)):
        free["p"] = left << 30
        if sort:
            true.change(Note("disks", sort, "p"), None, 1)
        assert {"driver now": shown} == true.values()


def test_a_wrong_question_is_answered_with_what_can_be_asked():
    """No cluster, no measure, and a name that nothing has: with the reasons of Events in order, or that there are none yet."""
    cluster, there = ran("zonal-example"), "running, pending, failures, skew, room, cpu held; reasons of Events:"
    told = []
    for clusters, what in (([cluster, 5], "running"), ([cluster], [5]), ([kvolsched.Cluster()], "lost"), ([cluster], "Schedule")):
        with pytest.raises((TypeError, ValueError)) as wrong:
            timelines(clusters, what)
        told.append(str(wrong.value))

    assert ['a series is of clusters, not of 5; a measure is named by what="running"',
            "a measure is a name such as 'running', or a function of a cluster, not 5",
            f"no measure 'lost'; there are: {there} none yet; any function of a cluster will do",
            (f"no measure 'Schedule'; there are: {there} FailedScheduling, ProvisioningSucceeded, Scheduled, WaitForFirstConsumer; any "
            "function of a cluster will do; did you mean Scheduled?")] == told
    assert () == timelines([])


def test_each_measure_is_shown_once_from_where_it_changes():
    """Functions have names or are called a function, a value that stays is one point, and all lines end with the longest run."""
    longer, shorter = ran("zonal-example"), kvolsched.scenario("zonal-example")
    longer.goto(3)

    def nodes(cluster):
        return len(cluster.objects("nodes"))

    def volumes(cluster):
        return len(cluster.objects("pv"))

    asked = ["running", nodes, "running", nodes, functools.partial(volumes), {"running ones": volumes}, "FailedScheduling"]
    lines = timelines([longer, shorter], asked)
    longer.run()

    assert [("running", [0, 1]), ("running", [0]), ("nodes", [4]), ("nodes", [4]), ("function", [0, 1]), ("function", [0]),
            ("running ones", [0, 1]), ("running ones", [0]), ("FailedScheduling", [0, 1]), ("FailedScheduling", [0])] == [
        (line.measure, [point.value for point in line.points]) for line in lines]
    assert {longer.now} == {line.until for line in lines}
    assert [longer.world.known_steps, 0] == [line.last_step for line in lines[:2]]


@pytest.mark.parametrize(("steps", "running", "held"), [
    (4, [(0.0, 0, 0), (2.0, 1, 5), (5.0, 0, 8)], [(0.0, 0.0, 0), (2.0, 1.0, 3), (5.0, 0.0, 8)]),
    (8, [(2.0, 0, 0), (2.0, 1, 1), (5.0, 0, 4)], [(2.0, 1.0, 0), (5.0, 0.0, 4)]),
])  # fmt: skip
def test_a_world_that_was_restored_is_counted_from_there(steps, running, held):
    """What was before is not known: the first value stands at the time of the restored place, wherever the cluster is now."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.run(steps=steps)
    cluster.world.restore(cluster.world.checkpoint())
    cluster.run()
    cluster.wait(3)
    cluster.delete("pod/my-pod")
    cluster.run()
    cluster.goto(1)

    assert [running, held] == [[attrs.astuple(point) for point in line.points] for line in timelines([cluster], ["running", "cpu held"])]


def test_a_wait_comes_after_the_start():
    """A run that begins with a user who waits is counted from the beginning on."""
    waited = kvolsched.Cluster()
    waited.wait(5)
    line, = timelines([waited], "running")

    assert ([(0.0, 0, 0)], 5) == ([attrs.astuple(point) for point in line.points], line.until)


def test_reasons_of_events_are_told_by_name():
    """What was counted of each, what there is, and what may have been meant are in order, whichever came first."""
    reasons = [f"Late{letter}" for letter in "fbdace"]
    events = [{"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{number}", "namespace": "default"}, "reason": reason, "count": 1,
               "type": "Warning", "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}} for number, reason in enumerate(reasons)]
    cluster = kvolsched.Cluster.from_manifests(events)
    line, = timelines([cluster], "failures")
    with pytest.raises(ValueError, match=r"reasons of Events: Latea, Lateb, Latec, Lated, Latee, Latef; .* did you mean Latea, Lateb or Latec?"):
        timelines([cluster], "Latez")

    assert tuple((reason, 1) for reason in sorted(reasons)) == line.reasons


def test_a_bar_counts_the_steps_at_which_functions_are_asked(monkeypatch):
    """It is as long as the steps and the start together, and does not appear where no function is asked."""
    bars = []

    class Bar:
        def __init__(self, *total, **options):
            bars.append([*total, options, 0])

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda *_: None  # noqa: E731

        def update(self):
            bars[-1][-1] += 1

    monkeypatch.setattr(series, "ProgressBar", Bar)
    cluster = ran("zonal-example")
    timelines([cluster], ["running", "pending"])
    timelines([cluster], lambda c: c.now)
    steps = cluster.world.known_steps + 1

    assert [[steps, {"unit": " steps"}, steps]] == bars


def test_a_cluster_stays_where_it_is_when_its_copy_fails(monkeypatch):
    """If the copy with the known future cannot be made, the cluster is again at its step, with its views."""
    cluster = ran("zonal-example")
    cluster.goto(3)
    place, shown = cluster.world.place, cluster.manifests()
    with monkeypatch.context() as patched:
        patched.setattr(type(cluster), "fork", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            timelines([cluster], lambda c: c.now)

    assert (place, shown) == (cluster.world.place, cluster.manifests())
    cluster.run()
    assert [0, 1] == values(cluster, "running")
