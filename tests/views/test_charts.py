"""Charts are data: named columns, one selection, an altair chart that can be joined; shown without a network."""

import json
import re
import warnings
from itertools import combinations
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from attrs import evolve

import kvolsched
from kvolsched.measure.sweep import SweepRows
from kvolsched.views.charts import look, placement, renderer, runs, tables
from kvolsched.views.fill import over_steps
from kvolsched.views.frame import Frame

from . import plain
from .frames import HOSTILE, hostile, many
from .test_style import contrast, distance

COLUMNS = {
    "skew": "constraint key domain nodes counted not_counted excluded_why minimum limit if_placed sum fits may_land "
            "verdict state",
    "skew_over_steps": "step domain counted minimum limit left_out",
    "nodes": "node domain pods cpu memory pod_room cpu_words state why rank",
    "capacity": "claim storage_class pool reach asked which gib age stale fits reason verdict",
    "scores": "node plugin raw normalised weight points total chosen",
    "series": "measure cluster line time step value",
    "sample": "end runs share low high goal",
    "turns": "lane component step until kind verb ref outcome",
    "lives": "pod state step until since to",
    "sweep": "zones mode running",
}  # fmt: skip
RUNNING = SweepRows({"zones": zones, "mode": mode, "running": zones if mode == "late" else 1}
                    for zones in (2, 3, 4) for mode in ("early", "late"))


@pytest.fixture(scope="module")
def scaled():
    """A Deployment that was scaled from 3 to 6 and, with a zone cordoned, to 9."""
    cluster = kvolsched.scenario("zones", replicas=3)
    cluster.run()
    cluster.scale("deploy/web", 6)
    cluster.run()
    cluster.cordon("node-1-1")
    cluster.cordon("node-1-2")
    cluster.scale("deploy/web", 9)
    cluster.run()
    return cluster


@pytest.fixture(scope="module")
def drawn(scaled):
    """One figure of each kind of chart."""
    soft, pools = kvolsched.scenario("soft-spread"), kvolsched.scenario("two-volumes-one-pool")
    soft.run()
    pools.run()
    return {
        "skew": scaled.skew("deploy/web"), "skew_over_steps": scaled.skew("deploy/web", over="steps"),
        "nodes": scaled.domains(), "capacity": pools.capacity(), "scores": soft.scores(soft.objects("pod")[-1].metadata.name),
        "series": scaled.series(scaled.under("design")), "sample": kvolsched.scenario("replicated-database").sample(5),
        "turns": scaled.timeline(), "lives": scaled.series(what="lives"), "sweep": RUNNING.chart("zones", "running", by="mode"),
    }  # fmt: skip


def rows_in(part):
    """Yield the rows of every table in a spec."""
    if isinstance(part, dict):
        values = part.get("data", {}).get("values") if isinstance(part.get("data"), dict) else None
        yield from values or ()
        for rows in part.get("datasets", {}).values():
            yield from rows
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from rows_in(each)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_chart_has_its_columns_in_its_spec(drawn, kind):
    """Every column of the table is in the spec under its name, none is a place in px; the table is a list of dicts."""
    found = {name for row in rows_in(drawn[kind].chart.to_dict()) for name in row}
    assert set(COLUMNS[kind].split()) <= found
    assert set(COLUMNS[kind].split()) == set(drawn[kind].table.columns)
    assert not found & {"x", "y", "x2", "y2", "fill", "text"}
    assert drawn[kind].table == list(drawn[kind].table)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_chart_can_be_restyled_and_joined(drawn, kind):
    """Each is an ordinary altair chart: titled, beside and above another; its selection has the name of a column."""
    chart = drawn[kind].chart
    assert "mine" == chart.properties(title="mine").to_dict()["title"]
    assert [2, 2] == [len(each) for joined in (chart | drawn["lives"].chart, chart & drawn["lives"].chart)
                      for name, each in joined.to_dict().items() if name in ("hconcat", "vconcat")]  # fmt: skip
    if kind not in ("sample", "sweep", "series", "lives"):
        names = [each["name"] for each in chart.to_dict()["params"]]
        assert {"skew_over_steps": ["domain", "step"], "turns": ["lane", "step"], "capacity": ["pool"], "nodes": ["node"],
                "scores": ["node"]}.get(kind, ["domain"]) == sorted(names)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_chart_is_shown_without_a_network(drawn, kind):
    """Vega-Lite 5 for pages with Vega, SVG for others, words for terminals; small, the same every time, no null."""
    spec = drawn[kind].chart.to_dict()
    bundle, metadata = alt.renderers.get()(spec)
    assert {renderer.MIME, "image/svg+xml", "text/plain"} == set(bundle)
    assert "https://vega.github.io/schema/vega-lite/v5.json" == bundle[renderer.MIME]["$schema"]
    assert "null" not in json.dumps({**bundle[renderer.MIME], "datasets": {}})
    assert "container" not in json.dumps(bundle[renderer.MIME])
    assert 15_000 > len(json.dumps(spec))
    assert 60_000 > len(json.dumps(bundle))
    assert metadata[renderer.MIME]["embed_options"]["actions"] is False


