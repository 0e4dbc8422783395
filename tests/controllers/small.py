"""Small worlds for the controllers' tests: manifests in a few words, chosen components, and a user who writes."""

import yaml

from kvolsched import admission
from kvolsched.api.text.convert import from_plain
from kvolsched.revision import WORKLOADS
from kvolsched.world.apiserver import ApiServer, Write, key_for, key_of
from kvolsched.world.simulation import Simulation

ZONE = "topology.kubernetes.io/zone"
ZONES = {"node-a": "zone-a", "node-b": "zone-b", "node-c": "zone-c"}


def objects(text):
    """Return the objects of some YAML documents."""
    return [from_plain(plain) for plain in yaml.safe_load_all(text) if plain]


def node(name, cpu="4", **labels):
    """Return a node in its zone."""
    labels = {ZONE: ZONES.get(name, "zone-a"), "kubernetes.io/hostname": name} | {k.replace("__", "/"): v for k, v in labels.items()}
    return from_plain({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    })


def storage_class(name="ebs", *, provisioner="ebs.example.com", delayed=True, **more):
    """Return a class, delayed unless said otherwise."""
    mode = "WaitForFirstConsumer" if delayed else "Immediate"
    return from_plain({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode, **more,
    })


def topologies(*terms):
    """Return allowedTopologies: each term a dict of key -> values."""
    return [{"matchLabelExpressions": [{"key": k, "values": list(v)} for k, v in term.items()]} for term in terms]


def claim(name="data", size="10Gi", cls="ebs", *, node="", annotations=None, **spec):
    """Return a claim; `node` is the selected one."""
    notes = dict(annotations or {})
    if node:
        notes["volume.kubernetes.io/selected-node"] = node
    plain = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "annotations": notes},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec},
    }
    if cls is not None:
        plain["spec"]["storageClassName"] = cls
    return from_plain(plain)


def volume(name="disk", size="10Gi", cls="ebs", *, ref=None, zone="", policy="Retain", annotations=None):
    """Return a volume; `ref` is its claimRef."""
    spec = {
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls,
        "persistentVolumeReclaimPolicy": policy, "csi": {"driver": "ebs.example.com", "volumeHandle": name},
    }
    if ref:
        spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": ref}
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return from_plain({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "annotations": annotations or {}},
        "spec": spec,
    })


def pod(name="app", *, claims=(), on="", cpu="500m", uid=""):
    """Return a pod that uses claims, bound to a node if `on`."""
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    spec = {"containers": [{"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}}}], "volumes": volumes}
    if on:
        spec["nodeName"] = on
    return from_plain({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec,
    })


class Small:
    """A world of some components and a user. Mutable."""

    def __init__(self, *components, seed=0, permit=None, protects=False):
        off = ("TaintNodesByCondition",) if protects else ("TaintNodesByCondition", "StorageObjectInUseProtection")
        subresources = {"bind": admission.binding_subresource(zone_labels=True)}
        server = ApiServer(admission.DEFAULT_ADMISSION.without(*off), subresources, permit or admission.permissions_without({}), WORKLOADS)
        self.sim = Simulation(components, server, seed)

    def create(self, *created):
        """Let the user create objects; a refusal fails the test."""
        for outcome in self.sim.perform("user", [Write("create", key_of(obj), obj) for obj in created]):
            assert hasattr(outcome, "stored"), outcome
        return self

    def write(self, verb, obj, new=None, **more):
        """Let somebody carry out one write."""
        outcome, = self.sim.perform("user", [Write(verb, key_of(obj), new, **more)])
        return outcome

    def change(self, reference, change):
        """Let the user replace an object by what `change` makes of it."""
        old = self[reference]
        outcome = self.write("update", old, change(old))
        assert hasattr(outcome, "stored"), outcome
        return self

    def delete(self, reference, grace=None):
        """Let the user delete an object."""
        self.write("delete", self[reference], grace)
        return self

    def run(self, seconds=300.0):
        """Run until nothing is left to do, or the time is over."""
        for _ in self.sim.run(steps=3000, seconds=seconds):
            pass
        return self

    def __getitem__(self, reference):
        """Return an object by `pvc/data`, `pv/disk`, `pod/app`; None if absent."""
        return self.sim.log.objects.get(key_for(reference))

    def all(self, kind):
        """Return every object of a kind, sorted by key."""
        found = self.sim.log.objects
        return [found[key] for key in sorted(found) if key.kind == kind]

    def events(self, name):
        """Return (reason, message) of each Event about an object of this name."""
        return [(e.reason, e.message) for e in self.all("Event") if e.involved_object.name == name]

    def writes(self):
        """Return (writer, verb, subject) of every write that was carried out by a component, in order."""
        return [
            (turn.component, outcome.write.verb, outcome.write.subject)
            for turn in self.sim.turns for outcome in turn.outcomes
            if turn.component != "user" and getattr(outcome, "changed", False)
        ]
