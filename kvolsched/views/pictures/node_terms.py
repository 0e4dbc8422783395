"""A node selector on every node: a line an expression, a column a node, with the value that the node's label has.

A Yes is pale green, a No has no ground; what several lines amount to is strong, and the last line decides.
"""

from collections.abc import Sequence

from attrs import frozen

from kvolsched.views.drawing.html import Html, block, page, row, table, tag

MOST_NODES = 20


@frozen
class TermRow:
    """A line: its words, for each node its value and whether it holds, and whether it sums up others."""

    words: str
    values: tuple[str, ...]
    matches: tuple[bool, ...]
    decides: bool


def draw(nodes: Sequence[str], rows: Sequence[TermRow], notes: Sequence[str], width: int,
         selection: str = "") -> str:
    """Return the lines, and below them the notes; nodes that are more than have columns are counted."""
    lines = [_row(each) for each in rows]
    if len(nodes) > MOST_NODES:
        notes = [f"{len(nodes) - MOST_NODES} nodes more", *notes]
    return page(table(lines, ("", *nodes[:MOST_NODES])) if lines else "",
                *(tag("p", "k-q" if number else "k-b", note) for number, note in enumerate(notes)))


def _row(term: TermRow) -> Html:
    matching = "k-side k-s-ok k-on" if term.decides else "k-side k-p-ok k-t-ok"
    cells = (block(matching if matches else "", f"{'✓' if matches else '✕'} {value}")
             for value, matches in list(zip(term.values, term.matches, strict=True))[:MOST_NODES])
    return row((tag("b" if term.decides else "span", "", term.words), *cells), ("k-name",))
