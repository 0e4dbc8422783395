"""Actors that name the kinds which they react to have no causes for changes of other kinds."""

import pytest

from kvolsched import Cluster
from kvolsched.api.kinds.kind import KINDS_BY_NAME
from kvolsched.learn.scenario import nodes, storage_class
from kvolsched.world.apiserver import key_of
from kvolsched.world.component import TurnContext


def naming_actors():
    """Return the actors of a cluster that name their kinds, with their component and world."""
    cluster = Cluster("upstream", components={"zonal.example.com": {"pools": {"zone-a": "1Ti"}}})
    cluster._load([*nodes(2), storage_class()])
    return [
        pytest.param(cluster.world, process, actor, id=actor.name)
        for process in cluster.world.processes.values() for actor in process.component.actors
        if getattr(actor, "reacts_to", None) is not None
    ]


@pytest.mark.parametrize(("world", "process", "actor"), naming_actors())
def test_no_change_of_another_kind_leaves_a_note(world, process, actor):
    """A new object, a changed one and a deleted one of every kind that the component watches."""
    others = [kind for kind in process.component.watches if kind not in actor.reacts_to]
    for kind in others:
        obj = KINDS_BY_NAME[kind].type()
        for old, new in ((None, obj), (obj, obj), (obj, None)):
            place = world.log.place
            actor.on_change(TurnContext(world, process, actor), key_of(obj), old, new)
            assert place == world.log.place, kind
    assert set(actor.reacts_to) <= set(process.component.watches)
