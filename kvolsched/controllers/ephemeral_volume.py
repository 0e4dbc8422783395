"""The ephemeral volume controller: it alone creates the claims of generic ephemeral volumes, owned by their pod.

A claim is named POD-VOLUME. A claim of that name that the pod does not own is left alone, and an Event tells the pod.
Mirrors `pkg/controller/volume/ephemeral` (v1.36.2).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..api.kinds.meta import ObjectMeta
from ..api.kinds.pod import PersistentVolumeClaimTemplate, Pod
from ..api.kinds.volume import PersistentVolumeClaim
from ..api.workloads import controller_reference
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists

NAME = "ephemeral-volume-controller"
SOURCE = "ephemeral_volume"  # of its Events
CLAIM = "PersistentVolumeClaim"


def component() -> Component:
    """Return the ephemeral volume controller."""
    routine = Reconciler(NAME, _pods_of, sync, report_refused, report_done)
    return Component(NAME, ("Pod", CLAIM), (routine,), activation=partial(Exists, "Pod", _has_ephemeral_volumes))


def _has_ephemeral_volumes(pod: Pod) -> bool:
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def _pods_of(_ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    if key.kind == "Pod":
        if old is None and new is not None and _has_ephemeral_volumes(new):
            yield f"{key.namespace}/{key.name}"
    elif new is None and (owner := old.metadata.controller) is not None and owner.kind == "Pod":
        yield f"{key.namespace}/{owner.name}"


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Create the missing claims of a pod's ephemeral volumes."""
    pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
    if pod is None or pod.metadata.deletion_timestamp is not None:
        return ()
    plan = PlanBuilder(ctx, SOURCE)
    for volume, claim in claims_for(pod):
        namespace, name = claim.metadata.namespace, claim.metadata.name
        found: PersistentVolumeClaim | None = ctx.seen.get(CLAIM, name, namespace)
        if found is None:
            plan.create(claim, f"ephemeral volume controller creates {reference_of(claim)}")
        elif (owner := found.metadata.controller) is None or owner.uid != pod.metadata.uid:
            message = f"ephemeral volume {volume}: PVC {namespace}/{name} was not created for pod "
            message += f"{namespace}/{pod.metadata.name} (pod is not owner)"
            plan.event(pod, "Warning", "FailedBinding", message)
    return plan.writes


def claims_for(pod: Pod) -> Iterator[tuple[str, PersistentVolumeClaim]]:
    """Yield the name of each generic ephemeral volume of a pod, and its claim."""
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
            yield volume.name, claim_for(pod, volume.name, volume.ephemeral.volume_claim_template)


def claim_for(pod: Pod, volume: str, template: PersistentVolumeClaimTemplate) -> PersistentVolumeClaim:
    """Return the claim of a pod's ephemeral volume: its template, named after pod and volume."""
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=f"{pod.metadata.name}-{volume}", namespace=pod.metadata.namespace or "default",
            labels=template.metadata.labels, annotations=template.metadata.annotations,
            owner_references=(controller_reference(pod),)
        ),
        spec=template.spec,
    )
