"""Which picture an answer of the engine has: a line for each type of answer, drawn when it is shown."""

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve

from .charts.figure import ChartFigure
from .charts.tables import sample as sample_table
from .drawing.figure import Figure
from .pages import decode, fix, may, node_terms, searches, turns, why, why_causes
from .pages.why_card import card_of as why_card


def _drawn(draw: Callable[..., str], fill: Callable[[Any], Any] = lambda answer: answer) -> Callable[[Any], Figure]:
    """Return the function that draws an answer, or the rows that it is filled into; its reading is what it prints."""
    return lambda answer: Figure(partial(draw, fill(answer)), repr(answer))


def _sample(answer: Any) -> ChartFigure:
    rows = searches.sample_rows(answer)
    return ChartFigure(partial(searches.draw_sample, rows), repr(answer), kind="sample",
                       rows_of=partial(sample_table, rows), words=(f"{rows.runs} seeds: {rows.reached}", rows.about))


def _whys(answer: Any) -> Figure:
    if len(answer) == 1:  # the card of the only pod says more
        return Figure(partial(why.draw, why_card(evolve(answer[0], nearest_edit=answer.nearest_edit))), repr(answer))
    return Figure(why_causes.draw(answer), repr(answer))


ANSWERS: dict[str, Callable[[Any], Figure]] = {
    "Decoded": _drawn(decode.draw),
    "Fix": _drawn(fix.draw, fix.page_of),
    "Fixes": _drawn(fix.draw, fix.page_of),
    "TriedFix": _drawn(fix.draw_trial),
    "MatchedNodes": _drawn(node_terms.draw),
    "PatchAnswers": _drawn(may.draw),
    "Story": _drawn(turns.draw_story),
    "Passes": _drawn(turns.draw_passes),
    "Diff": _drawn(turns.draw_diff, turns.different_fields),
    "RuleDifference": _drawn(turns.draw_diff, turns.disagreeing_rows),
    "Exploration": _drawn(searches.draw_search, searches.search_rows),
    "Sample": _sample,
    "Why": _drawn(why.draw, why_card),
    "Whys": _whys,
}
"""Name of the answer's class -> the function that draws it."""


def answer_figure(answer: Any) -> Figure:
    """Return the picture of an answer (`notebook_output.DrawnAnswer`), by its class or the nearest base with one.

    Raises:
        TypeError: answers of this class have no picture.
    """
    for kind in type(answer).__mro__:
        if kind.__name__ in ANSWERS:
            return ANSWERS[kind.__name__](answer)
    raise TypeError(f"{type(answer).__name__} has no picture: {', '.join(sorted(ANSWERS)) or 'no answer has one'}")
