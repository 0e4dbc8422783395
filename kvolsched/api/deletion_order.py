"""Which pods of a ReplicaSet are deleted first, where there are too many.

Mirrors `ActivePodsWithRanks.Less` of `pkg/controller/controller_utils.go` (v1.36.2). Ages are compared by powers of
two (LogarithmicScaleDown), so that of pods of about the same age any may go: the UID decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cmp_to_key
from typing import Any

from .kinds.pod import Pod
from .workloads import is_ready

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
COST_FORMAT = re.compile(r"0|-[0-9]{1,10}|[1-9][0-9]{0,9}")
_PHASE_ORDER = {"Pending": 0, "": 0, "Unknown": 1, "Running": 2}


def in_deletion_order(pods: Iterable[Pod], per_node: Mapping[str, int], now: datetime) -> list[Pod]:
    """Return active pods in the order in which their ReplicaSet deletes them.

    First those without node, then pending ones, not ready ones, those of a low deletion cost, those with many related
    pods on their node (`per_node`), those that became ready last, those with more restarts, the youngest.
    """

    def compare(one: Pod, other: Pod) -> int:
        place, other_place = _place(one, per_node), _place(other, per_node)
        if place != other_place:
            return -1 if place < other_place else 1
        ready = _compare_ages(one, other, _ready_since(one), _ready_since(other), now) if is_ready(one) else 0
        if ready:
            return ready
        restarts, other_restarts = _restarts(one), _restarts(other)
        if restarts != other_restarts:
            return -1 if restarts > other_restarts else 1
        return _compare_ages(one, other, one.metadata.creation_timestamp, other.metadata.creation_timestamp, now)

    return sorted(sorted(pods, key=lambda pod: pod.metadata.uid), key=cmp_to_key(compare))


def _place(pod: Pod, per_node: Mapping[str, int]) -> tuple[Any, ...]:
    """Return what is compared before any time is."""
    phase = _PHASE_ORDER.get(pod.status.phase, 1)
    return bool(pod.spec.node_name), phase, is_ready(pod), deletion_cost(pod), -per_node.get(pod.spec.node_name, 0)


def deletion_cost(pod: Pod) -> int:
    """Return a pod's deletion cost; 0 if the annotation is no 32-bit number, without plus sign and leading zeros."""
    text = pod.metadata.annotations.get(DELETION_COST, "")
    cost = int(text) if COST_FORMAT.fullmatch(text) else 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _ready_since(pod: Pod) -> str | None:
    condition = pod.status.condition("Ready")
    return condition.last_transition_time if condition is not None else None


def _compare_ages(one: Pod, other: Pod, since: str | None, other_since: str | None, now: datetime) -> int:
    """Compare two times: an unknown one first, then the smaller power of two since then; in the same one by UID."""
    if since == other_since:
        return 0
    if not since or not other_since:
        return 1 if since else -1
    difference = _power_of_age(since, now) - _power_of_age(other_since, now)
    return difference or (-1 if one.metadata.uid < other.metadata.uid else 1)


def _power_of_age(since: str, now: datetime) -> int:
    """Return the power of two that the nanoseconds since a time have reached; -1 if it is not past."""
    nanoseconds = (now - datetime.fromisoformat(since.upper())).total_seconds() * 1e9
    return int(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a container, and those of a sidecar."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    statuses, of_init = (pod.status.rest.get(field, ()) for field in ("containerStatuses", "initContainerStatuses"))
    counted = (statuses, [status for status in of_init if status.get("name") in sidecars])
    most, most_of_sidecars = (max((each.get("restartCount", 0) for each in some), default=0) for some in counted)
    return most, most_of_sidecars
