"""The last pass over the pod in focus as rows: codes by node and plugin, scores, and both sides of one cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...explain import Pass
from ...scheduler.framework.verdict import Code
from ...world.apiserver import ref
from .. import frame as f
from .context import FrameContext

LETTERS = {
    "NodeUnschedulable": "U", "NodeName": "N", "TaintToleration": "T", "NodeAffinity": "A", "NodePorts": "P",
    "NodeResourcesFit": "F", "VolumeRestrictions": "R", "NodeVolumeLimits": "L", "VolumeBinding": "V",
    "VolumeZone": "Z", "PodTopologySpread": "S", "InterPodAffinity": "I",
}  # fmt: skip
FAMILIES = {"F": "resources"} | dict.fromkeys("RLVZ", "storage") | dict.fromkeys("SI", "spread")
CODES = {
    "Success": f.PASS, "Skip": f.NOTHING, "Error": f.ERROR, "UnschedulableAndUnresolvable": f.UNRESOLVABLE,
}  # fmt: skip
MOST_SCORED = 60  # nodes; of more, those are shown that tell how it was decided
TELLING = 40  # so many of the best, and of each plugin's winners at another weight


def verdicts(here: FrameContext, cell: str = "") -> f.Verdicts:
    """Return the matrix of the last pass, and the words of one cell (`verdict/NODE/PLUGIN`) if asked."""
    passed = here.passed
    if passed is None:
        return f.Verdicts()
    judgement = passed.judgement
    rejected = judgement.rejected_by
    codes: dict[str, list[str]] = {name: [] for name in sorted(judgement.nodes)}
    for row in judgement.matrix():
        codes[row.node].append(f.NOT_ASKED if rejected is not None else CODES.get(row.status, f.REJECT))
    first = judgement.first_rejecting if rejected is None else dict.fromkeys(codes)
    index = {name: place for place, name in enumerate(judgement.plugins)}
    rows = []
    for node, said in codes.items():
        by = first[node]
        rows.append(f.VerdictRow(node, "".join(said), index[by] if by else -1, node == passed.chosen))
    return f.Verdicts(
        pod=ref(passed.pod),
        number=passed.number,
        plugins=plugin_heads(judgement.plugins, [e.document_name for e in judgement.profile.filters]),
        rows=tuple(rows),
        scores=_scores(passed),
        prefilter=rejected.message if rejected else "",
        prefilter_plugin=rejected.plugin if rejected else "",
        rules_changed=passed.rules_changed,
        cell=_cell(here, passed, cell),
    )


def verdict_of(here: FrameContext, node: str) -> tuple[str, int, str, bool]:
    """Return what the last pass says of a node: verdict, place of the first plugin to reject, its words, resolvable."""
    if here.passed is None or node not in here.passed.judgement.first_rejecting:
        return "not judged", -1, "", True
    judgement = here.passed.judgement
    if judgement.rejected_by is not None:
        return "not asked", -1, judgement.rejected_by.message, False
    first = judgement.first_rejecting[node]
    if first is None:
        if any(node not in restriction.names for restriction in judgement.restrictions):
            return "not asked", -1, "not among the nodes that PreFilter allows", False
        return ("chosen" if node == here.passed.chosen else "fits"), -1, "", True
    reasons, status = judgement.verdict(node, first)
    resolvable = status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return "rejected", judgement.plugins.index(first), ", ".join(reasons), resolvable


def _scores(passed: Pass) -> tuple[f.ScoreRow, ...]:
    if passed.ranking is None:
        return ()
    many = len(passed.judgement.rows) > MOST_SCORED
    nodes = passed.ranking.decisive_nodes(passed.chosen, TELLING) if many else sorted(passed.ranking.nodes)
    weights = {enabled.name: enabled.weight for enabled in passed.judgement.profile.scores}
    return tuple(
        f.ScoreRow(node, plugin, round(raw), normalised, weights[plugin], weighted)
        for node in nodes
        for plugin, (raw, normalised, weighted) in passed.ranking.scores_of(node).items()
    )


def _cell(here: FrameContext, passed: Pass, reference: str) -> f.CellDetail | None:
    parts = reference.split("/")
    if len(parts) != 3 or parts[0] != "verdict":
        return None
    _, node, plugin = parts
    judgement = passed.judgement
    if node not in judgement.first_rejecting or plugin not in judgement.plugins:
        return None
    found = judgement.cell(node, plugin)
    code = f.NOT_ASKED if judgement.rejected_by is not None else CODES.get(found.status.word, f.REJECT)
    sides = tuple(str(side) for side in found.evidence)
    if code == f.PASS and plugin == "VolumeBinding":
        sides = _would_bind(here, passed, node)
    return f.CellDetail(node, plugin, code, found.reasons, sides)


def _would_bind(here: FrameContext, passed: Pass, node: str) -> tuple[str, ...]:
    """What the volume rule's Yes means for a node: which volume each claim would get, or that one is to be made."""
    rule: Any = here.cluster.revision.profile.plugin("VolumeBinding")
    decision = rule.decide(passed.judgement.pod, node, passed.judgement.seen)
    matched = [f"claim {claim.name} would take volume {volume.name}" for claim, volume in decision.static]
    return (*matched, *(f"claim {claim.name} would be provisioned for {node}" for claim in decision.provision))


def plugin_heads(names: Iterable[str], documents: Iterable[str]) -> tuple[f.PluginHead, ...]:
    """Return the columns of the matrix: Kubernetes' letters, and the next free one for a plugin of one's own."""
    heads: list[f.PluginHead] = []
    taken = set(LETTERS.values())
    for name, document in zip(names, documents, strict=True):
        letter = LETTERS.get(name) or next(c for c in name.upper() + "BCDEGHJKMOQWXY" if c.isalpha() and c not in taken)
        taken.add(letter)
        shown = name if document == name else f"{name} ({document})"
        heads.append(f.PluginHead(shown, letter, FAMILIES.get(letter, "node")))
    return tuple(heads)
