"""The rows from which a prediction is drawn: its candidates, what speaks for or against them, the sums of scores."""

from __future__ import annotations

from attrs import frozen


@frozen
class CandidateCard:
    """One candidate.

    Args:
        number, name, facts: its number from 1, its name, and what the API says of it.
        answered: whether it was an answer.
        happened: if it is what happened, and that is shown, the word for it, such as "chosen".
        right: whether it counts as right; None before that is shown.
        sign: ✓, ✕ or ⊘ of its verdict; empty before it is shown.
        words, evidence: the verdict, and both sides of the comparison.
        plugin, letter, family: the plugin that gives the verdict; empty, and family "ok" or "ink", if none does.
    """

    number: int
    name: str
    facts: str
    answered: bool = False
    happened: str = ""
    right: bool | None = None
    sign: str = ""
    words: str = ""
    evidence: str = ""
    plugin: str = ""
    letter: str = ""
    family: str = "ink"


@frozen
class ScoreBar:
    """One node that fits: its scores in which nodes differ, as (plugin, points, family), their sum, and a remark."""

    node: str
    parts: tuple[tuple[str, int, str], ...]
    total: int
    remark: str = ""
    happened: bool = False
    answered: bool = False


@frozen
class PredictPage:
    """A prediction as it is shown.

    Args:
        title, about, note: the question, what is known of its subject, and, once shown, when it happened.
        cards: the candidates, by name.
        tag, right: the judgement of the last answer in a few words, and whether it is right; None without an answer.
        sentence: what decided, or what to do next.
        bars: the nodes that fit, best first, if several were scored; empty before that is shown.
        constant: the scores that all nodes share, in words.
        revealed: whether it happened.
    """

    title: str
    about: str
    note: str
    cards: tuple[CandidateCard, ...]
    tag: str
    right: bool | None
    sentence: str
    bars: tuple[ScoreBar, ...] = ()
    constant: str = ""
    revealed: bool = False
