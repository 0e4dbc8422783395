"""How a trace tells what became of objects: one row a change, with who made it, by which verb, and what it set.

Reads the log of a world that has been played; knows the words of the recordings and no rule of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kvolsched.api.kinds.kind import BY_NAME
from kvolsched.api.text.manifest import to_plain
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.world.history import Turn
from kvolsched.world.log import Change, Key
from kvolsched.world.simulation import Simulation

TOLD = (
    "Pod", "PersistentVolume", "PersistentVolumeClaim", "StatefulSet", "Deployment", "ReplicaSet", "DaemonSet",
    "CSIStorageCapacity",
)  # fmt: skip
VERBS = {"update_status": "update/status", "bind": "create/binding"}
SELF = {SCHEDULER: "scheduler", "kubelet": "kubelet", "user": "user"}  # all others live in the controller manager
ALIAS = {"Deployment": "deployment"}  # else kubectl's short name
NO_WORDS = ("Deployment", "ReplicaSet")  # whose conditions are told without their messages
ZEROS = {"StatefulSet": ("replicas", "availableReplicas"), "ReplicaSet": ("replicas",)}  # written even where they are 0
STATUS = (
    "phase", "nominatedNodeName", "accessModes", "replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
    "availableReplicas", "unavailableReplicas", "observedGeneration",
)  # fmt: skip
SPEC = (
    "nodeName", "nodeSelector", "schedulingGates", "volumeName", "storageClassName", "persistentVolumeReclaimPolicy",
    "replicas",
)  # fmt: skip
UNTOLD_LABELS = ("pod-template-hash", "controller-revision-hash")
# What a driver keeps in its volumes for itself: the recorded stand-ins and ours need not agree in it.
OF_THE_DRIVER = ("external-provisioner.volume", "provisioner-deletion-secret", "csi.storage.k8s.io/")


def ref(key: Key) -> str:
    """Write a key as traces do."""
    return f"{ALIAS.get(key.kind) or BY_NAME[key.kind].alias}/{key.name}"


def told(world: Simulation, drivers: Iterable[str]) -> dict[str, Any]:
    """Tell a world's whole story in the form of traces.

    Returns:
        `final`: object -> its fields at the end; `objects`: object -> its changes in order; `places`: object -> where
        in the log each of them stands; `events`: object -> what was said of it, as [source, type, reason, message].
    """
    turn_at: dict[int, Turn] = {}
    for turn in world.turns:
        turn_at.update(dict.fromkeys(range(turn.start, turn.end), turn))
    objects: dict[str, list[dict[str, Any]]] = {}
    places: dict[str, list[int]] = {}
    for place, change in enumerate(world.log.changes, world.log.base):
        if isinstance(change.key, Key) and change.key.kind in TOLD:
            name = ref(change.key)
            objects.setdefault(name, []).append(_row(change, turn_at[place], drivers))
            places.setdefault(name, []).append(place)
    events: dict[str, list[list[str]]] = {}
    for key, event in sorted(world.log.objects.items()):
        if key.kind == "Event" and event.source.component != "kubelet":  # the recorded one says nothing
            about = event.involved_object
            said = [event.source.component, event.type, event.reason, event.message]
            where = events.setdefault(ref(Key(about.kind, about.namespace, about.name)), [])
            where += [said] if said not in where else []
    final = {ref(key): fields(obj) for key, obj in world.log.objects.items() if key.kind in TOLD}
    return {"final": final, "objects": objects, "places": places, "events": events}


def uid_names(world: Simulation) -> Mapping[str, str]:
    """Return what carries a uid, and how traces spell it: volumes by their claims, `pvc-uid(data)`, pods by name."""
    found: dict[str, str] = {}
    for change in world.log.changes:
        obj = change.old if change.new is None else change.new
        if change.key[0] == "PersistentVolumeClaim":
            found[f"pvc-{obj.metadata.uid}"] = f"pvc-uid({change.key.name})"
        elif change.key[0] == "Pod":
            found[obj.metadata.uid] = f"uid({ref(change.key)})"  # type: ignore[arg-type]
    return found


def _row(change: Change, turn: Turn, drivers: Iterable[str]) -> dict[str, Any]:
    """Write one change as traces do."""
    verb = next((outcome.write.verb for outcome in turn.outcomes if outcome.write.key == change.key), "")
    by = "provisioner" if turn.component in drivers else SELF.get(turn.component, f"kcm/{turn.component}")
    if by == "user" and verb == "update":
        verb = "patch"  # a patch is an update where no version is asked for
    elif verb == "patch" and change.key[0] == "Pod":
        verb = "patch/status"
    kind = "gone" if change.new is None else "created" if change.old is None else "changed"
    row: dict[str, Any] = {"type": kind, "by": by, "verb": VERBS.get(verb, verb)}
    if change.new is not None:
        old, new = fields(change.old), fields(change.new)
        changed = {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}
        if changed:
            row["set"] = changed
    return row


def fields(obj: Any) -> dict[str, Any]:
    """Return an object's fields as traces name them; None has none."""
    if obj is None:
        return {}
    plain = to_plain(obj)
    spec, status = plain.get("spec", {}), plain.get("status", {})
    found = {**_meta(plain["metadata"]), **_spec(obj.kind, plain, spec)}
    for condition in status.get("conditions", ()):
        words = ("status", "reason") if obj.kind in NO_WORDS else ("status", "reason", "message")
        said = [condition[word] for word in words if condition.get(word)]
        found[f"status.conditions[{condition['type']}]"] = " | ".join(said)
    found |= {f"status.{word}": status[word] for word in STATUS if status.get(word)}
    found |= {f"status.{word}": status.get(word, 0) for word in ZEROS.get(obj.kind, ())}
    if obj.kind == "PersistentVolumeClaim" and status.get("capacity"):
        found["status.capacity.storage"] = status["capacity"]["storage"]
    return found


