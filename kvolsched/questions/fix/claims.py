"""Catalogue: edits of claims, volumes, classes and published capacity that may give a claim a volume.

The changes that components then make (a claim gets bound) are written beside an edit as expected; the loop proves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.csi import CSIStorageCapacity
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import LabelSelector
from kvolsched.api.kinds.storage_class import TopologySelectorLabelRequirement, TopologySelectorTerm
from kvolsched.api.kinds.volume import SELECTED_NODE_KEYS, PersistentVolume, PersistentVolumeClaim
from kvolsched.questions.why.demands import Demand
from kvolsched.scheduler.columns.storage_capacities import is_capacity_checked, reaches
from kvolsched.scheduler.framework.extension_points import VolumeDecider

from . import nodes as node_edits
from . import replace_claim
from .add_volume import VOLUME_COST, add_volume, topology_labels
from .edit import Edit, ObjectChange, combined
from .topology_keys import add_topology_of_claim
from .trial_cluster import TrialCluster

CLASS_COST, CAPACITY_COST, LEFT_DATA_COST = 3, 4, 3


def serve_claims(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Yield edits that may give the claims of a demand a volume that a near node reaches."""
    for name in demand.about.split(","):
        claim = _claim(trial, name)
        if claim is None:
            continue
        bound = trial.get("PersistentVolume", claim.spec.volume_name) if claim.spec.volume_name else None
        if bound is not None:
            yield from _label_to_reach(bound, near)
            yield from _leaving_data(replace_claim.replace_with_delayed_class(claim, trial))
            yield from _leaving_data(replace_claim.replace_with_existing_class(name, claim, trial))
            continue
        yield from _clear_selected_node(claim)
        yield from _release_volumes(claim, trial)
        yield from _create_class(claim, trial)
        yield from _allow_topology(claim, trial, near)
        yield from add_topology_of_claim(claim, trial, near)
        for node in near:
            for more in add_volume(claim, trial, node):
                yield more
                yield from (combined((first, more)) for first in _clear_selected_node(claim))
        yield from _raise_capacity(claim, trial, near)
        yield from replace_claim.replace_with_delayed_class(claim, trial)
        for edit in replace_claim.replace_with_existing_class(name, claim, trial):
            yield attrs.evolve(edit, cost=edit.cost + 1)


def _leaving_data(edits: Iterator[Edit]) -> Iterator[Edit]:
    """Raise the cost of edits that leave the data of bound volumes behind."""
    for edit in edits:
        yield attrs.evolve(edit, cost=edit.cost + LEFT_DATA_COST)


