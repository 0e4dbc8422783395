"""The closed part of a fix's card: what to do and who decides, the verdicts that change, the node, what is touched."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import word_lines
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.fix_rows import COLUMNS, MADE, FixCard, FixPage, LiftedRow

PAD = 12
"""Room between a card's edge and its content, px."""
LEFT = 44
"""Where the words of a card begin, px: before them stands its number."""
BROAD, MIDDLE = 880, 660
"""From these widths on: a column for each kind of object; one line a card."""
OBJECT, PILL = 39, 62
MAX_CHIPS = 4


@frozen
class Layout:
    """Where the columns of a card lie, from its left edge."""

    width: int
    verdicts: float
    node: float
    touched: float
    restart: float
    outcome: float
    pill: float

    @property
    def broad(self) -> bool:
        """Whether each kind of object has a column."""
        return self.width >= BROAD

    @property
    def middle(self) -> bool:
        """Whether a card is one line."""
        return self.width >= MIDDLE

    def object_middle(self, number: int) -> float:
        """Return the middle of the column of a kind of object."""
        return self.touched + OBJECT * (number + 0.5)


def layout(width: int, *, switched: bool = True) -> Layout:
    """Return the columns of a card of `width` px, with room for the switch that opens it on a page."""
    pill = width - PAD - (PILL if switched else -8)
    if width >= BROAD:
        outcome = pill - (128 if width < 1100 else 190)
        restart = outcome - 62
        touched = restart - OBJECT * len(COLUMNS)
        node = touched - (108 if width < 1100 else 136)
        return Layout(width, node - 74, node, touched, restart, outcome, pill)
    outcome = pill - 116
    touched = outcome - 88
    node = touched - 84
    return Layout(width, node - 70, node, touched, touched, outcome, pill)


def column_heads(at: Layout, y: float) -> str:
    """Draw the heads of the columns, the last line of each on `y`."""
    heads = [(LEFT, ("what to do, and who decides",)), (at.verdicts, ("what", "changes")),
             (at.node, ("then it", "fits")), (at.outcome, ("who waits then,", "whom it concerns"))]  # fmt: skip
    heads += [] if at.broad else [(at.touched, ("what it", "touches"))]
    parts = [word(x, y + 13 * (n + 1 - len(both)), "k-w", line) for x, both in heads for n, line in enumerate(both)]
    if at.broad:
        parts += [word(at.object_middle(number), y, "k-w k-mid", name) for number, name in enumerate(COLUMNS)]
        parts += [word(at.restart + 26, y - 13, "k-w k-mid", "needs"), word(at.restart + 26, y, "k-w k-mid", "restart")]
    return "".join(parts)


def head(card: FixCard, width: int, *, switched: bool = True) -> tuple[str, float]:
    """Draw the closed part of a card, with the switch that opens it on a page; return marks and height."""
    at = layout(width, switched=switched)
    marks, high = _row(card, at) if at.middle else _stacked(card, at)
    y = high / 2 - 12 if at.middle else 9
    return marks + (_switch(card, at.pill, y) if switched else ""), high


def _switch(card: FixCard, x: float, y: float) -> str:
    """Draw the switch in both states: a sheet hides one of them."""
    middle = x + PILL / 2
    ask, done = ("Try it", "tried") if card.can_be_tried else ("Open", "open")
    off = rect(x, y, PILL, 24, "k-chip", 6) + word(middle, y + 16, "k-b k-mid k-t-accent", ask)
    on = rect(x, y, PILL, 24, "k-s-accent", 6) + word(x + 11, y + 16, "k-m k-on", "✓")
    on += word(middle + 7, y + 16, "k-b k-mid k-on", done)
    return f'<g class="k-fx-off">{off}</g><g class="k-fx-on">{on}</g>'


