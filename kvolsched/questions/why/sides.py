"""Both sides of a comparison in a few words: what a demand asks, and what a node or a group of nodes has.

The plugin's rule judges the demand's variant of the pod, and its evidence is shortened; nothing is decided here. Of
many nodes a few are compared, amounts of a resource on all, and sides that differ are told as a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from ...api import volumes
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...scheduler import requests
from ...scheduler.columns.attachments import attach_limits
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Evidence, Reject
from ...scheduler.plugins.inter_pod_affinity.rule import holds_unwanted_pods, lacks_wanted_pods, objections
from ...scheduler.requests import PODS, format_amount
from .demands import Demand

MAX_COMPARED = 12  # nodes of a group that are each compared
MAX_VALUES = 2  # different values that are named


@attrs.frozen
class Sides:
    """Both sides of one comparison.

    Args:
        text: the comparison: `20Gi > 15Gi`.
        about: what the right side is of: `class ebs`.
        asked, found: amounts of the comparison, if it compares amounts.
        evidence: the comparison in the rule's words.
    """

    text: str
    about: str = ""
    asked: int | None = None
    found: int | None = None
    evidence: str = ""


def failing_sides(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Return both sides of the comparison by which a demand fails on nodes."""
    if demand.sort == "request":
        return _request_sides(demand, judgement, nodes)
    found = [_sides_on(demand, judgement, node) for node in _sample(nodes)]
    amounts = [side for side in found if side.found is not None]
    first = found[0]
    if len(amounts) == len(found) and len({side.text for side in found}) > 1:
        least, most = (pick(amounts, key=lambda side: side.found or 0) for pick in (min, max))
        left, relation, _ = first.text.rpartition(" > ")
        right = f"{least.text.rpartition(' > ')[2]} … {most.text.rpartition(' > ')[2].removeprefix('limit ')}"
        about = first.about if len({side.about for side in found}) == 1 else ""
        return attrs.evolve(most, text=f"{left}{relation}{right}", about=about)
    texts, abouts = (list(dict.fromkeys(parts)) for parts in zip(*((s.text, s.about) for s in found), strict=True))
    more = " …" if len(texts) > MAX_VALUES or (len(found) < len(nodes) and len(texts) > 1) else ""
    about = abouts[0] if len(abouts) == 1 else ""
    return attrs.evolve(first, text=joined_sides(texts[:MAX_VALUES]) + more, about=about)


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
    if demand.sort == "claim" and demand.plugin == "VolumeBinding":
        return _room_for_claim(demand, judgement, _sample(nodes))
    if demand.plugin == "NodeVolumeLimits" and not any(
        attach_limits(judgement.seen.csi_node(node)) for node in _sample(nodes)
    ):
        return Sides("no limit published" if len(nodes) <= MAX_COMPARED else "")
    return Sides("")


def _room_for_claim(demand: Demand, judgement: Judgement, nodes: Sequence[str]) -> Sides:
    """Compare a claim with the least capacity that is published for one of these nodes, if that is checked."""
    seen = judgement.seen
    claim = seen.claim(judgement.pod.metadata.namespace, demand.about)
    if claim is None or claim.spec.volume_name:
        return Sides("" if claim is None else "reaches it")
    storage_class = seen.storage_class(volumes.class_of_claim(claim))
    if storage_class is None or not is_capacity_checked(claim, seen.csi_driver(storage_class.provisioner)):
        return Sides("")
    name, asked = storage_class.metadata.name, volumes.requested(claim)
    infos = [info for node in nodes if (info := seen.node(node)) is not None]
    rooms = [max(map(max_volume_size, seen.storage_capacities.on(name, info)), default=0) for info in infos]
    if not rooms or min(rooms) < asked:
        return Sides("")  # a volume that exists serves it there
    room = min(rooms)
    return Sides(f"{format_amount('memory', asked)} ≤ {format_amount('memory', room)}", f"class {name}", asked, room)


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
        return tuple(each for each in evidence if demand.sort != "objection" or f" {each.asked}," in demand.words)[:1]
    answer = places[demand.plugin].rule(demand.pod or judgement.pod, found, seen)
    return answer.evidence if isinstance(answer, Reject) else ()


def _sides_on(demand: Demand, judgement: Judgement, name: str) -> Sides:
    """Compare one node; without evidence the plugin's reason stands for it."""
    evidence = evidence_on(demand, judgement, name)
    node = judgement.seen.node(name)
    if not evidence or node is None:
        return Sides(", ".join(demand.reasons) or demand.title)
    short = SHORT.get(demand.plugin, _short_reason)(demand, evidence[0], node)
    return attrs.evolve(short, evidence="; ".join(map(str, evidence)).replace(f"node {name}", "the node"))


