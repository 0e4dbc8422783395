"""Both sides of a comparison in a few words: what a demand asks, and what a node or a group of nodes has.

The plugin's rule judges the demand's variant of the pod, and its evidence is shortened; nothing is decided here. Of
many nodes a few are compared, amounts of a resource on all, and sides that differ are told as a range.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from ...api import volumes
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...rules.named import plugin_card
from ...scheduler import requests
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size
from ...scheduler.framework.evidence import Evidence, RequestExceeds, Sides
from ...scheduler.framework.extension_points import VolumeDecider
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Reject
from ...scheduler.plugins.inter_pod_affinity.rule import holds_unwanted_pods, lacks_wanted_pods, objections
from ...scheduler.requests import PODS, format_amount
from .demands import Demand

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


# --- of one node -----------------------------------------------------------------------------------------------------


def evidence_on(demand: Demand, judgement: Judgement, node: str) -> tuple[Evidence, ...]:
    """Return the evidence by which a plugin rejects a node for one demand; () if its rule gives none."""
    places = {enabled.name: enabled.plugin for enabled in judgement.profile.filters}
    found = judgement.seen.node(node)
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


# --- amounts and words -----------------------------------------------------------------------------------------------


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