def test_a_bundle_has_vega_lite_svg_and_words(drawn):
    """What is shown needs neither network nor kernel: the spec, its picture, its words; equal every time."""
    spec = drawn["sweep"].chart.to_dict()
    one, again = (alt.renderers.get()(spec)[0] for _ in range(2))
    assert {renderer.MIME, "image/svg+xml", "text/plain"} == set(one)
    assert one == again
    assert not re.search(r"\.\d{3,}(?=[^<>]*>)", one["image/svg+xml"])
    shown = drawn["sweep"]._repr_mimebundle_()[0]
    assert drawn["sweep"].reading == shown["text/plain"]
    assert shown[renderer.MIME] == one[renderer.MIME]


def test_a_bundle_says_how_it_is_embedded(drawn):
    """Pages draw it as SVG and without a menu, by the spec and by the metadata alike; it names Vega-Lite 5."""
    bundle, metadata = renderer.render(drawn["sweep"].chart.to_dict(), "in words")
    options = {"renderer": "svg", "actions": False}

    assert {renderer.MIME: {"embed_options": options}} == metadata
    assert (renderer.SCHEMA, {"embedOptions": options}, "in words") == (
        bundle[renderer.MIME]["$schema"], bundle[renderer.MIME]["usermeta"], bundle["text/plain"])
    assert " role=" not in bundle["image/svg+xml"]
    assert "aria-" not in bundle["image/svg+xml"]


ONE, PANES = {"width": "container"}, {"width": "container", "encoding": {"column": {}}}


@pytest.mark.parametrize(("spec", "pad", "width", "tried"), [
    (ONE, 62, 552, [[490]]), (ONE, 54.5, 552, [[490]]), (ONE, 54, 552, [[490], [494]]), (ONE, 63, 552, [[490], [485]]), (ONE, 100, 552, [[490], [448]]),
    (ONE, 100, 820, [[490], [716]]), (ONE, 400, 552, [[490], [270]]), ({"width": 300}, 62, 552, [[]]), ({}, 62, 552, [[]]),
    ({"hconcat": [ONE, ONE]}, 100, 900, [[490, 490], [306, 306], [398, 398]]), ({"hconcat": [ONE, ONE]}, 100, 552, [[490, 490], [270, 270]]),
    ({"hconcat": [ONE, {"width": 100}]}, 100, 552, [[490], [348]]), ({"spec": ONE}, 100, 552, [[490], [448]]),
    (PANES, 100, 820, [[490], [90], [239]]), ({"hconcat": [ONE, {"vconcat": [PANES]}]}, 100, 900, [[490, 143], [367, 102], [428, 123]]),
    ({"hconcat": [ONE] * 4}, 0, 1200, [[490] * 4, [270] * 4, [299] * 4]),
])  # fmt: skip
def test_charts_are_drawn_until_they_fill_their_place(monkeypatch, spec, pad, width, tried):
    """Each is as wide as what is left beside axes and legends: within 8 px below the place, or as narrow as it may be."""
    seen, text = [], json.dumps(spec)

    def widths(spec):
        return [part["width"] for part in renderer._charts(spec) if part.get("width") not in (None, 100, 300)]

    def drawn_so(spec):
        parts = [part for part in renderer._charts(spec) if "width" in part]
        seen.append(widths(spec))
        return f'<svg class="marks" width="{pad + sum(part["width"] * (3 if "encoding" in part else 1) for part in parts)}" height="9">'

    monkeypatch.setattr(renderer, "svg_of", drawn_so)
    made, svg = renderer.sized(json.loads(text), width)
    assert (tried, tried[-1]) == (seen, widths(made))
    assert drawn_so(made) == svg

    monkeypatch.setattr(renderer, "svg_of", lambda _: None)  # where nothing can draw it
    made, svg = renderer.sized(json.loads(text), width)
    assert (tried[0], None) == (widths(made), svg)


