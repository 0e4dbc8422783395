"""NodeVolumeLimits: with the pod's volumes a node has no more of a driver's than its CSINode says it takes.

Volumes to be provisioned count as well, so that the limit takes part in the decision (S0, Max PD Count: "this is
another potential reason"), which 1.11 only promised.
"""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from kvolsched.api.kinds.csi import CSINode, VolumeAttachment
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.volume import PersistentVolumeClaim
from kvolsched.scheduler.columns.arrays import Codes, Mask
from kvolsched.scheduler.columns.attachments import (
    AttachedVolume,
    attach_limits,
    attached_volume,
    inline_volume_attached_as,
    volume_uses,
    volumes_of_pod,
)
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, Reason, Reject, Skip
from kvolsched.scheduler.pod_claims import is_claim_of_pod


@attrs.frozen
class NodeVolumeLimits:
    """Rejects nodes that would have too many volumes of some driver.

    Args:
        counts_unbound: volumes that are yet to be bound or made count as well (today, and what S0 promises for GA).
    """

    name: ClassVar[str] = "NodeVolumeLimits"
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    watches: ClassVar[frozenset[str]] = frozenset({"VolumeAttachment"})
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("CSINode", "a node tells its drivers", action=Action.ADD),
        QueueingHint("CSINode", "a limit of a node rises", lambda _pod, old, new: _more(old, new), Action.UPDATE),
        QueueingHint("Pod", "a pod with volumes leaves its node", lambda _pod, old, _new: _may_count(old), Action.DELETE),
        QueueingHint("VolumeAttachment", "a volume is detached", lambda pod, old, _new: _may_free(pod, old), Action.DELETE),
        QueueingHint(
            "PersistentVolumeClaim",
            "one of its claims appears",
            lambda pod, _old, new: is_claim_of_pod(pod, new),
            Action.ADD,
        ),
    )

    counts_unbound: bool = True
    document_name: str = ""
    too_many: Reason = Reason(0, "node(s) exceed max volume count", Code.UNSCHEDULABLE)

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """No claims and no disk that a driver has taken over: nothing to count."""
        return None if _may_count(pod) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Per driver: the volumes of the node's pods and attachments with this pod's new ones stay within the limit."""
        limits = attach_limits(seen.csi_node(node.metadata.name))
        if not limits or not _may_count(pod):
            return OK
        there = {volume for other in seen.pods_on(node.metadata.name) for volume in volumes_of_pod(other, seen)}
        named = (attached_volume(use, seen) for use in seen.attachments.volume_attachments_on(node.metadata.name))
        there |= {volume for volume in named if volume is not None}
        new = self._wanted(pod, seen) - there
        for driver in sorted({volume.driver for volume in new} & limits.keys()):
            attached, more = (sum(volume.driver == driver for volume in some) for some in (there, new))
            if attached + more > limits[driver]:
                words = f"{attached} volumes of {driver} attached + {more} new"
                return self.too_many.reject(
                    Evidence(words, ">", f"limit {limits[driver]}", (attached + more, limits[driver]))
                )
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same over counts kept per driver; where one of the pod's volumes is attached already, one less is new."""
        attachments = at.seen.attachments
        wanted = [volume for volume in self._wanted(pod, at.seen) if attachments.is_limited(volume.driver)]
        rejected: Mask | None = None
        for driver in {volume.driver for volume in wanted}:
            count = attachments.count(driver)
            of_driver = [volume for volume in wanted if volume.driver == driver]
            here = [row for volume in of_driver for row in attachments.rows_with(volume)]
            new = np.full(len(count), len(of_driver))
            np.subtract.at(new, here, 1)
            over = count + new > attachments.limits(driver)
            if here:
                over &= new > 0
            rejected = over if rejected is None else rejected | over
        return None if rejected is None else self.too_many.where(rejected)

    def _wanted(self, pod: Pod, seen: Snapshot) -> frozenset[AttachedVolume]:
        """Return the pod's volumes that count."""
        if self.counts_unbound:
            return volumes_of_pod(pod, seen)
        named = [use for use in volume_uses(pod) if use.claim is None or _is_bound(seen.claim(*use.claim))]
        return frozenset(found for use in named if (found := attached_volume(use, seen)) is not None)


def _may_count(pod: Pod) -> bool:
    """Whether a pod has volumes that can count: claims, also of ephemeral volumes, or disks that drivers took over."""
    return any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None or inline_volume_attached_as(volume) is not None
        for volume in pod.spec.volumes
    )


def _is_bound(claim: PersistentVolumeClaim | None) -> bool:
    return claim is not None and bool(claim.spec.volume_name)


def _more(old: CSINode, new: CSINode) -> bool:
    before = attach_limits(old)
    return any(limit > before.get(driver, limit) for driver, limit in attach_limits(new).items())


def _may_free(pod: Pod, detached: VolumeAttachment) -> bool:
    """Whether a pod has claims, or a disk of the driver whose volume was detached."""
    disks = (inline_volume_attached_as(volume) for volume in pod.spec.volumes)
    return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes) or any(
        disk is not None and disk.driver == detached.spec.attacher for disk in disks
    )
