"""Convert the log of a world to the format of recorded traces: one row per change, with writer, verb and fields set.

This module knows the recordings' format and no rule of Kubernetes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kvolsched.api.kinds.kind import KINDS_BY_NAME
from kvolsched.api.text.manifest import to_plain
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.world.history import Turn
from kvolsched.world.log import Change, Key
from kvolsched.world.simulation import Simulation

KINDS = (
    "Pod", "PersistentVolume", "PersistentVolumeClaim", "StatefulSet", "Deployment", "ReplicaSet", "DaemonSet",
    "CSIStorageCapacity",
)  # fmt: skip
VERBS = {"update_status": "update/status", "bind": "create/binding"}
SELF = {SCHEDULER: "scheduler", "kubelet": "kubelet", "user": "user"}  # all others are kube-controller-manager
ALIAS = {"Deployment": "deployment"}  # otherwise kubectl's short name
NO_MESSAGES = ("Deployment", "ReplicaSet")  # kinds whose conditions are recorded without messages
ZEROS = {  # recorded even if 0
    "StatefulSet": ("replicas", "availableReplicas"), "ReplicaSet": ("replicas",),
    "DaemonSet": ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
}
STATUS = (
    "phase", "nominatedNodeName", "accessModes", "replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
    "availableReplicas", "unavailableReplicas", "observedGeneration", "updatedNumberScheduled", "numberAvailable",
    "numberUnavailable",
)  # fmt: skip
SPEC = (
    "nodeName", "nodeSelector", "schedulingGates", "volumeName", "storageClassName", "persistentVolumeReclaimPolicy",
    "replicas",
)  # fmt: skip
IGNORED_LABELS = ("pod-template-hash", "controller-revision-hash")
# Annotations and finalizers that belong to a driver: the recorded drivers and ours may differ in them.
DRIVER_OWNED = ("external-provisioner.volume", "provisioner-deletion-secret", "csi.storage.k8s.io/")


def trace_ref(key: Key) -> str:
    """Return a key in the traces' format: `pvc/data`."""
    return f"{ALIAS.get(key.kind) or KINDS_BY_NAME[key.kind].alias}/{key.name}"


def trace_of(world: Simulation, drivers: Iterable[str]) -> dict[str, Any]:
    """Return everything that happened in a world in the format of traces.

    Returns:
        `final`: object -> its final fields; `objects`: object -> its changes in order; `places`: object -> their log
        positions; `events`: object -> its events as [source, type, reason, message].
    """
    turn_at: dict[int, Turn] = {}
    for turn in world.turns:
        turn_at.update(dict.fromkeys(range(turn.start, turn.end), turn))
    objects: dict[str, list[dict[str, Any]]] = {}
    places: dict[str, list[int]] = {}
    for place, change in enumerate(world.log.changes, world.log.base):
        if isinstance(change.key, Key) and change.key.kind in KINDS:
            name = trace_ref(change.key)
            objects.setdefault(name, []).append(_row(change, turn_at[place], drivers))
            places.setdefault(name, []).append(place)
    events: dict[str, list[list[str]]] = {}
    for key, event in sorted(world.log.objects.items()):
        if key.kind == "Event" and event.source.component != "kubelet":  # the recorded kubelet writes no events
            about = event.involved_object
            said = [event.source.component, event.type, event.reason, event.message]
            where = events.setdefault(trace_ref(Key(about.kind, about.namespace, about.name)), [])
            where += [said] if said not in where else []
    final = {trace_ref(key): trace_fields(obj) for key, obj in world.log.objects.items() if key.kind in KINDS}
    return {"final": final, "objects": objects, "places": places, "events": events}


def uid_names(world: Simulation) -> Mapping[str, str]:
    """Return names that contain a uid -> their names in traces, for example `pvc-uid(data)` for a volume."""
    found: dict[str, str] = {}
    for change in world.log.changes:
        obj = change.old if change.new is None else change.new
        if change.key[0] == "PersistentVolumeClaim":
            found[f"pvc-{obj.metadata.uid}"] = f"pvc-uid({change.key.name})"
        elif change.key[0] == "Pod":
            found[obj.metadata.uid] = f"uid({trace_ref(change.key)})"  # type: ignore[arg-type]
    return found


def _row(change: Change, turn: Turn, drivers: Iterable[str]) -> dict[str, Any]:
    verb = next((outcome.write.verb for outcome in turn.outcomes if outcome.write.key == change.key), "")
    by = "provisioner" if turn.component in drivers else SELF.get(turn.component, f"kcm/{turn.component}")
    if by == "user" and verb == "update":
        verb = "patch"  # an update without a version is recorded as a patch
    elif verb == "patch" and change.key[0] == "Pod":
        verb = "patch/status"
    kind = "gone" if change.new is None else "created" if change.old is None else "changed"
    row: dict[str, Any] = {"type": kind, "by": by, "verb": VERBS.get(verb, verb)}
    if change.new is not None:
        old, new = trace_fields(change.old), trace_fields(change.new)
        changed = {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}
        if changed:
            row["set"] = changed
    return row


def trace_fields(obj: Any) -> dict[str, Any]:
    """Return the recorded fields of an object by path; None has no fields."""
    if obj is None:
        return {}
    plain = to_plain(obj)
    spec, status = plain.get("spec", {}), plain.get("status", {})
    found = {**_meta(plain["metadata"]), **_spec(obj.kind, plain, spec)}
    for condition in status.get("conditions", ()):
        words = ("status", "reason") if obj.kind in NO_MESSAGES else ("status", "reason", "message")
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
        found |= {f"metadata.annotations[{key}]": value} if not is_driver_owned(key) else {}
    for key, value in meta.get("labels", {}).items():
        found |= {f"metadata.labels[{key}]": value} if key not in IGNORED_LABELS else {}
    found |= {f"metadata.finalizers[{name}]": True for name in meta.get("finalizers", ()) if not is_driver_owned(name)}
    if meta.get("deletionTimestamp"):
        found["metadata.deletionTimestamp"] = "set"
        found["metadata.deletionGracePeriodSeconds"] = meta.get("deletionGracePeriodSeconds", 0)
    for owner in meta.get("ownerReferences", ()):
        found["metadata.ownerReferences"] = trace_ref(Key(owner["kind"], "", owner["name"]))
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


def is_driver_owned(word: str) -> bool:
    """Return whether a field is an annotation or finalizer that a driver puts on its volumes."""
    return any(name in word for name in DRIVER_OWNED)


def _terms(affinity: Mapping[str, Any]) -> str:
    return " | ".join(
        ", ".join(f"{e['key']} {e['operator']} {e.get('values', [])}" for e in term.get("matchExpressions", ()))
        for term in affinity["required"]["nodeSelectorTerms"]
    )
