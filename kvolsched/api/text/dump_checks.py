"""Check a dump (the output of `kubectl get`) as a whole: missing kinds, contradicting objects, and when it was taken.

Nothing here refuses or changes an object, or knows a scheduling rule; every finding is one sentence.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..kinds.kind import KINDS_BY_NAME, Kind
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim
from .fault import Problem

# The kinds that decide where pods and volumes go, and what a dump without objects of the kind does not tell.
DECIDING_KINDS: tuple[tuple[str, str], ...] = (
    ("Node", "which nodes exist: no pod fits anywhere"),
    ("Pod", "which pods run on the nodes: nodes look empty, and spreading and pod affinity see no pods"),
    ("PersistentVolume", "where bound volumes can be reached: their claims look lost, and no claim finds a volume"),
    ("PersistentVolumeClaim", "which storage pods request: pods look as if their claims were missing"),
    ("StorageClass", "whether claims wait for a pod, and who provisions their volumes where"),
    ("CSINode", "how many volumes a node can attach, and which topology its drivers know: limits are not checked"),
    ("CSIDriver", "which drivers publish their capacity: capacity for new volumes is not checked"),
    ("CSIStorageCapacity", "the capacity of drivers: a driver that publishes capacity looks as if it had none"),
    ("VolumeAttachment", "which volumes are still attached to a node without a pod: limits may be reached earlier"),
    ("Namespace", "the labels of namespaces: a namespaceSelector of pod affinity matches none"),
    ("Service", "which pods a Service selects: pods without spread constraints are spread by their owners only"),
    ("ReplicaSet", "the selectors of ReplicaSets: pods without spread constraints may be spread differently"),
    ("StatefulSet", "the selectors of StatefulSets: pods without spread constraints may be spread differently"),
    ("PriorityClass", "the priorities of pods that will be created from a class"),
    ("PodDisruptionBudget", "which pods preemption spares if it can"),
)
OTHER_KINDS = (  # they decide about pods that will be created, or help to understand
    "Deployment", "DaemonSet", "ReplicationController", "RuntimeClass", "LimitRange", "ResourceQuota", "Event",
)  # fmt: skip
DUMP_COMMAND = (
    "kubectl get "
    + ",".join(KINDS_BY_NAME[name].plural for name in (*(name for name, _ in DECIDING_KINDS), *OTHER_KINDS))
    + " -A -o json > dump.json"
)


@attrs.frozen
class MissingKind:
    """A kind without objects in a dump: the cluster has none, or the dump was taken without the kind."""

    kind: Kind
    cannot_tell: str

    def __str__(self) -> str:
        return f"no {self.kind.plural}: the dump does not tell {self.cannot_tell}"


def missing_kinds(objects: Iterable[Any]) -> tuple[MissingKind, ...]:
    """Return the deciding kinds without objects, in the order of their importance."""
    present = {item.kind for item in objects}
    return tuple(MissingKind(KINDS_BY_NAME[name], words) for name, words in DECIDING_KINDS if name not in present)


def find_contradictions(objects: Sequence[Any]) -> Iterator[tuple[int, Problem]]:
    """Yield the contradictions in a dump: the index of an object, and its problem."""
    by_kind: IndexByKind = {}
    for index, item in enumerate(objects):
        namespaced = KINDS_BY_NAME[item.kind].namespaced
        namespace = (item.metadata.namespace or "default") if namespaced else ""
        by_kind.setdefault(item.kind, {})[namespace, item.metadata.name] = index
    yield from _check_claims(objects, by_kind)
    yield from _check_nodes(objects, by_kind)
    yield from _check_owners(objects)


IndexByKind = dict[str, dict[tuple[str, str], int]]  # kind -> (namespace, name) -> index of the object


def _check_claims(objects: Sequence[Any], by_kind: IndexByKind) -> Iterator[tuple[int, Problem]]:
    """Find claims whose volume is missing, is named by another claim, or belongs to another claim."""
    volumes = by_kind.get("PersistentVolume", {})
    first: dict[str, str] = {}
    for (namespace, name), index in by_kind.get("PersistentVolumeClaim", {}).items():
        claim: PersistentVolumeClaim = objects[index]
        volume = claim.spec.volume_name
        if not volume:
            continue
        if ("", volume) not in volumes:
            message = f"names the volume {volume}, which is not in the dump"
            yield index, Problem(("spec", "volumeName"), "missing", volume, message)
            continue
        claim_name = f"{namespace}/{name}"
        other = first.setdefault(volume, claim_name)
        if other != claim_name:
            message = f"names the volume {volume}, and so does the claim {other}: a volume is bound to one claim"
            yield index, Problem(("spec", "volumeName"), "shared", volume, message)
            continue
        stored_volume: PersistentVolume = objects[volumes["", volume]]
        claim_ref = stored_volume.spec.claim_ref
        if claim_ref is not None and (claim_ref.namespace or "default", claim_ref.name) != (namespace, name):
            message = f"names the volume {volume}, which says that it belongs to {claim_ref.namespace}/{claim_ref.name}"
            yield index, Problem(("spec", "volumeName"), "shared", volume, message)


def _check_nodes(objects: Sequence[Any], by_kind: IndexByKind) -> Iterator[tuple[int, Problem]]:
    """Find nodes without labels, and pods on nodes that are missing."""
    nodes = by_kind.get("Node", {})
    for index in nodes.values():
        if not objects[index].metadata.labels:
            message = "has no labels: it is in no topology domain, and no selector chooses it"
            yield index, Problem(("metadata", "labels"), "empty", None, message)
    for index in by_kind.get("Pod", {}).values() if nodes else ():
        name = objects[index].spec.node_name
        if name and ("", name) not in nodes:
            message = f"runs on the node {name}, which is not in the dump"
            yield index, Problem(("spec", "nodeName"), "missing", name, message)


def _check_owners(objects: Sequence[Any]) -> Iterator[tuple[int, Problem]]:
    """Find objects that own themselves through their owners; each cycle is reported once."""
    index_by_uid = {item.metadata.uid: index for index, item in enumerate(objects) if item.metadata.uid}
    visited: set[str] = set()
    for start in index_by_uid:
        path: list[str] = []
        stack = [start]
        while stack:  # depth first; a step back is marked by ""
            uid = stack.pop()
            if not uid:
                visited.add(path.pop())
            elif uid in path:
                cycle = [objects[index_by_uid[owner_uid]] for owner_uid in path[path.index(uid) :]]
                names = [f"{KINDS_BY_NAME[item.kind].alias}/{item.metadata.name}" for item in cycle]
                message = f"owns itself: {' is owned by '.join([*names, names[0]])}"
                yield index_by_uid[uid], Problem(("metadata", "ownerReferences"), "cycle", names[0], message)
            elif uid not in visited:
                path.append(uid)
                owners = objects[index_by_uid[uid]].metadata.owner_references
                stack += ["", *(owner.uid for owner in owners if owner.uid in index_by_uid)]


def newest_time(objects: Iterable[Any]) -> datetime | None:
    """Estimate when a dump was taken: the newest creation, condition, start or event time of its objects, or None.

    Deletion timestamps lie in the future and are not counted.
    """
    return max(filter(None, map(_parse_time, (text for item in objects for text in _times(item)))), default=None)


def _times(item: Any) -> Iterator[Any]:
    yield item.metadata.creation_timestamp
    if item.kind == "Event":
        yield from (item.first_timestamp, item.last_timestamp, item.rest.get("eventTime"))
        yield (item.rest.get("series") or {}).get("lastObservedTime")
        return
    status = getattr(item, "status", None)
    yield getattr(status, "start_time", None)
    for condition in getattr(status, "conditions", ()):
        yield from (condition.last_transition_time, condition.rest.get("lastHeartbeatTime"))


def _parse_time(text: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text).upper()) if text else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
