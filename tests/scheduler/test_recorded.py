"""What kube-scheduler answered on recorded clusters, our rules answer too: every case that today's plugins cover.

Compared per case: the rejection before filtering, each plugin's reasons and codes on every node, the first rejecting
plugin, the feasible nodes, the event's sentence without its preemption part, the scores, and what would be bound. Of
`dynamic` only the nodes count on which no capacity was short, and of the sentences only those of covered cases.
"""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

import attrs
import pytest

from kvolsched.api.manifest import from_plain
from kvolsched.scheduler.framework import check, judge, rank
from kvolsched.scheduler.profile import design, upstream
from kvolsched.scheduler.snapshot import Snapshot, snapshot

RECORDED = Path(__file__).parents[1] / "conformance"
NO_SPACE = "node(s) did not have enough free storage"
SCORES = ("NodeResourcesFit", "NodeResourcesBalancedAllocation", "TaintToleration", "NodeAffinity")


@cache
def cases(family):
    """Read a family of cases."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz") as lines:
        return tuple(map(json.loads, lines))


def judged(case, profile):
    """Judge a case's pod in its cluster; debug mode: every column against its rule."""
    objects = [from_plain(item) for item in case["objects"] if item["kind"] in Snapshot.follows]
    judgement = judge(from_plain(case["pod"]), snapshot(objects), profile)
    check(judgement)
    return judgement


def said(judgement, plugin, nodes):
    """What a plugin says of these nodes, in the form of the recordings."""
    verdicts = {node: judgement.verdict(node, plugin) for node in nodes}
    return {node: [list(reasons), status.word] for node, (reasons, status) in verdicts.items() if reasons}


def without_preemption(message):
    """The part of an event's sentence that filtering gives."""
    for words in (" no new claims to deallocate, preemption:", " preemption:"):
        message = message.split(words)[0]
    return message


def compare(case, profile, counts):
    """Compare one case; every difference is an assertion, every agreement is counted."""
    expect, judgement = case["expect"], judged(case, profile)
    message = expect.get("preFilter", {}).get("message")
    assert (judgement.rejected_by.message if judgement.rejected_by else None) == message
    counts["preFilter"] += 1
    if message is not None:
        assert judgement.sentence() == expect["message"]
        counts["message"] += 1
        return
    recorded = expect["nodes"]
    short = {n for n, said in recorded.items() if NO_SPACE in said.get("rejections", {}).get("VolumeBinding", ())}
    nodes = sorted(set(recorded) - short)
    for plugin in judgement.plugins:
        assert said(judgement, plugin, nodes) == {
            node: [recorded[node]["rejections"][plugin], recorded[node]["codes"][plugin]]
            for node in nodes
            if plugin in recorded[node].get("rejections", {})
        }
        counts[plugin] += 1
    ours = {*judgement.plugins, "PreFilter"}
    for node in nodes:
        rejections = set(recorded[node].get("rejections", {}))
        if rejections <= ours:
            assert judgement.first[node] == recorded[node].get("codes", {}).get("first")
            assert (node in judgement.feasible) == (node in expect["feasible"])
            counts["node"] += 1
    if not short and all(set(found.get("rejections", {})) <= ours for found in recorded.values()):
        assert list(judgement.feasible) == expect["feasible"]
        counts["feasible"] += 1
        if "message" in expect:
            assert judgement.sentence() == without_preemption(expect["message"])
            counts["message"] += 1
        ranking = rank(judgement)
        for node in expect["feasible"]:
            scores = {name: weighted for name, (_, _, weighted) in ranking.of(node).items() if name in SCORES}
            assert scores == {name: expect["scores"][node][name] for name in SCORES if name in expect["scores"][node]}
            counts["scores"] += 1
    for node, bindings in expect.get("bindings", {}).items():
        decision = profile.plugin("VolumeBinding").decide(judgement.pod, node, judgement.seen)
        static = {claim.name: f"pv:{volume.name}" for claim, volume in decision.static}
        assert static | {claim.name: "provision" for claim in decision.provision} == bindings
        counts["bindings"] += 1


EXPECTED = {
    # family: how many cases, sentences, scored nodes and bindings were compared (so that nothing drops out unseen)
    "fit": (150, 61, 179, 0),
    "spread": (150, 19, 559, 0),
    "static": (146, 75, 217, 217),
    "dynamic": (150, 33, 224, 244),
    "interpod": (150, 50, 391, 0),
}


@pytest.mark.parametrize("family", EXPECTED)
@pytest.mark.checklist("4", "19", "20", "35", "56", "103", "104", "109", "126")
def test_kube_scheduler_v1_36(family):
    """Verdicts, codes, sentences, scores and bindings of kube-scheduler v1.36.2."""
    counts = Counter()
    for case in cases(family):
        try:
            compare(case, upstream(), counts)
        except AssertionError as failed:
            failed.add_note(case["id"])
            raise
    print(family, dict(counts))
    assert tuple(counts[name] for name in ("preFilter", "message", "scores", "bindings")) == EXPECTED[family]


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
    for case in cases("design-spread"):
        judgement = judged(case, design())
        rejected = {node: found[0][0] for node, found in said(judgement, "PodTopologySpread", judgement.nodes).items()}
        assert rejected == case["expect"]["beta"]["rejected"], case["id"]


@pytest.mark.checklist("203")
def test_design_spread_as_1_16():
    """With terminating pods counted, all that 1.16 said comes out: first plugin, feasible nodes, words."""
    profile = with_terminating(design())
    for case in cases("design-spread"):
        judgement, expect = judged(case, profile), case["expect"]
        assert list(judgement.feasible) == expect["feasible"], case["id"]
        for node, recorded in expect["nodes"].items():
            first = recorded.get("codes", {}).get("first")
            assert judgement.first[node] == first, case["id"]
            if first is not None:
                assert list(judgement.verdict(node, first)[0]) == recorded["rejections"][first], case["id"]
        if "message" in expect:
            assert judgement.sentence() == expect["message"], case["id"]
