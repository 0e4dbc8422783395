"""A first list is delivered at once, as an informer's Replace: as if it had been delivered object by object."""

from contextlib import contextmanager
from pathlib import Path

import pytest
from world.test_real_components import all_views

import kvolsched
from kvolsched import Cluster
from kvolsched.world import component, log, runtime
from kvolsched.world.log import Key, Log
from kvolsched.world.view import Index

DUMPS = Path(__file__).parents[1] / "conformance" / "dumps"
RESTARTING = ("kube-scheduler", "persistent-volume-binder", "kubelet")  # and those of each master
MAX_TURNS = 250


def one_by_one(view, _kind, objects):
    """Let a view take listed objects as if each came by itself."""
    for key, obj in objects.items():
        view.apply(key, None, obj)


@contextmanager
def delivering(*, at_once):
    """Deliver lists at once, however short they are, and take them back at once; or neither, however long they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "FAR", 0 if at_once else 10**9)
        patch.setattr(log, "FAR", 1 if at_once else 10**9)
        if not at_once:
            patch.setattr(component, "apply_list", one_by_one)
        yield


def turns_of(world, crashing):
    """Run a world turn by turn; yield each turn with the digest and the changes after it. Some components crash."""
    for number in range(MAX_TURNS):
        if crashing and number % 20 == 10:
            restarting = [name for name in world.processes if name.startswith(RESTARTING)]
            world.crash(restarting[number // 20 % len(restarting)])
        if number % 30 == 15:
            world.preview()
        if not world.step(turns=True):
            break
        yield world.turns[-1], world.digest(), world.log.place
    assert number > 5


def worlds():
    """Yield names and functions that make a cluster: scenarios from their start, and recorded dumps."""
    for revision in ("upstream", "design", "extender"):  # the extender has a cache of its own
        for name in ("two-replicas", "replicated-database", "zonal-example", "rolling-update"):
            yield pytest.param(lambda name=name, revision=revision: kvolsched.scenario(name, revision=revision), id=f"{name}-{revision}")
    yield pytest.param(lambda: Cluster.from_manifests(DUMPS / "storage.yaml.gz"), id="dump")


@pytest.mark.parametrize("make", [*worlds()])
@pytest.mark.parametrize("crashing", [False, True], ids=["quiet", "crashing"])
def test_lists_delivered_at_once_give_the_same_run(make, crashing):
    """The same turns, digests and positions of the log, and equal views at the end, whatever is queued or assumed."""
    with delivering(at_once=False):
        one = make().world
        expected = list(turns_of(one, crashing))
        end = all_views(one)
    with delivering(at_once=True):
        other = make().world
        for before, now in zip(expected, turns_of(other, crashing), strict=True):
            assert before == now
        assert end == all_views(other)
        assert all_views(other.fork()) == all_views(other)


def test_a_long_list_is_taken_back_at_once():
    """A component that has listed sees nothing after a move to the start, by a jump as by single changes."""
    sim = kvolsched.scenario("two-replicas").world
    start = sim.log.place
    before = all_views(sim.fork())
    with delivering(at_once=True):
        sim.step()
        assert sim.processes["kube-scheduler"].seen.all("Node")
        sim.log.seek(start)

    assert before == all_views(sim)


def test_an_index_sorts_a_list_in_when_it_is_read():
    """Until then it asks nobody for values; a change after the list finds what was listed."""
    asked = []

    def first_letter(name):
        asked.append(name)
        return [name[0]]

    keys = {name: Key("Pod", "", name) for name in ("ab", "ac", "bc")}
    index = Index("Pod", first_letter)
    index.apply_list("Pod", {key: name for name, key in keys.items()})
    assert [] == asked
    index.apply(keys["ab"], "ab", None)

    assert {"a": {keys["ac"]: "ac"}, "b": {keys["bc"]: "bc"}} == index.objects
    assert (["ac"], [keys["bc"]]) == (index.get("a"), index.keys("b"))


def test_a_list_of_an_earlier_position_has_the_objects_of_then():
    """Later versions, later objects and deletions are not in it; what was deleted since is."""
    stored = Log()
    cluster = Cluster.from_manifests(DUMPS / "storage.yaml.gz")
    first, second, third, *_ = cluster.objects("nodes")
    at = [Key("Node", "", node.metadata.name) for node in (first, second, third)]
    stored.write(at[0], first)
    stored.write(at[1], second)
    place = stored.place
    stored.write(at[0], None)
    stored.write(at[2], third)

    assert {at[0]: first, at[1]: second} == stored.listed("Node", place).objects
    assert {at[1]: second, at[2]: third} == stored.listed("Node", stored.place).objects
    assert [None, None] == [each.old for each in stored.listed("Node", place).deliveries]
