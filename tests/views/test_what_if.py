"""The what-if panel, without a browser: controls are set, messages are sent, tables and pictures are compared."""

import asyncio
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from what_if_cluster import MAX_SKEW, REPLICAS, TAINTS_POLICY, six_pods

from kvolsched import Cluster, make
from kvolsched.core.results import ApplyRefused
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.svg import num
from kvolsched.views.panel import what_if as panel
from kvolsched.views.panel.host import ROOT
from kvolsched.views.panel.what_if import WhatIf
from kvolsched.views.pictures import what_if
from kvolsched.views.pictures.what_if import FieldStrip, ValueCell, WhatIfRows

FIELDS = {MAX_SKEW: [1, 2, 3, 4, 5, 6], REPLICAS: (3, 6), TAINTS_POLICY: ["Ignore", "Honor"], "node/c1:spec.unschedulable": bool}
TABLE = """\
maxSkew  1: 2 of 6  [2: 4 of 6]  3: 6 ✓  4: 6 ✓  5: 6 ✓  6: 6 ✓  threshold 2|3
replicas  3: 3 of 3 ✓  4: 4 of 4 ✓  5: 4 of 5  [6: 4 of 6]  threshold 4|5
nodeTaintsPolicy  [Ignore: 4 of 6]  Honor: 6 ✓  Honor lets all run
unschedulable  [false: 4 of 6]  true: 4  no value lets all run"""


@pytest.fixture(scope="module")
def cluster():
    """Return the cluster of six pods."""
    return six_pods()


@pytest.fixture
def opened(cluster):
    """Return a panel over four fields."""
    return cluster.whatif("skew", **FIELDS)


def cell(value, running=0, pods=9, **fields):
    """Return a cell that has been run."""
    return ValueCell(str(value), running, pods, is_known=True, **fields)


def strip(*cells, present=0, ordered=True):
    """Return a strip of cells."""
    return FieldStrip("maxSkew", MAX_SKEW, cells, present, ordered)


def parsed(svg):
    """Parse a picture: it must be well-formed XML."""
    return ET.fromstring(svg)  # noqa: S314 - our own string


def test_table_word_for_word(opened):
    """Every strip is a line: all its values are run, the present one stands in brackets."""
    assert repr(opened.table) == TABLE
    assert opened.table.rows[0] == ("maxSkew", "1", 2, 6, "")


def test_everything_pressed_has_its_answer(opened):
    """What was moved, set or sent is told once that it is done, so that the page says "busy" no longer."""
    ticks = [opened.host.tick]
    for press in (
        lambda: setattr(opened.controls[REPLICAS], "value", 3), lambda: opened.set(maxSkew=3),
        lambda: opened._message(None, {"cmd": "ping"}, None), lambda: opened._message(None, {"cmd": "clear"}, None),
        lambda: opened._message(None, {"cmd": "other"}, None), lambda: opened._message(None, {"cmd": "width", "px": 700}, None),
    ):  # fmt: skip
        press()
        ticks.append(opened.host.tick)

    assert [1, 1, 1, 1, 0, 1] == [after - before for before, after in pairwise(ticks)]


def test_a_field_that_is_left_out_is_a_choice_like_another(cluster):
    """The button of a field without a value is marked when it is chosen, and can be chosen again; no word stands for it."""
    opened = cluster.whatif("skew", **{TAINTS_POLICY: [None, "Honor", "removed"]})
    button = opened.controls[TAINTS_POLICY]
    chosen = []
    for index in (1, 0):
        button.index = index
        chosen.append((button.index, *opened.values.values()))

    assert [(1, "Honor"), (0, None)] == chosen
    button.index = 2
    assert {"removed"} == {*opened.values.values()}


def test_value_is_the_cluster_of_the_controls(opened):
    """Moving a slider, a checkbox or a button, or clicking a cell, runs a fork; `value` is observed."""
    seen = []
    opened.observe(lambda change: seen.append(len(change["new"].objects("pods"))), "value")
    opened.controls[REPLICAS].value = 3
    opened.controls["node/c1:spec.unschedulable"].value = True
    opened.controls[TAINTS_POLICY].value = "Honor"
    opened._message(None, {"cmd": "select", "ref": "value/0/4"}, None)

    assert [3, 3, 3, 3] == seen
    assert [5, 3, "Honor", True] == list(opened.values.values())
    assert (5, True) == (opened.controls[MAX_SKEW].value, opened.value["node/c1"].spec.unschedulable)
    assert repr(opened).startswith("What if maxSkew 5, replicas 3, nodeTaintsPolicy Honor, unschedulable true?\nAll 3 pods run.")


def test_values_can_be_set_by_label_or_path(opened):
    """`set` takes both; a wrong name or value lists what there is."""
    opened.set(maxSkew=3, **{REPLICAS: 4})
    assert [3, 4] == list(opened.values.values())[:2]
    with pytest.raises(KeyError) as unknown:
        opened.set(replcas=3)
    with pytest.raises(ValueError, match=r"^maxSkew has no value 9; there are 1, 2, 3, 4, 5, 6$"):
        opened.set(maxSkew=9)

    assert ("no field 'replcas'; there are: maxSkew, replicas, nodeTaintsPolicy, unschedulable; did you mean replicas?",) == unknown.value.args


def test_what_is_printed_depends_on_no_timer(cluster):
    """Strips that were filled in the background change neither the reading nor the still picture."""
    one, other = (cluster.whatif("skew", **FIELDS) for _ in range(2))

    async def wait():
        other._fill_later()
        for _ in range(1_000):
            if other._timer is None:
                return
            await asyncio.sleep(0.01)

    asyncio.run(wait())
    assert not other._missing()
    assert len(one._missing()) == 10
    assert repr(one) == repr(other)
    assert one._still().svg == other._still().svg
    assert "not run yet" not in other.host.side


def test_filling_strips_draws_no_map(opened, monkeypatch):
    """What was run in the background changes the strips alone: the picture of the cluster is not drawn again for it."""
    sides, drawn = [], []
    opened.host.observe(lambda change: sides.append(change["new"]), "side")
    monkeypatch.setattr(opened, "_picture", lambda: drawn.append("map"))
    while opened._missing():
        opened._fill()

    assert (True, []) == (len(sides) > 0, drawn)


def test_strips_are_filled_from_the_thumb_outwards(cluster):
    """The nearest values of all fields come first."""
    trials = cluster.whatif("skew", **{MAX_SKEW: [1, 2, 3, 4, 5, 6], REPLICAS: (3, 6)}).trials
    assert [(0, 3), (2, 3), (1, 2), (3, 3), (1, 1), (4, 3), (1, 0), (5, 3)] == trials.outward((1, 3))


