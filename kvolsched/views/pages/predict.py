"""A prediction: the question, its candidates as cards, what speaks against an answer, and the scores that decided.

Before an answer all cards look alike. An answer has the accent ring and its verdict; what happened has a star; where
several nodes fit, bars show the scores that differ.
"""

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.questions.predict import AskedQuestion, PossibleAnswer
from kvolsched.rules.named import plugin_card
from kvolsched.views.drawing.html import Html, block, joined, page, row, table, tag, tile, words

HAPPENED = {
    "node": "chosen", "plugin": "first", "volume": "taken", "end": "ends so", "order": "goes next",
    "incident": "so it is", "bet": "so it is",
}  # fmt: skip
ASK = "Nothing is judged before an answer."
AGAIN = "Try another, or let it happen."
SEE = "Let it happen, and see why."
RUN = "Run the cell below."


@frozen
class CandidateCard:
    """One candidate."""

    number: int  # From 1
    name: str
    facts: str  # What the API says of it
    answered: bool  # Whether it was an answer
    happened: str = ""  # If it is what happened, and that is shown, the word for it, such as "chosen"
    right: bool | None = None  # Whether it counts as right; None before that is shown
    sign: str = ""  # ✓, ✕ or ⊘ of its verdict; empty before it is shown
    words: str = ""  # The verdict
    evidence: str = ""  # Both sides of the comparison
    plugin: str = ""  # That gives the verdict; empty if none does
    letter: str = ""
    family: str = "ink"  # Of the plugin; without one "ok" or "ink"


@frozen
class ScoreBar:
    """One node that fits: its scores in which nodes differ, as (plugin, points, family), their sum, and a remark."""

    node: str
    parts: tuple[tuple[str, int, str], ...]
    total: int
    remark: str
    happened: bool
    answered: bool


@frozen
class PredictPage:
    """A prediction as it is shown."""

    title: str  # The question
    about: str  # What is known of its subject
    note: str  # Once shown: when it happened
    cards: tuple[CandidateCard, ...]  # The candidates, by name
    tag: str  # The judgement of the last answer in a few words
    right: bool | None  # Whether the last answer is right; None without one
    sentence: str  # What decided, or what to do next
    bars: tuple[ScoreBar, ...]  # Nodes that fit, best first, if several were scored; empty before that is shown
    constant: str  # The scores that all nodes share, in words
    revealed: bool  # Whether it happened


def rows_of(asked: AskedQuestion) -> PredictPage:
    """Return the rows of a prediction."""
    cards = tuple(_card(asked, number, candidate) for number, candidate in enumerate(asked.candidates, 1))
    last = asked.answers[-1] if asked.answers else ""
    right = asked.is_right if last and asked.is_known else None
    outcome = asked.outcome
    tag = "" if not last else last if right is None else ("✓ " if right else "✕ not ") + last
    if outcome is not None and right and outcome.happened not in _members(asked, last):
        tag = f"✓ as good as {outcome.happened}"
    then = RUN if asked.revealed else SEE if right else AGAIN if last else ASK
    sentence = outcome.sentence if outcome is not None else then
    bars, constant = _bars(asked)
    which = "key 1" if len(cards) == 1 else f"keys 1 to {min(9, len(cards))}"
    keys = f"{counted(len(cards), 'candidate')}, {which}" if cards else ""
    note = outcome.note if outcome is not None else keys
    return PredictPage(asked.title, asked.about, note, cards, tag, right, sentence, bars, constant, asked.revealed)


def _members(asked: AskedQuestion, name: str) -> tuple[str, ...]:
    return next((each.stands_for for each in asked.candidates if each.name == name), ())


def _card(asked: AskedQuestion, number: int, candidate: PossibleAnswer) -> CandidateCard:
    answered, verdict = candidate.name in asked.answers, asked.verdict(candidate)
    if verdict is None:
        return CandidateCard(number, candidate.name, candidate.facts, answered)
    letter = plugin_card(verdict.plugin).letter or verdict.plugin[:1]
    rejects = bool(verdict.plugin) and not verdict.right
    sign = "✓" if verdict.right else "✕" if verdict.resolvable else "⊘"
    family = plugin_card(verdict.plugin).family if rejects else "ok" if verdict.right else "ink"
    also = f"; {', '.join(plugin_card(name).letter or name for name in verdict.also)} too" if verdict.also else ""
    plugin = verdict.plugin if verdict.plugin != candidate.name else ""  # a plugin that is a candidate is named there
    return CandidateCard(
        number, candidate.name, candidate.facts, answered,
        HAPPENED[asked.ask] if asked.happened(candidate) else "", verdict.right, sign,
        verdict.words + also, verdict.evidence, plugin, letter, family,
    )  # fmt: skip


def _bars(asked: AskedQuestion) -> tuple[tuple[ScoreBar, ...], str]:
    """Return a bar for each node that was scored, of the plugins whose points differ, and the other points in words."""
    outcome = asked.outcome
    if outcome is None or len(outcome.scores) < 2:
        return (), ""
    plugins = list(next(iter(outcome.scores.values())))
    differing = [name for name in plugins if len({scores[name] for scores in outcome.scores.values()}) > 1]
    equal = [(name, next(iter(outcome.scores.values()))[name]) for name in plugins if name not in differing]
    shared = [f"{name} {points}" for name, points in equal if points]
    answered = {member for name in asked.answers for member in _members(asked, name)}
    top = sum(outcome.scores.get(outcome.happened, {}).values())
    bars = []
    for node, scores in outcome.scores.items():
        total = sum(scores.values())
        happened = node == outcome.happened
        equals = sum(sum(other.values()) == top for other in outcome.scores.values())
        remark = f"drawn among {equals} equal" if happened and equals > 1 else "chosen" if happened else ""
        if node in answered and not happened:
            remark = f"your answer: {'an equal sum, counts as right' if total == top else f'{top - total} short'}"
        parts = tuple((name, scores[name], plugin_card(name).family) for name in differing)
        bars.append(ScoreBar(node, parts, total, remark, happened, node in answered))
    bars.sort(key=lambda bar: (-bar.total, bar.node))
    return tuple(bars), f"the same for each, left out of the bars: {', '.join(shared)}" if shared else ""


def draw(rows: PredictPage, width: int, selection: str = "") -> str:
    """Return a prediction as a page."""
    judged = Html()
    if rows.tag or rows.revealed:
        tone = "k-s-ok" if rows.right else "k-s-ink"
        judgement = tag("b", f"k-tile {tone} k-on", rows.tag) if rows.tag else ""
        judged = tag("p", "", judgement, " ", tag("b", "", rows.sentence))
    return page(
        tag("h3", "k-title", rows.title), block("k-q", rows.note), block("k-soft", rows.about),
        tag("div", "k-cards", *(_card_html(card) for card in rows.cards)), judged, score_bars(rows),
    )  # fmt: skip


def _card_html(card: CandidateCard) -> Html:
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
    tone = f"k-t-{family}" if family != "ink" and not filled else f"k-s-{family} k-on" if family != "ink" else (
        "k-refused" if filled else "")
    head = f"{card.letter} {card.plugin}" if card.plugin and card.family != "ok" else ""
    return tag("div", f"k-side {tone}", tag("b", "", f"{card.sign} {head}"), block("", card.words),
               block("", card.evidence))


def score_bars(rows: PredictPage) -> Html:
    """Return the scores in which nodes differ, best first; what all share stands in words above."""
    if not rows.bars:
        return Html()
    most = max(sum(points for _, points, _ in each.parts) for each in rows.bars)
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
