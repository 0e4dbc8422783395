"""The charts of a lesson: domains, skew, capacity, scores, what is held over time, outcomes.

Every function takes plain rows and gives a `ChartFigure`: an altair chart that a reader
may restyle and save, with a reading that says the same figures in lines. Nothing here
knows the engine, and altair, which takes a second to load, waits in `canvas.py` until a
chart is first asked for; the panel's tabs show the same marks without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from attrs import frozen

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import ChartFigure, palette
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.tables import columns
from kvolsched.views.pictures import scores as scores_view
from kvolsched.views.pictures.domains import domains_reading, domains_sheet
from kvolsched.views.pictures.ledgers import capacity_reading, capacity_sheet, skew_reading, skew_sheet
from kvolsched.views.pictures.matrix import MOST_ROWS

__all__ = ["Held", "Outcome", "capacity", "domains", "draw", "held", "outcomes", "scores", "skew"]

WIDTH = 816  # px: with the margins that vega adds a chart is as wide as the other figures of a notebook

# One colour and one dash a series: neither is needed alone.
_SERIES: tuple[tuple[str, list[int]], ...] = (
    ("node", []),
    ("storage", [6, 3]),
    ("resources", [2, 3]),
    ("spread", [8, 3, 2, 3]),
    ("ok", [1, 2]),
)


@frozen
class Held:
    """How much of a resource a series holds from a moment on."""

    series: str
    """Whose line it is: "upstream: assumed", "design: not assumed"."""
    time: float
    """Simulated time, seconds."""
    value: float
    """Held from then on, until the series' next row."""


@frozen
class Outcome:
    """One way in which an exploration can end, and how often it does."""

    words: str
    """What is then true: "both bound", "web-1 stuck: its volume is in the other zone"."""
    count: int
    """In how many end states (or runs)."""
    good: bool
    """Whether everything got what it asked for."""
    group: str = ""
    """What was explored, when several explorations stand in one chart: "design"."""


def domains(frame: f.Frame, key: str = ZONE_LABEL, width: int = WIDTH, *, refs: bool = False) -> ChartFigure:
    """Draw the domains of `key` with their nodes, pods, volumes and verdict counts."""
    return _figure(*domains_sheet(frame, key, width, refs=refs), domains_reading(frame, key))


def skew(frame: f.Frame, width: int = WIDTH, *, refs: bool = False) -> ChartFigure:
    """Draw one ledger for each spread constraint of the pod in focus."""
    return _figure(*skew_sheet(frame, width, refs=refs), skew_reading(frame))


def capacity(frame: f.Frame, width: int = WIDTH, *, refs: bool = False) -> ChartFigure:
    """Draw one ledger for each claim of the pod in focus that is to be provisioned."""
    return _figure(*capacity_sheet(frame, width, refs=refs), capacity_reading(frame))


def draw(frame: f.Frame, width: int, selection: str = "", key: str = ZONE_LABEL) -> str:
    """Draw the domains as the panel shows them: the same marks as SVG, without altair."""
    sheet, height = domains_sheet(frame, key, width, refs=True)
    return sheet.svg(height, f"domains of {key}", selection)


def _figure(sheet: Sheet, height: float, reading: str) -> ChartFigure:
    from kvolsched.views.drawing.altair_charts import chart  # noqa: PLC0415 - altair takes a second to load

    return ChartFigure(chart(sheet, height), reading)


def held(
    rows: Iterable[Held | tuple[str, float, float]], what: str = "cpu held", unit: str = "cores",
    until: float | None = None, width: int = 760,
) -> ChartFigure:  # fmt: skip
    """Draw how much is held over simulated time, one stepped line a series, with what that sums up to."""
    lines = _lines(rows, until)
    inks = [_SERIES[i % len(_SERIES)] for i in range(len(lines))]
    sums = [f"{name}: {_sum(points):g} {unit}·s in all" for name, points in lines.items()]
    titles = (f"{what} over simulated time", sums, f"{what}, {unit}")
    table = []
    for name, points in lines.items():
        corners = ", ".join(f"{value:g} from {time:g} s" for time, value in _corners(points))
        table += [[name, corners, f"{_sum(points):g} {unit}·s in {points[-1][0]:g} s"]]
    said = f"{what} over simulated time, {unit}\n" + (columns(table) or "Nothing was held.")
    from kvolsched.views.drawing.altair_charts import stepped  # noqa: PLC0415 - altair takes a second to load

    return ChartFigure(stepped(lines, inks, titles, width), said)


def _lines(
    rows: Iterable[Held | tuple[str, float, float]], until: float | None
) -> dict[str, list[tuple[float, float]]]:
    """Give each series' corners in time, from 0 to a common end, the last value of a moment winning."""
    found: dict[str, dict[float, float]] = {}
    for row in rows:
        name, time, value = (row.series, row.time, row.value) if isinstance(row, Held) else row
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