def test_without_event_loop_nothing_runs_by_itself(opened):
    """In plain Python strips are run when the table is asked for."""
    opened.set(maxSkew=3)
    assert opened._timer is None


def test_an_interrupt_leaves_the_panel_as_it_was(opened, monkeypatch):
    """Values, controls and picture stay, and the run can be made again."""
    before = opened.host.map
    with monkeypatch.context() as patched:
        def stop(*_arguments):
            raise KeyboardInterrupt
        patched.setattr(opened.trials, "advance", stop)
        with pytest.raises(KeyboardInterrupt):
            opened.controls[MAX_SKEW].value = 4
    assert (2, before) == (opened.controls[MAX_SKEW].value, opened.host.map)
    opened.controls[MAX_SKEW].value = 4
    assert list(opened.values.values())[0] == 4  # noqa: RUF015 - the first field


def test_a_long_run_shows_how_far_it_is(opened, monkeypatch):
    """While a run takes long, a bar says how many pods run; then the answer stands there again."""
    told = []
    opened.host.observe(lambda change: told.append(change["new"]), "sentence")
    monkeypatch.setattr(panel, "_PATIENCE", -1.0)
    opened.set(maxSkew=6)

    assert "All 6 pods run." in told[-1]
    told = [re.fullmatch(r'<p class="k-say"><progress max="6" value="(\d)"></progress>step \d+, t = [\d.]+ s, (\d) of 6 pods run</p>', each)
            for each in told[:-1]]
    assert [found[1] for found in told] == [found[2] for found in told]


def test_a_refused_value_is_told_and_not_run(cluster):
    """The sentence has the server's words, there is no picture, the cell says refused; to ask for the cluster raises."""
    opened = cluster.whatif("skew", **{MAX_SKEW: [0, 2]})
    opened.set(maxSkew=0)
    with pytest.raises(ApplyRefused, match="must be greater than zero"):
        _ = opened.value

    assert "The API server refuses maxSkew 0." in repr(opened)
    assert "must be greater than zero" in opened.host.sentence
    assert opened.host.map == ""
    assert repr(opened.table) == "maxSkew  [0: refused]  2: 4 of 6  no value lets all run, 1 value is refused"


@pytest.mark.parametrize("name", ["skew", "capacity", "map", "domains", "series", "why", "verdicts"])
def test_every_picture_can_be_asked_for(cluster, name):
    """Each draws, with pods and without."""
    opened = cluster.whatif(name, **{REPLICAS: [0, 6]})
    assert parsed(f"<div>{opened.host.map}</div>") is not None
    assert parsed(opened.figure().draw(720, "")) is not None
    opened.set(replicas=0)
    assert "There is no pod." in opened.host.sentence
    assert opened.figure().reading


def test_a_pod_that_is_gone_is_replaced(cluster):
    """A picture of one pod shows another one where that does not exist; a wrong name lists pictures."""
    ran = cluster.fork()
    ran.run()
    pod = ran.objects("pods")[-1].metadata.name
    opened = ran.whatif("verdicts", pod=pod, **{REPLICAS: (1, 6)})
    assert pod in repr(opened)
    opened.set(replicas=1)
    assert pod not in repr(opened)
    with pytest.raises(KeyError, match="no pod/web-9"):
        cluster.whatif("verdicts", pod="web-9", **{REPLICAS: [1]})
    with pytest.raises(KeyError, match="no picture 'skw'; there are: skew, capacity"):
        cluster.whatif("skw", **{REPLICAS: [1]})
    with pytest.raises(TypeError, match="give fields by their paths"):
        cluster.whatif({REPLICAS: [1]})


@pytest.mark.parametrize("width", [560, 740, 960, 1240])
def test_no_word_of_a_strip_is_wider_than_its_cell(width):
    """With 24 cells as with two, at every width, what is written fits."""
    for count in (2, 6, 24):
        drawn = strip(*(cell(number * 100, number, 24) for number in range(count)), present=1)
        rows = WhatIfRows((drawn,))
        place = what_if.layout(rows, width)
        svg = parsed(what_if.strip(drawn, 0, place))
        texts = svg.findall(".//{http://www.w3.org/2000/svg}g//{http://www.w3.org/2000/svg}text")
        assert count <= len(texts)
        for text in texts:
            bold = "k-b" in text.get("class")
            assert t.width(text.text, 11, bold=bold) <= place.cell(count) + 2
        assert place.label + place.strip + (place.words and 16 + place.words) <= width


def test_a_cell_is_filled_as_far_as_pods_run():
    """Over each value stands its frame, filled from below by the share that runs; refused is barred, not run is void."""
    drawn = strip(cell(1, 3), cell(2, 9), cell(3, refused="no"), ValueCell("4"), present=1)
    svg = parsed(what_if.strip(drawn, 0, what_if.layout(WhatIfRows((drawn,)), 900)))
    seen = []
    for group in svg.findall("{http://www.w3.org/2000/svg}g"):
        *_, value = group.findall("{http://www.w3.org/2000/svg}text")
        marks = [(each.get("class"), *(float(each.get(name)) for name in ("x", "y", "width", "height")))
                 for each in group.findall("{http://www.w3.org/2000/svg}rect")]  # fmt: skip
        _, _, top, _, high = marks[0]
        assert [] == [mark for mark in marks if abs(mark[1] + mark[3] / 2 - float(value.get("x"))) > 0.2]
        assert [] == [mark for mark in marks if mark[0] != "k-ring" and abs(mark[2] + mark[4] - top - high) > 0.1]
        seen.append((value.text, [(mark[0], round(mark[4] / high, 2)) for mark in marks]))
    assert seen == [
        ("1", [("k-p-none", 1.0), ("k-p-spread k-l-spread", 0.33)]),
        ("2", [("k-p-none", 1.0), ("k-p-ok k-l-ok", 1.0), ("k-ring", 1.07)]),
        ("3", [("k-barred", 1.0)]),
        ("4", [("k-void", 1.0)]),
    ]


