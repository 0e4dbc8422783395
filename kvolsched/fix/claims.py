"""The catalogue, edits of claims, volumes and classes: a volume more, a claim that waits, zones that a class allows.

What the loop makes of an edit (a claim that gets bound) is written beside it as expected; running the loop proves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.csi import CSIStorageCapacity
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import LabelSelector
from kvolsched.api.kinds.storage_class import TopologySelectorLabelRequirement, TopologySelectorTerm
from kvolsched.api.kinds.volume import SELECTED_NODE_KEYS, PersistentVolume, PersistentVolumeClaim
from kvolsched.scheduler.columns.storage_capacities import is_capacity_checked, reaches
from kvolsched.scheduler.pod_claims import has_provisioner
from kvolsched.scheduler.spread_constraints import HOSTNAME
from kvolsched.why.demands import Demand

from . import nodes as node_edits
from . import replace_claim as anew
from .add_volume import VOLUME, one_more
from .edit import Edit, ObjectChange, merge_changes
from .situation import Situation

ZONES, REGIONS = volumes.ZONE_LABELS, volumes.REGION_LABELS
CLASS, CAPACITY, LEFT_BEHIND = 3, 4, 3


def serve(demand: Demand, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Everything that may give the claims of a demand a volume that a near node reaches."""
    for name in demand.about.split(","):
        claim = _claim(situation, name)
        if claim is None:
            continue
        bound = situation.get("PersistentVolume", claim.spec.volume_name) if claim.spec.volume_name else None
        if bound is not None:
            yield from _reach(bound, near)
            for edit in (*anew.waiting(claim, situation), *anew.another(name, claim, situation)):
                yield attrs.evolve(edit, cost=edit.cost + LEFT_BEHIND)
            continue
        yield from _unselect(claim)
        yield from _release(claim, situation)
        yield from _make_class(claim, situation)
        yield from _allow(claim, situation, near)
        for node in near:
            for more in one_more(claim, situation, node):
                yield more
                yield from _both(_unselect(claim), more)
        yield from _more_capacity(claim, situation, near)
        yield from anew.waiting(claim, situation)
        for edit in anew.another(name, claim, situation):
            yield attrs.evolve(edit, cost=edit.cost + 1)


def _both(first: Iterator[Edit], then: Edit) -> Iterator[Edit]:
    """Give two edits as one, where the second alone lifts nothing."""
    for edit in first:
        words, changes = f"{edit.words}, and {then.words}", merge_changes((edit, then))
        yield Edit(words, edit.cost + then.cost, changes, (*edit.expected, *then.expected), then.note)


