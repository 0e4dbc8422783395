"""Volume sources in `kubectl describe`: the section `Volumes` of a pod, and `Source` of a PersistentVolume."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from ...api.kinds.meta import EMPTY
from ...api.kinds.pod import Volume
from ...api.text.convert import to_plain
from ...api.text.manifest import read_plain
from ..formatting import MAX_ANNOTATION_LENGTH, NONE, field_lines, go_string

INDENT = "    "
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


@cache
def _volume_sources() -> dict[str, dict[str, Any]]:
    """Return by manifest name the `type` of a source, and its `fields`: label, manifest name, text if it is missing."""
    file = resources.files(__package__) / "volume_sources.yaml"
    (sources,) = read_plain(file.read_text("utf-8"), file.name)
    return dict(sources)


def source_lines(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield the source of a pod's volume or a PersistentVolume: its type and fields."""
    sources = _volume_sources()
    name = next((name for name in sources if name in plain), None)
    if name is None:
        yield "  <unknown>"
        return
    source, fields = plain[name], sources[name]["fields"]
    if name == "csi" and "volumeHandle" in source:  # only a PersistentVolume has one
        fields = (*fields[:2], ("VolumeHandle", "volumeHandle", ""), *fields[2:])
    yield f"{INDENT}Type:\t{sources[name]['type']}"
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
