"""Charts of runs: counts over time, sweeps, how samples end, who acted when, how long pods wait."""

import re
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import altair as alt

from . import look
from .grammar import WHOLE, data, layers, legend, lit, names, pick, tips, title
from .tables import HOLDS, STUCK

Rows = Sequence[Mapping[str, Any]]

MOST_POINTS = 300  # of one line
MOST_STEPS, MOST_PODS, MOST_TICKS = 400, 60, 12
_MARKS = alt.Scale(domain=["write", "note", "refused", "crash"], range=[look.BLUE, look.GREY, look.RED, look.AMBER])
_LIVES = alt.Scale(domain=["waits", "starts", "running"], range=[look.AMBER, look.VIOLET, look.GREEN])


def series(rows: Rows, head: str = "", *lines: str, over: str = "time", step: int | None = None) -> Any:
    """Chart counts over time or steps: a pane a count, a line a cluster; pale after the step where the first is."""
    shown = _thinned(rows, over) if step is None else _parted(_thinned(rows, over), step)
    here = [] if step is None else [f"you are here: step {step}; what was known later is pale"]
    axis = alt.X(field=over, type="quantitative", title="simulated time, s" if over == "time" else "step",
                 scale=alt.Scale(nice=False))  # fmt: skip
    named = legend(symbolType="stroke", symbolStrokeWidth=3) if len({row["line"] for row in rows}) > 1 else None
    whole = WHOLE if all(row["value"] == int(row["value"]) for row in rows) else {}
    return (
        alt.Chart(data(shown)).mark_line(interpolate="step-after", strokeWidth=2.2)
        .encode(
            x=axis, y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4, **whole)), order=alt.Order("place:Q"),
            color=alt.Color("line:N", legend=named), strokeDash=alt.StrokeDash("line:N", legend=named),
            detail=alt.Detail("later:N"), opacity=alt.condition("datum.later", alt.value(0.35), alt.value(1)),
            tooltip=tips(cluster="cluster", line="line", measure="count", time="time, s", step="step", value="value"),
            row=alt.Row("measure:N", title=None, sort=None, spacing=4, header=alt.Header(
                labelAngle=0, labelAlign="left", labelOrient="top", labelAnchor="start", labelFontWeight="bold")))
        .resolve_scale(y="independent")
        .properties(width=look.WIDE, height=80, title=title(head, [*lines, *here]))
    )  # fmt: skip


def _thinned(rows: Rows, over: str) -> list[dict[str, Any]]:
    """Return the points that are drawn: of a line with many, the last, least and greatest of each part of its axis."""
    by_line: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_line.setdefault((row["measure"], row["line"]), []).append(row)
    end = max((row[over] for row in rows), default=0) or 1
    found: list[dict[str, Any]] = []
    for line in by_line.values():
        parts: dict[int, list[int]] = {}
        for place, row in enumerate(line):
            part = place if len(line) <= MOST_POINTS else int(row[over] / end * MOST_POINTS / 3)
            parts.setdefault(part, []).append(place)
        for places in parts.values():
            value = [line[place]["value"] for place in places]
            kept = {places[-1], places[value.index(min(value))], places[value.index(max(value))]}
            found += [{**line[place], "place": place, "later": False} for place in sorted(kept)]
    return found


def _parted(rows: list[dict[str, Any]], step: int) -> list[dict[str, Any]]:
    """Return points with those after a step marked as later; each line's parts meet at its last point before."""
    found: list[dict[str, Any]] = []
    last: dict[tuple[Any, Any], dict[str, Any]] = {}
    for row in rows:
        line, later = (row["measure"], row["line"]), row["step"] > step
        if later and line in last:
            found.append({**last.pop(line), "later": True})
        found.append({**row, "later": later})
        if not later:
            last[line] = row
    return found


