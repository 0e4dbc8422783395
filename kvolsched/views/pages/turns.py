"""Stories of turns, scheduling passes, and differing fields, as tables with the step first."""

from typing import Any

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.core.results import as_sentence
from kvolsched.questions.differences import EXISTS, PASSES, Diff
from kvolsched.questions.explain import Passes, Story
from kvolsched.views.drawing.html import Html, bar, block, joined, page, row, table, tag, words

NO_TURN = "No turn has changed it."
NOT_JUDGED = "It has had no scheduling pass."
EQUAL = "The objects are equal."


@frozen
class DifferenceRow:
    """One field that differs between two clusters; an empty value is a field or object that is not there."""

    ref: str  # The object
    field: str  # Path in the object; "(exists)" if only one of the clusters has it
    left: str  # Value in the first cluster
    right: str  # Value in the second one
    writer: str = ""  # Who wrote it last where the two are no longer alike; empty: nobody since
    step: int = 0  # In which step


@frozen
class DifferentClusters:
    """How two clusters differ: where they part first, the fields, how many more, and what to know before comparing."""

    names: tuple[str, str]
    count: int
    rows: tuple[DifferenceRow, ...]
    notes: tuple[str, ...]
    because: str


def draw_story(story: Story, width: int, selection: str = "") -> str:
    """Return one line a turn: step and time at the left, what was done in words, below it what that changed."""
    lines = [row((tag("b", "", str(turn.step)), words(f"{turn.time:g} s", "k-w"),
                  joined(tag("b", "", as_sentence(turn.words) if turn.words else turn.actor),
                         *(_change(change) for change in turn.changed))),
                 ("k-short", "k-short", "k-wide")) for turn in story.rows]  # fmt: skip
    return page(tag("h3", "", f"Story of {story.about}"), table(lines) if lines else words(NO_TURN, "k-q"))


def _change(change: str) -> Html:
    """Return one change: the field quiet, what it became strong."""
    field, colon, values = change.partition(": ")
    old, arrow, new = values.partition(" → ")
    if not colon or field.startswith("event"):
        return block("k-soft", change)
    head = f"{field}: " + (f"{old} → " if arrow else "")
    return block("", words(head, "k-soft"), tag("b", "", new if arrow else values))


def draw_passes(found: Passes, width: int, selection: str = "") -> str:
    """Return one line a pass: when, how many of the judged nodes fit as a bar, and the node that it chose.

    Without a pass it says why there is none.
    """
    title = tag("h3", "", f"Scheduling passes of {found.about}, rules {found.revision}")
    if not found.rows:
        return page(title, words(f"{NOT_JUDGED} {found.why_none}".rstrip(), "k-q"))
    lines = [row((tag("b", "", str(number)), str(each.step), words(f"{each.time:g} s", "k-w"),
                  bar(each.feasible / max(each.judged, 1), "ok"), f"{each.feasible} of {each.judged}",
                  tag("b", "k-t-ok", f"★ {each.node}") if each.node else words("none", "k-soft")),
                 ("k-short", "k-short", "k-short", "k-rail-cell", "k-short"))
             for number, each in enumerate(found.rows, 1)]  # fmt: skip
    return page(title, table(lines, ("pass", "step", "time", "nodes that fit", "", "chooses")))


def different_fields(answer: Diff) -> DifferentClusters:
    """Return the fields in which two clusters differ, and what is told beside them."""
    paths = {EXISTS: "", PASSES: "scheduling passes"}
    rows = (DifferenceRow(about, paths.get(change.path, change.path), change.old, change.new)
            for about, change in answer.told)  # fmt: skip
    notes = (answer.folded, *answer.notes) if answer.folded else answer.notes
    return DifferentClusters(answer.names, len(answer.rows) + len(answer.passes), tuple(rows), notes, answer.because)


def disagreeing_rows(answer: Any) -> DifferentClusters:
    """Return in what two sets of rules disagree about a cluster (`kvolsched.differ`), and where its manifests are."""
    rows = tuple(DifferenceRow(row.about, row.what, row.a, row.b) for row in answer.verdicts if row.differs)
    said = f"The cluster: {', '.join(answer.objects)}. .manifests is its YAML, .lab() steps both."
    return DifferentClusters(answer.names, len(rows), rows, (said,), answer.sentence)


def draw_diff(found: DifferentClusters, width: int, selection: str = "") -> str:
    """Return one line a field that differs, with its value in each of two clusters; ≠ stands before every one."""
    names, before, lines = found.names, "", []
    for each in found.rows:
        sides = (side or words("–", "k-soft") for side in (each.left, each.right))
        lines.append(row((tag("b", "k-t-resources", "≠"), tag("b", "", each.ref) if each.ref != before else "",
                          each.field or "the object", *sides), ("", "k-name", "k-name", "k-wide", "k-wide")))
        before = each.ref
    return page(
        tag("h3", "", f"{counted(found.count, 'difference')} between {names[0]} and {names[1]}"),
        block("", found.because), table(lines, ("", "object", "field", *names)) if lines else words(EQUAL, "k-q"),
        *(tag("p", "k-q", f"– {note}") for note in found.notes),
    )
