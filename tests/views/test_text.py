"""Widths, ellipsis, wrapping, escaping and short numbers."""

import pytest

from kvolsched.views.drawing import text

from .frames import HOSTILE


def test_widths_come_from_the_table():
    """Four digits at 10 px are 22.24 px wide, and bold is wider where the face is."""
    assert (text.width("1234", 10), text.width("l", 10), text.width("l", 10, bold=True)) == (22.24, 2.22, 2.78)


@pytest.mark.parametrize(("char", "wide"), [("é", 5.56), ("Ａ", 6.67), ("한", 10), ("ά", 9), ("\u0301", 0)])
def test_characters_beyond_the_table_have_a_width(char, wide):
    """An accented letter is as wide as its letter; of other scripts a character is wide; a combining one takes no room."""
    assert text.width(char, 10) == pytest.approx(wide)


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


def test_two_amounts_share_their_unit():
    """The unit stands once if both amounts have it."""
    assert ["3/16Gi", "512Mi/16Gi"] == [text.used_of(3 << 30, 16 << 30), text.used_of(512 << 20, 16 << 30)]


@pytest.mark.parametrize(("names", "short"), [
    (["us-central1-a", "us-central1-b"], ["a", "b"]),
    (["eu-west-1a", "eu-west-1b"], ["1a", "1b"]),
    (["rack/7.a", "rack/7.b", "rack/8.a"], ["7.a", "7.b", "8.a"]),
    (["zone-a", "zone-"], ["a", "zone-"]),
    (["zone-a", "zone-a"], ["zone-a", "zone-a"]),
    (["north", "south"], ["north", "south"]),
    (["abc", "abd"], ["abc", "abd"]),
    (["us-central1-a"], ["us-central1-a"]),
    ([], []),
])
def test_names_of_one_family_lose_what_all_begin_with(names, short):
    """What all begin with goes up to its last separator, the separator too; a name that would be empty stays whole."""
    assert short == [text.short_names(names)[name] for name in names]


@pytest.mark.parametrize(("most", "count", "whole", "ticks"), [
    (10, 5, False, [0, 2, 4, 6, 8, 10]), (7, 3, True, [0, 3, 6]), (0.3, 3, True, [0]), (0.3, 3, False, [0, 0.1, 0.2, 0.3]),
    (99, 2, False, [0, 50]), (5, 2, False, [0, 2.5, 5]), (60, 3, False, [0, 20, 40, 60]),
])
def test_ticks_are_round_and_reach_the_end(most, count, whole, ticks):
    """Steps are 1, 2, 2.5 or 5 of a power of ten, of things that are counted 1, 2, 3 or 5; a tick on the end is drawn."""
    assert ticks == text.ticks(most, count, whole=whole)


def test_tables_are_padded_by_column_but_for_the_last():
    """A column is as wide as its widest cell that another one follows; lines have no blanks at their end."""
    assert "" == text.columns([])
    assert "a    bb  c\naaa  b   ccccc\nddddddddd\ne" == text.columns(
        [["a", "bb", "c"], ["aaa", "b", "ccccc"], ["ddddddddd"], ["e", ""]])


def test_a_key_that_is_wider_than_its_place_breaks_after_its_domain():
    """A word that has no room breaks after its last slash or colon, and only then; without one it is cut."""
    taint = "taint node.kubernetes.io/unreachable:NoSchedule"
    assert ("taint node.kubernetes.io/", "unreachable:NoSchedule") == text.wrap(taint, 150, 10.5, 2)
    assert ("taint", "node.kubernetes.io/unreachable:NoSchedule") == text.wrap(taint, 220, 10.5, 2)
    assert ("taint room=blue:", "NoSchedule") == text.wrap("taint room=blue:NoSchedule", 100, 10, 2)
    assert text.wrap("/" + 40 * "a", 60, 10.5, 2)[0].endswith("…")
