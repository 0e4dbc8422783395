"""What `kubectl describe` prints: the fields of one object, what stands around it, and its Events at the end.

Pure functions of the objects and the moment of asking; each kind is a generator of lines, aligned once at the end.
Mirrors kubectl `pkg/describe/describe.go` (v1.36.2); what a simulated cluster has not (leases, quotas) reads as there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

from ..api import quantity
from ..api.convert import to_plain
from ..api.meta import EMPTY, Condition, Frozen
from ..api.node import Node
from ..api.pod import Container, Pod
from ..api.storage import StorageClass
from ..api.volume import PersistentVolume, PersistentVolumeClaim
from ..api.workload import Event, Namespace, StatefulSet
from ..world.log import Key
from .kubectl_get import claim_room, class_named, default_class, event_source, namespace_phase, roles
from .kubectl_pod import (
    containers_lines,
    resources_lines,
    source_lines,
    spread_lines,
    template_lines,
    tolerations,
    volumes_lines,
)
from .kubectl_text import (
    NONE,
    UNKNOWN,
    UNSET,
    aligned,
    annotations_column,
    column,
    expressed,
    labelled,
    labels_column,
    modes,
    moment,
    selected,
    share,
    since,
    stamp,
    total,
    truth,
)

SCHEDULER = "default-scheduler"
MIRROR = "kubernetes.io/config.mirror"
FIRST = datetime.min.replace(tzinfo=UTC)
_BUILT_IN = ("cpu", "memory", "ephemeral-storage", "pods")


@attrs.frozen
class Around:
    """What a description sees beside its object: every object of the cluster, and the moment of asking."""

    objects: Mapping[Key, Any]
    now: datetime

    def every(self, kind: str, namespace: str | None = None) -> list[Any]:
        """Return the objects of a kind, in one namespace or all, in the order of their keys."""
        found = sorted(key for key in self.objects if key.kind == kind and namespace in (None, key.namespace))
        return [self.objects[key] for key in found]


def description(objects: Mapping[Key, Any], key: Key, now: datetime) -> str:
    """Return what kubectl prints of the object with this key.

    Raises:
        KeyError: there is no such object.
    """
    found, around = objects[key], Around(objects, now)
    lines = _DESCRIBERS.get(key.kind, _generic)(found, around)
    said = [*lines, *([] if key.kind == "Namespace" else _events(events_about(found, around), now))]
    return aligned(said)


# -- events -------------------------------------------------------------------------------------------------------------


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


def events_about(found: Any, around: Around) -> list[Event]:
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


# -- pods ---------------------------------------------------------------------------------------------------------------


def _pod(pod: Pod, around: Around) -> Iterator[str]:
    meta, spec, status = pod.metadata, pod.spec, pod.status
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    if spec.priority is not None:
        yield f"Priority:\t{spec.priority}"
    named = (("Priority Class Name", spec.priority_class_name), ("Runtime Class Name", spec.rest.get("runtimeClassName")),
             ("Service Account", spec.rest.get("serviceAccountName")))  # fmt: skip
    yield from (f"{title}:\t{name}" for title, name in named if name)
    yield f"Node:\t{spec.node_name}/{status.rest.get('hostIP', '')}" if spec.node_name else f"Node:\t{NONE}"
    if status.start_time is not None:
        yield f"Start Time:\t{stamp(status.start_time)}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    if meta.deletion_timestamp is not None and not pod.terminal:
        yield _terminating(pod, around.now)
        yield f"Termination Grace Period:\t{meta.deletion_grace_period_seconds or 0}s"
    else:
        yield f"Status:\t{status.phase}"
    yield from (f"{title}:\t{said}" for title, said in (("Reason", status.reason), ("Message", status.message)) if said)
    profile = spec.rest.get("securityContext", EMPTY).get("seccompProfile")
    if profile is not None:
        yield f"SeccompProfile:\t{profile.get('type', '')}"
        if profile.get("type") == "Localhost":
            yield f"LocalhostProfile:\t{profile.get('localhostProfile', '')}"
    yield f"IP:\t{status.rest.get('podIP', '')}"
    addresses = status.rest.get("podIPs", ())
    yield "IPs:" if addresses else f"IPs:\t{NONE}"
    yield from (f"  IP:\t{address.get('ip', '')}" for address in addresses)
    if meta.controller is not None:
        yield f"Controlled By:\t{meta.controller.kind}/{meta.controller.name}"
    if status.nominated_node_name:
        yield f"NominatedNodeName:\t{status.nominated_node_name}"
    yield from _pod_containers(pod)
    yield from _pod_conditions(pod)
    yield from volumes_lines(spec.volumes)
    yield f"QoS Class:\t{status.rest.get('qosClass') or quality(pod)}"
    yield from labels_column("Node-Selectors", spec.node_selector)
    yield from column("Tolerations", tolerations(spec.tolerations))
    yield from spread_lines(spec.topology_spread_constraints)


def _pod_containers(pod: Pod) -> Iterator[str]:
    spec, statuses = pod.spec, pod.status.rest
    if spec.init_containers:
        early = statuses.get("initContainerStatuses", ())
        yield from containers_lines("Init Containers", spec.init_containers, early, pod)
    yield from containers_lines("Containers", spec.containers, statuses.get("containerStatuses", ()), pod)


def _pod_conditions(pod: Pod) -> Iterator[str]:
    gates = pod.spec.rest.get("readinessGates", ())
    if gates:
        yield "Readiness Gates:"
        yield "  Type\tStatus"
        for gate in gates:
            met = pod.status.condition(gate.get("conditionType", ""))
            yield f"  {gate.get('conditionType', '')} \t{met.status if met is not None else NONE} "
    if pod.status.conditions:
        yield "Conditions:"
        yield "  Type\tStatus"
        yield from (f"  {one.type} \t{one.status} " for one in pod.status.conditions)


def quality(pod: Pod) -> str:
    """Return a pod's quality of service: Guaranteed if every container's limits are set and equal its requests."""
    everything = (*pod.spec.containers, *pod.spec.init_containers)
    asked, bound = _positive(everything, "requests"), _positive(everything, "limits")
    if not any(asked) and not any(bound):
        return "BestEffort"
    names = ("cpu", "memory")
    if all(set(names) <= limits.keys() for limits in bound):
        sums = [[sum(one.get(name, 0) for one in found) for name in names] for found in (asked, bound)]
        if sums[0] == sums[1]:
            return "Guaranteed"
    return "Burstable"


def _positive(containers: Sequence[Container], field: str) -> list[dict[str, Any]]:
    given = [getattr(container.resources, field) for container in containers]
    amounts = [{name: quantity.parse(text) for name, text in found.items()} for found in given]
    return [{name: n for name, n in found.items() if n > 0 and name in ("cpu", "memory")} for found in amounts]


def _terminating(found: Any, now: datetime) -> str:
    return f"Status:\tTerminating (lasts {since(found.metadata.deletion_timestamp, now)})"


# -- nodes --------------------------------------------------------------------------------------------------------------


def _node(node: Node, around: Around) -> Iterator[str]:
    meta, rest = node.metadata, node.status.rest
    yield f"Name:\t{meta.name}"
    yield f"Roles:\t{','.join(roles(node)) or NONE}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"CreationTimestamp:\t{stamp(meta.creation_timestamp)}"
    yield from column("Taints", [str(one) for one in sorted(node.spec.taints, key=lambda one: f"{one.effect},{one.key}")])
    yield f"Unschedulable:\t{truth(node.spec.unschedulable)}"
    yield f'Lease:\tFailed to get lease: leases.coordination.k8s.io "{meta.name}" not found'
    yield from _timed_conditions(node.status.conditions, "lastHeartbeatTime", "LastHeartbeatTime")
    yield "Addresses:"
    yield from (f"  {one.get('type', '')}:\t{one.get('address', '')}" for one in rest.get("addresses", ()))
    for title, resources in (("Capacity", node.status.capacity), ("Allocatable", node.status.allocatable)):
        if resources:
            yield f"{title}:"
            yield from (f"  {name}:\t{text}" for name, text in sorted(resources.items()))
    yield "System Info:"
    info = rest.get("nodeInfo", EMPTY)
    yield from (f"  {title}:\t{info.get(name, '')}" for title, name in _SYSTEM)
    spec = node.spec.rest
    yield from (f"{title}:\t{spec[name]}" for title, name in (("PodCIDR", "podCIDR"),) if spec.get(name))
    if spec.get("podCIDRs"):
        yield f"PodCIDRs:\t{','.join(spec['podCIDRs'])}"
    if spec.get("providerID"):
        yield f"ProviderID:\t{spec['providerID']}"
    yield from _node_pods(node, around)


_SYSTEM = (
    ("Machine ID", "machineID"), ("System UUID", "systemUUID"), ("Boot ID", "bootID"), ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"), ("Operating System", "operatingSystem"), ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"), ("Kubelet Version", "kubeletVersion"),
)  # fmt: skip


def _timed_conditions(conditions: Sequence[Condition], name: str, title: str) -> Iterator[str]:
    if conditions:
        yield "Conditions:"
        yield f"  Type\tStatus\t{title}\tLastTransitionTime\tReason\tMessage"
        yield "  ----\t------\t-----------------\t------------------\t------\t-------"
    for one in conditions:
        times = f"{stamp(one.rest.get(name))} \t{stamp(one.last_transition_time)}"
        yield f"  {one.type} \t{one.status} \t{times} \t{one.reason} \t{one.message}"


def _node_pods(node: Node, around: Around) -> Iterator[str]:
    pods = [pod for pod in around.every("Pod") if pod.spec.node_name == node.metadata.name and not pod.terminal]
    room = node.status.allocatable or node.status.capacity
    cpu, memory, disk = (room.get(name, "0") for name in ("cpu", "memory", "ephemeral-storage"))
    yield f"Non-terminated Pods:\t({len(pods)} in total)"
    yield "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge"
    yield "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---"
    sums = [(summed(pod, "requests"), summed(pod, "limits")) for pod in pods]
    for pod, both in zip(pods, sums, strict=True):
        parts = [share(one.get("cpu", "0"), cpu, cpu=True) for one in both]
        parts += [share(one.get("memory", "0"), memory) for one in both]
        age = since(pod.metadata.creation_timestamp, around.now)
        yield f"  {pod.metadata.namespace}\t{pod.metadata.name}\t\t" + "\t".join([*parts, age])
    yield "Allocated resources:"
    yield "  (Total limits may be over 100 percent, i.e., overcommitted.)"
    yield "  Resource\tRequests\tLimits"
    yield "  --------\t--------\t------"

    def both(name: str) -> list[str]:
        return [total(one[place][name] for one in sums if name in one[place]) for place in (0, 1)]

    for name, whole in (("cpu", cpu), ("memory", memory), ("ephemeral-storage", disk)):
        asked, limit = both(name)
        yield f"  {name}\t{share(asked, whole, cpu=name == 'cpu')}\t{share(limit, whole, cpu=name == 'cpu')}"
    pages = sorted(name for name in room if name.startswith("hugepages-"))
    for name in pages:
        yield f"  {name}\t" + "\t".join(share(amount, room[name]) for amount in both(name))
    for name in sorted(name for name in room if name not in (*_BUILT_IN, *pages)):
        yield f"  {name}\t" + "\t".join(both(name))


def summed(pod: Pod, field: str) -> dict[str, str]:
    """Return a pod's requests or limits: containers and sidecars together, or its largest init container, and overhead."""
    spec = pod.spec
    running = [container for container in spec.containers]
    sidecars: list[Container] = []
    peaks: list[dict[str, str]] = []
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            sidecars.append(container)
            peaks.append(_together(sidecars, field))
        else:
            peaks.append(_together([container, *sidecars], field))
    amounts = _together([*running, *sidecars], field)
    for peak in peaks:
        for name, text in peak.items():
            if name not in amounts or quantity.parse(text) > quantity.parse(amounts[name]):
                amounts[name] = text
    amounts |= spec.rest.get("resources", EMPTY).get(field, EMPTY)
    for name, text in spec.overhead.items():
        if field == "requests" or name in amounts:
            amounts[name] = total([amounts.get(name, "0"), text])
    return amounts