@pytest.mark.parametrize(("title", "lines"), [
    ("mine", ["mine"]), ({"text": "mine", "subtitle": ["so", "it is"]}, ["mine", "so", "it is"]), ({"text": ["a", "b"]}, ["a", "b"]),
    ({"subtitle": "below"}, ["below"]), (None, []),
])  # fmt: skip
def test_a_chart_in_words_is_its_title_and_its_first_table(title, lines):
    """Title and lines below it stand above the rows of one table; without rows that is said."""
    spec, tables_ = {} if title is None else {"title": title}, {"one": [{"a": 1}], "two": [{"b": 2}]}

    assert [*lines, "a", "1"] == [line.strip() for line in renderer.words(spec, tables_).splitlines()]
    assert [*lines, "no rows"] == renderer.words(spec, {}).splitlines()


def test_the_cells_of_a_reader(scaled):
    """Two charts beside each other with one title and one selection; a chart of one's own over a table."""
    joined = (scaled.skew("deploy/web").chart | scaled.skew("deploy/web", over="steps").chart).properties(title="mine")
    spec = joined.to_dict()
    assert ["domain", "step"] == sorted(each["name"] for each in spec["params"])
    drawn = {part["name"] for side in spec["hconcat"] for part in side["layer"] if "name" in part}
    assert len(drawn) == 2
    assert drawn <= set(next(each["views"] for each in spec["params"] if each["name"] == "domain"))
    table = scaled.skew("deploy/web").table
    own = alt.Chart(alt.Data(values=table)).mark_bar().encode(x="counted:Q", y="domain:N")
    assert "zone-3" in renderer.render(own.to_dict())[0]["image/svg+xml"]
    assert repr(table).splitlines()[0].split()[:3] == ["constraint", "key", "domain"]
    assert repr(table) in renderer.render(own.to_dict())[0]["text/plain"]


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_table_is_a_list_of_rows(drawn, kind):
    """A table is a list of dicts with the same names, each a plain value: pandas and polars take it as it is."""
    table = drawn[kind].table
    assert isinstance(table, list)
    assert {frozenset(row) for row in table} == {frozenset(COLUMNS[kind].split())}
    assert {dict} == set(map(type, table))
    assert {str, int, float, bool, type(None)} >= {type(value) for row in table for value in row.values()}


def test_two_tables_of_one_kind_can_be_joined(scaled):
    """Skew at two steps stands beside each other without a warning: no table hides the other, equal ones go once."""
    with warnings.catch_warnings(action="error"):  # whatever was filtered before
        early, late = scaled.skew("deploy/web", at=10).chart, scaled.skew("deploy/web").chart
        bundle, _ = renderer.render((early | late | early).to_dict())
    assert len(bundle[renderer.MIME]["datasets"]) == 2
    wide = [part["width"] for part in bundle[renderer.MIME]["hconcat"]]
    assert [wide[0]] * 3 == wide
    faceted = late.facet("constraint:N").to_dict()
    assert "zone-3" in renderer.render(faceted)[0]["image/svg+xml"]


def test_layers_of_two_charts_select_once(scaled):
    """`a + b` of charts that share a selection is drawn: Vega-Lite takes a selection once in layers over each other."""
    chart = scaled.skew("deploy/web").chart
    bundle, _ = renderer.render((chart + chart).to_dict())
    selection, = bundle[renderer.MIME]["params"]
    assert len(selection["views"]) == 1


