"""The kubelets: they alone start pods that are bound to a node, and take them away when they are deleted.

One component for all nodes. A pod starts when its claims are bound and its volumes can be reached from its node; until
then it waits. What it needs and the node no longer has is refused at once: the pod has failed.
Mirrors `pkg/kubelet` admission, volume manager and status manager, as far as API objects show them (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import EMPTY, Condition
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod
from ..api.kinds.quantity import milli, value
from ..api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ..volumes import (
    DIRTY,
    NodeService,
    is_bound,
    is_bound_to,
    is_clean,
    mode,
    publish_context,
    under_rollback,
    volume_fits_node,
    with_content,
    with_reported_topology,
)
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.digest import DIGEST_WAIT
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "kubelet"
STARTED = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


@attrs.frozen(kw_only=True)
class KubeletOptions:
    """The dials of the kubelets.

    Args:
        start_delay: seconds from a pod's binding to Running, once its volumes are there.
        stop_delay: seconds from a pod's deletion to its end.
        admits: whether resources are counted before a pod starts.
        reaches: whether a pod waits whose volume cannot be reached from its node (a stand-in may mount nothing).
        services: driver -> its node service, where it is not as drivers usually are.
        marks_dirty: whether claims are marked dirty before a pod gets their volumes, and pods are refused whose claims
            are being rolled back (S0, Binding multiple PVCs in one transaction).
    """

    start_delay: float = 0.0
    stop_delay: float = 0.0
    admits: bool = True
    reaches: bool = True
    services: Mapping[str, NodeService] = EMPTY
    marks_dirty: bool = False

    @property
    def reports(self) -> bool:
        """Whether some node service reports where its nodes are."""
        return any(service.segments for service in self.services.values())


@attrs.frozen
class TimedAction:
    """A note: something that takes its time, and when it is over."""

    what: str
    until: float = attrs.field(metadata=DIGEST_WAIT)


@attrs.frozen
class StatusPatch:
    """A patch of a pod's status that needs no version: phase, reason and conditions; other fields stay."""

    phase: str
    conditions: tuple[Condition, ...] = ()
    reason: str = ""
    message: str = ""
    start_time: str | None = None

    def apply(self, pod: Pod) -> Pod:
        """Return the pod with this status laid over its own."""
        told = {condition.type: condition for condition in self.conditions}
        status = attrs.evolve(
            pod.status,
            phase=self.phase,
            reason=self.reason,
            message=self.message,
            start_time=pod.status.start_time or self.start_time,
            conditions=(
                *(told.pop(condition.type, condition) for condition in pod.status.conditions),
                *told.values(),
            ),
        )
        return attrs.evolve(pod, status=status)


def _on_node(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name and not pod.terminal:
        yield pod.spec.node_name


def _waiting_for(pod: Pod) -> Iterator[str]:
    """Index words of a bound pod that has not started: the claims it needs."""
    if pod.spec.node_name and pod.status.phase in ("", "Pending"):
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"on node": Index("Pod", _on_node), "waiting": Index("Pod", _waiting_for)}


def component(options: KubeletOptions | None = None) -> Component:
    """Return the kubelets of all nodes."""
    kubelet = Kubelet(options or KubeletOptions())
    routine = Reconciler(NAME, kubelet.pods_of, kubelet.sync, report_refused, report_done)
    watches = ("Pod", "PersistentVolumeClaim", "PersistentVolume", "Node", "CSIDriver")
    registering = Reconciler(f"{NAME} registration", kubelet.nodes_of, kubelet.register, report_refused, report_done)
    return Component(NAME, watches, (routine, registering) if kubelet.options.reports else (routine,), _views)


