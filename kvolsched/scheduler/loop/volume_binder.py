"""The volume binder: assumes a pod's volumes, builds the writes that bind them, and checks whether they are bound.

The plugin VolumeBinding decides (FindPodVolumes); this module turns its decision into assumed objects and writes
(AssumePodVolumes and BindPodVolumes of S0) and checks them until the PV controller has bound the claims (checkBindings
of kube-scheduler v1.36.2). The scheduler never writes `pvc.spec.volumeName` (S0, Integrating volume binding).
"""

from itertools import chain
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...world.apiserver import Write, key_of, ref
from ...world.component import TurnContext
from ...world.digest import DIGEST_RANK, DIGEST_WAIT
from ...world.log import Key
from ...world.view import InformerCache
from ..csi_migration import effective_affinity
from ..plugins.volume_binding import VolumeDecision
from .assume_cache import AssumeCache, assume

CHECK_PERIOD = 1.0  # seconds between two checks


@attrs.frozen
class FoundVolumes:
    """The volumes found for a pod's claims on a node, and the claims to provision, as seen when it was chosen."""

    static: tuple[tuple[PersistentVolumeClaim, PersistentVolume], ...] = ()
    provision: tuple[PersistentVolumeClaim, ...] = ()


@attrs.frozen
class BindingInProgress:
    """The note of a binding cycle: a pod, its node, and the remaining writes (S0's second cache, kept past the pass).

    `writes` are the remaining writes in order; `written` are the versions that the API server returned; `stage` is
    write, wait, bind, or tell (requeue the pod, with the failure in `message`).
    """

    pod: Pod
    node: str
    static: tuple[tuple[Key, Key], ...] = ()
    provision: tuple[Key, ...] = ()
    writes: tuple[Write, ...] = ()
    written: tuple[tuple[Key, int], ...] = attrs.field(default=(), eq=False)
    stage: str = "write"
    message: str = ""
    deadline: float = attrs.field(default=0.0, metadata=DIGEST_WAIT)
    order: int = attrs.field(default=0, metadata=DIGEST_RANK)


def claim_keys_of_pod(pod: Any) -> list[Key]:
    """Return the keys of the claims that a pod uses, in the order of its volumes."""
    namespace = pod.metadata.namespace or "default"
    return [Key("PersistentVolumeClaim", namespace, name) for name in pod.claim_names()]


def all_bound(pod: Any, cache: AssumeCache) -> bool:
    """Say whether every claim of the pod is bound (S0, Assume, step 1)."""
    return all((claim := cache.get(key)) is not None and volumes.is_bound(claim) for key in claim_keys_of_pod(pod))


def find_pod_volumes(decision: VolumeDecision, cache: AssumeCache) -> FoundVolumes:
    """Return the volumes and claims of a decision, as currently seen or assumed."""
    get = cache.get
    return FoundVolumes(tuple((get(claim), get(volume)) for claim, volume in decision.static),
                        tuple(map(get, decision.provision)))


class CannotAssume(Exception):
    """An object has changed since the decision; the message is that of the assume cache."""


def assume_pod_volumes(ctx: TurnContext, cache: AssumeCache, found: FoundVolumes, node: str,
                       options: volumes.VolumeRules, *, writes_all: bool) -> tuple[Write, ...]:
    """Assume the chosen volumes and the claims to provision, and return the writes that bind them.

    Volumes come first, then claims, each in the order of the decision. A volume that is reserved for the claim already
    is not assumed; a claim is, also one that has its selected node already, unless its annotation names no node (S1).

    Args:
        writes_all: write also volumes that are reserved for the claim already (v1.36.2); 1.11 writes them only if there
            are claims to provision and no other volumes.

    Raises:
        CannotAssume: one of the objects has changed; nothing is assumed.
    """
    reserved = [_reserve(claim, volume) for claim, volume in found.static]
    selected = [_select(claim, node, options, cache) for claim in found.provision]
    remembered = [write for write in selected if volumes.selected_node(write.new, options) == node]
    known = {id(volume) for _, volume in found.static}
    changing = [write for write in reserved if id(write.new) not in known]
    for write in (*changing, *selected):
        refusal = cache.volume_rule.refusal(write.key, cache.seen.get(write.key), write.new)
        if refusal:
            raise CannotAssume(refusal)
    for write in (*changing, *remembered):
        assume(ctx, write.new, write.key)
    if writes_all or (selected and not changing):
        return (*reserved, *selected)
    return (*changing, *selected)


