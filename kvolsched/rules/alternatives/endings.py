"""What is wrong at the end of a run: one small function of the API objects for each reason of the documents.

Each returns a sentence, or "" if nothing of its kind is wrong. They look at what anybody with kubectl could see.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...api.kinds.node import ZONE_LABEL
from ...api.volumes import class_of_claim, is_bound
from ...world.log import Key
from .topology_quota import allowed_domains, domains_of

Objects = Mapping[Key, Any]
Failure = Callable[[Objects], str]


def _of(objects: Objects, kind: str) -> Iterator[Any]:
    return (objects[key] for key in sorted(objects) if key.kind == kind)


def _zone(objects: Objects, node: str) -> str:
    found = objects.get(Key("Node", "", node))
    return str(found.metadata.labels.get(ZONE_LABEL, "")) if found is not None else ""


def _volumes_of(objects: Objects, pod: Any) -> Iterator[Any]:
    for name in pod.claim_names():
        claim = objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace or "default", name))
        volume = objects.get(Key("PersistentVolume", "", claim.spec.volume_name)) if claim is not None else None
        if volume is not None:
            yield volume


def placed_for_ever(objects: Objects) -> str:
    """A pod has a node and does not run there: nobody places it a second time."""
    stuck = [f"{pod.metadata.name} on {pod.spec.node_name}" for pod in _of(objects, "Pod")
             if pod.spec.node_name and pod.status.phase in ("", "Pending")]  # fmt: skip
    return f"placed and never started: {', '.join(stuck)}" if stuck else ""


def pending_beside_a_free_volume(objects: Objects) -> str:
    """A pod has no node although a volume of its claim's class is free and large enough."""
    free = [volume.metadata.name for volume in _of(objects, "PersistentVolume") if volume.spec.claim_ref is None]
    pending = [pod.metadata.name for pod in _of(objects, "Pod") if not pod.spec.node_name and any(pod.claim_names())]
    return f"pending beside the free {', '.join(free)}: {', '.join(pending)}" if free and pending else ""


def call_refused(objects: Objects) -> str:
    """A pod has no node because the scheduler cannot reach its extender."""
    for pod in _of(objects, "Pod"):
        told = pod.status.condition("PodScheduled")
        if not pod.spec.node_name and told is not None and told.message.startswith("Post "):
            return f"{pod.metadata.name} pending: {told.message}"
    return ""


def guessed_wrong(objects: Objects) -> str:
    """A pod without gates has no node, since none of its machine type has room, and one of another type stands by."""
    nodes = {node.metadata.name: node.metadata.labels.get("example.com/vm") for node in _of(objects, "Node")}
    used = {pod.spec.node_name for pod in _of(objects, "Pod")}
    for pod in _of(objects, "Pod"):
        wanted = pod.spec.node_selector.get("example.com/vm")
        free = [name for name, kind in nodes.items() if name not in used and kind != wanted]
        if wanted and free and not pod.spec.node_name and not pod.spec.scheduling_gates:
            return f"{pod.metadata.name} waits for {wanted} machines, and {', '.join(free)} stands by"
    return ""


def volume_never_made(objects: Objects) -> str:
    """A pod is pending, and the claim that it uses has no volume."""
    for pod in _of(objects, "Pod"):
        if not pod.spec.node_name and any(pod.claim_names()) and not any(_volumes_of(objects, pod)):
            return f"{pod.metadata.name} pending, and no volume is made for {', '.join(pod.claim_names())}"
    return ""


def volume_of_another_zone(objects: Objects) -> str:
    """A pod is in another zone than the label of its volume says."""
    for pod in _of(objects, "Pod"):
        for volume in _volumes_of(objects, pod):
            labelled, zone = volume.metadata.labels.get(ZONE_LABEL), _zone(objects, pod.spec.node_name)
            if pod.spec.node_name and labelled not in (None, zone):
                return f"{pod.metadata.name} is in zone {zone}, its volume in zone {labelled}"
    return ""


def volume_of_a_gone_claim(objects: Objects) -> str:
    """A volume is still held for a claim that does not exist, and nobody releases it."""
    for volume in _of(objects, "PersistentVolume"):
        ref = volume.spec.claim_ref
        gone = ref is not None and Key("PersistentVolumeClaim", ref.namespace, ref.name) not in objects
        if gone and volume.status.phase not in ("Released", "Failed"):
            return f"a volume is held for the deleted claim {ref.name}, in phase {volume.status.phase}"
    return ""


def half_a_binding(objects: Objects) -> str:
    """A volume is reserved for a claim that does not know of it."""
    for volume in _of(objects, "PersistentVolume"):
        ref = volume.spec.claim_ref
        claim = objects.get(Key("PersistentVolumeClaim", ref.namespace, ref.name)) if ref is not None else None
        if claim is not None and not is_bound(claim):
            return f"{volume.metadata.name} is reserved for {ref.name}, which stays {claim.status.phase}"
    return ""


def evicted_in_vain(objects: Objects) -> str:
    """The victim is gone, and the pod for which it was evicted has no node."""
    pods = {pod.metadata.name: pod for pod in _of(objects, "Pod")}
    if "victim" in pods or "app" not in pods or pods["app"].spec.node_name:
        return ""
    return "victim was evicted, and app has no node all the same"


def volume_where_not_allowed(objects: Objects) -> str:
    """A volume is in a domain that its class does not allow."""
    for claim in _of(objects, "PersistentVolumeClaim"):
        storage_class = objects.get(Key("StorageClass", "", class_of_claim(claim)))
        volume = objects.get(Key("PersistentVolume", "", claim.spec.volume_name))
        if storage_class is not None and volume is not None and (allowed := allowed_domains(storage_class)):
            outside = sorted(domains_of(volume) - allowed)
            if outside:
                return f"the volume of {claim.metadata.name} is in {', '.join(outside)}, which its class does not allow"
    return ""


def stacked_in_one_zone(objects: Objects) -> str:
    """Zones differ by more than one pod."""
    zones = {_zone(objects, node.metadata.name): 0 for node in _of(objects, "Node")}
    held = Counter(_zone(objects, pod.spec.node_name) for pod in _of(objects, "Pod") if pod.spec.node_name)
    counts = {**zones, **held}
    if not counts or max(counts.values()) - min(counts.values()) <= 1:
        return ""
    return f"pods by zone: {', '.join(f'{zone} {count}' for zone, count in sorted(counts.items()))}"


def pending_though_soft(objects: Objects) -> str:
    """A pod is pending although it would rather run unevenly."""
    pending = [pod.metadata.name for pod in _of(objects, "Pod") if not pod.spec.node_name]
    return f"pending, though it asked for ScheduleAnyway: {', '.join(pending)}" if pending else ""


def beside_its_selector(objects: Objects) -> str:
    """A pod is on a node that its node selector does not select."""
    for pod in _of(objects, "Pod"):
        node = objects.get(Key("Node", "", pod.spec.node_name))
        if node is None:
            continue
        for key, value in pod.spec.node_selector.items():
            if node.metadata.labels.get(key) != value:
                return f"{pod.metadata.name} is on {node.metadata.name}, and its selector wants {key}={value}"
    return ""


def beyond_the_policy(objects: Objects) -> str:
    """A pod is in another zone than that for which a policy allowed it when it was created (zone a)."""
    for pod in _of(objects, "Pod"):
        zone = _zone(objects, pod.spec.node_name)
        if zone not in ("", "a"):
            return f"{pod.metadata.name} is in zone {zone}; it was created for zone a"
    return ""
