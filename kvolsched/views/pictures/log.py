"""The changes of this step, the events, newest first, and the story of one object, in order.

Writes to the API and notes of components never share a group; a refused write stands first, in a box. All are tables
of words, which the page breaks into lines.
"""

from itertools import groupby

from kvolsched.api.words import from_to
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, before_after, block, joined, page, row, table, tag, words

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
    """Return what this step wrote to the API, then the notes of each component, as tables."""
    api, notes = _written_and_noted(frame)
    parts = [tag("h4", "", "Written to the API"), _changes(api, selection) if api else _quiet(_empty(frame))]
    for component, rows in groupby(notes, key=lambda c: c.component):
        parts += [tag("h4", "", f"Notes of {component}"), _changes(list(rows), selection)]
    return page(*parts)


def _written_and_noted(frame: f.Frame) -> tuple[list[f.ChangeRow], list[f.ChangeRow]]:
    """Return the writes, refused ones first, and the notes by component."""
    api = sorted((c for c in frame.changes if c.kind == "api"), key=lambda c: c.outcome == "done")
    return api, sorted((c for c in frame.changes if c.kind == "note"), key=lambda c: c.component)


def draw_written(frame: f.Frame, width: int, selection: str, *, open_: bool) -> str:
    """Return what this step wrote and noted as one line, as far as it has room; a click on its end opens all."""
    api, notes = _written_and_noted(frame)
    parts = [words("Written", "k-soft"), *([] if api else [words(_empty(frame), "k-soft")])]
    before = group = ""
    for i, each in enumerate((*api, *notes)):
        if each.kind == "note" and each.component != group:
            parts.append(words(f"Notes of {each.component}", "k-soft"))
            before, group = "", each.component
        cells = (_sign(each), tag("b", "", each.ref) if each.ref != before else "",
                 words(field_words(each.field), "k-soft"), _value(each))  # fmt: skip
        chosen = "k-chosen" if each.ref == selection else ""
        parts.append(tag("span", chosen, *(joined(cell, " ") for cell in cells if cell), role="button",
                         data_ref=each.ref, data_key=f"{each.kind}-{i}", aria_label=_label(each),
                         aria_pressed="true" if chosen else ""))
        before = each.ref if each.outcome == "done" else ""
    more = Html()
    if frame.changes:
        label = "close what this step changed" if open_ else f"show all {len(frame.changes)} changes"
        more = tag("span", "k-live k-t-accent", "less ▴" if open_ else f"all {len(frame.changes)} ▾", role="button",
                   data_ref=WRITTEN, data_key="more", aria_label=label, aria_expanded="true" if open_ else "false")
    return tag("div", "k-written", tag("div", "k-line", *(joined(part, "  ") for part in parts)), more)


def changes_reading(frame: f.Frame) -> str:
    """Return the changes as lines: op, api or the component of the note, ref, field: old → new."""
    lines = []
    for each in sorted(frame.changes, key=lambda c: (c.kind, c.outcome == "done")):
        whose = "api" if each.kind == "api" else f"note {each.component}"
        sign = _SIGNS[each.op] if each.outcome == "done" else "✕"
        refusal = f"  {each.outcome}: {each.message}; nothing was written" if each.outcome != "done" else ""
        field = f" {each.field}" if each.field else ""
        lines.append(f"{sign} {whose} {each.ref}{field}: {_from_to(each)}{refusal}")
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


def _quiet(sentence: str) -> Html:
    return tag("p", "k-soft", sentence)


def _label(change: f.ChangeRow) -> str:
    refusal = "" if change.outcome == "done" else f", refused: {change.outcome}"
    return f"{change.ref} {change.field}: {_from_to(change)}{refusal}"


def _sign(change: f.ChangeRow | f.ObjectStoryRow) -> Html:
    if isinstance(change, f.ChangeRow) and change.outcome != "done":
        return tag("b", "", "✕")
    return tag("b", _OPS[change.op], _SIGNS[change.op])


def _changes(changes: list[f.ChangeRow], selection: str) -> Html:
    """Return changes as lines of a table; the name of an object is said once."""
    lines, before = [], ""
    for i, each in enumerate(changes):
        done = each.outcome == "done"
        name = tag("b", "", each.ref) if each.ref != before else ""
        cells = (_sign(each), joined(block("", name), words(field_words(each.field), "k-soft")), _value(each))
        lines.append(row(cells, ("", "k-wide", "k-wide"), classes="" if done else "k-refused", ref=each.ref,
                         key=f"{each.kind}-{each.component}-{i}", label=_label(each), pressed=each.ref == selection))
        before = each.ref if done else ""
    return table(lines)


def _value(change: f.ChangeRow) -> Html:
    """Return old → new, or of a refused write what was wanted and why nothing was written."""
    if change.outcome != "done":
        said = f"{change.message}; nothing was written" if change.message else "nothing was written"
        return joined(f"wanted: {change.new}, " if change.new else "", tag("b", "", change.outcome), f" {said}")
    if not change.old and not change.new:
        return words("created" if change.op == "+" else "deleted", "k-soft")
    return before_after(change.old, change.new) if change.old else tag("b", "", change.new)


