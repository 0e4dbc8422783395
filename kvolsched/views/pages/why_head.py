"""The head of the table of `why`: clauses over the nodes they count, nodes to scale, column heads."""

from collections.abc import Sequence

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import num, path, pick, rect, word
from kvolsched.views.pages.why_card import ColumnRow, CountedClause, WhyCard

from .why_grid import BADGE, MANY, MARGIN, Grid, block, fits, number_mark, wrapped

CLAUSE_LINES = 6
HEAD = 44.0
LEAST_HEAD = 84.0  # px; a narrower head has no second line
STRIP, FUNNEL = 16.0, 40.0


@frozen
class Bracket:
    """A clause over its columns: the first and last of them, and its level, 0 nearest to the heads."""

    clause: CountedClause
    first: int
    last: int
    level: int


def brackets_of(clauses: Sequence[CountedClause]) -> list[Bracket]:
    """Return the clauses that count columns, at levels at which none lies over another."""
    placed: list[Bracket] = []
    for clause in clauses:
        if clause.columns:
            first, last = min(clause.columns), max(clause.columns)
            taken = {other.level for other in placed if other.first <= last and first <= other.last}
            level = next(number for number in range(len(placed) + 1) if number not in taken)
            placed.append(Bracket(clause, first, last, level))
    return placed


def tie(clause: CountedClause) -> str:
    """Return the ties of a clause: its own and those of the columns that it counts."""
    return " ".join([f"c{clause.number}", *(f"g{place}" for place in clause.columns)])


def draw_clauses(card: WhyCard, grid: Grid, y: float) -> tuple[str, float]:
    """Draw the sentence; return it and the y at which the strip or the heads begin."""
    brackets = brackets_of([clause for clause in card.clauses if not clause.preemption])
    over = not grid.stacked and all(fits(each.clause.text, _room(each, brackets, grid), 12, CLAUSE_LINES,
                                         first=2 * BADGE + 5) for each in brackets)  # fmt: skip
    if over:
        return _over_columns(card, grid, brackets, y)
    body, y = _as_list(card, grid, y)
    return body + _lines_down(grid, brackets, y), y + 14 + 7 * max((bracket.level for bracket in brackets), default=0)


def _room(bracket: Bracket, brackets: Sequence[Bracket], grid: Grid) -> float:
    """Return the width for a clause's words: up to the first line that comes down from a clause above."""
    left = grid.x(bracket.first) + _indent(bracket, brackets)
    crossing = [
        grid.x(place) - 6
        for other in brackets
        if other.level > bracket.level
        for place in other.clause.columns
        if bracket.first < place <= bracket.last
    ]
    return min([grid.x(bracket.last) + grid.column, *crossing]) - left


def _indent(bracket: Bracket, brackets: Sequence[Bracket]) -> float:
    """Return how far words move right, so that lines of clauses above do not run through them."""
    above = any(other.level > bracket.level and other.first <= bracket.last and bracket.first <= other.last
                for other in brackets)  # fmt: skip
    return 12.0 if above else 0.0


def _over_columns(card: WhyCard, grid: Grid, brackets: Sequence[Bracket], y: float) -> tuple[str, float]:
    texts: dict[int, list[str]] = {}
    for bracket in brackets:
        room = _room(bracket, brackets, grid)
        texts[bracket.clause.number] = wrapped(bracket.clause.text, room, 12, CLAUSE_LINES, bold=True, first=21)
    levels = max((bracket.level for bracket in brackets), default=0) + 1
    heights = [
        max((len(texts[b.clause.number]) for b in brackets if b.level == level), default=0) * 15 + 14
        for level in range(levels)
    ]
    high = max(sum(heights), 46)
    bottom = y + high
    parts = []
    for bracket in brackets:
        base = bottom - sum(heights[: bracket.level]) - 6
        x, lines = grid.x(bracket.first) + _indent(bracket, brackets), texts[bracket.clause.number]
        top = base - 8 - 15 * (len(lines) - 1)
        family, drops = bracket.clause.family, []
        for place in range(bracket.first, bracket.last + 1):
            if place in bracket.clause.columns:
                drops.append(path(f"M{num(grid.x(place))} {num(base)}h{num(grid.column)}", f"k-y-w k-l-{family}"))
                at = grid.x(place) + (grid.column / 2 if not bracket.level else 5)
                drops.append(path(f"M{num(at)} {num(base)}V{num(bottom + 8)}", f"k-y-l k-l-{family}"))
            if place < bracket.last:
                both = {place, place + 1} <= set(bracket.clause.columns)
                drops.append(path(f"M{num(grid.x(place) + grid.column)} {num(base)}h{num(grid.gap)}",
                                  f"k-y-w k-l-{family}{'' if both else ' k-y-d'}"))  # fmt: skip
        body = number_mark(x + BADGE, top - 4, bracket.clause.number, family)
        body += block(x, top, lines, f"k-y-c k-t-{family}", 15, first=21)
        size = rect(x, top - 13, grid.span(bracket.first, bracket.last), base - top + 14, "k-hit")
        parts.append(_picked(bracket.clause, size + body + "".join(drops)))
    start = word(MARGIN, bottom - 22, "k-q", "kube-scheduler says")
    start += block(MARGIN, bottom - 6, wrapped(card.start, grid.left - 20, 12, 1, bold=True), "k-y-c", 15)
    return start + "".join(parts), bottom + 8


