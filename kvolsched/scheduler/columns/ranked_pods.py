"""The pods of one node by importance, with columns: who would leave for a pod of higher priority, and what that frees.

They are put in order when that is first asked for, and again once one of them has changed. Values; what is asked for is
remembered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ..requests import NATIVE, held_requests
from .column import Integers

NOT_STARTED = float("inf")  # a pod without start time counts as started now: later than all others
PRIORITY, STARTED = "priority", "started"
COMMON = (PRIORITY, STARTED, *NATIVE)
"""What is at hand of each pod: its priority, the bits of the float that says when it started, what it requests."""
NO_PRIORITY = 2**62  # higher than any pod's
MAX_HELD = 2**61  # sums of pods' requests up to this are exact in 64 bits, whatever the node has


class RankedPods:
    """Pods, the most important first: by priority, then those that started earlier.

    Args:
        pods: the pods, sorted by key.
    """

    __slots__ = ("_falling", "common", "exact", "kept", "pods")

    def __init__(self, pods: Iterable[Pod]) -> None:
        self.pods = tuple(by_importance(pods))
        self.kept: tuple[Any, Any] = (None, None)
        """What preemption found for pods of a template and priority, and these as a key; it goes with the value."""
        self._falling = [-priority(pod) for pod in self.pods]
        held = Counter[str]()
        for pod in self.pods:
            held.update(held_requests(pod).amounts)
        self.exact = all(-MAX_HELD <= amount <= MAX_HELD for amount in held.values())
        """Whether the amounts can be added up in 64 bits."""
        begun = np.array([started(pod) for pod in self.pods], np.float64).view(np.int64)
        self.common: Integers = np.zeros((len(COMMON), len(self.pods)), np.int64)
        """The numbers of `COMMON`, by pod."""
        if self.exact:
            priorities = np.array([priority(pod) for pod in self.pods], np.int64)
            for number, values in enumerate((priorities, begun, *map(self.amounts, NATIVE))):
                self.common[number] = values

    def first_below(self, limit: int) -> int:
        """Return how many pods have at least this priority; they come before all others."""
        return bisect_right(self._falling, -limit)

    def amounts(self, resource: str) -> Integers:
        """Return how much of a resource each pod requests."""
        return np.array([held_requests(pod).amounts.get(resource, 0) for pod in self.pods], np.int64)


class NominatedPods:
    """The pods that are nominated to one node. Immutable.

    Args:
        pods: the pods by key.
    """

    __slots__ = ("_ranked", "pods")

    def __init__(self, pods: Mapping[Key, Pod]) -> None:
        self.pods = pods
        self._ranked: RankedPods | None = None

    @property
    def ranked(self) -> RankedPods:
        """The pods by importance."""
        if self._ranked is None:
            self._ranked = RankedPods(self.sorted())
        return self._ranked

    def sorted(self) -> list[Pod]:
        """Return the pods, sorted by key."""
        return [self.pods[key] for key in sorted(self.pods)]

    def without(self, key: Key) -> NominatedPods:
        """Return the others."""
        return NominatedPods({other: pod for other, pod in self.pods.items() if other != key})


def priority(pod: Pod) -> int:
    """Return a pod's priority; without one it is 0."""
    return pod.spec.priority or 0


def started(pod: Pod) -> float:
    """Return when a pod started, in seconds of Unix time."""
    text = pod.status.start_time
    return NOT_STARTED if text is None else datetime.fromisoformat(text.upper()).timestamp()


def by_importance(pods: Iterable[Pod]) -> list[Pod]:
    """Return pods in the order in which preemption puts them back: by priority, then those that started earlier.

    Equal ones keep their order, but those without start time turn it round: each counts as started when it is looked
    at, a moment before the one that it is compared with (`GetPodStartTime`, v1.36.2, with the sort of up to 12 pods).
    """
    pods = list(pods)
    begun = [pod for pod in pods if pod.status.start_time is not None]
    waiting = [pod for pod in pods if pod.status.start_time is None]
    return sorted([*begun, *reversed(waiting)], key=lambda pod: (-priority(pod), started(pod)))
