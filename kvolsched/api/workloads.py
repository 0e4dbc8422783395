"""Functions that all workload controllers share: owners, readiness of pods, and hashes of pod templates.

Pure functions of API objects. The name of a StatefulSet's revision is that of a real cluster. The hash in a
ReplicaSet's name differs: Kubernetes hashes Go's memory, this module canonical JSON. Mirrors
`pkg/controller/controller_utils.go` and `pkg/api/v1/pod` (v1.36.2).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import attrs

from .kinds.meta import Condition, Frozen, ObjectMeta, OwnerReference, evolve_parts
from .kinds.pod import Pod, PodTemplateSpec
from .text.convert import to_plain

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels and no digits that look like letters, so that no words result
WORKLOADS = ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "ReplicationController", "Job")
REVISION_LABEL = "controller-revision-hash"
TEMPLATE_LABEL = "pod-template-hash"


def controller_reference(owner: Any) -> OwnerReference:
    """Return the owner reference of an object's controller."""
    return OwnerReference(api_version=owner.api_version, kind=owner.kind, name=owner.metadata.name,
                          uid=owner.metadata.uid, controller=True, block_owner_deletion=True)


def by_controller_uid(kind: str) -> Any:
    """Return an index function that yields the uid of an object's controller, if that is of this kind."""

    def controller_uids(obj: Any) -> Iterator[str]:
        owner = obj.metadata.controller
        if owner is not None and owner.kind == kind:
            yield owner.uid

    return controller_uids


def by_node(pod: Pod) -> Iterator[str]:
    """Yield the node of a pod, if it has one: an index function."""
    if pod.spec.node_name:
        yield pod.spec.node_name


def controller_cause(kind: str, obj: Any) -> Iterator[str]:
    """Yield `namespace/name` of an object's controller, if that is of this kind."""
    owner = obj.metadata.controller
    if owner is not None and owner.kind == kind:
        yield f"{obj.metadata.namespace or 'default'}/{owner.name}"


def changed_or_owner(kind: str, key: Any, old: Any, new: Any) -> Iterator[str]:
    """Yield `namespace/name` of a changed object of this kind that is there, or of a changed object's controller."""
    if key.kind != kind:
        yield from controller_cause(kind, new if new is not None else old)
    elif new is not None:
        yield f"{key.namespace}/{key.name}"


def replica_of(owner: Any, name: str, labels: Frozen, generate_name: str = "") -> Pod:
    """Return a pod of a workload's template, with its own name and labels, controlled by the workload."""
    template: PodTemplateSpec = owner.spec.template
    meta = ObjectMeta(
        name=name, generate_name=generate_name, namespace=owner.metadata.namespace or "default", labels=labels,
        annotations=template.metadata.annotations, owner_references=(controller_reference(owner),)
    )
    return Pod(metadata=meta, spec=template.spec)


@attrs.frozen
class PodConditionPatch:
    """A patch of a pod's status that sets one condition; a reason or message of "" keeps what is there."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    at: str | None = None

    def apply(self, pod: Pod) -> Pod:
        """Return the pod with this condition."""
        old = next((found for found in pod.status.conditions if found.type == self.type), Condition(type=self.type))
        same = old.status == self.status
        new = attrs.evolve(
            old, status=self.status, reason=self.reason or old.reason, message=self.message or old.message,
            last_transition_time=old.last_transition_time if same else self.at,
        )
        return attrs.evolve(pod, status=pod.status.with_condition(new))


def generation(obj: Any) -> int:
    """Return metadata.generation of a workload: how often its spec was written (1 if it was loaded without)."""
    return int(obj.metadata.rest.get("generation", 1))


def is_running_and_ready(pod: Pod) -> bool:
    """Return whether a pod is running and ready."""
    return pod.status.phase == "Running" and is_ready(pod)


def is_ready(pod: Pod) -> bool:
    """Return whether a pod's condition Ready is true, whatever its phase."""
    condition = pod.status.condition("Ready")
    return condition is not None and condition.status == "True"


def is_available(pod: Pod, min_ready_seconds: int, now: str) -> bool:
    """Return whether a pod has been ready for minReadySeconds; true if it is unknown since when."""
    return is_ready(pod) and seconds_until_available(pod, min_ready_seconds, now) <= 0


