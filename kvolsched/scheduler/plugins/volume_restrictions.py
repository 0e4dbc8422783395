"""VolumeRestrictions: no disk is attached twice, and a ReadWriteOncePod claim serves one pod in the whole cluster."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.pod_volume import Volume
from kvolsched.scheduler.columns.arrays import Codes
from kvolsched.scheduler.columns.exclusive_use import claim_resource, exclusive_disk
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, PreFilterReject, Reason, Reject, Skip
from kvolsched.scheduler.pod_claims import is_claim_of_pod, named_claims

ONE_POD = "ReadWriteOncePod"


def _frees(pod: Pod, old: Pod, _new: None) -> bool:
    """Whether a pod that has gone shared a claim or a disk with this one."""
    if old.metadata.namespace == pod.metadata.namespace and not set(named_claims(old)).isdisjoint(named_claims(pod)):
        return True
    return any(conflicts(one, other) for one in pod.spec.volumes for other in old.spec.volumes)


@attrs.frozen
class VolumeRestrictions:
    """Rejects nodes with a disk that cannot be shared, and every node while a single-pod claim is in use."""

    name: ClassVar[str] = "VolumeRestrictions"
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    reads_other_nodes: ClassVar[bool] = True
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod that uses one of its claims or disks leaves", _frees, Action.DELETE),
        QueueingHint("Node", "a node appears", action=Action.ADD),
        QueueingHint(
            "PersistentVolumeClaim",
            "one of its claims appears",
            lambda pod, _old, new: is_claim_of_pod(pod, new),
            Action.ADD,
        ),
    )

    no_disk: Reason = Reason(0, "node(s) had no available disk", Code.UNSCHEDULABLE)
    in_use: Reason = Reason(
        1,
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another"
        " pod",
        Code.UNSCHEDULABLE,
    )

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """Nothing that could clash: nothing to do. A claim that does not exist rejects the pod."""
        if not pod.spec.volumes:
            return SKIP
        for name in named_claims(pod):
            if seen.claim(pod.metadata.namespace, name) is None:
                message = f'persistentvolumeclaim "{name}" not found'
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)
        clashes = any(map(exclusive_disk, pod.spec.volumes)) or _in_use(pod, seen)
        return None if clashes else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """No pod of the node has one of the disks, unless both only read; no pod anywhere uses a single-pod claim."""
        for volume in pod.spec.volumes:
            for other in seen.pods_on(node.metadata.name):
                if any(conflicts(volume, there) for there in other.spec.volumes):
                    thing = " ".join(exclusive_disk(volume) or ())
                    holder = f"pod {other.metadata.namespace}/{other.metadata.name}"
                    return self.no_disk.reject(Evidence(thing, "is attached for", holder))
        if users := _in_use(pod, seen):
            return self.in_use.reject(Evidence(f"{ONE_POD} claim", "is used by", ", ".join(users)))
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same, asked only of nodes where somebody has such a disk; what is in use anywhere concerns all nodes."""
        codes: Codes = np.zeros(len(at.nodes.names), np.uint16)
        if _in_use(pod, at.seen):
            codes += self.in_use.where(at.nodes.live.array)
        for volume in pod.spec.volumes:
            thing = exclusive_disk(volume)
            for node, users in at.seen.exclusive_use.users(thing).items() if thing is not None else ():
                others = (at.seen.pod(key) for key in users)
                if node in at.nodes.row_of and any(
                    conflicts(volume, there) for other in others if other is not None for there in other.spec.volumes
                ):
                    codes[at.nodes.row_of[node]] = 1 << self.no_disk.bit
        return codes


def _in_use(pod: Pod, seen: Snapshot) -> list[str]:
    """Return the pods that use the pod's single-pod claims, with their nodes; none if as many uses were taken away.

    A claim in use counts once, however many pods use it; in a dry run each pod taken away takes one off for each claim
    of such a name, so that the claim may seem free while others still use it (and whatever the namespace: v1.36.2).
    """
    namespace = pod.metadata.namespace
    single = {
        name
        for name in named_claims(pod)
        if (claim := seen.claim(namespace, name)) is not None and ONE_POD in claim.spec.access_modes
    }
    if not single:
        return []
    users = {
        name: [
            f"pod {key.namespace}/{key.name} on {node} ({name})"
            for node, keys in seen.exclusive_use.users(claim_resource(namespace, name)).items()
            if node in seen.nodes.row_of
            for key in keys
        ]
        for name in single
    }
    gone = [(other.metadata.namespace, name) for other in seen.removed_pods for name in named_claims(other) if name in single]
    in_use = sum(bool(users[name]) or (namespace, name) in gone for name in single)
    return sorted(user for some in users.values() for user in some) if in_use > len(gone) else []


def conflicts(one: Volume, other: Volume) -> bool:
    """Say whether two volumes are one disk that cannot be attached for both.

    EBS never; a GCE disk, an iSCSI target and a Ceph image (if they have a monitor in common) if both only read.
    """
    thing = exclusive_disk(one)
    if thing is None or thing != exclusive_disk(other):
        return False
    if one.gce_persistent_disk is not None and other.gce_persistent_disk is not None:
        return not (one.gce_persistent_disk.read_only and other.gce_persistent_disk.read_only)
    if one.iscsi is not None and other.iscsi is not None:
        return not (one.iscsi.read_only and other.iscsi.read_only)
    if one.rbd is not None and other.rbd is not None:
        both_read = one.rbd.read_only and other.rbd.read_only
        return not both_read and not set(one.rbd.monitors).isdisjoint(other.rbd.monitors)
    return True
