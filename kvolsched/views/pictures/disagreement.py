"""A recorded verdict beside a learner's: both answers for each node, and in full for the first that differs.

In the colours of the matrix: a Yes is pale, a No strong, the line that differs ringed.
"""

from __future__ import annotations

from attrs import frozen

from kvolsched.core.results import hanging_indent
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import ROW, num, path, picture, rect, rule, word

LINES = 40  # of YAML, at most
LINE = 15.0


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
    """Draw the nodes, then both answers for the one that differs, then what the rule reads."""
    left, half = 150.0, (width - 150.0) / 2
    parts = [word(2, 16, "k-cap k-b", t.end(sides.title, width - 4, 13, bold=True))]
    y = 36.0
    if sides.head:
        parts.append(word(2, y, "k-m", t.end(sides.head, width - 4, 12)))
        y += 24
    parts += [
        word(2, y, "k-q", "node"),
        word(left + 2, y, "k-q", "recorded: kube-scheduler"),
        word(left + half + 2, y, "k-q", "your rule"),
    ]
    y += 6
    for row in sides.rows:
        parts.append(word(5, y + 17, "k-n", t.middle(row.node, left - 12, 12, bold=True)))
        for x, content in ((left, row.recorded), (left + half, row.yours)):
            parts.append(_cell(x, y, half - 2, content, sides.family, failed=row.failed and x > left))
        if row.node == sides.node:
            parts.append(rect(0.5, y - 1, width - 2, 27, "k-ring", 3))
        elif row.differs:
            parts.append(rect(0, y, 3, 25, "k-s-accent"))
        y += ROW
    y += 8
    for head, lines in (("kube-scheduler", sides.recorded), ("your rule", sides.yours)):
        wrapped = [part for line in lines for part in t.wrap(line, width - 160, 12, 3)]
        high = 12 + 17 * len(wrapped)
        parts.append(rect(0, y, width, high, "k-p-none", 4) + rect(0, y, 4, high, "k-s-accent"))
        parts.append(word(16, y + 18, "k-n", head))
        parts += [word(150, y + 18 + 17 * i, "k-m", part) for i, part in enumerate(wrapped)]
        y += high + 6
    y += 12
    wide = (width - 20) / 2
    ends = []
    for x, head, text in ((0.0, "the pod", sides.pod_yaml), (wide + 20, f"node {sides.node}", sides.node_yaml)):
        parts.append(word(x + 2, y, "k-q", f"what the rule reads of {head}") + rule(x, y + 6, wide))
        shown = _lines(text)
        for i, line in enumerate(shown):
            indent = len(line) - len(line.lstrip(" "))
            parts.append(word(x + 2 + 6.7 * indent, y + 22 + LINE * i, "k-code", t.end(line.strip(), wide - 10, 12)))
        ends.append(y + 22 + LINE * len(shown))
    return picture(width, max(ends), "".join(parts), sides.title)


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


def _cell(x: float, y: float, wide: float, content: str, family: str, *, failed: bool = False) -> str:
    ground, ink = (f"k-s-{family}", " k-on") if content else ("k-p-ok", " k-t-ok")
    if failed:
        ground, ink = "k-s-ink", " k-on"
    place = path(f"M{num(x)} {num(y)}h{num(wide)}v25h-{num(wide)}z", ground)
    words = t.end(content or "passes", wide - 34, 12)
    glyph = word(x + 13, y + 17, f"k-g{ink}", _glyph(content, failed=failed))
    return place + glyph + word(x + 27, y + 17, f"k-m{ink}", words)


def _glyph(content: str, *, failed: bool = False) -> str:
    return "!" if failed else "✕" if content else "✓"


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], f"… {len(lines) - LINES + 1} more lines"]
