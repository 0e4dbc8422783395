"""What chance asks about recorded, posted and played clusters."""

import pytest
from drawn_walks import shows_what_it_showed, walks


@pytest.mark.parametrize("walk", walks("record", "people", "incident", "scenario", "dump", "details", "whys", "twins"))
def test_whatever_is_asked_shows_what_it_showed(walk):
    """Every word and mark of every answer is what it was, whatever somebody has done before."""
    shows_what_it_showed(walk)
