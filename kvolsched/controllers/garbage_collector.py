"""The garbage collector: it alone deletes what belonged to owners that are gone, each with a uid of its own.

An owner counts as gone when it was there and was removed; one that was never seen here (a dump without its ReplicaSets)
is somebody's business outside. An object with another owner that lives only loses the reference. An owner whose
deletion waits for its dependents (finalizer `foregroundDeletion`) or lets them go (`orphan`) is finished here.
Mirrors `pkg/controller/garbagecollector` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.kinds.kind import KINDS
from ..api.kinds.meta import OwnerReference, evolve_parts, without_finalizers
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key, LogKey, Note
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "generic-garbage-collector"
WATCHED = tuple(kind.name for kind in KINDS if kind.name != "Event")
NAMESPACED = frozenset(kind.name for kind in KINDS if kind.namespaced)
GONE = "gone"  # the sort of the world's notes that count what was removed
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


def component() -> Component:
    """Return the garbage collector."""
    return Component(NAME, WATCHED, (Reconciler(NAME, _concerned, sync, report_refused, report_done),), _views, activation=OrphanCondition)


class OrphanCondition:
    """The need of the collector: somebody's owner is gone, or an owner waits for its dependents. Mutable."""

    follows = frozenset(WATCHED) | {GONE}

    def __init__(self) -> None:
        self.owned: dict[Key, dict[str, int]] = {}  # owner -> uid -> how many refer to it
        self.alive: dict[Key, str] = {}
        self.removed: set[Key] = set()
        self.missing: set[tuple[Key, str]] = set()  # owners that were there and are gone, with dependents left
        self.waiting: set[Key] = set()

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Take one object, or the count of what was removed at its key."""
        if type(key) is Note:
            where = Key(*key[2].split("/"))
            (self.removed.add if new else self.removed.discard)(where)
            self._settle(where)
            return
        assert isinstance(key, Key)
        if old is None or new is None:
            if new is None:
                self.alive.pop(key, None)
            else:
                self.alive[key] = new.metadata.uid
            self._settle(key)
        if old is None or new is None or old.metadata.owner_references != new.metadata.owner_references:
            self._refer(key, old, -1)
            self._refer(key, new, 1)
        if new is not None and new.metadata.deletion_timestamp is not None and _finishing(new):
            self.waiting.add(key)
        elif self.waiting:
            self.waiting.discard(key)

    def _refer(self, key: Key, obj: Any, step: int) -> None:
        for owner in obj.metadata.owner_references if obj is not None else ():
            place = _key(owner, key.namespace)
            counts = self.owned.setdefault(place, {})
            counts[owner.uid] = counts.get(owner.uid, 0) + step
            self._settle(place)
            if not counts[owner.uid]:
                del counts[owner.uid]
            if not counts:
                del self.owned[place]

    def _settle(self, key: Key) -> None:
        for uid, count in self.owned.get(key, {}).items():
            gone = count > 0 and key in self.removed and self.alive.get(key) != uid
            (self.missing.add if gone else self.missing.discard)((key, uid))

    @property
    def is_met(self) -> bool:
        """Whether there is something to collect."""
        return bool(self.waiting or self.missing)


def _finishing(obj: Any) -> bool:
    return FOREGROUND in obj.metadata.finalizers or ORPHAN in obj.metadata.finalizers


def _key(owner: OwnerReference, namespace: str) -> Key:
    return Key(owner.kind, namespace if owner.kind in NAMESPACED else "", owner.name)


class Dependents:
    """Who belongs to whom: the keys of what is seen by the uid of each owner. Mutable view."""

    follows = frozenset(WATCHED)

    def __init__(self) -> None:
        self.kinds = {kind: Index(kind, _owner_uids) for kind in WATCHED}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Move one object to its owners."""
        self.kinds[key[0]].apply(key, old, new)

    def of(self, uid: str) -> list[Key]:
        """Return the keys of an owner's dependents, sorted."""
        return sorted(key for index in self.kinds.values() for key in index.keys(uid))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dependents) and self.kinds == other.kinds

    __hash__ = None  # type: ignore[assignment]


