"""Who listens to a cluster hears of every move of it, and cannot harm it."""

import random
import threading

import pytest
from random_acts import differs_after_a_journey, inconsistent

import kvolsched


@pytest.fixture
def c():
    """Return a cluster at its start."""
    return kvolsched.scenario("zonal-example")


def heard(cluster):
    """Return a list that gets step and branch of each move."""
    moves = []
    cluster.on_move(lambda: moves.append((cluster.world.step_number, cluster.world.branch)))
    return moves


def test_every_kind_of_move_is_heard_once(c):
    """Steps, runs, acts, moves in time and to branches are told when they are made."""
    moves = heard(c)
    c.step()
    c.run(steps=2)
    c.goto(1)
    c.goto(1)
    c.goto(1, branch="closed")
    c.cordon("node-a")
    c.back()
    c.goto("main")
    assert [(1, "main"), (2, "main"), (3, "main"), (1, "main"), (1, "closed"), (2, "closed"), (1, "closed"),
            (3, "main")] == moves


def test_questions_move_nothing(c):
    """What is tried and undone, or asked of a fork, is no move; a fork has no listeners."""
    c.run(steps=4)
    moves = heard(c)
    repr((c.next, c.why("my-pod"), c.map(), c.lab(text=True), c.skew("my-pod", at=2), c.explore(max_states=5, progress=False)))
    c.fork().run()
    assert [] == moves


def test_a_refused_act_is_no_move(c):
    """Nothing is told of a request that changed nothing."""
    moves = heard(c)
    with pytest.raises(kvolsched.ApplyRefused):
        c.apply("{apiVersion: v1, kind: Pod, metadata: {name: BAD}, spec: {containers: [{name: a, image: a}]}}")
    assert [] == moves


def test_an_error_of_a_listener_is_a_warning_and_the_move_stands(c):
    """The others are still told, and the run goes on to the end that it has with nobody listening."""
    def broken():
        raise LookupError("no such widget")

    end = c.on_move(broken)
    moves = heard(c)
    with pytest.warns(UserWarning, match=r"broken, called by on_move, raised LookupError: no such widget .*on_move"):
        c.run()
    end()
    expected = kvolsched.scenario("zonal-example")
    expected.run()
    assert (c.digest(), {step for step, _ in moves}) == (expected.digest(), set(range(1, 10)))
    assert ("", "") == (inconsistent(c), differs_after_a_journey(c, random.Random(1)))


def test_an_interrupt_in_a_listener_comes_after_the_step(c):
    """Ctrl-C there ends the run, the step that was told of is made, and the lock is free."""
    def pressed():
        raise KeyboardInterrupt

    end = c.on_move(pressed)
    with pytest.raises(KeyboardInterrupt):
        c.run()
    assert (c.world.step_number, c.world.lock._is_owned()) == (1, False)
    end()
    c.run()
    assert 9 == c.world.step_number


def test_nobody_is_told_after_the_end(c):
    """What `on_move` returns ends that listener alone, also twice."""
    first, second = heard(c), []
    end = c.on_move(lambda: second.append(1))
    c.step()
    end()
    end()
    c.step()
    assert (2, 1) == (len(first), len(second))


def test_a_listener_may_ask_and_move(c):
    """It holds the cluster's lock: it asks, or makes another step, of which it is told too."""
    def twice():
        if c.world.step_number % 2:
            c.step()

    c.on_move(twice)
    moves = heard(c)
    c.step()
    assert (2, 2) == (c.world.step_number, moves[-1][0])


def test_a_listener_is_called_by_the_thread_that_moves(c):
    """It has the lock, so that nobody else moves the cluster meanwhile."""
    called = []
    c.on_move(lambda: called.append((threading.get_ident(), c.world.lock._is_owned())))
    other = threading.Thread(target=c.step)
    other.start()
    other.join(10)
    assert [(other.ident, True)] == called
