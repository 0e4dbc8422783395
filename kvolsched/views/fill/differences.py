"""Rows of what differs between two clusters: since which step, in which fields, and who wrote them."""

from collections.abc import Mapping

from ...core.core import ClusterCore
from ...questions.differences import diff, is_bookkeeping
from ...questions.explain import changed_fields, changes_of
from ...world.apiserver import ref
from ...world.log import Key
from ..drawing.text import common_start
from ..turn_rows import DifferenceRow, Differences
from .context import label_of

EXISTS = "(exists)"


def differences(left: ClusterCore, right: ClusterCore, names: tuple[str, str]) -> Differences:
    """Compare two clusters at their present places."""
    steps = (_steps(left), _steps(right))
    alike = common_start(*steps)
    written = {**_writers(left, alike), **_writers(right, alike)}
    rows, last = [], set()
    found = diff(left, right)
    for about, change in found:
        step, writer = written.get((about, change.path)) or written.get((about, EXISTS)) or (0, "")
        rows.append(DifferenceRow(about, change.path, change.old, change.new, writer, step))
        if is_bookkeeping((about, change)):
            last.add((about, change.path))
    rows.sort(key=lambda row: ((row.ref, row.field) in last, row.step or 1_000_000, row.ref))
    then = tuple(told[alike][-1][-1].removesuffix(".") if alike < len(told) else "" for told in steps)
    return Differences(names, (left.world.step_number, right.world.step_number), alike, (then[0], then[1]), tuple(rows),
                       found.because)  # fmt: skip


def _steps(cluster: ClusterCore) -> list[tuple[tuple[str, ...], ...]]:
    """Return the steps up to the present place, each as its visible turns: who, about what, in which words."""
    found: dict[int, list[tuple[str, ...]]] = {}
    for turn in cluster.world.turns:
        if turn.end <= cluster.world.place and not turn.quiet:
            found.setdefault(turn.step, []).append((turn.component, turn.actor, turn.cause, turn.words))
    return [tuple(found.get(step, (("", "", "", ""),))) for step in range(1, cluster.world.step_number + 1)]


def _writers(cluster: ClusterCore, since: int) -> Mapping[tuple[str, str], tuple[int, str]]:
    """Return for each field that was written after a step who wrote it last, and in which step."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for turn in cluster.world.turns:
        if turn.step <= since or turn.end > cluster.world.place:
            continue
        for change in changes_of(cluster, turn):
            if not isinstance(change.key, Key):
                continue
            whole = change.old is None or change.new is None
            paths = [EXISTS] if whole else [field.path for field in changed_fields(change.old, change.new)]
            for path in paths:
                found[ref(change.key), path] = (turn.step, label_of(turn.actor or turn.component))
    return found
