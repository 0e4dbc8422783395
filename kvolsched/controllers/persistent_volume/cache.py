"""What the PV controller looks things up in: its own cache of claims and volumes, and the pods that use a claim.

Every question of a sync is a word of an index, so that no sync goes through all objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.kinds.pod import Pod
from ...api.kinds.volume import BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim
from ...volumes import claim_ref_key, class_of_claim, class_of_volume, modes_of
from ...world.component import TurnContext
from ...world.mutation_cache import MutationCache
from ...world.view import Index, InformerCache, View

CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"


def views(_seen: InformerCache) -> dict[str, View]:
    """Return the controller's views, empty."""
    own = MutationCache(
        (CLAIM, VOLUME),
        free=Index(VOLUME, _free_volumes),
        claimed=Index(VOLUME, _claimed_volumes),
        pending=Index(CLAIM, _pending_claims),
    )
    return {"own": own, "pods": Index("Pod", _claims_of_pods)}


def own_of(ctx: TurnContext) -> MutationCache:
    """Return the controller's own cache of claims and volumes."""
    own = ctx.views["own"]
    assert isinstance(own, MutationCache)
    return own


def pods_of(ctx: TurnContext, claim: str) -> list[Pod]:
    """Return the pods that use a claim (namespace/name) and have not ended, sorted by key."""
    pods = ctx.views["pods"]
    assert isinstance(pods, Index)
    return pods.get(claim)


def _free_volumes(volume: PersistentVolume) -> Iterator[tuple[str, ...]]:
    """Yield the word of a volume that nobody claims: its class, then its access modes."""
    if volume.spec.claim_ref is None:
        yield (class_of_volume(volume), *modes_of(volume))


def _claimed_volumes(volume: PersistentVolume) -> Iterator[str]:
    if volume.spec.claim_ref is not None:
        yield claim_ref_key(volume.spec.claim_ref)


def _pending_claims(claim: PersistentVolumeClaim) -> Iterator[tuple[str, str]]:
    """Yield the word of a claim that is not bound: the volume it names, or the class it wants one of."""
    if BIND_COMPLETED not in claim.metadata.annotations:
        wanted = claim.spec.volume_name
        yield ("volume", wanted) if wanted else ("class", class_of_claim(claim))


def _claims_of_pods(pod: Pod) -> Iterator[str]:
    if not pod.terminal:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"
