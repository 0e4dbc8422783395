"""A node selector on every node: a line an expression, a column a node, with the value that the node's label has.

A Yes is pale green, a No has no ground; what several lines amount to is strong, and the last line decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import ROW, num, path, picture, rule, word

MOST_WIDE, LEAST_WIDE = 150.0, 64.0
"""Width of a node's column, px."""


@frozen
class TermRow:
    """A line: its words, for each node its value and whether it holds, and whether it sums up others."""

    words: str
    values: tuple[str, ...]
    matches: tuple[bool, ...]
    decides: bool


def draw(nodes: Sequence[str], rows: Sequence[TermRow], notes: Sequence[str], width: int,
         selection: str = "") -> str:
    """Draw the lines, and below them the notes; columns of nodes for which there is no room are left out."""
    named = max((t.width(row.words, 12, bold=row.decides) for row in rows), default=0.0) + 14
    left = min(max(named, 90.0), max(0.5 * width, width - 3 * MOST_WIDE))
    fitting = min(len(nodes), max(1, int((width - left) / LEAST_WIDE)))
    wide = min(MOST_WIDE, (width - left) / max(fitting, 1))
    parts, y = [], 0.0
    if rows:
        parts += [word(left + wide * n + 6, 14, "k-n", t.middle(name, wide - 8, 12, bold=True))
                  for n, name in enumerate(nodes[:fitting])]  # fmt: skip
        y = 20.0
    for row in rows:
        if row.decides:
            parts.append(rule(0, y - 1, left + wide * fitting))
        classes = "k-n" if row.decides else "k-m"
        parts.append(word(2, y + 18, classes, t.middle(row.words, left - 8, 12, bold=row.decides)))
        for n, (value, matches) in enumerate(zip(row.values[:fitting], row.matches[:fitting], strict=True)):
            parts.append(_cell(left + wide * n, y, wide - 2, value, row.decides, matches))
        y += ROW
    y += 8
    if fitting < len(nodes):
        notes = [f"{len(nodes) - fitting} nodes more", *notes]
    for number, note in enumerate(notes):
        for line in t.wrap(note, width - 4, 12, 3):
            y += 18
            parts.append(word(2, y - 4, "k-q" if number else "k-n", t.end(line, width - 4, 12, bold=not number)))
    return picture(width, y + 4, "".join(parts), notes[0] if notes else "", "img")


def _cell(x: float, y: float, wide: float, value: str, decides: bool, matches: bool) -> str:  # noqa: FBT001
    ink = ""
    ground = ""
    if matches:
        strong = "k-s-ok" if decides else "k-p-ok"
        ink = " k-on" if decides else " k-t-ok"
        ground = path(f"M{num(x)} {num(y)}h{num(wide)}v25h-{num(wide)}z", strong)
    glyph = word(x + 13, y + 17, f"k-g{ink}", "✓" if matches else "·")
    return ground + glyph + word(x + 25, y + 17, f"k-m{ink}", t.end(value, wide - 30, 12))
