"""Charts of where pods are and may go: skew, skew over steps, nodes, capacity, scores."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import altair as alt

from . import look
from .grammar import WHOLE, data, layers, legend, lit, names, pick, tips, title, whole, words, wrapped
from .tables import CORDONED, DRIVER_NOW, LANDS, LEFT_OUT, NOT_READY, OPEN, OVER, PUBLISHED, SHUT, TAINTED

Rows = Sequence[Mapping[str, Any]]

MOST_ROWS = 40
"""Domains, nodes or pools of which each has a row; of more, those that explain most."""
MOST_CELLS, MOST_ACTS = 720, 6
_STATES = alt.Scale(domain=[LANDS, SHUT, OVER, LEFT_OUT], range=[look.GREEN, look.AMBER, look.RED, look.GREY])
_OPEN = alt.Scale(domain=[OPEN, CORDONED, TAINTED, NOT_READY], range=[look.BLUE, look.RED, look.AMBER, look.GREY])
_WHOLE: dict[str, Any] = {"clip": False}  # also where `.interactive()` clips a chart to its plot
_ABOVE: dict[str, Any] = {"baseline": "bottom", "y": -4, "fontSize": 11} | _WHOLE


def skew(rows: Rows, answer: str = "", *lines: str) -> Any:
    """Chart how many pods each domain counts, the next one dashed, between minimum and limit; why stands below."""
    (shown, tall), domain = wrapped(_telling(rows), "verdict"), pick("domain")
    cut = [f"{len(shown)} of {len(rows):,} domains: the emptiest and the fullest"] if len(shown) < len(rows) else []
    tip = tips(domain="domain", nodes="nodes", counted="matching pods, counted", not_counted="not counted",
               excluded_why="why not", sum="counted + self match − minimum", verdict="may it land here?")
    base = alt.Chart().encode(
        y=names("domain", sort=[row["domain"] for row in shown]), opacity=lit(domain), tooltip=tip)
    largest = max((row[name] or 0 for row in shown for name in ("if_placed", "limit")), default=0)
    pods = alt.X("counted:Q", title="matching pods; dashed: the next one", axis=whole(largest),
                 scale=alt.Scale(nice=False))  # fmt: skip
    counted = base.mark_bar(height=20, yOffset=7 - 7 * tall).encode(x=pods).add_params(domain)
    placed = base.mark_bar(
        height=20, yOffset=7 - 7 * tall, fillOpacity=0.18, strokeWidth=1.5, strokeDash=[4, 2]).encode(
        x=alt.X("counted:Q"), x2=alt.X2("if_placed:Q"), fill=alt.Fill("state:N", scale=_STATES, legend=None),
        stroke=alt.Stroke("state:N", scale=_STATES, legend=None))
    far = max((row["limit"] or 0 for row in shown), default=0) > largest / 2
    beside = {"align": "right", "dx": 4, "y": -18} if far else {"align": "left", "dx": 4}
    low = alt.Chart().encode(x=alt.X("min(minimum):Q"))
    high = alt.Chart().encode(x=alt.X("min(limit):Q")).transform_filter("isValid(datum.limit)")
    least = low.transform_calculate(said="'minimum ' + datum.minimum").encode(text=alt.Text("min(said):N"))
    most = high.transform_calculate(said="'limit ' + datum.limit + ' = minimum + maxSkew'").encode(
        text=alt.Text("min(said):N"))
    drawn = layers(
        counted, placed, low.mark_rule(size=2, **_WHOLE),
        high.mark_rule(size=2, strokeDash=[6, 3], color=look.VIOLET, **_WHOLE),
        least.mark_text(align="right", dx=-4, **_ABOVE), most.mark_text(**_ABOVE | beside),
        *words(base, domain, "said", dy=20 - 7 * tall), rows=shown, height=alt.Step(38 + 14 * tall))  # fmt: skip
    return _one_each(drawn, rows, "constraint", title(answer, [*lines, *cut], 26))


def _one_each(drawn: Any, rows: Rows, column: str, head: alt.Title) -> Any:
    """Return a chart for each value of a column, under each other, if there are several."""
    if len({row[column] for row in rows}) < 2:
        return drawn.properties(title=head)
    each = drawn.facet(row=alt.Row(f"{column}:N", sort=None, title=None, header=_OVER)).properties(title=head)
    return each.resolve_scale(x="independent", y="independent")


_OVER = alt.Header(labelAngle=0, labelAlign="left", labelOrient="top", labelAnchor="start", labelPadding=22)


def _telling(rows: Rows) -> list[Mapping[str, Any]]:
    """Return the domains that are drawn: all, or of each constraint the emptiest and the fullest."""
    found: list[Mapping[str, Any]] = []
    for _, group in groupby(rows, key=lambda row: row["constraint"]):
        each = sorted(group, key=lambda row: (row["state"] == LEFT_OUT, row["counted"], row["domain"]))
        half = MOST_ROWS // 2
        found += sorted(each, key=lambda row: row["domain"]) if len(each) <= MOST_ROWS else each[:half] + each[-half:]
    return found


def skew_over_steps(rows: Rows, acts: Rows = (), step: int = 0, *lines: str) -> Any:
    """Chart the counted pods of each domain over steps, within minimum and minimum + maxSkew; acts are numbered."""
    domain, at = pick("domain"), alt.param(name="step", value=step)
    places = {name: place for place, name in enumerate(dict.fromkeys(row["domain"] for row in rows))}
    shown = [{**row, "apart": row["counted"] + 0.05 * places[row["domain"]]} for row in rows]  # equal lines stay apart
    numbered = [{**act, "number": number} for number, act in enumerate(acts, 1)]
    steps = alt.X("step:Q", title="step", axis=alt.Axis(**WHOLE), scale=alt.Scale(nice=False))
    most = max((max(row["counted"], row["limit"]) for row in rows), default=0)
    pods = alt.Y("min(minimum):Q", title="matching pods", axis=whole(most))
    band = alt.Chart().mark_area(interpolate="step-after", color=look.GREEN, opacity=0.16).encode(
        x=steps, y=pods, y2=alt.Y2("min(limit):Q"))
    named = legend(symbolType="stroke", symbolStrokeWidth=3)
    counted = alt.Chart().mark_line(interpolate="step-after", strokeWidth=2.5).encode(
        x=steps, y=alt.Y("apart:Q"), strokeDash=alt.StrokeDash("domain:N", legend=named), opacity=lit(domain),
        color=alt.Color("domain:N", legend=named), tooltip=tips(
            domain="domain", step="step", counted="matching pods, counted", minimum="minimum",
            limit="limit = minimum + maxSkew", left_out="left out")).add_params(domain)
    act = alt.Chart(data(numbered)).encode(
        x=alt.X("step:Q"), tooltip=tips(number="act", step="step", act="what was done"))
    acted = [act.mark_rule(strokeDash=[2, 3], color=look.SOFT),
             act.mark_point(filled=True, size=240, color=look.SOFT, opacity=1, **_WHOLE).encode(y=alt.YValue(-10)),
             act.mark_text(fontSize=11, color=look.PAPER, **_WHOLE).encode(
                 y=alt.YValue(-10), text=alt.Text("number:Q"))] if acts else []
    now = alt.Chart(data([{}])).transform_calculate(at="step").mark_rule(size=2).encode(x=alt.X("at:Q")).add_params(at)
    said = [f"{row['number']} {row['act']}" for row in numbered[:MOST_ACTS]]
    said += ["further acts: in their tooltips"] if len(acts) > MOST_ACTS else []
    green = "band: from the minimum to minimum + maxSkew; the line across: the present step"
    return layers(band, *acted, counted, now, rows=shown, height=240,
                  title=title("Pods in each domain, step by step", [*lines, green, *said], 26 if acts else 10))


def nodes(rows: Rows, head: str = "", *lines: str) -> Any:
    """Chart what pods hold of each node, domain by domain; of more than 40 nodes as cells of several."""
    if len(rows) > MOST_ROWS:
        return _many_nodes(rows, head or f"{len(rows):,} nodes", *lines)
    node, shares = pick("node"), [row[name] for row in rows for name in ("pod_room", "cpu", "memory")]
    scale = alt.Undefined if any(shares) else alt.Scale(domain=[0, 1])  # of nothing, Vega puts 0 % in the middle
    kinds = "{pod_room: '1 pods', cpu: '2 cpu requested', memory: '3 memory requested'}[datum.what]"
    return (
        alt.Chart(data(rows)).mark_bar(height={"band": 0.6})
        .transform_fold(["pod_room", "cpu", "memory"], as_=["what", "share"])
        .transform_calculate(kind=kinds, label="datum.domain + '  ' + datum.node")
        .encode(
            x=alt.X("share:Q", title=None, scale=scale, axis=alt.Axis(format="%", tickCount=3)),
            y=names("label", sort=None), opacity=lit(node), tooltip=tips(
                node="node", domain="domain", pods="pods", cpu_words="cores requested", state="state", why="why not"),
            color=alt.Color("state:N", scale=_OPEN, legend=legend(orient="bottom")),
            column=alt.Column("kind:N", title=None, header=alt.Header(
                labelAnchor="start", labelExpr="slice(datum.label, 2)")))
        .add_params(node)
        .properties(width=look.PANE, height=alt.Step(22), title=title(head or "What pods hold of each node", lines))
    )  # fmt: skip


def _many_nodes(rows: Rows, head: str, *lines: str, what: str = "cpu") -> Any:
    """Chart nodes as strips, a row a domain: a cell is several nodes, the fullest first."""
    domain = pick("domain")
    said = "a cell is several nodes of a domain, the fullest first"
    return (
        alt.Chart(data(cells(rows, what))).mark_rect()
        .encode(
            x=alt.X("first:Q", title="nodes", scale=alt.Scale(nice=False), axis=alt.Axis(format="d")),
            x2=alt.X2("last:Q"), y=names("domain"), opacity=lit(domain),
            color=alt.Color("full:Q", scale=alt.Scale(domain=[0, 1], scheme="viridis"), legend=legend(
                title=f"{what} requested, mean of a cell", format="%", orient="bottom", gradientLength=240)),
            tooltip=[*tips(domain="domain", nodes="nodes", pods="pods", shut="of them cordoned, tainted, not ready"),
                     alt.Tooltip("full:Q", format=".0%", title=f"{what} requested")])
        .add_params(domain).properties(width=look.WIDE, height=alt.Step(30), title=title(head, [*lines, said]))
    )  # fmt: skip


def cells(rows: Rows, what: str) -> list[dict[str, Any]]:
    """Return nodes in cells, ranked by domain: at most `MOST_CELLS` in all; of many domains all are one."""
    domains = list(dict.fromkeys(row["domain"] for row in rows))
    one = f"{len(domains):,} domains" if len(domains) > MOST_ROWS else ""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: -row[what]) if one else rows:
        found.setdefault(one or row["domain"], []).append(row)
    size = max(1, -(-max(map(len, found.values())) * len(found) // MOST_CELLS))
    return [
        {"domain": name, "first": first, "last": first + len(cell), "nodes": len(cell),
         "pods": sum(row["pods"] for row in cell), "full": round(sum(row[what] for row in cell) / len(cell), 3),
         "shut": sum(row["state"] != OPEN for row in cell)}
        for name, group in found.items() for first in range(0, len(group), size)
        for cell in [group[first : first + size]]
    ]  # fmt: skip


def capacity(rows: Rows, answer: str = "", *lines: str) -> Any:
    """Chart what is published of each pool and what its driver has now, against what is asked; the rule is below."""
    pools, pool = list(dict.fromkeys(row["pool"] for row in rows)), pick("pool")
    fitting = {row["pool"] for row in rows if row["fits"]}
    kept = set(sorted(pools, key=lambda name: name not in fitting)[:MOST_ROWS])
    cut = [f"{len(kept)} of {len(pools):,} pools, those that look large enough first"] if len(kept) < len(pools) else []
    shown, tall = wrapped([row for row in rows if row["pool"] in kept], "verdict")
    base = alt.Chart().encode(y=names("pool", sort=None), opacity=lit(pool), tooltip=[
        *tips(pool="pool", reach="reached by", storage_class="class", which="which"),
        alt.Tooltip("gib:Q", format=".4~g", title="GiB"), alt.Tooltip("asked:Q", format=".4~g", title="asked, GiB"),
        *tips(age="published before, s", stale="stale", reason="the rule's words", verdict="verdict")])
    room = alt.X("gib:Q", title="GiB")
    colour = alt.Color("which:N", scale=alt.Scale(domain=[PUBLISHED, DRIVER_NOW], range=[look.BLUE, look.TEAL]),
                       legend=legend())  # fmt: skip
    bars = [base.transform_filter(f"datum.which == '{which}'").mark_bar(height=12, yOffset=shift - 7 * tall)
            .encode(x=room, color=colour) for which, shift in ((PUBLISHED, -13), (DRIVER_NOW, 2))]  # fmt: skip
    asked = alt.Chart().encode(x=alt.X("max(asked):Q"))
    ask = asked.transform_calculate(said="'asked ' + format(datum.asked, '.4~g') + ' GiB'").encode(
        text=alt.Text("max(said):N"))
    told = base.transform_aggregate(groupby=["pool", "said"]).encode(tooltip=alt.Tooltip("said:N", title="verdict"))
    drawn = layers(
        bars[0].add_params(pool), bars[1], asked.mark_rule(size=2, strokeDash=[6, 3]),
        ask.mark_text(align="left", dx=4, **_ABOVE),
        *words(told, pool, "said", dy=11 - 7 * tall), rows=shown, height=alt.Step(42 + 14 * tall))  # fmt: skip
    return _one_each(drawn, rows, "claim", title(answer, [*lines, *cut], 22))


def scores(rows: Rows, head: str = "", *lines: str) -> Any:
    """Chart the points that each plugin gives to each node that fits, with the sum and what was chosen."""
    node = pick("node")
    best = list(dict.fromkeys(row["node"] for row in rows))
    kept = set(best[:MOST_ROWS])
    cut = [f"the best {MOST_ROWS} of {len(best):,} nodes"] if len(best) > MOST_ROWS else []
    base = alt.Chart().encode(y=names("node", sort=best[:MOST_ROWS]), opacity=lit(node))
    most = max((row["total"] for row in rows), default=0) or 1
    points = alt.X("points:Q", title="points = normalised × weight", stack="zero", axis=whole(most))
    order = alt.Order("place:Q")
    columns = ("node", "plugin", "raw", "normalised", "weight", "points", "total")
    of_plugin = base.encode(x=points, order=order, tooltip=tips(**{name: name for name in columns}))
    colour = alt.Color("plugin:N", sort=alt.SortField("place"), legend=legend(orient="bottom", columns=3))
    bars = of_plugin.mark_bar(height={"band": 0.6}, stroke=look.PAPER, strokeWidth=1).encode(color=colour)
    inside = of_plugin.mark_text(align="right", dx=-4, fill="#fff", fontSize=11).encode(
        detail=alt.Detail("plugin:N"), text=alt.condition("datum.share > 0.05", alt.Text("points:Q"), alt.value("")))
    total = base.transform_aggregate(groupby=["node", "total", "chosen"]).transform_calculate(
        said="datum.total + (datum.chosen ? ', ' + datum.chosen : '')").mark_text(align="left", dx=6).encode(
        x=alt.X("total:Q"), text=alt.Text("said:N"))
    places = {name: place for place, name in enumerate(dict.fromkeys(row["plugin"] for row in rows))}
    shown = [{**row, "place": places[row["plugin"]], "share": round(row["points"] / most, 3)}
             for row in rows if row["node"] in kept]  # fmt: skip
    return layers(bars.add_params(node), inside, total, rows=shown, height=alt.Step(30),
                  title=title(head or "What each plugin gives to each node", [*lines, *cut]))
