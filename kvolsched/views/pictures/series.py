"""The chart of counts over time: a pane for each count, a stepped line for each cluster, its name where it ends.

All panes share one axis. Time stands still while most steps are made, so a line may go up and down at one moment; a
run in which it never moves is drawn over steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures.table_chart import APART, STYLES, apart
from kvolsched.views.series_rows import SeriesLine, SeriesPane, SeriesRows

NOTHING = {
    "skew": "No pod has a spread constraint.",
    "room": "No driver has pools or publishes capacity.",
}
"""What is said of a pane without lines."""

GLYPHS = {"running": "●", "pending": "○", "failures": "!"}
MAX_STRONG = 4
"""With more clusters only the first is in colour."""

_PARTS: dict[str, tuple[str, tuple[float, ...]]] = {"published": ("ok", (6.0, 4.0)), "driver now": ("ink", ())}
_LABEL = 11.5  # size of the names at the ends of lines
_PLOT, _NARROW_PLOT = 110.0, 92.0
_BEYOND = 1.03  # the axis goes on a little, so that the last change is seen as a step
_BELOW = 16.0  # room below a pane
_HIT = 10.0  # width of what can be clicked; moments that are nearer share one


@frozen
class _Axis:
    """The common axis: from px to px, over seconds or steps."""

    left: float
    right: float
    end: float
    by_step: bool

    def at(self, value: float) -> float:
        return self.left + (self.right - self.left) * (value / self.end if self.end else 0.0)


def draw(rows: SeriesRows, width: int, selection: str = "") -> Sheet:
    """Draw the panes under each other."""
    sheet = Sheet(width, "counts over time", selection)
    y = sheet.words(0, 10.0, t.wrap(sentence(rows), width, 15, 2, bold=True), "ink", 20, size=15, bold=True)
    y = sheet.words(0, y, t.wrap(note(rows), width, 11, 2), "soft", 15) + 8
    axis = _axis(rows, width)
    top = y
    drawn = [pane for pane in rows.panes if pane.lines]
    spans = []
    for pane in rows.panes:
        high = _height(pane, width)
        y = _pane(sheet, rows, pane, axis, y, high) if pane.lines else _empty(sheet, pane, y)
        if pane.lines:
            spans.append((y - _BELOW - high, y - _BELOW))
    if drawn:
        y = _ticks(sheet, axis, y)
        _playhead(sheet, rows, axis, spans, drawn[0])
        _hits(sheet, rows, axis, top, y - 32)
    sheet.height = y + 2
    return sheet


def reading(rows: SeriesRows) -> str:
    """Return the counts as lines: first and last value of each cluster, and the greatest one between."""
    table: list[list[str]] = []
    for pane in rows.panes:
        found = [_words(rows, pane, line) for line in pane.lines] or [_nothing(pane)]
        if len(found) <= MAX_STRONG:
            table.append([_head(pane), *found])
        else:
            table += [[_head(pane) if number == 0 else "", words] for number, words in enumerate(found)]
    return "\n".join([sentence(rows), note(rows), t.columns(table)])


def sentence(rows: SeriesRows) -> str:
    """Return what the chart shows, in one sentence."""
    panes = {pane.measure: pane for pane in rows.panes}
    running, pending = (_last(panes.get(name)) for name in ("running", "pending"))
    if running and pending:
        ends = [(name, running[name], running[name] + pending.get(name, 0)) for name in running]
        if not any(all_ for _, _, all_ in ends):
            return "There is no pod"
        if len({end[1:] for end in ends}) == 1:
            who = {1: "", 2: " in both clusters"}.get(len(ends), f" in each of the {len(ends)} clusters")
            words = f"{_of_all(*ends[0][1:])} run{who}"
            return words[0].upper() + words[1:]
        first, *others = ends
        if len(ends) > MAX_STRONG:
            some = sorted(end[1] for end in others)
            range_ = f"{some[0]:g} to {some[-1]:g}" if some[0] < some[-1] else f"{some[0]:g}"
            return f"{first[0]} runs {_of_all(*first[1:])}, the {len(others)} others run {range_}"
        counts = [f"{name} {_of_all(some, all_).rpartition(' ')[0]}" for name, some, all_ in others]
        return ", ".join([f"{first[0]} runs {_of_all(*first[1:])}", *counts])
    shown = next((pane for pane in rows.panes if pane.lines), None)
    if shown is None:
        return "; ".join(map(_nothing, rows.panes)) or "Nothing is counted"
    has_sum = shown.has_sum and not rows.by_step
    values = [_total(rows, line) if has_sum else t.short(line.points[-1].value) for line in shown.lines]
    if len(rows.clusters) > 1 or len(values) > 1:
        named = zip(shown.lines, values, strict=True)
        values = [f"{_name(rows, line)} {value}" for line, value in named][: MAX_STRONG + 1]
    unit = f"{shown.unit}·s in all" if has_sum else f"{shown.unit} at the end"
    return f"{shown.measure}: {', '.join(values)} {unit.lstrip()}"


def note(rows: SeriesRows) -> str:
    """Return what was run: seeds, and how long."""
    seeds = sorted(set(rows.seeds))
    runs = "one run" if len(rows.clusters) == 1 else f"{len(rows.clusters)} runs"
    last = max((line.last_step for pane in rows.panes for line in pane.lines), default=rows.step)
    span = f"{last} steps at t = {rows.until:g} s" if rows.until == 0 else f"t = 0 to {rows.until:g} s"
    return f"{runs}, seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}, {span}"


def _of_all(some: float, all_: float) -> str:
    pods = f"pod{'s' * (all_ != 1)}"
    return f"all {all_:g} {pods}" if some == all_ and all_ > 1 else f"{some:g} of {all_:g} {pods}"


def _last(pane: SeriesPane | None) -> dict[str, float]:
    return {line.cluster: line.points[-1].value for line in pane.lines} if pane is not None else {}


def _total(rows: SeriesRows, line: SeriesLine) -> str:
    """Return value × seconds of a line in all."""
    ends = [*((point.time, point.value) for point in line.points), (rows.until, 0.0)]
    return t.short(sum((b - a) * value for (a, value), (b, _) in pairwise(ends)))


def _nothing(pane: SeriesPane) -> str:
    return NOTHING.get(pane.measure, "nothing is counted")


def _name(rows: SeriesRows, line: SeriesLine) -> str:
    """Return a line's name; the cluster goes without saying if it is the only one."""
    return line.part if line.part and len(rows.clusters) == 1 else line.name


