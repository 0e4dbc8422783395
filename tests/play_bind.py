"""Plays the recorded families `design-bind` (Kubernetes 1.11) and `bind` (v1.36.2): find, assume, bind, and checks.

A pass runs in the fine gear, so that what changes between finding and assuming can be put there; of the nodes only the
chosen one is there, as in the recordings.
"""

import re

import attrs
from loop_recorded import World, name_of
from play_design_loop import as_in_1_11

from kvolsched import volumes
from kvolsched.revision import design, upstream
from kvolsched.scheduler.cycle import PASS, SCHEDULER
from kvolsched.scheduler.flow import WORKER
from kvolsched.scheduler.queue import ACTIVE, QueueEntry
from kvolsched.world.log import Key, Note

KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod")
CONTROL = {"persistent-volume-binder": {"absent": True}, "kubelet": {"absent": True}}


# The scheduler looks for a missing claim before the predicate does, in other words.
MISSING = r'error getting PVC "\1": could not find v1.PersistentVolumeClaim "default/\1"'


class Stage(World):
    """A world in which passes of given pods on given nodes are played, with changes at given moments. Mutable."""

    def __init__(self, revision, case):
        super().__init__(revision, case, kinds=KINDS, components=CONTROL)
        self.node = case["node"]
        self.unseen = {}  # what the watch still shows of objects that have changed in the API since
        self.mark = 0
        for pod in (case["pod"], *case.get("others", ())):
            self.put(pod)
        self.turn = case["pod"]["metadata"]["name"]
        self.show()
        self.mark = self.sim.place

    @property
    def pod(self):
        """The name of the pod whose turn it is."""
        return f"default/{self.turn}"

    def changes(self, changes):
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

    def show_last(self):
        """Let the watch show what has just changed, and nothing else that has changed since it last showed all."""
        log = self.sim.log
        for key, old, _ in log.changes[self.mark :]:
            if isinstance(key, Key) and key.kind != "Node":
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

    def found(self, node):
        """What is found for the pod on a node, in the recordings' form."""
        plugin = self.sim.find(PASS, SCHEDULER)[1].profile.plugin("VolumeBinding")
        pod = self.sim.log.objects[Key("Pod", "default", self.turn)]
        return told(plugin.decide(pod, node, self.cache.behind))

    def alone(self):
        """Take every node out of sight but the chosen one; return those taken."""
        taken = {}
        for key, node in list(self.sim.log.objects.items()):
            if key.kind == "Node" and key.name != self.node:
                taken[key] = node
                self.sim.log.write(key, None)
        self.see_nodes()
        return taken

    def together(self, taken):
        """Bring nodes back into sight."""
        for key, node in taken.items():
            self.sim.log.write(key, attrs.evolve(node, metadata=attrs.evolve(node.metadata, resource_version=self.sim.place + 1)))
        self.see_nodes()

    def see_nodes(self):
        """Let the scheduler see nodes and nothing else."""
        self.sim.deliver(self.sim.processes[SCHEDULER], ["Node"])

    def one_pass(self):
        """Judge and choose; return whether a node was chosen."""
        self.sim.log.write(Note(SCHEDULER, "queue", self.pod), QueueEntry(ACTIVE))
        self.act(PASS, self.pod, turns=1)
        return self.note("cycle", self.pod) is not None

    def assume(self):
        """Do the second half of the pass."""
        self.act(PASS, self.pod)


def told(decision):
    """Write a decision as the recordings do."""
    said = {
        "static": [{"claim": name_of(claim), "volume": volume.name} for claim, volume in decision.static],
        "provision": [name_of(claim) for claim in decision.provision],
        "reasons": list(decision.reasons),
        "error": re.sub(r'persistentvolumeclaim "(.*)" not found', MISSING, decision.error),
    }
    return {word: value for word, value in said.items() if value}


def short(caches):
    """Keep of cached objects what the recordings of this family tell."""
    return {key: {w: v for w, v in fields.items() if w in ("annotations", "claimRef")} for key, fields in caches.items()}


