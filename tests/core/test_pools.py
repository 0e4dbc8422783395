"""Pools that change from outside in a running cluster, and how publishing follows: interval, lag, workers, qps."""

import re

import pytest
from documents.clusters import cluster, events, where
from manifests import DRIVER, ZONE, claim, node, pod, storage_class

from kvolsched import Cluster, Scenario
from kvolsched.learn.scenario import read

NODES = [node("a1", "a"), node("b1", "b")]
TRACKED = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
           "spec": {"storageCapacity": True, "capacityTracking": True}}
FORMS = {"upstream": {}, "design": {"prefix": "topology.kubernetes.io"}}


def world(pools, *more, revision="upstream", until=100, **publishing):
    """A cluster of two zones whose driver has these pools, run until all is quiet."""
    dials = {DRIVER: {"pools": pools, "publishing": {**FORMS[revision], **publishing}}}
    made = cluster(*NODES, storage_class(), TRACKED, *more, revision=revision, **dials)
    made.run(seconds=until)
    return made


def told(made):
    """The capacity that is published, by zone."""
    objects = {each.node_topology.match_labels[ZONE]: each.capacity for each in made.objects("csistoragecapacities")}
    entries = made[f"csidriver/{DRIVER}"].status.storage
    return objects or {pool.name.removeprefix("zone="): pool.capacity for entry in entries for pool in entry.pools}


@pytest.mark.parametrize("revision", ["upstream", "design"])
@pytest.mark.checklist("173", "268")
def test_a_pool_that_was_extended_is_published_at_the_next_poll_and_the_pod_runs(revision):
    """The pod waits for room in vain; the pool is extended; the poll after at most a minute finds it, and the pod runs."""
    made = world({"a": "10Gi", "b": "10Gi"}, claim("data", "50Gi"), pod("app", "data"), revision=revision)
    assert [""] == where(made, "app")
    answer = made.set_pool(DRIVER, "b", capacity="100Gi")
    assert f"pool b of {DRIVER}: 10Gi → 100Gi" == repr(answer)
    assert {"a": "10Gi", "b": "10Gi"} == told(made)
    made.run("pod/app Running", seconds=300)

    assert ["b1"] == where(made, "app")
    assert 50 * 2**30 == made.pools()["b"].free
    made.run(seconds=100)
    assert {"a": "10Gi", "b": "50Gi"} == told(made)


@pytest.mark.parametrize("revision", ["upstream", "design"])
@pytest.mark.checklist("268")
def test_a_retried_creation_succeeds_when_its_pool_is_extended(revision):
    """Nothing is tracked: creation fails and is retried; room elsewhere helps nobody, room in the pool itself does."""
    pools = {"a": "10Gi", "b": "10Gi"}
    made = cluster(*NODES, storage_class(), claim("data", "50Gi"), pod("app", "data"), revision=revision,
                   **{DRIVER: {"pools": pools, "on_failure": "retry"}})
    made.run(seconds=60)
    (row,) = {row.node for row in made.passes("app") if row.node}
    own = row[0]
    other, = {*pools} - {own}
    assert "code = ResourceExhausted" in events(made, "data", "ProvisioningFailed")[0]
    made.set_pool(DRIVER, other, capacity="1Ti")
    made.run(seconds=900)
    assert ("Pending", {row}) == (made["pvc/data"].status.phase, {each.node for each in made.passes("app") if each.node})
    made.set_pool(DRIVER, own, capacity="100Gi")
    made.run("pod/app Running", seconds=900)
    assert [row] == where(made, "app")
    assert (50 * 2**30, 2**40) == (made.pools()[own].free, made.pools()[other].free)


