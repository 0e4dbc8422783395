"""Catalogue: edits of nodes and of the pods on them: uncordon, untaint, label, raise limits, delete pods, add a node.

Each function yields edits that may lift one demand; `search` tries whether they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from kvolsched.api.kinds.node import DOMAIN_LABELS, HOSTNAME_LABEL, ZONE_LABEL, Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import NodeSelector, Requirement, parse_integer
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.api.words import listed
from kvolsched.questions.why.demands import Demand
from kvolsched.scheduler import requests
from kvolsched.scheduler.framework.evidence import LimitExceeded
from kvolsched.world.apiserver import key_of, ref

from ...api.kinds.meta import evolve_parts
from .edit import Edit, ObjectChange
from .owners import owner_on_top
from .trial_cluster import TrialCluster

UNCORDON_COST, UNTAINT_COST, LABEL_COST, DELETE_POD_COST, RAISE_COST, ADD_NODE_COST = 1, 2, 2, 3, 4, 5
CORDON_TAINT = "node.kubernetes.io/unschedulable"  # the taint of cordoned nodes
MAX_MOVED = 30  # pods that are considered for deletion


def uncordon(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Uncordon a near node."""
    for node in near:
        if node.spec.unschedulable:
            left = tuple(taint for taint in node.spec.taints if taint.key != CORDON_TAINT)
            new = evolve_parts(node, spec={"unschedulable": False, "taints": left})
            yield Edit(f"uncordon {node.metadata.name}", UNCORDON_COST, (ObjectChange(node, new),))


