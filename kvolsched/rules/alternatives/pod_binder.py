"""A binder that is driven by placed pods: it looks for volumes on the node that a pod has already (S0, rejected).

It reads only what its own process has seen. It may choose other volumes than the scheduler remembers to have chosen.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, reference_of, report_done, report_refused
from ...world.reconciler import Reconciler
from ...world.view import Index, InformerCache, View

WATCHES = ("Pod", "Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim")
WAITING = "placed pods that wait"
ANY_VOLUME = "any volume"

MayRead = Callable[[PersistentVolume, Node], bool]
Preference = Callable[[PersistentVolume, Node], int]


def views(_seen: InformerCache) -> dict[str, View]:
    """Return the index of the placed pods that wait for their volumes."""
    return {WAITING: Index("Pod", _waited_for)}


def _waited_for(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name and pod.status.phase in ("", "Pending") and pod.metadata.deletion_timestamp is None:
        names = tuple(pod.claim_names())
        yield from (f"{pod.metadata.namespace or 'default'}/{name}" for name in names)
        if names:
            yield ANY_VOLUME


@attrs.frozen
class PodBinder:
    """Decides about the claims of one placed pod at a time.

    Args:
        name: the actor's name.
        writer: who writes, in its sentences.
        rules: how volumes are matched, and which annotation tells a provisioner the node.
        may_read: which volumes it can read when it binds for a node; every one, if it runs with the control plane.
        prefers: the volumes with the lowest number are looked at first, of these the smallest that fits.
    """

    name: str
    writer: str
    rules: volumes.VolumeRules
    may_read: MayRead = lambda _volume, _node: True
    prefers: Preference = lambda _volume, _node: 0

    def routine(self) -> Reconciler:
        """Return the actor."""
        return Reconciler(self.name, self.pods_of, self.sync, report_refused, report_done)

    def pods_of(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield the placed pods that a change concerns: a pod itself, or those that wait for a claim or a volume."""
        if key.kind == "Pod":
            if new is not None and any(_waited_for(new)):
                yield f"{key.namespace}/{key.name}"
            return
        if new is None:
            return
        wanted = f"{key.namespace}/{key.name}" if key.kind == "PersistentVolumeClaim" else ANY_VOLUME
        for pod in ctx.views[WAITING].keys(wanted):
            yield f"{pod.namespace}/{pod.name}"

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Reserve a volume for each unbound claim of one placed pod, or select its node for provisioning."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        node = ctx.seen.get("Node", pod.spec.node_name) if pod is not None else None
        plan, taken = PlanBuilder(ctx, self.name), set[str]()
        if pod is None or node is None:
            return plan.writes
        for claim in sorted(self._unbound(ctx, pod), key=lambda each: -volumes.requested(each)):
            chosen = self._find(ctx, claim, node, taken)
            storage_class = ctx.seen.get("StorageClass", volumes.class_of_claim(claim))
            if chosen is not None:
                taken.add(chosen.metadata.name)
                words = f"{self.writer} reserves {reference_of(chosen)} for {reference_of(claim)}: claimRef"
                plan.update(chosen, volumes.bind_volume_to_claim(chosen, claim), words)
            elif storage_class is not None and volumes.has_provisioner(storage_class):
                name = node.metadata.name
                words = f"{self.writer} selects {name} for {reference_of(claim)}"
                plan.update(claim, volumes.with_selected_node(claim, name, self.rules), words)
            else:
                words = f"{self.writer} finds no volume on {node.metadata.name} for {reference_of(claim)}"
                plan.describe(f"{words}, where {reference_of(pod)} is placed")
        return plan.writes

    def _unbound(self, ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
        """Return the pod's claims that wait for a volume: no volume named, of a class that waits."""
        namespace = pod.metadata.namespace or "default"
        found = [ctx.seen.get("PersistentVolumeClaim", name, namespace) for name in pod.claim_names()]
        return [claim for claim in found if claim is not None and not claim.spec.volume_name]

    def _find(self, ctx: TurnContext, claim: PersistentVolumeClaim, node: Node,
              taken: set[str]) -> PersistentVolume | None:
        readable = [volume for volume in ctx.seen.all("PersistentVolume") if self.may_read(volume, node)]
        for number in sorted({self.prefers(volume, node) for volume in readable}):
            group = (volume for volume in readable if self.prefers(volume, node) == number)
            found = volumes.find_matching_volume(claim, group, node=node, excluded=taken, rules=self.rules)
            if found is not None:
                return found
        return None
