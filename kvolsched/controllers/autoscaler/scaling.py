"""Scale up: which group must grow by how many machines, so that pods that no node fits find one.

Pods that fit a node by now, or a machine that is on its way, need no other. For each group that may grow, the others
are put on new machines, large pods first (first fit decreasing); an expander chooses among the groups that help.

Scale down: a node is unneeded if little of it is requested, each of its pods may be evicted, and all of them fit other
nodes. Pods of DaemonSets and static pods go with their node.

Both are tried on a cluster as the autoscaler imagines it, in which the scheduler's own filter plugins judge; Reserve
and scores play no part.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.policy import PodDisruptionBudget
from kvolsched.api.kinds.workload import DaemonSet
from kvolsched.api.workloads import controller_reference
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.requests import CPU, MEMORY, allocatable, held_requests, pod_requests
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key

from .options import AutoscalerOptions, NodeGroup


class SimulatedCluster:
    """Nodes and pods of a trial. Mutable; `trial` takes back what was done inside it."""

    def __init__(self, objects: Iterable[Any], daemon_sets: Iterable[DaemonSet], profile: Profile, moment: str) -> None:
        self.seen: Snapshot = snapshot(objects)
        self.seen.moment = moment
        self.daemon_sets = tuple(daemon_sets)
        self.profile = profile
        self._done: list[tuple[Key, Any, Any]] = []

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Take back all changes at the end of a `with` block, unless `keep` was called in it."""
        start = len(self._done)
        try:
            yield
        finally:
            while len(self._done) > start:
                key, old, new = self._done.pop()
                self.seen.apply(key, new, old)

    def keep(self) -> None:
        """Make the changes so far permanent."""
        self._done.clear()

    def _change(self, key: Key, old: Any, new: Any) -> None:
        self._done.append((key, old, new))
        self.seen.apply(key, old, new)

    def add_machine(self, group: NodeGroup, name: str) -> None:
        """Add a machine of a group, with the pods of the DaemonSets that run on it."""
        for obj in group.registered(name):
            self._change(Key(obj.kind, "", name), None, obj)
        for owner in self.daemon_sets:
            meta = attrs.evolve(owner.spec.template.metadata, name=f"{owner.metadata.name}-{name}",
                                namespace=owner.metadata.namespace, owner_references=(controller_reference(owner),))
            daemon = Pod(metadata=meta, spec=owner.spec.template.spec)  # without its affinity to that node
            if self.fits(daemon, name):
                self._change(key_of(daemon), None, evolve_parts(daemon, spec={"node_name": name}))

    def remove_node(self, name: str) -> list[Pod]:
        """Remove a node, and return its pods, which then have no node."""
        pods = self.seen.pods_on(name)
        moved = [evolve_parts(pod, spec={"node_name": ""}) for pod in pods]
        for pod, homeless in zip(pods, moved, strict=True):
            self._change(key_of(pod), pod, homeless)
        self._change(Key("Node", "", name), self.seen.node(name), None)
        return moved

    def judge(self, pod: Pod) -> Judgement:
        """Judge a pod on the present nodes."""
        return judge(pod, self.seen, self.profile)

    def fits(self, pod: Pod, node: str) -> bool:
        """Say whether a pod fits one node."""
        return node in self.judge(pod).feasible

    def place(self, pod: Pod, node: str) -> None:
        """Put a pod that has no node on one."""
        key = key_of(pod)
        self._change(key, self.seen.pod(key), evolve_parts(pod, spec={"node_name": node}))

    def place_anywhere(self, pod: Pod) -> str:
        """Put a pod on the first node that it fits and return the node's name, or ""."""
        feasible = self.judge(pod).feasible
        if feasible:
            self.place(pod, feasible[0])
        return feasible[0] if feasible else ""

    def why_not(self, pod: Pod, node: str) -> str:
        """Return why a pod does not fit a node, in the plugin's words."""
        judgement = self.judge(pod)
        if judgement.rejected_by is not None:
            return judgement.rejected_by.message
        plugins = " ".join(sorted({restriction.plugin for restriction in judgement.restrictions}))
        return ", ".join(judgement.rejection(node)[0]) or f"node(s) didn't satisfy plugin(s) [{plugins}]"


AT_MAXIMUM = "max node group size reached"
BACKING_OFF = "in backoff after failed scale-up"


@attrs.frozen
class Expansion:
    """A group that may grow by `count` machines from `size`, and the pods that would then fit."""

    group: NodeGroup
    size: int
    count: int
    pods: tuple[Pod, ...]
    waste: float

    @property
    def words(self) -> str:
        """The expansion in the words of the autoscaler's Event."""
        return f"{{{self.group.name} {self.size}->{self.size + self.count} (max: {self.group.max})}}"


@attrs.frozen
class ScaleUp:
    """The decision: the chosen expansion, or None, and why each pod that it does not help gets no machine."""

    chosen: Expansion | None
    refused: Mapping[Key, str]


