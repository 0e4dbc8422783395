"""Families of the scheduler: schedule a pod in a recorded cluster and report the result in the recording's format.

The profile's plugins filter, score, choose volumes and victims; this module only calls them and formats the answers.
Family `design-spread` is played with the PodTopologySpread of 1.16 and of 1.18, which implemented S3; all else is the
revision's.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kvolsched.api.defaults import with_defaults
from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.text.manifest import from_plain
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.loop.scheduling_cycle import post_filter
from kvolsched.scheduler.plugins.pod_topology_spread import releases
from kvolsched.scheduler.requests import NATIVE

from .agreement import Case

NATIVE_REASONS = tuple(f"Insufficient {resource}" for resource in NATIVE)
# Recorded in two cycles that differ: two volumes are reserved for one claim, and a walk over a map finds either first.
UNSURE = {"odd-7-1673-mixed": ("message",)}
ASPECTS = ("preFilter", "nodes", "feasible", "scores", "totals", "bindings", "message", "preemption")
ODD_ASPECTS = (*ASPECTS, "host")
SPREAD_ASPECTS = ("feasible", "first", "words", "message", "raw", "scores", "beta")
SPREADING = "PodTopologySpread"


def judge_case(case: Case, profile: Profile,
               read_object: Callable[[Mapping[str, Any]], Any] = from_plain) -> Judgement:
    """Run the filter plugins for the pod of a case in its cluster; objects of unmodelled kinds are ignored.

    Args:
        case: the recorded cluster and pod.
        profile: the plugins.
        read_object: makes an object of each of the case's manifests.

    Raises:
        ManifestError: an object has fields that Kubernetes does not have.
    """
    objects = [item for item in map(read_object, case["objects"]) if not isinstance(item, Frozen)]
    return judge(read_object(case["pod"]), snapshot(objects), profile)


def answer(case: Case, revision: Revision,
           read_object: Callable[[Mapping[str, Any]], Any] = from_plain) -> Mapping[str, Any]:
    """Return our scheduler's answer, aspect by aspect; aspects that do not apply are absent."""
    return _told(judge_case(case, revision.profile, read_object))


def from_plain_with_defaults(plain: Mapping[str, Any]) -> Any:
    """Return a recorded manifest as an object with its defaults, as the recording filled them in.

    It was filled in as read, where an empty `allocatable` is one that is given, and stays empty; an API server that
    stores it loses the difference, and fills it in from the capacity. What admission adds, tolerations, was not added.
    """
    obj, given = from_plain(plain), plain.get("status", {}).get("allocatable")
    if isinstance(obj, Node) and given == {}:
        return obj
    filled = with_defaults(obj)
    return evolve_parts(filled, spec={"tolerations": obj.spec.tolerations}) if isinstance(obj, Pod) else filled


def _told(judgement: Judgement) -> dict[str, Any]:
    """Return what a judgement says, aspect by aspect."""
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


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer, with what NodeResourcesFit says of other resources sorted: Kubernetes walks a map."""
    answered = case["expect"]
    if not isinstance(nodes := answered.get("nodes"), Mapping):
        return dict(answered)
    return {**answered, "nodes": {name: _with_sorted_reasons(verdicts) for name, verdicts in nodes.items()}}


def _with_sorted_reasons(verdicts: Mapping[str, Any]) -> Mapping[str, Any]:
    reasons = verdicts.get("rejections", {}).get("NodeResourcesFit", [])
    others = [reason for reason in reasons if reason.startswith("Insufficient ") and reason not in NATIVE_REASONS]
    if len(others) < 2:
        return verdicts
    ordered = [reason for reason in reasons if reason not in others] + sorted(others)
    return {**verdicts, "rejections": {**verdicts["rejections"], "NodeResourcesFit": ordered}}


def odd_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the answer to a case of family `odd`: also the `host`, if the pod has a nominated node."""
    found = _without_unsure(case["id"], answer(case, revision))
    if "totals" not in found or not case["pod"].get("status", {}).get("nominatedNodeName"):
        return found
    judgement = judge_case(case, revision.profile)
    return {**found, "host": judgement.fitting_nominated_node or AnyOf(rank(judgement).best)}


def odd_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded answer to a case of family `odd`, without what is unsure in it."""
    return _without_unsure(case["id"], expected(case))


def _without_unsure(case: str, answered: Mapping[str, Any]) -> Mapping[str, Any]:
    return {aspect: what for aspect, what in answered.items() if aspect not in UNSURE.get(case, ())}


class AnyOf(frozenset[str]):
    """Names of which any is right, since a draw decides."""

    __hash__ = frozenset.__hash__

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else frozenset.__eq__(self, other)


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


def spread_expected(case: Case) -> Mapping[str, Any]:
    """Return what 1.16 answered for a pod and its nodes, and 1.18 in `beta`."""
    recorded = case["expect"]
    firsts = {name: node.get("codes", {}).get("first") for name, node in recorded["nodes"].items()}
    words = {name: recorded["nodes"][name]["rejections"][first] for name, first in firsts.items() if first}
    beta = {word: value for word, value in recorded["beta"].items() if word != "version"}
    optional = {word: recorded[word] for word in ("message", "raw", "scores") if word in recorded}
    return {"feasible": recorded["feasible"], "first": firsts, "words": words, **optional, "beta": beta}


def spread_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what our scheduler answers, in the form of `expected`."""
    profiles = map(revision.profile.replacing, (releases.EVEN_PODS_SPREAD_1_16, releases.EVEN_PODS_SPREAD_1_18))
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
        found["scores"] = {node: {SPREADING: score} for node, score in scores.items()}
    reasons = {node: beta.verdict(node, SPREADING)[0] for node in beta.nodes}
    found["beta"] = {"rejected": {node: said[0] for node, said in reasons.items() if said}}
    counts, scores = _ranked(beta)
    if counts is not None:
        found["beta"] |= {"raw": {**dict.fromkeys(scores, 0), **counts}, "scores": scores}
    return found


def _ranked(judgement: Judgement) -> tuple[dict[str, int] | None, dict[str, int]]:
    """Return the counts of the nodes that are ranked, and the scores of all; None: no node is ranked."""
    if not judgement.any_feasible or SPREADING not in rank(judgement).raw:
        return None, {}
    scores = {node: rank(judgement).scores_of(node)[SPREADING] for node in judgement.feasible}
    counts = {node: int(raw) for node, (raw, _, _) in scores.items() if raw != releases.NOT_RANKED}
    return counts, {node: normalised for node, (_, normalised, _) in scores.items()}
