"""What pictures show of rows that chance made, as clusters seldom give them."""

import pytest
from drawn_rows import ROWS
from drawn_walks import shows_what_it_showed, walks


@pytest.mark.parametrize("walk", walks(*ROWS))
def test_pictures_of_rows_show_what_they_showed(walk):
    """Every word, mark and place of a picture is what it was, whatever rows it has."""
    shows_what_it_showed(walk)
