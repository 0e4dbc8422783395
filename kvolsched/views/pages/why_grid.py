"""Places of the picture of `why`: columns, the gap between them, blocks of words that must fit, numbers and letters."""

import re
from collections.abc import Iterable

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import rect, word

MARGIN = 10.0
LEFT, LEFT_OF_MANY = 262.0, 238.0  # the column of demands; the narrower one from five columns on
MANY = 5
LEAST_COLUMN, MOST_COLUMN = 84.0, 340.0
BADGE = 8.0
"""Radius of a clause's number."""
_PARTS = re.compile(r"[^,.:;=/\[\]{}_-]*[,.:;=/\[\]{}_-]+|[^,.:;=/\[\]{}_-]+")


@frozen
class Grid:
    """Where the columns stand; `stacked`: the words of a demand stand above its cells, not beside them."""

    width: float
    count: int
    left: float
    column: float
    gap: float
    stacked: bool

    def x(self, place: int) -> float:
        """Return the left edge of a column."""
        return self.left + place * (self.column + self.gap)

    @property
    def right(self) -> float:
        """The right edge of the last column."""
        return self.x(self.count - 1) + self.column

    def span(self, first: int, last: int) -> float:
        """Return the width from one column's left edge to another's right edge."""
        return self.x(last) + self.column - self.x(first)


def grid_for(count: int, width: float) -> Grid:
    """Return the places of so many columns: beside the demands if they are wide enough there, else below them."""
    left = LEFT_OF_MANY if count >= MANY else LEFT
    gap = 12.0 if count < MANY + 1 else 10.0
    beside = (width - left - MARGIN - gap * (count - 1)) / count
    if beside >= LEAST_COLUMN:
        return Grid(width, count, left + 4, min(MOST_COLUMN, beside - 4 / count), gap, stacked=False)
    gap = 8.0
    below = (width - 2 * MARGIN - 8 - gap * (count - 1)) / count
    return Grid(width, count, MARGIN + 4, min(MOST_COLUMN, below), gap, stacked=True)


def fits(text: str, room: float, size: float, lines: int, *, bold: bool = True, first: float = 0) -> bool:
    """Say whether words fit into so many lines without a cut word; `first` px of the first line are taken."""
    return all(t.width(part, size, bold=bold) <= room for part in text.split()) and (
        len(wrapped(text, room, size, 99, bold=bold, first=first)) <= lines
    )


def wrapped(text: str, room: float, size: float, lines: int, *, bold: bool = False, first: float = 0) -> list[str]:
    """Break words into lines; `first` px of the first line are taken; the last line is cut at its end."""
    if not first:
        return _word_lines(text, room, size, lines, bold=bold)
    whole = " ".join(text.split())
    row = next(iter(_word_lines(whole, room - first, size, 1 if lines < 2 else 99, bold=bold)), "")
    return [row, *_word_lines(whole[len(row) :], room, size, lines - 1, bold=bold)] if lines > 1 else [row]


def block(x: float, y: float, lines: Iterable[str], classes: str, pitch: float, first: float = 0) -> str:
    """Draw lines of words below each other, the first one `first` px further right."""
    return "".join(
        word(x + (first if not place else 0), y + place * pitch, classes, line) for place, line in enumerate(lines)
    )


def _word_lines(content: str, room: float, size: float, lines: int, *, bold: bool = False) -> list[str]:
    """Break words to `room` px, a word that is too long after its punctuation; the last of `lines` is cut."""
    rows = [""]
    for token in content.split():
        parts = [token] if t.width(token, size, bold=bold) <= room else _PARTS.findall(token)
        for place, part in enumerate(parts):
            gap = " " if rows[-1] and not place else ""
            if rows[-1] and t.width(rows[-1] + gap + part, size, bold=bold) > room:
                rows.append("")
                gap = ""
            rows[-1] += gap + part
    if len(rows) > lines:
        rows = [*rows[: lines - 1], " ".join(rows[lines - 1 :])]
    return [t.end(row, room, size, bold=bold) for row in rows if row]


def number_mark(x: float, y: float, value: int, family: str, *, hollow: bool = False) -> str:
    """Draw a number in a disc of 16 px, its middle at (x, y); hollow for what does not count."""
    edge = "soft" if family == "none" else family
    ground = rect(x - 8, y - 8, 16, 16, f"k-also k-l-{edge}" if hollow else f"k-s-{family}", 8)
    ink = f"k-t-{family}" if hollow and family not in ("none", "ink") else "" if hollow else " k-on"
    return ground + word(x, y + 3.4, f"k-letters {ink}".strip(), str(value))


def letter(x: float, y: float, sign: str, family: str) -> str:
    """Draw the letter of a plugin in its ground of 17 px, the upper left corner at (x, y)."""
    return rect(x, y, 17, 17, f"k-p-{family}", 3) + word(x + 8.5, y + 12, f"k-letters k-t-{family}", sign)
