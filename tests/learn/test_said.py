"""Statements of the documents are found by their words, and a name, a section, an anchor or a sentence finds one."""

import random
import subprocess
import sys

import pytest
from click.testing import CliRunner

import kvolsched
from kvolsched.cli import main
from kvolsched.learn import said as finding

WORDS = [(anchor, words) for anchor, words in finding.index().items() if len(words) > 3]


def test_a_name_finds_the_statement_with_its_cell():
    """The answer is a sequence, best first; the first one prints with the cell that runs it, and what that needs."""
    found = kvolsched.said("nodeSelector only additions")
    first = found[0]

    assert (first.anchor, first.section, first.answer, first.rules) == ("S4-12-8", "Design Details", "cell", ("design",))
    assert "from kvolsched.documents import *" in repr(found)
    assert first.cell in repr(found)
    assert 1 < len(found) <= finding.MOST
    assert [each.anchor for each in found[:1]] == ["S4-12-8"]


def test_an_anchor_finds_its_statement_and_a_section_all_of_its_own():
    """S4-12-8 is one statement, S4-12 those of the twelfth heading, in the notebook's order, and not those of S4-1."""
    assert [each.anchor for each in kvolsched.said("s4-12-8")] == ["S4-12-8"]
    left_open = [f"S4-12-{letter}" for letter in "abcdef"]
    expected = [f"S4-12-{n}" for n in range(1, 14)] + left_open + ["S4-12-14", "S4-12-15"]
    assert [each.anchor for each in kvolsched.said("S4-12")] == expected


def test_a_statement_that_points_to_another_has_its_cell():
    """Whoever finds the one gets what runs: the answer, the rules and the cell of the other."""
    pointing, target = kvolsched.said("S4-7-2")[0], kvolsched.said("S4-6-1")[0]
    assert (pointing.seen, pointing.answer, pointing.cell, pointing.rules) == ("S4-6-1", "cell", target.cell, target.rules)


@pytest.mark.parametrize("words", ["", "   ", "qwertzuiop", "the of and"])
def test_nothing_fits_is_said_with_an_example(words):
    """No statement is an empty sequence, whose words say how to ask."""
    found = kvolsched.said(words)
    assert (len(found), bool(found)) == (0, False)
    assert repr(found).startswith("no statement fits")
    assert 'kvolsched.said("' in repr(found)


def test_a_misspelt_name_is_found():
    """A word that no document has is read as the nearest that one has."""
    assert kvolsched.said("tolerationz")[0].anchor in {each.anchor for each in kvolsched.said("tolerations")}


def test_nearly_every_sentence_is_among_the_first_three():
    """Asked for with its own words in another order, at least nine in ten statements are among the first three."""
    told = finding.statements()
    written = {each.anchor for each in told}
    asked = random.Random(1).sample([each for each in WORDS if each[0] in written], 60)
    found = [anchor in [each.anchor for each in kvolsched.said(" ".join(words), 3)] for anchor, words in asked]
    assert sum(found) >= 54


def test_the_cell_that_is_put_below_runs_alone():
    """`put` gives the cell with what it needs before it."""
    code = kvolsched.said("S4-12-9").put()
    names = {}
    exec(code, names)  # noqa: S102 - our own cell
    assert names["before"] == {}
    assert kvolsched.said("S4-17-1").put() == ""


def test_the_command_prints_the_same():
    """`kvolsched said WORDS` prints what a notebook shows; where nothing fits it exits with 1."""
    done = CliRunner().invoke(main, ["said", "S4-12-8"])
    assert (done.exit_code, done.output.strip()) == (0, repr(kvolsched.said("S4-12-8")))
    none = CliRunner().invoke(main, ["said", "qwertzuiop"])
    assert none.exit_code == 1
    assert "kvolsched said ActualSkew" in none.output


@pytest.mark.parametrize("asked", ["kvolsched.said('S4-12-8')", "sys.argv = ['kvolsched', 'said', 'S4-12-8']; cli.main()"])
def test_a_statement_is_found_without_the_engine(asked):
    """Finding loads neither numpy nor a cluster, in a notebook and in a terminal."""
    told = "print('numpy' in sys.modules, 'kvolsched.world' in sys.modules)"
    code = f"import atexit, sys, kvolsched; from kvolsched import cli; atexit.register(lambda: {told}); {asked}"
    done = subprocess.run([sys.executable, "-c", code], check=True, text=True, stdout=subprocess.PIPE)
    assert done.stdout.endswith("False False\n")
    assert ("S4-12-8 · " in done.stdout) == ("main()" in asked)


def test_the_index_names_each_statement_once():
    """An anchor is the place of its heading and its own place there; words are single, sorted, and without order."""
    for anchor, words in finding.index().items():
        assert list(words) == sorted(set(words), key=str.lower), anchor
        assert len({word.lower() for word in words}) == len(words), anchor


def test_a_document_before_the_words_leaves_the_others_out():
    """`S0 ...`, in brackets or not, finds statements of that document alone; the answer says whose cell is shown."""
    for words in ("S1 each PV is validated", "[S1] each PV is validated"):
        assert {each.anchor[:2] for each in kvolsched.said(words)} == {"S1"}
    assert "the cell of S0-" in repr(kvolsched.said("S1-15-3"))
    assert repr(kvolsched.said("ActualSkew")).splitlines()[-1].endswith("shows the cell of another one")
