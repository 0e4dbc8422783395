"""Charts of whole runs: what pods hold over time, and how explored runs end.

Each takes plain rows and returns a `ChartFigure`: an altair chart that a reader may restyle and save, with a reading
of the same figures in lines. Altair, which takes a second to load, is imported when a chart is first drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import ChartFigure, themed_svg
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.text import columns
from kvolsched.views.drawing.theme import palette

# One colour and one dash a series: neither is needed alone.
_SERIES: tuple[tuple[str, list[int]], ...] = (
    ("node", []),
    ("storage", [6, 3]),
    ("resources", [2, 3]),
    ("spread", [8, 3, 2, 3]),
    ("ok", [1, 2]),
)


@frozen
class HeldRow:
    """How much of a resource the pods of one series hold from a moment on."""

    series: str
    """Whose line it is: "upstream: assumed", "design: not assumed"."""
    time: float
    """Simulated time, seconds."""
    value: float
    """Held from then on, until the series' next row."""


@frozen
class OutcomeRow:
    """One way in which an exploration can end, and how often it does."""

    words: str
    """What is then true: "both bound", "web-1 stuck: its volume is in the other zone"."""
    count: int
    """In how many end states (or runs)."""
    good: bool
    """Whether everything got what it asked for."""
    group: str = ""
    """What was explored, when several explorations stand in one chart: "design"."""


def held(
    rows: Iterable[HeldRow | tuple[str, float, float]], what: str = "cpu held", unit: str = "cores",
    until: float | None = None, width: int = 760,
) -> ChartFigure:  # fmt: skip
    """Chart how much of a resource is held over simulated time: a stepped line a series, with its sum."""
    lines = _lines(rows, until)
    inks = [_SERIES[i % len(_SERIES)] for i in range(len(lines))]
    sums = [f"{name}: {_sum(points):g} {unit}·s in all" for name, points in lines.items()]
    titles = (f"{what} over simulated time", sums, f"{what}, {unit}")
    table = []
    for name, points in lines.items():
        corners = ", ".join(f"{value:g} from {time:g} s" for time, value in _corners(points))
        table += [[name, corners, f"{_sum(points):g} {unit}·s in {points[-1][0]:g} s"]]
    content = f"{what} over simulated time, {unit}\n" + (columns(table) or "Nothing was held.")

    def make_chart() -> Any:
        from kvolsched.views.drawing.altair_charts import stepped  # noqa: PLC0415 - altair takes a second to load

        return stepped(lines, inks, titles, width)

    return ChartFigure(lambda _width, _selection: themed_svg(make_chart().to_dict()), content, make_chart=make_chart)


def _lines(rows: Iterable[HeldRow | tuple[str, float, float]],
           until: float | None) -> dict[str, list[tuple[float, float]]]:
    """Return the corners of each series in time, from 0 to a common end; the last value of a moment wins."""
    found: dict[str, dict[float, float]] = {}
    for row in rows:
        name, time, value = (row.series, row.time, row.value) if isinstance(row, HeldRow) else row
        found.setdefault(name, {0.0: 0.0})[time] = value
    end = max((max(points) for points in found.values()), default=0.0) if until is None else until
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, points in found.items():
        ordered = [(time, value) for time, value in sorted(points.items()) if time <= end]
        lines[name] = [*ordered, (end, ordered[-1][1])] if ordered[-1][0] < end else ordered
    return lines


def _sum(points: Sequence[tuple[float, float]]) -> float:
    return round(sum((b - a) * value for (a, value), (b, _) in pairwise(points)), 6)


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    kept = [points[0]]
    for time, value in points[1:]:
        if value != kept[-1][1]:
            kept.append((time, value))
    return kept


def outcomes(rows: Iterable[OutcomeRow | tuple[str, int, bool]], title: str = "Outcomes",
             width: int = 760) -> ChartFigure:
    """Chart how explored runs end: a bar an outcome, ✓ or ✕ before its words, its count after the bar."""
    ends = [row if isinstance(row, OutcomeRow) else OutcomeRow(*row) for row in rows]
    named = any(end.group for end in ends)
    table = [[*([end.group] if named else []), _sign(end), end.words, _share(end, ends)] for end in ends]

    def make_chart() -> Any:
        from kvolsched.views.drawing.altair_charts import chart  # noqa: PLC0415 - altair takes a second to load

        return chart(_outcome_sheet(ends, title, width))

    return ChartFigure(lambda wide, _selection: _outcome_sheet(ends, title, wide).svg(),
                       f"{title}\n" + (columns(table) or "No run has ended yet."), make_chart=make_chart)


def _sign(end: OutcomeRow) -> str:
    return "✓" if end.good else "✕"


def _outcome_sheet(ends: Sequence[OutcomeRow], title: str, width: int) -> Sheet:
    c, sheet = palette(), Sheet(width, title)
    label = min(max((t.width(e.words, 12) for e in ends), default=0) + 34, 0.52 * width)
    room = width - label - max((t.width(_share(e, ends), 11) for e in ends), default=0) - 24
    sheet.word(0, 8, title, c["ink"], size=13, bold=True, room=width)
    y = 30.0
    for name, group in groupby(ends, key=lambda e: e.group):
        if name:
            sheet.word(0, y + 8, name, c["ink"], size=12, bold=True, room=width)
            sheet.rule(0, y + 18, width, y + 18, c["line"])
            y += 26
        for end in group:
            ink = c["ok"] if end.good else c["storage"]
            sheet.word(8, y + 11, _sign(end), ink, size=12, bold=True, align="center")
            sheet.word(22, y + 11, end.words, c["ink"], size=12, room=label - 30)
            sheet.rect(label, y, room, 22, c["panel"])
            if end.count:
                wide = max(2.0, room * end.count / _total(end, ends))
                sheet.rect(label, y, wide, 22, ink, tip=f"{end.words}: {end.count}")
            sheet.word(label + room + 10, y + 11, _share(end, ends), c["ink"], bold=True)
            y += 28
        y += 8
    if not ends:
        sheet.word(0, y + 8, "No run has ended yet.", c["soft"])
        y += 24
    sheet.height = y
    return sheet


def _share(end: OutcomeRow, ends: Sequence[OutcomeRow]) -> str:
    return f"{end.count} of {_total(end, ends)}"


def _total(end: OutcomeRow, ends: Sequence[OutcomeRow]) -> int:
    return sum(e.count for e in ends if e.group == end.group)