def _moments(line: SeriesLine) -> list[tuple[float, float]]:
    """Return the last value of each moment at which a line ends up elsewhere."""
    found: list[tuple[float, float]] = []
    for time, points in groupby(line.points, key=lambda point: point.time):
        value = list(points)[-1].value
        if not found or found[-1][1] != value:
            found.append((time, value))
    return found


def _words(rows: SeriesRows, pane: SeriesPane, line: SeriesLine) -> str:
    """Return a line in words: `design 0 → 9 at 2 s`."""
    moments = [(float(p.step), p.value) for p in line.points] if rows.by_step else _moments(line)
    first, (place, last) = moments[0][1], moments[-1]
    at = f"step {place:g}" if rows.by_step else f"{place:g} s"
    moved = f"{t.short(first)} → {t.short(last)} at {at}" if last != first else ""
    values = [point.value for point in line.points]
    most = f", most {t.short(max(values))}" if max(values) > max(first, last) else ""
    total = f", {_total(rows, line)} {pane.unit}·s" if pane.has_sum and not rows.by_step else ""
    return f"{_name(rows, line)} {moved or t.short(values[-1])}{most}{total}"


def _head(pane: SeriesPane) -> str:
    """Return a pane's heading: what is counted, in which unit."""
    if pane.measure == "failures":
        reasons = f": {', '.join(pane.reasons)}" if pane.reasons else ""
        return f"failures so far{reasons}"
    if pane.unit == "events":
        return f"{pane.measure} so far"
    plain = pane.unit in ("", "pods")
    return pane.measure if plain else f"{pane.measure}, {pane.unit}"


