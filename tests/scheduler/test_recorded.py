"""What the releases of the design's time answered on recorded clusters, revision `design` answers too.

Both 1.16 and 1.18 spread pods as S3 has it, and differ in whether terminating pods count. What today's scheduler
answered is compared in `tests/test_conform.py`.
"""

from functools import cache
from pathlib import Path

import attrs
import pytest

from kvolsched.conform import judged, read
from kvolsched.scheduler.framework import check
from kvolsched.scheduler.profile import design

RECORDED = Path(__file__).parents[1] / "conformance" / "design-spread.jsonl.gz"


@cache
def cases():
    """Read the cases."""
    return tuple(recorded.case for recorded in read(RECORDED))


def asked(case, profile):
    """Judge a case's pod in its cluster; debug mode: every column against its rule."""
    judgement = judged(case, profile)
    check(judgement)
    return judgement


def with_terminating(profile):
    """Return a profile whose spreading counts terminating pods, as 1.16 did and 1.18 did not."""
    return attrs.evolve(
        profile,
        plugins=tuple(
            attrs.evolve(item, plugin=attrs.evolve(item.plugin, terminating=True))
            if item.name == "PodTopologySpread"
            else item
            for item in profile.plugins
        ),
    )


@pytest.mark.checklist("195", "198", "199", "200", "203", "210", "212")
def test_design_spread_as_1_18_counts():
    """Hard spreading under `design` rejects exactly the nodes that 1.18 rejected, in all 290 cases."""
    for case in cases():
        judgement = asked(case, design())
        said = {node: judgement.verdict(node, "PodTopologySpread")[0] for node in judgement.nodes}
        rejected = {node: reasons[0] for node, reasons in said.items() if reasons}
        assert case["expect"]["beta"]["rejected"] == rejected, case["id"]


@pytest.mark.checklist("203")
def test_design_spread_as_1_16():
    """With terminating pods counted, all that 1.16 said comes out: first plugin, feasible nodes, words."""
    profile = with_terminating(design())
    for case in cases():
        judgement, expect = asked(case, profile), case["expect"]
        assert expect["feasible"] == list(judgement.feasible), case["id"]
        for node, recorded in expect["nodes"].items():
            first = recorded.get("codes", {}).get("first")
            assert first == judgement.first[node], case["id"]
            if first is not None:
                assert recorded["rejections"][first] == list(judgement.verdict(node, first)[0]), case["id"]
        if "message" in expect:
            assert expect["message"] == judgement.sentence(), case["id"]
