"""The chart of how explored runs end.

It takes plain rows and returns a `ChartFigure`: an altair chart that a reader may restyle and save, with a reading
of the same figures in lines. Altair, which takes a second to load, is imported when a chart is first drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import ChartFigure
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.text import columns
from kvolsched.views.drawing.theme import palette


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
