"""A pod's claims before any node is judged, and the decision that VolumeBinding makes about them for one node.

Holds values, and v1.36.2's rules about claims; those of other releases are in `releases`. Which volume suits a claim is
decided by `kvolsched.api.volumes`.
"""

from collections.abc import Callable

import attrs

from ....api import volumes
from ....api.kinds.csi import CSINode
from ....api.kinds.pod import Pod
from ....api.kinds.selector import NodeSelector
from ....api.kinds.storage_class import StorageClass
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ....world.log import Key
from ...columns.snapshot import Snapshot
from ...framework.evidence import Evidence
from ...framework.verdict import Code, Reason
from .scoring import Shares

PV_NOT_EXIST = Reason(3, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
UNBOUND_CLAIMS = Reason(4, "pod has unbound PersistentVolumeClaims", Code.ERROR)


@attrs.frozen
class PodClaims:
    """A pod's claims by state: bound, waiting for a consumer, and unbound although they should not wait."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[PersistentVolumeClaim, ...] = ()
    immediate: tuple[PersistentVolumeClaim, ...] = ()


@attrs.frozen
class VolumeDecision:
    """What would be written if a pod went to a node, or why it cannot go there.

    Args:
        static: claims, each with the volume to bind.
        provision: claims for which a volume is to be provisioned.
        reasons: why the node is rejected.
        error: why nothing can be decided.
        evidence: both sides of each comparison that failed.
        score: what the node gets for it, 0 to 100.
        shares: what each class counts in the score, where classes are scored.
    """

    static: tuple[tuple[Key, Key], ...] = ()
    provision: tuple[Key, ...] = ()
    reasons: tuple[str, ...] = ()
    error: str = ""
    evidence: tuple[Evidence, ...] = ()
    score: int = 0
    shares: Shares = ()


FITS = VolumeDecision()


ClaimOrder = Callable[[PersistentVolumeClaim], int]
"""Sort key: claims are matched to volumes in this order."""
ClaimTest = Callable[[PersistentVolumeClaim], bool]
WaitingTest = Callable[[PersistentVolumeClaim, "StorageClass | None", volumes.VolumeRules], bool]
AffinityReading = Callable[[PersistentVolume, "CSINode | None"], "NodeSelector | None"]
"""Return the affinity by which a bound volume is judged on the node of a CSINode; None admits it."""
Provisioning = Callable[[StorageClass], "StorageClass | None"]
"""Return the class by which a claim's volume is provisioned, None: it is not."""


def smallest_first(claim: PersistentVolumeClaim) -> int:
    """Order claims by rising request."""
    return volumes.requested(claim)


def waits_for_consumer(claim: PersistentVolumeClaim, storage_class: StorageClass | None,
                       _rules: volumes.VolumeRules) -> bool:
    """Say whether an unbound claim waits for a pod, as all rules but the oldest do."""
    return volumes.waits_for_pod(claim, storage_class)


def provisioned_where_allowed(storage_class: StorageClass) -> StorageClass | None:
    """Provision volumes of every class that has a provisioner, where allowedTopologies admit the node."""
    return storage_class if volumes.has_provisioner(storage_class) else None


@attrs.frozen
class ClaimFailures:
    """Rejects the pod if a claim that should be bound is not, and every node if its volume is missing (v1.36.2)."""

    def pod_rejection(self, claims: PodClaims) -> str:
        """Return why PreFilter rejects the pod, or ""."""
        return "pod has unbound immediate PersistentVolumeClaims" if claims.immediate else ""

    def node_error(self, claims: PodClaims) -> str:
        """Return the error of Filter on every node, or ""."""
        return ""

    def missing_volume(self, name: str) -> VolumeDecision:
        """Return the decision on a node for a claim bound to a volume that does not exist."""
        return VolumeDecision(reasons=(PV_NOT_EXIST.text,))


def unusable_claim(pod: Pod, seen: Snapshot) -> str:
    """Return why one of a pod's claims keeps it from every node (missing, lost, deleted, another pod's), or ""."""
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is None and volume.ephemeral is None:
            continue
        name = source.claim_name if source is not None else f"{pod.metadata.name}-{volume.name}"
        message = _unusable(pod, name, seen.claim(pod.metadata.namespace, name), ephemeral=source is None)
        if message:
            return message
    return ""


def _unusable(pod: Pod, name: str, claim: PersistentVolumeClaim | None, *, ephemeral: bool) -> str:
    if claim is None:
        if ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    owner = claim.metadata.controller
    if ephemeral and (owner is None or owner.uid != pod.metadata.uid):
        key = f"{claim.metadata.namespace}/{name}"
        return f"PVC {key} was not created for pod {pod.metadata.namespace}/{pod.metadata.name} (pod is not owner)"
    return ""
