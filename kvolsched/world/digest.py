"""The digest of a world: two worlds with equal digests have equivalent states, so that a search visits one of them.

It covers the API objects, what each component has seen of them, and every note in relative terms: waits instead of
clock values, ranks instead of positions, and how a version compares with others instead of the version. Left out are
versions as such, timestamps (only whether they are set), uid counters, and Event objects, which no component reads.
The time itself counts only if a component reads the clock.
The digest is a sum of fingerprints, updated change by change.
"""

import hashlib
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

import attrs

from kvolsched.api.kinds.meta import ObjectMeta

from .log import CURSOR, Key, Log, LogKey, Note

BUCKET_SORT = "bucket"  # of retries: it is as if full, as long as fewer fail in a row than it holds
IGNORED_SORTS = frozenset({CURSOR, "clock", "origin", "gone", "similar", "asked", BUCKET_SORT})
IGNORED_KINDS = frozenset({"Event"})
MODULUS = 1 << 128
CLOCK_SORT = "clock"
GONE_SORT = "gone"
RULES_SORT = "rules"

# Metadata of a field: how it enters the digest. WAIT: a moment on the simulated clock, as seconds from now (0 if past;
# without its time if periodic). RANK: its order among the notes of one sort. VERSION: how it compares with the versions
# of the object at the value's `key`. IGNORES: not at all. In API objects "presence": only whether it is set.
DIGEST_WAIT = {"digest": "wait"}
DIGEST_RANK = {"digest": "rank"}
DIGEST_VERSION = {"digest": "version"}
DIGEST_IGNORES = {"digest": "silent"}


@attrs.frozen
class Until:
    """A note: something lasts, or is forbidden, until this simulated time (s)."""

    time: float = attrs.field(metadata=DIGEST_WAIT)


# A value of a note whose digest depends on other contents: ("wait", at), ("rank", order), ("version", key, version).
RelativeValue = tuple[Any, ...]


@cache
def _fields(cls: Any) -> tuple[tuple[str, str], ...]:
    """Return (name, how it enters the digest) of every field that does."""
    if not attrs.has(cls):
        raise TypeError(f"a note may hold plain data and attrs values, not {cls.__name__}: {cls!r}")
    return tuple((field.name, field.metadata.get("digest", "")) for field in attrs.fields(cls)
                 if field.eq and field.metadata.get("digest") != "silent")


_texts: dict[Any, str] = {}


