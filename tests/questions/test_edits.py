"""The whole of each edit that the catalogue proposes in small clusters: words, cost, notes, commands, changes."""

import pytest
from edit_cases import CASES, stored


@pytest.mark.parametrize("title", CASES)
def test_an_edit_is_told_as_a_whole(title):
    """Every word of an edit and every field that it changes is what was read and stored, and nothing else is proposed."""
    assert stored()[title] == CASES[title]()


def test_every_stored_edit_has_its_case():
    """Nothing is stored of a case that is gone."""
    assert [*stored()] == [*CASES]
