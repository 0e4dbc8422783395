"""VolumeBinding over all nodes: by counting free volumes where that is exact, else by deciding each distinct input.

For each node the column says what the rule says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api import volumes
from ....api.kinds.csi import CSINode
from ....api.kinds.meta import Frozen, ObjectMeta
from ....api.kinds.pod import Pod
from ....api.kinds.storage_class import StorageClass
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...columns.column import Codes, Integers, Mask
from ...columns.snapshot import Snapshot
from ...csi_migration import MIGRATED_PLUGINS, TRANSLATED, in_tree_source
from ...framework.extension_points import ColumnContext
from .claims import PodClaims, VolumeDecision
from .matching import ClaimShape, by_index, prebound_volumes
from .rule import VolumeBindingRule
from .scoring import Binding, VolumeScoring

# The CSINode of a node that leaves every in-tree plugin to its driver.
ALL_MIGRATED = CSINode(
    metadata=ObjectMeta(annotations=Frozen({MIGRATED_PLUGINS: ",".join(plugin for plugin, _ in TRANSLATED.values())}))
)
EXACT = 2**53  # bytes; from here on sizes are not all exact in the column of sizes


@attrs.frozen
class WaitingClaim:
    """What a column reads of a claim that waits for its consumer.

    Args:
        request: bytes.
        storage_class: None if it does not exist.
        provisioned: the class by which its volume is provisioned, None if it is not.
        checks_capacity: published capacity is compared with its request.
    """

    claim: PersistentVolumeClaim
    shape: ClaimShape
    request: int
    storage_class: StorageClass | None
    provisioned: StorageClass | None
    checks_capacity: bool

    @classmethod
    def of(cls, claim: PersistentVolumeClaim, plugin: VolumeBindingRule, seen: Snapshot) -> WaitingClaim:
        """Read a claim under a plugin's rules."""
        shape = ClaimShape.of(claim, plugin.rules)
        storage_class = seen.storage_class(shape.storage_class)
        provisioned = None if storage_class is None else plugin.provisioning(storage_class)
        checks = provisioned is not None and plugin.capacity.is_checked(claim, provisioned, seen)
        return cls(claim, shape, volumes.requested(claim), storage_class, provisioned, checks)


