"""Which picture an answer of the engine has: a line for each type of answer, drawn when it is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .drawing.figure import Figure


def _decoded(answer: Any) -> Figure:
    from .fill.decode import rows_of  # noqa: PLC0415
    from .pictures.decode import draw  # noqa: PLC0415

    rows = rows_of(answer)
    return Figure(lambda width, selection: draw(rows, width, selection), repr(answer))


def _patches(answer: Any) -> Figure:
    from .fill.may import rows_of  # noqa: PLC0415
    from .pictures.may import draw  # noqa: PLC0415

    page = rows_of(answer)
    return Figure(lambda width, selection: draw(page, width, selection), repr(answer))


ANSWERS: dict[str, Callable[[Any], Figure]] = {
    "Decoded": _decoded,
    "PatchAnswers": _patches,
}
"""Name of the answer's class -> the function that draws it; each imports its picture when it is called."""


def answer_figure(answer: Any) -> Figure:
    """Return the picture of an answer (`notebook_output.DrawnAnswer`), by its class or the nearest base with one.

    Raises:
        TypeError: answers of this class have no picture.
    """
    for kind in type(answer).__mro__:
        if kind.__name__ in ANSWERS:
            return ANSWERS[kind.__name__](answer)
    raise TypeError(f"{type(answer).__name__} has no picture: {', '.join(sorted(ANSWERS)) or 'no answer has one'}")
