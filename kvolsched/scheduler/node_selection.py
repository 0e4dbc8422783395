"""A pod's nodeSelector and required node affinity, for NodeAffinity and for plugins that count only matching nodes."""

from __future__ import annotations

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import NodeAffinity, Pod
from kvolsched.api.kinds.selector import NodeSelector

from .columns.arrays import Mask
from .columns.node_table import NodeTable


def node_affinity(pod: Pod) -> NodeAffinity | None:
    """Return a pod's node affinity, or None."""
    return None if pod.spec.affinity is None else pod.spec.affinity.node_affinity


def required_node_affinity(pod: Pod) -> NodeSelector | None:
    """Return a pod's required node affinity, or None."""
    affinity = node_affinity(pod)
    return None if affinity is None else affinity.required


def matches_node_affinity(pod: Pod, node: Node) -> bool:
    """Say whether a node matches a pod's nodeSelector and required node affinity."""
    labels = node.metadata.labels
    terms = required_node_affinity(pod)
    return all(labels.get(key) == value for key, value in pod.spec.node_selector.items()) and (
        terms is None or terms.matches(labels, node.metadata.name)
    )


def node_affinity_mask(pod: Pod, nodes: NodeTable) -> Mask:
    """Return, by row, whether the node matches a pod's nodeSelector and required node affinity."""
    terms = required_node_affinity(pod)
    rows = nodes.has_labels(pod.spec.node_selector.items())
    return rows if terms is None else rows & nodes.mask(terms)
