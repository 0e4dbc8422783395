"""The kubelets: they alone start pods that are bound to a node, and stop and remove deleted pods.

One component for all nodes; it does nothing on a node that is not there, is not ready or is stopped. A pod starts when
its claims are bound and its volumes can be reached from its node; until then it waits. A pod whose requests exceed what
the node has left is rejected: it fails.
Mirrors `pkg/kubelet` admission, volume manager and status manager, as far as API objects show them (v1.36.2).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..api import volumes
from ..api.dials import SECONDS, SWITCH, choice, dial, mapping_of, or_null, several
from ..api.kinds.meta import EMPTY, Condition, evolve
from ..api.kinds.node import Node
from ..api.kinds.pod import Container, Pod
from ..api.kinds.quantity import milli, value
from ..api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ..api.pod_status import StatusPatch, container_state, creating, not_ready, restarts, started
from ..api.remembered import remembered
from ..api.workloads import PodConditionPatch, is_ready
from ..world import reconciler
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.digest import DIGEST_WAIT
from ..world.log import Delivery, Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.stopped_nodes import is_stopped
from ..world.storage_pools import DriverStorage, InlineVolumes, has_inline_volumes
from ..world.view import Index

NAME = "kubelet"
NODE_STATUS = f"{NAME} node status"
LEFT = "left"  # sort of the notes that pods of a node are left to be started or stopped once it has a kubelet
REPORT = "report"  # begins the name of the note that a node's status is to be reported; it outlives a restart
SYNC_PERIOD = reconciler.Backoff.every(10.0)  # of the status manager, which sends again what was refused
HEALTHY = {  # condition -> status, reason and message that a healthy kubelet reports
    "Ready": ("True", "KubeletReady", "kubelet is posting ready status"),
    "MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
CRASH_BACKOFF = reconciler.Backoff.per_cause(10.0, 300.0)  # of a container that fails again and again
SHORTEST_RUN = 0.001  # seconds that a container runs at least, so that time passes


@attrs.frozen(kw_only=True)
class KubeletOptions:
    """The dials of the kubelets."""

    start_delay: float = dial(0.0, SECONDS, "from a pod's binding to Running, once its volumes are there")
    stop_delay: float = dial(0.0, SECONDS, "from a pod's deletion to its end")
    admits: bool = dial(
        True, SWITCH, "whether resources are counted before a pod starts",
        "S0, Recovering from kubelet rejection of pod: a rejected pod goes back to scheduling",
    )
    reaches: bool = dial(
        True, SWITCH, "whether a pod waits whose volume cannot be reached from its node (a stand-in may mount nothing)",
        "S0, Bound PVC Enforcement: a volume's node affinity is verified against the node when it is mounted",
    )
    reaches_on: Mapping[str, bool] = dial(
        EMPTY, several(SWITCH, named=True), "the same of the kubelets of some nodes, by node",
        "S0, Feature Gates: VolumeScheduling is configured in all kubelets",
    )
    ends_after: float | None = dial(
        None, or_null(SECONDS), "from a pod's start to the end of its containers; null: they run for ever, as those "
        "with restartPolicy Always do in any case",
    )
    ends_as: str = dial(
        "Succeeded", choice("Succeeded", "Failed"), "how they end; a container that failed starts again under "
        "restartPolicy OnFailure",
    )
    services: Mapping[str, volumes.NodeService] = dial(
        EMPTY, several(mapping_of(volumes.NodeService), named=True), "node services of drivers, other than the usual"
    )
    marks_dirty: bool = dial(
        False, SWITCH, "whether claims are marked dirty before a pod gets their volumes, and pods are rejected whose "
        "claims are being rolled back", "S0, Binding multiple PVCs in one transaction",
    )

    @property
    def reports(self) -> bool:
        """Whether some node service reports the topology of its nodes."""
        return any(service.segments for service in self.services.values())


@attrs.frozen
class TimedAction:
    """A note: the start or stop of a pod that takes time, and when it ends."""

    action: str
    until: float = attrs.field(metadata=DIGEST_WAIT)


def _on_node(pod: Pod) -> Iterator[str]:
    if pod.holds_node:
        yield pod.spec.node_name


def _starts_or_stops(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.spec.node_name) and (
        pod.status.phase in ("", "Pending") or pod.metadata.deletion_timestamp is not None
    )


def _node_with_kubelet(ctx: TurnContext, name: str) -> Node | None:
    """Return a node whose kubelet acts; None if the node is not there, is not ready, or is stopped."""
    node: Node | None = ctx.seen.get("Node", name)
    return node if node is not None and node.readiness == "True" and not is_stopped(ctx, name) else None


def _claims_waited_for(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name and pod.status.phase in ("", "Pending"):
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def component(options: KubeletOptions | None = None, storages: Mapping[str, DriverStorage] = EMPTY) -> Component:
    """Return the kubelets of all nodes; `storages` are the pools from which drivers make inline volumes, by driver."""
    options = options or KubeletOptions()
    kubelet = Kubelet(options, InlineVolumes(options.services, storages))
    routine = reconciler.Reconciler(NAME, kubelet.pods_of, kubelet.sync, report_refused, report_done, SYNC_PERIOD,
                         concerning=kubelet.concerning)
    watches = ("Pod", "PersistentVolumeClaim", "PersistentVolume", "Node", "CSIDriver")
    registering = reconciler.Reconciler(f"{NAME} registration", kubelet.nodes_of, kubelet.register, report_refused,
                                        report_done, reconciler.OPERATION_BACKOFF, reacts_to=frozenset({"Node"}))
    registers = (registering,) if kubelet.options.reports else ()
    reporting = reconciler.Reconciler(NODE_STATUS, kubelet.reported_of, kubelet.report, report_refused, report_done,
                                      SYNC_PERIOD, seldom=True, reacts_to=frozenset({"Node"}))
    return Component(NAME, watches, (routine, *registers, reporting),
                     lambda _seen: {"on node": Index("Pod", _on_node), "waiting": Index("Pod", _claims_waited_for)})


@attrs.frozen
class Kubelet:
    """Decides about one pod at a time."""

    options: KubeletOptions
    inline: InlineVolumes = InlineVolumes()

    def concerning(self, ctx: TurnContext, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Pick pods that start or stop, nodes where some are left, volumes if pods wait: all that has causes."""
        if self.inline.storages:
            return deliveries
        waits = bool(ctx.views["waiting"].objects)
        if deliveries and deliveries[0].key.kind == "Node":
            return [each for each in deliveries if ctx.note(LEFT, each.key.name)]
        return [each for each in deliveries
                if (self._concerns(each.old, each.new) if each.key.kind == "Pod" else waits)]  # fmt: skip

    def _concerns(self, old: Pod | None, new: Pod | None) -> bool:
        """Say whether a pod is to be started or stopped, or runs and was not known."""
        return _starts_or_stops(new) or (old is None and self._ends(new))

    def pods_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the pods that a change concerns: a bound pod, or those that wait for a claim or volume."""
        match key.kind:
            case "Pod":
                has_ended = (new is None or new.terminal) and has_inline_volumes(new or old)
                if self._concerns(old, new) or (has_ended and self.inline.storages):
                    yield f"{key.namespace}/{key.name}"
            case "Node":
                yield from self._pods_of_node(ctx, key.name, is_new=old is None)
            case "PersistentVolumeClaim":
                for pod in ctx.views["waiting"].keys(f"{key.namespace}/{key.name}"):
                    yield f"{pod.namespace}/{pod.name}"
            case "PersistentVolume":
                ref = (new or old).spec.claim_ref
                for pod in ctx.views["waiting"].keys(volumes.claim_ref_key(ref)) if ref is not None else ():
                    yield f"{pod.namespace}/{pod.name}"

    def _pods_of_node(self, ctx: TurnContext, node: str, *, is_new: bool) -> Iterator[str]:
        """Yield the pods that were left on a node which has a kubelet now; of a new one those with inline volumes."""
        for pod in self.inline.pods(ctx.sim.log) if is_new and self.inline.storages else ():
            if ctx.seen.at(Key("Pod", *pod.split("/"))) is None:  # it went while the kubelet was down
                yield pod
        if ctx.note(LEFT, node) and _node_with_kubelet(ctx, node) is not None:
            ctx.remember(LEFT, node, None)
            for key in ctx.views["on node"].keys(node):
                if _starts_or_stops(pod := ctx.seen.at(key)) or self._ends(pod):
                    yield f"{key.namespace}/{key.name}"

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Start one pod, report why it cannot start, or stop it."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        if pod is None or pod.terminal or has_inline_volumes(pod):
            self._forget_volumes(ctx, cause, "" if pod is None or pod.terminal else pod.metadata.uid)
        if pod is None or not pod.spec.node_name:
            return ()
        node = _node_with_kubelet(ctx, pod.spec.node_name)
        if node is None:
            if (_starts_or_stops(pod) or self._ends(pod)) and not is_stopped(ctx, pod.spec.node_name):
                ctx.remember(LEFT, pod.spec.node_name, True)
            return ()
        plan = PlanBuilder(ctx, NAME)
        if pod.metadata.deletion_timestamp is not None:
            if self._is_over(ctx, cause, f"stop {pod.metadata.uid}", self.options.stop_delay):
                self._forget_volumes(ctx, cause)
                ctx.remember("takes", cause, None)  # its end
                ctx.cancel_wake_up(cause)
                self._stop(plan, pod)
        elif pod.status.phase in ("", "Pending") and not reconciler.is_backing_off(ctx, cause):
            self._start(plan, cause, pod, node)
        elif self._ends(pod) and self._is_over(ctx, cause, _end_of(pod), self._run_time(ctx, pod)):
            self._end(plan, cause, pod)
        return plan.writes

    def _forget_volumes(self, ctx: TurnContext, cause: str, kept: str = "") -> None:
        """Have drivers remove the inline volumes of a pod that has ended, but not those of its successor `kept`."""
        if self.inline.storages:
            self.inline.release(ctx.sim.log, cause, kept)
        if not kept:
            reconciler.forget_failures(ctx, cause)

    def _is_over(self, ctx: TurnContext, cause: str, action: str, delay: float) -> bool:
        """Say whether an action that takes time is over; when first asked, start it and wake the pod at its end."""
        if delay <= 0:
            return True
        running: TimedAction | None = ctx.note("takes", cause)
        if running is None or running.action != action:
            ctx.remember("takes", cause, TimedAction(action, ctx.now + delay))
            ctx.wake_after(cause, delay)
        elif ctx.now >= running.until:
            ctx.remember("takes", cause, None)
            return True
        return False

    def _start(self, plan: PlanBuilder, cause: str, pod: Pod, node: Node) -> None:
        rejection = _other_system(pod, node)
        if rejection is None and self.options.admits:
            rejection = self._lack_of_resources(plan.ctx, pod, node)
        claims = _claims(plan.ctx, pod) if self.options.marks_dirty else []
        rolled_back = [claim.metadata.name for claim in claims if volumes.under_rollback(claim)]
        if rejection is None and rolled_back:
            rejection = "VolumeRollback", f'persistentvolumeclaim "{rolled_back[0]}" is being rolled back'
        kubelet = f"kubelet on {node.metadata.name}"
        if rejection is not None:
            reason, message = rejection
            patch = StatusPatch("Failed", reason=reason, message=message, start_time=plan.ctx.moment)
            self._patch(plan, pod, patch, f"{kubelet} rejects {reference_of(pod)}: {message}")
            plan.event(pod, "Warning", reason, message)
            return
        if why := self._missing_volume(plan, pod, node) or self._unpublished_volume(plan, cause, pod, node):
            plan.describe(f"{kubelet} does not start {reference_of(pod)} yet: {why}")
            return
        if not self._is_over(plan.ctx, cause, f"start {pod.metadata.uid}", self.options.start_delay):
            return
        for claim in filter(volumes.is_clean, claims):
            marked = volumes.with_content(claim, volumes.DIRTY)
            plan.update_status(claim, marked, f"kubelet marks {reference_of(claim)} as dirty")
        patch = started(plan.ctx.moment)
        self._patch(plan, pod, patch, f"{kubelet} starts {reference_of(pod)}")
        if self._ends(patch.apply(pod)):
            self._is_over(plan.ctx, cause, _end_of(pod), max(self.options.ends_after or 0.0, SHORTEST_RUN))

    @staticmethod
    def _patch(plan: PlanBuilder, pod: Pod, patch: StatusPatch, words: str) -> None:
        key = Key("Pod", pod.metadata.namespace or "default", pod.metadata.name)
        plan.patch(key, patch, words, uid=pod.metadata.uid)

    def _missing_volume(self, plan: PlanBuilder, pod: Pod, node: Node) -> str:
        """Return why a volume of a pod is not available on its node, or ""; an unreachable volume is also an Event."""
        ctx = plan.ctx
        for name in pod.claim_names():
            claim = ctx.seen.get("PersistentVolumeClaim", name, pod.metadata.namespace or "default")
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if not volumes.is_bound(claim):
                return f"PVC {name} is not bound"
            volume: PersistentVolume | None = ctx.seen.get("PersistentVolume", claim.spec.volume_name)
            if volume is None or not volumes.is_bound_to(volume, claim):
                return f"PV {claim.spec.volume_name} is not bound to {name}"
            reaches = self.options.reaches_on.get(node.metadata.name, self.options.reaches)
            if reaches and not volumes.volume_fits_node(volume, node):
                verb = "Map" if volumes.mode(volume) == "Block" else "Mount"
                check = f'{verb}Volume.NodeAffinity check failed for volume "{volume.metadata.name}"'
                message = f"{check} : no matching NodeSelectorTerms"
                plan.event(pod, "Warning", "FailedMapVolume" if verb == "Map" else "FailedMount", message)
                return message
        return ""

    def reported_of(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a node whose status is to be reported, because it was started again."""
        if key.kind == "Node" and new is not None and ctx.note("config", f"{REPORT} {key.name}") is not None:
            yield key.name

    def report(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Report that a node is ready again, and then its pods that others marked as not ready meanwhile."""
        node: Node | None = ctx.seen.get("Node", cause)
        plan = PlanBuilder(ctx, NAME)
        if node is None or not is_stopped(ctx, cause):
            if node is not None:
                self._report(plan, node)
            if not plan.writes:
                ctx.remember("config", f"{REPORT} {cause}", None)
        return plan.writes

    def _report(self, plan: PlanBuilder, node: Node) -> None:
        if any(found.type == "Ready" and found.status != "True" for found in node.status.conditions):
            conditions = {found.type: found for found in node.status.conditions}
            for type_, (status, reason, message) in HEALTHY.items():
                conditions[type_] = Condition(
                    type=type_, status=status, reason=reason, message=message, last_transition_time=plan.ctx.moment
                )
            changed = evolve(node, status=evolve(node.status, conditions=tuple(conditions.values())))
            plan.update_status(node, changed, f"kubelet on {node.metadata.name} reports that the node is ready")
            plan.event(node, "Normal", "NodeReady", f"Node {node.metadata.name} status is now: NodeReady")
        on_node: list[Pod] = plan.ctx.views["on node"].get(node.metadata.name)
        for pod in on_node:
            works = pod.status.condition("ContainersReady")
            if is_ready(pod) or works is None or works.status != "True" or pod.metadata.deletion_timestamp:
                continue
            patch = PodConditionPatch("Ready", "True", at=plan.ctx.moment)
            words = f"kubelet on {node.metadata.name} reports that {reference_of(pod)} is ready"
            plan.patch(key_of(pod), patch, words, uid=pod.metadata.uid)

    def nodes_of(self, _ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a node that lacks labels which some driver's node service reports."""
        services = self.options.services.values()
        if key.kind == "Node" and new is not None and volumes.with_reported_topology(new, services) is not new:
            yield key.name

    def register(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Copy the topology that node services report into a node's labels (S2, Central provisioning)."""
        node: Node | None = ctx.seen.get("Node", cause)
        plan = PlanBuilder(ctx, NAME)
        if node is not None and not is_stopped(ctx, cause):
            words = f"kubelet copies the topology of its drivers to the labels of {reference_of(node)}"
            plan.update(node, volumes.with_reported_topology(node, self.options.services.values()), words)
        return plan.writes

    def _unpublished_volume(self, plan: PlanBuilder, cause: str, pod: Pod, node: Node) -> str:
        """Return why a driver does not publish an inline volume of a pod, or "".

        A failure is an Event and is tried again after a back-off; after the first the pod is ContainerCreating.
        """
        ctx = plan.ctx
        for volume in pod.spec.volumes:
            driver = ctx.seen.get("CSIDriver", volume.csi.driver) if volume.csi is not None else None
            if error := self.inline.publish(ctx.sim.log, pod, volume, node, driver):
                message = f'MountVolume.SetUp failed for volume "{volume.name}" : {error}'
                failed = reconciler.back_off_operation(ctx, cause)
                ctx.wake_after(cause, failed.until - ctx.now)
                plan.event(pod, "Warning", "FailedMount", message)
                if failed.failures == 1:
                    self._patch(plan, pod, creating(ctx.moment), f"kubelet on {node.metadata.name} does not start "
                                f"{reference_of(pod)} yet: {message}")
                return message
        reconciler.forget_failures(ctx, cause)
        return ""

    def _lack_of_resources(self, ctx: TurnContext, pod: Pod, node: Node) -> tuple[str, str] | None:
        """Return (reason, message) if the node has too little left for a pod beside those that run on it."""
        on_node: list[Pod] = ctx.views["on node"].get(node.metadata.name)
        running = [p for p in on_node if p.metadata.uid != pod.metadata.uid and p.status.phase == "Running"]
        allocatable = node.status.allocatable
        if "pods" in allocatable and len(running) + 1 > value(allocatable["pods"]):
            return _out_of("pods", 1, len(running), value(allocatable["pods"]))
        used_by_others = [_requests(other.spec.containers) for other in running]
        for resource, requested in _requests(pod.spec.containers).items():
            if not requested or resource not in allocatable:
                continue
            capacity = _number(resource, allocatable[resource])
            used = sum([requests.get(resource, 0) for requests in used_by_others])
            if used + requested > capacity:
                return _out_of(resource, requested, used, capacity)
        return None

    def _ends(self, pod: Pod | None) -> bool:
        """Say whether the containers of a pod run and will end by themselves."""
        if self.options.ends_after is None or pod is None:
            return False
        return pod.status.phase == "Running" and pod.spec.restart_policy != "Always"

    def _run_time(self, ctx: TurnContext, pod: Pod) -> float:
        """Return the seconds from now to the end of a pod's containers, as far as it can be known after a restart."""
        since = datetime.fromisoformat((pod.status.start_time or ctx.moment).upper())
        passed = (datetime.fromisoformat(ctx.moment) - since).total_seconds()
        return max((self.options.ends_after or 0.0) - passed, SHORTEST_RUN)

    def _end(self, plan: PlanBuilder, cause: str, pod: Pod) -> None:
        """End a pod's containers by themselves; those that failed start again if they are to (restartPolicy)."""
        phase, count = self.options.ends_as, restarts(pod)
        node = f"kubelet on {pod.spec.node_name}"
        if phase == "Failed" and pod.spec.restart_policy == "OnFailure":
            patch = StatusPatch("Running", state=container_state("running"), restarts=count + 1)
            self._patch(plan, pod, patch, f"{node} starts the containers of {reference_of(pod)} again: they failed")
            delay = CRASH_BACKOFF.seconds(count) if count else 0.0
            self._is_over(plan.ctx, cause, _end_of(patch.apply(pod)), delay + (self.options.ends_after or SHORTEST_RUN))
            return
        reason = "Completed" if phase == "Succeeded" else "Error"
        state = container_state("terminated", reason, exitCode=int(phase == "Failed"))
        patch = StatusPatch(phase, not_ready(phase, plan.ctx.moment), state=state, restarts=count)
        self._patch(plan, pod, patch, f"{node} reports that {reference_of(pod)} has {phase.lower()}")

    def _stop(self, plan: PlanBuilder, pod: Pod) -> None:
        """Stop a deleted pod's containers, report that, and remove the pod from the API.

        What would have run for ever ends well when it is told to; what has not done its work has failed.
        """
        if pod.status.phase == "Running":
            phase = "Succeeded" if pod.spec.restart_policy in ("Always", "") else "Failed"
            patch = StatusPatch(phase, not_ready(phase, plan.ctx.moment))
            self._patch(plan, pod, patch, f"kubelet stops {reference_of(pod)}")
        plan.delete(pod, f"kubelet removes {reference_of(pod)} from the API", grace=0)


def _end_of(pod: Pod) -> str:
    """Return the action that ends a pod's containers after so many restarts."""
    return f"end {pod.metadata.uid} {restarts(pod)}"


def _claims(ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
    namespace = pod.metadata.namespace or "default"
    found = [ctx.seen.get("PersistentVolumeClaim", name, namespace) for name in pod.claim_names()]
    return [claim for claim in found if claim is not None]


OS_LABEL = "kubernetes.io/os"


def _other_system(pod: Pod, node: Node) -> tuple[str, str] | None:
    """Return (reason, message) if a pod is for another operating system than its node's, which is Linux by default."""
    if OS_LABEL not in pod.metadata.labels and "os" not in pod.spec.rest:
        return None
    system = node.metadata.labels.get(OS_LABEL) or "linux"
    if pod.metadata.labels.get(OS_LABEL, system) != system:
        message = f"Failed to admit pod as the `{OS_LABEL}` label doesn't match node label"
        return "PodOSSelectorNodeLabelDoesNotMatch", message
    if pod.spec.rest.get("os", EMPTY).get("name", system) != system:
        return "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"
    return None


def _out_of(resource: str, requested: int, used: int, capacity: int) -> tuple[str, str]:
    numbers = f"requested: {requested}, used: {used}, capacity: {capacity}"
    return f"OutOf{resource}", f"Node didn't have enough resource: {resource}, {numbers}"


def _number(resource: str, text: str) -> int:
    return milli(text) if resource == "cpu" else value(text)


@remembered
def _requests(containers: tuple[Container, ...]) -> Mapping[str, int]:
    """Return the sum of containers' requests: millicores of cpu, whole units of all else."""
    found: dict[str, int] = {}
    for container in containers:
        for resource, text in container.resources.requests.items():
            found[resource] = found.get(resource, 0) + _number(resource, text)
    return found
