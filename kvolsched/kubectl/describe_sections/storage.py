"""`kubectl describe pv,pvc,sc,csinode`: volumes, claims, classes, and the drivers on a node."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ...api.kinds.csi import CSINode
from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ..formatting import (
    NONE,
    UNSET,
    annotation_lines,
    field_lines,
    format_access_modes,
    format_age,
    format_labels,
    format_requirements,
    format_time,
    go_string,
    label_lines,
    timed_condition_lines,
)
from ..get_tables.storage import claim_capacity_and_modes, class_name_of
from .context import DescribeContext
from .volume_sources import source_lines


def describe_volume(volume: PersistentVolume, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PersistentVolume."""
    meta, spec = volume.metadata, volume.spec
    yield f"Name:\t{meta.name}"
    yield from label_lines("Labels", meta.labels)
    yield from annotation_lines("Annotations", meta.annotations)
    yield f"Finalizers:\t{go_string(meta.finalizers)}"
    yield f"StorageClass:\t{class_name_of(volume)}"
    yield f"Status:\t{_phase(volume, context.now)}"
    yield "Claim:\t" + (f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else "")
    yield f"Reclaim Policy:\t{spec.persistent_volume_reclaim_policy}"
    yield f"Access Modes:\t{format_access_modes(spec.access_modes)}"
    if spec.volume_mode is not None:
        yield f"VolumeMode:\t{spec.volume_mode}"
    yield f"Capacity:\t{spec.capacity.get('storage', '0')}"
    required = spec.required_node_affinity
    yield "Node Affinity:\t" + (NONE if required is None else "")
    if required is not None:
        yield "  Required Terms:\t" + ("" if required.node_selector_terms else NONE)
        for index, term in enumerate(required.node_selector_terms):
            yield from field_lines(f"    Term {index}", format_requirements(term.match_expressions), "    \t")
    yield f"Message:\t{volume.status.message}"
    yield "Source:"
    yield from source_lines(spec.rest)


def describe_claim(claim: PersistentVolumeClaim, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PersistentVolumeClaim."""
    meta, spec = claim.metadata, claim.spec
    capacity, access = claim_capacity_and_modes(claim)
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    yield f"StorageClass:\t{class_name_of(claim)}"
    yield f"Status:\t{_phase(claim, context.now)}"
    yield f"Volume:\t{spec.volume_name}"
    yield from label_lines("Labels", meta.labels)
    yield from annotation_lines("Annotations", meta.annotations)
    yield f"Finalizers:\t{go_string(meta.finalizers)}"
    yield f"Capacity:\t{capacity}"
    yield f"Access Modes:\t{access}"
    if spec.volume_mode is not None:
        yield f"VolumeMode:\t{spec.volume_mode}"
    source = spec.rest.get("dataSource")
    if source is not None:
        yield "DataSource:"
        fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        yield from (f"  {title}:\t{source[name]}" for title, name in fields if name in source)
    owners = {owner.uid for owner in meta.owner_references if owner.kind == "Pod"}
    users = [pod.metadata.name for pod in context.objects_of("Pod", meta.namespace)
             if pod.metadata.uid in owners or meta.name in _claim_names(pod)]
    yield from field_lines("Used By", users)
    yield from timed_condition_lines(claim.status.conditions, "lastProbeTime", "LastProbeTime")


def _claim_names(pod: Pod) -> set[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return {source.claim_name for source in sources if source is not None}


def describe_storage_class(storage_class: StorageClass, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a StorageClass."""
    yield f"Name:\t{storage_class.metadata.name}"
    yield f"IsDefaultClass:\t{'Yes' if storage_class.is_default else 'No'}"
    yield f"Annotations:\t{format_labels(storage_class.metadata.annotations)}"
    yield f"Provisioner:\t{storage_class.provisioner}"
    yield f"Parameters:\t{format_labels(storage_class.parameters)}"
    expansion = storage_class.allow_volume_expansion
    yield f"AllowVolumeExpansion:\t{UNSET if expansion is None else expansion}"
    yield "MountOptions:" + ("" if storage_class.mount_options else f"\t{NONE}")
    yield from (f"  {option}" for option in storage_class.mount_options)
    if storage_class.reclaim_policy is not None:
        yield f"ReclaimPolicy:\t{storage_class.reclaim_policy}"
    if storage_class.volume_binding_mode is not None:
        yield f"VolumeBindingMode:\t{storage_class.volume_binding_mode}"
    if storage_class.allowed_topologies:
        yield "AllowedTopologies:\t"
        for index, term in enumerate(storage_class.allowed_topologies):
            items = [f"{item.key} in [{', '.join(item.values)}]" for item in term.match_label_expressions]
            yield from field_lines(f"  Term {index}", items, "  \t")


def _phase(obj: PersistentVolume | PersistentVolumeClaim, now: datetime) -> str:
    deleted_at = obj.metadata.deletion_timestamp
    return obj.status.phase if deleted_at is None else f"Terminating (lasts {format_age(deleted_at, now)})"


def describe_csi_node(csi_node: CSINode, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a CSINode."""
    yield f"Name:\t{csi_node.metadata.name}"
    yield from label_lines("Labels", csi_node.metadata.labels)
    yield from annotation_lines("Annotations", csi_node.metadata.annotations)
    yield f"CreationTimestamp:\t{format_time(csi_node.metadata.creation_timestamp)}"
    yield "Spec:"
    if csi_node.spec.drivers:
        yield "  Drivers:"
    for driver in csi_node.spec.drivers:
        yield f"    {driver.name}:"
        yield f"      Node ID:\t{driver.node_id}"
        if driver.allocatable is not None and driver.allocatable.count is not None:
            yield "      Allocatables:"
            yield f"        Count:\t{driver.allocatable.count}"
        if driver.topology_keys:
            yield f"      Topology Keys:\t{go_string(driver.topology_keys)}"
