"""The rollback marker: marks bound claims of unschedulable pods for rollback; off unless a revision enables it.

It marks one claim per turn; the PV controller decides whether the claim is unbound, which it does only if no kubelet
can have written to the volume. Follows the sketch in S0, Binding multiple PVCs in one transaction.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolumeClaim
from ...world.apiserver import Write, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key

ROLLBACK_MARKER = "rollback"


@attrs.frozen
class RollbackMarker:
    """The actor that marks the claims of unschedulable pods; `seldom`: shown only where it has acted."""

    name: str = ROLLBACK_MARKER
    seldom: ClassVar[bool] = True
    reacts_to: ClassVar[frozenset[str]] = frozenset({"Pod"})

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods whose claims are to be marked."""
        return ctx.process.work_queues[self.name].next(every=every)

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Do nothing: the marker sets no timers."""

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Queue a pod that has become unschedulable."""
        if key.kind == "Pod" and _is_unschedulable(new) and not _is_unschedulable(old) and new.claim_names():
            ctx.enqueue(f"{key.namespace}/{key.name}")

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Mark the next bound claim of one pod."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *name.split("/")))
        for claim in _unmarked_claims(ctx, pod) if pod is not None and _is_unschedulable(pod) else ():
            words = f"Scheduler marks {ref(key_of(claim))} for rollback: {name} fits no node"
            ctx.commit(Write("update", key_of(claim), _marked(claim), claim.metadata.resource_version, words=words))
            return True
        ctx.dequeue(name)
        return False


def _is_unschedulable(pod: Pod | None) -> bool:
    condition = pod.status.condition("PodScheduled") if pod is not None and not pod.spec.node_name else None
    return condition is not None and (condition.status, condition.reason) == ("False", "Unschedulable")


def _unmarked_claims(ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
    """Return the pod's bound claims that are not marked yet, read from the API server."""
    namespace = pod.metadata.namespace or "default"
    claims = [ctx.get_live(Key("PersistentVolumeClaim", namespace, name)) for name in pod.claim_names()]
    return [claim for claim in claims if claim and volumes.is_bound(claim) and not volumes.under_rollback(claim)]


def _marked(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    annotations = claim.metadata.annotations.merged({volumes.ROLLBACK: "yes"})
    return evolve_parts(claim, metadata={"annotations": annotations})
