"""The garbage collector: it alone deletes objects whose owners are gone; an owner is told by its uid.

An owner is gone if it existed and was removed; one that never existed in this world (a dump without its ReplicaSets)
does not count. An object that has another owner only loses the reference. It also completes the deletion of an owner
that waits for its dependents (finalizer `foregroundDeletion`) or orphans them (`orphan`).
Mirrors `pkg/controller/garbagecollector` (v1.36.2).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from ..api.kinds.kind import KINDS, KINDS_BY_NAME
from ..api.kinds.meta import OwnerReference, evolve_parts, without_finalizers
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key, LogKey, Note
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index

NAME = "generic-garbage-collector"
WATCHED = tuple(kind.name for kind in KINDS if kind.name != "Event")
GONE = "gone"  # sort of the world's notes that count removed objects
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


def component(others: Iterable[str] = ()) -> Component:
    """Return the garbage collector; `others` are the kinds that nobody models whose objects it follows, too."""
    routine, watched = Reconciler(NAME, _causes, sync, report_refused, report_done), (*WATCHED, *others)
    return Component(NAME, watched, (routine,), lambda _seen: {"dependents": Dependents(watched)},
                     activation=partial(OrphanCondition, watched))  # fmt: skip


class OrphanCondition:
    """Met if an object's owner is gone, or an owner being deleted waits for its dependents. Mutable view.

    References are counted from the first removal on: until then no owner is gone.
    """

    def __init__(self, watched: Sequence[str] = WATCHED) -> None:
        self.follows = frozenset(watched) | {GONE}
        self.objects: dict[Key, Any] = {}
        self.references: dict[Key, dict[str, int]] | None = None  # owner -> uid -> number of references
        self.removed: set[str] = set()  # "/".join(key) of each object that was removed
        self.missing: set[tuple[Key, str]] = set()  # owners that are gone and have dependents
        self.waiting: set[Key] = set()  # owners being deleted that wait for dependents

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Follow one object, or the count of objects removed at a key."""
        if type(key) is Note:
            (self.removed.add if new else self.removed.discard)(key[2])
            if self.references is not None:
                self._update_missing(Key(*key[2].split("/")))
            elif self.removed:
                self.references = {}
                for stored, obj in self.objects.items():
                    self._count_references(stored, obj, 1)
            return
        assert isinstance(key, Key)
        if new is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = new
        if self.references is not None:
            self._update_missing(key)
            if old is None or new is None or old.metadata.owner_references != new.metadata.owner_references:
                self._count_references(key, old, -1)
                self._count_references(key, new, 1)
        if new is not None and new.metadata.deletion_timestamp is not None and _waits_for_dependents(new):
            self.waiting.add(key)
        elif self.waiting:
            self.waiting.discard(key)

    def _count_references(self, key: Key, obj: Any, step: int) -> None:
        assert self.references is not None
        owners = obj.metadata.owner_references if obj is not None else ()
        for owner_key, uid in [(found, owner.uid) for owner in owners for found in _keys(owner, key.namespace)]:
            counts = self.references.setdefault(owner_key, {})
            counts[uid] = counts.get(uid, 0) + step
            self._update_missing(owner_key)
            if not counts[uid]:
                del counts[uid]
            if not counts:
                del self.references[owner_key]

    def _update_missing(self, key: Key) -> None:
        owner = self.objects.get(key)
        alive = owner.metadata.uid if owner is not None else None
        for uid, count in (self.references or {}).get(key, {}).items():
            gone = count > 0 and "/".join(key) in self.removed and alive != uid
            (self.missing.add if gone else self.missing.discard)((key, uid))

    @property
    def is_met(self) -> bool:
        """Whether there is something to collect."""
        return bool(self.waiting or self.missing)


def _waits_for_dependents(obj: Any) -> bool:
    return FOREGROUND in obj.metadata.finalizers or ORPHAN in obj.metadata.finalizers


def _keys(owner: OwnerReference, namespace: str) -> list[Key]:
    """Return the keys that an owner may have: of a kind that nobody models it may be in no namespace, too."""
    kind = KINDS_BY_NAME.get(owner.kind)
    scopes = (namespace, "") if kind is None and namespace else (namespace if kind is None or kind.namespaced else "",)
    return [Key(owner.kind, scope, owner.name) for scope in scopes]


