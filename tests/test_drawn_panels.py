"""What chance asks about panels, bets, what-ifs, terminals and near names."""

import pytest
from drawn_walks import shows_what_it_showed, walks


@pytest.mark.parametrize("walk", walks("panel", "pairs", "quizzes", "asks", "kept", "bets", "what-ifs", "words", "terminal", "typed", "benches", "names"))
def test_whatever_is_asked_shows_what_it_showed(walk):
    """Every word and mark of every answer is what it was, whatever somebody has done before."""
    shows_what_it_showed(walk)
