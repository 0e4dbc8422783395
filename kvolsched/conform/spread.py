"""`design-spread`: how 1.16 and 1.18, which implemented S3, spread pods: who was rejected, in which words, who is left.

Of the two each is played with what it did otherwise than S3 says: who counts (1.16: terminating pods too, and, where it
ranks, those of all namespaces) and how what was counted becomes points. All else is the revision's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.revision import Revision
from kvolsched.scheduler.framework.judgement import Judgement
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.plugins.pod_topology_spread import UNRANKED

from .recording import Case
from .verdicts import judged

ASPECTS = ("feasible", "first", "words", "message", "raw", "scores", "beta")
NAME = "PodTopologySpread"
ALPHA = {"terminating": True, "by_share": 10, "everywhere": True}  # what 1.16 did otherwise than S3 says
BETA = {"by_share": 100, "unranked_share": True}  # and 1.18


def expected(case: Case) -> Mapping[str, Any]:
    """Return what 1.16 said of pod and nodes, and 1.18 in `beta`."""
    recorded = case["expect"]
    firsts = {name: said.get("codes", {}).get("first") for name, said in recorded["nodes"].items()}
    words = {name: recorded["nodes"][name]["rejections"][first] for name, first in firsts.items() if first}
    said = {"feasible": recorded["feasible"], "first": firsts, "words": words}
    beta = {word: what for word, what in recorded["beta"].items() if word != "version"}
    return {**said, **{word: recorded[word] for word in ("message", "raw", "scores") if word in recorded}, "beta": beta}


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the same of our scheduler."""
    alpha, beta = (judged(case, spreading(revision.profile, **options)) for options in (ALPHA, BETA))
    firsts = {node: alpha.first_rejecting[node] for node in alpha.nodes}
    words = {node: list(alpha.verdict(node, first)[0]) for node, first in firsts.items() if first}
    said: dict[str, Any] = {"feasible": list(alpha.feasible), "first": firsts, "words": words}
    if not alpha.any_feasible:
        said["message"] = alpha.sentence()
    counts, points = _ranked(alpha)
    if counts is not None:
        said["raw"] = {"counts": counts, "total": sum(counts.values())}
        if counts:
            said["raw"]["min"] = min(counts.values())
        said["scores"] = {node: {NAME: score} for node, score in points.items()}
    rejected: dict[str, Any] = {"rejected": _rejected(beta)}
    counts, points = _ranked(beta)
    if counts is not None:
        rejected |= {"raw": {**dict.fromkeys(points, 0), **counts}, "scores": points}
    return {**said, "beta": rejected}


def _ranked(judgement: Judgement) -> tuple[dict[str, int] | None, dict[str, int]]:
    """Return what was counted for each node that is ranked, and its points; None: nothing is ranked."""
    if not judgement.any_feasible or NAME not in rank(judgement).raw:
        return None, {}
    said = {node: rank(judgement).scores_of(node)[NAME] for node in judgement.feasible}
    counts = {node: int(raw) for node, (raw, _, _) in said.items() if raw != UNRANKED}
    return counts, {node: normalised for node, (_, normalised, _) in said.items()}


def spreading(profile: Profile, **options: Any) -> Profile:
    """Return a profile whose spreading has these options, as a release had."""
    plugins = tuple(
        attrs.evolve(each, plugin=attrs.evolve(each.plugin, **options)) if each.name == NAME else each
        for each in profile.plugins
    )
    return attrs.evolve(profile, plugins=plugins)


def _rejected(judgement: Judgement) -> dict[str, str]:
    """Return the reason of each node that spreading rejects."""
    said = {node: judgement.verdict(node, NAME)[0] for node in judgement.nodes}
    return {node: reasons[0] for node, reasons in said.items() if reasons}
