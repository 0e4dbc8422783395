"""The changes of this step, the events, newest first, and the story of one object, in order.

Writes to the API and notes of components never share a group; a refused write stands first, in a box; a message is
broken into lines rather than cut where there is room.
"""

from __future__ import annotations

from itertools import groupby

from kvolsched.api.words import from_to
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import before_after
from kvolsched.views.drawing.svg import nothing, path, pick, picture, rect, rule, word

ONLY_NOTES = "Nothing: this step only changed notes."
ONLY_EVENTS = "Nothing but an event."
NOTHING_YET = "Nothing yet. Press Step."
NO_CHANGE = "Nothing: this step changed nothing."
NO_EVENT = "No event has been written yet."
NO_STORY = "Nothing is known of this object."
NOT_SELECTED = "Select an object to read its story."
WRITTEN = "fold/written"
"""Ref of what opens all changes of a step."""
MOST_EVENTS = 60
"""Of more events, the last line counts the rest."""

_OPS = {"+": "k-t-ok", "~": "k-t-accent", "-": "k-t-storage"}
_SIGNS = {"+": "+", "~": "~", "-": "−"}


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


def draw_written(frame: f.Frame, width: int, selection: str = "", *, open_: bool = False) -> str:
    """Draw what this step wrote and noted as one line, with how much more there is; a click on that opens all."""
    label = "Written"
    x, y = 8 + t.width("May act next", 12) + 10, 15.0  # under the chips
    parts = [word(8, y, "k-m k-soft", label)]
    api = sorted((c for c in frame.changes if c.kind == "api"), key=lambda c: c.outcome == "done")
    notes = sorted((c for c in frame.changes if c.kind == "note"), key=lambda c: c.component)
    most, before, group = width - 56, "", ""
    shown = 0
    if not api:
        words = t.end(_empty(frame), most - x, 11.5)
        parts.append(word(x, y, "k-v k-soft", words))
        x += t.width(words, 11.5) + 18
    for i, row in enumerate((*api, *notes)):
        head = f"Notes of {row.component}" if row.kind == "note" and row.component != group else ""
        start = x + (t.width(head, 11.5) + 14 if head else 0)
        if not shown and most - start < 160:  # one change has room at any width
            head, start = "", x
        room = most - start if not shown else width  # only the first is cut to fit
        drawn, end = _entry(row, i, start, y, room, named=row.ref != before or bool(head), selection=selection)
        if shown and (end > most or most - start < 40):
            break
        if head:
            parts.append(word(x, y, "k-v k-soft", head))
        parts.append(drawn)
        x, before, group, shown = end + 18, row.ref if row.outcome == "done" else "", row.component, shown + 1
    rest = len(frame.changes) - shown
    if frame.changes:
        said = "less ▴" if open_ else f"+{rest} ▾" if rest else "all ▾"
        label = "close what this step changed" if open_ else f"{rest} more changes: show all"
        button = rect(width - 46, 1, 46, 20, "k-hit", 4) + word(width - 8, y, "k-v k-end k-t-accent", said)
        more = f' class="k-live" aria-expanded="{"true" if open_ else "false"}"'
        parts.append(pick(button, WRITTEN, "more", label, more=more))
    return picture(width, 22, "".join(parts), "what this step wrote")


def _entry(row: f.ChangeRow, i: int, x: float, y: float, room: float, *, named: bool,
           selection: str) -> tuple[str, float]:
    """Draw one change on the line: sign, ref where it is another one, field, and the value."""
    done, start = row.outcome == "done", x
    sign = _SIGNS[row.op] if done else "✕"
    parts = [word(x + 4, y, f"k-v k-b k-mid {_OPS[row.op] if done else ''}".rstrip(), sign)]
    x += 13
    field = field_words(row.field)
    value = f"{row.outcome}: nothing was written" if not done else row.new or ("none" if row.old else "")
    old = f"{row.old} → " if done and row.old and len(row.old) < 24 and room > 260 else ""
    count = sum(map(bool, (named, field, old, value)))
    part = max(16.0, min(160.0, (room - 14) / count - 5))
    texts = [(t.middle(row.ref, part, 11.5, bold=True), "k-v k-b")] if named else []
    texts += [(t.middle(field, part, 11.5), "k-v k-soft"), (t.end(old, part, 11.5), "k-v k-soft")]
    texts.append((t.end(value, part, 11.5, bold=True), "k-v k-b"))
    for content, kind in texts:
        if content:
            parts.append(word(x, y, kind, content))
            x += t.width(content, 11.5, bold="k-b" in kind) + 5
    if row.ref == selection:
        parts.append(rect(start, 19, x - start - 5, 2, "k-s-accent"))
    label = f"{row.ref} {row.field}: {_from_to(row)}" + ("" if done else f", refused: {row.outcome}")
    return pick("".join(parts), row.ref, f"{row.kind}-{i}", label, pressed=row.ref == selection), x - 5


