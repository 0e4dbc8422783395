"""The whole of a fix as a card: what it says, what its page shows, and how that is drawn."""

import pytest
from fix_cases import CARDS, stored


@pytest.mark.parametrize("title", CARDS)
def test_a_card_is_shown_as_a_whole(title):
    """Every row of a card, every fact on its page and every place of the picture beside is what was read and stored."""
    assert stored(CARDS)[title] == CARDS[title]().strip("\n")


def test_every_stored_card_has_its_case():
    """Nothing is stored of a case that is gone."""
    assert [*stored(CARDS)] == [*CARDS]
