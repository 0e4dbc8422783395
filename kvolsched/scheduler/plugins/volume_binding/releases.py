"""VolumeBinding in 1.11 and in the design documents: the rules that differ from v1.36.2, and plugins made of them."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ....api import volumes
from ....api.kinds.csi import CSINode
from ....api.kinds.selector import NodeSelector
from ....api.kinds.storage_class import StorageClass
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...framework.verdict import Reason
from .capacity import CapacityCheck, DriverPoolCheck
from .claims import (
    UNBOUND_CLAIMS,
    ClaimFailures,
    PodClaims,
    VolumeDecision,
    provisioned_where_allowed,
    waits_for_consumer,
)
from .column import VolumeBinding
from .scoring import SizeMatch


def largest_first(claim: PersistentVolumeClaim) -> int:
    """Order claims by falling request (S0, Predicate step 2; every release: rising)."""
    return -volumes.requested(claim)


def has_volume_name(claim: PersistentVolumeClaim) -> bool:
    """Count a claim as bound once it names its volume, before the binding is complete (1.11)."""
    return bool(claim.spec.volume_name)


def waits_until_selected(claim: PersistentVolumeClaim, storage_class: StorageClass | None,
                         rules: volumes.VolumeRules) -> bool:
    """Say whether a claim waits for a consumer and no node is selected; a selected one is merely unbound (1.11)."""
    return waits_for_consumer(claim, storage_class, rules) and not volumes.selected_node(claim, rules)


def never_waits(_claim: PersistentVolumeClaim, _class: StorageClass | None, _rules: volumes.VolumeRules) -> bool:
    """Let no claim wait for a consumer (gate VolumeScheduling off)."""
    return False


def stored_affinity(volume: PersistentVolume, _csi_node: CSINode | None) -> NodeSelector | None:
    """Return a volume's node affinity as it is stored, whatever the node has migrated (before CSI migration)."""
    return volume.spec.required_node_affinity


def no_affinity(_volume: PersistentVolume, _csi_node: CSINode | None) -> NodeSelector | None:
    """Let every node reach every bound volume (gate VolumeScheduling off; S1, where VolumeNode judges them)."""
    return None


def provisioned_anywhere(storage_class: StorageClass) -> StorageClass | None:
    """Provision volumes of every class that has a provisioner, whatever its allowedTopologies (S1)."""
    return provisioned_where_allowed(attrs.evolve(storage_class, allowed_topologies=()))


def never_provisioned(_class: StorageClass) -> StorageClass | None:
    """Provision no volume for a selected node (gate DynamicProvisioningScheduling off)."""
    return None


@attrs.frozen
class ClaimErrors(ClaimFailures):
    """Answers with an error on each node, which ends the pass (1.11)."""

    def pod_rejection(self, claims: PodClaims) -> str:
        return ""

    def node_error(self, claims: PodClaims) -> str:
        return UNBOUND_CLAIMS.text if claims.immediate else ""

    def missing_volume(self, name: str) -> VolumeDecision:
        return VolumeDecision(error=f'could not find v1.PersistentVolume "{name}"')


CHECK_VOLUME_BINDING = VolumeBinding(
    node_conflict=Reason(0, "node(s) had volume node affinity conflict"),
    rules=volumes.DESIGN, claim_order=largest_first, is_bound=has_volume_name, waits=waits_until_selected,
    claim_failures=ClaimErrors(), node_affinity=stored_affinity, capacity=DriverPoolCheck(),
    scoring=SizeMatch(),
    document_name="CheckVolumeBinding", document_score_name="PrioritizeVolumes",
)
"""S0's predicate and priority with S2's capacity check, and 1.11's words and answers where the documents are silent."""

MATCH_UNBOUND_PVCS = attrs.evolve(CHECK_VOLUME_BINDING, rules=volumes.DRAFT, provisioning=provisioned_anywhere,
                                  node_affinity=no_affinity, capacity=CapacityCheck(), document_name="MatchUnboundPVCs",
                                  document_score_name="PrioritizeUnboundPVCs")
"""S1's predicate and priority: unbound claims only, the affinity of bound volumes is VolumeNode's."""

WITHOUT_GATE: Mapping[str, Mapping[str, Any]] = {
    "DynamicProvisioningScheduling": {"provisioning": never_provisioned, "waits": waits_for_consumer},
    "VolumeScheduling": {"waits": never_waits, "node_affinity": no_affinity},
    "CSIStorageCapacity": {"capacity": CapacityCheck()},
}
"""Feature gate -> what VolumeBinding does instead if the gate is off; a later entry wins."""


def with_gates_off(plugin: VolumeBinding, gates: Iterable[str]) -> VolumeBinding:
    """Return a plugin as it works without these feature gates; gates that do not concern it are ignored."""
    off = set(gates)
    for gate, changes in WITHOUT_GATE.items():
        if gate in off:
            plugin = attrs.evolve(plugin, **changes)
    return plugin
