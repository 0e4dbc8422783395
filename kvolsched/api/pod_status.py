"""Patches of a pod's status, as kubelets make them: its phase, its conditions, and the state of its containers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs

from .kinds.meta import EMPTY, Condition, Frozen, evolve
from .kinds.pod import Pod

STARTED = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


@attrs.frozen
class StatusPatch:
    """A patch of a pod's status that needs no version: phase, reason and conditions; other fields stay.

    `state` is that of every container, without it none waits; `restarts` counts how often they were started again.
    """

    phase: str
    conditions: tuple[Condition, ...] = ()
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    state: Frozen = EMPTY
    restarts: int = 0

    def apply(self, pod: Pod) -> Pod:
        """Return the pod with this status merged into its own."""
        new = {condition.type: condition for condition in self.conditions}
        rest = pod.status.rest
        if self.state:
            rest = rest.merged({"containerStatuses": self._containers(pod)})
        elif "containerStatuses" in rest and all("waiting" in each.get("state", EMPTY)
                                             for each in rest["containerStatuses"]):
            rest = rest.merged({"containerStatuses": None})
        status = evolve(
            pod.status, phase=self.phase, reason=self.reason, message=self.message,
            start_time=pod.status.start_time or self.start_time,
            conditions=(*(new.pop(condition.type, condition) for condition in pod.status.conditions), *new.values()),
            rest=rest
        )
        return evolve(pod, status=status)

    def _containers(self, pod: Pod) -> tuple[Frozen, ...]:
        known = Frozen(ready="running" in self.state, restartCount=self.restarts, state=self.state)
        return tuple(Frozen({"name": each.name, "image": each.image, **known}) for each in pod.spec.containers)


@lru_cache(maxsize=64)
def started(now: str) -> StatusPatch:
    """Return the status of a pod that its kubelet starts."""
    conditions = tuple(Condition(type=type_, status="True", last_transition_time=now) for type_ in STARTED)
    return StatusPatch("Running", conditions, start_time=now)


def creating(now: str) -> StatusPatch:
    """Return the status of a pod that its kubelet has taken up, and whose containers wait for volumes."""
    def condition(type_: str, status: str) -> Condition:
        reason = "ContainersNotReady" if type_.endswith("Ready") else ""
        return Condition(type=type_, status=status, reason=reason, last_transition_time=now)

    conditions = tuple(condition(type_, "True" if type_ == "Initialized" else "False") for type_ in STARTED)
    return StatusPatch("Pending", conditions, start_time=now, state=container_state("waiting", "ContainerCreating"))


def container_state(name: str, reason: str = "", **more: Any) -> Frozen:
    """Return the state of a container. It has no times, which would tell equal states of a search apart."""
    return Frozen({name: Frozen({"reason": reason, **more} if reason else more)})


def not_ready(phase: str, now: str) -> tuple[Condition, ...]:
    """Return the conditions of a pod that has ended."""
    reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    return tuple(Condition(type=type_, status="False", reason=reason, last_transition_time=now)
                 for type_ in ("Ready", "ContainersReady"))  # fmt: skip


def restarts(pod: Pod) -> int:
    """Return how often a pod's containers were started again, of the one that was most often."""
    return max((each.get("restartCount", 0) for each in pod.status.rest.get("containerStatuses", ())), default=0)
