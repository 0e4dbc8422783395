"""The writes to the API in order: who wrote what, and at which step each other component saw it.

One line a write, one column a component: the square of the timeline in the writer's column, in each other one the step
at which that component saw the write. Hatched: not seen yet; empty: it does not watch the kind. Two runs stand side by
side as in a diff: one line for a write that both have, with its place in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, radians, sin

from attrs import frozen

from kvolsched.api.notebook_output import Rows
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.svg import nothing, num, path, picture, rect, rule, word
from kvolsched.views.pictures.lanes import LETTERS, sign
from kvolsched.views.write_rows import NOT_YET, WriteRow

EMPTY = "Nobody has written anything yet."
PITCH = 24.0
SLANT = 42
SIN, COS = sin(radians(SLANT)), cos(radians(SLANT))


@frozen(repr=False)
class Writes(Rows[WriteRow], Figure):
    """A picture of writes; iterates over its rows. `alone`: the writes that only one of two runs has."""

    rows: tuple[WriteRow, ...] = ()
    alone: tuple[WriteRow, ...] = ()


# -- one order of writes ----------------------------------------------------------------------------------------------


def draw(rows: Sequence[WriteRow], components: Sequence[str], width: int) -> str:
    """Draw one line a write, and the columns of these components."""
    if not rows:
        return nothing(width, EMPTY)
    col = min(max([t.width(name, 11, bold=True) + 8 for name in components] + [56.0]), 0.5 * width / len(components))
    heads, x0, top = _heads(components, col, width)
    start = 92.0
    heads += [word(x, top - 8, "k-q", name) for x, name in ((6, "step"), (40, "time"), (start, "what is written"))]
    parts, y = ["".join(heads)], top
    grounds: list[str] = []
    for row in rows:
        step, time = row.place.split("|")
        grounds.append((rect(0, y, width, PITCH, "k-p-accent") if row.now else "") + rule(0, y, width))
        body = word(6, y + 16.5, "k-n" if row.now else "k-m", step) + word(40, y + 16.5, "k-m k-soft", time)
        body += _write_words(row, start, y, x0 - start - 8)
        for i, name in enumerate(components):
            body += _cell(row, name, x0 + (i + 0.5) * col, y + PITCH / 2, col)
        parts.append(body)
        y += PITCH
    between = "".join(path(f"M{num(x0 + i * col)} {num(top)}V{num(y)}", "k-l-none") for i in range(len(components)))
    legend, y = _legend(rows, y)
    return picture(width, y, "".join([*grounds, between, *parts, legend]), f"{len(rows)} writes in their order")


def _heads(components: Sequence[str], col: float, width: int) -> tuple[list[str], float, float]:
    """Draw the names of components over their columns, slanted if too wide; return them, and x and y of the table."""
    wide = [t.width(name, 11, bold=True) for name in components]
    if max(wide, default=0) <= col - 6:
        x0 = width - col * len(components)
        return [word(x0 + (i + 0.5) * col, 16, "k-q k-mid k-b", name) for i, name in enumerate(components)], x0, 24.0
    over = max(length * COS - (len(wide) - i - 0.5) * col for i, length in enumerate(wide))
    x0, top = width - max(over + 4, 0.0) - col * len(components), max(wide) * SIN + 22
    drawn = [
        f'<text x="{num(x)}" y="{num(top - 8)}" class="k-q k-b" transform="rotate(-{SLANT} {num(x)} {num(top - 8)})">'
        f"{t.escape(name)}</text>"
        for i, name in enumerate(components) for x in [x0 + (i + 0.5) * col + 2]
    ]  # fmt: skip
    return drawn, x0, top


def _write_words(row: WriteRow, x: float, y: float, room: float) -> str:
    if row.kind == "crash":
        return word(x, y + 16.5, "k-m k-soft", t.end(row.sentence, room, 12))
    name = t.middle(row.ref, min(room, 190), 12, bold=True)
    at = x + t.width(name, 12, bold=True) + 8
    return word(x, y + 16.5, "k-n", name) + word(at, y + 16.5, "k-m", t.end(row.words, x + room - at, 12))


def _cell(row: WriteRow, name: str, x: float, y: float, col: float) -> str:
    if row.who == name:
        return sign(f.Mark(0, row.kind, row.verb, row.ref), x, y, now=row.now)
    seen = row.seen.get(name)
    if seen is None:
        return ""
    if seen != NOT_YET:
        return word(x, y + 4.5, "k-m k-mid", str(seen))
    half, lines = min(20.0, col / 2 - 6), ""
    for i in range(int(2 * half // 7)):
        lines += f"M{num(x - half + 7 * i + 7)} {num(y - 4)}l-8 8"
    return path(lines, "k-hatch")


def reading(rows: Sequence[WriteRow], components: Sequence[str]) -> str:
    """Return the writes as lines, with who saw each when."""
    if not rows:
        return EMPTY
    table = [["step", "time", "who", "what is written", "seen at step"]]
    for row in rows:
        seen = [f"{name} {row.seen[name]}" for name in components if row.seen.get(name, NOT_YET) != NOT_YET]
        late = [name for name in components if row.seen.get(name) == NOT_YET]
        content = ", ".join(seen) + ("; " if seen and late else "") + (f"not yet: {', '.join(late)}" if late else "")
        table.append([*row.place.split("|"), row.who, row.sentence, content])
    return t.columns(table)


# -- two orders beside each other -------------------------------------------------------------------------------------


Pair = tuple[WriteRow | None, WriteRow | None]


def paired(ours: Sequence[WriteRow], theirs: Sequence[WriteRow]) -> list[Pair]:
    """Pair equal writes of two runs, in the order of the first; those of the second alone follow their forerunner."""
    left = list(theirs)
    found: list[Pair] = []
    for row in ours:
        twin = next((other for other in left if row.is_same_write(other)), None)
        if twin is not None:
            left.remove(twin)
        found.append((row, twin))
    for other in left:
        before = theirs[: theirs.index(other)]
        after = [i for i, (_, twin) in enumerate(found) if any(twin is earlier for earlier in before)]
        found.insert(after[-1] + 1 if after else 0, (None, other))
    return found


def beside(ours: Sequence[WriteRow], theirs: Sequence[WriteRow], names: tuple[str, str]) -> Writes:
    """Draw the writes of two runs side by side, with their reading."""
    pairs = paired(ours, theirs)
    alone = tuple(row for pair in pairs if None in pair for row in pair if row is not None)
    return Writes(lambda width, _selection: draw_pairs(pairs, names, width), pairs_reading(pairs, names),
                  rows=tuple(ours), alone=alone)


def draw_pairs(pairs: Sequence[Pair], names: tuple[str, str], width: int) -> str:
    """Draw one line a write, with its place in each of two runs."""
    if not pairs:
        return nothing(width, EMPTY)
    col = max(max(t.width(name, 11, bold=True) for name in names) + 16, 90.0)
    who = 2 * col + 10
    what = who + max(t.width(row.who, 12) for pair in pairs for row in pair if row is not None) + 16
    parts = [word(col * (i + 0.5), 16, "k-q k-mid k-b", name) for i, name in enumerate(names)]
    parts += [word(who, 16, "k-q", "who"), word(what, 16, "k-q", "what is written")]
    y = 24.0
    for pair in pairs:
        row = pair[0] or pair[1]
        assert row is not None
        if None in pair:
            parts.append(rect(0, y, width, PITCH, "k-p-none"))
        parts.append(rule(0, y, width))
        for i, half in enumerate(pair):
            parts.append(_mark(half, col * (i + 0.5), y))
        parts.append(word(who, y + 16.5, "k-m k-soft", row.who) + _write_words(row, what, y, width - what - 4))
        y += PITCH
    parts.insert(0, path(f"M{num(col)} 24V{num(y)}M{num(2 * col)} 24V{num(y)}", "k-l-none"))
    legend, _ = _letters([row for pair in pairs for row in pair if row is not None], y)
    return picture(width, y + 28, "".join([*parts, legend]), f"the writes of {names[0]} and of {names[1]}")


def _mark(row: WriteRow | None, x: float, y: float) -> str:
    if row is None:
        return word(x, y + 16.5, "k-m k-mid k-soft", "–")
    return sign(f.Mark(0, row.kind, row.verb, row.ref), x - 22, y + PITCH / 2, now=False) + word(
        x - 8, y + 16.5, "k-m", _place(row)
    )


def _place(row: WriteRow) -> str:
    step, _, time = row.place.partition("|")
    return step or time


def pairs_reading(pairs: Sequence[Pair], names: tuple[str, str]) -> str:
    """Return the writes of two runs as lines: the place in each, and the write."""
    table = [[*names, "who", "what is written"]]
    for pair in pairs:
        row = pair[0] or pair[1]
        assert row is not None
        table.append([*(_place(half) if half is not None else "–" for half in pair), row.who, row.sentence])
    return t.columns(table) if len(table) > 1 else EMPTY


# -- legends ----------------------------------------------------------------------------------------------------------


def _legend(rows: Sequence[WriteRow], y: float) -> tuple[str, float]:
    drawn, x = _letters(rows, y)
    parts = [drawn, word(x + 6, y + 19, "k-m k-mid", "7"), word(x + 18, y + 18.5, "k-w", "has seen it at step 7")]
    x += 18 + t.width("has seen it at step 7", 10) + 24
    if any(NOT_YET in row.seen.values() for row in rows):
        parts.append(path("".join(f"M{num(x + 7 * i)} {num(y + 11)}l-8 8" for i in range(1, 3)), "k-hatch"))
        parts.append(word(x + 22, y + 18.5, "k-w", "has not seen it yet"))
        x += 22 + t.width("has not seen it yet", 10) + 24
    parts.append(word(x, y + 18.5, "k-w", "empty: does not watch this kind"))
    return "".join(parts), y + 28


def _letters(rows: Iterable[WriteRow], y: float) -> tuple[str, float]:
    """Draw what the squares mean; give the marks and where they end."""
    used = {row.verb for row in rows if row.kind != "crash"}
    content = f"API write ({', '.join(f'{letter} {verb}' for verb, letter in LETTERS.items() if verb in used)})"
    mark = sign(f.Mark(0, "write", " ", ""), 14, y + 15, now=False)
    return mark + word(26, y + 18.5, "k-w", content), 26 + t.width(content, 10) + 24
