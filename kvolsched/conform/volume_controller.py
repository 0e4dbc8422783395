"""`pv-controller` and `design-controller`: one call of the PV controller's handlers after the other, and what it did.

The real routines run on the recorded watch, API and faults. What a case calls the own cache is, in ours, what is seen
with notes laid over: wherever the two differ, the note says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.api import defaults
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.controllers import persistent_volume, volume_operations
from kvolsched.controllers.persistent_volume import CLAIMS, NAME, OPERATIONS, VOLUMES
from kvolsched.controllers.persistent_volume.cache import views
from kvolsched.revision import Revision
from kvolsched.world.apiserver import ApiServer, CommittedWrite, RefusedWrite, Write, key_of
from kvolsched.world.component import Component, TurnContext
from kvolsched.world.log import Key, Log
from kvolsched.world.mutation_cache import ABSENT, MutationCache
from kvolsched.world.reconciler import Reconciler
from kvolsched.world.simulation import Simulation

from ..api.kinds.meta import evolve_parts
from .recording import Case
from .steps import CLAIM, VOLUME, outcome_as_recorded, recorded_key, refusal_of_fault

ASPECTS = ("writes", "events", "error", "reads", "operations", "enqueued", "provisioner", "then")
HOST_PATH = "kubernetes.io/host-path"
WATCHES = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Pod", "Node")
NEWER = 2000  # versions of our own must be newer than the recorded ones


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what the handler called first does, and the further ones."""
    play = _Play(case, revision)
    said = play.step(case["sync"])
    if "then" in case:
        said["then"] = [play.step(each["sync"], deliver=each.get("deliver", False)) for each in case["then"]]
    return said


class _Recorder(ApiServer):
    """An API server that counts writes, refuses those that a case wants refused, and takes down what was sent."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.faults: dict[int, str] = {fault["write"]: fault["error"] for fault in case.get("faults", ())}
        self.writes: list[dict[str, Any]] = []

    def commit(self, log: Log, write: Write, by: str) -> CommittedWrite | RefusedWrite:
        """Carry out or refuse one write, and take it down."""
        fault = self.faults.get(len(self.writes) + 1)
        outcome = super().commit(log, write, by) if fault is None else refusal_of_fault(write, fault)
        self.writes.append(outcome_as_recorded(outcome))
        return outcome


@attrs.frozen
class _Binder(persistent_volume.PVController):
    """The PV controller, with the operations that it asks for kept."""

    asked: list[str] = attrs.field(factory=list)

    def starts(self, ctx: TurnContext, operation: str) -> bool:
        """Keep that an operation was asked for."""
        self.asked.append(operation)
        return super().starts(ctx, operation)


@attrs.frozen
class _Operations(volume_operations.Operations):
    """The in-tree operations, with what Provision() was handed kept."""

    handed: list[dict[str, Any]] = attrs.field(factory=list)

    def make(self, plugin: volume_operations.InTreePlugin, node: str, allowed: Any) -> Any:
        """Keep what a plugin is handed."""
        entry: dict[str, Any] = {"selectedNode": node} if node else {}
        if allowed:
            entry["allowedTopologies"] = to_plain(StorageClass(allowed_topologies=allowed))["allowedTopologies"]
        self.handed.append(entry)
        return super().make(plugin, node, allowed)


def _plugins(case: Case, *, today: bool) -> tuple[volume_operations.InTreePlugin, ...]:
    """Return the recorded in-tree plugins, failing as the case says; 1.11's recording knew no nfs."""
    plugin, answers = volume_operations.InTreePlugin, case.get("plugin", {})
    host_path = plugin(
        name=HOST_PATH, source="hostPath", provisions=True, deletes=True, recycles=True, fails=answers
    )
    nfs = plugin(name="kubernetes.io/nfs", source="nfs", recycles=True, fails=answers)
    return (host_path, nfs) if today else (host_path,)


