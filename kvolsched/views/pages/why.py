"""The card of `why`: the event's clauses over the nodes they count, demands as rows, both sides in each cell.

A framed set of demands is the smallest that excludes every node. Lines tie each column to the cell for which the event
counts it. Under 720 px the words of a demand stand above its cells.
"""

from collections.abc import Sequence

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import path, pick, picture, rect, rounded, rule, word
from kvolsched.views.pages.why_card import CellRow, DemandLine, WhyCard

from .why_grid import MARGIN, Grid, block, grid_for, letter, number_mark, wrapped
from .why_head import column_tie, draw_clauses, draw_heads, draw_preemption, draw_strip

PAD = 8.0  # inside a cell
BAR = 5.0
WORDY = 110.0  # narrower columns leave out second lines that do not fit; the label has them
LEGEND = (
    ("pass", "passes"),
    ("first", "rejects first (counted in the sentence)"),
    ("unresolvable", "the same; removing pods cannot help"),
    ("also", "would also reject (not counted)"),
    ("number", "clause of the sentence"),
)
BARS = "bar: what is there; tick: what is asked"


def draw(card: WhyCard, width: int, selection: str = "") -> str:
    """Draw the card for a width in px."""
    body, y = _headline(card, width)
    if card.columns:
        grid = grid_for(len(card.columns), width)
        clauses, y = draw_clauses(card, grid, y + 4)
        strip, y = draw_strip(card, grid, y)
        heads, y = draw_heads(card, grid, y)
        lines_from = y - 8
        rows, y = _rows(card, grid, y + 20, lines_from)
        evicting, y = draw_preemption(card, grid, y + 10)
        body += clauses + strip + heads + rows + evicting
        y += 6
    notes, y = _notes(card, width, y + 4)
    if card.columns and card.state == "unschedulable":
        legend, y = _legend(card, width, y + 6)
        notes += legend
    return picture(width, y + 6, body + notes, card.title)


def _headline(card: WhyCard, width: float) -> tuple[str, float]:
    corner = t.width(card.corner, 11)
    beside = width >= 640
    lines = wrapped(card.title, width - 2 * MARGIN - (corner + 24 if beside else 0), 15, 4, bold=True)
    body, y = block(MARGIN, 22, lines, "k-title", 20), 22 + 20 * (len(lines) - 1)
    if beside:
        body += word(width - MARGIN, 22, "k-q k-end", card.corner)
    else:
        y += 17
        body += word(MARGIN, y, "k-q", t.end(card.corner, width - 2 * MARGIN, 11))
    return body, y + 14


# --- rows ------------------------------------------------------------------------------------------------------------


def _rows(card: WhyCard, grid: Grid, y: float, lines_from: float) -> tuple[str, float]:
    """Draw the minimal set in its frame, the other demands below it, and the lines from heads to counted cells."""
    core = [demand for demand in card.demands if demand.core]
    others = [demand for demand in card.demands if not demand.core]
    parts: list[str] = []
    ends: list[tuple[int, int, float]] = []  # column, row, y of its cell
    top = y
    tag = t.width(card.set_title, 11, bold=True) + 16
    y += 18
    about = wrapped(card.set_about, (grid.left - 40) if not grid.stacked else grid.width - 40, 11, 3)
    parts.append(block(MARGIN + 12, y + 6, about, "k-q", 14))
    y += 14 * len(about) + 2
    for row, demand in enumerate(core):
        drawn, y = _row(demand, row, card, grid, y, ends)
        parts.append(drawn)
    y += 6
    frame = rect(2, top, (max(grid.right, grid.left + 40) + 6 if not grid.stacked else grid.width - 2) - 2, y - top,
                 "k-y-f", 8)  # fmt: skip
    tagged = rect(MARGIN + 8, top - 9, tag, 18, "k-s-ink", 4)
    tagged += word(MARGIN + 16, top + 4, "k-b k-on", card.set_title)
    frame += tagged
    if others:
        room = grid.left - MARGIN - 30 if not grid.stacked else grid.width - 40
        also = wrapped("Also in the way, but not needed to exclude every node", room, 11, 2, bold=True)
        parts.append(block(MARGIN + 12, y + 22, also, "k-b k-soft", 14))
        y += 16 + 14 * len(also)
        for row, demand in enumerate(others, start=len(core)):
            drawn, y = _row(demand, row, card, grid, y, ends)
            parts.append(drawn)
    return frame + _connectors(card, grid, ends, lines_from) + "".join(parts), y


