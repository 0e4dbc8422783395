"""A world put away and taken out again is the same world, whatever happened to it in between."""

from hypothesis import given
from hypothesis import strategies as st
from world.moves import ACTORS, COMPONENTS, NAMES, crash, go, live, lives, user
from world.toys import picture, world

from kvolsched.world.log import Key

# Who has waited longest is of the past, which a snapshot does not keep: afterwards everybody is chosen.
chosen = st.lists(st.one_of(
    st.sampled_from(ACTORS).map(go), st.sampled_from(COMPONENTS).map(crash),
    st.builds(user, st.sampled_from(["create", "delete", "relabel"]), st.sampled_from(NAMES)),
), max_size=15)


def meant(sim):
    """What a snapshot promises: contents, what is seen, lists of what to do, what is yet to see, views, digest."""
    contents, views = picture(sim)
    there = {key.kind for key in sim.log.objects}
    pending = {  # a list of a kind of which nothing is left brings nothing: only a watch knows that something was
        name: sorted(kind for kind in process.pending if kind in there or sim.log.notes.get(process.cursors[kind], 0))
        for name, process in sim.processes.items()
    }
    return contents, {what: view for what, view in views.items() if what[1] != "pending"}, pending, sim.digest()


@given(lives, lives, chosen)
def test_a_snapshot_is_the_same_world(before, between, after):
    """Taken out again, also after other snapshots were, a world is as it was, and goes on as it would have."""
    sim = live(world(), before)
    fork = sim.fork()
    first, there = sim.checkpoint(), meant(sim)
    live(sim, between)
    second, later = sim.checkpoint(first), meant(sim)

    for snapshot, expected in ((first, there), (second, later), (first, there)):
        sim.restore(snapshot)
        assert expected == meant(sim)

    live(sim, after)
    live(fork, after)
    assert meant(fork) == meant(sim)


@given(lives, lives, st.sampled_from(["greeter", "counter", "claimer"]))
def test_views_of_a_restored_world_can_be_built(before, between, name):
    """Moved by differences or built anew: the same views; and a tail is kept for whoever lags behind."""
    sim = live(world(), before)
    snapshot = sim.checkpoint()
    live(sim, between)
    sim.restore(snapshot)
    moved = meant(sim)

    sim.rebuild()
    assert moved == meant(sim)
    sim.deliver(sim.processes[name])
    stored = {key for key in sim.log.objects if key.kind in sim.processes[name].cursors}
    seen = {key for objects in sim.processes[name].seen.kinds.values() for key in objects}
    assert stored == seen
    assert all(isinstance(key, Key) for key in seen)
