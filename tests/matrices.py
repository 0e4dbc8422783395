"""All verdicts of a judgement: as rows that two judgements are compared by, and each column held equal to its rule."""

from typing import NamedTuple

from kvolsched.scheduler.framework.verdict import Code


class MatrixRow(NamedTuple):
    """One verdict; `first` marks the first plugin that rejects the node."""

    node: str
    plugin: str
    status: str
    reasons: tuple[str, ...]
    first: bool


def matrix(judgement):
    """Return every verdict as a row, nodes by name and plugins in order."""
    return [_row(judgement, node, plugin) for node in sorted(judgement.nodes) for plugin in judgement.plugins]


def _row(judgement, node, plugin):
    reasons, status = judgement.verdict(node, plugin)
    word = (Code.SKIP if plugin in judgement.skipped else status).word
    return MatrixRow(node, plugin, word, reasons, judgement.first_rejecting[node] == plugin)


def check(judgement):
    """Compare every column with its rule, cell by cell; an error names node, plugin and both sides."""
    if judgement.rejected_by is not None:
        return
    for plugin in judgement.plugins:
        if plugin in judgement.skipped:
            continue
        for node in judgement.nodes:
            cell = judgement.cell(node, plugin)
            reasons, status = judgement.verdict(node, plugin)
            assert (cell.reasons, cell.status) == (reasons, status), (
                f"{plugin} on {node}: the rule says {cell.status.word} {list(cell.reasons)}, "
                f"the column {status.word} {list(reasons)}")  # fmt: skip
