"""Altair charts as widgets: in parts, in the panel's tabs and of one's own."""

import gzip
import json

import altair as alt
import pytest

from kvolsched import scenario
from kvolsched.views.fill import frame_of
from kvolsched.views.panel.acts_row import is_shown
from kvolsched.views.panel.chart_view import ChartView, engine
from kvolsched.views.pictures.states import selection_refs
from kvolsched.widgets import Capacity, Domains, Lanes, Map, Scores, Series, Skew, Verdicts


@pytest.fixture(scope="module")
def ran():
    """Return a cluster of three zones whose Deployment has come up."""
    cluster = scenario("zones", replicas=3)
    cluster.run()
    return cluster


@pytest.fixture
def c(ran):
    """Return it at its end."""
    ran.goto("main") if ran.branches[0] != "main" else ran.goto(-1)
    return ran


def sent(view, do):
    """Return the names of the traits that a page is sent when something is done."""
    names = []
    view.observe(lambda change: names.append(change["name"]), ["spec", "tables", "title", "picked"])
    do()
    view.unobserve_all()
    return set(names)


def test_vega_is_sent_once_a_kernel(c):
    """Every chart names the same widget, which is at most 310 kB; a chart is at most 15 kB."""
    first, second = ChartView(c.skew("deploy/web").chart), ChartView(c.domains().chart)
    assert first.engine is second.engine is engine()
    assert len(engine().packed) < 310_000
    assert b"vegaEmbed" in gzip.decompress(engine().packed)
    for view in (first, second):
        assert len(json.dumps([view.spec, view.tables])) < 15_000


def test_a_view_names_what_can_be_picked(c):
    """Of charts that are joined, each selection once; title and rows travel apart from the drawing."""
    joined = c.skew("deploy/web").chart | c.domains().chart
    view = ChartView(joined)
    assert {"domain": "", "node": ""} == view.picked
    assert "title" not in view.spec
    assert ["title", "subtitle"] == ChartView(joined.properties(title=alt.Title("title", subtitle="subtitle"))).title
    assert {"name"} == set(view.spec["hconcat"][0]["data"])
    assert "datasets" not in view.spec
    assert "zone-1" in json.dumps(view.tables)


@pytest.mark.parametrize("make", [lambda c: Skew(c, "deploy/web", chart=True), lambda c: Domains(c, chart=True),
                                  lambda c: Map(c, chart=True), lambda c: Lanes(c, chart=True)])
def test_a_part_is_a_chart_or_a_picture(c, make):
    """The trait switches; the words stay those of the question."""
    part = make(c)
    words, view = part.reading(), part.view
    assert ("", "") == (part.host.body, view.layout.display)
    part.chart = False
    assert "<svg" in part.host.body
    assert ("none", words) == (view.layout.display, part.reading())
    part.chart = True
    assert part.view is view
    assert "" == view.layout.display


def test_what_has_no_chart_stays_a_picture(c):
    """Verdicts are drawn, scores have a chart; before its object exists a part says so, and shows no chart."""
    part, scores = Verdicts(c, chart=True), Scores(c)
    assert ("<svg" in part.host.body, part.view) == (True, None)
    assert ("", {"node": ""}) == (scores.host.body, scores.view.picked)
    ledger = Skew(c, c.objects("pods")[0].metadata.name, chart=True)
    c.goto(0)
    assert "no pod" in ledger.host.body.lower()
    assert "none" == ledger.view.layout.display
    assert "no claim to provision" in Capacity(c, "deploy/web", chart=True).reading()


def test_only_what_changes_is_sent(c):
    """A chart that does not change sends nothing, and a selection no more than itself."""
    c.goto(5)
    part = Skew(c, "deploy/web", chart=True)
    view = part.view
    assert {"tables", "title"} <= sent(view, lambda: c.goto(6))
    assert set() == sent(view, part._draw)
    assert {"picked"} == sent(view, lambda: part.set_trait("selection", "zone/zone-1"))


def test_a_click_selects_everywhere_and_a_selection_is_picked(c):
    """Both ways, in charts, parts and panel; what a chart does not have is not picked in it, and stays selected."""
    skew, nodes, lab = Skew(c, "deploy/web", chart=True), Domains(c, chart=True), c.lab()
    skew.view.picked = {"domain": "zone-2"}
    assert "zone/zone-2" == lab.selection == nodes.selection
    lab.selection = "node/node-1-1"
    assert ({"domain": ""}, {"node": "node-1-1"}) == (skew.view.picked, nodes.view.picked)
    nodes.view.picked = {"node": ""}
    assert "" == lab.selection
    lab.selection = pod = f"pod/{c.objects('pods')[0].metadata.name}"
    assert ({"domain": ""}, pod) == (skew.view.picked, skew.selection)


