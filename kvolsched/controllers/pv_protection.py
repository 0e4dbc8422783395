"""The PV protection controller: it alone lets a deleted volume go, once it is not bound to a claim.

It does nothing until a volume is deleted.
Mirrors `pkg/controller/volume/pvprotection` (v1.36.2); the finalizer is given by admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.kinds.meta import without_finalizers
from ..api.kinds.volume import PersistentVolume
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler

NAME = "pv-protection-controller"
FINALIZER = "kubernetes.io/pv-protection"
VOLUME = "PersistentVolume"


def component() -> Component:
    """Return the PV protection controller."""
    return Component(NAME, (VOLUME,), (Reconciler(NAME, _volumes_of, sync, report_refused, report_done),), activation=_need)


def _need() -> ActivationCondition:
    return Exists(VOLUME, _is_going)


def _is_going(volume: PersistentVolume) -> bool:
    return volume.metadata.deletion_timestamp is not None and FINALIZER in volume.metadata.finalizers


def _volumes_of(_hand: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    if new is not None and _is_going(new):
        yield key.name


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Take the finalizer off a deleted volume that is not bound."""
    volume: PersistentVolume | None = ctx.seen.get(VOLUME, cause)
    if volume is None or not _is_going(volume):
        return ()
    decision = PlanBuilder(ctx, NAME)
    if volume.status.phase == "Bound":
        decision.describe(f"PV protection keeps {reference_of(volume)}: it is bound")
        return ()
    freed = without_finalizers(volume, FINALIZER)
    decision.update(volume, freed, f"PV protection lets {reference_of(volume)} go: it is not bound")
    return decision.writes


__all__ = ["FINALIZER", "NAME", "component"]