class _Play:
    """One case being played. Mutable."""

    def __init__(self, case: Case, revision: Revision) -> None:
        options = attrs.evolve(revision.binder, in_tree=frozenset({HOST_PATH}))
        if not options.today:
            gate = case.get("gates", {}).get("DynamicProvisioningScheduling", True)
            options = attrs.evolve(options, delayed_provisioning=gate)
        self.today = options.today
        self.binder = _Binder(options)
        plugins = _plugins(case, today=options.today)
        self.operations = _Operations(
            plugins, options.today, options.provisioner_keys, options.delayed_provisioning
        )
        self.server = _Recorder(case)
        self.routines: dict[str, Reconciler] = {
            routine.name: routine for routine in (*self.binder.routines(), self.operations.routine())
        }
        component = Component(NAME, WATCHES, tuple(self.routines.values()), views)
        self.sim = Simulation([component], self.server)
        self.sim.log.restore({}, {}, (), NEWER)
        self.sim.record_event = self.hear  # type: ignore[method-assign]
        self.events: list[dict[str, Any]] = []
        self.process = self.sim.processes[NAME]
        own = self.process.views["own"]
        assert isinstance(own, MutationCache)
        self.own = own
        self.put(case["objects"])
        self.sim.deliver(self.process)
        api, cached = case.get("api", {}), case.get("own", {})
        self.put(api.get("put", ()))
        for gone in api.get("gone", ()):
            self.sim.log.write(_key(gone), None)
        for obj in map(_stored, [*cached.get("put", ()), *case.get("gone", ())]):
            self.remember(key_of(obj), obj)
        for lack in cached.get("lack", ()):
            self.remember(_key(lack), ABSENT)

    def put(self, objects: Any) -> None:
        """Store objects in the API as they are."""
        for obj in map(_stored, objects):
            self.sim.log.write(key_of(obj), obj)

    def remember(self, key: Key, value: Any) -> None:
        """Lay a note over what is seen."""
        self.ctx(CLAIMS).remember("own", "/".join(key), value)

    def ctx(self, routine: str) -> TurnContext:
        """Return a hand for a routine's turn."""
        return TurnContext(self.sim, self.process, self.routines[routine])

    def hear(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Take an Event down; who says it is not in these recordings."""
        key = key_of(about)
        message = re.sub(r"(waiting for pods )(\S+)", lambda m: m[1] + ",".join(sorted(m[2].split(","))), message)
        said = {"kind": key.kind, "key": recorded_key(key), "type": type_, "reason": reason, "message": message}
        self.events.append(said)

    def deliver(self) -> None:
        """Let the watch show all that the API has; the own cache keeps what it had until its own sync."""
        keys = {**self.own.watched, **self.own.written}
        before = {key: self.own.at(key) for key in keys if key.kind in (CLAIM, VOLUME)}
        self.sim.deliver(self.process)
        for key in {**before, **self.own.watched}:
            old = before.get(key)
            if self.own.at(key) is not old:
                self.remember(key, ABSENT if old is None else old)

    def step(self, sync: Mapping[str, str], *, deliver: bool = False) -> dict[str, Any]:
        """Play one call of the claim or volume handler, and of the operations that it starts."""
        if deliver:
            self.deliver()
        self.clear()
        start, self.events = len(self.server.writes), []
        self.binder.asked.clear()
        self.operations.handed.clear()
        error, reads = self.act(CLAIMS if sync["kind"] == "claim" else VOLUMES, sync["key"])
        enqueued = [f"claim {name}" for name in sorted(self.todo(CLAIMS))]
        enqueued += [f"volume {name}" for name in sorted(self.todo(VOLUMES))]
        asked = [] if error else list(self.binder.asked)  # what follows a refused write is not reached
        while waiting := self.todo(OPERATIONS):
            operation = min(waiting)
            reads += self.act(OPERATIONS, operation)[1]
            while self.ctx(OPERATIONS).note("unsaved", operation) is not None:
                reads += self.act(OPERATIONS, operation)[1]
        said = {"writes": self.server.writes[start:], "events": self.events}
        rest: dict[str, Any] = {"error": error, "reads": reads, "operations": asked, "enqueued": enqueued}
        rest["provisioner"] = [] if self.today else list(self.operations.handed)  # recorded of 1.11 only
        return {**said, **{word: what for word, what in rest.items() if what}}

    def act(self, routine: str, cause: str) -> tuple[str, list[str]]:
        """Let a routine take a cause to its end; return its error and its live reads."""
        error, reads, more = "", [], True
        while more:
            ctx = self.ctx(routine)
            more = self.routines[routine].act(ctx, cause)
            reads += [f"{key.kind} {recorded_key(key)}" for key in ctx.reads]
            refusals = [outcome for outcome in ctx.outcomes if isinstance(outcome, RefusedWrite)]
            # A failed operation is no error of the handler.
            if refusals and not getattr(refusals[0].write, "operation", ""):
                error = ctx.words.partition(": refused, ")[2]
            elif ctx.words.lower().startswith("invalid binding"):
                error = ctx.words
        return error, reads

    def todo(self, routine: str) -> set[str]:
        """Return what a routine was asked to take up."""
        return set(self.process.work_queues[routine].items)

    def clear(self) -> None:
        """Forget what deliveries have put on the lists: the case says itself what is called."""
        for routine in self.routines:
            for cause in self.todo(routine):
                self.ctx(routine).dequeue(cause)


def _stored(plain: Mapping[str, Any]) -> Any:
    """Return an object as the API server has it, defaults filled in."""
    obj = defaults.with_defaults(from_plain(dict(plain)))
    version = int(plain["metadata"]["resourceVersion"])
    return evolve_parts(obj, metadata={"resource_version": version})


def _key(plain: Mapping[str, str]) -> Key:
    return Key(plain["kind"], plain.get("namespace", ""), plain["name"])