def test_conclusions():
    """What a strip shows in a few words: thresholds, names of words, nothing while values are missing."""
    below, above = cell(1, 2), cell(2, 9)
    assert ("threshold 1 | 2", "from 2 on all run") == what_if.conclusion(strip(below, above))
    assert ("threshold 2 | 1", "from 1 on not all run") == what_if.conclusion(strip(above, below))
    assert ("thresholds 1 | 2, 2 | 1", "") == what_if.conclusion(strip(below, above, below))
    assert ("all run with every value", "") == what_if.conclusion(strip(above, above))
    assert ("1 not run yet", "") == what_if.conclusion(strip(above, ValueCell("3")))
    assert ("every value is refused", "") == what_if.conclusion(strip(cell(0, refused="no"), cell(1, refused="no")))
    assert ("threshold 1 | 2", "from 2 on all run, 1 value is refused") == what_if.conclusion(
        strip(cell(0, refused="no"), below, above))
    assert ("only 2 lets all run", "1 value is refused") == what_if.conclusion(strip(cell(0, refused="no"), above))
    assert ("all run with every other value", "1 value is refused") == what_if.conclusion(
        strip(cell(0, refused="no"), above, above))
    assert ("2 lets all run", "") == what_if.conclusion(strip(below, above, ordered=False))


@pytest.mark.parametrize(("cells", "present", "line"), [
    ([cell(0, 0, 0), cell(1, 1, 1)], 1, "0: 0 of 0 ✓  [1: 1 of 1 ✓]  all run with every value"),
    ([cell(1, 2), cell(2, 9), cell(3, refused="no"), ValueCell("4"), cell(5, 9), cell(6, 9, 10)], 0,
     "[1: 2 of 9]  2: 9 ✓  3: refused  4: ?  5: 9 ✓  6: 9 of 10  1 not run yet"),
    ([cell(0, refused="no"), cell(1, 2), cell(2, 9)], 1,
     "0: refused  [1: 2 of 9]  2: 9 ✓  threshold 1|2, from 2 on all run, 1 value is refused"),
])  # fmt: skip
def test_a_line_counts_the_pods_where_their_number_changes(cells, present, line):
    """How many pods there are stands at the present value, at the first one and wherever it is another number."""
    assert f"maxSkew  {line}" == what_if.reading(WhatIfRows((strip(*cells, present=present),)))


def test_fractions_are_numbers_in_order():
    """A quantity may be given as a fraction: its strip has a threshold and a slider, like one of whole numbers."""
    cluster = Cluster.from_manifests([make.node("n1"), make.deployment("web", 2)])
    opened = cluster.whatif("map", **{"deploy/web:spec.template.spec.containers[0].resources.requests.cpu": [0.5, 1, 100]})

    assert "cpu  [0.5: 2 of 2 ✓]  1: 2 ✓  100: 0  threshold 1|100" == repr(opened.table)
    assert ["SelectionSlider"] == [type(control).__name__ for control in opened.controls.values()]


@pytest.mark.parametrize(("running", "pods", "words"), [
    (1, 1, "1 of 1 pod runs."), (0, 1, "0 of 1 pod runs, 1 waits."), (1, 3, "1 of 3 pods runs, 2 wait."),
    (6, 7, "6 of 7 pods run, 1 waits."), (3, 3, "All 3 pods run."),
])
def test_one_pod_runs_and_several_run(running, pods, words):
    """The sentence agrees with its numbers."""
    assert words == what_if.sentence(WhatIfRows((strip(cell(1, running, pods)),)))


def test_other_pods_are_told_of_where_their_outcome_changes():
    """The pods of the varied workload are counted; of the others a sentence speaks only if they change."""
    same = strip(cell(1, 1, 1, others=(1, 2)), cell(2, 1, 2, others=(1, 2)), present=1)
    other = strip(cell(1, 1, 1, others=(2, 2)), cell(2, 1, 2, others=(1, 2)), present=1)

    told = [what_if.sentence(WhatIfRows((each,), workload="deploy/web")) for each in (same, other)]

    assert "1 of 2 pods of deploy/web runs, 1 waits. With maxSkew 1, all would run." == told[0]
    assert "Of the other pods 1 of 2 run; that changes with these values." in told[1]


def test_nothing_is_drawn_between_cells_that_were_not_run():
    """A line stands only between two values that were run; the rest is dotted."""
    rows = strip(cell(1, 2), ValueCell("2"), cell(3, 9))
    svg = what_if.strip(rows, 0, what_if.layout(WhatIfRows((rows,)), 960))
    assert "k-flip" not in svg
    assert svg.count("k-void") == 1
    assert 'aria-label="maxSkew 2: not run yet"' in svg


@pytest.mark.parametrize(("px", "words"), [(560, False), (1000, True)])
def test_controls_stand_above_their_cells(cluster, px, words):
    """Sliders reach from the middle of the first cell to that of the last, with their value beside where there is room.

    Buttons and a checkbox begin with the first cell; a button is as wide as its cell, without the gap.
    """
    opened = cluster.whatif("skew", **FIELDS | {REPLICAS: [3, 6, 30]})
    opened.do("width", px=px)
    place = what_if.layout(opened._rows(), px)
    six, three, two = map(place.cell, (6, 3, 2))
    seen = [(name.value, name.layout.width, control.layout.width, control.layout.margin, value.layout.margin, value.value)
            for name, control, value in zip(opened._names, opened.controls.values(), opened._values, strict=True)]  # fmt: skip

    assert isinstance(opened, WhatIf)
    assert seen == [
        ("maxSkew", "120px", f"{six * 5:.1f}px", f"0 {six / 2:.1f}px", "0 0 0 16.0px", "2" * words),
        ("replicas", "120px", f"{three * 2:.1f}px", f"0 {three / 2:.1f}px", f"0 0 0 {six * 6 + 16 - three * 3:.1f}px", "6" * words),
        *((name, "120px", f"{two * 2:.1f}px", "0 0.0px", f"0 0 0 {six * 6 + 16 - two * 2:.1f}px", "")
          for name in ("nodeTaintsPolicy", "unschedulable")),
    ]
    assert [None, None, f"{int(two) - 4}px", None] == [getattr(each.style, "button_width", None) for each in opened.controls.values()]


def test_a_strip_is_as_wide_as_its_place():
    """The picture of a strip has the width of the page and the height that is kept for it."""
    rows = strip(cell(1, 2), cell(2, 9))
    place = what_if.layout(WhatIfRows((rows,)), 960)
    drawn = parsed(what_if.strip(rows, 0, place))

    assert (960, what_if.strip_height(place)) == (float(drawn.get("width")), float(drawn.get("height")))


NODE, IN_STEPS = "node/n1:spec.unschedulable", "deploy/web:spec.replicas"
CPU, WORDS = "deploy/web:spec.template.spec.containers[0].resources.requests.cpu", "node/n1:metadata.labels[disk]"


