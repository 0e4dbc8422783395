"""A recorded verdict beside a learner's: both answers for each node, and in full for the first that differs.

In the colours of the matrix: a Yes is pale, a No strong, the line that differs ringed.
"""

from collections.abc import Iterator
from typing import Any

from kvolsched.api.words import hanging_indent
from kvolsched.rules.named import plugin_card
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, code, page, row, table, tag

LINES = 40  # of YAML, at most


def draw(found: Any, head: str) -> str:
    """Return the nodes, then both answers for the one that differs, then what the rule reads.

    `found` is an `exercise.Disagreement`; `head` says how many cases agree.
    """
    family = plugin_card(found.case.plugin).family
    answers = (row((tag("b", "", each.node), _cell(", ".join(each.recorded), family),
                    _cell(_yours(each), family, failed=bool(each.failed))), ("", "k-name", "k-name"),
                   classes="k-chosen" if each.node == found.node else "" if each.agrees else "k-p-accent")
               for each in found.answers)  # fmt: skip
    told = (row((tag("b", "", who), tag("div", "", *(block("", line) for line in lines))))
            for who, lines in zip(("kube-scheduler", "your rule"), _sides(found), strict=True))
    read = (tag("div", "k-told", block("k-q", f"what the rule reads of {what}"), code(_lines(text)))
            for what, text in _read(found))
    return page(tag("h3", "", _title(found)), block("", head),
                table(answers, ("node", "recorded: kube-scheduler", "your rule")), table(told), block("k-flow", *read))


def reading(found: Any, head: str) -> str:
    """Return both answers, and what the rule reads, as lines."""
    table = [["", "node", "recorded", "your rule"]]
    table += [[" " if each.agrees else "→", each.node, _words(", ".join(each.recorded)),
               _words(_yours(each), failed=bool(each.failed))] for each in found.answers]  # fmt: skip
    content = [*([head] if head else []), _title(found), t.columns(table)]
    for who, lines in zip(("recorded", "your rule"), _sides(found), strict=True):
        content += [f"{who} of {found.node}: {lines[0]}", *(f"  {hanging_indent([line], 4)}" for line in lines[1:])]
    for what, text in _read(found):
        content += [f"{what}:", *(f"  {line}" for line in _lines(text))] if text else []
    return "\n".join(content)


def _title(found: Any) -> str:
    does = "rejects it, your rule does not" if found.answer.recorded else "lets it pass, your rule does not"
    return f"{found.case.plugin}, case {found.case.id}, node {found.node}: kube-scheduler {does}"


def _yours(answer: Any) -> str:
    return answer.failed or ", ".join(answer.yours)


def _sides(found: Any) -> tuple[tuple[str, ...], ...]:
    """Return the recorded answer in full, a line each, then the learner's."""
    answer = found.answer
    return ((", ".join(answer.recorded) or "passes", *found.evidence), (_yours(answer) or "passes", *answer.sides))


def _read(found: Any) -> Iterator[tuple[str, str]]:
    """Yield what the rule reads of the pod, then of the node, as YAML."""
    yield from (("the pod", found.pod), (f"node {found.node}", found.node_fields))


def _cell(content: str, family: str, *, failed: bool = False) -> Html:
    ground = "k-s-ink k-on" if failed else f"k-s-{family} k-on" if content else "k-p-ok k-t-ok"
    return tag("div", f"k-side {ground}", _words(content, failed=failed))


def _words(content: str, *, failed: bool = False) -> str:
    return f"{'!' if failed else '✕' if content else '✓'} {content or 'passes'}"


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], f"… {len(lines) - LINES + 1} more lines"]
