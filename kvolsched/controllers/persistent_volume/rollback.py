"""Unbinding a claim that the scheduler has marked: only a clean one, whose volume no kubelet has touched (S0).

Each write is skipped if it is already so; the mark goes last, so that a crash between two writes is finished by a later
sync. A dirty claim, or one that says nothing, stays bound and loses its mark.
"""

from __future__ import annotations

import attrs

from ...api.kinds.meta import EMPTY, evolve_parts
from ...api.kinds.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE_KEYS,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...volumes import CONTENT, ROLLBACK, claim_key, is_clean
from ...world.plan import PlanBuilder, reference_of
from .binding import BindingWrites

UNBOUND = (BIND_COMPLETED, BOUND_BY_CONTROLLER, *SELECTED_NODE_KEYS)


def roll_back(
    decision: PlanBuilder, writes: BindingWrites, claim: PersistentVolumeClaim, held: list[PersistentVolume]
) -> None:
    """Unbind a marked claim and the volumes that name it, or refuse.

    Args:
        decision: what is meant to be written.
        writes: the controller's way to write.
        claim: the marked claim.
        held: the volumes whose claimRef names it.
    """
    if claim.spec.volume_name and not is_clean(claim):
        said = f'volume "{claim.spec.volume_name}" may hold data: the claim is not clean'
        _without(decision, claim, (ROLLBACK,), f"PV controller does not roll {reference_of(claim)} back: {said}")
        decision.event(claim, "Warning", "RollbackRefused", said)
        return
    status = attrs.evolve(claim.status, phase="Pending", access_modes=(), capacity=EMPTY)
    pending = attrs.evolve(claim, status=status)
    decision.update_status(claim, pending, f"PV controller sets {reference_of(claim)} Pending")
    freed = evolve_parts(pending, spec={"volume_name": ""})
    freed = _without(decision, pending, UNBOUND, f"PV controller takes its volume from {reference_of(claim)}", freed)
    for volume in held:
        writes.unbind(decision, volume, f"{claim_key(claim)} is rolled back")
    rest = freed.status.rest.merged({CONTENT: None})
    empty = evolve_parts(freed, status={"rest": rest})
    decision.update_status(freed, empty, f"PV controller has nothing to say of the volume of {reference_of(claim)}")
    _without(decision, empty, (ROLLBACK,), f"PV controller has rolled {reference_of(claim)} back")
    decision.event(claim, "Normal", "RolledBack", "the claim is unbound again: its pod fits no node")


def _without(
    decision: PlanBuilder,
    old: PersistentVolumeClaim,
    keys: tuple[str, ...],
    words: str,
    new: PersistentVolumeClaim | None = None,
) -> PersistentVolumeClaim:
    """Mean to write a claim without these annotations; return it."""
    annotations = old.metadata.annotations.merged(dict.fromkeys(keys))
    new = old if new is None else new
    changed = evolve_parts(new, metadata={"annotations": annotations})
    decision.update(old, changed, words)
    return changed
