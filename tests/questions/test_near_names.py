"""Names that somebody nearly wrote, and those that somebody meant."""

import pytest

from kvolsched.questions.near_names import near_misses


@pytest.mark.parametrize(("name", "there", "near"), [
    ("cordno", ["cordon", "uncordon", "coral"], ["cordon"]),  # two letters swapped are one edit, two changed are too many
    ("storage-fast", ["xtorage-fast", "storage-fost", "storage-fsat", "stroage-fsat"],
     ["storage-fost", "storage-fsat", "xtorage-fast", "stroage-fsat"]),
    ("zone-1", ["zone-2", "zone-a", "zone"], []),
    ("web", ["web-0", "wec"], ["wec"]),
])
def test_what_is_nearly_written_comes_first(name, there, near):
    """The fewest edits first, then a right first letter, then by name; what only a number tells apart is another name."""
    assert near == near_misses(name, there)
