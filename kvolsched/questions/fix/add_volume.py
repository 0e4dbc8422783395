"""Catalogue: the edit that adds a volume for a claim, reachable from one node or from all.

Where a driver makes the volumes of the claim's class, nobody should make one by hand, unless the claim names it.
"""

from collections.abc import Iterator
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts
from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from ...api.kinds.volume import (
    BIND_COMPLETED,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from ...api.words import listed
from .edit import Edit, ObjectChange
from .trial_cluster import TrialCluster

VOLUME_COST = 3
CSI_OF_IN_TREE = {"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
                  "kubernetes.io/cinder": "cinder.csi.openstack.org", "kubernetes.io/azure-disk": "disk.csi.azure.com"}
IN_TREE = "kubernetes.io/"


def add_volume(
    claim: PersistentVolumeClaim, trial: TrialCluster, node: Node | None, *, name: str = ""
) -> Iterator[Edit]:
    """Add a volume that the claim asks for, reachable from the given node, else from every node.

    Args:
        claim: its size, access modes, mode and class are the volume's.
        trial: the cluster that is changed.
        node: the node that reaches the volume; None for all: the claim is then expected to be bound to the volume, and
            reserves it if it names it.
        name: the volume's name; by default the one that the claim names, or one made of the claim's name.
    """
    named = bool(name or claim.spec.volume_name)
    name = name or claim.spec.volume_name or f"{claim.metadata.name}-more"
    if trial.get("PersistentVolume", name) is not None:
        return
    if node is not None and not trial.is_stored(claim):
        return  # the same volume for the claim that this one replaces says as much with fewer edits
    driver = _driver_of(claim, trial)
    labels = topology_labels(node, driver, trial) if node is not None else {}
    affinity = None
    if labels:
        parts = tuple(Requirement(key=key, operator="In", values=(value,)) for key, value in sorted(labels.items()))
        term = NodeSelectorTerm(match_expressions=parts)
        affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))
    apart = any(registered.topology_keys for each in trial.of_kind("CSINode") if (registered := each.driver(driver)))
    source, note = _source(name, driver, on_one_node=affinity is not None, anywhere=apart and affinity is None)
    selector = claim.spec.selector
    size = claim.spec.resources.requests.get("storage", "1Gi")
    ref = volumes.claim_ref_of(claim) if node is None and named else None
    if ref is not None:  # a claim that is bound already would be Lost for a volume that lacks its uid
        ref = attrs.evolve(ref, uid=ref.uid if volumes.is_bound(claim) else "", resource_version=0)
    volume = PersistentVolume(
        metadata=ObjectMeta(name=name, labels=selector.match_labels if selector is not None else EMPTY),
        spec=PersistentVolumeSpec(
            capacity=Frozen({"storage": size}),
            access_modes=claim.spec.access_modes or ("ReadWriteOnce",),
            claim_ref=ref,
            persistent_volume_reclaim_policy="Retain",
            storage_class_name=volumes.class_of_claim(claim),
            volume_mode=claim.spec.volume_mode,
            node_affinity=affinity,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            rest=source,
        ),
    )
    available = attrs.evolve(volume, status=PersistentVolumeStatus(phase="Available"))
    where = f" that {node.metadata.name} reaches" if affinity is not None and node is not None else ""
    words = f"Add a volume {name} of {size}{where} for claim {claim.metadata.name}"
    expected = [ObjectChange(volume, available)]
    if node is None:
        reserved, bound = bound_to_each_other(claim, available)
        expected = [attrs.evolve(reserved, old=volume), bound]
    of_class = volumes.class_of_claim(claim)
    unknown = of_class and trial.get("StorageClass", of_class) is None and not trial.seen.volumes_of_class(of_class)
    free = [each.metadata.name for each in trial.seen.volumes_of_class(of_class) if is_free(each)]
    note += f"; or is {listed(free, 'or')} meant, which is free?" if named and free else ""
    letter = "B" if named else "X" if driver or unknown else "D"
    do = (f"look up at the provider which disk {name} was, and write it into {name}.yaml\n"
          f"kubectl apply -f {name}.yaml   # as in the diff") if named and driver else ""
    yield Edit(words, VOLUME_COST, (ObjectChange(None, volume),), "add volume", tuple(expected), note, letter, do=do)


def bound_to_each_other(claim: PersistentVolumeClaim, volume: PersistentVolume) -> list[ObjectChange]:
    """Return the changes that the PV controller makes when it binds a volume and a claim."""
    name = volume.metadata.name
    reserved = evolve_parts(volume, spec={"claim_ref": volumes.claim_ref_of(claim)})
    annotations = claim.metadata.annotations.merged({BIND_COMPLETED: "yes"})
    bound = evolve_parts(claim, metadata={"annotations": annotations}, spec={"volume_name": name})
    return [ObjectChange(volume, reserved), ObjectChange(claim, bound)]


def is_free(volume: PersistentVolume) -> bool:
    """Say whether any claim may take a volume: one that is reserved is in phase Available, too."""
    return volumes.is_available(volume) and volume.spec.claim_ref is None


def topology_labels(node: Node, driver: str, trial: TrialCluster) -> dict[str, str]:
    """Return a node's labels under the topology keys of a driver, else its host name."""
    csi_node = trial.get("CSINode", node.metadata.name)
    registered = csi_node.driver(driver) if csi_node is not None and driver else None
    keys = [key for key in (registered.topology_keys if registered is not None else ()) if key in node.metadata.labels]
    return {key: node.metadata.labels[key] for key in keys or [HOSTNAME_LABEL] if key in node.metadata.labels}


def _driver_of(claim: PersistentVolumeClaim, trial: TrialCluster) -> str:
    """Return the CSI driver that makes the volumes of a claim's class, or ""."""
    storage_class = trial.class_of(claim)
    if storage_class is None or not volumes.has_provisioner(storage_class):
        return ""
    provisioner = str(storage_class.provisioner)
    return CSI_OF_IN_TREE.get(provisioner, "" if provisioner.startswith(IN_TREE) else provisioner)


def _source(name: str, driver: str, *, on_one_node: bool, anywhere: bool) -> tuple[Frozen, str]:
    """Return the source of a new volume, and what must be true of it: a driver's disk, a local disk, or a share.

    The driver may keep its disks in domains, of which the dump does not say in which this one is: `anywhere`.
    """
    source: dict[str, Any]
    if driver:
        source = {"csi": Frozen({"driver": driver, "volumeHandle": f"<handle of {name}>"})}
        fields = "volumeHandle, size and nodeAffinity" if anywhere else "volumeHandle and size"
        where = ": the pod runs only where that is, and the trial takes it to be everywhere" if anywhere else ""
        return Frozen(source), f"set {fields} to those of a disk of {driver} that exists{where}"
    if on_one_node:
        return Frozen({"local": Frozen({"path": f"/mnt/{name}"})}), "it must be a disk that exists: set its path"
    source = {"nfs": Frozen({"server": "<server>", "path": "/<path>"})}
    return Frozen(source), "set server and path: to a share that every node reaches, as the trial takes it to be"
