"""The traits of a run: code that moves a cluster moves its panels, and what is linked to them moves the cluster."""

import asyncio

import ipywidgets
import pytest
import traitlets

from kvolsched import UnknownName, scenario
from kvolsched.views.panel.run import NAMES, run_of


@pytest.fixture
def c():
    """Return a cluster at its start."""
    return scenario("zonal-example")


def seen(watched, *names):
    """Return a list that gets the new value of every change of these traits."""
    values = []
    watched.observe(lambda change: values.append(change["new"]), list(names))
    return values


def traits(watched):
    """Return the traits that a run shares with its widgets."""
    return {name: getattr(watched, name) for name in NAMES}


def test_code_that_moves_the_cluster_moves_the_panel(c):
    """Step, act, goto and another branch show in traits, slider, sentence and branches, with nothing done in the panel."""
    lab = c.lab()
    steps = seen(lab, "step")
    c.step()
    c.step()
    assert ([1, 2], 2, 2) == (steps, lab.slider.value, lab.slider.max)
    assert ">2</span>" in lab.host.sentence
    c.goto(1)
    assert (1, 2, lab.frame.head.step) == (lab.step, lab.steps_known, 1)
    c.cordon("node-a")
    assert ("branch-1", ["branch-1", "main"]) == (lab.branch, list(lab.toolbar.branch.options))
    assert "cordons node-a" in lab.host.sentence


def test_every_panel_of_a_cluster_has_the_traits_of_its_run(c):
    """Two panels and the run agree, whoever moves, selects or plays."""
    first, second = c.lab(), c.lab()
    for do in (lambda: first.do("run"), lambda: setattr(second, "step", 3), c.back,
               lambda: setattr(first, "selection", "pod/my-pod"), second.play, first.pause):  # fmt: skip
        do()
        assert traits(first) == traits(second) == traits(run_of(c))
    assert (2, "pod/my-pod", False) == (c.world.step_number, second.selection, second.playing)
    assert first.host.map == second.host.map


def test_the_step_is_settable_as_a_command(c):
    """The cluster goes there, the line is in the history; what is refused leaves trait and cluster where they are."""
    lab = c.lab()
    lab.do("run")
    lab.step = 4
    assert (4, "c.goto(4)") == (c.world.step_number, list(lab.history)[-1])
    with pytest.raises(IndexError, match="step 99 is not between 0 and 9"):
        lab.step = 99
    assert (4, 4) == (lab.step, c.world.step_number)
    for name, value in (("steps_known", 20), ("time", 1.0), ("branch", "other"), ("digest", "other")):
        with pytest.raises(traitlets.TraitError, match="read-only"):
            setattr(lab, name, value)


def test_the_digest_is_another_at_every_place(c):
    """Also on another branch at an equal step; going back finds it again."""
    run = run_of(c)
    digests = [run.digest]
    for do in (c.step, c.step, lambda: c.goto(1), lambda: c.cordon("node-a")):
        do()
        digests.append(run.digest)
    assert len(digests) == len(set(digests))
    c.goto("main")
    assert digests[2] == run.digest


def test_sliders_are_linked_as_ipywidgets_links(c):
    """Maximum first, then the value: the slider follows to longer and to shorter branches, and moves the cluster."""
    lab, slider = c.lab(), ipywidgets.IntSlider(max=3)
    c.run()
    ipywidgets.dlink((lab, "steps_known"), (slider, "max"))
    ipywidgets.link((lab, "step"), (slider, "value"))
    assert (9, 9) == (slider.value, slider.max)
    slider.value = 5
    assert (5, 5) == (c.world.step_number, lab.step)
    c.cordon("node-a")
    assert (6, 6, 6) == (slider.value, slider.max, c.world.step_number)
    c.goto("main")
    assert (9, 9, 9) == (slider.value, slider.max, c.world.step_number)


@pytest.mark.parametrize("moves", [("goto", 2), ("goto", -1), ("step",)])
def test_a_slider_that_is_too_short_never_moves_the_cluster_by_being_linked(c, moves):
    """Neither when it is linked, nor when the cluster goes on beyond its end."""
    lab, slider = c.lab(), ipywidgets.IntSlider(max=4)
    c.run(steps=6)
    ipywidgets.link((lab, "step"), (slider, "value"))
    assert (6, 6, 4) == (c.world.step_number, lab.step, slider.value)
    name, *arguments = moves
    getattr(c, name)(*arguments)
    assert lab.step == c.world.step_number == {2: 2, -1: 6}.get(arguments[0], 7) if arguments else 7


