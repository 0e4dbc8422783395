"""Recorded steps of the volume binding loop, on the real actors, turn by turn: what they write and say is taken down.

Alone knows how such a case becomes a world, and in which form these recordings write what was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api import defaults
from kvolsched.api.kinds.quantity import canonical
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import merge_patch
from kvolsched.revision import Revision
from kvolsched.scheduler.loop.assume_cache import AssumeCache
from kvolsched.scheduler.loop.scheduling_cycle import PASS, SCHEDULER
from kvolsched.world.apiserver import Done, Refused, Write, conflict, key_of
from kvolsched.world.component import TurnContext
from kvolsched.world.log import Key

from .recording import Case

VOLUMES = ("PersistentVolume", "PersistentVolumeClaim")
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"
CONTENTS = {  # kind, verb -> the fields that recordings keep of what was sent
    (VOLUME, "update"): "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity",
    (VOLUME, "updateStatus"): "phase message",
    (VOLUME, "create"): (
        "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity phase"
    ),
    (CLAIM, "update"): "annotations labels finalizers volumeName storageClassName",
    (CLAIM, "updateStatus"): "phase accessModes capacity currentVolumeAttributesClassName",
}
IN_STATUS = ("phase", "message", "currentVolumeAttributesClassName")


class Stage:
    """A world with a case's objects in it, driven turn by turn; takes down volume writes and all events. Mutable."""

    def __init__(
        self,
        revision: Revision,
        case: Case,
        kinds: Iterable[str],
        components: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.sim = revision.simulation(components=components or {})
        self.kinds = frozenset(kinds)
        self.events: list[dict[str, Any]] = []
        self.writes: list[dict[str, Any]] = []
        self.faults: dict[int, str] = {fault["write"]: fault["error"] for fault in case.get("faults", ())}
        self.count = 0
        self._commit, self.sim.commit = self.sim.commit, self.commit  # type: ignore[method-assign]
        self.sim.record_event = self.record_event  # type: ignore[method-assign]
        for plain in case["objects"]:
            if plain["kind"] in self.kinds:
                self.put(plain)

    # -- objects ------------------------------------------------------------------------------------------

    def put(self, plain: Mapping[str, Any]) -> None:
        """Set an object as it is, with a new version."""
        obj = defaults.defaulted(from_plain(dict(plain)))
        key = key_of(obj)
        uid = plain["metadata"].get("uid", f"uid-{key.name}")
        meta = attrs.evolve(obj.metadata, namespace=key.namespace, uid=uid, resource_version=self.sim.place + 1)
        self.sim.log.write(key, attrs.evolve(obj, metadata=meta))

    def change(self, what: Mapping[str, Any]) -> None:
        """Make one of the recordings' changes to the API, which watchers have yet to see."""
        if "create" in what:
            self.put(what["create"])
            return
        where = what.get("patch") or what.get("delete") or what
        if "kind" in where and where["kind"] in self.kinds:
            key = Key(where["kind"], where.get("namespace", ""), where["name"])
            old = self.sim.log.objects.get(key)
            if "delete" in what:
                self.sim.log.write(key, None)
            elif old is not None:
                self.put(merge_patch(to_plain(old), what["merge"]))

    def show(self) -> None:
        """Let all components see everything."""
        for process in self.sim.processes.values():
            self.sim.deliver(process)

    # -- actors -------------------------------------------------------------------------------------------

    def act(self, actor: str, cause: str, *, turns: int = 100) -> list[TurnContext]:
        """Let an actor take a cause up and bring it to its end; return the hands of the turns."""
        process, who = self.sim.find(actor)
        hands = []
        for _ in range(turns):
            ctx, more = self.sim.act(process, who, cause)
            hands.append(ctx)
            if not more:
                break
        return hands

    def ready(self, actor: str) -> list[str]:
        """List the causes that an actor may take up."""
        process, who = self.sim.find(actor)
        return [cause for _, cause in who.ready(TurnContext(self.sim, process, who), every=True)]

    def note(self, sort: str, name: str) -> Any:
        """Return a note of the scheduler."""
        process, who = self.sim.find(PASS)
        return TurnContext(self.sim, process, who).note(sort, name)

    @property
    def cache(self) -> AssumeCache:
        """The scheduler's cache of seen and assumed objects."""
        cache = self.sim.processes[SCHEDULER].views["cache"]
        assert isinstance(cache, AssumeCache)
        return cache

    def caches(self) -> dict[str, dict[str, Any]]:
        """Return every claim and volume for which the cache does not return the informer's copy."""
        return {
            f"{key.kind} {name_of(key)}": fields_of("update", self.cache.get(key))
            for key in sorted(self.cache.assumed)
            if key.kind in VOLUMES and self.cache.is_assumed(key)
        }

    # -- taking down --------------------------------------------------------------------------------------

    def commit(self, component: str, write: Write) -> Done | Refused:
        """Carry out a write, or let the fault strike that the case has for it."""
        if write.key.kind not in VOLUMES:
            return self._commit(component, write)
        self.count += 1
        fault = self.faults.get(self.count)
        outcome = self._commit(component, write) if fault is None else refused(write, fault)
        self.writes.append(told(outcome))
        return outcome

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Take an event down; who says it is not in these recordings."""
        key = key_of(about)
        said = {"kind": key.kind, "key": name_of(key), "type": type_, "reason": reason, "message": message}
        self.events.append(said)

    def since(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return (writes, events) since the last time this was asked."""
        taken = self.writes[:], self.events[:]
        self.writes.clear()
        self.events.clear()
        return taken


def name_of(key: Key) -> str:
    """Return a key as recordings write it."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def refused(write: Write, fault: str) -> Refused:
    """Return the refusal that a case's word stands for."""
    if fault == "conflict":
        return Refused(write, "Conflict", conflict(write.key))
    if fault == "notFound":
        return Refused(write, "NotFound", f'{write.key.kind.lower()}s "{write.key.name}" not found')
    return Refused(write, "Timeout", fault)


def told(outcome: Done | Refused) -> dict[str, Any]:
    """Return the outcome of a write as recordings write it."""
    write = outcome.write
    verb = {"update_status": "updateStatus"}.get(write.verb, write.verb)
    said: dict[str, Any] = {"verb": verb, "kind": write.key.kind, "key": name_of(write.key)}
    if verb != "delete":
        said["fields"] = fields_of(verb, write.new)
    if isinstance(outcome, Refused):
        said["error"] = {"Conflict": "conflict", "NotFound": "notFound"}.get(outcome.reason, outcome.message)
    elif not outcome.changed and verb != "delete":
        said["noop"] = True
    return said


def fields_of(verb: str, obj: Any) -> dict[str, Any]:
    """Return the fields that a write sends; empty ones are left out, but for a claim's class ""."""
    plain = to_plain(obj)
    kind = VOLUME if isinstance(obj, PersistentVolume) else CLAIM
    found = {}
    for field in CONTENTS[kind, verb].split():
        part = plain.get(_place(field, verb), {})
        value = part.get("persistentVolumeReclaimPolicy" if field == "reclaimPolicy" else field)
        if field == "claimRef" and value:
            value = {word: what for word, what in value.items() if word != "resourceVersion"}
        if field == "capacity" and value:
            value = {name: canonical(text) for name, text in value.items()}
        if value or (value is not None and (kind, field) == (CLAIM, "storageClassName")):
            found[field] = value
    return found


def _place(field: str, verb: str) -> str:
    if field in ("annotations", "labels", "finalizers"):
        return "metadata"
    return "status" if field in IN_STATUS or verb == "updateStatus" else "spec"


def only(fields: Sequence[str], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return of a write or a cached object's fields these alone."""
    return {word: what for word, what in written.items() if word in fields}
