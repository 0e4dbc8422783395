"""Plays recorded traces of a real control plane (v1.36.2) on a `Cluster`, and writes down what became of each object.

Alone knows the words of a trace's steps, and the form in which a trace tells changes. Nodes that are interchangeable are
renamed before comparing, as the recordings did it among their own runs.
"""

import json
import re
from itertools import permutations
from pathlib import Path

import attrs

from kvolsched.api.kind import BY_NAME
from kvolsched.api.manifest import from_plain, to_plain
from kvolsched.cluster import Cluster
from kvolsched.conform.steps import merged
from kvolsched.world.apiserver import CLOCK, Done, Write, key_of
from kvolsched.world.log import Key

TRACES = Path(__file__).parent / "conformance" / "traces"
KINDS = ("Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Pod", "StatefulSet")
KCM = ("persistent-volume-binder", "statefulset-controller")
BY = {"kube-scheduler": "scheduler", "persistent-volume-binder": "kcm/persistent-volume-binder"}
BY |= {"statefulset-controller": "kcm/statefulset-controller"}
VERBS = {"update_status": "update/status", "bind": "create/binding", ("patch", "Pod"): "patch/status"}
LATER = ("pvc-protection", "pv-protection", "external-provisioner.volume", "provisioner-deletion-secret")


# Which of the two a claim is told depends on who is faster, the controller or whoever makes the pod.
FIRST_CONSUMER = (
    "persistentvolume-controller",
    "Normal",
    "WaitForFirstConsumer",
    "waiting for first consumer to be created before binding",
)


def trace(name):
    """Read a trace."""
    return json.loads((TRACES / f"{name}.json").read_text())