@attrs.frozen
class Kubelet:
    """What a kubelet decides about one pod."""

    options: KubeletOptions

    def pods_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the pods that a change concerns: bound ones, and those that wait for a claim or volume."""
        match key.kind:
            case "Pod":
                if new is not None and new.spec.node_name and _unfinished(new):
                    yield f"{key.namespace}/{key.name}"
            case "PersistentVolumeClaim":
                yield from self._waiting(ctx, f"{key.namespace}/{key.name}")
            case "PersistentVolume":
                ref = (new or old).spec.claim_ref
                if ref is not None:
                    yield from self._waiting(ctx, f"{ref.namespace or 'default'}/{ref.name}")

    @staticmethod
    def _waiting(ctx: TurnContext, claim: str) -> list[str]:
        waiting = ctx.views["waiting"]
        assert isinstance(waiting, Index)
        return [f"{key.namespace}/{key.name}" for key in waiting.keys(claim)]

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Bring one pod further: start it, say why it cannot start, or end it."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        if pod is None or not pod.spec.node_name:
            return ()
        decision = PlanBuilder(ctx, NAME)
        if pod.metadata.deletion_timestamp is not None:
            if self._waited(ctx, cause, f"stop {pod.metadata.uid}", self.options.stop_delay):
                self._end(decision, pod)
        elif pod.status.phase in ("", "Pending"):
            node = ctx.seen.get("Node", pod.spec.node_name)
            if node is not None:
                self._start(decision, cause, pod, node)
        return decision.writes

    def _waited(self, ctx: TurnContext, cause: str, what: str, delay: float) -> bool:
        """Say whether something that takes its time is over; the first time asked, ask to be woken then."""
        if delay <= 0:
            return True
        taking: TimedAction | None = ctx.note("takes", cause)
        if taking is None or taking.what != what:
            ctx.remember("takes", cause, TimedAction(what, ctx.now + delay))
            ctx.wake_after(cause, delay)
            return False
        if ctx.now < taking.until:
            return False
        ctx.remember("takes", cause, None)
        return True

    # -- the start of a pod -------------------------------------------------------------------------------

    def _start(self, decision: PlanBuilder, cause: str, pod: Pod, node: Node) -> None:
        """Admit a pod, wait for its volumes, and run it."""
        refused = self._out_of(decision.ctx, pod, node) if self.options.admits else None
        if refused is None and self.options.marks_dirty:
            refused = self._rolled_back(decision.ctx, pod)
        if refused is not None:
            reason, message = refused
            patch = StatusPatch("Failed", reason=reason, message=message, start_time=decision.ctx.moment)
            self._patch(decision, pod, patch, f"kubelet refuses {reference_of(pod)}: {message}")
            decision.event(pod, "Warning", reason, message)
            return
        why = self._volumes_missing(decision, pod, node)
        if why:
            decision.describe(f"kubelet on {node.metadata.name} waits with {reference_of(pod)}: {why}")
            return
        if not self._waited(decision.ctx, cause, f"start {pod.metadata.uid}", self.options.start_delay):
            return
        if self.options.marks_dirty:
            self._mark_dirty(decision, pod)
        now = decision.ctx.moment
        conditions = tuple(Condition(type=type_, status="True", last_transition_time=now) for type_ in STARTED)
        patch = StatusPatch("Running", conditions, start_time=now)
        self._patch(decision, pod, patch, f"kubelet on {node.metadata.name} runs {reference_of(pod)}")

    @staticmethod
    def _rolled_back(ctx: TurnContext, pod: Pod) -> tuple[str, str] | None:
        """Return (reason, message) if a claim of a pod is being rolled back."""
        for claim in _claims(ctx, pod):
            if under_rollback(claim):
                return "VolumeRollback", f'persistentvolumeclaim "{claim.metadata.name}" is being rolled back'
        return None

    @staticmethod
    def _mark_dirty(decision: PlanBuilder, pod: Pod) -> None:
        """Say of every clean claim of a pod that its volume may hold data from now on."""
        for claim in _claims(decision.ctx, pod):
            if is_clean(claim):
                decision.update_status(claim, with_content(claim, DIRTY), f"kubelet marks {reference_of(claim)} dirty")

    @staticmethod
    def _patch(decision: PlanBuilder, pod: Pod, patch: StatusPatch, words: str) -> None:
        key = Key("Pod", pod.metadata.namespace or "default", pod.metadata.name)
        decision.patch(key, patch, words, uid=pod.metadata.uid)

    def _volumes_missing(self, decision: PlanBuilder, pod: Pod, node: Node) -> str:
        """Return why a pod's volumes are not at hand, or ""; a volume out of reach is also an Event."""
        ctx = decision.ctx
        for name in pod.claim_names():
            claim = ctx.seen.get("PersistentVolumeClaim", name, pod.metadata.namespace or "default")
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if not is_bound(claim):
                return f"PVC {name} is not bound"
            volume: PersistentVolume | None = ctx.seen.get("PersistentVolume", claim.spec.volume_name)
            if volume is None or not is_bound_to(volume, claim):
                return f"PV {claim.spec.volume_name} is not bound to {name}"
            if self.options.reaches and not volume_fits_node(volume, node):
                verb = "MapVolume" if mode(volume) == "Block" else "MountVolume"
                words = (
                    f'{verb}.NodeAffinity check failed for volume "{volume.metadata.name}" : '
                    "no matching NodeSelectorTerms"
                )
                reason = "FailedMapVolume" if mode(volume) == "Block" else "FailedMount"
                decision.event(pod, "Warning", reason, words)
                return words
        return self._unpublished(decision, pod)

    # -- what node services say ---------------------------------------------------------------------------

    def nodes_of(self, _hand: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a node that lacks labels which some driver's node service reports."""
        if key.kind == "Node" and new is not None and with_reported_topology(new, self.options.services.values()) is not new:
            yield key.name

    def register(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Copy the topology that node services report into a node's labels (S2, Central provisioning)."""
        node: Node | None = ctx.seen.get("Node", cause)
        decision = PlanBuilder(ctx, NAME)
        if node is not None:
            words = f"kubelet copies topology into the labels of {reference_of(node)}"
            decision.update(node, with_reported_topology(node, self.options.services.values()), words)
        return decision.writes

    def _unpublished(self, decision: PlanBuilder, pod: Pod) -> str:
        """Return why a driver does not publish one of a pod's inline volumes, or ""; it is also an Event."""
        for each in pod.spec.volumes:
            if each.csi is None:
                continue
            service = self.options.services.get(each.csi.driver, NodeService())
            context = publish_context(pod, each.csi, decision.ctx.seen.get("CSIDriver", each.csi.driver))
            why = service.refuses(each.csi, context)
            if why:
                failed = f'MountVolume.SetUp failed for volume "{each.name}"'
                words = f"{failed} : rpc error: code = InvalidArgument desc = {why}"
                decision.event(pod, "Warning", "FailedMount", words)
                return words
        return ""

    def _out_of(self, ctx: TurnContext, pod: Pod, node: Node) -> tuple[str, str] | None:
        """Return (reason, message) if the node has no room for a pod beside those that run on it."""
        on_node = ctx.views["on node"]
        assert isinstance(on_node, Index)
        here = [other for other in on_node.get(node.metadata.name) if other.metadata.uid != pod.metadata.uid]
        started = [other for other in here if other.status.phase == "Running"]
        allocatable = node.status.allocatable
        if "pods" in allocatable and len(started) + 1 > value(allocatable["pods"]):
            used, room = len(started), value(allocatable["pods"])
            return "OutOfpods", (
                f"Node didn't have enough resource: pods, requested: 1, used: {used}, capacity: {room}"
            )
        for resource, asked in _requests(pod).items():
            if not asked or resource not in allocatable:
                continue
            room = _number(resource, allocatable[resource])
            used = sum(_requests(other).get(resource, 0) for other in started)
            if used + asked > room:
                return f"OutOf{resource}", (
                    f"Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {room}"
                )
        return None

    # -- the end of a pod -----------------------------------------------------------------------------------

    def _end(self, decision: PlanBuilder, pod: Pod) -> None:
        """Stop a terminating pod's containers, report it, and delete it for good."""
        if pod.status.phase == "Running":
            done = tuple(
                Condition(type=type_, status="False", reason="PodCompleted", last_transition_time=decision.ctx.moment)
                for type_ in ("Ready", "ContainersReady")
            )
            self._patch(decision, pod, StatusPatch("Succeeded", done), f"kubelet has stopped {reference_of(pod)}")
        decision.delete(pod, f"kubelet removes {reference_of(pod)}", grace=0)


def _claims(ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
    """Return the claims of a pod that are seen."""
    namespace = pod.metadata.namespace or "default"
    found = [ctx.seen.get("PersistentVolumeClaim", name, namespace) for name in pod.claim_names()]
    return [claim for claim in found if claim is not None]


def _number(resource: str, text: str) -> int:
    return milli(text) if resource == "cpu" else value(text)


def _requests(pod: Pod) -> dict[str, int]:
    """Return what a pod's containers ask for together: millicores of cpu, whole units of all else."""
    found: dict[str, int] = {}
    for container in pod.spec.containers:
        for resource, text in container.resources.requests.items():
            found[resource] = found.get(resource, 0) + _number(resource, text)
    return found


def _unfinished(pod: Pod) -> bool:
    """Say whether a kubelet has anything to do about a pod on its node: to start it, or to end it."""
    return pod.status.phase in ("", "Pending") or pod.metadata.deletion_timestamp is not None


__all__ = ["NAME", "KubeletOptions", "component"]
