"""Parts of the panel: each follows the run of its cluster, moves it, and shares what is selected."""

import asyncio
import gc
import re

import ipywidgets
import pytest
from traitlets import TraitError

from kvolsched import UnknownName, scenario, widgets
from kvolsched.views import show
from kvolsched.views.fill import frame_of
from kvolsched.views.pictures import headline, lanes
from kvolsched.widgets import (
    Capacity,
    ChartView,
    Domains,
    Lanes,
    Map,
    Scores,
    Series,
    Skew,
    Steps,
    Verdicts,
    run_of,
)  # fmt: skip


@pytest.fixture
def c():
    """Return a cluster of three zones whose Deployment has come up."""
    cluster = scenario("zones", replicas=3)
    cluster.run()
    return cluster


def parts_of(c):
    """Return one of each part."""
    return [Steps(c), Map(c), Verdicts(c), Skew(c, "deploy/web"), Capacity(c), Domains(c), Lanes(c)]


def click(part, ref):
    """Click on what has this ref in a part's view."""
    assert f'data-ref="{ref}"' in part.host.body
    part.host._handle_custom_msg({"cmd": "select", "ref": ref}, [])


def judged(part):
    """Return the pod that verdicts are of."""
    return re.search("pass 1 of (pod/[^:]+):", part.reading())[1]


def words(part):
    """Return what a part shows, without its marks."""
    return " ".join(re.sub(r"<[^>]+>", " ", part.host.body).split())


def test_what_a_part_is_about_is_settable(c):
    """Another pod or workload is drawn at once, also over steps; one that there is not is said."""
    web = c.objects("pods")
    verdicts, ledger, steps = Verdicts(c), Skew(c, "deploy/web"), Skew(c, "deploy/web", over="steps")
    for pod in (web[0].metadata.name, web[1].metadata.name):
        verdicts.pod = ledger.about = pod
        assert (f"pod/{pod}", True) == (judged(verdicts), pod in words(ledger))
    steps.about = "deploy/none"
    assert "deploy/none" in words(steps)


def test_two_clusters_play_by_one_button(c):
    """Linked traits of parts of two clusters start and stop both."""
    first, second = Steps(c), Steps(scenario("zones", replicas=3))
    ipywidgets.link((first, "playing"), (second, "playing"))
    second.playing = True
    assert first.playing
    first.playing = False
    assert not second.playing


def test_parts_share_the_run_of_their_cluster(c):
    """Whoever moves it, code, panel or part: all parts and the panel show the same step."""
    parts, lab = parts_of(c), c.lab()
    for do in (lambda: c.goto(4), lambda: lab.do("step"), lambda: setattr(parts[3], "step", 9),
               parts[0].toolbar.buttons["back"].click, lambda: setattr(parts[0].toolbar.slider, "value", 7),
               lambda: c.scale("deploy/web", 4)):  # fmt: skip
        do()
        assert {c.world.step_number} == {part.step for part in (*parts, lab, run_of(c))}
        assert {c.world.known_steps} == {part.steps_known for part in (*parts, lab)}
        assert c.world.step_number == parts[0].toolbar.slider.value == lab.slider.value
    assert ("branch-1", 8) == (parts[0].branch, c.world.step_number)


def test_each_part_shows_what_the_cluster_answers(c):
    """Its reading is that of the question, at every step; what is drawn changes with it."""
    parts = parts_of(c)
    asked = [lambda: repr(c.map()), lambda: repr(c.verdicts(judged(parts[2]))), lambda: repr(c.skew("deploy/web")),
             lambda: repr(c.capacity()), lambda: repr(c.domains()), lambda: repr(c.timeline())]  # fmt: skip
    drawn = [part.host.body for part in parts]
    for step in (c.world.known_steps, 8):
        c.goto(step)
        assert [ask() for ask in asked] == [part.reading() for part in parts[1:]]
    assert f"step {c.world.step_number} of " in parts[0].reading()
    changed = [type(part).__name__ for part, before in zip(parts, drawn, strict=True) if part.host.body != before]
    assert ["Steps", "Map", "Skew", "Lanes"] == changed  # the last pass is the same, and domains are a chart


