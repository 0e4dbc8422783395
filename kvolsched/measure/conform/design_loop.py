"""Family `design-loop`: scheduler, bind worker, PV controller and provisioner of 1.11, step by step.

Where a recording has `fresh` answers, those are expected: a pass must not depend on an earlier decision. Recordings of
1.11 are replayed with its differences from the documents (`as_in_1_11`), so that everything else is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.pod import Pod
from kvolsched.controllers import persistent_volume, provisioner
from kvolsched.controllers.provisioner.new_volume import domain_of
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.columns.column import Integers
from kvolsched.scheduler.framework.extension_points import ColumnContext, EnabledPlugin
from kvolsched.scheduler.loop.binding_flow import WORKER
from kvolsched.scheduler.loop.scheduling_cycle import PASS
from kvolsched.scheduler.plugins.volume_binding.claims import smallest_first
from kvolsched.world.apiserver import RefusedWrite
from kvolsched.world.log import Key, Note
from kvolsched.world.mutation_cache import ABSENT, MutationCache

from .agreement import Case
from .steps import CLAIM, VOLUME, RecordedLoop, recorded_key

FAMILY = "design-loop"
SCHEDULED = ("queued", "assumed", "writes", "events", "conditions", "errors", "skipped")
OF_STEPS = (*SCHEDULED, "provisioned", "zone", "deselected")
ASPECTS = (*OF_STEPS, "final")
KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod")
DRIVER = "ebs.example.com"


def expected(case: Case) -> Mapping[str, Any]:
    """Return the recorded steps, aspect by aspect, and the final state."""
    steps, final = expected_end(case)
    return {**_by_aspect(steps), "final": final}


def expected_end(case: Case) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """Return the recorded steps in their order, and the final nodes and volumes."""
    recorded = case["expect"].get("fresh", case["expect"])
    return recorded["steps"], recorded["final"]


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return our steps, aspect by aspect, and the final nodes and volumes."""
    stage, _, done = play(case, revision)
    return {**_by_aspect(done), "final": end_of(stage)}


def end_of(stage: RecordedDesignLoop) -> dict[str, Any]:
    """Return the node of each pod and the volume of each bound claim, as recordings name them."""
    objects = stage.sim.log.objects
    final = {f"Pod {key.name}": obj.spec.node_name or None for key, obj in objects.items() if key.kind == "Pod"}
    return final | {
        f"{key.kind} {recorded_key(key)}": obj.spec.volume_name for key, obj in objects.items()
        if key.kind == CLAIM and obj.spec.volume_name
    }


def play(case: Case, revision: Revision) -> tuple[RecordedDesignLoop, Revision, list[dict[str, Any]]]:
    """Replay a case; return the world, its rules, and the steps in the recordings' format."""
    rules = as_in_1_11(revision, EnabledPlugin(RecordedRank(tuple(case["rank"].items())), 1))
    stage = RecordedDesignLoop(rules, case)
    done = []
    for step in case["steps"]:
        if "watch" in step:
            stage.show()
            continue
        said = STEPS[next(word for word in STEPS if word in step)](stage, step)
        writes, events = stage.since()
        told = {**said, "writes": said.get("writes", writes), "events": said.get("events", events)}
        done.append({"step": step, **{word: value for word, value in told.items() if value}})
    return stage, rules, done


def _by_aspect(steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        aspect: {f"{number} {step['step']}": step[aspect] for number, step in enumerate(steps) if aspect in step}
        for aspect in OF_STEPS
    }


