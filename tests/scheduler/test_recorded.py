"""On the clusters recorded of the design's time each plugin's column gives, node by node, what its rule gives.

What those releases answered is compared in `tests/test_volume_families.py`, and today's in `tests/test_conform.py`.
"""

from pathlib import Path

import pytest

from kvolsched.conform import judged, read
from kvolsched.conform.spread import counting_terminating
from kvolsched.scheduler.framework import check
from kvolsched.scheduler.profile import design

RECORDED = Path(__file__).parents[1] / "conformance" / "design-spread.jsonl.gz"


@pytest.mark.parametrize("profile", [design(), counting_terminating(design())], ids=["1.18", "1.16"])
def test_columns_say_what_rules_say_in_the_design(profile):
    """In all 290 cases, whether or not terminating pods count."""
    for recorded in read(RECORDED):
        check(judged(recorded.case, profile))
