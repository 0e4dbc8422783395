"""The chart of a table: one column over another, a line or a row of bars for each value of a third.

Over numbers it is a line with a point at each, over names a bar each; an interval is a whisker. Dash and glyph differ
from line to line, and of four lines the colour, so none is needed alone; each line has its name where it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import ChartFigure
from kvolsched.views.drawing.sheet import Sheet

STYLES: tuple[tuple[str, tuple[float, ...], str], ...] = (
    ("node", (), "●"),
    ("storage", (7.0, 3.0), "▲"),
    ("resources", (2.0, 3.0), "■"),
    ("spread", (9.0, 3.0, 2.0, 3.0), "◆"),
    ("node", (12.0, 4.0), "○"),
    ("storage", (4.0, 2.0), "△"),
    ("resources", (1.0, 2.0), "□"),
    ("spread", (9.0, 3.0, 2.0, 3.0, 2.0, 3.0), "◇"),
)
"""Colour, dash and glyph of each line: none is needed alone."""
MOST_LINES = len(STYLES)
_WIDTH, _PLOT, _BAR = 760, 210.0, 20.0
APART = 14.0  # least distance of the names at the ends of lines


@frozen
class ChartPoint:
    """One value, over a number or a name: with its interval if it is a mean, and with what a formula says."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    expected: float | None = None


@frozen
class ChartLine:
    """The points of one line, in the order of x; its name is "" if it is the only one."""

    name: str
    points: tuple[ChartPoint, ...]


@frozen
class ChartRows:
    """What a chart of a table shows."""

    title: str  # A sentence over it; "" for none
    x: str  # Name of the column along the bottom
    y: str  # Name of the column that is drawn
    by: str  # Name of the column that tells the lines apart; "" for one line
    lines: tuple[ChartLine, ...]  # The lines
    log: str = ""  # Which axes are logarithmic: "", "x", "y" or "xy"

    @property
    def is_numeric(self) -> bool:
        """Whether every x is a number."""
        return all(not isinstance(point.x, str) for line in self.lines for point in line.points)


def figure(rows: ChartRows) -> ChartFigure:
    """Return the chart as a figure, with its altair chart and its reading."""
    return ChartFigure(lambda width, _selection: draw(rows, width).svg(), reading(rows),
                       sheet=lambda: draw(rows, _WIDTH))


def reading(rows: ChartRows) -> str:
    """Return the values as a table: a row for each x, a column for each line."""
    head = f"{rows.y} by {rows.x}{f' and {rows.by}' if rows.by else ''}"
    places = list(dict.fromkeys(point.x for line in rows.lines for point in line.points))
    found = [{point.x: _value(point) for point in line.points} for line in rows.lines]
    table = [[rows.x, *(line.name or rows.y for line in rows.lines)],
             *([_name(x), *(values.get(x, "–") for values in found)] for x in places)]
    return "\n".join([*([rows.title] if rows.title else []), head, t.columns(table)])


def _value(point: ChartPoint) -> str:
    expected = "" if point.expected is None else f", expected {t.short(point.expected)}"
    return f"{_found(point)}{expected}"


def _found(point: ChartPoint) -> str:
    if point.low is None or point.high is None:
        return t.short(point.y)
    return f"{t.short(point.y)} ({t.short(point.low)} to {t.short(point.high)})"


def _name(x: float | str) -> str:
    return x if isinstance(x, str) else t.short(x) if abs(x) < 1000 else f"{x:,.0f}"


def draw(rows: ChartRows, width: int) -> Sheet:
    """Draw the lines, or the bars, with their axes."""
    sheet = Sheet(width, rows.title or f"{rows.y} by {rows.x}")
    lines = t.wrap(rows.title, width, 14, 3, bold=True) if rows.title else ()
    y = sheet.words(0, 10.0 if lines else 0.0, lines, "ink", 19, size=14, bold=True)
    sheet.height = (_lines if rows.is_numeric else _bars)(sheet, rows, y + 4) + 4
    return sheet


