"""Replay recorded steps of the volume binding loop on the engine's actors and record their writes and events.

This module alone builds a world from such a case, and formats writes and caches as these recordings do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api import defaults
from kvolsched.api.kinds.quantity import canonical
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import merge_patch
from kvolsched.scheduler.loop.assume_cache import AssumeCache
from kvolsched.scheduler.loop.scheduling_cycle import PASS, SCHEDULER
from kvolsched.scheduler.loop.scheduling_queue import ACTIVE, QUEUE, QueueEntry
from kvolsched.world.apiserver import CommittedWrite, RefusedWrite, Write, conflict_message, key_of
from kvolsched.world.component import TurnContext
from kvolsched.world.log import Key, Note
from kvolsched.world.simulation import Simulation

from .agreement import Case

VOLUMES = ("PersistentVolume", "PersistentVolumeClaim")
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"
CONTENTS = {  # kind, verb -> the fields of a write that the recordings contain
    (VOLUME, "update"): "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity",
    (VOLUME, "updateStatus"): "phase message",
    (VOLUME, "create"): (
        "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity phase"
    ),
    (CLAIM, "update"): "annotations labels finalizers volumeName storageClassName",
    (CLAIM, "updateStatus"): "phase accessModes capacity currentVolumeAttributesClassName",
}
IN_METADATA = ("annotations", "labels", "finalizers")
IN_STATUS = ("phase", "message", "currentVolumeAttributesClassName")


class RecordedLoop:
    """A world with a case's objects of some kinds, driven turn by turn; records volume writes and events. Mutable."""

    def __init__(self, sim: Simulation, case: Case, kinds: Iterable[str] = ()) -> None:
        self.sim = sim
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

    def put(self, plain: Mapping[str, Any]) -> None:
        """Store an object unchanged, with a new resource version."""
        obj = defaults.with_defaults(from_plain(dict(plain)))
        key = key_of(obj)
        uid = plain["metadata"].get("uid", f"uid-{key.name}")
        meta = attrs.evolve(obj.metadata, namespace=key.namespace, uid=uid, resource_version=self.sim.place + 1)
        self.sim.log.write(key, attrs.evolve(obj, metadata=meta))

    def change(self, what: Mapping[str, Any]) -> None:
        """Apply one recorded change to the API; components have not seen it yet."""
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
        """Deliver all pending changes to every component."""
        for process in self.sim.processes.values():
            self.sim.deliver(process)

    def act(self, actor: str, cause: str, *, turns: int = 100) -> list[TurnContext]:
        """Run the turns of one cause of an actor to the end; return the context of each turn."""
        process, who = self.sim.find(actor)
        contexts = []
        for _ in range(turns):
            ctx, more = self.sim.act(process, who, cause)
            contexts.append(ctx)
            if not more:
                break
        return contexts

    def activate(self, pod: str) -> None:
        """Move a pod to the active part of the queue: the recording pops pods in an order of its own."""
        entry: QueueEntry | None = self.note(QUEUE, pod)
        if entry is not None:
            self.sim.log.write(Note(SCHEDULER, QUEUE, pod), attrs.evolve(entry, part=ACTIVE))

    def ready(self, actor: str) -> list[str]:
        """Return the causes that an actor may process now."""
        process, who = self.sim.find(actor)
        return [cause for _, cause in who.ready_causes(TurnContext(self.sim, process, who), every=True)]

    def note(self, sort: str, name: str) -> Any:
        """Return a note of the scheduler, or None."""
        process, who = self.sim.find(PASS)
        return TurnContext(self.sim, process, who).note(sort, name)

    @property
    def cache(self) -> AssumeCache:
        """The scheduler's cache of seen and assumed objects."""
        cache = self.sim.processes[SCHEDULER].views["cache"]
        assert isinstance(cache, AssumeCache)
        return cache

    def caches(self) -> dict[str, dict[str, Any]]:
        """Return every claim and volume whose cached object differs from the informer's."""
        return {
            f"{key.kind} {recorded_key(key)}": fields_of("update", self.cache.get(key))
            for key in sorted(self.cache.assumed) if key.kind in VOLUMES and self.cache.is_assumed(key)
        }

    def commit(self, component: str, write: Write) -> CommittedWrite | RefusedWrite:
        """Commit a write, or refuse it if the case has a fault for it."""
        if write.key.kind not in VOLUMES:
            return self._commit(component, write)
        self.count += 1
        fault = self.faults.get(self.count)
        outcome = self._commit(component, write) if fault is None else refusal_of_fault(write, fault)
        self.writes.append(outcome_as_recorded(outcome))
        return outcome

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Record an event without its source, which these recordings lack."""
        key = key_of(about)
        said = {"kind": key.kind, "key": recorded_key(key), "type": type_, "reason": reason, "message": message}
        self.events.append(said)

    def since(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return (writes, events) since the previous call."""
        taken = self.writes[:], self.events[:]
        self.writes.clear()
        self.events.clear()
        return taken


def recorded_key(key: Key) -> str:
    """Return a key in the recordings' format: `namespace/name`."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def refusal_of_fault(write: Write, fault: str) -> RefusedWrite:
    """Return the refusal that a recorded fault stands for."""
    if fault == "conflict":
        return RefusedWrite(write, "Conflict", conflict_message(write.key))
    if fault == "notFound":
        return RefusedWrite(write, "NotFound", f'{write.key.kind.lower()}s "{write.key.name}" not found')
    return RefusedWrite(write, "Timeout", fault)


def outcome_as_recorded(outcome: CommittedWrite | RefusedWrite) -> dict[str, Any]:
    """Return the outcome of a write in the recordings' format."""
    write = outcome.write
    verb = {"update_status": "updateStatus"}.get(write.verb, write.verb)
    said: dict[str, Any] = {"verb": verb, "kind": write.key.kind, "key": recorded_key(write.key)}
    if verb != "delete":
        said["fields"] = fields_of(verb, write.new)
    if isinstance(outcome, RefusedWrite):
        said["error"] = {"Conflict": "conflict", "NotFound": "notFound"}.get(outcome.reason, outcome.message)
    elif not outcome.changed and verb != "delete":
        said["noop"] = True
    return said


def fields_of(verb: str, obj: Any) -> dict[str, Any]:
    """Return the recorded fields of a write; empty fields are left out, except a claim's class ""."""
    plain = to_plain(obj)
    kind = VOLUME if isinstance(obj, PersistentVolume) else CLAIM
    found = {}
    for field in CONTENTS[kind, verb].split():
        of_status = field in IN_STATUS or verb == "updateStatus"
        section = "metadata" if field in IN_METADATA else "status" if of_status else "spec"
        part = plain.get(section, {})
        value = part.get("persistentVolumeReclaimPolicy" if field == "reclaimPolicy" else field)
        if field == "claimRef" and value:
            value = {word: what for word, what in value.items() if word != "resourceVersion"}
        if field == "capacity" and value:
            value = {name: canonical(text) for name, text in value.items()}
        if value or (value is not None and (kind, field) == (CLAIM, "storageClassName")):
            found[field] = value
    return found


def keep_fields(fields: Sequence[str], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping restricted to these fields."""
    return {word: what for word, what in written.items() if word in fields}
