"""The changes of this step, and the events, newest first.

Writes to the API and notes of components never share a group; a refused write stands first, in a box; a message is
broken into lines rather than cut where there is room.
"""

from __future__ import annotations

from itertools import groupby

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import nothing, path, pick, picture, rect, rule, word
from kvolsched.views.drawing.text import columns

ONLY_NOTES = "Nothing: this step only changed notes."
ONLY_EVENTS = "Nothing but an event."
NOTHING_YET = "Nothing yet. Press Step."
NO_CHANGE = "Nothing: this step changed nothing."
NO_EVENT = "No event has been written yet."
MOST_EVENTS = 60
"""Of more events, the last line counts the rest."""

_OPS = {"+": "k-t-ok", "~": "k-t-accent", "-": "k-t-storage"}
_SIGNS = {"-": "−"}


def draw_changes(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw what this step wrote to the API, then the notes of each component."""
    api = [c for c in frame.changes if c.kind == "api"]
    api.sort(key=lambda c: c.outcome == "done")
    parts, y = [_title("Written to the API", 0, width)], 30.0
    if not api:
        parts.append(word(0, y + 15, "k-m k-soft", _empty(frame)))
        y += 26
    body, y = _changes(api, y, width, selection)
    parts.append(body)
    notes = sorted((c for c in frame.changes if c.kind == "note"), key=lambda c: c.component)
    for component, rows in groupby(notes, key=lambda c: c.component):
        parts.append(_title(f"Notes of {component}", y + 4, width))
        body, y = _changes(list(rows), y + 34, width, selection)
        parts.append(body)
    return picture(width, y, "".join(parts), "what changed in this step")


def changes_reading(frame: f.Frame) -> str:
    """Return the changes as lines: op, api or the component of the note, ref, field: old → new."""
    lines = []
    for row in sorted(frame.changes, key=lambda c: (c.kind, c.outcome == "done")):
        whose = "api" if row.kind == "api" else f"note {row.component}"
        sign = _SIGNS.get(row.op, row.op) if row.outcome == "done" else "✕"
        refusal = f"  {row.outcome}: {row.message}; nothing was written" if row.outcome != "done" else ""
        field = f" {row.field}" if row.field else ""
        lines.append(f"{sign} {whose} {row.ref}{field}: {_from_to(row)}{refusal}")
    if not any(c.kind == "api" for c in frame.changes):
        lines.insert(0, _empty(frame))
    return "\n".join(lines)


def _empty(frame: f.Frame) -> str:
    if frame.head.step and any(event.step == frame.head.step for event in frame.events):
        return ONLY_EVENTS
    if frame.changes:
        return ONLY_NOTES
    return NO_CHANGE if frame.head.step else NOTHING_YET


def _from_to(row: f.ChangeRow | f.ObjectStoryRow) -> str:
    if row.op == "+" and not row.old:
        return f"none → {row.new}" if row.new else "created"
    if row.op == "-" and not row.new:
        return f"{row.old} → none" if row.old else "deleted"
    return f"{row.old or 'none'} → {row.new or 'none'}"


def _title(content: str, y: float, width: int) -> str:
    return word(0, y + 14, "k-b k-quiet", t.end(content, width, 11, bold=True)) + rule(0, y + 22, width)


def _changes(rows: list[f.ChangeRow], y: float, width: int, selection: str) -> tuple[str, float]:
    """Draw entries in a column; those of one object stand under its name."""
    parts, before = [], ""
    for i, row in enumerate(rows):
        body, y = _change(row, i, y, width, selection, named=row.ref != before)
        parts.append(body)
        before = row.ref if row.outcome == "done" else ""
    return "".join(parts), y


def _change(row: f.ChangeRow, i: int, y: float, width: int, selection: str, *, named: bool) -> tuple[str, float]:
    """Draw one entry: sign, ref, field, old → new; a refused one in a box with its words."""
    start, room = 22.0, width - 26
    done = row.outcome == "done"
    if not named:
        y -= 6  # closer to what it belongs to
    at = y + 14 if named else y - 2
    lines = [word(start, at, "k-n", t.middle(row.ref, room, 12, bold=True))] if named else []
    field = field_words(row.field)
    if done:
        value, at = _field_and_values(row, field, start, at, room)
        lines.append(value)
    else:
        wanted = f"{field}, wanted: {row.new}" if row.new else field
        at += 16
        lines.append(word(start, at, "k-m", t.end(wanted, room, 12)))
        content = f"{row.message}; nothing was written" if row.message else "nothing was written"
        for j, line in enumerate((row.outcome, *t.wrap(content, room, 12, 4))):
            at += 16
            lines.append(word(start, at, "k-m" if j else "k-n", line))
    high = at - y + 8
    if done:
        back = rule(0, y - 1, width) if i and named else ""
        back += rect(0, y + 2, 3, high - 4, "k-s-accent") if row.ref == selection else ""
        sign = word(10, y + 14.5, f"k-sign {_OPS[row.op]}", _SIGNS.get(row.op, row.op))
    else:
        back = rect(0.5, y + 0.5, width - 1, high, "k-refused", 5)
        sign = path(f"M7 {y + 6:g}l7 7m0 -7l-7 7", "k-cross")
    label = f"{row.ref} {row.field}: {_from_to(row)}" + ("" if done else f", refused: {row.outcome}")
    key, body = f"{row.kind}-{row.component}-{i}", back + sign + "".join(lines)
    return pick(body, row.ref, key, label, pressed=row.ref == selection), y + high + (0 if done else 6)


def field_words(path: str) -> str:
    """Return a field in short: an annotation by its key, a node affinity without the path into its terms."""
    for long, short in (("metadata.annotations[", "annotation "), ("metadata.labels[", "label "),
                        ("status.conditions[", "condition "), ("metadata.ownerReferences[", "owner ")):  # fmt: skip
        if path.startswith(long):
            return short + path[len(long) :].replace("]", "", 1)
    return "spec.nodeAffinity" if path.startswith("spec.nodeAffinity.") else path


def _field_and_values(row: f.ChangeRow, field: str, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw a field and its old → new in one line where they fit, else the value below the field."""
    if not field:
        return _values(row, x, y, room)
    wide = t.width(field, 12) + 8
    value = t.width(row.old, 12) + 26 if row.old else 0.0
    value += t.width(row.new or ("none" if row.old else "created"), 12, bold=True)
    if wide + value <= room:
        drawn, at = _values(row, x + wide, y, room - wide)
        return word(x, y + 16, "k-m k-soft", field) + drawn, at
    drawn, at = _values(row, x, y + 16, room)
    return word(x, y + 16, "k-m k-soft", t.middle(field, room, 12)) + drawn, at


def _values(row: f.ChangeRow, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw old → new in one line where it fits, else the new value on further lines."""
    old, new = row.old, row.new
    if not old and not new:
        content = "created" if row.op == "+" else "deleted"
        return word(x, y + 16, "k-m k-soft", content), y + 16
    if not old:
        return _wrapped(x, y, new, room, "k-n")
    target = new or "none"
    wide = t.width(old, 12)
    if wide + 26 + t.width(target, 12, bold=True) <= room:
        struck = word(x, y + 16, "k-m k-old", old) + word(x + wide + 5, y + 16, "k-m", "→")
        return struck + word(x + wide + 22, y + 16, "k-n", target), y + 16
    first = word(x, y + 16, "k-m k-old", t.end(old, room, 12)) + word(x, y + 32, "k-m", "→")
    rest, at = _wrapped(x + 17, y + 16, target, room - 17, "k-n")
    return first + rest, at


def _wrapped(x: float, y: float, content: str, room: float, kind: str) -> tuple[str, float]:
    parts = []
    for line in t.wrap(content, room, 12, 3, bold=True) or ("",):
        y += 16
        parts.append(word(x, y, kind, line))
    return "".join(parts), y


def draw_latest(frame: f.Frame, width: int, selection: str = "", count: int = 3) -> str:
    """Draw the latest events for the side column: step, reason, object, message."""
    parts, y = [_title("Latest events", 0, width)], 30.0
    latest = _newest(frame)[:count]
    if not latest:
        parts.append(word(0, y + 15, "k-m k-soft", NO_EVENT))
        y += 26
    for i, row in enumerate(latest):
        on = row.ref == selection
        lines = [rule(0, y - 1, width) if i else "", rect(0, y + 2, 3, 16, "k-s-accent") if on else ""]
        lines.append(word(4, y + 15, "k-m k-soft", str(row.step)))
        x, room = 28.0, width - 30
        reason = ("▲ " if row.type == "Warning" else "") + row.reason
        reason = t.end(reason, room * 0.7, 12, bold=True)
        lines.append(word(x, y + 15, "k-n", reason))
        at = x + t.width(reason, 12, bold=True) + 5
        lines.append(word(at, y + 15, "k-m k-soft", t.middle(row.ref, width - at - 2, 12)))
        at = y + 15
        message = row.message + (f" ×{row.count}" if row.count > 1 else "")
        for line in t.wrap(message, room, 12, 3):
            at += 17
            lines.append(word(x, at, "k-m", line))
        label = f"step {row.step}, {row.type} {row.reason} on {row.ref}: {row.message}"
        parts.append(pick("".join(lines), row.ref, f"event-{i}", label, pressed=on))
        y = at + 9
    return picture(width, y, "".join(parts), "latest events")


def draw_events(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw all events, newest first; those of this step are tinted and marked."""
    rows = _newest(frame)
    if not rows:
        return nothing(width, NO_EVENT)
    shown = rows[:MOST_EVENTS]
    reasons = min(max(t.width(r.reason, 12) for r in shown) + 18, 190)
    refs = min(max(t.width(r.ref, 12) for r in shown) + 18, 0.26 * width)
    at = {"step": 6.0, "type": 44.0}
    at["reason"] = 116.0
    at["object"] = at["reason"] + reasons
    at["message"] = at["object"] + refs
    parts = ['<g role="row">' + "".join(
        f'<text x="{x:g}" y="16" class="k-q" role="columnheader">{name}</text>' for name, x in at.items()
    ) + "</g>"]  # fmt: skip
    y = 24.0
    for i, row in enumerate(shown):
        body, high = _event(row, at, y, width, now=row.step == frame.head.step, on=row.ref == selection)
        label = f"step {row.step}, {row.type} {row.reason} on {row.ref}: {row.message}"
        key = f"event-{len(rows) - i}"
        parts.append(pick(rule(0, y, width) + body, row.ref, key, label, role="row", pressed=row.ref == selection))
        y += high
    if len(rows) > MOST_EVENTS:
        parts.append(word(6, y + 18, "k-q", f"… {len(rows) - MOST_EVENTS} earlier events"))
        y += 26
    return picture(width, y + 4, "".join(parts), f"{len(rows)} events, newest first", "grid")


def events_reading(frame: f.Frame) -> str:
    """Return all events as lines: step, type, reason, object, message, ×count."""
    table = [["step", "type", "reason", "object", "message"]]
    for row in _newest(frame):
        times = f"  ×{row.count}" if row.count > 1 else ""
        message = " ".join(row.message.split())
        table.append([str(row.step), row.type, row.reason, row.ref, message + times])
    return columns(table) if frame.events else NO_EVENT


def _newest(frame: f.Frame) -> list[f.EventRow]:
    return sorted(frame.events, key=lambda e: (-e.step, -e.last, e.ref, e.reason, e.message))


def _event(row: f.EventRow, at: dict[str, float], y: float, width: int, *, now: bool, on: bool) -> tuple[str, float]:
    room = width - at["message"] - (44 if row.count > 1 else 6)
    lines = t.wrap(row.message, room, 12, 6) or ("",)
    high = 9 + 17 * len(lines)
    parts = [rect(0, y + 1, width, high - 1, "k-p-accent")] if now else []
    if now or on:
        parts.append(rect(0, y + 1, 3, high - 1, "k-s-accent"))
    warns = row.type == "Warning"
    base = y + 17
    parts.append(word(at["step"], base, "k-m k-b" if now else "k-m", str(row.step)))
    if warns:
        parts.append(word(at["type"], base, "k-c k-warn", "▲"))
    parts.append(word(at["type"] + 14 * warns, base, "k-n" if warns else "k-m", t.end(row.type, 58, 12)))
    parts.append(
        word(at["reason"], base, "k-n" if warns else "k-m",
             t.end(row.reason, at["object"] - at["reason"] - 8, 12, bold=warns))
    )
    parts.append(word(at["object"], base, "k-m", t.middle(row.ref, at["message"] - at["object"] - 8, 12)))
    parts.extend(word(at["message"], base + 17 * i, "k-m", line) for i, line in enumerate(lines))
    if row.count > 1:
        parts.append(word(width - 6, base, "k-m k-b k-end", f"×{row.count}"))
    return f'<g role="presentation">{"".join(parts)}</g>', high
