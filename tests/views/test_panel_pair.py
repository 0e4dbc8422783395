"""Two branches or clusters side by side: moved together, marked where they differ, with a table of who wrote it."""

import re

import pytest
from attrs import evolve

from kvolsched import Cluster, scenario
from kvolsched.learn.scenario import nodes, pods, storage_class
from kvolsched.questions.differences import is_bookkeeping
from kvolsched.questions.explain import FieldChange
from kvolsched.views.drawing.theme import resolve
from kvolsched.views.pages import differences as picture
from kvolsched.views.pages.differences import DifferenceRow, Differences
from kvolsched.views.panel.lab import Lab
from kvolsched.views.panel.layout import INSET
from kvolsched.views.panel.pair import BESIDE, hidden_words, only_differing
from kvolsched.views.panel.toolbar import ALONE

from . import frames, plain
from .fake_driver import FakeDriver
from .pages import cells, faults
from .placed import boxes

CLOSED = "node-a cordoned"


@pytest.fixture(scope="module")
def paired():
    """Return a panel at the end of a branch that began at step 5 with a cordon; the first branch stands beside it."""
    lab = scenario("zonal-example").lab()
    lab.do("run")
    lab.do("goto", step=5)
    lab.user("cordon", node="node-a")
    lab.do("run")
    lab.beside("main")
    return lab


@pytest.fixture
def lab(paired):
    """Return that panel, side by side by step, at the end of the branch."""
    paired.beside("main")
    paired.do("goto", step=8)
    return paired


def places(lab):
    """Return the steps of both."""
    return tuple(head.head.step for head in lab.driver.halves)


def acts(lab):
    """Return the lines of the history that are no moves."""
    return [line for line in lab.history if not line.startswith("c.goto")]


def test_what_differs_is_marked_in_both_halves(lab):
    """The cordoned node and the pod have the sign in both maps, a node that is alike has none."""
    lab.do("width", px=1260)
    halves = lab.host.map.split('class="k-half"')[1:]
    assert len(halves) == 2
    for half in halves:
        marked = re.findall(r'data-ref="([^"]+)"[^>]*>(?:(?!data-ref=).)*?k-hot', half)
        assert {"node/node-a", "pod/my-pod"} <= set(marked)
        assert "node/node-b" not in marked
        assert half.count("≠") >= 2
    assert lab.host.lanes.count("k-fork") == 2


def test_the_table_names_cause_and_writer(lab):
    """The reading has both ends in words and each differing field, the cause first."""
    lines = lab.reading().splitlines()
    assert lines[0] == "node-a cordoned: my-pod pending, stays so"
    assert "main: my-pod bound on node-a" in lines
    assert "3 differences at step 8; alike until step 5. The first cause is the first row." in lines
    table = lines[-3:]
    assert re.fullmatch(
        r"≠ node/node-a +spec.unschedulable +node-a cordoned true +main – +user, step 6", table[0], re.IGNORECASE
    )
    assert "spec.nodeName" in table[1]
    assert table[1].endswith("scheduler · bind worker, step 8")


def test_both_are_stepped_together(lab):
    """Forward and back, by button and by number; where one has ended, only the other one goes on."""
    lab.do("reset")
    assert places(lab) == (0, 0)
    for number in range(1, 9):
        lab.buttons["step"].click()
        assert places(lab) == (number, number)
    lab.buttons["step"].click()
    assert (places(lab), lab.slider.value) == ((8, 9), 9)
    assert lab.buttons["step"].disabled
    lab.do("back")
    assert places(lab) == (8, 8)
    lab.do("back")
    assert places(lab) == (7, 7)
    lab.slider.value = 3
    assert places(lab) == (3, 3)
    lab.do("run")
    assert places(lab) == (8, 9)


def test_one_that_is_steps_behind_comes_along():
    """A cluster beside stays where it is until something moves: then it comes to the first one's step, over several."""
    cluster = scenario("zonal-example")
    cluster.run(steps=4)
    lab = cluster.lab(beside=scenario("zonal-example", "upstream"))
    assert places(lab) == (4, 0)
    lab.do("step")
    assert places(lab) == (5, 5)


