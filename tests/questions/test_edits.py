"""The whole of what `fix` proposes in small clusters, and of what it costs whom: words, cost, notes, commands, changes."""

import pytest
from fix_cases import ASKED, COMMANDS, COSTS, EDITS, stored


@pytest.mark.parametrize("title", EDITS)
def test_an_edit_is_told_as_a_whole(title):
    """Every word of an edit and every field that it changes is what was read and stored, and nothing else is proposed."""
    assert stored(EDITS)[title] == EDITS[title]().strip("\n")


@pytest.mark.parametrize("title", COSTS)
def test_what_a_fix_costs_others_is_told_as_a_whole(title):
    """Who waits, is gone or made anew, which data and promises are lost: all that differs between two worlds, and no more."""
    assert stored(COSTS)[title] == COSTS[title]().strip("\n")


@pytest.mark.parametrize("title", COMMANDS)
def test_what_is_typed_and_done_is_told_as_a_whole(title):
    """The lines that make changes, those that take them back, the diff, and what then differs in a cluster belong together."""
    assert stored(COMMANDS)[title] == COMMANDS[title]().strip("\n")


@pytest.mark.parametrize("title", ASKED)
def test_which_fixes_are_told_with_which_proof(title):
    """Their order, what is left out and how each is proved follow from their classes and from what their trials show."""
    assert stored(ASKED)[title] == ASKED[title]().strip("\n")


@pytest.mark.parametrize("cases", [EDITS, COSTS, COMMANDS, ASKED], ids=["edits", "costs", "commands", "fixes"])
def test_every_stored_text_has_its_case(cases):
    """Nothing is stored of a case that is gone."""
    assert [*stored(cases)] == [*cases]