def field_words(path: str) -> str:
    """Return a field in short: an annotation by its key, a node affinity without the path into its terms."""
    for long, short in (("metadata.annotations[", "annotation "), ("metadata.labels[", "label "),
                        ("status.conditions[", "condition "), ("metadata.ownerReferences[", "owner ")):  # fmt: skip
        if path.startswith(long):
            return short + path[len(long) :].replace("]", "", 1)
    return "spec.nodeAffinity" if path.startswith("spec.nodeAffinity.") else path


def draw_recent(frame: f.Frame, width: int, selection: str) -> str:
    """Return the three latest events: step, reason, object, and up to three lines of the message."""
    latest = _newest(frame)[:3]
    told = table((_event(each, i, frame, selection, short=True) for i, each in enumerate(latest)), classes="k-tight")
    return page(tag("h4", "", "Events, newest first"), told if latest else _quiet(NO_EVENT))


def draw_events(frame: f.Frame, width: int, selection: str = "") -> str:
    """Return all events as a table, newest first; those of this step are tinted."""
    rows = _newest(frame)
    if not rows:
        return page(_quiet(NO_EVENT))
    lines = (_event(each, len(rows) - i, frame, selection) for i, each in enumerate(rows[:MOST_EVENTS]))
    rest = f"… {len(rows) - MOST_EVENTS} earlier events" if len(rows) > MOST_EVENTS else ""
    return page(table(lines, ("step", "type", "reason", "object", "message")), _quiet(rest) if rest else "")


def _event(event: f.EventRow, number: int, frame: f.Frame, selection: str, *, short: bool = False) -> Html:
    sign = words("▲ ", "k-t-resources") if event.type == "Warning" else ""
    strong = "b" if short or sign else "span"
    message = joined(event.message, tag("b", "", f" ×{event.count}") if event.count > 1 else "")
    cells = [str(event.step), joined(sign, tag("b" if sign else "span", "", event.type)),
             tag(strong, "", event.reason), event.ref, message]  # fmt: skip
    kinds = ["k-short", "k-short", "k-name", "k-name", "k-wide"]
    if short:
        cells = [cells[0], joined(sign, cells[2]), event.ref, tag("div", "k-clamp", message)]
        kinds = ["k-short", "", "k-soft"]
    return row(cells, kinds, classes="k-p-accent" if event.step == frame.head.step else "", ref=event.ref,
               key=f"event-{number}", pressed=event.ref == selection,
               label=f"step {event.step}, {event.type} {event.reason} on {event.ref}: {event.message}")


def events_reading(frame: f.Frame) -> str:
    """Return all events as lines: step, type, reason, object, message, ×count."""
    rows = [["step", "type", "reason", "object", "message"]]
    for each in _newest(frame):
        times = f"  ×{each.count}" if each.count > 1 else ""
        message = " ".join(each.message.split())
        rows.append([str(each.step), each.type, each.reason, each.ref, message + times])
    return t.columns(rows) if frame.events else NO_EVENT


def _newest(frame: f.Frame) -> list[f.EventRow]:
    return sorted(frame.events, key=lambda e: (-e.step, -e.last, e.ref, e.reason, e.message))


def draw_story(frame: f.Frame, width: int, selection: str = "") -> str:
    """Return the story of an object: step, actor, verb, what changed, before → after; the present step is tinted."""
    ref, rows = frame.story.ref, frame.story.rows
    if not ref:
        return f'<p class="k-empty">{NOT_SELECTED}</p>'
    if not rows:
        return page(_quiet(NO_STORY))
    lines = []
    for i, each in enumerate(rows):
        both = not each.field.startswith("event ") and (each.old or each.new)  # an event was nothing else before
        values = before_after(each.old, each.new) if both else each.new
        cells = (joined(tag("b", "", str(each.step)), words(f" {each.time:g} s", "k-w")), each.actor, _sign(each),
                 field_words(each.field), values)  # fmt: skip
        told = values_of(each)
        lines.append(row(cells, ("k-short", "k-name", "", "k-name", "k-wide"), ref=f"step/{each.step}",
                         key=f"story-{i}", classes="k-p-accent" if each.step == frame.head.step else "",
                         label=f"step {each.step}, {each.actor}: {each.field}" + (f", {told}" if told else "")))
    return page(tag("h3", "", f"Story of {ref}"), table(lines, ("step", "by", "", "what", "before → after")))


def story_reading(frame: f.Frame) -> str:
    """Return the story of an object as lines."""
    ref, rows = frame.story.ref, frame.story.rows
    if not rows:
        return f"story of {ref}: {NO_STORY}"
    lines = [["step", "time", "by", "", "what", "before → after"]]
    lines += [[str(r.step), f"{r.time:g} s", r.actor, _SIGNS[r.op], r.field, values_of(r)] for r in rows]
    return f"story of {ref}\n" + t.columns(lines)


def values_of(row: f.ObjectStoryRow) -> str:
    """Return before → after, or the words of an event; empty for an object that was created or deleted."""
    if row.field.startswith("event "):
        return row.new
    return from_to(row.old, row.new) if row.old or row.new else ""
