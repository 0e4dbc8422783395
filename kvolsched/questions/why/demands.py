"""Finds the demands of a pod that fits nowhere, and their minimal unsatisfiable core: what excludes every node.

A demand is one requirement of the pod, of its volumes or of other pods; a mask over nodes says where it fails. Only
plugins decide masks: each judges variants of the pod with one clause (of its card), and a failure counts where the
plugin rejects the real pod as well. A variant keeps only one of the clauses that a plugin reads; what other clauses
decide for this one stays (the nodes that a spread constraint counts). Failures that no single clause explains (two
claims, one volume) become a demand for each reason, and so do those of plugins without clauses. So on every node some
demand fails, and the core is exact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import attrs
import numpy as np

from ...api.kinds.pod import Pod
from ...rules.named import plugin_card
from ...scheduler.columns.column import Mask, distinct_numbers
from ...scheduler.framework.card import Clause
from ...scheduler.framework.evidence import LeftOut
from ...scheduler.framework.extension_points import ColumnContext, lift_rule
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import PreFilterReject, PreFilterResult, Skip

MAX_TRIED_SETS = 200_000  # beyond that the core is found greedily: still minimal, perhaps not the smallest

_QUOTED = re.compile(r'"[^"]*"')


@attrs.frozen(kw_only=True)
class Demand(Clause):
    """A clause that fails on some nodes; its sort is `before filtering` if the pod is rejected as a whole.

    Args:
        plugin: the plugin that judges it.
        reasons: kube-scheduler's reasons where it fails.
        fails: whether it fails, by node in the order of the judgement's `nodes`.
    """

    plugin: str
    reasons: tuple[str, ...] = ()
    fails: Mask = attrs.field(default=None, eq=False, repr=False)

    @property
    def nodes(self) -> int:
        """The number of nodes on which it fails."""
        return int(self.fails.sum())


@attrs.frozen
class FailureGroup:
    """Nodes on which equal demands fail: their names, sorted, and the indices of the demands."""

    nodes: tuple[str, ...]
    failing: tuple[int, ...]


def demands(judgement: Judgement) -> tuple[Demand, ...]:
    """Return each demand that fails on some node, in the order of plugins; a rejection before filtering is single."""
    size = len(judgement.nodes)
    rejected = judgement.rejected_by
    if rejected is not None:
        everywhere = np.ones(size, bool)
        return (
            Demand(plugin=rejected.plugin, sort="before filtering", about="", words=rejected.message,
                   title=rejected.message, kind=_QUOTED.sub("NAME", rejected.message), reasons=(rejected.message,),
                   fails=everywhere),
        )
    rows = np.flatnonzero(judgement.seen.nodes.live.array)
    columns = ColumnContext(judgement.seen)
    found: list[Demand] = []
    outside = {each.plugin: ~mask_of(each.names, judgement) for each in judgement.restrictions}
    for index, enabled in enumerate(judgement.profile.filters):
        rejects = (judgement.codes[index] != 0) | outside.get(enabled.name, False)
        if not rejects.any():
            continue
        explained = np.zeros(size, bool)
        as_read = getattr(enabled.plugin, "as_read", None)  # some releases do not know all fields
        pod = judgement.pod if as_read is None else as_read(judgement.pod)
        for clause in plugin_card(enabled.name).clauses(pod, columns, enabled.plugin):
            fails = _rejected_rows(enabled.plugin, clause.pod or judgement.pod, columns)
            if clause.holds_on is not None:
                fails = fails & ~clause.holds_on
            fails = fails[rows] & rejects
            if fails.any():
                explained |= fails
                found.append(_demand(enabled.name, clause, _reasons_given(judgement, index, fails), fails))
        found += _demands_by_reason(judgement, index, rejects & ~explained)
    for plugin, left_out in outside.items():
        fails = left_out & ~np.any([demand.fails for demand in found if demand.plugin == plugin], axis=0)
        if fails.any():
            clause = Clause("left out", "", f"the node is {LeftOut(plugin)}", title=f"The node is {LeftOut(plugin)}")
            found.append(_demand(plugin, clause, (judgement.excluded_reason,), fails))
    return tuple(found)


def minimal_unsatisfiable_core(found: Sequence[Demand], condition_message: str) -> tuple[Demand, ...]:
    """Return the fewest demands that together exclude every node; () if some node fails none.

    Of sets of equal size that is preferred whose demands fail on most nodes; then one with demands of storage, which a
    taint or a cordon may hide in the event; then one whose reasons are in the pod's condition message.
    """

    def rank(index: int) -> tuple[int, bool, bool, int]:
        demand = found[index]
        named = any(reason in condition_message for reason in demand.reasons)
        return -demand.nodes, plugin_card(demand.plugin).family != "storage", not named, index

    def listed(chosen: Iterable[int]) -> tuple[Demand, ...]:
        return tuple(found[index] for index in sorted(chosen, key=lambda index: (-found[index].nodes, index)))

    order = sorted(range(len(found)), key=rank)
    patterns = _minimal_patterns(frozenset(group.failing) for group in group_nodes_by_demands(found, ()))
    if not patterns or frozenset() in patterns:
        return ()
    tried = 0
    for many in range(1, len(found) + 1):
        for chosen in combinations(order, many):
            tried += 1
            if all(not pattern.isdisjoint(chosen) for pattern in patterns):
                return listed(chosen)
            if tried > MAX_TRIED_SETS:
                return listed(_reduce_greedily(order, patterns))
    return ()


def group_nodes_by_demands(found: Sequence[Demand], names: Sequence[str]) -> tuple[FailureGroup, ...]:
    """Return nodes grouped by the demands that fail on them, the largest group first; names may be left out."""
    if not found or not len(found[0].fails):
        return ()
    fails = np.stack([demand.fails for demand in found])
    packed = np.ascontiguousarray(np.packbits(fails, axis=0).T)
    whole = packed.view([("", packed.dtype)] * packed.shape[1]).ravel()
    _, first, inverse, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    groups = []
    for index in np.argsort(-counts, kind="stable").tolist():
        failing = tuple(np.flatnonzero(fails[:, first[index]]).tolist())
        members = tuple(sorted(names[row] for row in np.flatnonzero(inverse == index).tolist())) if names else ()
        groups.append(FailureGroup(members, failing))
    return tuple(groups)


def nodes_with_one_failure(found: Sequence[Demand], names: Sequence[str]) -> dict[Demand, tuple[str, ...]]:
    """Return, for each demand that fails alone somewhere, the nodes on which no other fails."""
    groups = group_nodes_by_demands(found, names)
    return {found[group.failing[0]]: group.nodes for group in groups if len(group.failing) == 1}


def group_nodes_by_first_rejection(judgement: Judgement) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (plugin, reasons, nodes) for nodes that one plugin rejects first, with equal reasons; largest first."""
    codes = judgement.codes
    names = np.array(judgement.nodes, object)
    rejected = codes != 0
    first = np.where(rejected.any(axis=0), rejected.argmax(axis=0), len(codes))
    left = (first == len(codes)) | (names != judgement.pod.status.nominated_node_name)  # that is filtered all the same
    groups: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
    for plugin, allowed in ((each.plugin, each.names) for each in judgement.restrictions):
        if (mine := left & ~mask_of(allowed, judgement)).any():
            groups.append((plugin, (str(LeftOut(plugin)),), tuple(sorted(names[mine].tolist()))))
            left, first[mine] = left & ~mine, len(codes)
    for index in distinct_numbers(first[first < len(codes)]):
        rejected_first = first == index
        for code in distinct_numbers(codes[index][rejected_first]):
            members = sorted(names[rejected_first & (codes[index] == code)].tolist())
            reasons, _ = judgement.verdict(members[0], judgement.plugins[index])
            groups.append((judgement.plugins[index], reasons, tuple(members)))
    return sorted(groups, key=lambda group: (-len(group[2]), group))


