"""Catalogue: edits of nodes and of the pods on them: label, raise limits, delete pods, add a node.

Each function yields edits that may lift one demand; `search` tries whether they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import Frozen, evolve_parts
from ...api.kinds.node import DOMAIN_LABELS, HOSTNAME_LABEL, ZONE_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import NodeSelector, Requirement, parse_integer
from ...api.kinds.volume import PersistentVolume
from ...api.words import listed
from ...scheduler import requests
from ...scheduler.framework.evidence import LimitExceeded
from ...scheduler.framework.judgement import judge
from ...world.apiserver import key_of, ref
from ..near_names import near_misses, nodes_labelled_for, right_keys
from ..why.demands import Demand
from .edit import OPERATOR, Edit, ObjectChange, OutsideAct
from .node_states import MEND_COST, sound_conditions
from .owners import owner_on_top, siblings
from .trial_cluster import TrialCluster

LABEL_COST, DELETE_POD_COST, RAISE_COST, ADD_NODE_COST = 2, 3, 8, 5
PLACES = DOMAIN_LABELS  # another value in place of one of these would be a lie
MACHINE = frozenset({"kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
                     "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"})  # fmt: skip
LARGER = {"": ("machine", "the machine's type"), "ephemeral-storage": ("root disk", "its root disk")}  # by resource
MAX_MOVED = 30  # pods that are considered for deletion
STRATEGY_COST = 2
CONTROL_PLANE = ("etcd-", "kube-apiserver-")  # static pods without which nobody answers
ROLE = "node-role.kubernetes.io/"  # labels that a kubelet may not give its own node
MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet's manifest removes
SYSTEM = 2_000_000_000  # the priority of system pods
SHOWN = ("cpu", "memory")  # resources of a new node that are always told


def label_node(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a near node as the pod's selector or its required node affinity demands."""
    pod, nodes = trial.pod, trial.seen.all_nodes()
    for node in near:
        if demand.sort == "node selector":
            wanted: dict[str, Any] = {demand.about: pod.spec.node_selector.get(demand.about)}
        else:
            wanted = labels_matching(pod.spec.required_node_affinity, node)
        slip = any(right_keys(key, nodes) or (key not in node.metadata.labels and near_misses(
            value, [each.metadata.labels.get(key, "") for each in nodes])) for key, value in wanted.items())
        if not slip:
            yield from set_labels(node, wanted)


def set_labels(node: Node, wanted: dict[str, Any], note: str = "") -> Iterator[Edit]:
    """Yield the edit that sets labels of a node (None removes one), if it changes any and tells no lie."""
    old, name = node.metadata.labels, node.metadata.name
    labels = old.merged(wanted)
    if labels.get(HOSTNAME_LABEL) not in (old.get(HOSTNAME_LABEL), name):
        return  # the kubelet owns that label: it is the node's name
    overwritten = [key for key in wanted if key in old and old[key] != wanted[key]]
    if labels == old or any(key in PLACES for key in overwritten):
        return
    if any(key in MACHINE for key in wanted):
        return  # what a machine is, its kubelet says
    new = evolve_parts(node, metadata={"labels": labels})
    text = ", ".join(f"{key}={value}" if value is not None else f"{key}-" for key, value in sorted(wanted.items()))
    kind = "relabel" if overwritten else "label truly"
    if not note:
        note = "ask who set the label, and who else selects by it" if overwritten else (
            f"only if it is true of {name}; label each node of which it is")  # fmt: skip
    yield Edit(f"Label {name} {text}", LABEL_COST, (ObjectChange(node, new),), kind, note=note, who=OPERATOR)


def labels_matching(selector: NodeSelector | None, node: Node) -> dict[str, Any]:
    """Return the fewest labels to set (None removes one) so that a term of a selector matches; {} if none can."""
    ways = []
    for term in selector.node_selector_terms if selector is not None else ():
        if any(not field.matches({"metadata.name": node.metadata.name}) for field in term.match_fields):
            continue
        unmet = [part for part in term.match_expressions if not part.matches(node.metadata.labels)]
        wanted = {part.key: _value_for(part) for part in unmet}
        if "" not in wanted.values():
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


