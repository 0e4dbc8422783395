"""The PV protection controller: it alone removes its finalizer from a deleted volume, once that is not bound.

Mirrors `pkg/controller/volume/pvprotection` (v1.36.2); admission adds the finalizer.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..api.kinds.meta import without_finalizers
from ..api.kinds.volume import PersistentVolume
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists

NAME = "pv-protection-controller"
FINALIZER = "kubernetes.io/pv-protection"
VOLUME = "PersistentVolume"


def component() -> Component:
    """Return the PV protection controller."""
    routine = Reconciler(NAME, _volumes_of, sync, report_refused, report_done)
    return Component(NAME, (VOLUME,), (routine,), activation=partial(Exists, VOLUME, _is_deleted))


def _is_deleted(volume: PersistentVolume) -> bool:
    return volume.metadata.deletion_timestamp is not None and FINALIZER in volume.metadata.finalizers


def _volumes_of(_ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    if new is not None and _is_deleted(new):
        yield key.name


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Remove the finalizer from a deleted volume that is not bound."""
    volume: PersistentVolume | None = ctx.seen.get(VOLUME, cause)
    if volume is None or not _is_deleted(volume):
        return ()
    if volume.status.phase == "Bound":
        ctx.describe(f"PV protection controller keeps {reference_of(volume)}: it is bound")
        return ()
    plan = PlanBuilder(ctx, NAME)
    words = f"PV protection controller removes its finalizer from {reference_of(volume)}: it is not bound"
    plan.update(volume, without_finalizers(volume, FINALIZER), words)
    return plan.writes
