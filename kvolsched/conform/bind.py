"""`bind`: find, assume and bind one pod's volumes as kube-scheduler v1.36.2 did, with changes at given moments.

A pass runs in the fine gear, so that what changes between finding and assuming can be put there; of the nodes only the
chosen one is there, as in the recordings. `design_bind` plays 1.11's on the same stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from kvolsched import volumes
from kvolsched.revision import Revision
from kvolsched.scheduler.loop.binding_flow import WORKER, WaitInPreBind
from kvolsched.scheduler.loop.scheduling_cycle import PASS, SCHEDULER, SchedulingPass
from kvolsched.scheduler.loop.scheduling_queue import ACTIVE, QueueEntry
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding
from kvolsched.scheduler.pod_claims import VolumeDecision
from kvolsched.world.log import Key, Note

from . import steps
from .recording import Case
from .steps import name_of, only

ASPECTS = ("claims", "find", "assume", "bind")
KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod", "CSINode", "CSIDriver")
ABSENT = {"persistent-volume-binder": {"absent": True}, "kubelet": {"absent": True}}
KEPT = ("annotations", "claimRef")  # of writes and cached objects the recordings tell these
MISSING = r'error getting PVC "\1": could not find v1.PersistentVolumeClaim "default/\1"'


class BindStage(steps.Stage):
    """A world in which passes of given pods on given nodes are played, with changes at given moments. Mutable."""

    def __init__(self, revision: Revision, case: Case) -> None:
        super().__init__(revision, case, (*KINDS, "CSIStorageCapacity"), ABSENT)
        self.node: str = case["node"]
        self.unseen: dict[Key, Any] = {}  # what the watch still shows of objects that have changed since in the API
        for pod in (case["pod"], *case.get("others", ())):
            self.put(pod)
        self.turn: str = case["pod"]["metadata"]["name"]
        self.show()
        self.mark = self.sim.place

    @property
    def pod(self) -> str:
        """The pod whose turn it is."""
        return f"default/{self.turn}"

    @property
    def plugin(self) -> VolumeBinding:
        """The plugin that is asked."""
        actor = self.sim.find(PASS, SCHEDULER)[1]
        assert isinstance(actor, SchedulingPass)
        plugin = actor.profile.plugin("VolumeBinding")
        assert isinstance(plugin, VolumeBinding)
        return plugin

    def changes(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Make changes; watchers see them unless they are `unseen`."""
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
        """Let the watch show what has just changed, and nothing else that has changed since it last showed all."""
        log = self.sim.log
        for key, old, _ in log.changes[self.mark :]:
            if isinstance(key, Key) and key.kind not in ("Node", "Pod"):  # what the scheduler says of pods is seen
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
        """Return what is found for the pod on a node."""
        pod = self.sim.log.objects[Key("Pod", "default", self.turn)]
        return told(self.plugin.decide(pod, node, self.cache.snapshot))

    def alone(self) -> dict[Key, Any]:
        """Take every node out of sight but the chosen one; return those taken."""
        taken = {}
        for key, node in list(self.sim.log.objects.items()):
            if key.kind == "Node" and key.name != self.node:
                taken[key] = node
                self.sim.log.write(key, None)
        self.see_nodes()
        return taken

    def together(self, taken: Mapping[Key, Any]) -> None:
        """Bring nodes back into sight."""
        for key, node in taken.items():
            meta = attrs.evolve(node.metadata, resource_version=self.sim.place + 1)
            self.sim.log.write(key, attrs.evolve(node, metadata=meta))
        self.see_nodes()

    def see_nodes(self) -> None:
        """Let the scheduler see nodes and nothing else."""
        self.sim.deliver(self.sim.processes[SCHEDULER], ["Node"])

    def one_pass(self) -> bool:
        """Judge and choose; return whether a node was chosen. The pod is as the API has it, as 1.11 reads it anew."""
        self.sim.deliver(self.sim.processes[SCHEDULER], ["Pod"])
        self.sim.log.write(Note(SCHEDULER, "queue", self.pod), QueueEntry(ACTIVE))
        self.act(PASS, self.pod, turns=1)
        return self.note("cycle", self.pod) is not None

    def assume(self) -> None:
        """Do the second half of the pass."""
        self.act(PASS, self.pod)