class Story:
    """A trace played on a cluster. Mutable."""

    def __init__(self, recorded, seed=0):
        dials = {}
        for step in recorded["steps"]:
            for plain in step.get("apply", ()):
                for driver in plain.get("spec", {}).get("drivers", ()) or () if plain["kind"] == "CSINode" else ():
                    dials.setdefault(driver["name"], {})["topology_keys"] = driver["topologyKeys"]
            for driver in dials.values():
                told = step.get("stand_in", {}).get("provisioner", {})
                driver |= {{"fail": "fails"}.get(word, word): value for word, value in told.items() if word != "running"}
        self.drivers = tuple(dials)
        self.cluster = Cluster("upstream", components=dials, seed=seed)
        self.stopped = {}
        for step in recorded["steps"]:
            word = next(word for word in ("apply", "delete", "patch", "wait", "stand_in", "process") if word in step)
            getattr(self, word)(step)
        self.wait({"wait": {"quiet": 1}})

    # -- steps --------------------------------------------------------------------------------------------------

    def apply(self, step):
        """Create or replace objects."""
        for plain in step["apply"]:
            if plain["kind"] in KINDS:
                obj = from_plain(plain)
                old = self.cluster.world.log.objects.get(key_of(obj))
                self.write("create" if old is None else "update", key_of(obj), obj)
                if obj.kind != "Pod":  # pods are made faster than they are scheduled, claims slower than looked at
                    self.until(self.cluster.now)

    def write(self, verb, key, new):
        """Write as the user."""
        (outcome,) = self.cluster.world.perform("user", [Write(verb, key, new)])
        assert isinstance(outcome, Done), outcome

    def delete(self, step):
        """Delete an object."""
        self.write("delete", self.key(step["delete"]), None)

    def patch(self, step):
        """Change an object by a merge patch."""
        key = self.key(step["patch"])
        self.write("update", key, from_plain(merged(to_plain(self.cluster.world.log.objects[key]), step["with"])))

    def stand_in(self, step):
        """Stop and start the provisioner; its other dials are set from the beginning."""
        running = step["stand_in"].get("provisioner", {}).get("running")
        if running is not None:
            self.switch(self.drivers, on=running)

    def process(self, step):
        """Stop or start a process."""
        word, name = step["process"].split()
        self.switch({"kcm": KCM, "sched": ("kube-scheduler",)}[name], on=word == "start")

    def switch(self, names, *, on):
        """Take components out of the world, or bring them back, restarted."""
        processes = self.cluster.world.processes
        for name in names:
            if on:
                processes[name] = self.stopped.pop(name)
                self.cluster.crash(name)
            elif name in processes:
                self.stopped[name] = processes.pop(name)

    def wait(self, step):
        """Let the world go on until something holds."""
        what = step["wait"]
        if "seconds" in what or "quiet" in what:
            self.until(self.cluster.now + what.get("seconds", what.get("quiet")))
            return
        for _ in range(5000):
            if self.holds(what):
                return
            self.until(self.cluster.now + 0.5)
        raise AssertionError(f"never: {what}")

    def until(self, moment):
        """Let everything happen, turn by turn, that happens up to a moment."""
        world = self.cluster.world
        while True:
            waiting = world._default()
            wakes = [wake.at for process in world.processes.values() for wake in process.wakes.items.values()]
            with world.record() as step:
                if waiting is not None:
                    step.add(world.turn(waiting))
                    continue
                world.log.write(CLOCK, min([moment, *wakes]))
            if not wakes or min(wakes) > moment:
                return

    def holds(self, what):
        """Say whether a condition of a trace holds."""
        objects = self.cluster.world.log.objects
        if "event" in what:
            wanted = what["event"]
            found = [
                event
                for key, event in objects.items()
                if key.kind == "Event"
                and event.involved_object.name == wanted["object"].partition("/")[2]
                and event.reason == wanted["reason"]
                and wanted.get("contains", "") in event.message
            ]
            return sum(event.count for event in found) >= wanted.get("count", 1)
        if "gone" in what:
            return self.key(what["gone"]) not in objects
        obj = objects.get(self.key(what["object"]))
        plain = None if obj is None else to_plain(obj)
        if "has" in what:
            return plain is not None and what["has"] in json.dumps(plain)
        for part in what["path"].split("."):
            plain = (plain or {}).get(part)
        return plain == what["equals"]

    def key(self, reference):
        """Return the key of a reference."""
        alias, name = reference.split("/")
        kind = next(kind for kind in BY_NAME.values() if kind.alias == alias)
        return Key(kind.name, "demo" if kind.namespaced else "", name)

    # -- what came of it ----------------------------------------------------------------------------------------

    def told(self):
        """Return what happened in the form of traces: final, events and objects."""
        log = self.cluster.world.log
        turn_at = {}
        for turn in self.cluster.world.turns:
            for place in range(turn.start, turn.end):
                turn_at[place] = turn
        objects, events, places = {}, {}, {}
        for place, change in enumerate(log.changes):
            if isinstance(change.key, Key) and change.key.kind in ("Pod", "PersistentVolume", "PersistentVolumeClaim", "StatefulSet"):
                row = changed(change, turn_at[place], self.drivers)
                objects.setdefault(ref(change.key), []).append(row)
                places.setdefault(ref(change.key), []).append(place)
        for event in (obj for key, obj in log.objects.items() if key.kind == "Event"):
            about = event.involved_object
            said = (event.source.component, event.type, event.reason, event.message)
            events.setdefault(ref(Key(about.kind, about.namespace, about.name)), set()).add(said)
        final = {ref(key): told_of(obj) for key, obj in log.objects.items() if key.kind in KINDS}
        told = {"final": final, "places": places, "objects": objects, "events": {name: sorted(found) for name, found in events.items()}}
        text = json.dumps(told)
        for change in log.changes:
            if change.key[0] == "PersistentVolumeClaim" and change.new is not None:
                text = text.replace(f"pvc-{change.new.metadata.uid}", f"pvc-uid({change.key.name})")
        return text


def ref(key):
    """Write a key as traces do."""
    return f"{BY_NAME[key.kind].alias}/{key.name}"


