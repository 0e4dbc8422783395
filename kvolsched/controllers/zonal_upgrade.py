"""The zonal PV upgrade controller of S0: it converts the zone labels of volumes without node affinity into one.

Labels stay and volumes with an affinity are left alone, so a second run changes nothing. It runs from the document's
second phase (`VolumeZone` deprecated) to its third (`VolumeZone` removed). Kubernetes never had it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.kinds.volume import PersistentVolume
from ..api.volumes import with_zone_affinity
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler

NAME = "zonal-pv-upgrade-controller"


def component() -> Component:
    """Return the controller."""
    return Component(NAME, ("PersistentVolume",), (Reconciler(NAME, _volumes, sync, report_refused, report_done),))


def _volumes(_ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    if new is not None and with_zone_affinity(new) is not new:
        yield key.name


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Convert the zone labels of one volume into a node affinity."""
    volume: PersistentVolume | None = ctx.seen.get("PersistentVolume", cause)
    plan = PlanBuilder(ctx, NAME)
    if volume is not None:
        words = f"zonal PV upgrade controller sets the node affinity of {reference_of(volume)} from its zone labels"
        plan.update(volume, with_zone_affinity(volume), words)
    return plan.writes
