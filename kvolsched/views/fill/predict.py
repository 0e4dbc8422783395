"""A prediction as rows: only verdicts that are shown, of candidates that were answered or of all once it happened."""

from kvolsched.questions.predict import NONE, AskedQuestion, PossibleAnswer
from kvolsched.rules.named import plugin_card
from kvolsched.views.predict_rows import CandidateCard, PredictPage, ScoreBar

HAPPENED = {
    "node": "chosen", "plugin": "first", "volume": "taken", "end": "ends so", "order": "goes next",
    "incident": "so it is", "bet": "so it is",
}  # fmt: skip
ASK = "Nothing is judged before an answer."
AGAIN = "Try another, or let it happen."
SEE = "Let it happen, and see why."
RUN = "Run the cell below."


def rows_of(asked: AskedQuestion) -> PredictPage:
    """Return the rows of a prediction."""
    cards = tuple(_card(asked, number, candidate) for number, candidate in enumerate(asked.candidates, 1))
    last = asked.answers[-1] if asked.answers else ""
    right = asked.is_right if last and asked.is_known else None
    outcome = asked.outcome
    tag = "" if not last else last if right is None else ("✓ " if right else "✕ not ") + last
    if outcome is not None and right and last != outcome.happened and outcome.happened not in _members(asked, last):
        tag = f"✓ as good as {outcome.happened}"
    then = RUN if asked.revealed else SEE if right else AGAIN if last else ASK
    sentence = outcome.sentence if outcome is not None else then
    bars, constant = _bars(asked)
    keys = f"{len(cards)} candidates, keys 1 to {min(9, len(cards))}" if cards else ""
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
        verdict.words + also, verdict.evidence, plugin, letter if plugin else "", family,
    )  # fmt: skip


def _bars(asked: AskedQuestion) -> tuple[tuple[ScoreBar, ...], str]:
    """Return a bar for each node that was scored, of the plugins whose points differ, and the other points in words."""
    outcome = asked.outcome
    if outcome is None or len(outcome.scores) < 2 or asked.ask not in ("node", "end"):
        return (), ""
    plugins = list(next(iter(outcome.scores.values())))
    differing = [name for name in plugins if len({scores[name] for scores in outcome.scores.values()}) > 1]
    equal = [(name, next(iter(outcome.scores.values()))[name]) for name in plugins if name not in differing]
    shared = [f"{name} {points}" for name, points in equal if points]
    answered = {member for name in asked.answers for member in _members(asked, name)} - {NONE}
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