def changed(change, turn, drivers):
    """Write one change as traces do."""
    verb = next((outcome.write.verb for outcome in turn.outcomes if outcome.write.key == change.key), "")
    by = "provisioner" if turn.component in drivers else BY.get(turn.component, turn.component)
    verb = "patch" if (by, verb) == ("user", "update") else verb  # a patch is an update where no version is asked for
    row = {"by": by, "verb": VERBS.get((verb, change.key.kind), VERBS.get(verb, verb))}
    row["type"] = "gone" if change.new is None else "created" if change.old is None else "changed"
    if change.new is not None:
        old, new = told_of(change.old), told_of(change.new)
        row["set"] = {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}
    return row


def told_of(obj):
    """Return an object's fields as traces name them."""
    if obj is None:
        return {}
    plain = to_plain(obj)
    meta, spec, status = plain["metadata"], plain.get("spec", {}), plain.get("status", {})
    found = {}
    for word in ("annotations", "labels"):
        found |= {f"metadata.{word}[{key}]": value for key, value in meta.get(word, {}).items()}
    found |= {f"metadata.finalizers[{name}]": True for name in meta.get("finalizers", ())}
    found |= {f"metadata.{word}": value for word in ("deletionGracePeriodSeconds",) if (value := meta.get(word)) is not None}
    if meta.get("deletionTimestamp"):
        found["metadata.deletionTimestamp"] = "set"
    for owner in meta.get("ownerReferences", ()):
        found["metadata.ownerReferences"] = f"{BY_NAME[owner['kind']].alias}/{owner['name']}"
    words = ("nodeName", "nodeSelector", "volumeName", "storageClassName", "persistentVolumeReclaimPolicy", "replicas")
    found |= {f"spec.{word}": spec[word] for word in words if word in spec}
    if "capacity" in spec:
        found["spec.capacity.storage"] = spec["capacity"]["storage"]
    if obj.kind == "PersistentVolumeClaim":
        found["spec.resources.requests.storage"] = spec["resources"]["requests"]["storage"]
    if claim := spec.get("claimRef"):
        uid = "+uid" if claim.get("uid") else "(no uid)"
        found["spec.claimRef"] = f"{claim['namespace']}/{claim['name']} {uid}"
    if obj.kind == "PersistentVolume" and spec.get("nodeAffinity"):
        found["spec.nodeAffinity"] = affinity(spec["nodeAffinity"])
    for condition in status.get("conditions", ()):
        parts = [condition["status"], condition.get("reason"), condition.get("message")]
        found[f"status.conditions[{condition['type']}]"] = " | ".join(part for part in parts if part)
    words = ("phase", "nominatedNodeName", "accessModes", "replicas", "readyReplicas", "currentReplicas")
    words += ("updatedReplicas", "availableReplicas", "observedGeneration")
    found |= {f"status.{word}": status[word] for word in words if word in status}
    if obj.kind == "StatefulSet":
        found |= {f"status.{word}": status.get(word, 0) for word in ("replicas", "availableReplicas")}
    if obj.kind == "PersistentVolumeClaim" and "capacity" in status:
        found["status.capacity.storage"] = status["capacity"]["storage"]
    return {name: value for name, value in found.items() if not any(word in name for word in LATER)}


def affinity(plain):
    """Write a volume's node affinity as traces do."""
    terms = plain["required"]["nodeSelectorTerms"]
    return " | ".join(
        ", ".join(f"{e['key']} {e['operator']} {e.get('values', [])}" for e in term["matchExpressions"]) for term in terms
    )


