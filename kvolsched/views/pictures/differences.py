"""What differs between two runs side by side: a row a field, both values, and who wrote it; causes first."""

from kvolsched.api.words import counted
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, page, row, table, tag, words
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.pictures.log import field_words
from kvolsched.views.turn_rows import DifferenceRow, Differences

MOST = 14
"""Rows drawn; of more the last line counts the rest."""
NONE = "–"
LONGEST = 60  # characters of a value in a reading


def draw(found: Differences, width: int, selection: str = "") -> str:
    """Return the table of differences under a sentence."""
    head = tag("h3", "", words("≠ ", "k-t-resources") if found.rows else "", sentence(found))
    if not found.rows:
        return page(head)
    lines = [_row(each, number, on=each.ref == selection) for number, each in enumerate(found.rows[:MOST])]
    rest = len(found.rows) - MOST
    more = words(f"… {counted(rest, 'more field')} differ{'s' * (rest == 1)}", "k-q") if rest > 0 else ""
    return page(head, block("", found.because),
                table(lines, ("object", "field", *found.names, "who wrote it")), more)


def reading(found: Differences) -> str:
    """Return the differences as lines, in the order of their causes."""
    lines = []
    for each in found.rows:
        both = zip(found.names, (each.left, each.right), strict=True)
        values = (f"{name} {_short(value) or NONE}" for name, value in both)
        lines.append([f"≠ {each.ref}", each.field, *values, writer(each)])
    because = [found.because] if found.because and found.rows else []
    return "\n".join([sentence(found), *because, *([t.columns(lines)] if lines else [])])


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


def _row(found: DifferenceRow, number: int, *, on: bool) -> Html:
    label = f"{found.ref} {found.field}: {found.left or 'none'}, there {found.right or 'none'}"
    label += f", written by {writer(found)}" if found.writer else ""
    cells = (tag("b", "", found.ref), field_words(found.field), found.left or NONE, found.right or NONE, writer(found))
    return row(cells, ("k-name", "k-name k-soft", "k-wide", "k-wide", "k-soft"), ref=found.ref,
               key=f"differs-{number}", label=label, pressed=on)
