"""VolumeBinding (S0: CheckVolumeBinding, PrioritizeVolumes) asks whether a pod can have its volumes on a node.

Bound claims: their volumes must be reachable from the node. Claims that wait for a consumer: each is matched to a free
volume that the node reaches, one after the other, and what is left must be possible to provision there. One function,
`decide`, says so for one node; the column is its shadow, by counting where counting is exact and otherwise by asking
`decide` once for each distinct set of volumes that nodes reach.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.scheduler import driver_pools as pools
from kvolsched.scheduler.columns.arrays import Codes, Integers, Mask
from kvolsched.scheduler.columns.distinct_rows import DistinctRows
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size
from kvolsched.scheduler.csi_migration import effective_affinity, in_tree_source, translated_affinity, volume_affinity
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, PreFilterReject, Reason, Reject, Skip
from kvolsched.scheduler.pod_claims import (
    ClaimShape,
    PodClaims,
    VolumeDecision,
    allowed_topologies_text,
    capacity_evidence,
    has_provisioner,
    node_topology_text,
    size_match_score,
    unreachable_evidence,
    unusable_reason,
    volume_key,
)
from kvolsched.scheduler.volume_queueing_hints import WAKES

__all__ = ["VolumeBinding", "VolumeDecision"]

UNBOUND_TODAY = "pod has unbound immediate PersistentVolumeClaims"
UNBOUND_THEN = "pod has unbound PersistentVolumeClaims"
Find = Callable[[PersistentVolumeClaim, frozenset[str]], "PersistentVolume | None"]


@attrs.frozen
class VolumeBinding:
    """Judges nodes by the pod's volumes, and decides what to bind and provision on one.

    Args:
        out_of_reach, nothing_to_bind, no_room, gone: the reasons, in the order in which they are said.
        rules: the revision's rules of volumes.
        largest_first: claims are matched by falling request (S0, Predicate step 2; every release: rising).
        selected_is_pinned: a claim with a selected node fits that node alone and is provisioned there (today); else
            it counts as unbound until it is bound (1.11).
        named_is_bound: a claim that names its volume counts as bound before the binding is complete (1.11).
        unbound_is_error: unbound immediate claims and lost volumes are errors on each node (1.11), not a rejection.
        prioritises: closeness in size is scored (S0, PrioritizeVolumes; the formula of Part C6 of the checklist).
        heeds_capacity: room is looked at where a driver tells it in CSIStorageCapacity objects.
        heeds_pools: the same where it tells it in its own status, for inline volumes as well (S2).
        migrates: a bound in-tree disk is judged as its CSI translation where its node has handed the plugin over.
        heeds_topologies: allowedTopologies of a class are looked at; else it is enough to name a provisioner (S1).
        waits: claims may wait for their consumer (gate VolumeScheduling); else every unbound claim is one too many,
            and no volume's affinity is looked at.
        provisions: volumes may be made for a node (gate DynamicProvisioningScheduling).
    """

    name: ClassVar[str] = "VolumeBinding"
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = WAKES

    out_of_reach: Reason = Reason(0, "node(s) didn't match PersistentVolume's node affinity")
    nothing_to_bind: Reason = Reason(1, "node(s) didn't find available persistent volumes to bind")
    no_room: Reason = Reason(2, "node(s) did not have enough free storage")
    gone: Reason = Reason(3, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
    unbound: Reason = Reason(4, UNBOUND_THEN, Code.ERROR)
    rules: volumes.VolumeRules = volumes.UPSTREAM
    largest_first: bool = False
    selected_is_pinned: bool = True
    named_is_bound: bool = False
    unbound_is_error: bool = False
    prioritises: bool = False
    heeds_capacity: bool = True
    heeds_pools: bool = False
    migrates: bool = True
    heeds_topologies: bool = True
    waits: bool = True
    provisions: bool = True
    document_name: str = ""
    document_score_name: str = ""

    @classmethod
    def of_the_design(cls, **options: Any) -> VolumeBinding:
        """Return S0's predicate and priority, with 1.11's words and answers where S0 is silent."""
        return cls(
            **{
                "out_of_reach": Reason(0, "node(s) had volume node affinity conflict"),
                "rules": volumes.DESIGN,
                "largest_first": True,
                "selected_is_pinned": False,
                "named_is_bound": True,
                "unbound_is_error": True,
                "prioritises": True,
                "heeds_capacity": False,
                "heeds_pools": True,
                "migrates": False,
                "document_name": "CheckVolumeBinding",
                "document_score_name": "PrioritizeVolumes",
                **options,
            }
        )

    @property
    def watches(self) -> frozenset[str]:
        """The kinds that tell how much room there is."""
        told = frozenset({"CSIDriver"}) if self.heeds_pools else frozenset()
        return told | {"CSIDriver", "CSIStorageCapacity"} if self.heeds_capacity else told

    # --- the pod ----------------------------------------------------------------------------------------------------

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """No claims: nothing to ask. A claim missing, lost, going, or not bound though it should be: no node."""
        message, uses = "", False
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            ephemeral = source is None and volume.ephemeral is not None
            uses = uses or (self.heeds_pools and volume.csi is not None)
            if source is None and not ephemeral:
                continue
            uses = True
            name = source.claim_name if source is not None else f"{pod.metadata.name}-{volume.name}"
            claim = seen.claim(pod.metadata.namespace, name)
            message = unusable_reason(pod, name, claim, ephemeral=ephemeral)
            if message:
                break
        if not uses:
            return SKIP
        if not message and not self.unbound_is_error and self.claims(pod, seen).immediate:
            message = UNBOUND_TODAY
        return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message) if message else None

    def claims(self, pod: Pod, seen: Snapshot) -> PodClaims:
        """Sort the pod's claims; a missing one is left out."""
        bound: list[PersistentVolumeClaim] = []
        delayed: list[PersistentVolumeClaim] = []
        immediate: list[PersistentVolumeClaim] = []
        for name in dict.fromkeys(pod.claim_names()):
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is None:
                continue
            if volumes.is_bound(claim) or (self.named_is_bound and claim.spec.volume_name):
                bound.append(claim)
            elif self._waits(claim, seen):
                delayed.append(claim)
            else:
                immediate.append(claim)
        return PodClaims(tuple(bound), tuple(delayed), tuple(immediate))

    def _waits(self, claim: PersistentVolumeClaim, seen: Snapshot) -> bool:
        storage_class = seen.storage_class(volumes.class_of_claim(claim))
        if not self.waits or storage_class is None or not storage_class.delayed or claim.spec.volume_name:
            return False
        return self.selected_is_pinned or not self.provisions or not volumes.selected_node(claim, self.rules)

    # --- one node ---------------------------------------------------------------------------------------------------

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Bound volumes reach the node; every other claim finds a volume there or can be provisioned."""
        decision = self._decide(pod, self.claims(pod, seen), node, seen, self._by_walking(node, seen))
        if decision.error:
            return Reject((decision.error,), Code.ERROR)
        return (
            Reject(decision.reasons, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, decision.evidence) if decision.reasons else OK
        )

    def decide(self, pod: Pod, node_name: str, seen: Snapshot) -> VolumeDecision:
        """Return what would be bound and provisioned for a pod on a node; the same as the rule, by the index."""
        rejected = self.prefilter(pod, seen)
        if isinstance(rejected, PreFilterReject):
            return VolumeDecision(error=rejected.message)
        node = seen.node(node_name)
        if node is None:
            return VolumeDecision(error=f'node "{node_name}" not found')
        if isinstance(rejected, Skip):
            return VolumeDecision()
        return self._decide(pod, self.claims(pod, seen), node, seen, self._by_index(node, seen))

    def _decide(self, pod: Pod, claims: PodClaims, node: Node, seen: Snapshot, find: Find) -> VolumeDecision:
        if claims.immediate and self.unbound_is_error:
            return VolumeDecision(error=self.unbound.text)
        bound = self._reached(claims.bound, node, seen)
        if bound.error:
            return bound
        waiting = self._served(claims.delayed, node, seen, find)
        said = (bound.reasons, waiting.reasons)
        inline = pools.lacking_inline_capacity(pod, node, seen) if self.heeds_pools and not waiting.error else None
        if inline is not None:
            waiting = attrs.evolve(waiting, reasons=(self.no_room.text,), evidence=(inline,))
            said = (bound.reasons, waiting.reasons)
        first, second = reversed(said) if bound.reasons == (self.gone.text,) else said  # what is gone is said last
        return attrs.evolve(waiting, reasons=first + second, evidence=bound.evidence + waiting.evidence)

    def _reached(self, claims: tuple[PersistentVolumeClaim, ...], node: Node, seen: Snapshot) -> VolumeDecision:
        """Bound claims: the first volume that is gone or out of reach decides."""
        for claim in claims:
            volume = seen.volume(claim.spec.volume_name)
            if volume is None and self.unbound_is_error:
                return VolumeDecision(error=f'could not find v1.PersistentVolume "{claim.spec.volume_name}"')
            if volume is None:
                return VolumeDecision(reasons=(self.gone.text,))
            required = effective_affinity(volume, seen.csi_node(node.metadata.name) if self.migrates else None)
            if self.waits and required is not None and not required.matches(node.metadata.labels):
                return VolumeDecision(reasons=(self.out_of_reach.text,), evidence=(unreachable_evidence(volume, required, node),))
        return VolumeDecision()

    def _served(self, claims: tuple[PersistentVolumeClaim, ...], node: Node, seen: Snapshot, find: Find) -> VolumeDecision:
        """Waiting claims: each in turn gets the best volume that is left, the rest must be possible to provision."""
        matched: list[tuple[PersistentVolumeClaim, PersistentVolume]] = []
        to_provision: list[PersistentVolumeClaim] = []
        to_match: list[PersistentVolumeClaim] = []
        for claim in claims:
            selected = volumes.selected_node(claim, self.rules)
            if selected and selected != node.metadata.name:
                why = Evidence(f"claim {claim.metadata.name} selected node {selected}", "≠", node.metadata.name)
                return VolumeDecision(reasons=(self.nothing_to_bind.text,), evidence=(why,))
            (to_provision if selected else to_match).append(claim)
        taken: frozenset[str] = frozenset()
        for claim in self._in_order(to_match):
            volume = find(claim, taken)
            if volume is None:
                to_provision.append(claim)
            else:
                matched.append((claim, volume))
                taken |= {volume.metadata.name}
        decision = VolumeDecision(
            tuple((volume_key(claim), volume_key(volume)) for claim, volume in matched),
            tuple(volume_key(claim) for claim in to_provision),
            score=size_match_score(matched, len(claims)),
        )
        for claim in to_provision:
            error, reason, lacking = self._cannot_provision(claim, node, seen)
            if error:
                return VolumeDecision(error=error)
            if reason is not None:
                return attrs.evolve(decision, provision=(), reasons=(reason.text,), evidence=lacking)
        return decision

    def _in_order(self, claims: list[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
        sign = -1 if self.largest_first else 1
        return sorted(claims, key=lambda claim: sign * volumes.requested(claim))

    def _cannot_provision(
        self, claim: PersistentVolumeClaim, node: Node, seen: Snapshot
    ) -> tuple[str, Reason | None, tuple[Evidence, ...]]:
        """Return an error, or why no volume can be made for a claim on a node; neither if one can."""
        name, key = volumes.class_of_claim(claim), volumes.claim_key(claim)
        storage_class = seen.storage_class(name)
        if storage_class is None:
            return (f'failed to find storage class "{name}"' if name else f'no class for claim "{key}"'), None, ()
        if not self.provisions or not has_provisioner(storage_class):
            words = "finds no volume, and nothing is provisioned for class"
            return "", self.nothing_to_bind, (Evidence(f"claim {claim.metadata.name}", words, name),)
        if self.heeds_topologies and not volumes.topology_allows(storage_class, node):
            allowed = f"allowedTopologies {allowed_topologies_text(storage_class)}"
            return "", self.nothing_to_bind, (Evidence(allowed, "do not admit", node_topology_text(storage_class, node)),)
        if self._tracked(claim, seen):
            need = volumes.requested(claim)
            limits = [max_volume_size(capacity) for capacity in seen.storage_capacities.on(name, node)]
            if need > max(limits, default=-1):
                return "", self.no_room, (capacity_evidence(claim, max(limits, default=-1), name),)
        if self.heeds_pools and "storage" in claim.spec.resources.requests:
            what, driver = f"claim {claim.metadata.name}", seen.csi_driver(storage_class.provisioner)
            small = pools.lacking_capacity(what, volumes.requested(claim), driver, name, node, seen.moment)
            if small is not None:
                return "", self.no_room, (small,)
        return "", None, ()

    def _by_walking(self, node: Node, seen: Snapshot) -> Find:
        """The plain way to find a volume: walk all volumes of the claim's class."""

        def find(claim: PersistentVolumeClaim, taken: frozenset[str]) -> PersistentVolume | None:
            every = seen.volumes_of_class(volumes.class_of_claim(claim))
            return volumes.find_matching_volume(claim, every, node=node, excluded=taken, options=self.rules)

        return find

    def _by_index(self, node: Node, seen: Snapshot) -> Find:
        """The quick way: a volume that names the claim, else the smallest that the node reaches."""

        def find(claim: PersistentVolumeClaim, taken: frozenset[str]) -> PersistentVolume | None:
            for volume in self._named(claim, seen):
                if volume.metadata.name not in taken:
                    return volume if volumes.volume_fits_node(volume, node) else None
            return seen.free_volumes.smallest_on(node, ClaimShape.of(claim, self.rules), volumes.requested(claim), taken)

        return find

    def _named(self, claim: PersistentVolumeClaim, seen: Snapshot) -> list[PersistentVolume]:
        """Return the volumes of the claim's class that name it and could serve it."""
        return [
            volume
            for volume in seen.free_volumes.claimed_for(volume_key(claim))
            if volumes.is_bound_to(volume, claim)
            and volumes.class_of_volume(volume) == volumes.class_of_claim(claim)
            and volumes.serves(claim, volume, self.rules)
        ]

    # --- all nodes --------------------------------------------------------------------------------------------------

    def column(self, pod: Pod, at: ColumnContext) -> Any:
        """The same for all nodes."""
        claims = self.claims(pod, at.seen)
        if claims.immediate and self.unbound_is_error:
            return self.unbound.where(at.nodes.live.array)
        if self.heeds_pools and (pools.has_inline(pod) or any(self._pooled(one, at.seen) for one in claims.delayed)):
            return NotImplemented  # a driver's status is small: ask the rule
        codes: Codes | None = None
        for claim in claims.bound:
            volume = at.seen.volume(claim.spec.volume_name)
            if volume is None:
                return NotImplemented  # an error, or a reason that hides the others: rare, so ask the rule
            if self.waits and (volume_affinity(volume) is not None or in_tree_source(volume)):
                here = self.out_of_reach.where(~self._reached_from(volume, at))
                codes = here if codes is None else codes | here
        if not claims.delayed:
            return codes
        if self._plain(claims, at.seen):
            claims = self._in_doubt(claims, at)
            if not claims.delayed:
                return codes
            here = self._lacking(claims, at)
        else:
            here = self._by_group(pod, claims, at)
        return here if codes is None or here is NotImplemented else codes | here

    def _reached_from(self, volume: PersistentVolume, at: ColumnContext) -> Mask:
        """By row, whether a bound volume is reached; where a node hands its plugin over, by its translation."""
        reached = at.nodes.volume_affinity_mask(volume_affinity(volume))
        source = in_tree_source(volume)
        if not self.migrates or not source:
            return reached
        return np.where(at.seen.migrated_rows(source), at.nodes.volume_affinity_mask(translated_affinity(volume)), reached)

    def score(self, pod: Pod, at: ColumnContext) -> Integers | None:
        """How close the volumes are to the requests: 100·requested/capacity, the mean over the waiting claims.

        A claim to be provisioned counts 0, so that any volume that is there is preferred (S0, Priority).
        """
        if not self.prioritises:
            return None
        claims = self.claims(pod, at.seen)
        if not claims.delayed:
            return None
        if len(claims.delayed) == 1 and self._plain(claims, at.seen):
            need = volumes.requested(claims.delayed[0])
            smallest = at.seen.free_volumes.smallest_size(ClaimShape.of(claims.delayed[0], self.rules), need)
            return np.floor(100.0 * need / np.maximum(smallest, 1.0)).astype(np.int64)
        groups, row_of_group = self._groups(claims, at)
        scores = [self._on_row(pod, claims, row, at).score for row in row_of_group]
        return np.array(scores, np.int64)[groups]

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw

    def _plain(self, claims: PodClaims, seen: Snapshot) -> bool:
        """Whether counting is exact: no claim selected or named, and claims of one class alike but for their size."""
        shapes: dict[str, ClaimShape] = {}
        for claim in claims.delayed:
            shape = ClaimShape.of(claim, self.rules)
            if shapes.setdefault(shape.storage_class, shape) != shape:
                return False
            if volumes.selected_node(claim, self.rules) or self._named(claim, seen):
                return False
        if self.largest_first and len(claims.delayed) > 1 and any(self._tracked(one, seen) for one in claims.delayed):
            return False  # which claim finds no volume is counted by rising size alone
        return all(seen.storage_class(name) is not None for name in shapes)

    def _in_doubt(self, claims: PodClaims, at: ColumnContext) -> PodClaims:
        """Leave out the claims of classes that make volumes everywhere and, where room counts, have enough for each."""
        kept: dict[str, bool] = {}
        for claim in claims.delayed:
            name = volumes.class_of_claim(claim)
            made = self._made(claim, at.seen)
            doubt = made is None or bool(made.allowed_topologies)
            if not doubt and self._tracked(claim, at.seen):
                doubt = bool((at.seen.storage_capacities.largest(name) < volumes.requested(claim)).any())
            kept[name] = kept.get(name, False) or doubt
        in_doubt = tuple(claim for claim in claims.delayed if kept[volumes.class_of_claim(claim)])
        return attrs.evolve(claims, delayed=in_doubt)

    def _lacking(self, claims: PodClaims, at: ColumnContext) -> Codes:
        """Of k claims of a class by rising size, the i-th needs k − i volumes of its size: in any order of matching."""
        if any(self._tracked(claim, at.seen) for claim in claims.delayed):
            return self._lacking_room(claims, at)
        by_class: dict[str, list[PersistentVolumeClaim]] = {}
        for claim in claims.delayed:
            by_class.setdefault(volumes.class_of_claim(claim), []).append(claim)
        rejected = np.zeros(len(at.nodes.names), bool)
        for asking in by_class.values():
            asking.sort(key=volumes.requested)
            lacking: Any = False
            for index, claim in enumerate(asking):
                count = at.seen.free_volumes.count(ClaimShape.of(claim, self.rules), volumes.requested(claim))
                lacking = lacking | (count < len(asking) - index)
            if (made := self._made(asking[0], at.seen)) is not None:
                lacking = lacking & ~at.nodes.allowed_topologies_mask(made.allowed_topologies)
            rejected = rejected | lacking
        return self.nothing_to_bind.where(rejected)

    def _made(self, claim: PersistentVolumeClaim, seen: Snapshot) -> StorageClass | None:
        """Return a claim's class if volumes of it are made when none is found."""
        storage_class = seen.storage_class(volumes.class_of_claim(claim))
        if storage_class is not None and not self.heeds_topologies:
            storage_class = attrs.evolve(storage_class, allowed_topologies=())
        return storage_class if self.provisions and storage_class is not None and has_provisioner(storage_class) else None

    def _pooled(self, claim: PersistentVolumeClaim, seen: Snapshot) -> bool:
        made = self._made(claim, seen)
        return made is not None and pools.tracks(seen.csi_driver(made.provisioner))

    def _tracked(self, claim: PersistentVolumeClaim, seen: Snapshot) -> bool:
        """Whether room is looked at for a claim that finds no volume."""
        made = self._made(claim, seen) if self.heeds_capacity else None
        return made is not None and is_capacity_checked(claim, seen.csi_driver(made.provisioner))

    def _lacking_room(self, claims: PodClaims, at: ColumnContext) -> Codes:
        """The same where room counts: of the claims that find no volume, the first that fails decides."""
        codes: Codes = np.zeros(len(at.nodes.names), np.uint16)
        asking = self._in_order(list(claims.delayed))
        asks = [(ClaimShape.of(claim, self.rules), volumes.requested(claim)) for claim in asking]
        for claim, lacking in zip(asking, at.seen.free_volumes.rows_lacking(asks), strict=True):
            made = self._made(claim, at.seen)
            allowed: Any = at.nodes.allowed_topologies_mask(made.allowed_topologies) if made is not None else np.False_
            here = self.nothing_to_bind.where(lacking & ~allowed)
            if self._tracked(claim, at.seen):
                small = at.seen.storage_capacities.largest(volumes.class_of_claim(claim)) < volumes.requested(claim)
                here |= self.no_room.where(lacking & allowed & small)
            codes = np.where(codes == 0, here, codes)
        return codes

    def _by_group(self, pod: Pod, claims: PodClaims, at: ColumnContext) -> Any:
        groups, row_of_group = self._groups(claims, at)
        codes = []
        for row in row_of_group:
            decision = self._on_row(pod, attrs.evolve(claims, bound=()), row, at)
            if decision.error:
                return NotImplemented
            given = (reason.bit for reason in (self.nothing_to_bind, self.no_room) if reason.text in decision.reasons)
            codes.append(sum(1 << bit for bit in given))
        return np.array(codes, np.uint16)[groups]

    def _on_row(self, pod: Pod, claims: PodClaims, row: int, at: ColumnContext) -> VolumeDecision:
        name = at.nodes.names[row]
        node = at.nodes.node(name) if name is not None else None
        return VolumeDecision() if node is None else self._decide(pod, claims, node, at.seen, self._by_index(node, at.seen))

    def _groups(self, claims: PodClaims, at: ColumnContext) -> tuple[NDArray[np.intp], list[int]]:
        """Number the distinct inputs of `decide`: by row the number, and for each number some row."""
        nodes = at.nodes
        inputs = DistinctRows(len(nodes.names))
        tracked = any(self._tracked(claim, at.seen) for claim in claims.delayed)
        for name in sorted({volumes.class_of_claim(claim) for claim in claims.delayed}):
            for _, rows in at.seen.free_volumes.segments(name):
                inputs.split_by_rows(rows)
            storage_class = at.seen.storage_class(name)
            if storage_class is not None:
                inputs.split_by_rows(nodes.allowed_topologies_mask(storage_class.allowed_topologies))
                if tracked:
                    inputs.split_by_values(at.seen.storage_capacities.largest(name))
        for claim in claims.delayed:
            for volume in self._named(claim, at.seen):
                inputs.split_by_rows(nodes.volume_affinity_mask(volume_affinity(volume)))
            selected = volumes.selected_node(claim, self.rules)
            if selected in nodes.row_of:
                inputs.split_by_rows([nodes.row_of[selected]])
        return inputs.groups()
