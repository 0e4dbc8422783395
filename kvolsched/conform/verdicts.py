"""The scheduler's families: a pod judged in a recorded cluster by the real engine, its answer in the recording's form.

Nothing is judged here: the snapshot follows the objects it knows, the profile's plugins judge, rank, decide what would
be bound and whom to evict; this module only asks and writes down. Format: `tests/conformance/README.md`.
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


def judged(case: Case, profile: Profile) -> Judgement:
    """Judge a case's pod in its cluster; kinds that are not modelled take no part.

    Raises:
        ManifestError: some object has fields that Kubernetes does not know.
    """
    objects = [item for item in map(from_plain, case["objects"]) if not isinstance(item, Frozen)]
    return judge(from_plain(case["pod"]), snapshot(objects), profile)


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what our scheduler says of a case, aspect by aspect; what it does not say is absent."""
    judgement = judged(case, revision.profile)
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
    """Return the nodes that every restriction made before filtering allows."""
    return frozenset.intersection(*(restriction.names for restriction in judgement.restrictions))


def _nodes(judgement: Judgement) -> dict[str, Any]:
    """Return every node's rejections and codes; of the nodes outside a restriction too, which say so."""
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
        found[node] = {
            **({"rejections": rejections} if rejections else {}),
            **({"codes": codes} if codes else {}),
        }
    return found


def _bindings(judgement: Judgement, node: str) -> dict[str, str]:
    """Return what would be written for the pod's claims if this node were chosen."""
    plugin: Any = judgement.profile.plugin("VolumeBinding")
    decision = plugin.decide(judgement.pod, node, judgement.seen)
    static = {claim.name: f"pv:{volume.name}" for claim, volume in decision.static}
    return static | {claim.name: "provision" for claim in decision.provision}
