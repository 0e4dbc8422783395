"""A pod's claims before any node is asked: sorted out, their shapes, and what deciding about them yields.

Values and words for VolumeBinding; nothing here judges a node. What suits a claim is said by `kvolsched.volumes`.
"""

from __future__ import annotations

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import LabelSelector, NodeSelector
from kvolsched.api.kinds.storage_class import NO_PROVISIONER, StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.world.log import Key

from .framework.verdict import Evidence
from .requests import format_amount


@attrs.frozen
class VolumeDecision:
    """What would be written if a pod went to a node: volumes for claims, claims to provision; or why it cannot go."""

    static: tuple[tuple[Key, Key], ...] = ()
    provision: tuple[Key, ...] = ()
    reasons: tuple[str, ...] = ()
    error: str = ""
    evidence: tuple[Evidence, ...] = ()
    score: int = 0

    @property
    def fits(self) -> bool:
        """Whether the pod can have its volumes there."""
        return not self.reasons and not self.error


@attrs.frozen
class PodClaims:
    """A pod's claims, sorted out: bound, waiting for a consumer, and those that should have been bound before."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[PersistentVolumeClaim, ...] = ()
    immediate: tuple[PersistentVolumeClaim, ...] = ()


@attrs.define(frozen=True, cache_hash=True)
class ClaimShape:
    """What a claim asks of a volume besides its size."""

    storage_class: str
    mode: str
    access_modes: frozenset[str]
    selector: LabelSelector | None
    attributes_class: str
    options: volumes.VolumeRules
    listed: str | None  # the class in the field, where volumes are looked for by that
    claim: PersistentVolumeClaim = attrs.field(eq=False, hash=False, repr=False)

    @classmethod
    def of(cls, claim: PersistentVolumeClaim, options: volumes.VolumeRules) -> ClaimShape:
        """Return the shape of a claim."""
        return cls(
            volumes.class_of_claim(claim),
            volumes.mode(claim),
            frozenset(claim.spec.access_modes),
            claim.spec.selector,
            claim.spec.volume_attributes_class_name or "",
            options,
            claim.spec.storage_class_name if options.lists_by_field else None,
            claim,
        )

    def suits(self, volume: PersistentVolume) -> bool:
        """Say whether an unclaimed volume suits, by the rules that scheduler and PV controller share."""
        return volumes.suits(self.claim, volume, self.options)


def volume_key(thing: PersistentVolume | PersistentVolumeClaim) -> Key:
    """Return where a volume or claim is."""
    return Key(thing.kind, thing.metadata.namespace, thing.metadata.name)


def is_claim_of_pod(pod: Pod, claim: PersistentVolumeClaim | None) -> bool:
    """Say whether a claim is one of a pod's."""
    if claim is None or claim.metadata.namespace != pod.metadata.namespace:
        return False
    return claim.metadata.name in pod.claim_names()


def named_claims(pod: Pod) -> list[str]:
    """Return the claims that a pod names itself, without those of its ephemeral volumes."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source is not None]


def unusable_reason(pod: Pod, name: str, claim: PersistentVolumeClaim | None, *, ephemeral: bool) -> str:
    """Return why a claim makes the whole pod wait, or ""."""
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
        where = f"{claim.metadata.namespace}/{name}"
        return f"PVC {where} was not created for pod {pod.metadata.namespace}/{pod.metadata.name} (pod is not owner)"
    return ""


def has_provisioner(storage_class: StorageClass) -> bool:
    """Say whether a class names a provisioner."""
    return storage_class.provisioner not in ("", NO_PROVISIONER)


def size_match_score(matched: list[tuple[PersistentVolumeClaim, PersistentVolume]], claims: int) -> int:
    """Return 100·requested/capacity, the mean over all waiting claims; one to be provisioned counts 0."""
    if not claims:
        return 0
    shares = sum(100 * volumes.requested(claim) // max(volumes.capacity(volume), 1) for claim, volume in matched)
    return (2 * shares + claims) // (2 * claims)  # the mean, half rounded up


def unreachable_evidence(volume: PersistentVolume, required: NodeSelector | None, node: Node) -> Evidence:
    """Return both sides of a volume that a node does not reach, by the affinity that counts there."""
    terms = required.node_selector_terms if required is not None else ()
    labels = node.metadata.labels
    keys = dict.fromkeys(part.key for term in terms for part in term.match_expressions)
    words = ", ".join(f"{key}={labels[key]}" if key in labels else f"no label {key}" for key in keys)
    return Evidence(
        f"volume {volume.metadata.name}: {required}",
        "does not match",
        words or "the node",
        (required, labels),
    )


def capacity_evidence(claim: PersistentVolumeClaim, most: int, name: str) -> Evidence:
    """Return both sides of a claim for which no volume of its size could be made; `most` below 0: nothing is told."""
    need = volumes.requested(claim)
    told = f"{format_amount('memory', most)} at most" if most >= 0 else "nothing"
    asked = f"claim {claim.metadata.name} asks {format_amount('memory', need)}"
    return Evidence(asked, ">", f"{told} told of class {name}", (need, most))


def allowed_topologies_text(storage_class: StorageClass) -> str:
    """Return allowedTopologies in words."""
    return " or ".join(
        " and ".join(f"{part.key} In [{', '.join(part.values)}]" for part in term.match_label_expressions) or "nothing"
        for term in storage_class.allowed_topologies
    )


def node_topology_text(storage_class: StorageClass, node: Node) -> str:
    """Return in words what a node carries of the labels that a class's allowedTopologies read."""
    keys = {part.key for term in storage_class.allowed_topologies for part in term.match_label_expressions}
    labels = node.metadata.labels
    return ", ".join(f"{key}={labels[key]}" if key in labels else f"no label {key}" for key in sorted(keys))
