"""NodeVolumeLimits rejects nodes that would have more volumes of a driver than they may attach.

Volumes to be provisioned count too, so that the limit takes part in the decision (S0, Max PD Count: "this is another
potential reason"), which 1.11 only promised.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

from ...api.kinds.csi import VolumeAttachment
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from .. import requests
from ..columns.attachments import (
    NO_LIMIT,
    AttachedVolume,
    attach_limits,
    attached_volume,
    inline_volume_attached_as,
    volume_uses,
    volumes_of_pod,
)
from ..columns.column import Mask
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, RuleReads
from ..framework.evidence import LimitExceeded
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, Reason, Reject, Skip
from ..volume_clauses import claims_of_reason, is_claim_of_pod, volume_clauses

# By the driver to which its disks were migrated later: the resource of a node that tells an in-tree plugin's limit, and
# the limit of nodes that tell none (Google and Microsoft: 16; Amazon: 40 with the system's own).
IN_TREE_LIMITS: Mapping[str, tuple[str, int]] = {
    "ebs.csi.aws.com": ("attachable-volumes-aws-ebs", 39),
    "pd.csi.storage.gke.io": ("attachable-volumes-gce-pd", 16),
    "disk.csi.azure.com": ("attachable-volumes-azure-disk", 16),
}


def all_volumes(pod: Pod, seen: Snapshot) -> frozenset[AttachedVolume]:
    """Count every volume of a pod, those that are yet to be bound or provisioned too (v1.36.2; S0 for GA)."""
    return volumes_of_pod(pod, seen)


def bound_volumes(pod: Pod, seen: Snapshot) -> frozenset[AttachedVolume]:
    """Count the volumes of a pod that exist: bound claims and inline disks (1.11)."""
    claims = ((use, seen.claim(*use.claim) if use.claim else None) for use in volume_uses(pod))
    existing = [use for use, claim in claims if claim is None or claim.spec.volume_name]
    return frozenset(volume for use in existing if (volume := attached_volume(use, seen)) is not None)


@attrs.frozen
class PublishedLimits:
    """The attach limits that CSINodes publish (v1.36.2); a driver without one has no limit."""

    events: ClassVar[tuple[QueueingHint, ...]] = ()  # after which a limit may be higher, beside those of CSINodes

    def on(self, node: Node, seen: Snapshot) -> Mapping[str, int]:
        """Return the limits of a node, by driver."""
        return attach_limits(seen.csi_node(node.metadata.name))

    def by_row(self, driver: str, columns: ColumnContext) -> Any:
        """Return a driver's limit by row; None if no node has one."""
        attachments = columns.seen.attachments
        return attachments.limits(driver) if attachments.is_limited(driver) else None


@attrs.frozen
class InTreeLimits(PublishedLimits):
    """The limits of in-tree disks too: what a node tells among its resources (1.12), else a default (1.11)."""

    events: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears or tells other limits", action=Action.ADD | Action.NODE_ALLOCATABLE),
    )

    def on(self, node: Node, seen: Snapshot) -> Mapping[str, int]:
        told = requests.allocatable(node.status.allocatable)
        in_tree = {driver: told.get(name, default) for driver, (name, default) in IN_TREE_LIMITS.items()}
        return {**in_tree, **PublishedLimits.on(self, node, seen)}

    def by_row(self, driver: str, columns: ColumnContext) -> Any:
        if driver not in IN_TREE_LIMITS:
            return PublishedLimits.by_row(self, driver, columns)
        (name, default), nodes = IN_TREE_LIMITS[driver], columns.nodes
        published = columns.seen.attachments.limits(driver)
        return np.where(published == NO_LIMIT, np.where(nodes.told(name), nodes.total(name), default), published)


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each volume: whether the node's attach limit has room for it."""
    for clause in volume_clauses(pod, columns):
        words = f"the node's attach limit has no room for the volume of {clause.sort} {clause.about}"
        title = f"No slot left to attach the volume of {clause.sort} {clause.about}"
        yield attrs.evolve(clause, words=words, title=title, kind="No slot left to attach one more volume")


