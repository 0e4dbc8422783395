"""Admission that the design documents ask for and Kubernetes has not, or no longer: plugins beside its own.

`ZONE_AFFINITY` gives new volumes the node affinity that their zone labels mean (S0, Zonal PV Upgrade, phase 1);
`CLASS_ZONES` refuses classes that restrict zones twice (S0, Restricting Topology);
`NO_DIRECTIVES` is an API server whose gate PodSchedulingReadiness is off: gates allow no update (S4); `dropping` takes
the fields of features that are off out of what is created.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from ..api.kinds.csi import CSIDriver, CSIDriverStatus
from ..api.kinds.meta import evolve_parts
from ..api.kinds.pod import Pod
from ..api.kinds.selector import NodeSelector, NodeSelectorTerm
from ..api.kinds.storage_class import StorageClass
from ..api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ..api.validation.immutable_fields import validate_update
from ..volumes import under_rollback, with_zone_affinity
from .plugins import CREATE_AND_UPDATE, AdmissionPlugin, StoredObjects, deny_forbidden
from .server import deny_invalid

ZONED = ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs")  # plugins with the parameters zone and zones


def class_zones(_old: StorageClass | None, new: StorageClass, _stored: StoredObjects) -> Any:
    """A class of a zonal plugin restricts zones by parameters or by allowedTopologies, not by both (S0)."""
    twice = new.allowed_topologies and any(word in new.parameters for word in ("zone", "zones"))
    if twice and new.provisioner in ZONED:
        return deny_forbidden(new, "zone[s] cannot be specified in StorageClass if allowedTopologies specified")
    return new


def zone_affinity(_old: PersistentVolume | None, new: PersistentVolume, _stored: StoredObjects) -> Any:
    """A new volume with zone labels gets the node affinity that they mean."""
    return with_zone_affinity(new)


def no_directives(old: Pod, new: Pod, _stored: StoredObjects) -> Any:
    """A pod's node selector and node affinity stay, gated or not."""
    before, after = (evolve_parts(pod, spec={"scheduling_gates": ()}) for pod in (old, new))
    faults = validate_update(before, after)
    return deny_invalid(new, faults) if faults else new


def _pod_without(new: Pod, off: frozenset[str]) -> Pod:
    spec = new.spec
    if "PodSchedulingReadiness" in off:
        spec = attrs.evolve(spec, scheduling_gates=())
    if "EvenPodsSpread" in off:
        spec = attrs.evolve(spec, topology_spread_constraints=())
    if "CSIStorageCapacity" in off:
        volumes = (
            each if each.csi is None else attrs.evolve(each, csi=attrs.evolve(each.csi, fs_size=None))
            for each in spec.volumes
        )
        spec = attrs.evolve(spec, volumes=tuple(volumes))
    return new if spec == new.spec else attrs.evolve(new, spec=spec)


def _untold(_old: CSIDriver | None, new: CSIDriver, _stored: StoredObjects) -> Any:
    return evolve_parts(new, spec={"capacity_tracking": None}, status=CSIDriverStatus())


def drop_disabled_fields(gates: Iterable[str]) -> tuple[AdmissionPlugin, ...]:
    """Return what drops the fields of these features from new objects: a server that does not know them yet."""
    off = frozenset(gates)
    pods = AdmissionPlugin("DisabledFields", "Pod", ("create",), lambda _old, new, _stored: _pod_without(new, off))
    drivers = AdmissionPlugin("DisabledFields", "CSIDriver", CREATE_AND_UPDATE, _untold)
    return (*((pods,) if off else ()), *((drivers,) if "CSIStorageCapacity" in off else ()))


def allow_volume_rollback(old: Any, new: Any) -> Any:
    """Return a claim that is being rolled back as one that names no volume: it may lose it (S0, one transaction)."""
    if isinstance(old, PersistentVolumeClaim) and under_rollback(old) and not new.spec.volume_name:
        return evolve_parts(old, spec={"volume_name": ""})
    return old


CLASS_ZONES = AdmissionPlugin("StorageClassZones", "StorageClass", ("create",), class_zones, refuses=True)
def allow_inserted_requirements(old: Any, new: Any) -> Any:
    """Return a gated pod as one whose requirements come first among the new ones: they may be added anywhere (S4)."""
    if not isinstance(old, Pod) or not old.spec.scheduling_gates:
        return old
    before, after = _required(old), _required(new)
    if before is None or after is None or len(before.node_selector_terms) != len(after.node_selector_terms):
        return old
    pairs = zip(before.node_selector_terms, after.node_selector_terms, strict=True)
    terms = tuple(_leading(one, other) for one, other in pairs)
    affinity = old.spec.affinity
    assert affinity is not None
    assert affinity.node_affinity is not None
    node = attrs.evolve(affinity.node_affinity, required=attrs.evolve(before, node_selector_terms=terms))
    return evolve_parts(old, spec={"affinity": attrs.evolve(affinity, node_affinity=node)})


def _required(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    return affinity.required if affinity is not None else None


def _leading(old: NodeSelectorTerm, new: NodeSelectorTerm) -> NodeSelectorTerm:
    """Return the beginning of a term that holds all of an older one's requirements; else the older term."""
    there = [(old.match_expressions, new.match_expressions), (old.match_fields, new.match_fields)]
    if any(Counter(one) - Counter(other) for one, other in there):
        return old
    expressions, fields = (other[: len(one)] for one, other in there)
    return attrs.evolve(old, match_expressions=expressions, match_fields=fields)


def chain_views(*looks: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return one look at the old object that is these, one after the other."""

    def seen(old: Any, new: Any) -> Any:
        for look in looks:
            old = look(old, new)
        return old

    return seen


ZONE_AFFINITY = AdmissionPlugin("PersistentVolumeLabel", "PersistentVolume", ("create",), zone_affinity)
NO_DIRECTIVES = AdmissionPlugin("PodSchedulingReadiness", "Pod", ("update",), no_directives, refuses=True)
