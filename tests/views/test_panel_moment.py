"""The moment of the ledgers in the panel's tabs: now, the pod's last pass, a step."""

import pytest
import traitlets

from kvolsched import scenario
from kvolsched.views.panel.acts_row import is_shown
from kvolsched.views.panel.moment import MomentChoice

from . import plain


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


HEAD = plain.Head(step=3, steps_known=5)


@pytest.fixture
def orders():
    """Return the list of what the choice orders."""
    return []


@pytest.fixture
def choice(orders):
    """Return a choice that stands alone, at step 3 of 5."""
    made = MomentChoice(lambda cmd, **arguments: orders.append((cmd, arguments)))
    made.update("now", HEAD, "skew", chart=False)
    return made


def test_the_choice_is_put_together_whole(choice):
    """Three moments, a step of this branch, and picture or chart, each with its hint and class."""
    assert ((("now", "now"), ("last pass", "pass"), ("at step", "step")), "now", "the moment that this ledger is about", ("k-choice", "k-moment")) == (
        choice.way.options, choice.way.value, choice.way.tooltip, choice.way._dom_classes)
    assert (0, 5, 3, "a step of this branch", ("k-choice", "k-moment-step", "k-hidden")) == (
        choice.step.min, choice.step.max, choice.step.value, choice.step.tooltip, choice.step._dom_classes)
    assert ((("picture", False), ("chart", True)), False, "drawn, or as an altair chart", ("k-choice", "k-form-of")) == (
        choice.form.options, choice.form.value, choice.form.tooltip, choice.form._dom_classes)


@pytest.mark.parametrize(("at", "head", "shown"), [
    ("now", HEAD, ("now", 3, 5)), ("pass", HEAD, ("pass", 3, 5)), (0, HEAD, ("step", 0, 5)), (2, HEAD, ("step", 2, 5)), (9, HEAD, ("step", 9, 9)),
    ("now", plain.Head(step=7, steps_known=5), ("now", 7, 7)),
])
@pytest.mark.parametrize(("tab", "hidden"), [
    ("skew", (False, False)), ("capacity", (False, False)), ("scores", (True, True)), ("series", (True, True)), ("domains", (True, True)),
    ("verdicts", (True, True)),
])  # fmt: skip
@pytest.mark.parametrize("chart", [True, False])
def test_a_moment_is_shown_and_orders_nothing(choice, orders, at, head, shown, tab, hidden, chart):
    """Beside the ledgers alone; the number of a step only where one is meant, and up to what is known."""
    choice.update(at, head, tab, chart=chart)

    assert (*shown, chart, []) == (choice.way.value, choice.step.value, choice.step.max, choice.form.value, orders)
    assert (*hidden, hidden[1] or isinstance(at, str)) == tuple("k-hidden" in each._dom_classes for each in (choice.form, choice.way, choice.step))


def test_what_is_chosen_is_one_order(choice, orders):
    """A moment by its name, a step by its number, and the form."""
    choice.way.value = "pass"
    choice.way.value = "step"
    choice.step.value = 4
    choice.form.value = True

    assert [("moment", {"at": "pass"}), ("moment", {"at": 3}), ("moment", {"at": 4}), ("chart", {"shown": True})] == orders
