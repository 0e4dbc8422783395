"""VolumeZone: volumes that name their zone or region in labels, as before node affinity, are used only there.

S0 keeps it until every zonal volume has a node affinity (Zonal PV upgrade); it is still asked today.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs
import numpy as np

from kvolsched import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.scheduler.columns.arrays import Codes, Mask
from kvolsched.scheduler.columns.node_table import NodeTable
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, PreFilterReject, Reason, Reject, Skip
from kvolsched.scheduler.pod_claims import is_claim_of_pod, named_claims

# A volume's label, and the node's label that is read if the node lacks this one.
TODAY = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
LABELS = (*TODAY, *TODAY.values())


@attrs.frozen
class VolumeZone:
    """Rejects nodes whose zone or region labels differ from those of a bound volume.

    Args:
        asks_first: a claim that does not lead to a volume rejects the pod before any node is asked (today).
    """

    name: ClassVar[str] = "VolumeZone"
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("StorageClass", "a class comes whose claims wait", lambda _pod, _old, new: new.delayed, Action.ADD),
        QueueingHint(
            "Node",
            "a node appears or its zone or region changes",
            lambda _pod, old, new: old is None or _spoken(old) != _spoken(new),
            Action.ADD | Action.NODE_LABEL,
        ),
        QueueingHint(
            "PersistentVolumeClaim",
            "one of its claims comes or changes",
            lambda pod, _old, new: is_claim_of_pod(pod, new),
            Action.ADD | Action.UPDATE,
        ),
        QueueingHint(
            "PersistentVolume",
            "a volume comes or its zone or region changes",
            lambda _pod, old, new: old is None or _spoken(old) != _spoken(new),
            Action.ADD | Action.UPDATE,
        ),
    )

    asks_first: bool = True
    document_name: str = ""
    elsewhere: Reason = Reason(0, "node(s) had no available volume zone")

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """No bound volume with such a label: nothing to do. A claim that cannot be followed to its volume: no node."""
        if not pod.spec.volumes:
            return SKIP
        for name in named_claims(pod) if self.asks_first else ():
            if message := _lost(pod.metadata.namespace, name, seen):
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)
        return SKIP if next(_zones(pod, seen), None) is None else None

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """The node has no zone or region label at all, or each of a volume's labels holds there."""
        labels = node.metadata.labels
        if not any(key in labels for key in LABELS):
            return OK
        for volume, key, values in _zones(pod, seen):
            value = labels.get(key, labels.get(TODAY.get(key, key)))
            if value not in values:
                asked = f"volume {volume.metadata.name}: {key} In [{', '.join(sorted(values))}]"
                found = f"no label {key}" if value is None else f"{key}={value}"
                return self.elsewhere.reject(Evidence(asked, "≠", found, (values, value)))
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same over label columns, kept for each label and its values."""
        rejected: Mask | None = None
        for _, key, values in _zones(pod, at.seen):
            here = at.nodes.cached(("not in zone", key, values), partial(_out, key, values, at.nodes))
            rejected = here if rejected is None else rejected | here
        return None if rejected is None else self.elsewhere.where(rejected)


def _out(key: str, values: frozenset[str], nodes: NodeTable) -> Mask:
    """Return, by row, whether a node with some zone or region label lacks this one or has another value of it."""
    codes = nodes.labels(key).codes.array
    spoken = np.zeros(len(codes), bool)
    for label in LABELS:
        spoken |= nodes.labels(label).codes.array >= 0
    holds = np.isin(codes, [nodes.labels(key).code(value) for value in sorted(values)])
    if key in TODAY:
        today = nodes.labels(TODAY[key])
        holds |= (codes < 0) & np.isin(today.codes.array, [today.code(value) for value in sorted(values)])
    out: Mask = spoken & ~holds
    return out


def _zones(pod: Pod, seen: Snapshot) -> Iterator[tuple[PersistentVolume, str, frozenset[str]]]:
    """Yield the zone and region labels of a pod's bound volumes with their values: `a__b` means either."""
    for name in named_claims(pod):
        claim = seen.claim(pod.metadata.namespace, name)
        volume = seen.volume(claim.spec.volume_name) if claim is not None else None
        for key in LABELS if volume is not None else ():
            if volume is not None and key in volume.metadata.labels:
                values = frozenset(part.strip() for part in str(volume.metadata.labels[key]).split("__"))
                if "" not in values:  # a label that cannot be read says nothing
                    yield volume, key, values


def _lost(namespace: str, name: str, seen: Snapshot) -> str:
    """Return why a claim does not lead to a volume, in Kubernetes' words, or "" if it does or waits for a consumer."""
    claim = seen.claim(namespace, name)
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if claim.spec.volume_name:
        volume = seen.volume(claim.spec.volume_name)
        return "" if volume is not None else f'persistentvolume "{claim.spec.volume_name}" not found'
    word = volumes.class_of_claim(claim)
    if not word:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class: StorageClass | None = seen.storage_class(word)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{word}" not found'
    return "" if storage_class.delayed else "PersistentVolume had no name"


def _spoken(thing: Node | PersistentVolume) -> dict[str, str]:
    return {key: thing.metadata.labels[key] for key in LABELS if key in thing.metadata.labels}
