"""Two branches or clusters side by side: moved together, marked where they differ, with a table of who wrote it."""

import re
from types import SimpleNamespace

import pytest
from attrs import evolve

from kvolsched import Cluster, make, scenario
from kvolsched.learn.scenario import nodes, pods, storage_class
from kvolsched.questions.differences import is_bookkeeping
from kvolsched.questions.explain import FieldChange
from kvolsched.views.drawing.theme import resolve
from kvolsched.views.pages import differences as picture
from kvolsched.views.pages.differences import DifferenceRow, Differences
from kvolsched.views.panel import pair as side_by_side
from kvolsched.views.panel.acts import Call
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.lab import Lab
from kvolsched.views.panel.layout import INSET
from kvolsched.views.panel.pair import BESIDE, Pair, hidden_words, only_differing
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


def drivers(left=0, right=0):
    """Return drivers of a run that ends at step 9 (4 steps at 0 s, 2 at 0.3, 3 at 2) and of one that ends at 18.

    Of the second 11 steps are at 0 s, 5 at 0.3, one at 1 and one at 4. Each has made so many of them.
    """
    found = ClusterDriver(scenario("zonal-example", "design")), ClusterDriver(scenario("two-volumes-one-pool", "upstream"))
    for driver, steps in zip(found, (left, right), strict=True):
        driver.cluster.run(steps=steps)
    return found


def at(pair):
    """Return the steps of both, the step that is shown, how many are known, and who may act next."""
    head = pair.frame().head
    return (pair.left.place()[0], pair.right.place()[0], pair.at), (head.step, head.steps_known), head.of_pair


BOTH, OTHERS = ("both", "design", "design"), ("both", "design", "upstream")
ITS, OTHERS_BY_TIME = ("design", "design", "design"), ("design", "design", "upstream")


@pytest.mark.parametrize(("align", "moves"), [
    ("step", [
        ((0, 0, 0), (0, 0), BOTH), ("step", (1, 1, 1), (1, 1), BOTH), ("step", (2, 2, 2), (2, 2), BOTH), ("back", (1, 1, 1), (1, 2), BOTH),
        ("run", (9, 18, 18), (18, 18), BOTH), ("back", (9, 17, 17), (17, 18), OTHERS), ("step", (9, 18, 18), (18, 18), BOTH),
        ("step", (9, 18, 18), (18, 18), BOTH), (("goto", 12), (9, 12, 12), (12, 18), OTHERS), (("goto", 9), (9, 9, 9), (9, 18), OTHERS),
        (("goto", 3), (3, 3, 3), (3, 18), BOTH), ("step", (4, 4, 4), (4, 18), BOTH), (("goto", 0), (0, 0, 0), (0, 18), BOTH),
        ("back", (0, 0, 0), (0, 18), BOTH), (("goto", 30), (9, 18, 18), (18, 18), BOTH)]),
    ("time", [
        ((0, 11, 0), (0, 12), ITS), ("step", (1, 11, 1), (1, 12), ITS), (("goto", 1), (1, 11, 1), (1, 12), ITS),
        *(("step", (step, right, step), (step, known), ITS)
          for step, right, known in ((2, 11, 12), (3, 11, 12), (4, 11, 12), (5, 16, 17), (6, 16, 17), (7, 17, 18), (8, 17, 18))),
        ("step", (9, 17, 9), (9, 18), OTHERS_BY_TIME), ("step", (9, 18, 9), (9, 18), ITS), ("step", (9, 18, 9), (9, 18), ITS),
        ("back", (8, 17, 8), (8, 18), ITS), (("goto", 5), (5, 16, 5), (5, 18), ITS), ("back", (4, 11, 4), (4, 18), ITS),
        ("run", (9, 18, 9), (9, 18), ITS), (("goto", 30), (9, 17, 9), (9, 18), OTHERS_BY_TIME), (("goto", 0), (0, 11, 0), (0, 18), ITS),
        ("back", (0, 11, 0), (0, 18), ITS)]),
])  # fmt: skip
def test_each_move_moves_both(align, moves):
    """By step both make the same number of steps, by time the other one is where the clock is; whoever has ended waits."""
    pair = Pair(*drivers(), align)
    seen = [at(pair)]
    for move, *_ in moves[1:]:
        name, *arguments = move if isinstance(move, tuple) else (move,)
        getattr(pair, name)(*arguments)
        seen.append((move, *at(pair)))

    assert seen == moves


