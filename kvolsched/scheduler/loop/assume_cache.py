"""What the scheduler assumes: objects as it expects them to be, before the API says so (S0, Caching, first cache).

Assumed objects are notes. For each key exactly one of seen and assumed counts; which one is decided here and nowhere
else, so that a view that joins both counts everything once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ...world.component import TurnContext
from ...world.log import Key, LogKey, Note

if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot

ASSUMED = "assumed"
KINDS = ("Namespace", "Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CSINode", "Pod")


class AssumeRule(Protocol):
    """Which of seen and assumed counts for volumes and claims, and what may be assumed at all."""

    def counts(self, seen: Any, assumed: Any) -> bool: ...
    def refusal(self, key: Key, seen: Any, wanted: Any) -> str: ...


@attrs.frozen
class EqualVersions:
    """An assumed object counts only while its version is the informer's (kube-scheduler v1.36.2)."""

    def counts(self, seen: Any, assumed: Any) -> bool:
        """Say whether the assumed object counts."""
        return seen is not None and bool(seen.metadata.resource_version == assumed.metadata.resource_version)

    def refusal(self, key: Key, seen: Any, wanted: Any) -> str:
        """Return why an object cannot be assumed, in kube-scheduler's words, or ""."""
        name = f"{key.namespace}/{key.name}" if key.namespace else key.name
        if seen is None:
            return f'{key.kind.lower()}s "{name}" not found'
        if self.counts(seen, wanted):
            return ""
        stored, assumed = seen.metadata.resource_version, wanted.metadata.resource_version
        return f'"{name}" is out of sync (stored: {stored}, assume: {assumed})'


@attrs.frozen
class NewerWins:
    """An assumed object counts until the informer has a newer one (S0, Caching; as 1.11 did it)."""

    def counts(self, seen: Any, assumed: Any) -> bool:
        """Say whether the assumed object counts."""
        return seen is not None and bool(seen.metadata.resource_version <= assumed.metadata.resource_version)

    def refusal(self, key: Key, seen: Any, wanted: Any) -> str:
        """Return why an object cannot be assumed, in 1.11's words, or ""."""
        name = f"{key.namespace}/{key.name}" if key.namespace else key.name
        if seen is None:
            return f'could not find v1.{key.kind} "{name}"'
        return "" if self.counts(seen, wanted) else f'v1.{key.kind} "{name}" is out of sync'


def pod_counts(seen: Any, _assumed: Any) -> bool:
    """Say whether an assumed pod counts: until the informer shows the pod on a node."""
    return seen is None or not seen.spec.node_name


class AssumeCache:
    """Seen and assumed objects, each key counted once, and passed on to the view behind. Mutable view.

    Args:
        behind: the view that gets effective changes.
        volume_rule: which of seen and assumed counts for volumes and claims.
    """

    def __init__(self, behind: Snapshot, volume_rule: AssumeRule) -> None:
        self.follows = behind.follows | {*KINDS, ASSUMED}
        self.behind = behind
        self.volume_rule = volume_rule
        self.seen: dict[Key, Any] = {}
        self.assumed: dict[Key, Any] = {}

    def get(self, key: Key) -> Any:
        """Return the object that counts at a key, or None."""
        assumed, seen = self.assumed.get(key), self.seen.get(key)
        if assumed is None:
            return seen
        counts = pod_counts if key.kind == "Pod" else self.volume_rule.counts
        return assumed if counts(seen, assumed) else seen

    def holds(self, key: Key) -> bool:
        """Say whether what counts at a key is only assumed."""
        assumed = self.assumed.get(key)
        return assumed is not None and self.get(key) is assumed

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Take one change of what is seen or assumed, and pass the change of what counts on."""
        if type(key) is Note:
            where, store = key_of_note(key.name), self.assumed
        else:
            where, store = key, self.seen  # type: ignore[assignment]
            if where not in self.assumed:  # the common case: nothing is assumed here
                if new is None:
                    store.pop(where, None)
                else:
                    store[where] = new
                self.behind.apply(where, old, new)
                return
        before = self.get(where)
        if new is None:
            store.pop(where, None)
        else:
            store[where] = new
        after = self.get(where)
        if before is not after:
            self.behind.apply(where, before, after)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AssumeCache) and (self.seen, self.assumed) == (other.seen, other.assumed)

    __hash__ = None  # type: ignore[assignment]


def note_name(key: Key) -> str:
    """Return the name that a note about this object has."""
    return "/".join(key)


def key_of_note(name: str) -> Key:
    """Return the key that a note's name stands for."""
    kind, namespace, rest = name.split("/", 2)
    return Key(kind, namespace, rest)


def assume(ctx: TurnContext, obj: Any, key: Key) -> None:
    """Note that the scheduler takes this object for the real one from now on."""
    ctx.remember(ASSUMED, note_name(key), obj)


def forget(ctx: TurnContext, key: Key) -> None:
    """Take the assumption about a key back: the informer's object counts again."""
    ctx.remember(ASSUMED, note_name(key), None)


def drop_outdated(ctx: TurnContext, key: Key, rule: AssumeRule) -> None:
    """Forget an assumption that no longer counts, now that the informer has shown something else."""
    assumed = ctx.note(ASSUMED, note_name(key))
    if assumed is None:
        return
    seen = ctx.seen.at(key)
    counts = pod_counts(seen, assumed) if key.kind == "Pod" else rule.counts(seen, assumed)
    if not counts:
        forget(ctx, key)


@attrs.frozen
class PodStatusPatch:
    """What the scheduler patches in a pod's status: its condition and nominated node; None leaves a field alone."""

    condition: Any = None
    nominated_node_name: str | None = None

    def apply(self, old: Any) -> Any:
        """Return the pod with the patch applied; a condition that says the same is not written again."""
        status = old.status
        if self.condition is not None:
            here = status.condition(self.condition.type)
            said = here is not None and (here.status, here.reason, here.message) == (
                self.condition.status,
                self.condition.reason,
                self.condition.message,
            )
            if not said:
                status = status.with_condition(self.condition)
        if self.nominated_node_name is not None:
            status = attrs.evolve(status, nominated_node_name=self.nominated_node_name)
        return attrs.evolve(old, status=status)