def test_a_width_of_ones_own_stays(scaled):
    """A chart without a width fills the cell; one with a width keeps it."""
    bundle, _ = renderer.render(scaled.skew("deploy/web").chart.properties(width=400).to_dict())
    assert 400 == bundle[renderer.MIME]["width"]
    svg = renderer.render(scaled.skew("deploy/web").chart.to_dict())[0]["image/svg+xml"]
    assert abs(float(ET.fromstring(svg).get("width")) - renderer.WIDTH) < renderer.NEAR  # noqa: S314 - our own


def test_charts_of_ones_own_fill_their_cell(scaled):
    """A reader's chart of numbers fills the cell, joined and repeated ones share it, titles beside each other are wrapped; no others."""
    def wide(chart, width):
        return float(renderer._SIZE.search(renderer.sized(renderer.on_page(chart.to_dict()), width)[1])[1])

    mine = alt.Chart(alt.Data(values=scaled.skew("deploy/web").table)).mark_bar().encode(x="sum(counted):Q", y="domain:N")
    below = mine.facet(row="state:N"), mine.encode(x=alt.X(alt.repeat("row"), type="quantitative")).repeat(row=["counted", "nodes"])
    for chart in (mine, scaled.skew("deploy/web", over="steps").chart | mine, mine & mine.encode(color="key:N"), mine + mine, *below):
        assert 0 <= 820 - wide(chart, 820) < 2 * renderer.NEAR
    assert 300 < wide(mine.properties(width=300), 820) < 400
    assert wide(mine.encode(x="domain:N", y="counted:Q"), 820) < 200
    for kept in (mine.encode(column="state:N"), mine.configure_view(continuousWidth=200)):
        assert "width" not in renderer.on_page(kept.to_dict())


def test_a_chart_that_is_zoomed_keeps_its_words(scaled):
    """Where altair clips a chart to its plot, names of lines beside it and numbers of acts stay; no scale is refused."""
    for chart, words in ((scaled.skew("deploy/web").chart, "= minimum + maxSkew"), (scaled.skew("deploy/web", over="steps").chart, ">1<")):
        svg = renderer.svg_of(renderer.on_page(chart.interactive(bind_y=False).properties(width=400).to_dict()))
        clipped = [part for part in svg.split("<g clip-path=")[1:] if words in part.partition("</g>")[0]]
        assert ("clip-path" in svg, words in svg, clipped) == (True, True, [])


def test_a_shaded_verdict_stays_legible(scaled):
    """What is not selected is shaded, its words less than its bar; their ground hides lines behind them anyway."""
    *_, ground, said = scaled.skew("deploy/web").chart.to_dict()["layer"]
    assert ({"value": 1}, 0.65) == (ground["encoding"]["opacity"], said["encoding"]["opacity"]["value"])


@pytest.mark.parametrize("count", [3, 41, 5_000])
def test_nodes_from_three_to_five_thousand(count):
    """Up to 40 nodes have a row each, more are cells of several: a spec stays below 75 kB, the table has all."""
    frame = many(count)
    rows = tables.nodes(frame, "topology.kubernetes.io/zone")
    spec = placement.nodes(rows).to_dict()
    assert len(rows) == count
    assert 75_000 > len(json.dumps(spec))
    assert sum(row.get("nodes", 1) for row in rows_in(spec)) == count
    assert {row["rank"] for row in rows if row["domain"] == rows[0]["domain"]} == set(
        range(1, sum(row["domain"] == rows[0]["domain"] for row in rows) + 1))


def test_many_domains_and_pools_are_few_rows():
    """Of 5,000 domains the emptiest and fullest are drawn, and a chart says so."""
    row = plain.SkewRow("", 1, 0)
    ledger = plain.SkewLedger("pod/web", "kubernetes.io/hostname", 1,
                          rows=tuple(evolve(row, domain=f"n{number:04}", counted=number) for number in range(5_000)))
    spec = placement.skew(tables.skew([ledger]), "title").to_dict()
    shown = [each["counted"] for each in rows_in(spec)]
    assert [*range(20), *range(4_980, 5_000)] == shown
    assert "40 of 5,000 domains: the emptiest and the fullest" in spec["title"]["subtitle"]
    assert len(tables.skew([ledger])) == 5_000


