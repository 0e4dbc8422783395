"""What tables drawn as SVG have in common, beside the marks of `marks.py`.

What can be selected carries its ref, its key among its siblings, its role and its name in
one place; a picture has a size and a name; a table without a row is a sentence. No colour
stands here: a class of the style sheet gives it.
"""

from __future__ import annotations

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import num
from kvolsched.views.drawing.svg import word

ROW = 27.0
"""Pitch of a table's rows, px."""


def path(commands: str, classes: str) -> str:
    """Draw a path."""
    return f'<path d="{commands}" class="{classes}"/>'


def rule(x: float, y: float, wide: float, classes: str = "k-l-none") -> str:
    """Draw a horizontal line."""
    return path(f"M{num(x)} {num(int(y) + 0.5)}h{num(wide)}", classes)


def pick(
    content: str,
    ref: str,
    key: str,
    label: str,
    *,
    role: str = "button",
    pressed: bool = False,
    more: str = "",
) -> str:
    """Make marks selectable: `ref` is what a click selects, `label` what is said; without key the ref is it."""
    state = ' aria-pressed="true"' if pressed and role == "button" else ' aria-selected="true"' if pressed else ""
    known = f' data-key="{t.escape(key)}"' if key else ""
    name = f'role="{role}" aria-label="{t.escape(label)}"'
    return f'<g data-ref="{t.escape(ref)}"{known} {name}{state}{more}>{content}</g>'


def picture(wide: float, high: float, body: str, label: str, role: str = "group") -> str:
    """Close marks into one SVG of `wide` × `high` px, named `label`."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{num(wide)}" height="{num(high)}"'
        f' viewBox="0 0 {num(wide)} {num(high)}" role="{role}" aria-label="{t.escape(label)}">{body}</svg>'
    )


def nothing(wide: float, sentence: str) -> str:
    """Draw the sentence that stands where a table has no row."""
    return picture(wide, 34, word(2, 22, "k-q", sentence), sentence, "img")


def columns(rows: list[list[str]], gap: int = 2) -> str:
    """Write rows as text whose columns stand under each other; the last is never padded."""
    if not rows:
        return ""
    count = max(len(row) for row in rows)
    wide = [max((len(row[i]) for row in rows if i < len(row) - 1), default=0) for i in range(count)]
    lines = ["".join(cell.ljust(wide[i] + gap) for i, cell in enumerate(row[:-1])) + row[-1] for row in rows]
    return "\n".join(line.rstrip() for line in lines)
