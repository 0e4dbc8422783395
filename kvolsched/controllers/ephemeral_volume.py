"""The ephemeral volume controller: it alone makes the claims of generic ephemeral volumes, owned by their pod.

A claim is called POD-VOLUME. One of that name that is not the pod's own is left alone, and the pod is told.
Mirrors `pkg/controller/volume/ephemeral` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.kinds.meta import ObjectMeta
from ..api.kinds.pod import Pod
from ..api.kinds.pod_volume import PersistentVolumeClaimTemplate
from ..api.kinds.volume import PersistentVolumeClaim
from ..workloads import controller_reference
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler

NAME = "ephemeral-volume-controller"
SOURCE = "ephemeral_volume"  # how it signs its Events
CLAIM = "PersistentVolumeClaim"


def component() -> Component:
    """Return the ephemeral volume controller."""
    return Component(NAME, ("Pod", CLAIM), (Reconciler(NAME, _pods_of, sync, report_refused, report_done),), activation=_need)


def _need() -> ActivationCondition:
    return Exists("Pod", _has_volumes)


def _has_volumes(pod: Pod) -> bool:
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def _pods_of(_hand: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a pod that is new, or whose claim has gone."""
    if key.kind == "Pod":
        if old is None and new is not None and _has_volumes(new):
            yield f"{key.namespace}/{key.name}"
    elif new is None and (owner := old.metadata.controller) is not None and owner.kind == "Pod":
        yield f"{key.namespace}/{owner.name}"


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Create the claims of a pod's ephemeral volumes that are not there yet."""
    pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
    if pod is None or pod.metadata.deletion_timestamp is not None:
        return ()
    decision = PlanBuilder(ctx, SOURCE)
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is None:
            continue
        claim = claim_for(pod, volume.name, template)
        there: PersistentVolumeClaim | None = ctx.seen.get(CLAIM, claim.metadata.name, claim.metadata.namespace)
        if there is None:
            decision.create(claim, f"ephemeral volume controller creates {reference_of(claim)}")
        elif not _is_for(there, pod):
            space, name = claim.metadata.namespace, claim.metadata.name
            words = (
                f"ephemeral volume {volume.name}: PVC {space}/{name} was not created for pod "
                f"{space}/{pod.metadata.name} (pod is not owner)"
            )
            decision.event(pod, "Warning", "FailedBinding", words)
    return decision.writes


def _is_for(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.metadata.uid


def claim_for(pod: Pod, volume: str, template: PersistentVolumeClaimTemplate) -> PersistentVolumeClaim:
    """Return the claim of a pod's ephemeral volume: the template under the pod's and the volume's name."""
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=f"{pod.metadata.name}-{volume}",
            namespace=pod.metadata.namespace or "default",
            labels=template.metadata.labels,
            annotations=template.metadata.annotations,
            owner_references=(controller_reference(pod),),
        ),
        spec=template.spec,
    )


__all__ = ["NAME", "claim_for", "component"]
