"""The what-if panel, without a browser: controls are set, messages are sent, tables and pictures are compared."""

import asyncio
import re
from xml.etree import ElementTree as ET

import pytest
from what_if_cluster import MAX_SKEW, REPLICAS, TAINTS_POLICY, six_pods

from kvolsched import Cluster, make
from kvolsched.core.results import ApplyRefused
from kvolsched.views.drawing import text as t
from kvolsched.views.panel import what_if as panel
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


def test_every_control_has_its_answer(opened):
    """A control that was moved is told that its run is over, so that the page says "busy" no longer."""
    before = opened.host.tick
    opened.controls[REPLICAS].value = 3

    assert opened.host.tick > before


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
    with pytest.raises(KeyError, match="no field 'skew'; there are: maxSkew, replicas"):
        opened.set(skew=3)
    with pytest.raises(ValueError, match="maxSkew has no value 9; there are 1, 2, 3, 4, 5, 6"):
        opened.set(maxSkew=9)


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


def test_many_controls_keep_their_thumbs_above_the_cells(opened):
    """Controls are as wide as their cells from the first thumb to the last, at each width of the page."""
    for px in (560, 1240):
        opened.do("width", px=px)
        place = what_if.layout(opened._rows(), px)
        slider = opened.controls[MAX_SKEW].layout
        assert float(slider.width.removesuffix("px")) == pytest.approx(place.cell(6) * 5, abs=0.2)
        assert slider.margin == f"0 {place.cell(6) / 2:.1f}px"
    assert isinstance(opened, WhatIf)


def test_a_strip_is_as_wide_as_its_place():
    """The picture of a strip has the width of the page and the height that is kept for it."""
    rows = strip(cell(1, 2), cell(2, 9))
    place = what_if.layout(WhatIfRows((rows,)), 960)
    drawn = parsed(what_if.strip(rows, 0, place))

    assert (960, what_if.strip_height(place)) == (float(drawn.get("width")), float(drawn.get("height")))


@pytest.mark.parametrize("values", [[1, 2, 3], [0.5, 1, 100]], ids=["whole numbers", "fractions"])
def test_a_slider_shows_no_second_number(values):
    """The value stands in the strip above a slider, not again beside it."""
    cluster = Cluster.from_manifests([make.node("n1"), make.deployment("web", 2)])
    field = "deploy/web:spec.template.spec.containers[0].resources.requests.cpu"
    control, = cluster.whatif("map", **{field: values}).controls.values()

    assert not control.readout


def test_a_picture_is_drawn_once_for_each_combination_of_values(opened):
    """To come back to values that were shown runs nothing again."""
    assert opened._picture() is opened._picture()
