"""Admission of the design documents that Kubernetes does not have, or no longer has.

`ZONE_AFFINITY` gives new volumes the node affinity that their zone labels mean (S0, Zonal PV Upgrade, phase 1);
`CLASS_ZONES` refuses classes that restrict zones twice (S0, Restricting Topology); `NO_GATED_UPDATES` refuses changes
of a gated pod's node selection, as a server without the gate PodSchedulingReadiness does (S4); `drop_disabled_fields`
removes fields of disabled features from new objects, `UNKNOWN_CAPACITY` those of S2, which never shipped. Relaxations
change the old object before immutability is checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import attrs

from ...api.kinds.csi import CSIDriver, CSIDriverStatus
from ...api.kinds.directives import with_required_node_affinity
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.selector import NodeSelectorTerm
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.text.fault import Fault
from ...api.validation.immutable_fields import validate_update
from ...api.volumes import under_rollback, with_zone_affinity
from .plugin import AdmissionPlugin, StoredObjects, deny_forbidden
from .plugins import CREATE_AND_UPDATE
from .server import deny_invalid

ZONAL_PROVISIONERS = ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs")  # they have the parameters zone and zones


@attrs.frozen
class UnknownFields:
    """Fields of the documents that a release does not have: its API server drops them, with a warning.

    What another server has stored keeps them until it is written again.

    Args:
        names: the last steps of their paths.
        drops: what removes them from an object, by kind.
    """

    names: frozenset[str] = frozenset()
    drops: tuple[tuple[str, Callable[[Any], Any]], ...] = ()

    @property
    def plugins(self) -> tuple[AdmissionPlugin, ...]:
        """What removes them from objects that are written."""
        return tuple(AdmissionPlugin("UnknownFields", kind, (*CREATE_AND_UPDATE, "patch"), partial(_written, drop))
                     for kind, drop in self.drops)  # fmt: skip

    def dropped_from(self, obj: Any, _new: Any = None) -> Any:
        """Return an object without these fields, as is if it has none: also a relaxation, as a server reads the old."""
        for kind, drop in self.drops:
            if kind == obj.kind:
                obj = drop(obj)
        return obj

    def warnings(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """Return what was noticed of these fields in manifests, in the API server's words."""
        found = (fault for fault in faults if fault.rule == "design" and fault.path.rpartition(".")[2] in self.names)
        return tuple(attrs.evolve(fault, path="", message=f'unknown field "{fault.path}"') for fault in found)


def refuse_zones_twice(_old: StorageClass | None, new: StorageClass, _stored: StoredObjects) -> Any:
    """Refuse a class of a zonal provisioner that restricts zones by parameters and by allowedTopologies (S0)."""
    twice = new.allowed_topologies and any(word in new.parameters for word in ("zone", "zones"))
    if twice and new.provisioner in ZONAL_PROVISIONERS:
        return deny_forbidden(new, "zone[s] cannot be specified in StorageClass if allowedTopologies specified")
    return new


def refuse_gated_update(old: Pod, new: Pod, _stored: StoredObjects) -> Any:
    """Refuse changes of a pod's node selector and node affinity, gated or not."""
    before, after = (evolve_parts(pod, spec={"scheduling_gates": ()}) for pod in (old, new))
    faults = validate_update(before, after)
    return deny_invalid(new, faults) if faults else new


def _without_disabled_fields(new: Pod, off: frozenset[str]) -> Pod:
    spec = new.spec
    if "PodSchedulingReadiness" in off:
        spec = attrs.evolve(spec, scheduling_gates=())
    if "EvenPodsSpread" in off:
        spec = attrs.evolve(spec, topology_spread_constraints=())
    return attrs.evolve(new, spec=spec)


def _written(drop: Callable[[Any], Any], _old: Any, new: Any, _stored: StoredObjects) -> Any:
    return drop(new)