@pytest.mark.parametrize("draw", [placement.skew, placement.skew_over_steps, placement.capacity, placement.nodes, placement.scores, runs.lives,
                                  runs.sample, runs.series, runs.turns])
def test_a_table_of_which_nothing_is_left_is_a_chart(draw):
    """Whoever filters a table down to no row gets a chart, and no error."""
    assert "vega-lite" in draw([]).to_dict()["$schema"]


def test_pods_of_which_none_is_there_have_an_axis():
    """Where no pod matches, nor the one that asks, the axis of pods goes from 0 to 1."""
    rule = kvolsched.make.spread(app="web", soft=True)
    cluster = kvolsched.Cluster.from_manifests([kvolsched.make.node("n1", "a"), kvolsched.make.pod("next", topologySpreadConstraints=[rule])])
    spec = cluster.skew("next").chart.to_dict()

    assert [0, 1] == spec["layer"][0]["encoding"]["x"]["axis"]["values"]


def test_of_many_pools_those_with_room_are_drawn():
    """Of more pools than rows those that look large enough are kept first, and a stale one is told as such."""
    small = plain.CapacityRow("", "1 node", published=1, driver_now=0)
    pools = [evolve(small, pool=f"p{number:02}", fits=number == 59) for number in range(60)]
    table = tables.capacity([plain.CapacityLedger("pvc/data", "fast", 1, "", tuple(pools))])
    spec = placement.capacity(table).to_dict()

    assert {*(f"p{number:02}" for number in range(39)), "p59"} == {row["pool"] for row in rows_in(spec)}
    assert "40 of 60 pools, those that look large enough first" in spec["title"]["subtitle"]
    assert all(row["verdict"].endswith(" (stale)") for row in table)


def test_counts_over_steps_are_those_of_every_step(scaled):
    """Only steps at which something was seen or written are judged again; the counts are those of all steps."""
    rows, last, expected = over_steps.skew_over_steps(scaled, "deploy/web"), None, []
    for step in range(scaled.world.known_steps + 1):
        ledger, = over_steps.skew_at(scaled, "deploy/web", step)
        now = [(row.domain, row.counted, ledger.minimum) for row in ledger.rows]
        if now != last or step == scaled.world.known_steps:
            expected += [(step, *each) for each in now]
        last = now
    assert expected == [(row["step"], row["domain"], row["counted"], row["minimum"]) for row in rows]


def test_acts_are_numbered_and_named(scaled):
    """What users did stands beside the counts: neighbouring acts as one."""
    figure = scaled.skew("deploy/web", over="steps")
    assert [(18, 18, "User scales deploy/web to 6."),
            (37, 39, "User cordons node-1-1. User cordons node-1-2. User scales deploy/web to 9.")] == [
        tuple(act.values()) for act in figure.acts]  # fmt: skip
    assert "1 User scales deploy/web to 6." in figure.chart.to_dict()["title"]["subtitle"]
    assert "18    " in figure.reading
    with pytest.raises(kvolsched.UnknownName, match="no axis 'time'"):
        scaled.skew("deploy/web", over="time")
    with pytest.raises(kvolsched.UnknownName, match="deploy/none"):
        scaled.skew("deploy/none", over="steps")


def test_turns_after_the_last_step_belong_to_it():
    """A run that ends with turns without a step of their own is counted up to its last step."""
    c = kvolsched.scenario("six-in-three-zones")
    c.run()
    assert c.world.history.turns[-1].step > c.world.known_steps
    assert c.world.known_steps == c.skew("pod/web-1", over="steps").table[-1]["step"]


def test_lives_are_read_off_the_log(scaled):
    """Each pod waits until it has a node, starts until it runs; one that never gets a node waits to the end."""
    rows = scaled.series(what="lives").table
    first = [row for row in rows if row["pod"] == rows[0]["pod"]]
    assert [("waits", 2, 7), ("starts", 7, 11), ("running", 11, 58)] == [
        (row["state"], row["step"], row["until"]) for row in first]
    assert ["waits"] == [row["state"] for row in rows if row["until"] - row["step"] == 15]
    assert "waits, steps" in scaled.series(what="lives").reading


