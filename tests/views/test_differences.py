"""The table of what differs between two runs: which rows it has, what is chosen, and how it reads as lines."""

import re

import pytest

from kvolsched.views.pages.differences import DifferenceRow, Differences, draw, reading, small_badge

from .pages import cells, faults, texts

HEADS = ["object", "field", "left", "right", "who wrote it"]


def differing(*rows, steps=(4, 4), because=""):
    """Return what differs in these rows between two clusters, alike until step 2."""
    return Differences(("left", "right"), steps, 2, ("", ""), rows, because)


@pytest.mark.parametrize(("count", "more"), [
    (1, []), (14, []), (15, ["… 1 more field differs"]), (16, ["… 2 more fields differ"])])
def test_fourteen_fields_are_drawn(count, more):
    """Of more the last line counts the rest."""
    page = draw(differing(*(DifferenceRow(f"pod/p{number:02}", "spec.nodeName", "a", "b", "user", number) for number in range(count))), 800)

    assert [HEADS, *([f"pod/p{number:02}", "spec.nodeName", "a", "b", f"user, step {number}"] for number in range(min(count, 14)))] == cells(page)
    assert more == re.findall("… [^<]*", page)


def test_a_field_is_told_with_both_values_and_its_writer():
    """What is not there is a dash, a label is called one, and the row of what is selected is chosen; all of it is told to a screen reader."""
    rows = DifferenceRow("pod/a", "spec.x", "", "2"), DifferenceRow("pod/b", "metadata.labels[a]", "1", "", "user", 7)
    page = draw(differing(*rows, steps=(3, 5), because="First difference: x"), 800, "pod/b")

    assert ["≠", "2 differences at steps 3 and 5; alike until step 2.", "First difference: x"] == texts(page)[:3]
    assert [HEADS, ["pod/a", "spec.x", "–", "2", ""], ["pod/b", "label a", "1", "–", "user, step 7"]] == cells(page)
    assert [('data-ref="pod/a" data-key="differs-0" role="row" aria-label="pod/a spec.x: none, there 2"'),
            ('class="k-chosen" data-ref="pod/b" data-key="differs-1" role="row" aria-label="pod/b metadata.labels[a]: 1, there none, '
             'written by user, step 7" aria-selected="true"')] == re.findall(r"<tr ([^>]+)>", page)
    assert ["k-name", "k-name k-soft", "k-wide", "k-wide", "k-soft"] * 2 == re.findall(r'<td class="([^"]+)"', page)
    assert [] == faults(page)


@pytest.mark.parametrize(("rows", "steps", "because", "lines"), [
    ((), (3, 5), "First difference: x", ["Alike at steps 3 and 5."]), ((), (4, 4), "", ["Alike at step 4."]),
    ((DifferenceRow("pod/a", "spec.x", "", "2", "user", 1),), (4, 4), "", [
        "1 difference at step 4; alike until step 2. The first cause is the first row.", "≠ pod/a  spec.x  left –  right 2  user, step 1"]),
    ((DifferenceRow("pod/a", "spec.x", "", "2"), DifferenceRow("pod/b", "spec.yy", "x" * 60, "y" * 58 + " zz", "user", 7)), (3, 5), "First: x.", [
        "2 differences at steps 3 and 5; alike until step 2.", "First: x.",
        f"≠ pod/a  spec.x   left –{' ' * 61}right 2", f"≠ pod/b  spec.yy  left {'x' * 60}  right {'y' * 58}…  user, step 7"]),
])  # fmt: skip
def test_differences_read_as_lines(rows, steps, because, lines):
    """Until when both were alike, where they part, then a line a field; a value of more than sixty letters is cut."""
    found = differing(*rows, steps=steps, because=because)

    assert lines == reading(found).splitlines()
    assert ["≠"] * bool(rows) + lines[: 1 + bool(rows and because)] == texts(draw(found, 800))[: 1 + bool(rows) + bool(rows and because)]


def test_the_sign_of_a_difference_is_a_disc():
    """It is eleven px wide around its middle, small enough for the corner of a card."""
    assert ('<g class="k-differs"><rect class="k-s-resources" x="4.5" y="14.5" width="11" height="11" rx="5.5"/>'
            '<text x="10" y="23.6" class="k-b k-on k-mid" style="font-size:10px">≠</text></g>') == small_badge(10, 20)
