"""In-tree disks that a CSI driver serves today: on which nodes, and what a volume's affinity reads there.

A node hands a plugin over by naming it in an annotation of its CSINode; there a bound volume is judged as its CSI
translation, in whose affinity the zone goes by the driver's own label. Mirrors `csi-translation-lib` (v1.36.2) as far
as scheduling reads it; Azure disks keep their affinity.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kvolsched.api.kinds.csi import CSINode
from kvolsched.api.kinds.node import ZONE_LABELS
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from kvolsched.api.kinds.volume import PersistentVolume

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
# The source's name in a PersistentVolume -> the in-tree plugin, and the label by which its driver knows zones.
TRANSLATED: Mapping[str, tuple[str, str]] = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "topology.ebs.csi.aws.com/zone"),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "topology.gke.io/zone"),
    "cinder": ("kubernetes.io/cinder", "topology.cinder.csi.openstack.org/zone"),
}


def source_of(volume: PersistentVolume) -> str:
    """Return the name of a volume's in-tree source that has a translation, or ""."""
    return next((source for source in TRANSLATED if source in volume.spec.rest), "")


def hands_over(csi_node: CSINode | None, source: str) -> bool:
    """Say whether a node leaves this in-tree source to its CSI driver; whether that runs there does not matter."""
    if csi_node is None or not source:
        return False
    return TRANSLATED[source][0] in str(csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")).split(",")


def affinity_of(volume: PersistentVolume) -> NodeSelector | None:
    """Return a volume's node affinity as it stands."""
    return volume.spec.node_affinity.required if volume.spec.node_affinity is not None else None


def translated_affinity(volume: PersistentVolume) -> NodeSelector | None:
    """Return the node affinity of the CSI translation: zones by the driver's label, if need be from the PV's own label.

    Only if no term speaks of a zone, the zone label of the volume (`a__b` = a or b) is added to every term.
    """
    key = TRANSLATED[source_of(volume)][1]
    affinity = affinity_of(volume)
    terms = affinity.node_selector_terms if affinity is not None else ()
    spoken = tuple(
        attrs.evolve(term, match_expressions=tuple(_by_driver(part, key) for part in term.match_expressions))
        for term in terms
    )
    label = next((str(volume.metadata.labels[each]) for each in ZONE_LABELS if each in volume.metadata.labels), "")
    if label and not any(part.key == key for term in spoken for part in term.match_expressions):
        zone = Requirement(key=key, operator="In", values=tuple(label.split("__")))
        spoken = tuple(
            attrs.evolve(term, match_expressions=(*term.match_expressions, zone)) for term in spoken
        ) or (NodeSelectorTerm(match_expressions=(zone,)),)
    if affinity is None:
        return NodeSelector(node_selector_terms=spoken) if spoken else None
    return attrs.evolve(affinity, node_selector_terms=spoken)


def affinity_on(volume: PersistentVolume, csi_node: CSINode | None) -> NodeSelector | None:
    """Return the node affinity by which a bound volume is judged on the node of this CSINode; None admits it."""
    migrated = hands_over(csi_node, source_of(volume))
    return translated_affinity(volume) if migrated else affinity_of(volume)


def _by_driver(part: Requirement, key: str) -> Requirement:
    return attrs.evolve(part, key=key) if part.key in ZONE_LABELS else part