def sweep(rows: Rows, head: str = "", *, x: str, y: str, by: str = "", log: str = "") -> Any:
    """Chart one column over another with its interval: lines over numbers, bars over names; thin: what was expected."""
    if any(isinstance(row[x], str) for row in rows):
        return _bars(rows, head, x, y, by)
    field: dict[str, Any] = {"field": _escaped(by), "type": "nominal", "sort": None}
    colour: Any = {"color": _coloured(by, symbolType="stroke", symbolStrokeWidth=3)} if by else {}
    dash: Any = {"strokeDash": alt.StrokeDash(**field, legend=None)} if by else {}
    shape: Any = {"shape": alt.Shape(**field, legend=None)} if by else {}
    base = alt.Chart().encode(x=alt.X(field=_escaped(x), type="quantitative", title=x, **_axis(rows, x, "x" in log)))
    value = alt.Y(field=_escaped(y), type="quantitative", title=y, **_axis(rows, y, "y" in log, swept=False))
    tip = [alt.Tooltip(field=_escaped(name), type="nominal", title=name) for name in rows[0]]
    drawn = [base.mark_line(strokeWidth=2.2).encode(y=value, **colour, **dash),
             base.mark_point(filled=True, size=60, opacity=1).encode(y=value, tooltip=tip, **colour, **shape)]
    if "low" in rows[0]:
        drawn.insert(0, base.mark_rule(size=1.4).encode(y=alt.Y("low:Q", title=y), y2=alt.Y2("high:Q"), **colour))
    if "expected" in rows[0]:
        told: dict[str, Any] = {"detail": alt.Detail(field=_escaped(by), type="nominal")} if by else {}
        drawn.append(base.mark_line(strokeWidth=1, color=look.INK).encode(y=alt.Y("expected:Q", title=y), **told))
    least = min((row[y] for row in rows if row[y] > 0), default=1.0) / 10  # of an interval on a logarithmic axis
    shown = [{**row, "low": max(row["low"], least)} for row in rows] if "y" in log and "low" in rows[0] else rows
    return layers(*drawn, rows=shown, height=220, title=title(head, _expected(rows, "thin line")))


def _axis(rows: Rows, column: str, log: bool, *, swept: bool = True) -> dict[str, Any]:  # noqa: FBT001 - of a column
    """Return scale and axis of a column: ticks at the values that were swept, or at powers of ten."""
    values = sorted({row[column] for row in rows})
    scale = alt.Scale(type="log") if log else alt.Scale(zero=not swept or values[0] < 0.35 * values[-1], nice=not swept)
    if swept and len(values) <= MOST_TICKS:
        return {"scale": scale, "axis": alt.Axis(values=values)}
    ends = [value for row in rows for value in (row[column], row.get("high", 0)) if value > 0] if log else []
    powers = range(floor(log10(min(ends))), ceil(log10(max(ends))) + 1) if ends else ()
    return {"scale": scale, "axis": alt.Axis(values=[10.0**power for power in powers]) if powers else alt.Axis()}


def _expected(rows: Rows, mark: str) -> list[str]:
    return [f"{mark}: expected"] if "expected" in rows[0] else []


def _bars(rows: Rows, head: str, x: str, y: str, by: str) -> Any:
    """Chart a bar for each name, and for each value of a third column beside it."""
    group: dict[str, Any] = {"yOffset": alt.YOffset(field=_escaped(by), type="nominal", sort=None)} if by else {}
    base = alt.Chart().encode(y=names(_escaped(x), sort=None), **group)
    colour: dict[str, Any] = {"color": _coloured(by)} if by else {}
    tip = [alt.Tooltip(field=_escaped(name), type="nominal", title=name) for name in rows[0]]
    value = alt.X(field=_escaped(y), type="quantitative", title=y)
    drawn = [base.mark_bar().encode(x=value, tooltip=tip, **colour)]
    if "low" in rows[0]:
        drawn.append(base.mark_rule(size=1.5).encode(x=alt.X("low:Q", title=y), x2=alt.X2("high:Q")))
    if "expected" in rows[0]:
        drawn.append(base.mark_tick(thickness=2, color=look.INK).encode(x=alt.X("expected:Q", title=y)))
    ends = "max(isValid(datum.high) ? datum.high : 0, isValid(datum.expected) ? datum.expected : 0, datum.end)"
    shown = [{**row, "end": row[y]} for row in rows]
    drawn.append(base.transform_calculate(after=ends).mark_text(align="left", dx=5).encode(
        x=alt.X("after:Q", title=y), text=alt.Text(field=_escaped(y), type="quantitative", format=".4~g")))
    return layers(*drawn, rows=shown, height=alt.Step(16 if by else 26), title=title(head, _expected(rows, "mark")))