@pytest.mark.parametrize("revision", ["upstream", "design"])
@pytest.mark.checklist("180")
def test_room_that_others_took_makes_an_approved_creation_fail(revision):
    """The pool shrinks behind Kubernetes' back: the old news approves the node, creation fails, what was made stays."""
    made = world({"a": "100Gi", "b": "0"}, revision=revision, interval=3600.0)
    made.set_pool(DRIVER, "a", capacity="50Gi")
    made.apply(claim("one", "30Gi"), claim("two", "40Gi"), pod("app", "one", "two"))
    made.run(seconds=60)

    assert [""] == where(made, "app")
    assert ["Bound", "Pending"] == sorted(made[f"pvc/{name}"].status.phase for name in ("one", "two"))
    failed = "one" if made["pvc/one"].status.phase == "Pending" else "two"
    assert "code = ResourceExhausted" in events(made, failed, "ProvisioningFailed")[0]
    assert 1 == len(made.objects("pv"))


@pytest.mark.checklist("156", "180")
def test_a_fragmented_pool_has_room_and_makes_no_large_volume():
    """Free in sum, not in one piece: the largest volume is published beside the capacity, and decides."""
    made = world({"a": "100Gi", "b": "0"})
    made.set_pool(DRIVER, "a", largest="20Gi")
    made.run(seconds=100)
    (news,) = (each for each in made.objects("csistoragecapacities") if each.capacity != "0")
    assert ("100Gi", "20Gi") == (news.capacity, news.maximum_volume_size)
    made.apply(claim("large", "30Gi"), pod("app", "large"), claim("small", "20Gi"), pod("other", "small"))
    made.run(seconds=100)

    assert ["", "a1"] == where(made, "app", "other")
    made.set_pool(DRIVER, "a", largest="")
    made.run(seconds=200)
    assert ["a1"] == where(made, "app")


def test_what_happened_outside_is_undone_by_back_and_known_to_the_digest():
    """A step of the log: back has the old size, a fork keeps its own, and equal sizes are equal worlds."""
    made = world({"a": "10Gi", "b": "10Gi"})
    before = made.digest()
    made.set_pool(DRIVER, "a", capacity="20Gi")
    fork = made.fork()
    assert before != made.digest() == fork.digest()
    assert f"The storage of {DRIVER} changes: pool a has 20Gi, it had 10Gi." == made._last_step.words
    made.back()
    assert (10, 20) == tuple(each.pools()["a"].capacity >> 30 for each in (made, fork))
    assert before == made.digest()


@pytest.mark.parametrize(("call", "said"), [
    ({"driver": "none", "pool": "a"}, f"no driver 'none' with pools; there are: {DRIVER}"),
    ({"pool": "c"}, f"driver {DRIVER} has no pool 'c'; there are: a, b"),
    ({"capacity": "lots"}, f"pool a of {DRIVER}: capacity: 'lots': must be a size such as 10Gi"),
    ({"largest": "-1Gi"}, f"pool a of {DRIVER}: largest: '-1Gi': must be a size such as 10Gi"),
])  # fmt: skip
def test_wrong_calls_name_what_is_there_and_change_nothing(call, said):
    """Driver, pool and sizes are checked first."""
    made = world({"a": "10Gi", "b": "10Gi"})
    steps = made.world.step_number
    with pytest.raises((KeyError, ValueError), match=re.escape(said)):
        made.set_pool(**{"driver": DRIVER, "pool": "a", **call})
    assert steps == made.world.step_number


def test_the_pools_are_listed_as_they_are():
    """Size, free bytes, largest volume and who takes room; without pools the answer says how to get some."""
    made = world({"a": "10Gi", "b": "0"}, claim("data", "4Gi"), pod("app", "data"))
    name = made.objects("pv")[0].metadata.name

    assert re.search(rf"{DRIVER} +a +10Gi +6Gi +6Gi +{name}\n", repr(made.pools()))
    assert re.search(rf"{DRIVER} +b +0 +0 +0 +<none>", repr(made.pools(DRIVER)))
    assert "no driver has pools" in repr(Cluster().pools())


def test_pools_may_have_names():
    """A pool of a list is called by its name, else by the values of its topology; equal ones are numbered."""
    zone = {"topology": {ZONE: "a"}, "capacity": "1Gi"}
    made = world([zone, zone, {**zone, "name": "fast"}, {"capacity": "2Gi"}])

    assert ["a", "a-2", "fast", "cluster"] == [row.pool for row in made.pools()]
    with pytest.raises(ValueError, match="name 'x' is given 2 times"):
        world([{**zone, "name": "x"}] * 2)


