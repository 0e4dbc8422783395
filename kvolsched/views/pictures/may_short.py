"""A patch of the gate workbench in a row of few lines: the answer, what changes, why not, and how many nodes match."""

from __future__ import annotations

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import number, word_lines
from kvolsched.views.drawing.svg import pick, rect, word
from kvolsched.views.may_rows import PatchPage, PatchView

LINE = 15.0
_ANSWER = 104.0  # room of the answer, px
_NODES = 118.0  # room of the nodes
_BROAD = 700


def row(page: PatchPage, patch: PatchView, top: float, width: int, *, inset: float = 0.0) -> tuple[str, float]:
    """Draw a patch below `top`; return the marks and their height."""
    y, left = top + 8, inset + 34.0
    beside = width >= _BROAD
    x = left + _ANSWER if beside else left
    room = width - x - (_NODES if beside else 8)
    sign, colour = ("✓", "k-t-ok") if patch.allowed else ("✕", "k-strong")
    parts = [number(inset + 18, y + 9, patch.number, "ok" if patch.allowed else "ink"),
             word(left, y + 13, f"k-m k-b {colour}", f"{sign} {patch.verdict}")]  # fmt: skip
    nodes = _nodes(page, patch)
    if not beside:
        parts.append(word(width - 6, y + 13, "k-q k-end", nodes))
        y += LINE + 2
    elif nodes:
        parts.append(word(width - 6, y + 13, "k-q k-end", nodes))
    lines = [("k-n", line) for line in word_lines(patch.title, room, 12, 2, bold=True)] if patch.title else []
    code = "k-q" if patch.title else "k-m"
    lines += [(code, line) for line in word_lines(patch.change, room, 11 if patch.title else 12, 2)]
    if patch.why:
        said = f"{patch.why[:1].upper()}{patch.why[1:]}"
        lines += [("k-q k-strong", line) for line in word_lines(said, room, 11, 5)]
    parts += [word(x, y + 13 + LINE * place, classes, line) for place, (classes, line) in enumerate(lines)]
    high = y - top + LINE * len(lines) + 8
    stripe = rect(0, top + 1, 4, high - 2, "k-s-ok" if patch.allowed else "k-s-ink")
    return pick(stripe + parts[0], f"patch/{patch.number}", f"patch{patch.number}", patch.label) + "".join(
        parts[1:]), high


def _nodes(page: PatchPage, patch: PatchView) -> str:
    """Return how many nodes match before and after, "" if the patch does not speak of them."""
    if not patch.readable or not page.size or patch.before == patch.after:
        return ""
    after = f"{len(patch.before)} → {len(patch.after)} of {page.size}"
    return t.end(f"nodes {after}", _NODES - 8, 11)
