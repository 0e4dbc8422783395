"""What spreading costs pods that use it, and pods that do not."""

import pytest

from kvolsched import experiments

both = pytest.mark.parametrize("revision", ["design", "upstream"])


@both
@pytest.mark.checklist("220", "227")
def test_pods_without_constraints_cost_nothing(revision):
    """However many nodes and spread pods there are, a pod without constraints never asks the plugin."""
    for nodes, running in ((3, 6), (30, 60)):
        costs = experiments.spreading_cost(nodes, running=running, revision=revision)
        plain = costs["none"]
        assert (0, 0) == (plain.asked, plain.comparisons)
        assert 3 == plain.passes == sum(map(bool, plain.placed))
        assert all(row.passes <= row.asked <= 2 * row.passes for row in costs if row.words != "none")


@both
@pytest.mark.checklist("220", "227")
def test_pods_with_constraints_cost_little_more(revision):
    """Each pod is compared with the selector about once: ten times the nodes cost no comparison more, ten times the pods do."""
    small = experiments.spreading_cost(12, running=24, revision=revision)
    for words in ("hard", "soft", "hard and soft"):
        compared = small[words].comparisons
        assert 24 <= compared <= 24 + 3 * 4
        assert compared == experiments.spreading_cost(120, running=24, revision=revision)[words].comparisons
        assert 240 - 24 == experiments.spreading_cost(12, running=240, revision=revision)[words].comparisons - compared
    assert "none           3            3       0             0" in repr(small)


def test_unknown_constraints_are_named():
    """The error lists what there is."""
    with pytest.raises(KeyError, match="there are: none, hard, soft, hard and soft"):
        experiments.spreading_cost(3, running=0)["two"]
