"""The ledger of a constraint that rejects, over more than 24 domains: those alike are one row.

Squares are the pods of one of them, strokes count the domains; never are pods and domains bars under one heading.
"""

from __future__ import annotations

from collections.abc import Sequence

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures.ledger_parts import BROAD, Legend, box, flow, heading, role, with_more
from kvolsched.views.pictures.skew_parts import (
    PLACED,
    add_placed,
    draw_ground,
    draw_sum,
    draw_verdict,
    height_below,
    words_below,
)
from kvolsched.views.pictures.skew_rows import (
    AlikeRows,
    is_minimum,
    limit_words,
    minimum_words,
    sum_words,
    verdict,
    who_lands,
)

MAX_STROKES = 180
"""More domains alike than this are a bar."""
MAX_UNITS = 6
"""More pods in a domain than this are a number."""
_MARGIN = 14.0


def draw(sheet: Sheet, ledger: f.SkewLedger, alike: Sequence[AlikeRows], y: float, legend: Legend) -> float:
    """Draw domains that are alike as one row: the pods of one of them, and a stroke for each."""
    width, broad = sheet.width, sheet.width >= BROAD
    most = max(each.first.counted for each in alike)
    units = min(most, MAX_UNITS) + 1
    below = (f"{each.first.counted} counted{' · ▼ minimum' * is_minimum(ledger, each.first)}" for each in alike)
    label = max(units * 22.0 + 20, max(t.width(words, 10.5, bold=True) for words in below) + 14)
    sums = max(t.width(sum_words(ledger, each.first), 12, bold=True) for each in alike) + 34 if broad else 0.0
    ends = 0.25 * width if broad else 0.0
    room = width - label - sums - ends - _MARGIN
    strokes_room = room - 44
    x_sum = label + room + _MARGIN
    heading(sheet, 0, y + 6, label - 8, "pods in the domain", "counted")
    domains = sum(len(each.rows) for each in alike)
    heading(sheet, label, y + 6, room, f"domains alike, of {domains}", "a stroke is a domain")
    if broad:
        heading(sheet, x_sum, y + 6, sums, "sum if placed there", "counted + self − min.")
        heading(sheet, x_sum + sums, y + 6, ends, f"may {who_lands(ledger)} land there?", "all filters")
    first, by = minimum_words(ledger)
    y = flow(sheet, 0, y + 38, width, [(f"▼ {first}, {by};", True, "ink"), (limit_words(ledger), True, "spread")], 11)
    largest = max(len(each.rows) for each in alike)
    for each in alike:
        row = each.first
        runs = [] if broad else words_below(ledger, each)
        high = 44.0 if broad else height_below(runs, width - 8) + 6
        draw_ground(sheet, ledger, each, y, high)
        _one_domain(sheet, ledger, row, y + 6, legend)
        tail = " · ▼ minimum" if is_minimum(ledger, row) else ""
        sheet.word(0, y + 35, f"{row.counted} counted{tail}", role("ink" if tail else "soft"), size=10.5,
                   bold=bool(tail), room=label - 8)
        _strokes(sheet, len(each.rows), largest, label, y + 6, strokes_room, verdict(each).ink)
        sheet.word(label, y + 35, with_more(each.names, room, 10.5), role("soft"), size=10.5, room=room)
        if broad:
            draw_sum(sheet, ledger, row, x_sum, x_sum + sums, y + 15)
            draw_verdict(sheet, verdict(each), x_sum + sums, y + 22, ends)
        else:
            flow(sheet, 8, y + 54, width - 16, runs, 11)
        y += high + 6
    return y


def _one_domain(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, y: float, legend: Legend) -> None:
    """Draw the pods of one domain as small squares, over six as a number, then this pod."""
    x = 0.0
    if row.counted > MAX_UNITS:
        sheet.rect(0, y, 40, 18, role("ink"))
        sheet.word(20, y + 9.5, str(row.counted), role("paper"), bold=True, align="center")
        x = 44
    else:
        for _ in range(row.counted):
            sheet.rect(x, y, 18, 18, role("ink"))
            x += 22
    if row.counted:
        legend.add("matching pod, counted", box("ink"), 1)
    sign, ink = add_placed(legend, ledger, row)
    sheet.rect(x, y, 18, 18, role(f"{ink}-pale"), stroke=role(ink), dash=PLACED, thick=1.5)
    sheet.word(x + 9, y + 9.5, sign, role(ink), bold=True, align="center")


def _strokes(sheet: Sheet, count: int, largest: int, x: float, y: float, room: float, ink: str) -> None:
    """Draw a stroke a domain, their number after them; over 180 a bar."""
    pitch = min(4.0, room / largest)
    if largest > MAX_STROKES or pitch < 1.6:
        end = x + max(2.0, room * count / largest)
        sheet.rect(x, y, end - x, 18, role(ink), radius=2)
    else:
        for place in range(count):
            at = x + 1 + place * pitch
            sheet.rule(at, y, at, y + 18, role(ink), thick=min(2.0, pitch * 0.6))
        end = x + count * pitch
    sheet.word(end + 7, y + 9.5, str(count), role("ink"), size=12, bold=True)