@pytest.mark.parametrize(("path", "values", "kind", "shows"), [
    (NODE, bool, "Checkbox", (False, "true", False)),
    (NODE, [True, False], "ToggleButtons", (True, (("true", True), ("false", False)))),
    (NODE, [True], "ToggleButtons", (True, (("true", True),))),
    (NODE, [False], "ToggleButtons", (False, (("false", False),))),
    (IN_STEPS, (0, 1), "IntSlider", (1, 0, 1, 1, False, True)),
    (IN_STEPS, (1, 3), "IntSlider", (2, 1, 3, 1, False, True)),
    (IN_STEPS, [0, 2, 4], "IntSlider", (2, 0, 4, 2, False, True)),
    (IN_STEPS, [3, 2, 1], "SelectionSlider", (2, (("3", 3), ("2", 2), ("1", 1)), False, True)),
    (IN_STEPS, [1, 1], "SelectionSlider", (1, (("1", 1), ("1", 1)), False, True)),
    (IN_STEPS, [2], "SelectionSlider", (2, (("2", 2),), False, True)),
    (IN_STEPS, [1, 2, 4], "SelectionSlider", (2, (("1", 1), ("2", 2), ("4", 4)), False, True)),
    (CPU, [0.5, 1], "SelectionSlider", (0.5, (("0.5", 0.5), ("1", 1)), False, True)),
    (CPU, [0.5, 1.5], "SelectionSlider", (0.5, (("0.5", 0.5), ("1.5", 1.5)), False, True)),
    (CPU, [1, "500m"], "ToggleButtons", (1, (("1", 1), ("500m", "500m")))),
    (CPU, ["500m", None], "ToggleButtons", ("500m", (("500m", "500m"), ("–", panel._REMOVED)))),
    (WORDS, ["a", "b", "c", "d"], "ToggleButtons", ("a", tuple(zip("abcd", "abcd", strict=True)))),
    (WORDS, ["a", "b", "c", "d", "e"], "SelectionSlider", ("a", tuple(zip("abcde", "abcde", strict=True)), False, True)),
])  # fmt: skip
def test_values_have_the_control_that_suits_them(path, values, kind, shows):
    """A checkbox for a boolean, a slider for numbers, buttons for up to four words; the number stands above a slider."""
    cluster = Cluster.from_manifests([make.node("n1"), make.deployment("web", 2)])
    control, = cluster.whatif("map", **{path: values}).controls.values()
    read = {"Checkbox": ("value", "description", "indent"), "ToggleButtons": ("value", "options"),
            "IntSlider": ("value", "min", "max", "step", "readout", "continuous_update"),
            "SelectionSlider": ("value", "options", "readout", "continuous_update")}[kind]  # fmt: skip

    assert (kind, shows) == (type(control).__name__, tuple(getattr(control, name) for name in read))


@pytest.mark.parametrize(("nodes", "follows"), [(12, True), (13, False)])
def test_a_slider_is_followed_where_there_are_few_nodes(nodes, follows):
    """Up to twelve nodes a picture follows the slider while it is dragged; with more it comes when that is let go."""
    cluster = Cluster.from_manifests([*(make.node(f"n{number}") for number in range(nodes)), make.deployment("web", 1)])
    opened = cluster.whatif("map", **{IN_STEPS: (1, 2), CPU: [0.5, 1]})

    assert [follows, follows] == [control.continuous_update for control in opened.controls.values()]


def test_the_panel_is_named_and_placed_whole(opened):
    """Each view has a name for screen readers, and each strip stands in the order below its control."""
    place, fields = what_if.layout(opened._rows(), 1000), opened._rows().fields

    assert {"sentence": "answer", "map": "picture", "side": "outcomes of values"} == opened.host.names
    assert (ROOT, "k-lab") == opened._dom_classes
    assert ["10", "12", "14", "16"] == [line.layout.order for line in opened.children[0].children[:-1]]
    assert opened.host.side == "".join(
        f'<div style="order:{order};margin:0 0 8px">{what_if.strip(field, number, place)}</div>'
        for number, (order, field) in enumerate(zip((11, 13, 15, 17), fields, strict=True)))  # fmt: skip
    assert what_if.heading(opened._rows(), 1000) == opened.host.sentence


def test_a_selection_is_marked_in_the_picture(cluster):
    """A click on a pod marks it, another one or Esc takes the mark away; no value changes."""
    opened = cluster.whatif("map", **FIELDS)
    pod = f"pod/{opened.value.objects('pods')[0].metadata.name}"
    marked = [opened._picture().draw(1000, each) for each in (pod, "")]
    seen = []
    for cmd in ({"cmd": "select", "ref": pod}, {"cmd": "select", "ref": pod}, {"cmd": "select", "ref": pod}, {"cmd": "clear"}):
        opened._message(None, cmd, None)
        seen.append((opened.selection, opened.host.map == marked[bool(not opened.selection)]))

    assert marked[0] != marked[1]
    assert [(pod, True), ("", True), (pod, True), ("", True)] == seen
    assert [2, 6, "Ignore", False] == list(opened.values.values())


def test_each_cell_goes_to_its_value(opened):
    """A click on a cell sets its field alone, whichever it is."""
    went = []
    for ref in ("value/3/1", "value/0/5", "value/1/0", "value/2/1", "value/0/0"):
        opened._message(None, {"cmd": "select", "ref": ref}, None)
        went.append(list(opened.values.values()))

    assert [[2, 6, "Ignore", True], [6, 6, "Ignore", True], [6, 3, "Ignore", True], [6, 3, "Honor", True],
            [1, 3, "Honor", True]] == went  # fmt: skip


def test_what_is_known_is_told_of_every_field():
    """The strips have what was run, in the order of the values; a mixture of numbers and words has no order."""
    cluster = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("other", cpu="8"), make.deployment("web", 2, cpu="400m")])
    cluster.step()
    one = cluster.whatif("map", **{IN_STEPS: [2, 1, 3], CPU: [0.4, "broken"]})
    of_node = cluster.whatif("map", **{NODE: bool})
    _ = one.table
    known = {"is_known": True, "others": (0, 1)}
    replicas, cpu = one._rows().fields

    assert one._rows() == WhatIfRows((replicas, cpu), 1, "upstream", 0, "deploy/web")
    assert ("deploy/web", "") == (one._rows().workload, of_node._rows().workload)
    assert replicas == FieldStrip("replicas", IN_STEPS, (
        ValueCell("2", 2, 2, **known), ValueCell("1", 1, 1, **known), ValueCell("3", 2, 3, **known)), 0, True)  # fmt: skip
    assert ("cpu", CPU, 0, False) == (cpu.label, cpu.path, cpu.present, cpu.is_ordered)
    assert (ValueCell("0.4", 2, 2, **known), True) == (cpu.cells[0], "broken" in cpu.cells[1].refused)
    assert of_node._rows().fields == (FieldStrip("unschedulable", NODE, (
        ValueCell("false", 2, 3, is_known=True), ValueCell("true")), 0, False),)  # fmt: skip
    assert [(field.label, each.value, each.running, each.pods, each.refused) for field in (replicas, cpu) for each in field.cells] == [
        *one.table.rows]