def test_a_pool_is_selected_everywhere_and_rings_its_node():
    """A click on a pool selects it in the ledger, and on the map the node that has its name; both ways."""
    storage = scenario("two-volumes-one-pool")
    storage.step("scheduler")
    pools, shown = Capacity(storage, "pod/db", chart=True), Map(storage)
    pools.view.picked = {"pool": "node-1"}
    assert "pool/node-1" == shown.selection
    assert "node/node-1" in selection_refs(frame_of(storage), shown.selection)
    shown.selection = "pool/node-2"
    assert {"pool": "node-2"} == pools.view.picked
    shown.selection = ""
    assert {"pool": ""} == pools.view.picked


def test_tabs_of_the_panel_are_charts_too(c):
    """The choice stands beside the tabs that have a chart; the panel follows the run and a click selects."""
    lab = c.lab()
    shown = {}
    for tab in lab.tabs:
        lab.tab = tab
        shown[tab] = is_shown(lab.moment.form)
    assert {"skew", "capacity"} == {name for name, there in shown.items() if there}
    lab.tab = "domains"
    lab.moment.form.value = True
    assert (True, "", {"node": ""}) == (lab.chart, lab.host.body, lab.view.picked)
    lab.view.picked = {"node": "node-2-1"}
    assert "node/node-2-1" == lab.selection
    rows = lab.view.tables
    c.goto(0)
    assert rows != lab.view.tables
    lab.tab = "events"
    assert ("none", True) == (lab.view.layout.display, bool(lab.host.body))


def test_counts_over_time_are_a_chart_in_their_tab(c):
    """There is nothing to choose; a step in the past makes pale what comes later, and sends no spec."""
    lab = c.lab()
    lab.tab = "series"
    assert ("", "", False) == (lab.host.body, lab.view.layout.display, lab.chart)
    lab.tab = "domains"
    lab.moment.form.value = True
    lab.tab = "series"
    assert ("", "", True) == (lab.host.body, lab.view.layout.display, lab.chart)
    c.goto(2)
    assert {True, False} == {row["later"] for row in lab.view.tables["table_1"]}
    assert {"tables", "title"} == sent(lab.view, lambda: c.goto(13))
    words = lab.views(lab.frame, 500)["body"]  # as in a saved page
    assert "failures so far" in words


def test_counts_over_steps_are_a_part(c):
    """A step moves the line across alone; a further step brings its counts; the words are those of the question."""
    c.goto(3)
    part = Skew(c, "deploy/web", over="steps")
    assert {"domain": "", "step": 3} == part.view.picked
    assert {"picked"} == sent(part.view, lambda: c.goto(9))
    assert 9 == part.view.picked["step"]
    assert repr(c.skew("deploy/web", over="steps")) == part.reading()
    params = part.view._repr_mimebundle_()[0]["application/vnd.vegalite.v5+json"]["params"]
    assert [9] == [param["value"] for param in params if param["name"] == "step"]
    c.goto(-1)
    assert "tables" in sent(part.view, lambda: c.scale("deploy/web", 4))


def test_several_runs_are_lines_of_one_part(c):
    """A part of counts follows all its clusters, and counts what it is asked for."""
    other = c.fork("other")
    part = Series(c, other, what="running", over="steps")
    assert {c.name, "other"} == {row["cluster"] for row in part.figure().table}
    assert {"tables", "title"} <= sent(part.view, lambda: other.scale("deploy/web", 9))
    assert repr(c.series(what="lives")) == Series(c, what="lives").reading()


def test_a_chart_of_ones_own_is_shown_with_the_same_engine():
    """Any altair chart; in a notebook without a kernel it is a Vega-Lite chart and a picture."""
    view = ChartView(alt.Chart(alt.Data(values=[{"a": 1}])).mark_bar().encode(x="a:Q").properties(title="mine"))
    bundle = view._repr_mimebundle_()[0]
    assert {"application/vnd.jupyter.widget-view+json", "application/vnd.vegalite.v5+json", "image/svg+xml"} < set(bundle)
    assert "mine" in bundle["text/plain"]


def test_a_view_treats_a_chart_as_a_cell_does(c):
    """Joined charts of different things have colours of their own, layers select once, a zoom is none of what is picked."""
    skew, steps = c.skew("deploy/web"), c.skew("deploy/web", over="steps")
    assert "independent" == ChartView(steps.chart | c.map().chart).spec["resolve"]["scale"]["color"]
    selection, = ChartView(skew.chart + skew.chart).spec["params"]
    assert 1 == len(selection["views"])
    assert {"domain": ""} == ChartView(skew.chart.interactive(bind_y=False)).picked
