"""Fixes as cards, what restores or corrects first, each tried on a fork.

`draw` is the whole picture, which is saved: the first card is open. `page` is what a notebook shows: every card opens
and closes without a kernel, its diff is text that can be copied, and nothing in it is scaled.
"""

from __future__ import annotations

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import Stack, word_lines
from kvolsched.views.drawing.svg import num, picture, rect, word
from kvolsched.views.fix_rows import FixCard, FixOutcome, FixPage, FixTrial

from . import fix_body, fix_head
from .fix_head import BROAD, LEFT, PAD

GAP = 8
OPEN = ' open=""'
SPLIT = 0.56
"""Share of an open card that verdicts and fork take beside the diff, if there is room for both."""


def draw(page: FixPage, width: int, selection: str = "") -> str:
    """Draw the cards under each other, the first one open."""
    sheet = Stack()
    sheet.add(title(page, width, switched=False))
    for place, card in enumerate(page.cards):
        marks, high = _open(card, width) if place == 0 else fix_head.head(card, width, switched=False)
        frame = rect(0.5, 0.5, width - 1, high - 1, "k-fx-f" if place else "k-fx-o", 7)
        sheet.mark(_at(0, sheet.y, frame + marks), down=high + GAP)
    marks, high = _foot(page, width)
    sheet.mark(_at(0, sheet.y, marks), down=high)
    return picture(width, sheet.y, str(sheet), page.title)


def _foot(page: FixPage, width: int) -> tuple[str, float]:
    """Draw what was tried and does not help, and the meaning of the marks."""
    sheet = Stack()
    if page.refuted:
        said = FixOutcome("✕", "storage", "", "Tried, does not help:", page.refuted)
        sheet.add(fix_body.paragraph(said, 2, 0, width - 4), 8)
    marks, high = fix_head.legend(page, width)
    sheet.mark(_at(0, sheet.y, marks), down=high)
    return str(sheet), sheet.y


def _at(x: float, y: float, marks: str) -> str:
    return f'<g transform="translate({num(x)},{num(y)})">{marks}</g>' if marks else ""


def _open(card: FixCard, width: int) -> tuple[str, float]:
    """Draw a card with its body and its diff."""
    marks, high = fix_head.head(card, width, switched=False)
    wide = _body_width(card, width)
    below, body_high = fix_body.body(card, wide)
    x, code_width = (wide + 4, width - wide - 4 - PAD) if wide < width else (LEFT, width - LEFT - PAD)
    lines, code_high = fix_body.code(card, code_width) if card.diff else ("", 0)
    y = high if wide < width else high + body_high
    bottom = max(high + body_high, y + code_high + PAD)
    return marks + _at(0, high, below) + _at(x, y, lines), bottom


def _body_width(card: FixCard, width: int) -> float:
    """Return the width of an open card's body: a short diff stands beside it, if there is room."""
    return int(width * SPLIT) if width >= BROAD and card.diff and fix_body.is_short(card) else width


def title(page: FixPage, width: int, *, switched: bool = True) -> tuple[str, float]:
    """Draw the answer in one sentence, how it was found, and the heads of the columns; return marks and height."""
    beside = width >= BROAD
    lines = word_lines(page.title, width - (t.width(page.corner, 11) + 24 if beside else 0), 15, 4, bold=True)
    parts = [word(0, 16 + 19 * number, "k-title", line) for number, line in enumerate(lines)]
    y = 16.0 + 19 * (len(lines) - 1)
    if beside:
        parts.append(word(width, 16, "k-q k-end", page.corner))
    for line in () if beside else word_lines(page.corner, width, 11, 3):
        y += 16
        parts.append(word(0, y, "k-q", line))
    at = fix_head.layout(width, switched=switched)
    if page.cards and at.middle:
        return "".join(parts) + fix_head.column_heads(at, y + 37), y + 45
    for row in page.unmet:
        y += 6
        for number, line in enumerate(word_lines(row, width - 16, 12, 6)):
            y += 16
            parts += [word(14, y, "k-m", line), word(2, y, "k-m", "" if number else "•")]
    return "".join(parts), y + 12


def page(rows: FixPage, width: int, selection: str = "") -> str:
    """Return the cards as HTML whose parts are drawn: each opens on a click, and so does its diff."""
    cards = (card_html(card, width, opened=place == 0) for place, card in enumerate(rows.cards))
    marks, high = _foot(rows, width)
    head, top = title(rows, width)
    foot = picture(width, high, marks, "marks", "img") if marks else ""
    return f"{picture(width, top, head, rows.title, 'img')}{''.join(cards)}{foot}"


def draw_trial(trial: FixTrial, width: int, selection: str = "") -> str:
    """Draw one fix that was tried: the cluster without it, the fork beside, and who waits then."""
    parts: list[str] = []
    beside = width >= BROAD
    room = width - (t.width(trial.corner, 11) + 24 if beside else 0)
    lines = word_lines(trial.title, room, 15, 6, bold=True)
    parts += [word(0, 16 + 19 * number, "k-title", line) for number, line in enumerate(lines)]
    parts.append(word(width, 16, "k-q k-end", trial.corner) if beside else "")
    y = 16.0 + 19 * (len(lines) - 1) + 14
    if trial.beside.within:
        marks, high = fix_body.beside(trial.beside, 0, y, width)
        parts.append(marks)
        y += high + 2
    marks, high = fix_body.paragraph(trial.outcome, 0, y, width)
    return picture(width, y + high + 4, "".join([*parts, marks]), trial.title)


def card_html(card: FixCard, width: int, *, opened: bool = False) -> str:
    """Return one card as HTML: its closed part, and what opens below it."""
    marks, high = fix_head.head(card, width)
    at = high / 2 - 4 if fix_head.layout(width).middle else 16
    wide = _body_width(card, width)
    below, body_high = fix_body.body(card, wide)
    lines = "\n".join(_code_line(line) for line in card.diff)
    shown = OPEN if fix_body.is_short(card) else ""
    told = (card.words, card.decides, *card.notes, card.outcome.short)
    label = f"fix {card.number}: {'; '.join(told)}"
    room = f"width:{width - wide - 4 - PAD}px" if wide < width else f"width:{width - LEFT - PAD}px;margin-left:{LEFT}px"
    diff = (
        f'<details class="k-fx-v"{shown}><summary><b>YAML diff</b> · {t.escape(card.files)}</summary>'
        f'<div class="k-fx-e">{lines}</div></details>'
    ) if card.diff else ""
    fork = f'<code class="k-fx-l">{t.escape(card.code)}.fork.lab()</code>' if card.can_be_tried else ""
    return (
        f'<details class="k-fx-d"{OPEN if opened else ""} style="width:{width}px;--k-at:{num(at)}px">'
        f"<summary>{picture(width, high, marks, label, 'img')}</summary>"
        f'<div class="k-fx-w">{picture(wide, body_high, below, card.outcome.text, "img")}'
        f'<div style="{room}">{diff}{fork}</div></div></details>'
    )


def _code_line(line: str) -> str:
    role = {"+": "k-fx-i", "-": "k-fx-x", "@": "k-fx-h"}.get(line[:1], "")
    return f'<span class="{role}">{t.escape(line.removeprefix("@ "))}</span>' if role else t.escape(line)