def test_before_the_fork_both_are_alike(lab):
    """No mark, and the table says so."""
    lab.do("goto", step=4)
    assert "Alike at step 4." in lab.host.body
    assert ("k-hot" in lab.host.map, "k-fork" in lab.host.lanes) == (False, False)


def test_by_time_the_other_one_follows_the_clock(lab):
    """It goes to the last step that is over at the first one's time, and not further."""
    lab.beside("main", align="time")
    for step in (3, 6, 8):
        lab.do("goto", step=step)
        now = lab.driver.left.cluster.now
        other = lab.driver.right.cluster
        times = {turn.step: turn.time for turn in other.world.turns if not turn.quiet}
        assert other.world.step_number == max(step for step, time in times.items() if time <= now)


def test_the_drop_downs_pair_and_part(lab):
    """The branches are offered beside each other; alone, the panel is as it was, and no line was added."""
    lines = acts(lab)
    assert (lab.toolbar.beside.value, list(lab.toolbar.beside.options)) == ("main", [ALONE, "main"])
    assert lab.buttons["step"].description == "Step both"
    lab.toolbar.align.value = "time"
    assert lab.driver.align == "time"
    lab.toolbar.beside.value = ALONE
    assert (lab.buttons["step"].description, "k-paired" in lab._dom_classes) == ("Step", False)
    assert "≠" not in lab.host.map
    lab.toolbar.beside.value = "main"
    assert "k-paired" in lab._dom_classes
    assert lines == acts(lab)


def test_two_clusters_side_by_side():
    """Other rules, other names: what tells them apart is what they are called."""
    cluster, other = scenario("zonal-example"), scenario("zonal-example", "upstream")
    lab = cluster.lab(beside=other)
    lab.do("run")
    assert lab.driver.names == ("design", "upstream")
    assert other["pod/my-pod"].status.phase == "Running"
    assert list(lab.toolbar.beside.options) == [ALONE, "zonal-example"]
    later = cluster.lab()
    later.beside(other)
    assert later.driver.names == ("design", "upstream")


def test_a_branch_beside_moves_nothing_of_this_one():
    """The other branch is a fork: this cluster stays in its branch, at its step."""
    lab = scenario("zonal-example").lab()
    lab.do("run")
    lab.do("goto", step=5)
    lab.user("cordon", node="node-a")
    before = lab.branches, lab.frame.head.step, lab.driver.cluster.digest()
    lab.beside("main")
    lab.alone()
    assert before == (lab.branches, lab.frame.head.step, lab.driver.cluster.digest())
    with pytest.raises(LookupError, match="nowhere"):
        lab.beside("nowhere")


def test_what_is_no_cluster_cannot_be_paired():
    """A panel over frames has no branch to show beside it."""
    with pytest.raises(TypeError, match="only clusters"):
        Lab(FakeDriver(frames.zonal_run())).beside("main")


def test_differences_only_hide_what_is_alike(lab):
    """Left are the pod that differs, with its claim, and the nodes that differ or that it is on; a line counts the rest."""
    lab.do("goto", step=6)
    assert (False, "node/node-c" in lab.host.map) == (lab.only_differences, True)
    lab.toolbar.only.value = True
    assert lab.only_differences
    one, other = lab.host.map.split('class="k-half"')[1:]
    nodes = {f"node/{name}" for name in ("node-a", "node-a-small", "node-b", "node-c")}
    for half in (one, other):
        assert {"node/node-a"} == {each for each in nodes if f'data-ref="{each}"' in half} - {"node/node-b"}
    hidden = re.search(r'role="status">Hidden, for they are alike in both: (.*?)\.<', lab.host.map)[1]
    assert hidden.startswith(f"{4 - len({each for each in nodes if each in one + other})} nodes")
    lab.only_differences = False
    assert "node/node-c" in lab.host.map


def test_differences_only_of_twins_is_a_sentence():
    """Where nothing differs there is no map, but a sentence that counts what is alike."""
    cluster = scenario("zonal-example")
    lab = cluster.lab(beside=cluster.fork("twin"))
    lab.do("only", differences=True)
    assert "Nothing differs on the map: 4 nodes, 1 pod, 1 claim, alike in both." in lab.host.map
    assert "<svg" not in lab.host.map
    lab.alone()
    assert "<svg" in lab.host.map


