"""A prediction: the question, its candidates as cards, what speaks against an answer, and the scores that decided.

Before an answer all cards look alike. An answer has the accent ring and its verdict; what happened has a star; where
several nodes fit, bars show the scores that differ.
"""

from __future__ import annotations

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import Stack, paragraph, word_lines
from kvolsched.views.drawing.svg import pick, picture, rect, ring, word
from kvolsched.views.predict_rows import CandidateCard, PredictPage, ScoreBar

LEAST, GAP, INSET = 205.0, 10.0, 11.0
BAR = 20.0


def draw(page: PredictPage, width: int, selection: str = "") -> str:
    """Draw a prediction on a page of `width` px."""
    note = t.end(page.note, width * 0.4, 11)
    sheet = Stack()
    sheet.add(paragraph(0, 2, page.title, width - t.width(note, 11) - 24, "k-title", 15, bold=True, lines=3), 3)
    sheet.mark(word(width, 16, "k-q k-end", note))
    if page.about:
        sheet.add(paragraph(0, sheet.y, page.about, width, "k-m k-quiet", 12, lines=3))
    sheet.add(cards(page, sheet.y + 10, width), 22)
    if page.tag or page.revealed:
        sheet.add(_judgement(page, sheet.y, width), 10)
    if page.bars:
        sheet.add(score_bars(page, sheet.y + 4, width), 10)
    return picture(width, sheet.y, str(sheet), page.title)