def test_a_click_selects_in_every_part_and_again_clears(c):
    """A zone of the map, and a pod, of which the verdicts then speak."""
    parts, lab = parts_of(c), c.lab()
    plain = parts[1].host.body
    pod = f"pod/{c.objects('pods')[0].metadata.name}"
    click(parts[1], pod)
    assert {pod} == {part.selection for part in (*parts, lab)}
    assert parts[1].host.body != plain
    assert pod in words(parts[2])
    click(parts[1], pod)
    assert ("", plain) == (lab.selection, parts[1].host.body)


def test_a_step_in_the_lanes_is_gone_to(c):
    """A click on its number moves the cluster; one on a lane unfolds it."""
    timeline = Lanes(c)
    click(timeline, "step/5")
    assert 5 == c.world.step_number == timeline.step


def test_verdicts_tell_one_beside_the_scores(c):
    """The words of a verdict that is selected stand in the part; the scores of the same pod are a part of their own."""
    part = Verdicts(c)
    node, plugin = "node-1-1", "PodTopologySpread"
    click(part, f"verdict/{node}/{plugin}")
    assert f"{plugin} on {node}" in words(part)
    pod = judged(part)
    assert repr(c.scores(pod)) == Scores(c, pod).reading() == Scores(c).reading()
    assert repr(c.verdicts(pod)) != part.reading()  # which tells of the selected one too
    part.selection = ""
    assert repr(c.verdicts(pod)) == part.reading()


def test_where_there_is_nothing_to_show_a_part_says_so(c):
    """Before its object exists, and where none of this name is known."""
    part, unknown = Skew(c, c.objects("pods")[0].metadata.name), Map(c)
    c.goto(0)
    assert "no pod" in words(part).lower()
    assert "no pod" in part.reading().lower()
    assert part.reading() == part._repr_mimebundle_()["text/plain"]  # of a page without a kernel
    c.goto(-1)
    assert "no pod" not in words(part).lower()
    with pytest.raises(KeyError):
        unknown.selection = "node/nowhere"


def test_the_moment_of_a_ledger_is_a_trait(c):
    """As `at` of the question."""
    part = Skew(c, "deploy/web", at=8)
    assert repr(c.skew("deploy/web", at=8)) == part.reading()
    part.at = "now"
    assert repr(c.skew("deploy/web")) == part.reading()
    assert "step 8" not in words(part)


def test_playing_is_that_of_the_run(c):
    """Button, trait and panel agree; each tick is a step, also a known one; the end is said."""
    steps, lab = Steps(c), c.lab()
    c.goto(0)
    steps.toolbar.buttons["play"].click()
    assert (True, True, "Pause") == (steps.playing, lab.playing, lab.buttons["play"].description)
    run_of(c).player.once()
    assert 1 == steps.step
    lab.pause()
    assert (False, "Play") == (steps.playing, steps.toolbar.buttons["play"].description)
    c.goto(-1)
    steps.playing = True
    run_of(c).player.once()
    assert (False, "Play stopped: the end") == (steps.playing, words(steps).partition(". ")[2])


def test_a_message_of_the_page_is_a_command(c):
    """Keys step, the width is drawn for; what is no command is left alone."""
    part = Map(c)
    before = part.host.body
    part.host._handle_custom_msg({"cmd": "width", "px": 1200}, [])
    assert before != part.host.body
    part.host._handle_custom_msg({"cmd": "reset"}, [])
    part.host._handle_custom_msg({"cmd": "act", "number": 1}, [])
    assert (0, 2) == (c.world.step_number, part.host.tick)


def test_a_cell_of_many_steps_is_drawn_once(c):
    """On an event loop each part draws once, at the end."""
    async def cell():
        parts, drawn = [Map(c), Skew(c, "deploy/web")], []
        for part in parts:
            part.host.observe(lambda change: drawn.append(change["new"]), "body")
        c.scale("deploy/web", 6)
        c.run()
        await asyncio.sleep(0)
        return drawn

    assert 2 == len(asyncio.run(cell()))


