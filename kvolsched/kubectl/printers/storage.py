"""kubectl's print of volumes, claims, classes, CSI objects and volume attachments: the row and description of each."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ...api.kinds.csi import CSIDriver, CSINode
from ...api.kinds.meta import ObjectMeta
from ...api.kinds.storage_class import IMMEDIATE, StorageClass
from ...api.kinds.volume import BETA_STORAGE_CLASS, PersistentVolume, PersistentVolumeClaim
from ..formatting import (
    NONE,
    UNKNOWN,
    UNSET,
    field_lines,
    format_access_modes,
    format_age,
    format_labels,
    format_requirements,
    format_time,
    given_lines,
    go_string,
    timed_condition_lines,
)
from .pod_template import source_lines
from .printer import DescribeContext, Printer, metadata_lines, printer


def _volume_cells(volume: PersistentVolume) -> Iterable[str]:
    spec, status = volume.spec, volume.status
    claim = f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else ""
    return (
        spec.capacity.get("storage", "0"), format_access_modes(spec.access_modes),
        spec.persistent_volume_reclaim_policy, _status(volume.metadata, status.phase), claim, class_name_of(volume),
        _attributes_class(spec.volume_attributes_class_name), status.reason, spec.volume_mode or UNSET,
    )  # fmt: skip


def _claim_cells(claim: PersistentVolumeClaim) -> Iterable[str]:
    spec, phase = claim.spec, _status(claim.metadata, claim.status.phase)
    return (phase, spec.volume_name, *claim_capacity_and_modes(claim), class_name_of(claim),
            _attributes_class(spec.volume_attributes_class_name), spec.volume_mode or UNSET)  # fmt: skip


def claim_capacity_and_modes(claim: PersistentVolumeClaim) -> tuple[str, str]:
    """Return CAPACITY and ACCESS MODES of a claim: empty until it names a volume, then those of its status.

    CAPACITY is 0 while a claim that names a volume is Pending.
    """
    if not claim.spec.volume_name:
        return "", ""
    return claim.status.capacity.get("storage", "0"), format_access_modes(claim.status.access_modes)


def class_name_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the StorageClass that a volume or claim names, the beta annotation first; "" without one."""
    return str(obj.metadata.annotations.get(BETA_STORAGE_CLASS, obj.spec.storage_class_name or ""))


def _attributes_class(class_name: str | None) -> str:
    return UNSET if class_name is None else class_name


def _status(meta: ObjectMeta, phase: str) -> str:
    return phase if meta.deletion_timestamp is None else "Terminating"


def _csi_driver_cells(driver: CSIDriver) -> Iterable[str]:
    spec = driver.spec
    tokens = ",".join(request.get("audience", "") for request in spec.rest.get("tokenRequests", ()))
    return (
        go_string(spec.attach_required is not False), go_string(bool(spec.pod_info_on_mount)),
        go_string(bool(spec.storage_capacity)), tokens or UNSET, go_string(spec.rest.get("requiresRepublish", False)),
        ",".join(spec.volume_lifecycle_modes) or "Persistent",
    )  # fmt: skip


