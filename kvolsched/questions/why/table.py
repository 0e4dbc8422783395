"""The table of an answer: the clauses of kube-scheduler's sentence, nodes judged alike as columns, demands as rows.

A column holds the nodes on which the same demands fail and which the same clauses count. A cell has both sides of a
comparison in a few words: the plugin's rule judges the demand's variant of the pod, and its evidence is shortened. Of
many nodes a few are compared, amounts of a resource on all, and sides that differ are told as a range. Nothing is
decided here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from ...api import volumes
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...rules.named import plugin_card
from ...scheduler import requests
from ...scheduler.columns.ranked_pods import priority
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size
from ...scheduler.framework.evidence import Evidence, LeftOut, RequestExceeds, Sides
from ...scheduler.framework.extension_points import VolumeDecider
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Code, Reject
from ...scheduler.plugins.default_preemption import NO_VICTIMS, NOT_HELPFUL
from ...scheduler.plugins.inter_pod_affinity.rule import holds_unwanted_pods, lacks_wanted_pods, objections
from ...scheduler.requests import PODS, format_amount
from .answer import AlikeNodes, Cell, SentenceClause
from .demands import Demand, group_nodes_by_demands

MAX_COMPARED = 12  # nodes of a group that are each compared
MAX_VALUES = 2  # different values that are named
NOTHING = Sides("")


def failing_sides(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Return both sides of the comparison by which a demand fails on nodes."""
    if demand.sort == "request":
        return _request_sides(demand, judgement, nodes)
    found = [_sides_on(demand, judgement, node) for node in sample(nodes)]
    different = list({str(side): side for side in found}.values())
    first, about = found[0], found[0].about if len({side.about for side in found}) == 1 else ""
    if len(different) > 1 and all(side.found is not None for side in found):
        least, most = (pick(found, key=lambda side: side.found or 0) for pick in (min, max))
        return attrs.evolve(most, left=first.left, right=f"{least.right} … {most.right}", about=about)
    shown = joined([first, *different[1:MAX_VALUES]])
    if len(different) > MAX_VALUES or (len(found) < len(nodes) and len(different) > 1):
        shown = attrs.evolve(shown, left=f"{shown.left} …") if not shown.right else attrs.evolve(
            shown, right=f"{shown.right} …")  # fmt: skip
    return attrs.evolve(shown, about=about)


