"""What a pod that fits nowhere demands, clause by clause, and which of these demands together leave it no node.

A demand is one clause of the pod, of its volumes or of other pods: a mask over nodes says where it fails. Masks are the
plugins' own words: a clause is judged by its plugin for a pod that has, of this plugin's clauses, this one alone, and
counts only where the plugin rejects the real pod. What no single clause explains (two claims, one volume) is a demand
of its own, and a plugin that nobody taught here, a user's for example, has one demand a reason. So on every node
some demand fails, and the smallest set of which one fails everywhere is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import attrs
import numpy as np

from kvolsched.api.kinds.pod import Pod

from ..scheduler import requests
from ..scheduler.columns.arrays import Mask
from ..scheduler.framework.extension_points import ColumnContext, lift_rule
from ..scheduler.framework.judgement import Judgement
from ..scheduler.framework.verdict import PreFilterReject, PreFilterResult, Skip
from .clauses import clauses_of

MOST_TRIED = 200_000  # sets of demands; beyond that the set is found greedily: minimal still, perhaps not the smallest


@attrs.frozen
class Demand:
    """One clause that has to hold: which plugin judges it, what sort it is and of what, in words, and where it fails.

    Args:
        sort: `request`, `node selector`, `node affinity`, `taint`, `cordon`, `port`, `claim`, `spread`, `affinity`,
            `anti-affinity`, `objection`, `before filtering` or `reason`.
        about: what it is about: a resource, a label key, a taint key, a claim, a topology key.
        words: the demand in plain words.
        reasons: what kube-scheduler says where it fails.
        fails: by node, in the order of the judgement's `nodes`, whether it fails there.
        number: which of several of this sort, as in the manifest.
    """

    plugin: str
    sort: str
    about: str
    words: str
    reasons: tuple[str, ...] = ()
    fails: Mask = attrs.field(default=None, eq=False, repr=False)
    number: int = 0

    @property
    def nodes(self) -> int:
        """On how many nodes it fails."""
        return int(self.fails.sum())


@attrs.frozen
class FailureGroup:
    """Nodes on which the same demands fail: their names, sorted, and the indices of the demands."""

    nodes: tuple[str, ...]
    failing: tuple[int, ...]


def demands(judgement: Judgement) -> tuple[Demand, ...]:
    """Return every demand that fails on some node, in the order of the plugins; a rejection before filtering alone."""
    size = len(judgement.nodes)
    rejected = judgement.rejected_by
    if rejected is not None:
        everywhere = np.ones(size, bool)
        return (
            Demand(rejected.plugin, "before filtering", "", rejected.message, (rejected.message,), everywhere),
        )
    rows = np.flatnonzero(judgement.seen.nodes.live.array)
    at = ColumnContext(judgement.seen)
    found: list[Demand] = []
    for index, enabled in enumerate(judgement.profile.filters):
        rejects = judgement.codes[index] != 0
        for restriction in judgement.restrictions:
            if restriction.plugin == enabled.name:
                rejects = rejects | ~_named(restriction, judgement)
        if not rejects.any():
            continue
        explained = np.zeros(size, bool)
        for clause in clauses_of(enabled.name, judgement.pod, at):
            fails = _fails(enabled.plugin, clause.pod, at)
            if clause.holds_on is not None:
                fails = fails & ~clause.holds_on
            fails = fails[rows] & rejects
            if fails.any():
                explained |= fails
                said = _said(judgement, index, fails)
                found.append(
                    Demand(enabled.name, clause.sort, clause.about, clause.words, said, fails, clause.number)
                )
        found += _by_reason(judgement, index, rejects & ~explained, at)
    return tuple(found)


def minimal_unsatisfiable_core(found: Sequence[Demand], said: str = "") -> tuple[Demand, ...]:
    """Return the fewest demands of which some fails on every node, those that fail on most nodes first; () if none.

    Of demands that fail on as many nodes, those come first whose reason is in `said`, the cluster's own words.
    """

    def place(index: int) -> tuple[int, bool, int]:
        return -found[index].nodes, not any(reason in said for reason in found[index].reasons), index

    order = sorted(range(len(found)), key=place)
    patterns = _minimal(frozenset(group.failing) for group in nodes_by_failures(found, ()))
    if not patterns or frozenset() in patterns:
        return ()
    tried = 0
    for many in range(1, len(found) + 1):
        for chosen in combinations(order, many):
            tried += 1
            if all(not pattern.isdisjoint(chosen) for pattern in patterns):
                return tuple(found[index] for index in chosen)
            if tried > MOST_TRIED:
                return _greedy(found, order, patterns)
    return ()


def nodes_by_failures(found: Sequence[Demand], names: Sequence[str]) -> tuple[FailureGroup, ...]:
    """Return the nodes in groups on which the same demands fail, largest first; without names, the groups alone."""
    if not found or not len(found[0].fails):
        return ()
    fails = np.stack([demand.fails for demand in found])
    packed = np.ascontiguousarray(np.packbits(fails, axis=0).T)
    whole = packed.view([("", packed.dtype)] * packed.shape[1]).ravel()
    _, first, inverse, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    made = []
    for index in np.argsort(-counts, kind="stable").tolist():
        failing = tuple(np.flatnonzero(fails[:, first[index]]).tolist())
        members = tuple(sorted(names[row] for row in np.flatnonzero(inverse == index).tolist())) if names else ()
        made.append(FailureGroup(members, failing))
    return tuple(made)


def failing_alike(judgement: Judgement) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (plugin, reasons, nodes) for the nodes that the same plugin rejects first and with the same reasons."""
    codes = judgement.codes
    names = np.array(judgement.nodes, object)
    rejected = codes != 0
    first = np.where(rejected.any(axis=0), rejected.argmax(axis=0), len(codes))
    made = []
    for index in np.unique(first[first < len(codes)]).tolist():
        here = first == index
        for code in np.unique(codes[index][here]).tolist():
            members = sorted(names[here & (codes[index] == code)].tolist())
            reasons, _ = judgement.verdict(members[0], judgement.plugins[index])
            made.append((judgement.plugins[index], reasons, tuple(members)))
    left = first == len(codes)
    outside = np.zeros(len(names), bool)
    for restriction in judgement.restrictions:
        outside |= ~_named(restriction, judgement)
    if (left & outside).any():
        plugin = judgement.restrictions[0].plugin
        made.append((plugin, ("outside the nodes that the pod names",), tuple(sorted(names[left & outside].tolist()))))
    return sorted(made, key=lambda one: (-len(one[2]), one))