class Clock:
    """A clock that shows what a test says."""

    def __init__(self, *shows):
        self.shows = list(shows)

    def __call__(self):
        """Return what it shows next; at the end the same again."""
        return self.shows.pop(0) if len(self.shows) > 1 else self.shows[0]


def test_how_far_a_run_is_told_now_and_then(opened, monkeypatch):
    """Nothing is told of a short run; of a long one so often that the words can be read."""
    told, parts = [], []
    monkeypatch.setattr(panel, "_PATIENCE", 2)
    monkeypatch.setattr(panel, "perf_counter", clock := Clock(10, 11, 12, 13, 14, 15, 16, 17))
    monkeypatch.setattr(opened, "_tell", lambda positions: told.append((positions, clock.shows[0] - 1)))
    monkeypatch.setattr(opened.trials, "advance", lambda *asked: parts.append(asked) or len(parts) > 6)
    opened._run((4, 3, 1, 0))

    assert [((4, 3, 1, 0), 13), ((4, 3, 1, 0), 16)] == told
    assert [((4, 3, 1, 0), 16)] * 7 == parts


@pytest.mark.parametrize(("replicas", "most"), [(0, 1), (1, 1), (2, 2)])
def test_a_bar_is_as_long_as_there_are_pods(replicas, most):
    """The bar of a run without pods is empty, not broken."""
    opened = Cluster.from_manifests([make.node("n1"), make.deployment("web", 1)]).whatif("map", **{IN_STEPS: [replicas]})
    opened._tell((0,))
    steps, now = opened.trials.trial((0,)).steps, opened.value.now

    assert (f'<p class="k-say"><progress max="{most}" value="{replicas}"></progress>'
            f"step {steps}, t = {now:g} s, {replicas} of {replicas} pods run</p>") == opened.host.sentence


class Loop:
    """An event loop that is only asked: it calls nothing."""

    def __init__(self):
        self.asked, self.cancelled = [], 0

    def call_later(self, seconds, work):
        """Note what is to be called."""
        self.asked.append((seconds, work))
        return self

    def cancel(self):
        """Note that it is not to be called."""
        self.cancelled += 1


@pytest.fixture
def loop(monkeypatch):
    """Return the event loop that the panel finds."""
    loop = Loop()
    monkeypatch.setattr(panel.asyncio, "get_running_loop", lambda: loop)
    return loop


def test_strips_are_filled_soon_and_not_for_ever(opened, loop, monkeypatch):
    """One timer at a time is set: when the panel is shown, after each move, until all is known or two minutes went."""
    monkeypatch.setattr(opened, "_still", lambda: Figure("", "words"))
    seen = []
    for spent in (0.0, 0.0, 120.0, 120.1):
        opened._spent = spent
        if spent:
            opened._timer = None
        opened._repr_mimebundle_()
        seen.append(len(loop.asked))
    opened.set(maxSkew=3)
    seen.append((len(loop.asked), opened._spent))
    _ = opened.table
    opened._timer = None
    opened._repr_mimebundle_()

    assert ([1, 1, 2, 2, (3, 0.0)], 3) == (seen, len(loop.asked))
    assert [(panel._PAUSE, opened._fill)] * 3 == loop.asked
    opened.close()
    assert 0 == loop.cancelled


def test_a_closed_panel_fills_no_strips(opened, loop):
    """The timer that was set is cancelled."""
    opened._fill_later()
    opened.close()

    assert 1 == loop.cancelled


def test_idle_time_is_spent_in_small_parts(opened, loop, monkeypatch):
    """What is nearest is run to its end before the next is begun, until the time is over; it is counted."""
    asked = []

    def advance(positions, steps):
        asked.append((positions, steps))
        clock.shows[0] += 1
        return len(asked) % 2 == 0

    monkeypatch.setattr(panel, "perf_counter", clock := Clock(100))
    monkeypatch.setattr(panel, "_BUDGET", 5)
    monkeypatch.setattr(opened.trials, "advance", advance)
    near = opened._missing()
    opened._spent = 1.0
    opened._fill()

    assert [(near[number], panel._IDLE_PART) for number in (0, 0, 1, 1, 2)] == asked
    assert (6.0, [(panel._PAUSE, opened._fill)]) == (opened._spent, loop.asked)


def test_an_error_of_a_plugin_is_shown_with_the_value(opened, monkeypatch):
    """A value whose run fails is told like a refused one, is not run again, and the others are run."""
    asked = []

    def advance(positions, _steps):
        asked.append(positions)
        raise ZeroDivisionError("division by zero")

    with monkeypatch.context() as patched:
        patched.setattr(opened.trials, "advance", advance)
        near = opened._missing()
        opened._fill()

    assert near == asked
    assert not opened._missing()
    assert ("maxSkew", "3", 0, 0, "ZeroDivisionError: division by zero") == opened.table.rows[2]


def test_a_picture_is_drawn_once_for_each_combination_of_values(opened):
    """To come back to values that were shown runs nothing again."""
    assert opened._picture() is opened._picture()


def marks(svg):
    """Return every mark of a picture: its classes, its place, and its words."""
    told = []
    for attributes, words in re.findall(r"<(?:rect|path|text)\b([^>]*?)/?>([^<]*)", svg):
        values = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
        place = " ".join(values[name] for name in ("x", "y", "width", "height", "d") if name in values)
        told.append(f"{values.get('class', '')} | {place} | {words}".strip(" |"))
    return told


EVERY = (cell(1, 2), cell(2, refused="no"), ValueCell("3"), cell(4, 0), cell(5, 9), cell(6, 0, 0))
KNOWN = (*(each for each in EVERY if each.is_known), cell(7, 1))