def test_where_a_run_is_and_what_comes_later(scaled):
    """In the past a series says where it is, and what was known later is pale; long lines keep their extremes."""
    cluster = scaled.fork()
    cluster.goto(20)
    spec = cluster.series(over="steps").chart.to_dict()
    assert "you are here: step 20; what was known later is pale" in spec["title"]["subtitle"]
    later = {row["step"] for row in rows_in(spec) if row["later"]}
    assert min(later) <= 20 < max(later)
    line = [{"measure": "m", "line": "l", "step": step, "value": 50 if step == 777 else step % 3} for step in range(5_000)]
    shown = runs._thinned(line, "step")
    assert (50, True) == (max(row["value"] for row in shown), len(shown) < 400)


@pytest.mark.parametrize("columns", [("a.b", "c[0]", "d'e"), ("x", "y", "z:w")])
def test_columns_of_any_name_are_drawn(columns):
    """A sweep's columns have the names of a reader's arguments: dots and brackets are part of them."""
    x, y, by = columns
    rows = SweepRows({x: number, y: number * 2.0, by: kind} for number in (1, 2, 4) for kind in ("p", "q"))
    for log in ("", "xy"):
        svg = renderer.svg_of(rows.chart(x, y, by, log=log).chart.to_dict())
        assert svg.count('aria-roledescription="point"') == 6
    assert renderer.svg_of(rows.chart(by, y, x).chart.to_dict()).count('aria-roledescription="bar"') == 6


def test_a_table_of_nothing_is_words():
    """A pod without a constraint has a chart that says so, and an empty table."""
    cluster = kvolsched.Cluster.from_manifests([kvolsched.make.node("n1"), kvolsched.make.pod("web")])
    figure = cluster.skew("web")
    assert (0, "no rows") == (len(figure.table), repr(figure.table))
    assert ["web has no spread constraint."] == figure.chart.to_dict()["title"]["text"]
    assert [] == tables.nodes(Frame(), "zone")


def test_names_of_manifests_stay_text():
    """Markup in a name is text in the SVG, and no expression of it is evaluated."""
    svg = renderer.svg_of(placement.nodes(tables.nodes(hostile(), HOSTILE)).to_dict())
    ET.fromstring(svg)  # noqa: S314 - our own
    assert "<img" not in svg


def test_another_renderer_of_the_reader_stays(scaled):
    """The renderer is used where nobody has chosen another, also for a reader's own chart; no theme is ever switched."""
    mine = alt.Chart(alt.Data(values=[{"a": "#ffffff"}])).mark_rule(color="#ffffff").encode(x="a:N")
    for renderer_, theme, found, look_ in (("default", "default", "kvolsched", True),
                                           ("mimetype", "ggplot2", "mimetype", False)):  # fmt: skip
        with alt.renderers.enable(renderer_), alt.theme.enable(theme):
            before = mine.to_dict()
            _ = scaled.skew("deploy/web").table, scaled.skew("deploy/web").chart
            assert (found, theme, before) == (alt.renderers.active, alt.theme.active, mine.to_dict())
            shown = renderer.render(before)[0][renderer.MIME]
            assert ("#ffffff", look_) == (shown["mark"]["color"], "subtitleColor" in shown["config"].get("title", {}))


def test_altair_saves_a_chart_with_all_its_marks(drawn):
    """`.chart.save` knows no variable and no place of a page: inks are colours, widths are numbers."""
    for kind, figure in drawn.items():
        with alt.theme.enable("default"):
            spec = json.dumps(figure.chart.to_dict())
        assert ("var(" in spec, '"container"' in spec, '"width": ' in spec) == (False, False, True), kind
        assert "var(--jp" in json.dumps(renderer.on_page(figure.chart.to_dict())), kind


def test_colours_are_told_apart_and_legible():
    """Inks of data are legible on both grounds; any two differ under each colour blindness."""
    for colour in look.LINES:
        assert 3 < min(contrast(colour, "#ffffff"), contrast(colour, "#111418"))
    for kind in ("protan", "deutan", "tritan"):
        for one, other in combinations(look.LINES, 2):
            assert 14 < distance(one, other, kind), (kind, one, other)


