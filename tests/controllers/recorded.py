"""Plays one recorded step of the PV controller in ours: the same watch, own cache, API and faults; then who wrote what.

What a case calls the own cache is, in ours, what is seen with notes laid over: wherever the two differ, the note says so.
"""

import gzip
import json
import re
from pathlib import Path

import attrs

from kvolsched.api import defaults
from kvolsched.api.convert import from_plain, to_plain
from kvolsched.api.quantity import canonical
from kvolsched.api.storage import StorageClass
from kvolsched.controllers import persistent_volume, volume_operations
from kvolsched.controllers.persistent_volume import cache
from kvolsched.world.apiserver import ApiServer, Deny, Done, Refused, conflict, key_of
from kvolsched.world.component import Component, Hand
from kvolsched.world.log import Key
from kvolsched.world.own import ABSENT
from kvolsched.world.simulation import Simulation

HERE = Path(__file__).parent.parent / "conformance"
VERBS = {"update_status": "updateStatus"}
CONTENTS = {
    ("PersistentVolume", "update"): "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity",
    ("PersistentVolume", "update_status"): "phase message",
    ("PersistentVolume", "create"): "annotations labels finalizers claimRef reclaimPolicy storageClassName accessModes capacity phase",
    ("PersistentVolumeClaim", "update"): "annotations labels finalizers volumeName storageClassName",
    ("PersistentVolumeClaim", "update_status"): "phase accessModes capacity currentVolumeAttributesClassName",
}
WHERE = {
    "annotations": "metadata", "labels": "metadata", "finalizers": "metadata",
    "phase": "status", "message": "status", "currentVolumeAttributesClassName": "status",
}