@attrs.frozen
class NodeVolumeLimits:
    """Rejects nodes that would have too many volumes of some driver.

    Args:
        counted: the volumes of the pod that count.
        limits: the attach limits of nodes.
    """

    name: ClassVar[str] = "NodeVolumeLimits"
    card: ClassVar[Card] = Card(
        "L", "storage", looks_at="how many volumes are attached", reads=RuleReads(("spec.volumes",), csi_node=True),
        clauses=_clauses, clause_of_reason=claims_of_reason,
        unchecked=lambda seen, nodes: (
            "" if any(attach_limits(seen.csi_node(node)) for node in nodes) else "no limit published"),
    )  # fmt: skip
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    watches: ClassVar[frozenset[str]] = frozenset({"VolumeAttachment"})
    events: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("CSINode", "the drivers of a node are published", action=Action.ADD),
        QueueingHint("CSINode", "a limit of a node rises",
                     lambda _pod, old, new: any(limit > attach_limits(old).get(driver, limit)
                                                for driver, limit in attach_limits(new).items()), Action.UPDATE),
        QueueingHint("Pod", "a pod with volumes leaves its node",
                     lambda _pod, old, _new: _has_volumes(old), Action.DELETE),
        QueueingHint("VolumeAttachment", "a volume is detached",
                     lambda pod, old, _new: _may_help(pod, old), Action.DELETE),
        QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added",
                     lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD),
    )

    counted: Callable[[Pod, Snapshot], frozenset[AttachedVolume]] = all_volumes
    limits: PublishedLimits = PublishedLimits()
    document_name: str = ""
    too_many: Reason = Reason(0, "node(s) exceed max volume count", Code.UNSCHEDULABLE)

    @property
    def events_to_register(self) -> tuple[QueueingHint, ...]:
        """The events after which a node may have room."""
        return (*self.events, *self.limits.events)

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Skip a pod without claims and without disks that were migrated to a driver."""
        return None if _has_volumes(pod) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """For each driver, the volumes on the node and the pod's new ones stay within the limit."""
        limits = self.limits.on(node, seen)
        in_pods = {volume for other in seen.pods_on(node.metadata.name) for volume in volumes_of_pod(other, seen)}
        named = (attached_volume(use, seen) for use in seen.attachments.volume_attachments_on(node.metadata.name))
        attached = in_pods | {volume for volume in named if volume is not None}
        new = self.counted(pod, seen) - in_pods  # what is attached and used by no pod counts twice (v1.36.2)
        for driver, limit in sorted(limits.items()):
            present, added = (sum(volume.driver == driver for volume in group) for group in (attached, new))
            if added and present + added > limit:
                return self.too_many.reject(LimitExceeded(driver, present, added, limit))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Any:
        """Add the pod's volumes to the count of each driver; on nodes where a pod has one already it is not new."""
        attachments = columns.seen.attachments
        counted = self.counted(pod, columns.seen)
        rejected: Mask | None = None
        for driver in {volume.driver for volume in counted}:
            limits = self.limits.by_row(driver, columns)
            if limits is None:
                continue
            count = attachments.count(driver)
            of_driver = [volume for volume in counted if volume.driver == driver]
            attached_rows = [row for volume in of_driver for row in attachments.rows_with(volume)]
            new = np.full(len(count), len(of_driver))
            np.subtract.at(new, attached_rows, 1)
            exceeds = (count + new > limits) & (new > 0)
            rejected = exceeds if rejected is None else rejected | exceeds
        return None if rejected is None else self.too_many.where(rejected)


def _has_volumes(pod: Pod) -> bool:
    """Say whether a pod has claims, also of ephemeral volumes, or disks that were migrated to a driver."""
    return any(
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or inline_volume_attached_as(volume) is not None
        for volume in pod.spec.volumes
    )


def _may_help(pod: Pod, detached: VolumeAttachment) -> bool:
    """Say whether a pod has claims, or a disk of the driver whose volume was detached."""
    disks = (inline_volume_attached_as(volume) for volume in pod.spec.volumes)
    return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes) or any(
        disk is not None and disk.driver == detached.spec.attacher for disk in disks
    )
