"""What all charts consist of: data, titles, one named selection, words that no line strikes through."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from kvolsched.views.drawing.text import ticks

from . import look

WRAPPED_AT, MOST_LETTERS = 84, 50  # letters of a line under a title, and under a bar
SHADED, SHADED_WORDS = 0.3, 0.65  # opacity of what is not selected
WHOLE: dict[str, Any] = {"tickMinStep": 1,
                         "labelExpr": "floor(datum.value) === datum.value ? format(datum.value, ',') : ''"}
"""Parts of an axis of whole numbers: Vega puts ticks at halves, too, where numbers are small."""


def data(rows: Iterable[Mapping[str, Any]]) -> alt.Data:
    """Return rows as inline data; unnamed, since two charts whose tables have one name cannot be joined."""
    return alt.Data(values=list(rows))


def pick(field: str) -> alt.Parameter:
    """Return the selection of one value of a column: equal in every chart, so that joined charts share it."""
    return alt.selection_point(name=field, fields=[field], on="click", clear="dblclick")


def lit(selection: alt.Parameter, shaded: float = SHADED) -> alt.OpacityValue:
    """Return an opacity: what is not selected is shaded. A channel, since altair takes 15 ms to make one of a dict."""
    return alt.OpacityValue(shaded, condition={"param": selection.name, "value": 1, "empty": True})


def title(text: str, lines: Iterable[str] = (), offset: int = 10) -> alt.Title:
    """Return a title with lines below it, wrapped; none, and no room for it, of no words."""
    *more, last = [line for line in lines if line] or [""]
    ended = [*(line if line[-1] in ".;!?" else f"{line}." for line in more), last]  # some pages run them together
    below = [part for line in ended for part in textwrap.wrap(line, WRAPPED_AT, break_on_hyphens=False)]
    start: dict[str, Any] = {"anchor": "start", "frame": "group"}  # in a file, too: other themes centre and cut it
    return alt.Title(textwrap.wrap(text, WRAPPED_AT - 12) or "", subtitle=below, offset=offset, **start)


def tips(**titles: str) -> list[alt.Tooltip]:
    """Return a tooltip line for each column, under its title; `_` in a title's stead is the column's name."""
    return [alt.Tooltip(field=name, type="nominal", title=said) for name, said in titles.items()]


def whole(most: float) -> alt.Axis:
    """Return the axis of whole numbers from 0, at least to 1."""
    return alt.Axis(format="d", values=ticks(max(most, 1), 6, whole=True))


def legend(**more: Any) -> alt.Legend:
    """Return a legend above the chart."""
    return alt.Legend(**({"orient": "top", "title": None} | more))


def names(field: str, **more: Any) -> alt.Y:
    """Return the axis of names down the side."""
    axis = alt.Axis(ticks=False, domain=False, labelPadding=6)
    return alt.Y(field=field, type="nominal", title=None, axis=axis, **more)


def wrapped(rows: Iterable[Mapping[str, Any]], text: str) -> tuple[list[dict[str, Any]], int]:
    """Return rows with the words of a column as lines in `said`, and how many lines the longest has."""
    lines = [textwrap.wrap(row[text], MOST_LETTERS, break_on_hyphens=False) for row in rows]
    said = [{**row, "said": "\n".join(each)} for row, each in zip(rows, lines, strict=True)]
    return said, max(map(len, lines), default=1)


def words(base: alt.Chart, selection: alt.Parameter, text: str, **mark: Any) -> list[alt.Chart]:
    """Return words on a ground of paper, so that no line strikes them through, shaded or not: two layers."""
    shown = base.encode(x=alt.XValue(0), text=alt.Text(field=text, type="nominal"))
    mark |= {"align": "left", "baseline": "top", "dx": 3, "lineBreak": "\n", "clip": False}
    ground: dict[str, Any] = {"fill": look.PAPER, "stroke": look.PAPER, "strokeWidth": 5, "strokeJoin": "round"}
    return [shown.encode(opacity=alt.OpacityValue(1)).mark_text(**mark, **ground),
            shown.encode(opacity=lit(selection, SHADED_WORDS)).mark_text(**mark)]


def layers(*drawn: Any, rows: Sequence[Mapping[str, Any]], **properties: Any) -> Any:
    """Return layers over one table, as wide as there is room; the table stands once, so that it can be faceted."""
    return alt.layer(*drawn, data=data(rows)).properties(width=look.WIDE, **properties)
