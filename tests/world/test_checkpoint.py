"""A world restored from a checkpoint equals the saved one, whatever happened to it in between."""

from hypothesis import given
from hypothesis import strategies as st
from world.strategies import ACTORS, COMPONENTS, NAMES, crash, go, live, lives, user
from world.toy_components import picture, pod, world

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.world.log import Key, Log

# A checkpoint does not keep who has waited longest: afterwards every actor is chosen by name.
chosen_moves = st.lists(st.one_of(
    st.sampled_from(ACTORS).map(go), st.sampled_from(COMPONENTS).map(crash),
    st.builds(user, st.sampled_from(["create", "delete", "relabel"]), st.sampled_from(NAMES)),
), max_size=15)


def promised(sim):
    """Return what a checkpoint keeps: contents, seen objects, queues, kinds with pending changes, views, digest."""
    contents, views = picture(sim)
    stored_kinds = {key.kind for key in sim.log.objects}
    pending = {  # a list of a kind without objects brings nothing: only a watch shows that objects were removed
        name: sorted(
            kind for kind in process.pending
            if kind in stored_kinds or sim.log.notes.get(process.cursors[kind], 0)
        )
        for name, process in sim.processes.items()
    }  # fmt: skip
    kept = {what: view for what, view in views.items() if what[1] not in ("pending", "oldest task")}
    return contents, kept, pending, sim.digest()


@given(lives, lives, chosen_moves)
def test_a_restored_world_equals_the_saved_one(before, between, after):
    """It does also after other checkpoints were restored, and continues like a world that never moved."""
    sim = live(world(), before)
    fork = sim.fork()
    first, at_first = sim.checkpoint(), promised(sim)
    live(sim, between)
    second, at_second = sim.checkpoint(first), promised(sim)

    for checkpoint, expected in ((first, at_first), (second, at_second), (first, at_first)):
        sim.restore(checkpoint)
        assert expected == promised(sim)

    live(sim, after)
    live(fork, after)
    assert promised(fork) == promised(sim)


@given(lives, lives, st.sampled_from(["greeter", "counter", "claimer"]))
def test_views_of_a_restored_world_equal_rebuilt_ones(before, between, name):
    """Views moved by differences equal rebuilt ones, and the tail is kept for components that lag behind."""
    sim = live(world(), before)
    checkpoint = sim.checkpoint()
    live(sim, between)
    sim.restore(checkpoint)
    moved = promised(sim)

    sim.rebuild()
    assert moved == promised(sim)
    sim.deliver(sim.processes[name])
    stored = {key for key in sim.log.objects if key.kind in sim.processes[name].cursors}
    seen = {key for objects in sim.processes[name].seen.kinds.values() for key in objects}
    assert stored == seen
    assert all(isinstance(key, Key) for key in seen)


def test_an_object_that_was_there_before_a_restored_log_is_listed_after_it_changed():
    """Who has listed nothing yet must list it: also once a change of it is taken back."""
    key, old = Key("Pod", "default", "p"), evolve_parts(pod("p"), metadata={"resource_version": 5})
    log = Log()
    log.restore({key: old}, {}, (), 10)
    log.write(key, evolve_parts(old, metadata={"resource_version": 11}))

    assert 0 == log.first_change("Pod", 0)
    assert log.first_change("Node", 0) is None


def test_an_object_made_and_changed_after_a_restored_log_is_gone_when_both_are_taken_back():
    """Its creation is the first change; once that is undone nothing of its kind is left to be listed."""
    key, made = Key("Pod", "default", "p"), evolve_parts(pod("p"), metadata={"resource_version": 11})
    log = Log()
    log.restore({}, {}, (), 10)
    log.write(key, made)
    log.write(key, evolve_parts(made, metadata={"resource_version": 12}))

    assert 10 == log.first_change("Pod", 0)
    log.seek(10)
    assert log.first_change("Pod", 0) is None
