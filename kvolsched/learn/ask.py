"""A question in a lesson's own words, asked before a cell shows its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..questions.predict import Bet

if TYPE_CHECKING:
    from ..views.panel.predict import Predict


def ask(question: str, *choices: str, number: bool = False, within: float = 0) -> Predict:
    """Ask a question before a cell shows its answer: the cell under `%%after` is held back until there is one.

    Shown in a notebook it has a button for each choice, or a field for a number. The cell that is held back says what
    was right, by a value of its run: `asked.was(count)`.

    Args:
        question: the question.
        choices: the possible answers; one that names the value is right, or a range in which it lies: `1 to 9`.
        number: ask for a number instead.
        within: how far from the value a number may be and still count as right.

    Raises:
        ValueError: there are neither choices nor `number`, or both; there is one choice alone, or two are equal.

    >>> asked = ask("How many of the twelve run?", "none", "1 to 9", "10 to 12")
    >>> _ = asked.answer("1 to 9")
    >>> asked.was(4)
    >>> asked.is_right
    True
    """
    if number == bool(choices):
        raise ValueError(f"{question!r}: give choices, or number=True")
    from ..views.panel.predict import Predict  # noqa: PLC0415 - ipywidgets, only when a widget is wanted

    return Predict(Bet(question, choices, within))
