"""The assume cache: objects as the scheduler expects them to become, before the informer shows them (S0, Caching).

Assumed objects are notes. For each key either the seen or the assumed object is current; only this module decides
which, so that the snapshot counts every object once.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ...api.kinds.meta import evolve
from ...world.component import TurnContext
from ...world.log import Key, LogKey, Note

if TYPE_CHECKING:
    from ..columns.hypothetical_snapshot import KeptSnapshot
    from ..columns.snapshot import Snapshot

ASSUMED = "assumed"
MANY = 1_000  # changes from which on a snapshot is copied rather than moved
KINDS = ("Namespace", "Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CSINode", "Pod")


class AssumeRule(Protocol):
    """Decides whether the seen or the assumed version of a volume or claim is current, and what may be assumed."""

    def is_current(self, seen: Any, assumed: Any) -> bool: ...
    def refusal(self, key: Key, seen: Any, wanted: Any) -> str: ...


@attrs.frozen
class EqualVersions:
    """An assumed object is current only while its version is the informer's (kube-scheduler v1.36.2)."""

    def is_current(self, seen: Any, assumed: Any) -> bool:
        """Say whether the assumed object is current."""
        return seen is not None and bool(seen.metadata.resource_version == assumed.metadata.resource_version)

    def refusal(self, key: Key, seen: Any, wanted: Any) -> str:
        """Return why an object cannot be assumed, in kube-scheduler's words, or ""."""
        name = f"{key.namespace}/{key.name}" if key.namespace else key.name
        if seen is None:
            return f'{key.kind.lower()}s "{name}" not found'
        if self.is_current(seen, wanted):
            return ""
        stored, assumed = seen.metadata.resource_version, wanted.metadata.resource_version
        return f'"{name}" is out of sync (stored: {stored}, assume: {assumed})'


@attrs.frozen
class NewerWins:
    """An assumed object is current until the informer has a newer one (S0, Caching; 1.11)."""

    def is_current(self, seen: Any, assumed: Any) -> bool:
        """Say whether the assumed object is current."""
        return seen is not None and bool(seen.metadata.resource_version <= assumed.metadata.resource_version)

    def refusal(self, key: Key, seen: Any, wanted: Any) -> str:
        """Return why an object cannot be assumed, in 1.11's words, or ""."""
        name = f"{key.namespace}/{key.name}" if key.namespace else key.name
        if seen is None:
            return f'could not find v1.{key.kind} "{name}"'
        return "" if self.is_current(seen, wanted) else f'v1.{key.kind} "{name}" is out of sync'


def is_current(key: Key, seen: Any, assumed: Any, volume_rule: AssumeRule) -> bool:
    """Say whether an assumed object is current, given the seen one."""
    if key.kind != "Pod":
        return volume_rule.is_current(seen, assumed)
    return seen is None or (not seen.spec.node_name and seen.metadata.uid == assumed.metadata.uid)