def told(decision: VolumeDecision) -> dict[str, Any]:
    """Return a decision as recordings write it."""
    said = {
        "static": [{"claim": name_of(claim), "volume": volume.name} for claim, volume in decision.static],
        "provision": [name_of(claim) for claim in decision.provision],
        "reasons": list(decision.reasons),
        "error": re.sub(r'persistentvolumeclaim "(.*)" not found', MISSING, decision.error),
    }
    return {word: value for word, value in said.items() if value}


def short(caches: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return of cached objects what the recordings tell."""
    return {key: only(KEPT, fields) for key, fields in caches.items()}


def brief(writes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return of writes what the recordings tell."""
    return [{**write, "fields": only(KEPT, write["fields"])} for write in writes]


def unnumbered(text: str) -> str:
    """Return a sentence with version numbers replaced as in the recordings."""
    return re.sub(r"stored: \d+, assume: \d+", "stored: N, assume: M", text)


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return what the binder finds, assumes, writes and sees, as far as it gets."""
    plugin = revision.flow.volume_binding
    kept = tuple(enabled for enabled in revision.profile.plugins if enabled.name == plugin.name)
    flow: Any = revision.flow
    if isinstance(flow, WaitInPreBind):
        flow = attrs.evolve(flow, bind_timeout=len(case["beforePoll"]) + 1.5)  # so many checks before it is over
    profile = attrs.evolve(revision.profile, plugins=kept)
    alone = attrs.evolve(revision, fine=True, profile=profile, flow=flow)
    stage = BindStage(alone, case)
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
    said["assume"] = {"allBound": binding is not None and binding.stage == "bind", "caches": short(stage.caches())}
    error = next((event["message"] for event in stage.events if "Reserve" in event["message"]), "")
    if error:
        error = unnumbered(error.removeprefix('running Reserve plugin "VolumeBinding": '))
        said["assume"] |= {"error": error, "reverted": short(stage.caches())}
    stage.changes(case.get("afterAssume", ()))
    if binding is not None and binding.stage == "write":
        said["bind"] = _bound(stage, case)
    return said


def _bound(stage: BindStage, case: Case) -> dict[str, Any]:
    """Make the writes, then look as often as there are moments to look; return what comes out."""
    process, worker = stage.sim.find(WORKER)
    polls = 0
    while stage.note("binding", stage.pod).stage == "write":
        stage.sim.act(process, worker, stage.pod)
    while (binding := stage.note("binding", stage.pod)).stage == "wait":
        stage.sim.pass_time()
        if stage.sim.now < binding.deadline:
            if polls < len(case["beforePoll"]):
                stage.changes(case["beforePoll"][polls])
            polls += 1
        stage.sim.wake(process)
        stage.sim.act(process, worker, stage.pod)
    said = {"writes": brief(stage.writes), "caches": short(stage.caches()), "polls": polls}
    message = stage.note("binding", stage.pod).message
    if message:
        stage.sim.act(process, worker, stage.pod)
        said["error"] = message.removeprefix('running PreBind plugin "VolumeBinding": ')
        said["reverted"] = short(stage.caches())
    return said


def _claims(stage: BindStage) -> dict[str, Any]:
    """Return the pod's claims, sorted out, and the volumes that come into question for each class; or why none."""
    pod, seen, plugin = stage.sim.log.objects[Key("Pod", "default", stage.turn)], stage.cache.snapshot, stage.plugin
    message = getattr(plugin.prefilter(pod, seen), "message", "")
    found = plugin.claims(pod, seen)
    missing = re.search(r'persistentvolumeclaim "(.*)"( not found)?$', message)
    if missing:
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