def canonical_text(value: Any, relative: list[RelativeValue] | None = None) -> str:
    """Return a canonical text of a value: equal texts for equivalent values only.

    It is plain data or attrs values, nested; relative values are appended to `relative` and only marked in the text.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{canonical_text(value[key], relative)}" for key in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join([canonical_text(item, relative) for item in value]) + ")"
    if isinstance(value, frozenset):
        return "<" + ",".join(sorted(canonical_text(item, relative) for item in value)) + ">"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    meta = getattr(value, "metadata", None)
    if not isinstance(meta, ObjectMeta):
        return _fields_text(value, relative)
    if relative is not None and meta.resource_version:
        relative.append(("version", Key(value.kind, meta.namespace, meta.name), meta.resource_version))
    text = _texts.get(value)
    if text is None:
        if len(_texts) > 100_000:
            _texts.clear()
        text = _texts[value] = f"{_hash(_fields_text(value, None)):x}"
    return text


def _fields_text(value: Any, relative: list[RelativeValue] | None) -> str:
    parts = [type(value).__name__]
    for name, how in _fields(type(value)):  # type: ignore[arg-type]
        item = getattr(value, name)
        if how == "presence":
            parts.append("set" if item is not None else "unset")
        elif not how or relative is None:
            parts.append(canonical_text(item, relative))
        elif how == "wait" and getattr(value, "periodic", False):
            parts.append("some day")  # its time does not matter
        elif how == "version":
            parts.append("?" if item else "any")
            if item:
                relative.append(("version", value.key, item))
        else:
            parts.append("?" if item is not None else "never")
            if item is not None:
                relative.append((how, item))
    return "[" + "|".join(parts) + "]"


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())


# Computed results by the identity of a value, since branches of the log share values. The value is held as well, so
# that no other can get its identity.
_cache: dict[tuple[int, LogKey], tuple[Any, Any]] = {}


def _remember(key: LogKey, value: Any, result: Any) -> Any:
    if len(_cache) > 200_000:
        _cache.clear()
    _cache[id(value), key] = value, result
    return result


def object_fingerprint(key: Key, value: Any) -> int:
    """Return the 128-bit fingerprint of an object at a key, 0 if absent; contents are described by their sum."""
    if value is None:
        return 0
    cached = _cache.get((id(value), key))
    if cached is not None:
        return int(cached[1])
    return int(_remember(key, value, _hash(f"{tuple(key)}={canonical_text(value)}")))


class IncrementalDigest:
    """A digest that follows the log. Mutable.

    It is the sum of parts: one of the API objects, and one of each owner of notes with what it has seen. Changed keys
    are only marked; a part is computed again when it is asked for and something that it depends on has changed, so
    that undone trials cost little. `watchers` are the running components (`Process`) by name.
    """

    def __init__(self, log: Log, watchers: Mapping[str, Any]) -> None:
        self.log = log
        self.watchers = watchers
        self._begin()
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._versions: dict[str, frozenset[Key]] = {}  # the keys whose versions an owner's notes are compared with
        for watcher in watchers.values():
            if not watcher.tracking:
                watcher.seen_sum = sum(object_fingerprint(key, obj) for kind, objects in watcher.seen.kinds.items()
                                       if kind not in IGNORED_KINDS for key, obj in objects.items()) % MODULUS
                watcher.tracking = True  # once the sum is whole: Ctrl-C may come before

    def _begin(self) -> None:
        """Begin with sums of nothing: every key counts as changed."""
        self.fingerprints: dict[LogKey, int] = {}
        self.objects_sum = 0
        self.gone_sum = 0  # of the counts of removed objects, which are in no digest
        self.note_sums: dict[str, int] = dict.fromkeys(self.watchers, 0)
        self.relative: dict[str, dict[Note, tuple[str, tuple[RelativeValue, ...]]]] = {}
        self.changed: dict[LogKey, None] = dict.fromkeys((*self.log.objects, *self.log.notes))
        self._parts: dict[str, tuple[int, bool]] = {}  # those that are up to date, and whether their owner watched

    def mark_changed(self, key: LogKey) -> None:
        """Mark a key whose value has changed."""
        self.changed[key] = None

    def mark_seen(self) -> None:
        """Mark the components that have seen something without a change of the log: a checkpoint was restored."""
        for owner, watcher in self.watchers.items():
            seen = (watcher.seen_changes, *watcher.pending)
            if self._seen.get(owner) != seen:
                self._seen[owner] = seen
                self._parts.pop(owner, None)

    def catch_up(self) -> None:
        """Add up the fingerprints of the changed keys, and drop the parts that depend on them; anew if interrupted."""
        if not self.changed:
            return
        try:
            self._add_changed()
        except BaseException:
            self._begin()
            raise

    def _add_changed(self) -> None:
        for key in self.changed:
            if type(key) is Key:
                if key[0] not in IGNORED_KINDS:
                    self._update_object(key)
            elif key[1] == CURSOR:
                self._parts.pop(key[0], None)
            elif key[1] == CLOCK_SORT:
                self._parts.clear()
            elif key[1] == GONE_SORT:
                self._update_gone(key)  # type: ignore[arg-type]
            elif key[1] not in IGNORED_SORTS:
                if key[0] == "world" and key[1] == RULES_SORT:  # components may have been defined anew
                    self._parts.clear()
                self._update_note(key, self.fingerprints.pop(key, 0))  # type: ignore[arg-type]
                self._parts.pop(key[0], None)
        self.changed.clear()

    def _update_object(self, key: Key) -> None:
        old, new = self.fingerprints.pop(key, 0), 0
        if key in self.log.objects:
            new = self.fingerprints[key] = object_fingerprint(key, self.log.objects[key])
        self.objects_sum = (self.objects_sum + new - old) % MODULUS
        for owner, keys in self._versions.items():
            if key in keys:
                self._parts.pop(owner, None)
        for owner, watcher in self.watchers.items():
            if key[0] in watcher.seen.kinds:
                self._parts.pop(owner, None)

    def _update_gone(self, note: Note) -> None:
        count = self.log.notes.get(note, 0)
        old, new = self.fingerprints.pop(note, 0), _hash(f"{tuple(note)}={count}") if count else 0
        if new:
            self.fingerprints[note] = new
        self.gone_sum = (self.gone_sum + new - old) % MODULUS

    def _update_note(self, note: Note, old: int) -> None:
        owner = note[0]
        relative = self.relative.setdefault(owner, {})
        relative.pop(note, None)
        value, new = self.log.notes.get(note), 0
        if value is not None:
            cached = _cache.get((id(value), note))
            text, values, new = cached[1] if cached is not None else _remember(note, value, _analyse_note(note, value))
            if values:
                relative[note], new = (text, values), 0
            else:
                self.fingerprints[note] = new
        self.note_sums[owner] = (self.note_sums.get(owner, 0) + new - old) % MODULUS

    def digest(self) -> str:
        """Return the digest of the present state, 32 hex digits."""
        return f"{self.number():032x}"

    def number(self) -> int:
        """Return the digest of the present state as a number."""
        return (self.objects_part() + sum(self.parts().values())) % MODULUS

    def objects_part(self) -> int:
        """Return the part of the digest that describes the API objects, and the time if a component reads the clock."""
        self.catch_up()
        if any(watcher.reads_clock for watcher in self.watchers.values()):
            return _hash(f"{self.objects_sum}|{self._now()}")
        return self.objects_sum

    def parts(self) -> dict[str, int]:
        """Return the part of each owner of notes: 0 if it has seen nothing and noted nothing."""
        self.catch_up()
        return {owner: self._part(owner) for owner in self.note_sums}

    def part(self, owner: str) -> int:
        """Return the part of one owner: equal if all that it has seen and noted is equivalent."""
        self.catch_up()
        return self._part(owner)

    def _part(self, owner: str) -> int:
        watcher = self.watchers.get(owner)
        watching = watcher is not None and watcher.watching
        known = self._parts.get(owner)
        if known is not None and known[1] is watching:
            return known[0]
        seen = (watcher.seen_sum, self._outdated_keys(watcher)) if watcher is not None and watching else ()
        found = (seen, self.note_sums.get(owner, 0), self._relative_text(owner))
        part = _hash(f"{owner}|{found!r}") if any(found) else 0
        self._parts[owner] = part, watching
        return part

    def _now(self) -> float:
        return float(self.log.notes.get(Note("world", CLOCK_SORT, ""), 0.0))

    def _outdated_keys(self, watcher: Any) -> tuple[Key, ...]:
        """Return the keys of which a component has seen an old version that equals the stored one.

        A repeated step stores other objects of the same versions, so that it is the versions that tell.
        """
        objects = self.log.objects
        return tuple(
            sorted(key for kind in watcher.pending if kind not in IGNORED_KINDS
                   for key, seen in watcher.seen.kinds[kind].items()
                   if seen is not (stored := objects.get(key)) and seen == stored
                   and seen.metadata.resource_version != stored.metadata.resource_version)
        )

    def _relative_text(self, owner: str) -> str:
        """Return the text of a component's notes with relative values."""
        relative = self.relative.get(owner)
        if not relative:
            self._versions.pop(owner, None)
            return ""
        now = self._now()
        ranks = _ranks(relative)
        self._versions[owner] = frozenset(key for key in ranks if type(key) is Key)
        lines = []
        for note, (text, values) in relative.items():
            parts = []
            for how, *value in values:
                if how == "wait":
                    parts.append(repr(max(0.0, round(value[0] - now, 6))))
                elif how == "rank":
                    parts.append(str(ranks[note[1]].index(value[0])))
                else:
                    parts.append(self._compare_version(owner, value[0], value[1], ranks[value[0]]))
            lines.append(f"{text}{parts}")
        return "\n".join(sorted(lines))

    def _compare_version(self, component: str, key: Key, version: int, noted: list[int]) -> str:
        """Return how a version compares with those stored, seen, and noted by the component."""
        stored = self.log.objects.get(key)
        watcher = self.watchers.get(component)
        seen = watcher.seen.kinds.get(key[0], {}).get(key) if watcher is not None else None
        signs = (_comparison_sign(version, obj) for obj in (stored, seen))
        return f"{''.join(signs)}{noted.index(version) if len(noted) > 1 else ''}"


def _comparison_sign(version: int, obj: Any) -> str:
    if obj is None:
        return "-"
    other = obj.metadata.resource_version
    return "=" if version == other else "<" if version < other else ">"


def _ranks(relative: Mapping[Note, tuple[str, tuple[RelativeValue, ...]]]) -> dict[Any, list[Any]]:
    """Return the sorted orders by sort of note, and the sorted versions by key, of a component's notes."""
    found: dict[Any, set[Any]] = {}
    for note, (_, values) in relative.items():
        for how, *value in values:
            if how == "rank":
                found.setdefault(note[1], set()).add(value[0])
            elif how == "version":
                found.setdefault(value[0], set()).add(value[1])
    return {sort_or_key: sorted(numbers) for sort_or_key, numbers in found.items()}


def _analyse_note(note: Note, value: Any) -> tuple[str, tuple[RelativeValue, ...], int]:
    """Return the canonical text of a note, its relative values, and the fingerprint of the text."""
    relative: list[RelativeValue] = []
    text = f"{tuple(note)}={canonical_text(value, relative)}"
    return text, tuple(relative), _hash(text)