def test_differences_only_never_say_that_nothing_waits():
    """Six pods wait on both sides; the map of what differs does not deny it."""
    cluster = Cluster("upstream")
    cluster._load([storage_class("zonal"), *nodes(3), *pods(6, claims="zonal")])
    other = cluster.fork("closed")
    other.cordon("node-00001")
    lab = cluster.lab(beside=other)
    lab.only_differences = True
    assert ("Nothing that waits differs." in lab.host.map, "Nothing is waiting." in lab.host.map) == (True, False)
    assert "2 nodes, 6 pods, 6 claims" in lab.host.map


def test_a_saved_page_has_both(lab, tmp_path):
    """Each step of the page has two halves."""
    lines = list(lab.history)
    text = lab.save(tmp_path / "both.html", width=1260).read_text("utf-8")
    assert lines == list(lab.history)
    assert "k-half" in text
    assert places(lab) == (8, 8)


def test_a_saved_pair_is_drawn_wide_enough_for_two_halves(lab, tmp_path):
    """A page of a panel of 1000 px has its halves beside each other; only a narrow window puts one below the other."""
    lab.do("width", px=1000)
    text = lab.save(tmp_path / "both.html").read_text("utf-8")
    assert ("k-pair k-stacked" in text, f"max-width:{BESIDE + 20}px" in text) == (False, True)
    assert f"@container (max-width:{BESIDE - 20}px){{.k-page .k-pair{{" in text


@pytest.mark.parametrize(("width", "half"), [(1000, 1000), (1240, 612), (1900, 942)])
def test_lanes_of_a_pair_fill_their_half(lab, width, half):
    """A timeline is as wide as the map above it, whether the halves stand beside or below each other."""
    lab.do("width", px=width)
    widths = [[float(each) for each in re.findall(r'<svg[^>]* width="([\d.]+)"', drawn)]
              for drawn in (lab.host.map, lab.host.lanes)]  # fmt: skip
    assert widths[0][0] == half
    assert widths[1][0] == half - 2 * INSET