@pytest.mark.parametrize(("left", "right", "align", "stay", "expected"), [
    (4, 2, "step", False, (4, 4, 4)), (4, 2, "step", True, (4, 2, 4)), (4, 7, "step", False, (4, 4, 4)), (4, 7, "step", True, (4, 7, 7)),
    (0, 7, "step", False, (0, 0, 0)), (0, 7, "step", True, (0, 7, 7)), (0, 0, "step", True, (0, 0, 0)), (5, 2, "time", False, (5, 16, 5)),
    (5, 18, "time", False, (5, 16, 5)), (5, 18, "time", True, (5, 18, 5)), (9, 0, "step", False, (9, 9, 9)),
])  # fmt: skip
def test_a_pair_begins_where_the_first_one_is(left, right, align, stay, expected):
    """The other one comes there, unless both are to stay where they are."""
    pair = Pair(*drivers(left, right), align, stay=stay)

    assert expected == (pair.left.place()[0], pair.right.place()[0], pair.at)


def test_a_pair_follows_its_first_one_by_step_unless_it_is_told_otherwise():
    """Nothing need be said to have both make the same number of steps."""
    pair = Pair(*drivers(3, 0))
    assert ("step", (3, 3, 3)) == (pair.align, at(pair)[0])


def test_who_is_pressed_acts_where_it_may():
    """An actor of the first one acts there, and the other one follows; at its end the other one's actors act themselves."""
    pair = Pair(*drivers(1, 0))
    pair.step(pair.frame().next[1].actor)
    seen = [(at(pair)[0], list(pair.left.script)[-1])]
    pair.left.run()
    pair.goto(pair.left.place()[1])
    pair.right.goto(0)
    pair.step(pair.frame().next[1].actor)
    seen.append((pair.right.place()[0], list(pair.right.script)[-1]))

    assert [((2, 2, 2), 'c.step("bind worker", "default/my-pod")'), (1, 'c.step("persistentvolume claims", "default/data-1")')] == seen