def larger_machine(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Use a larger machine for a near node: with what the pod lacks of a resource."""
    pod, resource = trial.pod, demand.about
    if resource == requests.PODS:
        yield from _more_pods(trial, near)
        return
    ask = requests.pod_requests(pod.spec).amounts.get(resource, 0)
    if "/" in resource and not any(resource in node.status.allocatable for node in trial.seen.all_nodes()):
        yield from _device_plugin(resource, ask, near)
        return
    for node in near:
        room = trial.seen.node_info(node.metadata.name)
        if "/" in resource and not room.total.get(resource, 0):  # another kind of machine has devices
            continue
        total = requests.format_amount(resource, room.total.get(resource, 0) + ask - room.free(resource))
        status = attrs.evolve(node.status, allocatable=node.status.allocatable.merged({resource: total}))
        larger, part = LARGER.get(resource, LARGER[""])
        words = f"Use a larger {larger} for {node.metadata.name}: at least {total} {resource} allocatable"
        yield from _machine(words, node, (ObjectChange(node, attrs.evolve(node, status=status)),), trial, part)


def _more_pods(trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise the number of pods that the kubelet of a near node runs, which no larger machine does by itself."""
    waiting = sum(not pod.spec.node_name for pod in siblings(trial.pod, trial.objects))
    for node in near:
        name, room = node.metadata.name, trial.seen.node_info(node.metadata.name)
        most = room.total.get(requests.PODS, 0) - room.free(requests.PODS) + waiting
        status = attrs.evolve(node.status, allocatable=node.status.allocatable.merged({requests.PODS: str(most)}))
        words = f"Raise maxPods of the kubelet of {name} to at least {most}"
        do = (f"kubectl get --raw /api/v1/nodes/{name}/proxy/configz   # shows maxPods; "
              "set it in the kubelet's configuration, and in the node pool's, and restart the kubelet")
        yield Edit(words, MEND_COST, (ObjectChange(node, attrs.evolve(node, status=status)),), "raise maxPods",
                   note="each pod needs an address: has the node as many?", acts=(OutsideAct(words),), do=do,
                   undo="set maxPods back and restart the kubelet", who=OPERATOR)  # fmt: skip


def _device_plugin(resource: str, ask: int, near: Sequence[Node]) -> Iterator[Edit]:
    """Run the device plugin of a resource that no node reports."""
    meant = next(iter(nodes_labelled_for(resource, near)), "")
    for node in near:
        where = f" on {meant}" if meant else ""
        words = f"Run the device plugin of {resource}{where}: no node reports any"
        amounts = node.status.allocatable.merged({resource: requests.format_amount(resource, ask)})
        reports = attrs.evolve(node, status=attrs.evolve(node.status, allocatable=amounts))
        do = f"kubectl get daemonsets -A   # does the device plugin of {resource} run where such devices are?"
        yield Edit(words, MEND_COST, (ObjectChange(node, reports),), "run a driver",
                   note="if no machine has such a device, add a node that has", do=do,
                   acts=(OutsideAct(words),))  # fmt: skip


def _machine(
    words: str, node: Node, changes: tuple[ObjectChange, ...], trial: TrialCluster, part: str = LARGER[""][1]
) -> Iterator[Edit]:
    """Change what a machine has, which its kubelet and its drivers report, after a drain.

    Not where a budget refuses the drain, nor where it ends a pod that nobody makes again, or the control plane.
    """
    name = node.metadata.name
    here = [pod for pod in trial.of_kind("Pod") if pod.spec.node_name == name and not pod.terminal]
    there = [pod for pod in here if not _stays_in_a_drain(pod)]
    refused = any(allowed <= 0 for pod in there for _, allowed in _budgets(pod, trial))
    if refused or any(pod.metadata.controller is None or pod.metadata.name.startswith(CONTROL_PLANE) for pod in here):
        return
    local = any("emptyDir" in volume.rest for pod in there for volume in pod.spec.volumes)
    data = "what emptyDir volumes there hold is GONE" if local else ""
    do = (f"kubectl drain {name} --ignore-daemonsets{' --delete-emptydir-data' * local}   # then change {part}, "
          f"and kubectl uncordon {name}")
    alone = bool(there) and len(trial.seen.all_nodes()) == 1
    where = ", the only node" if alone else ""
    stops = f"every pod of {name}{where}; what fits nowhere else is DOWN until the machine is back" if there else ""
    yield Edit(words, RAISE_COST, changes, "larger machine", acts=(OutsideAct(words),), do=do,
               restarts=stops, letter="F" if alone else "D", data=data,
               who=f"{OPERATOR}; the owners of those pods" if alone else "")  # fmt: skip


def _stays_in_a_drain(pod: Pod) -> bool:
    """Say whether a drain with --ignore-daemonsets leaves a pod alone: one of a DaemonSet, or static."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind in ("Node", "DaemonSet")


def attach_more(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Use a machine for a near node that attaches the volumes there and the pod's."""
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
            words = f"Use a machine for {node.metadata.name} that attaches more: {' and '.join(raises)}"
            yield from _machine(words, node, (ObjectChange(old, new),), trial)


def _raise_driver_limit(csi_node: Any, exceeded: LimitExceeded) -> Iterator[tuple[Any, str]]:
    """Yield a CSINode with the exceeded limit raised, and the new limit in words."""
    for place, driver in enumerate(csi_node.spec.drivers):
        if driver.name == exceeded.driver:
            more = attrs.evolve(driver, allocatable=attrs.evolve(driver.allocatable, count=exceeded.total))
            drivers = (*csi_node.spec.drivers[:place], more, *csi_node.spec.drivers[place + 1 :])
            new = evolve_parts(csi_node, spec={"drivers": drivers})
            yield new, f"{exceeded.total} volumes of {driver.name} instead of {exceeded.limit}"


def make_room(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Move the fewest pods of a near node, or of its domain, that make the demand fail; none that must stay.

    An old replica of the pod's own workload leaves by the workload's strategy.
    """
    owner = owner_on_top(trial.pod, trial.objects)
    for node in near:
        pods = [pod for pod in _pods_in_the_way(demand, trial, node) if may_leave(pod, trial)]
        pods.sort(key=lambda pod: (owner_on_top(pod, trial.objects) is None, -(pod.spec.priority or 0),
                                   -requests.pod_requests(pod.spec).amounts.get(demand.about, 0),
                                   pod.metadata.name))  # fmt: skip
        old = [pod for pod in pods if owner is not None and owner_on_top(pod, trial.objects) == owner]
        yield from _by_strategy(demand, trial, old)
        gone = _fewest_pods(trial, [pod for pod in pods if pod not in old][:MAX_MOVED], demand)
        if gone:
            yield _moved(gone, trial)
            yield from _run_elsewhere(gone, trial) if demand.sort == "request" else ()


def _moved(gone: Sequence[Pod], trial: TrialCluster) -> Edit:
    """Return the edit that evicts pods, of which nobody creates the bare ones again."""
    names = ", ".join(f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in gone)
    places = ", ".join(dict.fromkeys(pod.spec.node_name for pod in gone))
    owners = [owner_on_top(pod, trial.objects) for pod in gone]
    makers = dict.fromkeys(str(owner) for owner in owners if owner is not None)
    notes = [f"{listed(makers)} will create new ones, which need other nodes"] if makers else []
    budgets = [f"PodDisruptionBudget {name} allows {allowed}" for pod in gone for name, allowed in _budgets(pod, trial)]
    lost = [ref(key_of(pod)) for pod, owner in zip(gone, owners, strict=True) if owner is None]
    changes = tuple(ObjectChange(pod, None) for pod in gone)
    if lost:
        words, kind = f"Delete {names} from {places}: nobody creates {listed(lost)} again", "delete pods"
    else:
        words, kind = f"Move {names} away from {places}", "move pods"
    note = "; ".join(dict.fromkeys([*notes, *budgets]))
    return Edit(words, DELETE_POD_COST * len(gone) + len(lost), changes, kind, note=note)


def _run_elsewhere(gone: Sequence[Pod], trial: TrialCluster) -> Iterator[Edit]:
    """Let the owner of a pod that nobody creates again make it anew for another node that would take it."""
    pod, *others = gone
    if others or pod.metadata.controller is not None:
        return
    free, name = evolve_parts(pod, spec={"node_name": ""}), f"{pod.metadata.namespace}/{pod.metadata.name}"
    fits = judge(free, trial.seen, trial.profile).feasible
    for other in [other for other in fits if other != pod.spec.node_name][:1]:
        there = evolve_parts(free, spec={"node_selector": pod.spec.node_selector.merged({HOSTNAME_LABEL: other})})
        words = f"Run {name} on {other}, which has room for it, in place of {pod.spec.node_name}"
        yield Edit(words, DELETE_POD_COST, (ObjectChange(pod, there, recreate=True),), "run elsewhere",
                   note="ask its owner first: what it does begins anew", restarts=name)  # fmt: skip


def may_leave(pod: Pod, trial: TrialCluster) -> bool:
    """Say whether a pod may be moved for another: no mirror pod, no part of the system, no budget that forbids it."""
    system = pod.metadata.namespace == "kube-system" or MIRROR in pod.metadata.annotations
    above = (pod.spec.priority or 0) > max(trial.pod.spec.priority or 0, 0) or (pod.spec.priority or 0) >= SYSTEM
    return not (_stays_in_a_drain(pod) or system or above) and all(allowed > 0 for _, allowed in _budgets(pod, trial))


def _budgets(pod: Pod, trial: TrialCluster) -> Iterator[tuple[str, int]]:
    """Yield the PodDisruptionBudgets that select a pod, each with how many disruptions it allows now."""
    for budget in trial.of_kind("PodDisruptionBudget"):
        mine = budget.metadata.namespace == pod.metadata.namespace
        if mine and budget.spec.selector is not None and budget.spec.selector.matches(pod.metadata.labels):
            yield budget.metadata.name, budget.status.disruptions_allowed


def _by_strategy(demand: Demand, trial: TrialCluster, old: Sequence[Pod]) -> Iterator[Edit]:
    """Let a rollout delete an old replica before it makes the new one, where the old one is in the way."""
    old = [pod for pod in old if pod.metadata.controller != trial.pod.metadata.controller]
    owner = owner_on_top(trial.pod, trial.objects)
    workload = trial.get(owner.kind, owner.name, trial.key.namespace) if owner is not None else None
    gone = _fewest_pods(trial, old, demand)
    if not gone or workload is None or workload.kind != "Deployment":
        return
    rolling = Frozen({"type": "RollingUpdate", "rollingUpdate": Frozen({"maxSurge": 0, "maxUnavailable": 1})})
    new = evolve_parts(workload, spec={"rest": workload.spec.rest.with_(strategy=rolling)})
    if new != workload:
        words = f"Set maxSurge: 0, maxUnavailable: 1 in {owner}, so that an old replica leaves first"
        expected = tuple(ObjectChange(pod, None) for pod in gone)
        note = "while it rolls out, one replica less runs"
        yield Edit(words, STRATEGY_COST, (ObjectChange(workload, new),), "strategy", expected, note)


def _pods_in_the_way(demand: Demand, trial: TrialCluster, node: Node) -> list[Pod]:
    """Return the pods that may make a demand fail on a node: those on it, or in its domain if domains count."""
    seen = trial.seen
    if demand.sort not in ("spread", "anti-affinity", "objection", "claim"):
        return seen.pods_on(node.metadata.name)
    key, value = demand.about, node.metadata.labels.get(demand.about)
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
    """Add an empty copy of a near node with the labels that the pod selects, in its zone or a new one.

    A new machine has no old local disk: where the pod's volume is on one, its node must come back with the disk.
    """
    pod = trial.pod
    asks = {requests.PODS: 1, **requests.pod_requests(pod.spec).amounts}
    # Where nodes with a device are kept for those who ask for it, a new one will be, too.
    taints = tuple({taint: "" for each in trial.seen.all_nodes() for taint in each.spec.taints if taint.key in asks})
    for node in near:
        name = f"{node.metadata.name}-more"
        while trial.get("Node", name) is not None:
            name += "-more"
        selected = dict(pod.spec.node_selector)
        like = evolve_parts(node, metadata={"labels": node.metadata.labels.merged({HOSTNAME_LABEL: name, **selected})})
        selected |= labels_matching(pod.spec.required_node_affinity, like)
        labels = like.metadata.labels.merged(selected)
        total = requests.allocatable(node.status.allocatable)
        more = {
            resource: requests.format_amount(resource, ask)
            for resource, ask in asks.items()
            if total.get(resource, 0) < ask
        }
        keys = [constraint.topology_key for constraint in pod.spec.topology_spread_constraints]
        zonal = keys or [*pod.claim_names()] or pod.spec.affinity or ZONE_LABEL in selected
        spread = dict.fromkeys(keys, f"{name}-domain")
        near_volumes = _labels_of_volumes(trial, node)
        places: list[tuple[str, dict[str, Any]]] = [
            ("", {}),
            (" where its volumes are", near_volumes),
            (" in a new zone", {ZONE_LABEL: f"{name}-zone"}),
            (" in new domains", spread),
        ]
        for where, place in places:
            if where and (all(key not in labels for key in place) or any(key in selected for key in place)):
                continue
            new_name = place.get(HOSTNAME_LABEL) or name  # a kubelet gives its node's name to this label
            if trial.get("Node", new_name) is not None:
                continue
            allocatable = node.status.allocatable.merged(more)
            new = Node(
                metadata=type(node.metadata)(name=new_name, labels=labels.merged({HOSTNAME_LABEL: new_name, **place})),
                spec=type(node.spec)(taints=taints),
                status=attrs.evolve(node.status, allocatable=allocatable, conditions=sound_conditions(node)),
            )
            changes = [ObjectChange(None, new)]
            drivers = trial.get("CSINode", node.metadata.name)
            if drivers is not None:
                changes.append(ObjectChange(None, attrs.evolve(drivers, metadata=type(node.metadata)(name=new_name))))
            if new_name != name and place is near_volumes:
                yield _node_with_its_disk(new_name, tuple(changes))
                continue
            shown = {key: value for key, value in selected.items() if key not in DOMAIN_LABELS}
            full = trial.seen.node_info(node.metadata.name).free(requests.PODS) < 1
            told = (each for each in dict.fromkeys((*SHOWN, *asks)) if full or each != requests.PODS)
            size = [f"at least {more[each]} {each} allocatable" if each in more and "/" not in each else
                    f"{allocatable[each]} {each}" for each in told if each in allocatable]  # fmt: skip
            details = "; ".join([", ".join(size), *(f"{key}={value}" for key, value in sorted(shown.items()))])
            zone = "" if "new" in where or not new.zone or not (where or zonal) else f" in zone {new.zone}"
            bears = "; without taints" if node.spec.taints else ""
            bears = f"; tainted {listed(map(str, taints))}" if taints else bears
            words = f"Add a node{zone or where} ({details}{bears})"
            roles = [f"kubectl label node NAME {key}={value}   # then: a kubelet may not set this label itself"
                     for key, value in sorted(shown.items()) if key.startswith(ROLE)]  # fmt: skip
            notes = [_note_on_place(trial)] if where == " where its volumes are" else []
            notes += [f"the device plugin of {each} must run there" for each in asks if "/" in each]
            do = "\n".join(["a machine from your provider or node pool; its kubelet registers the node", *roles])
            yield Edit(words, ADD_NODE_COST + bool(where), tuple(changes), "add node", note="; ".join(notes), do=do,
                       undo="drain it, delete the node, and give the machine back")  # fmt: skip


def _note_on_place(trial: TrialCluster) -> str:
    """Return why a new node must be where a pod's volumes are, or where the class of one is allowed to make them."""
    claims = [claim for name in trial.pod.claim_names() if (claim := trial.claim(name)) is not None]
    if trial.volumes_of(claims):
        return "the pod's volumes are reached from there alone"
    names = dict.fromkeys(volumes.class_of_claim(claim) for claim in claims)
    return f"class {listed(names)} provisions only there, and the volume then stays there for good"


def _node_with_its_disk(name: str, changes: tuple[ObjectChange, ...]) -> Edit:
    """Return the edit that brings a node back that is gone, with the local disk of a volume."""
    words = f"Bring {name} back WITH ITS DISK"
    note = f"a new machine of the name {name} without that disk would not do"
    do = (f"see first whether the machine runs and only Node {name} was deleted: its kubelet, restarted, registers it\n"
          f"start the machine {name}, or move its disk to another machine that registers as {name}")
    return Edit(words, MEND_COST, changes, "bring back", note=note, acts=(OutsideAct(words),), do=do,
                data="kept, if the disk survived")


def _labels_of_volumes(trial: TrialCluster, node: Node) -> dict[str, Any]:
    """Return the labels with which a node reaches the pod's volumes."""
    pod, wanted = trial.pod, dict[str, Any]()
    for name in pod.claim_names():
        claim = trial.claim(name)
        bound = trial.volumes_of([claim])
        for volume in bound:
            wanted |= labels_to_reach(volume, node)
        storage_class = trial.class_of(claim) if claim is not None and not bound else None
        if storage_class is not None and not volumes.topology_allows(storage_class, node):
            first = storage_class.allowed_topologies[0].match_label_expressions
            wanted |= {part.key: part.values[0] for part in first if part.values}
    return wanted


def labels_to_reach(volume: PersistentVolume, node: Node) -> dict[str, Any]:
    """Return the labels with which a node reaches a volume: its first zone and region, and what its affinity asks."""
    domains = {key: text.split("__")[0] for key, text in volume.metadata.labels.items() if key in DOMAIN_LABELS}
    return domains | labels_matching(volume.spec.required_node_affinity, node)