def test_a_part_that_no_page_shows_any_more_is_not_drawn(c):
    """Until a page shows it again."""
    part = Map(c)
    for cmd in ("seen", "gone"):
        part.host._handle_custom_msg({"cmd": cmd}, [])
    before = part.host.body
    c.goto(0)
    assert (before, 0) == (part.host.body, part.step)
    part.host._handle_custom_msg({"cmd": "seen"}, [])
    assert before != part.host.body


def test_parts_compose_and_close(c):
    """They stand in any box; a part that is closed follows no more."""
    steps, skew = Steps(c), Skew(c, "deploy/web", layout=ipywidgets.Layout(width="50%"))
    assert (steps, skew) == ipywidgets.HBox([steps, skew]).children
    assert ("100%", "50%") == (steps.layout.width, skew.layout.width)
    skew.close()
    before = skew.host.body
    c.goto(3)
    assert (before, 3) == (skew.host.body, steps.step)


def test_a_part_is_saved_as_a_figure(c, tmp_path):
    """As every picture, and in a notebook without a kernel its picture and its words are there."""
    for part in parts_of(c):
        assert part.save(tmp_path / "part.svg").read_text("utf-8").startswith("<svg")
        drawn = "image/svg+xml" if part.chart else "application/javascript"
        assert {"text/plain", drawn} < set(part._repr_mimebundle_())


def test_what_cannot_be_shown_is_one_error(c, recwarn):
    """A wrong argument is named where it is given, with what is wanted; nothing is left half made, the panel as it was."""
    lab, wanted = c.lab(), "a widget shows a cluster, such as kvolsched.scenario('zones'), not "
    before = lab.reading()
    for call, kind, said in [
        (lambda: Steps("web"), TypeError, f"{wanted}'web'"),
        (lambda: Map("web"), TypeError, f"{wanted}'web'"),
        (lambda: Skew("deploy/web", c), TypeError, f"{wanted}'deploy/web'"),
        (lambda: lab.beside(3), TypeError, f"{wanted}3"),
        (lambda: lab.beside(c), ValueError, "beside a cluster stands another one, such as c.fork()"),
        (lambda: lab.beside("main", align="x"), UnknownName, "no way to align 'x'; there are: step, time"),
        (lambda: Map(c, "rack"), UnknownName, "no node has the label rack"),
        (lambda: Map(c, 3), UnknownName, "no node has the label 3"),
        (lambda: setattr(lab, "topology", "rack"), UnknownName, "no node has the label rack"),
        (lambda: Skew(c, "deploy/web", at="then"), TraitError, "expected an int or any of ['now', 'pass']"),
        (lambda: Series(c, "running"), TypeError, "a series is of clusters, not of 'running'"),
        (lambda: Series(c, what=3), TypeError, "a measure is a name such as 'running', or a function of a cluster, not 3"),
        (lambda: ChartView(c.skew("deploy/web")), TypeError, "an altair chart, such as c.skew(...).chart, not Where may"),
        (lambda: lab.play(seconds="x"), ValueError, "'x'"),
        (lambda: ipywidgets.dlink((lab, "stp"), (lab, "step")), TypeError, "<Lab at step 17 of 17; `reading()` has its"),
        (lambda: c.skew("deploy/web", over=3), UnknownName, "no axis 3; there are: steps"),
        (lambda: c.series(what="lives", over="x"), UnknownName, "no axis 'x'; there are: time, steps"),
    ]:  # fmt: skip
        with pytest.raises(kind) as told:
            call()
        assert said in str(told.value)
        assert before == lab.reading()
    gc.collect()  # what was not made is closed in silence
    assert not recwarn.list


def test_the_names_are_those_of_the_page():
    """What a star imports."""
    parts = {"Steps", "Map", "Verdicts", "Scores", "Skew", "Capacity", "Domains", "Series", "Lanes"}
    assert parts | {"ChartView", "run_of", "ClusterRun"} == set(widgets.__all__)


