"""The digest of meaning: two worlds share it exactly when nothing that can follow tells them apart.

It covers the API objects, what each component has seen of them, and every note in relative terms: waits instead of
clock values, ranks instead of places, and of a version in a note only how it compares with the versions around it.
Left out: versions as such, moments (only whether they are set), uid counters, and Event objects, which no component
reads. The sums are kept up to date change by change, so that asking after every turn is cheap.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol

import attrs

from kvolsched.api.kinds.meta import ObjectMeta

from .log import Key, Log, LogKey, Note
from .view import InformerCache

IGNORED_SORTS = frozenset({"cursor", "clock", "origin", "gone", "similar"})
IGNORED_KINDS = frozenset({"Event"})
MODULUS = 1 << 128
CLOCK_SORT = "clock"

# How a field of a note takes part: {"digest": WAIT} a moment to come on the simulated clock, as seconds from now
# (what has passed counts as now; of what is periodic only that it comes); RANK its
# order among notes of the same sort; VERSION the version of the object at the value's `key`; SILENT not at all;
# and in API objects "presence": only whether it is set.
DIGEST_WAIT = {"digest": "wait"}
DIGEST_RANK = {"digest": "rank"}
DIGEST_VERSION = {"digest": "version"}
DIGEST_IGNORES = {"digest": "silent"}

# What a note says that depends on the world around it: ("wait", at), ("rank", order), ("version", key, version).
RelativeValue = tuple[Any, ...]


_known_fields: dict[Any, tuple[tuple[str, str], ...]] = {}


def _fields(cls: Any) -> tuple[tuple[str, str], ...]:
    """Return (name, how it takes part) of every field that does."""
    known = _known_fields.get(cls)
    if known is None:
        if not attrs.has(cls):
            raise TypeError(f"a note may hold plain data and attrs values, not {cls.__name__}: {cls!r}")
        known = _known_fields[cls] = tuple(
            (field.name, field.metadata.get("digest", ""))
            for field in attrs.fields(cls)
            if field.eq and field.metadata.get("digest") != "silent"
        )
    return known


_texts: dict[Any, str] = {}


def canonical_text(value: Any, slots: list[RelativeValue] | None = None) -> str:
    """Return a text that equal meanings share and different ones do not.

    Args:
        value: plain data or attrs values, nested.
        slots: when given, what depends on the world around is put there and only marked in the text.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{canonical_text(value[key], slots)}" for key in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join([canonical_text(item, slots) for item in value]) + ")"
    if isinstance(value, frozenset):
        return "<" + ",".join(sorted(canonical_text(item, slots) for item in value)) + ">"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    meta = getattr(value, "metadata", None)
    if not isinstance(meta, ObjectMeta):
        return _encode_fields(value, slots)
    if slots is not None and meta.resource_version:
        slots.append(("version", Key(value.kind, meta.namespace, meta.name), meta.resource_version))
    text = _texts.get(value)
    if text is None:
        if len(_texts) > 100_000:
            _texts.clear()
        text = _texts[value] = f"{_number(_encode_fields(value, None)):x}"
    return text


def _encode_fields(value: Any, slots: list[RelativeValue] | None) -> str:
    parts = [type(value).__name__]
    for name, how in _fields(type(value)):
        item = getattr(value, name)
        if how == "presence":
            parts.append("set" if item is not None else "unset")
        elif not how or slots is None:
            parts.append(canonical_text(item, slots))
        elif how == "wait" and getattr(value, "periodic", False):
            parts.append("some day")  # that it comes is all that matters
        elif how == "version":
            parts.append("?" if item else "any")
            if item:
                slots.append(("version", value.key, item))
        else:
            parts.append("?" if item is not None else "never")
            if item is not None:
                slots.append((how, item))
    return "[" + "|".join(parts) + "]"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())


# What is known of a value, by its identity: histories share values, so the same one is met again and again. The value
# is held as well, so that no other can get its identity.
_known: dict[tuple[int, LogKey], tuple[Any, Any]] = {}


def _remember(key: LogKey, value: Any, found: Any) -> Any:
    if len(_known) > 200_000:
        _known.clear()
    _known[id(value), key] = value, found
    return found


def object_fingerprint(key: Key, value: Any) -> int:
    """Return the 128-bit number of one object at one key, 0 if absent; sums of these describe whole contents."""
    if value is None:
        return 0
    known = _known.get((id(value), key))
    if known is not None:
        return int(known[1])
    return int(_remember(key, value, _number(f"{tuple(key)}={canonical_text(value)}")))


class DigestSource(Protocol):
    """What the digest asks of a running component."""

    seen: InformerCache
    pending: dict[str, int]
    seen_sum: int
    tracking: bool
    watching: bool


