"""Who made a pod: the owner on top (the Deployment, not its ReplicaSet), whose template a user edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

TEMPLATE_HASH = "pod-template-hash"


class Owner(NamedTuple):
    """The object that a user made and that makes the pod; prints as `Deployment web`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def owner_on_top(pod: Pod, objects: Mapping[Key, Any]) -> Owner | None:
    """Return the owner on top of a pod, or None if nobody would make the pod again.

    A ReplicaSet that was not loaded gives its Deployment away: its name ends in the hash that its pods carry.

    Args:
        pod: whose `ownerReferences` are followed, as far as the owners are known.
        objects: all objects by key.
    """
    above, found = pod.metadata.controller, None
    seen: set[str] = set()
    while above is not None and above.uid not in seen:
        seen.add(above.uid)
        found = Owner(above.kind, above.name)
        owner = objects.get(Key(above.kind, pod.metadata.namespace, above.name))
        above = getattr(getattr(owner, "metadata", None), "controller", None)
    suffix = f"-{pod.metadata.labels.get(TEMPLATE_HASH, '')}"
    if found is not None and found.kind == "ReplicaSet" and len(suffix) > 1 and found.name.endswith(suffix):
        return Owner("Deployment", found.name.removesuffix(suffix))
    return found
