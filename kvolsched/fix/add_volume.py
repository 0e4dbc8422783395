"""Catalogue: the edit that adds a volume for a claim, reachable from one node or from all."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts
from kvolsched.api.kinds.node import HOSTNAME_LABEL, Node
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from kvolsched.api.kinds.volume import (
    BIND_COMPLETED,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)

from .edit import Edit, ObjectChange
from .trial_cluster import TrialCluster

VOLUME_COST = 3


def add_volume(
    claim: PersistentVolumeClaim, trial: TrialCluster, node: Node | None, *, name: str = "", bind: bool = False
) -> Iterator[Edit]:
    """Add a volume that the claim asks for, reachable from the given node, else from every node.

    Args:
        claim: its size, access modes, mode and class are the volume's.
        trial: the cluster that is changed.
        node: the node that reaches the volume; None for all.
        name: the volume's name; by default the one that the claim names, or one made of the claim's name.
        bind: the volume is reserved for the claim, and the claim is expected to be bound to it.
    """
    name = name or claim.spec.volume_name or f"{claim.metadata.name}-more"
    if trial.get("PersistentVolume", name) is not None:
        return
    affinity = None
    if node is not None and HOSTNAME_LABEL in node.metadata.labels and not bind:
        hostname = Requirement(key=HOSTNAME_LABEL, operator="In", values=(node.metadata.labels[HOSTNAME_LABEL],))
        term = NodeSelectorTerm(match_expressions=(hostname,))
        affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))
    selector = claim.spec.selector
    size = claim.spec.resources.requests.get("storage", "1Gi")
    ref = volumes.claim_ref_of(claim) if bind else None
    volume = PersistentVolume(
        metadata=ObjectMeta(name=name, labels=selector.match_labels if selector is not None else EMPTY),
        spec=PersistentVolumeSpec(
            capacity=Frozen({"storage": size}),
            access_modes=claim.spec.access_modes or ("ReadWriteOnce",),
            claim_ref=attrs.evolve(ref, uid="", resource_version=0) if ref is not None else None,
            persistent_volume_reclaim_policy="Retain",
            storage_class_name=volumes.class_of_claim(claim),
            volume_mode=claim.spec.volume_mode,
            node_affinity=affinity,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            rest=Frozen({"hostPath": Frozen({"path": f"/mnt/{name}"})}),
        ),
    )
    available = attrs.evolve(volume, status=PersistentVolumeStatus(phase="Available"))
    where = f" that {node.metadata.name} reaches" if affinity is not None and node is not None else ""
    words = f"add a volume {name} of {size}{where} for claim {claim.metadata.name}"
    expected = [ObjectChange(volume, available)]
    if bind:
        reserved = evolve_parts(available, spec={"claim_ref": volumes.claim_ref_of(claim)})
        annotations = claim.metadata.annotations.merged({BIND_COMPLETED: "yes"})
        bound = evolve_parts(claim, metadata={"annotations": annotations}, spec={"volume_name": name})
        expected = [ObjectChange(volume, reserved), ObjectChange(claim, bound)]
    yield Edit(words, VOLUME_COST, (ObjectChange(None, volume),), tuple(expected), "it must be a disk that exists")
