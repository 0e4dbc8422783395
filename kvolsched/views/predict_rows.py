"""The rows from which a prediction is drawn: its candidates, what speaks for or against them, the sums of scores."""

from attrs import frozen


@frozen
class CandidateCard:
    """One candidate."""

    number: int  # From 1
    name: str
    facts: str  # What the API says of it
    answered: bool = False  # Whether it was an answer
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
    remark: str = ""
    happened: bool = False
    answered: bool = False


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
    bars: tuple[ScoreBar, ...] = ()  # Nodes that fit, best first, if several were scored; empty before that is shown
    constant: str = ""  # The scores that all nodes share, in words
    revealed: bool = False  # Whether it happened
