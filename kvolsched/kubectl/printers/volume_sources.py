"""Volume sources in `kubectl describe`: the section `Volumes` of a pod, and `Source` of a PersistentVolume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...api.kinds.meta import EMPTY
from ...api.kinds.pod_volume import Volume
from ...api.text.convert import to_plain
from ..formatting import MAX_ANNOTATION_LENGTH, NONE, UNSET, field_lines, go_string

INDENT = "    "
SourceFields = Sequence[tuple[str, str, Any]]  # label, manifest name, what is printed for a missing field

# Volume sources of pods and PersistentVolumes by manifest name: the text of `Type`, and the fields after it.
_DISK_FIELDS: SourceFields = (("FSType", "fsType", ""), ("Partition", "partition", 0), ("ReadOnly", "readOnly", False))
_SECRET_FIELDS: SourceFields = (("SecretRef", "secretRef", None), ("ReadOnly", "readOnly", False))
VOLUME_SOURCES: Mapping[str, tuple[str, SourceFields]] = {
    "hostPath": ("HostPath (bare host directory volume)", (("Path", "path", ""), ("HostPathType", "type", NONE))),
    "emptyDir": ("EmptyDir (a temporary directory that shares a pod's lifetime)",
                 (("Medium", "medium", ""), ("SizeLimit", "sizeLimit", UNSET))),
    "gcePersistentDisk": ("GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
                          (("PDName", "pdName", ""), *_DISK_FIELDS)),
    "awsElasticBlockStore": ("AWSElasticBlockStore (a Persistent Disk resource in AWS)",
                             (("VolumeID", "volumeID", ""), *_DISK_FIELDS)),
    "secret": ("Secret (a volume populated by a Secret)",
               (("SecretName", "secretName", ""), ("Optional", "optional", False))),
    "configMap": ("ConfigMap (a volume populated by a ConfigMap)",
                  (("Name", "name", ""), ("Optional", "optional", False))),
    "nfs": ("NFS (an NFS mount that lasts the lifetime of a pod)",
            (("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False))),
    "azureDisk": ("AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
                  (("DiskName", "diskName", ""), ("DiskURI", "diskURI", ""), ("Kind", "kind", "Shared"),
                   ("FSType", "fsType", "ext4"), ("CachingMode", "cachingMode", "ReadWrite"),
                   ("ReadOnly", "readOnly", False))),
    "vsphereVolume": ("vSphereVolume (a Persistent Disk resource in vSphere)",
                      (("VolumePath", "volumePath", ""), ("FSType", "fsType", ""),
                       ("StoragePolicyName", "storagePolicyName", ""))),
    "cinder": ("Cinder (a Persistent Disk resource in OpenStack)",
               (("VolumeID", "volumeID", ""), ("FSType", "fsType", ""), ("ReadOnly", "readOnly", False),
                ("SecretRef", "secretRef", None))),
    "portworxVolume": ("PortworxVolume (a Portworx Volume resource)", (("VolumeID", "volumeID", ""),)),
    "local": ("LocalVolume (a persistent volume backed by local storage on a node)", (("Path", "path", ""),)),
    "cephfs": ("CephFS (a CephFS mount on the host that shares a pod's lifetime)",
               (("Monitors", "monitors", ()), ("Path", "path", ""), ("User", "user", ""),
                ("SecretFile", "secretFile", ""), *_SECRET_FIELDS)),
    "csi": ("CSI (a Container Storage Interface (CSI) volume source)",
            (("Driver", "driver", ""), ("FSType", "fsType", ""), ("ReadOnly", "readOnly", False))),
    "image": ("Image (a container image or OCI artifact)",
              (("Reference", "reference", ""), ("PullPolicy", "pullPolicy", ""))),
}  # fmt: skip
_CLAIM_TYPE = "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"


def volume_lines(volumes: Sequence[Volume], space: str = "") -> Iterator[str]:
    """Yield the section `Volumes`."""
    yield f"{space}Volumes:" + ("" if volumes else f"\t{NONE}")
    for volume in volumes:
        yield f"  {space[:1]}{volume.name}:"
        claim, plain = volume.persistent_volume_claim, to_plain(volume)
        if claim is not None:
            yield f"{INDENT}Type:\t{_CLAIM_TYPE}"
            yield f"{INDENT}ClaimName:\t{claim.claim_name}"
            yield f"{INDENT}ReadOnly:\t{go_string(claim.read_only)}"
        elif "ephemeral" in plain:
            yield from _ephemeral_lines(plain["ephemeral"].get("volumeClaimTemplate"))
        elif "projected" in volume.rest:
            yield from _projected_lines(volume.rest["projected"].get("sources", ()))
        elif "downwardAPI" in volume.rest:
            yield f"{INDENT}Type:\tDownwardAPI (a volume populated by information about the pod)"
            yield f"{INDENT}Items:"
            for item in volume.rest["downwardAPI"].get("items", ()):
                if "fieldRef" in item:
                    yield f"      {item['fieldRef'].get('fieldPath', '')} -> {item.get('path', '')}"
                if "resourceFieldRef" in item:
                    yield f"      {item['resourceFieldRef'].get('resource', '')} -> {item.get('path', '')}"
        else:
            yield from source_lines(plain)


def source_lines(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield the source of a pod's volume or a PersistentVolume: its type and fields."""
    name = next((name for name in VOLUME_SOURCES if name in plain), None)
    if name is None:
        yield "  <unknown>"
        return
    words, fields = VOLUME_SOURCES[name]
    source = plain[name]
    if name == "csi" and "volumeHandle" in source:  # only a PersistentVolume has one
        fields = (*fields[:2], ("VolumeHandle", "volumeHandle", ""), *fields[2:])
    yield f"{INDENT}Type:\t{words}"
    for label, field, default in fields:
        yield f"{INDENT}{label}:\t{go_string(source.get(field, default))}"
    if name == "csi":
        attributes = [f"{key}={value}" for key, value in sorted(source.get("volumeAttributes", EMPTY).items())]
        longest = MAX_ANNOTATION_LENGTH
        items = [f"{line[:longest]}..." if len(line) > longest else line for line in attributes]
        # kubectl indents the first of these values once more, and the others twice.
        items[:1] = [f"{INDENT}{item}" for item in items[:1]]
        yield from field_lines(f"{INDENT}VolumeAttributes", items, f"{INDENT}{INDENT}\t{INDENT}")


