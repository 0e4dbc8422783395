"""The catalogue, edits of claims, volumes and classes: a volume more, a claim that waits, zones that a class allows.

What the loop makes of an edit (a claim that gets bound) is written beside it as expected; running the loop proves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched import volumes
from kvolsched.api.meta import EMPTY, Frozen, ObjectMeta
from kvolsched.api.node import Node
from kvolsched.api.pod_volume import PersistentVolumeClaimVolumeSource
from kvolsched.api.resources import Resources
from kvolsched.api.selector import NodeSelector, NodeSelectorTerm, Requirement
from kvolsched.api.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
)
from kvolsched.api.volume import (
    BIND_COMPLETED,
    SELECTED_NODE_KEYS,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from kvolsched.scheduler.claims import provisions
from kvolsched.scheduler.demands import Demand
from kvolsched.scheduler.spreading import HOSTNAME

from . import nodes as node_edits
from .edit import Change, Edit, merged
from .pods import respecified
from .situation import Situation

ZONES, REGIONS = volumes.ZONE_LABELS, volumes.REGION_LABELS
CLASS, VOLUME, CLAIM, CAPACITY, LEFT_BEHIND = 3, 3, 3, 4, 3


def serve(demand: Demand, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Everything that may give the claims of a demand a volume that a near node reaches."""
    for name in demand.about.split(","):
        claim = _claim(situation, name)
        if claim is None:
            continue
        bound = situation.get("PersistentVolume", claim.spec.volume_name) if claim.spec.volume_name else None
        if bound is not None:
            yield from _reach(bound, near)
            for edit in (*_waiting(claim, situation), *_another_claim(name, claim, situation)):
                yield attrs.evolve(edit, cost=edit.cost + LEFT_BEHIND)
            continue
        yield from _unselect(claim)
        yield from _release(claim, situation)
        yield from _allow(claim, situation, near)
        for node in near:
            yield from _one_more(claim, situation, node)
        yield from _more_capacity(claim, situation, near)
        yield from _waiting(claim, situation)


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
        more = [edit for claim in waiting for edit in _one_more(claim, situation, node)]
        for edits in (more, [*freed, *more]) if freed else (more,):
            yield Edit(
                ", and ".join(edit.words for edit in edits),
                sum(edit.cost for edit in edits),
                merged(edits),
                tuple(change for edit in more for change in edit.expected),
                more[0].note if more else "",
            )


def before_filtering(situation: Situation) -> Iterator[Edit]:
    """What may mend a rejection before filtering: a claim that is missing or not bound, a volume that is gone."""
    pod = situation.pod
    for name in dict.fromkeys(pod.claim_names()):
        claim = _claim(situation, name)
        if claim is None:
            yield from _create(name, situation)
        elif not volumes.is_bound(claim) and not _delayed(claim, situation):
            yield from _one_more(claim, situation, None, bind=True)
            yield from _waiting(claim, situation)
        elif claim.spec.volume_name and situation.get("PersistentVolume", claim.spec.volume_name) is None:
            yield from _one_more(claim, situation, None, name=claim.spec.volume_name, bind=True)
        yield from _another_claim(name, claim, situation)


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
        new = attrs.evolve(claim, metadata=attrs.evolve(claim.metadata, annotations=annotations))
        yield Edit(f"remove the selected node {selected} from claim {claim.metadata.name}", 1, (Change(claim, new),))


def _release(claim: PersistentVolumeClaim, situation: Situation) -> Iterator[Edit]:
    """Take back that volumes are reserved for a claim: while one is, the claim takes no other."""
    reserved = [
        volume
        for volume in situation.seen.volumes_of_class(volumes.class_of_claim(claim))
        if volumes.is_bound_to(volume, claim)
    ]
    if reserved:
        changes = tuple(Change(one, attrs.evolve(one, spec=attrs.evolve(one.spec, claim_ref=None))) for one in reserved)
        names = ", ".join(one.metadata.name for one in reserved)
        yield Edit(f"release {names} from claim {claim.metadata.name}", VOLUME - 1 + len(changes), changes)


