"""The ledger of a constraint that only ranks (ScheduleAnyway): pods, raw → score × weight, points of the best node.

No limit, no band, no ✕: such a constraint refuses nobody.
"""

from collections.abc import Sequence

from attrs import frozen

from kvolsched.api.words import first_of
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures import ledger_parts as p
from kvolsched.views.pictures import skew_rows as s

_DASH, _DOTS, _MARGIN = (4.0, 3.0), (2.0, 2.0), 14.0
MAX_UNITS = 12


def place_words(ledger: f.SkewLedger, best: f.BestNode, *, short: bool = False) -> str:
    """Return how a node's points compare: "chosen", or "7 fewer than b1", in short "7 fewer"."""
    leader = max((row.best for row in ledger.rows if row.best is not None), key=lambda each: (each.total, each.chosen))
    if best.chosen:
        return f"{best.node} is chosen"
    fewer = leader.total - best.total
    than = "" if short else f" than {leader.node}"
    return f"{fewer} fewer{than}" if fewer else "as many as the best"


@frozen
class _Columns:
    """Places of the parts of one ledger, px."""

    label: float
    pitch: float  # from one pod to the next
    room: float  # of the pods
    rank: float
    bar: float
    width: float
    highest: int  # points of the best node of all
    thin: bool

    @property
    def broad(self) -> bool:
        """Whether the points stand beside the pods."""
        return self.width >= p.BROAD


def draw(sheet: Sheet, ledger: f.SkewLedger, top: float, legend: p.Legend) -> float:
    """Draw one ledger below `top`; return where what follows begins."""
    y = p.head(sheet, top, s.title(ledger), ledger.moment)
    glyph, ink = ("✓", "ok") if ledger.open else ("✕", "soft")
    y = p.answer(sheet, y, glyph, ink, [(ledger.answer, True, "ink"), (ledger.sentence, False, "ink")])
    alike = [*s.groups(ledger, [row for row in ledger.rows if not row.left_out]),
             *s.groups(ledger, [row for row in ledger.rows if row.left_out])]  # fmt: skip
    if not alike:
        return y
    c = _columns(alike, sheet.width)
    p.heading(sheet, 0, y + 14, c.label - 8, "domain", "best node")
    p.heading(sheet, c.label, y + 14, c.room, "● matching pods, counted", "fewer is better, no limit")
    p.heading(sheet, c.rank, y + 14, c.bar - c.rank if c.broad else c.width - c.rank, "raw → score × weight",
            ledger.plugin)
    if c.broad and any(each.first.best for each in alike):
        p.heading(sheet, c.bar, y + 14, c.width - c.bar, "all points of the best node", "a part as long as its points")
    y += 38
    for each in alike:
        y = _row(sheet, ledger, each, c, y, legend)
    return _notes(sheet, ledger, y + 4)


def _columns(alike: Sequence[s.AlikeRows], width: float) -> _Columns:
    broad, rows = width >= p.BROAD, [each.first for each in alike]
    names = max(t.width(_name_of(each), 13, bold=True) for each in alike)
    label = min(max(names, 70.0), (0.17 if broad else 0.24) * width) + _MARGIN
    most = max(row.counted for row in rows)
    apart = 34.0 * any(row.not_counted for row in rows)
    ranked = (f"{best.raw} → {best.score} × {best.weight} = {best.points}" for row in rows if (best := row.best))
    ranks = max([150.0, *(t.width(each, 12.5, bold=True) + _MARGIN for each in ranked)])
    squares = min(most + 1, MAX_UNITS) * 30.0 + 8 + apart
    room = max(150.0, min(squares, 0.26 * width if broad else width - label - ranks))
    rank = label + room + _MARGIN
    highest = max((row.best.total for row in rows if row.best is not None), default=1)
    pitch = min(34.0, (room - apart) / (most + 1))
    if pitch < 28:  # the place of this pod is wider
        pitch = (room - apart - 32) / most
    return _Columns(label, pitch, room, rank, rank + ranks if broad else label, width, highest,
                    thin=sum(len(each.rows) for each in alike) > p.MANY)


def _row(sheet: Sheet, ledger: f.SkewLedger, alike: s.AlikeRows, c: _Columns, y: float, legend: p.Legend) -> float:
    row, best = alike.first, alike.first.best
    high = (32.0 if c.thin else 42.0) if c.broad else 66.0 if best is not None else 50.0
    decides = best is not None and best.chosen
    sheet.rect(-8, y, c.width + 16, high, "panel" if decides else "paper", radius=6,
               ref=f"domain/{ledger.key}/{row.domain}", tip=_label(ledger, alike))
    middle = y + (high / 2 if c.broad else 20)
    ink = "soft" if row.left_out else "ink"
    sheet.word(0, middle - 8, _name_of(alike), ink, size=13, bold=True, room=c.label - 10, name=True)
    sheet.word(0, middle + 9, best.node if best else s.nodes_words(row), "soft", size=10.5, room=c.label - 10,
               name=True)
    _pods(sheet, row, c.label, c.pitch, middle, legend)
    if best is not None:
        _rank(sheet, best, c.rank, middle)
        _bar(sheet, ledger, best, c, middle - 11 if c.broad else y + 38, legend)
    elif row.left_out:
        sheet.words(c.rank, middle - 7, t.wrap(f"– no domain: {row.left_out}", c.width - c.rank, 11, 2), "soft", 14)
    else:
        s.draw_verdict(sheet, s.verdict(alike), c.rank, middle, c.width - c.rank)
    return y + high + 4


