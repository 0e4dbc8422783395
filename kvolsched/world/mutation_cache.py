"""A component's own cache: what it has seen of some kinds, with what it wrote itself laid over.

An object that a component wrote wins until the watch shows that version or a newer one. What it wrote is content (a
note of sort `own`), not a second informer: `keep` notes it, `catch_up` forgets it when the watch has caught up. Who
keeps no cache of its own can wait instead until it sees what it wrote (`awaiting`, Kubernetes' expectations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from .apiserver import CommittedWrite, key_of
from .component import TurnContext
from .digest import DIGEST_VERSION
from .log import Key, LogKey, Note
from .plan import report_done
from .view import Index

ABSENT = "absent"  # the own cache has not heard of an object that the watch shows already


class MutationCache:
    """Objects of some kinds as a component's own cache has them, with indexes over them. Mutable view."""

    def __init__(self, kinds: Iterable[str], **indexes: Index) -> None:
        self.kinds = frozenset(kinds)
        self.follows = self.kinds | {"own"}
        self.watched: dict[Key, Any] = {}
        self.kept: dict[Key, Any] = {}
        self.indexes = indexes

    def at(self, key: Key) -> Any:
        """Return the object at a key, or None."""
        kept = self.kept.get(key)
        if kept is None:
            return self.watched.get(key)
        return None if isinstance(kept, str) else kept

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Take a change of what is seen, or of what was written."""
        store = self.kept if type(key) is Note else self.watched
        where = Key(*key[2].split("/")) if type(key) is Note else key
        assert isinstance(where, Key)
        before = self.at(where)
        if new is None:
            store.pop(where, None)
        else:
            store[where] = new
        after = self.at(where)
        if before is after:
            return
        for index in self.indexes.values():
            if where.kind in index.follows:
                index.apply(where, before, after)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MutationCache) and (self.watched, self.kept, self.indexes) == (
            other.watched, other.kept, other.indexes,
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]


def record_written(ctx: TurnContext, stored: Any) -> None:
    """Note an object that the component has just written."""
    ctx.remember("own", "/".join(key_of(stored)), stored)


def drop_written(ctx: TurnContext, key: Key) -> None:
    """Drop what was written at a key: the watch is right again."""
    ctx.remember("own", "/".join(key), None)


def drop_outdated_writes(ctx: TurnContext, key: Key, new: Any) -> None:
    """Forget what was written at a key if the watch has come to that version, or shows that the object is gone."""
    kept = ctx.note("own", "/".join(key))
    if kept is not None and (
        new is None or isinstance(kept, str) or new.metadata.resource_version >= kept.metadata.resource_version
    ):
        drop_written(ctx, key)


@attrs.frozen
class AwaitedWrite:
    """A note: the last write of a cause that is to be seen before the cause goes on; its object and version."""

    key: Key
    version: int = attrs.field(metadata=DIGEST_VERSION)


def wait_until_seen(kind: str) -> Callable[..., None]:
    """Return a routine's `done`: say what goes with a write; a cause goes on when it saw one of this kind."""

    def done(ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        report_done(ctx, cause, outcome, last=last)
        if outcome.write.key.kind == kind and outcome.changed:
            ctx.remember("awaits", f"{ctx.actor.name}|{cause}", AwaitedWrite(outcome.write.key, ctx.place))

    return done


def has_seen_write(ctx: TurnContext, cause: str, kind: str) -> bool:
    """Say whether the last awaited write of this kind was seen; the note is forgotten then."""
    name = f"{ctx.actor.name}|{cause}"
    awaited: AwaitedWrite | None = ctx.note("awaits", name)
    if awaited is not None and (ctx.note("cursor", kind) or 0) < awaited.version:
        return False
    ctx.remember("awaits", name, None)
    return True