def _row(card: FixCard, at: Layout) -> tuple[str, float]:
    """Draw a card in one line."""
    room = at.verdicts - LEFT - 12
    words = word_lines(card.words, room, 12.5, 5, bold=True)
    short = word_lines(card.outcome.short, at.pill - at.outcome - 24, 11, 3, bold=True)
    others = word_lines(card.others, at.pill - at.outcome - 8, 10, 3) if card.others else []
    touched = [] if at.broad else touched_words(card)
    decides = word_lines(card.decides, room, 10.5, 2)
    told = 16 * len(words) + 13 * len(decides)
    chips = max(1, min(MAX_CHIPS, len(card.lifted)))
    high = max(46.0, told + 17.0, 21 * chips + 14, 15 * len(short) + 13 * len(others) + 18,
               14 * len(touched) + 14)  # fmt: skip
    middle = high / 2
    y = middle - (told + 2) / 2 + 12
    parts = [_number(card, middle + 4.5)]
    parts += [word(LEFT, y + 16 * number, "k-h", line) for number, line in enumerate(words)]
    parts += [word(LEFT, y + 16 * len(words) - 1 + 13 * number, "k-fx-q", line) for number, line in enumerate(decides)]
    parts.append(_verdicts(card, at.verdicts, middle - 21 * chips / 2))
    parts.append(_node(card, at.node, middle + 4, at.touched - at.node - 8))
    if at.broad:
        parts.append(_objects(card, at, middle))
        parts.append(_restart(card, at.restart + 26, middle))
    else:
        top = middle - 14 * len(touched) / 2 + 11
        parts += [word(at.touched, top + 14 * n, "k-fx-q", t.end(line, 84, 10.5)) for n, line in enumerate(touched)]
    top = middle - (15 * len(short) + 13 * len(others)) / 2 + 11
    parts.append(_outcome(card, at.outcome, top, short))
    parts += [word(at.outcome, top + 15 * len(short) - 1 + 13 * n, "k-w", line) for n, line in enumerate(others)]
    return "".join(parts), high


def _stacked(card: FixCard, at: Layout) -> tuple[str, float]:
    """Draw a card for a narrow page: words, then verdicts with node and objects, then who waits."""
    room = at.width - LEFT - PAD
    words = word_lines(card.words, at.pill - LEFT - 10, 12.5, 5, bold=True)
    parts = [_number(card, 24)]
    parts += [word(LEFT, 24 + 16 * number, "k-h", line) for number, line in enumerate(words)]
    y = 24 + 16 * len(words) - 1
    decides = word_lines(card.decides, room if len(words) > 1 else at.pill - LEFT - 10, 10.5, 2)
    parts += [word(LEFT, y + 13 * number, "k-fx-q", line) for number, line in enumerate(decides)]
    y += 13 * len(decides) - 5
    chips = max(1, min(MAX_CHIPS, len(card.lifted)))
    middle = y + 10.5 * chips + 4
    shown = t.middle(card.node, 150, 11, bold=True)
    parts.append(_verdicts(card, LEFT, y))
    parts.append(_node(card, LEFT + 74, middle, 164))
    x = LEFT + 74 + 14 + t.width(shown, 11, bold=True) + 14
    parts.append(word(x, middle, "k-fx-q", t.end(f"· {', '.join(touched_words(card))}", at.width - PAD - x, 10.5)))
    y += 21 * chips + 15
    asks = "who waits then:"
    parts.append(word(LEFT, y, "k-fx-q", asks))
    x = LEFT + t.width(asks, 10.5) + 8
    short = t.end(card.outcome.short, at.width - PAD - x - 16, 11, bold=True)
    parts.append(_outcome(card, x, y, [short]))
    x += 16 + t.width(short, 11, bold=True) + 10
    if card.others and at.width - PAD - x > 60:
        parts.append(word(x, y, "k-w", t.end(f"· {card.others}", at.width - PAD - x, 10)))
    return "".join(parts), y + 13


def _number(card: FixCard, y: float) -> str:
    return word(30, y, "k-h k-soft k-mid", str(card.number))


def _verdicts(card: FixCard, x: float, y: float) -> str:
    """Draw, for each plugin, its letter and how its verdict changes."""
    if not card.lifted:
        if not card.node:
            return ""
        said = "new node" if card.is_new else "fits"
        return word(x, y + 14.5, "k-m k-t-ok", "✓") + word(x + 14, y + 14.5, "k-fx-q", said)
    parts = []
    for number, row in enumerate(card.lifted[:MAX_CHIPS]):
        top = y + 21 * number + 2
        parts.append(chip(row, x, top))
        if number == MAX_CHIPS - 1 and len(card.lifted) > MAX_CHIPS:
            parts.append(word(x + 24, top + 12.5, "k-fx-q", f"+{len(card.lifted) - MAX_CHIPS}"))
            break
        for place, glyph in enumerate((row.glyph, "→", "✓")):
            family = "k-t-ok" if place == 2 else f"k-t-{row.family}" if place == 0 else "k-soft"
            parts.append(word(x + 23 + 13 * place, top + 12.5, f"k-m {family}", glyph))
    return "".join(parts)


