"""Marks and words that rows of a hard skew ledger share, whether a row is one domain or many that are alike."""

from __future__ import annotations

from collections.abc import Sequence

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures.ledger_parts import Legend, Run, box, flow, listed, role
from kvolsched.views.pictures.skew_rows import (
    AlikeRows,
    LandingVerdict,
    actual_skew,
    is_minimum,
    landing_words,
    not_counted_words,
    sum_words,
    verdict,
    who_lands,
)

PLACED = (4.0, 3.0)
"""Dashes of a pod that is not there yet."""


def add_placed(legend: Legend, ledger: f.SkewLedger, row: f.SkewRow) -> tuple[str, str]:
    """Add the pod, if it were placed in a domain, to the legend; return its sign and the family of its colour."""
    sign, ink = ("✓", "ok") if row.fits else ("✕", "spread")
    who = who_lands(ledger)
    words = "allowed by the sum" if row.fits else "over the limit"
    pod = "this pod" if who == "it" else who
    mark = box(f"{ink}-pale", ink, (3.0, 2.0), sign, ink)
    legend.add(f"{pod}, if placed: {words}", mark, 3 if row.fits else 2)
    return sign, ink


def draw_ground(sheet: Sheet, ledger: f.SkewLedger, alike: AlikeRows, y: float, high: float) -> None:
    """Draw the ground of a row, which can be selected; tinted if it sets the minimum."""
    row = alike.first
    decides = is_minimum(ledger, row)
    sheet.rect(-8, y, sheet.width + 16, high, role("panel" if decides else "paper"), radius=6,
               ref=f"domain/{ledger.key}/{row.domain}", tip=row_label(ledger, alike))


def row_label(ledger: f.SkewLedger, alike: AlikeRows) -> str:
    """Return what a row says, in one line."""
    row = alike.first
    who = row.domain if len(alike.rows) == 1 else f"{len(alike.rows)} domains ({listed(alike.names)})"
    parts = [f"{who}: counted {row.counted}"]
    if row.not_counted:
        parts.append(f"not counted {not_counted_words(row)}")
    parts.append(f"no domain, {row.left_out}" if row.left_out else sum_words(ledger, row))
    if words := landing_words(alike):
        parts.append(words)
        parts += [f"{stop.plugin}: {stop.reason}" for stop in row.landing.stops] if row.landing is not None else []
    return "; ".join(parts)


def draw_sum(
    sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, x: float, right: float, middle: float
) -> None:
    """Draw the sum as the rule writes it, its verdict before `right`."""
    ink, words = "ok" if row.fits else "spread", sum_words(ledger, row)
    room = right - x - 22
    size = 12 if t.width(words, 12, bold=True) <= room else 11
    sheet.word(x, middle, words, role(ink), size=size, bold=True, room=room)
    sheet.word(right - 18, middle, "✓" if row.fits else "✕", role(ink), size=12, bold=True, align="center")


def draw_verdict(
    sheet: Sheet, found: LandingVerdict, x: float, middle: float, room: float, *, bold: bool = True
) -> None:
    """Draw a verdict: glyph and words, below them the reason in at most two lines."""
    lines = t.wrap(found.why, room - 18, 10.5, 2) if found.why else ()
    top = middle - 8 * bool(lines) - 6 * (len(lines) == 2)
    sheet.word(x + 6, top, found.glyph, role(found.ink), size=12, bold=True, align="center")
    sheet.word(x + 18, top, found.words, role(found.ink), size=12, bold=bold, room=room - 18)
    for place, line in enumerate(lines):
        sheet.word(x + 18, top + 16 + 13 * place, line, role("soft"), size=10.5, room=room - 18)


def words_below(ledger: f.SkewLedger, alike: AlikeRows) -> list[Run]:
    """Return the words of a row for a narrow page, below its marks."""
    row, found = alike.first, verdict(alike)
    ink = "ok" if row.fits else "spread"
    actual = f"ActualSkew {row.counted} − {ledger.minimum} = {actual_skew(ledger, row)} ·"
    words = [(actual, False, "soft"), (f"{sum_words(ledger, row)} {'✓' if row.fits else '✕'}", True, ink)]
    words.append((f"· {found.glyph} {found.words}{',' if found.why else ''}", True, found.ink))
    words.append((found.why, False, "soft"))
    if row.not_counted:
        words.append((f"· ⊖ not counted: {not_counted_words(row)}", False, "soft"))
    return words


def height_below(runs: Sequence[Run], room: float) -> float:
    """Return the height of a row with its marks and these words below them."""
    trial = Sheet(room)
    return flow(trial, 8, 43, room - 8, runs, 11) - 2
