"""Plays recorded cases of the volume binding loop on the real actors, turn by turn, and takes down what they do.

Alone knows how a recorded case becomes a world, and in which form the recordings write what was done.
"""

import gzip
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import attrs

from kvolsched.api import defaults
from kvolsched.api.manifest import from_plain, to_plain
from kvolsched.api.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.scheduler.cycle import PASS, SCHEDULER
from kvolsched.world.apiserver import Refused, conflict, key_of
from kvolsched.world.component import Hand
from kvolsched.world.log import Key

RECORDED = Path(__file__).parent / "conformance"
VOLUMES = ("PersistentVolume", "PersistentVolumeClaim")


@cache
def cases(family):
    """Read a family of cases."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz") as lines:
        return tuple(map(json.loads, lines))


class World:
    """A world with a case's objects in it, driven turn by turn; takes down volume writes and all events. Mutable."""

    def __init__(self, revision, case, *, kinds, components=None):
        self.sim = revision.simulation(components=components or {})
        self.kinds = kinds
        self.events, self.writes = [], []
        self.faults = {fault["write"]: fault["error"] for fault in case.get("faults", ())}
        self.count = 0
        self._commit, self.sim.commit = self.sim.commit, self.commit
        self.sim.record_event = self.record_event
        for plain in case["objects"]:
            if plain["kind"] in kinds:
                self.put(plain)

    # -- objects ------------------------------------------------------------------------------------------------

    def put(self, plain):
        """Set an object as it is, with a new version."""
        obj = defaults.defaulted(from_plain(plain))
        key = key_of(obj)
        uid = plain["metadata"].get("uid", f"uid-{key.name}")
        meta = attrs.evolve(obj.metadata, namespace=key.namespace, uid=uid, resource_version=self.sim.place + 1)
        self.sim.log.write(key, attrs.evolve(obj, metadata=meta))

    def change(self, what):
        """Make one of the recordings' changes to the API, which watchers see unless it says otherwise."""
        if "create" in what:
            self.put(what["create"])
        else:
            where = what.get("patch") or what.get("delete") or what
            if "kind" in where and where["kind"] in self.kinds:
                key = Key(where["kind"], where.get("namespace", ""), where["name"])
                old = self.sim.log.objects.get(key)
                if "delete" in what:
                    self.sim.log.write(key, None)
                elif old is not None:
                    self.put(merged(to_plain(old), what["merge"]))

    def show(self, component=None):
        """Let all components (or this one) see everything."""
        for process in self.sim.processes.values():
            if component in (None, process.name):
                self.sim.deliver(process)

    # -- actors -------------------------------------------------------------------------------------------------

    def act(self, actor, cause, component=None, *, turns=100):
        """Let an actor take a cause up and bring it to its end; return the hands of the turns."""
        process, who = self.sim.find(actor, component)
        hands = []
        for _ in range(turns):
            hand, more = self.sim.act(process, who, cause)
            hands.append(hand)
            if not more:
                break
        return hands

    def ready(self, actor):
        """List the causes that an actor may take up."""
        process, who = self.sim.find(actor)
        return [cause for _, cause in who.ready(Hand(self.sim, process, who), every=True)]

    def note(self, sort, name):
        """Return a note of the scheduler."""
        process, who = self.sim.find(PASS)
        return Hand(self.sim, process, who).note(sort, name)

    @property
    def cache(self):
        """The scheduler's cache of seen and assumed objects."""
        return self.sim.processes[SCHEDULER].views["cache"]

    def caches(self):
        """Every claim and volume for which the cache does not return the informer's copy."""
        found = {}
        for key in sorted(self.cache.assumed):
            if key.kind in VOLUMES and self.cache.holds(key):
                found[f"{key.kind} {name_of(key)}"] = fields_of("update", self.cache.get(key))
        return found

    # -- taking down --------------------------------------------------------------------------------------------

    def commit(self, component, write):
        """Carry out a write, or let the fault strike that the case has for it."""
        if write.key.kind not in VOLUMES:
            return self._commit(component, write)
        self.count += 1
        fault = self.faults.get(self.count)
        if fault is None:
            outcome = self._commit(component, write)
        elif fault == "conflict":
            outcome = Refused(write, "Conflict", conflict(write.key))
        elif fault == "notFound":
            outcome = Refused(write, "NotFound", f'{write.key.kind.lower()}s "{write.key.name}" not found')
        else:
            outcome = Refused(write, "Timeout", fault)
        self.writes.append(told(outcome))
        return outcome

    def record_event(self, _source, about, type_, reason, message):
        """Take an event down."""
        key = key_of(about)
        said = {"kind": key.kind, "key": name_of(key), "type": type_, "reason": reason, "message": message}
        self.events.append(said)

    def since(self):
        """Return (writes, events) since the last time this was asked."""
        taken = self.writes[:], self.events[:]
        self.writes.clear()
        self.events.clear()
        return taken


def name_of(key):
    """Write a key as the recordings do."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def merged(old, patch):
    """Return plain data after a JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    new = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = merged(new.get(key), value)
    return new


def told(outcome):
    """Write the outcome of a write as the recordings do."""
    write = outcome.write
    verb = {"update_status": "updateStatus"}.get(write.verb, write.verb)
    said = {"verb": verb, "kind": write.key.kind, "key": name_of(write.key), "fields": fields_of(verb, write.new)}
    if isinstance(outcome, Refused):
        said["error"] = {"Conflict": "conflict", "NotFound": "notFound"}.get(outcome.reason, outcome.message)
    elif not outcome.changed:
        said["noop"] = True
    return said


def fields_of(verb, obj):
    """Return the fields that a write sends; empty ones are left out."""
    plain = to_plain(obj)
    meta, spec, status = plain["metadata"], plain.get("spec", {}), plain.get("status", {})
    if verb == "updateStatus":
        names = {PersistentVolume: ("phase", "message"), PersistentVolumeClaim: ("phase", "accessModes", "capacity")}
        fields = {name: status.get(name) for name in names[type(obj)]}
    else:
        fields = {name: meta.get(name) for name in ("annotations", "labels", "finalizers")}
        if isinstance(obj, PersistentVolume):
            fields |= {name: spec.get(name) for name in ("storageClassName", "accessModes", "capacity")}
            fields["reclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy")
            ref = dict(spec.get("claimRef") or {})
            ref.pop("resourceVersion", None)
            fields["claimRef"] = ref
        else:
            fields |= {name: spec.get(name) for name in ("volumeName", "storageClassName")}
    return {name: value for name, value in fields.items() if value}


class Tally:
    """How often each aspect agreed, and where it did not. Mutable."""

    def __init__(self):
        self.agree, self.of = Counter(), Counter()
        self.differing = defaultdict(dict)

    def compare(self, case, aspect, expected, actual):
        """Compare one aspect of a case, all of its steps together."""
        self.of[aspect] += 1
        self.agree[aspect] += expected == actual
        if expected != actual:
            self.differing[aspect].setdefault(case["id"], (expected, actual))

    def figures(self):
        """Return {aspect: (agree, of)}."""
        return {aspect: (self.agree[aspect], self.of[aspect]) for aspect in self.of}
