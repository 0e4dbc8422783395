"""The whole two-way binding in the scheduler (S0, Pull entire PVC binding into the scheduler, rejected).

The scheduler prebinds and selects nodes as in the design. What the PV controller does after that, an actor of the
scheduler does here: the pod sync loop, which has a cause only as long as there is a pending pod.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.volume import BETA_STORAGE_PROVISIONER, BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim
from ...controllers import persistent_volume
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, reference_of, report_done, report_refused
from ...world.reconciler import Reconciler
from ..named import revision_named
from ..revision import Revision
from .building import Rearranged, based_on

POD_SYNC, CLAIM = "pod sync", "PersistentVolumeClaim"


def bind_in_scheduler(base: str | Revision = "design", *, controller: bool = False) -> Revision:
    """Return rules in which the scheduler makes all four writes of a binding, and no PV controller runs.

    S0 (Pull entire PVC binding into the scheduler) rejects it: the scheduler works by pods, and no pod asks for what
    remains: a claim or volume that gets lost, a binding of which half is written when its pod goes, a claim that is
    deleted and its volume that should be reclaimed.

    Args:
        base: the revision whose other rules hold.
        controller: whether the PV controller runs beside it, as S0 concludes that it must.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("bind_in_scheduler").run()
    bind_in_scheduler on room-for-one-volume: fails: a volume is held for the deleted claim one, in phase Bound
    """
    rules = revision_named(base)
    routine = Reconciler(POD_SYNC, _pods_of, PodSync(rules.flow.options).sync, report_refused, report_done)
    arranged = Rearranged(SCHEDULER, actors=(routine,), without="" if controller else persistent_volume.NAME)
    name = "bind_in_scheduler with a PV controller" if controller else "bind_in_scheduler"
    more_rights = {(verb, kind) for verb in ("update", "update_status") for kind in ("PersistentVolume", CLAIM)}
    permissions = {**rules.permissions, SCHEDULER: rules.permissions[SCHEDULER] | more_rights}
    return based_on(rules, name, arrange=arranged, permissions=permissions)


def _pods_of(ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    """Yield the pods without a node that a change concerns: a pod itself, or those that use a claim or volume."""
    if new is None:
        return
    claims: list[Key] = []
    match key.kind:
        case "Pod":
            if not new.spec.node_name and new.claim_names():
                yield f"{key.namespace}/{key.name}"
        case "PersistentVolumeClaim":
            claims = [key]
        case "PersistentVolume":
            reference = new.spec.claim_ref
            claims = [Key("PersistentVolumeClaim", reference.namespace, reference.name)] if reference else []
    for claim in claims:
        for pod in ctx.views["users"].keys(claim):
            yield f"{pod.namespace}/{pod.name}"


@attrs.frozen
class PodSync:
    """Completes the bindings of one pending pod's claims: what the PV controller does in the design."""

    rules: volumes.VolumeRules

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Bind the volumes that are reserved for the pod's claims, and hand claims with a node to their provisioner."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        plan = PlanBuilder(ctx, SCHEDULER)
        if pod is None or pod.spec.node_name:
            return plan.writes
        for name in pod.claim_names():
            claim = ctx.seen.get("PersistentVolumeClaim", name, pod.metadata.namespace or "default")
            if claim is None or volumes.is_bound(claim):
                continue
            reserved = [each for each in ctx.seen.all("PersistentVolume") if volumes.is_bound_to(each, claim)]
            if reserved:
                self._bind(plan, reserved[0], claim)
            elif volumes.selected_node(claim, self.rules):
                self._provision(plan, claim)
        return plan.writes

    @staticmethod
    def _bind(plan: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        words = f"Scheduler sets the phase of {reference_of(volume)} to Bound"
        plan.update_status(volume, evolve_parts(volume, status={"phase": "Bound"}), words)
        annotations = claim.metadata.annotations.merged({BIND_COMPLETED: "yes"})
        spec = {"volume_name": volume.metadata.name}
        bound = evolve_parts(claim, spec=spec, metadata={"annotations": annotations})
        plan.update(claim, bound, f"Scheduler sets the volumeName of {reference_of(claim)} to {volume.metadata.name}")
        words = f"Scheduler sets the phase of {reference_of(claim)} to Bound"
        plan.update_status(bound, evolve_parts(bound, status={"phase": "Bound"}), words)

    @staticmethod
    def _provision(plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        storage_class = plan.ctx.seen.get("StorageClass", volumes.class_of_claim(claim))
        if storage_class is None or BETA_STORAGE_PROVISIONER in claim.metadata.annotations:
            return
        told = claim.metadata.annotations.merged({BETA_STORAGE_PROVISIONER: storage_class.provisioner})
        words = f"Scheduler hands {reference_of(claim)} to {storage_class.provisioner}"
        plan.update(claim, evolve_parts(claim, metadata={"annotations": told}), words)
