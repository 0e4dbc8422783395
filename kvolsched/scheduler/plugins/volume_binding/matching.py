"""Finding a volume for a claim on a node: by a walk over all volumes of its class, or by the index of free volumes.

Both find the same volume (a test compares them): the rule walks, decisions and columns use the index.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ....api import volumes
from ....api.kinds.node import Node
from ....api.kinds.selector import LabelSelector
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ....world.apiserver import key_of
from ...columns.free_volumes import VolumeVisits
from ...columns.snapshot import Snapshot

FindVolume = Callable[[PersistentVolumeClaim, frozenset[str]], "PersistentVolume | None"]
"""Return the volume on a node for a claim; volumes of these names are taken."""
FinderOnNode = Callable[[Node, Snapshot, volumes.VolumeRules], FindVolume]


@attrs.define(frozen=True, cache_hash=True)
class ClaimShape:
    """Everything that a claim asks of a volume but its size."""

    storage_class: str
    mode: str
    access_modes: frozenset[str]
    selector: LabelSelector | None
    attributes_class: str
    rules: volumes.VolumeRules
    class_field: str
    claim: PersistentVolumeClaim = attrs.field(eq=False, hash=False, repr=False)

    @classmethod
    def of(cls, claim: PersistentVolumeClaim, rules: volumes.VolumeRules) -> ClaimShape:
        """Return the shape of a claim."""
        return cls(volumes.class_of_claim(claim), volumes.mode(claim), frozenset(claim.spec.access_modes),
                   claim.spec.selector, claim.spec.volume_attributes_class_name or "", rules,
                   claim.spec.storage_class_name or "", claim)

    def suits(self, volume: PersistentVolume) -> bool:
        """Say whether an unclaimed volume suits, by the rules that scheduler and PV controller share."""
        return volumes.suits(self.claim, volume, self.rules)


@attrs.frozen
class CountingMatcher:
    """The shape of a claim, which counts the volumes that it is compared with."""

    shape: ClaimShape
    visits: VolumeVisits = attrs.field(eq=False)

    @property
    def storage_class(self) -> str:
        """The class of the volumes that can suit."""
        return self.shape.storage_class

    def suits(self, volume: PersistentVolume) -> bool:
        """Say whether an unclaimed volume suits."""
        self.visits.count += 1
        return self.shape.suits(volume)


def by_walk(node: Node, seen: Snapshot, rules: volumes.VolumeRules) -> FindVolume:
    """Find volumes by a walk over all volumes of the claim's class: the readable truth."""

    def find(claim: PersistentVolumeClaim, taken: frozenset[str]) -> PersistentVolume | None:
        of_class = seen.visits.counted(seen.volumes_of_class(volumes.class_of_claim(claim)))
        return volumes.find_matching_volume(claim, of_class, node=node, excluded=taken, rules=rules)

    return find


def by_index(node: Node, seen: Snapshot, rules: volumes.VolumeRules) -> FindVolume:
    """Find volumes by the index: one that is prebound to the claim, else the smallest that the node reaches."""

    def find(claim: PersistentVolumeClaim, taken: frozenset[str]) -> PersistentVolume | None:
        for volume in seen.visits.counted(prebound_volumes(claim, seen, rules)):
            if volume.metadata.name not in taken:
                return volume if volumes.volume_fits_node(volume, node) else None
        matcher = CountingMatcher(ClaimShape.of(claim, rules), seen.visits)
        return seen.free_volumes.smallest_on(node, matcher, volumes.requested(claim), taken)

    return find


def prebound_volumes(claim: PersistentVolumeClaim, seen: Snapshot,
                     rules: volumes.VolumeRules) -> list[PersistentVolume]:
    """Return the volumes of a claim's class whose claimRef names it and that could serve it."""
    return [
        volume
        for volume in seen.free_volumes.claimed_for(key_of(claim))
        if volumes.is_bound_to(volume, claim)
        and volumes.class_of_volume(volume) == volumes.class_of_claim(claim)
        and volumes.serves(claim, volume, rules)
    ]