def seconds_until_available(pod: Pod, min_ready_seconds: int, now: str) -> float:
    """Return the seconds until a ready pod is available."""
    condition = pod.status.condition("Ready")
    since = condition.last_transition_time if condition is not None else None
    if not min_ready_seconds or not since:
        return 0.0
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(since.upper())
    return min_ready_seconds - passed.total_seconds()


def waits_for_available(ready: Iterable[Pod], min_ready_seconds: int, now: str) -> list[float]:
    """Return the seconds until each of some ready pods is available, of those that are not yet."""
    waits = (seconds_until_available(pod, min_ready_seconds, now) for pod in ready) if min_ready_seconds else ()
    return [wait for wait in waits if wait > 0]


def is_active(pod: Pod) -> bool:
    """Return whether a pod counts as a replica: it has not ended and is not being deleted."""
    return not pod.terminal and pod.metadata.deletion_timestamp is None


def is_terminating(pod: Pod) -> bool:
    """Return whether a pod is being deleted and has not ended yet."""
    return not pod.terminal and pod.metadata.deletion_timestamp is not None


@lru_cache(maxsize=1 << 10)
def template_hash(template: PodTemplateSpec, collisions: int = 0) -> str:
    """Return the hash of a template, safely encoded; it depends on the count of name collisions so far."""
    plain = [to_plain(template), *([collisions] if collisions else [])]
    return safe_encode(fnv1a(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()))


@lru_cache(maxsize=1 << 10)
def revision_hash(template: PodTemplateSpec, collisions: int = 0) -> str:
    """Return the hash that ends the name of a StatefulSet's revision (`history.HashControllerRevision`, v1.36.2).

    It is taken over the patch that restores the template, as Go writes JSON, and the count of collisions.
    """
    plain = {**to_plain(template), "$patch": "replace"}
    for field in ("containers", "initContainers"):
        for container in plain.get("spec", {}).get(field, ()):
            container.setdefault("resources", {})
    text = json.dumps({"spec": {"template": plain}}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return safe_encode(fnv1(f"{text}{collisions}".encode()))


def fnv1(data: bytes) -> int:
    """Return the 32-bit FNV-1 hash of some bytes, which multiplies first."""
    value = 2166136261
    for byte in data:
        value = ((value * 16777619) & 0xFFFFFFFF) ^ byte
    return value


def fnv1a(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash of some bytes."""
    value = 2166136261
    for byte in data:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def safe_encode(number: int) -> str:
    """Return a number with each digit replaced by a letter of `ALPHABET` (`rand.SafeEncodeString`)."""
    return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in str(number))


def pod_name_suffix(owner_uid: str, number: int) -> str:
    """Return the five letters that end the name of an owner's `number`-th pod: equal in every run."""
    return five_letters(fnv1a(f"{owner_uid}/{number}".encode()))


def with_generated_names(objects: Sequence[Any], seed: int, taken: Collection[str]) -> Sequence[Any]:
    """Return objects of which none has a generateName only: it gets five letters more, equal in every run of a seed."""
    if all(obj.metadata.name for obj in objects):
        return objects
    names = {*taken, *(obj.metadata.name for obj in objects)}
    found = []
    for obj in objects:
        prefix, number = obj.metadata.generate_name, 0
        name = obj.metadata.name
        while not name:
            text = f"{seed}/{obj.kind}/{obj.metadata.namespace}/{prefix}/{number}"
            made = prefix + five_letters(fnv1a(text.encode()))
            name, number = "" if made in names else made, number + 1
        names.add(name)
        found.append(obj if obj.metadata.name else evolve_parts(obj, metadata={"name": name}))
    return found


def five_letters(number: int) -> str:
    """Return the five letters of `ALPHABET` that end a generated name, from a hash."""
    letters = []
    for _ in range(5):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def scaled_value(int_or_percent: Any, total: int, *, up: bool) -> int:
    """Return an integer, or a percentage `25%` of a total, rounded up or down."""
    if isinstance(int_or_percent, int):
        return int_or_percent
    digits = str(int_or_percent or "0").removesuffix("%")
    if not digits.isdecimal():
        return 0
    hundredths = int(digits) * total
    return -(-hundredths // 100) if up else hundredths // 100


def sorted_by_age(objects: Iterable[Any]) -> list[Any]:
    """Return objects sorted by creation time, the oldest first, then by name."""
    return sorted(objects, key=lambda obj: (obj.metadata.creation_timestamp or "", obj.metadata.name))
