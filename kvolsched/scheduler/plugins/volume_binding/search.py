"""The search for volumes as S0 writes it, node by node, with or without each of its two optimisations.

Without any, every node's search walks all volumes: O(N·V). By class: volumes are indexed by class, and if none of a
class has a node affinity, the first node's result holds for all (S1; S0 leaves it to beta). By node: each node has a
map of the volumes that reach it, kept up to date as volumes come (S0, GA). All find the same volumes. What is found
on a node is remembered for priority and assume (S0, Caching: the second cache).
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ....api import volumes
from ....api.kinds.node import Node
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ....world.apiserver import key_of
from ...columns.snapshot import Snapshot
from .matching import FindVolume


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