@frozen
class _Scale:
    """From values to px, straight or logarithmic."""

    start: float
    end: float
    low: float
    high: float
    log: bool

    def at(self, value: float) -> float:
        low, high, value = (math.log10(each) for each in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value)  # fmt: skip
        return self.start + (self.end - self.start) * ((value - low) / (high - low) if high > low else 0.5)

    def ticks(self, count: int, *, whole: bool) -> list[float]:
        if not self.log:
            return [tick for tick in t.ticks(self.high, count, whole=whole) if tick >= self.low]
        powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
        return [10.0**power for power in powers]


def _lines(sheet: Sheet, rows: ChartRows, top: float) -> float:
    width = sheet.width
    points = [point for line in rows.lines for point in line.points]
    across = [float(point.x) for point in points]
    drawn = (value for point in points for value in (point.y, point.low, point.high, point.expected))
    down = [value for value in drawn if value is not None]
    most = max([*down, 0.0]) or 1.0
    least_down = _log_floor(down) if "y" in rows.log else min([*down, 0.0])
    ends = [line for line in rows.lines if line.name]
    right = width - min(max((t.width(line.name, 11.5, bold=True) for line in ends), default=0) + 30, 0.34 * width)
    lower = top + 22 + _PLOT
    rising = _Scale(lower, top + 22, least_down, most, "y" in rows.log)
    levels = rising.ticks(4, whole=all(value == int(value) for value in down))
    left = max((t.width(t.short(level), 10.5) for level in levels), default=0) + 12
    start = min([*across, 0.0]) if "x" not in rows.log and min(across) < 0.35 * max(across) else min(across)
    along = _Scale(left + 6, right - 8, start, max(across), "x" in rows.log)
    sheet.word(0, top + 8, rows.y, "ink", size=12, bold=True, room=right)
    if any(point.expected is not None for point in points):
        sheet.rule(right - 84, top + 8, right - 60, top + 8, "ink")
        sheet.word(right, top + 8, "expected", "soft", size=11, align="right")
    for level in levels:
        sheet.rule(left, rising.at(level), right, rising.at(level), "line" if level == levels[0] else "track")
        sheet.word(left - 6, rising.at(level), t.short(level), "soft", size=10.5, align="right")
    _below(sheet, rows, along, sorted(set(across)), (right, lower))
    for number, line in enumerate(rows.lines):
        ink, dash, glyph = STYLES[number]
        for point in line.points:
            x = along.at(float(point.x))
            if point.low is not None and point.high is not None:
                sheet.rule(x, rising.at(max(point.low, least_down)), x, rising.at(point.high), ink, thick=1.2)
            sheet.word(x, rising.at(point.y), glyph, ink, size=10, align="center")
            sheet.rect(x - 7, rising.at(point.y) - 7, 14, 14, "transparent", tip=_tip(rows, line, point))
        told = [(along.at(float(p.x)), rising.at(p.expected)) for p in line.points if p.expected is not None]
        if len(told) > 1:
            sheet.line(told, "ink", thick=1.0)
        shown = [(along.at(float(point.x)), rising.at(point.y)) for point in line.points]
        if len(shown) > 1:
            sheet.line(shown, ink, thick=2.2, dash=dash)
    _ends(sheet, rows, rising.at, (right, top + 22, lower))
    return lower + 44


def _log_floor(values: Sequence[float]) -> float:
    positive = [value for value in values if value > 0]
    return 10.0 ** math.floor(math.log10(min(positive))) if positive else 1.0


