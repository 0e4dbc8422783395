"""Scale down: which nodes nothing needs, and whether their pods may move.

A node is unneeded if little of it is requested, each of its pods may be evicted, and all of them fit other nodes.
Pods of DaemonSets and static pods go with their node.
"""

from collections.abc import Iterable, Iterator, Sequence

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.policy import PodDisruptionBudget
from kvolsched.scheduler.requests import CPU, MEMORY, allocatable, held_requests

from .options import AutoscalerOptions
from .simulated_cluster import SimulatedCluster

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
MIRROR_POD = "kubernetes.io/config.mirror"


def is_tied_to_node(pod: Pod) -> bool:
    """Say whether a pod lives and dies with its node: a DaemonSet's or a static one, or one that has ended."""
    owner = pod.metadata.controller
    return pod.terminal or MIRROR_POD in pod.metadata.annotations or (owner is not None and owner.kind == "DaemonSet")


def why_not_movable(pod: Pod, budgets: Iterable[PodDisruptionBudget], options: AutoscalerOptions) -> str:
    """Return why a pod keeps its node, or "": it belongs to no controller, has local data, or a budget forbids it."""
    asked = pod.metadata.annotations.get(SAFE_TO_EVICT)
    covering = [budget for budget in budgets if budget.covers(pod.metadata)]
    if asked == "false":
        return f"it has the annotation {SAFE_TO_EVICT}: false"
    if any(budget.status.disruptions_allowed <= 0 for budget in covering):
        return "its disruption budget allows no disruption"
    if asked == "true":
        return ""
    if pod.metadata.controller is None:
        return "it has no controller that would replace it"
    if options.skip_local_storage and any(has_local_storage(pod)):
        return "it has local storage"
    if options.skip_system_pods and pod.metadata.namespace == "kube-system" and not covering:
        return "it is a system pod without a disruption budget"
    return ""


def has_local_storage(pod: Pod) -> Iterator[bool]:
    """Yield, for each volume of a pod, whether its data are on the node (emptyDir, hostPath)."""
    for volume in pod.spec.volumes:
        yield "hostPath" in volume.rest or ("emptyDir" in volume.rest
                                            and volume.rest["emptyDir"].get("medium") != "Memory")


def utilization(trial: SimulatedCluster, node: Node) -> float:
    """Return the larger of the shares of cpu and memory that the pods of a node request."""
    room = allocatable(node.status.allocatable)
    used = [held_requests(pod).amounts for pod in trial.seen.pods_on(node.metadata.name)]
    return max((sum(amounts.get(resource, 0) for amounts in used) / room[resource]
                for resource in (CPU, MEMORY) if room.get(resource)), default=0.0)


def unneeded_nodes(trial: SimulatedCluster, candidates: Sequence[Node], options: AutoscalerOptions) -> list[str]:
    """Return the candidates that are unneeded together: all their pods fit nodes that remain.

    Args:
        trial: the cluster with the machines that are on their way; what is moved in it stays moved.
        candidates: the nodes that their groups may lose.
        options: the flags.
    """
    budgets = trial.seen.budgets()
    found: list[str] = []
    ranked = sorted(candidates, key=lambda node: (utilization(trial, node), node.metadata.name))
    for node in ranked:
        name = node.metadata.name
        if utilization(trial, node) >= options.utilization_threshold and _movable(trial, name):
            continue
        if node.metadata.annotations.get(SCALE_DOWN_DISABLED) == "true":
            continue
        if any(why_not_movable(pod, budgets, options) for pod in _movable(trial, name)):
            continue
        with trial.trial():
            if _empties(trial, name):
                found.append(name)
                trial.keep()
    return found


def _movable(trial: SimulatedCluster, node: str) -> list[Pod]:
    return [pod for pod in trial.seen.pods_on(node) if not is_tied_to_node(pod)]


def _empties(trial: SimulatedCluster, node: str) -> bool:
    """Remove a node and say whether each of its pods fits another one."""
    pods = trial.remove_node(node)
    return all(trial.place_anywhere(pod) for pod in pods if not is_tied_to_node(pod))
