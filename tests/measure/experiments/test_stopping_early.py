"""A search that stops early: how far it goes, and what it misses, beside every search written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched import Cluster, UnknownName, experiments, make, scenario


@pytest.mark.parametrize(("nodes", "percentage", "expected"), [
    (10, 0, 10), (99, 0, 99), (100, 0, 100), (1_000, 0, 420), (1_000, 40, 400), (5_000, 0, 500), (6_000, 0, 300),
    (6_000, 40, 2_400), (1_000, 100, 1_000),
])
def test_how_many_nodes_are_found(nodes, percentage, expected):
    """The table of kube-scheduler's own tests: all of few nodes, and a share that falls with their number."""
    assert expected == experiments.nodes_to_find(nodes, percentage)


def searched(fitting, best, count, limit, first):
    """One search, as it is described: (nodes judged, whether it found the best node)."""
    found, judged = set(), 0
    while len(found) < limit:
        if (node := (first + judged) % count) in fitting:
            found.add(node)
        judged += 1
    return judged, best in found


@given(st.data())
def test_every_search_written_out(data):
    """Over all first nodes: what is judged, and how often the best node is missed, in any cluster, at any limit."""
    count = data.draw(st.integers(1, 9))
    fitting = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    limit = data.draw(st.integers(1, len(fitting)))
    best = data.draw(st.sampled_from(sorted(fitting)))
    size = {node: "32" if node == best else "4" if node in fitting else "100m" for node in range(count)}
    c = Cluster.from_manifests([*(make.node(f"n{node}", cpu=size[node]) for node in range(count)), make.pod("app", cpu="1")])
    (row,) = experiments.stopping_early(c, "app", limit)
    expected = [searched(fitting, best, count, limit, first) for first in range(count)]
    assert limit == row["found"]
    assert sum(judged for judged, _ in expected) / count == row["judged"]
    assert sum(not hit for _, hit in expected) / count == row["missed"]
    assert (row["lost"] > 0) == (row["missed"] > 0)


def test_by_default_the_limit_of_the_scheduler_and_all():
    """Without limits: where kube-scheduler would stop, and a search of all nodes, which misses nothing."""
    rows = experiments.stopping_early(scenario("disks-by-node", nodes=120, exact=1), "db")
    assert [100, 120] == [row["found"] for row in rows]
    assert [20 / 120, 0] == [row["missed"] for row in rows]


def test_what_cannot_be_searched_is_said():
    """No such pod, no node that fits, a limit below 1."""
    c = scenario("disks-by-node")
    with pytest.raises(UnknownName, match="dbx"):
        experiments.stopping_early(c, "dbx")
    with pytest.raises(ValueError, match="at least 1"):
        experiments.stopping_early(c, "db", 0)
    c.cordon("node-1"), c.cordon("node-2"), c.cordon("node-3"), c.cordon("node-4")
    with pytest.raises(ValueError, match="no node fits db"):
        experiments.stopping_early(c, "db", 1)