def test_a_pair_has_frames_of_both():
    """The pod in focus is judged in both, in the other one only if the first has it; of the first so many next as are enough."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("web"), make.deployment("shop", 2)], name="one")
    other = Cluster.from_manifests([make.node("n1"), make.pod("web"), make.pod("sole")], name="other")
    pair = Pair(ClusterDriver(c), ClusterDriver(other))
    for focus, judge, there in (("", False, ""), ("pod/web", False, "pod/web"), ("pod/web", True, "pod/web"), ("pod/sole", True, "")):
        pair.frame(focus, judge=judge, most=1)
        assert (pair.left.frame(focus, judge=judge, most=1), pair.right.frame(there, judge=judge, most=1)) == pair.halves
    pair.frame("pod/web")

    assert (pair.left.frame("pod/web"), pair.right.frame("pod/web")) == pair.halves
    assert len(pair.halves[0].next) > 1
    assert ("one", "other") == pair.names


def test_what_tells_two_clusters_apart_is_their_name():
    """Branches, then rules, then names; of two that are alike in all one is this, and one the other."""
    ways = [("zonal-example", "design"), ("zonal-example", "upstream"), ("two-volumes-one-pool", "upstream")]
    a, b, c, d = (ClusterDriver(scenario(*way)) for way in (*ways, ways[0]))
    b.cluster.run()
    b.cluster.goto(3, branch="closed")

    assert [("main", "closed"), ("design", "upstream"), ("this", "the other")] == [Pair(*each, stay=True).names for each in (
        (a, b), (a, c), (a, d))]  # fmt: skip
    assert ("zonal-example", "two-volumes-one-pool") == Pair(ClusterDriver(scenario("zonal-example", "upstream")), c).names


def test_an_act_is_the_first_ones():
    """It changes that alone, after which the other one is at the same step; gear and branch are of both."""
    pair = Pair(*drivers(3, 3))
    pair.perform(Call("cordon", ("node-a",)))
    seen = [at(pair)[0]]
    pair.goto(1)
    pair.perform(Call("cordon", ("node-b",)), "closed")
    seen.append((at(pair)[0], pair.left.branches()))
    pair.switch("main")
    pair.gear("turns")
    seen.append((at(pair)[0], pair.left.branches(), pair.left.unit, pair.right.unit))

    assert [(4, 4, 4), ((2, 2, 2), ["closed", "main"]), ((4, 4, 4), ["main", "closed"], "turns", "turns")] == seen
    twin = Pair(ClusterDriver(pair.left.cluster.fork()), drivers()[1])
    twin.perform(Call("upgrade", ("upstream", "scheduler")), "newer", forks=True)
    assert "newer" == twin.left.branches()[0]


ROW = DifferenceRow("pod/web-0", "spec.nodeName", "node-a", "", "scheduler", 4)
HALO = '<rect class="k-hot" x="10" y="20" width="100" height="40"/>'
LANES = ('<svg xmlns="s" width="600" height="200"><g data-ref="step/3" role="b"><text x="50" y="12">3</text></g>'
         '<g data-ref="step/12"><text x="230" y="12">12</text></g><g data-ref="step/4"><text x="70" y="12">4</text></g></svg>')


def differing(*rows, alike=3, then=("bound web-0", "")):
    """Return what differs between two at their steps 4."""
    return Differences(("left <1>", "right"), (4, 4), alike, then, rows, "")


def seen_as(found, halves, width, *, only=False, drawn=None):
    """Return what is drawn of both, and with what each view was asked for."""
    asked = []

    def draw(frame, wide, selection):
        asked.append((frame.head.hot, wide, selection, [pod.name for pod in frame.pods]))
        return {"sentence": f"<i>{len(asked)}</i>", "map": drawn or f"<svg>{HALO}</svg>", "lanes": LANES, "side": "s", "body": "b"}

    pair = SimpleNamespace(halves=halves, differences=lambda: found)
    return side_by_side.views(pair, draw, width, "pod/web-0", **{"only": True} if only else {}), asked


ENDS = (frames.f.Frame(pods=(plain.PodRow("pod/web-0", "web-0", node="node-a", state="bound"),)),
        frames.f.Frame(pods=(plain.PodRow("pod/web-0", "web-0"),)))
HEADS = (('<div class="k-half-head"><span class="k-badge">branch <b>left &lt;1&gt;</b></span>'
         '<span class="k-who">alike until step 3, then: bound web-0</span><b class="k-end-ok">web-0 bound on node-a</b></div><i>1</i>'),
         ('<div class="k-half-head"><span class="k-badge">branch <b>right</b></span>'
         '<span class="k-who">alike until step 3, then: nothing more yet</span>'
         '<b class="k-end-storage">web-0 pending, stays so</b></div><i>2</i>'))  # fmt: skip
FORK = '<path d="M60 12V176" class="k-fork"/>'


def halves(one, other, kind="k-pair"):
    """Return two drawn halves."""
    return f'<div class="{kind}"><div class="k-half">{one}</div><div class="k-half">{other}</div></div>'


@pytest.mark.parametrize("width", [BESIDE, BESIDE - 1])
def test_a_pair_is_drawn_whole(width):
    """Beside each other each view has its halves; below each other every sentence stands over its map."""
    found = differing(DifferenceRow("pvc/data", "spec.volumeName", "a", "b"), ROW, ROW)
    drawn, asked = seen_as(found, ENDS, width)
    sign, fork = picture.small_badge(110, 60), FORK + picture.small_badge(60, 19)
    mapped, lanes = f"<svg>{HALO}{sign}</svg>", LANES.replace("</svg>", f"{fork}</svg>")
    beside = width == BESIDE
    kind = "k-pair" if beside else "k-pair k-stacked"

    assert [(("pod/web-0", "pvc/data"), 542 if beside else BESIDE - 1, "pod/web-0", ["web-0"])] * 2 == asked
    assert drawn == {
        "sentence": halves(*HEADS if beside else ("", ""), kind),
        "map": halves(mapped, mapped, kind) if beside else halves(*(head + mapped for head in HEADS), kind),
        "lanes": halves(lanes, lanes, kind), "side": "",
        "body": f'<div class="k-box">{picture.draw(found, width - 22, "pod/web-0")}</div>',
    }  # fmt: skip


def test_differences_only_are_drawn_whole():
    """Alike objects are left out of both and counted; where no object differs no map is drawn, and no sign."""
    same = plain.PodRow("pod/same", "same", node="node-a")
    with_same = tuple(evolve(half, pods=(*half.pods, same)) for half in ENDS)
    words = "<svg><text>Nothing is waiting.</text><text>no volume in reach</text><text>Nothing is waiting. It</text></svg>"
    some, asked = seen_as(differing(ROW), with_same, 1200, only=True, drawn=words)
    none, _ = seen_as(differing(), (with_same[0],) * 2, 1200, only=True)
    one, _ = seen_as(differing(), (ENDS[0], evolve(ENDS[0], pods=())), 1200, only=True)
    said = '<p class="k-q-label" role="status">{}</p>'.format

    assert [["web-0"], ["web-0"]] == [pods for *_, pods in asked]
    told = "<svg><text>Nothing that waits differs.</text><text>no volume differs</text><text>Nothing is waiting. It</text></svg>"
    assert some["map"] == said("Hidden, for they are alike in both: 1 pod.") + halves(told, told)
    assert none["map"] == said("Nothing differs on the map: 2 pods, alike in both.") + halves("", "")
    assert one["map"].startswith(said("Nothing is alike in both: all is shown."))
    assert 2 == one["map"].count("k-differs")
    assert {"sentence", "map", "lanes", "side", "body"} == set(some) == set(none)


@pytest.mark.parametrize(("frame", "words"), [
    ({"pods": ()}, "0 of 0 pods have a node"),
    ({"pods": (plain.PodRow("pod/a", "a"),)}, "a pending, stays so"),
    ({"pods": (plain.PodRow("pod/a", "a"),), "next": True}, "a pending"),
    ({"pods": (plain.PodRow("pod/a", "a", node="n", state="bound"),)}, "a bound on n"),
    ({"pods": (plain.PodRow("pod/a", "a", node="n"), plain.PodRow("pod/b", "b"))}, "1 of 2 pods have a node, stays so"),
    ({"pods": (plain.PodRow("pod/a", "a", node="n"), plain.PodRow("pod/b", "b")), "next": True}, "1 of 2 pods have a node"),
    ({"pods": (plain.PodRow("pod/a", "a", node="n"), plain.PodRow("pod/b", "b", node="n"))}, "2 of 2 pods have a node"),
])  # fmt: skip
@pytest.mark.parametrize(("rows", "then", "since"), [
    ((), ("", ""), "alike so far"), ((ROW,), ("", ""), "alike until step 3, then: nothing more yet"),
    ((), ("", "bound b"), "alike until step 3, then: nothing more yet"), ((), ("bound a", ""), "alike until step 3, then: bound a"),
])  # fmt: skip
def test_the_line_above_a_half_says_how_it_ends(frame, words, rows, then, since):
    """Its name, what it did after the last common step, and where its pod is, or of several how many have a node."""
    chips = (frames.f.NextActor("a", "a", "a", ""),) if frame.get("next") else ()
    half = frames.f.Frame(pods=frame["pods"], next=chips)
    role = "ok" if all(pod.node for pod in half.pods) else "storage"
    head = side_by_side._head(half, differing(*rows, then=then), 0)

    assert (f'<div class="k-half-head"><span class="k-badge">branch <b>left &lt;1&gt;</b></span><span class="k-who">{since}</span>'
            f'<b class="k-end-{role}">{words}</b></div>') == head


@pytest.mark.parametrize(("alike", "x"), [(2, None), (3, 60), (4, 80), (11, 220), (12, None)])
def test_the_fork_is_drawn_behind_the_last_common_step(alike, x):
    """A dotted line stands between that step and the next one, if both are on the lanes, down to their scale of time."""
    found = differing(ROW, alike=alike)
    fork = "" if x is None else f'<path d="M{x} 12V176" class="k-fork"/>{picture.small_badge(x, 19)}'

    assert LANES.replace("</svg>", f"{fork}</svg>") == side_by_side._with_fork(LANES, found)


def test_where_nothing_parts_no_fork_is_drawn():
    """Two that are alike have none, nor have lanes of one step; of two steps it stands between them."""
    two = '<svg height="90"><g data-ref="step/3"><text x="50" y="12">3</text></g><g data-ref="step/4"><text x="70" y="12">4</text></g></svg>'
    one = two.replace("step/4", "mark/4")
    fork = f'<path d="M60 12V66" class="k-fork"/>{picture.small_badge(60, 19)}</svg>'

    assert (LANES, one) == (side_by_side._with_fork(LANES, differing()), side_by_side._with_fork(one, differing(ROW)))
    assert two.replace("</svg>", fork) == side_by_side._with_fork(two, differing(ROW))


def test_a_sign_stands_on_every_halo_wherever_it_was_moved_to():
    """Signs are on the lower right corners, in the picture's coordinates; words in place of a map have none."""
    svg = (f'<svg xmlns="s"><g transform="translate(5 6)"><g style="transform:translate(100px,200px)">{HALO}</g>{HALO}</g>'
           f'<rect class="k-other" x="1" y="2" width="3" height="4"/><rect class="k-hot" width="7" height="9"/></svg>').replace('xmlns="s"', "")
    signs = "".join(picture.small_badge(*place) for place in ((215, 266), (115, 66), (7, 9)))

    assert svg.replace("</svg>", f"{signs}</svg>") == side_by_side._with_signs(svg)
    assert "Nothing & more" == side_by_side._with_signs("Nothing & more")


