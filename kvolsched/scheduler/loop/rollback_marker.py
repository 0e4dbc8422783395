"""Giving bound volumes back after a scheduling failure: S0's sketch of a transaction, off unless a revision has it.

A pod that fits no node has its bound claims marked, one write a turn; whether a claim is really unbound is for the
PV controller to say, which does so only where no kubelet can have written to the volume. Written after S0, Binding
multiple PVCs in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from ... import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolumeClaim
from ...world.apiserver import Write, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key

ROLLER = "rollback"


@attrs.frozen
class RollbackMarker:
    """The actor that marks the claims of pods which fit no node; `seldom`: it is shown only where it has acted."""

    name: str = ROLLER
    seldom: ClassVar[bool] = True

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods whose claims are to be marked."""
        return ctx.process.work_queues[self.name].next(every=every)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Nothing here waits for a time."""

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Take up a pod that is now seen to be unschedulable, and was not before."""
        if key.kind == "Pod" and _failed(new) and not _failed(old) and new.claim_names():
            ctx.enqueue(f"{key.namespace}/{key.name}")

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Mark the next bound claim of one pod."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *name.split("/")))
        for claim in _bound(ctx, pod) if pod is not None and _failed(pod) else ():
            words = f"Scheduler asks for {ref(key_of(claim))} to be rolled back: {name} fits no node"
            ctx.commit(Write("update", key_of(claim), _marked(claim), claim.metadata.resource_version, words=words))
            return True
        ctx.dequeue(name)
        return False


def _failed(pod: Pod | None) -> bool:
    condition = pod.status.condition("PodScheduled") if pod is not None and not pod.spec.node_name else None
    return condition is not None and (condition.status, condition.reason) == ("False", "Unschedulable")


def _bound(ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
    """Return the pod's bound claims that are not marked, as the API server has them."""
    namespace = pod.metadata.namespace or "default"
    found = [ctx.get_live(Key("PersistentVolumeClaim", namespace, name)) for name in pod.claim_names()]
    return [each for each in found if each and volumes.is_bound(each) and not volumes.under_rollback(each)]


def _marked(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    annotations = claim.metadata.annotations.merged({volumes.ROLLBACK: "yes"})
    return evolve_parts(claim, metadata={"annotations": annotations})
