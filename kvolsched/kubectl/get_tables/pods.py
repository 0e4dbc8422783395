"""`kubectl get pods`: the row of a pod, with its READY, STATUS and RESTARTS (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.pod import Pod
from ..formatting import NONE, format_age, parse_time
from .table import Table, object_age


def _pod_row(pod: Pod, now: datetime) -> Sequence[str]:
    ready_count, restart_count = ready_containers(pod), _restarts(pod, now)
    addresses = pod.status.rest.get("podIPs", ())
    address = addresses[0].get("ip") if addresses else ""
    wide_cells = (address, pod.spec.node_name, pod.status.nominated_node_name, _readiness_gates(pod))
    age = object_age(pod, now)
    return (pod.metadata.name, ready_count, pod_status(pod), restart_count, age, *(cell or NONE for cell in wide_cells))


def ready_containers(pod: Pod) -> str:
    """Return READY: how many of a pod's containers, sidecars included, are ready, such as `1/2`.

    A pod without container statuses (simulated kubelets write none) counts as a whole, by its Ready condition.
    """
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    count = len(pod.spec.containers) + len(sidecars)
    statuses = _statuses(pod, "containerStatuses")
    if not statuses and not _statuses(pod, "initContainerStatuses"):
        condition = pod.status.condition("Ready")
        return f"{count if condition is not None and condition.status == 'True' else 0}/{count}"
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


def _init_reason(pod: Pod) -> str:
    """Return the STATUS given by the first unfinished init container, "" if all have finished."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
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
        ready = pod.status.condition("Ready")
        return "Running" if ready is not None and ready.status == "True" else "NotReady"
    return reason


def _termination_reason(terminated: Mapping[str, Any]) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    return f"Signal:{terminated['signal']}" if terminated.get("signal") else f"ExitCode:{terminated.get('exitCode', 0)}"


def _restarts(pod: Pod, now: datetime) -> str:
    sidecars = {status.name for status in pod.spec.init_containers if status.restart_policy == "Always"}
    initialized = pod.status.condition("Initialized")
    init_statuses = _statuses(pod, "initContainerStatuses")
    if _init_reason(pod) and (initialized is None or initialized.status != "True"):
        counted = init_statuses
    else:
        sidecar_statuses = [status for status in init_statuses if status.get("name") in sidecars]
        counted = (*sidecar_statuses, *_statuses(pod, "containerStatuses"))
    count = sum(status.get("restartCount", 0) for status in counted)
    ends = [status.get("lastState", EMPTY).get("terminated", EMPTY).get("finishedAt") for status in counted]
    last = max((end for end in ends if end), key=lambda end: parse_time(end) or now, default=None)
    return f"{count} ({format_age(last, now)} ago)" if count and last else str(count)


def _readiness_gates(pod: Pod) -> str:
    gates = pod.spec.rest.get("readinessGates", ())
    conditions = [pod.status.condition(gate.get("conditionType", "")) for gate in gates]
    met = sum(condition is not None and condition.status == "True" for condition in conditions)
    return f"{met}/{len(gates)}" if gates else NONE


def _statuses(pod: Pod, field: str) -> tuple[Frozen, ...]:
    return tuple(pod.status.rest.get(field, ()))


TABLES: Mapping[str, Table] = {
    "Pod": Table(("NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"),
                 _pod_row, frozenset({"IP", "NODE", "NOMINATED NODE", "READINESS GATES"})),
}  # fmt: skip
