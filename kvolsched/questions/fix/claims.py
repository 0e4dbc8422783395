"""Catalogue: edits of claims, volumes, classes and published capacity that may give a claim a volume.

The changes that components then make (a claim gets bound) are written beside an edit as expected; the loop proves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import attrs

from ...api import volumes
from ...api.kinds.csi import CSIStorageCapacity
from ...api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.selector import LabelSelector
from ...api.kinds.storage_class import (
    DEFAULT_CLASS,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
)
from ...api.kinds.volume import SELECTED_NODE_KEYS, PersistentVolumeClaim
from ...api.words import listed
from ...core.acts import ClusterActs
from ...core.pools import pools
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size, reaches
from ...scheduler.framework.extension_points import VolumeDecider
from ..near_names import KEYS_TODAY, near_misses
from ..why.demands import Demand
from . import nodes as node_edits
from . import replace_claim
from .add_volume import VOLUME_COST, add_volume, bound_to_each_other, is_free, topology_labels
from .edit import OPERATOR, USUAL, Edit, ObjectChange, OutsideAct, combined
from .replace_claim import recreate_volume
from .topology_keys import add_topology_of_claim
from .trial_cluster import TrialCluster

SHARED_SOURCES = ("nfs", "cephfs", "glusterfs", "azureFile")  # volumes that several nodes can mount
NEVER_PUBLISHED = "--enable-capacity of its provisioner, or storageCapacity: false in the CSIDriver"
CLASS_COST, CAPACITY_COST, LEFT_DATA_COST = 3, 4, 3


def serve_claims(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Yield edits that may give the claims of a demand a volume that a near node reaches."""
    for name in demand.about.split(","):
        claim = trial.claim(name)
        if claim is None:
            continue
        bound = trial.get("PersistentVolume", claim.spec.volume_name)
        if bound is not None:
            for node in near:  # true only if the node can attach it
                note = f"only if {node.metadata.name} can attach {bound.metadata.name}"
                for edit in node_edits.set_labels(node, node_edits.labels_to_reach(bound, node), note):
                    yield attrs.evolve(edit, cost=edit.cost + 3)
            yield from recreate_volume(claim, bound, trial, near)
            yield from replace_claim.delete_claim_and_pod([claim], trial)
            yield from _leaving_data(replace_claim.replace_with_free_volume(claim, trial, near))
            yield from _leaving_data(replace_claim.replace_with_delayed_class(claim, trial))
            yield from _leaving_data(replace_claim.replace_with_existing_class(claim, trial))
            continue
        yield from _clear_selected_node(claim, trial)
        yield from _release_volumes(claim, trial)
        yield from _free_released(claim, trial)
        yield from _smaller_claim(claim, trial)
        yield from _name_class(claim, trial)
        yield from _match_free_volume(claim, trial)
        yield from _create_class(claim, trial)
        yield from _allow_topology(claim, trial, near)
        yield from add_topology_of_claim(claim, trial, near)
        for node in near:
            for more in add_volume(claim, trial, node):
                yield more
                yield from (combined((first, more)) for first in _clear_selected_node(claim, trial))
        yield from _add_disks(claim, trial, near)
        yield from replace_claim.delete_claim_and_pod([claim], trial)
        yield from replace_claim.replace_with_delayed_class(claim, trial)
        for edit in replace_claim.replace_with_existing_class(claim, trial):
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
        if (claim := trial.claim(name)) is not None and not claim.spec.volume_name
    ]
    if len(unbound) < 2 or not trial.profile.extends(demand.plugin, VolumeDecider):
        return
    clearing = [edit for claim in unbound for clear in (_clear_selected_node, _release_volumes)
                for edit in clear(claim, trial)]  # fmt: skip
    for node in near:
        adding = [edit for claim in unbound for edit in add_volume(claim, trial, node)]
        for edits in (adding, [*clearing, *adding]) if clearing else (adding,):
            if edits:
                yield combined(edits)


