"""What differs between two runs side by side: a row a field, both values, and who wrote it; causes first."""

from collections.abc import Mapping

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.core.core import ClusterCore
from kvolsched.questions.differences import EXISTS, diff, is_bookkeeping
from kvolsched.questions.explain import changed_fields, changes_of
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, page, row, table, tag, words
from kvolsched.views.drawing.svg import rect, word
from kvolsched.views.fill.context import label_of
from kvolsched.views.pages.turns import DifferenceRow
from kvolsched.views.pictures.log import field_words
from kvolsched.world.apiserver import ref
from kvolsched.world.log import Key

MOST = 14
"""Rows drawn; of more the last line counts the rest."""
NONE = "–"
LONGEST = 60  # characters of a value in a reading


@frozen
class Differences:
    """What differs between two clusters at their present places, causes first."""

    names: tuple[str, str]  # What the two are called
    steps: tuple[int, int]  # Their present steps
    alike: int  # Last step up to which both did the same
    then: tuple[str, str]  # What each did next, in words
    rows: tuple[DifferenceRow, ...]  # Sorted by the step that wrote them, bookkeeping last
    because: str  # Where runs under different rules part first, and what to call next


def differences(left: ClusterCore, right: ClusterCore, names: tuple[str, str]) -> Differences:
    """Compare two clusters at their present places."""
    steps = (_steps(left), _steps(right))
    alike = t.common_start(*steps)
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


def draw(found: Differences, width: int, selection: str = "") -> str:
    """Return the table of differences under a sentence."""
    head = tag("h3", "", words("≠ ", "k-t-resources") if found.rows else "", sentence(found))
    if not found.rows:
        return page(head)
    lines = [_row(each, number, on=each.ref == selection) for number, each in enumerate(found.rows[:MOST])]
    rest = len(found.rows) - MOST
    more = words(f"… {counted(rest, 'more field')} differ{'s' * (rest == 1)}", "k-q") if rest > 0 else ""
    return page(head, block("", found.because), table(lines, ("object", "field", *found.names, "who wrote it")), more)


def reading(found: Differences) -> str:
    """Return the differences as lines, in the order of their causes."""
    lines = []
    for each in found.rows:
        both = zip(found.names, (each.left, each.right), strict=True)
        short = ((name, value[:LONGEST - 1].rstrip() + "…" if len(value) > LONGEST else value) for name, value in both)
        values = (f"{name} {value or NONE}" for name, value in short)
        lines.append([f"≠ {each.ref}", each.field, *values, writer(each)])
    because = [found.because] if found.because and found.rows else []
    return "\n".join([sentence(found), *because, *([t.columns(lines)] if lines else [])])


def sentence(found: Differences) -> str:
    """Return how much differs, and until when both were alike."""
    left, right = found.steps
    now = f"step {left}" if left == right else f"steps {left} and {right}"
    if not found.rows:
        return f"Alike at {now}."
    count = len(found.rows)
    words = "difference" if count == 1 else "differences"
    cause = "" if found.because else " The first cause is the first row."
    return f"{count} {words} at {now}; alike until step {found.alike}.{cause}"


def writer(row: DifferenceRow) -> str:
    """Return who wrote a field, and in which step."""
    return f"{row.writer}, step {row.step}" if row.writer else ""


def small_badge(x: float, y: float) -> str:
    """Draw the sign of what differs, as small as the corner of a card leaves room for, around (x, y)."""
    dot = rect(x - 5.5, y - 5.5, 11, 11, "k-s-resources", 5.5)
    return f'<g class="k-differs">{dot}{word(x, y + 3.6, "k-b k-on k-mid", "≠", "font-size:10px")}</g>'


def _row(found: DifferenceRow, number: int, *, on: bool) -> Html:
    label = f"{found.ref} {found.field}: {found.left or 'none'}, there {found.right or 'none'}"
    label += f", written by {writer(found)}" if found.writer else ""
    cells = (tag("b", "", found.ref), field_words(found.field), found.left or NONE, found.right or NONE, writer(found))
    return row(cells, ("k-name", "k-name k-soft", "k-wide", "k-wide", "k-soft"), ref=found.ref,
               key=f"differs-{number}", label=label, pressed=on)