@attrs.frozen
class VolumeBinding(VolumeBindingRule):
    """Judges nodes by the pod's volumes, and prefers those whose free volumes are close in size to the claims."""

    def column(self, pod: Pod, columns: ColumnContext) -> Any:
        """Return the reasons by row; None: no node is rejected; NotImplemented: judge each node by the rule."""
        if self.search is not None:
            return NotImplemented
        pod_claims = self.claims(pod, columns.seen)
        if self.claim_failures.node_error(pod_claims):
            return self.unbound_claims.where(columns.nodes.live.array)
        claims = [WaitingClaim.of(claim, self, columns.seen) for claim in pod_claims.delayed]
        if self.capacity.needs_rule(pod, claims_checked=any(waiting.checks_capacity for waiting in claims)):
            return NotImplemented
        codes: Codes | None = None
        for claim in pod_claims.bound:
            volume = columns.seen.volume(claim.spec.volume_name)
            if volume is None:
                return NotImplemented  # an error, or a reason that is given last: rare, so ask the rule
            reached = self._reached(volume, columns)
            if reached is not None:
                conflicts = self.node_conflict.where(~reached)
                codes = conflicts if codes is None else codes | conflicts
        if self._is_countable(claims, columns.seen):
            claims = _uncertain(claims, columns)
            found = self._count(claims, columns) if claims else None
        else:
            found = self._filter_groups(pod, claims, columns)
        if codes is None or found is None:
            return codes if found is None else found
        return found if found is NotImplemented else codes | found

    def score(self, pod: Pod, columns: ColumnContext) -> Integers | None:
        """Return, by row, the score of what would be bound or provisioned; None: nothing waits, or nothing is scored.

        Only the scores of nodes that fit have a meaning.
        """
        if self.scoring is None:
            return None
        claims = [WaitingClaim.of(claim, self, columns.seen) for claim in self.claims(pod, columns.seen).delayed]
        if not claims:
            return None
        if self.search is not None:
            return self._score_found(pod, columns)
        scores, unmatched = self._score_static(self.scoring, claims, columns)
        if self.scoring.reads_room and unmatched.any():
            return np.where(unmatched, self._score_dynamic(self.scoring, claims, columns), scores)
        return scores

    def _score_static(self, scoring: VolumeScoring, claims: Sequence[WaitingClaim],
                      columns: ColumnContext) -> tuple[Integers, Mask]:
        """Return, by row, the score of volumes that exist, and whether no claim would get one."""
        seen = columns.seen
        if len(claims) == 1 and self._is_countable(claims, seen):
            smallest = seen.free_volumes.smallest_size(claims[0].shape, claims[0].request)
            unmatched = np.isinf(smallest)
            if claims[0].request < EXACT and bool((unmatched | (smallest < EXACT)).all()):
                return scoring.of_sizes(claims[0].request, smallest), unmatched
        groups, row_of_group = self._groups(claims, columns, provisioning=False)
        matched = [self._match_on_row(claims, row, columns) for row in row_of_group]
        scores = [scoring.judge(bindings, (), len(claims))[0] for bindings in matched]
        return np.array(scores, np.int64)[groups], np.array([not bindings for bindings in matched], bool)[groups]

    def _match_on_row(self, claims: Sequence[WaitingClaim], row: int, columns: ColumnContext) -> list[Binding]:
        name = columns.nodes.names[row]
        node = columns.nodes.node(name) if name is not None else None
        if node is None:
            return []
        return self.match([waiting.claim for waiting in claims], by_index(node, columns.seen, self.rules))[0]

    def _score_dynamic(self, scoring: VolumeScoring, claims: Sequence[WaitingClaim],
                       columns: ColumnContext) -> Integers:
        """Return, by row, the score of volumes that would all be provisioned on a node that fits."""

        def place(waiting: WaitingClaim) -> tuple[bool, int]:
            selected = bool(volumes.selected_node(waiting.claim, self.rules))
            return not selected, 0 if selected else self.claim_order(waiting.claim)

        requested: dict[str, int] = {}
        last: dict[str, WaitingClaim] = {}
        for waiting in sorted(claims, key=place):
            if waiting.checks_capacity:
                name = waiting.shape.storage_class
                requested[name] = requested.get(name, 0) + waiting.request
                last[name] = waiting
        capacities = columns.seen.storage_capacities
        rooms = {name: capacities.room(name, waiting.request) for name, waiting in last.items()}
        return scoring.of_rooms([(requested[name], room) for name, room in rooms.items()], len(columns.nodes.names))

    def _score_found(self, pod: Pod, columns: ColumnContext) -> Integers:
        """Return the scores of what the search has found on the nodes that fit: no volume is looked at again."""
        scores = np.zeros(len(columns.nodes.names), np.int64)
        for row, name in enumerate(columns.nodes.names):
            if name is not None and (columns.candidates is None or columns.candidates[row]):
                scores[row] = self.decide(pod, name, columns.seen).score
        return scores

    def normalise(self, raw: Integers) -> Integers:
        """Return the scores as they are: 0 to 100."""
        return raw

    def _reached(self, volume: PersistentVolume, columns: ColumnContext) -> Mask | None:
        """Return by row whether a node reaches a bound volume; None if every node does."""
        affinity, source = self.node_affinity(volume, None), in_tree_source(volume)
        migrated = self.node_affinity(volume, ALL_MIGRATED) if source else affinity
        if affinity is None and migrated is None:
            return None
        reached = columns.nodes.volume_affinity_mask(affinity)
        if migrated == affinity:
            return reached
        return np.where(columns.seen.migrated_rows(source), columns.nodes.volume_affinity_mask(migrated), reached)

    def _is_countable(self, claims: Sequence[WaitingClaim], seen: Snapshot) -> bool:
        """Say whether counting is exact: no claim selected or prebound, those of one class alike but for their size.

        Where capacity is checked, which of the claims finds no volume is counted by rising size alone.
        """
        shapes: dict[str, ClaimShape] = {}
        for waiting in claims:
            shape = waiting.shape
            if waiting.storage_class is None or shapes.setdefault(shape.storage_class, shape) != shape:
                return False
            if volumes.selected_node(waiting.claim, self.rules) or prebound_volumes(waiting.claim, seen, self.rules):
                return False
        if len(claims) > 1 and any(waiting.checks_capacity for waiting in claims):
            requests = [waiting.request for waiting in self._ordered(claims)]
            return requests == sorted(requests)
        return True

    def _ordered(self, claims: Sequence[WaitingClaim]) -> list[WaitingClaim]:
        return sorted(claims, key=lambda waiting: self.claim_order(waiting.claim))

    def _count(self, claims: Sequence[WaitingClaim], columns: ColumnContext) -> Codes:
        """Of k claims of a class by rising size, the i-th needs k - i volumes of its size, in any order of matching."""
        if any(waiting.checks_capacity for waiting in claims):
            return self._count_with_capacity(claims, columns)
        by_class: dict[str, list[WaitingClaim]] = {}
        for waiting in claims:
            by_class.setdefault(waiting.shape.storage_class, []).append(waiting)
        rejected = np.zeros(len(columns.nodes.names), bool)
        for of_class in by_class.values():
            of_class.sort(key=lambda waiting: waiting.request)
            lacking: Any = False
            for index, waiting in enumerate(of_class):
                count = columns.seen.free_volumes.count(waiting.shape, waiting.request)
                lacking = lacking | (count < len(of_class) - index)
            provisioned = of_class[0].provisioned
            if provisioned is not None:
                lacking = lacking & ~columns.nodes.allowed_topologies_mask(provisioned.allowed_topologies)
            rejected = rejected | lacking
        return self.bind_conflict.where(rejected)

    def _count_with_capacity(self, claims: Sequence[WaitingClaim], columns: ColumnContext) -> Codes:
        """Of the claims that find no volume, the first that cannot be provisioned decides."""
        codes: Codes = np.zeros(len(columns.nodes.names), np.uint16)
        ordered = self._ordered(claims)
        requests = [(waiting.shape, waiting.request) for waiting in ordered]
        for waiting, lacking in zip(ordered, columns.seen.free_volumes.rows_lacking(requests), strict=True):
            allowed: Any = np.False_
            if waiting.provisioned is not None:
                allowed = columns.nodes.allowed_topologies_mask(waiting.provisioned.allowed_topologies)
            found = self.bind_conflict.where(lacking & ~allowed)
            if waiting.checks_capacity:
                too_small = columns.seen.storage_capacities.room(waiting.shape.storage_class) < waiting.request
                found |= self.not_enough_space.where(lacking & allowed & too_small)
            codes = np.where(codes == 0, found, codes)
        return codes

    def _filter_groups(self, pod: Pod, claims: Sequence[WaitingClaim], columns: ColumnContext) -> Any:
        """Decide once for each distinct input; NotImplemented if there is an error."""
        groups, row_of_group = self._groups(claims, columns)
        codes = []
        for row in row_of_group:
            decision = self._decide_on_row(pod, claims, row, columns)
            if decision.error:
                return NotImplemented
            reasons = (self.bind_conflict, self.not_enough_space)
            codes.append(sum(1 << reason.bit for reason in reasons if reason.text in decision.reasons))
        return np.array(codes, np.uint16)[groups]

    def _decide_on_row(self, pod: Pod, claims: Sequence[WaitingClaim], row: int,
                       columns: ColumnContext) -> VolumeDecision:
        name = columns.nodes.names[row]
        node = columns.nodes.node(name) if name is not None else None
        if node is None:
            return VolumeDecision()
        pod_claims = PodClaims(delayed=tuple(waiting.claim for waiting in claims))
        return self.find_pod_volumes(pod, pod_claims, node, columns.seen, by_index(node, columns.seen, self.rules))

    def _groups(self, claims: Sequence[WaitingClaim], columns: ColumnContext, *,
                provisioning: bool = True) -> tuple[NDArray[np.intp], list[int]]:
        """Number the distinct inputs of a decision, or of matching alone: the number by row, and a row for each."""
        nodes, seen = columns.nodes, columns.seen
        inputs = DistinctRows(len(nodes.names))
        inputs.split_by_rows(nodes.live.array)  # freed rows are never the row of a group
        checks_capacity = any(waiting.checks_capacity for waiting in claims)
        classes = {waiting.shape.storage_class: waiting.storage_class for waiting in claims}
        for name, storage_class in classes.items():
            for _, rows in seen.free_volumes.segments(name):
                inputs.split_by_rows(rows)
            if storage_class is not None and provisioning:
                inputs.split_by_rows(nodes.allowed_topologies_mask(storage_class.allowed_topologies))
                if checks_capacity:
                    inputs.split_by_values(seen.storage_capacities.room(name))
        for waiting in claims:
            for volume in prebound_volumes(waiting.claim, seen, self.rules):
                inputs.split_by_rows(nodes.volume_affinity_mask(volume.spec.required_node_affinity))
            selected = volumes.selected_node(waiting.claim, self.rules)
            if selected in nodes.row_of:
                inputs.split_by_rows([nodes.row_of[selected]])
        return inputs.groups()