def test_each_kind_of_cell_is_drawn_whole():
    """A frame, its filled part and goal, words above or in it, the present one in a ring, the value below; then what it shows."""
    drawn = strip(*EVERY, present=3)
    place = what_if.layout(WhatIfRows((drawn,)), 1000)
    wide = (1000 - place.label - 192) / 6

    assert marks(what_if.strip(drawn, 0, place)) == [
        "k-p-none | 75 9 118.5 44", "k-p-spread k-l-spread | 75 43.2 118.5 9.8", "k-l-soft k-goal | M75 9h118.5",
        "k-b k-mid k-t-spread | 134.2 38.2 | 2 of 9", "k-q k-mid | 134.2 71 | 1",
        "k-barred | 197.5 9 118.5 44", "k-b k-mid k-t-storage | 234.9 35 | ✕", "k-b k-mid k-t-storage | 264.7 35 | refused", "k-q k-mid | 256.7 71 | 2",
        "k-void | 320 9 118.5 44", "k-z k-mid | 379.2 35 | not run yet", "k-q k-mid | 379.2 71 | 3",
        "k-p-none | 442.5 9 118.5 44", "k-l-soft k-goal | M442.5 9h118.5", "k-b k-mid k-t-spread | 501.7 48 | 0 of 9",
        "k-ring | 441 7.5 121.5 47", "k-b k-mid k-here | 501.7 71 | 4",
        "k-p-none | 565 9 118.5 44", "k-p-ok k-l-ok | 565 9 118.5 44", "k-l-soft k-goal | M565 9h118.5", "k-b k-mid k-t-ok | 607.9 35 | ✓",
        "k-b k-mid k-t-ok | 632.2 35 | 9 of 9", "k-q k-mid | 624.2 71 | 5",
        "k-p-none | 687.5 9 118.5 44", "k-p-ok k-l-ok | 687.5 9 118.5 44", "k-l-soft k-goal | M687.5 9h118.5", "k-b k-mid k-t-ok | 730.4 35 | ✓",
        "k-b k-mid k-t-ok | 754.7 35 | 0 of 0", "k-q k-mid | 746.7 71 | 6",
        "k-l-ink k-flip | M563 1V61", "k-b | 824 25 | 1 not run yet"]  # fmt: skip
    assert wide == place.cell(6)


@pytest.mark.parametrize(("width", "height", "ends"), [
    (1000, 75, ["k-l-ink k-flip | M440.5 1V61", "k-l-ink k-flip | M685.5 1V61", "k-b | 824 25 | thresholds 4 | 5, 6 | 7", "k-q | 824 39 | 1 value is refused"]),
    (560, 93, ["k-l-ink k-flip | M316.5 1V61", "k-l-ink k-flip | M478.8 1V61", "k-q | 75 87 | thresholds 4 | 5, 6 | 7: 1 value is refused"]),
])
def test_what_a_strip_shows_stands_beside_or_below_it(width, height, ends):
    """In a wide panel at the right, in a narrow one below; a black line is where "all pods run" changes."""
    drawn = strip(*KNOWN)
    place = what_if.layout(WhatIfRows((drawn,)), width)
    svg = what_if.strip(drawn, 2, place)

    assert (ends, height) == (marks(svg)[-len(ends):], what_if.strip_height(place))
    assert [f"value/2/{number}" for number in range(6)] == re.findall(r'data-ref="([^"]+)"', svg)
    assert ["true"] == re.findall(r'aria-pressed="([^"]+)"', svg)
    assert ["maxSkew: maxSkew  [1: 2 of 9]  2: refused  4: 0  5: 9 ✓  6: 0 of 0 ✓  7: 1 of 9  thresholds 4|5, 6|7, 1 value is refused",
            *(what_if.cell_words(drawn, each) for each in KNOWN)] == re.findall(r'aria-label="([^"]+)"', svg)  # fmt: skip


def test_long_words_beside_a_strip_take_two_lines_each():
    """What it shows comes first, then what more there is to say, each in two lines at most."""
    ends = cell("10000000000000000", 1), cell("20000000000000000", 9), cell("30000000000000000", refused="no")
    drawn = strip(*ends)
    told = marks(what_if.strip(drawn, 0, what_if.layout(WhatIfRows((drawn,)), 1000)))[-4:]

    assert ["k-b | 539 25 | threshold 10000000000000000", "k-b | 539 39 | 20000000000000000", "k-q | 539 53 | from 20000000000000000 on all",
            "k-q | 539 67 | run, 1 value is refused"] == told  # fmt: skip
    longer = strip(*(cell(f"{number} " + "word " * 30, running) for number, running in ((1, 1), (2, 9))))
    told = marks(what_if.strip(longer, 0, what_if.layout(WhatIfRows((longer,)), 1000)))[-5:]
    assert ["k-l-ink k-flip", "k-b", "k-b", "k-q", "k-q"] == [each.partition(" | ")[0] for each in told]


@pytest.mark.parametrize(("width", "high", "expected"), [
    (1000, 64, ["k-b k-ask | 0 16 | What if maxSkew 1?", "k-z k-end | 1000 16 | NOTE", "k-l-none | M0 32.5h1000",
                "k-answer | 20 52 | 2 of 9 pods run, 7 wait. With maxSkew 5, all would run.", "k-h k-mid k-t-spread | 7 52 | ○"]),
    (300, 94, ["k-b k-ask | 0 16 | What if maxSkew 1?", "k-z | 0 36 | NOTE", "k-l-none | M0 44.5h300",
               "k-answer | 20 64 | 2 of 9 pods run, 7 wait. With maxSkew 5, all", "k-answer | 20 82 | would run.", "k-h k-mid k-t-spread | 7 64 | ○"]),
])
def test_the_heading_is_drawn_whole(width, high, expected):
    """The question with what a cell is beside or below it, a line, and the answer with its sign."""
    rows = WhatIfRows((strip(*KNOWN),), 3, "upstream", 7)
    drawn = what_if.heading(rows, width)
    said = "What if maxSkew 1? 2 of 9 pods run, 7 wait. With maxSkew 5, all would run."

    assert [each.replace("NOTE", "every cell is a run to its end, from step 3, rules upstream, seed 7") for each in expected] == marks(drawn)
    assert (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" viewBox="0 0 {width} {high}" role="img" '
            f'aria-label="{said}">') == drawn.partition("<text")[0]


def test_a_long_note_takes_two_lines():
    """What a cell is stands whole below the question in a narrow panel, and the line and the answer below it."""
    rows = WhatIfRows((strip(*KNOWN),), 123456, "design (kube-scheduler beta)", 123456)
    drawn = marks(what_if.heading(rows, 320))

    assert ["0 16", "0 36", "0 48", "M0 56.5h320", "20 76"] == [each.split(" | ")[1] for each in drawn[:5]]
    assert what_if.note(rows) == " ".join(each.split(" | ")[2] for each in drawn[1:3])