@pytest.mark.parametrize("width", [340, 700, 1000, 1240, 1900])
def test_the_sign_of_a_difference_covers_no_word(lab, width):
    """It stands on the corner of what differs, inside the picture, and on the line between two steps' numbers."""
    lab.do("width", px=width)
    assert lab.host.map.count("k-differs") >= 4
    faults = []
    for svg in re.findall(r"<svg.*?</svg>", lab.host.map + lab.host.lanes, re.DOTALL):
        words, _ = boxes(resolve(svg))
        dots = re.findall(r'k-differs"><rect[^>]* x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
        for x, y, wide, high in (map(float, dot) for dot in dots):
            faults += [word for word, left, right, top, bottom in words
                       if word != "≠" and left < x + wide and x < right and top < y + high and y < bottom]  # fmt: skip
            assert x + wide <= float(re.search(r'width="([\d.]+)"', svg)[1])
    assert faults == []


def test_a_pair_says_whose_steps_clock_and_actors_it_shows(lab, tmp_path):
    """Steps are of both, by time of the first; who may act next is of the first one, at its end of the other one."""
    lab.do("goto", step=5)
    assert (lab.chips.children[0].value, lab.place.value.count(" both</span>")) == (f"May act next in {CLOSED}", 1)
    assert f" s {CLOSED}</span>" in lab.place.value
    assert f"May act next in {CLOSED}" in lab.save(tmp_path / "both.html").read_text("utf-8")
    lab.beside("main", align="time")
    assert f" {CLOSED}</span><span" in lab.place.value
    lab.beside("main")
    lab.do("goto", step=lab.driver.left.place()[1])
    assert (bool(lab.driver.halves[0].next), bool(lab.driver.halves[1].next)) == (False, True)
    assert lab.chips.children[0].value == "May act next in main"
    lab.alone()
    assert (lab.chips.children[0].value, CLOSED in lab.place.value) == ("May act next", False)


def test_rules_beside_a_run_that_ended_have_ended_too(tmp_path):
    """Beside a cluster at its end stands the end under the other rules; beside one at a step, that step."""
    c = scenario("zonal-example", "upstream")
    c.run()
    lab = c.lab(beside="design")
    pair = lab.driver
    assert not len(pair.right.cluster.next)
    assert "Running" == pair.right.cluster["my-pod"].status.phase
    assert (c.world.known_steps, pair.right.cluster.world.known_steps) == (c.world.step_number,
                                                                           pair.right.cluster.world.step_number)
    page = lab.save(tmp_path / "run.html").read_text()
    assert "design" in page
    assert (c.world.known_steps, pair.right.cluster.world.known_steps) == (pair.left.place()[0], pair.right.place()[0])
    c.goto(2)
    assert 2 == c.lab(beside="design").driver.right.cluster.world.step_number
    c.goto(0)
    assert 0 == c.lab(beside="design").driver.right.cluster.world.step_number


@pytest.mark.parametrize(("left", "right"), [("x" * 300 + "1", "x" * 300 + "2"), ("word " * 60 + "a", "word " * 60 + "b"),
                                             ("k" * 90, "k" * 90 + "tail"), ("short", ""), ("abc", "abd")])
def test_values_of_a_row_are_told_apart(left, right):
    """Both values of a row stand whole in it, at every width."""
    for width in (360, 1000):
        row = DifferenceRow("pod/x", "spec.x", left, right, "scheduler", 3)
        page = picture.draw(Differences(("a", "b"), (3, 3), 0, ("", ""), (row,), ""), width)
        assert [left.strip(), right.strip() or picture.NONE] == cells(page)[1][2:4]
        assert [] == faults(page)


def test_bookkeeping_is_last():
    """Finalizers and times stand below what differs in truth, whoever wrote first."""
    c = scenario("zonal-example", "upstream")
    c.run()
    rows = c.lab(beside="design").driver.differences().rows
    last = [is_bookkeeping((row.ref, FieldChange(row.field, row.left, row.right))) for row in rows]
    assert {True, False} == set(last)
    assert sorted(last) == last


@pytest.mark.parametrize(("place", "nodes"), [
    ({"node": "node-b"}, ["node-b"]), ({"assumed_node": "node-b"}, ["node-b"]), ({"nominated_node": "node-b"}, ["node-b"]),
    ({"node": "node-a", "nominated_node": "node-c"}, ["node-a", "node-c"]), ({}, []),
])
def test_differences_only_keep_every_node_that_a_pod_names(place, nodes):
    """The node that a differing pod is on, is assumed on or is nominated to stays on the map, in both halves."""
    frame = frames.f.Frame(nodes=frames.zonal(0).nodes, pods=(plain.PodRow("pod/p", "p", **place),))
    shown = only_differing((frame, evolve(frame, pods=())), ())

    assert [nodes, nodes] == [[row.name for row in half.nodes] for half in shown]
    assert [1, 0] == [len(half.pods) for half in shown]


def test_differences_only_keep_the_pods_and_classes_of_claims():
    """A differing claim brings its pods and its class; of a pod only the claims that are shown stay."""
    frame = frames.zonal(8)
    other = evolve(frame, claims=tuple(evolve(row, size="1Ti") for row in frame.claims))
    one, both = only_differing((frame, other), ())

    assert [("web-0",), ("data-web-0",), ("zonal-class",), ()] == [
        tuple(row.name for row in rows) for rows in (one.pods, one.claims, one.classes, one.nodes)]
    assert ("pvc/data-web-0",) == one.pods[0].claims
    assert "Hidden, for they are alike in both: 3 nodes, 4 pods, 1 volume." == hidden_words((frame, other), (one, both))
    assert ["api-0"] == [row.name for row in only_differing((frame, frame), ["pod/api-0"])[0].pods]


def test_who_may_act_next_in_the_other_one_is_whole_where_the_first_has_ended(lab):
    """Where the first one has ended, all who may act next in the other one are known, however few are enough."""
    lab.do("goto", step=lab.driver.left.place()[1])
    frame = lab.driver.frame(most=0)

    assert [0, 1] == [len(half.next) for half in lab.driver.halves]
    assert frame.next == lab.driver.halves[1].next