def _name_of(alike: s.AlikeRows) -> str:
    return alike.first.domain if len(alike.rows) == 1 else f"{len(alike.rows)} domains"


def _label(ledger: f.SkewLedger, alike: s.AlikeRows) -> str:
    row, best = alike.first, alike.first.best
    who = row.domain if len(alike.rows) == 1 else f"{len(alike.rows)} domains ({first_of(alike.names, p.MAX_LISTED)})"
    parts = [f"{who}: counted {row.counted}"]
    if row.not_counted:
        parts.append(f"not counted {s.not_counted_words(row)}")
    if best is None:
        found = s.verdict(alike)
        parts.append(row.left_out or f"{found.words}, {found.more}")
    else:
        points = ", ".join(f"{part.plugin} {part.points}" for part in best.parts)
        parts.append(f"{best.node} has {best.total} points ({points}), {place_words(ledger, best)}")
    return "; ".join(parts)


def _pods(sheet: Sheet, row: f.SkewRow, x: float, pitch: float, middle: float, legend: p.Legend) -> None:
    wide, top, high = pitch - 4, middle - 12, 24.0
    shade = "line" if row.left_out else "ink"
    if row.counted:
        legend.add("in no domain" if row.left_out else "matching pod, counted", p.box(shade), 1)
    left, number = x + row.counted * pitch, str(row.counted)
    bar = pitch < 15 and row.counted > 0
    beside = bar and left - x - 2 <= t.width(number, 11) + 8
    if bar:
        sheet.rect(x, top, left - x - 2, high, shade)
        sheet.word(x + 7, middle, "" if beside else number, "ink" if row.left_out else "paper", bold=True)
    else:
        for place in range(row.counted):
            sheet.rect(x + place * pitch, top, wide, high, shade)
    if not row.left_out:
        size = max(wide, 24.0)
        sheet.rect(left, top, size, high, "paper", stroke="soft", dash=_DASH, thick=1.5)
        sheet.word(left + size / 2, middle, "+1", "soft", size=10.5, bold=True, align="center")
        legend.add("this pod, if placed here", p.box("paper", "soft", (3.0, 2.0)), 2)
        left += size + 8
    if beside:
        sheet.word(left, middle, number, "ink", bold=True)
        left += t.width(number, 11) + 6
    if row.not_counted:
        apart = sum(count for count, _ in row.not_counted)
        sheet.word(left, middle, f"⊖ {apart}", "soft", size=10.5)
        legend.add("matches, not counted", p.box("paper", "soft", _DOTS, "⊖", "soft"))


def _rank(sheet: Sheet, best: f.BestNode, x: float, middle: float) -> None:
    start = f"{best.raw} → "
    score = str(best.score)
    times = f" × {best.weight} = "
    sheet.word(x, middle, start.rstrip(), "soft", size=12)
    x += t.width(start, 12)
    sheet.word(x, middle, score, "ink", size=12)
    x += t.width(score, 12) + 4
    sheet.word(x, middle, times.strip(), "soft", size=12)
    x += t.width(times.strip(), 12) + 5
    sheet.word(x, middle, str(best.points), "spread", size=12.5, bold=True)


def _bar(sheet: Sheet, ledger: f.SkewLedger, best: f.BestNode, c: _Columns, y: float, legend: p.Legend) -> None:
    """Draw all points of a node, a part a plugin with its letter, then the total and how it compares."""
    x, room = c.bar, c.width - c.bar
    words = "★ chosen" if best.chosen else place_words(ledger, best, short=True)
    total = str(best.total)
    ends = t.width(total, 13) + 10 + max(t.width("★ chosen", 11, bold=True) + 16, t.width(words, 11)) + 4
    scale = max(1.0, room - ends - 10) / max(1, c.highest)
    for part in best.parts:
        wide = part.points * scale
        drawn = max(wide - 1.5, 1.0)
        sheet.rect(x, y, drawn, 22, f"{part.family}-pale", stroke=part.family, radius=2, thick=1.4)
        inks = [f"{part.letter} {part.short} {part.points}", f"{part.letter} {part.points}", str(part.points),
                part.letter]
        fitting = next((text for text in inks if t.width(text, 10.5, bold=True) <= drawn - 8), "")
        sheet.word(x + 5, y + 11.5, fitting, part.family, size=10.5, bold=True)
        legend.add(part.plugin, p.box(f"{part.family}-pale", part.family, (), part.letter, part.family), 6)
        x += wide
    x += 9
    sheet.word(x, y + 11.5, total, "ink", size=13, bold=True)
    x += t.width(total, 13) + 9
    if best.chosen:
        wide = t.width(words, 11, bold=True) + 14
        sheet.rect(x, y + 1, wide, 20, "ink", radius=10)
        sheet.word(x + 7, y + 11.5, "★", "paper", size=11, bold=True)
        sheet.word(x + 7 + t.width("★ ", 11), y + 11.5, "chosen", "paper", size=11, bold=True)
    else:
        sheet.word(x, y + 11.5, words, "soft", size=11)


def _notes(sheet: Sheet, ledger: f.SkewLedger, y: float) -> float:
    """Draw how points are made, and the weight that would let spreading win."""
    if not ledger.notes:
        return y
    sheet.rule(0, y, sheet.width, y, "line")
    y += 17
    notes: Sequence[tuple[str, str]] = ledger.notes
    left = max(t.width(first, 11.5, bold=True) for first, _ in notes) + 14
    for first, words in notes:
        sheet.word(0, y, first, "ink", size=11.5, bold=True)
        y = p.flow(sheet, left, y, sheet.width - left, [(words, False, "soft")], 11.5) + 4
    return y
