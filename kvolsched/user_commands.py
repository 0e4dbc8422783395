"""What the user's commands change in an object: `kubectl apply`'s merge, cordon, uncordon and taint, as functions.

Old value to new value; who writes it, and whether it is allowed, is for the cluster and its API server. What was
applied last is kept in an annotation, as kubectl keeps it: only so can be told what a manifest no longer says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .api.kinds.kind import KINDS_BY_NAME
from .api.kinds.meta import Frozen, evolve_parts
from .api.text import manifest, patches

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Fields of metadata that the server alone writes: a manifest taken from a cluster may hold them and says nothing by it.
_SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def read_for_apply(source: Any) -> manifest.Manifests:
    """Read manifests as `kubectl apply` does: strictly, every object by its name, with what stood there.

    Raises:
        ManifestError: every fault of every source.
    """
    read = manifest.read(source, keep=True)
    nameless = [obj for obj in read.objects if not obj.metadata.name]
    if nameless:
        words = "apply finds objects by their names: give it a name, not a generateName"
        raise manifest.ManifestError([
            manifest.Fault(
                object=f"{KINDS_BY_NAME[obj.kind].alias}/{obj.metadata.generate_name}", path="metadata.generateName",
                rule="name", value=obj.metadata.generate_name, message=words,
            )
            for obj in nameless
        ])  # fmt: skip
    return read


def skipped_objects(read: manifest.Manifests) -> Iterator[str]:
    """Say of each object of another kind that it is not applied: nothing here would look at it."""
    for other in read.others:
        meta = other.get("metadata")
        name = meta.get("name") if isinstance(meta, Mapping) else None
        yield f"{other['kind'].lower()}/{name or '?'} left out: its kind is not modelled"


def with_last_applied(obj: Any, written: Mapping[str, Any]) -> Any:
    """Return the object that a manifest creates: with the manifest in its annotation."""
    applied = _spelled(obj, _configuration(obj, written))
    annotations = Frozen({**obj.metadata.annotations, LAST_APPLIED: applied})
    return evolve_parts(obj, metadata={"annotations": annotations})


def apply_manifest(old: Any, new: Any, written: Mapping[str, Any]) -> Any:
    """Return a stored object with a manifest applied to it, or None if that has nothing to say.

    What the manifest says is set, what it said last time and says no longer goes, and what others wrote stays; lists
    merge by their keys.

    Args:
        old: the stored object.
        new: the object of the manifest.
        written: the manifest as plain data.
    """
    said = _configuration(new, written)
    text = _spelled(new, said)
    metadata: dict[str, Any] = said["metadata"]
    said = {**said, "metadata": {**metadata, "annotations": {**metadata["annotations"], LAST_APPLIED: text}}}
    applied = old.metadata.annotations.get(LAST_APPLIED)
    merge = patches.apply_manifest(_read(applied), said, manifest.to_plain(old))
    return manifest.from_plain(merge.data) if merge.patched else None


def _configuration(obj: Any, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says as kubectl remembers it: with its namespace, and always with annotations."""
    metadata = {name: value for name, value in (written.get("metadata") or {}).items() if name not in _SERVERS}
    annotations = {key: text for key, text in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata["annotations"] = annotations
    if KINDS_BY_NAME[obj.kind].namespaced:
        metadata["namespace"] = obj.metadata.namespace or "default"
    return {**written, "metadata": metadata}


def _spelled(obj: Any, configuration: dict[str, Any]) -> str:
    try:
        return json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    except TypeError:  # keys that are no texts: as they were read
        plain = _configuration(obj, manifest.to_plain(obj))
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def _read(applied: str | None) -> dict[str, Any] | None:
    """Return the manifest in an annotation; one that is not there or cannot be read says nothing."""
    try:
        found = json.loads(applied) if applied else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def cordon(node: Any) -> Any:
    """Return a node that takes no more pods."""
    return evolve_parts(node, spec={"unschedulable": True})


def uncordon(node: Any) -> Any:
    """Return a node that takes pods again."""
    return evolve_parts(node, spec={"unschedulable": False})


def add_taint(node: Any, text: str) -> Any:
    """Return a node with a taint `key=value:Effect` more."""
    plain = manifest.to_plain(node)
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    taints = plain.setdefault("spec", {}).setdefault("taints", [])
    taints.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    return manifest.from_plain(plain)
