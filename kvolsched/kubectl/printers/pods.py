"""kubectl's print of pods: READY, STATUS and RESTARTS; containers, volumes, tolerations, requests and QoS class.

Mirrors kubectl `pkg/describe/describe.go`, `pkg/util/qos` and `pkg/util/resource` (v1.36.2).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ...api.kinds import quantity
from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.pod import Container, Pod
from ..formatting import NONE, field_lines, format_age, format_time, given_lines, label_lines, parse_time
from .pod_template import container_lines, format_tolerations, resource_lines, spread_constraint_lines, volume_lines
from .printer import Cell, DescribeContext, controller_of, metadata_lines, printer


def _pod_cells(pod: Pod) -> Iterable[Cell]:
    addresses = pod.status.rest.get("podIPs", ())
    address = addresses[0].get("ip") if addresses else ""
    gates = pod.spec.rest.get("readinessGates", ())
    met = f"{sum(_holds(pod, gate.get('conditionType', '')) for gate in gates)}/{len(gates)}" if gates else ""
    wide_cells = (address, pod.spec.node_name, pod.status.nominated_node_name, met)
    return ready_containers(pod), pod_status(pod), partial(_restarts, pod), *(cell or NONE for cell in wide_cells)


def ready_containers(pod: Pod) -> str:
    """Return READY: how many of a pod's containers, sidecars included, are ready, such as `1/2`.

    A pod without container statuses (simulated kubelets write none) counts as a whole, by its Ready condition.
    """
    sidecars, statuses = _sidecars(pod), _statuses(pod, "containerStatuses")
    count = len(pod.spec.containers) + len(sidecars)
    if not statuses and not _statuses(pod, "initContainerStatuses"):
        return f"{count if _holds(pod, 'Ready') else 0}/{count}"
    ready = sum(status.get("ready", False) and "running" in status.get("state", EMPTY) for status in statuses)
    sidecar_statuses = (status for status in _statuses(pod, "initContainerStatuses") if status.get("name") in sidecars)
    ready += sum(status.get("ready", False) and status.get("started", False) for status in sidecar_statuses)
    return f"{ready}/{count}"


def pod_status(pod: Pod) -> str:
    """Return STATUS: the pod's phase, or the reason given by its gates, its containers or its deletion."""
    reason = pod.status.reason or pod.status.phase
    scheduled = pod.status.condition("PodScheduled")
    if scheduled is not None and scheduled.reason == "SchedulingGated":
        reason = scheduled.reason
    initializing = _init_reason(pod)
    reason = initializing or reason
    if not initializing or _holds(pod, "Initialized"):
        reason = _containers_reason(pod, reason)
    if pod.metadata.deletion_timestamp is not None:
        if pod.status.reason == "NodeLost":
            return "Unknown"
        if not pod.terminal:
            return "Terminating"
    return reason


def _init_reason(pod: Pod) -> str:
    """Return the STATUS given by the first unfinished init container, "" if all have finished."""
    sidecars = _sidecars(pod)
    for index, status in enumerate(_statuses(pod, "initContainerStatuses")):
        state = status.get("state", EMPTY)
        terminated, waiting_reason = state.get("terminated"), state.get("waiting", EMPTY).get("reason", "")
        if terminated is not None and not terminated.get("exitCode", 0):
            continue
        if status.get("name") in sidecars and status.get("started"):
            continue
        if terminated is not None:
            return f"Init:{_termination_reason(terminated)}"
        if waiting_reason and waiting_reason != "PodInitializing":
            return f"Init:{waiting_reason}"
        return f"Init:{index}/{len(pod.spec.init_containers)}"
    return ""


def _containers_reason(pod: Pod, reason: str) -> str:
    running = False
    for status in reversed(_statuses(pod, "containerStatuses")):
        state = status.get("state", EMPTY)
        waiting_reason, terminated = state.get("waiting", EMPTY).get("reason", ""), state.get("terminated")
        if waiting_reason:
            reason = waiting_reason
        elif terminated is not None:
            reason = _termination_reason(terminated)
        elif status.get("ready") and "running" in state:
            running = True
    if reason == "Completed" and running:
        return "Running" if _holds(pod, "Ready") else "NotReady"
    return reason


def _termination_reason(terminated: Mapping[str, Any]) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    return f"Signal:{terminated['signal']}" if terminated.get("signal") else f"ExitCode:{terminated.get('exitCode', 0)}"


def _restarts(pod: Pod, now: datetime) -> str:
    counted, sidecars = _statuses(pod, "initContainerStatuses"), _sidecars(pod)
    if not _init_reason(pod) or _holds(pod, "Initialized"):
        sidecar_statuses = [status for status in counted if status.get("name") in sidecars]
        counted = (*sidecar_statuses, *_statuses(pod, "containerStatuses"))
    count = sum(status.get("restartCount", 0) for status in counted)
    ends = [status.get("lastState", EMPTY).get("terminated", EMPTY).get("finishedAt") for status in counted]
    last = max((end for end in ends if end), key=lambda end: parse_time(end) or now, default=None)
    return f"{count} ({format_age(last, now)} ago)" if count and last else str(count)


