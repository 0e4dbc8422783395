"""Unbinds a claim that the scheduler has marked, if it is clean: no kubelet has given its volume to a pod (S0).

Each write is skipped if it is already so. The mark is removed last, so a later sync finishes what a crash has
interrupted. A claim that is dirty or says nothing stays bound and loses its mark.
"""

from ...api.kinds.meta import EMPTY, evolve_parts
from ...api.kinds.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE_KEYS,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...api.volumes import CONTENT, ROLLBACK, claim_key, is_clean
from ...world.plan import PlanBuilder, reference_of
from .binding import BindingWrites

BINDING_ANNOTATIONS = (BIND_COMPLETED, BOUND_BY_CONTROLLER, *SELECTED_NODE_KEYS)


def roll_back(
    plan: PlanBuilder, writes: BindingWrites, claim: PersistentVolumeClaim, volumes: list[PersistentVolume], *,
    dirty: bool = False,
) -> None:
    """Unbind a marked claim and `volumes`, whose claimRefs name it, or refuse; `dirty`: also one that is not clean."""
    name = reference_of(claim)
    if claim.spec.volume_name and not is_clean(claim) and not dirty:
        message = f'volume "{claim.spec.volume_name}" may hold data: the claim is not clean'
        _remove_annotations(plan, claim, claim, (ROLLBACK,), f"PV controller refuses to roll {name} back: {message}")
        plan.event(claim, "Warning", "RollbackRefused", message)
        return
    pending = evolve_parts(claim, status={"phase": "Pending", "access_modes": (), "capacity": EMPTY})
    plan.update_status(claim, pending, f"PV controller sets the phase of {name} to Pending")
    words, freed = f"PV controller removes the volumeName of {name}", evolve_parts(pending, spec={"volume_name": ""})
    freed = _remove_annotations(plan, pending, freed, BINDING_ANNOTATIONS, words)
    for volume in volumes:
        writes.unbind(plan, volume, f"{claim_key(claim)} is rolled back")
    empty = evolve_parts(freed, status={"rest": freed.status.rest.merged({CONTENT: None})})
    plan.update_status(freed, empty, f"PV controller removes status.content of {name}")
    _remove_annotations(plan, empty, empty, (ROLLBACK,), f"PV controller removes the rollback mark of {name}")
    plan.event(claim, "Normal", "RolledBack", "the claim is unbound again: its pod fits no node")


def _remove_annotations(
    plan: PlanBuilder, old: PersistentVolumeClaim, new: PersistentVolumeClaim, keys: tuple[str, ...], words: str
) -> PersistentVolumeClaim:
    annotations = old.metadata.annotations.merged(dict.fromkeys(keys))
    changed = evolve_parts(new, metadata={"annotations": annotations})
    plan.update(old, changed, words)
    return changed
