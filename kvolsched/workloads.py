"""What all controllers of workloads hold in common: owners, whose pods are ready, and what a template is called.

Pure functions of API objects. The revision of a StatefulSet is called as in a real cluster. The hash that names a
ReplicaSet is ours: Kubernetes hashes Go's memory there, we hash canonical JSON, so its letters differ from a real's.
Mirrors `pkg/controller/controller_utils.go` and `pkg/api/v1/pod` (v1.36.2).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from .api.kinds.meta import OwnerReference
from .api.kinds.pod import Pod, PodTemplateSpec
from .api.text.convert import to_plain

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no digits that look like letters: no words come about
REVISION_LABEL = "controller-revision-hash"
TEMPLATE_LABEL = "pod-template-hash"


def controller_reference(owner: Any) -> OwnerReference:
    """Return the reference that makes an object its controller's own."""
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def by_controller_uid(kind: str) -> Any:
    """Return an index function: an object's words are the uid of its controller, if that is of this kind."""

    def words(found: Any) -> Iterator[str]:
        owner = found.metadata.controller
        if owner is not None and owner.kind == kind:
            yield owner.uid

    return words


def controller_cause(kind: str, found: Any) -> Iterator[str]:
    """Yield `namespace/name` of the controller of an object, if it is of this kind."""
    owner = found.metadata.controller
    if owner is not None and owner.kind == kind:
        yield f"{found.metadata.namespace or 'default'}/{owner.name}"


def generation(found: Any) -> int:
    """Return how often the spec of a workload was written; 1 for one that was loaded without a count."""
    return int(found.metadata.rest.get("generation", 1))


# -- pods -----------------------------------------------------------------------------------------------------------


def is_running_and_ready(pod: Pod) -> bool:
    """Say whether a pod is running and ready."""
    condition = pod.status.condition("Ready")
    return pod.status.phase == "Running" and condition is not None and condition.status == "True"


def is_ready(pod: Pod) -> bool:
    """Say whether a pod is called ready, whatever its phase."""
    condition = pod.status.condition("Ready")
    return condition is not None and condition.status == "True"


def is_available(pod: Pod, least: int, now: str) -> bool:
    """Say whether a pod has been ready for at least so many seconds at a moment; of unknown time is long."""
    return is_ready(pod) and seconds_until_available(pod, least, now) <= 0


def seconds_until_available(pod: Pod, least: int, now: str) -> float:
    """Return the seconds until a ready pod is available."""
    condition = pod.status.condition("Ready")
    since = condition.last_transition_time if condition is not None else None
    if not least or not since:
        return 0.0
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(since)
    return least - passed.total_seconds()


def is_active(pod: Pod) -> bool:
    """Say whether a pod counts as a replica: it has not ended and is not being deleted."""
    return not pod.terminal and pod.metadata.deletion_timestamp is None


def is_terminating(pod: Pod) -> bool:
    """Say whether a pod is being deleted and has not ended yet."""
    return not pod.terminal and pod.metadata.deletion_timestamp is not None


# -- templates ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 10)
def template_hash(template: PodTemplateSpec, collisions: int = 0) -> str:
    """Return the hash of a template in Kubernetes' spelling; another one for every collision of names so far."""
    plain = [to_plain(template), *([collisions] if collisions else [])]
    return safe_encode(fnv1a(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()))


@lru_cache(maxsize=1 << 10)
def revision_hash(template: PodTemplateSpec, collisions: int = 0) -> str:
    """Return the hash that ends the name of a StatefulSet's revision (`history.HashControllerRevision`, v1.36.2).

    It is taken over the patch that would bring the template back, as Go writes JSON, and the count of collisions.
    """
    plain = {**to_plain(template), "$patch": "replace"}
    for word in ("containers", "initContainers"):
        for container in plain.get("spec", {}).get(word, ()):
            container.setdefault("resources", {})
    text = json.dumps({"spec": {"template": plain}}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    number = 2166136261
    for byte in f"{text}{collisions}".encode():  # FNV-1, not 1a
        number = ((number * 16777619) & 0xFFFFFFFF) ^ byte
    return safe_encode(number)


def fnv1a(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash of some bytes."""
    number = 2166136261
    for byte in data:
        number = ((number ^ byte) * 16777619) & 0xFFFFFFFF
    return number


def safe_encode(number: int) -> str:
    """Spell a number with letters that make no words, digit by digit (`rand.SafeEncodeString`)."""
    return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in str(number))


def pod_name_suffix(owner_uid: str, number: int) -> str:
    """Return the five letters that end the name of an owner's `number`-th pod: the same in every run."""
    found = fnv1a(f"{owner_uid}/{number}".encode())
    letters = []
    for _ in range(5):
        found, letter = divmod(found, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def scaled_value(number: Any, of: int, *, up: bool) -> int:
    """Return an integer, or a percentage `25%` of a whole, rounded up or down."""
    if isinstance(number, int):
        return number
    digits = str(number or "0").removesuffix("%")
    if not digits.isdecimal():
        return 0
    part = int(digits) * of
    return -(-part // 100) if up else part // 100


def sorted_by_age(found: Iterable[Any]) -> list[Any]:
    """Return objects, the oldest first; those of one moment by name."""
    return sorted(found, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name))


__all__ = [
    "REVISION_LABEL",
    "TEMPLATE_LABEL",
    "by_controller_uid",
    "controller_cause",
    "controller_reference",
    "generation",
    "is_active",
    "is_available",
    "is_ready",
    "is_running_and_ready",
    "is_terminating",
    "pod_name_suffix",
    "revision_hash",
    "scaled_value",
    "seconds_until_available",
    "sorted_by_age",
    "template_hash",
]