def untaint(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove a key's taints from a near node."""
    for node in near:
        left = tuple(taint for taint in node.spec.taints if taint.key != demand.about)
        if left != node.spec.taints:
            new = evolve_parts(node, spec={"taints": left})
            words = f"remove the taint {demand.about} from {node.metadata.name}"
            yield Edit(words, UNTAINT_COST, (ObjectChange(node, new),), note="it keeps other pods away as well")


def label_node(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a near node as the pod's selector or its required node affinity demands."""
    pod = trial.pod
    for node in near:
        if demand.sort == "node selector":
            wanted: dict[str, Any] = {demand.about: pod.spec.node_selector.get(demand.about)}
        else:
            wanted = labels_matching(pod.spec.required_node_affinity, node)
        yield from set_labels(node, wanted)


def set_labels(node: Node, wanted: dict[str, Any], note: str = "") -> Iterator[Edit]:
    """Yield the edit that sets labels of a node (None removes one), if it changes any."""
    labels = node.metadata.labels.merged(wanted)
    if labels.get(HOSTNAME_LABEL) not in (node.metadata.labels.get(HOSTNAME_LABEL), node.metadata.name):
        return  # the kubelet owns that label: it is the node's name
    if wanted and labels != node.metadata.labels:
        new = evolve_parts(node, metadata={"labels": labels})
        text = ", ".join(f"{key}={value}" if value is not None else f"{key}-" for key, value in sorted(wanted.items()))
        yield Edit(f"label {node.metadata.name} {text}", LABEL_COST, (ObjectChange(node, new),), note=note)


def labels_matching(selector: NodeSelector | None, node: Node) -> dict[str, Any]:
    """Return the fewest labels to set (None removes one) so that a term of a selector matches; {} if none can."""
    ways = []
    for term in selector.node_selector_terms if selector is not None else ():
        if any(not field.matches({"metadata.name": node.metadata.name}) for field in term.match_fields):
            continue
        unmet = [part for part in term.match_expressions if not part.matches(node.metadata.labels)]
        wanted = {part.key: _value_for(part) for part in unmet}
        if wanted and "" not in wanted.values():
            ways.append(wanted)
    return min(ways, key=len, default={})


def _value_for(part: Requirement) -> str | None:
    """Return a label value that an expression matches, None if an absent label does, "" if none is known."""
    match part.operator:
        case "In":
            return part.values[0] if part.values else ""
        case "Exists":
            return "true"
        case "NotIn" | "DoesNotExist":
            return None
        case "Gt" | "Lt" if part.values and (bound := parse_integer(part.values[0])) is not None:
            return str(bound + (1 if part.operator == "Gt" else -1))
    return ""


def raise_allocatable(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise a near node's allocatable of a resource by the amount that the pod lacks."""
    pod, resource = trial.pod, demand.about
    ask = 1 if resource == requests.PODS else requests.pod_requests(pod.spec).amounts.get(resource, 0)
    for node in near:
        room = trial.seen.node_info(node.metadata.name)
        lacks = ask - room.free(resource)
        if lacks <= 0:
            continue
        total = requests.format_amount(resource, room.total.get(resource, 0) + lacks)
        status = attrs.evolve(node.status, allocatable=node.status.allocatable.merged({resource: total}))
        more = requests.format_amount(resource, lacks)
        words = f"give {node.metadata.name} {more} more {resource} (allocatable {total})"
        yield Edit(words, RAISE_COST, (ObjectChange(node, attrs.evolve(node, status=status)),))


def raise_attach_limit(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise the attach limits of a near node's drivers to the number of volumes with the pod's."""
    plugin: Any = trial.profile.plugin(demand.plugin)
    for node in near:
        old = new = trial.get("CSINode", node.metadata.name)
        raises: list[str] = []
        for _ in old.spec.drivers if old is not None else ():
            with trial.with_changes([ObjectChange(old, new)]):
                answer = plugin.rule(trial.pod, node, trial.seen)
            exceeded = (item for item in getattr(answer, "evidence", ()) if isinstance(item, LimitExceeded))
            raised = next((found for item in exceeded for found in _raise_driver_limit(new, item)), None)
            if raised is None:
                break
            new, words = raised
            raises.append(words)
        if raises:
            words = f"let {node.metadata.name} attach {' and '.join(raises)}"
            note = "the driver reports this limit, often by the size of the machine"
            yield Edit(words, RAISE_COST, (ObjectChange(old, new),), note=note)


def _raise_driver_limit(csi_node: Any, exceeded: LimitExceeded) -> Iterator[tuple[Any, str]]:
    """Yield a CSINode with the exceeded limit raised, and the new limit in words."""
    for place, driver in enumerate(csi_node.spec.drivers):
        if driver.allocatable is not None and driver.name == exceeded.driver:
            more = attrs.evolve(driver, allocatable=attrs.evolve(driver.allocatable, count=exceeded.total))
            drivers = (*csi_node.spec.drivers[:place], more, *csi_node.spec.drivers[place + 1 :])
            new = evolve_parts(csi_node, spec={"drivers": drivers})
            yield new, f"{exceeded.total} volumes of {driver.name} instead of {exceeded.limit}"


def make_room(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Delete or move the fewest pods of a near node, or of its domain, that make the demand fail."""
    for node in near:
        pods = [pod for pod in _pods_in_the_way(demand, trial, node) if key_of(pod) != trial.key]
        pods.sort(key=lambda pod: (-(pod.spec.priority or 0), -_requested_amount(pod, demand), pod.metadata.name))
        gone = _fewest_pods(trial, pods[:MAX_MOVED], demand)
        if gone:
            names = ", ".join(f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in gone)
            places = ", ".join(dict.fromkeys(pod.spec.node_name for pod in gone))
            owners = [owner_on_top(pod, trial.objects) for pod in gone]
            makers = dict.fromkeys(str(owner) for owner in owners if owner is not None)
            again = f"{listed(makers)} will create new ones, which need other nodes" if makers else ""
            lost = [ref(key_of(pod)) for pod, owner in zip(gone, owners, strict=True) if owner is None]
            note = "; ".join(part for part in (again, f"nobody creates {listed(lost)} again" if lost else "") if part)
            changes = tuple(ObjectChange(pod, None) for pod in gone)
            yield Edit(f"delete or move {names} from {places}", DELETE_POD_COST * len(gone), changes, note=note)


def _pods_in_the_way(demand: Demand, trial: TrialCluster, node: Node) -> list[Pod]:
    """Return the pods that may make a demand fail on a node: those on it, or in its domain if domains count."""
    seen = trial.seen
    if demand.sort not in ("spread", "affinity", "anti-affinity", "objection", "claim"):
        return seen.pods_on(node.metadata.name)
    key = demand.about
    value = node.metadata.labels.get(key)
    inside = [
        other
        for other in seen.all_nodes()
        if demand.sort == "claim" or (value is not None and other.metadata.labels.get(key) == value)
    ]
    pods = [pod for other in inside for pod in seen.pods_on(other.metadata.name)]
    if demand.sort == "claim":
        names = set(trial.pod.claim_names())
        shared = [pod for pod in pods if names & set(pod.claim_names())]
        pods = shared or [pod for pod in seen.pods_on(node.metadata.name) if pod.spec.volumes]
    return pods


def _requested_amount(pod: Pod, demand: Demand) -> int:
    return requests.pod_requests(pod.spec).amounts.get(demand.about, 1)


def _fewest_pods(trial: TrialCluster, pods: Sequence[Pod], demand: Demand) -> list[Pod]:
    """Return the fewest pods whose deletion makes the demand fail on fewer nodes; the last given are preferred."""
    if not pods:
        return []
    before = rejection_count(trial.judge(), demand)

    def helps(gone: Iterable[Pod]) -> bool:
        with trial.with_changes(ObjectChange(pod, None) for pod in gone):
            after = trial.judge()
            if after.any_feasible:
                return True
            return rejection_count(after, demand) < before

    for pod in reversed(pods):
        if helps([pod]):
            return [pod]
    if not helps(pods):
        return []
    gone = list(pods)
    for pod in pods:
        fewer = [other for other in gone if other is not pod]
        if helps(fewer):
            gone = fewer
    return gone


def rejection_count(judgement: Any, demand: Demand) -> int:
    """Return the number of nodes that a demand's plugin rejects; more than all if the pod is rejected as a whole."""
    if judgement.rejected_by is not None:
        return len(judgement.nodes) + 1
    if demand.plugin not in judgement.plugins:
        return 0
    return int((judgement.codes[judgement.plugins.index(demand.plugin)] != 0).sum())


def add_node(trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add an empty copy of a near node with the labels that the pod selects, in its zone or a new one."""
    pod = trial.pod
    asks = {requests.PODS: 1, **requests.pod_requests(pod.spec).amounts}
    for node in near:
        name = _free_name(trial, f"{node.metadata.name}-more")
        labels = node.metadata.labels.merged({HOSTNAME_LABEL: name, **pod.spec.node_selector})
        like = evolve_parts(node, metadata={"labels": labels})
        labels = labels.merged(labels_matching(pod.spec.required_node_affinity, like))
        total = requests.allocatable(node.status.allocatable)
        more = {
            resource: requests.format_amount(resource, ask)
            for resource, ask in asks.items()
            if total.get(resource, 0) < ask
        }
        keys = [constraint.topology_key for constraint in pod.spec.topology_spread_constraints]
        spread = dict.fromkeys(keys, f"{name}-domain")
        near_volumes = _labels_of_volumes(trial, node)
        places: list[tuple[str, dict[str, Any]]] = [
            ("", {}),
            (" where its volumes are", near_volumes),
            (" in a new zone", {ZONE_LABEL: f"{name}-zone"}),
            (" in new domains", spread),
        ]
        for where, place in places:
            if where and all(key not in labels for key in place):
                continue
            new_name = place.get(HOSTNAME_LABEL) or name  # a kubelet gives its node's name to this label
            if trial.get("Node", new_name) is not None:
                continue
            new = Node(
                metadata=type(node.metadata)(name=new_name, labels=labels.merged({HOSTNAME_LABEL: new_name, **place})),
                spec=type(node.spec)(),
                status=attrs.evolve(node.status, allocatable=node.status.allocatable.merged(more)),
            )
            changes = [ObjectChange(None, new)]
            drivers = trial.get("CSINode", node.metadata.name)
            if drivers is not None:
                meta = type(node.metadata)(name=new_name)
                changes.append(ObjectChange(None, attrs.evolve(drivers, metadata=meta)))
            size = " with more allocatable" if more else ""
            which = "a node" if new_name == name else f"a node {new_name}"
            words = f"add {which} like {node.metadata.name}{size}{where}"
            yield Edit(words, ADD_NODE_COST + bool(where), tuple(changes))


def _labels_of_volumes(trial: TrialCluster, node: Node) -> dict[str, Any]:
    """Return the labels with which a node reaches the pod's volumes."""
    pod, wanted = trial.pod, dict[str, Any]()
    for name in pod.claim_names():
        claim = trial.seen.claim(pod.metadata.namespace, name)
        volume = trial.seen.volume(claim.spec.volume_name) if claim is not None else None
        if volume is not None:
            wanted |= labels_to_reach(volume, node)
    return wanted


def labels_to_reach(volume: PersistentVolume, node: Node) -> dict[str, Any]:
    """Return the labels with which a node reaches a volume: its first zone and region, and what its affinity asks."""
    domains = {key: text.split("__")[0] for key, text in volume.metadata.labels.items() if key in DOMAIN_LABELS}
    return domains | labels_matching(volume.spec.required_node_affinity, node)


def _free_name(trial: TrialCluster, name: str) -> str:
    while trial.get("Node", name) is not None:
        name += "-more"
    return name