def _axis(rows: SeriesRows, width: int) -> _Axis:
    ends = [_end_words(rows, line) for pane in rows.panes for line in pane.lines]
    widest = max((t.width(words, _LABEL, bold=True) for words in ends), default=0)
    numbers = max((t.width(t.short(tick), 10.5) for pane in rows.panes for tick in _levels(pane)), default=0)
    room = min(widest + 26, 0.3 * width)
    last = max((line.last_step for pane in rows.panes for line in pane.lines), default=0)
    end = (last if rows.by_step else rows.until) or 1.0
    return _Axis(numbers + 10, width - room, end * _BEYOND, rows.by_step)


def _end_words(rows: SeriesRows, line: SeriesLine) -> str:
    return f"{_name(rows, line)} {t.short(line.points[-1].value)}"


def _levels(pane: SeriesPane) -> list[float]:
    """Return the ticks of a pane's axis."""
    most = _most(pane)
    return t.ticks(most, 4, whole=pane.unit in ("pods", "events") or most == int(most))


def _most(pane: SeriesPane) -> float:
    return max((point.value for line in pane.lines for point in line.points), default=0.0) or 1.0


def _is_still(pane: SeriesPane) -> bool:
    return all(len(line.points) == 1 for line in pane.lines)


def _height(pane: SeriesPane, width: int) -> float:
    if _is_still(pane):
        return 40.0
    return _PLOT if width >= 740 else _NARROW_PLOT


def _heading(sheet: Sheet, pane: SeriesPane, top: float, room: float, more: str = "") -> None:
    """Write what is counted, and something quiet after it."""
    x = 0.0
    if glyph := GLYPHS.get(pane.measure, ""):
        sheet.word(6, top + 8, glyph, "ink", size=12, bold=True, align="center")
        x = 16
    sheet.word(x, top + 8, _head(pane), "ink", size=12.5, bold=True, room=room - x)
    x += t.width(_head(pane), 12.5, bold=True) + 14
    if more and x < room:
        sheet.word(x, top + 8, more, "soft", room=room - x)


def _empty(sheet: Sheet, pane: SeriesPane, top: float) -> float:
    _heading(sheet, pane, top, sheet.width, _nothing(pane))
    return top + 28


def _pane(sheet: Sheet, rows: SeriesRows, pane: SeriesPane, axis: _Axis, top: float, high: float) -> float:
    still = _is_still(pane)
    span = "in any step" if rows.by_step else f"in {rows.until:g} s"
    _heading(sheet, pane, top, axis.right, f"no change {span}" if still else "")
    upper, levels, most = top + 24, _levels(pane), _most(pane)
    levels = levels if not still else [0.0, levels[-1]]
    lower = upper + high

    def at(value: float) -> float:
        return lower - high * value / most

    for level in levels:
        sheet.rule(axis.left, at(level), axis.right, at(level), "line" if level == 0 else "track")
        sheet.word(axis.left - 6, at(level), t.short(level), "soft", size=10.5, align="right")
    strong = len(rows.clusters) <= MAX_STRONG
    order = {name: place for place, name in enumerate(rows.clusters)}
    for line in sorted(pane.lines, key=lambda line: (strong or order[line.cluster] == 0, order[line.cluster])):
        ink, dash, _ = _style(rows, line, order[line.cluster])
        thick = 2.4 if strong or order[line.cluster] == 0 else 1.4
        sheet.line(_corners(line, axis, at), ink, thick=thick, dash=dash)
    ends = [(at(line.points[-1].value), line) for line in pane.lines]
    _names(sheet, rows, ends, axis.right, (upper, lower))
    return lower + _BELOW


def _style(rows: SeriesRows, line: SeriesLine, place: int) -> tuple[str, tuple[float, ...], str]:
    if len(rows.clusters) > MAX_STRONG and place:
        return "soft", (), "·"
    ink, dash, glyph = STYLES[place % MAX_STRONG]
    if line.part in _PARTS:
        own, dash = _PARTS[line.part]
        ink = own if len(rows.clusters) == 1 else ink
    return ink, dash, glyph


def _corners(line: SeriesLine, axis: _Axis, at: Callable[[float], float]) -> list[tuple[float, float]]:
    """Return the corners of a stepped line, px; ups and downs at one moment are one stroke from least to most."""
    place = at
    found: list[tuple[float, float]] = []
    before = line.points[0].value
    for moment, points in groupby(line.points, key=lambda p: float(p.step) if axis.by_step else p.time):
        values = [point.value for point in points]
        x = axis.at(moment)
        if found:
            found.append((x, place(before)))
        if max(values) > max(before, values[-1]) or min(values) < min(before, values[-1]):
            found += [(x, place(max(values))), (x, place(min(values)))]
        found.append((x, place(values[-1])))
        before = values[-1]
    return [*found, (axis.right, place(before))]