def serve_all(demand: Demand, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """A volume for each of several claims that wait, where a near node reaches all of them."""
    waiting = [
        claim
        for name in dict.fromkeys(situation.pod.claim_names())
        if (claim := _claim(situation, name)) is not None and not claim.spec.volume_name
    ]
    if demand.plugin != "VolumeBinding" or len(waiting) < 2:
        return
    freed = [edit for claim in waiting for edit in (*_unselect(claim), *_release(claim, situation))]
    for node in near:
        more = [edit for claim in waiting for edit in one_more(claim, situation, node)]
        for edits in (more, [*freed, *more]) if freed else (more,):
            yield Edit(
                ", and ".join(edit.words for edit in edits),
                sum(edit.cost for edit in edits),
                merge_changes(edits),
                tuple(change for edit in more for change in edit.expected),
                more[0].note if more else "",
            )


def all_anew(demand: Demand, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """New claims for all volumes of the pod, where those it has cannot be had on one node."""
    for edit in anew.every(situation):
        yield attrs.evolve(edit, cost=edit.cost + LEFT_BEHIND)


def before_filtering(situation: Situation) -> Iterator[Edit]:
    """What may mend a rejection before filtering: a claim that is missing or not bound, a volume that is gone."""
    pod = situation.pod
    for name in dict.fromkeys(pod.claim_names()):
        claim = _claim(situation, name)
        if claim is None:
            yield from anew.create(name, situation)
        elif not volumes.is_bound(claim) and not _delayed(claim, situation):
            yield from one_more(claim, situation, None, bind=True)
            yield from anew.waiting(claim, situation)
            yield from _make_class(claim, situation)
        elif claim.spec.volume_name and situation.get("PersistentVolume", claim.spec.volume_name) is None:
            yield from one_more(claim, situation, None, name=claim.spec.volume_name, bind=True)
        yield from anew.another(name, claim, situation)
    yield from anew.own(situation)
    yield from anew.every(situation)


def _claim(situation: Situation, name: str) -> PersistentVolumeClaim | None:
    claim: PersistentVolumeClaim | None = situation.get("PersistentVolumeClaim", name, situation.key.namespace)
    return claim


def _delayed(claim: PersistentVolumeClaim, situation: Situation) -> bool:
    storage_class = situation.get("StorageClass", volumes.class_of_claim(claim))
    return storage_class is not None and storage_class.delayed and not claim.spec.volume_name


def _reach(volume: PersistentVolume, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a node so that it counts as reaching a volume: right only where it really does."""
    wanted = volume.spec.node_affinity
    zones = {key: value for key, value in volume.metadata.labels.items() if key in (*ZONES, *REGIONS)}
    for node in near:
        labels = node_edits.labels_for(wanted.required if wanted is not None else None, node)
        labels = {**{key: value.split("__")[0] for key, value in zones.items()}, **labels}
        note = f"only if {node.metadata.name} really reaches {volume.metadata.name}"
        for edit in node_edits.labelled(node, labels, note):
            yield attrs.evolve(edit, cost=edit.cost + 3)


def _unselect(claim: PersistentVolumeClaim) -> Iterator[Edit]:
    """Take back the node that was selected for a claim before."""
    selected = volumes.selected_node(claim)
    if selected:
        annotations = claim.metadata.annotations.merged(dict.fromkeys(SELECTED_NODE_KEYS))
        new = evolve_parts(claim, metadata={"annotations": annotations})
        yield Edit(f"remove the selected node {selected} from claim {claim.metadata.name}", 1, (ObjectChange(claim, new),))


def _release(claim: PersistentVolumeClaim, situation: Situation) -> Iterator[Edit]:
    """Take back that volumes are reserved for a claim: while one is, the claim takes no other."""
    reserved = [
        volume
        for volume in situation.seen.volumes_of_class(volumes.class_of_claim(claim))
        if volumes.is_bound_to(volume, claim)
    ]
    if reserved:
        changes = tuple(ObjectChange(one, evolve_parts(one, spec={"claim_ref": None})) for one in reserved)
        names = ", ".join(one.metadata.name for one in reserved)
        yield Edit(f"release {names} from claim {claim.metadata.name}", VOLUME - 1 + len(changes), changes)


def _allow(claim: PersistentVolumeClaim, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Let a class make volumes where a near node is."""
    storage_class = situation.get("StorageClass", volumes.class_of_claim(claim))
    if storage_class is None or not storage_class.allowed_topologies or not has_provisioner(storage_class):
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
            words = f"let class {storage_class.metadata.name} make volumes in {where} too"
            yield Edit(words, CLASS, (ObjectChange(storage_class, new),))


def _more_capacity(claim: PersistentVolumeClaim, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Let a driver have as much room as the claim asks for where a near node is."""
    name, size = volumes.class_of_claim(claim), claim.spec.resources.requests.get("storage", "0")
    storage_class = situation.get("StorageClass", name)
    if storage_class is None or not is_capacity_checked(claim, situation.seen.csi_driver(storage_class.provisioner)):
        return
    pools = situation.seen.storage_capacities.of_class(name)
    note = "the driver reports this: add disks or delete volumes"
    for pool in pools:
        if not any(reaches(pool, node) for node in near):
            continue
        largest = size if pool.maximum_volume_size is not None else None
        new = attrs.evolve(pool, capacity=size, maximum_volume_size=largest)
        words = f"free storage for {size} of class {name} where {pool.node_topology}"
        yield Edit(words, CAPACITY, (ObjectChange(pool, new),), note=note)
    for node in near:
        if any(reaches(pool, node) for pool in pools):
            continue
        there = LabelSelector(match_labels=Frozen(_topology(node, storage_class.provisioner, situation)))
        meta = ObjectMeta(name=f"{name}-{node.metadata.name}-more", namespace=_home(situation))
        if situation.get("CSIStorageCapacity", meta.name, meta.namespace) is None and there.match_labels:
            pool = CSIStorageCapacity(metadata=meta, storage_class_name=name, capacity=size, node_topology=there)
            words = f"have storage for {size} of class {name} where {there}"
            yield Edit(words, CAPACITY, (ObjectChange(None, pool),), note=note)


def _topology(node: Node, driver: str, situation: Situation) -> dict[str, str]:
    """Return the labels that say where a node's volumes of a driver are: by the driver's keys, else its name."""
    here = situation.get("CSINode", node.metadata.name)
    told = here.driver(driver) if here is not None else None
    keys = [key for key in (told.topology_keys if told is not None else ()) if key in node.metadata.labels]
    return {key: node.metadata.labels[key] for key in keys or [HOSTNAME] if key in node.metadata.labels}


def _home(situation: Situation) -> str:
    """Return the namespace in which drivers publish their room."""
    published = situation.of_kind("CSIStorageCapacity")
    return str(published[0].metadata.namespace) if published else situation.key.namespace


def _make_class(claim: PersistentVolumeClaim, situation: Situation) -> Iterator[Edit]:
    """Create the class that a claim names and nobody has made, like one that is there and waits for its pod."""
    name = volumes.class_of_claim(claim)
    if not name or situation.get("StorageClass", name) is not None:
        return
    for like in anew.usable(situation)[:1]:
        made = attrs.evolve(like, metadata=ObjectMeta(name=name))
        words = f"create the class {name} that claim {claim.metadata.name} names, like {like.metadata.name}"
        yield Edit(words, CLASS - 1, (ObjectChange(None, made),), note="if that is the storage that was meant")
