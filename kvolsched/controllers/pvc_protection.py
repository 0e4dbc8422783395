"""The PVC protection controller: it alone removes its finalizer from a deleted claim, once no pod on a node uses it.

A pod uses its claims as long as it exists, ended or not; one without a node does not, since no kubelet would start it
with a claim that is being deleted.
Mirrors `pkg/controller/volume/pvcprotection` (v1.36.2); admission adds the finalizer.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..api.kinds.meta import without_finalizers
from ..api.kinds.pod import Pod
from ..api.kinds.volume import PersistentVolumeClaim
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists, Index, InformerCache, View

NAME = "pvc-protection-controller"
FINALIZER = "kubernetes.io/pvc-protection"
CLAIM = "PersistentVolumeClaim"


def component() -> Component:
    """Return the PVC protection controller."""
    routine = Reconciler(NAME, _claims_of, sync, report_refused, report_done)
    return Component(NAME, (CLAIM, "Pod"), (routine,), _views, activation=partial(Exists, CLAIM, _is_deleted))


def _is_deleted(claim: PersistentVolumeClaim) -> bool:
    return claim.metadata.deletion_timestamp is not None and FINALIZER in claim.metadata.finalizers


def _claims_on_node(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"users": Index("Pod", _claims_on_node)}


def _claims_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    if key.kind == CLAIM:
        if new is not None and _is_deleted(new):
            yield f"{key.namespace}/{key.name}"
        return
    for claim in dict.fromkeys(_claims_on_node(new if new is not None else old)):
        found = ctx.seen.at(Key(CLAIM, *claim.split("/")))
        if found is not None and _is_deleted(found):
            yield claim


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Remove the finalizer from a deleted claim that no pod uses."""
    claim: PersistentVolumeClaim | None = ctx.seen.at(Key(CLAIM, *cause.split("/")))
    if claim is None or not _is_deleted(claim):
        return ()
    users: Index = ctx.views["users"]
    if pods := users.get(cause):
        names = ", ".join(map(reference_of, pods))
        ctx.describe(f"PVC protection controller keeps {reference_of(claim)}: it is used by {names}")
        return ()
    plan = PlanBuilder(ctx, NAME)
    words = f"PVC protection controller removes its finalizer from {reference_of(claim)}: no pod uses it"
    plan.update(claim, without_finalizers(claim, FINALIZER), words)
    return plan.writes
