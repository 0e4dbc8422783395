"""The cluster that a description reads: every object, and the time of the request."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from ...api.kinds.pod import Pod
from ...world.log import Key


@attrs.frozen
class DescribeContext:
    """Every object of the cluster, and the time to which ages are counted."""

    objects: Mapping[Key, Any]
    now: datetime

    def objects_of(self, kind: str, namespace: str | None = None) -> list[Any]:
        """Return the objects of a kind, in one namespace or all, in the order of their keys."""
        keys = sorted(key for key in self.objects if key.kind == kind and namespace in (None, key.namespace))
        return [self.objects[key] for key in keys]

    def controlled_by(self, owner: Any, kind: str) -> list[Any]:
        """Return the objects of a kind whose controller is this owner."""
        meta = owner.metadata
        return [obj for obj in self.objects_of(kind, meta.namespace)
                if (controller := obj.metadata.controller) is not None and controller.uid == meta.uid]

    def pods_status(self, owner: Any) -> str:
        """Return `Pods Status`: how many pods that a workload controls and selects are in which phase."""
        selector = owner.spec.selector
        pods: list[Pod] = [pod for pod in self.controlled_by(owner, "Pod")
                           if selector is None or _matches(selector, pod.metadata.labels)]
        phases = [pod.status.phase for pod in pods]
        words = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded", "Succeeded"), ("Failed", "Failed"))
        return " / ".join(f"{phases.count(phase)} {word}" for phase, word in words)


def _matches(selector: Any, labels: Mapping[str, str]) -> bool:
    if isinstance(selector, Mapping):  # a ReplicationController's selector is a plain map
        return all(labels.get(key) == value for key, value in selector.items())
    return bool(selector.matches(labels))
