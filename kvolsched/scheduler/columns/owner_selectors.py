"""The selectors of services and controllers, which decide among which pods a pod is spread by default.

A pod without spread constraints is spread among the pods that its services and its controller select. Mirrors
`plugins/helper/spread.go`, `DefaultSelector` (v1.36.2). Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from typing import Any

from kvolsched.api.kinds.meta import EMPTY, Frozen, OwnerReference
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import LabelSelector
from kvolsched.world.log import Key

OWNERS = {
    ("v1", "ReplicationController"): "ReplicationController",
    ("apps/v1", "ReplicaSet"): "ReplicaSet",
    ("apps/v1", "StatefulSet"): "StatefulSet",
}
GROUPING_KINDS = frozenset(("Service", *OWNERS.values()))

Selectors = tuple[LabelSelector, ...]


class OwnerSelectors:
    """The selectors of services by namespace and of controllers by key. Mutable."""

    def __init__(self) -> None:
        self._services: dict[str, dict[str, Frozen]] = {}
        self._owners: dict[Key, Any] = {}
        self._cache: dict[tuple[str, Frozen, Key | None], Selectors] = {}

    def change(self, key: Key, new: Any) -> None:
        """Apply a change of a service or controller; None is absent."""
        if key.kind == "Service":
            selector = new.spec.selector if new is not None else EMPTY
            if selector == self._services.get(key.namespace, {}).get(key.name, EMPTY):
                return
            if selector:
                self._services.setdefault(key.namespace, {})[key.name] = selector
            else:
                del self._services[key.namespace][key.name]
                if not self._services[key.namespace]:
                    del self._services[key.namespace]
        else:
            old, selector = self._owners.get(key), new.spec.selector if new is not None else None
            if selector == old:
                return
            if selector is None:
                del self._owners[key]
            else:
                self._owners[key] = selector
        self._cache.clear()

    def selectors(self, pod: Pod) -> Selectors:
        """Return the selectors that the pods to be spread with this one match, all of them; () if there are none.

        The labels of all services that select the pod, and of a ReplicationController, are merged into one selector.
        """
        services = self._services.get(pod.metadata.namespace)
        controller = pod.metadata.controller if pod.metadata.owner_references else None
        owner = None if controller is None else _key(controller, pod.metadata.namespace)
        if owner not in self._owners:
            owner = None
        if services is None and owner is None:
            return ()
        key = (pod.metadata.namespace, pod.metadata.labels, owner)
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) > 1 << 12:
                self._cache.clear()
            found = self._cache[key] = self._selectors_for(pod, services or {}, owner)
        return found

    @property
    def any(self) -> bool:
        """Whether there are any services or controllers."""
        return bool(self._services or self._owners)

    def copied(self) -> OwnerSelectors:
        """Return an independent copy."""
        copy = OwnerSelectors()
        copy._services = {namespace: dict(selectors) for namespace, selectors in self._services.items()}
        copy._owners, copy._cache = dict(self._owners), dict(self._cache)
        return copy

    def facts(self) -> dict[str, Any]:
        """Return the selectors by name, for comparing two snapshots."""
        return {"services": self._services, "owners": self._owners}

    def _selectors_for(self, pod: Pod, services: dict[str, Frozen], owner: Key | None) -> Selectors:
        labels: dict[str, str] = {}
        for name in sorted(services):
            if LabelSelector(match_labels=services[name]).matches(pod.metadata.labels):
                labels.update(services[name])
        selector = self._owners.get(owner) if owner is not None else None
        if isinstance(selector, Frozen):
            labels.update(selector)
        selectors = [LabelSelector(match_labels=Frozen(labels))] if labels else []
        if isinstance(selector, LabelSelector) and (selector.match_labels or selector.match_expressions):
            selectors.append(selector)
        return tuple(selectors)


def _key(owner: OwnerReference, namespace: str) -> Key | None:
    kind = OWNERS.get((owner.api_version, owner.kind))
    return None if kind is None else Key(kind, namespace, owner.name)