class AssumeCache:
    """Seen and assumed objects; forwards the changes of current objects to the snapshot. Mutable view.

    The snapshot follows when it is read: what is seen and taken back before costs it nothing. Read for the first time,
    it is made of what is current then. `kept` is a snapshot that is copied where most objects have changed.
    """

    def __init__(self, snapshot: Snapshot, volume_rule: AssumeRule, kept: KeptSnapshot | None = None) -> None:
        self.follows = snapshot.follows | {*KINDS, ASSUMED}
        self._snapshot = snapshot
        self._kept = kept
        self._was_read = False
        self._to_follow: dict[Key, tuple[Any, Any]] = {}  # the net changes since it was read
        self.volume_rule = volume_rule
        self.seen: dict[Key, Any] = {}
        self.assumed: dict[Key, Any] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The view of current objects."""
        if self._to_follow or not self._was_read:
            changes = self._to_follow if self._was_read else {key: (None, obj) for key, obj in self._current().items()}
            if self._kept is not None and len(changes) > MANY and 2 * len(changes) > len(self.seen):
                self._snapshot = self._kept.of(self._current(), self._snapshot.moment).copied()
            else:
                for key, (before, after) in changes.items():
                    self._snapshot.apply(key, before, after)
            self._to_follow, self._was_read = {}, True
        return self._snapshot

    def _current(self) -> dict[Key, Any]:
        """Return the current objects by key."""
        current = self.seen.copy()
        for key in self.assumed:
            obj = self.get(key)
            if obj is not None:
                current[key] = obj
        return current

    def _change(self, key: Key, before: Any, after: Any) -> None:
        """Let the snapshot follow a change of a current object when it is read."""
        if not self._was_read:
            return
        earlier = self._to_follow.get(key)
        if earlier is None:
            self._to_follow[key] = before, after
        elif earlier[0] is after:
            del self._to_follow[key]
        else:
            self._to_follow[key] = earlier[0], after

    def get(self, key: Key) -> Any:
        """Return the current object of a key, or None."""
        assumed = self.assumed.get(key)
        if assumed is None:
            return self.seen.get(key)
        seen = self.seen.get(key)
        return assumed if is_current(key, seen, assumed, self.volume_rule) else seen

    def is_assumed(self, key: Key) -> bool:
        """Say whether the current object of a key is an assumed one."""
        assumed = self.assumed.get(key)
        return assumed is not None and self.get(key) is assumed

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Apply a change of a seen or assumed object, and forward it if the current object changes."""
        if type(key) is Note:
            object_key, store = key_of_note(key.name), self.assumed
        else:
            object_key, store = key, self.seen  # type: ignore[assignment]
            if object_key not in self.assumed:  # the common case
                if new is None:
                    store.pop(object_key, None)
                else:
                    store[object_key] = new
                self._change(object_key, old, new)
                return
        before = self.get(object_key)
        if new is None:
            store.pop(object_key, None)
        else:
            store[object_key] = new
        after = self.get(object_key)
        if before is not after:
            self._change(object_key, before, after)

    def apply_list(self, _kind: str, objects: Mapping[Key, Any]) -> None:
        """Take all objects of a kind of which none is seen yet."""
        if self._was_read or self.assumed:
            for key, obj in objects.items():
                self.apply(key, None, obj)
        else:
            self.seen.update(objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AssumeCache) and (self.seen, self.assumed) == (other.seen, other.assumed)

    __hash__ = None  # type: ignore[assignment]


def note_name(key: Key) -> str:
    """Return the name of the note for an assumed object."""
    return "/".join(key)


def key_of_note(name: str) -> Key:
    """Return the key of the object that a note is about."""
    kind, namespace, rest = name.split("/", 2)
    return Key(kind, namespace, rest)


def assume(ctx: TurnContext, obj: Any, key: Key) -> None:
    """Assume an object."""
    ctx.remember(ASSUMED, note_name(key), obj)


def forget(ctx: TurnContext, key: Key) -> None:
    """Forget the assumed object of a key: the informer's object is current again."""
    ctx.remember(ASSUMED, note_name(key), None)


def drop_outdated(ctx: TurnContext, cache: AssumeCache, key: Key, rule: AssumeRule) -> None:
    """Forget an assumed object that is no longer current after a change from the informer."""
    assumed = cache.assumed.get(key)
    if assumed is None:
        return
    if not is_current(key, ctx.seen.at(key), assumed, rule):
        forget(ctx, key)


@attrs.frozen
class PodStatusPatch:
    """A patch of a pod's status: a condition and the nominated node; None keeps a field."""

    condition: Any = None
    nominated_node_name: str | None = None

    def apply(self, old: Any) -> Any:
        """Return the pod with the patch applied; keep a condition whose status, reason and message are unchanged."""
        status = old.status
        if self.condition is not None:
            current, compared = status.condition(self.condition.type), attrgetter("status", "reason", "message")
            if current is None or compared(current) != compared(self.condition):
                status = status.with_condition(self.condition)
        if self.nominated_node_name is not None:
            status = evolve(status, nominated_node_name=self.nominated_node_name)
        return evolve(old, status=status)
