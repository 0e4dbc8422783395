"""VolumeRestrictions rejects second users: of an exclusive disk on a node, of a ReadWriteOncePod claim anywhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from ...api.kinds.node import Node
from ...api.kinds.pod import Pod, Volume
from ...world.log import Key
from ..columns.column import Codes
from ..columns.exclusive_use import claim_resource, exclusive_disk
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, Objects
from ..framework.evidence import Evidence, Sides
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, PreFilterReject, Reason, Reject, Skip
from ..volume_clauses import is_claim_of_pod, named_claims, volume_clauses

SINGLE_POD_MODE = "ReadWriteOncePod"


def _shared_volumes(pod: Pod, old: Pod, _new: None) -> bool:
    """Say whether a deleted pod used a claim or a disk of this one."""
    if old.metadata.namespace == pod.metadata.namespace and not set(named_claims(old)).isdisjoint(named_claims(pod)):
        return True
    return any(conflicts(volume, other) for volume in pod.spec.volumes for other in old.spec.volumes)


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each volume: whether other pods share it."""
    for clause in volume_clauses(pod, columns):
        title, kind = f"Another pod uses {clause.sort} {clause.about}", f"Another pod uses the {clause.sort}"
        words = f"another pod uses {clause.sort} {clause.about}"
        yield attrs.evolve(clause, words=words, title=title, kind=kind)


def single_pod_mode(pod: Pod, objects: Objects) -> Iterator[str]:
    """Yield the access mode that is not read without claims, if a claim of a pod has it."""
    claims = (objects.get(Key("PersistentVolumeClaim", pod.metadata.namespace, name)) for name in pod.claim_names())
    yield from [f"{SINGLE_POD_MODE} of its claims"] if any(
        claim is not None and SINGLE_POD_MODE in claim.spec.access_modes for claim in claims) else ()  # fmt: skip


@attrs.frozen
class DiskAttached(Evidence):
    """A disk that cannot be shared is attached for a pod (`namespace/name`) on the node."""

    disk: str
    pod: str

    def __str__(self) -> str:
        return f"{self.disk} is attached for pod {self.pod}"

    def short(self) -> Sides:
        return Sides(f"used by {self.pod}")


@attrs.frozen
class ClaimInUse(Evidence):
    """Pods use a claim that is for a single pod: each as its name, its node and the claim."""

    users: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        used = "; ".join(f"claim {claim} is in use by pod {pod} on {node}" for pod, node, claim in self.users)
        return f"{used} ({SINGLE_POD_MODE}: for one pod at a time)"

    def short(self) -> Sides:
        return Sides(f"used by {', '.join(f'{pod} on {node}' for pod, node, _ in self.users)}")


