"""Parts that the ledgers share: the dated title, the sentence, words in columns, a legend of what is drawn.

Words stand in columns under two-line headings, never over bars; on a narrow page they go below the marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet

BROAD = 820
"""Narrower pages have words below the marks, px."""
MANY, CROWD = 6, 24
"""More rows than MANY are thin; of more than CROWD, those alike are one."""
MAX_LISTED = 60  # names in a label

GLYPHS = "✓✕⊘⊖★"
"""Signs that few fonts have: each is a text of its own, or the words beside it would change their face."""

Run = tuple[str, bool, str]  # words, bold, role of the ink


def head(sheet: Sheet, top: float, title: str, moment: str) -> float:
    """Draw the title, and the moment at its right end, or below it; return where what follows begins."""
    width = sheet.width
    lines = t.wrap(title, width, 13.5, 2, bold=True)
    y = sheet.words(0, top + 8, lines, "ink", 18, size=13.5, bold=True)
    room = width - t.width(lines[-1], 13.5, bold=True) - 24
    if t.width(moment, 10.5) <= room:
        sheet.word(width, y - 18, moment, "soft", size=10.5, align="right")
    elif moment:
        sheet.word(0, y - 1, moment, "soft", size=10.5, room=width)
        y += 15
    sheet.rule(0, y - 4, width, y - 4, "line")
    return y + 4


def answer(sheet: Sheet, y: float, glyph: str, ink: str, runs: Sequence[Run]) -> float:
    """Draw a glyph and a sentence, wrapped to the width; return where what follows begins."""
    if not any(content for content, _, _ in runs):
        return y
    sheet.word(6, y + 8, glyph, ink, size=13, bold=True, align="center")
    return flow(sheet, 20, y + 8, sheet.width - 20, runs, 13) + 4


def flow(sheet: Sheet, left: float, y: float, room: float, runs: Sequence[Run], size: float) -> float:
    """Draw words in lines of `room` px; neighbours of one style are one text. Return the place of the next line."""
    x, pending, start = 0.0, list[str](), 0.0
    style: tuple[bool, str] = (False, "ink")

    def put() -> None:
        if pending:
            sheet.word(left + start, y, " ".join(pending), style[1], size=size, bold=style[0], room=room - start)
            pending.clear()

    for content, bold, ink in runs:
        for item in content.split():
            wide = t.width(item, size, bold=bold)
            gap = size * 0.278 if x else 0.0
            if x and x + gap + wide > room:
                put()
                x, gap, y = 0.0, 0.0, y + size * 1.38
            glyph = item[0] in GLYPHS
            if pending and (glyph or style != (bold, ink)):
                put()
            if not pending:
                style, start = (bold, ink), x + gap
            pending.append(item)
            x += gap + wide
            if glyph:
                put()
    put()
    return y + size * 1.38


@frozen
class LedgerVerdict:
    """What a row comes to: glyph, family of the colour, words, and more of them."""

    glyph: str
    ink: str
    words: str
    more: str = ""

    def runs(self, before: str = "") -> list[Run]:
        """Return it as words of a flow."""
        first = f"{before}{self.glyph} {self.words}{',' if self.more else ''}"
        return [(first, True, self.ink), (self.more, False, "soft")]


def heading(sheet: Sheet, x: float, y: float, room: float, first: str, second: str = "") -> None:
    """Draw the two lines above a column: what stands in it, and how it is computed."""
    if first[:1] in GLYPHS:
        sheet.word(x, y, first[0], "soft", size=10.5, bold=True)
    indent = 14 * (first[:1] in GLYPHS)
    sheet.word(x + indent, y, first.lstrip(GLYPHS).lstrip(), "soft", size=10.5, bold=True, room=room - indent)
    sheet.word(x, y + 14, second, "soft", size=10.5, room=room)


def with_more(names: Sequence[str], room: float, size: float) -> str:
    """Return as many names as fit, at most four, and how many more there are."""
    for shown in range(min(4, len(names)), 0, -1):
        more = f", … {len(names) - shown} more" if len(names) > shown else ""
        content = ", ".join(names[:shown]) + more
        if t.width(content, size) <= room or shown == 1:
            return t.end(content, room, size)
    return ""


Mark = Callable[[Sheet, float, float], None]


@define
class Legend:
    """Entries of what is drawn. Mutable, while a sheet is drawn."""

    entries: dict[str, tuple[int, Mark]] = field(factory=dict)

    def add(self, words: str, mark: Mark, order: int = 5) -> None:
        """Add an entry whose mark is drawn in a box of 18 × 14 px around (x + 9, y); `order` is its place."""
        self.entries.setdefault(words, (order, mark))

    def draw(self, sheet: Sheet, top: float) -> float:
        """Draw the entries in lines; return where what follows begins."""
        if not self.entries:
            return top
        sheet.rule(0, top, sheet.width, top, "line")
        entries = sorted(self.entries.items(), key=lambda item: item[1][0])
        places = t.in_lines((26 + t.width(words, 10.5) for words, _ in entries), 0.0, sheet.width, top + 17, 20, 20)
        for (words, (_, mark)), (x, y) in zip(entries, places, strict=True):
            mark(sheet, x, y)
            sheet.word(x + 25, y, words, "soft", size=10.5, room=sheet.width - x - 25)
        return y + 14


def box(fill: str, stroke: str = "", dash: tuple[float, ...] = (), sign: str = "", ink: str = "ink") -> Mark:
    """Return the mark of a legend: a rectangle, with a sign in it."""

    def mark(sheet: Sheet, x: float, y: float) -> None:
        sheet.rect(x, y - 7, 18, 14, fill, stroke=stroke or fill, dash=dash, thick=1.4)
        sheet.word(x + 9, y + 0.5, sign, ink, size=10, bold=True, align="center")

    return mark
