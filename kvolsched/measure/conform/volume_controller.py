"""`pv-controller` and `design-controller`: call the PV controller's handlers one after the other, as recorded.

The real routines run on the recorded watch, API and faults. The controller's cache of a case (`own`) becomes our
mutation cache: a note for each object that differs from what the watch shows.
"""

import re
from collections.abc import Mapping
from typing import Any

import attrs

from kvolsched.api import defaults
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.controllers.persistent_volume import CLAIMS, NAME, OPERATIONS, VOLUMES, PVController
from kvolsched.controllers.persistent_volume.cache import cache_of, views
from kvolsched.controllers.persistent_volume.controller import may_start_operation
from kvolsched.controllers.persistent_volume.operations import InTreePlugin, Operations
from kvolsched.rules.revision import Revision
from kvolsched.world.apiserver import ApiServer, RefusedWrite, key_of
from kvolsched.world.component import Component, TurnContext
from kvolsched.world.log import Key
from kvolsched.world.mutation_cache import ABSENT
from kvolsched.world.reconciler import Reconciler
from kvolsched.world.simulation import Simulation

from ...api.kinds.meta import evolve_parts
from .agreement import Case
from .steps import CLAIM, VOLUME, RecordedLoop, recorded_key

ASPECTS = ("writes", "events", "error", "reads", "operations", "enqueued", "provisioner", "then")
HOST_PATH = "kubernetes.io/host-path"
FAMILY_OF_1_11 = "design-controller"
WATCHES = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Pod", "Node")
FIRST_VERSION = 2000  # our versions must be newer than the recorded ones


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what the first call of a handler does, and under `then` what further calls do."""
    player = _CasePlayer(case, revision)
    answered = player.step(case["sync"])
    if "then" in case:
        answered["then"] = [player.step(call["sync"], deliver=call.get("deliver", False)) for call in case["then"]]
    return answered


@attrs.frozen
class _RecordingOperations(Operations):
    """The in-tree operations, which record what a plugin's Provision() is handed."""

    handed: list[dict[str, Any]] = attrs.field(factory=list)

    def make_storage(self, plugin: InTreePlugin, node: str, allowed: Any) -> str:
        entry: dict[str, Any] = {"selectedNode": node} if node else {}
        if allowed:
            entry["allowedTopologies"] = to_plain(StorageClass(allowed_topologies=allowed))["allowedTopologies"]
        self.handed.append(entry)
        return super().make_storage(plugin, node, allowed)


