"""CSI migration of in-tree disks: on which nodes they are migrated, and how their node affinity is translated.

A plugin is migrated on a node if an annotation of the node's CSINode names it. A bound volume is judged there by its
CSI translation, whose affinity uses the zone label of the driver. Mirrors the parts of `csi-translation-lib` (v1.36.2)
that scheduling reads; the affinity of Azure disks is not translated.
"""

from collections.abc import Mapping

import attrs

from kvolsched.api.kinds.csi import CSINode
from kvolsched.api.kinds.node import ZONE_LABELS
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from kvolsched.api.kinds.volume import PersistentVolume

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
# The volume source of a PersistentVolume -> the in-tree plugin, and the zone label of its CSI driver.
TRANSLATED: Mapping[str, tuple[str, str]] = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "topology.ebs.csi.aws.com/zone"),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "topology.gke.io/zone"),
    "cinder": ("kubernetes.io/cinder", "topology.cinder.csi.openstack.org/zone"),
}


def in_tree_source(volume: PersistentVolume) -> str:
    """Return the name of a volume's in-tree source if it has a translation, else ""."""
    return next((source for source in TRANSLATED if source in volume.spec.rest), "")


def is_migrated(csi_node: CSINode | None, source: str) -> bool:
    """Say whether an in-tree source is migrated on a node, whether or not the driver runs there."""
    if csi_node is None or not source:
        return False
    return TRANSLATED[source][0] in str(csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")).split(",")


def translated_affinity(volume: PersistentVolume) -> NodeSelector | None:
    """Return the node affinity of a volume's CSI translation, which uses the zone label of the driver.

    If no term names a zone, the volume's zone label (`a__b`: a or b) is added to every term.
    """
    key = TRANSLATED[in_tree_source(volume)][1]
    affinity = volume.spec.required_node_affinity
    terms = affinity.node_selector_terms if affinity is not None else ()
    terms = tuple(
        attrs.evolve(term, match_expressions=tuple(attrs.evolve(part, key=key) if part.key in ZONE_LABELS else part
                                                   for part in term.match_expressions))
        for term in terms
    )
    labels = volume.metadata.labels
    zones = next((str(labels[zone_label]) for zone_label in ZONE_LABELS if zone_label in labels), "")
    if zones and not any(part.key == key for term in terms for part in term.match_expressions):
        in_zones = Requirement(key=key, operator="In", values=tuple(zones.split("__")))
        terms = tuple(
            attrs.evolve(term, match_expressions=(*term.match_expressions, in_zones)) for term in terms
        ) or (NodeSelectorTerm(match_expressions=(in_zones,)),)
    if affinity is None:
        return NodeSelector(node_selector_terms=terms) if terms else None
    return attrs.evolve(affinity, node_selector_terms=terms)


def effective_affinity(volume: PersistentVolume, csi_node: CSINode | None) -> NodeSelector | None:
    """Return the node affinity by which a bound volume is judged on the node of this CSINode; None admits the node."""
    migrated = is_migrated(csi_node, in_tree_source(volume))
    return translated_affinity(volume) if migrated else volume.spec.required_node_affinity