def _names(sheet: Sheet, rows: SeriesRows, ends: Sequence[tuple[float, SeriesLine]], right: float,
           span: tuple[float, float]) -> None:
    """Write each line's name and last value where it ends; names that would meet move apart."""
    order = {name: number for number, name in enumerate(rows.clusters)}
    fit = max(1, int((span[1] - span[0]) / APART)) + 1
    shown = sorted(ends[:fit], key=lambda end: end[0])
    for y, (_, line) in zip(apart([end[0] for end in shown], *span), shown, strict=True):
        ink, _, glyph = _style(rows, line, order[line.cluster])
        sheet.word(right + 12, y, glyph, ink, size=10, align="center")
        value = f" {t.short(line.points[-1].value)}"
        room = sheet.width - right - 22 - t.width(value, _LABEL, bold=True)
        name = t.middle(_name(rows, line), room, _LABEL, bold=True)
        sheet.word(right + 22, y, name + value, ink, size=_LABEL, bold=ink != "soft")


def _ticks(sheet: Sheet, axis: _Axis, y: float) -> float:
    y -= 6
    ticks = t.ticks(axis.end, 5 if sheet.width >= 740 else 3, whole=axis.by_step)
    for tick in ticks:
        sheet.rule(axis.at(tick), y - 10, axis.at(tick), y - 6, "line")
        sheet.word(axis.at(tick), y + 3, t.short(tick), "soft", size=10.5, align="center")
    title = "step" if axis.by_step else "simulated time, s"
    sheet.word((axis.left + axis.right) / 2, y + 20, title, "soft", size=11, align="center")
    return y + 30


def _playhead(sheet: Sheet, rows: SeriesRows, axis: _Axis, spans: Sequence[tuple[float, float]],
              first: SeriesPane) -> None:
    """Draw where the first cluster is, unless it is at its end."""
    if rows.is_at_end:
        return
    x = axis.at(rows.step if rows.by_step else rows.time)
    for upper, lower in spans:
        sheet.rule(x, upper - 6, x, lower, "accent", thick=1.5, dash=(2.0, 2.5))
    words = f"you are here: step {rows.step}, t = {rows.time:g} s"
    wide, heading = t.width(words, 11, bold=True), t.width(_head(first), 12.5, bold=True) + 34
    left = min(max(x + 6, heading), axis.right - wide)
    sheet.word(left, spans[0][0] - 16, words, "accent", bold=True)


def _hits(sheet: Sheet, rows: SeriesRows, axis: _Axis, top: float, bottom: float) -> None:
    """Add what can be clicked and is told when the pointer is over it: a column for each moment of change."""
    moments: dict[float, int] = {}
    for pane in rows.panes:
        for line in pane.lines:
            for point in line.points:
                place = float(point.step) if axis.by_step else point.time
                moments[place] = max(moments.get(place, 0), point.step if line.cluster == rows.clusters[0] else 0)
    last = -_HIT
    for place, step in sorted(moments.items()):
        x = axis.at(place)
        if x - last < _HIT:
            continue
        last = x
        sheet.rect(x - _HIT / 2, top + 18, _HIT, bottom - top - 18, "transparent", radius=2,
                   ref=f"step/{step}/{place:g}", tip=_told(rows, axis, place))  # fmt: skip


def _told(rows: SeriesRows, axis: _Axis, place: float) -> str:
    """Return what every line is from one moment on."""
    parts = []
    for pane in rows.panes:
        values = []
        for line in pane.lines:
            upto = [p.value for p in line.points if (p.step if axis.by_step else p.time) <= place]
            values.append(f"{_name(rows, line)} {t.short(upto[-1] if upto else 0)}")
        if values:
            parts.append(f"{pane.measure} {', '.join(values)}")
    return f"{f'step {place:g}' if axis.by_step else f't = {place:g} s'}: {'; '.join(parts)}"
