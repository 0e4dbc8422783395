"""A node selector on every node: a line an expression, a column a node, with the value that the node's label has.

A Yes is pale green, a No has no ground; what several lines amount to is strong, and the last line decides.
"""

from kvolsched.api.words import counted
from kvolsched.questions.node_terms import MatchedNodes, TermLine
from kvolsched.views.drawing.html import Html, block, page, row, table, tag

MOST_NODES = 20


def draw(found: MatchedNodes, width: int, selection: str = "") -> str:
    """Return the lines, and below them the notes; nodes that are more than have columns are counted."""
    notes = [f"{found.sentence}.", *(f"{short} is {key}" for short, key in found.keys)]
    if len(found.nodes) > MOST_NODES:
        notes.insert(0, f"{counted(len(found.nodes) - MOST_NODES, 'node')} more")
    return page(table(map(_row, found.lines), ("", *found.nodes[:MOST_NODES])) if found.lines else "",
                *(tag("p", "k-q" if number else "k-b", note) for number, note in enumerate(notes)))


def _row(term: TermLine) -> Html:
    decides = not term.values
    matching = "k-side k-s-ok k-on" if decides else "k-side k-p-ok k-t-ok"
    values = term.values or ("",) * len(term.matches)
    cells = (block(matching if matches else "", f"{'✓' if matches else '✕'} {value}")
             for value, matches in list(zip(values, term.matches, strict=True))[:MOST_NODES])
    return row((tag("b" if decides else "span", "", term.words), *cells), ("k-name",))