def test_the_note_stands_beside_the_question_where_there_is_room():
    """30 px lie between them, or it stands below; a long question takes two lines, of the room that is left."""
    rows = WhatIfRows((strip(*KNOWN),), 3, "upstream", 7)
    needs = t.width(what_if.note(rows), 10.5) + t.width(what_if.title(rows), 15, bold=True) + 30
    long = WhatIfRows(tuple(FieldStrip(f"field{number} of some length", "p", KNOWN, 0, True) for number in range(9)))

    assert ["k-z", "k-z k-end"] == [marks(what_if.heading(rows, width))[1].partition(" | ")[0] for width in (needs, needs + 0.5)]
    drawn = marks(what_if.heading(long, 900))
    assert ["k-b k-ask", "k-b k-ask", "k-z", "k-l-none", "k-answer"] == [each.partition(" | ")[0] for each in drawn[:5]]
    assert ["0 16", "0 36", "0 56", "M0 64.5h900", "20 84"] == [each.split(" | ")[1] for each in drawn[:5]]


@pytest.mark.parametrize(("labels", "counts", "width", "expected"), [
    (["replicas"], [2], 1000, (None, 300.0, 176.0)), (["replicas"], [6], 1000, (None, None, 176.0)), (["replicas", "b"], [6, 2], 759, (None, None, 0.0)),
    (["replicas"], [6], 760, (None, None, 176.0)), (["x" * 60], [6], 1000, (240.0, 568.0, 176.0)), (["x" * 60], [6], 700, (252.0, 448.0, 0.0)),
    (["replicas"], [1], 700, (None, 150.0, 0.0)), (["a", "replicas"], [1, 3], 1000, (None, 450.0, 176.0)),
])
def test_a_panel_is_laid_out_by_its_width(labels, counts, width, expected):
    """The widest name has room up to a quarter, or a third of a narrow panel; cells up to 150 px each, words what is left."""
    rows = WhatIfRows(tuple(FieldStrip(label, "p", (cell(1),) * count, 0, True) for label, count in zip(labels, counts, strict=True)))
    place = what_if.layout(rows, width)
    label = t.width("replicas", 12.5, bold=True) + 16
    room = width - (expected[0] or label) - (192 if expected[2] else 0)

    assert (width, *(pytest.approx(each) for each in (expected[0] or label, expected[1] or room, expected[2]))) == (
        place.width, place.label, place.strip, place.words)
    assert (150, place.strip / 30) == (place.cell(1), place.cell(30))


@pytest.mark.parametrize(("cells", "present", "workload", "words", "sign"), [
    ([ValueCell("1"), cell(2, 9)], 0, "", "Not run yet. ", "○"), ([cell(1, 0, 0)], 0, "", "There is no pod.", "✓"),
    ([cell(1, 0, 0)], 0, "deploy/web", "There is no pod.", "✓"), ([cell(1, 0, 0, others=(1, 2))], 0, "", "There is no pod.", "✓"),
    ([cell(1, 0, 0, others=(1, 2))], 0, "deploy/web", "There is no pod of deploy/web.", "✓"),
    ([cell(1, 9)], 0, "deploy/web", "All 9 pods run.", "✓"), ([cell(1, 9, others=(0, 1))], 0, "deploy/web", "All 9 pods of deploy/web run.", "✓"),
    ([cell(1, 9, others=(0, 1))], 0, "", "All 9 pods run.", "✓"), ([cell(1, 1, 1)], 0, "", "1 of 1 pod runs.", "✓"),
    ([cell(1, 2), cell(2, 9), cell(3, 9)], 0, "", "2 of 9 pods run, 7 wait. With maxSkew 2, all would run.", "○"),
    ([cell(1, 9), cell(2, 2), cell(3, 9)], 1, "", "2 of 9 pods run, 7 wait. With maxSkew 1, all would run.", "○"),
    ([cell(1, 9), cell(2, 8), cell(3, 2), cell(4, 9)], 2, "", "2 of 9 pods run, 7 wait. With maxSkew 4, all would run.", "○"),
    ([cell(1, 2), cell(2, 8)], 0, "", "2 of 9 pods run, 7 wait.", "○"),
    ([cell(1, 2, unfinished="not idle after 3600 s"), cell(2, 9)], 0, "",
     "2 of 9 pods run, 7 wait. The run was stopped: not idle after 3600 s. With maxSkew 2, all would run.", "○"),
    ([cell(1, refused="must be greater than zero."), cell(2, 9)], 0, "",
     "The API server refuses maxSkew 1. must be greater than zero. With maxSkew 2, all would run.", "✕"),
    ([cell(1, 2, others=(1, 2)), cell(2, 3, others=(1, 2)), cell(3, refused="no", others=(0, 0)), ValueCell("4", others=(5, 5))], 0, "",
     "2 of 9 pods run, 7 wait.", "○"),
    ([cell(1, 2, others=(1, 2)), cell(2, 3, others=(2, 2))], 0, "",
     "2 of 9 pods run, 7 wait. Of the other pods 1 of 2 run; that changes with these values.", "○"),
])  # fmt: skip
def test_the_answer_in_a_sentence(cells, present, workload, words, sign):
    """How many run and wait, of whom, where the others change, why it was stopped or refused, and the nearest value that helps."""
    rows = WhatIfRows((strip(*cells, present=present),), workload=workload)
    first = words.partition(" With ")[0].partition(" Of the other")[0]

    assert (words.strip(), sign) == (what_if.sentence(rows), what_if.glyph(rows))
    assert first.strip() == what_if.sentence(rows, alone=True)


def test_several_fields_are_asked_and_answered_together():
    """All present values stand in the question, the nearest helpful one of each field in the answer, every strip in a line."""
    one, other = strip(cell(1, 2), cell(2, 9)), FieldStrip("replicas", REPLICAS, (cell(6, 2), cell(3, 3, 3)), 0, True)
    third = FieldStrip("policy", TAINTS_POLICY, (cell("Ignore", 2), cell("Honor", 2)), 0, False)
    rows = WhatIfRows((one, other, third))
    refused = WhatIfRows((strip(cell(0, refused="no.")), FieldStrip("replicas", REPLICAS, (cell(3, 2),), 0, True)))

    assert ("What if maxSkew 1, replicas 6, policy Ignore?", "2 of 9 pods run, 7 wait. With maxSkew 2, or replicas 3, all would run.") == (
        what_if.title(rows), what_if.sentence(rows))
    assert "The API server refuses maxSkew 0 with replicas 3. no." == what_if.sentence(refused)
    assert what_if.reading(rows).splitlines() == [
        "maxSkew  [1: 2 of 9]  2: 9 ✓  threshold 1|2", "replicas  [6: 2 of 9]  3: 3 of 3 ✓  threshold 6|3",
        "policy  [Ignore: 2 of 9]  Honor: 2  no value lets all run"]  # fmt: skip