def _reserve(claim: PersistentVolumeClaim, volume: PersistentVolume) -> Write:
    """Return the write that prebinds a volume; its new value is the same object if that is reserved already."""
    key, prebound = key_of(volume), volumes.bind_volume_to_claim(volume, claim)
    words = f"Scheduler reserves {ref(key)} for {ref(key_of(claim))}: claimRef"
    return Write("update", key, prebound, volume.metadata.resource_version, words=words)


def _select(claim: PersistentVolumeClaim, node: str, options: volumes.VolumeRules, cache: AssumeCache) -> Write:
    """Return the write that annotates a claim with its selected node; S1's annotation names the provisioner."""
    storage_class = cache.snapshot.storage_class(volumes.class_of_claim(claim))
    value = options.selected_node_value(node, storage_class.provisioner if storage_class is not None else "")
    key, selected = key_of(claim), volumes.with_selected_node(claim, value, options)
    words = f"Scheduler selects {value} for {ref(key)}: annotation {options.selected_node_key}"
    return Write("update", key, selected, claim.metadata.resource_version, words=words)


def check_bindings(binding: BindingInProgress, ctx: TurnContext) -> bool | str:
    """Return True if every claim of the binding is bound, False if not yet, or the failure in Kubernetes' words.

    Reads the informers' objects, never assumed ones, claim by claim, and stops at the first claim that is not bound yet
    (kube-scheduler v1.36.2, checkBindings). Volumes of a plugin that is migrated on the node are translated first.
    """
    seen, written = ctx.seen, dict(binding.written)
    node = seen.get("Node", binding.node)
    if node is None:
        return f'failed to get node "{binding.node}": node "{binding.node}" not found'
    if seen.at(key_of(binding.pod)) is None:
        return f'pod does not exist any more: pod "{binding.pod.metadata.name}" not found'
    answers = chain((_check_static(seen, written, keys, node) for keys in binding.static),
                    (_check_provisioned(seen, written, key, node) for key in binding.provision))  # fmt: skip
    return next((answer for answer in answers if answer is not True), True)


def _older(obj: Any, key: Key, written: dict[Key, int]) -> bool:
    """Say whether the informer's object is older than the written one."""
    return bool(obj.metadata.resource_version < written.get(key, 0))


def _check_static(seen: InformerCache, written: dict[Key, int], keys: tuple[Key, Key], node: Node) -> bool | str:
    claim_key, volume_key = keys
    volume, claim = seen.at(volume_key), seen.at(claim_key)
    if volume is None:
        return f'failed to check binding: persistentvolumes "{volume_key.name}" not found'
    if claim is None:
        return f'failed to check binding: persistentvolumeclaims "{claim_key.namespace}/{claim_key.name}" not found'
    if _older(volume, volume_key, written):
        return False
    if not _reaches(volume, node, seen):
        return _affinity_mismatch(volume, node)
    if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
        return f'ClaimRef got reset for pv "{volume_key.name}"'
    return volumes.is_bound(claim)


def _check_provisioned(seen: InformerCache, written: dict[Key, int], key: Key, node: Node) -> bool | str:
    claim = seen.at(key)
    if claim is None:
        return f'failed to check provisioning pvc: persistentvolumeclaims "{key.namespace}/{key.name}" not found'
    if _older(claim, key, written):
        return False
    if not claim.metadata.annotations:
        return f'selectedNode annotation reset for PVC "{key.name}"'
    if volumes.selected_node(claim) != node.metadata.name:
        return f'provisioning failed for PVC "{key.name}"'
    if claim.spec.volume_name:
        volume = seen.get("PersistentVolume", claim.spec.volume_name)
        if volume is None:  # the informer may be late
            return False
        if not _reaches(volume, node, seen):
            return _affinity_mismatch(volume, node)
    return volumes.is_bound(claim)


def _reaches(volume: PersistentVolume, node: Node, seen: InformerCache) -> bool:
    affinity = effective_affinity(volume, seen.get("CSINode", node.metadata.name))
    return affinity is None or affinity.matches(node.metadata.labels)


def _affinity_mismatch(volume: PersistentVolume, node: Node) -> str:
    names = f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node.metadata.name}"'
    return f"{names}: no matching NodeSelectorTerms"


def after_write(binding: BindingInProgress, done: Write, version: int) -> BindingInProgress:
    """Return the binding without its first write, which the API server answered with this version."""
    return evolve(binding, writes=binding.writes[1:], written=(*binding.written, (done.key, version)))
