"""Catalogue: what an operator does: uncordon, untaint, bring back or free a node; run or permit a component.

A pod with a chosen node and no volume, or that the scheduler may not bind, waits for who must run or may write: no
object is at fault where nobody runs a provisioner, a driver is not on the node, a permission is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.csi import CSINode
from ...api.kinds.meta import Condition, evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import Taint
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.words import listed
from ...controllers.node_lifecycle.controller import TAINTS
from ...core.acts import ClusterActs
from ...core.node_faults import stopped_nodes
from ...scheduler.plugins.taint_toleration import BRING_BACK, FREE, INITIALISE, STATES, WAIT, mended_by
from ...world.log import Key
from ..near_names import near_misses
from ..why.answer import node_names_text
from ..why.demands import Demand
from ..why.on_node import is_running
from ..why.sentences import forbidden_write
from .edit import OPERATOR, Edit, ObjectChange, OutsideAct
from .trial_cluster import TrialCluster

UNCORDON_COST, UNTAINT_COST, MEND_COST = 1, 2, 1
CORDON_TAINT = "node.kubernetes.io/unschedulable"  # the taint of cordoned nodes
# How somebody finds out what to free.
FREEING = {
    "disk": "kubectl debug node/{node} -it --image=busybox   # then chroot /host crictl rmi --prune, or old logs",
    "memory": "kubectl top pod -A --sort-by=memory   # then move or restart what takes most of {node}",
    "process ids": "kubectl describe node {node}   # its pods; then restart the one that starts processes without end",
}


def uncordon(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Uncordon a near node whose kubelet reports."""
    for node in near:
        if node.spec.unschedulable and not sick_taints(node):
            left = tuple(taint for taint in node.spec.taints if taint.key != CORDON_TAINT)
            new = evolve_parts(node, spec={"unschedulable": False})
            open_again = evolve_parts(new, spec={"taints": left})  # by the node lifecycle controller
            note = "ask who cordoned it, and whether a drain or an upgrade of it runs"
            words = f"Uncordon {node.metadata.name}"
            yield Edit(words, UNCORDON_COST, (ObjectChange(node, new),), "uncordon",
                       (ObjectChange(new, open_again),), note)  # fmt: skip


def sick_taints(node: Node) -> tuple[Taint, ...]:
    """Return the taints that tell of a node's state: whoever removes or tolerates them changes nothing of it."""
    return tuple(taint for taint in node.spec.taints if mended_by(taint.key) and taint.key != CORDON_TAINT)