def _below(sheet: Sheet, rows: ChartRows, along: _Scale, values: Sequence[float], corner: tuple[float, float]) -> None:
    """Write the values along the bottom, those that were swept if there is room, and the column's name."""
    (right, lower) = corner
    fits = len(values) * 34 <= along.end - along.start or len(values) <= 4
    last = -1e9
    for tick in values if fits or along.log else along.ticks(6, whole=all(v == int(v) for v in values)):
        x, words = along.at(tick), _name(tick)
        if x - last < t.width(words, 10.5) + 6:
            continue
        last = x
        sheet.rule(x, lower, x, lower + 4, "line")
        sheet.word(x, lower + 13, words, "soft", size=10.5, align="center")
    sheet.word((along.start + right) / 2, lower + 31, rows.x, "ink", size=11.5, bold=True, align="center")


def _ends(sheet: Sheet, rows: ChartRows, at: Callable[[float], float], span: tuple[float, float, float]) -> None:
    """Write each line's name where it ends; names that would meet move apart."""
    (right, upper, lower) = span
    named = sorted((at(line.points[-1].y), number, line) for number, line in enumerate(rows.lines) if line.name)
    for place, (_, number, line) in zip(apart([end[0] for end in named], upper, lower), named, strict=True):
        ink, _, glyph = STYLES[number]
        sheet.word(right + 8, place, glyph, ink, size=10, align="center")
        sheet.word(right + 18, place, line.name, ink, size=11.5, bold=True, room=sheet.width - right - 18, name=True)


def apart(wanted: Sequence[float], upper: float, lower: float) -> list[float]:
    """Return places in order, at least `APART` px from each other and inside the span as far as there is room."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + APART if places else upper))
    lowest = max(lower, upper + APART * (len(places) - 1))
    for number in reversed(range(len(places))):
        places[number] = min(places[number], lowest)
        lowest = places[number] - APART
    return places


def _bars(sheet: Sheet, rows: ChartRows, top: float) -> float:
    width = sheet.width
    names = list(dict.fromkeys(_name(point.x) for line in rows.lines for point in line.points))
    labels = [*names, *(f"   {line.name}" for line in rows.lines)]
    label = min(max(t.width(words, 12, bold=True) for words in labels) + 34, 0.45 * width)
    values = [_value(point) for line in rows.lines for point in line.points]
    room = width - label - max(t.width(words, 11, bold=True) for words in values) - 16
    most = max((max(p.high or p.y, p.expected or 0.0) for line in rows.lines for p in line.points), default=0.0) or 1.0
    sheet.word(0, top + 6, f"{rows.y} by {rows.x}", "soft", size=11, room=width)
    y = top + 20
    for name in names:
        if len(rows.lines) > 1:
            sheet.word(0, y + 9, name, "ink", size=12, bold=True, room=width)
            y += 21
        for number, line in enumerate(rows.lines):
            point = next((point for point in line.points if _name(point.x) == name), None)
            if point is None:
                continue
            ink, _, glyph = STYLES[number]
            sheet.word(8, y + _BAR / 2, glyph, ink, size=10, align="center")
            sheet.word(20, y + _BAR / 2, line.name or name, "ink", size=12, room=label - 26, name=True)
            sheet.rect(label, y, room, _BAR, "panel")
            if point.y > 0:
                sheet.rect(label, y, max(2.0, room * point.y / most), _BAR, ink, tip=_tip(rows, line, point))
            if point.low is not None and point.high is not None:
                middle = y + _BAR / 2
                sheet.rule(label + room * point.low / most, middle, label + room * point.high / most, middle, "ink")
            if point.expected is not None:
                mark = label + room * point.expected / most
                sheet.rule(mark, y - 2, mark, y + _BAR + 2, "ink", thick=2)
            sheet.word(label + room + 8, y + _BAR / 2, _value(point), "ink", bold=True)
            y += _BAR + 6
        y += 6 if len(rows.lines) > 1 else 0
    return y


def _tip(rows: ChartRows, line: ChartLine, point: ChartPoint) -> str:
    named = f", {rows.by} {line.name}" if line.name else ""
    return f"{rows.x} {_name(point.x)}{named}: {rows.y} {_value(point)}"
