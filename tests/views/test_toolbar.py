"""The toolbar alone: everything that it shows of a frame, and the order that each of its parts gives."""

import ipywidgets as widgets
import pytest
from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.panel.toolbar import ALONE, Toolbar
from kvolsched.views.pictures import headline

from . import plain

SPEEDS = ("4/s", "2/s", "1/s", "½/s", "¼/s")
NEXT = (f.NextActor("a", "a", "a", ""),)


@pytest.fixture
def orders():
    """Return the list of what the toolbar orders."""
    return []


@pytest.fixture
def bar(orders):
    """Return a toolbar that shows step 3 of 5."""
    made = Toolbar(lambda cmd, **arguments: orders.append((cmd, arguments)))
    made.update(frame(3), ["main"], [], playing=False, only=False)
    return made


def frame(step, known=5, following=NEXT, **head):
    """Return a frame at a step."""
    return f.Frame(head=plain.Head(step=step, steps_known=known, **head), next=following)


def is_hidden(widget):
    """Say whether a widget is hidden."""
    return "k-hidden" in widget._dom_classes


def test_the_toolbar_is_put_together_whole(bar):
    """Buttons, speed, slider, place, gear, branch, what is beside and how, and the badge, each with its hint and class."""
    *buttons, speed, slider, place, gear, branch, beside, align, only, badge = bar.box.children

    assert [("Reset", "go to the start (Home)", ("k-btn", "k-reset")), ("Back", "one step back (←)", ("k-btn", "k-back")),
            ("Step", "one step (→)", ("k-btn", "k-step")), ("Run", "step until the cluster is idle (r)", ("k-btn", "k-run")),
            ("Play", "step by itself (p); it stops at a failure, at the end and at any key", ("k-btn", "k-play"))] == [
        (each.description, each.tooltip, each._dom_classes) for each in buttons]  # fmt: skip
    assert [
        ((*SPEEDS, "until…"), "1/s", "how fast it plays", ("k-choice", "k-speed")),
        (("steps", "turns"), "steps", "a cause or a write at a time", ("k-choice", "k-gear")),
        (("main",), "main", "the branches of this history", ("k-choice", "k-branches")),
        ((ALONE,), ALONE, "another branch or cluster beside this one", ("k-choice", "k-with", "k-hidden")),
        ((("by step", "step"), ("by time", "time")), "step", "how both move together", ("k-choice", "k-align", "k-hidden")),
        ((("all", False), ("differences only", True)), False, "what the maps of both show", ("k-choice", "k-only", "k-hidden")),
    ] == [(each.options, each.value, each.tooltip, each._dom_classes) for each in (speed, gear, branch, beside, align, only)]
    assert (0, 5, 3, "", "timeline", ("k-slider",), False, "auto") == (
        slider.min, slider.max, slider.value, slider.description, slider.tooltip, slider._dom_classes, slider.readout, slider.layout.width)
    assert (headline.place_html(frame(3)), headline.badge_html(frame(3))) == (place.value, badge.value)
    assert ([bar.buttons[name] for name in ("reset", "back", "step", "run", "play")], ("k-toolbar",)) == (buttons, bar.box._dom_classes)
    assert [widgets.HTML, widgets.HTML] == [type(place), type(badge)]


def test_a_condition_is_offered_only_where_it_can_be_asked_for():
    """A part of a notebook has the speeds alone."""
    assert SPEEDS == Toolbar(lambda *_a, **_m: None, until=False).speed.options


@pytest.mark.parametrize(("shown", "disabled", "slider"), [
    (frame(0), ("reset", "back"), (0, 5)),
    (frame(1), (), (1, 5)),
    (frame(5, following=()), ("step", "run", "play"), (5, 5)),
    (frame(7, 5, following=()), ("step", "run", "play"), (7, 7)),
    (frame(0, 0, following=()), ("reset", "back", "step", "run", "play"), (0, 0)),
])
def test_what_cannot_be_pressed_is_disabled(bar, orders, shown, disabled, slider):
    """At the start nothing leads back, at the end nothing on; the slider reaches what is known. To show it orders nothing."""
    bar.update(shown, ["main"], [], playing=False, only=False)

    assert disabled == tuple(name for name, button in bar.buttons.items() if button.disabled)
    assert (slider, []) == ((bar.slider.value, bar.slider.max), orders)


