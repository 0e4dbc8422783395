"""The API server, which alone changes API objects: it commits a write or refuses it with Kubernetes' reason.

A refused write changes no object. This module handles versions, uids, finalizers, grace periods, preconditions and the
split between an object and its status. Admission, subresources and permissions are passed in as functions.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import attrs

from kvolsched.api.kinds.kind import KINDS_BY_NAME, find_kind
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, evolve, maker
from kvolsched.api.remembered import shared
from kvolsched.api.unknown_name import UnknownName

from .digest import DIGEST_IGNORES, DIGEST_VERSION
from .log import Key, Log, Note

CLOCK = Note("world", "clock", "")
ORIGIN = Note("world", "origin", "")  # seconds from EPOCH to time 0 of the clock: 0, or when a dump was taken
EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z, the start of simulated time
LAST = 253_402_300_799 - EPOCH  # the end of the year 9999: what comes later is written as this


@attrs.frozen
class Write:
    """A write to be sent to the API server.

    `verb` is create, update, update_status, patch, delete or the name of a subresource; `new` the object, payload or
    patch (a value with `apply(old)`; with a true `admitted` its result is admitted as an update is); `version` the
    resourceVersion it builds on (0: any); `uid` a precondition ("": none); `words` its sentence;
    `method` the HTTP verb, where it is not the usual one (kubectl patches what it changes).
    """

    verb: str
    key: Key
    new: Any = None
    version: int = attrs.field(default=0, metadata=DIGEST_VERSION)
    uid: str = ""
    words: str = attrs.field(default="", metadata=DIGEST_IGNORES)
    method: str = attrs.field(default="", metadata=DIGEST_IGNORES)

    @property
    def subject(self) -> str:
        """The reference to the object: `pvc/data-0`."""
        return ref(self.key)


@attrs.frozen(weakref_slot=False)
class CommittedWrite:
    """A committed write: the object as stored (None: removed), and whether anything changed.

    `server` is the API server that answered, if there are several.
    """

    write: Write
    stored: Any
    changed: bool = True
    server: str = ""


@attrs.frozen
class RefusedWrite:
    """A refused write. `reason` is Kubernetes' (Conflict, NotFound, AlreadyExists, ...).

    `causes` are the single faults of an invalid object; `server` is the API server that answered, if there are several.
    """

    write: Write
    reason: str
    message: str
    causes: tuple[Any, ...] = ()
    server: str = ""


@attrs.frozen
class Denial:
    """What admission or a subresource returns to refuse a write; `causes` are the faults of an invalid object."""

    reason: str
    message: str
    causes: tuple[Any, ...] = ()


_committed, _meta = maker(CommittedWrite), maker(ObjectMeta)
Admit = Callable[[str, Any, Any, Log], Any]
Subresource = Callable[[Any, Any, Mapping[Key, Any]], Any]
Compound = Callable[[Any, Any, Log], "Denial | tuple[Write, ...]"]
Permit = Callable[[str, str, str], bool]
WaitingTime = Callable[[Write, Log], float]
Charge = Callable[[Any, Any, Log], "Denial | tuple[Any, ...]"]


def ref(key: Key) -> str:
    """Return the reference to a key: `pod/web-0`, with the namespace unless it is `default`."""
    kind = KINDS_BY_NAME.get(key.kind)
    alias = kind.alias if kind else key.kind.lower()
    return f"{alias}/{key.name}" if key.namespace in ("", "default") else f"{alias}/{key.namespace}/{key.name}"


def key_for(reference: str) -> Key:
    """Return the key of a reference such as `pod/web-0` or `pvc/shop/data`.

    Raises:
        UnknownName: the kind is not known, or the reference has not two or three parts. It is a KeyError.
    """
    parts = reference.split("/")
    if len(parts) not in (2, 3):
        raise UnknownName(f"{reference!r} is no reference; write KIND/NAME or KIND/NAMESPACE/NAME")
    kind = find_kind(parts[0])
    namespace = (parts[1] if len(parts) == 3 else "default") if kind.namespaced else ""
    return Key(kind.name, namespace, parts[-1])


def key_of(obj: Any) -> Key:
    """Return the key of an API object; the namespace of a namespaced kind is by default `default`."""
    kind, namespace = KINDS_BY_NAME.get(obj.kind), obj.metadata.namespace
    if kind is not None:
        namespace = (namespace or "default") if kind.namespaced else ""
    elif not namespace and not obj.metadata.resource_version:  # a stored one of a kind that nobody models is in none
        namespace = "default"
    return _one_key(obj.kind, namespace, obj.metadata.name)


_one_key = lru_cache(maxsize=1 << 14)(Key)  # those who write about an object share its key


def moment(log: Log, after: float = 0.0) -> str:
    """Return the present time of a world plus some seconds, as manifests write it."""
    return timestamp(log.notes.get(ORIGIN, 0.0) + log.notes.get(CLOCK, 0.0) + after)


def timestamp(seconds: float) -> str:
    """Return a time in seconds since EPOCH as manifests write it (RFC 3339, whole seconds, UTC, year 9999 at most)."""
    return _timestamp_of_whole(int(min(seconds, LAST)))


@lru_cache(maxsize=1 << 12)
def _timestamp_of_whole(seconds: int) -> str:
    return datetime.fromtimestamp(EPOCH + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def uid_of(key: Key, born: int) -> str:
    """Return the uid of the `born`-th object (from 0) that was created at a key: equal in every run."""
    digest = hashlib.blake2b(f"{key.kind}/{key.namespace}/{key.name}/{born}".encode(), digest_size=16).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def next_uid(notes: Mapping[Note, Any], key: Key) -> str:
    """Return the uid of the next object that is created at a key, in a world with these notes."""
    return uid_of(key, notes.get(Note("world", "gone", "/".join(key)), 0))


class ApiServer:
    """Commits writes to a log, or refuses them.

    Args:
        admit: (verb, old, new, log) -> the object to store, or `Denial`; not called for status updates. A delete (new
            is None) is only allowed or denied.
        subresources: name -> (old, payload, objects) -> the object to store, or `Denial`.
        permit: (component, verb, kind) -> whether the component is allowed to.
        generations: kinds with metadata.generation, which counts the changes of their specs.
        series: sources that record Events by the events.k8s.io API: by object version, not by message (see `events`).
        compounds: name of a subresource -> (old, payload, log) -> the writes that one request stands for, or `Denial`;
            the server makes them itself.
        waiting_time: (write, log) -> how many seconds a write waits for its answer (slow webhooks).
        charge: (old, new, log) -> the quotas that count an admitted object, with their new status, or `Denial`; they
            are stored with it.
    """

    def __init__(self, admit: Admit = lambda _verb, _old, new, _log: new,
                 subresources: Mapping[str, Subresource] | None = None,
                 permit: Permit = lambda _component, _verb, _kind: True,
                 generations: Iterable[str] = (), series: Iterable[str] = (),
                 waiting_time: WaitingTime = lambda _write, _log: 0.0,
                 compounds: Mapping[str, Compound] | None = None,
                 charge: Charge = lambda _old, _new, _log: ()) -> None:
        self.admit = admit
        self.subresources = dict(subresources or {})
        self.permit = permit
        self.generations = frozenset(generations)
        self.series = frozenset(series)
        self.waiting_time = waiting_time
        self.compounds = dict(compounds or {})
        self.charge = charge

    def commit(self, log: Log, write: Write, by: str) -> CommittedWrite | RefusedWrite:
        """Commit or refuse a write in the name of a component."""
        if not self.permit(by, write.verb, write.key.kind):
            return self._refuse(write, Denial("Forbidden", _forbidden(by, write)))
        if write.verb == "update" and (fault := _mismatch(write.key, write.new)):
            return self._refuse(write, Denial("BadRequest", fault))
        return self._commit(log, write)

    def _commit(self, log: Log, write: Write) -> CommittedWrite | RefusedWrite:
        """Commit or refuse a write that is permitted."""
        old = log.objects.get(write.key)
        match write.verb:
            case "create":
                return self._create(log, write, old)
            case "delete":
                return self._delete(log, write, old)
        if unmet := _unmet_precondition(write, old):
            return self._refuse(write, unmet)
        if write.verb in self.compounds:
            return self._commit_parts(log, write, old)
        match write.verb:
            case "update":
                new, status = write.new, getattr(old, "status", None)
                if getattr(new, "status", None) is not status:
                    new = evolve(new, status=status)
            case "update_status":
                new = evolve(old, status=write.new.status, metadata=self._status_metadata(old, write.new))
            case "patch":
                new = write.new.apply(old)
            case _:
                new = self.subresources[write.verb](old, write.new, log.objects)
        if not isinstance(new, Denial) and write.verb != "update_status":
            new = self._admitted(log, write, old, new)
        if isinstance(new, Denial):
            return self._refuse(write, new)
        return self._store(log, write, old, new)

    def _commit_parts(self, log: Log, write: Write, old: Any) -> CommittedWrite | RefusedWrite:
        """Make the writes that one request stands for; the first refusal is its answer."""
        parts = self.compounds[write.verb](old, write.new, log)
        if isinstance(parts, Denial):
            return self._refuse(write, parts)
        outcome: CommittedWrite | RefusedWrite = CommittedWrite(write, old, changed=False)
        for part in parts:
            outcome = evolve(self._commit(log, part), write=write)
            if isinstance(outcome, RefusedWrite):
                break
        return outcome

    def _create(self, log: Log, write: Write, old: Any) -> CommittedWrite | RefusedWrite:
        new = self.admit("create", None, write.new, log)
        charged = new if isinstance(new, Denial) else self.charge(None, new, log)
        if isinstance(charged, Denial):
            return self._refuse(write, charged)
        if old is not None:  # checked last, as Kubernetes does: faults of the object are reported first
            message = f'{_resource(write.key)} "{write.key.name}" already exists'
            return self._refuse(write, Denial("AlreadyExists", message))
        self._count(log, charged)
        meta: ObjectMeta = evolve(
            new.metadata, namespace=write.key.namespace, deletion_timestamp=None, deletion_grace_period_seconds=None,
            uid=new.metadata.uid or next_uid(log.notes, write.key),
            creation_timestamp=new.metadata.creation_timestamp or moment(log), resource_version=log.place + 1,
            labels=shared(new.metadata.labels), annotations=shared(new.metadata.annotations),
        )
        if write.key.kind in self.generations:
            meta = evolve(meta, rest=meta.rest.with_(generation=1))
        stored = evolve(new, metadata=meta)
        log.write(write.key, stored)
        return CommittedWrite(write, stored)

    def _admitted(self, log: Log, write: Write, old: Any, new: Any) -> Any:
        """Return a changed object after admission, counted in the quotas of its namespace, or a `Denial`."""
        verb = "update" if getattr(write.new, "admitted", False) else write.verb
        new = self.admit(verb, old, new, log)
        if verb == "update" and not isinstance(new, Denial):
            charged = self.charge(old, new, log)
            if isinstance(charged, Denial):
                return charged
            self._count(log, charged)
        return new

    @staticmethod
    def _count(log: Log, charged: Any) -> None:
        """Store the quotas that count an object."""
        for quota in charged:
            log.write(key_of(quota), evolve(quota, metadata=evolve(quota.metadata, resource_version=log.place + 1)))

    def _store(self, log: Log, write: Write, old: Any, new: Any) -> CommittedWrite:
        before, after = old.metadata, new.metadata
        meta = _meta(  # the writer's fields, and those that only the server sets
            name=after.name, namespace=before.namespace, generate_name=after.generate_name, uid=before.uid,
            labels=shared(after.labels), annotations=shared(after.annotations), finalizers=after.finalizers,
            creation_timestamp=before.creation_timestamp, deletion_timestamp=before.deletion_timestamp,
            deletion_grace_period_seconds=before.deletion_grace_period_seconds,
            owner_references=after.owner_references, resource_version=log.place + 1,
            rest=after.rest if write.key.kind not in self.generations else self._with_generation(old, new),
        )
        stored = evolve(new, metadata=meta)
        if stored == old:  # equality ignores versions
            return _committed(write, old, changed=False)
        if meta.deletion_timestamp and not meta.finalizers and not meta.deletion_grace_period_seconds:
            self._remove(log, write.key)  # the last finalizer was removed
            return _committed(write, None)
        log.write(write.key, stored)
        return _committed(write, stored)

    def _status_metadata(self, old: Any, new: Any) -> ObjectMeta:
        """Return the metadata after a status update, which also writes the annotations of a workload."""
        meta: ObjectMeta = old.metadata
        if owners := new.metadata.rest.get("managedFields"):
            meta = evolve(meta, rest=meta.rest.with_(managedFields=owners))
        if old.kind not in self.generations or new.metadata.annotations == meta.annotations:
            return meta
        return evolve(meta, annotations=new.metadata.annotations)

    @staticmethod
    def _with_generation(old: Any, new: Any) -> Frozen:
        number = old.metadata.rest.get("generation", 1) + (new.spec != old.spec)
        rest: Frozen = new.metadata.rest
        return rest.with_(generation=number)

    def _delete(self, log: Log, write: Write, old: Any) -> CommittedWrite | RefusedWrite:
        """Remove an object, or mark it as terminating while finalizers or grace remain (`new` = grace in seconds)."""
        if unmet := _unmet_precondition(write, old):
            return self._refuse(write, unmet)
        if isinstance(denial := self.admit("delete", old, None, log), Denial):
            return self._refuse(write, denial)
        grace = write.new if write.new is not None else self._grace(old)
        meta = old.metadata
        remaining = meta.deletion_grace_period_seconds or 0
        if meta.deletion_timestamp is not None and (grace >= remaining if remaining else meta.finalizers):
            return CommittedWrite(write, old, changed=False)  # a grace period can only be shortened
        first = meta.deletion_timestamp is None and (meta.finalizers or grace or old.kind == "Pod")
        if first or remaining:  # the end of a grace period is a separate change
            marked = evolve(meta, deletion_timestamp=moment(log, grace or 0),
                                  deletion_grace_period_seconds=grace or 0, resource_version=log.place + 1)
            counts = old.kind in self.generations or (old.kind not in KINDS_BY_NAME and "generation" in meta.rest)
            if first and counts:
                marked = evolve(marked, rest=marked.rest.with_(generation=marked.rest.get("generation", 1) + 1))
            old = evolve(old, metadata=marked)
            log.write(write.key, old)
        if grace or meta.finalizers:
            return CommittedWrite(write, old)
        self._remove(log, write.key)
        return CommittedWrite(write, None)

    @staticmethod
    def _grace(old: Any) -> int:
        """Return the default grace period of an object in seconds: 0 unless it is a running pod on a node."""
        if old.kind != "Pod" or not old.spec.node_name or old.terminal:
            return 0
        grace = old.spec.termination_grace_period_seconds
        return 30 if grace is None else int(grace)

    @staticmethod
    def _remove(log: Log, key: Key) -> None:
        counter = Note("world", "gone", "/".join(key))
        log.write(key, None)
        log.write(counter, log.notes.get(counter, 0) + 1)

    @staticmethod
    def _refuse(write: Write, deny: Denial) -> RefusedWrite:
        return RefusedWrite(write, deny.reason, deny.message, deny.causes)


def _mismatch(key: Key, new: Any) -> str:
    """Return why an object is not the one that a request names by its URL; "" if it is."""
    meta = new.metadata
    if new.kind != key.kind:
        version, into = new.api_version.rpartition("/")[2], find_kind(key.kind).group.partition(".")[0] or "core"
        why = f"converting ({version}.{new.kind}) to ({into}.{key.kind}): unknown conversion"
        return f'{new.kind} in version "{version}" cannot be handled as a {key.kind}: {why}'
    if key.namespace and meta.namespace not in ("", key.namespace):
        return "the namespace of the provided object does not match the namespace sent on the request"
    if meta.name != key.name:
        return f"the name of the object ({meta.name}) does not match the name on the URL ({key.name})"
    return ""


def _unmet_precondition(write: Write, old: Any) -> Denial | None:
    """Return why a write of a stored object is refused: it is gone, another one of its name, or has changed since."""
    uid = write.uid or (write.new.metadata.uid if write.verb == "update" else "")
    is_other = old is not None and uid not in ("", old.metadata.uid)
    if is_other and (write.verb in ("delete", "evict") or not write.uid):
        detail = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.metadata.uid}"
        return Denial("Conflict", f"{_unfulfilled(write.key)}: {detail}")
    if old is None or is_other:
        return Denial("NotFound", f'{_resource(write.key)} "{write.key.name}" not found')
    if write.version and old.metadata.resource_version != write.version:
        return Denial("Conflict", conflict_message(write.key))
    return None


def conflict_message(key: Key) -> str:
    """Return the API server's message for a write that builds on an old version."""
    modified = "the object has been modified; please apply your changes to the latest version and try again"
    return f"{_unfulfilled(key)}: {modified}"


def _unfulfilled(key: Key) -> str:
    return f'Operation cannot be fulfilled on {_resource(key)} "{key.name}"'


def _resource(key: Key) -> str:
    kind = KINDS_BY_NAME.get(key.kind)
    return kind.resource if kind else key.kind.lower() + "s"


def _forbidden(by: str, write: Write) -> str:
    kind = KINDS_BY_NAME.get(write.key.kind)
    resource, _, group = _resource(write.key).partition(".")
    where = f'in the namespace "{write.key.namespace}"' if kind and kind.namespaced else "at the cluster scope"
    verb = {"update_status": "update", "bind": "create", "evict": "create"}.get(write.verb, write.verb)
    return (
        f'{resource} "{write.key.name}" is forbidden: User "system:{by}" cannot {verb} resource "{resource}" '
        f'in API group "{group}" {where}'
    )
