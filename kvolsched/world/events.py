"""How Events are written: equal ones are one object with a count, as their recorders keep them.

Two kinds of recorder (client-go, v1.36.2): that of controllers tells alike what says the same, and from the tenth
different sentence about one object and reason on all of them together; that of today's API (`series`: the scheduler's)
looks at the object's version and not at the sentence, so what it says next of an unchanged pod only counts the first
one up. An Event says something of an object and decides nothing: no component reads it, the digest leaves it out.
"""

from __future__ import annotations

import hashlib
from typing import Any

import attrs

from kvolsched.api.kinds.kind import KINDS_BY_NAME
from kvolsched.api.kinds.meta import ObjectMeta, ObjectReference
from kvolsched.api.kinds.workload import Event, EventSource

from .apiserver import CLOCK, key_of, moment
from .log import Key, Log, Note

AGGREGATE_FROM = 10  # different sentences of one source, object, type and reason, before they are told together
AGGREGATE_PREFIX = "(combined from similar events): "
SERIES_TIMEOUT = 360.0  # seconds after which the scheduler's recorder begins a new Event
SIMILAR_EVENTS = "similar"  # the sort of note by which recorders remember


def record_event(
    log: Log, source: str, about: Any, type_: str, reason: str, message: str, *, series: bool = False
) -> None:
    """Write or count an Event about an object; `series`: as today's API has it, by the object's version."""
    key, now = key_of(about), moment(log)
    words = [source, *key, about.metadata.uid, type_, reason, message]
    if series:
        where = _first_said(log, key, [*words, str(about.metadata.resource_version)])
    else:
        where, message = _correlated(log, key, words)
    old = log.objects.get(where)
    if old is not None:
        message = old.message if series else message
        meta = attrs.evolve(old.metadata, resource_version=log.place + 1)
        log.write(where, attrs.evolve(old, metadata=meta, message=message, count=old.count + 1, last_timestamp=now))
        return
    meta = ObjectMeta(
        name=where.name, namespace=where.namespace, creation_timestamp=now, resource_version=log.place + 1
    )
    log.write(
        where,
        Event(
            metadata=meta,
            involved_object=_reference(key, about),
            type=type_,
            reason=reason,
            message=message,
            source=EventSource(component=source),
            count=1,
            first_timestamp=now,
            last_timestamp=now,
        ),
    )


def _first_said(log: Log, key: Key, words: list[str]) -> Key:
    """Return the Event that a sentence of the scheduler's belongs to: the first about this version of the object."""
    *alike, _message, version = words
    note, now = Note("world", SIMILAR_EVENTS, _hash([*alike, version])), float(log.notes.get(CLOCK, 0.0))
    known: tuple[str, float] | None = log.notes.get(note)
    same = known is not None and now - known[1] <= SERIES_TIMEOUT
    where = _where(key, words) if known is None or not same else Key("Event", key.namespace or "default", known[0])
    log.write(note, (where.name, now))
    return where


def _correlated(log: Log, key: Key, words: list[str]) -> tuple[Key, str]:
    """Return the Event that a sentence of a controller's belongs to, and the sentence as it is told."""
    where, message = _where(key, words), words[-1]
    if where in log.objects:
        return where, message
    note = Note("world", SIMILAR_EVENTS, _hash(words[:-1]))
    count = log.notes.get(note, 0) + 1
    if count < AGGREGATE_FROM:
        log.write(note, count)
        return where, message
    return _where(key, words[:-1]), f"{AGGREGATE_PREFIX}{message}"


def _where(key: Key, words: list[str]) -> Key:
    """Return the key of the Event that says this of an object."""
    return Key("Event", key.namespace or "default", f"{key.name}.{_hash(words)}")


def _hash(words: list[str]) -> str:
    return hashlib.blake2b(chr(0).join(words).encode(), digest_size=8).hexdigest()


def _reference(key: Key, about: Any) -> ObjectReference:
    kind = KINDS_BY_NAME.get(key.kind)
    return ObjectReference(
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        uid=about.metadata.uid,
        api_version=kind.type.api_version if kind else "",
        resource_version=about.metadata.resource_version,
    )
