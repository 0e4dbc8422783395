"""How claims and volumes are moved through their phases: the writes, each skipped if it is already so.

A bind is four of them, in this order: the volume's claimRef, its phase, the claim's volumeName, its phase. Nothing here
decides whether to bind.
"""

from __future__ import annotations

from typing import Any

import attrs

from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
from ...api.kinds.quantity import value
from ...api.kinds.volume import BIND_COMPLETED, BOUND_BY_CONTROLLER, PersistentVolume, PersistentVolumeClaim
from ...volumes import CLEAN, bind_volume_to_claim, claim_key, with_content
from ...world.plan import PlanBuilder, reference_of

CURRENT_ATTRIBUTES = "currentVolumeAttributesClassName"
PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity"


@attrs.frozen
class BindingWrites:
    """The writes of one release: `today` is v1.36.2, otherwise 1.11; `tells_clean` says that a volume was untouched."""

    today: bool
    tells_clean: bool = False

    def bind(self, decision: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Bind a volume and a claim to each other."""
        name = volume.metadata.name
        ours = bind_volume_to_claim(volume, claim)
        decision.update(volume, ours, f"PV controller sets claimRef={claim_key(claim)} on pv/{name}")
        self.volume_phase(decision, ours, "Bound")
        marks = {BIND_COMPLETED: "yes"}
        if claim.spec.volume_name != name:
            marks[BOUND_BY_CONTROLLER] = "yes"  # the controller chose; a user's own choice bears no such mark
        known = claim.metadata.annotations
        annotations = known.merged({key: mark for key, mark in marks.items() if key not in known})
        bound = evolve_parts(claim, metadata={"annotations": annotations}, spec={"volume_name": name})
        decision.update(claim, bound, f"PV controller sets volumeName={name} on {reference_of(claim)}")
        untouched = self.tells_clean and volume.status.phase == "Available"
        self.claim_phase(decision, bound, "Bound", ours, untouched=untouched)

    def unbind(self, decision: PlanBuilder, volume: PersistentVolume, why: str = "its claim is bound elsewhere") -> None:
        """Give a volume free; one that a user had prebound stays so, without uid."""
        ref, annotations = volume.spec.claim_ref, volume.metadata.annotations
        if BOUND_BY_CONTROLLER in annotations:
            annotations, ref = annotations.merged({BOUND_BY_CONTROLLER: None}), None
        elif ref is not None:
            ref = attrs.evolve(ref, uid="")
        freed = evolve_parts(volume, metadata={"annotations": annotations}, spec={"claim_ref": ref})
        decision.update(volume, freed, f"PV controller unbinds {reference_of(volume)}: {why}")
        self.volume_phase(decision, freed, "Available")

    def volume_phase(
        self, decision: PlanBuilder, volume: PersistentVolume, phase: str, message: str = ""
    ) -> PersistentVolume:
        """Set a volume's phase and return it as it will be."""
        if volume.status.phase == phase:
            return volume
        status = attrs.evolve(volume.status, phase=phase, message=message)
        new = attrs.evolve(volume, status=status)
        decision.update_status(volume, new, f"PV controller sets {reference_of(volume)} {phase}")
        return new

    def fail_volume(self, decision: PlanBuilder, volume: PersistentVolume, reason: str, words: str) -> None:
        """Set a volume Failed with an event; one that has failed before stays as it is, in silence."""
        if volume.status.phase != "Failed":
            self.volume_phase(decision, volume, "Failed", words)
            decision.event(volume, "Warning", reason, words)

    def lose_claim(self, decision: PlanBuilder, claim: PersistentVolumeClaim, reason: str, words: str) -> None:
        """Set a claim Lost with an event; a lost one stays as it is, in silence."""
        if claim.status.phase != "Lost":
            self.claim_phase(decision, claim, "Lost")
            decision.event(claim, "Warning", reason, words)

    def claim_phase(
        self,
        decision: PlanBuilder,
        claim: PersistentVolumeClaim,
        phase: str,
        volume: PersistentVolume | None = None,
        *,
        untouched: bool = False,
    ) -> None:
        """Set a claim's phase; its access modes follow the volume always, its capacity only with the phase."""
        status = attrs.evolve(claim.status, phase=phase)
        if volume is None:
            rest = status.rest.merged({CURRENT_ATTRIBUTES: None}) if self.today else status.rest
            status = attrs.evolve(status, access_modes=(), capacity=EMPTY, rest=rest)
        else:
            status = attrs.evolve(status, access_modes=volume.spec.access_modes)
            if claim.status.phase != phase:
                status = attrs.evolve(status, **self._taken_over(claim, volume))
        new = attrs.evolve(claim, status=status)
        words = f"PV controller sets {reference_of(claim)} {phase}"
        decision.update_status(claim, with_content(new, CLEAN) if untouched else new, words)

    def _taken_over(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any]:
        """Return what a claim's status takes from its volume when its phase changes."""
        size = volume.spec.capacity.get("storage", "0")
        rest = claim.status.rest
        if self.today:
            before_resize = volume.metadata.annotations.get(PRE_RESIZE_CAPACITY, "")
            try:
                value(before_resize)
                size = before_resize
            except ValueError:  # unreadable, or absent: the volume's own
                pass
            if volume.spec.volume_attributes_class_name:
                rest = rest.merged({CURRENT_ATTRIBUTES: volume.spec.volume_attributes_class_name})
        return {"capacity": Frozen({"storage": size}), "rest": rest}
