"""Which picture an answer of the engine has: a line for each type of answer, drawn when it is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve

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


def _decoded(answer: Any) -> Figure:
    rows = decode_rows(answer)
    return Figure(lambda width, selection: decode.draw(rows, width, selection), repr(answer))


def _patches(answer: Any) -> Figure:
    page = patch_rows(answer)
    opens = (lambda width, _selection: may.folded(page, width)) if page.short else None
    return Figure(lambda width, selection: may.draw(page, width, selection), repr(answer), on_page=opens)


def _story(answer: Any) -> Figure:
    rows = turns.told_turns(answer)
    return Figure(lambda width, _selection: tables.draw_story(f"Story of {answer.about}", rows, width), repr(answer))


def _passes(answer: Any) -> Figure:
    rows, title = turns.passes_of_pod(answer), f"Scheduling passes of {answer.about}, rules {answer.revision}"
    return Figure(lambda width, _selection: tables.draw_passes(title, rows, width, answer.why_none), repr(answer))


def _diff(answer: Any) -> Figure:
    rows = turns.different_fields(answer)
    return Figure(lambda width, _selection: tables.draw_diff(rows, width), repr(answer))


def _rule_difference(answer: Any) -> Figure:
    rows = turns.disagreeing_rows(answer)
    return Figure(lambda width, _selection: tables.draw_diff(rows, width), repr(answer))


def _exploration(answer: Any) -> Figure:
    rows = turns.search_rows(answer)
    return Figure(lambda width, _selection: searches.draw_search(rows, width), repr(answer))


def _sample(answer: Any) -> Figure:
    rows = turns.sample_rows(answer)
    return Figure(lambda width, _selection: searches.draw_sample(rows, width), repr(answer))


def _why(answer: Any) -> Figure:
    card = why_card(answer)
    return Figure(lambda width, selection: why.draw(card, width, selection), why.reading(card))


def _matched_nodes(answer: Any) -> Figure:
    rows = [node_terms.TermRow(line.words, line.values or ("",) * len(line.matches), line.matches,
                               decides=not line.values) for line in answer.lines]
    notes = [f"{answer.sentence}.", *(f"{short} is {key}" for short, key in answer.keys)]
    return Figure(lambda width, _selection: node_terms.draw(answer.nodes, rows, notes, width), repr(answer))


def _tried_fix(answer: Any) -> Figure:
    trial = trial_rows(answer)
    return Figure(lambda width, selection: fix.draw_trial(trial, width, selection), repr(answer))


def _fixes(answer: Any) -> Figure:
    rows = fix_rows(answer)
    return Figure(lambda width, selection: fix.draw(rows, width, selection), repr(answer),
                  on_page=lambda width, selection: fix.page(rows, width, selection))


def _whys(answer: Any) -> Figure:
    if len(answer) == 1:  # the card of the only pod says more
        card = why_card(evolve(answer[0], nearest_edit=answer.nearest_edit))
        return Figure(lambda width, selection: why.draw(card, width, selection), repr(answer))
    page = causes_page(answer)
    return Figure(lambda width, selection: why_causes.draw(page, width, selection), why_causes.reading(page))


ANSWERS: dict[str, Callable[[Any], Figure]] = {
    "Decoded": _decoded,
    "Fix": _fixes,
    "Fixes": _fixes,
    "TriedFix": _tried_fix,
    "MatchedNodes": _matched_nodes,
    "PatchAnswers": _patches,
    "Story": _story,
    "Passes": _passes,
    "Diff": _diff,
    "RuleDifference": _rule_difference,
    "Exploration": _exploration,
    "Sample": _sample,
    "Why": _why,
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
