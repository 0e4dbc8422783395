"""Families `capacity` and `topology`: what a driver's controller publishes, and what it asks a CSI driver for.

Of the CSIStorageCapacity objects the engine's reconciler runs on recorded objects, and the recorded driver answers
GetCapacity; calls and writes are recorded. Of a volume its topology requirement and node affinity are compared; the
topology that the recorded driver reports is input, and a retry reuses what the first attempt read.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kvolsched.api import defaults
from kvolsched.api.kinds.csi import CSIStorageCapacity
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeSpec
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.volumes import Topology
from kvolsched.controllers.provisioner import capacity, topology
from kvolsched.controllers.provisioner.capacity import CapacityPublisher, PublishingOptions
from kvolsched.rules.revision import Revision
from kvolsched.world.apiserver import CommittedWrite, RefusedWrite, Write, key_of
from kvolsched.world.component import Component, TurnContext
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation
from kvolsched.world.storage_pools import CapacityResponse, DriverFailed, segments_of
from kvolsched.world.view import InformerCache
from kvolsched.world.work_queue import WorkQueue

from .agreement import Case

CAPACITY_ASPECTS = ("capacities", "writes", "asked", "errors", "metrics", "then")
TOPOLOGY_ASPECTS = ("requirement", "affinity", "error", "retry")
TOPOLOGY_KINDS = ("Node", "CSINode", "StorageClass")
NAME = "csi-provisioner"


def capacity_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what is published at first, and after the recorded changes."""
    play = _Play(case, revision)
    said = play.settled()
    if "then" in case:
        play.change(case["then"])
        said["then"] = play.settled(case["then"])
    return said


