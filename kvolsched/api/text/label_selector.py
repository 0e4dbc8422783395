"""Read label selectors as kubectl writes them: `queue=batch,zone in (a, b),!legacy`.

Mirrors apimachinery `labels.Parse` (v1.36.2).
"""

import re
from collections.abc import Mapping

from ..kinds.meta import freeze
from ..kinds.selector import LabelSelector, Requirement

_COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^()]*\))")
_WORD = r"[^\s=!<>,()]+"
_PART = re.compile(
    rf"(?P<absent>!?)\s*(?P<key>{_WORD})"
    rf"(?:\s*(?P<sign>==|=|!=|>|<)\s*(?P<value>{_WORD}|)|\s+(?P<among>in|notin)\s*\((?P<values>[^()]*)\))?"
)
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt", "in": "In", "notin": "NotIn"}


def read_label_selector(selector: str | Mapping[str, str] | LabelSelector) -> LabelSelector:
    """Return a label selector from its text, or from a mapping of labels; an empty one selects everything.

    Raises:
        ValueError: a part of the text is in none of the known forms.
    """
    if isinstance(selector, LabelSelector):
        return selector
    if isinstance(selector, Mapping):
        return LabelSelector(match_labels=freeze(dict(selector)))
    if not isinstance(selector, str):
        raise ValueError(f"a selector is a text such as 'app=web', not {selector!r}")  # noqa: TRY004 - bad input
    if not selector.strip():
        return LabelSelector()
    parts = _COMMA_OUTSIDE_PARENTHESES.split(selector)
    return LabelSelector(match_expressions=tuple(_requirement(part.strip(), selector) for part in parts))


def _requirement(part: str, selector: str) -> Requirement:
    match = _PART.fullmatch(part)
    if match is None or (match["absent"] and (match["sign"] or match["among"])):
        forms = "app=web, app!=web, app, !app, app in (a, b), app notin (a, b), size>1 or size<9"
        raise ValueError(f"{part!r} in the selector {selector!r} cannot be read; write {forms}, joined by commas")
    if match["among"]:
        values = tuple(value.strip() for value in match["values"].split(","))
        return Requirement(key=match["key"], operator=_OPERATORS[match["among"]], values=values)
    if match["sign"]:
        return Requirement(key=match["key"], operator=_OPERATORS[match["sign"]], values=(match["value"],))
    return Requirement(key=match["key"], operator="DoesNotExist" if match["absent"] else "Exists")
