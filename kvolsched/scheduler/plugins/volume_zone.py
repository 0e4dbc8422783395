"""VolumeZone rejects nodes outside the zone or region that a bound volume names in its labels.

Volumes had these labels before they had node affinities. S0 keeps the plugin until every zonal volume has an affinity
(Zonal PV upgrade); v1.36.2 still has it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np

from ...api import volumes
from ...api.kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, DOMAIN_LABELS, REGION_LABEL, ZONE_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume
from ..columns.column import Codes, Mask
from ..columns.node_table import NodeTable
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, RuleReads
from ..framework.evidence import NO_LABEL, Evidence, Sides, labels_text, listed
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, PreFilterReject, Reason, Reject, Skip
from ..volume_clauses import is_claim_of_pod, named_claims, volume_clauses

# Beta label of a volume -> the label that is read on nodes without this one.
GA_LABELS = {BETA_ZONE_LABEL: ZONE_LABEL, BETA_REGION_LABEL: REGION_LABEL}
LABELS = (*GA_LABELS, *GA_LABELS.values())


def find_claim_error(namespace: str, name: str, seen: Snapshot) -> str:
    """Return why a claim does not lead to a volume, in Kubernetes' words, or "" if it does or waits for a consumer."""
    claim = seen.claim(namespace, name)
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if claim.spec.volume_name:
        volume = seen.volume(claim.spec.volume_name)
        return "" if volume is not None else f'persistentvolume "{claim.spec.volume_name}" not found'
    class_name = volumes.class_of_claim(claim)
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class: StorageClass | None = seen.storage_class(class_name)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{class_name}" not found'
    return "" if storage_class.delayed else "PersistentVolume had no name"


def ignore_claims(_namespace: str, _name: str, _seen: Snapshot) -> str:
    """Let every claim pass PreFilter (the documents; 1.11)."""
    return ""


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each volume: whether the node carries the volume's zone and region labels."""
    for clause in volume_clauses(pod, columns):
        claim = columns.seen.claim(pod.metadata.namespace, clause.about)
        volume = columns.seen.volume(claim.spec.volume_name) if claim is not None else None
        labels = volume.metadata.labels if volume is not None else {}
        wanted = ", ".join(f"{key}={labels[key]}" for key in DOMAIN_LABELS if key in labels)
        words = f"the node lacks the zone labels of the volume of {clause.sort} {clause.about}"
        title = f"Volume of {clause.sort} {clause.about} is in another zone"
        words = f"{words}: {wanted}" if wanted else words
        yield attrs.evolve(clause, words=words, title=title, kind=f"The volume of the {clause.sort} is in another zone")


@attrs.frozen
class OtherZone(Evidence):
    """A volume's zone or region label has other values than the node's label (None: the node has none)."""

    volume: str
    key: str
    values: tuple[str, ...]
    found: str | None

    def __str__(self) -> str:
        found = labels_text(((self.key, self.found),))
        return f"volume {self.volume}: {self.key} In {listed(self.values)} ≠ {found}"

    def short(self) -> Sides:
        return Sides(self.found or NO_LABEL, "not in", listed(self.values), f"volume {self.volume}")


@attrs.frozen
class VolumeZone:
    """Rejects nodes whose zone or region labels differ from those of a bound volume.

    Args:
        claim_error: why a claim rejects the pod before any node is judged, or "".
    """

    name: ClassVar[str] = "VolumeZone"
    card: ClassVar[Card] = Card(
        "Z", "storage", looks_at="zone labels of volumes", reads=RuleReads(("spec.volumes",), ("metadata.labels",)),
        finds_fault_with_volumes=True, clauses=_clauses,
    )  # fmt: skip
    skip_without: ClassVar[tuple[str, ...]] = ("volumes",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("StorageClass", "a WaitForFirstConsumer class is added",
                     lambda _pod, _old, new: new.delayed, Action.ADD),
        QueueingHint("Node", "a node is added or its zone or region changes",
                     lambda _pod, old, new: old is None or _zone_labels(old) != _zone_labels(new),
                     Action.ADD | Action.NODE_LABEL),
        QueueingHint("PersistentVolumeClaim", "one of the pod's claims is added or changed",
                     lambda pod, _old, new: is_claim_of_pod(pod, new), Action.ADD | Action.UPDATE),
        QueueingHint("PersistentVolume", "a volume is added or its zone or region changes",
                     lambda _pod, old, new: old is None or _zone_labels(old) != _zone_labels(new),
                     Action.ADD | Action.UPDATE),
    )

    claim_error: Callable[[str, str, Snapshot], str] = find_claim_error
    document_name: str = ""
    zone_conflict: Reason = Reason(0, "node(s) had no available volume zone")

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | None:
        """Skip a pod without zone labels on bound volumes; reject one with a claim that does not lead to a volume."""
        for name in named_claims(pod):
            if message := self.claim_error(pod.metadata.namespace, name, seen):
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)
        return SKIP if next(_volume_zones(pod, seen), None) is None else None

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """The node has no zone or region label at all, or each of a volume's labels holds there."""
        labels = node.metadata.labels
        if not any(key in labels for key in LABELS):
            return OK
        for volume, key, values in _volume_zones(pod, seen):
            value = labels.get(key, labels.get(GA_LABELS.get(key, key)))
            if value not in values:
                return self.zone_conflict.reject(OtherZone(volume.metadata.name, key, tuple(sorted(values)), value))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Judge all nodes over label columns; the mask of each label and its values is cached."""
        rejected: Mask | None = None
        for _, key, values in _volume_zones(pod, columns.seen):
            outside = columns.nodes.cached(("not in zone", key, values), partial(_outside, key, values, columns.nodes))
            rejected = outside if rejected is None else rejected | outside
        return None if rejected is None else self.zone_conflict.where(rejected)


def _outside(key: str, values: frozenset[str], nodes: NodeTable) -> Mask:
    """Return by row whether a node with any zone or region label lacks this one or has another value of it."""
    codes = nodes.labels(key).codes.array
    labelled = np.zeros(len(codes), bool)
    for label in LABELS:
        labelled |= nodes.labels(label).codes.array >= 0
    holds = np.isin(codes, [nodes.labels(key).code(value) for value in values])
    if key in GA_LABELS:
        ga_label = nodes.labels(GA_LABELS[key])
        holds |= (codes < 0) & np.isin(ga_label.codes.array, [ga_label.code(value) for value in values])
    outside: Mask = labelled & ~holds
    return outside


def _volume_zones(pod: Pod, seen: Snapshot) -> Iterator[tuple[PersistentVolume, str, frozenset[str]]]:
    """Yield the zone and region labels of a pod's bound volumes with their values: `a__b` means either."""
    for name in named_claims(pod):
        claim = seen.claim(pod.metadata.namespace, name)
        volume = seen.volume(claim.spec.volume_name) if claim is not None else None
        for key in LABELS:
            if volume is not None and key in volume.metadata.labels:
                values = frozenset(part.strip() for part in str(volume.metadata.labels[key]).split("__"))
                if "" not in values:  # a malformed label is ignored
                    yield volume, key, values


def _zone_labels(obj: Node | PersistentVolume) -> dict[str, str]:
    return {key: obj.metadata.labels[key] for key in LABELS if key in obj.metadata.labels}
