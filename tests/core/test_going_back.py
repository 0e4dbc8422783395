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