@pytest.mark.parametrize(("made", "name", "chart"), [
    (Steps, "steps", False), (Map, "map", False), (Verdicts, "verdicts", False), (Scores, "scores", True), (Skew, "skew", False),
    (Capacity, "capacity", False), (Domains, "domains", True), (Lanes, "lanes", False), (Series, "series", True),
])  # fmt: skip
def test_a_part_is_put_together_whole(c, made, name, chart):
    """A box with the view, and the chart where it is one, is as wide as its place; a screen reader is told what it is."""
    part, other = made(c), made(c, chart=not chart, width=500)
    bar = [part.toolbar.box] if made is Steps else []

    assert ({"body": name}, ("k-widget",), (part.box,), "k-lab") == (part.host.names, part.box._dom_classes, part.children, part._dom_classes[1])
    assert [*bar, part.host, *([part.view] if chart else [])] == list(part.box.children)
    assert (chart, "" if chart else part.host.body, "100%") == (part.chart, part.host.body, part.layout.width)
    assert (not chart, 720, 500) == (other.chart, part._width, other._width)


def test_the_toolbar_of_a_part_has_what_a_run_needs(c):
    """Buttons, speed, slider, place, gear and branches: nothing stands beside a part."""
    steps = Steps(c)
    bar = steps.toolbar
    assert [*bar.buttons.values(), bar.speed, bar.slider, bar.place, bar.gear, bar.branch] == list(bar.box.children)
    assert ("4/s", "2/s", "1/s", "½/s", "¼/s") == bar.speed.options
    steps.playing = True
    assert ("Pause", True) == (bar.buttons["play"].description, "k-playing" in steps._dom_classes)
    steps.playing = False
    assert ("Play", False) == (bar.buttons["play"].description, "k-playing" in steps._dom_classes)


def test_a_stop_of_play_is_said_below_the_step(c):
    """Why it stopped stands there, with its characters as they are; before it played nothing does."""
    steps = Steps(c)
    sentence = headline.draw(steps._frame(), 720)
    before = steps.host.body
    run_of(c).ended = "<no> more"
    steps._draw()

    assert (sentence, f'{sentence}<p class="k-q-label">Play stopped: &lt;no&gt; more</p>') == (before, steps.host.body)
    frame = steps._frame()
    assert (headline.reading(frame), headline.stacked([headline.draw_svg(frame, 600)], 600, headline.reading(frame))) == (
        steps.reading(), steps.figure().draw(600, ""))


@pytest.mark.parametrize(("cmd", "arguments", "step", "plays"), [
    ("step", {}, 6, False), ("back", {}, 4, False), ("reset", {}, 0, False), ("run", {}, 17, False), ("goto", {"step": 3}, 3, False),
    ("branch", {"name": "main"}, 5, False), ("branch", {"name": "other"}, 5, False), ("pause", {}, 5, False), ("toggle", {}, 5, False),
    ("speed", {"seconds": 3}, 5, True), ("select", {"ref": "node/node-1-1"}, 5, True), ("select", {"ref": "step/2"}, 2, True),
    ("select", {"ref": "mark/7/kubelet"}, 7, True), ("clear", {}, 5, True), ("gear", {"unit": "turns"}, 5, True), ("width", {"px": 900}, 5, True),
    ("ping", {}, 5, True),
])  # fmt: skip
def test_every_command_of_a_part(c, cmd, arguments, step, plays):
    """Whoever moves the cluster stops its player; whoever looks around does not; each is answered once."""
    c.goto(4, branch="other")
    c.cordon("node-1-1")
    c.back()
    c.goto("main")
    c.goto(5)
    part = Map(c)
    part.playing = True
    part.selection = "node/node-2-1"
    ticks = part.host.tick
    part.do(cmd, **arguments)
    selected = {"select": arguments.get("ref") if step == 5 else "node/node-2-1", "clear": ""}.get(cmd, "node/node-2-1")

    assert (step, plays, ticks + 1, selected) == (part.step, part.playing, part.host.tick, part.selection)
    assert (3 if cmd == "speed" else 1, 900 if cmd == "width" else 720) == (part.run.player.seconds, part._width)
    assert ("turns" if cmd == "gear" else "steps") == part.driver.unit
    assert ("other" if arguments == {"name": "other"} else "main") == part.branch


