"""Moves claims and volumes through their phases; here alone does a claim become Bound.

A bind is four writes, in this order: the volume's claimRef, its phase, the claim's volumeName, its phase; each is
skipped if it is already so. Whether to bind is decided elsewhere (`claims`, `volumes`).
"""

from collections.abc import Callable

import attrs

from ...api.kinds.meta import EMPTY, Frozen, evolve, evolve_parts
from ...api.kinds.quantity import value
from ...api.kinds.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
)
from ...api.volumes import CLEAN, bind_volume_to_claim, claim_key, with_content
from ...world.plan import PlanBuilder, reference_of

CURRENT_ATTRIBUTES = "currentVolumeAttributesClassName"
PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity"

# (claim, phase, its volume) -> the claim's status in that phase
ClaimStatus = Callable[[PersistentVolumeClaim, str, PersistentVolume | None], PersistentVolumeClaimStatus]


def basic_claim_status(
    claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None
) -> PersistentVolumeClaimStatus:
    """Return a claim's status as in 1.11: access modes always follow the volume, capacity only with the phase."""
    status = evolve(claim.status, phase=phase)
    if volume is None:
        return evolve(status, access_modes=(), capacity=EMPTY)
    capacity = Frozen({"storage": volume.spec.capacity.get("storage", "0")})
    capacity = claim.status.capacity if claim.status.phase == phase else capacity
    return evolve(status, access_modes=volume.spec.access_modes, capacity=capacity)


def claim_status_with_attributes(
    claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None
) -> PersistentVolumeClaimStatus:
    """Return a claim's status as in v1.36.2: also the capacity before a resize and the VolumeAttributesClass."""
    status = basic_claim_status(claim, phase, volume)
    if volume is None:
        return evolve(status, rest=status.rest.merged({CURRENT_ATTRIBUTES: None}))
    if claim.status.phase == phase:
        return status
    before_resize = volume.metadata.annotations.get(PRE_RESIZE_CAPACITY, "")
    try:
        value(before_resize)
        status = evolve(status, capacity=Frozen({"storage": before_resize}))
    except ValueError:  # unreadable, or absent
        pass
    if attributes_class := volume.spec.volume_attributes_class_name:
        status = evolve(status, rest=status.rest.merged({CURRENT_ATTRIBUTES: attributes_class}))
    return status


@attrs.frozen
class BindingWrites:
    """Plans the writes that bind, unbind, fail and lose.

    Args:
        claim_status: how a claim's status follows its phase and volume.
        marks_clean: a claim bound to a volume that was Available is marked clean (S0's rollback).
    """

    claim_status: ClaimStatus
    marks_clean: bool

    def bind(self, plan: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Bind a volume and a claim to each other."""
        name = volume.metadata.name
        reserved = bind_volume_to_claim(volume, claim)
        plan.update(volume, reserved, f"PV controller sets the claimRef of pv/{name} to {claim_key(claim)}")
        self.set_volume_phase(plan, reserved, "Bound")
        marks = {BIND_COMPLETED: "yes"}
        if claim.spec.volume_name != name:
            marks[BOUND_BY_CONTROLLER] = "yes"  # the controller chose; a user's own choice bears no such mark
        known = claim.metadata.annotations
        annotations = known.merged({key: mark for key, mark in marks.items() if key not in known})
        bound = evolve_parts(claim, metadata={"annotations": annotations}, spec={"volume_name": name})
        plan.update(claim, bound, f"PV controller sets the volumeName of {{}} to {name}")
        clean = self.marks_clean and volume.status.phase == "Available"
        self.set_claim_phase(plan, bound, "Bound", reserved, clean=clean)

    def unbind(self, plan: PlanBuilder, volume: PersistentVolume, why: str) -> None:
        """Make a volume Available again; one that a user had prebound keeps its claimRef, without uid."""
        ref, annotations = volume.spec.claim_ref, volume.metadata.annotations
        if BOUND_BY_CONTROLLER in annotations:
            annotations, ref = annotations.merged({BOUND_BY_CONTROLLER: None}), None
        elif ref is not None:
            ref = evolve(ref, uid="")
        freed = evolve_parts(volume, metadata={"annotations": annotations}, spec={"claim_ref": ref})
        plan.update(volume, freed, f"PV controller unbinds {reference_of(volume)}: {why}")
        self.set_volume_phase(plan, freed, "Available")

    def set_volume_phase(
        self, plan: PlanBuilder, volume: PersistentVolume, phase: str, message: str = ""
    ) -> PersistentVolume:
        """Set a volume's phase and return the volume as it will be."""
        if volume.status.phase == phase:
            return volume
        new = evolve_parts(volume, status={"phase": phase, "message": message})
        plan.update_status(volume, new, f"PV controller sets the phase of {reference_of(volume)} to {phase}")
        return new

    def fail_volume(self, plan: PlanBuilder, volume: PersistentVolume, reason: str, message: str) -> None:
        """Set a volume Failed with an Event, unless it is Failed already."""
        if volume.status.phase != "Failed":
            self.set_volume_phase(plan, volume, "Failed", message)
            plan.event(volume, "Warning", reason, message)

    def lose_claim(self, plan: PlanBuilder, claim: PersistentVolumeClaim, reason: str, message: str) -> None:
        """Set a claim Lost with an Event, unless it is Lost already."""
        if claim.status.phase != "Lost":
            self.set_claim_phase(plan, claim, "Lost")
            plan.event(claim, "Warning", reason, message)

    def set_claim_phase(
        self, plan: PlanBuilder, claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None = None, *,
        clean: bool = False
    ) -> None:
        """Set a claim's phase, and what of its status follows the phase and the volume."""
        new = evolve(claim, status=self.claim_status(claim, phase, volume))
        words = f"PV controller sets the phase of {{}} to {phase}"
        plan.update_status(claim, with_content(new, CLEAN) if clean else new, words)
