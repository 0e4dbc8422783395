"""A bet: a question in a lesson's own words, and what was right, which a later cell says by a value of its run.

A choice is right if it names the value, never because a cell that everybody reads says which words are right.
"""

import re
from typing import Any, Self

import attrs

from ...api.words import listed
from .candidates import PossibleAnswer
from .outcome import Outcome, Verdict
from .prediction import AskedQuestion

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANGE = re.compile(rf"({_NUMBER.pattern}) to ({_NUMBER.pattern})")
_BOUND = re.compile(rf"(more|fewer|less) than ({_NUMBER.pattern})")


class Bet(AskedQuestion):
    """One question with choices, or for a number. Mutable: it takes one answer, and `was` tells what was right.

    Args:
        title: the question.
        choices: the possible answers; none if a number is asked for.
        within: how far from the value a number may be.

    Raises:
        ValueError: there is one choice alone, or two are equal.
    """

    def __init__(self, title: str, choices: tuple[str, ...], within: float = 0) -> None:
        if len(choices) == 1 or len(set(choices)) < len(choices):
            raise ValueError(f"{title!r} wants two or more choices that differ, or number=True; got {listed(choices)}")
        about = f"{within:g} more or less is right, too" if within else ""
        super().__init__(title, "bet", about, tuple(map(PossibleAnswer, choices)), ("bet", title, ""))
        self.is_number, self.within = not choices, within
        self._found: Outcome | None = None
        self._value = ""

    def answer(self, name: Any) -> Self:
        """Answer with a choice, its number from 1, or the number that is asked for; the first answer counts.

        Raises:
            ValueError: there is no such choice, or it is no number.
        """
        if self.answers or self.revealed:
            return self
        super().answer(name)
        self.revealed = True
        return self

    def was(self, value: Any) -> None:
        """Say what was right, by a value of the run.

        A choice is right if it is the value, has it as a word, or is a range in which it lies: `1 to 9`, `more than 9`,
        `fewer than 3`; *none* is 0. True is the choice that begins with *yes*, False the one that begins with *no*.

        Raises:
            ValueError: no choice is right, or more than one is.
        """
        right = [f"{float(value):g}"] if self.is_number else [
            each.name for each in self.candidates if _means(each.name, value)]  # fmt: skip
        known = {each.name: Verdict(each.name in right, "") for each in self.candidates}
        if len(right) != 1:
            raise ValueError(f"{value!r} must be one of the choices, and is {len(right)} of: "
                             f"{', '.join(each.name for each in self.candidates)}")  # fmt: skip
        sentence = f"It was {value}." if self.is_number or str(value) != right[0] else ""
        self._value = str(value)
        self._found = Outcome(right[0], known, sentence, "", 0)
        self._tries[:] = [self._outcome.verdicts[name].right for name in self.answers]

    @property
    def is_known(self) -> bool:
        """Whether a value of the run has been told."""
        return self._found is not None

    @property
    def right(self) -> str:
        """The value that was told, as text; "" before."""
        return self._value

    @property
    def _outcome(self) -> Outcome:
        if self._found is None:
            raise ValueError(f"{self.title!r}: run the cell that follows; it says what was right")
        near = {name: Verdict(abs(float(name) - float(self._value)) <= self.within, "") for name in self.answers
                if self.is_number}  # fmt: skip
        return attrs.evolve(self._found, verdicts={**self._found.verdicts, **near})

    def _candidate(self, name: Any) -> PossibleAnswer:
        if not self.is_number:
            return super()._candidate(name)
        asked = PossibleAnswer(f"{float(name):g}")
        if asked not in self.candidates and not self.answers:
            self.candidates = (asked,)
        return asked


def _means(choice: str, value: Any) -> bool:
    """Whether a choice names a value."""
    if isinstance(value, bool):
        return choice.lower().split()[0].strip(",.:;") == ("yes" if value else "no")
    if isinstance(value, int | float):
        if found := _RANGE.search(choice):
            return float(found[1]) <= value <= float(found[2])
        if found := _BOUND.search(choice):
            return value > float(found[2]) if found[1] == "more" else value < float(found[2])
        first = _NUMBER.search(choice)
        none = not value and choice.lower().startswith("none")
        return none or (first is not None and float(first[0]) == value)
    word = re.escape(str(value).strip())
    return bool(word) and re.search(rf"(?<![\w-]){word}(?![\w-])", choice, re.IGNORECASE) is not None
