"""Which picture an answer of the engine has: a line for each type of answer, drawn when it is shown."""

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve

from .charts.figure import ChartFigure
from .charts.tables import sample as sample_table
from .drawing.figure import Figure
from .fill import turns
from .fill.decode import rows_of as decode_rows
from .fill.fix import page_of as fix_rows
from .fill.fix import trial_of as trial_rows
from .fill.may import rows_of as patch_rows
from .fill.why import card_of as why_card
from .fill.why_causes import page_of as causes_page
from .pictures import decode, fix, may, node_terms, searches, why, why_causes
from .pictures import turns as tables


def _drawn(draw: Callable[..., str], fill: Callable[[Any], Any] = lambda answer: answer) -> Callable[[Any], Figure]:
    """Return the function that draws an answer, or the rows that it is filled into; its reading is what it prints.

    Args:
        draw: answer or rows, width and selection -> SVG, or HTML of a page of words.
        fill: answer -> rows.
    """
    return lambda answer: Figure(partial(draw, fill(answer)), repr(answer))


def _sample(answer: Any) -> ChartFigure:
    rows = turns.sample_rows(answer)
    return ChartFigure(partial(searches.draw_sample, rows), repr(answer), kind="sample",
                       rows_of=partial(sample_table, rows), words=(f"{rows.runs} seeds: {rows.reached}", rows.about))


def _matched_nodes(answer: Any) -> Figure:
    rows = [node_terms.TermRow(line.words, line.values or ("",) * len(line.matches), line.matches,
                               decides=not line.values) for line in answer.lines]
    notes = [f"{answer.sentence}.", *(f"{short} is {key}" for short, key in answer.keys)]
    return Figure(partial(node_terms.draw, answer.nodes, rows, notes), repr(answer))


def _whys(answer: Any) -> Figure:
    if len(answer) == 1:  # the card of the only pod says more
        return Figure(partial(why.draw, why_card(evolve(answer[0], nearest_edit=answer.nearest_edit))), repr(answer))
    return _drawn(why_causes.draw, causes_page)(answer)


ANSWERS: dict[str, Callable[[Any], Figure]] = {
    "Decoded": _drawn(decode.draw, decode_rows),
    "Fix": _drawn(fix.draw, fix_rows),
    "Fixes": _drawn(fix.draw, fix_rows),
    "TriedFix": _drawn(fix.draw_trial, trial_rows),
    "MatchedNodes": _matched_nodes,
    "PatchAnswers": _drawn(may.draw, patch_rows),
    "Story": _drawn(tables.draw_story),
    "Passes": _drawn(tables.draw_passes),
    "Diff": _drawn(tables.draw_diff, turns.different_fields),
    "RuleDifference": _drawn(tables.draw_diff, turns.disagreeing_rows),
    "Exploration": _drawn(searches.draw_search, turns.search_rows),
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
