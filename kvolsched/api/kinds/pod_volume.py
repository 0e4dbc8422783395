"""spec.volumes of a pod: claims, generic ephemeral volumes, and the sources that restrict where a pod can run.

Such sources are those that two pods cannot share (GCE PD, AWS EBS, RBD, iSCSI) and those that count towards a node's
attach limit. Every other source (emptyDir, secret, nfs, ...) is kept in `rest` under its manifest name.
"""

import attrs

from .meta import ALWAYS_WRITTEN, ManifestPart, ObjectMeta
from .volume import ATTACHABLE_SOURCES, PersistentVolumeClaimSpec


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class PersistentVolumeClaimVolumeSource(ManifestPart):
    claim_name: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PersistentVolumeClaimTemplate(ManifestPart):
    """Template of an ephemeral volume's claim, which is named after the pod and the volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class EphemeralVolumeSource(ManifestPart):
    """A generic ephemeral volume: a claim that is created and deleted with its pod."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CSIVolumeSource(ManifestPart):
    """An inline CSI volume; `fs_size` (S2) is its size, None if unknown, which is not zero."""

    driver: str = ""
    read_only: bool | None = None
    fs_size: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class GCEPersistentDiskVolumeSource(ManifestPart):
    pd_name: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class AWSElasticBlockStoreVolumeSource(ManifestPart):
    volume_id: str = attrs.field(default="", metadata={"name": "volumeID"})
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class AzureDiskVolumeSource(ManifestPart):
    disk_name: str = ""
    disk_uri: str = attrs.field(default="", metadata={"name": "diskURI"})
    read_only: bool | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class CinderVolumeSource(ManifestPart):
    volume_id: str = attrs.field(default="", metadata={"name": "volumeID"})
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class RBDVolumeSource(ManifestPart):
    """A Ceph image; two sources are one image if pool and image are equal and they share a monitor."""

    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ISCSIVolumeSource(ManifestPart):
    target_portal: str = ""
    iqn: str = ""
    lun: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    read_only: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False)
class Volume(ManifestPart):
    """spec.volumes[]: a name and one source."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None

    @property
    def driver_and_handle(self) -> tuple[str, str] | None:
        """The CSI driver and volume handle by which an inline in-tree disk counts towards a node's attach limit."""
        if self.aws_elastic_block_store is not None:
            return ATTACHABLE_SOURCES["awsElasticBlockStore"][0], self.aws_elastic_block_store.volume_id
        if self.gce_persistent_disk is not None:
            return ATTACHABLE_SOURCES["gcePersistentDisk"][0], self.gce_persistent_disk.pd_name
        if self.azure_disk is not None:
            return ATTACHABLE_SOURCES["azureDisk"][0], self.azure_disk.disk_uri
        if self.cinder is not None:
            return ATTACHABLE_SOURCES["cinder"][0], self.cinder.volume_id
        if "portworxVolume" in self.rest:
            return ATTACHABLE_SOURCES["portworxVolume"][0], str(self.rest["portworxVolume"].get("volumeID", ""))
        return None