def outcomes(
    rows: Iterable[Outcome | tuple[str, int, bool]], title: str = "Outcomes", width: int = 760
) -> ChartFigure:
    """Draw how the explored runs end: a bar an outcome, ✓ or ✕ before its words, its count behind."""
    ends = [row if isinstance(row, Outcome) else Outcome(*row) for row in rows]
    c, sheet = palette(), Sheet(width)
    label = min(max((t.width(e.words, 12) for e in ends), default=0) + 34, 0.52 * width)
    room = width - label - max((t.width(_share(e, ends), 11) for e in ends), default=0) - 24
    sheet.word(0, 8, title, c["ink"], size=13, bold=True, room=width)
    y, table = 30.0, []
    for name, group in groupby(ends, key=lambda e: e.group):
        if name:
            sheet.word(0, y + 8, name, c["ink"], size=12, bold=True, room=width)
            sheet.rule(0, y + 18, width, y + 18, c["line"])
            y += 26
        for end in group:
            ink = c["ok"] if end.good else c["storage"]
            sheet.word(8, y + 11, "✓" if end.good else "✕", ink, size=12, bold=True, align="center")
            sheet.word(22, y + 11, end.words, c["ink"], size=12, room=label - 30)
            sheet.rect(label, y, room, 22, c["panel"])
            if end.count:
                wide = max(2.0, room * end.count / _total(end, ends))
                sheet.rect(label, y, wide, 22, ink, tip=f"{end.words}: {end.count}")
            sheet.word(label + room + 10, y + 11, _share(end, ends), c["ink"], bold=True)
            mark = "✓" if end.good else "✕"
            table.append(
                [*([end.group] if any(e.group for e in ends) else []), mark, end.words, _share(end, ends)]
            )
            y += 28
        y += 8
    if not ends:
        sheet.word(0, y + 8, "No run has ended yet.", c["soft"])
        y += 24
    return _figure(sheet, y, f"{title}\n" + (columns(table) or "No run has ended yet."))


def _share(end: Outcome, ends: Sequence[Outcome]) -> str:
    return f"{end.count} of {_total(end, ends)}"


def _total(end: Outcome, ends: Sequence[Outcome]) -> int:
    return sum(e.count for e in ends if e.group == end.group)


def scores(frame: f.Frame, width: int = WIDTH) -> ChartFigure:
    """Draw each scored node's sum, built up from its plugins: raw → normalised × weight."""
    ranked = scores_view.ranked(frame.verdicts)
    c, sheet = palette(), Sheet(width)
    title = (
        f"Scores of pass {frame.verdicts.number} of {t.name_in_ref(frame.verdicts.pod)}" if ranked else "Scores"
    )
    sheet.word(0, 8, title, c["ink"], size=13, bold=True, room=width)
    plugins = list(dict.fromkeys(s.plugin for s in frame.verdicts.scores))
    family = {name: _SERIES[i % len(_SERIES)][0] for i, name in enumerate(plugins)}
    letters = {name: chr(ord("a") + i) for i, name in enumerate(plugins)}
    chosen = {row.node for row in frame.verdicts.rows if row.chosen}
    label = min(max((t.width(node, 12.5, bold=True) for node, _, _ in ranked), default=0) + 24, 0.25 * width)
    most = max((total for _, total, _ in ranked), default=1) or 1
    room, y = width - label - 110, 34.0
    for node, total, parts in ranked[:MOST_ROWS]:
        sheet.word(0, y + 11, node, c["ink"], size=12.5, bold=True, room=label - 10, name=True)
        sheet.rect(label, y, room, 22, c["panel"])
        x = label
        for part in parts:
            wide, role = room * part.total / most, family[part.plugin]
            tip = f"{part.plugin}: {part.raw} → {part.normalised} × {part.weight} = {part.total}"
            if wide > 1:
                sheet.rect(
                    x, y, wide - 1.5, 22, c[f"{role}-pale"], stroke=c[role], radius=2, thick=1.2, tip=tip
                )
            long = f"{letters[part.plugin]}  {part.normalised} × {part.weight}"
            said = next((s for s in (long, str(part.total)) if t.width(s, 10.5, bold=True) < wide - 10), "")
            sheet.word(x + 6, y + 11.5, said, c[role], size=10.5, bold=True)
            x += wide
        star = node in chosen
        sheet.word(
            label + room + 14,
            y + 11,
            "★" if star else "=",
            c["ok" if star else "soft"],
            size=12,
            align="center",
        )
        sheet.word(
            label + room + 26, y + 11, f"{total} chosen" if star else str(total), c["ink"], size=12, bold=True
        )
        y += 30
    if not ranked:
        sheet.word(0, y + 8, scores_view.UNSCORED, c["soft"])
        y += 24
    x = 0.0
    y += 14
    for name in plugins:
        wide = 24 + t.width(f"{letters[name]}  {name}", 10.5) + 12
        if x + wide > width and x:
            x, y = 0.0, y + 20
        sheet.rect(x, y - 7, 14, 14, c[f"{family[name]}-pale"], stroke=c[family[name]], radius=2, thick=1.2)
        sheet.word(x + 20, y, f"{letters[name]}  {name}", c["soft"], size=10.5)
        x += wide
    return _figure(sheet, y + 14, scores_view.reading(frame))