class Dependents:
    """The keys of the objects that are seen, by the uid of each owner. Mutable view."""

    def __init__(self, watched: Sequence[str] = WATCHED) -> None:
        self.follows = frozenset(watched)
        self.kinds = {kind: Index(kind, lambda obj: [owner.uid for owner in obj.metadata.owner_references])
                      for kind in watched}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Index one object by its owners."""
        self.kinds[key[0]].apply(key, old, new)

    def of(self, uid: str) -> list[Key]:
        """Return the keys of an owner's dependents, sorted."""
        return sorted(key for index in self.kinds.values() for key in index.keys(uid))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dependents) and self.kinds == other.kinds

    __hash__ = None  # type: ignore[assignment]


def _causes(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a changed object that has owners or waits as one; of a removed object its dependents and waiting owners."""
    if new is not None:
        if new.metadata.owner_references or _waits_for_dependents(new):
            yield "/".join(key)
        return
    for dependent in ctx.views["dependents"].of(old.metadata.uid):
        yield "/".join(dependent)
    for owner in old.metadata.owner_references:
        for owner_key in _keys(owner, key.namespace):
            found = ctx.seen.kinds.get(owner.kind, {}).get(owner_key)
            if found is not None and _waits_for_dependents(found):
                yield "/".join(owner_key)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Delete an object whose owners are gone, remove references to gone owners, or complete an owner's deletion."""
    key = Key(*cause.split("/"))
    obj = ctx.seen.at(key)
    if obj is None:
        return ()
    plan = PlanBuilder(ctx, NAME)
    if obj.metadata.deletion_timestamp is not None:
        if _waits_for_dependents(obj):
            _complete_deletion(ctx, plan, obj)
        return plan.writes
    owners = obj.metadata.owner_references
    gone = [owner for owner in owners if _is_gone(ctx, owner, key.namespace)]
    if not gone:
        return ()
    if len(gone) == len(owners):
        owner = f"{gone[0].kind} {gone[0].name}"
        plan.delete(obj, f"garbage collector deletes {reference_of(obj)}: its owner {owner} is gone")
    else:
        _remove_owners(plan, obj, {owner.uid for owner in gone})
    return plan.writes


def _is_gone(ctx: TurnContext, owner: OwnerReference, namespace: str) -> bool:
    """Say whether an owner existed and is gone: neither seen nor, by a live read, stored."""
    keys = _keys(owner, namespace)
    seen = ctx.seen.kinds.get(owner.kind, {})
    for found in chain(map(seen.get, keys), map(ctx.get_live, keys)):
        if found is not None and found.metadata.uid == owner.uid:
            return False
    return any(ctx.sim.log.notes.get(Note("world", GONE, "/".join(key))) for key in keys)


def _remove_owners(plan: PlanBuilder, obj: Any, uids: set[str]) -> None:
    kept = tuple(owner for owner in obj.metadata.owner_references if owner.uid not in uids)
    changed = evolve_parts(obj, metadata={"owner_references": kept})
    plan.update(obj, changed, f"garbage collector removes an owner from {reference_of(obj)}")


def _complete_deletion(ctx: TurnContext, plan: PlanBuilder, owner: Any) -> None:
    """Delete (or orphan) the dependents of an owner, then remove the owner's finalizers."""
    uid, orphans, waits = owner.metadata.uid, ORPHAN in owner.metadata.finalizers, False
    for key in ctx.views["dependents"].of(uid):
        dependent = ctx.seen.at(key)
        if orphans:
            _remove_owners(plan, dependent, {uid})
            continue
        references = dependent.metadata.owner_references
        waits = waits or any(ref.uid == uid and ref.block_owner_deletion for ref in references)
        if dependent.metadata.deletion_timestamp is None:
            names = f"{reference_of(dependent)} before its owner {reference_of(owner)}"
            plan.delete(dependent, f"garbage collector deletes {names}")
    if not waits:
        freed = without_finalizers(owner, FOREGROUND, ORPHAN)
        plan.update(owner, freed, f"garbage collector removes its finalizers from {reference_of(owner)}")
