"""What `kubectl get` prints: one row an object, the columns and words of the API server's table printer.

Pure functions of one object and the moment of asking; which objects, and in which order, is decided in `listing`.
Mirrors `pkg/printers/internalversion/printers.go` (v1.36.2); columns marked wide are those of `-o wide`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from ...api.kinds.meta import EMPTY, Frozen, ObjectMeta
from ...api.kinds.node import Node
from ...api.kinds.pod import Container, Pod
from ...api.kinds.storage_class import DEFAULT_CLASS, IMMEDIATE, StorageClass
from ...api.kinds.volume import BETA_STORAGE_CLASS, PersistentVolume, PersistentVolumeClaim
from ...api.kinds.workload import Event, Namespace, StatefulSet
from ..text import NONE, UNKNOWN, UNSET, modes, moment, since

BETA_DEFAULT_CLASS = "storageclass.beta.kubernetes.io/is-default-class"
ROLE, ROLES = "kubernetes.io/role", "node-role.kubernetes.io/"


@attrs.frozen
class Table:
    """How a kind is listed: its columns, which of them only `-o wide` shows, and what makes a row of an object."""

    columns: tuple[str, ...]
    row: Callable[[Any, datetime], Sequence[str]]
    wide: frozenset[str] = frozenset()

    def shown(self, *, wide: bool) -> list[int]:
        """Return the places of the columns that are shown."""
        return [place for place, name in enumerate(self.columns) if wide or name not in self.wide]


# -- pods ----------------------------------------------------------------------------------------------------


def pod_row(pod: Pod, now: datetime) -> Sequence[str]:
    """NAME READY STATUS RESTARTS AGE, and with -o wide IP NODE NOMINATED NODE READINESS GATES."""
    ready, restarts = readiness(pod), _restarts(pod, now)
    addresses = pod.status.rest.get("podIPs", ())
    address = addresses[0].get("ip") if addresses else ""
    places = (address, pod.spec.node_name, pod.status.nominated_node_name, _gates(pod))
    age = since(pod.metadata.creation_timestamp, now)
    return (pod.metadata.name, ready, pod_status(pod), restarts, age, *(place or NONE for place in places))


def readiness(pod: Pod) -> str:
    """Return how many of a pod's containers are ready: `1/2`; sidecars count.

    A pod without any container status (no kubelet reports one by one) is ready as a whole, by its Ready condition.
    """
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    count = len(pod.spec.containers) + len(sidecars)
    given = _statuses(pod, "containerStatuses")
    if not given and not _statuses(pod, "initContainerStatuses"):
        condition = pod.status.condition("Ready")
        return f"{count if condition is not None and condition.status == 'True' else 0}/{count}"
    ready = sum(status.get("ready", False) and "running" in status.get("state", EMPTY) for status in given)
    early = (one for one in _statuses(pod, "initContainerStatuses") if one.get("name") in sidecars)
    ready += sum(one.get("ready", False) and one.get("started", False) for one in early)
    return f"{ready}/{count}"


def pod_status(pod: Pod) -> str:
    """Return the STATUS of a pod: its phase, or what its gates, containers or deletion make of it."""
    reason = pod.status.reason or pod.status.phase
    scheduled = pod.status.condition("PodScheduled")
    if scheduled is not None and scheduled.reason == "SchedulingGated":
        reason = scheduled.reason
    initializing = _initializing(pod)
    initialized = pod.status.condition("Initialized")
    if not initializing or (initialized is not None and initialized.status == "True"):
        reason = _containers_reason(pod, initializing or reason)
    else:
        reason = initializing
    if pod.metadata.deletion_timestamp is not None:
        if pod.status.reason == "NodeLost":
            return "Unknown"
        if not pod.terminal:
            return "Terminating"
    return reason


def _initializing(pod: Pod) -> str:
    """Return what the first init container that is not done makes of the pod, "" when all are."""
    restarting = {one.name for one in pod.spec.init_containers if one.restart_policy == "Always"}
    for place, status in enumerate(_statuses(pod, "initContainerStatuses")):
        state = status.get("state", EMPTY)
        ended, waiting = state.get("terminated"), state.get("waiting", EMPTY).get("reason", "")
        if ended is not None and not ended.get("exitCode", 0):
            continue
        if status.get("name") in restarting and status.get("started"):
            continue
        if ended is not None:
            return f"Init:{_ending(ended)}"
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{place}/{len(pod.spec.init_containers)}"
    return ""


def _containers_reason(pod: Pod, reason: str) -> str:
    running = False
    for status in reversed(_statuses(pod, "containerStatuses")):
        state = status.get("state", EMPTY)
        waiting, ended = state.get("waiting", EMPTY).get("reason", ""), state.get("terminated")
        if waiting:
            reason = waiting
        elif ended is not None:
            reason = _ending(ended)
        elif status.get("ready") and "running" in state:
            running = True
    if reason == "Completed" and running:
        ready = pod.status.condition("Ready")
        return "Running" if ready is not None and ready.status == "True" else "NotReady"
    return reason


def _ending(ended: Mapping[str, Any]) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _restarts(pod: Pod, now: datetime) -> str:
    sidecars = {one.name for one in pod.spec.init_containers if one.restart_policy == "Always"}
    initialized = pod.status.condition("Initialized")
    early = _statuses(pod, "initContainerStatuses")
    if _initializing(pod) and (initialized is None or initialized.status != "True"):
        counted = early
    else:
        counted = (*(one for one in early if one.get("name") in sidecars), *_statuses(pod, "containerStatuses"))
    count = sum(one.get("restartCount", 0) for one in counted)
    ends = [one.get("lastState", EMPTY).get("terminated", EMPTY).get("finishedAt") for one in counted]
    last = max((end for end in ends if end), key=lambda end: moment(end) or now, default=None)
    return f"{count} ({since(last, now)} ago)" if count and last else str(count)


def _gates(pod: Pod) -> str:
    gates = pod.spec.rest.get("readinessGates", ())
    met = [pod.status.condition(gate.get("conditionType", "")) for gate in gates]
    return f"{sum(one is not None and one.status == 'True' for one in met)}/{len(gates)}" if gates else NONE


def _statuses(pod: Pod, field: str) -> tuple[Frozen, ...]:
    return tuple(pod.status.rest.get(field, ()))


# -- nodes and storage ---------------------------------------------------------------------------------------


def node_row(node: Node, now: datetime) -> Sequence[str]:
    """NAME STATUS ROLES AGE VERSION, and with -o wide the addresses and what runs on the node."""
    info, addresses = node.status.rest.get("nodeInfo", EMPTY), node.status.rest.get("addresses", ())
    by_type = {one.get("type"): one.get("address") for one in reversed(addresses)}
    versions = ("osImage", "kernelVersion", "containerRuntimeVersion")
    return (
        node.metadata.name, _node_status(node), ",".join(roles(node)) or NONE,
        since(node.metadata.creation_timestamp, now), info.get("kubeletVersion", ""),
        by_type.get("InternalIP") or NONE, by_type.get("ExternalIP") or NONE,
        *(info.get(name) or UNKNOWN for name in versions),
    )  # fmt: skip


def _node_status(node: Node) -> str:
    ready = next((one.status for one in node.status.conditions if one.type == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if node.spec.unschedulable else word


def roles(node: Node) -> list[str]:
    """Return the roles that a node's labels give it, sorted."""
    found = {key.removeprefix(ROLES) for key in node.metadata.labels if key.startswith(ROLES)}
    return sorted((found | {node.metadata.labels.get(ROLE, "")}) - {""})


