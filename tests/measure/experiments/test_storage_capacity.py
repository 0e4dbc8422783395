"""The published experiment of storage capacity: volumes that just fit, with, without and with late tracking."""

import pytest

from kvolsched import experiments


@pytest.mark.checklist("144", "145")
def test_without_tracking_pods_are_stuck_and_with_it_all_run():
    """Half of the nodes are preferred: untracked they are tried for ever though the others have room; tracked all run."""
    without = experiments.capacity(nodes=4, volumes=40, tracking=False, timeout=120, progress=False)
    tracked = experiments.capacity(nodes=4, volumes=40, timeout=120, progress=False)

    assert (40, 0) == (tracked.running, tracked.stuck)
    assert tracked.last is not None
    assert without.last is None
    assert without.stuck > 0
    assert without.failures > 10 * max(1, tracked.failures)
    assert [10, 10, 10, 10] == [row.pods for row in tracked.rows]
    assert without.failures == sum(row.failures for row in without.rows)
    assert "are stuck at" in repr(without)


@pytest.mark.checklist("180")
def test_old_news_costs_failures_and_time():
    """The later capacity is published, the more creations fail and the later the last pod runs; all run in the end."""
    runs = list(experiments.compare_capacity(nodes=4, volumes=20, lags=[5, 20], timeout=200, progress=False))[1:]

    assert [20, 20, 20] == [run.running for run in runs]
    assert [run.failures for run in runs] == sorted(run.failures for run in runs)
    assert [run.last for run in runs] == sorted(run.last for run in runs)
    assert runs[0].failures < runs[2].failures
    assert "published 20 s late" in repr(runs[2])


def test_a_seed_decides_everything():
    """The same arguments give the same run, the cluster included; room that cannot be shared out is exact all the same."""
    first, second = (experiments.capacity(nodes=3, volumes=7, seed=3, progress=False) for _ in range(2))

    assert first == second
    assert first.cluster.digest() == second.cluster.digest()
    assert [3, 2, 2] == [row.pods for row in first.rows]
    assert 0 == sum(pool.free for pool in first.cluster.pools())


def test_it_wants_nodes_and_volumes():
    """Nothing to place, nowhere to place it."""
    with pytest.raises(ValueError, match="0 nodes and 5 volumes: wants at least one of each"):
        experiments.capacity(nodes=0, volumes=5)