def test_a_slider_of_both_stays_where_a_shorter_branch_is_in_its_middle(c):
    """One refresh of several moves: the value is told before a smaller maximum, which would move the cluster."""
    async def cell():
        c.run()
        c.goto(2, branch="short")
        c.cordon("node-a")
        c.goto("main")
        lab, slider = c.lab(), ipywidgets.IntSlider()
        ipywidgets.dlink((lab, "steps_known"), (slider, "max"))
        ipywidgets.link((lab, "step"), (slider, "value"))
        assert (9, 9) == (slider.value, slider.max)
        c.goto("short")
        c.goto(1)
        await asyncio.sleep(0)
        return slider.value, slider.max, lab.step, c.world.step_number

    assert (1, 3, 1, 1) == asyncio.run(cell())


def test_a_cell_is_drawn_once_however_many_steps_it_makes(c):
    """On an event loop the traits are told once, after the cell; who reads them in it is told the truth."""
    async def cell():
        lab = c.lab()
        steps, drawn = seen(lab, "step"), seen(lab.host, "sentence")
        for _ in range(100):
            c.run()
            c.goto(0)
        c.step()
        before = list(steps)
        await asyncio.sleep(0)
        c.step()
        return before, steps, drawn, lab.step

    before, steps, drawn, read = asyncio.run(cell())
    assert ([], [1, 2], 2) == (before, steps, read)
    assert 2 == len(drawn)


def test_a_move_in_another_thread_is_drawn_by_the_notebooks_loop(c):
    """The thread waits for no widget."""
    async def cell():
        lab = c.lab()
        drawn = seen(lab.host, "sentence")
        c.step()
        await asyncio.sleep(0)
        await asyncio.to_thread(c.step)
        await asyncio.sleep(0.01)
        return len(drawn), lab.step

    assert (2, 2) == asyncio.run(cell())


def test_playing_is_settable(c):
    """Where it is set the run plays, with or without a panel; it stops at a failure and says why."""
    run = run_of(c)
    run.playing = True
    run.player.once()
    assert (1, True) == (c.world.step_number, run.playing)
    lab = c.lab()
    lab.playing = False
    assert (False, "Play") == (run.player.playing, lab.buttons["play"].description)
    lab.playing = True
    while run.playing:
        run.player.once()
    assert run.ended in lab.acts.note.value != ""


def test_a_panel_that_is_closed_follows_no_more(c):
    """Others do."""
    lab, other = c.lab(), c.lab()
    lab.close()
    c.step()
    assert (0, 1) == (lab.frame.head.step, other.frame.head.step)


def test_what_no_page_shows_any_more_is_drawn_when_it_is_wanted(c):
    """The panel of a cell that has run again costs nothing; shown again, asked or ordered it is where the cluster is."""
    lab = c.lab()
    drawn = seen(lab.host, "sentence")
    for cmd in ("seen", "seen", "gone"):
        lab.host._handle_custom_msg({"cmd": cmd}, [])
    c.step()
    lab.host._handle_custom_msg({"cmd": "gone"}, [])
    c.step()
    assert (1, 2) == (len(drawn), lab.step)
    assert (2, 2) == (lab.frame.head.step, len(drawn))
    c.step()
    lab.do("tab", name="events")
    assert 3 == len(drawn)
    c.step()
    lab.host._handle_custom_msg({"cmd": "seen"}, [])
    assert ">4</span>" in lab.host.sentence


def test_the_one_beside_is_followed_too(c):
    """What code does with the other cluster is drawn, and this one stays."""
    other = c.fork("other")
    lab = c.lab(beside=other)
    other.cordon("node-a")
    assert "cordons node-a" in lab.host.map
    lab.alone()
    other.uncordon("node-a")
    assert "uncordons" not in lab.host.map
    assert 0 == lab.step


def test_what_nobody_knows_is_not_selected(c):
    """The sentence has the nearest names, and the selection stays; what was deleted is known."""
    lab, run = c.lab(), run_of(c)
    c.run()
    c.delete("pod/my-pod")
    c.run()
    run.selection = "pod/my-pod"
    for each in (lab, run):
        with pytest.raises(UnknownName, match="did you mean pod/my-pod"):
            each.selection = "pod/my-pdo"
        assert ("pod/my-pod", "pod/my-pod") == (lab.selection, run.selection)
