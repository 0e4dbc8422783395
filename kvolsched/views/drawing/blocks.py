"""Blocks of a picture that is read like a page: paragraphs, lines of code, numbers and letters in their grounds.

Each function returns its marks and the room they take, so that the next block can stand below: a page is laid out for
a width and is as high as its words need.
"""

from __future__ import annotations

import re

from attrs import define, field

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import num, rect, word

MONOSPACE = 0.605
"""Advance width of a letter of the widest of the monospaced fonts, as a share of its size."""
CODE = 10.5
CODE_PITCH = 15.0
_BREAKS = ",/;|"
_PARTS = re.compile(r"[^,.:;/\[\]{}_-]*[,.:;/\[\]{}_-]+|[^,.:;/\[\]{}_-]+")


@define
class Stack:
    """Blocks that stand below each other. Mutable, while it is filled; the next one begins at `y`."""

    y: float = 0.0
    parts: list[str] = field(factory=list)

    def add(self, block: tuple[str, float], gap: float = 0.0) -> None:
        """Add marks that begin at `y`, and go down by their height and a gap."""
        self.parts.append(block[0])
        self.y += block[1] + gap

    def mark(self, *marks: str, down: float = 0.0) -> None:
        """Add marks, and go down so many px."""
        self.parts += marks
        self.y += down

    def __str__(self) -> str:
        return "".join(self.parts)


def paragraph(x: float, y: float, content: str, room: float, classes: str = "k-m", size: float = 12, *,
              bold: bool = False, lines: int = 12) -> tuple[str, float]:
    """Draw words in lines of `room` px, the first one just below y; return the marks and their height."""
    pitch = size + 4.5
    rows = word_lines(content, room, size, lines, bold=bold)
    marks = (word(x, y + size + i * pitch, classes, row) for i, row in enumerate(rows))
    return "".join(marks), pitch * len(rows)


def word_lines(content: str, room: float, size: float, lines: int, *, bold: bool = False) -> list[str]:
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


def before_after(x: float, y: float, old: str, new: str, room: float, *, lines: int = 2) -> tuple[str, float]:
    """Draw old → new, in one line on `y` where it fits, else under each other; return the marks and the last line's y.

    The old value has at most so many lines, the new one three. An empty value is "none".
    """
    before, after = old or "none", new or "none"
    wide, kind = t.width(before, 12), "k-m k-old" if old not in ("", "none") else "k-m k-soft"
    if wide + 26 + t.width(after, 12, bold=True) <= room:
        arrow = word(x, y, kind, before) + word(x + wide + 5, y, "k-m", "→")
        return arrow + word(x + wide + 22, y, "k-n", after), y
    rows = t.wrap(before, room, 12, lines)
    parts = [word(x, y + 16 * i, kind, row) for i, row in enumerate(rows)]
    at = y + 16 * len(rows)
    rows = t.wrap(after, room - 17, 12, 3, bold=True)
    parts += [word(x, at, "k-m", "→"), *(word(x + 17, at + 16 * i, "k-n", row) for i, row in enumerate(rows))]
    return "".join(parts), at + 16 * (len(rows) - 1)


def code_lines(content: str, room: float) -> list[str]:
    """Break a line of code to `room` px after a blank or a comma; no character is lost, so the parts join again."""
    most = max(8, int(room / (CODE * MONOSPACE)))
    rows = []
    while len(content) > most:
        blank, other = (max(content.rfind(mark, 0, most) for mark in marks) + 1 for marks in (" ", _BREAKS))
        cut = next((place for place in (blank, other) if place > most // 3), most)
        rows.append(content[:cut])
        content = content[cut:]
    return [*rows, content]


def code(x: float, y: float, content: str, room: float, classes: str = "k-copy") -> tuple[str, float]:
    """Draw a line of code in parts of `room` px; copied from the page it is one line again."""
    rows = code_lines(content, room)
    parts = "".join(f'<tspan x="{num(x)}" y="{num(y + 11 + i * CODE_PITCH)}">{t.escape(row)}</tspan>'
                    for i, row in enumerate(rows))
    return f'<text xml:space="preserve" class="{classes}">{parts}</text>', CODE_PITCH * len(rows)


def number(x: float, y: float, value: int, family: str, *, hollow: bool = False) -> str:
    """Draw a number in a disc of 16 px, its middle at (x, y); hollow for what does not count."""
    edge = "soft" if family == "none" else family
    ground = rect(x - 8, y - 8, 16, 16, f"k-also k-l-{edge}" if hollow else f"k-s-{family}", 8)
    ink = f"k-t-{family}" if hollow and family not in ("none", "ink") else "" if hollow else " k-on"
    return ground + word(x, y + 3.4, f"k-letters {ink}".strip(), str(value))


def letter(x: float, y: float, sign: str, family: str, *, strong: bool = False) -> str:
    """Draw the letter of a plugin in its ground of 17 px, the upper left corner at (x, y)."""
    ground = rect(x, y, 17, 17, f"k-{'s' if strong else 'p'}-{family}", 3)
    return ground + word(x + 8.5, y + 12, f"k-letters {'k-on' if strong else f'k-t-{family}'}", sign)
