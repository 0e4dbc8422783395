"""Every recorded step of the PV controller, v1.36.2 and 1.11, played in ours: equal in every aspect."""

import pytest
from controllers import recorded


def disagreements(family):
    """Return the cases in which ours answers otherwise, with the aspects that differ."""
    options = recorded.OPTIONS[family]
    found = {}
    for case in recorded.cases(family):
        differing = recorded.differences(recorded.play(case, options), case["expect"])
        if differing:
            found[case["id"]] = differing
    return found


@pytest.mark.parametrize(("family", "count"), [("pv-controller", 418), ("design-controller", 200)])
def test_every_recorded_step_is_played_alike(family, count):
    """Writes, events, errors, live reads, operations, what is enqueued and what Provision() is handed: all equal."""
    assert len(recorded.cases(family)) == count
    assert disagreements(family) == {}


def test_the_comparison_notices_a_difference():
    """A case played under the other release's options differs: the comparison is not blind."""
    options = recorded.OPTIONS["design-controller"]
    cases = recorded.cases("pv-controller")
    assert any(recorded.differences(recorded.play(case, options), case["expect"]) for case in cases[:60])
