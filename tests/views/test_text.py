"""Widths, ellipsis, wrapping, escaping and short numbers."""

import pytest

from kvolsched.views.drawing import text

from .frames import HOSTILE


def test_widths_come_from_the_table():
    """Four digits at 10 px are 22.24 px wide, and bold is wider where the face is."""
    assert (text.width("1234", 10), text.width("l", 10), text.width("l", 10, bold=True)) == (22.24, 2.22, 2.78)


def test_the_tables_have_95_numbers_each():
    """One width for each printable ASCII character."""
    assert (len(text._REGULAR), len(text._BOLD)) == (95, 95)


@pytest.mark.parametrize("name", ["node-a.europe-west4.c.project.internal.example.org", "n" * 63, "节点" * 30])
@pytest.mark.parametrize("room", [30, 60, 140])
def test_names_are_cut_in_the_middle_and_fit(name, room):
    """A cut name keeps its start and its end and is never wider than its room."""
    cut = text.middle(name, room, 11, bold=True)
    assert text.width(cut, 11, bold=True) <= room
    assert (cut.startswith(name[0]), cut.endswith((name[-1], "…"))) == (True, True)


@pytest.mark.parametrize("cut", [text.middle, text.end])
def test_of_a_uid_the_first_part_is_kept(cut):
    """A name that a controller made of a uid is cut after the part by which people know it."""
    assert "⇄ pvc-05fdc50e…" == cut("⇄ pvc-05fdc50e-3302-43be-438e-c4db7a9eab3f", 110, 10)


def test_what_fits_is_not_cut():
    """A name with room stays as it is."""
    assert "node-a" == text.middle("node-a", 100, 11) == text.end("node-a", 100, 11)


def test_words_are_cut_at_the_end():
    """Words lose their end, not their middle."""
    assert text.end("didn't find available volumes", 83, 10) == "didn't find availa…"


def test_words_wrap_into_the_lines_given():
    """The last line is cut, the others break between words."""
    lines = text.wrap("didn't find available persistent volumes to bind at all", 110, 10, 2)
    assert lines == ("didn't find available", "persistent volumes to…")


@pytest.mark.parametrize(
    ("raw", "safe"),
    [
        ("web-0", "web-0"),
        (HOSTILE, "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;&quot;"),
        ("a\x00b\x1f", "a\ufffdb\ufffd"),
        ("\u202eevil", "\ufffdevil"),
    ],
)
def test_escape_leaves_nothing_active(raw, safe):
    """Markup, control characters and direction marks come out harmless."""
    assert safe == text.escape(raw)


def test_numbers_are_short():
    """Cores and bytes are written as people say them."""
    assert [text.cpu(1200), text.cpu(4000), text.cpu(250)] == ["1.2", "4", "0.25"]
    assert [
        text.amount(16 << 30), text.amount(3 << 29), text.amount(512),
        text.used_of(3 << 30, 16 << 30), text.used_of(512 << 20, 16 << 30),
    ] == ["16Gi", "1.5Gi", "512", "3/16Gi", "512Mi/16Gi"]  # fmt: skip
