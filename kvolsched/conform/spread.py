"""`design-spread`: how 1.16 and 1.18, which implemented S3, spread pods: who was rejected, in which words, who is left.

The two differ in whether terminating pods count (1.18: they do not, and so under `design`); each is judged by its own
counting, all else is the revision's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.revision import Revision
from kvolsched.scheduler.framework import Judgement
from kvolsched.scheduler.profile import Profile

from .recording import Case
from .verdicts import judged

ASPECTS = ("feasible", "first", "words", "message", "rejected in 1.18")
NAME = "PodTopologySpread"


def expected(case: Case) -> Mapping[str, Any]:
    """Return what 1.16 said of pod and nodes, and whom 1.18 rejected."""
    recorded = case["expect"]
    firsts = {name: said.get("codes", {}).get("first") for name, said in recorded["nodes"].items()}
    words = {name: recorded["nodes"][name]["rejections"][first] for name, first in firsts.items() if first}
    said = {"feasible": recorded["feasible"], "first": firsts, "words": words}
    if "message" in recorded:
        said["message"] = recorded["message"]
    return {**said, "rejected in 1.18": recorded["beta"]["rejected"]}


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the same of our scheduler."""
    alpha = judged(case, counting_terminating(revision.profile))
    beta = judged(case, revision.profile)
    firsts = {node: alpha.first[node] for node in alpha.nodes}
    words = {node: list(alpha.verdict(node, first)[0]) for node, first in firsts.items() if first}
    said: dict[str, Any] = {"feasible": list(alpha.feasible), "first": firsts, "words": words}
    if not alpha.any_feasible:
        said["message"] = alpha.sentence()
    return {**said, "rejected in 1.18": _rejected(beta)}


def counting_terminating(profile: Profile) -> Profile:
    """Return a profile whose spreading counts terminating pods, as 1.16 did."""
    plugins = tuple(
        attrs.evolve(each, plugin=attrs.evolve(each.plugin, terminating=True)) if each.name == NAME else each
        for each in profile.plugins
    )
    return attrs.evolve(profile, plugins=plugins)


def _rejected(judgement: Judgement) -> dict[str, str]:
    """Return the reason of each node that spreading rejects."""
    said = {node: judgement.verdict(node, NAME)[0] for node in judgement.nodes}
    return {node: reasons[0] for node, reasons in said.items() if reasons}
