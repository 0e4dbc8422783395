"""On the clusters recorded of the design's time each plugin's column gives, node by node, what its rule gives.

What those releases answered is compared in `tests/measure/test_volume_families.py`, and today's in `tests/measure/test_conform.py`.
"""

from pathlib import Path

import pytest
from matrices import check

from kvolsched.measure.conform import judge_case, read
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.scheduler.plugins.pod_topology_spread import releases

RECORDED = Path(__file__).parents[1] / "conformance" / "design-spread.jsonl.gz"


@pytest.mark.parametrize(
    "plugin",
    [releases.EVEN_PODS_SPREAD, releases.EVEN_PODS_SPREAD_1_16, releases.EVEN_PODS_SPREAD_1_18],
    ids=["S3", "1.16", "1.18"],
)
def test_columns_say_what_rules_say_in_the_design(plugin):
    """In all 290 cases, in S3's form and those of the releases."""
    for recorded in read(RECORDED):
        check(judge_case(recorded.case, design_profile().replacing(plugin)))