def _coloured(by: str, **symbol: Any) -> alt.Color:
    return alt.Color(field=_escaped(by), type="nominal", sort=None, legend=legend(title=by, **symbol))


def _escaped(name: str) -> str:
    """Return a column's name as a field of a spec, in which dots and brackets lead into objects."""
    return re.sub(r"([.\[\]\\'\"])", r"\\\1", name)


def sample(rows: Rows, head: str = "", *lines: str) -> Any:
    """Chart which share of sampled runs ends in each way, with its 95 % interval."""
    axis = alt.Axis(ticks=False, domain=False, labelLimit=330, labelExpr="split(datum.label, ', ')")
    tall = max((row["end"].count(", ") for row in rows), default=0) + 1
    base = alt.Chart().encode(y=alt.Y("end:N", title=None, sort=[row["end"] for row in rows], axis=axis))
    share = alt.X("share:Q", title="share of the seeds, with its 95 % interval", axis=alt.Axis(format="%"))
    bars = base.mark_bar(height={"band": 0.55}).encode(
        x=share, color=alt.Color("goal:N", scale=alt.Scale(domain=[HOLDS, STUCK], range=[look.GREEN, look.RED]),
                                 legend=legend()),
        tooltip=[*tips(end="end", runs="runs", goal="goal"), *(
            alt.Tooltip(f"{name}:Q", format=".0%") for name in ("share", "low", "high"))])
    return layers(bars, base.mark_rule(size=1.5).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")), rows=rows,
                  height=alt.Step(16 + 14 * tall), title=title(head, lines))


def turns(rows: Rows, head: str = "", *lines: str, step: int = 0) -> Any:
    """Chart who acted in which step, a lane an actor; the line across is the present step."""
    lane, at = pick("lane"), alt.param(name="step", value=step)
    last = max((row["step"] for row in rows), default=0)
    shown = [row for row in rows if row["step"] > last - MOST_STEPS]
    cut = [f"the last {MOST_STEPS} of {last:,} steps"] if len(shown) < len(rows) else []
    bars = alt.Chart().mark_bar(height={"band": 0.6}, cornerRadius=2).encode(
        x=alt.X("step:Q", title="step", scale=alt.Scale(nice=False, zero=False)), x2=alt.X2("until:Q"),
        opacity=lit(lane),
        y=alt.Y("lane:N", title=None, sort=None, axis=alt.Axis(ticks=False, grid=True, labelPadding=6)),
        color=alt.Color("kind:N", scale=_MARKS, legend=legend()),
        tooltip=tips(step="step", lane="who", verb="verb", ref="object", outcome="outcome")).add_params(lane)
    now = alt.Chart(data([{}])).transform_calculate(at="step").mark_rule(size=2).encode(x=alt.X("at:Q")).add_params(at)
    return layers(bars, now, rows=shown, height=alt.Step(24),
                  title=title(head or "Who acted in which step", [*lines, *cut]))


def lives(rows: Rows, head: str = "", *lines: str, over: str = "time") -> Any:
    """Chart how long each pod waits, starts and runs; of many pods those that wait longest."""
    begin, end = ("since", "to") if over == "time" else ("step", "until")
    waits = {row["pod"]: 0.0 for row in rows}
    for row in rows:
        waits[row["pod"]] += (row[end] - row[begin]) * (row["state"] == "waits")
    kept = set(sorted(waits, key=lambda pod: (-waits[pod], pod))[:MOST_PODS])
    cut = [f"{MOST_PODS} of {len(waits):,} pods, those that wait longest"] if len(waits) > MOST_PODS else []
    return (
        alt.Chart(data(row for row in rows if row["pod"] in kept)).mark_bar(height={"band": 0.7})
        .encode(
            x=alt.X(field=begin, type="quantitative", title="simulated time, s" if over == "time" else "step"),
            x2=alt.X2(field=end), y=alt.Y("pod:N", title=None, sort=alt.EncodingSortField(begin, op="min"),
                                          axis=alt.Axis(ticks=False, labelPadding=6)),
            color=alt.Color("state:N", scale=_LIVES, legend=legend()),
            tooltip=tips(pod="pod", state="state", step="from step", until="to step", since="from, s", to="to, s"))
        .properties(width=look.WIDE, height=alt.Step(18),
                    title=title(head or "How long each pod waits", [*lines, *cut]))
    )  # fmt: skip
