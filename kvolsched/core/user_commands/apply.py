"""The merge of `kubectl apply`. An annotation keeps the last applied manifest, which shows what a later one lacks."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.kinds.meta import Frozen, evolve_parts
from ...api.text import manifest, patches

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Fields of metadata that only the server writes; apply ignores them in a manifest.
_SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def read_for_apply(source: Any) -> manifest.Manifests:
    """Read manifests as `kubectl apply` does: strictly, every object with a name, keeping the plain data.

    Raises:
        ManifestError: every fault of every source.
    """
    read = manifest.read(source, keep=True)
    nameless = [obj for obj in read.objects if not obj.metadata.name]
    if nameless:
        message = "apply finds objects by their names: give it a name, not a generateName"
        raise manifest.ManifestError([
            manifest.Fault(
                object=f"{KINDS_BY_NAME[obj.kind].alias}/{obj.metadata.generate_name}", path="metadata.generateName",
                rule="name", value=obj.metadata.generate_name, message=message,
            )
            for obj in nameless
        ])  # fmt: skip
    return read


def skipped_objects(read: manifest.Manifests) -> Iterator[str]:
    """Yield a line for each object that is not applied because its kind is not modelled."""
    for skipped in read.others:
        meta = skipped.get("metadata")
        name = meta.get("name") if isinstance(meta, Mapping) else None
        yield f"{skipped['kind'].lower()}/{name or '?'} left out: its kind is not modelled"


def with_last_applied(obj: Any, written: Mapping[str, Any]) -> Any:
    """Return the object that a manifest creates, with the manifest in its annotation."""
    applied = _as_json(obj, _configuration(obj, written))
    annotations = Frozen({**obj.metadata.annotations, LAST_APPLIED: applied})
    return evolve_parts(obj, metadata={"annotations": annotations})


def apply_manifest(old: Any, new: Any, written: Mapping[str, Any]) -> Any:
    """Return a stored object with a manifest applied to it, or None if that changes nothing.

    Fields of the manifest are set, fields of the last manifest that are missing now are removed, all others stay; lists
    merge by their keys.

    Args:
        old: the stored object.
        new: the object of the manifest.
        written: the manifest as plain data.
    """
    configuration = _configuration(new, written)
    text = _as_json(new, configuration)
    metadata: dict[str, Any] = configuration["metadata"]
    annotations = {**metadata["annotations"], LAST_APPLIED: text}
    configuration = {**configuration, "metadata": {**metadata, "annotations": annotations}}
    last_applied = _parse_last_applied(old.metadata.annotations.get(LAST_APPLIED))
    merge = patches.apply_manifest(last_applied, configuration, manifest.to_plain(old))
    return manifest.from_plain(merge.data) if merge.patched else None


def _configuration(obj: Any, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as kubectl keeps it in the annotation: with a namespace, and always with annotations."""
    metadata = {name: value for name, value in (written.get("metadata") or {}).items() if name not in _SERVER_FIELDS}
    annotations = {key: text for key, text in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata["annotations"] = annotations
    if KINDS_BY_NAME[obj.kind].namespaced:
        metadata["namespace"] = obj.metadata.namespace or "default"
    return {**written, "metadata": metadata}


def _as_json(obj: Any, configuration: dict[str, Any]) -> str:
    try:
        return json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    except TypeError:  # a key is no string: use the object as it was read
        plain = _configuration(obj, manifest.to_plain(obj))
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def _parse_last_applied(applied: str | None) -> dict[str, Any] | None:
    """Return the manifest in an annotation, or None if it is absent or cannot be parsed."""
    try:
        found = json.loads(applied) if applied else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