def test_everything_pressed_and_chosen_is_one_order(bar, orders):
    """Each part orders its command with what was chosen; what the toolbar is shown orders nothing."""
    bar.update(evolve(frame(3), head=evolve(frame(3).head, gear="turns")), ["b", "a"], ["twin"], playing=True, only=True)
    assert [] == orders
    for button in bar.buttons.values():
        button.click()
    bar.slider.value = 2
    bar.gear.value = "steps"
    bar.branch.value = "a"
    bar.beside.value = "twin"
    bar.align.value = "time"
    bar.beside_name = "twin"
    bar.beside.value = "a"
    bar.align.value = "step"
    bar.only.value = False

    assert [
        *((name, {}) for name in ("reset", "back", "step", "run", "toggle")), ("goto", {"step": 2}), ("gear", {"unit": "steps"}),
        ("branch", {"name": "a"}), ("beside", {"name": "twin", "align": "step"}), ("beside", {"name": ALONE, "align": "time"}),
        ("beside", {"name": "a", "align": "time"}), ("beside", {"name": "twin", "align": "step"}), ("only", {"differences": False}),
    ] == orders  # fmt: skip


@pytest.mark.parametrize(("branches", "others", "beside", "offered", "chosen"), [
    (["main"], [], ALONE, (("main",), (ALONE,), (True, True, True)), ("main", ALONE)),
    (["b", "c", "a"], [], ALONE, (("a", "b", "c"), (ALONE, "a", "c"), (False, True, True)), ("b", ALONE)),
    (["b", "a"], ["z", "y"], "y", (("a", "b"), (ALONE, "z", "y", "a"), (False, False, False)), ("b", "y")),
    (["b", "a"], ["a"], "a", (("a", "b"), (ALONE, "a"), (False, False, False)), ("b", "a")),
    (["b"], [], "gone", (("b",), (ALONE,), (True, False, False)), ("b", ALONE)),
])
def test_what_can_stand_beside_is_offered(bar, orders, branches, others, beside, offered, chosen):
    """Branches are sorted; beside the present one stand other clusters and the other branches, each once."""
    bar.beside_name = beside
    bar.update(frame(3), branches, others, playing=False, only=False)

    assert offered == (bar.branch.options, bar.beside.options, tuple(map(is_hidden, (bar.beside, bar.align, bar.only))))
    assert (chosen, []) == ((bar.branch.value, bar.beside.value), orders)
    both = "" if beside == ALONE else " both"
    assert ["Reset", "Back", f"Step{both}", f"Run{both}", "Play"] == [button.description for button in bar.buttons.values()]


@pytest.mark.parametrize(("playing", "words"), [(True, "Pause"), (False, "Play")])
@pytest.mark.parametrize("only", [True, False])
def test_play_is_pause_while_it_plays(bar, playing, words, only):
    """The button says what it does next; the maps of both are shown as they are."""
    bar.update(frame(3, gear="turns"), ["main"], [], playing=playing, only=only)

    assert (words, only, "turns") == (bar.buttons["play"].description, bar.only.value, bar.gear.value)


def test_the_last_of_the_speeds_asks(bar, orders):
    """The speed stays the one that it was while the condition is asked for."""
    bar.speed.value = "until…"
    seen = [bar.speed.value]
    bar.speed.value = "4/s"
    bar.speed.value = "until…"

    assert (["1/s"], "4/s") == (seen, bar.speed.value)
    assert [("speed", {"seconds": 1.0}), ("ask", {"name": "until"}), *[("speed", {"seconds": 0.25})] * 2, ("ask", {"name": "until"})] == orders
