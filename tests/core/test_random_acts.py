"""Every public act in random order leaves a whole cluster: log, views, digests, kept verdicts and nodes agree.

`python tests/random_acts.py SEED` tells the fewest acts of a finding.
"""

from concurrent.futures import ProcessPoolExecutor

import pytest
import random_acts

import kvolsched

SAMPLE = (1, 2, 3, 7, 14, 23)  # few of these begin with old rules, or come to run them
BLOCKS, ACTS = 20, 100_000  # in blocks, so that a finding is told before all acts are done


def test_a_sample_of_random_acts_finds_nothing():
    """Nothing is inconsistent after any of some 240 acts, forced interrupts among them."""
    runs = [random_acts.Run(seed) for seed in SAMPLE]
    assert [] == [random_acts.report(run.seed) for run in runs if run.play()]
    assert sum(run.checked for run in runs) > len(SAMPLE) * random_acts.ACTS / 2  # whether nodes are crowded


@pytest.mark.long
@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_hundred_thousand_random_acts_find_nothing(block):
    """The same of 100,000 acts, on every core."""
    seeds = range(block, ACTS // random_acts.ACTS, BLOCKS)
    found = kvolsched.sweep(random_acts.wrong, {"seed": seeds}, ProcessPoolExecutor)
    assert (len(seeds), ()) == (len(found), found.failures)
    assert [] == [random_acts.report(row["seed"]) for row in found if row["result"]]


def test_a_seed_does_the_same_again():
    """A run follows from its seed: its acts and what they are told are the same a second time."""
    runs = [random_acts.Run(7, 20), random_acts.Run(7, 20)]
    assert ["", ""] == [run.play() for run in runs]
    assert runs[0].acts == runs[1].acts
    assert runs[0].cluster.digest() == runs[1].cluster.digest()


def test_what_is_corrupt_is_found():
    """A write past the log, a lost turn, and a view that has not followed are each found."""
    for corrupt, words in (
        (lambda world: world.log.notes.clear(), "the map is not what the log makes"),
        (lambda world: world.log.changes.old.reverse(), "is not of the value before"),
        (lambda world: world.history.ends.reverse(), "the ends of steps are"),
        (lambda world: world.processes["kube-scheduler"].views["cache"].snapshot.nodes.live.array.fill(False), "judged otherwise"),
    ):
        other = kvolsched.scenario("zonal-example")
        other.step("scheduler")
        assert "" == random_acts.inconsistent(other)
        corrupt(other.world)
        assert words in random_acts.inconsistent(other), words
