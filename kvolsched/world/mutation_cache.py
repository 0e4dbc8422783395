"""Mutation cache: the objects that a component watches, overlaid with those it has just written itself.

A written object wins until the watch shows that version or a newer one. It is a note of sort `own`: `record_written`
makes it, `drop_outdated_writes` removes it when the watch has caught up. A component without such a cache can wait
instead until it has seen its write (`wait_until_seen`; Kubernetes' controller expectations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import attrs

from .apiserver import CommittedWrite, RefusedWrite, key_of
from .component import TurnContext
from .digest import DIGEST_VERSION
from .log import Key, LogKey, Note
from .plan import report_done, report_refused
from .view import Index

USED_NAMES = "made"  # sort of the notes that count the generated names that are used, by cause
ABSENT = "absent"  # written value of an object that this cache does not hold yet, though the watch shows it


class MutationCache:
    """Cache of watched objects that returns own writes until the watch has caught up (client-go's). Mutable view."""

    def __init__(self, kinds: Iterable[str], **indexes: Index) -> None:
        self.kinds = frozenset(kinds)
        self.follows = self.kinds | {"own"}
        self.watched: dict[Key, Any] = {}
        self.written: dict[Key, Any] = {}
        self.indexes = indexes

    def at(self, key: Key) -> Any:
        """Return the object at a key, or None."""
        written = self.written.get(key)
        if written is None:
            return self.watched.get(key)
        return None if isinstance(written, str) else written

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Apply a change of a watched object, or of a note about a written one."""
        is_note = type(key) is Note
        store = self.written if is_note else self.watched
        object_key = Key(*key[2].split("/")) if is_note else key
        before = self.at(object_key)  # type: ignore[arg-type]
        if new is None:
            store.pop(object_key, None)  # type: ignore[arg-type]
        else:
            store[object_key] = new  # type: ignore[index]
        after = self.at(object_key)  # type: ignore[arg-type]
        if before is after:
            return
        kind = object_key[0]
        for index in self.indexes.values():
            if kind in index.follows:
                index.apply(object_key, before, after)

    def apply_list(self, kind: str, objects: Mapping[Key, Any]) -> None:
        """Take all objects of a kind of which none is watched yet."""
        if self.written:  # an own write may be newer than what is listed
            for key, obj in objects.items():
                self.apply(key, None, obj)
            return
        self.watched.update(objects)
        for index in self.indexes.values():
            index.apply_list(kind, objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MutationCache) and (self.watched, self.written, self.indexes) == (
            other.watched, other.written, other.indexes,
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]


def record_written(ctx: TurnContext, stored: Any) -> None:
    """Note the stored object that the component's write resulted in."""
    ctx.remember("own", "/".join(key_of(stored)), stored)


def drop_written(ctx: TurnContext, key: Key) -> None:
    """Remove the note about a write, so that the cache returns what the watch shows."""
    ctx.remember("own", "/".join(key), None)


def drop_outdated_writes(ctx: TurnContext, key: Key, new: Any) -> bool:
    """Remove the note about a write if the watch shows that version, a newer one, or that the object is gone.

    Return whether it shows just that write, and nobody's after it.
    """
    written = ctx.note("own", "/".join(key))
    if written is None:
        return False
    if new is None or isinstance(written, str):
        drop_written(ctx, key)
        return False
    ahead: int = new.metadata.resource_version - written.metadata.resource_version
    if ahead >= 0:
        drop_written(ctx, key)
    return ahead == 0


@attrs.frozen
class AwaitedWrite:
    """A note about the last write of a cause, which must be seen before the cause is taken up again."""

    key: Key
    version: int = attrs.field(metadata=DIGEST_VERSION)


def wait_until_seen(*kinds: str) -> Callable[..., None]:
    """Return an `on_committed` function that reports a write and, if it is of these kinds, waits until it is seen."""

    def on_committed(ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        report_done(ctx, cause, outcome, last=last)
        key = outcome.write.key
        if key.kind in kinds and outcome.write.verb == "create":
            _use_name(ctx, cause)
        if key.kind in kinds and outcome.changed:
            ctx.remember("awaits", f"{ctx.actor.name}|{key.kind} {cause}", AwaitedWrite(key, ctx.place))

    return on_committed


def has_seen_write(ctx: TurnContext, cause: str, kind: str) -> bool:
    """Return whether the last awaited write of this kind was seen; if so, remove the note."""
    name = f"{ctx.actor.name}|{kind} {cause}"
    awaited: AwaitedWrite | None = ctx.note("awaits", name)
    if awaited is not None and (ctx.note("cursor", kind) or 0) < awaited.version:
        return False
    ctx.remember("awaits", name, None)
    return True


def forget_writes(ctx: TurnContext, cause: str, *kinds: str) -> None:
    """Forget the used names of a cause whose object is gone, and its awaited writes of these kinds."""
    ctx.remember(USED_NAMES, cause, None)
    for kind in kinds:
        ctx.remember("awaits", f"{ctx.actor.name}|{kind} {cause}", None)


def unused_names(ctx: TurnContext, cause: str, key_of_number: Callable[[int], Key]) -> Iterator[int]:
    """Yield the numbers of names for new objects of a cause: not one that is used, nor one of an object that is seen.

    `wait_until_seen` and `refused_if_taken` count a name as used once it was taken; one of a refused write was not.
    """
    number: int = ctx.note(USED_NAMES, cause) or 0
    if ctx.seen.at(key_of_number(number)) is not None:  # it was used before a restart
        number = next(each for each in count(number) if ctx.seen.at(key_of_number(each)) is None)
        ctx.remember(USED_NAMES, cause, number)
    return (each for each in count(number) if ctx.seen.at(key_of_number(each)) is None)


def refused_if_taken(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """Report a refused write; a name that somebody else took is used."""
    report_refused(ctx, cause, outcome)
    if outcome.write.verb == "create" and outcome.reason == "AlreadyExists":
        _use_name(ctx, cause)


def _use_name(ctx: TurnContext, cause: str) -> None:
    ctx.remember(USED_NAMES, cause, (ctx.note(USED_NAMES, cause) or 0) + 1)