def _meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in meta.get("annotations", {}).items():
        found |= {f"metadata.annotations[{key}]": value} if not of_the_driver(key) else {}
    for key, value in meta.get("labels", {}).items():
        found |= {f"metadata.labels[{key}]": value} if key not in UNTOLD_LABELS else {}
    found |= {f"metadata.finalizers[{name}]": True for name in meta.get("finalizers", ()) if not of_the_driver(name)}
    if meta.get("deletionTimestamp"):
        found["metadata.deletionTimestamp"] = "set"
        found["metadata.deletionGracePeriodSeconds"] = meta.get("deletionGracePeriodSeconds", 0)
    for owner in meta.get("ownerReferences", ()):
        found["metadata.ownerReferences"] = ref(Key(owner["kind"], "", owner["name"]))
    return found


def _spec(kind: str, plain: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    found = {f"spec.{word}": spec[word] for word in SPEC if word in spec}
    if "spec.schedulingGates" in found:
        gates = [gate["name"] for gate in found.pop("spec.schedulingGates")]
        found |= {"spec.schedulingGates": gates} if gates else {}
    match kind:
        case "PersistentVolume":
            found["spec.capacity.storage"] = spec["capacity"]["storage"]
            if claim := spec.get("claimRef"):
                uid = "+uid" if claim.get("uid") else "(no uid)"
                found["spec.claimRef"] = f"{claim.get('namespace', '')}/{claim.get('name', '')} {uid}"
            if spec.get("nodeAffinity"):
                found["spec.nodeAffinity"] = _terms(spec["nodeAffinity"])
        case "PersistentVolumeClaim":
            found["spec.resources.requests.storage"] = spec["resources"]["requests"]["storage"]
        case "Pod":
            if (spec.get("affinity") or {}).get("nodeAffinity"):
                found["spec.affinity.nodeAffinity"] = spec["affinity"]["nodeAffinity"]
        case "CSIStorageCapacity":
            words = ("capacity", "maximumVolumeSize", "nodeTopology", "storageClassName")
            found |= {word: plain[word] for word in words if word in plain}
    return found


def of_the_driver(word: str) -> bool:
    """Say whether a word, or a field with it, is a driver's own annotation or finalizer on its volumes."""
    return any(own in word for own in OF_THE_DRIVER)


def _terms(affinity: Mapping[str, Any]) -> str:
    """Write a volume's node affinity as traces do."""
    return " | ".join(
        ", ".join(f"{e['key']} {e['operator']} {e.get('values', [])}" for e in term.get("matchExpressions", ()))
        for term in affinity["required"]["nodeSelectorTerms"]
    )
