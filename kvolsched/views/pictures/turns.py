"""Stories of turns, scheduling passes, and differing fields, as tables with the step first."""

from __future__ import annotations

from kvolsched.api.words import counted
from kvolsched.views import turn_rows as r
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import paragraph, word_lines
from kvolsched.views.drawing.svg import num, path, pick, picture, rect, rule, word

LINE = 17.0
"""Pitch of lines of text, px."""
NO_TURN = "No turn has changed it."
NOT_JUDGED = "It has had no scheduling pass."
EQUAL = "The objects are equal."


def draw_story(story: r.ToldStory, width: int, selection: str = "") -> str:
    """Draw one block a turn: step and time at the left, what was done in words, below it what that changed."""
    title, rows, left = story.title, story.turns, 96.0
    room = width - left - 8
    parts = [word(2, 16, "k-cap k-b", t.end(title, width - 4, 13, bold=True))]
    y = 30.0
    if not rows:
        return picture(width, 60, parts[0] + word(2, 44, "k-q", NO_TURN), title, "img")
    for number, row in enumerate(rows):
        said = t.wrap(row.words, room, 12, 4, bold=True)
        lines = [line for change in row.changed for line in _change(change, left, room)]
        high = 12 + LINE * (len(said) + len(lines))
        time = "" if row.time is None else f"{row.time:g} s"
        cells = [rule(0, y, width), word(30, y + 20, "k-m k-b k-end", str(row.step)),
                 word(40, y + 20, "k-w", t.end(time, left - 48, 10))]
        cells += [word(left, y + 20 + LINE * i, "k-n", line) for i, line in enumerate(said)]
        base = y + 20 + LINE * len(said)
        cells += [cell.format(y=num(base + LINE * i)) for i, cell in enumerate(lines)]
        label = f"step {row.step}: {row.words}" + "".join(f"; {change}" for change in row.changed)
        parts.append(pick("".join(cells), f"step/{row.step}", f"turn-{number}", label, role="row"))
        y += high
    return picture(width, y + 4, "".join(parts), title, "grid")


def _change(change: str, x: float, room: float) -> list[str]:
    """Return the lines of one change, to be put at their heights: the field quiet, what it became strong."""
    field, colon, values = change.partition(": ")
    old, arrow, new = values.partition(" → ")
    if not colon or field.startswith("event"):
        return [_line(x, "k-m k-soft", part) for part in t.wrap(change, room, 12, 3)]
    head = f"{field}: " + (f"{old} → " if arrow else "")
    after = new if arrow else values
    wide = t.width(head, 12)
    if wide + t.width(after, 12, bold=True) <= room:
        strong = f'<tspan class="k-n">{t.escape(after)}</tspan>'.replace("{", "{{").replace("}", "}}")
        return [_line(x, "k-m k-soft", head).replace("</text>", strong + "</text>")]
    return [_line(x, "k-m k-soft", part) for part in t.wrap(change, room, 12, 3)]


def _line(x: float, classes: str, content: str) -> str:
    safe = t.escape(content).replace("{", "{{").replace("}", "}}")
    return f'<text x="{num(x)}" y="{{y}}" class="{classes}" xml:space="preserve">{safe}</text>'


