"""The digest of meaning: two worlds share it exactly when nothing that can follow tells them apart.

It covers the API objects, what each component has seen of them, and every note in relative terms: waits instead of
clock values, ranks instead of places, and of an object in a note whether it is the present version. Left out: versions,
moments (only whether they are set), uid counters, and Event objects, which no component reads.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import attrs

from ..api.meta import ObjectMeta
from .log import Key, Log, Note

SILENT_SORTS = frozenset({"cursor", "clock", "gone"})
SILENT_KINDS = frozenset({"Event"})
MODULUS = 1 << 128

# How a field of a note takes part: {"digest": WAIT} a moment on the simulated clock, as seconds from now; RANK its
# order among notes of the same sort; "presence" only whether it is set; SILENT not at all.
WAIT = {"digest": "wait"}
RANK = {"digest": "rank"}
SILENT = {"digest": "silent"}


@cache
def _fields(cls: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (field.name, field.metadata.get("digest", ""))
        for field in attrs.fields(cls)
        if field.eq and field.metadata.get("digest") != "silent"
    )


def encode(value: Any, *, now: float = 0.0, ranks: dict[Any, int] | None = None, log: Log | None = None) -> str:
    """Return a text that equal meanings share and different ones do not.

    Args:
        value: plain data or attrs values, nested.
        now: the simulated clock, which waits are counted from.
        ranks: order value -> rank, for fields marked RANK.
        log: when given, API objects inside notes also say whether they are the version that is stored.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{encode(value[key], now=now, ranks=ranks, log=log)}" for key in sorted(value)) + "}"
    if isinstance(value, tuple) and not attrs.has(type(value)):
        return "(" + ",".join(encode(item, now=now, ranks=ranks, log=log) for item in value) + ")"
    if isinstance(value, frozenset):
        return "<" + ",".join(sorted(encode(item, now=now, ranks=ranks, log=log) for item in value)) + ">"
    parts = [type(value).__name__]
    for name, how in _fields(type(value)):
        item = getattr(value, name)
        if how == "presence":
            parts.append("set" if item is not None else "unset")
        elif how == "wait":
            parts.append("-" if item is None else repr(round(max(0.0, item - now), 6)))
        elif how == "rank":
            parts.append(repr((ranks or {}).get(item, 0)))
        else:
            parts.append(encode(item, now=now, ranks=ranks, log=log))
    meta = getattr(value, "metadata", None)
    if log is not None and isinstance(meta, ObjectMeta):
        stored = log.objects.get(Key(value.kind, meta.namespace, meta.name))
        current = stored is not None and stored.metadata.resource_version == meta.resource_version
        parts.append("current" if current else "old")
    return "[" + "|".join(parts) + "]"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())


_meanings: dict[tuple[Any, Any], int] = {}


def meaning(key: Any, value: Any) -> int:
    """Return the 128-bit number of one object at one key, 0 if absent; sums of these describe whole contents."""
    if value is None:
        return 0
    known = _meanings.get((key, value))
    if known is None:
        if len(_meanings) > 200_000:
            _meanings.clear()
        known = _meanings[key, value] = _number(f"{tuple(key)}={encode(value)}")
    return known


def objects_sum(objects: dict[Key, Any]) -> int:
    """Return the sum of the meanings of API objects; Event objects are left out."""
    return sum(meaning(key, obj) for key, obj in objects.items() if key.kind not in SILENT_KINDS) % MODULUS


def notes_sum(log: Log, now: float) -> int:
    """Return the sum of the meanings of all notes, in relative terms."""
    ranks: dict[tuple[str, str], dict[Any, int]] = {}
    total = 0
    for note, value in log.notes.items():
        if note.sort in SILENT_SORTS:
            continue
        cls = type(value)
        if cls in (bool, int, float, str):
            total += meaning(note, value)
            continue
        group = ranks.get((note.component, note.sort))
        if group is None:
            group = ranks[note.component, note.sort] = _ranks(log, note)
        total += _number(f"{tuple(note)}={encode(value, now=now, ranks=group, log=log)}")
    return total % MODULUS


def _ranks(log: Log, note: Note) -> dict[Any, int]:
    """Return the rank of every order value among the notes of one sort of a component."""
    orders = set()
    for other, value in log.notes.items():
        if other.sort == note.sort and other.component == note.component and attrs.has(type(value)):
            for name, how in _fields(type(value)):
                if how == "rank":
                    orders.add(getattr(value, name))
    return {order: rank for rank, order in enumerate(sorted(orders))}