@attrs.frozen
class VolumeRestrictions:
    """Rejects nodes with a disk that cannot be shared, and every node while a single-pod claim is in use.

    Args:
        claims_of: pod -> the names of its claims that are looked at.
        unread: (pod, objects) -> what it does not read of a pod.
        document_name: the name that a document gives the plugin.
    """

    name: ClassVar[str] = "VolumeRestrictions"
    card: ClassVar[Card] = Card(
        "R", "storage", looks_at="disks that one pod may use", clauses=_clauses, unread=single_pod_mode,
    )
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    reads_other_nodes: ClassVar[bool] = True
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod that uses one of the pod's claims or disks leaves", _shared_volumes, Action.DELETE),
        QueueingHint("Node", "a node is added", action=Action.ADD),
        QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added",
                     lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD),
    )

    disk_conflict: Reason = Reason(0, "node(s) had no available disk", Code.UNSCHEDULABLE)
    claim_in_use: Reason = Reason(
        1,
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another"
        " pod",
        Code.UNSCHEDULABLE,
    )
    claims_of: Callable[[Pod], Sequence[str]] = named_claims
    unread: Callable[[Pod, Objects], Iterable[str]] = lambda _pod, _objects: ()
    document_name: str = ""

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """Skip a pod whose volumes cannot conflict with others; reject one with a claim that does not exist."""
        if not pod.spec.volumes:
            return SKIP
        for name in self.claims_of(pod):
            if seen.claim(pod.metadata.namespace, name) is None:
                message = f'persistentvolumeclaim "{name}" not found'
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)
        may_conflict = any(map(exclusive_disk, pod.spec.volumes)) or _single_pod_users(pod, self.claims_of(pod), seen)
        return None if may_conflict else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """No pod on the node has one of the disks, unless both only read; no pod anywhere uses a single-pod claim."""
        for volume in pod.spec.volumes:
            for other in seen.pods_on(node.metadata.name):
                if any(conflicts(volume, held) for held in other.spec.volumes):
                    disk_name = " ".join(exclusive_disk(volume) or ())
                    holder = f"{other.metadata.namespace}/{other.metadata.name}"
                    return self.disk_conflict.reject(DiskAttached(disk_name, holder))
        if users := _single_pod_users(pod, self.claims_of(pod), seen):
            return self.claim_in_use.reject(ClaimInUse(tuple(users)))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Judge the nodes where a pod has one of the disks; a single-pod claim in use rejects all nodes."""
        codes: Codes = np.zeros(len(columns.nodes.names), np.uint16)
        if _single_pod_users(pod, self.claims_of(pod), columns.seen):
            codes += self.claim_in_use.where(columns.nodes.live.array)
        for volume in pod.spec.volumes:
            wanted = exclusive_disk(volume)
            for node, users in columns.seen.exclusive_use.users(wanted).items() if wanted is not None else ():
                others = (columns.seen.pod(key) for key in users)
                if node in columns.nodes.row_of and any(
                    conflicts(volume, held) for other in others if other is not None for held in other.spec.volumes
                ):
                    codes[columns.nodes.row_of[node]] = 1 << self.disk_conflict.bit
        return codes


def _single_pod_users(pod: Pod, claims: Sequence[str], seen: Snapshot) -> list[tuple[str, str, str]]:
    """Return the users of the pod's ReadWriteOncePod claims of these names, on nodes; none if as many were removed.

    A claim in use counts once, however many pods use it. In preemption's dry run each removed pod subtracts one for
    each claim of such a name, so a claim may seem free while others use it; each nominated pod that is tried on the
    node adds one (both whatever the namespace: v1.36.2).
    """
    namespace = pod.metadata.namespace
    single = {
        name
        for name in claims
        if (claim := seen.claim(namespace, name)) is not None and SINGLE_POD_MODE in claim.spec.access_modes
    }
    if not single:
        return []
    removed, added = (
        [(other, name) for other in pods for name in named_claims(other) if name in single]
        for pods in (seen.removed_pods, seen.added_pods)
    )
    guests = {Key("Pod", other.metadata.namespace, other.metadata.name) for other, _ in added}
    users = {
        name: [
            (f"{key.namespace}/{key.name}", node, name)
            for node, keys in seen.exclusive_use.users(claim_resource(namespace, name)).items()
            if node in seen.nodes.row_of
            for key in keys - guests
        ]
        for name in single
    }
    gone = {name for other, name in removed if other.metadata.namespace == namespace}
    in_use = sum(bool(users[name]) or name in gone for name in single)
    if in_use + len(added) <= len(removed):
        return []
    tried = [(f"{other.metadata.namespace}/{other.metadata.name}", other.spec.node_name, name)
             for other, name in added]
    return sorted([*(user for names in users.values() for user in names), *tried])


def conflicts(volume: Volume, other: Volume) -> bool:
    """Say whether two volumes are the same disk and cannot both be attached to a node.

    An EBS disk never can; a GCE disk, an iSCSI target and a Ceph image with a common monitor can if both only read.
    """
    wanted = exclusive_disk(volume)
    if wanted is None or wanted != exclusive_disk(other):
        return False
    if volume.rbd is not None and other.rbd is not None and set(volume.rbd.monitors).isdisjoint(other.rbd.monitors):
        return False
    return not (_only_reads(volume) and _only_reads(other))


def _only_reads(volume: Volume) -> bool:
    """Say whether a GCE disk, an iSCSI target or a Ceph image is only read."""
    disks = (volume.gce_persistent_disk, volume.iscsi, volume.rbd)
    return any(disk is not None and disk.read_only for disk in disks)


NO_DISK_CONFLICT = VolumeRestrictions(  # as in 1.11, when a claim was for any number of pods
    claims_of=lambda _pod: (), unread=single_pod_mode, document_name="NoDiskConflict"
)