def node_with_most_left(judgement: Judgement, resource: str, nodes: Sequence[str]) -> str:
    """Return the node with most of a resource left; of equals the first given."""
    table = judgement.seen.nodes
    rows = np.array([table.row_of[name] for name in nodes])
    return nodes[int(np.argmax(table.free(resource)[rows]))]


def nearest_node(judgement: Judgement, demand: Demand, nodes: Sequence[str], found: Sequence[Demand]) -> str:
    """Return the node on which fewest demands fail; of equals that with most left of what a demand asks for."""
    counts: list[int] = np.sum([each.fails for each in found], axis=0).tolist()
    lacking = dict(zip(judgement.nodes, counts, strict=True))
    least = min(map(lacking.__getitem__, nodes))
    near = sorted(name for name in nodes if lacking[name] == least)
    return node_with_most_left(judgement, demand.about, near) if demand.sort == "request" else near[0]


def _minimal_patterns(patterns: Iterator[frozenset[int]]) -> list[frozenset[int]]:
    """Return the patterns that contain no other: a set that meets these meets all."""
    kept: list[frozenset[int]] = []
    for pattern in sorted(set(patterns), key=len):
        if not any(other <= pattern for other in kept):
            kept.append(pattern)
    return kept


def _reduce_greedily(order: Sequence[int], patterns: Sequence[frozenset[int]]) -> list[int]:
    """Return a minimal core by index, found by leaving out one demand after the other."""
    chosen = list(order)
    for index in reversed(order):
        fewer = [other for other in chosen if other != index]
        if all(not pattern.isdisjoint(fewer) for pattern in patterns):
            chosen = fewer
    return chosen


