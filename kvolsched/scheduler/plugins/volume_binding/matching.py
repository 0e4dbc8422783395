"""Finding a volume for a claim on a node: by a walk over all volumes of its class, or by the index of free volumes.

Both find the same volume (a test compares them): the rule walks, decisions and columns use the index. `VolumeSearch`
is the search as S0 writes it, node by node, with or without each of its two optimisations. Without any, every node's
search walks all volumes: O(N·V). By class: volumes are indexed by class, and if none of a class has a node affinity,
the first node's result holds for all (S1; S0 leaves it to beta). By node: each node has a map of the volumes that reach
it, kept up to date as volumes come (S0, GA). What is found on a node is remembered for priority and assume (S0,
Caching: the second cache).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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


@attrs.frozen
class VolumeSearch:
    """How volumes are found for a node.

    Args:
        by_class: only volumes of the claim's class are looked at, once for all nodes if none has a node affinity.
        by_node: only volumes in the node's map are looked at.
    """

    by_class: bool = False
    by_node: bool = False

    def finder(self, node: Node, seen: Snapshot, rules: volumes.VolumeRules) -> FindVolume:
        """Return the search on a node."""

        def find(claim: PersistentVolumeClaim, taken: frozenset[str]) -> PersistentVolume | None:
            def search() -> PersistentVolume | None:
                candidates = self._candidates(claim, node, seen)
                return volumes.find_matching_volume(claim, candidates, node=node, excluded=taken, rules=rules)

            if self.by_class and _reached_from_everywhere(volumes.class_of_claim(claim), seen):
                return seen.visits.once(("first node", key_of(claim), taken), search)
            return search()

        return find

    def _candidates(self, claim: PersistentVolumeClaim, node: Node, seen: Snapshot) -> Iterable[PersistentVolume]:
        """Yield the volumes that are looked at, each counted, in the order of their names."""
        name = volumes.class_of_claim(claim)
        if self.by_node:
            return seen.visits.counted(seen.volumes_on(node, name, key_of(claim)))
        if self.by_class:
            return seen.visits.counted(seen.volumes_of_class(name))
        everything = seen.visits.once("every volume", seen.all_volumes)
        return (each for each in seen.visits.counted(everything) if volumes.class_of_volume(each) == name)


def _reached_from_everywhere(class_name: str, seen: Snapshot) -> bool:
    """Say whether no volume of a class has a node affinity, as the index by class knows."""
    return seen.visits.once(
        ("no affinity", class_name),
        lambda: all(volume.spec.node_affinity is None for volume in seen.volumes_of_class(class_name)),
    )


SEARCHES = {
    "none": VolumeSearch(),
    "class": VolumeSearch(by_class=True),
    "node": VolumeSearch(by_node=True),
    "class and node": VolumeSearch(by_class=True, by_node=True),
    "columns": None,
}
"""The search by its name; "columns" are the engine's own, which judge all nodes at once."""
