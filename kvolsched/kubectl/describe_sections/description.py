"""What `kubectl describe` prints: the fields of one object, what stands around it, and its Events at the end.

Pure functions of the objects and the moment of asking; each kind is a generator of lines, aligned once at the end.
Mirrors kubectl `pkg/describe/describe.go` (v1.36.2); what a simulated cluster has not (leases, quotas) reads as there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.kinds.workload import Event, Namespace
from ...api.text.convert import to_plain
from ...world.log import Key
from ..get_tables.core import claim_room, class_named, default_class, event_source, namespace_phase
from ..text import (
    NONE,
    UNSET,
    aligned,
    annotations_column,
    column,
    expressed,
    labelled,
    labels_column,
    modes,
    moment,
    since,
    truth,
)
from . import policies, workloads
from .node import node_lines, timed_conditions
from .pod import pod_lines
from .surroundings import Surroundings
from .template import source_lines

SCHEDULER = "default-scheduler"
MIRROR = "kubernetes.io/config.mirror"
FIRST = datetime.min.replace(tzinfo=UTC)


def description(objects: Mapping[Key, Any], key: Key, now: datetime) -> str:
    """Return what kubectl prints of the object with this key.

    Raises:
        KeyError: there is no such object.
    """
    found, around = objects[key], Surroundings(objects, now)
    lines = _DESCRIBERS.get(key.kind, _generic)(found, around)
    said = [*lines, *([] if key.kind == "Namespace" else _events(events_about(found, around), now))]
    return aligned(said)


# -- events --------------------------------------------------------------------------------------------------


def in_order(events: Iterable[tuple[Key, Event]]) -> list[Event]:
    """Return Events as the API server lists them: by name, which begins with the object's and ends with the time.

    A simulated name ends with a digest; such Events carry no uid, and come in the order they were last written.
    """

    def place(item: tuple[Key, Event]) -> tuple[Any, ...]:
        key, event = item
        meta = event.metadata
        written = 0 if meta.uid else meta.resource_version
        return key.namespace, key.name.rpartition(".")[0] + ".", meta.creation_timestamp or "", written, key.name

    return [event for _, event in sorted(events, key=place)]


def events_about(found: Any, around: Surroundings) -> list[Event]:
    """Return the Events of this very object (by uid), as `describe` sorts them: by the time of the last.

    The scheduler writes the newer form of Event, which has no time of the last: its Events come first.
    """
    meta = found.metadata
    uids = {meta.annotations[MIRROR]} if MIRROR in meta.annotations else {meta.uid}
    if found.kind == "Node":
        uids |= {meta.name}  # a kubelet says its name for a uid
    own = [
        (key, event)
        for key, event in around.objects.items()
        if key.kind == "Event"
        and (about := event.involved_object).name == meta.name
        and about.kind == found.kind
        and about.namespace == meta.namespace
        and about.uid in uids
    ]

    def last(event: Event) -> datetime:
        return FIRST if event_source(event) == SCHEDULER else moment(event.last_timestamp) or FIRST

    return sorted(in_order(own), key=last)


def _events(events: Sequence[Event], now: datetime) -> Iterator[str]:
    if not events:
        yield f"Events:\t{NONE}"
        return
    yield "Events:"
    yield "  Type\tReason\tAge\tFrom\tMessage"
    yield "  ----\t------\t----\t----\t-------"
    for event in events:
        age, series = since(event.rest.get("eventTime") or event.first_timestamp, now), event.rest.get("series")
        if series is not None:
            age = f"{since(series.get('lastObservedTime'), now)} (x{series.get('count', 0)} over {age})"
        elif event.count > 1:
            age = f"{since(event.last_timestamp, now)} (x{event.count} over {age})"
        yield f"  {event.type}\t{event.reason}\t{age}\t{event_source(event)}\t{event.message.strip()}"


# -- storage -------------------------------------------------------------------------------------------------


def _phase(found: PersistentVolume | PersistentVolumeClaim, now: datetime) -> str:
    gone = found.metadata.deletion_timestamp
    return found.status.phase if gone is None else f"Terminating (lasts {since(gone, now)})"


def _volume(volume: PersistentVolume, around: Surroundings) -> Iterator[str]:
    meta, spec = volume.metadata, volume.spec
    yield f"Name:\t{meta.name}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"Finalizers:\t{truth(meta.finalizers)}"
    yield f"StorageClass:\t{class_named(volume)}"
    yield f"Status:\t{_phase(volume, around.now)}"
    yield "Claim:\t" + (f"{spec.claim_ref.namespace}/{spec.claim_ref.name}" if spec.claim_ref is not None else "")
    yield f"Reclaim Policy:\t{spec.persistent_volume_reclaim_policy}"
    yield f"Access Modes:\t{modes(spec.access_modes)}"
    if spec.volume_mode is not None:
        yield f"VolumeMode:\t{spec.volume_mode}"
    yield f"Capacity:\t{spec.capacity.get('storage', '0')}"
    required = spec.node_affinity.required if spec.node_affinity is not None else None
    yield "Node Affinity:\t" + (NONE if required is None else "")
    if required is not None:
        yield "  Required Terms:\t" + ("" if required.node_selector_terms else NONE)
        for place, term in enumerate(required.node_selector_terms):
            yield from column(f"    Term {place}", expressed(term.match_expressions), "    \t")
    yield f"Message:\t{volume.status.message}"
    yield "Source:"
    yield from source_lines(spec.rest)


def _claim(claim: PersistentVolumeClaim, around: Surroundings) -> Iterator[str]:
    meta, spec = claim.metadata, claim.spec
    capacity, access = claim_room(claim)
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    yield f"StorageClass:\t{class_named(claim)}"
    yield f"Status:\t{_phase(claim, around.now)}"
    yield f"Volume:\t{spec.volume_name}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"Finalizers:\t{truth(meta.finalizers)}"
    yield f"Capacity:\t{capacity}"
    yield f"Access Modes:\t{access}"
    if spec.volume_mode is not None:
        yield f"VolumeMode:\t{spec.volume_mode}"
    source = spec.rest.get("dataSource")
    if source is not None:
        yield "DataSource:"
        fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        yield from (f"  {title}:\t{source[name]}" for title, name in fields if name in source)
    owners = {owner.uid for owner in meta.owner_references if owner.kind == "Pod"}
    users = [
        pod.metadata.name
        for pod in around.every("Pod", meta.namespace)
        if pod.metadata.uid in owners
        or meta.name in _claims_named(pod)
    ]
    yield from column("Used By", users)
    yield from timed_conditions(claim.status.conditions, "lastProbeTime", "LastProbeTime")


def _claims_named(pod: Pod) -> set[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return {source.claim_name for source in sources if source is not None}


def _class(found: StorageClass, around: Surroundings) -> Iterator[str]:
    yield f"Name:\t{found.metadata.name}"
    yield f"IsDefaultClass:\t{'Yes' if default_class(found) else 'No'}"
    yield f"Annotations:\t{labelled(found.metadata.annotations)}"
    yield f"Provisioner:\t{found.provisioner}"
    yield f"Parameters:\t{labelled(found.parameters)}"
    yield f"AllowVolumeExpansion:\t{UNSET if found.allow_volume_expansion is None else found.allow_volume_expansion}"
    yield "MountOptions:" + ("" if found.mount_options else f"\t{NONE}")
    yield from (f"  {option}" for option in found.mount_options)
    if found.reclaim_policy is not None:
        yield f"ReclaimPolicy:\t{found.reclaim_policy}"
    if found.volume_binding_mode is not None:
        yield f"VolumeBindingMode:\t{found.volume_binding_mode}"
    if found.allowed_topologies:
        yield "AllowedTopologies:\t"
        for place, term in enumerate(found.allowed_topologies):
            said = [f"{one.key} in [{', '.join(one.values)}]" for one in term.match_label_expressions]
            yield from column(f"  Term {place}", said, "  \t")


# -- namespaces, anything else -------------------------------------------------------------------------------


def _namespace(found: Namespace, around: Surroundings) -> Iterator[str]:
    yield f"Name:\t{found.metadata.name}"
    yield from labels_column("Labels", found.metadata.labels)
    yield from annotations_column("Annotations", found.metadata.annotations)
    yield f"Status:\t{namespace_phase(found)}"
    yield from ("", "No resource quota.", "", "No LimitRange resource.")


def _generic(found: Any, around: Surroundings) -> Iterator[str]:
    """Yield every field under a readable label: what kubectl does for kinds it has no describer for."""
    plain = to_plain(found)
    meta = plain.get("metadata", {})
    yield f"Name:\t{meta.get('name', '')}"
    yield f"Namespace:\t{meta.get('namespace', '')}"
    yield from labels_column("Labels", meta.get("labels", {}))
    yield from annotations_column("Annotations", meta.get("annotations", {}))
    shown = {name: value for name, value in meta.items() if name not in ("name", "namespace", "labels", "annotations")}
    yield from _tree({**plain, "metadata": shown}, "")


def _tree(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for field, value in sorted(content.items()):
        if isinstance(value, dict):
            yield f"{indent}{_label(field)}:"
            yield from _tree(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{_label(field)}:"
            for child in value:
                yield from _tree(child, f"{indent}  ") if isinstance(child, dict) else (f"{indent}  {truth(child)}",)
        else:
            yield f"{indent}{_label(field)}:\t{truth(value)}"


def _label(field: str) -> str:
    if not re.fullmatch(r"[A-Za-z-]*", field):
        return field
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-", field)
    return " ".join(part.upper() if part.upper() in _ACRONYMS else part[:1].upper() + part[1:] for part in parts)


_ACRONYMS = ("API", "URL", "UID", "OSB", "GUID")
_DESCRIBERS: Mapping[str, Callable[[Any, Surroundings], Iterator[str]]] = {
    "Pod": lambda pod, around: pod_lines(pod, around.now),
    "Node": lambda node, around: node_lines(node, around.every("Pod"), around.now),
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass": _class,
    "StatefulSet": workloads.stateful_set,
    "Deployment": workloads.deployment,
    "ReplicaSet": workloads.replica_set,
    "ReplicationController": workloads.replication_controller,
    "DaemonSet": workloads.daemon_set,
    "Service": policies.service,
    "PodDisruptionBudget": policies.budget,
    "PriorityClass": policies.priority_class,
    "CSINode": policies.csi_node,
    "Namespace": _namespace,
}