def test_lines_beside_a_ledger_keep_their_colours(drawn):
    """Joined with scales of their own, lines of zones are drawn beside the pools of capacity."""
    joined = (drawn["skew_over_steps"].chart | drawn["capacity"].chart).resolve_scale(color="independent")
    strokes = [set(re.findall(r'stroke="(#\w+)"[^>]*stroke-dasharray', renderer.svg_of(chart.to_dict())))
               for chart in (drawn["skew_over_steps"].chart, joined)]
    assert strokes[0] <= strokes[1]


def test_a_chart_is_saved(drawn, tmp_path):
    """As spec, SVG, PNG or reading by the name's ending, in fixed colours of its theme."""
    figure = evolve(drawn["sweep"], theme="dark")
    assert json.dumps(figure.spec(), indent=1) == figure.save(tmp_path / "a.json").read_text("utf-8")
    svg = figure.save(tmp_path / "a.svg").read_text("utf-8")
    assert look.SAVED["dark"][look.PAPER] in svg
    assert "var(" not in svg
    assert b"\x89PNG" == figure.save(tmp_path / "a.png").read_bytes()[:4]
    assert figure.reading == figure.save(tmp_path / "a.txt").read_text("utf-8")
    assert "<svg" in figure.save(tmp_path / "a.html").read_text("utf-8")


def test_a_name_that_no_xml_may_hold_does_not_end_the_process():
    """Names of a dump are made printable before they are drawn: a control character ends the process in vl-convert."""
    c = kvolsched.Cluster.from_manifests([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"zone": "a\x1b\ud800\u202eb"}},
                                 "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}}}], lenient=True)
    assert "a\\x1b" in c.domains("zone").svg


def test_joined_charts_keep_colours_that_mean_different_things_apart(scaled):
    """Zones beside states of nodes have colours and legends of their own; equal meanings share both; a choice stays."""
    steps, nodes = scaled.skew("deploy/web", over="steps").chart, scaled.map().chart

    def resolved(chart):
        return renderer.render(chart.to_dict())[0][renderer.MIME].get("resolve", {})

    own = {"scale": {"color": "independent", "strokeDash": "independent"}}
    assert [own, {}] == [resolved(steps | nodes), resolved(steps & steps)]
    shared = {"scale": {"color": "shared"}}
    assert shared == resolved((steps | nodes).resolve_scale(color="shared"))
    assert own == renderer.render(((steps | nodes) & steps).to_dict())[0][renderer.MIME]["vconcat"][0]["resolve"]


def test_panes_are_as_wide_as_a_chart_joined_to_them(scaled):
    """Three panes under a chart share its width; a chart and a pane of equal width would leave half of the place."""
    shown = renderer.render((scaled.timeline().chart & scaled.map().chart).to_dict())[0][renderer.MIME]["vconcat"]
    assert shown[0]["width"] > 2.5 * shown[1]["width"]


def test_nothing_on_a_node_is_at_the_left(drawn):
    """Where pods hold nothing of any node the axis goes from 0 to 100 %: alone, Vega would put 0 in the middle."""
    empty = [row | {"pod_room": 0, "cpu": 0, "memory": 0} for row in drawn["nodes"].table]
    assert [0, 1] == placement.nodes(empty).to_dict()["encoding"]["x"]["scale"]["domain"]
    assert "scale" not in drawn["nodes"].chart.to_dict()["encoding"]["x"]


@pytest.mark.parametrize(("over", "title"), [("time", "simulated time, s"), ("steps", "step")])
def test_the_lives_of_pods_are_over_time_or_over_steps(scaled, over, title):
    """The axis of the lives of pods says what they are drawn over."""
    assert title == runs.lives(over_steps.lives(scaled), over=over).to_dict()["encoding"]["x"]["title"]


def test_a_stored_picture_has_hundredths_of_a_px(drawn):
    """Of a coordinate no digit beyond the second is kept; words keep theirs."""
    for chart in drawn.values():
        picture = renderer.render(chart.chart.to_dict())[0]["image/svg+xml"]
        assert re.search(r"<[^>]*\.\d{3}[^<]*>", picture) is None
