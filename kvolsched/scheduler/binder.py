"""The volume binder: what it means to assume a pod's volumes, to bind them, and to find them bound.

Decisions are made by the plugin VolumeBinding (FindPodVolumes); here they become assumed objects and writes
(AssumePodVolumes, BindPodVolumes of S0) and are checked until the PV controller has done its part (kube-scheduler
v1.36.2, checkBindings). The scheduler never writes `pvc.spec.volumeName` (S0, Integrating volume binding).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from .. import volumes
from ..world.apiserver import Write
from ..world.component import Hand
from ..world.digest import RANK, WAIT
from ..world.log import Key
from .assume import AssumeCache, assume
from .plugins.volume_binding import Decision

BIND_TIMEOUT = 600.0  # seconds, bindTimeoutSeconds
POLL = 1.0  # seconds between two checks


@attrs.frozen
class Binding:
    """A note: what is under way for one pod on its chosen node (the documents' second cache, kept past the pass).

    `writes` remain to be made, in order; `written` are the versions that the API server answered; `stage` is write,
    wait, bind or tell (the failure in `message` is still to be told).
    """

    pod: Any
    node: str
    static: tuple[tuple[Key, Key], ...] = ()
    provision: tuple[Key, ...] = ()
    writes: tuple[Write, ...] = ()
    written: tuple[tuple[Key, int], ...] = attrs.field(default=(), eq=False)
    stage: str = "write"
    message: str = ""
    reason: str = ""
    deadline: float = attrs.field(default=0.0, metadata=WAIT)
    order: int = attrs.field(default=0, metadata=RANK)

    @property
    def needs_volumes(self) -> bool:
        """Whether anything is to be bound or provisioned for the pod."""
        return bool(self.static or self.provision)


def claims_of(pod: Any) -> list[Key]:
    """Return the keys of the claims that a pod uses, in the order of its volumes."""
    namespace = pod.metadata.namespace or "default"
    return [Key("PersistentVolumeClaim", namespace, name) for name in pod.claim_names()]


def all_bound(pod: Any, cache: AssumeCache) -> bool:
    """Say whether every claim of the pod is bound (S0, Assume, step 1)."""
    return all((claim := cache.get(key)) is not None and volumes.is_bound(claim) for key in claims_of(pod))


def assume_pod_volumes(
    hand: Hand, cache: AssumeCache, decision: Decision, node: str, options: volumes.Options
) -> tuple[Write, ...]:
    """Assume the chosen volumes and the claims to provision, and return the writes that make it true.

    Volumes come first, then claims, each in the order of the decision. A volume that needs no change is not assumed,
    but its (empty) write stays, as kube-scheduler sends it.
    """
    writes: list[Write] = []
    for claim_key, volume_key in decision.static:
        claim, volume = cache.get(claim_key), cache.get(volume_key)
        prebound = volumes.bind_volume_to_claim(volume, claim)
        if prebound is not volume:
            assume(hand, prebound, volume_key)
        words = f"scheduler reserves {volume_key.name} for claim {claim_key.name}: claimRef"
        writes.append(Write("update", volume_key, prebound, volume.metadata.resource_version, words=words))
    for claim_key in decision.provision:
        claim = cache.get(claim_key)
        selected = volumes.with_selected_node(claim, node, options)
        assume(hand, selected, claim_key)
        words = f"scheduler annotates claim {claim_key.name}: selected-node {node}"
        writes.append(Write("update", claim_key, selected, claim.metadata.resource_version, words=words))
    return tuple(writes)


def check_bindings(binding: Binding, hand: Hand) -> bool | str:
    """Say whether every claim of the binding is bound: True, False (wait on), or what failed, in kube-scheduler's words.

    Reads what the informers show, never what is assumed, claim by claim, and stops at the first that is merely
    unfinished (kube-scheduler v1.36.2, checkBindings).
    """
    seen, written = hand.seen, dict(binding.written)
    node = seen.get("Node", binding.node)
    if node is None:
        return f'failed to get node "{binding.node}": node "{binding.node}" not found'
    pod = seen.at(Key("Pod", binding.pod.metadata.namespace or "default", binding.pod.metadata.name))
    if pod is None or pod.metadata.uid != binding.pod.metadata.uid:
        name = binding.pod.metadata.name
        return f'pod does not exist any more: pod "{name}" not found'
    for claim_key, volume_key in binding.static:
        answer = _check_static(seen, written, claim_key, volume_key)
        if answer is not True:
            return answer
    for claim_key in binding.provision:
        answer = _check_provisioned(seen, written, claim_key, binding.node, node)
        if answer is not True:
            return answer
    return True


def _older(obj: Any, key: Key, written: dict[Key, int]) -> bool:
    return bool(obj.metadata.resource_version < written.get(key, 0))


def _check_static(seen: Any, written: dict[Key, int], claim_key: Key, volume_key: Key) -> bool | str:
    volume = seen.at(volume_key)
    if volume is None:
        return f'failed to check binding: persistentvolumes "{volume_key.name}" not found'
    claim = seen.at(claim_key)
    if claim is None:
        return f'failed to check binding: persistentvolumeclaims "{claim_key.name}" not found'
    if _older(volume, volume_key, written):
        return False
    if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
        return f'ClaimRef got reset for pv "{volume_key.name}"'
    return bool(volumes.is_bound(claim))


def _check_provisioned(seen: Any, written: dict[Key, int], claim_key: Key, node_name: str, node: Any) -> bool | str:
    claim = seen.at(claim_key)
    if claim is None:
        return f'failed to check provisioning pvc: persistentvolumeclaims "{claim_key.name}" not found'
    if _older(claim, claim_key, written):
        return False
    if not claim.metadata.annotations:
        return f'selectedNode annotation reset for PVC "{claim_key.name}"'
    if volumes.selected_node(claim) != node_name:
        return f'provisioning failed for PVC "{claim_key.name}"'
    if claim.spec.volume_name:
        volume = seen.get("PersistentVolume", claim.spec.volume_name)
        if volume is None:
            return False
        if not volumes.volume_fits_node(volume, node):
            return f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node_name}": no matching NodeSelectorTerms'
    return bool(volumes.is_bound(claim))


def without(binding: Binding, done: Write, version: int) -> Binding:
    """Return the binding after one of its writes was made and answered with this version."""
    return attrs.evolve(
        binding,
        writes=tuple(write for write in binding.writes if write is not done),
        written=(*binding.written, (done.key, version)),
    )


def unwritten(binding: Binding) -> Sequence[Key]:
    """Return the keys whose write has not been made: what a failure takes back in the cache."""
    return [write.key for write in binding.writes if write.verb == "update"]