def volume_row(volume: PersistentVolume, now: datetime) -> Sequence[str]:
    """NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM ... and so on, as the columns say."""
    spec, status = volume.spec, volume.status
    claim = f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else ""
    return (
        volume.metadata.name, spec.capacity.get("storage", "0"), modes(spec.access_modes),
        spec.persistent_volume_reclaim_policy, _phase(volume.metadata, status.phase), claim,
        class_named(volume), _attributes(spec.volume_attributes_class_name),
        status.reason, since(volume.metadata.creation_timestamp, now), spec.volume_mode or UNSET,
    )  # fmt: skip


def claim_row(claim: PersistentVolumeClaim, now: datetime) -> Sequence[str]:
    """NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE VOLUMEMODE.

    Capacity and modes stay empty until the claim names a volume, and are then the status' own: 0 while it is Pending.
    """
    spec, status = claim.spec, claim.status
    capacity, access = claim_room(claim)
    return (
        claim.metadata.name, _phase(claim.metadata, status.phase), spec.volume_name, capacity, access,
        class_named(claim), _attributes(spec.volume_attributes_class_name),
        since(claim.metadata.creation_timestamp, now), spec.volume_mode or UNSET,
    )  # fmt: skip


def claim_room(claim: PersistentVolumeClaim) -> tuple[str, str]:
    """Return the capacity and access modes that kubectl shows of a claim."""
    if not claim.spec.volume_name:
        return "", ""
    return claim.status.capacity.get("storage", "0"), modes(claim.status.access_modes)


