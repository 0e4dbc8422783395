"""What a change costs others: pods that wait, are gone or made anew; data that are lost; promises that no longer hold.

It compares the objects of two worlds and asks nothing else, so whatever leads from one to the other is judged alike.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.pod import PodSpec
from kvolsched.api.words import counted
from kvolsched.questions.fix.owners import owner_on_top
from kvolsched.questions.why.asking import is_pending
from kvolsched.scheduler import requests
from kvolsched.world.log import Key

Objects = Mapping[Key, Any]
TEMPLATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")


@attrs.frozen
class Harm:
    """What is worse in one world than in another.

    Args:
        waiting: pods by which more pods of their owner wait.
        gone: pods that had a node, and that nobody made again.
        restarted: pods with a node of which only another pod of their owner is left, by the owner in words.
        lost_claims: claims that lost their volume.
        data: volumes whose files are gone or left behind, in words.
        smaller: which workloads are gone or have fewer replicas, which budgets are no longer kept, in words.
        weaker: what pods asked for and no longer do, or less of it, in words.
    """

    waiting: tuple[Key, ...] = ()
    gone: tuple[Key, ...] = ()
    restarted: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    lost_claims: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    smaller: tuple[str, ...] = ()
    weaker: tuple[str, ...] = ()

    @property
    def promises(self) -> tuple[str, ...]:
        """What workloads or budgets promised and no longer do, in words."""
        return (*self.smaller, *self.weaker)


def harm(before: Objects, after: Objects, objects: Objects, but: Key | None = None) -> Harm:
    """Return what is worse in one world than in another.

    Args:
        before, after: the objects of the two worlds.
        objects: the objects from which both came; owners that are gone since are found there.
        but: a pod that does not count among those that wait.
    """
    pods, pods_after = pods_among(before), pods_among(after)
    known = lost_claims(before)
    return Harm(
        tuple(_more_waiting(pods, pods_after, objects, but)),
        tuple(_gone(pods, pods_after, objects)),
        _restarted(pods, pods_after, objects),
        tuple(name for name in lost_claims(after) if name not in known),
        tuple(_lost_data(before, after)),
        tuple(_smaller(before, after)),
        tuple(_weaker(before, after)),
    )


def pods_among(objects: Objects) -> dict[Key, Any]:
    """Return the pods among objects."""
    return {key: obj for key, obj in objects.items() if key.kind == "Pod"}


def identity(pod: Any, objects: Objects) -> str:
    """Return what identifies a pod's owner on top; a pod without one, or with a name that its owner gives again and
    again, is told from all others by its name.
    """
    owner = owner_on_top(pod, objects)
    owner = None if owner is not None and owner.kind == "StatefulSet" else owner
    return f"{pod.metadata.namespace} {owner or pod.metadata.name}"


def lost_claims(objects: Objects) -> tuple[str, ...]:
    """Return the claims in phase Lost, as `namespace/name`, sorted."""
    claims = ((key, obj) for key, obj in objects.items() if key.kind == "PersistentVolumeClaim")
    return tuple(sorted(f"{key.namespace}/{key.name}" for key, claim in claims if claim.status.phase == "Lost"))


def _gone(before: Objects, after: Objects, objects: Objects) -> Iterator[Key]:
    """Yield the pods on nodes that nobody replaced: neither by one of the same name, nor by one of their owner."""
    made = Counter(identity(pod, objects) for key, pod in after.items() if key not in before or (
        pod.spec.node_name and not before[key].spec.node_name))  # fmt: skip
    for key, pod in sorted(before.items()):
        if key not in after and pod.spec.node_name and not pod.terminal:
            if made[identity(pod, objects)] == 0:
                yield key
            made[identity(pod, objects)] -= 1


def _restarted(before: Objects, after: Objects, objects: Objects) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for key, pod in sorted(before.items()):
        there, first = after.get(key), objects.get(key)
        same = there is not None and there.metadata.uid == pod.metadata.uid
        kept = first is not None and first.metadata.uid == pod.metadata.uid  # else it is made anew in both worlds
        owner = owner_on_top(pod, objects)
        if kept and pod.spec.node_name and not pod.terminal and not same and owner is not None:
            found.setdefault(str(owner), []).append(f"{key.namespace}/{key.name}")
    return {owner: tuple(names) for owner, names in found.items()}


def _more_waiting(before: Objects, after: Objects, objects: Objects, but: Key | None) -> list[Key]:
    """Return the pods by which more pods of their owner wait than before, sorted; pods of one owner are alike."""
    waited = Counter(identity(pod, objects) for pod in before.values() if is_pending(pod))
    waiting = sorted((key for key, pod in after.items() if is_pending(pod) and key != but),
                     key=lambda key: (key in before and is_pending(before[key]), key))  # fmt: skip
    counts = Counter(identity(after[key], objects) for key in waiting)
    found = []
    for key in waiting:
        owner = identity(after[key], objects)
        is_next = key not in before and owner.endswith(f" {key.name}")  # of a StatefulSet that goes on
        if counts[owner] > waited[owner] and not is_next:
            counts[owner] -= 1
            found.append(key)
    return sorted(found)


def _lost_data(before: Objects, after: Objects) -> Iterator[str]:
    """Yield the volumes of claims that are deleted, and those whose claim has another volume or none now."""
    for key, claim in sorted(before.items()):
        if key.kind != "PersistentVolumeClaim" or not volumes.is_bound(claim):
            continue
        name, there = claim.spec.volume_name, after.get(key)
        if Key("PersistentVolume", "", name) in before and Key("PersistentVolume", "", name) not in after:
            yield f"{name} of claim {volumes.claim_key(claim)} is gone with its files"
        elif there is None or there.spec.volume_name != name:
            yield f"the files of claim {volumes.claim_key(claim)} are left behind on {name}"


def _smaller(before: Objects, after: Objects) -> Iterator[str]:
    """Yield which workloads of a user are gone or have fewer replicas, and which budgets are no longer kept."""
    for key, old in sorted(before.items()):
        new, name = after.get(key), f"{key.kind} {key.name}"
        if key.kind == "PodDisruptionBudget" and new is not None:
            lacks = [each.status.desired_healthy - each.status.current_healthy for each in (old, new)]
            if lacks[1] > max(0, lacks[0]):
                yield f"{name} has {new.status.current_healthy} healthy pods of {new.status.desired_healthy}"
        elif key.kind in TEMPLATED and old.metadata.controller is None:
            asked, asks = (getattr(getattr(each, "spec", None), "replicas", None) for each in (old, new))
            if new is None:
                yield f"{name} is gone"
            elif asked is not None and asks is not None and asks < asked:
                yield f"{name} asks for {counted(asks, 'replica')} instead of {asked}"


def _weaker(before: Objects, after: Objects) -> Iterator[str]:
    """Yield what a workload or a bare pod asked for in one world and does not in the other."""
    for key, old in sorted(before.items()):
        new, name = after.get(key), f"{key.kind} {key.name}"
        if new is None or new == old or old.metadata.controller is not None:
            continue
        if key.kind in TEMPLATED:
            yield from _asks_less(name, old.spec.template.spec, new.spec.template.spec)
        elif key.kind == "Pod":
            yield from _asks_less(name, old.spec, new.spec)
        elif key.kind == "PersistentVolumeClaim":
            less = [mode for mode in old.spec.access_modes if mode not in new.spec.access_modes]
            yield from [f"claim {key.name} no longer asks for {', '.join(less)}"] if less else ()


def _asks_less(name: str, old: PodSpec, new: PodSpec) -> Iterator[str]:
    """Yield what a pod's spec asks for no longer, or less: spread, nodes, terms of affinity, amounts."""
    spread = [{each.topology_key: each.max_skew for each in spec.topology_spread_constraints if each.is_hard}
              for spec in (old, new)]  # fmt: skip
    for key, skew in spread[0].items():
        if (now := spread[1].get(key, 0)) > skew or not now:
            instead = f", only {now}" if now else ""
            yield f"{name} no longer requires maxSkew {skew} over {key}{instead}"
    for label in old.node_selector:
        if label not in new.node_selector:
            yield f"{name} no longer selects nodes by {label}"
    if old.required_node_affinity is not None and new.required_node_affinity is None:
        yield f"{name} no longer requires its node affinity"
    for side in ("pod_affinity", "pod_anti_affinity"):
        terms = [getattr(getattr(spec.affinity, side, None), "required", ()) for spec in (old, new)]
        for term in terms[0]:
            if term not in terms[1]:
                yield f"{name} no longer requires its {side.replace('_', ' ')} over {term.topology_key}"
    ports = [{port.host_port for container in spec.containers for port in container.ports if port.host_port}
             for spec in (old, new)]  # fmt: skip
    for port in sorted(ports[0] - ports[1]):
        yield f"{name} no longer listens on port {port} of its nodes: who calls it needs a Service"
    asks = [requests.pod_requests(spec).amounts for spec in (old, new)]
    for resource, amount in asks[0].items():
        if asks[1].get(resource, 0) < amount:
            less, whole = (requests.format_amount(resource, ask.get(resource, 0)) for ask in reversed(asks))
            yield f"{name} asks for {less} {resource} instead of {whole}"