def _uncertain(claims: Sequence[WaitingClaim], columns: ColumnContext) -> list[WaitingClaim]:
    """Leave out the claims of classes that are provisioned everywhere and have, if checked, capacity for each claim."""
    uncertain: set[str] = set()
    for waiting in claims:
        provisioned, name = waiting.provisioned, waiting.shape.storage_class
        largest = columns.seen.storage_capacities.room
        lacks = waiting.checks_capacity and bool((largest(name) < waiting.request).any())
        if provisioned is None or provisioned.allowed_topologies or lacks:
            uncertain.add(name)
    return [waiting for waiting in claims if waiting.shape.storage_class in uncertain]


class DistinctRows:
    """The rows of the node table, grouped by the masks and columns that are added, so that equals are judged once.

    The sum of a row's 64-bit hashes identifies its group. The hashes reach no output, used in one pass alone. Mutable.
    """

    def __init__(self, size: int) -> None:
        self._hashes = np.zeros(size, np.uint64)
        self._seed = 0

    def split_by_rows(self, rows: Any) -> None:
        """Separate these rows (a mask or row numbers) from all others."""
        self._hashes[rows] += self._next_hash()

    def split_by_values(self, column: NDArray[Any]) -> None:
        """Separate rows in which a column differs."""
        distinct, code = np.unique(column, return_inverse=True)
        self._hashes += np.array([self._next_hash() for _ in distinct], np.uint64)[code]

    def groups(self) -> tuple[NDArray[np.intp], list[int]]:
        """Return, by row, the number of its group, and by group one of its rows."""
        _, first, groups = np.unique(self._hashes, return_index=True, return_inverse=True)
        return groups, first.tolist()

    def _next_hash(self) -> np.uint64:
        """Return the next number of the splitmix64 generator."""
        self._seed += 1
        mask = 2**64 - 1
        mixed = (self._seed * 0x9E3779B97F4A7C15) & mask
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return np.uint64(mixed ^ (mixed >> 31))