def brief(writes):
    """Keep of writes what the recordings of this family tell."""
    return [{**write, "fields": {w: v for w, v in write["fields"].items() if w in ("annotations", "claimRef")}} for write in writes]


def unnumbered(text):
    """Replace version numbers as the recordings do."""
    return re.sub(r"stored: \d+, assume: \d+", "stored: N, assume: M", text)


# -- 1.11 -------------------------------------------------------------------------------------------------------------


def play_design(case):
    """Play a case of `design-bind`; return its passes."""
    gate_off = case.get("gates", {}).get("DynamicProvisioningScheduling") is False
    revision = as_in_1_11(attrs.evolve(design(), fine=True), only=("VolumeBinding",), **({"provisions": False} if gate_off else {}))
    world = Stage(revision, case)
    told_passes, once = [], {**case}  # what happens after find or assume happens in the first pass that gets there
    for number in range(len(case["beforePass"]) + 1):
        if number:
            world.changes(case["beforePass"][number - 1])
        if number and world.cache.get(Key("Pod", "default", world.turn)).spec.node_name:
            break
        told_passes.append(design_pass(world, once))
    return told_passes


def design_pass(world, case):
    """Play one pass."""
    said = {"node": world.node}
    if case.get("others"):
        said["pod"] = world.turn
    nodes = sorted(key.name for key in world.sim.log.objects if key.kind == "Node")
    said["find"] = world.found(world.node)
    said["others"] = {node: world.found(node) for node in nodes if node != world.node}
    world.since()
    taken = world.alone()
    chosen = world.one_pass()
    bound = queued = False
    if chosen:
        reserving = bool(world.note("cycle", world.pod).found.static)
        world.changes(case.pop("afterFind", ()))
        world.assume()
        binding = world.note("binding", world.pod)
        queued, bound = binding is not None and binding.stage == "write", binding is not None and binding.stage == "bind"
        said["assume"] = assume = {"allBound": bound, "bindingRequired": queued, "caches": short(world.caches())}
        error = next((e["message"] for e in world.events if e["message"].startswith("AssumePodVolumes failed: ")), "")
        if error:
            assume |= {"error": error.removeprefix("AssumePodVolumes failed: "), "bindingRequired": reserving}
        if not bound:
            assume["nodeName"] = world.node
        world.changes(case.pop("afterAssume", ()))
    if queued:
        world.writes.clear()
        world.act(WORKER, world.pod)
        said["bind"] = {"writes": brief(world.writes), "caches": short(world.caches())}
        failed = [event["message"] for event in world.events if event["type"] == "Warning"]
        if failed:
            said["bind"]["error"] = failed[0]
    elif bound:
        world.act(WORKER, world.pod)
    outcome = {"assumed": bound, "bindQueue": queued, "requeued": not bound}
    outcome["events"] = [{w: event[w] for w in ("type", "reason", "message")} for event in world.events]
    pod = world.sim.log.objects.get(Key("Pod", "default", world.turn))
    condition = pod.status.condition("PodScheduled") if pod is not None else None
    if not bound and condition is not None:
        outcome["condition"] = {"reason": condition.reason, **({"message": condition.message} if condition.message else {})}
    said["outcome"] = outcome
    world.together(taken)
    return said


def compare_design(case, tally):
    """Compare every pass of a case, aspect by aspect."""
    passes, expect = play_design(case), case["expect"].get("fresh", case["expect"]["passes"])
    tally.compare(case, "passes", [(p["node"], p.get("pod")) for p in expect], [(p["node"], p.get("pod")) for p in passes])
    for aspect in ("find", "others", "assume", "bind", "outcome"):
        wanted = {f"pass {n}": each[aspect] for n, each in enumerate(expect) if aspect in each}
        tally.compare(case, aspect, wanted, {f"pass {n}": each[aspect] for n, each in enumerate(passes) if aspect in each})




# -- v1.36.2 ----------------------------------------------------------------------------------------------------------


