"""What the PV controller looks things up in: its mutation cache of claims and volumes, and the pods that use a claim.

Every question of a sync is a lookup in an index, so that no sync goes through all objects.
"""

from collections.abc import Iterator
from typing import Any

from ...api.kinds.pod import Pod
from ...api.kinds.volume import BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim
from ...api.volumes import claim_ref_key, class_of_claim, class_of_volume, modes_of
from ...world.component import TurnContext
from ...world.log import Key
from ...world.mutation_cache import MutationCache, drop_written
from ...world.plan import enqueue
from ...world.view import Index, InformerCache, View
from .options import CLAIM, CLAIMS, VOLUME, VOLUMES


def views(_seen: InformerCache) -> dict[str, View]:
    """Return the controller's views, empty."""
    cache = MutationCache(
        (CLAIM, VOLUME), free_volumes=Index(VOLUME, _index_free_volume),
        claimed_volumes=Index(VOLUME, _index_claimed_volume), pending_claims=Index(CLAIM, _index_pending_claim)
    )
    return {"cache": cache, "pods": Index("Pod", _index_pod)}


def cache_of(ctx: TurnContext) -> MutationCache:
    """Return the controller's mutation cache of claims and volumes."""
    cache: MutationCache = ctx.views["cache"]
    return cache


def pods_of(ctx: TurnContext, claim: str) -> list[Pod]:
    """Return the pods that use a claim (namespace/name) and have not ended, sorted by key."""
    pods: list[Pod] = ctx.views["pods"].get(claim)
    return pods


def object_to_sync(ctx: TurnContext, key: Key) -> Any:
    """Return an object as the watch shows it; None if it is gone, or while the controller's own write is newer."""
    cache = cache_of(ctx)
    written, seen = cache.written.get(key), cache.watched.get(key)
    if written is None:
        return seen
    if seen is None:  # the deletion has just arrived
        drop_written(ctx, key)
        if key.kind == CLAIM and written.spec.volume_name:
            enqueue(ctx, VOLUMES, written.spec.volume_name)
        elif key.kind == VOLUME and written.spec.claim_ref is not None:
            enqueue(ctx, CLAIMS, claim_ref_key(written.spec.claim_ref))
        return None
    if isinstance(written, str) or seen.metadata.resource_version >= written.metadata.resource_version:
        drop_written(ctx, key)
        return seen
    return None


def _index_free_volume(volume: PersistentVolume) -> Iterator[tuple[str, ...]]:
    """Yield the class and access modes of a volume without claimRef."""
    if volume.spec.claim_ref is None:
        yield (class_of_volume(volume), *modes_of(volume))


def _index_claimed_volume(volume: PersistentVolume) -> Iterator[str]:
    if volume.spec.claim_ref is not None:
        yield claim_ref_key(volume.spec.claim_ref)


def _index_pending_claim(claim: PersistentVolumeClaim) -> Iterator[tuple[str, str]]:
    """Yield what a claim waits for: unbound, the volume that it names or one of its class; lost, its volume."""
    wanted, unbound = claim.spec.volume_name, BIND_COMPLETED not in claim.metadata.annotations
    if wanted and (unbound or claim.status.phase == "Lost"):
        yield ("volume", wanted)
    elif unbound:
        yield ("class", class_of_claim(claim))


def _index_pod(pod: Pod) -> Iterator[str]:
    if not pod.terminal:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"
