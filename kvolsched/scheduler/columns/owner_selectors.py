"""Which pods belong together by what the cluster says of them: services and the controllers that own pods.

A pod without spread constraints of its own is spread by default among the pods that its services and its owner choose.
Mirrors `plugins/helper/spread.go`, `DefaultSelector` (v1.36.2). Mutable; the snapshot alone changes it.
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
KINDS = frozenset(("Service", *OWNERS.values()))

Selectors = tuple[LabelSelector, ...]


class OwnerSelectors:
    """Services by namespace and owners by key, and the selectors that follow from them. Mutable."""

    def __init__(self) -> None:
        self._services: dict[str, dict[str, Frozen]] = {}
        self._owners: dict[Key, Any] = {}
        self._found: dict[tuple[str, Frozen, Key | None], Selectors] = {}

    def change(self, key: Key, new: Any) -> None:
        """Put one service or owner in place of what was there; None stands for absent."""
        if key.kind == "Service":
            chosen = new.spec.selector if new is not None else EMPTY
            if chosen == self._services.get(key.namespace, {}).get(key.name, EMPTY):
                return
            if chosen:
                self._services.setdefault(key.namespace, {})[key.name] = chosen
            else:
                del self._services[key.namespace][key.name]
                if not self._services[key.namespace]:
                    del self._services[key.namespace]
        else:
            old, chosen = self._owners.get(key), new.spec.selector if new is not None else None
            if chosen == old:
                return
            if chosen is None:
                del self._owners[key]
            else:
                self._owners[key] = chosen
        self._found.clear()

    def selectors(self, pod: Pod) -> Selectors:
        """Return the selectors, all of which hold, of the pods that are to be spread with this one; () if of none.

        The labels of all services that choose the pod count as one, and so do those of a ReplicationController.
        """
        services = self._services.get(pod.metadata.namespace)
        controller = pod.metadata.controller if pod.metadata.owner_references else None
        owner = None if controller is None else _key(controller, pod.metadata.namespace)
        if owner not in self._owners:
            owner = None
        if services is None and owner is None:
            return ()
        asked = (pod.metadata.namespace, pod.metadata.labels, owner)
        found = self._found.get(asked)
        if found is None:
            if len(self._found) > 1 << 12:
                self._found.clear()
            found = self._found[asked] = self._sought(pod, services or {}, owner)
        return found

    @property
    def any(self) -> bool:
        """Whether anything is known that groups pods."""
        return bool(self._services or self._owners)

    def meaning(self) -> dict[str, Any]:
        """Return what is known, by name: for comparing two snapshots."""
        return {"services": self._services, "owners": self._owners}

    def _sought(self, pod: Pod, services: dict[str, Frozen], owner: Key | None) -> Selectors:
        labels: dict[str, str] = {}
        for name in sorted(services):
            if LabelSelector(match_labels=services[name]).matches(pod.metadata.labels):
                labels.update(services[name])
        chosen = self._owners.get(owner) if owner is not None else None
        if isinstance(chosen, Frozen):
            labels.update(chosen)
        selectors = [LabelSelector(match_labels=Frozen(labels))] if labels else []
        if isinstance(chosen, LabelSelector) and (chosen.match_labels or chosen.match_expressions):
            selectors.append(chosen)
        return tuple(selectors)


def _key(owner: OwnerReference, namespace: str) -> Key | None:
    kind = OWNERS.get((owner.api_version, owner.kind))
    return None if kind is None else Key(kind, namespace, owner.name)
