"""The open part of a fix's card: what to do and to mind, the rejections that it lifts, the fork beside, the diff."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from kvolsched.api.words import counted
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import MONOSPACE, Stack, word_lines
from kvolsched.views.drawing.svg import num, path, rect, word
from kvolsched.views.fix_rows import Beside, FixCard, FixOutcome, PlaceRow

from .fix_head import LEFT, PAD

SHORT_DIFF = 8
"""Changed lines of a diff that is not folded."""
PLACE, WIDEST = 92, 176
"""Least width of a place, px: with less the fork stands below, not beside; and its greatest."""
CODE_SIZE, CODE_PITCH, POD = 10.5, 15, 18
ARROW = 34
NAME = 56
"""Room for the name of what is said, px."""
MOST_CODE = 5
"""Lines of a command."""


def body(card: FixCard, width: float) -> tuple[str, float]:
    """Draw the open part of a card without its diff; return marks and height."""
    room, sheet = width - LEFT - PAD, Stack()
    sheet.add(_said(card, LEFT, sheet.y, room), 6 if card.said else 0)
    where = f" on {card.where}" if card.where else " before any node is looked at"
    captions = {0: f"{card.node} is new: there is no verdict on it yet" if card.is_new else "",
                1: f"the one verdict that changes{where}"}  # fmt: skip
    caption = captions.get(len(card.lifted), f"{len(card.lifted)} verdicts change{where}")
    if caption:
        sheet.mark(word(LEFT, sheet.y + 11, "k-fx-q", t.end(caption, room, 10.5)), down=18)
    if card.lifted:
        sheet.add(_sides(card, LEFT, sheet.y, min(room, 760)), 8)
    if card.beside.within:
        sheet.add(beside(card.beside, LEFT, sheet.y, room), 2)
    for said in (card.outcome, *(FixOutcome("△", "resources", "", "Mind:", note) for note in card.notes)):
        sheet.add(paragraph(said, LEFT, sheet.y, room))
    return str(sheet), sheet.y + 8


def _said(card: FixCard, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw what to do as a command line, and what else is to know, each beside its name; lost data in bold."""
    parts, top = [], y
    for name, value in card.said:
        if name == "do":
            most = max(20, int((room - NAME) / (CODE_SIZE * MONOSPACE)))
            lines, role = wrap(value, most, max_lines=MOST_CODE, placeholder=" …", break_on_hyphens=False), "k-fx-y"
        else:
            lines, role = word_lines(value, room - NAME, 11, 4), "k-b k-t-storage" if name == "data" else ""
        parts.append(word(x, y + 12, "k-fx-q", name))
        parts += [word(x + NAME, y + 12 + CODE_PITCH * number, role, line) for number, line in enumerate(lines)]
        y += CODE_PITCH * len(lines) + 2
    return "".join(parts), y - top


