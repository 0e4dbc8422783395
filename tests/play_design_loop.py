"""Plays the recorded family `design-loop` (Kubernetes 1.11) and compares what each step did.

Where the recordings have `fresh` answers, those are wanted: a pass must not know what an earlier one decided.
"""

import attrs
import numpy as np
from loop_recorded import World, name_of

from kvolsched import volumes
from kvolsched.controllers import persistent_volume, provisioner
from kvolsched.revision import design
from kvolsched.scheduler.cycle import PASS
from kvolsched.scheduler.extension import Enabled
from kvolsched.scheduler.flow import WORKER
from kvolsched.world.apiserver import Refused
from kvolsched.world.log import Key, Note
from kvolsched.world.own import ABSENT

RULES = attrs.evolve(volumes.DESIGN, selected_node_key="volume.alpha.kubernetes.io/selected-node")
KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod")
DRIVER = "ebs.example.com"


@attrs.frozen
class Rank:
    """The recordings' preference among nodes."""

    ranks: tuple[tuple[str, int], ...]
    name: str = "Rank"

    def score(self, _pod, at):
        """Return each node's rank."""
        ranks = dict(self.ranks)
        return np.array([ranks.get(name, 0) for name in at.nodes.names], np.int64)

    def normalise(self, raw):
        """Leave the ranks as they are."""
        return raw


def as_in_1_11(revision, *extra, only=None, **options):
    """Return the design's rules with what 1.11 did otherwise: claims by rising size, its annotation key."""
    plugins = []
    for enabled in revision.profile.plugins:
        if only is None or enabled.name in only:
            plugin = enabled.plugin
            if enabled.name == "VolumeBinding":
                plugin = attrs.evolve(plugin, rules=RULES, largest_first=False, prioritises=False, **options)
                binding = plugin
            plugins.append(attrs.evolve(enabled, plugin=plugin, weight=0))
    profile = attrs.evolve(revision.profile, plugins=(*plugins, *extra))
    flow = attrs.evolve(revision.flow, volume_binding=binding, options=RULES)
    return attrs.evolve(
        revision,
        profile=profile,
        flow=flow,
        binder=attrs.evolve(revision.binder, rules=RULES),
        provisioning=attrs.evolve(revision.provisioning, delay=0.0),
    )


def played(case):
    """Play a case; return the world as it is then, its profile, and the steps in the recordings' form."""
    revision = as_in_1_11(design(), Enabled(Rank(tuple(case["rank"].items())), 1))
    world = World(revision, case, kinds=KINDS, components={DRIVER: {}})
    for pod in case["pods"]:
        world.put(pod)
    world.show()
    world.known_volumes = dict(world.sim.find(persistent_volume.CLAIMS)[0].seen.kinds["PersistentVolume"])
    done = []
    for step in case["steps"]:
        if "watch" in step:
            world.show()
            continue
        said = dict(STEPS[next(word for word in STEPS if word in step)](world, step))
        writes, events = world.since()
        conditions = said.pop("conditions", [])
        told = {"writes": writes, "events": events, "conditions": conditions, **said}
        done.append({"step": step, **{word: value for word, value in told.items() if value}})
    return world, revision.profile, done


def play(case):
    """Play a case; return the steps in the recordings' form and the final placement."""
    world, _, done = played(case)
    objects = world.sim.log.objects
    final = {f"Pod {key.name}": obj.spec.node_name or None for key, obj in objects.items() if key.kind == "Pod"}
    final |= {
        f"{key.kind} {name_of(key)}": obj.spec.volume_name or None
        for key, obj in objects.items()
        if key.kind == "PersistentVolumeClaim"
    }
    return done, final


def schedule(world, step):
    """One pass for a pod, if it wants one, and its binding if the pass placed it."""
    name = f"default/{step['schedule']}"
    pod = world.sim.log.objects[Key("Pod", "default", step["schedule"])]
    assumed = world.cache.get(Key("Pod", "default", step["schedule"]))
    if assumed.spec.node_name or world.note("binding", name) is not None:
        yield "skipped", True
        return
    world.act(PASS, name)
    binding = world.note("binding", name)
    if binding is None:
        yield from conditions(world, [(name, pod)])
    elif binding.stage == "bind":
        world.act(WORKER, name)
        yield "assumed", binding.node
    else:
        yield "queued", binding.node


