"""`kubectl describe pod`: one pod with its containers, volumes and tolerations, and what it asks for in sum.

Pure generators of lines of one pod and the moment of asking. Mirrors kubectl `pkg/describe/describe.go`,
`pkg/util/qos` and `pkg/util/resource` (v1.36.2); pod-level resources stand for the sum of the containers'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ...api.kinds import quantity
from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.pod import Container, Pod
from ..text import NONE, annotations_column, column, labels_column, since, stamp, total
from .template import containers_lines, resources_lines, spread_lines, tolerations, volumes_lines


def pod_lines(pod: Pod, now: datetime) -> Iterator[str]:
    """Yield what `describe` says of a pod, without its Events."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    if spec.priority is not None:
        yield f"Priority:\t{spec.priority}"
    yield from _given(
        ("Priority Class Name", spec.priority_class_name),
        ("Runtime Class Name", spec.rest.get("runtimeClassName")),
        ("Service Account", spec.rest.get("serviceAccountName")),
    )
    yield f"Node:\t{spec.node_name}/{status.rest.get('hostIP', '')}" if spec.node_name else f"Node:\t{NONE}"
    if status.start_time is not None:
        yield f"Start Time:\t{stamp(status.start_time)}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    if meta.deletion_timestamp is not None and not pod.terminal:
        yield f"Status:\tTerminating (lasts {since(meta.deletion_timestamp, now)})"
        yield f"Termination Grace Period:\t{meta.deletion_grace_period_seconds or 0}s"
    else:
        yield f"Status:\t{status.phase}"
    yield from _given(("Reason", status.reason), ("Message", status.message))
    profile = spec.rest.get("securityContext", EMPTY).get("seccompProfile", EMPTY)
    local = profile.get("localhostProfile") if profile.get("type") == "Localhost" else ""
    yield from _given(("SeccompProfile", profile.get("type")), ("LocalhostProfile", local))
    yield f"IP:\t{status.rest.get('podIP', '')}"
    addresses = status.rest.get("podIPs", ())
    yield "IPs:" if addresses else f"IPs:\t{NONE}"
    yield from (f"  IP:\t{address.get('ip', '')}" for address in addresses)
    owner = meta.controller
    yield from _given(
        ("Controlled By", f"{owner.kind}/{owner.name}" if owner is not None else ""),
        ("NominatedNodeName", status.nominated_node_name),
    )
    yield from _pod_containers(pod)
    yield from _pod_conditions(pod)
    yield from volumes_lines(spec.volumes)
    yield f"QoS Class:\t{status.rest.get('qosClass') or quality(pod)}"
    yield from labels_column("Node-Selectors", spec.node_selector)
    yield from column("Tolerations", tolerations(spec.tolerations))
    yield from spread_lines(spec.topology_spread_constraints)


def _given(*fields: tuple[str, Any]) -> Iterator[str]:
    """Yield the fields that hold something."""
    yield from (f"{title}:\t{said}" for title, said in fields if said)


def _pod_containers(pod: Pod) -> Iterator[str]:
    spec, statuses = pod.spec, pod.status.rest
    if "resources" in spec.rest:
        asked = spec.rest["resources"]
        yield "Resources:"
        yield from resources_lines(asked.get("limits", EMPTY), asked.get("requests", EMPTY), "  ")
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


def summed(pod: Pod, field: str) -> dict[str, str]:
    """Return a pod's `requests` or `limits`: containers and sidecars together, or the largest init phase; overhead."""
    spec = pod.spec
    sidecars: list[Container] = []
    peaks: list[dict[str, str]] = []
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            sidecars.append(container)
            peaks.append(_together(sidecars, field))
        else:
            peaks.append(_together([container, *sidecars], field))
    amounts = _together([*spec.containers, *sidecars], field)
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
    names = dict.fromkeys(name for one in given for name in one)
    return {name: total(one[name] for one in given if name in one) for name in names}
