"""What a dump as a whole says: which of the kinds that decide scheduling it lacks, and what in it contradicts itself.

A dump is what `kubectl get` wrote of a cluster. It is taken as it is: nothing here refuses or changes an object, and
no scheduling rule is known; every finding is one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from ..kinds.kind import KINDS_BY_NAME, Kind
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim
from .fault import Problem

# The kinds that decide where a pod and its volumes go, and what a dump without any object of a kind cannot tell.
DECIDING_KINDS: tuple[tuple[str, str], ...] = (
    ("Node", "there is no place for any pod, so every answer is that none fits"),
    ("Pod", "what runs on the nodes: they look empty, and nothing spreads, attracts or keeps away"),
    ("PersistentVolume", "where bound volumes can be reached: their claims look lost, and no claim finds a volume"),
    ("PersistentVolumeClaim", "what pods ask of storage: pods that name claims look as if these were missing"),
    ("StorageClass", "whether claims wait for a pod, and who makes their volumes where"),
    ("CSINode", "how many volumes a node can attach, and which topology its drivers know: limits are not checked"),
    ("CSIDriver", "which drivers tell their capacity: room for new volumes is not checked"),
    ("CSIStorageCapacity", "how much room drivers have: a driver that tells its capacity looks as if it had none"),
    ("VolumeAttachment", "which volumes are still attached to a node without a pod: limits may be reached earlier"),
    ("Namespace", "the labels of namespaces: a namespaceSelector of pod affinity matches none"),
    ("Service", "which pods a Service groups: pods without spread constraints are spread by their owners alone"),
    ("ReplicaSet", "the selectors of ReplicaSets: pods without spread constraints may be spread otherwise"),
    ("StatefulSet", "the selectors of StatefulSets: pods without spread constraints may be spread otherwise"),
    ("PriorityClass", "the priorities of pods that are yet to be created from a class"),
    ("PodDisruptionBudget", "which pods preemption spares when it can"),
)
OTHER_KINDS = ("Deployment", "DaemonSet", "ReplicationController", "Event")  # hardly decide anything, but tell the story
DUMP_COMMAND = (
    "kubectl get "
    + ",".join(KINDS_BY_NAME[name].plural for name in (*(name for name, _ in DECIDING_KINDS), *OTHER_KINDS))
    + " -A -o json > dump.json"
)


@attrs.frozen
class MissingKind:
    """A kind of which a dump holds no object: the cluster has none, or nobody asked for it."""

    kind: Kind
    cannot_tell: str

    def __str__(self) -> str:
        return f"no {self.kind.plural}: the dump does not tell {self.cannot_tell}"


def missing_kinds(objects: Iterable[Any]) -> tuple[MissingKind, ...]:
    """Return the deciding kinds of which there is no object, in the order of their weight."""
    present = {item.kind for item in objects}
    return tuple(MissingKind(KINDS_BY_NAME[name], words) for name, words in DECIDING_KINDS if name not in present)


def find_contradictions(objects: Sequence[Any]) -> Iterator[tuple[int, Problem]]:
    """Yield what contradicts itself in a dump: the place of the object among `objects`, and what is said of it."""
    by_kind: dict[str, dict[tuple[str, str], int]] = {}
    for place, item in enumerate(objects):
        by_kind.setdefault(item.kind, {})[_named(item)] = place
    yield from _volumes(objects, by_kind)
    yield from _nodes(objects, by_kind)
    yield from _owners(objects)


def _named(item: Any) -> tuple[str, str]:
    kind = KINDS_BY_NAME[item.kind]
    return (item.metadata.namespace or "default") if kind.namespaced else "", item.metadata.name


IndexByKind = dict[str, dict[tuple[str, str], int]]


def _volumes(objects: Sequence[Any], by_kind: IndexByKind) -> Iterator[tuple[int, Problem]]:
    """A claim names a volume that is not there, two claims name one volume, or a claim one that is another's."""
    volumes = by_kind.get("PersistentVolume", {})
    first: dict[str, str] = {}
    for (namespace, name), place in by_kind.get("PersistentVolumeClaim", {}).items():
        claim: PersistentVolumeClaim = objects[place]
        volume = claim.spec.volume_name
        if not volume:
            continue
        if ("", volume) not in volumes:
            words = f"names the volume {volume}, which is not in the dump"
            yield place, Problem(("spec", "volumeName"), "missing", volume, words)
            continue
        full = f"{namespace}/{name}"
        other = first.setdefault(volume, full)
        if other != full:
            words = f"names the volume {volume}, and so does the claim {other}: a volume is bound to one claim"
            yield place, Problem(("spec", "volumeName"), "shared", volume, words)
            continue
        bound: PersistentVolume = objects[volumes["", volume]]
        owner = bound.spec.claim_ref
        if owner is not None and (owner.namespace or "default", owner.name) != (namespace, name):
            words = f"names the volume {volume}, which says that it belongs to {owner.namespace}/{owner.name}"
            yield place, Problem(("spec", "volumeName"), "shared", volume, words)


def _nodes(objects: Sequence[Any], by_kind: IndexByKind) -> Iterator[tuple[int, Problem]]:
    """A node has no labels, or a pod runs on a node that is not there."""
    nodes = by_kind.get("Node", {})
    for place in nodes.values():
        if not objects[place].metadata.labels:
            words = "has no labels: it is in no topology domain, and no selector chooses it"
            yield place, Problem(("metadata", "labels"), "empty", None, words)
    for place in by_kind.get("Pod", {}).values() if nodes else ():
        name = objects[place].spec.node_name
        if name and ("", name) not in nodes:
            words = f"runs on the node {name}, which is not in the dump"
            yield place, Problem(("spec", "nodeName"), "missing", name, words)


def _owners(objects: Sequence[Any]) -> Iterator[tuple[int, Problem]]:
    """An object is, through its owners, its own owner: told once a circle."""
    places = {item.metadata.uid: place for place, item in enumerate(objects) if item.metadata.uid}
    done: set[str] = set()
    for start in places:
        path: list[str] = []
        at = [start]
        while at:  # depth first; a step back is marked by ""
            uid = at.pop()
            if not uid:
                done.add(path.pop())
            elif uid in path:
                circle = [objects[places[one]] for one in path[path.index(uid) :]]
                names = [f"{KINDS_BY_NAME[item.kind].alias}/{item.metadata.name}" for item in circle]
                words = f"owns itself: {' is owned by '.join([*names, names[0]])}"
                yield places[uid], Problem(("metadata", "ownerReferences"), "cycle", names[0], words)
            elif uid not in done:
                path.append(uid)
                owners = objects[places[uid]].metadata.owner_references
                at += ["", *(owner.uid for owner in owners if owner.uid in places)]
