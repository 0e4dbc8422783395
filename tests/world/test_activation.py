"""The laws of the world hold with components that watch only under an activation condition."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from world.strategies import live, lives
from world.toy_components import CLAIMER, COUNTER, GREETER, create, picture, pod

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation
from kvolsched.world.view import Exists


def has_labels(pod):
    """Return whether a pod has any label."""
    return bool(pod.metadata.labels)


LATE_COUNTER = attrs.evolve(COUNTER, activation=lambda: Exists("Pod", has_labels))


def world(*components):
    """Return a world in which the counter begins to watch when a pod has a label."""
    return Simulation(components or [GREETER, LATE_COUNTER, CLAIMER])


@given(lives, st.integers(0, 400))
def test_moved_and_rebuilt_processes_are_equal(life, place):
    """At any position of the log, moved processes equal rebuilt ones: watching, pending changes, seen objects."""
    sim = live(world(), life)
    sim.log.seek(min(place, sim.log.end))
    process = sim.processes[LATE_COUNTER.name]
    moved = picture(sim), process.watching, dict(process.pending)

    sim.rebuild()

    assert moved == (picture(sim), process.watching, dict(process.pending))


@given(lives)
def test_a_component_that_does_not_watch_has_no_state(life):
    """It has no cursor, note, seen object or pending change; a component without condition always watches."""
    sim = live(world(), life)
    process = sim.processes[LATE_COUNTER.name]
    if not process.watching:
        assert not [note for note in sim.log.notes if note.component == LATE_COUNTER.name]
        assert not process.pending
        assert not any(process.seen.kinds.values())
    assert sim.processes[GREETER.name].watching


@given(lives)
def test_checkpoints_keep_who_watches(life):
    """A world restored from a checkpoint equals the saved one, and so does its digest."""
    sim = live(world(), life)
    before = picture(sim), sim.digest(), sim.processes[LATE_COUNTER.name].watching
    checkpoint = sim.checkpoint()
    fork = sim.fork()
    fork.digest()
    fork.restore(checkpoint)

    assert before == (picture(fork), fork.digest(), fork.processes[LATE_COUNTER.name].watching)


def test_watching_begins_with_the_condition_and_lists_every_object():
    """Before, the component is idle; then it lists every object, and going back ends its watching."""
    sim = world(LATE_COUNTER)
    sim.perform("user", [create(pod("a"))])
    process = sim.processes[LATE_COUNTER.name]
    assert not process.watching
    plain = pod("b")
    marked = evolve_parts(plain, metadata={"labels": plain.metadata.labels.with_(x="1")})
    sim.perform("user", [create(marked)])
    assert process.watching
    for _ in sim.run():
        pass
    assert {"a", "b"} == {key.name for key in process.seen.kinds["Pod"]}
    sim.goto(1)
    assert not process.watching
    assert Key("Pod", "default", "a") in sim.log.objects
