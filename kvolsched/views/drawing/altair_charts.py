"""Sheets as altair charts: the only module that knows altair.

A layer for each kind of mark on one fixed scale; every colour is written into the data, so no scale and no legend is
left to guess.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from kvolsched.views.drawing.sheet import Sheet, SheetRows
from kvolsched.views.drawing.theme import palette

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"


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
    if key[0] == "line":
        _, thick, dash = key
        more = {"strokeDash": list(dash)} if dash else {}
        corners = [{"x": at[0], "y": at[1], "line": number, "corner": corner, "ink": row["ink"]}
                   for number, row in enumerate(rows) for corner, at in enumerate(row["points"])]  # fmt: skip
        lines = alt.Chart(alt.Data(values=corners)).mark_line(strokeWidth=thick, **more)
        return lines.encode(x=x, y=y, detail="line:N", order="corner:Q", color=_as_is("ink"))
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