def describe_volume(volume: PersistentVolume, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PersistentVolume."""
    meta, spec = volume.metadata, volume.spec
    yield from metadata_lines(volume)
    yield f"Finalizers:\t{go_string(meta.finalizers)}"
    yield f"StorageClass:\t{class_name_of(volume)}"
    yield f"Status:\t{_phase(volume, context.now)}"
    yield "Claim:\t" + (f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else "")
    yield f"Reclaim Policy:\t{spec.persistent_volume_reclaim_policy}"
    yield f"Access Modes:\t{format_access_modes(spec.access_modes)}"
    yield from given_lines(VolumeMode=spec.volume_mode)
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
    yield f"StorageClass:\t{class_name_of(claim)}"
    yield f"Status:\t{_phase(claim, context.now)}"
    yield f"Volume:\t{spec.volume_name}"
    yield from metadata_lines(claim)
    yield f"Finalizers:\t{go_string(meta.finalizers)}"
    yield f"Capacity:\t{capacity}"
    yield f"Access Modes:\t{access}"
    yield from given_lines(VolumeMode=spec.volume_mode)
    source = spec.rest.get("dataSource")
    if source is not None:
        yield "DataSource:"
        fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        yield from (f"  {title}:\t{source[name]}" for title, name in fields if name in source)
    owners = {owner.uid for owner in meta.owner_references if owner.kind == "Pod"}
    users = [pod.metadata.name for pod in context.objects_of("Pod", meta.namespace)
             if pod.metadata.uid in owners or any(volume.persistent_volume_claim is not None
             and volume.persistent_volume_claim.claim_name == meta.name for volume in pod.spec.volumes)]  # fmt: skip
    yield from field_lines("Used By", users)
    yield from timed_condition_lines(claim.status.conditions, "lastProbeTime", "LastProbeTime")


def describe_storage_class(storage_class: StorageClass, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a StorageClass."""
    yield f"IsDefaultClass:\t{'Yes' if storage_class.is_default else 'No'}"
    yield f"Annotations:\t{format_labels(storage_class.metadata.annotations)}"
    yield f"Provisioner:\t{storage_class.provisioner}"
    yield f"Parameters:\t{format_labels(storage_class.parameters)}"
    expansion = storage_class.allow_volume_expansion
    yield f"AllowVolumeExpansion:\t{UNSET if expansion is None else expansion}"
    yield "MountOptions:" + ("" if storage_class.mount_options else f"\t{NONE}")
    yield from (f"  {option}" for option in storage_class.mount_options)
    yield from given_lines(ReclaimPolicy=storage_class.reclaim_policy,
                           VolumeBindingMode=storage_class.volume_binding_mode)  # fmt: skip
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
    yield from metadata_lines(csi_node)
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


PRINTERS: Mapping[str, Printer] = {
    "PersistentVolume": printer(
        "NAME  CAPACITY  ACCESS MODES  RECLAIM POLICY  STATUS  CLAIM  STORAGECLASS  VOLUMEATTRIBUTESCLASS  REASON  "
        "AGE  [VOLUMEMODE]", _volume_cells, describe_volume),
    "PersistentVolumeClaim": printer(
        "NAME  STATUS  VOLUME  CAPACITY  ACCESS MODES  STORAGECLASS  VOLUMEATTRIBUTESCLASS  AGE  [VOLUMEMODE]",
        _claim_cells, describe_claim),
    "StorageClass": printer(
        "NAME  PROVISIONER  RECLAIMPOLICY  VOLUMEBINDINGMODE  ALLOWVOLUMEEXPANSION  AGE", lambda each: (
            each.provisioner, each.reclaim_policy or "Delete", each.volume_binding_mode or IMMEDIATE,
            go_string(bool(each.allow_volume_expansion))),
        describe_storage_class, NAME=lambda each, _now: each.metadata.name + " (default)" * each.is_default),
    "CSINode": printer("NAME  DRIVERS  AGE", lambda each: [str(len(each.spec.drivers))], describe_csi_node),
    "CSIDriver": printer(
        "NAME  ATTACHREQUIRED  PODINFOONMOUNT  STORAGECAPACITY  TOKENREQUESTS  REQUIRESREPUBLISH  MODES  AGE",
        _csi_driver_cells),
    # The API server has only the table of any kind for it.
    "CSIStorageCapacity": printer("NAME  CREATED AT", lambda each: [each.metadata.creation_timestamp or UNKNOWN]),
    "VolumeAttachment": printer("NAME  ATTACHER  PV  NODE  ATTACHED  AGE", lambda each: (
        each.spec.attacher, each.spec.source.persistent_volume_name or "", each.spec.node_name,
        go_string(bool(each.status.attached)))),
}  # fmt: skip