def cards(page: PredictPage, top: float, width: int) -> tuple[str, float]:
    """Draw the candidates in a grid, each with what is known of it."""
    count = max(1, min(len(page.cards), int((width + GAP) // (LEAST + GAP))))
    rows = -(-len(page.cards) // count)
    count = -(-len(page.cards) // rows)  # even rows
    wide = (width - GAP * (count - 1)) / count
    parts, y = [], top
    for start in range(0, len(page.cards), count):
        row = page.cards[start : start + count]
        high = max(_height(card, wide) for card in row)
        for place, card in enumerate(row):
            parts.append(_card(card, place * (wide + GAP), y, wide, high))
        y += high + GAP
    return "".join(parts), y - GAP - top


def _verdict_lines(card: CandidateCard, wide: float) -> tuple[list[str], list[str]]:
    room = wide - 2 * INSET - 18
    head = f"{card.letter} {card.plugin}" if card.plugin and card.family != "ok" else ""
    words = word_lines(card.words, room, 11, 3)
    proof = word_lines(card.evidence, room, 10.5, 4)
    return ([t.end(head, room - 14, 11.5, bold=True)] if head else []), [*words, *proof]


def _height(card: CandidateCard, wide: float) -> float:
    facts = word_lines(card.facts, wide - 2 * INSET, 11, 3)
    high = 34 + 15.5 * len(facts) + 4
    if card.sign:
        head, lines = _verdict_lines(card, wide)
        high += 12 + 16 * len(head) + 15 * len(lines) + 8
    return high


def _card(card: CandidateCard, x: float, y: float, wide: float, high: float) -> str:
    ground = "k-p-ok k-l-ok" if card.happened else "k-chip"
    body = rect(0, 0, wide, high, ground, 7)
    body += rect(INSET, 9, 17, 17, "k-chip", 4) + word(INSET + 8.5, 21.5, "k-letters", str(card.number))
    state = f"★ {card.happened}" if card.happened else "your answer" if card.answered else ""
    room = wide - 2 * INSET - 26 - (t.width(state, 11, bold=True) + 8 if state else 0)
    body += word(INSET + 25, 22.5, "k-h", t.middle(card.name, room, 12.5, bold=True))
    if card.happened:
        body += word(wide - INSET - t.width(card.happened, 11, bold=True) - 4, 22, "k-b k-t-ok k-end", "★")
        body += word(wide - INSET, 22, "k-b k-t-ok k-end", card.happened)
    elif state:
        body += word(wide - INSET, 22, "k-b k-t-accent k-end", state)
    at = 34.0
    for line in word_lines(card.facts, wide - 2 * INSET, 11, 3):
        body += word(INSET, at + 11, "k-q", line)
        at += 15.5
    if card.sign:
        body += _verdict(card, at + 6, wide, high)
    if card.answered:
        body += ring(wide, high, 7)
    label = " · ".join(part for part in (card.name, card.facts, f"{card.sign} {card.plugin} {card.words}".strip(),
                                         card.evidence) if part)  # fmt: skip
    moved = f'<g transform="translate({x:.1f},{y:.1f})">{body}</g>'
    return pick(moved, f"answer/{card.number}", f"answer{card.number}", label)


def _verdict(card: CandidateCard, y: float, wide: float, high: float) -> str:
    """Draw the verdict on a candidate: filled if it is what speaks against an answer, outlined otherwise."""
    head, lines = _verdict_lines(card, wide)
    room, family = wide - 2 * INSET + 8, card.family
    filled = card.answered and not card.right
    ground = f"k-s-{family}" if filled else f"k-also k-l-{family if family != 'ink' else 'none'}"
    ink = " k-on" if filled else "" if family == "ink" else f" k-t-{family}"
    box = rect(INSET - 4, y, room, 16.0 * len(head) + 15 * len(lines) + 8, ground, 5)
    at = y + 4
    body = word(INSET + 4, at + 12, f"k-b{ink}", card.sign)
    for content in head:
        body += word(INSET + 18, at + 12, f"k-b{ink}", content)
        at += 16
    for content in lines:
        body += word(INSET + 18, at + 11, f"k-c{' k-on' if filled else ''}", content)
        at += 15
    return box + body


def _judgement(page: PredictPage, y: float, width: int) -> tuple[str, float]:
    """Draw the tag of the last answer, and the sentence beside it."""
    x, parts = 0.0, []
    if page.tag:
        words = t.end(page.tag[2:], width * 0.4, 12.5, bold=True)
        wide = t.width(words, 12.5, bold=True) + 34
        parts.append(rect(0, y, wide, 23, "k-s-ok" if page.right else "k-s-ink", 5))
        parts.append(word(9, y + 16, "k-h k-on", page.tag[0]) + word(25, y + 16, "k-h k-on", words))
        x = wide + 12
    marks, high = paragraph(x, y + 3, page.sentence, width - x, "k-m k-b", 12, bold=True, lines=4)
    return "".join(parts) + marks, max(23.0, high + 4)


def score_bars(page: PredictPage, top: float, width: int) -> tuple[str, float]:
    """Draw the scores in which nodes differ, best first; what all share stands in words above."""
    left = min(150.0, max((t.width(bar.node, 12, bold=True) for bar in page.bars), default=0.0) + 14)
    right = min(300.0, max([60.0, *(t.width(bar.remark, 11, bold=True) + 20 for bar in page.bars)]))
    under = width < 700
    rail = width - left - 44 - (0 if under else right)
    most = max([1, *(sum(points for _, points, _ in bar.parts) for bar in page.bars)])
    bars = Stack(top)
    if page.constant:
        bars.add(paragraph(0, top, page.constant[:1].upper() + page.constant[1:] + ".", width, "k-q", 11, lines=3), 4)
    for bar in page.bars:
        bars.add(_bar(bar, bars.y, (left, rail, most), under=under))
    return str(bars), bars.y - top


def _bar(bar: ScoreBar, y: float, scale: tuple[float, float, int], *, under: bool) -> tuple[str, float]:
    left, rail, most = scale
    ink = "k-t-ok" if bar.happened else "k-t-accent" if bar.answered else ""
    body = word(0, y + 14, f"k-n {ink}".strip(), t.middle(bar.node, left - 8, 12, bold=True))
    x, before = left, ""
    for place, (plugin, points, family) in enumerate(bar.parts):
        wide = rail * points / most
        strong = family != before
        body += rect(x, y + 1, max(0.0, wide - 1), BAR - 4, f"k-{'s' if strong else 'p'}-{family}", 2)
        for content in (f"{plugin} {points}", str(points)):
            if t.width(content, 9.5) < wide - 8:
                body += word(x + 4, y + 13, f"k-z {'k-on' if strong else f'k-t-{family}'}", content)
                break
        x, before = x + wide, family if strong else f"{place}"
    body += word(left + rail + 8, y + 14, "k-n", str(bar.total))
    label = f"{bar.node}: {', '.join(f'{plugin} {points}' for plugin, points, _ in bar.parts)}, sum {bar.total}"
    high = BAR + 3
    if bar.remark:
        sign = "★ " if bar.happened else ""
        at = (left, y + BAR + 10) if under else (left + rail + 46, y + 14)
        body += word(at[0], at[1], f"k-b {ink}", sign.strip()) + word(at[0] + (14 if sign else 0), at[1], f"k-b {ink}",
                                                                     bar.remark)
        high += 14 if under else 0
    return pick(body, f"score/{bar.node}", f"score{bar.node}", label), high