class _Play:
    """Replays one case. Mutable."""

    def __init__(self, case: Case, revision: Revision) -> None:
        self.case = case
        self.answers = case["answers"]
        owners = {"ownerReferences": [case["owner"]]} if case["owner"] is not None else {}
        owned: Pod = from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": owners})
        owner = next(iter(owned.metadata.owner_references), None)
        options = PublishingOptions(
            namespace=case["namespace"], managed_by=case["managedBy"], owner=owner,
            immediate=case["immediateBinding"]
        )
        self.publisher = CapacityPublisher(case["driver"], self.ask, options)
        routine = self.publisher.routine()
        items = WorkQueue(capacity.ITEM, lambda _note: 0)
        watches = ("Node", "CSINode", "StorageClass", "CSIStorageCapacity")
        component = Component(NAME, watches, (routine,), lambda _: {capacity.ITEM: items})
        self.sim = Simulation([component], revision.server())
        self.process, self.actor = self.sim.find(routine.name)
        self.commit, self.sim.commit = self.sim.commit, self.take_down  # type: ignore[method-assign]
        self.stored = {plain["metadata"]["name"] for plain in case["objects"]}
        self.writes: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.errors: list[str] = []
        for plain in case["objects"]:
            self.put(plain)

    def put(self, plain: Mapping[str, Any]) -> None:
        obj = defaults.with_defaults(from_plain(dict(plain)))
        self.sim.log.write(key_of(obj), evolve_parts(obj, metadata={"resource_version": self.sim.place + 1}))

    def change(self, then: Mapping[str, Any]) -> None:
        """Apply the recorded changes, also of the driver's answers."""
        for plain in then.get("put", ()):
            self.stored.add(plain["metadata"]["name"])
            self.put(plain)
        for gone in then.get("delete", ()):
            self.sim.log.write(Key(gone["kind"], gone.get("namespace", ""), gone["name"]), None)
        self.answers = then.get("answers", self.answers)

    def ask(self, _hand: TurnContext, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity for the recorded driver: the first rule that matches, else the last."""
        asked = {"parameters": dict(parameters) or None, "segments": dict(segment)}
        if asked not in self.asked:
            self.asked.append(asked)
        *rules, other = self.answers
        question = (dict(parameters), dict(segment))
        rule = next((one for one in rules if (one["parameters"], one["segments"]) == question), other)
        if "error" in rule:
            raise DriverFailed(rule["error"])
        return CapacityResponse(rule["availableCapacity"], rule.get("maximumVolumeSize"))

    def take_down(self, component: str, write: Write) -> CommittedWrite | RefusedWrite:
        old = self.sim.log.objects.get(write.key)
        outcome = self.commit(component, write)
        name = write.key.name if write.key.name in self.stored else "new"
        about: CSIStorageCapacity | None = old if write.verb == "delete" else write.new
        if isinstance(outcome, RefusedWrite):
            self.writes.append(f"{write.verb}! {write.key.name}")
        elif about is not None:
            segments = json.dumps(_segments(about), separators=(",", ":"))
            self.writes.append(f"{write.verb} {name} {about.storage_class_name} {segments}")
        return outcome

    def settled(self, then: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run the controller until it has nothing to do, poll or refresh; return what it did."""
        self.writes, self.asked, self.errors = [], [], []
        self.go()
        if then is not None:
            ctx = TurnContext(self.sim, self.process, self.actor)
            if then.get("poll"):
                self.actor.on_wake_up(ctx, capacity.POLL)
            for cause in self.refreshed(ctx, then.get("refresh") or {}):
                ctx.enqueue(cause)
            self.go()
        said = {
            "capacities": self.capacities(),
            "writes": sorted(self.writes),
            "asked": sorted(self.asked, key=_as_json),
            "errors": sorted(set(self.errors)),
            "metrics": self.metrics(),
        }
        return {word: what for word, what in said.items() if what or word != "errors"}

    def go(self) -> None:
        while True:
            self.sim.deliver(self.process)
            ready = self.actor.ready_causes(self.sim.read_only_context(self.process, self.actor))
            if not ready:
                return
            ctx, _ = self.sim.act(self.process, self.actor, ready[0][1])
            if "GetCapacity: " in ctx.words:
                self.errors.append(ctx.words[ctx.words.index("GetCapacity: ") :])

    def refreshed(self, ctx: TurnContext, refresh: Mapping[str, Any]) -> list[str]:
        """Return the capacities to refresh after a volume was created: by its node affinity, else its class."""
        if "nodeAffinity" in refresh:
            spec: PersistentVolumeSpec = from_plain(
                {"apiVersion": "v1", "kind": "PersistentVolume", "spec": {"nodeAffinity": refresh["nodeAffinity"]}}
            ).spec
            return self.publisher.causes_to_refresh(ctx, segments_of(PersistentVolume(spec=spec)), "")
        return self.publisher.causes_to_refresh(ctx, None, refresh.get("storageClassName", ""))

    def capacities(self) -> list[dict[str, Any]]:
        found = []
        for key, obj in self.sim.log.objects.items():
            if key.kind == "CSIStorageCapacity":
                told = {
                    "name": key.name if key.name in self.stored else None, "namespace": key.namespace,
                    "labels": dict(obj.metadata.labels),
                    "owners": [f"{owner.kind}/{owner.name}" for owner in obj.metadata.owner_references],
                    "storageClassName": obj.storage_class_name, "segments": _segments(obj),
                    "capacity": obj.capacity, "maximumVolumeSize": obj.maximum_volume_size,
                }
                found.append({word: what for word, what in told.items() if what is not None})
        return sorted(found, key=_as_json)

    def metrics(self) -> dict[str, int]:
        """Return the numbers of desired, existing desired, and obsolete objects."""
        ctx = TurnContext(self.sim, self.process, self.actor)
        items = self.publisher.items(ctx).values()
        current = sum(item.published is not None for item in items)
        return {"goal": len(items), "current": current, "obsolete": len(self.publisher.managed(ctx)) - current}


def _as_json(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def _segments(obj: CSIStorageCapacity) -> dict[str, str]:
    topology = to_plain(obj).get("nodeTopology") or {}
    return dict(sorted(topology.get("matchLabels", {}).items()))


def topology_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return the requirement and the volume's affinity, or the error; the same for the retry under `retry`."""
    seen = InformerCache(TOPOLOGY_KINDS)
    for plain in case["objects"]:
        _show(seen, plain)
    said, known = _attempt(case, seen, topology.FirstAttempt())
    if "retry" in case:
        for plain in case["retry"].get("put", ()):
            _show(seen, plain)
        for gone in case["retry"].get("delete", ()):
            seen.apply(Key(gone["kind"], "", gone["name"]), None, None)
        said["retry"] = _attempt(case, seen, known)[0]
    return said


def _show(seen: InformerCache, plain: Mapping[str, Any]) -> None:
    obj = from_plain(plain)
    seen.apply(key_of(obj), None, obj)


def _attempt(
    case: Case, seen: InformerCache, known: topology.FirstAttempt
) -> tuple[dict[str, Any], topology.FirstAttempt]:
    storage_class: StorageClass = seen.get("StorageClass", case["class"])
    asked = topology.TopologyRequest(
        claim=case["claim"]["name"], allowed=storage_class.allowed_topologies, node=case["selectedNode"],
        strict=case["strict"], immediate=case["immediate"]
    )
    try:
        wanted, known = topology.accessibility(asked, topology.DriverTopology(case["driver"], seen), known)
    except topology.NoTopologyYet as why:
        return {"error": str(why)}, why.remembered
    requirement = None
    if wanted is not None:
        requirement = {"requisite": list(map(dict, wanted.requisite)), "preferred": list(map(dict, wanted.preferred))}
    return {"requirement": requirement, "affinity": _affinity(_accessible(case["accessible"], wanted))}, known


def _accessible(reported: str | list[dict[str, str]],
                wanted: topology.TopologyRequirement | None) -> Sequence[Topology]:
    """Return the topologies that the recorded driver reports for its volume."""
    if isinstance(reported, str):
        if wanted is None:
            return ()
        return wanted.preferred[:1] if reported == "first-preferred" else wanted.requisite[:2]
    return [tuple(sorted(one.items())) for one in reported]


def _affinity(accessible: Sequence[Topology]) -> dict[str, Any] | None:
    """Return a volume's node affinity in the recordings' format: an empty list of terms is null."""
    affinity = topology.node_affinity_of(accessible)
    if affinity is None or affinity.required is None:
        return None
    terms = [to_plain(term) for term in affinity.required.node_selector_terms]
    return {"required": {"nodeSelectorTerms": terms or None}}