def passing_sides(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Return why a demand does not fail on nodes, as far as that is told in few words."""
    if demand.sort == "request":
        return _request_sides(demand, judgement, nodes)
    if demand.sort == "cordon":
        return Sides("not cordoned")
    infos = [judgement.seen.node(node) for node in nodes[:MAX_COMPARED]]
    if demand.sort == "taint" and len(nodes) <= MAX_COMPARED:
        return Sides("no taint" if not any(info and info.spec.taints for info in infos) else "no such taint")
    if demand.sort == "node selector":
        return Sides(judgement.pod.spec.node_selector.get(demand.about, ""))
    if demand.sort == "claim" and judgement.profile.extends(demand.plugin, VolumeDecider):
        return _room_for_claim(demand, judgement, sample(nodes))
    if len(nodes) <= MAX_COMPARED:
        return Sides(plugin_card(demand.plugin).unchecked(judgement.seen, nodes))
    return NOTHING


def _room_for_claim(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Compare a claim with the least capacity that is published for one of these nodes, if that is checked."""
    seen = judgement.seen
    claim = seen.claim(judgement.pod.metadata.namespace, demand.about)
    if claim is None or claim.spec.volume_name:
        return NOTHING if claim is None else Sides("reaches it")
    storage_class = seen.storage_class(volumes.class_of_claim(claim))
    if storage_class is None or not is_capacity_checked(claim, seen.csi_driver(storage_class.provisioner)):
        return NOTHING
    name, asked = storage_class.metadata.name, volumes.requested(claim)
    infos = [info for node in nodes if (info := seen.node(node)) is not None]
    rooms = [max(map(max_volume_size, seen.storage_capacities.on(name, info)), default=0) for info in infos]
    if not rooms or min(rooms) < asked:
        return NOTHING  # a volume that exists serves it there
    room = min(rooms)
    left, right = (format_amount("memory", amount) for amount in (asked, room))
    return Sides(left, "≤", right, f"class {name}", asked, room)


CHECKS_OF_PODS: Mapping[str, Callable[[Pod, Node, Snapshot], Iterator[Evidence]]] = {
    "affinity": lambda *seen: filter(None, [lacks_wanted_pods(*seen)]),
    "anti-affinity": lambda *seen: filter(None, [holds_unwanted_pods(*seen)]),
    "objection": objections,
}


def evidence_on(demand: Demand, judgement: Judgement, node: str) -> tuple[Evidence, ...]:
    """Return the evidence by which a plugin rejects a node for one demand; () if its rule gives none."""
    places = {enabled.name: enabled.plugin for enabled in judgement.profile.filters}
    found = judgement.seen.node(node)
    if demand.sort == "left out":
        return (LeftOut(demand.plugin),)
    if demand.plugin not in places or found is None:
        return ()
    seen = judgement.views.get(node, judgement.seen)
    if demand.sort in CHECKS_OF_PODS:  # the rule names the first of them that fails
        evidence = CHECKS_OF_PODS[demand.sort](demand.pod or judgement.pod, found, seen)
        return tuple(each for each in evidence if demand.term in (None, getattr(each, "term", None)))[:1]
    answer = places[demand.plugin].rule(demand.pod or judgement.pod, found, seen)
    return answer.evidence if isinstance(answer, Reject) else ()


def _sides_on(demand: Demand, judgement: Judgement, name: str) -> Sides:
    """Compare one node; without evidence the plugin's reason stands for it."""
    evidence = evidence_on(demand, judgement, name)
    if not evidence:
        return Sides(", ".join(demand.reasons) or demand.title)
    return attrs.evolve(evidence[0].short(), evidence="; ".join(str(each.of_any_node()) for each in evidence))


def _request_sides(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Compare a request with what is left on all these nodes, as a range."""
    resource, table = demand.about, judgement.seen.nodes
    ask = 1 if resource == PODS else requests.pod_requests(judgement.pod.spec).amounts.get(resource, 0)
    rows = [table.row_of[node] for node in nodes]
    left = table.free(resource)[rows]
    least, most = int(left.min()), int(left.max())
    fails = ask > most or ask > least
    amounts = [format_amount(resource, amount) for amount in ((least, most) if least != most else (most,))]
    total = table.total(resource)[rows]
    about = f"left of {format_amount(resource, int(total[0]))}" if int(total.min()) == int(total.max()) else "left"
    evidence = ""
    if fails:
        best = nodes[[int(amount) for amount in left].index(most)]
        words = [str(each) for each in evidence_on(demand, judgement, best)
                 if isinstance(each, RequestExceeds) and each.resource == resource]  # fmt: skip
        where = f" (node {best}, for example)" if len(nodes) > 1 else ""
        evidence = "; ".join(words) + where if words else ""
    asked, sign = format_amount(resource, ask), ">" if fails else "≤"
    return Sides(asked, sign, " … ".join(amounts), about, ask, max(0, most), evidence)


def sample(nodes: Sequence[str]) -> Sequence[str]:
    """Return nodes if they are few, else some that stand at equal distances."""
    return nodes if len(nodes) <= MAX_COMPARED else nodes[:: len(nodes) // MAX_COMPARED][:MAX_COMPARED]


def joined(sides: Sequence[Sides]) -> Sides:
    """Join comparisons; those with one right side as `zone-a, zone-b ≠ zone-c`."""
    first, *others = sides
    if not others:
        return first
    if first.left and first.relation in ("≠", "not in") and all(
        (side.relation, side.right) == (first.relation, first.right) for side in others
    ):
        return attrs.evolve(first, left=", ".join(side.left for side in sides))
    return attrs.evolve(first, left=", ".join(map(str, sides)), relation="", right="")


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
            filtering, restricting = judgement.first_rejecting[node], judgement.leaving_out(node)
            first = filtering if filtering and not alike[1] else restricting[0]
            apart.setdefault((reasons, helps, first), []).append(node)
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
    return bool(judgement.leaving_out(node)) and node != judgement.pod.status.nominated_node_name


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
