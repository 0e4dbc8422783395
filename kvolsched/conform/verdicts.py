"""Families of the scheduler: schedule a pod in a recorded cluster and report the result in the recording's format.

The profile's plugins filter, score, choose volumes and victims; this module only calls them and formats the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.text.manifest import from_plain
from kvolsched.revision import Revision
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.loop.scheduling_cycle import post_filter

from .recording import Case

ASPECTS = ("preFilter", "nodes", "feasible", "scores", "totals", "bindings", "message", "preemption")


def judge_case(case: Case, profile: Profile) -> Judgement:
    """Run the filter plugins for the pod of a case in its cluster; objects of unmodelled kinds are ignored.

    Raises:
        ManifestError: an object has fields that Kubernetes does not have.
    """
    objects = [item for item in map(from_plain, case["objects"]) if not isinstance(item, Frozen)]
    return judge(from_plain(case["pod"]), snapshot(objects), profile)


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return our scheduler's answer, aspect by aspect; aspects that do not apply are absent."""
    judgement = judge_case(case, revision.profile)
    found: dict[str, Any] = {"feasible": list(judgement.feasible)}
    rejected = judgement.rejected_by
    if rejected is not None:
        found["preFilter"] = {"plugin": rejected.plugin, "code": rejected.code.word, "message": rejected.message}
    else:
        if judgement.restrictions:
            found["preFilter"] = {"nodes": ",".join(sorted(_inside(judgement)))}
        found["nodes"] = _nodes(judgement)
    if judgement.any_feasible:
        ranking = rank(judgement)
        scores = {node: ranking.scores_of(node) for node in judgement.feasible}
        found["scores"] = {
            node: {plugin: weighted for plugin, (_, _, weighted) in plugins.items()}
            for node, plugins in scores.items()
        }
        found["totals"] = ranking.total()
        if "VolumeBinding" not in judgement.skipped:
            found["bindings"] = {node: _bindings(judgement, node) for node in judgement.feasible}
    else:
        way = post_filter(judgement.pod, judgement)
        found["message"] = judgement.sentence(postfilter=way.message)
        if way.nominated:
            found["preemption"] = {"node": way.nominated, "victims": [pod.metadata.name for pod in way.victims]}
    return found


def _inside(judgement: Judgement) -> frozenset[str]:
    """Return the nodes that every PreFilter result allows."""
    return frozenset.intersection(*(restriction.names for restriction in judgement.restrictions))


def _nodes(judgement: Judgement) -> dict[str, Any]:
    """Return rejections and codes of every node, with a mark on nodes that PreFilter excludes."""
    inside = _inside(judgement) if judgement.restrictions else frozenset(judgement.nodes)
    found: dict[str, Any] = {}
    for node in sorted(judgement.nodes):
        verdicts = {plugin: judgement.verdict(node, plugin) for plugin in judgement.plugins}
        rejections = {plugin: list(reasons) for plugin, (reasons, status) in verdicts.items() if status}
        codes = {plugin: status.word for plugin, (_, status) in verdicts.items() if status}
        if judgement.first_rejecting[node] is not None:
            codes["first"] = judgement.first_rejecting[node] or ""
        if node not in inside:
            rejections["PreFilter"] = ["excluded"]
        found[node] = {**({"rejections": rejections} if rejections else {}), **({"codes": codes} if codes else {})}
    return found


def _bindings(judgement: Judgement, node: str) -> dict[str, str]:
    """Return the volume or provisioning of each claim if the pod went to this node."""
    plugin: Any = judgement.profile.plugin("VolumeBinding")
    decision = plugin.decide(judgement.pod, node, judgement.seen)
    static = {claim.name: f"pv:{volume.name}" for claim, volume in decision.static}
    return static | {claim.name: "provision" for claim in decision.provision}