def _owner_uids(obj: Any) -> Iterator[str]:
    for owner in obj.metadata.owner_references:
        yield owner.uid


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"dependents": Dependents()}


def _dependents(ctx: TurnContext, uid: str) -> list[Key]:
    view = ctx.views["dependents"]
    assert isinstance(view, Dependents)
    return view.of(uid)


def _concerned(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield an object that has owners, or finishes as one; the dependents of what is gone; the owners of what is."""
    if new is not None:
        if new.metadata.owner_references or _finishing(new):
            yield "/".join(key)
        return
    for dependent in _dependents(ctx, old.metadata.uid):
        yield "/".join(dependent)
    for owner in old.metadata.owner_references:
        there = ctx.seen.kinds.get(owner.kind, {}).get(_key(owner, key.namespace))
        if there is not None and _finishing(there):
            yield "/".join(key_of(there))


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Delete an object whose owners are gone, drop references to those that are, or finish an owner's deletion."""
    key = Key(*cause.split("/"))
    obj = ctx.seen.at(key)
    if obj is None:
        return ()
    decision = PlanBuilder(ctx, NAME)
    if obj.metadata.deletion_timestamp is not None:
        if _finishing(obj):
            _finish(ctx, decision, obj)
        return decision.writes
    owners = obj.metadata.owner_references
    gone = [owner for owner in owners if _is_gone(ctx, owner, key.namespace)]
    if not gone:
        return ()
    if len(gone) == len(owners):
        decision.delete(obj, f"garbage collector deletes {reference_of(obj)}: its owner {_called(gone[0])} is gone")
    else:
        _disown(decision, obj, {owner.uid for owner in gone})
    return decision.writes


def _called(owner: OwnerReference) -> str:
    return f"{owner.kind} {owner.name}"


def _is_gone(ctx: TurnContext, owner: OwnerReference, namespace: str) -> bool:
    """Say whether an owner was there and is no more: neither seen, nor, asked live, stored."""
    key = _key(owner, namespace)
    seen = ctx.seen.kinds.get(owner.kind, {}).get(key)
    if seen is not None and seen.metadata.uid == owner.uid:
        return False
    there = ctx.get_live(key)
    if there is not None and there.metadata.uid == owner.uid:
        return False
    return bool(ctx.sim.log.notes.get(Note("world", GONE, "/".join(key))))


def _disown(decision: PlanBuilder, obj: Any, uids: set[str]) -> None:
    kept = tuple(owner for owner in obj.metadata.owner_references if owner.uid not in uids)
    left = evolve_parts(obj, metadata={"owner_references": kept})
    decision.update(obj, left, f"garbage collector frees {reference_of(obj)} of an owner")


def _finish(ctx: TurnContext, decision: PlanBuilder, owner: Any) -> None:
    """Delete (or free) the dependents of an owner, then let the owner go."""
    uid = owner.metadata.uid
    orphaned = ORPHAN in owner.metadata.finalizers
    waits = False
    for key in _dependents(ctx, uid):
        dependent = ctx.seen.at(key)
        if orphaned:
            _disown(decision, dependent, {uid})
            continue
        blocking = any(one.uid == uid and one.block_owner_deletion for one in dependent.metadata.owner_references)
        waits = waits or blocking
        if dependent.metadata.deletion_timestamp is None:
            decision.delete(dependent, f"garbage collector deletes {reference_of(dependent)} before its owner {reference_of(owner)}")
    if not waits:
        freed = without_finalizers(owner, FOREGROUND, ORPHAN)
        decision.update(owner, freed, f"garbage collector lets {reference_of(owner)} go")


__all__ = ["FOREGROUND", "NAME", "ORPHAN", "component"]