def _together(containers: Sequence[Container], field: str) -> dict[str, str]:
    given: list[Frozen] = [getattr(container.resources, field) for container in containers]
    return {name: total(one[name] for one in given if name in one) for name in dict.fromkeys(n for one in given for n in one)}


# -- storage ------------------------------------------------------------------------------------------------------------


def _volume(volume: PersistentVolume, around: Around) -> Iterator[str]:
    meta, spec = volume.metadata, volume.spec
    yield f"Name:\t{meta.name}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"Finalizers:\t{truth(meta.finalizers)}"
    yield f"StorageClass:\t{class_named(volume)}"
    yield f"Status:\t{volume.status.phase}" if meta.deletion_timestamp is None else _terminating(volume, around.now)
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


def _claim(claim: PersistentVolumeClaim, around: Around) -> Iterator[str]:
    meta, spec = claim.metadata, claim.spec
    capacity, access = claim_room(claim)
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    yield f"StorageClass:\t{class_named(claim)}"
    yield f"Status:\t{claim.status.phase}" if meta.deletion_timestamp is None else _terminating(claim, around.now)
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
        or any(v.persistent_volume_claim and v.persistent_volume_claim.claim_name == meta.name for v in pod.spec.volumes)
    ]
    yield from column("Used By", users)
    yield from _timed_conditions(claim.status.conditions, "lastProbeTime", "LastProbeTime")