def renamings(recorded, text):
    """Yield a telling under every renaming of interchangeable nodes, zones and local volumes (with their sizes)."""
    letters = sorted(set(re.findall(r"\bnode-([a-c1-3])\b", text)))
    sizes = {
        plain["metadata"]["name"][-1]: plain["spec"]["capacity"]["storage"]
        for step in recorded["steps"]
        for plain in step.get("apply", ())
        if plain["kind"] == "PersistentVolume" and plain["metadata"]["name"].startswith("local-")
    }
    for order in permutations(letters):
        names = dict(zip(letters, order, strict=True))
        renamed = re.sub(r"\b(node|zone|local)-([a-c1-3])\b", lambda m, n=names: f"{m[1]}-{n.get(m[2], m[2])}", text)
        size = {sizes[old]: sizes[new] for old, new in names.items() if old in sizes}
        yield json.loads(re.sub(r'"(\d+Gi)"', lambda m, s=size: f'"{s.get(m[1], m[1])}"', renamed))


def plainly(changes):
    """Leave out of recorded changes what comes later: protection finalizers and a driver's own annotations."""
    found = []
    for change in changes:
        if "protection" in change["by"]:
            continue
        row = {word: change[word] for word in ("by", "verb", "type")}
        if "set" in change:
            row["set"] = {name: value for name, value in change["set"].items() if not any(word in name for word in LATER)}
            row["set"].pop("spec.affinity.nodeAffinity", None)
        found.append(row)
    return found


@attrs.define
class Agreement:
    """What agrees of a trace: counts of (agree, of) by aspect, and both sides where not. Mutable."""

    counts: dict = attrs.Factory(dict)
    differing: list = attrs.Factory(list)

    def compare(self, aspect, what, wanted, actual):
        """Compare one thing: what ours did must be one of what real runs did."""
        agree, of = self.counts.get(aspect, (0, 0))
        same = actual in wanted
        self.counts[aspect] = (agree + same, of + 1)
        if not same:
            self.differing.append((aspect, what, wanted[0], actual))


def compared(recorded, told):
    """Compare one telling with a trace."""
    found = Agreement()
    stable, varies = recorded["stable"], recorded["varies"]
    for name, fields in stable["final"].items():
        ours = told["final"].get(name, {})
        found.compare("final", name, [fields], {word: ours.get(word) for word in fields})
    for name in {**stable["events"], **varies.get("events", {}), **told["events"]}:
        must = {telling(event) for event in stable["events"].get(name, ())}
        may = must | {telling(event) for event in varies.get("events", {}).get(name, ())}
        ours = {tuple(event) for event in told["events"].get(name, ())}
        if "WaitForPodScheduled" not in {event[2] for event in may}:
            ours = {FIRST_CONSUMER if event[2] == "WaitForPodScheduled" else event for event in ours}
        found.compare("events", name, [sorted(must)], sorted((ours & must) | (ours - may)))
    for name, changes in stable["objects"].items():
        found.compare("changes", name, [plainly(changes)], told["objects"].get(name, []))
    for name, variants in varies.get("objects", {}).items():
        found.compare("changes", name, [plainly(one["changes"]) for one in variants], told["objects"].get(name, []))
    agreed = {what for aspect, what, *_ in found.differing if aspect == "changes"}
    for order in recorded["always_before"]:
        first, second = (which.split("#") for which in order.split(" < "))
        if first[0] in stable["objects"] and second[0] in stable["objects"] and not {first[0], second[0]} & agreed:
            earlier, later = (place_of(stable["objects"], told["places"], *which) for which in (first, second))
            if earlier is not None and later is not None:
                found.compare("order", order, [True], earlier < later)
    return found


def place_of(objects, places, name, number):
    """Return where in our log the recorded change of this number happened; None if it is one that comes later."""
    kept = [index for index, change in enumerate(objects[name]) if "protection" not in change["by"]]
    return places[name][kept.index(int(number))] if int(number) in kept else None


def telling(event):
    """Return what an event says, without its count."""
    return event["source"], event["type"], event["reason"], event["message"]


def agreement(name, seed=0):
    """Play a trace; return the agreement under the renaming of nodes that agrees best."""
    recorded = trace(name)
    text = Story(recorded, seed).told()
    tellings = [compared(recorded, told) for told in renamings(recorded, text)] or [compared(recorded, json.loads(text))]
    return min(tellings, key=lambda found: len(found.differing))
