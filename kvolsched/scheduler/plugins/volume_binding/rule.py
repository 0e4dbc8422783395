"""Whether a pod can have its volumes on a node, and which: FindPodVolumes of v1.36.2.

The volumes of bound claims must be reachable from the node. Claims that wait for a consumer are matched, one after the
other, to free volumes that the node reaches; for the rest it must be possible to provision there.
"""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from ....api import volumes
from ....api.kinds.csi import CSIDriver
from ....api.kinds.meta import evolve
from ....api.kinds.node import Node
from ....api.kinds.pod import Pod
from ....api.kinds.volume import PersistentVolumeClaim
from ....world.apiserver import key_of
from ...columns.snapshot import Snapshot
from ...columns.storage_capacities import max_volume_size
from ...csi_migration import MIGRATED_PLUGINS, effective_affinity
from ...framework.card import Card, RuleReads
from ...framework.evidence import Evidence, VolumeOutOfReach, labels_of
from ...framework.extension_points import Action, QueueingHint
from ...framework.verdict import OK, SKIP, Code, Ok, PreFilterReject, Reason, Reject, Skip
from ...volume_clauses import claims_of_reason, is_claim_of_pod, volume_clauses
from .capacity import CapacityCheck, StorageCapacityCheck
from .claims import (
    FITS,
    PV_NOT_EXIST,
    UNBOUND_CLAIMS,
    AffinityReading,
    ClaimFailures,
    ClaimOrder,
    ClaimTest,
    PodClaims,
    Provisioning,
    VolumeDecision,
    WaitingTest,
    provisioned_where_allowed,
    smallest_first,
    unusable_claim,
    waits_for_consumer,
)
from .evidence import NothingProvisioned, OtherNodeSelected, TopologyNotAllowed
from .matching import FinderOnNode, FindVolume, VolumeSearch, by_index, by_walk
from .scoring import Binding, VolumeScoring


def _stops_tracking_inline(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    """Say whether the driver of one of the pod's inline volumes stops publishing capacity."""
    stops = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    return stops and any(
        volume.csi is not None and volume.csi.driver == new.metadata.name for volume in pod.spec.volumes
    )


EVENTS = (  # as recorded: every volume counts, of whatever class and size; a deleted one when its deletion begins
    QueueingHint("PersistentVolume", "a volume is added, changed or deleted",
                 lambda _pod, old, new: new is not None or old is None or old.metadata.deletion_timestamp is None),
    QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added or changed",
                 lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD | Action.UPDATE),
    QueueingHint("StorageClass", "a class is added", action=Action.ADD),
    QueueingHint("StorageClass", "the allowedTopologies of a class change",
                 lambda _pod, old, new: old.allowed_topologies != new.allowed_topologies, Action.UPDATE),
    QueueingHint("CSIStorageCapacity", "capacity is published for the first time", action=Action.ADD),
    QueueingHint("CSIStorageCapacity", "published capacity grows",
                 lambda _pod, old, new: max_volume_size(new) > max_volume_size(old), Action.UPDATE),
    QueueingHint("CSIDriver", "the driver of an inline volume stops publishing capacity", _stops_tracking_inline,
                 Action.UPDATE),
    QueueingHint("CSIDriver", "the status of a driver, with its pools, changes",
                 lambda _pod, old, new: old.status != new.status, Action.UPDATE),
    QueueingHint("CSINode", "the drivers of a node are published", action=Action.ADD),
    QueueingHint("CSINode", "a node migrates other in-tree plugins",
                 lambda _pod, old, new: (old.metadata.annotations.get(MIGRATED_PLUGINS)
                                         != new.metadata.annotations.get(MIGRATED_PLUGINS)), Action.UPDATE),
    QueueingHint("Node", "a node is added or its labels change", action=Action.ADD | Action.NODE_LABEL),
)


CARD = Card(
    "V", "storage", "volumes", "where the pod's volumes are or can be made",
    reads=RuleReads(("spec.volumes",), ("metadata.labels",)),
    finds_fault_with_volumes=True,
    clauses=volume_clauses,
    clause_of_reason=claims_of_reason,
)  # fmt: skip