def _connectors(card: WhyCard, grid: Grid, ends: Sequence[tuple[int, int, float]], lines_from: float) -> str:
    """Draw a line from each head down the gap to the cells for which the event counts its nodes."""
    if grid.stacked or card.state != "unschedulable":
        return ""
    parts = []
    for place, row, y in ends:
        x, family = grid.x(place), card.demands[row].family
        points = [(x, lines_from), (x - 6, lines_from), (x - 6, y), (x, y)]
        body = path(rounded(points, 4), f"k-y-l k-l-{family}") + rect(x - 3, y - 3, 6, 6, f"k-s-{family}", 3)
        parts.append(f'<g data-tie="{column_tie(place, card.columns[place])}">{body}</g>')
    return "".join(parts)


def _row(demand: DemandLine, row: int, card: WhyCard, grid: Grid, y: float,
         ends: list[tuple[int, int, float]]) -> tuple[str, float]:
    """Draw one demand: its words, and a cell in each column."""
    numbers = demand.clauses[:3] if card.state == "unschedulable" else ()
    room = grid.left - MARGIN - 52 if not grid.stacked else grid.width - 2 * MARGIN - 48 - 19 * len(numbers)
    title = wrapped(demand.title, room, 12.5, 4, bold=True)
    about = wrapped(demand.about, room, 10.5, 3)
    words = 4 + 16 * len(title) + 14 * len(about) + 4
    ties = " ".join([f"d{row}", *(f"c{number}" for number in demand.clauses)])
    x = MARGIN + 12
    body = letter(x, y + 4, demand.letter, demand.family)
    for index, number in enumerate(numbers):
        at = (x + 8.5, y + 34 + 18 * index) if not grid.stacked else (grid.width - MARGIN - 14 - 19 * index, y + 12)
        body += number_mark(*at, number, demand.family)
    body += block(x + 26, y + 17, title, "k-h", 16)
    body += block(x + 26, y + 17 + 16 * len(title) - 1, about, "k-y-a k-soft", 14)
    label = f"{demand.title}: {demand.about}"
    head = pick(body, f"demand/{row}", "", label, more=f' data-tie="{ties}"')
    cells_at = y + words if grid.stacked else y
    tall = max((_cell_height(cell, grid) for cell in demand.cells), default=28)
    if not grid.stacked:
        badges = 26 + 18 * len(numbers)
        tall = max(tall, words, badges)
    scale = max((max(cell.asked or 0, cell.found or 0) for cell in demand.cells if cell.asked is not None), default=0)
    parts = [head]
    for place, cell in enumerate(demand.cells):
        drawn = _cell(demand, cell, grid.x(place), cells_at, grid.column, tall, scale,
                      unresolvable=not card.columns[place].resolvable)  # fmt: skip
        tied = [f"g{place}", f"d{row}", *(f"c{number}" for number in cell.clauses)]
        label = f"{card.columns[place].title}: {cell.label}"
        parts.append(pick(drawn, f"cell/{row}/{place}", "", label, more=f' data-tie="{" ".join(tied)}"'))
        if cell.verdict == "first":
            ends.append((place, row, cells_at + min(tall, 40) / 2))
    bottom = cells_at + tall
    lines = "".join(rule(grid.x(place), bottom + 3, grid.column) for place in range(len(demand.cells)))
    return lines + "".join(parts), bottom + 7


def _cell_lines(cell: CellRow, grid: Grid) -> tuple[list[str], list[str]]:
    room = grid.column - 2 * PAD
    if cell.verdict == "passes":
        return wrapped(cell.sides, room, 10.5, 2, first=14), []
    size = _size(cell, room)
    sides = wrapped(cell.sides, room, size, 3, bold=True, first=15)
    if not cell.about or (t.width(cell.about, 10) > room and grid.column < WORDY):
        return sides, []
    cut = t.end if " " in cell.about else t.middle
    return sides, [cut(cell.about, room, 10)]


def _size(cell: CellRow, room: float) -> float:
    """Return the size of a cell's words: smaller if a word would be cut else."""
    return 11.5 if max((t.width(part, 11.5, bold=True) for part in cell.sides.split()), default=0) <= room - 15 else 10


def _cell_height(cell: CellRow, grid: Grid) -> float:
    sides, about = _cell_lines(cell, grid)
    bar = 10 if cell.asked is not None else 0
    return max(30, 10 + 14 * max(1, len(sides)) + 13 * len(about) + bar)