def _picked(clause: CountedClause, body: str) -> str:
    label = f"clause {clause.number} of the event: {clause.text}" + (f"; {clause.about}" if clause.about else "")
    return pick(body, f"clause/{clause.number}", "", label, more=f' data-tie="{tie(clause)}"')


def _as_list(card: WhyCard, grid: Grid, y: float) -> tuple[str, float]:
    """Draw the clauses as lines with their numbers, where columns are too narrow for their words."""
    parts = [word(MARGIN, y + 12, "k-q", "kube-scheduler says"), word(MARGIN + 118, y + 12, "k-y-c", card.start)]
    y += 20
    for clause in card.clauses:
        if not clause.preemption:
            lines = wrapped(clause.text, grid.width - 2 * MARGIN - 24, 12, 3, bold=True)
            body = number_mark(MARGIN + BADGE, y + 10, clause.number, clause.family)
            body += block(MARGIN + 22, y + 14, lines, f"k-y-c k-t-{clause.family}", 15)
            hit = rect(MARGIN, y, grid.width - 2 * MARGIN, 15 * len(lines) + 4, "k-hit")
            parts.append(_picked(clause, hit + body))
            y += 15 * len(lines) + 6
    return "".join(parts), y + 4


def _lines_down(grid: Grid, brackets: Sequence[Bracket], y: float) -> str:
    """Draw the lines over the columns of each clause, with numbers, where the words stand in a list."""
    parts = []
    for bracket in brackets:
        base = y + 2 + 7 * bracket.level
        for place in bracket.clause.columns:
            mark = path(f"M{num(grid.x(place))} {num(base)}h{num(grid.column)}", f"k-y-w k-l-{bracket.clause.family}")
            parts.append(f'<g data-tie="{tie(bracket.clause)}">{mark}</g>')
    return "".join(parts)


def draw_strip(card: WhyCard, grid: Grid, y: float) -> tuple[str, float]:
    """Draw all nodes to scale, each piece widening into the head of its column; nothing for few columns."""
    if len(card.columns) < MANY or card.size <= len(card.columns):
        return "", y
    x, wide = grid.left, grid.right - grid.left
    parts = []
    if not grid.stacked:
        parts.append(word(MARGIN, y + 12, "k-q", f"{card.size:,} nodes, to scale"))
    for place, column in enumerate(card.columns):
        piece = wide * column.count / card.size
        family = column.family
        body = rect(x, y, max(piece - 1, 1), STRIP, f"k-s-{family}")
        left, right = grid.x(place), grid.x(place) + grid.column
        down = (f"M{num(x)} {num(y + STRIP)}H{num(x + max(piece - 1, 1))}L{num(right)} {num(y + STRIP + FUNNEL)}"
                f"H{num(left)}Z")  # fmt: skip
        body += path(down, f"k-s-{family} k-y-p")
        parts.append(f'<g data-tie="{column_tie(place, column)}">{body}</g>')
        x += piece
    return "".join(parts), y + STRIP + FUNNEL


def column_tie(place: int, column: ColumnRow) -> str:
    """Return the ties of a column: its own and those of the clauses that count it."""
    return " ".join([f"g{place}", *(f"c{number}" for number in column.clauses)])