def _rejected_rows(plugin: Any, pod: Pod, columns: ColumnContext) -> Mask:
    """Return the rows in which one plugin rejects a pod, as a mask."""
    size = len(columns.nodes.names)
    mask = np.zeros(size, bool)
    answer = plugin.prefilter(pod, columns.seen) if hasattr(plugin, "prefilter") else None
    if isinstance(answer, Skip):
        return mask
    if isinstance(answer, PreFilterReject):
        return np.ones(size, bool)
    codes = plugin.column(pod, columns) if hasattr(plugin, "column") else NotImplemented
    if codes is NotImplemented:
        codes, _ = lift_rule(plugin, pod, columns)
    if codes is not None:
        mask |= codes != 0
    if isinstance(answer, PreFilterResult):
        inside = np.zeros(size, bool)
        inside[[columns.nodes.row_of[name] for name in answer.names if name in columns.nodes.row_of]] = True
        mask |= ~inside
    return mask


def mask_of(names: Collection[str], judgement: Judgement) -> Mask:
    """Return which nodes of a judgement are among these."""
    return np.array([name in names for name in judgement.nodes], bool)


def _reasons_given(judgement: Judgement, index: int, fails: Mask) -> tuple[str, ...]:
    """Return the reasons that a plugin gives on these nodes."""
    codes, where = np.unique(judgement.codes[index][fails], return_index=True)
    rows = np.flatnonzero(fails)[where]
    plugin = judgement.plugins[index]
    given = (judgement.verdict(judgement.nodes[row], plugin)[0] for code, row in zip(codes, rows, strict=True) if code)
    return tuple(dict.fromkeys(reason for reasons in given for reason in reasons))


def _demands_by_reason(judgement: Judgement, index: int, left: Mask) -> Iterator[Demand]:
    """Yield a demand for each reason on the nodes that no clause explains."""
    plugin = judgement.plugins[index]
    codes = judgement.codes[index]
    masks: dict[str, Mask] = {}
    for code in distinct_numbers(codes[left & (codes != 0)]):
        rejected = left & (codes == code)
        node = judgement.nodes[int(np.flatnonzero(rejected)[0])]
        for reason in judgement.verdict(node, plugin)[0]:
            masks[reason] = masks.get(reason, False) | rejected
    for reason, mask in masks.items():
        own_words = Clause("reason", "", f"{plugin} rejects the node: “{reason}”", title=f"{plugin}: {reason}")
        yield _demand(plugin, plugin_card(plugin).clause_of_reason(judgement.pod, reason) or own_words, (reason,), mask)


def _demand(plugin: str, clause: Clause, reasons: tuple[str, ...], fails: Mask) -> Demand:
    parts = attrs.asdict(clause, recurse=False) | {"kind": clause.kind or clause.title}
    return Demand(plugin=plugin, reasons=reasons, fails=fails, **parts)