def _projected_lines(sources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{INDENT}Type:\tProjected (a volume that contains injected data from multiple sources)"
    for source in sources:
        for field, label in (("secret", "SecretName"), ("configMap", "ConfigMapName")):
            if field in source:
                yield f"{INDENT}{label}:\t{source[field].get('name', '')}"
                yield f"{INDENT}Optional:\t{go_string(source[field].get('optional', False))}"
        if "downwardAPI" in source:
            yield f"{INDENT}DownwardAPI:\ttrue"
        if "serviceAccountToken" in source:
            yield f"{INDENT}TokenExpirationSeconds:\t{source['serviceAccountToken'].get('expirationSeconds', 3600)}"


def _ephemeral_lines(template: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a generic ephemeral volume; kubectl's nested writer indents everything, even the values of labels."""
    words = "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"
    yield f"{INDENT}Type:\t{words}"
    if template is None:
        return
    meta, spec = template.get("metadata", EMPTY), template.get("spec", EMPTY)
    yield f"{INDENT}StorageClass:\t{spec.get('storageClassName', '')}"
    yield f"{INDENT}Volume:\t{spec.get('volumeName', '')}"
    labels = [f"{key}={value}" for key, value in sorted(meta.get("labels", EMPTY).items())]
    annotations = [f"{key}: {value}" for key, value in sorted(meta.get("annotations", EMPTY).items())]
    for title, items, more in (("Labels", labels, INDENT + INDENT), ("Annotations", annotations, INDENT)):
        first, *others = items or [NONE]
        yield from field_lines(f"{INDENT}{title}", [INDENT + first, *others], f"{more}\t{INDENT}")
    yield f"{INDENT}Capacity:\t"
    yield f"{INDENT}Access Modes:\t"
    yield f"{INDENT}VolumeMode:\t{spec.get('volumeMode', 'Filesystem')}"