class RecordedDesignLoop(RecordedLoop):
    """A world that runs the whole loop of 1.11 as its recordings drive it. Mutable."""

    def __init__(self, rules: Revision, case: Case) -> None:
        super().__init__(rules.simulation(components={DRIVER: {}}), case, KINDS)
        self.rules = rules
        for pod in case["pods"]:
            self.put(pod)
        self.show()
        seen = self.sim.find(persistent_volume.CLAIMS)[0].seen
        self.known_volumes: dict[Key, Any] = dict(seen.kinds[VOLUME])

    def schedule(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Run one scheduling pass for a pod that needs one, and its binding if the pass chose a node."""
        key = Key("Pod", "default", step["schedule"])
        name = recorded_key(key)
        if self.cache.get(key).spec.node_name or self.note("binding", name) is not None:
            return {"skipped": True}
        self.activate(name)
        self.act(PASS, name)
        binding = self.note("binding", name)
        if binding is None:
            return {"conditions": [self.condition(name)]}
        if binding.stage == "bind":
            self.act(WORKER, name)
            return {"assumed": binding.node}
        return {"queued": binding.node}

    def bind_worker(self, _step: Mapping[str, Any]) -> dict[str, Any]:
        """Run the bind worker until its queue is empty."""
        found = []
        while names := self.ready(WORKER):
            self.act(WORKER, names[0])
            found.append(names[0])
        return {"conditions": [self.condition(name) for name in found]}

    def condition(self, name: str) -> dict[str, Any]:
        """Return the reason in a pod's PodScheduled condition."""
        pod = self.sim.log.objects[Key("Pod", *name.split("/"))]
        return {"pod": pod.metadata.name, "reason": pod.status.condition("PodScheduled").reason}

    def controller(self, _step: Mapping[str, Any]) -> dict[str, Any]:
        """Sync every claim, then every volume; the controller's cache learns of a volume by that volume's sync only."""
        process, _ = self.sim.find(persistent_volume.CLAIMS)
        own, before = process.views["cache"], self.known_volumes
        assert isinstance(own, MutationCache)
        for key in {*before, *process.seen.kinds[VOLUME]}:
            if own.at(key) is not before.get(key):
                self.sim.log.write(Note(process.name, "own", "/".join(key)), before.get(key, ABSENT))
        errors = []
        for kind, actor in ((CLAIM, persistent_volume.CLAIMS), (VOLUME, persistent_volume.VOLUMES)):
            for key in sorted(set(process.seen.kinds[kind]) | {key for key in before if key.kind == kind}):
                for ctx in self.act(actor, recorded_key(key)):
                    refusals = [out for out in ctx.outcomes if isinstance(out, RefusedWrite) and _is_told(out)]
                    errors += [f"{recorded_key(key)}: {out.message}" for out in refusals]
        self.known_volumes = {key: own.at(key) for key in process.seen.kinds[VOLUME]}
        return {"errors": errors}

    def provision(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Let the provisioner process a claim: its volume is created at once, or provisioning fails."""
        claim = Key(CLAIM, *step["provision"].split("/"))
        process, actor = self.sim.find(f"{DRIVER} provisioner")
        if step.get("fails"):
            fails = (provisioner.Failure(times=None),)
            options = attrs.evolve(self.rules.provisioning, delay=0.0, fails=fails)
            actor = provisioner.component(DRIVER, options).actors[0]
        self.sim.deliver(process)
        objects = self.sim.log.objects
        before = objects[claim]
        made = Key(VOLUME, "", f"pvc-{before.metadata.uid}")
        there = made in objects
        count, faults, self.faults = self.count, self.faults, {}
        self.sim.act(process, actor, step["provision"])
        self.since()  # writes and events of drivers are not recorded and count for no fault
        self.count, self.faults = count, faults
        if made in objects and not there:
            return {"provisioned": made.name, "zone": domain_of(objects[made])}
        return {"deselected": volumes.selected_node(before)} if objects[claim] != before else {"skipped": True}


def _is_told(refused: RefusedWrite) -> bool:
    """Return whether a sync reports a refusal as its error: those of asynchronous operations are only logged."""
    write = refused.write
    return write.key.kind != CLAIM or write.verb != "update" or bool(write.new.spec.volume_name)


STEPS: Mapping[str, Callable[[RecordedDesignLoop, Mapping[str, Any]], dict[str, Any]]] = {
    "schedule": RecordedDesignLoop.schedule,
    "bindWorker": RecordedDesignLoop.bind_worker,
    "controller": RecordedDesignLoop.controller,
    "provision": RecordedDesignLoop.provision,
}


# -- what 1.11 did otherwise than the documents say -------------------------------------------------------------------

VOLUME_RULES_1_11 = attrs.evolve(
    volumes.DESIGN, selected_node_key="volume.alpha.kubernetes.io/selected-node", is_listed=volumes.has_class_field
)


def as_in_1_11(revision: Revision, *extra: EnabledPlugin, only: tuple[str, ...] = (), **options: Any) -> Revision:
    """Return the rules of 1.11: claims in order of rising size, no priority, the alpha annotation key.

    `extra` plugins are appended to the profile; of the others it keeps `only` (names; none: all). `options` are other
    options of VolumeBinding.
    """
    rules, plugins, binding = VOLUME_RULES_1_11, [], revision.flow.volume_binding
    for enabled in revision.profile.plugins:
        plugin = enabled.plugin
        if enabled.name == binding.name:
            plugin = binding = attrs.evolve(binding, rules=rules, claim_order=smallest_first, **options)
        if not only or enabled.name in only:
            plugins.append(attrs.evolve(enabled, plugin=plugin, weight=0))
    return attrs.evolve(
        revision, profile=attrs.evolve(revision.profile, plugins=(*plugins, *extra)),
        flow=attrs.evolve(revision.flow, volume_binding=binding, options=rules),
        binder=attrs.evolve(revision.binder, rules=rules), provisioning=attrs.evolve(revision.provisioning, delay=0.0)
    )


@attrs.frozen
class RecordedRank:
    """Score plugin with recorded scores of nodes."""

    name: ClassVar[str] = "Rank"
    ranks: tuple[tuple[str, int], ...]

    def score(self, _pod: Pod, columns: ColumnContext) -> Integers:
        """Return the recorded score of each node; 0 without one."""
        ranks: Integers = columns.nodes.live.array.astype(int) * 0
        for node, rank in self.ranks:
            if node in columns.nodes.row_of:
                ranks[columns.nodes.row_of[node]] = rank
        return ranks

    def normalise(self, raw: Integers) -> Integers:
        """Return the scores unchanged."""
        return raw
