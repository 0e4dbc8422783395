"""Sheets and series as altair charts: the only module that knows altair.

A layer for each kind of mark on one fixed scale; every colour is written into the data, so no scale and no legend is
left to guess.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from kvolsched.views.drawing.sheet import Sheet, SheetRows
from kvolsched.views.drawing.theme import palette

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
Series = dict[str, list[tuple[float, float]]]


def chart(sheet: Sheet) -> Any:
    """Return the altair chart of all marks of a sheet, as wide and high as the sheet."""
    across = alt.Scale(domain=[0, sheet.width], nice=False, zero=False)
    down = alt.Scale(domain=[sheet.height, 0], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None)
    drawn = [_layer(key, rows, x, y) for key, rows in sheet.ordered()]
    return styled(alt.layer(*drawn).properties(width=sheet.width, height=sheet.height))


def _layer(key: tuple[Any, ...], rows: SheetRows, x: Any, y: Any) -> Any:
    base = alt.Chart(alt.Data(values=rows))
    if key[0] == "text":
        _, size, bold, align = key
        mark = base.mark_text(fontSize=size, fontWeight="bold" if bold else "normal", align=align, baseline="middle")
        return mark.encode(x=x, y=y, text="text:N", color=_as_is("ink"))
    if key[0] == "rule":
        _, thick, dash = key
        more: dict[str, Any] = {"strokeDash": list(dash)} if dash else {}
        return base.mark_rule(strokeWidth=thick, **more).encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=_as_is("ink"))
    _, radius, dash, thick, tip = key
    more = {"strokeDash": list(dash)} if dash else {}
    mark = base.mark_rect(cornerRadius=radius, strokeWidth=thick, **more)
    channels: dict[str, Any] = {
        "x": x, "y": y, "x2": "x2:Q", "y2": "y2:Q", "fill": _as_is("fill", alt.Fill),
        "stroke": _as_is("stroke", alt.Stroke),
    }  # fmt: skip
    if tip:
        channels["tooltip"] = alt.Tooltip("tip:N", title=" ")
    return mark.encode(**channels)


def _as_is(name: str, channel: Any = alt.Color) -> Any:
    return channel(f"{name}:N", scale=None, legend=None)


def styled(chart: Any) -> Any:
    """Return the chart on paper, in the fonts and inks of the views."""
    c = palette()
    axis: dict[str, Any] = {"labelFont": FONT, "titleFont": FONT, "titleFontWeight": "normal", "tickColor": c["line"]}
    axis |= {"labelColor": c["soft"], "titleColor": c["soft"], "gridColor": c["track"], "domainColor": c["line"]}
    title: dict[str, Any] = {"anchor": "start", "frame": "group", "fontSize": 13, "color": c["ink"], "font": FONT}
    return (
        chart.configure(background=c["paper"], font=FONT, padding=10)
        .configure_view(stroke=None)
        .configure_axis(**axis)
        .configure_title(offset=10, **title)
        .configure_legend(labelFont=FONT, titleFont=FONT, labelColor=c["soft"], titleColor=c["soft"])
    )


def stepped(lines: Series, inks: list[tuple[str, list[int]]], titles: tuple[str, list[str], str], width: int) -> Any:
    """Return a chart of stepped lines over time; titles are the head, the lines below it, the y axis."""
    title, below, across = titles
    last = max((points[-1][0] for points in lines.values()), default=1.0) or 1.0
    most = max((value for points in lines.values() for _, value in points), default=1.0) or 1.0
    data = [{"series": name, "time": time, "value": value} for name, points in lines.items() for time, value in points]
    names = list(lines)
    colours = alt.Scale(domain=names, range=[palette()[ink] for ink, _ in inks])
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=2.5, labelLimit=320,
                        symbolSize=300)
    x = alt.X("time:Q", title="simulated time, s", scale=alt.Scale(domain=[0, last], nice=False),
              axis=alt.Axis(grid=False))
    y = alt.Y("value:Q", title=across, scale=alt.Scale(domain=[0, most * 1.12], nice=False), stack=None,
              axis=alt.Axis(tickCount=5))  # fmt: skip
    base = alt.Chart(alt.Data(values=data))
    ground = alt.Fill("series:N", scale=colours, sort=names, legend=None)
    area = base.mark_area(interpolate="step-after", opacity=0.10).encode(x=x, y=y, fill=ground)
    dashes = alt.Scale(domain=names, range=[dash for _, dash in inks])
    line = base.mark_line(interpolate="step-after", strokeWidth=2.4).encode(
        x=x, y=y,
        color=alt.Color("series:N", scale=colours, sort=names, legend=legend),
        strokeDash=alt.StrokeDash("series:N", scale=dashes, sort=names, legend=legend),
        tooltip=["series:N", alt.Tooltip("time:Q", title="from, s"), alt.Tooltip("value:Q", title=across)],
    )  # fmt: skip
    head = alt.Title(title, subtitle=below, subtitleColor=palette()["soft"])
    layered = (
        alt.layer(area, line)
        .resolve_scale(fill="independent")
        .properties(width=width, height=220, title=head)
    )
    return styled(layered)
