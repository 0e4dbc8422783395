"""The table of an answer: the clauses of kube-scheduler's sentence, nodes judged alike as columns, demands as rows.

A column holds the nodes on which the same demands fail and which the same clauses count. This module sorts what the
plugins said; `sides` compares.
"""

from collections import Counter
from collections.abc import Sequence

from ...scheduler.columns.ranked_pods import priority
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Code
from ...scheduler.plugins.default_preemption import NO_VICTIMS, NOT_HELPFUL
from .answer import AlikeNodes, Cell, SentenceClause
from .demands import Demand, group_nodes_by_demands
from .sides import failing_sides, passing_sides


def clauses_of_sentence(judgement: Judgement,
                        preemption: Sequence[tuple[int | None, str]]) -> tuple[SentenceClause, ...]:
    """Return the clauses of the event in its order, numbered from 1: those of the filters, then those of preemption."""
    counted = sorted((f"{count} {reason}", count, reason) for reason, count in judgement.reasons().items())
    found = [SentenceClause(number, *parts) for number, parts in enumerate(counted, start=1)]
    for count, reason in preemption:
        text, nodes = (reason, len(judgement.nodes)) if count is None else (f"{count} {reason}", count)
        found.append(SentenceClause(len(found) + 1, text, nodes, reason, preemption=True))
    return tuple(found)


def node_groups(judgement: Judgement, found: Sequence[Demand], order: Sequence[int],
                clauses: Sequence[SentenceClause]) -> tuple[AlikeNodes, ...]:
    """Return the nodes that are judged alike, in the order of the clauses that count them, larger groups first.

    Args:
        judgement: the plugins' verdicts.
        found: the demands that fail.
        order: the demands as rows: indices of `found`.
        clauses: the clauses of the sentence.
    """
    numbers = {clause.reason: clause.number for clause in clauses if not clause.preemption}
    preempting = {clause.reason: clause.number for clause in clauses if clause.preemption}
    verdicts = dict(zip(judgement.nodes, (column.tobytes() for column in judgement.codes.T), strict=True))
    known: dict[tuple[bytes, bool], tuple[tuple[str, ...], bool]] = {}  # by verdicts, and whether restrictions matter
    zone_of = judgement.seen.nodes.cached("zones", lambda: {
        node.metadata.name: node.zone for node in judgement.seen.all_nodes()})  # fmt: skip
    made: list[AlikeNodes] = []
    for group in group_nodes_by_demands(found, judgement.nodes):
        apart: dict[tuple[tuple[str, ...], bool, str], list[str]] = {}
        for node in group.nodes:
            alike = verdicts[node], _is_excluded(judgement, node)
            if alike not in known:
                known[alike] = counted_reasons(judgement, node)
            reasons, helps = known[alike]
            apart.setdefault((reasons, helps, _first_plugin(judgement, node)), []).append(node)
        for (reasons, helps, first), nodes in apart.items():
            counting = tuple(sorted(numbers[reason] for reason in reasons if reason in numbers))
            cells = tuple(
                _cell(found[index], judgement, nodes, reasons, numbers, fails=index in group.failing, first=first)
                for index in order
            )
            zones = {zone_of[node] for node in nodes}
            made.append(AlikeNodes(
                tuple(nodes), tuple(sorted(zones - {""})), first, helps, counting,
                _preemption_of(judgement, nodes, preempting), cells,
            ))  # fmt: skip
    return tuple(sorted(made, key=lambda group: (group.clauses or (99,), -len(group.nodes), group.nodes)))


def counted_reasons(judgement: Judgement, node: str) -> tuple[tuple[str, ...], bool]:
    """Return the reasons for which the event counts a node, and whether removing pods could help there."""
    first = judgement.first_rejecting[node]
    if _is_excluded(judgement, node):
        return (judgement.excluded_reason,), False
    if first is None:
        return (), True
    filters = judgement.profile.filters
    group = filters[judgement.plugins.index(first)].group  # plugins of a group report together
    together = [other.name for other in filters if other.group == group] if group else [first]
    reasons = [reason for name in together for reason in judgement.verdict(node, name)[0]]
    return tuple(dict.fromkeys(reasons)), judgement.statuses[node] is Code.UNSCHEDULABLE


def _is_excluded(judgement: Judgement, node: str) -> bool:
    """Say whether a node was not filtered, as it lies outside the nodes that plugins named before filtering."""
    outside = any(node not in restriction.names for restriction in judgement.restrictions)
    return outside and node != judgement.pod.status.nominated_node_name


def _first_plugin(judgement: Judgement, node: str) -> str:
    """Return the plugin that rejects a node first, be it by restricting the pass to other nodes."""
    restricting = (restriction.plugin for restriction in judgement.restrictions if node not in restriction.names)
    return judgement.first_rejecting[node] or next(restricting, "")


def _cell(demand: Demand, judgement: Judgement, nodes: Sequence[str], reasons: Sequence[str],
          numbers: dict[str, int], *, fails: bool, first: str) -> Cell:
    if not fails:
        return Cell("passes", passing_sides(demand, judgement, nodes))
    counted = demand.plugin == first
    named = [numbers[reason] for reason in reasons if reason in numbers and reason in demand.reasons] if counted else []
    every = [numbers[reason] for reason in reasons if reason in numbers] if counted else []
    sides = failing_sides(demand, judgement, nodes)
    return Cell("first" if counted else "also", sides, tuple(sorted(named or every)))


def _preemption_of(judgement: Judgement, nodes: Sequence[str], numbers: dict[str, int]) -> tuple[int, ...]:
    """Return the numbers of the clauses of preemption that count nodes of a group, that of most nodes first."""
    if len(numbers) < 2:
        return tuple(numbers.values())
    others = [number for reason, number in numbers.items() if reason not in (NOT_HELPFUL, NO_VICTIMS)]
    ask = priority(judgement.pod)
    counts: Counter[int] = Counter()
    for node in nodes:
        if judgement.statuses[node] is not Code.UNSCHEDULABLE:
            counts.update(numbers[reason] for reason in numbers if reason == NOT_HELPFUL)
        elif not any(priority(other) < ask for other in judgement.seen.pods_on(node)):
            counts.update(numbers[reason] for reason in numbers if reason == NO_VICTIMS)
        else:
            counts.update(others)
    return tuple(number for number, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def nodes_by_zone(seen: Snapshot) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each zone with its nodes, sorted; "" for nodes without a zone, last."""
    zones: dict[str, list[str]] = {}
    for node in seen.all_nodes():
        zones.setdefault(node.zone, []).append(node.metadata.name)
    ordered = sorted(zones.items(), key=lambda item: (not item[0], item[0]))
    return tuple((zone, tuple(sorted(nodes))) for zone, nodes in ordered)
