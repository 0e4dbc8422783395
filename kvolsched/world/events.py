"""The recorder of Events: repeated Events become one object with a count.

There are two recorders (client-go, v1.36.2). That of controllers counts equal messages, and aggregates messages about
one object and reason from the tenth different one on. That of the events.k8s.io API (`series`, used by the scheduler)
compares the object's version instead of the message, so that a new message about an unchanged pod only increases the
count of the first. No component reads Events, and the digest ignores them.
"""

import hashlib
from functools import cache
from typing import Any

from kvolsched.api.kinds.kind import KINDS_BY_NAME
from kvolsched.api.kinds.meta import ObjectMeta, ObjectReference, evolve, maker
from kvolsched.api.kinds.workload import Event, EventSource

from .apiserver import CLOCK, key_of, moment
from .log import Key, Log, Note

AGGREGATE_FROM = 10  # different messages of one source, object, type and reason
AGGREGATE_PREFIX = "(combined from similar events): "
SERIES_TIMEOUT = 360.0  # seconds after which the scheduler's recorder begins a new Event
_event, _meta, _object_reference = maker(Event), maker(ObjectMeta), maker(ObjectReference)
SIMILAR_EVENTS = "similar"  # the sort of the recorders' notes


def record_event(log: Log, source: str, about: Any, type_: str, reason: str, message: str, *,
                 series: bool = False) -> None:
    """Write or count an Event about an object; `series`: by the events.k8s.io API, by the object's version."""
    key, now = key_of(about), moment(log)
    fields = [source, *key, about.metadata.uid, type_, reason, message]
    if series:
        event_key = _series_event(log, key, [*fields, str(about.metadata.resource_version)])
    else:
        event_key, message = _correlated_event(log, key, fields)
    old = log.objects.get(event_key)
    if old is not None:
        message = old.message if series else message
        meta = evolve(old.metadata, resource_version=log.place + 1)
        new = evolve(old, metadata=meta, message=message, count=old.count + 1, last_timestamp=now)
        log.write(event_key, new)
        return
    meta = _meta(name=event_key.name, namespace=event_key.namespace, creation_timestamp=now,
                      resource_version=log.place + 1)
    event = _event(metadata=meta, involved_object=_reference(key, about), type=type_, reason=reason, message=message,
                  source=_event_source(source), count=1, first_timestamp=now, last_timestamp=now)
    log.write(event_key, event)


def _series_event(log: Log, key: Key, fields: list[str]) -> Key:
    """Return the key of the Event that counts a message of the scheduler: the first for this version of the object."""
    *others, _message, version = fields
    note, now = Note("world", SIMILAR_EVENTS, chr(0).join([*others, version])), float(log.notes.get(CLOCK, 0.0))
    series: tuple[str, float] | None = log.notes.get(note)
    if series is not None and now - series[1] <= SERIES_TIMEOUT:
        event_key = Key("Event", key.namespace or "default", series[0])
    else:
        event_key = _event_key(key, fields)
    log.write(note, (event_key.name, now))
    return event_key


def _correlated_event(log: Log, key: Key, fields: list[str]) -> tuple[Key, str]:
    """Return the key of the Event that counts a message of a controller, and the message, maybe aggregated."""
    event_key, message = _event_key(key, fields), fields[-1]
    if event_key in log.objects:
        return event_key, message
    note = Note("world", SIMILAR_EVENTS, chr(0).join(fields[:-1]))
    count = log.notes.get(note, 0) + 1
    if count < AGGREGATE_FROM:
        log.write(note, count)
        return event_key, message
    return _event_key(key, fields[:-1]), f"{AGGREGATE_PREFIX}{message}"


@cache
def _event_source(component: str) -> EventSource:
    return EventSource(component=component)


def _event_key(key: Key, fields: list[str]) -> Key:
    """Return the key of the Event with these fields about an object."""
    return Key("Event", key.namespace or "default", f"{key.name}.{_hash(fields)}")


def _hash(fields: list[str]) -> str:
    return hashlib.blake2b(chr(0).join(fields).encode(), digest_size=8).hexdigest()


def _reference(key: Key, about: Any) -> ObjectReference:
    kind = KINDS_BY_NAME.get(key.kind)
    return _object_reference(kind=key.kind, namespace=key.namespace, name=key.name, uid=about.metadata.uid,
                           api_version=kind.type.api_version if kind else "",
                           resource_version=about.metadata.resource_version)