def changes_reading(frame: f.Frame) -> str:
    """Return the changes as lines: op, api or the component of the note, ref, field: old → new."""
    lines = []
    for row in sorted(frame.changes, key=lambda c: (c.kind, c.outcome == "done")):
        whose = "api" if row.kind == "api" else f"note {row.component}"
        sign = _SIGNS[row.op] if row.outcome == "done" else "✕"
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
    if not row.old and not row.new and row.op in "+-":
        return "created" if row.op == "+" else "deleted"
    return from_to(row.old, row.new)


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
        sign = word(10, y + 14.5, f"k-sign {_OPS[row.op]}", _SIGNS[row.op])
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
    return before_after(x, y + 16, old, new, room, lines=1)


def _wrapped(x: float, y: float, content: str, room: float, kind: str) -> tuple[str, float]:
    parts = []
    for line in t.wrap(content, room, 12, 3, bold=True) or ("",):
        y += 16
        parts.append(word(x, y, kind, line))
    return "".join(parts), y


def draw_recent(frame: f.Frame, width: int, selection: str = "", count: int = 3) -> str:
    """Draw the latest events, a line each: step, reason, object, message."""
    parts, latest = [word(8, 14, "k-b k-quiet", "Events, newest first")], _newest(frame)[:count]
    if not latest:
        parts.append(word(8, 31, "k-v k-soft", NO_EVENT))
    reasons = min(max((t.width(_reason(r), 11.5, bold=True) for r in latest), default=0) + 12, 0.34 * width)
    refs = min(max((t.width(r.ref, 11.5) for r in latest), default=0) + 12, 0.24 * width)
    y = 31.0
    for i, row in enumerate(latest):
        on, now = row.ref == selection, row.step == frame.head.step
        x = 36.0
        body = rect(2, y - 12, width - 4, 17, "k-p-accent" if now else "k-hit", 3)
        body += rect(2, y - 12, 3, 17, "k-s-accent") if on else ""
        body += word(8, y, "k-v k-b" if now else "k-v k-soft", str(row.step))
        body += word(x, y, "k-v k-b", t.end(_reason(row), reasons - 8, 11.5, bold=True))
        body += word(x + reasons, y, "k-v k-soft", t.middle(row.ref, refs - 8, 11.5))
        message = row.message + (f" ×{row.count}" if row.count > 1 else "")
        start = x + reasons + refs
        body += word(start, y, "k-v", t.end(message, width - start - 6, 11.5))
        label = f"step {row.step}, {row.type} {row.reason} on {row.ref}: {row.message}"
        parts.append(pick(body, row.ref, f"event-{i}", label, pressed=on))
        y += 17
    return picture(width, max(y - 8, 38), "".join(parts), "latest events")


def _reason(row: f.EventRow) -> str:
    return ("▲ " if row.type == "Warning" else "") + row.reason


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
    return t.columns(table) if frame.events else NO_EVENT


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


# -- the story of one object ------------------------------------------------------------------------------------------


def draw_story(frame: f.Frame, width: int, selection: str = "") -> str:
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
            word(sign, y + 17, f"k-n {_OPS[row.op]}", _SIGNS[row.op]),
            word(field, y + 17, "k-m", t.middle(named[i], fields - 10, 12)), body,
        ]  # fmt: skip
        label = f"step {row.step}, {row.actor}: {row.field}" + (f", {values_of(row)}" if values_of(row) else "")
        parts.append(pick("".join(cells), f"step/{row.step}", f"story-{i}", label, role="row"))
        y += high
    return picture(width, y + 4, "".join(parts), f"story of {ref}, {len(rows)} changes", "grid")


def story_reading(frame: f.Frame) -> str:
    """Return the story of an object as lines."""
    ref, rows = frame.story.ref, frame.story.rows
    if not rows:
        return f"story of {ref}: {NO_STORY}"
    table = [["step", "time", "by", "", "what", "before → after"]]
    table += [[str(r.step), f"{r.time:g} s", r.actor, _SIGNS[r.op], r.field, values_of(r)] for r in rows]
    return f"story of {ref}\n" + t.columns(table)


def values_of(row: f.ObjectStoryRow) -> str:
    """Return before → after, or the words of an event; empty for an object that was created or deleted."""
    if row.field.startswith("event "):
        return row.new
    return from_to(row.old, row.new) if row.old or row.new else ""


def _words(_old: str, new: str, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw what an event says."""
    lines = t.wrap(new, room, 12, 3) or ("",)
    return "".join(word(x, y + 17 + 16 * i, "k-m", line) for i, line in enumerate(lines)), 10 + 16 * len(lines)


def _pair(old: str, new: str, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw before → after, in one line where it fits, else under each other."""
    if not old and not new:
        return "", 26
    marks, last = before_after(x, y + 17, old, new, room)
    return marks, last - y + 9
