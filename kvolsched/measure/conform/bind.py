"""Families `bind` and `design-bind`: find, assume and bind volumes, as kube-scheduler v1.36.2 and that of 1.11 do.

A pass runs in the fine gear, so that recorded changes can happen between finding and assuming. Only the chosen node
exists, as in the recordings. Of 1.11 passes of one or two pods are replayed, with its bind queue; where a recording has
`fresh` answers, those are expected: a pass must not depend on an earlier decision.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.loop.binding_flow import WORKER, WaitInPreBind
from kvolsched.scheduler.loop.scheduling_cycle import PASS, SCHEDULER, SchedulingPass
from kvolsched.scheduler.loop.scheduling_queue import ACTIVE, QueueEntry
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding, VolumeDecision
from kvolsched.scheduler.plugins.volume_binding.releases import WITHOUT_GATE
from kvolsched.world.log import Key, Note

from .agreement import Case
from .design_loop import as_in_1_11
from .steps import RecordedLoop, keep_fields, recorded_key

ASPECTS = ("claims", "find", "assume", "bind")
DESIGN_ASPECTS = ("passes", "find", "others", "assume", "bind", "outcome")
GATE = "DynamicProvisioningScheduling"
ASSUMING = "AssumePodVolumes failed: "
KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod", "CSINode", "CSIDriver")
ABSENT = {"persistent-volume-binder": {"absent": True}, "kubelet": {"absent": True}}
KEPT = ("annotations", "claimRef")  # the fields of writes and cached objects that the recordings contain
MISSING = r'error getting PVC "\1": could not find v1.PersistentVolumeClaim "default/\1"'


class RecordedBinding(RecordedLoop):
    """A world that runs scheduling passes of given pods on given nodes, with changes in between. Mutable."""

    def __init__(self, revision: Revision, case: Case) -> None:
        super().__init__(revision.simulation(components=ABSENT), case, (*KINDS, "CSIStorageCapacity"))
        self.node: str = case["node"]
        self.unseen: dict[Key, Any] = {}  # objects as the watch still shows them, changed in the API since
        for pod in (case["pod"], *case.get("others", ())):
            self.put(pod)
        self.turn: str = case["pod"]["metadata"]["name"]
        self.show()
        self.mark = self.sim.place

    @property
    def pod(self) -> str:
        """The pod that is scheduled now, as `namespace/name`."""
        return f"default/{self.turn}"

    @property
    def plugin(self) -> VolumeBinding:
        """The VolumeBinding plugin of the scheduler."""
        actor = self.sim.find(PASS, SCHEDULER)[1]
        assert isinstance(actor, SchedulingPass)
        plugin = actor.profile.plugin("VolumeBinding")
        assert isinstance(plugin, VolumeBinding)
        return plugin

    def changes(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Apply changes and deliver them, except those marked `unseen`."""
        for what in changes:
            if "node" in what:
                self.node = what["node"]
            elif "turn" in what:
                self.turn = what["turn"]
            elif "echo" in what:
                self.show()
                self.unseen, self.mark = {}, self.sim.place
            else:
                self.change(what)
                if not what.get("unseen"):
                    self.show_last()

    def show_last(self) -> None:
        """Deliver the last change only; earlier undelivered changes stay hidden."""
        log = self.sim.log
        for key, old, _ in log.changes[self.mark :]:
            if isinstance(key, Key) and key.kind not in ("Node", "Pod"):  # pod updates of the scheduler are delivered
                self.unseen.setdefault(key, old)
        changed = [change.key for change in log.changes[self.mark :] if isinstance(change.key, Key)]
        if changed:
            self.unseen.pop(changed[-1], None)
        hidden = {key: log.objects.get(key) for key in self.unseen}
        for key, shown in self.unseen.items():
            log.write(key, shown)
        self.show()
        for key, obj in hidden.items():
            log.write(key, obj)
        self.mark = self.sim.place

    def found(self, node: str) -> dict[str, Any]:
        """Return the volumes found for the pod on a node."""
        pod = self.sim.log.objects[Key("Pod", "default", self.turn)]
        return decision_as_recorded(self.plugin.decide(pod, node, self.cache.snapshot))

    def alone(self) -> dict[Key, Any]:
        """Remove every node except the chosen one; return the removed nodes."""
        objects = self.sim.log.objects
        taken = {key: node for key, node in objects.items() if key.kind == "Node" and key.name != self.node}
        for key in taken:
            self.sim.log.write(key, None)
        self.see_nodes()
        return taken

    def together(self, taken: Mapping[Key, Any]) -> None:
        """Restore removed nodes."""
        for key, node in taken.items():
            self.sim.log.write(key, evolve_parts(node, metadata={"resource_version": self.sim.place + 1}))
        self.see_nodes()

    def see_nodes(self) -> None:
        """Deliver node changes to the scheduler."""
        self.sim.deliver(self.sim.processes[SCHEDULER], ["Node"])

    def one_pass(self) -> bool:
        """Filter and choose; return whether a node was chosen. The pod is read from the API, as 1.11 does."""
        self.sim.deliver(self.sim.processes[SCHEDULER], ["Pod"])
        self.sim.log.write(Note(SCHEDULER, "queue", self.pod), QueueEntry(ACTIVE))
        self.act(PASS, self.pod, turns=1)
        return self.note("cycle", self.pod) is not None

    def assume(self) -> None:
        """Run the second half of the pass: Reserve."""
        self.act(PASS, self.pod)


