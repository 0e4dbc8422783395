"""`design-spread`: how 1.16 and 1.18, which implemented S3, spread pods: which nodes they reject, and in which words.

Each is played with its own PodTopologySpread (`pod_topology_spread.releases`); all else is the revision's.
"""

from collections.abc import Mapping
from typing import Any

from kvolsched.rules.revision import Revision
from kvolsched.scheduler.framework.judgement import Judgement
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.plugins.pod_topology_spread.releases import (
    EVEN_PODS_SPREAD_1_16,
    EVEN_PODS_SPREAD_1_18,
    NOT_RANKED,
)

from .recording import Case
from .verdicts import judge_case

ASPECTS = ("feasible", "first", "words", "message", "raw", "scores", "beta")
NAME = "PodTopologySpread"


def expected(case: Case) -> Mapping[str, Any]:
    """Return what 1.16 answered for a pod and its nodes, and 1.18 in `beta`."""
    recorded = case["expect"]
    firsts = {name: node.get("codes", {}).get("first") for name, node in recorded["nodes"].items()}
    words = {name: recorded["nodes"][name]["rejections"][first] for name, first in firsts.items() if first}
    beta = {word: value for word, value in recorded["beta"].items() if word != "version"}
    optional = {word: recorded[word] for word in ("message", "raw", "scores") if word in recorded}
    return {"feasible": recorded["feasible"], "first": firsts, "words": words, **optional, "beta": beta}


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what our scheduler answers, in the form of `expected`."""
    profiles = map(revision.profile.replacing, (EVEN_PODS_SPREAD_1_16, EVEN_PODS_SPREAD_1_18))
    alpha, beta = (judge_case(case, profile) for profile in profiles)
    firsts = {node: alpha.first_rejecting[node] for node in alpha.nodes}
    words = {node: list(alpha.verdict(node, first)[0]) for node, first in firsts.items() if first}
    found: dict[str, Any] = {"feasible": list(alpha.feasible), "first": firsts, "words": words}
    if not alpha.any_feasible:
        found["message"] = alpha.sentence()
    counts, scores = _ranked(alpha)
    if counts is not None:
        least = {"min": min(counts.values())} if counts else {}
        found["raw"] = {"counts": counts, "total": sum(counts.values()), **least}
        found["scores"] = {node: {NAME: score} for node, score in scores.items()}
    found["beta"] = {"rejected": _rejected(beta)}
    counts, scores = _ranked(beta)
    if counts is not None:
        found["beta"] |= {"raw": {**dict.fromkeys(scores, 0), **counts}, "scores": scores}
    return found


def _ranked(judgement: Judgement) -> tuple[dict[str, int] | None, dict[str, int]]:
    """Return the counts of the nodes that are ranked, and the scores of all; None: no node is ranked."""
    if not judgement.any_feasible or NAME not in rank(judgement).raw:
        return None, {}
    scores = {node: rank(judgement).scores_of(node)[NAME] for node in judgement.feasible}
    counts = {node: int(raw) for node, (raw, _, _) in scores.items() if raw != NOT_RANKED}
    return counts, {node: normalised for node, (_, normalised, _) in scores.items()}


def _rejected(judgement: Judgement) -> dict[str, str]:
    verdicts = {node: judgement.verdict(node, NAME)[0] for node in judgement.nodes}
    return {node: reasons[0] for node, reasons in verdicts.items() if reasons}