def draw_passes(found: r.PassesOfPod, width: int, selection: str = "") -> str:
    """Draw one line a pass: when, how many of the judged nodes fit as a bar, and the node that it chose.

    Without a pass it says why there is none.
    """
    title, rows = found.title, found.rows
    parts = [word(2, 16, "k-cap k-b", t.end(title, width - 4, 13, bold=True))]
    if not rows:
        said, high = paragraph(2, 32, f"{NOT_JUDGED} {found.why_none}".rstrip(), width - 4, "k-q", 11, lines=4)
        return picture(width, 44 + high, parts[0] + said, title, "img")
    bar, last = 150.0, max(0.62 * width, 330.0)
    wide = last - bar - 130
    heads = ((10, "pass"), (50, "step"), (92, "time"), (bar, "nodes that fit"), (last, "chooses"))
    parts += [word(x, 40, "k-q", content) for x, content in heads]
    y = 48.0
    for row in rows:
        some = row.fit > 0
        cells = [rule(0, y, width), word(10, y + 18, "k-n", str(row.number)), word(50, y + 18, "k-m", str(row.step)),
                 word(92, y + 18, "k-w", t.end(f"{row.time:g} s", bar - 98, 10)),
                 rect(bar, y + 8, wide, 12, "k-p-none", 2)]
        cells.append(rect(bar, y + 8, wide * row.fit / max(row.judged, 1), 12, "k-s-ok", 2) if some else "")
        cells.append(word(bar + wide + 10, y + 18, "k-m", f"{row.fit} of {row.judged}"))
        chosen = ("k-n k-t-ok", f"★ {row.node}") if row.node else ("k-m k-soft", "none")
        cells.append(word(last, y + 18, chosen[0], t.middle(chosen[1], width - last - 4, 12, bold=True)))
        label = f"pass {row.number}, step {row.step}: {row.fit} of {row.judged} nodes fit, chooses {row.node or 'none'}"
        parts.append(pick("".join(cells), f"step/{row.step}", f"pass-{row.number}", label, role="row"))
        y += 27
    return picture(width, y + 4, "".join(parts), title, "grid")


def draw_diff(found: r.DifferentClusters, width: int, selection: str = "") -> str:
    """Draw one line a field that differs, with its value in each of two clusters; ≠ stands before every one."""
    names, rows = found.names, found.rows
    title = f"{counted(found.count, 'difference')} between {names[0]} and {names[1]}"
    parts = [word(2, 16, "k-cap k-b", t.end(title, width - 4, 13, bold=True))]
    because, down = paragraph(2, 22, found.because, width - 6, "k-m", 12, lines=6) if found.because else ("", 0.0)
    parts.append(because)
    if not rows:
        said, y = _notes(found, 52.0 + down, width)
        return picture(width, y + 8, "".join([*parts, word(2, 44 + down, "k-q", EQUAL), said]), title, "img")
    about = min(max(t.width(row.ref, 12, bold=True) for row in rows) + 16, 0.24 * width)
    field = min(max(t.width(row.field, 12) for row in rows) + 16, 0.26 * width)
    first = 22 + about + field
    half = (width - first) / 2
    heads = ((22.0, "object"), (22 + about, "field"), (first, names[0]), (first + half, names[1]))
    parts += [word(x, 40 + down, "k-q", t.end(content, half - 8, 11)) for x, content in heads]
    y, before = 48.0 + down, ""
    for number, row in enumerate(rows):
        sides = t.where_they_differ(row.left or "–", row.right or "–",
                                    lambda *both: [word_lines(value, half - 10, 12, 4) for value in both], (16, 6, 0))
        named = word_lines(row.field or "the object", field - 10, 12, 3)
        high = 10 + LINE * max(len(named), *map(len, sides))
        cells = [rule(0, y, width), word(4, y + 18, "k-n k-t-resources", "≠")]
        cells += [word(22 + about, y + 18 + LINE * i, "k-m", line) for i, line in enumerate(named)]
        if row.ref != before:
            cells.append(word(22, y + 18, "k-n", t.middle(row.ref, about - 10, 12, bold=True)))
        for side, value, x in zip(sides, (row.left, row.right), (first, first + half), strict=True):
            kind = "k-m" if value else "k-m k-soft"
            cells += [word(x, y + 18 + LINE * i, kind, line) for i, line in enumerate(side)]
        label = f"{row.ref} {row.field}: {row.left or 'none'} in {names[0]}, {row.right or 'none'} in {names[1]}"
        parts.append(pick("".join(cells), row.ref, f"field-{number}", label, role="row"))
        y, before = y + high, row.ref
    x = first + half - 8
    parts.insert(1, path(f"M{num(x)} {num(30 + down)}V{num(y)}", "k-l-none"))
    said, y = _notes(found, y + 2, width)
    return picture(width, y + 4, "".join([*parts, said]), title, "grid")


def _notes(found: r.DifferentClusters, top: float, width: int) -> tuple[str, float]:
    """Draw what is told beside the fields, a paragraph each; return where it ends."""
    parts, y = [], top
    for note in found.notes:
        said, high = paragraph(22, y + 4, note, width - 26, "k-q", 11, lines=5)
        parts.append(word(8, y + 15, "k-q", "–") + said)
        y += high + 4
    return "".join(parts), y
