"""Plays the steps of a recorded trace in ours, and reads off who wrote claims, volumes and pods, in order."""

import json
import re
from pathlib import Path

import attrs

from kvolsched.api.convert import from_plain
from kvolsched.revision import revision_named
from kvolsched.world.apiserver import Done, Write, key_of
from kvolsched.world.log import Key

HERE = Path(__file__).parent.parent / "conformance" / "traces"
KINDS = {"pod": "Pod", "pvc": "PersistentVolumeClaim", "pv": "PersistentVolume", "sts": "StatefulSet", "sc": "StorageClass", "node": "Node"}
MODELLED = {"Pod", "PersistentVolumeClaim", "PersistentVolume", "StatefulSet", "StorageClass", "Node", "Namespace"}
BY = {"scheduler": "kube-scheduler", "kcm/persistent-volume-binder": "persistent-volume-binder", "kcm/statefulset-controller": "statefulset-controller"}
VERBS = {"update_status": "update/status", "bind": "create/binding", "patch": "patch/status"}


def trace(name):
    """Return a recorded trace."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


class Told:
    """A trace played in ours. Mutable."""

    def __init__(self, recorded):
        self.recorded = recorded
        self.drivers = {}
        for step in recorded["steps"]:
            for plain in step.get("apply", ()):
                if plain["kind"] == "CSINode":
                    for driver in plain["spec"]["drivers"] or ():
                        self.drivers[driver["name"]] = {"topology_keys": tuple(driver["topologyKeys"])}
                if plain["kind"] == "StorageClass" and "no-provisioner" not in plain["provisioner"]:
                    self.drivers.setdefault(plain["provisioner"], {})
            dial = step.get("stand_in", {}).get("provisioner", {})
            for driver in self.drivers.values():
                driver.update(dials(dial))
        self.sim = revision_named("upstream").simulation(components=self.drivers)
        for step in recorded["steps"]:
            self.play(step)

    def play(self, step):
        """Carry out one step of a trace."""
        if "apply" in step:
            objs = [from_plain(plain) for plain in step["apply"] if plain["kind"] in MODELLED]
            for obj in objs:
                key, old = key_of(obj), self.sim.log.objects.get(key_of(obj))
                self.sim.perform("user", [Write("create" if old is None else "update", key, obj)])
        elif "delete" in step:
            key = self.key(step["delete"])
            self.sim.perform("user", [Write("delete", key)])
        elif "patch" in step and "finalizers" in json.dumps(step["with"]):
            key = self.key(step["patch"])
            old = self.sim.log.objects[key]
            self.sim.perform("user", [Write("update", key, attrs.evolve(old, metadata=attrs.evolve(old.metadata, finalizers=())))])
        elif "patch" in step and "replicas" in json.dumps(step["with"]):
            key = self.key(step["patch"])
            old = self.sim.log.objects[key]
            new = attrs.evolve(old, spec=attrs.evolve(old.spec, replicas=step["with"]["spec"]["replicas"]))
            self.sim.perform("user", [Write("update", key, new)])
        elif "wait" in step:
            for _ in self.sim.run(steps=2000, seconds=60):
                pass

    @staticmethod
    def key(reference):
        """Return the key of `pod/app`."""
        alias, _, name = reference.partition("/")
        kind = KINDS[alias]
        return Key(kind, "demo" if kind in ("Pod", "PersistentVolumeClaim", "StatefulSet") else "", name)

    def name(self, text):
        """Return a volume's name as traces spell it: `pvc-uid(data)`."""
        for key, obj in self.claims():
            text = text.replace(f"pvc-{obj.metadata.uid}", f"pvc-uid({key.name})")
        return text

    def claims(self):
        """Return every claim that ever was, with its key."""
        return [(c.key, c.new) for c in self.sim.log.changes if c.key[0] == "PersistentVolumeClaim" and c.new is not None]

    def writes(self):
        """Return reference -> [(by, verb)], equal ones in a row once."""
        found = {}
        for turn in self.sim.turns:
            for outcome in turn.outcomes:
                if not isinstance(outcome, Done) or not outcome.changed:
                    continue
                write = outcome.write
                alias = next((a for a, kind in KINDS.items() if kind == write.key.kind), "")
                entry = ("provisioner" if turn.component in self.drivers else turn.component, VERBS.get(write.verb, write.verb))
                if entry[0] == "user" and entry[1] != "create" and entry[1] != "delete":
                    continue
                row = found.setdefault(self.name(f"{alias}/{write.key.name}"), [])
                if not row or row[-1] != entry:
                    row.append(entry)
        return found

    def events(self):
        """Return reference -> {(source, reason, message)}."""
        found = {}
        for key, event in self.sim.log.objects.items():
            if key.kind == "Event":
                about = event.involved_object
                alias = next((a for a, kind in KINDS.items() if kind == about.kind), "")
                found.setdefault(self.name(f"{alias}/{about.name}"), set()).add(
                    (event.source.component, event.reason, self.name(event.message))
                )
        return found


def dials(plain):
    """Return a stand-in's settings as our driver's dials."""
    found = {}
    if "delay" in plain:
        found["delay"] = plain["delay"]
    if "immediate_zone" in plain:
        found["immediate_zone"] = plain["immediate_zone"]
    if "fail" in plain:
        found["fails"] = [{word: each[word] for word in ("times", "topology", "code", "desc") if word in each} for each in plain["fail"]]
    return found


def rows(changes):
    """Return (by, verb) of recorded changes, in a row once."""
    found = []
    for change in changes:
        by = BY.get(change["by"], change["by"].removeprefix("kcm/"))
        if by == "user" and change["verb"] not in ("create", "delete"):
            continue
        entry = (by, change["verb"])
        if not found or found[-1] != entry:
            found.append(entry)
    return found


def variants(recorded, reference):
    """Return every sequence that some real run showed for an object."""
    stable = recorded["stable"]["objects"].get(reference)
    if stable is not None:
        return [rows(stable)]
    return [rows(one["changes"]) for one in recorded["varies"].get("objects", {}).get(reference, ())]


def said(recorded, reference):
    """Return (stable, possible) events of an object as {(source, reason, message)}."""
    def plain(event):
        return event["source"], event["reason"], re.sub(r"zone-[abc]", "zone", event["message"])
    stable = {plain(e) for e in recorded["stable"]["events"].get(reference, ())}
    return stable, stable | {plain(e) for e in recorded["varies"].get("events", {}).get(reference, ())}


def lasting(events):
    """Return events without the two of waiting for a pod: which of them a claim gets, if any, depends on who is faster."""
    return {event for event in events if event[1] not in ("WaitForFirstConsumer", "WaitForPodScheduled")}


def spoken(played, reference):
    """Return our events of an object, without the name of the zone that a coin toss chose."""
    return {(s, reason, re.sub(r"zone-[abc]", "zone", message)) for s, reason, message in played.events().get(reference, ())}