@attrs.frozen
class VolumeBindingRule:
    """Judges one node by the pod's volumes, and decides what to bind and to provision there.

    The defaults are those of v1.36.2; values of other releases are in `releases`.

    Args:
        node_conflict, bind_conflict, not_enough_space, pv_not_exist: the reasons, in the order in which they are given.
        unbound_claims: the error of 1.11 on every node for unbound claims that do not wait.
        rules: how volumes are matched.
        claim_order: the order in which claims are matched.
        is_bound: whether a claim counts as bound.
        waits: whether an unbound claim waits for a consumer.
        claim_failures: how unbound claims that do not wait, and volumes that do not exist, are answered.
        node_affinity: the affinity by which a bound volume is judged on the node of a CSINode.
        provisioning: by which class a claim's volume is provisioned.
        capacity: how published capacity is compared with what is to be provisioned.
        scoring: how nodes are scored; None: they are not (v1.36.2 without its gate).
        search: how volumes are found, node by node; None: over columns, and by a walk in the rule.
    """

    name: ClassVar[str] = "VolumeBinding"
    card: ClassVar[Card] = CARD
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = EVENTS

    node_conflict: Reason = Reason(0, "node(s) didn't match PersistentVolume's node affinity")
    bind_conflict: Reason = Reason(1, "node(s) didn't find available persistent volumes to bind")
    not_enough_space: Reason = Reason(2, "node(s) did not have enough free storage")
    pv_not_exist: Reason = PV_NOT_EXIST
    unbound_claims: Reason = UNBOUND_CLAIMS
    rules: volumes.VolumeRules = volumes.UPSTREAM
    claim_order: ClaimOrder = smallest_first
    is_bound: ClaimTest = volumes.is_bound
    waits: WaitingTest = waits_for_consumer
    claim_failures: ClaimFailures = ClaimFailures()
    node_affinity: AffinityReading = effective_affinity
    provisioning: Provisioning = provisioned_where_allowed
    capacity: CapacityCheck = StorageCapacityCheck()
    scoring: VolumeScoring | None = None
    search: VolumeSearch | None = None
    document_name: str = ""
    document_score_name: str = ""

    @property
    def watches(self) -> frozenset[str]:
        """The kinds in which drivers publish their capacity."""
        return self.capacity.watches

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """Skip a pod without claims; reject one with a claim that is missing, lost, deleted or wrongly unbound."""
        if not any(
            volume.persistent_volume_claim is not None
            or volume.ephemeral is not None
            or self.capacity.covers_inline(volume)
            for volume in pod.spec.volumes
        ):
            return SKIP
        message = unusable_claim(pod, seen) or self.claim_failures.pod_rejection(self.claims(pod, seen))
        return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message) if message else None

    def claims(self, pod: Pod, seen: Snapshot) -> PodClaims:
        """Sort the pod's claims by state, once for each volume that names one; a missing claim is left out."""
        bound: list[PersistentVolumeClaim] = []
        delayed: list[PersistentVolumeClaim] = []
        immediate: list[PersistentVolumeClaim] = []
        for name in pod.claim_names():
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is None:
                continue
            if self.is_bound(claim):
                bound.append(claim)
            elif self.waits(claim, seen.storage_class(volumes.class_of_claim(claim)), self.rules):
                delayed.append(claim)
            else:
                immediate.append(claim)
        return PodClaims(tuple(bound), tuple(delayed), tuple(immediate))

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Bound volumes reach the node; every other claim finds a volume there or can be provisioned."""
        decision = self._search_once(pod, node, seen, by_walk)
        if decision.error:
            return Reject((decision.error,), Code.ERROR)
        if decision.reasons:
            return Reject(decision.reasons, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, decision.evidence)
        return OK

    def decide(self, pod: Pod, node_name: str, seen: Snapshot) -> VolumeDecision:
        """Return what would be bound and provisioned for a pod on a node, or why it is rejected there."""
        answer = self.prefilter(pod, seen)
        if isinstance(answer, PreFilterReject):
            return VolumeDecision(error=answer.message)
        node = seen.node(node_name)
        if node is None:
            return VolumeDecision(error=f'node "{node_name}" not found')
        if isinstance(answer, Skip):
            return FITS
        return self._search_once(pod, node, seen, by_index)

    def _search_once(self, pod: Pod, node: Node, seen: Snapshot, finder: FinderOnNode) -> VolumeDecision:
        """Decide about a node; a search of its own remembers it for the rest of the pass (S0, Predicate, step 5)."""
        if self.search is None:
            return self.find_pod_volumes(pod, self.claims(pod, seen), node, seen, finder(node, seen, self.rules))
        find, name = self.search.finder(node, seen, self.rules), node.metadata.name
        key = ("decision", key_of(pod), pod.metadata.uid, name)
        return seen.visits.once(key, lambda: self.find_pod_volumes(pod, self.claims(pod, seen), node, seen, find))

    def find_pod_volumes(self, pod: Pod, claims: PodClaims, node: Node, seen: Snapshot,
                         find: FindVolume) -> VolumeDecision:
        """Check the bound claims, then match or provision the waiting ones; reasons of both are given."""
        if error := self.claim_failures.node_error(claims):
            return VolumeDecision(error=error)
        bound = self._check_bound(claims.bound, node, seen)
        if bound.error:
            return bound
        decision = self._match_or_provision(claims.delayed, node, seen, find)
        lacking = None if decision.error else self.capacity.lacking_inline(pod, node, seen)
        if lacking is not None:
            decision = evolve(decision, reasons=(self.not_enough_space.text,), evidence=(lacking,))
        if not bound.reasons:
            return decision
        pv_not_exist = bound.reasons == (self.pv_not_exist.text,)  # given last
        reasons = decision.reasons + bound.reasons if pv_not_exist else bound.reasons + decision.reasons
        return evolve(decision, reasons=reasons, evidence=bound.evidence + decision.evidence)

    def _check_bound(self, claims: Sequence[PersistentVolumeClaim], node: Node, seen: Snapshot) -> VolumeDecision:
        """Reject a node by the first bound volume that does not exist or whose affinity does not admit it."""
        for claim in claims:
            volume = seen.volume(claim.spec.volume_name)
            if volume is None:
                return self.claim_failures.missing_volume(claim.spec.volume_name)
            required = self.node_affinity(volume, seen.csi_node(node.metadata.name))
            if required is not None and not required.matches(node.metadata.labels):
                labels = labels_of(node, required.keys)
                return _reject(self.node_conflict, VolumeOutOfReach(volume.metadata.name, required, labels))
        return FITS

    def _match_or_provision(self, claims: Sequence[PersistentVolumeClaim], node: Node, seen: Snapshot,
                            find: FindVolume) -> VolumeDecision:
        """Give each waiting claim in turn the best volume that is left; the others must be possible to provision."""
        for claim in claims:
            selected = volumes.selected_node(claim, self.rules)
            if selected and selected != node.metadata.name:
                other = OtherNodeSelected(claim.metadata.name, selected, node.metadata.name)
                return _reject(self.bind_conflict, other)
        matched, to_provision = self.match(claims, find)
        static = tuple((key_of(claim), key_of(volume)) for claim, volume in matched)
        for claim in to_provision:
            refusal = self._check_provisioning(claim, node, seen)
            if refusal.error:
                return refusal
            if refusal.reasons:
                return attrs.evolve(refusal, static=static)
        provision = tuple(map(key_of, to_provision))
        if self.scoring is None:
            return VolumeDecision(static, provision)
        rooms = ((claim, self._room(claim, node, seen)) for claim in to_provision)
        score, shares = self.scoring.judge(matched, rooms, len(claims))
        return VolumeDecision(static, provision, score=score, shares=shares)

    def match(self, claims: Sequence[PersistentVolumeClaim],
              find: FindVolume) -> tuple[list[Binding], list[PersistentVolumeClaim]]:
        """Give each waiting claim in turn the best volume that is left; return who got one, and the others.

        A claim with a selected node is one of the others: no volume is looked for again.
        """
        matched: list[Binding] = []
        to_provision: list[PersistentVolumeClaim] = []
        to_match: list[PersistentVolumeClaim] = []
        for claim in claims:
            (to_provision if volumes.selected_node(claim, self.rules) else to_match).append(claim)
        taken: frozenset[str] = frozenset()
        for claim in sorted(to_match, key=self.claim_order):
            volume = find(claim, taken)
            if volume is None:
                to_provision.append(claim)
            else:
                matched.append((claim, volume))
                taken |= {volume.metadata.name}
        return matched, to_provision

    def _room(self, claim: PersistentVolumeClaim, node: Node, seen: Snapshot) -> int | None:
        """Return the room that is published for a claim to be provisioned on a node; None: none is looked at."""
        storage_class = seen.storage_class(volumes.class_of_claim(claim))
        provisioned = self.provisioning(storage_class) if storage_class is not None else None
        return None if provisioned is None else self.capacity.room(claim, provisioned, node, seen)

    def _check_provisioning(self, claim: PersistentVolumeClaim, node: Node, seen: Snapshot) -> VolumeDecision:
        """Reject a node if no volume can be provisioned for a claim there: class, allowedTopologies, capacity."""
        name, key = volumes.class_of_claim(claim), volumes.claim_key(claim)
        storage_class = seen.storage_class(name)
        if storage_class is None:
            error = f'failed to find storage class "{name}"' if name else f'no class for claim "{key}"'
            return VolumeDecision(error=error)
        provisioned = self.provisioning(storage_class)
        if provisioned is None:
            return _reject(self.bind_conflict, NothingProvisioned(claim.metadata.name, name))
        if not volumes.topology_allows(provisioned, node):
            allowed = provisioned.allowed_topologies
            keys = sorted({part.key for term in allowed for part in term.match_label_expressions})
            return _reject(self.bind_conflict, TopologyNotAllowed(allowed, labels_of(node, keys)))
        lacking = self.capacity.lacking(claim, provisioned, node, seen)
        return FITS if lacking is None else _reject(self.not_enough_space, lacking)


def _reject(reason: Reason, found: Evidence) -> VolumeDecision:
    return VolumeDecision(reasons=(reason.text,), evidence=(found,))
