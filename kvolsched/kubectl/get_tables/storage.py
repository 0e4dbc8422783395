"""`kubectl get pv,pvc,sc`, and of CSI objects and volume attachments: the row of each (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from ...api.kinds.meta import ObjectMeta
from ...api.kinds.storage_class import IMMEDIATE, StorageClass
from ...api.kinds.volume import BETA_STORAGE_CLASS, PersistentVolume, PersistentVolumeClaim
from ..formatting import UNKNOWN, UNSET, format_access_modes, go_string
from .table import Table, object_age


def _volume_row(volume: PersistentVolume, now: datetime) -> Sequence[str]:
    spec, status = volume.spec, volume.status
    claim = f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else ""
    return (
        volume.metadata.name, spec.capacity.get("storage", "0"), format_access_modes(spec.access_modes),
        spec.persistent_volume_reclaim_policy, _status(volume.metadata, status.phase), claim,
        class_name_of(volume), _attributes_class(spec.volume_attributes_class_name),
        status.reason, object_age(volume, now), spec.volume_mode or UNSET,
    )  # fmt: skip


def _claim_row(claim: PersistentVolumeClaim, now: datetime) -> Sequence[str]:
    spec, status = claim.spec, claim.status
    capacity, access = claim_capacity_and_modes(claim)
    return (
        claim.metadata.name, _status(claim.metadata, status.phase), spec.volume_name, capacity, access,
        class_name_of(claim), _attributes_class(spec.volume_attributes_class_name),
        object_age(claim, now), spec.volume_mode or UNSET,
    )  # fmt: skip


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


def _storage_class_row(storage_class: StorageClass, now: datetime) -> Sequence[str]:
    return (
        storage_class.metadata.name + (" (default)" if storage_class.is_default else ""), storage_class.provisioner,
        storage_class.reclaim_policy or "Delete", storage_class.volume_binding_mode or IMMEDIATE,
        "true" if storage_class.allow_volume_expansion else "false", object_age(storage_class, now),
    )  # fmt: skip


def _attributes_class(class_name: str | None) -> str:
    return UNSET if class_name is None else class_name


def _status(meta: ObjectMeta, phase: str) -> str:
    return phase if meta.deletion_timestamp is None else "Terminating"


def _csi_node_row(csi_node: CSINode, now: datetime) -> Sequence[str]:
    return csi_node.metadata.name, str(len(csi_node.spec.drivers)), object_age(csi_node, now)


def _csi_driver_row(driver: CSIDriver, now: datetime) -> Sequence[str]:
    spec = driver.spec
    tokens = ",".join(request.get("audience", "") for request in spec.rest.get("tokenRequests", ()))
    return (
        driver.metadata.name, go_string(spec.attach_required is not False), go_string(bool(spec.pod_info_on_mount)),
        go_string(bool(spec.storage_capacity)), tokens or UNSET, go_string(spec.rest.get("requiresRepublish", False)),
        ",".join(spec.volume_lifecycle_modes) or "Persistent", object_age(driver, now),
    )  # fmt: skip


def _capacity_row(capacity: CSIStorageCapacity, now: datetime) -> Sequence[str]:
    """Return the cells of a CSIStorageCapacity, for which the API server has only the table of any kind."""
    return capacity.metadata.name, capacity.metadata.creation_timestamp or UNKNOWN


def _attachment_row(attachment: VolumeAttachment, now: datetime) -> Sequence[str]:
    spec = attachment.spec
    volume = spec.source.persistent_volume_name or ""
    return (
        attachment.metadata.name, spec.attacher, volume, spec.node_name, go_string(bool(attachment.status.attached)),
        object_age(attachment, now),
    )  # fmt: skip


TABLES: Mapping[str, Table] = {
    "PersistentVolume": Table(
        ("NAME", "CAPACITY", "ACCESS MODES", "RECLAIM POLICY", "STATUS", "CLAIM", "STORAGECLASS",
         "VOLUMEATTRIBUTESCLASS", "REASON", "AGE", "VOLUMEMODE"),
        _volume_row, frozenset({"VOLUMEMODE"}),
    ),
    "PersistentVolumeClaim": Table(
        ("NAME", "STATUS", "VOLUME", "CAPACITY", "ACCESS MODES", "STORAGECLASS", "VOLUMEATTRIBUTESCLASS", "AGE",
         "VOLUMEMODE"),
        _claim_row, frozenset({"VOLUMEMODE"}),
    ),
    "StorageClass": Table(("NAME", "PROVISIONER", "RECLAIMPOLICY", "VOLUMEBINDINGMODE", "ALLOWVOLUMEEXPANSION", "AGE"),
                          _storage_class_row),
    "CSINode": Table(("NAME", "DRIVERS", "AGE"), _csi_node_row),
    "CSIDriver": Table(
        ("NAME", "ATTACHREQUIRED", "PODINFOONMOUNT", "STORAGECAPACITY", "TOKENREQUESTS", "REQUIRESREPUBLISH", "MODES",
         "AGE"),
        _csi_driver_row,
    ),
    "CSIStorageCapacity": Table(("NAME", "CREATED AT"), _capacity_row),
    "VolumeAttachment": Table(("NAME", "ATTACHER", "PV", "NODE", "ATTACHED", "AGE"), _attachment_row),
}  # fmt: skip
