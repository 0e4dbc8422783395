"""A recorded verdict beside a learner's: both answers for each node, and in full for the first that differs.

In the colours of the matrix: a Yes is pale, a No strong, the line that differs ringed.
"""

from attrs import frozen

from kvolsched.core.results import hanging_indent
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, code, page, row, table, tag

LINES = 40  # of YAML, at most


@frozen
class ComparedRow:
    """One node: the recorded answer and the learner's, empty for a Yes, and whether they differ."""

    node: str
    recorded: str
    yours: str
    differs: bool
    failed: bool = False


@frozen
class ComparedVerdicts:
    """One case that a learner's rule judges otherwise than kube-scheduler."""

    title: str  # The case, and how the answers differ
    node: str  # The first node that differs
    family: str  # The plugin's colour
    rows: tuple[ComparedRow, ...]
    recorded: tuple[str, ...]  # The recorded answer in full, a line each
    yours: tuple[str, ...]  # The learner's
    pod_yaml: str  # What the rule reads of the pod
    node_yaml: str  # And of the node
    head: str = ""  # How many cases the learner's rule agrees with; may be empty


def draw(sides: ComparedVerdicts, width: int) -> str:
    """Return the nodes, then both answers for the one that differs, then what the rule reads."""
    answers = (row((tag("b", "", each.node), _cell(each.recorded, sides.family),
                    _cell(each.yours, sides.family, failed=each.failed)),
                   ("", "k-name", "k-name"),
                   classes="k-chosen" if each.node == sides.node else "k-p-accent" if each.differs else "")
               for each in sides.rows)  # fmt: skip
    told = (row((tag("b", "", head), tag("div", "", *(block("", line) for line in lines))))
            for head, lines in (("kube-scheduler", sides.recorded), ("your rule", sides.yours)))
    read = (tag("div", "k-told", block("k-q", f"what the rule reads of {head}"), code(_lines(text)))
            for head, text in (("the pod", sides.pod_yaml), (f"node {sides.node}", sides.node_yaml)))
    return page(tag("h3", "", sides.title), block("", sides.head),
                table(answers, ("node", "recorded: kube-scheduler", "your rule")), table(told), block("k-flow", *read))


def reading(sides: ComparedVerdicts) -> str:
    """Return both answers, and what the rule reads, as lines."""
    marks = {True: "→", False: " "}
    table = [["", "node", "recorded", "your rule"]]
    table += [
        [marks[row.differs], row.node, f"{_glyph(row.recorded)} {row.recorded or 'passes'}",
         f"{_glyph(row.yours, failed=row.failed)} {row.yours or 'passes'}"]
        for row in sides.rows
    ]  # fmt: skip
    content = [*([sides.head] if sides.head else []), sides.title, t.columns(table)]
    for head, lines in (("recorded", sides.recorded), ("your rule", sides.yours)):
        content += [f"{head} of {sides.node}: {lines[0]}", *(f"  {hanging_indent([line], 4)}" for line in lines[1:])]
    for head, text in (("the pod", sides.pod_yaml), (f"node {sides.node}", sides.node_yaml)):
        content += [f"{head}:", *(f"  {line}" for line in _lines(text))] if text else []
    return "\n".join(content)


def _cell(content: str, family: str, *, failed: bool = False) -> Html:
    ground = "k-s-ink k-on" if failed else f"k-s-{family} k-on" if content else "k-p-ok k-t-ok"
    return tag("div", f"k-side {ground}", f"{_glyph(content, failed=failed)} {content or 'passes'}")


def _glyph(content: str, *, failed: bool = False) -> str:
    return "!" if failed else "✕" if content else "✓"


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], f"… {len(lines) - LINES + 1} more lines"]
