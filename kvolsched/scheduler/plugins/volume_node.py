"""VolumeNode rejects nodes that a bound volume's node affinity does not admit (S0, S1: Volume Node Predicate).

The predicate came with local volumes in 1.7 and is one of its own in the early draft, whose MatchUnboundPVCs looks at
unbound claims alone; S0's CheckVolumeBinding does the work of both.
"""

from collections.abc import Iterator
from typing import ClassVar

import attrs

from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import NodeSelector
from ...api.kinds.volume import PersistentVolume
from ..columns.column import Codes, Mask
from ..columns.snapshot import Snapshot
from ..framework.card import Card
from ..framework.evidence import VolumeOutOfReach, labels_of
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, Reason, Reject, Skip
from ..volume_clauses import is_claim_of_pod, named_claims, volume_clauses


@attrs.frozen
class VolumeNode:
    """Rejects nodes outside the node affinity of a bound volume; a claim without volume is ignored."""

    name: ClassVar[str] = "VolumeNode"
    card: ClassVar[Card] = Card(
        "O", "storage", looks_at="where the pod's volumes are", finds_fault_with_volumes=True, clauses=volume_clauses,
    )  # fmt: skip
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node is added or its labels change", action=Action.ADD | Action.NODE_LABEL),
        QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added or changed",
                     lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD | Action.UPDATE),
        QueueingHint("PersistentVolume", "a volume is added or changed", action=Action.ADD | Action.UPDATE),
    )

    document_name: str = "NoVolumeNodeConflict"
    conflict: Reason = Reason(0, "node(s) had volume node affinity conflict", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Skip a pod without a bound volume that has a node affinity."""
        return SKIP if next(_bound_affinities(pod, seen), None) is None else None

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """The node affinity of every bound volume admits the node."""
        for volume, required in _bound_affinities(pod, seen):
            if not required.matches(node.metadata.labels):
                labels = labels_of(node, (key for key in sorted(required.keys) if key in node.metadata.labels))
                return self.conflict.reject(VolumeOutOfReach(volume.metadata.name, required, labels))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Judge all nodes by the mask of each volume's affinity, which is cached."""
        reached: Mask | None = None
        for _, required in _bound_affinities(pod, columns.seen):
            mask = columns.nodes.volume_affinity_mask(required)
            reached = mask if reached is None else reached & mask
        return None if reached is None else self.conflict.where(~reached)


def _bound_affinities(pod: Pod, seen: Snapshot) -> Iterator[tuple[PersistentVolume, NodeSelector]]:
    """Yield the pod's bound volumes that have a node affinity."""
    for name in named_claims(pod):
        claim = seen.claim(pod.metadata.namespace, name)
        volume = seen.volume(claim.spec.volume_name) if claim is not None else None
        if volume is not None and (required := volume.spec.required_node_affinity) is not None:
            yield volume, required