def is_unschedulable(pod: Pod, options: AutoscalerOptions) -> bool:
    """Say whether a pod waits for a node that does not exist, as its condition says; a gated pod never does."""
    condition = pod.status.condition("PodScheduled")
    return (
        not pod.spec.node_name and not pod.terminal and pod.metadata.deletion_timestamp is None
        and condition is not None and condition.status == "False" and condition.reason == "Unschedulable"
        and not pod.spec.scheduling_gates and not pod.status.nominated_node_name
        and (pod.spec.priority or 0) >= options.expendable_priority
    )  # fmt: skip


def decide(trial: SimulatedCluster, pods: Sequence[Pod], sizes: Mapping[str, int], failed: Collection[str],
           options: AutoscalerOptions, draw: Callable[[int], int]) -> ScaleUp:
    """Decide which group grows for unschedulable pods.

    `sizes` count the machines of each group, those on their way included; `failed` are the groups that are left alone
    for a while, since machines did not come; `draw` gives a number below a bound, for the expander `random` and ties.
    """
    waiting = [pod for pod in sorted(pods, key=_urgency) if not trial.place_anywhere(pod)]
    if not waiting:
        return ScaleUp(None, {})
    reasons: dict[Key, list[str]] = {key_of(pod): [] for pod in waiting}
    expansions = []
    for group in options.groups:
        if skipped := AT_MAXIMUM if sizes[group.name] >= group.max else BACKING_OFF if group.name in failed else "":
            for found in reasons.values():
                found.append(skipped)
            continue
        expansion, unmet = expand(trial, waiting, group, sizes[group.name])
        for key, reason in unmet.items():
            reasons[key].append(reason)
        if expansion is not None:
            expansions.append(expansion)
    chosen = choose(expansions, options.expander, draw) if expansions else None
    helped = {key_of(pod) for expansion in expansions for pod in expansion.pods}
    return ScaleUp(chosen, {key: _counted(found) for key, found in reasons.items() if key not in helped})


def _urgency(pod: Pod) -> tuple[int, Key]:
    return -(pod.spec.priority or 0), key_of(pod)


def _counted(reasons: Sequence[str]) -> str:
    """Return reasons with how many groups each has, as the autoscaler's Event does."""
    return ", ".join(f"{count} {reason}" for reason, count in sorted(Counter(reasons).items()))


def expand(trial: SimulatedCluster, pods: Sequence[Pod], group: NodeGroup, size: int
           ) -> tuple[Expansion | None, Mapping[Key, str]]:
    """Put pods on new machines of one group; return the expansion, if it helps any, and why it does not help others."""
    helped: list[Pod] = []
    unmet: dict[Key, str] = {}
    names: list[str] = []
    with trial.trial():
        for pod in sorted(pods, key=lambda pod: (-_share(pod, group), *_urgency(pod))):
            feasible = trial.judge(pod).feasible
            node = next((name for name in names if name in feasible), "")
            if not node and size + len(names) >= group.max:
                unmet[key_of(pod)] = AT_MAXIMUM
                continue
            if not node:
                name = f"{group.name}-new-{len(names) + 1}"
                with trial.trial():
                    trial.add_machine(group, name)
                    reason = "" if trial.fits(pod, name) else trial.why_not(pod, name)
                if reason:
                    unmet[key_of(pod)] = reason
                    continue
                trial.add_machine(group, name)
                names.append(name)
                node = name
            trial.place(pod, node)
            helped.append(pod)
    if not helped:
        return None, unmet
    return Expansion(group, size, len(names), tuple(helped), _waste(group, len(names), helped)), unmet


def _share(pod: Pod, group: NodeGroup) -> float:
    """Return how much of a machine a pod takes: the sum of its shares of cpu and memory."""
    room, wanted = allocatable(group.template.status.allocatable), pod_requests(pod.spec).amounts
    return sum(wanted.get(resource, 0) / room[resource] for resource in (CPU, MEMORY) if room.get(resource))


def _waste(group: NodeGroup, count: int, pods: Sequence[Pod]) -> float:
    """Return the mean share of cpu and memory of new machines that pods would leave unused."""
    room = allocatable(group.template.status.allocatable)
    shares = [1 - sum(pod_requests(pod.spec).amounts.get(resource, 0) for pod in pods) / (room[resource] * count)
              for resource in (CPU, MEMORY) if room.get(resource)]
    return round(sum(shares) / len(shares), 9) if shares else 0.0


def choose(expansions: Sequence[Expansion], expander: str, draw: Callable[[int], int]) -> Expansion:
    """Choose an expansion; a tie is drawn, but for `priority`, where the group named first wins."""
    match expander:
        case "priority":
            return expansions[0]
        case "most-pods":
            most = max(len(expansion.pods) for expansion in expansions)
            best = [expansion for expansion in expansions if len(expansion.pods) == most]
        case "least-waste":
            least = min(expansion.waste for expansion in expansions)
            best = [expansion for expansion in expansions if expansion.waste == least]
        case _:
            best = list(expansions)
    return best[draw(len(best))]


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

    `trial` is the cluster with the machines that are on their way; what is moved in it stays moved.
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
            if all(trial.place_anywhere(pod) for pod in trial.remove_node(name) if not is_tied_to_node(pod)):
                found.append(name)
                trial.keep()
    return found


def _movable(trial: SimulatedCluster, node: str) -> list[Pod]:
    return [pod for pod in trial.seen.pods_on(node) if not is_tied_to_node(pod)]
