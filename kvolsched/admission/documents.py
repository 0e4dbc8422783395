"""Admission that the design documents ask for and Kubernetes has not, or no longer: plugins beside its own.

`ZONE_AFFINITY` gives new volumes the node affinity that their zone labels mean (S0, Zonal PV Upgrade, phase 1);
`NO_DIRECTIVES` is an API server whose gate PodSchedulingReadiness is off: gates allow no update (S4).
"""

from __future__ import annotations

from typing import Any

import attrs

from ..api.immutable import immutable
from ..api.pod import Pod
from ..api.volume import PersistentVolume
from ..volumes import with_zone_affinity
from .plugins import Plugin, Stored
from .server import invalid


def zone_affinity(_old: PersistentVolume | None, new: PersistentVolume, _stored: Stored) -> Any:
    """A new volume with zone labels gets the node affinity that they mean."""
    return with_zone_affinity(new)


def no_directives(old: Pod, new: Pod, _stored: Stored) -> Any:
    """A pod's node selector and node affinity stay, gated or not."""
    before, after = (attrs.evolve(pod, spec=attrs.evolve(pod.spec, scheduling_gates=())) for pod in (old, new))
    faults = immutable(before, after)
    return invalid(new, faults) if faults else new


ZONE_AFFINITY = Plugin("PersistentVolumeLabel", "PersistentVolume", ("create",), zone_affinity)
NO_DIRECTIVES = Plugin("PodSchedulingReadiness", "Pod", ("update",), no_directives, refuses=True)