def _allow(claim: PersistentVolumeClaim, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Let a class make volumes where a near node is."""
    storage_class = situation.get("StorageClass", volumes.class_of_claim(claim))
    if storage_class is None or not storage_class.allowed_topologies or not provisions(storage_class):
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
            yield Edit(words, CLASS, (Change(storage_class, new),))


def _one_more(
    claim: PersistentVolumeClaim, situation: Situation, node: Node | None, *, name: str = "", bind: bool = False
) -> Iterator[Edit]:
    """Add a volume as the claim asks for: reachable from one node, if one is given, else from everywhere."""
    name = name or claim.spec.volume_name or f"{claim.metadata.name}-more"
    if situation.get("PersistentVolume", name) is not None:
        return
    affinity = None
    if node is not None and HOSTNAME in node.metadata.labels and not bind:
        here = Requirement(key=HOSTNAME, operator="In", values=(node.metadata.labels[HOSTNAME],))
        term = NodeSelectorTerm(match_expressions=(here,))
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
    there = attrs.evolve(volume, status=PersistentVolumeStatus(phase="Available"))
    where = f" that {node.metadata.name} reaches" if affinity is not None and node is not None else ""
    words = f"add a volume {name} of {size}{where} for claim {claim.metadata.name}"
    expected = [Change(volume, there)]
    if bind:
        taken = attrs.evolve(there, spec=attrs.evolve(there.spec, claim_ref=volumes.claim_ref_of(claim)))
        annotations = claim.metadata.annotations.merged({BIND_COMPLETED: "yes"})
        done = attrs.evolve(
            claim,
            metadata=attrs.evolve(claim.metadata, annotations=annotations),
            spec=attrs.evolve(claim.spec, volume_name=name),
        )
        expected = [Change(volume, taken), Change(claim, done)]
    yield Edit(words, VOLUME, (Change(None, volume),), tuple(expected), "it must be a disk that exists")


def _more_capacity(claim: PersistentVolumeClaim, situation: Situation, near: Sequence[Node]) -> Iterator[Edit]:
    """Let a driver have as much room as the claim asks for where a near node is."""
    name, size = volumes.class_of_claim(claim), claim.spec.resources.requests.get("storage", "0")
    storage_class = situation.get("StorageClass", name)
    driver = situation.get("CSIDriver", storage_class.provisioner) if storage_class is not None else None
    if driver is None or not driver.spec.storage_capacity:
        return
    for pool in situation.of_kind("CSIStorageCapacity"):
        if pool.storage_class_name != name or pool.node_topology is None:
            continue
        if not any(pool.node_topology.matches(node.metadata.labels) for node in near):
            continue
        largest = size if pool.maximum_volume_size is not None else None
        new = attrs.evolve(pool, capacity=size, maximum_volume_size=largest)
        words = f"free storage for {size} of class {name} where {pool.node_topology}"
        yield Edit(words, CAPACITY, (Change(pool, new),), note="the driver reports this: add disks or delete volumes")


def _waiting(claim: PersistentVolumeClaim, situation: Situation) -> Iterator[Edit]:
    """Ask with a new claim for a class like the claim's that waits for its pod: an Immediate one cannot be changed."""
    name = volumes.class_of_claim(claim)
    storage_class = situation.get("StorageClass", name)
    if storage_class is None or storage_class.delayed or not provisions(storage_class):
        return
    waiting = f"{name}-wait"
    like = attrs.evolve(
        storage_class, metadata=ObjectMeta(name=waiting), volume_binding_mode=WAIT_FOR_FIRST_CONSUMER
    )
    changes = [Change(None, like)] if situation.get("StorageClass", waiting) is None else []
    words = f"with a class {waiting} that waits for its pod (WaitForFirstConsumer)"
    yield from _renamed(claim.metadata.name, claim, situation, waiting, words, changes)


def _another_claim(name: str, claim: PersistentVolumeClaim | None, situation: Situation) -> Iterator[Edit]:
    """Ask with a new claim for a class that is there and waits for its pod."""
    if claim is None:
        return
    for storage_class in _usable(situation)[:2]:
        if storage_class.metadata.name != volumes.class_of_claim(claim):
            words = f"of the class {storage_class.metadata.name}, which is there"
            yield from _renamed(name, claim, situation, storage_class.metadata.name, words, [])


def _usable(situation: Situation) -> list[StorageClass]:
    return [one for one in situation.of_kind("StorageClass") if one.delayed and provisions(one)]


def _renamed(
    name: str, claim: PersistentVolumeClaim, situation: Situation, of_class: str, words: str, changes: list[Change]
) -> Iterator[Edit]:
    """Give the pod another claim in place of one."""
    pod, other = situation.pod, f"{name}-wait"
    place = next(
        (
            number
            for number, volume in enumerate(pod.spec.volumes)
            if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == name
        ),
        None,
    )
    if place is None or situation.get("PersistentVolumeClaim", other, pod.metadata.namespace) is not None:
        return
    new = _plain_claim(other, pod.metadata.namespace, of_class, claim)
    volume = pod.spec.volumes[place]
    source = attrs.evolve(volume.persistent_volume_claim or PersistentVolumeClaimVolumeSource(), claim_name=other)
    listed = tuple(
        attrs.evolve(one, persistent_volume_claim=source) if number == place else one
        for number, one in enumerate(pod.spec.volumes)
    )
    edit = respecified(pod, f"use a new claim {other} {words}", CLAIM, volumes=listed)
    yield attrs.evolve(
        edit, cost=CLAIM + len(changes), changes=(*changes, Change(None, new), *edit.changes),
        note="; ".join(part for part in (edit.note, "the new volume is empty") if part),
    )  # fmt: skip


def _plain_claim(
    name: str, namespace: str, of_class: str, like: PersistentVolumeClaim | None
) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=PersistentVolumeClaimSpec(
            access_modes=like.spec.access_modes if like is not None else ("ReadWriteOnce",),
            resources=like.spec.resources if like is not None else Resources(requests=Frozen({"storage": "1Gi"})),
            volume_mode=like.spec.volume_mode if like is not None else None,
            storage_class_name=of_class,
        ),
    )


def _create(name: str, situation: Situation) -> Iterator[Edit]:
    """Create a claim that is missing: of a class that waits for its pod, or else with a volume of its own."""
    pod = situation.pod
    own = any(volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == name
              for volume in pod.spec.volumes)  # fmt: skip
    if not own:
        return
    for storage_class in _usable(situation)[:2]:
        claim = _plain_claim(name, pod.metadata.namespace, storage_class.metadata.name, None)
        words = f"create the claim {name}, 1Gi of class {storage_class.metadata.name}"
        yield Edit(words, CLAIM, (Change(None, claim),), note="size and modes are for you to say")
    claim = _plain_claim(name, pod.metadata.namespace, "", None)
    for more in _one_more(claim, situation, None, bind=True):
        words = f"create the claim {name} of 1Gi and a volume for it"
        yield Edit(words, CLAIM + VOLUME, (Change(None, claim), *more.changes), more.expected, more.note)