def _cell(demand: DemandLine, cell: CellRow, x: float, y: float, wide: float, high: float, scale: int, *,
          unresolvable: bool) -> str:
    """Draw one cell: filled if it is counted, outlined if it would also reject, else a tick."""
    family = demand.family
    grid = Grid(0, 1, 0, wide, 0, stacked=False)
    sides, about = _cell_lines(cell, grid)
    bar = 10 if cell.asked is not None and scale else 0
    inner = 14 * max(1, len(sides)) + 13 * len(about) + bar
    top = y + (high - inner) / 2 + 10
    hit = rect(x, y, wide, high, "k-hit")
    if cell.verdict == "passes":
        body = word(x + PAD, top, "k-t-ok k-b", "✓") + block(x + PAD, top, sides, "k-y-a k-soft", 14, first=15)
        return hit + body + (_bar(cell, x + PAD, top + 14 * len(sides) - 8, wide - 2 * PAD, scale, "ok") if bar else "")
    if cell.verdict == "some":
        return hit + word(x + PAD, top, "k-y-s k-soft", cell.sides)
    first = cell.verdict == "first"
    ground = rect(x, y, wide, high, f"k-s-{family}", 4) if first else (
        rect(x + 0.75, y + 0.75, wide - 1.5, high - 1.5, f"k-also k-l-{family}", 4))  # fmt: skip
    ink = "k-on" if first else f"k-t-{family}"
    big = "k-y-s" if _size(cell, wide - 2 * PAD) > 11 else "k-b k-c"
    body = word(x + PAD, top, f"k-y-s {ink}", "⊘" if first and unresolvable else "✕")
    body += block(x + PAD, top, sides, f"{big} {ink}", 14, first=15)
    body += block(x + PAD, top + 14 * len(sides), about, f"k-c {ink}", 13)
    if bar:
        body += _bar(cell, x + PAD, top + 14 * (len(sides) - 1) + 13 * len(about) + 6, wide - 2 * PAD, scale,
                     "on" if first else family)  # fmt: skip
    return ground + body


def _bar(cell: CellRow, x: float, y: float, wide: float, scale: int, ink: str) -> str:
    """Draw what is there as a bar, and what is asked as a tick."""
    rail, fill, tick = {
        "on": ("k-y-r", "k-on", "k-on"), "ok": ("k-rail", "k-s-ok", "k-s-ok"),
    }.get(ink, (f"k-p-{ink}", f"k-s-{ink}", f"k-s-{ink}"))  # fmt: skip
    there, asked = (wide * min(1.0, (amount or 0) / scale) for amount in (cell.found, cell.asked))
    body = rect(x, y, wide, BAR, rail, 2.5) + rect(x, y, there, BAR, fill, 2.5)
    return body + rect(x + min(asked, wide - 2), y - 3, 2, BAR + 6, tick)


# --- below the table -------------------------------------------------------------------------------------------------


def _notes(card: WhyCard, width: float, y: float) -> tuple[str, float]:
    if not card.notes:
        return "", y
    parts = [rule(MARGIN, y, width - 2 * MARGIN)] if card.columns else []
    y += 6
    for note in card.notes:
        indent = 16 if note.glyph else 0
        bold = f"{note.bold} " if note.bold else ""
        taken = t.width(bold, 11, bold=True) if bold else 0
        room = width - 2 * MARGIN - indent
        own_line = taken > room * 0.8
        lines = wrapped(note.text, room, 11, 6, first=0 if own_line else taken)
        parts.append(word(MARGIN, y + 14, "k-q", note.glyph))
        if own_line:
            heads = wrapped(note.bold, room, 11, 3, bold=True)
            parts.append(block(MARGIN + indent, y + 14, heads, "k-b", 15))
            y += 15 * len(heads)
        else:
            parts.append(word(MARGIN + indent, y + 14, "k-b", note.bold))
        parts.append(block(MARGIN + indent, y + 14, lines, "k-q", 15, first=0 if own_line else taken))
        y += 15 * len(lines) + 4
    return "".join(parts), y + 4


def _legend(card: WhyCard, width: float, top: float) -> tuple[str, float]:
    """Draw what marks mean, in the family of the first column."""
    family = next((demand.family for demand in card.demands), "node")
    bars = any(cell.asked is not None for demand in card.demands for cell in demand.cells)
    wide = [*(28 + t.width(words, 10.5) + 16 for _, words in LEGEND), *([t.width(BARS, 10.5)] if bars else [])]
    places = t.in_lines(wide, MARGIN, width - MARGIN, top, 20)
    parts = []
    for (kind, words), (x, y) in zip(LEGEND, places, strict=False):
        if kind == "pass":
            mark = rect(x, y, 20, 14, "k-p-ok", 3) + word(x + 10, y + 10.5, "k-c k-mid k-t-ok", "✓")
        elif kind == "number":
            mark = number_mark(x + 10, y + 7, 1, "ink")
        elif kind == "also":
            mark = rect(x + 0.75, y + 0.75, 18.5, 12.5, f"k-also k-l-{family}", 3)
            mark += word(x + 10, y + 10.5, f"k-c k-mid k-t-{family}", "✕")
        else:
            mark = rect(x, y, 20, 14, f"k-s-{family}", 3)
            mark += word(x + 10, y + 10.5, "k-c k-mid k-on", "✕" if kind == "first" else "⊘")
        parts.append(mark + word(x + 26, y + 11, "k-y-a k-soft", words))
    if bars:
        x, y = places[-1]
        parts.append(word(x, y + 11, "k-y-a k-soft", BARS))
    return "".join(parts), y + 18
