"""How Events are written: equal ones are one object with a count, as their recorders keep them.

From the tenth different sentence about one object and reason on they share one Event (client-go's correlator, v1.36.2;
the scheduler's recorder does not do that). An Event says something of an object and decides nothing: no component reads one, and the digest leaves them out.
"""

from __future__ import annotations

import hashlib
from typing import Any

import attrs

from kvolsched.api.kind import BY_NAME
from kvolsched.api.meta import ObjectMeta, ObjectReference
from kvolsched.api.workload import Event, EventSource

from .apiserver import key_of, moment
from .log import Key, Log, Note

MOST_SIMILAR = 10  # different sentences of one source, object, type and reason, before they are told together
TOGETHER = "(combined from similar events): "
SIMILAR = "similar"  # the sort of note that counts them


def record_event(log: Log, source: str, about: Any, type_: str, reason: str, message: str) -> None:
    """Write or count an Event about an object.

    The scheduler's start anew when the pod object has changed in between (its reference carries the version).
    """
    key = key_of(about)
    words = [source, *key, about.metadata.uid, type_, reason, message]
    if source == "default-scheduler":
        words.append(str(about.metadata.resource_version))
    name = f"{key.name}.{hashlib.blake2b(chr(0).join(words).encode(), digest_size=8).hexdigest()}"
    where = Key("Event", key.namespace or "default", name)
    old, now = log.objects.get(where), moment(log)
    if old is not None:
        meta = attrs.evolve(old.metadata, resource_version=log.place + 1)
        log.write(where, attrs.evolve(old, metadata=meta, count=old.count + 1, last_timestamp=now))
        return
    meta = ObjectMeta(
        name=name, namespace=where.namespace, creation_timestamp=now, resource_version=log.place + 1
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


def _where(key: Key, words: list[str]) -> Key:
    """Return the key of the Event that says this of an object."""
    return Key("Event", key.namespace or "default", f"{key.name}.{_hash(words)}")


def _hash(words: list[str]) -> str:
    return hashlib.blake2b(chr(0).join(words).encode(), digest_size=8).hexdigest()


def _reference(key: Key, about: Any) -> ObjectReference:
    kind = BY_NAME.get(key.kind)
    return ObjectReference(
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        uid=about.metadata.uid,
        api_version=kind.type.api_version if kind else "",
        resource_version=about.metadata.resource_version,
    )
