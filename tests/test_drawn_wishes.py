"""What chance asks about crowds, random acts, pods with many wishes, and what helps them."""

import pytest
from drawn_walks import shows_what_it_showed, walks


@pytest.mark.parametrize("walk", walks("chance", "many", "wishes", "fixes", "judged", "edits", "pictures", "patches", "invariants", "searches", "traces", "diffs"))
def test_whatever_is_asked_shows_what_it_showed(walk):
    """Every word and mark of every answer is what it was, whatever somebody has done before."""
    shows_what_it_showed(walk)
