"""The moment of the ledgers in the panel's tabs: now, the pod's last pass, a step."""

import pytest
import traitlets

from kvolsched import scenario
from kvolsched.views.panel.acts_row import is_shown


@pytest.fixture
def lab():
    """Return a panel whose pod waits for a zone that is lost, its ledger of skew open."""
    cluster = scenario("dead-zone")
    cluster.run()
    lab = cluster.lab()
    lab.selection, lab.tab = "pod/next", "skew"
    return lab


def test_the_choice_stands_beside_the_ledgers_alone(lab):
    """It is shown with the tabs Skew and Capacity; the number of a step only where one is meant."""
    seen = {}
    for tab in lab.tabs:
        lab.tab = tab
        seen[tab] = is_shown(lab.moment.way)
    assert {name for name, shown in seen.items() if shown} == {"skew", "capacity"}
    lab.tab = "skew"
    assert not is_shown(lab.moment.step)
    lab.moment.way.value = "step"
    assert is_shown(lab.moment.step)
    lab.tab = "verdicts"
    assert not is_shown(lab.moment.step)


def test_a_choice_is_the_moment_of_the_ledger(lab):
    """What the drop-down, the field and the trait say is one moment, and the title of the ledger has it."""
    assert ("now", "rules upstream" in lab.host.body) == (lab.at, True)
    lab.moment.way.value = "pass"
    assert ("pass", True) == (lab.at, "pass 1: step 1" in lab.host.body)
    lab.moment.way.value = "step"
    assert 1 == lab.at
    lab.moment.step.value = 0
    assert (0, True) == (lab.at, "step 0" in lab.host.body)
    lab.at = "now"
    assert ("now", False) == (lab.moment.way.value, "step 0" in lab.host.body)


def test_a_moment_without_the_pod_or_its_pass_says_so():
    """No ledger is drawn for it, and nothing is raised."""
    lab = scenario("zonal-example").lab()
    lab.tab = "capacity"
    lab.at = "pass"
    assert "my-pod has had no pass yet" in lab.host.body
    lab.at = 7
    assert "7" in lab.host.body
    lab.do("step")
    lab.do("moment", at="pass")
    assert "no pass yet" not in lab.host.body
    with pytest.raises(traitlets.TraitError):
        lab.at = "tomorrow"