def bind_worker(world, _step):
    """The worker works off its whole queue."""
    told = []
    while names := world.ready(WORKER):
        name = names[0]
        pod = world.sim.log.objects[Key("Pod", *name.split("/"))]
        world.act(WORKER, name)
        told.append((name, pod))
    yield from conditions(world, told)


def conditions(world, pods):
    """What was written into these pods' conditions."""
    found = []
    for name, _old in pods:
        pod = world.sim.log.objects[Key("Pod", *name.split("/"))]
        found.append({"pod": pod.metadata.name, "reason": pod.status.condition("PodScheduled").reason})
    yield "conditions", found


def controller(world, _step):
    """One sync of every claim, then of every volume; its own cache learns of a volume by that volume's sync alone."""
    process, _ = world.sim.find(persistent_volume.CLAIMS)
    own, before = process.views["own"], world.known_volumes
    for key in {*before, *process.seen.kinds["PersistentVolume"]}:
        if own.at(key) is not before.get(key):
            world.sim.log.write(Note(process.name, "own", "/".join(key)), before.get(key, ABSENT))
    errors = []
    for kind, actor in (
        ("PersistentVolumeClaim", persistent_volume.CLAIMS),
        ("PersistentVolume", persistent_volume.VOLUMES),
    ):
        keys = set(process.seen.kinds[kind]) | {key for key in before if key.kind == kind}
        for key in sorted(keys):
            cause = name_of(key)
            for hand in world.act(actor, cause):
                errors += [f"{cause}: {out.message}" for out in hand.outcomes if isinstance(out, Refused) and is_told(out)]
    world.known_volumes = {key: own.at(key) for key in process.seen.kinds["PersistentVolume"]}
    yield "errors", errors


def is_told(refused):
    """Say whether a sync returns a refusal as its error: what an operation beside it meets is only logged."""
    write = refused.write
    return write.key.kind != "PersistentVolumeClaim" or write.verb != "update" or bool(write.new.spec.volume_name)


def provision(world, step):
    """The driver takes up a claim that is handed to it, and its volume stands at once; or it fails."""
    claim = Key("PersistentVolumeClaim", *step["provision"].split("/"))
    process, actor = world.sim.find(f"{DRIVER} provisioner")
    if step.get("fails"):
        options = attrs.evolve(design().provisioning, delay=0.0, fails=(provisioner.Failure(times=None),))
        actor = provisioner.component(DRIVER, options).actors[0]
    world.sim.deliver(process)
    objects = world.sim.log.objects
    before, count = objects[claim], world.count
    made = Key("PersistentVolume", "", f"pvc-{before.metadata.uid}")
    there = made in objects
    world.sim.act(process, actor, step["provision"])
    world.since()  # what drivers write and say is not in the recordings
    world.count = count
    if made in objects and not there:
        yield "provisioned", made.name
        required = objects[made].spec.node_affinity.required
        yield "zone", required.node_selector_terms[0].match_expressions[0].values[0]
    elif objects[claim] != before:
        yield "deselected", volumes.selected_node(before)
    else:
        yield "skipped", True


STEPS = {"schedule": schedule, "bindWorker": bind_worker, "controller": controller, "provision": provision}


def compare(case, tally):
    """Compare every step of a case, aspect by aspect, and the end."""
    steps, final = play(case)
    expect = case["expect"].get("fresh", case["expect"])
    for aspect in ("queued", "assumed", "writes", "events", "conditions", "errors", "skipped", "provisioned", "deselected"):
        tally.compare(case, aspect, of_steps(expect["steps"], aspect), of_steps(steps, aspect))
    tally.compare(case, "final", expect["final"], {key: final[key] for key in expect["final"] if key in final})


def of_steps(steps, aspect):
    """Return what each step says of one aspect."""
    return {f"{number} {step['step']}": step[aspect] for number, step in enumerate(steps) if aspect in step}