def _short_reason(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    return Sides(str(evidence).replace(f"node {node.metadata.name}", "the node"))


def _short_cordon(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    return Sides("cordoned", "spec.unschedulable: true")


def _short_name(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    return Sides(f"≠ {demand.about}", "spec.nodeName")


def _short_taint(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    taints = [str(taint)[len(taint.key) + 1 :] for taint in node.spec.taints if taint.key == demand.about]
    return Sides(", ".join(taints), "not tolerated")


def _short_label(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    if demand.sort == "node selector":
        return Sides(f"{node.metadata.labels.get(demand.about, 'no label')} ≠ {evidence.values[0]}")
    carried = evidence.found.replace(f"node {node.metadata.name}", "no label").removeprefix(f"{demand.about}=")
    wanted = _values(evidence.asked.removeprefix("required affinity "))
    return Sides(f"{carried} not in {wanted}" if wanted.startswith("[") else carried)


def _short_port(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    return Sides("taken", evidence.found.partition(" of ")[2])


def _short_use(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    return Sides(f"used by {evidence.found.removeprefix('pod ')}")


def _short_limit(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    total, limit = evidence.values
    counted, _, new = evidence.asked.partition(" attached + ")
    present, _, driver = counted.partition(" volumes of ")
    return Sides(f"{present} + {new} > limit {limit}", driver, total, limit)


def _short_volume(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    """Shorten what VolumeBinding compares: amounts, the labels of a volume's nodes, or what the class can do."""
    left, right = evidence.values
    if evidence.relation == ">" and left is not None:
        there = format_amount("memory", right) if right >= 0 else "nothing"
        return Sides(f"{format_amount('memory', left)} > {there}", _after(evidence.found, "for "), left, max(0, right))
    if evidence.relation == "does not match":
        return Sides(f"{_values(evidence.found)} not in {_values(str(left))}", f"volume {_volume_name(evidence)}")
    if evidence.relation == "do not admit":
        return Sides(f"{_values(evidence.found)} not in {_values(evidence.asked)}", "allowedTopologies of the class")
    if "nothing is provisioned" in evidence.relation:
        return Sides("none fits, none is made", f"class {evidence.found}" if evidence.found else "no class")
    return _short_reason(demand, evidence, node)


def _short_zone(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    values, value = evidence.values
    return Sides(f"{value or 'no label'} not in [{', '.join(sorted(values))}]", f"volume {_volume_name(evidence)}")


def _short_skew(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    skew, most = evidence.values
    if skew is None:
        return Sides("no such label", demand.about)
    value = node.metadata.labels.get(demand.about, "")
    return Sides(f"skew {skew} > {most}", value, skew, most)


def _short_pods(demand: Demand, evidence: Evidence, node: Node) -> Sides:
    if evidence.relation in ("excludes", "carried by"):
        pod, _, domain = evidence.found.partition(" in ")
        return Sides(pod.removeprefix("pod "), f"in {domain.partition('=')[2]}")
    if evidence.relation.startswith("is met by"):
        return Sides("no such pod", evidence.found.partition("=")[2])
    return Sides("no such label", demand.about)


SHORT: Mapping[str, Callable[[Demand, Evidence, Node], Sides]] = {
    "NodeUnschedulable": _short_cordon,
    "NodeName": _short_name,
    "TaintToleration": _short_taint,
    "NodeAffinity": _short_label,
    "NodePorts": _short_port,
    "VolumeRestrictions": _short_use,
    "NodeVolumeLimits": _short_limit,
    "VolumeBinding": _short_volume,
    "VolumeNode": _short_volume,
    "VolumeZone": _short_zone,
    "PodTopologySpread": _short_skew,
    "InterPodAffinity": _short_pods,
}


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
    sign = ">" if fails else "≤"
    text = f"{format_amount(resource, ask)} {sign} {' … '.join(amounts)}"
    total = table.total(resource)[rows]
    about = f"left of {format_amount(resource, int(total[0]))}" if int(total.min()) == int(total.max()) else "left"
    evidence = ""
    if fails:
        best = nodes[[int(amount) for amount in left].index(most)]
        words = [str(each) for each in evidence_on(demand, judgement, best) if f".{resource} " in f"{each} "]
        where = f" (node {best}, for example)" if len(nodes) > 1 else ""
        evidence = "; ".join(words) + where if words else ""
    return Sides(text, about, ask, max(0, most), evidence)


def _sample(nodes: Sequence[str]) -> Sequence[str]:
    """Return a group's nodes if they are few, else some that stand at equal distances."""
    return nodes if len(nodes) <= MAX_COMPARED else nodes[:: len(nodes) // MAX_COMPARED][:MAX_COMPARED]


def joined_sides(texts: Sequence[str]) -> str:
    """Join comparisons with one right side: `zone-a, zone-b ≠ zone-c`."""
    for relation in (" ≠ ", " not in "):
        parts = [text.partition(relation) for text in texts]
        if len(texts) > 1 and all(part[1] for part in parts) and len({part[2] for part in parts}) == 1:
            return f"{', '.join(part[0] for part in parts)}{relation}{parts[0][2]}"
    return ", ".join(texts)


def _values(words: str) -> str:
    """Return words without the keys of well-known labels: `zone-c` for `topology.kubernetes.io/zone=zone-c`."""
    kept = [part.partition("=")[2] if "=" in part and " " not in part else part for part in words.split(", ")]
    alone = ", ".join(kept)
    _, relation, rest = alone.partition(" In [")
    return f"[{rest}" if relation and " In [" not in rest and " or " not in rest and " and " not in rest else alone


def _volume_name(evidence: Evidence) -> str:
    return evidence.asked.removeprefix("volume ").partition(": ")[0]


def _after(words: str, mark: str) -> str:
    return words.partition(mark)[2]