def chip(row: LiftedRow, x: float, y: float) -> str:
    """Draw the letter of a plugin on the pale ground of its family."""
    ground = rect(x, y, 18, 17, f"k-p-{row.family}", 4)
    return ground + word(x + 9, y + 12.5, f"k-b k-mid k-t-{row.family}", row.letter)


def _node(card: FixCard, x: float, y: float, room: float) -> str:
    if not card.node:
        return word(x, y, "k-q", "·")
    shown = t.middle(card.node, room - 14, 11, bold=True)
    return word(x, y, "k-m k-t-ok", "→") + word(x + 14, y, "k-b k-t-ok", shown)


def _objects(card: FixCard, at: Layout, middle: float) -> str:
    parts = []
    for number, name in enumerate(COLUMNS):
        x = at.object_middle(number)
        found = [touched for touched in card.touched if touched.column == name]
        if not found:
            parts.append(word(x, middle + 4, "k-q k-mid", "·"))
            continue
        how = found[0].how
        shown = how if len(found) == 1 else f"{len(found)} {how}"
        parts.append(word(x, middle + 1, "k-fx-m k-mid", "+" if how == MADE else "●"))
        parts.append(word(x, middle + 14, "k-z k-mid", shown))
    return "".join(parts)


def _restart(card: FixCard, x: float, middle: float) -> str:
    if card.restart == "no":
        return word(x, middle + 4, "k-q k-mid", "no")
    if card.restart == "yes":
        return word(x - 12, middle + 4, "k-m k-mid", "↻") + word(x + 8, middle + 4, "k-m k-mid", "yes")
    start = x - (14 + t.width(card.restart, 10.5)) / 2
    return word(start, middle + 4, "k-m", "?") + word(start + 11, middle + 4, "k-fx-q", card.restart)


def touched_words(card: FixCard) -> list[str]:
    """Return what a card touches, a line for each column, and whether a container stops."""
    lines = []
    for name in COLUMNS:
        found = [touched for touched in card.touched if touched.column == name]
        if found:
            several = f"{len(found)} {name}{'es' if name.endswith('s') else 's'}"
            lines.append(f"{name if len(found) == 1 else several} {found[0].how}")
    asks = {"yes": "pods restart", "no": ""}.get(card.restart, f"restart? {card.restart}")
    return [*lines, *([asks] if asks else [])]


def _outcome(card: FixCard, x: float, y: float, lines: Sequence[str]) -> str:
    role = card.outcome.role
    parts = [word(x, y, f"k-m k-t-{role}", card.outcome.glyph)]
    parts += [word(x + 16, y + 15 * n, f"k-b k-t-{role}", line) for n, line in enumerate(lines)]
    return "".join(parts)


def legend(page: FixPage, width: int) -> tuple[str, float]:
    """Draw the meaning of the marks that are drawn; return marks and height."""
    if not page.cards or not layout(width).broad:
        return "", 4
    hows = {touched.how for card in page.cards for touched in card.touched}
    restarts = {card.restart for card in page.cards}
    entries = [("●", "an object is edited, replaced or gone")] if hows - {MADE} else []
    entries += [("+", "an object is made")] if MADE in hows else []
    entries += [("·", "not touched")]
    entries += [("↻", "pods that run are made anew")] if "yes" in restarts else []
    entries += [("?", "with its machine")] if "machine" in restarts else []
    if "driver" in {touched.column for card in page.cards for touched in card.touched}:
        entries.append(("", "driver: CSINode and CSIStorageCapacity, which no user writes"))
    parts, x, y = [], 2.0, 16.0
    for glyph, meaning in entries:
        wide = (14 if glyph else 0) + t.width(meaning, 10.5) + 18
        if x + wide - 18 > width:
            x, y = 2.0, y + 17
        parts += [word(x, y, "k-m", glyph), word(x + (14 if glyph else 0), y, "k-fx-q", meaning)]
        x += wide
    return "".join(parts), y + 8