@pytest.mark.parametrize(("cells", "ordered", "few", "more"), [
    ([cell(1, 2), cell(2, 9), cell(3, 2), cell(4, 9), cell(5, 2)], True, "thresholds 1 | 2, 2 | 3, 3 | 4", ""),
    ([cell(1, 2), cell(2, refused="no"), cell(3, 9)], True, "threshold 1 | 3", "from 3 on all run, 1 value is refused"),
    ([cell(1, 9), cell(2, refused="no"), cell(3, refused="no"), cell(4, 1)], True, "threshold 1 | 4", "from 4 on not all run, 2 values are refused"),
    ([cell("a", 9), cell("b", 9), cell("c", 1)], False, "a, b let all run", ""), ([cell("a", 1), cell("b", 9)], False, "b lets all run", ""),
    ([cell("a", 9), cell("b", refused="no"), cell("c", 1)], False, "a lets all run", "1 value is refused"),
    ([cell(1, 2), cell(2, refused="no")], True, "no value lets all run", "1 value is refused"),
    ([ValueCell("1"), ValueCell("2"), cell(3, 9)], True, "2 not run yet", ""), ([cell(1, 9)], True, "all run with every value", ""),
])  # fmt: skip
def test_a_strip_is_concluded_in_a_few_words(cells, ordered, few, more):
    """The first three thresholds of numbers, the good ones of words, and how many values were refused."""
    assert (few, more) == what_if.conclusion(strip(*cells, ordered=ordered))


@pytest.mark.parametrize(("one", "words"), [
    (ValueCell("3"), "maxSkew 3: not run yet"), (cell(2, refused="no such"), "maxSkew 2: refused. no such"), (cell(1, 2), "maxSkew 1: 2 of 9 pods run"),
    (cell(1, 9), "maxSkew 1: all 9 pods run"), (cell(1, 1, 1, others=(1, 2)), "maxSkew 1: 1 of 1 pod runs; of the other pods 1 of 2"),
    (cell(1, 2, unfinished="not idle"), "maxSkew 1: 2 of 9 pods run; not idle"),
    (cell(1, 2, others=(0, 1), unfinished="not idle"), "maxSkew 1: 2 of 9 pods run; of the other pods 0 of 1; not idle"),
])  # fmt: skip
def test_a_cell_in_words(one, words):
    """For who cannot see it: its value, what came of it, what came of other pods, and why it was stopped."""
    assert words == what_if.cell_words(strip(one), one)


@pytest.mark.parametrize(("count", "signs"), [(6, ["2 of 9", "✓|9 of 9", "✕|refused", "not run yet"]), (20, ["2 of 9", "✓|9", "✕", ""]), (24, ["2", "✓|9", "✕", ""])])
def test_a_narrow_cell_says_less(count, signs):
    """The longest words that fit stand in a cell, else its sign alone."""
    four = [cell(1, 2), cell(2, 9), cell(3, refused="no"), ValueCell("4")]
    drawn = strip(*four, *([cell(0, 2)] * (count - 4)))
    svg = parsed(what_if.strip(drawn, 0, what_if.layout(WhatIfRows((drawn,)), 1000)))
    groups = svg.findall("{http://www.w3.org/2000/svg}g")[:4]

    assert signs == ["|".join(text.text for text in group.findall("{http://www.w3.org/2000/svg}text")[:-1] if text.text) for group in groups]


INNER = '<svg xmlns="x" width="1000" height="50"><text>inner</text></svg>'


@pytest.mark.parametrize(("width", "inner", "high", "places", "words"), [
    (1000, INNER, 483, "0 74 138 0 30 115 145 230 260", True), (1000, "", 433, "0 74 88 0 30 115 145 230 260", True),
    (560, INNER, 549, "0 86 150 0 30 133 163 266 296", False),
])  # fmt: skip
def test_the_saved_panel_is_drawn_whole(width, inner, high, places, words):
    """Heading, picture and strips stand under each other; over each strip a control as it stands, with its thumb and its value."""
    fields = (strip(cell(1, 2), cell(2, 9), cell(3, 9), present=1), FieldStrip("unschedulable", "q", (cell("false", 2), cell("true", 9)), 0, False),
              FieldStrip("one", "r", (cell(1, 1, 1),), 0, True))  # fmt: skip
    rows = WhatIfRows(fields, 3, "upstream", 7)
    place = what_if.layout(rows, width)
    drawn = what_if.draw(rows, width, inner)

    assert [(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" viewBox="0 0 {width} {high}" role="group" '
            'aria-label="What if maxSkew 2, unschedulable false, one 1?">')] == re.findall("<svg[^>]*>", drawn)  # fmt: skip
    assert [f"translate(0,{each})" for each in places.split()] == re.findall(r"translate\([^)]*\)", drawn)
    for field, kind in zip(fields, ("maxSkew", "unschedulable", "one"), strict=True):
        track = f'<g class="k-track">{re.search(f"""<g class="k-track">(<text[^>]*>{kind}</text>.*?)</g>""", drawn)[1]}</g>'
        wide, count = place.cell(len(field.cells)), len(field.cells)
        left = place.label + wide / 2
        ends = [f"k-h | {num(place.label + place.strip + 16)} 19 | {field.cells[field.present].value}"] if words else []
        assert marks(track) == [
            f"k-h | 0 19 | {kind}", f"k-rail | {num(left)} 13 {num(wide * (count - 1))} 4", f"k-accent | {num(left)} 13 {num(wide * field.present)} 4",
            f"k-accent | {num(left + wide * field.present - 8)} 7 16 16", *ends]  # fmt: skip


def test_words_that_just_fit_into_a_cell_stand_in_it():
    """Of a cell without a sign all room but 4 px is for words."""
    room = t.width("2 of 9", 11, bold=True) + 4
    assert [("", "2 of 9"), ("", "2")] == [what_if._words_in(cell(1, 2), each) for each in (room, room - 0.1)]