def cases(family):
    """Return the recorded cases of a family."""
    with gzip.open(HERE / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Recorder(ApiServer):
    """An API server that counts writes, refuses the ones a case wants refused, and keeps what was sent."""

    def __init__(self, faults):
        super().__init__()
        self.faults = {fault["write"]: fault["error"] for fault in faults}
        self.writes = []

    def commit(self, log, write, by):
        """Carry out or refuse one write, and record it."""
        number = len(self.writes) + 1
        name = write.key.name if not write.key.namespace else f"{write.key.namespace}/{write.key.name}"
        entry = {"verb": VERBS.get(write.verb, write.verb), "kind": write.key.kind, "key": name}
        if write.verb != "delete":
            entry["fields"] = sent(write)
        fault = self.faults.get(number)
        outcome = super().commit(log, write, by) if fault is None else self._refuse(write, self.denied(fault, write))
        if isinstance(outcome, Refused):
            entry["error"] = fault or {"Conflict": "conflict", "NotFound": "notFound"}.get(outcome.reason, outcome.message)
        elif isinstance(outcome, Done) and not outcome.changed and write.verb != "delete":
            entry["noop"] = True
        self.writes.append(entry)
        return outcome

    @staticmethod
    def denied(fault, write):
        """Return the refusal that a case's word stands for."""
        plural = write.key.kind.lower() + "s"
        if fault == "conflict":
            return Deny("Conflict", conflict(write.key))
        if fault == "notFound":
            return Deny("NotFound", f'{plural} "{write.key.name}" not found')
        return Deny("Timeout", fault)


def sent(write):
    """Return the fields of a write that the recordings keep, empty ones left out (but a claim's class "")."""
    plain = to_plain(write.new)
    found = {}
    for field in CONTENTS[write.key.kind, write.verb].split():
        part = plain.get(WHERE.get(field) or ("status" if write.verb == "update_status" else "spec"), {})
        value = part.get("persistentVolumeReclaimPolicy" if field == "reclaimPolicy" else field)
        if field == "claimRef" and value:
            value = {k: v for k, v in value.items() if k != "resourceVersion"}
        if field == "capacity" and value:
            value = {name: canonical(text) for name, text in value.items()}
        keeps_empty = field == "storageClassName" and write.key.kind == "PersistentVolumeClaim"
        if value or (keeps_empty and value is not None):
            found[field] = value
    return found


@attrs.define
class Step:
    """One call of a handler: what it did. Mutable while it is played."""

    writes: list
    events: list
    error: str = ""
    reads: list = attrs.field(factory=list)
    operations: list = attrs.field(factory=list)
    enqueued: list = attrs.field(factory=list)
    provisioner: list | None = None

    def plain(self):
        """Return it as the recordings write it."""
        found = {"writes": self.writes, "events": self.events}
        rest = {"error": self.error, "reads": self.reads, "operations": self.operations, "enqueued": self.enqueued}
        rest["provisioner"] = self.provisioner
        return found | {name: value for name, value in rest.items() if value}


@attrs.frozen
class RecordingBinder(persistent_volume.Binder):
    """The PV controller, with the operations that it asks for kept."""

    asked: list = attrs.field(factory=list)

    def starts(self, hand, operation):
        """Keep that an operation was asked for."""
        self.asked.append(operation)
        return super().starts(hand, operation)


@attrs.frozen
class RecordingOperations(volume_operations.Operations):
    """The in-tree operations, with what Provision() was handed kept."""

    handed: list = attrs.field(factory=list)

    def make(self, plugin, node, allowed):
        """Keep what a plugin is handed."""
        entry = {"selectedNode": node} if node else {}
        if allowed:
            entry["allowedTopologies"] = to_plain(StorageClass(allowed_topologies=allowed))["allowedTopologies"]
        self.handed.append(entry)
        return super().make(plugin, node, allowed)


def plugins(case):
    """Return the recorded in-tree plugins, failing as the case says; the older recording knew no nfs."""
    answers = case.get("plugin", {})
    known = (
        volume_operations.Plugin(
            name="kubernetes.io/host-path", source="hostPath", provisions=True, deletes=True, recycles=True, fails=answers
        ),
        volume_operations.Plugin(name="kubernetes.io/nfs", source="nfs", recycles=True, fails=answers),
    )
    return known[:1] if case["family"] == "design-controller" else known


class Play:
    """One case being played. Mutable."""

    def __init__(self, case, options):
        self.case = case
        options = attrs.evolve(options, in_tree=frozenset({"kubernetes.io/host-path"}))
        if not options.today:
            options = attrs.evolve(options, delayed_provisioning=case.get("gates", {}).get("DynamicProvisioningScheduling", True))
        self.binder = RecordingBinder(options)
        self.operations = RecordingOperations(
            plugins(case), options.today, options.provisioner_keys, options.delayed_provisioning
        )
        operations = self.operations.routine()
        self.server = Recorder(case.get("faults", ()))
        watches = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Pod", "Node")
        component = Component(
            persistent_volume.NAME, watches, (*self.binder.routines(), operations), cache.views
        )
        self.sim = Simulation([component], self.server)
        self.sim.log.base = self.sim.log._place = 2000  # versions of our own must be newer than the recorded ones
        self.sim.record_event = self.hear
        self.events = []
        self.process = self.sim.processes[persistent_volume.NAME]
        self.routines = {actor.name: actor for actor in component.actors}
        self.own = self.process.views["own"]
        for obj in map(stored, case["objects"]):
            self.sim.log.write(key_of(obj), obj)
        self.sim.deliver(self.process)
        for obj in map(stored, case.get("api", {}).get("put", ())):
            self.sim.log.write(key_of(obj), obj)
        for gone in case.get("api", {}).get("gone", ()):
            self.sim.log.write(Key(gone["kind"], gone.get("namespace", ""), gone["name"]), None)
        for obj in map(stored, [*case.get("own", {}).get("put", ()), *case.get("gone", ())]):
            self.remember(key_of(obj), obj)
        for lack in case.get("own", {}).get("lack", ()):
            self.remember(Key(lack["kind"], lack.get("namespace", ""), lack["name"]), ABSENT)

    def remember(self, key, value):
        """Lay a note over what is seen."""
        self.hand("persistentvolume claims").remember("own", "/".join(key), value)

    def hand(self, routine):
        """Return a hand for a routine's turn."""
        return Hand(self.sim, self.process, self.routines[routine])

    def hear(self, source, about, type_, reason, message):
        """Keep an Event."""
        key = key_of(about)
        name = key.name if not key.namespace else f"{key.namespace}/{key.name}"
        message = re.sub(r"(waiting for pods )(\S+)", lambda m: m[1] + ",".join(sorted(m[2].split(","))), message)
        self.events.append({"kind": key.kind, "key": name, "type": type_, "reason": reason, "message": message})

    def deliver(self):
        """Let the watch show all that the API has; the own cache keeps what it had until its own sync."""
        kinds = ("PersistentVolume", "PersistentVolumeClaim")
        before = {key: self.own.at(key) for key in {**self.own.watched, **self.own.kept} if key.kind in kinds}
        self.sim.deliver(self.process)
        for key in {**before, **self.own.watched}:
            old = before.get(key)
            if self.own.at(key) is not old:
                self.remember(key, ABSENT if old is None else old)

    def step(self, sync, *, deliver=False):
        """Play one call of the claim or volume handler, and of the operations it starts."""
        if deliver:
            self.deliver()
        self.clear()
        self.server.writes, self.events = Numbered(self.server.writes), []
        self.binder.asked.clear()
        self.operations.handed.clear()
        routine = "persistentvolume claims" if sync["kind"] == "claim" else "persistentvolume volumes"
        error, reads = self.act(routine, sync["key"])
        enqueued = [f"claim {name}" for name in sorted(self.todo("persistentvolume claims"))]
        enqueued += [f"volume {name}" for name in sorted(self.todo("persistentvolume volumes"))]
        asked = [] if error else list(self.binder.asked)  # what follows a refused write is not reached
        while self.todo("persistentvolume operations"):
            operation = min(self.todo("persistentvolume operations"))
            reads += self.act("persistentvolume operations", operation)[1]
            while self.hand("persistentvolume operations").note("unsaved", operation) is not None:
                reads += self.act("persistentvolume operations", operation)[1]
        writes = list(self.server.writes)[self.server.writes.start:]
        return Step(writes, self.events, error, reads, asked, enqueued, self.handed()).plain()

    def handed(self):
        """Return what Provision() was handed: recorded of 1.11 only."""
        return None if self.binder.options.today else list(self.operations.handed)

    def act(self, routine, cause):
        """Let a routine take a cause to its end; return its error and its live reads."""
        error, reads, more = "", [], True
        while more:
            hand = self.hand(routine)
            more = self.routines[routine].act(hand, cause)
            reads += [f"{k.kind} {k.namespace + '/' if k.namespace else ''}{k.name}" for k in hand.reads]
            refused = [outcome for outcome in hand.outcomes if isinstance(outcome, Refused)]
            if refused and not refused[0].write.operation:  # a failed operation is no error of the handler
                error = hand.words.partition(": refused, ")[2]
            elif hand.words.lower().startswith("invalid binding"):
                error = hand.words
        return error, reads

    def todo(self, routine):
        """Return what a routine was asked to take up."""
        return set(self.process.todo[routine].items)

    def clear(self):
        """Forget what deliveries have put on the lists: the case says itself what is called."""
        for routine in self.routines:
            for cause in self.todo(routine):
                self.hand(routine).done(cause)


class Numbered(list):
    """The writes so far, with the place where the present step starts."""

    def __init__(self, items):
        super().__init__(items)
        self.start = len(self)


def stored(plain):
    """Return an object as the API server has it, defaults filled in."""
    obj = from_plain(plain)
    obj = defaults.defaulted(obj)
    return attrs.evolve(obj, metadata=attrs.evolve(obj.metadata, resource_version=int(plain["metadata"]["resourceVersion"])))


def play(case, options):
    """Return what ours does in a case, as the recordings write it."""
    game = Play(case, options)
    found = game.step(case["sync"])
    if "then" in case:
        found["then"] = [game.step(step["sync"], deliver=step.get("deliver", False)) for step in case["then"]]
    return found


def differences(ours, theirs):
    """Return the aspects in which two answers differ, those of further steps included."""
    found = [name for name in ("writes", "events", "error", "reads", "operations", "enqueued", "provisioner")
             if ours.get(name) != theirs.get(name)]
    pairs = zip(ours.get("then", ()), theirs.get("then", ()), strict=False)
    found += [f"then.{name}" for mine, other in pairs for name in differences(mine, other)]
    return found


OPTIONS = {
    "pv-controller": persistent_volume.UPSTREAM,
    "design-controller": persistent_volume.DESIGN,
}
__all__ = ["OPTIONS", "cases", "differences", "play"]