# -- publishing ------------------------------------------------------------------------------------------------------


def writes_at(made):
    """The seconds at which capacities were published."""
    return [row.time for row in made.requests(by=DRIVER) if row.resource.startswith(("csidrivers", "csistoragecap"))]


@pytest.mark.parametrize("revision", ["upstream", "design"])
@pytest.mark.checklist("173")
def test_an_answer_is_published_after_the_lag(revision):
    """What is written was true five seconds ago: a volume that is made meanwhile is in the next answer only."""
    made = world({"a": "100Gi", "b": "0"}, revision=revision, lag=5.0, workers=2)
    assert [5.0, 5.0] == writes_at(made)
    made.apply(claim("data", "60Gi"), pod("app", "data"))
    made.run("pod/app Running")
    assert {"a": "100Gi", "b": "0"} == told(made)
    made.apply(claim("more", "60Gi"), pod("next", "more"))
    made.run(lambda it: bool(events(it, "more", "ProvisioningFailed")), seconds=30)
    assert events(made, "more", "ProvisioningFailed")
    made.run(seconds=60)
    assert {"a": "40Gi", "b": "0"} == told(made)


@pytest.mark.parametrize("revision", ["upstream", "design"])
@pytest.mark.parametrize(("dials", "times"), [
    ({"lag": 2.0}, [2.0, 4.0]), ({"lag": 2.0, "workers": 2}, [2.0, 2.0]), ({"qps": 0.5, "workers": 2}, [0.0, 2.0]),
    ({"lag": 1.0, "qps": 0.5, "workers": 2}, [1.0, 3.0]), ({}, [0.0, 0.0]),
])  # fmt: skip
def test_workers_and_qps_limit_how_fast_capacities_are_published(revision, dials, times):
    """One worker publishes one after the other; at half a write a second the second is two seconds later."""
    assert times == writes_at(world({"a": "1Gi", "b": "1Gi"}, revision=revision, **dials))


def test_the_interval_decides_when_a_change_is_found():
    """Every ten seconds instead of every minute; with 0 nobody asks, and the run does not wait."""
    for interval, found in ((10.0, "5Gi"), (0.0, "1Gi")):
        made = world({"a": "1Gi", "b": "1Gi"}, interval=interval)
        made.set_pool(DRIVER, "a", capacity="5Gi")
        made.run()
        assert found == told(made)["a"]
        assert made.now <= 10.0


@pytest.mark.checklist("173")
def test_a_segment_that_shares_the_pool_is_published_too():
    """One pool for both zones: under S2 a volume in one is news for both; today the other follows at the next poll."""
    shared = [{"topology": {}, "capacity": "100Gi"}]
    for revision, at_once in (("design", {"40Gi"}), ("upstream", {"40Gi", "100Gi"})):
        made = world(shared, claim("data", "60Gi"), pod("app", "data"), revision=revision, until=30)
        assert at_once == {*told(made).values()}
        made.run(seconds=40)
        assert {"a": "40Gi", "b": "40Gi"} == told(made)


@pytest.mark.parametrize(("dial", "said"), [
    ({"workers": 0}, "publishing.workers: 0: must be a whole number from 1"), ({"lag": -1}, "publishing.lag: -1: must be a number of seconds")])
def test_dials_that_make_no_sense_are_refused(dial, said):
    """No workers, a lag before the answer."""
    with pytest.raises(ValueError, match=re.escape(said)):
        world({"a": "1Gi"}, **dial)


def test_a_scenario_may_change_a_pool():
    """`set_pool` is a word of scripts."""
    scenario = read("components: {lvm.example.com: {pools: {a: 1Gi}}}\n"
                    "script: [{set_pool: {driver: lvm.example.com, pool: a, capacity: 2Gi}}]", "resized")
    assert isinstance(scenario, Scenario)
    assert 2 << 30 == scenario.play().pools()["a"].capacity
