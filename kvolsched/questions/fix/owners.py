"""Who made a pod: the owner on top (the Deployment, not its ReplicaSet), whose template a user edits."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...world.apiserver import key_of
from ...world.log import Key
from .edit import ObjectChange, rebased

TEMPLATE_HASH = "pod-template-hash"
BY_HAND = ("StatefulSet", "ReplicaSet", "ReplicationController")  # whose waiting pods stay as the old template has them


class Owner(NamedTuple):
    """The object that a user made and that makes the pod; prints as `Deployment web`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def for_owner(changes: Iterable[ObjectChange], pod: Pod, objects: Mapping[Key, Any]) -> tuple[ObjectChange, ...]:
    """Return changes in which that of a pod is made in the template of its owner, if that is known.

    The controllers of the owner then make its pods anew. A StatefulSet waits for each pod to be ready before it goes
    on, so that those which wait must be deleted, too, and all of them if they refuse each other by the old template. A
    Job's template cannot be changed, so the Job is made anew.
    """
    found: list[ObjectChange] = []
    owner = owner_on_top(pod, objects)
    workload: Any = objects.get(Key(owner.kind, pod.metadata.namespace, owner.name)) if owner is not None else None
    template = getattr(getattr(workload, "spec", None), "template", None)
    for change in changes:
        old, new = change.old, change.new
        of_pod = isinstance(old, Pod) and isinstance(new, Pod) and old.metadata.uid == pod.metadata.uid
        if template is None or not of_pod:
            found.append(change)
            continue
        changed = attrs.evolve(template, spec=rebased(old.spec, new.spec, template.spec))
        again = workload.kind == "Job" and not workload.spec.suspend  # else its template cannot be changed
        found.append(ObjectChange(workload, evolve_parts(workload, spec={"template": changed}), recreate=again))
        if workload.kind in BY_HAND:
            before, after = (getattr(each.spec.affinity, "pod_anti_affinity", None) for each in (old, new))
            refuse = before != after
            found += [ObjectChange(each, None) for each in siblings(pod, objects) if refuse or not each.spec.node_name]
    return tuple(found)


def siblings(pod: Pod, objects: Mapping[Key, Any]) -> list[Pod]:
    """Return the pods of a pod's owner on top that have not ended, itself among them, sorted by key."""
    owner = owner_on_top(pod, objects)
    if owner is None:
        return [found] if (found := objects.get(key_of(pod))) is not None else []
    mine = ((key, obj) for key, obj in sorted(objects.items()) if isinstance(obj, Pod) and not obj.terminal
            and key.namespace == pod.metadata.namespace)  # fmt: skip
    return [obj for _, obj in mine if owner_on_top(obj, objects) == owner]


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
