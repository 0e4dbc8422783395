"""The story of one object: every change of it in order, before and after side by side."""

from __future__ import annotations

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import nothing, pick, picture, rect, rule, word
from kvolsched.views.drawing.text import columns
from kvolsched.views.pictures.log import field_words

NO_STORY = "Nothing is known of this object."
NOT_SELECTED = "Select an object to read its story."
_SIGNS = {"+": "+", "~": "~", "-": "−"}
_INKS = {"+": "k-t-ok", "~": "k-t-accent", "-": "k-t-storage"}


def draw(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw the story of an object: step, actor, verb, what changed, before → after; the present step is marked."""
    ref, rows, now = frame.story.ref, frame.story.rows, frame.head.step
    if not ref:
        return f'<p class="k-empty">{NOT_SELECTED}</p>'
    if not rows:
        return nothing(width, NO_STORY)
    actors = min(max(t.width(r.actor, 12) for r in rows) + 16, 0.22 * width)
    named = [field_words(row.field) for row in rows]
    fields = min(max(t.width(field, 12) for field in named) + 16, 0.34 * width)
    step, actor = 6.0, 76.0
    sign = actor + actors
    field = sign + 18
    values = field + fields
    title = word(2, 16, "k-cap k-b", t.end(f"Story of {ref}", width - 4, 13, bold=True))
    heads = (("step", step), ("by", actor), ("what", field), ("before → after", values))
    parts = [title, *(word(x, 40, "k-q", content) for content, x in heads)]
    y = 48.0
    for i, row in enumerate(rows):
        pair = _words if row.field.startswith("event ") else _pair  # an event was not something else before
        body, high = pair(row.old, row.new, values, y, width - values - 6)
        seconds = t.end(f"{row.time:g} s", 44, 10)
        cells = [
            rule(0, y, width), rect(0, y + 1, 3, high - 1, "k-s-accent") if row.step == now else "",
            word(step, y + 17, "k-m k-b", str(row.step)), word(step + 28, y + 17, "k-w", seconds),
            word(actor, y + 17, "k-m", t.end(row.actor, actors - 10, 12)),
            word(sign, y + 17, f"k-n {_INKS[row.op]}", _SIGNS[row.op]),
            word(field, y + 17, "k-m", t.middle(named[i], fields - 10, 12)), body,
        ]  # fmt: skip
        label = f"step {row.step}, {row.actor}: {row.field}" + (f", {values_of(row)}" if values_of(row) else "")
        parts.append(pick("".join(cells), f"step/{row.step}", f"story-{i}", label, role="row"))
        y += high
    return picture(width, y + 4, "".join(parts), f"story of {ref}, {len(rows)} changes", "grid")


def reading(frame: f.Frame) -> str:
    """Return the story of an object as lines."""
    ref, rows = frame.story.ref, frame.story.rows
    if not rows:
        return f"story of {ref}: {NO_STORY}"
    table = [["step", "time", "by", "", "what", "before → after"]]
    table += [[str(r.step), f"{r.time:g} s", r.actor, _SIGNS[r.op], r.field, values_of(r)] for r in rows]
    return f"story of {ref}\n" + columns(table)


def values_of(row: f.ObjectStoryRow) -> str:
    """Return before → after, or the words of an event; empty for an object that was created or deleted."""
    if row.field.startswith("event "):
        return row.new
    return f"{row.old or 'none'} → {row.new or 'none'}" if row.old or row.new else ""


def _words(_old: str, new: str, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw what an event says."""
    lines = t.wrap(new, room, 12, 3) or ("",)
    return "".join(word(x, y + 17 + 16 * i, "k-m", line) for i, line in enumerate(lines)), 10 + 16 * len(lines)


def _pair(old: str, new: str, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw before → after, in one line where it fits, else under each other."""
    if not old and not new:
        return "", 26
    before, after = old or "none", new or "none"
    wide = t.width(before, 12)
    kind = "k-m k-old" if old not in ("", "none") else "k-m k-soft"
    if wide + 24 + t.width(after, 12, bold=True) <= room:
        content = word(x, y + 17, kind, before) + word(x + wide + 5, y + 17, "k-m", "→")
        return content + word(x + wide + 22, y + 17, "k-n", after), 26
    first = t.wrap(before, room, 12, 2)
    parts = [word(x, y + 17 + 16 * i, kind, line) for i, line in enumerate(first)]
    base = y + 17 + 16 * len(first)
    parts.append(word(x, base, "k-m", "→"))
    second = t.wrap(after, room - 18, 12, 3, bold=True)
    parts += [word(x + 18, base + 16 * i, "k-n", line) for i, line in enumerate(second)]
    return "".join(parts), 10 + 16 * (len(first) + len(second))
