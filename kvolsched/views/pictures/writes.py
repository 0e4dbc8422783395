"""The writes to the API in order: who wrote what, and at which step each other component saw it.

One line a write, one column a component: the square of the timeline in the writer's column, in each other one the step
at which that component saw the write. Hatched: not seen yet; empty: it does not watch the kind. Two runs stand side by
side as in a diff: one line for a write that both have, with its place in each.
"""

from collections.abc import Iterable, Sequence

from attrs import frozen

from kvolsched.api.notebook_output import Rows
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.html import Html, block, joined, page, table, tag, words
from kvolsched.views.drawing.html import row as line
from kvolsched.views.drawing.svg import picture
from kvolsched.views.pictures.lanes import LETTERS, sign
from kvolsched.views.write_rows import NOT_YET, WriteRow

EMPTY = "Nobody has written anything yet."
SIGN = 22
"""Edge of the picture of a write's mark, px."""


@frozen(repr=False)
class Writes(Rows[WriteRow], Figure):
    """A picture of writes; iterates over its rows. `alone`: the writes that only one of two runs has."""

    rows: tuple[WriteRow, ...] = ()
    alone: tuple[WriteRow, ...] = ()


# -- one order of writes ----------------------------------------------------------------------------------------------


def draw(rows: Sequence[WriteRow], components: Sequence[str], width: int) -> str:
    """Return one line a write, and the columns of these components."""
    if not rows:
        return page(words(EMPTY, "k-q"))
    lines = [line((*row.place.split("|"), _write_words(row), *(_cell(row, name) for name in components)),
                  ("k-short", "k-short k-soft", "k-wide", *["k-mid"] * len(components)),
                  classes="k-p-accent" if row.now else "") for row in rows]  # fmt: skip
    meanings = [tag("b", "", "7"), " has seen it at step 7  "]
    if any(NOT_YET in row.seen.values() for row in rows):
        meanings += [LATE, " has not seen it yet  "]
    return page(table(lines, ("step", "time", "what is written", *components)),
                block("k-w", _letters(rows), *meanings, "empty: does not watch this kind"))


LATE = tag("span", "k-late", "\u00a0\u00a0\u00a0\u00a0")


def _write_words(row: WriteRow) -> Html:
    if row.kind == "crash":
        return words(row.sentence, "k-soft")
    return joined(tag("b", "", row.ref), f" {row.words}")


def _cell(row: WriteRow, name: str) -> str:
    if row.who == name:
        return _sign(f.Mark(0, row.kind, row.verb, row.ref), now=row.now)
    seen = row.seen.get(name)
    return "" if seen is None else LATE if seen == NOT_YET else str(seen)


def _sign(mark: f.Mark, *, now: bool = False) -> Html:
    return Html(picture(SIGN, SIGN, sign(mark, SIGN / 2, SIGN / 2, now=now), mark.verb, "img"))


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
    """Return one line a write, with its place in each of two runs."""
    found = [(pair, row) for pair in pairs for row in pair if row is not None and row is (pair[0] or pair[1])]
    lines = [line((*map(_mark, pair), row.who, _write_words(row)), ("k-short", "k-short", "k-name k-soft", "k-wide"),
                  classes="k-p-none" if None in pair else "") for pair, row in found]  # fmt: skip
    if not lines:
        return page(words(EMPTY, "k-q"))
    return page(table(lines, (*names, "who", "what is written")),
                block("k-w", _letters(row for pair in pairs for row in pair if row is not None)))


def _mark(row: WriteRow | None) -> Html:
    if row is None:
        return words("–", "k-soft")
    return joined(_sign(f.Mark(0, row.kind, row.verb, row.ref)), f" {_place(row)}")


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


def _letters(rows: Iterable[WriteRow]) -> Html:
    """Return what the squares mean."""
    used = {row.verb for row in rows if row.kind != "crash"}
    letters = ", ".join(f"{letter} {verb}" for verb, letter in LETTERS.items() if verb in used)
    return joined(_sign(f.Mark(0, "write", " ", "")), f" API write ({letters})  ")
