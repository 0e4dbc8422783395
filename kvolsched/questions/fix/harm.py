"""What a change costs others, and how good it is in three stars: what waited runs, nobody is harmed, nothing given up.

It compares the objects of two worlds and asks nothing else, so whatever leads from one to the other is judged alike.
For the stars both are at rest, one of them untouched; a star counts only with those before it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.node import HOSTNAME_LABEL
from ...api.kinds.pod import PodSpec
from ...api.notebook_output import PrintedAnswer
from ...api.words import counted, listed
from ...scheduler import requests
from ...scheduler.requests import allocatable, format_amount
from ...world.log import Key
from ..why.asking import is_pending
from .nodes import PLACES
from .owners import owner_on_top

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
            asked, asks = (getattr(getattr(each, "spec", None), "replicas", None) or 0 for each in (old, new))
            if new is None:
                yield f"{name} is gone"
            elif asks < asked:
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


MOST = 3
_OF_A_PLACE = frozenset({*PLACES, HOSTNAME_LABEL})


@attrs.frozen(repr=False)
class Stars(PrintedAnswer):
    """How good a change is; printed, its stars and what the next one lacks.

    Args:
        waiting: what still waits, or waits instead, in words.
        harmed: which pods, workloads or data paid for it, and what is now said of a node that is not so, in words.
        given_up: what pods no longer ask for, in words.
    """

    waiting: tuple[str, ...] = ()
    harmed: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many stars: 0 to 3."""
        return next((number for number, faults in enumerate(self._faults) if faults), MOST)

    @property
    def _faults(self) -> tuple[tuple[str, ...], ...]:
        return self.waiting, self.harmed, self.given_up

    @property
    def drawn(self) -> str:
        """The stars as three characters."""
        return "★" * self.count + "☆" * (MOST - self.count)

    @property
    def sentence(self) -> str:
        """What the next star lacks."""
        if self.count == MOST:
            return "it runs, nobody is harmed, nothing is given up"
        lacks = listed(list(self._faults[self.count]))
        return lacks if self.count == 0 else f"it runs, but {lacks}"

    def __repr__(self) -> str:
        return f"{self.drawn} {self.sentence}"


def stars(untouched: Objects, after: Objects, start: Objects, cost: Harm | None = None) -> Stars:
    """Return how good a change is.

    Args:
        untouched: the objects at rest without the change.
        after: the objects at rest with it.
        start: the objects from which both came.
        cost: what the change costs others, if that is known.
    """
    cost = harm(untouched, after, start) if cost is None else cost
    gone = (f"nobody makes {key.name} again" for key in cost.gone)
    lost = (f"claim {name} lost its volume" for name in cost.lost_claims)
    harmed = (*gone, *lost, *cost.data, *cost.smaller, *lies(untouched, after))
    return Stars(tuple(_waiting(untouched, after, start, cost)), harmed, cost.weaker)


def _waiting(untouched: Objects, after: Objects, start: Objects, cost: Harm) -> Iterator[str]:
    """Yield which of those that waited do not run, and the pods that wait instead."""
    pods = pods_among(untouched), pods_among(after)
    waited = {identity(pod, start): key.name for key, pod in sorted(pods[0].items()) if is_pending(pod)}
    runs = [Counter(identity(pod, start) for pod in each.values() if pod.spec.node_name) for each in pods]
    waits = {identity(pod, start) for pod in pods[1].values() if is_pending(pod)}
    for owner, name in waited.items():
        if owner in waits:
            yield f"{name} still waits"
        elif runs[1][owner] < max(1, runs[0][owner]):
            yield f"{name} is gone and does not run"
    for key in cost.waiting:
        if identity(after[key], start) not in waited:
            yield f"{key.name} waits now: the lack has only moved"


def lies(before: Objects, after: Objects) -> Iterator[str]:
    """Yield what the API says of machines and did not: another place, another kind, more room than they have."""
    for key, old in sorted(before.items()):
        new = after.get(key)
        if key.kind != "Node" or new is None or new == old:
            continue
        for label, was in sorted(old.metadata.labels.items()):
            if new.metadata.labels.get(label) != was:
                stands = f"stands in {was} as before, and so do its disks: a label moves no machine"
                is_as_before = f"is {label.rpartition('/')[2]}={was} as before, whatever its labels say"
                yield f"{key.name} {stands if label in _OF_A_PLACE else is_as_before}"
        has, says = (allocatable(each.status.allocatable) for each in (old, new))
        for resource, amount in sorted(says.items()):
            if amount > has.get(resource, 0):
                words = (format_amount(resource, each) for each in (amount, has.get(resource, 0)))
                yield "{} says {} {resource} and has {}".format(key.name, *words, resource=resource)