def decision_as_recorded(decision: VolumeDecision) -> dict[str, Any]:
    """Return a volume decision in the recordings' format."""
    said = {
        "static": [{"claim": recorded_key(claim), "volume": volume.name} for claim, volume in decision.static],
        "provision": [recorded_key(claim) for claim in decision.provision],
        "reasons": list(decision.reasons),
        "error": re.sub(r'persistentvolumeclaim "(.*)" not found', MISSING, decision.error),
    }
    return {word: value for word, value in said.items() if value}


def recorded_cache_fields(caches: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return cached objects with the recorded fields only."""
    return {key: keep_fields(KEPT, fields) for key, fields in caches.items()}


def recorded_write_fields(writes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return writes with the recorded fields only."""
    return [{**write, "fields": keep_fields(KEPT, write["fields"])} for write in writes]


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what the volume binder finds, assumes and writes, up to the step at which it stops."""
    flow: Any = attrs.evolve(revision.flow, fine=True)
    kept = tuple(enabled for enabled in revision.profile.plugins if enabled.name == flow.volume_binding.name)
    if isinstance(flow, WaitInPreBind):
        flow = attrs.evolve(flow, bind_timeout=len(case["beforePoll"]) + 1.5)  # as many checks as were recorded
    profile = attrs.evolve(revision.profile, plugins=kept)
    alone = attrs.evolve(revision, profile=profile, flow=flow)
    stage = RecordedBinding(alone, case)
    said: dict[str, Any] = {"claims": _claims(stage)}
    if "immediate" in said["claims"] or "error" in said["claims"]:
        return said
    said["find"] = stage.found(stage.node)
    stage.alone()
    if not stage.one_pass():
        return said
    stage.changes(case.get("afterFind", ()))
    stage.assume()
    binding = stage.note("binding", stage.pod)
    all_bound = binding is not None and binding.stage == "bind"
    said["assume"] = {"allBound": all_bound, "caches": recorded_cache_fields(stage.caches())}
    if error := next((event["message"] for event in stage.events if "Reserve" in event["message"]), ""):
        error = error.removeprefix('running Reserve plugin "VolumeBinding": ')
        error = re.sub(r"stored: \d+, assume: \d+", "stored: N, assume: M", error)  # as in the recordings
        said["assume"] |= {"error": error, "reverted": recorded_cache_fields(stage.caches())}
    stage.changes(case.get("afterAssume", ()))
    if binding is not None and binding.stage == "write":
        said["bind"] = _bound(stage, case)
    return said


def _bound(stage: RecordedBinding, case: Case) -> dict[str, Any]:
    process, worker = stage.sim.find(WORKER)
    polls = 0
    while stage.note("binding", stage.pod).stage == "write":
        stage.sim.act(process, worker, stage.pod)
    while (binding := stage.note("binding", stage.pod)) is not None and binding.stage == "wait":
        stage.sim.advance_clock()
        if stage.sim.now < binding.deadline:
            if polls < len(case["beforePoll"]):
                stage.changes(case["beforePoll"][polls])
            polls += 1
        stage.sim.fire_due_wake_ups(process)
        stage.sim.act(process, worker, stage.pod)
    caches = recorded_cache_fields(stage.caches())
    said = {"writes": recorded_write_fields(stage.writes), "caches": caches, "polls": polls}
    if binding is not None:  # else all is bound, the pod too
        stage.sim.act(process, worker, stage.pod)
        said["error"] = binding.message.removeprefix('running PreBind plugin "VolumeBinding": ')
        said["reverted"] = recorded_cache_fields(stage.caches())
    return said


def _claims(stage: RecordedBinding) -> dict[str, Any]:
    """Return the pod's claims by state and the candidate volumes of each class, or the error."""
    pod, seen, plugin = stage.sim.log.objects[Key("Pod", "default", stage.turn)], stage.cache.snapshot, stage.plugin
    message = getattr(plugin.prefilter(pod, seen), "message", "")
    found = plugin.claims(pod, seen)
    if missing := re.search(r'persistentvolumeclaim "(.*)"( not found)?$', message):
        name = f"default/{missing[1]}"
        return {"error": f'error getting PVC "{name}": persistentvolumeclaims "{name}" not found'}
    if message and not found.immediate:
        return {"error": message}
    classes = {volumes.class_of_claim(claim) for claim in found.delayed}
    said: dict[str, Any] = {
        word: [volumes.claim_key(claim) for claim in claims]
        for word, claims in (("bound", found.bound), ("delayed", found.delayed), ("immediate", found.immediate))
    }
    said["volumes"] = {name: [volume.metadata.name for volume in seen.volumes_of_class(name)] for name in classes}
    return {word: value for word, value in said.items() if value}


def design_expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded passes, aspect by aspect."""
    return _by_aspect(case["expect"].get("fresh", case["expect"]["passes"]))


def design_answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return our passes, aspect by aspect."""
    options = WITHOUT_GATE[GATE] if case.get("gates", {}).get(GATE) is False else {}
    fine = attrs.evolve(revision, flow=attrs.evolve(revision.flow, fine=True))
    stage = RecordedBinding(as_in_1_11(fine, only=("VolumeBinding",), **options), case)
    passes, once = [], dict(case)  # changes after find or assume happen once, in the first pass that gets there
    for number in range(len(case["beforePass"]) + 1):
        if number:
            stage.changes(case["beforePass"][number - 1])
        if number and stage.cache.get(Key("Pod", "default", stage.turn)).spec.node_name:
            break
        passes.append(_pass(stage, once))
    return _by_aspect(passes)


def _by_aspect(passes: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"passes": [[each["node"], each.get("pod")] for each in passes]}
    for aspect in DESIGN_ASPECTS[1:]:
        said[aspect] = {f"pass {number}": each[aspect] for number, each in enumerate(passes) if aspect in each}
    return said


def _pass(stage: RecordedBinding, case: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"node": stage.node}
    if case.get("others"):
        said["pod"] = stage.turn
    nodes = sorted(key.name for key in stage.sim.log.objects if key.kind == "Node")
    said["find"] = stage.found(stage.node)
    said["others"] = {node: stage.found(node) for node in nodes if node != stage.node}
    stage.since()
    taken = stage.alone()
    bound = queued = False
    if stage.one_pass():
        said["assume"], queued, bound = _assumed(stage, case)
    if queued:
        stage.writes.clear()
        stage.act(WORKER, stage.pod)
        said["bind"] = {"writes": recorded_write_fields(stage.writes), "caches": recorded_cache_fields(stage.caches())}
        if failed := [event["message"] for event in stage.events if event["type"] == "Warning"]:
            said["bind"]["error"] = failed[0]
    elif bound:
        stage.act(WORKER, stage.pod)
    said["outcome"] = _outcome(stage, queued=queued, bound=bound)
    stage.together(taken)
    return said


def _assumed(stage: RecordedBinding, case: dict[str, Any]) -> tuple[dict[str, Any], bool, bool]:
    """Replay Reserve; return the assumed objects, and whether the pod is queued for binding or fully bound."""
    reserving = bool(stage.note("cycle", stage.pod).found.static)
    stage.changes(case.pop("afterFind", ()))
    stage.assume()
    binding = stage.note("binding", stage.pod)
    queued, bound = binding is not None and binding.stage == "write", binding is not None and binding.stage == "bind"
    caches = recorded_cache_fields(stage.caches())
    said: dict[str, Any] = {"allBound": bound, "bindingRequired": queued, "caches": caches}
    if error := next((event["message"] for event in stage.events if event["message"].startswith(ASSUMING)), ""):
        said |= {"error": error.removeprefix(ASSUMING), "bindingRequired": reserving}
    if not bound:
        said["nodeName"] = stage.node
    stage.changes(case.pop("afterAssume", ()))
    return said, queued, bound


def _outcome(stage: RecordedBinding, *, queued: bool, bound: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"assumed": bound, "bindQueue": queued, "requeued": not bound}
    said["events"] = [{word: event[word] for word in ("type", "reason", "message")} for event in stage.events]
    pod = stage.sim.log.objects.get(Key("Pod", "default", stage.turn))
    condition = pod.status.condition("PodScheduled") if pod is not None else None
    if not bound and condition is not None:
        words = {"message": condition.message} if condition.message else {}
        said["condition"] = {"reason": condition.reason, **words}
    return said