def _sidecars(pod: Pod) -> set[str]:
    return {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}


def _holds(pod: Pod, condition: str) -> bool:
    found = pod.status.condition(condition)
    return found is not None and found.status == "True"


def _statuses(pod: Pod, field: str) -> tuple[Frozen, ...]:
    return tuple(pod.status.rest.get(field, ()))


def describe_pod(pod: Pod, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Pod."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    yield from given_lines(Priority=spec.priority, Priority_Class_Name=spec.priority_class_name,
                           Runtime_Class_Name=spec.rest.get("runtimeClassName"),
                           Service_Account=spec.rest.get("serviceAccountName"))  # fmt: skip
    yield f"Node:\t{spec.node_name}/{status.rest.get('hostIP', '')}" if spec.node_name else f"Node:\t{NONE}"
    yield from given_lines(Start_Time=status.start_time and format_time(status.start_time))
    yield from metadata_lines(pod)
    if meta.deletion_timestamp is not None and not pod.terminal:
        yield f"Status:\tTerminating (lasts {format_age(meta.deletion_timestamp, context.now)})"
        yield f"Termination Grace Period:\t{meta.deletion_grace_period_seconds or 0}s"
    else:
        yield f"Status:\t{status.phase}"
    yield from given_lines(Reason=status.reason, Message=status.message)
    profile = spec.rest.get("securityContext", EMPTY).get("seccompProfile", EMPTY)
    local = profile.get("localhostProfile") if profile.get("type") == "Localhost" else ""
    yield from given_lines(SeccompProfile=profile.get("type"), LocalhostProfile=local)
    yield f"IP:\t{status.rest.get('podIP', '')}"
    addresses = status.rest.get("podIPs", ())
    yield "IPs:" if addresses else f"IPs:\t{NONE}"
    yield from (f"  IP:\t{address.get('ip', '')}" for address in addresses)
    yield from given_lines(Controlled_By=controller_of(pod), NominatedNodeName=status.nominated_node_name)
    yield from _pod_containers(pod)
    yield from _pod_conditions(pod)
    yield from volume_lines(spec.volumes)
    yield f"QoS Class:\t{status.rest.get('qosClass') or kubectl_qos_class(pod)}"
    yield from label_lines("Node-Selectors", spec.node_selector)
    yield from field_lines("Tolerations", format_tolerations(spec.tolerations))
    yield from spread_constraint_lines(spec.topology_spread_constraints)


def _pod_containers(pod: Pod) -> Iterator[str]:
    spec, statuses = pod.spec, pod.status.rest
    if "resources" in spec.rest:
        resources = spec.rest["resources"]
        yield "Resources:"
        yield from resource_lines(resources.get("limits", EMPTY), resources.get("requests", EMPTY), "  ")
    if spec.init_containers:
        init_statuses = statuses.get("initContainerStatuses", ())
        yield from container_lines("Init Containers", spec.init_containers, init_statuses, pod)
    yield from container_lines("Containers", spec.containers, statuses.get("containerStatuses", ()), pod)


def _pod_conditions(pod: Pod) -> Iterator[str]:
    gates = pod.spec.rest.get("readinessGates", ())
    if gates:
        yield "Readiness Gates:"
        yield "  Type\tStatus"
        for gate in gates:
            condition = pod.status.condition(gate.get("conditionType", ""))
            yield f"  {gate.get('conditionType', '')} \t{condition.status if condition is not None else NONE} "
    if pod.status.conditions:
        yield "Conditions:"
        yield "  Type\tStatus"
        yield from (f"  {condition.type} \t{condition.status} " for condition in pod.status.conditions)


def kubectl_qos_class(pod: Pod) -> str:
    """Return the QoS class that kubectl computes: Guaranteed if all limits are set and sum up to the requests."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    requests, limits = _positive(containers, "requests"), _positive(containers, "limits")
    if not any(requests) and not any(limits):
        return "BestEffort"
    names = ("cpu", "memory")
    if all(set(names) <= amounts.keys() for amounts in limits):
        sums = [[sum(amounts.get(name, 0) for amounts in side) for name in names] for side in (requests, limits)]
        if sums[0] == sums[1]:
            return "Guaranteed"
    return "Burstable"


def _positive(containers: Sequence[Container], field: str) -> list[dict[str, Any]]:
    quantities = [getattr(container.resources, field) for container in containers]
    amounts = [{name: quantity.parse(text) for name, text in texts.items()} for texts in quantities]
    return [{name: n for name, n in numbers.items() if n > 0 and name in ("cpu", "memory")} for numbers in amounts]


PRINTER = printer("NAME  READY  STATUS  RESTARTS  AGE  [IP]  [NODE]  [NOMINATED NODE]  [READINESS GATES]", _pod_cells,
                  describe_pod)
