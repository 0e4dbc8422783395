"""The PV protection controller: it alone lets a deleted volume go, once it is not bound to a claim.

It does nothing until a volume is deleted.
Mirrors `pkg/controller/volume/pvprotection` (v1.36.2); the finalizer is given by admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.meta import without_finalizers
from ..api.volume import PersistentVolume
from ..world.apiserver import Write
from ..world.component import Component, Hand
from ..world.decision import Decision, named, say_done, say_refused
from ..world.log import Key
from ..world.need import Need, Some
from ..world.routine import Routine

NAME = "pv-protection-controller"
FINALIZER = "kubernetes.io/pv-protection"
VOLUME = "PersistentVolume"


def component() -> Component:
    """Return the PV protection controller."""
    return Component(NAME, (VOLUME,), (Routine(NAME, _volumes_of, sync, say_refused, say_done),), need=_need)


def _need() -> Need:
    return Some(VOLUME, _is_going)


def _is_going(volume: PersistentVolume) -> bool:
    return volume.metadata.deletion_timestamp is not None and FINALIZER in volume.metadata.finalizers


def _volumes_of(_hand: Hand, key: Key, _old: Any, new: Any) -> Iterator[str]:
    if new is not None and _is_going(new):
        yield key.name


def sync(hand: Hand, cause: str) -> Sequence[Write]:
    """Take the finalizer off a deleted volume that is not bound."""
    volume: PersistentVolume | None = hand.seen.get(VOLUME, cause)
    if volume is None or not _is_going(volume):
        return ()
    decision = Decision(hand, NAME)
    if volume.status.phase == "Bound":
        decision.say(f"PV protection keeps {named(volume)}: it is bound")
        return ()
    freed = without_finalizers(volume, FINALIZER)
    decision.update(volume, freed, f"PV protection lets {named(volume)} go: it is not bound")
    return decision.writes


__all__ = ["FINALIZER", "NAME", "component"]