class _CasePlayer(RecordedLoop):
    """Plays one case. Mutable."""

    def __init__(self, case: Case, revision: Revision) -> None:
        gate = case.get("gates", {}).get("DynamicProvisioningScheduling", True)
        options = attrs.evolve(revision.binder, in_tree_plugins=frozenset({HOST_PATH}), delayed_provisioning=gate)
        self.records_provision = case.get("family") == FAMILY_OF_1_11
        self.started: list[str] = []
        # Those of the recording, failing as the case says; 1.11's knew no nfs.
        host_path = InTreePlugin(name=HOST_PATH, source="hostPath", provisions=True, deletes=True, recycles=True)
        nfs = InTreePlugin(name="kubernetes.io/nfs", source="nfs", recycles=True)
        known = (host_path,) if self.records_provision else (host_path, nfs)
        plugins = tuple(attrs.evolve(each, fails=case.get("plugin", {})) for each in known)
        self.operations = _RecordingOperations(plugins, options)
        controller = PVController(options, self.may_start)
        self.routines: dict[str, Reconciler] = {
            routine.name: routine for routine in (*controller.routines(), self.operations.routine())
        }
        component = Component(NAME, WATCHES, tuple(self.routines.values()), views)
        super().__init__(Simulation([component], ApiServer()), case)
        self.sim.log.restore({}, {}, (), FIRST_VERSION)
        self.process = self.sim.processes[NAME]
        self.own = cache_of(self.ctx(CLAIMS))
        self.store(case["objects"])
        self.sim.deliver(self.process)
        api, cached = case.get("api", {}), case.get("own", {})
        self.store(api.get("put", ()))
        for gone in api.get("gone", ()):
            self.sim.log.write(_key(gone), None)
        for obj in map(_stored, [*cached.get("put", ()), *case.get("gone", ())]):
            self.remember(key_of(obj), obj)
        for lack in cached.get("lack", ()):
            self.remember(_key(lack), ABSENT)

    def may_start(self, ctx: TurnContext, operation: str) -> bool:
        """Record that an operation was asked for, and say whether it may start."""
        self.started.append(operation)
        return may_start_operation(ctx, operation)

    def store(self, objects: Any) -> None:
        for obj in map(_stored, objects):
            self.sim.log.write(key_of(obj), obj)

    def remember(self, key: Key, value: Any) -> None:
        """Set what the mutation cache has instead of what the watch shows."""
        self.ctx(CLAIMS).remember("own", "/".join(key), value)

    def ctx(self, routine: str) -> TurnContext:
        return TurnContext(self.sim, self.process, self.routines[routine])

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Record an Event; pods that are waited for are sorted."""
        message = re.sub(r"(waiting for pods )(\S+)", lambda m: m[1] + ",".join(sorted(m[2].split(","))), message)
        super().record_event(source, about, type_, reason, message)

    def deliver(self) -> None:
        """Deliver all that the API has; the mutation cache keeps what it had of an object until that is synced."""
        keys = {**self.own.watched, **self.own.written}
        before = {key: self.own.at(key) for key in keys if key.kind in (CLAIM, VOLUME)}
        self.sim.deliver(self.process)
        for key in {**before, **self.own.watched}:
            old = before.get(key)
            if self.own.at(key) is not old:
                self.remember(key, ABSENT if old is None else old)

    def step(self, sync: Mapping[str, str], *, deliver: bool = False) -> dict[str, Any]:
        """Play one call of the claim or volume handler, and the operations that it starts."""
        if deliver:
            self.deliver()
        self.clear()
        self.since()
        self.started.clear()
        self.operations.handed.clear()
        error, reads = self.sync(CLAIMS if sync["kind"] == "claim" else VOLUMES, sync["key"])
        enqueued = [f"claim {name}" for name in sorted(self.todo(CLAIMS))]
        enqueued += [f"volume {name}" for name in sorted(self.todo(VOLUMES))]
        started = [] if error else list(self.started)  # what follows a refused write is not reached
        while waiting := self.todo(OPERATIONS):
            operation = min(waiting)
            reads += self.sync(OPERATIONS, operation)[1]
            while self.ctx(OPERATIONS).note("unsaved", operation) is not None:
                reads += self.sync(OPERATIONS, operation)[1]
        handed = list(self.operations.handed) if self.records_provision else []
        optional = {"error": error, "reads": reads, "operations": started, "enqueued": enqueued, "provisioner": handed}
        writes, events = self.since()
        return {"writes": writes, "events": events, **{aspect: value for aspect, value in optional.items() if value}}

    def sync(self, routine: str, cause: str) -> tuple[str, list[str]]:
        """Run a routine on a cause to its end; return its error and its live reads."""
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
        return set(self.process.work_queues[routine].items)

    def clear(self) -> None:
        """Empty the work lists: the case itself says which handler is called."""
        for routine in self.routines:
            for cause in self.todo(routine):
                self.ctx(routine).dequeue(cause)


def _stored(plain: Mapping[str, Any]) -> Any:
    """Return an object as the API server has it, defaults filled in."""
    obj = defaults.with_defaults(from_plain(dict(plain)))
    return evolve_parts(obj, metadata={"resource_version": int(plain["metadata"]["resourceVersion"])})


def _key(plain: Mapping[str, str]) -> Key:
    return Key(plain["kind"], plain.get("namespace", ""), plain["name"])
