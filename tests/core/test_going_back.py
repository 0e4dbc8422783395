"""Going back over whatever was done: a step that was left for another one is found again as it was."""

import random

import pytest

import kvolsched

ACTS = (
    lambda c, rng: c.run(steps=rng.randint(1, 30)),
    lambda c, rng: c.run(seconds=rng.choice((1, 60))),
    lambda c, rng: c.wait(rng.choice((1, 10, 60))),
    lambda c, _: c.stop_nodes("node-a"),
    lambda c, _: c.cordon("node-b"),
)


@pytest.mark.parametrize("seed", range(12))
def test_every_step_is_found_as_it_was_left(seed):
    """After run, wait and stop_nodes in any order, `goto` and `back` bring the digest of each step."""
    rng, c = random.Random(seed), kvolsched.scenario("zonal-example")
    left = {}
    for _ in range(6):
        rng.choice(ACTS)(c, rng)
        left[c.world.step_number] = c.digest()
    for step in rng.sample(sorted(left), len(left)):
        c.goto(step)
        assert left[step] == c.digest()
    c.goto(-1)
    for step in sorted(left, reverse=True):
        c.back(c.world.step_number - step)
        assert left[step] == c.digest()


@pytest.mark.parametrize("step", range(1, 40, 2))
def test_a_wait_is_undone_wholly(step):
    """`goto` brings the digest of a step from before a wait, also if nothing but quiet turns followed it."""
    c = kvolsched.scenario("zonal-example")
    c.run(steps=step)
    c.stop_nodes("node-a")
    left = {c.world.step_number: c.digest()}
    for seconds in (1, 60):
        c.wait(seconds)
        left[c.world.step_number] = c.digest()
    for number in sorted(left):
        c.goto(number)
        assert left[number] == c.digest()


def test_a_turn_of_a_known_step_is_a_step_from_then_on():
    """In the known past one turn of a step is made: the rest of the step and all later ones are found by new numbers."""
    c = kvolsched.scenario("zonal-example")
    c.run()
    told = {number: repr(c.goto(number)).partition("s: ")[2] for number in range(1, 10)}
    c.goto(2)
    c.step(turns=True)
    first, rest = told[3].split("\n")

    assert (10, ["main"]) == (c.world.known_steps, c.branches)
    assert first == repr(c._last_step).partition("s: ")[2]
    assert rest.strip() == repr(c.goto(4)).partition("s: ")[2]
    assert [told[number] for number in range(4, 10)] == [repr(c.goto(number + 1)).partition("s: ")[2] for number in range(4, 10)]
    assert [turn.step for turn in c.world.turns] == sorted(turn.step for turn in c.world.turns)


def test_time_that_passes_in_vain_is_a_step():
    """A run of some seconds in which nobody acts is a step of its own: the one before is found as it was left."""
    c = kvolsched.scenario("zonal-example", **{"kubernetes.io/gce-pd": {"delay": 60.0}})
    c.run(seconds=1)
    number, digest = c.world.step_number, c.digest()
    run = c.run(seconds=5)

    assert ("5 s of simulated time are over", number + 1, 6.0) == (run.ended, c.world.step_number, c.now)
    assert ([number + 1], ()) == ([step.number for step in run], run.quiet)
    assert f"step {number + 1}, t=6 s: Nothing happens until t = 6 s." == repr(c._last_step)
    c.back()
    assert digest == c.digest()


@pytest.mark.parametrize("name", ["zones", "six-in-three-zones"])
def test_a_repeated_step_is_the_known_one(name):
    """A step that is made again in the past stores equal objects: from wherever it is reached its digest is the same."""
    c = kvolsched.scenario(name)
    c.run(steps=40)
    known = c.world.known_steps
    for step in range(0, known - 2, 4):
        c.goto(step)
        c.run(steps=2)
        digest = c.digest()
        for other in (known, 0, known):
            c.goto(other)
            c.goto(step + 2)
            assert digest == c.digest()


def test_a_branch_leads_to_its_end_whether_one_is_on_it_or_not():
    """The name of the present branch is no error: it means its last step."""
    c = kvolsched.scenario("zonal-example")
    c.run()
    last = repr(c.goto(-1))
    c.goto(3)
    assert repr(c.goto("main")) == last
    assert c.branches == ["main"]