def node_with_most_left(judgement: Judgement, resource: str, nodes: Sequence[str]) -> str:
    """Return, of these nodes, the one with most of a resource left (the first by name of equals)."""
    table = judgement.seen.nodes
    rows = np.array([table.row_of[name] for name in nodes])
    return nodes[int(np.argmax(table.free(resource)[rows]))]


# --- inside ----------------------------------------------------------------------------------------------------------


def _minimal(patterns: Iterator[frozenset[int]]) -> list[frozenset[int]]:
    """Return the patterns that contain no other: who hits these hits all."""
    kept: list[frozenset[int]] = []
    for pattern in sorted(set(patterns), key=lambda one: (len(one), sorted(one))):
        if not any(other <= pattern for other in kept):
            kept.append(pattern)
    return kept


def _greedy(
    found: Sequence[Demand], order: Sequence[int], patterns: Sequence[frozenset[int]]
) -> tuple[Demand, ...]:
    """Return a set that cannot be made smaller by leaving one out, found by leaving out one after the other."""
    chosen = list(order)
    for index in reversed(order):
        fewer = [other for other in chosen if other != index]
        if all(not pattern.isdisjoint(fewer) for pattern in patterns):
            chosen = fewer
    return tuple(found[index] for index in chosen)


def _fails(plugin: Any, pod: Pod, at: ColumnContext) -> Mask:
    """Return, by row, where one plugin rejects a pod."""
    size = len(at.nodes.names)
    mask = np.zeros(size, bool)
    answer = plugin.prefilter(pod, at.seen) if hasattr(plugin, "prefilter") else None
    if isinstance(answer, Skip):
        return mask
    if isinstance(answer, PreFilterReject):
        return np.ones(size, bool)
    codes = plugin.column(pod, at) if hasattr(plugin, "column") else NotImplemented
    if codes is NotImplemented:
        codes, _ = lift_rule(plugin, pod, at)
    if codes is not None:
        mask |= codes != 0
    if isinstance(answer, PreFilterResult):
        inside = np.zeros(size, bool)
        inside[[at.nodes.row_of[name] for name in answer.names if name in at.nodes.row_of]] = True
        mask |= ~inside
    return mask


def _named(restriction: PreFilterResult, judgement: Judgement) -> Mask:
    return np.array([name in restriction.names for name in judgement.nodes], bool)


def _said(judgement: Judgement, index: int, fails: Mask) -> tuple[str, ...]:
    """Return the reasons that a plugin gives on these nodes."""
    codes, where = np.unique(judgement.codes[index][fails], return_index=True)
    rows = np.flatnonzero(fails)[where]
    plugin = judgement.plugins[index]
    said = (judgement.verdict(judgement.nodes[row], plugin)[0] for code, row in zip(codes, rows, strict=True) if code)
    return tuple(dict.fromkeys(reason for reasons in said for reason in reasons))


def _by_reason(judgement: Judgement, index: int, left: Mask, at: ColumnContext) -> Iterator[Demand]:
    """Give one demand a reason for the nodes that no clause explains."""
    if not left.any():
        return
    plugin = judgement.plugins[index]
    codes = judgement.codes[index]
    masks: dict[str, Mask] = {}
    for code in np.unique(codes[left]).tolist():
        here = left & (codes == code)
        node = judgement.nodes[int(np.flatnonzero(here)[0])]
        reasons = judgement.verdict(node, plugin)[0] if code else ("outside the nodes that the pod names",)
        for reason in reasons:
            masks[reason] = masks.get(reason, False) | here
    for reason, mask in masks.items():
        sort, about, words = _worded(plugin, reason, judgement.pod, at)
        yield Demand(plugin, sort, about, words, (reason,), mask)


def _worded(plugin: str, reason: str, pod: Pod, at: ColumnContext) -> tuple[str, str, str]:
    """Return sort, subject and words of a demand that is one reason of a plugin."""
    resource = reason.removeprefix("Insufficient ")
    if plugin == "NodeResourcesFit" and resource != reason:
        resource = requests.PODS if resource == "pods" else resource
        ask = requests.pod_requests(pod.spec).amounts.get(resource, 1 if resource == requests.PODS else 0)
        return "request", resource, f"it asks for {requests.format_amount(resource, ask)} {resource}"
    if plugin == "NodeResourcesFit":
        return "request", requests.PODS, "a node takes one more pod"
    if plugin == "NodeUnschedulable":
        return "cordon", "", "its node is not cordoned (spec.unschedulable), as the pod does not tolerate that"
    if plugin == "NodeName":
        return "node name", pod.spec.node_name, f"its node is called {pod.spec.node_name}"
    names = tuple(pod.claim_names())
    if plugin in ("VolumeBinding", "NodeVolumeLimits") and names:
        together = " together" if len(names) > 1 else ""
        words = f"its claims {', '.join(names)}{together} can be had on one node: no “{reason}”"
        return "claim", ",".join(names), words
    return "reason", "", f"{plugin} must not say “{reason}”"
