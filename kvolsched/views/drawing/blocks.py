"""What pictures with words share: words broken to their room, numbers and letters in their grounds."""

import re

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import rect, word

_PARTS = re.compile(r"[^,.:;=/\[\]{}_-]*[,.:;=/\[\]{}_-]+|[^,.:;=/\[\]{}_-]+")


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