def draw_heads(card: WhyCard, grid: Grid, y: float) -> tuple[str, float]:
    """Draw the heads of the columns: nodes that are judged alike."""
    parts = []
    if not grid.stacked:
        words = "Nodes that are judged alike share a column" if card.size > len(card.columns) else (
            "Each node stands under the clause that counts it")  # fmt: skip
        parts.append(block(MARGIN, y + 18, wrapped(words, grid.left - 40, 11, 2), "k-q", 14))
    for place, column in enumerate(card.columns):
        x, family = grid.x(place), column.family
        dashed = " k-y-d" if card.state == "before filtering" else ""
        stroke = "soft" if family == "none" else family
        body = rect(x, y, grid.column, HEAD, f"k-card k-l-{stroke}{dashed}", 6)
        below = grid.column < LEAST_HEAD  # the letter then stands in the second line
        mark = 30.0 if column.mark and not below else 0.0
        if column.mark:
            glyph, end = "✕" if column.resolvable else "⊘", x + 30 if below else x + grid.column - 9
            body += word(end, y + (35 if below else 17), f"k-b k-end k-t-{family}", column.mark)
            body += word(end - 12, y + (35 if below else 17), f"k-end k-t-{family}", glyph)
        room, several = grid.column - 16 - mark, column.title.removesuffix(" nodes")
        title = column.title if t.width(column.title, 12, bold=True) <= room else several
        body += word(x + 9, y + 18, "k-n", t.middle(title, room, 12, bold=True))
        numbers = column.clauses[:2] if grid.stacked else ()
        room = grid.column - 16 - 18 * len(numbers)
        if not below:
            body += word(x + 9, y + 34, "k-q", t.middle(column.about, room, 11))
        for index, number in enumerate(numbers):
            body += number_mark(x + grid.column - 13 - 18 * index, y + 31, number, family)
        parts.append(pick(body, f"nodes/{place}", "", column.label, more=f' data-tie="{column_tie(place, column)}"'))
    return "".join(parts), y + HEAD


def draw_preemption(card: WhyCard, grid: Grid, y: float) -> tuple[str, float]:
    """Draw the clauses of preemption over the columns where each counts most nodes."""
    clauses = [clause for clause in card.clauses if clause.preemption]
    if not clauses:
        return "", y
    parts, bottom = [], y + 46
    runs = [(clause, run) for clause in clauses for run in _runs(clause.columns)]
    over = not grid.stacked and all(fits(c.text, grid.span(*run) - 12, 11, 5, first=22) for c, run in runs)
    seen: set[int] = set()
    for clause, (first, last) in runs:
        x, room = grid.x(first), grid.span(first, last)
        family = card.columns[first].family if clause.resolvable and first == last else "none"
        stroke = "soft" if family == "none" else family
        again = clause.number in seen
        body = path(f"M{num(x)} {num(y + 2)}h{num(room)}", f"k-y-w k-l-{stroke}")
        body += number_mark(x + BADGE + 1, y + 17, clause.number, family, hollow=True)
        if over:
            words = f"in the same {clause.text.partition(' ')[0]}" if again else clause.text
            lines = wrapped(words, room - 4, 11, 5, bold=True, first=23)
            about = [] if again else wrapped(clause.about, room - 4, 10, 4)
            body += block(x + 1, y + 21, lines, f"k-b k-t-{family}", 14, first=22)
            body += block(x + 1, y + 22 + 14 * len(lines), about, "k-w", 13)
            bottom = max(bottom, y + 26 + 14 * len(lines) + 13 * len(about))
        seen.add(clause.number)
        number = clause.number if not again else f"{clause.number}/{first}"
        label = f"clause {clause.number} of the event, preemption: {clause.text}; {clause.about}"
        parts.append(pick(body, f"clause/{number}", "", label, more=f' data-tie="{tie(clause)}"'))
    if not grid.stacked:
        parts.append(word(MARGIN, y + 14, "k-y-c", "preemption"))
        parts.append(word(MARGIN, y + 30, "k-q", "would it help to evict pods?"))
    if not over:
        y = bottom = y + (32 if grid.stacked else 42)
        for clause in clauses:
            words = f"{clause.text}: {clause.about}"
            lines = wrapped(words, grid.width - 2 * MARGIN - 26, 11, 4)
            parts.append(number_mark(MARGIN + BADGE, y + 8, clause.number, "none", hollow=True))
            parts.append(block(MARGIN + 22, y + 12, lines, "k-q", 14))
            y += 14 * len(lines) + 6
        bottom = y
    elif len(seen) < len(clauses):
        for clause in clauses:
            if clause.number not in seen:  # on no column do most nodes belong to it
                parts.append(number_mark(MARGIN + BADGE, bottom + 8, clause.number, "none", hollow=True))
                lines = wrapped(f"{clause.text}: {clause.about}", grid.width - 2 * MARGIN - 26, 11, 3)
                parts.append(block(MARGIN + 22, bottom + 12, lines, "k-q", 14))
                bottom += 14 * len(lines) + 8
    return "".join(parts), bottom


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return neighbouring columns as pairs of first and last."""
    found: list[tuple[int, int]] = []
    for place in sorted(columns):
        if found and found[-1][1] == place - 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