def _class(found: StorageClass, around: Around) -> Iterator[str]:
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


# -- workloads, namespaces, anything else -------------------------------------------------------------------------------


def _stateful_set(found: StatefulSet, around: Around) -> Iterator[str]:
    meta, spec = found.metadata, found.spec
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    yield f"CreationTimestamp:\t{stamp(meta.creation_timestamp)}"
    yield f"Selector:\t{selected(spec.selector)}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"Replicas:\t{1 if spec.replicas is None else spec.replicas} desired | {found.status.replicas} total"
    strategy = spec.rest.get("updateStrategy", EMPTY)
    kind = strategy.get("type") or "RollingUpdate"
    yield f"Update Strategy:\t{kind}"
    if kind == "RollingUpdate":
        rolling = strategy.get("rollingUpdate", EMPTY)
        yield f"  Partition:\t{rolling.get('partition', 0)}"
        if "maxUnavailable" in rolling:
            yield f"  MaxUnavailable:\t{rolling['maxUnavailable']}"
    phases = [
        pod.status.phase
        for pod in around.every("Pod", meta.namespace)
        if (owner := pod.metadata.controller) is not None
        and owner.uid == meta.uid
        and (spec.selector is None or spec.selector.matches(pod.metadata.labels))
    ]
    words = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded", "Succeeded"), ("Failed", "Failed"))
    yield "Pods Status:\t" + " / ".join(f"{phases.count(phase)} {word}" for phase, word in words)
    yield from template_lines(spec.template)
    yield "Volume Claims:" + ("" if spec.volume_claim_templates else f"\t{NONE}")
    for claim in spec.volume_claim_templates:
        yield f"  Name:\t{claim.metadata.name}"
        yield f"  StorageClass:\t{class_named(claim)}"
        yield from labels_column("  Labels", claim.metadata.labels, "  \t")
        annotations = [f"{key}={value}" for key, value in sorted(claim.metadata.annotations.items())]
        yield from column("  Annotations", annotations, "  \t")
        yield f"  Capacity:\t{claim.spec.resources.requests.get('storage', '<default>')}"
        yield f"  Access Modes:\t{truth(claim.spec.access_modes)}"


def _namespace(found: Namespace, around: Around) -> Iterator[str]:
    yield f"Name:\t{found.metadata.name}"
    yield from labels_column("Labels", found.metadata.labels)
    yield from annotations_column("Annotations", found.metadata.annotations)
    yield f"Status:\t{namespace_phase(found)}"
    yield from ("", "No resource quota.", "", "No LimitRange resource.")


def _generic(found: Any, around: Around) -> Iterator[str]:
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
_DESCRIBERS: Mapping[str, Callable[[Any, Around], Iterator[str]]] = {
    "Pod": _pod,
    "Node": _node,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass": _class,
    "StatefulSet": _stateful_set,
    "Namespace": _namespace,
}