class IncrementalDigest:
    """The parts of the digest, moved along with the log. Mutable.

    What changes is only marked; it is added up when the digest is asked for, so that what is tried and taken back
    costs next to nothing.
    """

    def __init__(self, log: Log, watchers: Mapping[str, DigestSource]) -> None:
        self.log = log
        self.watchers = watchers
        self.numbers: dict[LogKey, int] = {}
        self.objects = 0
        self.notes: dict[str, int] = {}
        self.relative: dict[str, dict[Note, tuple[str, tuple[RelativeValue, ...]]]] = {}
        self.touched: dict[LogKey, None] = dict.fromkeys((*log.objects, *log.notes))
        for watcher in watchers.values():
            if not watcher.tracking:
                watcher.tracking = True
                watcher.seen_sum = sum(
                    object_fingerprint(key, obj)
                    for kind, objects in watcher.seen.kinds.items()
                    if kind not in IGNORED_KINDS
                    for key, obj in objects.items()
                ) % MODULUS

    def mark_changed(self, key: LogKey) -> None:
        """Mark a place of the map that has changed."""
        self.touched[key] = None

    def catch_up(self) -> None:
        """Add up what has changed."""
        for key in self.touched:
            gone = self.numbers.pop(key, 0)
            if type(key) is Key:
                number = 0
                if key[0] not in IGNORED_KINDS and key in self.log.objects:
                    number = self.numbers[key] = object_fingerprint(key, self.log.objects[key])
                self.objects = (self.objects + number - gone) % MODULUS
            elif key[1] not in IGNORED_SORTS:
                self._note(key, gone)  # type: ignore[arg-type]
        self.touched.clear()

    def _note(self, note: Note, gone: int) -> None:
        owner = note[0]
        relative = self.relative.setdefault(owner, {})
        relative.pop(note, None)
        value, number = self.log.notes.get(note), 0
        if value is not None:
            known = _known.get((id(value), note))
            text, slots, number = known[1] if known is not None else _remember(note, value, _skeleton(note, value))
            if slots:
                relative[note], number = (text, slots), 0
            else:
                self.numbers[note] = number
        self.notes[owner] = (self.notes.get(owner, 0) + number - gone) % MODULUS

    def digest(self) -> str:
        """Return the digest of the present place, 32 hex digits."""
        self.catch_up()
        seen = [(name, w.seen_sum, self._stale(w)) for name, w in self.watchers.items() if w.watching]
        said = ((owner, self.notes[owner], self._relative(owner)) for owner in sorted(self.notes))
        notes = [parts for parts in said if any(parts[1:])]  # who has forgotten everything says nothing
        return f"{_number(f'{self.objects}|{seen!r}|{notes!r}'):032x}"

    def local_state(self, component: str) -> tuple[Any, ...]:
        """Return what a component can know: equal where all that it has seen and noted means the same."""
        self.catch_up()
        return component, self.watchers[component].seen_sum, self.notes.get(component, 0), self._relative(component)

    def _stale(self, watcher: DigestSource) -> tuple[Key, ...]:
        """Return the keys of which a component holds an old version that means the same as the new one."""
        objects = self.log.objects
        return tuple(
            sorted(
                key
                for kind in watcher.pending
                if kind not in IGNORED_KINDS
                for key, here in watcher.seen.kinds[kind].items()
                if here is not (there := objects.get(key)) and here == there
            )
        )

    def _relative(self, owner: str) -> str:
        """Return what the notes of a component say that depends on the world around them."""
        relative = self.relative.get(owner)
        if not relative:
            return ""
        now = self.log.notes.get(Note("world", CLOCK_SORT, ""), 0.0)
        ranks = _ranks(relative)
        lines = []
        for note, (text, slots) in relative.items():
            said = []
            for how, *what in slots:
                if how == "wait":
                    said.append(repr(max(0.0, round(what[0] - now, 6))))
                elif how == "rank":
                    said.append(str(ranks[note[1]].index(what[0])))
                else:
                    said.append(self._compare(owner, what[0], what[1], ranks[what[0]]))
            lines.append(f"{text}{said}")
        return "\n".join(sorted(lines))

    def _compare(self, component: str, key: Key, version: int, noted: list[int]) -> str:
        """Say how a version compares with those that are stored, seen, and noted by the same component."""
        stored = self.log.objects.get(key)
        watcher = self.watchers.get(component)
        seen = watcher.seen.kinds.get(key[0], {}).get(key) if watcher is not None else None
        around = (_sign(version, obj) for obj in (stored, seen))
        return f"{''.join(around)}{noted.index(version) if len(noted) > 1 else ''}"


def _sign(version: int, obj: Any) -> str:
    if obj is None:
        return "-"
    there = obj.metadata.resource_version
    return "=" if version == there else "<" if version < there else ">"


def _ranks(relative: Mapping[Note, tuple[str, tuple[RelativeValue, ...]]]) -> dict[Any, list[Any]]:
    """Return, sorted, the orders in each sort of a component's notes, and the versions of each key in them."""
    found: dict[Any, set[Any]] = {}
    for note, (_, slots) in relative.items():
        for how, *what in slots:
            if how == "rank":
                found.setdefault(note[1], set()).add(what[0])
            elif how == "version":
                found.setdefault(what[0], set()).add(what[1])
    return {where: sorted(values) for where, values in found.items()}


def _skeleton(note: Note, value: Any) -> tuple[str, tuple[RelativeValue, ...], int]:
    """Return what a note says, what of it depends on the world around it, and its number."""
    slots: list[RelativeValue] = []
    text = f"{tuple(note)}={canonical_text(value, slots)}"
    return text, tuple(slots), _number(text)
