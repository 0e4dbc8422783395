"""What a description sees beside its object."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from ...api.kinds.pod import Pod
from ...world.log import Key


@attrs.frozen
class Surroundings:
    """Every object of the cluster, and the moment of asking."""

    objects: Mapping[Key, Any]
    now: datetime

    def every(self, kind: str, namespace: str | None = None) -> list[Any]:
        """Return the objects of a kind, in one namespace or all, in the order of their keys."""
        found = sorted(key for key in self.objects if key.kind == kind and namespace in (None, key.namespace))
        return [self.objects[key] for key in found]

    def owned(self, kind: str, owner: Any) -> list[Any]:
        """Return the objects of a kind that an object controls."""
        meta = owner.metadata
        return [
            found
            for found in self.every(kind, meta.namespace)
            if (by := found.metadata.controller) is not None and by.uid == meta.uid
        ]

    def pods_status(self, owner: Any) -> str:
        """Return how many pods that an object controls, and its selector matches, are in which phase."""
        selector = owner.spec.selector
        pods: list[Pod] = [
            pod
            for pod in self.owned("Pod", owner)
            if selector is None or _selects(selector, pod.metadata.labels)
        ]
        phases = [pod.status.phase for pod in pods]
        words = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded", "Succeeded"), ("Failed", "Failed"))
        return " / ".join(f"{phases.count(phase)} {word}" for phase, word in words)


def _selects(selector: Any, labels: Mapping[str, str]) -> bool:
    if isinstance(selector, Mapping):  # a ReplicationController's is a plain map
        return all(labels.get(key) == value for key, value in selector.items())
    return bool(selector.matches(labels))
