"""Which nodes a pod's own node selection admits: read by NodeAffinity itself and by what counts only such nodes."""

from __future__ import annotations

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import NodeAffinity, Pod
from kvolsched.api.kinds.selector import NodeSelector

from .columns.arrays import Mask
from .columns.node_table import NodeTable


def node_affinity(pod: Pod) -> NodeAffinity | None:
    """Return a pod's node affinity, or None."""
    return None if pod.spec.affinity is None else pod.spec.affinity.node_affinity


def required(pod: Pod) -> NodeSelector | None:
    """Return the required terms of a pod's node affinity, or None."""
    affinity = node_affinity(pod)
    return None if affinity is None else affinity.required


def admitted(pod: Pod, node: Node) -> bool:
    """Say whether a pod's nodeSelector and required node affinity admit a node."""
    labels = node.metadata.labels
    terms = required(pod)
    return all(labels.get(key) == value for key, value in pod.spec.node_selector.items()) and (
        terms is None or terms.matches(labels, node.metadata.name)
    )


def admitted_rows(pod: Pod, nodes: NodeTable) -> Mask:
    """Return the same for all nodes, by row."""
    terms = required(pod)
    rows = nodes.has(pod.spec.node_selector.items())
    return rows if terms is None else rows & nodes.mask(terms)