def play_upstream(case):
    """Play a case of `bind`; return what the recordings tell of it."""
    revision = attrs.evolve(upstream(), fine=True)
    kept = tuple(enabled for enabled in revision.profile.plugins if enabled.name == "VolumeBinding")
    profile = attrs.evolve(revision.profile, plugins=kept)
    timeout = len(case["beforePoll"]) + 1.5  # so many checks before it is over
    flow = attrs.evolve(revision.flow, volume_binding=kept[0].plugin, bind_timeout=timeout)
    world = Stage(attrs.evolve(revision, profile=profile, flow=flow), case)
    said = {"claims": claims(world, kept[0].plugin)}
    if "immediate" in said["claims"] or "error" in said["claims"]:
        return said
    said["find"] = world.found(world.node)
    world.alone()
    if not world.one_pass():
        return said
    world.changes(case.get("afterFind", ()))
    world.assume()
    binding = world.note("binding", world.pod)
    said["assume"] = {"allBound": binding is not None and binding.stage == "bind", "caches": short(world.caches())}
    error = next((event["message"] for event in world.events if "Reserve" in event["message"]), "")
    if error:
        error = unnumbered(error.removeprefix('running Reserve plugin "VolumeBinding": '))
        said["assume"] |= {"error": error, "reverted": short(world.caches())}
    world.changes(case.get("afterAssume", ()))
    if binding is not None and binding.stage == "write":
        said["bind"] = bound(world, case)
    return said


def bound(world, case):
    """Make the writes, then look as often as there are moments to look; return what comes out."""
    process, worker = world.sim.find(WORKER)
    polls = 0
    while (binding := world.note("binding", world.pod)).stage == "write":
        world.sim.act(process, worker, world.pod)
    while (binding := world.note("binding", world.pod)).stage == "wait":
        world.sim.pass_time()
        late = world.sim.now >= binding.deadline
        if not late:
            if polls < len(case["beforePoll"]):
                world.changes(case["beforePoll"][polls])
            polls += 1
        world.sim.wake(process)
        world.sim.act(process, worker, world.pod)
    said = {"writes": brief(world.writes), "caches": short(world.caches()), "polls": polls}
    message = world.note("binding", world.pod).message
    if message:
        world.sim.act(process, worker, world.pod)
        said["error"] = message.removeprefix('running PreBind plugin "VolumeBinding": ')
        said["reverted"] = short(world.caches())
    return said


def claims(world, plugin):
    """Sort the pod's claims, and list the volumes that come into question for each class."""
    pod, seen = world.sim.log.objects[Key("Pod", "default", world.turn)], world.cache.behind
    rejected = plugin.prefilter(pod, seen)
    found = plugin.claims(pod, seen)
    said = {word: [name_of(Key("", claim.metadata.namespace, claim.metadata.name)) for claim in getattr(found, word)]
            for word in ("bound", "delayed", "immediate")}
    classes = {volumes.class_of_claim(claim) for claim in found.delayed}
    said["volumes"] = {name: [volume.metadata.name for volume in seen.volumes_of_class(name)] for name in classes}
    missing = re.search(r'persistentvolumeclaim "(.*)"( not found)?$', getattr(rejected, "message", ""))
    if missing:
        name = f"default/{missing[1]}"
        return {"error": f'error getting PVC "{name}": persistentvolumeclaims "{name}" not found'}
    if hasattr(rejected, "message") and not found.immediate:
        return {"error": rejected.message}
    return {word: value for word, value in said.items() if value}


def compare_upstream(case, tally):
    """Compare a case, aspect by aspect."""
    said, expect = play_upstream(case), case["expect"]
    for aspect in ("claims", "find", "assume"):
        tally.compare(case, aspect, expect.get(aspect), said.get(aspect))
    for aspect in ("writes", "polls", "error", "caches", "reverted"):
        tally.compare(case, aspect, expect.get("bind", {}).get(aspect), said.get("bind", {}).get(aspect))