def test_what_is_clicked_twice_is_selected_no_more(c):
    """Also what only a view makes, which the cluster does not know; play is begun by the same key that ends it."""
    part = Map(c)
    seen = []
    for ref in ("zone/zone-1", "zone/zone-1", "node/node-1-1", "zone/zone-2"):
        part.do("select", ref=ref)
        seen.append(part.selection)
    part.do("toggle")
    playing = part.playing
    part.do("toggle")

    assert ["zone/zone-1", "", "node/node-1-1", "zone/zone-2"] == seen
    assert (True, False) == (playing, part.playing)


def test_a_lane_is_unfolded_and_folded(c):
    """A click on its name opens it, another one closes it; a step is gone to; anything else is selected."""
    part = Lanes(c)
    folded = part.host.body
    part._select("lane/scheduler")
    opened = part.host.body
    part._select("fold/idle")
    both = part.host.body
    part._select("fold/idle")
    part._select("lane/scheduler")
    frame = frame_of(c, chips=0, parts=("lanes",))

    assert [lanes.draw(frame, 720, "", unfolded=frozenset(each), fold=True) for each in ((), ("scheduler",), ("scheduler", "idle"))] == [
        folded, opened, both]
    assert folded == part.host.body
    assert "" == part.selection


def test_where_a_chart_is_shown_no_picture_is(c):
    """The chart stands in the picture's stead, and gives its place back; a part without a chart keeps its picture."""
    part, plain = Skew(c, "deploy/web"), Lanes(c)
    picture = part.host.body
    part.chart = True
    charted = (part.host.body, part.view.layout.display, part.box.children[-1] is part.view)
    part.chart = False
    back = (part.host.body, part.view.layout.display)
    plain.chart = True

    assert [("", "", True), (picture, "none")] == [charted, back]
    assert (Verdicts(c, chart=True).host.body, None) == (Verdicts(c).host.body, Verdicts(c, chart=True).view)
    assert plain.host.body or plain.view is not None


def test_a_ledger_is_about_now_and_the_last_judged(c):
    """What nobody says is the question's own: the moment is now, the pod the one judged last; counts over steps are a chart."""
    assert [("now", ""), ("now", "")] == [(part.at, part.about) for part in (Skew(c), Capacity(c))]
    assert [repr(show.ledger(c, "skew", "")), repr(c.capacity()), repr(c.skew("deploy/web", at=8)), repr(c.series())] == [
        part.reading() for part in (Skew(c), Capacity(c), Skew(c, "deploy/web", 8), Series(c))]
    steps = Skew(c, "deploy/web", over="steps")
    first = steps.figure()
    c.goto(3)
    second = steps.figure()
    assert (True, 17, 3) == (steps.chart, first.options["step"], second.options["step"])
    assert repr(c.skew("deploy/web", over="steps")) == repr(first) == repr(second)
    assert first.acts is second.acts
    assert not Skew(c, "deploy/web", over="steps", chart=False).chart


def test_a_series_follows_every_cluster_of_it(c):
    """The counts of all clusters are a line each, and are drawn anew where any of them moves."""
    other = scenario("zones", replicas=2)
    part = Series(c, other, what="running", over="steps")
    drawn = []
    part._draw = lambda: drawn.append(part.reading())
    other.run()

    assert repr(c.series(other, what="running", over="steps")) == drawn[-1]
    assert ((other,), "running", "steps") == (part.others, part.what, part.over)


def test_verdicts_are_those_of_the_pod_that_is_selected(c):
    """A pod that is given stays; else it is the selected one, and a node that is selected changes nothing."""
    first, second = (f"pod/{pod.metadata.name}" for pod in c.objects("pods")[:2])
    given, free = Verdicts(c, first), Verdicts(c)
    seen = []
    for ref in ("", second, first, "node/node-1-1"):
        given.selection = ref
        seen.append((given._asked(), free._asked()))

    assert [(first, ""), (first, second), (first, first), (first, "")] == seen
