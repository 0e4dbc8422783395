"""An edit: which objects change, how that reads as a diff, and how a user makes it; nothing here knows why.

What Kubernetes lets nobody change in place (most of a pod's spec) is deleted and created anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff
from typing import Any

import attrs

from kvolsched.api.kinds.kind import find_kind
from kvolsched.api.text import manifest
from kvolsched.cluster_core import USER, ClusterCore
from kvolsched.results import ApplyRefused
from kvolsched.world.apiserver import RefusedWrite, Write, key_of
from kvolsched.world.log import Key

SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


@attrs.frozen
class ObjectChange:
    """One object before and after (None: absent); `anew` where it must be deleted and created again."""

    old: Any
    new: Any
    recreate: bool = False

    @property
    def key(self) -> Key:
        """Which object it is."""
        return key_of(self.old if self.old is not None else self.new)


@attrs.frozen
class Edit:
    """One edit of the catalogue.

    Args:
        words: what is done, as an imperative.
        cost: how much it touches: 1 for a field that one pod feels, more for what others feel, most for new hardware.
        changes: what the user changes.
        expected: what the loop then makes of it before the pod can be judged (a claim that gets bound); with any, or
            with claims to bind, the loop is run to prove it.
        note: what is to be thought of.
    """

    words: str
    cost: int
    changes: tuple[ObjectChange, ...]
    expected: tuple[ObjectChange, ...] = ()
    note: str = ""


def merge_changes(edits: Iterable[Edit]) -> tuple[ObjectChange, ...]:
    """Return the changes of several edits, one after the other, as one change an object."""
    found: dict[Key, ObjectChange] = {}
    for edit in edits:
        for change in edit.changes:
            first = found.get(change.key)
            if first is None:
                found[change.key] = change
            else:
                found[change.key] = ObjectChange(first.old, change.new, first.recreate or change.recreate)
    return tuple(change for change in found.values() if change.old is not None or change.new is not None)


def manifest_diff(changes: Iterable[ObjectChange]) -> str:
    """Return changes as a unified diff of manifests, a file an object; versions, uids and status are left out."""
    parts: list[str] = []
    for change in changes:
        key = change.key
        name = f"{find_kind(key.kind).name.lower()}/{key.name}.yaml"
        if key.namespace:
            name = f"{key.namespace}/{name}"
        before = f"a/{name}" if change.old is not None else "/dev/null"
        after = f"b/{name}" if change.new is not None else "/dev/null"
        if change.recreate:
            after += "  (delete it and create it anew)"
        lines = unified_diff(_lines(change.old), _lines(change.new), before, after, lineterm="", n=2)
        parts += lines
    return "\n".join(parts)


def _lines(obj: Any) -> list[str]:
    if obj is None:
        return []
    plain = manifest.to_plain(obj)
    if plain.get("kind") != "Node":
        plain.pop("status", None)
    else:
        plain["status"] = {word: plain.get("status", {}).get(word) for word in ("allocatable",)}
    plain["metadata"] = {word: value for word, value in plain["metadata"].items() if word not in SERVER_FIELDS}
    return manifest.write(plain_object(plain)).splitlines()


def plain_object(plain: dict[str, Any]) -> Any:
    """Return plain data as an object again."""
    return manifest.from_plain(plain)


def carry_out(cluster: ClusterCore, changes: Iterable[ObjectChange]) -> None:
    """Make changes in a cluster as its user: deletions first, then what is new, then what changes in place.

    Raises:
        ApplyRefused: the API server refused.
        KeyError: an object that is to change is not there.
    """
    changes = tuple(changes)
    order = {"Pod": 1}  # a new pod comes after the claims it names
    for change in changes:
        if change.old is not None and (change.new is None or change.recreate):
            cluster.delete(reference(change.key))
    for change in sorted(changes, key=lambda one: order.get(one.key.kind, 0)):
        if change.new is None:
            continue
        if change.old is None or change.recreate:
            cluster.apply(manifest.write(as_created(change.new)))
        else:
            _edit_in_place(cluster, change)


def _edit_in_place(cluster: ClusterCore, change: ObjectChange) -> None:
    """Change one object in place: what its user may write, and, of a node, what its kubelet reports."""
    where = reference(change.key)
    cluster.edit(where, lambda now: _changed_parts(now, change), f"user edits {change.key.name}")
    if change.key.kind == "Node" and change.old.status != change.new.status:
        new = attrs.evolve(cluster[where], status=change.new.status)
        write = Write("update_status", change.key, new, words=f"{change.key.name} reports more to give")
        outcome = cluster.world.perform(USER, [write], write.words)[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])


def as_created(obj: Any) -> Any:
    """Return an object as a user would create it: without what the server had filled in."""
    meta = attrs.evolve(
        obj.metadata,
        uid="",
        creation_timestamp=None,
        deletion_timestamp=None,
        resource_version=0,
        rest=type(obj.metadata.rest)({k: v for k, v in obj.metadata.rest.items() if k not in SERVER_FIELDS}),
    )
    found = attrs.evolve(obj, metadata=meta)
    if obj.kind == "Pod":
        found = attrs.evolve(found, status=type(obj.status)())
    return found


def reference(key: Key) -> str:
    """Return the reference that names an object."""
    return f"{key.kind}/{key.namespace}/{key.name}" if key.namespace else f"{key.kind}/{key.name}"


def _changed_parts(now: Any, change: ObjectChange) -> Any:
    """Return what a change makes of an object as it is now: every part that the change touches."""
    touched = {}
    for field in attrs.fields(type(now)):
        before, after = getattr(change.old, field.name), getattr(change.new, field.name)
        if field.name == "metadata":
            touched[field.name] = attrs.evolve(
                now.metadata, labels=after.labels, annotations=after.annotations
            )
        elif before != after:
            touched[field.name] = after
    return attrs.evolve(now, **touched)
