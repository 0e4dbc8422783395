"""A prediction: the question, its candidates as cards, what speaks against an answer, and the scores that decided.

Before an answer all cards look alike. An answer has the accent ring and its verdict; what happened has a star; where
several nodes fit, bars show the scores that differ.
"""

from kvolsched.views.drawing.html import Html, block, joined, page, row, table, tag, tile, words
from kvolsched.views.predict_rows import CandidateCard, PredictPage, ScoreBar


def draw(rows: PredictPage, width: int, selection: str = "") -> str:
    """Return a prediction as a page."""
    judged = Html()
    if rows.tag or rows.revealed:
        tone = "k-s-ok" if rows.right else "k-s-ink"
        judgement = tag("b", f"k-tile {tone} k-on", rows.tag) if rows.tag else ""
        judged = tag("p", "", judgement, " ", tag("b", "", rows.sentence))
    return page(
        tag("h3", "k-title", rows.title), block("k-q", rows.note), block("k-soft", rows.about),
        tag("div", "k-cards", *(_card(card) for card in rows.cards)), judged, score_bars(rows),
    )  # fmt: skip


def _card(card: CandidateCard) -> Html:
    """Return a candidate with what is known of it."""
    state = words(f"★ {card.happened}", "k-b k-t-ok") if card.happened else (
        words("your answer", "k-b k-t-accent") if card.answered else "")
    tone = f"k-place-box{' k-p-ok' if card.happened else ''}{' k-chosen' if card.answered else ''}"
    label = " · ".join(part for part in (card.name, card.facts, f"{card.sign} {card.plugin} {card.words}".strip(),
                                         card.evidence) if part)  # fmt: skip
    return tag("div", tone, tile(str(card.number), "none"), " ", tag("b", "", card.name), "  ", state,
               block("k-q", card.facts), _verdict(card) if card.sign else "", role="button",
               data_ref=f"answer/{card.number}", aria_label=label)


def _verdict(card: CandidateCard) -> Html:
    """Return the verdict on a candidate: filled if it is what speaks against an answer, in plain ink otherwise."""
    filled, family = card.answered and not card.right, card.family
    tone = f"k-s-{family} k-on" if filled else "" if family == "ink" else f"k-t-{family}"
    head = f"{card.letter} {card.plugin}" if card.plugin and card.family != "ok" else ""
    return tag("div", f"k-side {tone}", tag("b", "", f"{card.sign} {head}"), block("", card.words),
               block("", card.evidence))


def score_bars(rows: PredictPage) -> Html:
    """Return the scores in which nodes differ, best first; what all share stands in words above."""
    if not rows.bars:
        return Html()
    most = max([1, *(sum(points for _, points, _ in each.parts) for each in rows.bars)])
    shared = f"{rows.constant[:1].upper()}{rows.constant[1:]}." if rows.constant else ""
    return joined(block("k-q", shared), table((_bar(each, most) for each in rows.bars), classes="k-plain"))


def _bar(scored: ScoreBar, most: int) -> Html:
    ink = "k-t-ok" if scored.happened else "k-t-accent" if scored.answered else ""
    parts, before = [], ""
    for plugin, points, family in scored.parts:
        strong = family != before
        tone = f"k-s-{family} k-on" if strong else f"k-p-{family} k-t-{family}"
        parts.append(tag("span", tone, f"{points} {plugin}", style=f"width:{100 * points / most:.4g}%"))
        before = family if strong else ""
    remark = words(f"{'★ ' if scored.happened else ''}{scored.remark}", f"k-b {ink}") if scored.remark else ""
    bars = tag("div", "k-bar k-parts", *parts)
    return row((tag("b", ink, scored.node), bars, tag("b", "", str(scored.total)), remark),
               ("k-name", "k-rail-cell", "k-short", ""))