def class_named(found: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the class that a volume or claim names, the beta annotation first; "" without one."""
    return str(found.metadata.annotations.get(BETA_STORAGE_CLASS, found.spec.storage_class_name or ""))


def default_class(found: StorageClass) -> bool:
    """Say whether an annotation makes this class the default."""
    return any(found.metadata.annotations.get(key) == "true" for key in (DEFAULT_CLASS, BETA_DEFAULT_CLASS))


def class_row(found: StorageClass, now: datetime) -> Sequence[str]:
    """NAME PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE ALLOWVOLUMEEXPANSION AGE."""
    return (
        found.metadata.name + (" (default)" if default_class(found) else ""), found.provisioner,
        found.reclaim_policy or "Delete", found.volume_binding_mode or IMMEDIATE,
        "true" if found.allow_volume_expansion else "false", since(found.metadata.creation_timestamp, now),
    )  # fmt: skip


def _attributes(name: str | None) -> str:
    return UNSET if name is None else name


def _phase(meta: ObjectMeta, phase: str) -> str:
    return phase if meta.deletion_timestamp is None else "Terminating"


# -- workloads, namespaces, events ---------------------------------------------------------------------------


def stateful_set_row(found: StatefulSet, now: datetime) -> Sequence[str]:
    """NAME READY AGE CONTAINERS IMAGES."""
    containers: tuple[Container, ...] = found.spec.template.spec.containers
    wanted = 1 if found.spec.replicas is None else found.spec.replicas
    return (
        found.metadata.name, f"{found.status.ready_replicas}/{wanted}", since(found.metadata.creation_timestamp, now),
        ",".join(one.name for one in containers), ",".join(one.image for one in containers),
    )  # fmt: skip


def namespace_row(found: Namespace, now: datetime) -> Sequence[str]:
    """NAME STATUS AGE."""
    return found.metadata.name, namespace_phase(found), since(found.metadata.creation_timestamp, now)


def namespace_phase(found: Namespace) -> str:
    """Return a namespace's phase; one that says none is what the API server makes of it."""
    default = "Active" if found.metadata.deletion_timestamp is None else "Terminating"
    return str(found.rest.get("status", EMPTY).get("phase", default))


def event_row(event: Event, now: datetime) -> Sequence[str]:
    """LAST SEEN TYPE REASON OBJECT SUBOBJECT SOURCE MESSAGE FIRST SEEN COUNT NAME."""
    series, about = event.rest.get("series"), event.involved_object
    first = since(event.first_timestamp or event.rest.get("eventTime"), now)
    last = since(event.last_timestamp, now) if event.last_timestamp else first
    count = event.count or 1
    if series is not None:
        last, count = since(series.get("lastObservedTime"), now), series.get("count", 0)
    host = event.source.host or event.rest.get("reportingInstance", "")
    source = ", ".join(part for part in (event_source(event), host) if part)
    target = about.kind.lower() + (f"/{about.name}" if about.name else "")
    return (
        last, event.type, event.reason, target, about.rest.get("fieldPath", ""), source, event.message.strip(), first,
        str(count), event.metadata.name,
    )  # fmt: skip


def event_source(event: Event) -> str:
    """Return the component that an Event comes from."""
    return str(event.source.component or event.rest.get("reportingComponent", ""))


TABLES: Mapping[str, Table] = {
    "Pod": Table(
        ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"),
        pod_row, frozenset({"IP", "NODE", "NOMINATED NODE", "READINESS GATES"}),
    ),
    "Node": Table(
        ("NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION",
         "CONTAINER-RUNTIME"),
        node_row, frozenset({"INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"}),
    ),
    "PersistentVolume": Table(
        ("NAME", "CAPACITY", "ACCESS MODES", "RECLAIM POLICY", "STATUS", "CLAIM", "STORAGECLASS",
         "VOLUMEATTRIBUTESCLASS", "REASON", "AGE", "VOLUMEMODE"),
        volume_row, frozenset({"VOLUMEMODE"}),
    ),
    "PersistentVolumeClaim": Table(
        ("NAME", "STATUS", "VOLUME", "CAPACITY", "ACCESS MODES", "STORAGECLASS", "VOLUMEATTRIBUTESCLASS", "AGE",
         "VOLUMEMODE"),
        claim_row, frozenset({"VOLUMEMODE"}),
    ),
    "StorageClass": Table(
        ("NAME", "PROVISIONER", "RECLAIMPOLICY", "VOLUMEBINDINGMODE", "ALLOWVOLUMEEXPANSION", "AGE"), class_row
    ),
    "StatefulSet": Table(
        ("NAME", "READY", "AGE", "CONTAINERS", "IMAGES"), stateful_set_row, frozenset({"CONTAINERS", "IMAGES"})
    ),
    "Namespace": Table(("NAME", "STATUS", "AGE"), namespace_row),
    "Event": Table(
        ("LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "FIRST SEEN", "COUNT", "NAME"),
        event_row, frozenset({"SUBOBJECT", "SOURCE", "FIRST SEEN", "COUNT", "NAME"}),
    ),
}  # fmt: skip