def untaint(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Remove a key's taints from a near node; of a taint that tells of its state, the reason."""
    if mended_by(demand.about):
        yield from mend_node(near, trial)
        return
    for node in near:
        left = tuple(taint for taint in node.spec.taints if taint.key != demand.about)
        if left != node.spec.taints:
            new = evolve_parts(node, spec={"taints": left})
            words = f"Remove the taint {demand.about} from {node.metadata.name}"
            note = f"{node.metadata.name} is then open to every pod; ask who closed it, and what for"
            yield Edit(words, UNTAINT_COST, (ObjectChange(node, new),), "untaint", note=note)


def state_of_all(nodes: Sequence[Node]) -> str:
    """Return the kind of edit that every node needs, for which a new node would most likely wait, too; "" for none."""
    kinds = [{mended_by(taint.key) for taint in sick_taints(node)} for node in nodes]
    if kinds and all(INITIALISE in each for each in kinds):
        return INITIALISE
    return BRING_BACK if len(nodes) > 1 and all(BRING_BACK in each for each in kinds) else ""


def mend_node(near: Sequence[Node], trial: TrialCluster) -> Iterator[Edit]:
    """Bring a near node back, or free what it is short of: the taints that say so then go by themselves.

    What initialises nodes does so with all that wait for it.
    """
    for node in near:
        name, keys = node.metadata.name, sorted(taint.key for taint in sick_taints(node))
        kinds = {mended_by(key) for key in keys}
        if not keys or WAIT in kinds:
            continue
        changes: tuple[ObjectChange, ...] = (ObjectChange(node, _without_sickness(node)),)
        do = f"kubectl describe node {name}"
        starts = OutsideAct(f"{name} works", partial(_start, name=name))
        stops = ""
        if BRING_BACK in kinds:
            words, kind = f"Bring {name} back", BRING_BACK
            what = "; ".join(each.message for each in node.status.conditions if each.type == "Ready" and each.message)
            do += "   # Conditions and Events; then repair or replace the machine, its kubelet or its network"
            if state_of_all(trial.seen.all_nodes()) == BRING_BACK:
                do = ("kubectl get pods -n kube-system -o wide   # all nodes at once: first the network plugin's pods, "
                      f"then what else the nodes share: the way to the API server, certificates\n{do}")
        elif FREE in kinds:
            short = [STATES[key].lacks for key in keys if mended_by(key) == FREE]
            words, kind = f"Free {' and '.join(short)} on {name}", FREE
            what = "the kubelet then clears the condition, and the taint goes by itself, some minutes after"
            stated = {TAINTS.get((each.type, each.status)) for each in node.status.conditions}
            if stale := [key for key in keys if mended_by(key) == FREE and key not in stated]:
                what += f"; no condition of {name} says so now: is {listed(stale)} a stale taint?"
            do, stops = FREEING[short[-1]].format(node=name), "what is stopped to free it" if short != ["disk"] else ""
        else:
            alike = [each for each in trial.seen.all_nodes() if any(taint.key in keys for taint in each.spec.taints)]
            names = [each.metadata.name for each in alike]
            changes = tuple(ObjectChange(each, _without_sickness(each)) for each in alike)
            kind, verb = INITIALISE, "is" if len(names) == 1 else "are"
            words = f"See why {node_names_text(names)} {verb} not initialised"
            what = "the cloud controller, or what set the taint, removes it when the node is ready for pods"
            do = ("kubectl get pods -A -o wide | grep -i cloud   # does the cloud controller run? then read its log: "
                  "kubectl logs -n NAMESPACE POD")
        yield Edit(words, MEND_COST, changes, kind, note=what, acts=(starts,), do=do, restarts=stops)


def _without_sickness(node: Node) -> Node:
    """Return a node without what tells of its state, as it is once that is mended."""
    keys = {taint.key for taint in sick_taints(node)}
    return evolve_parts(node, spec={"taints": tuple(taint for taint in node.spec.taints if taint.key not in keys)},
                        status={"conditions": sound_conditions(node)})  # fmt: skip


def sound_conditions(node: Node) -> tuple[Condition, ...]:
    """Return a node's conditions as they are when nothing ails it."""
    return tuple(attrs.evolve(each, status="True" if each.type == "Ready" else "False")
                 for each in node.status.conditions)  # fmt: skip


def _start(cluster: ClusterActs, *, name: str) -> None:
    """Start a machine, if it is stopped here."""
    if name in stopped_nodes(cluster.world.log):
        cluster.start_nodes(name)


def ask_the_autoscaler(key: str, objects: Mapping[Key, Any]) -> Edit:
    """Return the advice to look at who removes nodes, by the key of the taint that it sets."""
    marked = [obj for kind, obj in sorted(objects.items()) if kind.kind == "Node"
              and any(taint.key == key for taint in obj.spec.taints)]  # fmt: skip
    names = [node.metadata.name for node in marked]
    since = next((taint.value for taint in marked[0].spec.taints if taint.key == key and taint.value.isdecimal()), "")
    told = f" (marked on {datetime.fromtimestamp(int(since), UTC):%Y-%m-%d})" if 9 <= len(since) <= 10 else ""
    words = f"Wait for the autoscaler, or see whether it still removes {node_names_text(names)}{told}"
    do = "kubectl describe configmap cluster-autoscaler-status -n kube-system   # and its log: why does it add no node?"
    note = f"if nothing removes {names[0]} any more, the taint is stale: kubectl taint node {names[0]} {key}-"
    if key.startswith("karpenter"):
        words = words.replace("the autoscaler", "Karpenter").replace("removes", "replaces")
        do = "kubectl get nodeclaims   # does a new one come?"
    return Edit(words, 0, (), "ask the autoscaler", note=note, do=do, who=OPERATOR)


def edits_of_components(cluster: ClusterActs, key: Key) -> Iterator[Edit]:
    """Yield what somebody must run or permit, so that the volumes of a pod are made and the pod is bound."""
    objects = cluster.world.log.objects
    pod: Pod = objects[key]
    condition = pod.status.condition("PodScheduled")
    refused = forbidden_write(condition.message if condition is not None else "")
    if refused is not None:
        yield _permit(*refused)
    for name in dict.fromkeys(pod.claim_names()):
        claim = objects.get(Key("PersistentVolumeClaim", key.namespace, name))
        if claim is not None and not volumes.is_bound(claim) and volumes.selected_node(claim):
            yield from _provisioning(cluster, claim)


def _permit(user: str, verb: str, resource: str) -> Edit:
    """Return the edit that gives a component back what it may do."""
    short = user.rpartition(":")[2]
    do = f"kubectl auth can-i {verb} {resource} --as={user}   # then restore its ClusterRole or binding"
    return Edit(f"Permit {short} to {verb} {resource}", 1, (), "permit", do=do,
                note="no pod with such a volume can be bound until then")  # fmt: skip


def _provisioning(cluster: ClusterActs, claim: PersistentVolumeClaim) -> Iterator[Edit]:
    """Yield what keeps a claim from getting its volume: no such provisioner, or no driver on the selected node."""
    objects = cluster.world.log.objects
    storage_class = objects.get(Key("StorageClass", "", volumes.class_of_claim(claim)))
    if storage_class is None or not volumes.has_provisioner(storage_class):
        return
    name = storage_class.provisioner
    nodes: list[CSINode] = [obj for key, obj in sorted(objects.items()) if key.kind == "CSINode"]
    registered = {driver.name for node in nodes for driver in node.spec.drivers}
    known = {*registered, *(key.name for key in objects if key.kind == "CSIDriver"), *cluster.components}
    if not is_running(cluster, name, registered):
        for near in near_misses(name, sorted(each for each in known if is_running(cluster, each, registered))):
            right = attrs.evolve(storage_class, provisioner=near)
            again = ObjectChange(claim, claim, recreate=True)
            words = f"Use provisioner {near} in class {storage_class.metadata.name}, not {name}"
            note = "a class cannot be changed: make it, the claim and the pod anew; nothing is lost"
            changes = (ObjectChange(storage_class, right, recreate=True), again)
            yield Edit(words, 1, changes, "use provisioner", note=note)
        do = f"kubectl get pods -A | grep -i {name.partition('.')[0]}   # install or repair it: nobody answers"
        yield Edit(f"Run the provisioner {name}", 2, (), "run a provisioner", do=do,
                   note=f"claims of class {storage_class.metadata.name} wait until then")  # fmt: skip
    selected = volumes.selected_node(claim)
    lacking = next((node for node in nodes if node.metadata.name == selected and node.driver(name) is None), None)
    like = next((driver for node in nodes if (driver := node.driver(name)) is not None), None)
    if lacking is not None and like is not None:
        runs = evolve_parts(lacking, spec={"drivers": (*lacking.spec.drivers, attrs.evolve(like, node_id=selected))})
        words = f"Run the driver {name} on {selected}"
        do = f"kubectl get pods -A --field-selector spec.nodeName={selected}   # the driver's DaemonSet must run there"
        note = f"CSINode {selected} does not list it; the driver's own pod registers it"
        yield Edit(words, 2, (ObjectChange(lacking, runs),), "run a driver", note=note,
                   acts=(OutsideAct(words),), do=do)  # fmt: skip