def replace_claims(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Replace all claims of the pod, since no node reaches all of their volumes."""
    found = map(trial.claim, dict.fromkeys(trial.pod.claim_names()))
    yield from replace_claim.delete_claim_and_pod([claim for claim in found if claim is not None], trial)
    yield from _leaving_data(replace_claim.replace_all_claims(trial))


def mend_rejection_before_filtering(trial: TrialCluster) -> Iterator[Edit]:
    """Yield edits for a rejection before filtering: for missing and unbound claims, and for missing volumes."""
    pod = trial.pod
    for name in dict.fromkeys(pod.claim_names()):
        claim = trial.claim(name)
        if claim is None:
            yield from replace_claim.name_existing_claim(name, trial)
            yield from replace_claim.create_missing_claim(name, trial)
            continue
        if not volumes.is_bound(claim) and not volumes.waits_for_pod(claim, trial.class_of(claim)):
            yield from _name_class(claim, trial)
            yield from _match_free_volume(claim, trial)
            of_class = volumes.class_of_claim(claim)
            if of_class and trial.class_of(claim) is None and not trial.seen.volumes_of_class(of_class):
                yield from _create_class(claim, trial)
                continue
            yield from (marking := list(_mark_default_class(claim, trial)))
            yield from () if marking else add_volume(claim, trial, None)
            yield from replace_claim.replace_with_delayed_class(claim, trial)
            yield from _create_class(claim, trial)
        elif claim.spec.volume_name and trial.get("PersistentVolume", claim.spec.volume_name) is None:
            yield from add_volume(claim, trial, None, name=claim.spec.volume_name)
        yield from replace_claim.replace_with_existing_class(claim, trial)
    yield from replace_claim.create_ephemeral_claims(trial)
    yield from replace_claim.replace_all_claims(trial)


def _clear_selected_node(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Remove the selected node from a claim; the scheduler takes one that exists back by itself."""
    selected = volumes.selected_node(claim)
    if selected:
        annotations = claim.metadata.annotations.merged(dict.fromkeys(SELECTED_NODE_KEYS))
        new = evolve_parts(claim, metadata={"annotations": annotations})
        words = f"Remove the selected node {selected} from claim {claim.metadata.name}"
        letter = "A" if trial.seen.node(selected) is None else "X"
        yield Edit(words, 1, (ObjectChange(claim, new),), "clear selected node", letter=letter)


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
        words = f"Release {names} from claim {claim.metadata.name}"
        data = f"the next claim that takes {names} sees the old files"
        yield Edit(words, VOLUME_COST - 1 + len(changes), changes, "release volume", data=data)


def _free_released(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Clear the claimRef of a Released volume that would serve a claim; its files stay on it."""
    for volume in trial.seen.volumes_of_class(volumes.class_of_claim(claim)):
        reserved = volume.spec.claim_ref
        if volume.status.phase == "Released" and reserved is not None and not volumes.is_bound_to(volume, claim):
            name = volume.metadata.name
            free = evolve_parts(volume, spec={"claim_ref": None})
            available = evolve_parts(free, status={"phase": "Available"})
            words = f"Set the claimRef of {name} to nothing, after somebody has looked at its files"
            before = volumes.claim_ref_key(reserved)
            data = f"KEPT ON {name}: claim {claim.metadata.name} mounts the files of {before}"
            yield Edit(words, VOLUME_COST, (ObjectChange(volume, free),), "release volume",
                       (ObjectChange(free, available),), data=data)  # fmt: skip


def _smaller_claim(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Ask for as much as there is in one place, but for half at least; an unbound claim is made anew."""
    need, name = volumes.requested(claim), volumes.class_of_claim(claim)
    free = [volumes.capacity(volume) for volume in trial.seen.volumes_of_class(name) if volume.spec.claim_ref is None]
    free += [int(max_volume_size(pool)) for pool in trial.seen.storage_capacities.of_class(name)]
    fitting = [size for size in free if need / 2 <= size < need]
    if fitting and not replace_claim.is_of_template(claim, trial):
        size = of_bytes(int(max(fitting)))
        new = evolve_parts(claim, spec={"resources": attrs.evolve(
            claim.spec.resources, requests=claim.spec.resources.requests.merged({"storage": size}))})  # fmt: skip
        asked = claim.spec.resources.requests.get("storage")
        words = f"Ask for {size} in claim {claim.metadata.name} instead of {asked}"
        note = "the claim is not bound, so nothing is lost when it is made anew"
        yield Edit(words, CLASS_COST, (ObjectChange(claim, new, recreate=True),), "smaller claim", note=note)


def _allow_topology(claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Add a near node's topology to the allowedTopologies of a claim's class."""
    storage_class = trial.class_of(claim)
    if storage_class is None or not storage_class.allowed_topologies or not volumes.has_provisioner(storage_class):
        return
    keys = dict.fromkeys(
        part.key for term in storage_class.allowed_topologies for part in term.match_label_expressions
    )
    yield from _todays_keys(storage_class, near)
    for node in near:
        labels = node.metadata.labels
        parts = tuple(
            TopologySelectorLabelRequirement(key=key, values=(labels[key],)) for key in keys if key in labels
        )
        if parts:
            terms = (*storage_class.allowed_topologies, TopologySelectorTerm(match_label_expressions=parts))
            new = attrs.evolve(storage_class, allowed_topologies=terms)
            where = ", ".join(f"{part.key}={part.values[0]}" for part in parts)
            words = f"Let class {storage_class.metadata.name} provision volumes in {where} too"
            known = any(node.metadata.labels.keys() & keys for node in trial.seen.all_nodes())
            note = "the class was restricted by somebody: ask why" if known else "no node has what the class allows"
            note += "; where the volume is then made it stays"
            yield Edit(words, CLASS_COST, (ObjectChange(storage_class, new),), "allow topology",
                       letter="G" if known else "A", note=note)  # fmt: skip


def _todays_keys(storage_class: StorageClass, near: Sequence[Node]) -> Iterator[Edit]:
    """Name the zone by its key of today in a class that allows the old key, which no near node has."""
    def today(part: TopologySelectorLabelRequirement) -> TopologySelectorLabelRequirement:
        return attrs.evolve(part, key=KEYS_TODAY.get(part.key, part.key))

    parts = [part for term in storage_class.allowed_topologies for part in term.match_label_expressions]
    old = dict.fromkeys(part.key for part in parts if part.key in KEYS_TODAY
                        and not any(part.key in node.metadata.labels for node in near))  # fmt: skip
    if old:
        terms = tuple(attrs.evolve(term, match_label_expressions=tuple(map(today, term.match_label_expressions)))
                      for term in storage_class.allowed_topologies)  # fmt: skip
        new = attrs.evolve(storage_class, allowed_topologies=terms)
        name = storage_class.metadata.name
        words = f"Use the key {', '.join(KEYS_TODAY[key] for key in old)} in class {name}, not {', '.join(old)}"
        note = "a class cannot be changed: delete it and make it anew; its volumes stay"
        again = ObjectChange(storage_class, new, recreate=True)
        yield Edit(words, 1, (again,), "allow topology", letter="A", note=note)


def _add_disks(claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Free storage near a node, or add disks, as large as the claim; its driver then publishes that."""
    name, size = volumes.class_of_claim(claim), claim.spec.resources.requests.get("storage", "0")
    storage_class = trial.class_of(claim)
    if storage_class is None or not is_capacity_checked(claim, trial.seen.csi_driver(storage_class.provisioner)):
        return
    published = trial.seen.storage_capacities.of_class(name)
    driver = storage_class.provisioner
    note = f"{driver} then publishes more by itself"
    for node in near:
        registered = trial.get("CSINode", node.metadata.name)
        mine = registered.driver(driver) if registered is not None else None
        lacking = [key for key in (mine.topology_keys if mine is not None else ()) if key not in node.metadata.labels]
        if lacking:
            note = (f"{node.metadata.name} also lacks the label {listed(lacking)}, by which {driver} places volumes: "
                    "the kubelet sets it when the driver's pod there registers, look at that")  # fmt: skip
    made = trial.seen.volumes_of_class(name)
    frees = f"kubectl get pv   # which volumes of class {name} may go, with their files? else " if made else ""
    verb = "Free storage or add disks" if made else "Add disks"
    do = f"{frees}add disks to the storage of {driver} there, until it publishes {size}"
    for pool in published:
        if not any(reaches(pool, node) for node in near):
            continue
        largest = size if pool.maximum_volume_size is not None else None
        new = attrs.evolve(pool, capacity=size, maximum_volume_size=largest)
        words = f"{verb} for {size} of class {name} where {pool.node_topology}"
        acts = (OutsideAct(words, partial(_enlarge, driver=driver, labels=pool.node_topology, size=size)),)
        yield Edit(words, CAPACITY_COST, (ObjectChange(pool, new),), "add disks", note=note, acts=acts, do=do)
    everywhere = trial.of_kind("CSIStorageCapacity")  # drivers publish in one namespace
    namespace = str(everywhere[0].metadata.namespace) if everywhere else trial.key.namespace
    for node in near:
        if any(reaches(pool, node) for pool in published):
            continue
        topology = LabelSelector(match_labels=Frozen(topology_labels(node, storage_class.provisioner, trial)))
        meta = ObjectMeta(name=f"{name}-{node.metadata.name}-more", namespace=namespace)
        if trial.get("CSIStorageCapacity", meta.name, meta.namespace) is None and topology.match_labels:
            pool = CSIStorageCapacity(metadata=meta, storage_class_name=name, capacity=size, node_topology=topology)
            words = f"Add disks for {size} of class {name} where {topology}" if published else (
                f"Let {driver} publish the capacity of class {name}")  # fmt: skip
            acts = (OutsideAct(words, partial(_enlarge, driver=driver, labels=topology, size=size)),)
            change = ObjectChange(None, pool)
            if published:
                yield Edit(words, CAPACITY_COST, (change,), "add disks", note=note, acts=acts, do=do)
                continue
            yield Edit(words, CAPACITY_COST, (change,), "publish capacity", note=NEVER_PUBLISHED, acts=acts,
                       do=f"kubectl describe csidriver {driver}")  # fmt: skip


def _enlarge(cluster: ClusterActs, *, driver: str, labels: LabelSelector | None, size: str) -> None:
    """Enlarge the pools of a driver in a domain by as much as a claim asks for, where the driver has pools."""
    for row in (row for row in pools(cluster) if row.driver == driver):
        if labels is None or row.pool in labels.match_labels.values():
            largest = of_bytes(max(row.largest, value(size)))
            cluster.set_pool(driver, row.pool, capacity=of_bytes(row.capacity + value(size)), largest=largest)


def _name_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Use the class that a claim nearly names: an unbound claim is deleted and made anew, and nothing is lost."""
    name = volumes.class_of_claim(claim)
    if not name or trial.get("StorageClass", name) is not None:
        return
    there = [each.metadata.name for each in trial.of_kind("StorageClass")]
    slips = near_misses(name, there)
    others = [each.metadata.name for each in replace_claim.delayed_classes(trial)][:2]
    for place, near in enumerate(dict.fromkeys((*slips, *others)), 1):
        new = evolve_parts(claim, spec={"storage_class_name": near})
        words = f"Use class {near} in claim {claim.metadata.name}, not {name}"
        note = f"no class is called {name}; the claim is not bound, so nothing is lost"
        change = ObjectChange(claim, new, recreate=True)
        yield replace_claim.in_template(Edit(words, place, (change,), "use class", note=note), claim, trial)


def _match_free_volume(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Correct the one field in which a claim differs from a free volume, where no driver makes volumes of its class."""
    storage_class = trial.class_of(claim)
    if storage_class is not None and volumes.has_provisioner(storage_class):
        return
    name, size = claim.metadata.name, claim.spec.resources.requests.get("storage", "0")
    for volume in trial.of_kind("PersistentVolume"):
        of_class, had, has = volumes.class_of_volume(volume), claim.spec.access_modes, volume.spec.access_modes[:1]
        asks = attrs.evolve(claim.spec.resources, requests=claim.spec.resources.requests.merged(
            {"storage": volume.spec.capacity.get("storage")}))  # fmt: skip
        ways: list[tuple[str, str, dict[str, object]]] = []
        if of_class != volumes.class_of_claim(claim):
            ways.append(("use class", f"Use class {of_class} in claim {name}, not {volumes.class_of_claim(claim)}",
                         {"storage_class_name": of_class}))  # fmt: skip
        if not volumes.has_access_modes(volume, claim):
            ways.append(("use access mode", f"Use access mode {', '.join(has)} in claim {name}, not {', '.join(had)}",
                         {"access_modes": has}))  # fmt: skip
            source = next((each for each in SHARED_SOURCES if each in volume.spec.rest), "")
            if source and is_free(volume) and of_class == volumes.class_of_claim(claim):
                more = (*volume.spec.access_modes, *(mode for mode in had if mode not in volume.spec.access_modes))
                offers = evolve_parts(volume, spec={"access_modes": more})
                yield Edit(f"Offer {', '.join(had)} in volume {volume.metadata.name}, too", 1,
                           (ObjectChange(volume, offers),), "offer access mode",
                           tuple(bound_to_each_other(claim, offers)), who=OPERATOR,
                           note=f"{source} lets several nodes mount it; ask who made the volume")  # fmt: skip
        if volumes.requested(claim) > volumes.capacity(volume):
            ways.append(("smaller claim", f"Ask for {asks.requests['storage']} in claim {name} instead of {size}",
                         {"resources": asks}))  # fmt: skip
        if len(ways) == 1 and is_free(volume):
            (kind, words, fields), = ways
            new = evolve_parts(claim, spec=fields)
            note = f"{volume.metadata.name} is free; the claim is not bound, so nothing is lost when it is made anew"
            change = ObjectChange(claim, new, recreate=True)
            yield Edit(words, 1, (change,), kind, tuple(bound_to_each_other(new, volume)), note,
                       letter="E" if kind == "use access mode" else USUAL[kind])  # fmt: skip


def _mark_default_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Mark a class as the default one, for a claim that names none."""
    classes = trial.of_kind("StorageClass")
    if claim.spec.storage_class_name is not None or claim.spec.volume_name or any(each.is_default for each in classes):
        return
    for each in (each for each in classes if volumes.has_provisioner(each)):
        name = each.metadata.name
        new = evolve_parts(each, metadata={"annotations": each.metadata.annotations.merged({DEFAULT_CLASS: "true"})})
        classed = evolve_parts(claim, spec={"storage_class_name": name})
        words = f"Mark class {name} as the default one"
        note = "the claim then gets this class, and so does every other one that names none"
        yield Edit(words, 2, (ObjectChange(each, new),), "default class", (ObjectChange(claim, classed),), note)


def _create_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Create the missing class of a claim as a copy of an existing class with delayed binding.

    Volumes that somebody made need no object of their class.
    """
    name = volumes.class_of_claim(claim)
    if not name or trial.get("StorageClass", name) is not None or trial.seen.volumes_of_class(name):
        return
    for like in replace_claim.delayed_classes(trial)[:1]:
        created = attrs.evolve(like, metadata=ObjectMeta(name=name))
        words = f"Create the class {name} that claim {claim.metadata.name} names, like {like.metadata.name}"
        note = "its parameters are the operator's to know"
        there = [each.metadata.name for each in trial.of_kind("StorageClass")]
        note += "".join(f"; {name} looks like a slip for {near}, which every claim would go on with"
                        for near in near_misses(name, there)[:1])  # fmt: skip
        yield Edit(words, CLASS_COST + 1, (ObjectChange(None, created),), "create class", note=note, who=OPERATOR)
