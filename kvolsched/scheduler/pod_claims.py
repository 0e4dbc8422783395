"""Which claims a pod uses: what several plugins ask before any node is judged."""

from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.volume import PersistentVolumeClaim


def is_claim_of_pod(pod: Pod, claim: PersistentVolumeClaim | None) -> bool:
    """Say whether a claim is one of a pod's."""
    if claim is None or claim.metadata.namespace != pod.metadata.namespace:
        return False
    return claim.metadata.name in pod.claim_names()


def named_claims(pod: Pod) -> list[str]:
    """Return the names of the claims in a pod's spec, without those of its ephemeral volumes."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source is not None]