def test_a_pair_is_read_whole(lab):
    """Both ends, both sentences, and what differs, with an empty line between."""
    names, (left, right) = lab.driver.names, lab.driver.halves
    parts = lab.reading().split("\n\n")

    assert side_by_side.reading(lab.driver, lambda frame: f"at {frame.head.step}") == "\n\n".join([
        f"{names[0]}: my-pod pending, stays so\nat {left.head.step}", f"{names[1]}: my-pod bound on node-a\nat {right.head.step}",
        picture.reading(lab.driver.differences())])  # fmt: skip
    assert parts[-1] in picture.reading(lab.driver.differences())
    assert lab.driver.differences() == picture.differences(lab.driver.left.cluster, lab.driver.right.cluster, names)


def test_differences_only_keep_what_belongs_to_it():
    """Of everything else in both halves nothing stays: not the other claims, classes, volumes, pods or nodes."""
    claims = [plain.ClaimRow(f"pvc/{name}", name, class_name=f"{name}-class", pods=(f"pod/{name}",)) for name in "ab"]
    everything = frames.f.Frame(
        nodes=tuple(plain.NodeRow(f"node/n{name}", f"n{name}", ()) for name in "abc"), claims=tuple(claims),
        pods=tuple(plain.PodRow(f"pod/{name}", name, node=f"n{name}", claims=(f"pvc/{name}", "pvc/x")) for name in "ab"),
        volumes=tuple(plain.VolumeRow(f"pv/{name}", name) for name in "ab"),
        classes=tuple(frames.f.ClassRow(f"sc/{name}-class", f"{name}-class", "Immediate", "any", "csi") for name in "abc"),
    )  # fmt: skip
    other = evolve(everything, claims=(evolve(claims[0], size="1Ti"), claims[1]), volumes=everything.volumes[:1])
    one, _ = shown = only_differing((everything, other), ["sc/c-class"])
    alone, _ = only_differing((evolve(everything, nodes=(), pods=(), volumes=()),) * 2, [])

    assert [["na"], ["a"], ["a"], ["b"], ["a-class", "c-class"]] == [
        [row.name for row in getattr(one, name)] for name in ("nodes", "pods", "claims", "volumes", "classes")]
    assert ("pvc/a",) == one.pods[0].claims
    assert "Hidden, for they are alike in both: 2 nodes, 1 pod, 1 claim, 1 volume." == hidden_words((everything, other), shown)
    assert "Nothing differs on the map: 2 claims, alike in both." == hidden_words(
        (evolve(everything, nodes=(), pods=(), volumes=()),) * 2, (alone, alone))
    assert "Nothing differs on the map: there is no object, alike in both." == hidden_words((frames.f.Frame(),) * 2, (frames.f.Frame(),) * 2)
    assert "Nothing is alike in both: all is shown." == hidden_words((everything, other), (everything, other))
