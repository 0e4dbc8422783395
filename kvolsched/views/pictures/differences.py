"""What differs between two runs side by side: a row a field, both values, and who wrote it; causes first."""

from __future__ import annotations

from kvolsched.api.words import counted
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import paragraph
from kvolsched.views.drawing.svg import pick, picture, rect, rule, word
from kvolsched.views.pictures.log import field_words
from kvolsched.views.turn_rows import DifferenceRow, Differences

MOST = 14
"""Rows drawn; of more the last line counts the rest."""
NONE = "–"
LONGEST = 60  # characters of a value in a reading
_ROW = 22.0


def draw(found: Differences, width: int, selection: str = "") -> str:
    """Draw the table of differences under a sentence."""
    head = sentence(found)
    parts = [word(30 if found.rows else 10, 20, "k-cap k-b", t.end(head, width - 40, 13, bold=True))]
    if not found.rows:
        return picture(width, 32, "".join(parts), head, "img")
    parts.append(badge(12, 15))
    because, down = paragraph(30, 24, found.because, width - 40, "k-m", 12, lines=6) if found.because else ("", 0.0)
    parts.append(because)
    shown = found.rows[:MOST]
    at = _columns(shown, found, width)
    heads = ("object", "field", *found.names, "who wrote it")
    parts += [word(x, 44 + down, "k-q", t.end(name, room - 10, 11)) for name, (x, room) in zip(heads, at, strict=True)]
    y = 50.0 + down
    for number, row in enumerate(shown):
        parts.append(_row(row, number, at, y, width, on=row.ref == selection))
        y += _ROW
    if len(found.rows) > MOST:
        rest = len(found.rows) - MOST
        parts.append(word(30, y + 16, "k-q", f"… {counted(rest, 'more field')} differ{'s' * (rest == 1)}"))
        y += _ROW
    return picture(width, y + 6, "".join(parts), head, "grid")


def reading(found: Differences) -> str:
    """Return the differences as lines, in the order of their causes."""
    table = []
    for row in found.rows:
        both = zip(found.names, (row.left, row.right), strict=True)
        values = (f"{name} {_short(value) or NONE}" for name, value in both)
        table.append([f"≠ {row.ref}", row.field, *values, writer(row)])
    because = [found.because] if found.because and found.rows else []
    return "\n".join([sentence(found), *because, *([t.columns(table)] if table else [])])


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else value[: LONGEST - 1].rstrip() + "…"


def sentence(found: Differences) -> str:
    """Return how much differs, and until when both were alike."""
    left, right = found.steps
    now = f"step {left}" if left == right else f"steps {left} and {right}"
    if not found.rows:
        return f"Alike at {now}."
    count = len(found.rows)
    words = "difference" if count == 1 else "differences"
    cause = "" if found.because else " The first cause is the first row."
    return f"{count} {words} at {now}; alike until step {found.alike}.{cause}"


def writer(row: DifferenceRow) -> str:
    """Return who wrote a field, and in which step."""
    return f"{row.writer}, step {row.step}" if row.writer else ""


def badge(x: float, y: float) -> str:
    """Draw the sign of what differs around (x, y)."""
    pill = rect(x - 9, y - 7, 18, 14, "k-s-resources", 7)
    return f'<g class="k-differs">{pill}{word(x, y + 4.5, "k-b k-on k-mid", "≠")}</g>'


def small_badge(x: float, y: float) -> str:
    """Draw that sign as small as the corner of a card leaves room for, around (x, y)."""
    dot = rect(x - 5.5, y - 5.5, 11, 11, "k-s-resources", 5.5)
    return f'<g class="k-differs">{dot}{word(x, y + 3.6, "k-b k-on k-mid", "≠", "font-size:10px")}</g>'


def _columns(rows: tuple[DifferenceRow, ...], found: Differences, width: int) -> list[tuple[float, float]]:
    """Return the start and the room of each column: names as wide as they need, both values share the rest."""
    names = [max(t.width(row.ref, 12, bold=True) for row in rows)]
    names.append(max(t.width(field_words(row.field), 12) for row in rows))
    names.append(max(t.width(writer(row), 12) for row in rows))
    about, field, who = (min(need + 16, width * most) for need, most in zip(names, (0.24, 0.22, 0.25), strict=True))
    left = max(t.width(found.names[0], 11), *(t.width(row.left or NONE, 12) for row in rows)) + 16
    right = max(t.width(found.names[1], 11), *(t.width(row.right or NONE, 12) for row in rows)) + 16
    rest = width - 36 - about - field - who
    if left + right > rest:
        left = max(min(left, rest / 2), rest - right)
        right = rest - left
    found_at, x = [], 30.0
    for room in (about, field, left, right, who):
        found_at.append((x, room))
        x += room
    return found_at


def _row(row: DifferenceRow, number: int, at: list[tuple[float, float]], y: float, width: int, *, on: bool) -> str:
    rooms = at[2][1] - 8, at[3][1] - 8
    left, right = t.where_they_differ(row.left, row.right, lambda *both: [
        t.end(value, room, 12) for value, room in zip(both, rooms, strict=True)], (12, 4, 0))  # fmt: skip
    cells = (row.ref, field_words(row.field), left or NONE, right or NONE, writer(row))
    kinds = ("k-n", "k-m k-soft", "k-m", "k-m", "k-m k-soft")
    parts = [rule(0, y, width), rect(0, y + 1, 3, _ROW - 1, "k-s-accent") if on else "", badge(12, y + 11)]
    for cell, kind, (x, room) in zip(cells, kinds, at, strict=True):
        cut = t.middle if kind == "k-n" else t.end
        parts.append(word(x, y + 15, kind, cut(cell, room - 8, 12, bold=kind == "k-n")))
    label = f"{row.ref} {row.field}: {row.left or 'none'}, there {row.right or 'none'}"
    label += f", written by {writer(row)}" if row.writer else ""
    return pick("".join(parts), row.ref, f"differs-{number}", label, role="row", pressed=on)
