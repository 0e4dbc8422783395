"""Components that begin to watch when there is something for them: the laws hold with them in the world."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from world.moves import live, lives
from world.toys import CLAIMER, COUNTER, GREETER, create, picture, pod

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.world.activation import Exists
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation


def labelled(found):
    """Say whether a toy's pod bears any label."""
    return bool(found.metadata.labels)


LATE = attrs.evolve(COUNTER, activation=lambda: Exists("Pod", labelled))


def world(*components):
    """A world in which the counter begins to watch when a pod has a label."""
    return Simulation(components or [GREETER, LATE, CLAIMER])


@given(lives, st.integers(0, 400))
def test_moved_or_built_the_same_listens(life, place):
    """At any place of the log everything is as if built anew: who listens, what is pending, what was seen."""
    sim = live(world(), life)
    sim.log.seek(min(place, sim.log.end))
    process = sim.processes[LATE.name]
    moved = picture(sim), process.watching, dict(process.pending)

    sim.rebuild()

    assert moved == (picture(sim), process.watching, dict(process.pending))


@given(lives)
def test_who_does_not_listen_has_nothing(life):
    """No cursor, no note, nothing seen and nothing to see; and one that needs nothing always listens."""
    sim = live(world(), life)
    process = sim.processes[LATE.name]
    if not process.watching:
        assert not [note for note in sim.log.notes if note.component == LATE.name]
        assert not process.pending
        assert not any(process.seen.kinds.values())
    assert sim.processes[GREETER.name].watching


@given(lives)
def test_snapshots_hold_who_listens(life):
    """A world put away and taken out again is the same, and has the same digest."""
    sim = live(world(), life)
    before = picture(sim), sim.digest(), sim.processes[LATE.name].watching
    snapshot = sim.checkpoint()
    fork = sim.fork()
    fork.digest()
    fork.restore(snapshot)

    assert before == (picture(fork), fork.digest(), fork.processes[LATE.name].watching)


def test_it_begins_with_the_need_and_sees_everything_then():
    """Before, it is as if it were not there; then it lists what there is, and goes on when the need is over."""
    sim = world(LATE)
    sim.perform("user", [create(pod("a"))])
    process = sim.processes[LATE.name]
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