def _without_sizes(new: Pod) -> Pod:
    """Return a pod whose inline volumes have no sizes."""
    if all(volume.csi is None or volume.csi.fs_size is None for volume in new.spec.volumes):
        return new
    volumes = (volume if volume.csi is None else attrs.evolve(volume, csi=attrs.evolve(volume.csi, fs_size=None))
               for volume in new.spec.volumes)
    return evolve_parts(new, spec={"volumes": tuple(volumes)})


def _without_pools(new: CSIDriver) -> CSIDriver:
    """Return a driver that tells nothing of its pools."""
    return evolve_parts(new, spec={"capacity_tracking": None}, status=CSIDriverStatus())


def drop_disabled_fields(gates: Iterable[str]) -> tuple[AdmissionPlugin, ...]:
    """Return plugins that remove the fields of disabled feature gates from new objects."""
    off = frozenset(gates)

    def disabled_fields(_old: Pod | None, new: Pod, _stored: StoredObjects) -> Any:
        new = _without_sizes(new) if "CSIStorageCapacity" in off else new
        return _without_disabled_fields(new, off)

    pods = AdmissionPlugin("DisabledFields", "Pod", ("create",), disabled_fields)
    drivers = UNKNOWN_CAPACITY.plugins[1:] if "CSIStorageCapacity" in off else ()
    return (*((pods,) if off else ()), *drivers)


def allow_volume_rollback(old: Any, new: Any) -> Any:
    """Return a claim under rollback without its volume name, so that an update may remove it (S0, one transaction)."""
    if isinstance(old, PersistentVolumeClaim) and under_rollback(old) and not new.spec.volume_name:
        return evolve_parts(old, spec={"volume_name": ""})
    return old


def allow_inserted_requirements(old: Any, new: Any) -> Any:
    """Return a gated pod with its node requirements at the front, so that others may be added anywhere (S4)."""
    if not isinstance(old, Pod) or not old.spec.scheduling_gates:
        return old
    before, after = old.spec.required_node_affinity, new.spec.required_node_affinity
    if before is None or after is None or len(before.node_selector_terms) != len(after.node_selector_terms):
        return old
    pairs = zip(before.node_selector_terms, after.node_selector_terms, strict=True)
    terms = tuple(_leading_part(old_term, new_term) for old_term, new_term in pairs)
    required = attrs.evolve(before, node_selector_terms=terms)
    return attrs.evolve(old, spec=with_required_node_affinity(old.spec, required))


def _leading_part(old: NodeSelectorTerm, new: NodeSelectorTerm) -> NodeSelectorTerm:
    """Return the old term with the leading requirements of the new one, if that has all of the old requirements."""
    pairs = [(old.match_expressions, new.match_expressions), (old.match_fields, new.match_fields)]
    if any(Counter(before) - Counter(after) for before, after in pairs):
        return old
    expressions, fields = (after[: len(before)] for before, after in pairs)
    return attrs.evolve(old, match_expressions=expressions, match_fields=fields)


def chain_relaxations(*relaxations: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return one relaxation that applies these, one after the other."""

    def relax(old: Any, new: Any) -> Any:
        for relaxation in relaxations:
            old = relaxation(old, new)
        return old

    return relax


UNKNOWN_CAPACITY = UnknownFields(frozenset({"fsSize", "capacityTracking", "status"}),
                                 (("Pod", _without_sizes), ("CSIDriver", _without_pools)))
"""S2's fields: the sizes of inline volumes, and what a driver's status tells of its pools."""
CLASS_ZONES = AdmissionPlugin("StorageClassZones", "StorageClass", ("create",), refuse_zones_twice, refuses=True)
ZONE_AFFINITY = AdmissionPlugin("PersistentVolumeLabel", "PersistentVolume", ("create",),
                                lambda _old, new, _stored: with_zone_affinity(new))
NO_GATED_UPDATES = AdmissionPlugin("PodSchedulingReadiness", "Pod", ("update",), refuse_gated_update, refuses=True)