def _sides(card: FixCard, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw each rejection in the colour of its plugin, and beside them the verdict that follows."""
    wide = (room - ARROW) * 0.62
    parts: list[str] = []
    top = y
    for row in card.lifted:
        lines = word_lines(row.words, wide - 20, 11, 4)
        tall = 28 + 15 * len(lines)
        parts.append(rect(x, top, wide, tall, f"k-s-{row.family}", 5))
        parts.append(word(x + 10, top + 17, "k-m k-on", row.glyph))
        parts.append(word(x + 25, top + 17, "k-b k-on", t.end(f"{row.plugin} rejects it", wide - 36, 11, bold=True)))
        parts += [word(x + 10, top + 33 + 15 * n, "k-on", line) for n, line in enumerate(lines)]
        top += tall + 5
    high = top - 5 - y
    parts.append(_arrow(x + wide + ARROW / 2, y + high / 2))
    x, wide = x + wide + ARROW, room - wide - ARROW
    after = word_lines(f"every plugin accepts {card.node.partition(' +')[0]}", wide - 20, 11, 3)
    box = min(high, 28 + 15 * len(after) + 4)
    top = y + (high - box) / 2
    parts.append(rect(x, top, wide, box, "k-fx-p", 5))
    parts.append(word(x + 10, top + 17, "k-m k-t-ok", "✓"))
    parts.append(word(x + 25, top + 17, "k-b k-t-ok", "passes"))
    parts += [word(x + 10, top + 33 + 15 * n, "k-t-ok", line) for n, line in enumerate(after)]
    return "".join(parts), high


def _arrow(x: float, y: float) -> str:
    return path(f"M{num(x - 9)} {num(y)}h17m-5 -4l5 4l-5 4", "k-fx-r")


def beside(both: Beside, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw the places that a fix concerns, without the fix and in the fork beside; return marks and height."""
    steps = f"in the fork, {counted(both.steps, 'step')} later"
    across = (room - ARROW) / 2 >= PLACE * len(both.within)
    half = min((room - ARROW) / 2 if across else room, (WIDEST + 6) * len(both.within) - 6)
    parts, y0 = [], y
    for number, (said, places) in enumerate((("without the fix", both.without), (steps, both.within))):
        left = x + (half + ARROW) * number if across else x
        top = y if across else y0
        parts.append(word(left, top + 11, "k-fx-q", t.end(said, half, 10.5)))
        marks, high = _places(places, left, top + 18, half, forked=number == 1)
        parts.append(marks)
        y0 = top + 18 + high + (0 if across else 6)
    tallest = max(_height(places) for places in (both.without, both.within))
    if across:
        parts.append(_arrow(x + half + ARROW / 2, y + 18 + tallest / 2))
        y0 = y + 18 + tallest + 4
    if both.rest:
        parts.append(word(x, y0 + 9, "k-fx-q", t.end(f"{both.rest}: no difference", room, 10.5)))
        y0 += 15
    return "".join(parts), y0 - y


def _height(places: tuple[PlaceRow, ...]) -> float:
    return 26 + POD * max((len(place.pods) + bool(place.more) for place in places), default=0) + 6


def _places(places: tuple[PlaceRow, ...], x: float, y: float, room: float, *, forked: bool) -> tuple[str, float]:
    wide, high = (room - 6 * (len(places) - 1)) / max(1, len(places)), _height(places)
    parts = []
    for number, place in enumerate(places):
        left = x + (wide + 6) * number
        absent = place.kind == "new" and not forked
        ground = "k-void" if absent or place.kind == "tray" else "k-panel"
        parts.append(rect(left + 0.5, y + 0.5, wide - 1, high - 1, ground, 6))
        said = "not there yet" if absent else place.title
        parts.append(word(left + 8, y + 17, "k-q" if absent else "k-b", t.middle(said, wide - 16, 11, bold=True)))
        if not place.pods and not absent:
            parts.append(word(left + 8, y + 36, "k-fx-q", "nobody" if place.kind == "tray" else "no pod"))
        for row, (name, differs) in enumerate(place.pods):
            role = ("storage" if place.kind == "tray" else "ok") if forked else "none"
            glyph = "○" if place.kind == "tray" else "●"
            parts.append(_pod(glyph, name, left + 5, y + 25 + POD * row, wide - 10, role if differs else ""))
        if place.more:
            parts.append(word(left + 8, y + 25 + POD * len(place.pods) + 12, "k-fx-q", f"+{place.more} more"))
    return "".join(parts), high


def _pod(glyph: str, name: str, x: float, y: float, wide: float, role: str) -> str:
    """Draw a pod: one that the fix concerns as a block in the colour of a role, all others in quiet words."""
    shown = t.middle(name, wide - 22, 10.5, bold=bool(role))
    if not role:
        return word(x + 4, y + 12, "k-z", glyph) + word(x + 16, y + 12, "k-fx-q", shown)
    ground, ink = ("k-chip", "k-strong") if role == "none" else (f"k-p-{role}", f"k-t-{role}")
    marks = word(x + 4, y + 12, f"k-z {ink}", glyph) + word(x + 16, y + 12, f"k-fx-s {ink}", shown)
    return rect(x, y, wide, POD - 2, ground, 4) + marks


def paragraph(said: FixOutcome, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw words that begin in bold, after a glyph; return marks and height."""
    start = t.width(said.bold, 11, bold=True) + 5
    lines = list(_with_first_line(said.text, room - 18 - start, room - 18))
    parts = [word(x + 1, y + 14, f"k-m k-t-{said.role}", said.glyph), word(x + 18, y + 14, "k-b", said.bold)]
    parts += [word(x + 18 + (0 if n else start), y + 14 + 15 * n, "", line) for n, line in enumerate(lines)]
    return "".join(parts), 5 + 15 * len(lines)


def _with_first_line(said: str, first: float, room: float) -> Iterator[str]:
    """Yield words in lines, of which the first is shorter; at most seven."""
    words = said.split()
    kept: list[str] = []
    while words and t.width(" ".join([*kept, words[0]]), 11) <= first:
        kept.append(words.pop(0))
    yield " ".join(kept)
    yield from word_lines(" ".join(words), room, 11, 6) if words else ()


def is_short(card: FixCard) -> bool:
    """Say whether the diff of a card is short enough to be shown unfolded."""
    return sum(line[:1] in "+-" for line in card.diff) <= SHORT_DIFF


def code(card: FixCard, width: float) -> tuple[str, float]:
    """Draw the diff, cut if it is long; return marks and height."""
    shown = card.diff if is_short(card) else card.diff[:SHORT_DIFF]
    parts = [word(0, 11, "k-b", "YAML diff"),
             word(62, 11, "k-fx-q", t.end(f"· {card.files}", width - 62, 10.5))]  # fmt: skip
    high = CODE_PITCH * len(shown) + 12
    parts.append(rect(0, 18, width, high, "k-p-none", 5))
    most = int((width - 16) / (CODE_SIZE * MONOSPACE))
    for number, line in enumerate(shown):
        y = 24 + CODE_PITCH * number
        role = {"+": "ok", "-": "storage"}.get(line[:1], "")
        if role:
            parts.append(rect(0, y, width, CODE_PITCH, f"k-p-{role}"))
        cut = line if len(line) <= most else line[: most - 1] + "…"
        kept = cut.removeprefix("@ ").replace(" ", "\u00a0")  # SVG drops other spaces at the start of a line
        ink = " k-soft k-b" if line.startswith("@") else f" k-t-{role}" if role else ""
        parts.append(word(8, y + 11, f"k-fx-y{ink}", kept))
    if len(shown) < len(card.diff):
        parts.append(word(0, high + 32, "k-fx-q", f"… {len(card.diff) - len(shown)} more lines: {card.code}.diff"))
        high += 18
    return "".join(parts), 18 + high