def serve_claims_together(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add a volume for each of several unbound claims, all reachable from one near node."""
    unbound = [
        claim
        for name in dict.fromkeys(trial.pod.claim_names())
        if (claim := _claim(trial, name)) is not None and not claim.spec.volume_name
    ]
    if len(unbound) < 2 or not trial.profile.extends(demand.plugin, VolumeDecider):
        return
    clearing = [edit for claim in unbound for edit in (*_clear_selected_node(claim), *_release_volumes(claim, trial))]
    for node in near:
        adding = [edit for claim in unbound for edit in add_volume(claim, trial, node)]
        for edits in (adding, [*clearing, *adding]) if clearing else (adding,):
            yield combined(edits)


def replace_claims(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Replace all claims of the pod, since no node reaches all of their volumes."""
    yield from _leaving_data(replace_claim.replace_all_claims(trial))


def mend_rejection_before_filtering(trial: TrialCluster) -> Iterator[Edit]:
    """Yield edits for a rejection before filtering: for missing and unbound claims, and for missing volumes."""
    pod = trial.pod
    for name in dict.fromkeys(pod.claim_names()):
        claim = _claim(trial, name)
        if claim is None:
            yield from replace_claim.create_missing_claim(name, trial)
        elif not volumes.is_bound(claim) and not volumes.waits_for_pod(claim, trial.get(
                "StorageClass", volumes.class_of_claim(claim))):  # fmt: skip
            yield from add_volume(claim, trial, None, bind=True)
            yield from replace_claim.replace_with_delayed_class(claim, trial)
            yield from _create_class(claim, trial)
        elif claim.spec.volume_name and trial.get("PersistentVolume", claim.spec.volume_name) is None:
            yield from add_volume(claim, trial, None, name=claim.spec.volume_name, bind=True)
        yield from replace_claim.replace_with_existing_class(name, claim, trial)
    yield from replace_claim.create_ephemeral_claims(trial)
    yield from replace_claim.replace_all_claims(trial)


def _claim(trial: TrialCluster, name: str) -> PersistentVolumeClaim | None:
    claim: PersistentVolumeClaim | None = trial.get("PersistentVolumeClaim", name, trial.key.namespace)
    return claim


def _label_to_reach(volume: PersistentVolume, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a node so that it reaches a volume; true only if the node can attach it."""
    for node in near:
        note = f"only if {node.metadata.name} can attach {volume.metadata.name}"
        for edit in node_edits.set_labels(node, node_edits.labels_to_reach(volume, node), note):
            yield attrs.evolve(edit, cost=edit.cost + 3)


def _clear_selected_node(claim: PersistentVolumeClaim) -> Iterator[Edit]:
    """Remove the selected node from a claim."""
    selected = volumes.selected_node(claim)
    if selected:
        annotations = claim.metadata.annotations.merged(dict.fromkeys(SELECTED_NODE_KEYS))
        new = evolve_parts(claim, metadata={"annotations": annotations})
        words = f"remove the selected node {selected} from claim {claim.metadata.name}"
        yield Edit(words, 1, (ObjectChange(claim, new),))


def _release_volumes(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Release volumes that are reserved for a claim; while one is, the claim takes no other."""
    reserved = [
        volume
        for volume in trial.seen.volumes_of_class(volumes.class_of_claim(claim))
        if volumes.is_bound_to(volume, claim)
    ]
    if reserved:
        changes = tuple(ObjectChange(volume, evolve_parts(volume, spec={"claim_ref": None})) for volume in reserved)
        names = ", ".join(volume.metadata.name for volume in reserved)
        yield Edit(f"release {names} from claim {claim.metadata.name}", VOLUME_COST - 1 + len(changes), changes)


def _allow_topology(claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add a near node's topology to the allowedTopologies of a claim's class."""
    storage_class = trial.get("StorageClass", volumes.class_of_claim(claim))
    if storage_class is None or not storage_class.allowed_topologies or not volumes.has_provisioner(storage_class):
        return
    keys = dict.fromkeys(
        part.key for term in storage_class.allowed_topologies for part in term.match_label_expressions
    )
    for node in near:
        labels = node.metadata.labels
        parts = tuple(
            TopologySelectorLabelRequirement(key=key, values=(labels[key],)) for key in keys if key in labels
        )
        if parts:
            terms = (*storage_class.allowed_topologies, TopologySelectorTerm(match_label_expressions=parts))
            new = attrs.evolve(storage_class, allowed_topologies=terms)
            where = ", ".join(f"{part.key}={part.values[0]}" for part in parts)
            words = f"let class {storage_class.metadata.name} provision volumes in {where} too"
            yield Edit(words, CLASS_COST, (ObjectChange(storage_class, new),))


def _raise_capacity(claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Raise the capacity that a driver publishes near a node to the size of the claim."""
    name, size = volumes.class_of_claim(claim), claim.spec.resources.requests.get("storage", "0")
    storage_class = trial.get("StorageClass", name)
    if storage_class is None or not is_capacity_checked(claim, trial.seen.csi_driver(storage_class.provisioner)):
        return
    pools = trial.seen.storage_capacities.of_class(name)
    note = "the driver reports this: add disks or delete volumes"
    for pool in pools:
        if not any(reaches(pool, node) for node in near):
            continue
        largest = size if pool.maximum_volume_size is not None else None
        new = attrs.evolve(pool, capacity=size, maximum_volume_size=largest)
        words = f"free storage for {size} of class {name} where {pool.node_topology}"
        yield Edit(words, CAPACITY_COST, (ObjectChange(pool, new),), note=note)
    for node in near:
        if any(reaches(pool, node) for pool in pools):
            continue
        topology = LabelSelector(match_labels=Frozen(topology_labels(node, storage_class.provisioner, trial)))
        meta = ObjectMeta(name=f"{name}-{node.metadata.name}-more", namespace=_capacity_namespace(trial))
        if trial.get("CSIStorageCapacity", meta.name, meta.namespace) is None and topology.match_labels:
            pool = CSIStorageCapacity(metadata=meta, storage_class_name=name, capacity=size, node_topology=topology)
            words = f"provide storage for {size} of class {name} where {topology}"
            yield Edit(words, CAPACITY_COST, (ObjectChange(None, pool),), note=note)


def _capacity_namespace(trial: TrialCluster) -> str:
    """Return the namespace in which drivers publish their capacity."""
    published = trial.of_kind("CSIStorageCapacity")
    return str(published[0].metadata.namespace) if published else trial.key.namespace


def _create_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Create the missing class of a claim as a copy of an existing class with delayed binding."""
    name = volumes.class_of_claim(claim)
    if not name or trial.get("StorageClass", name) is not None:
        return
    for like in replace_claim.delayed_classes(trial)[:1]:
        created = attrs.evolve(like, metadata=ObjectMeta(name=name))
        words = f"create the class {name} that claim {claim.metadata.name} names, like {like.metadata.name}"
        yield Edit(words, CLASS_COST - 1, (ObjectChange(None, created),), note="if the claim meant that storage")
