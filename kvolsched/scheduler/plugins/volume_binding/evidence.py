"""Both sides of each comparison by which VolumeBinding rejects a node, as the sentences that people read."""

from __future__ import annotations

from collections.abc import Iterable

from kvolsched.api import volumes
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import NodeSelector
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from kvolsched.scheduler.framework.verdict import Evidence
from kvolsched.scheduler.requests import format_amount


def conflicting_affinity(volume: PersistentVolume, required: NodeSelector, node: Node) -> Evidence:
    """Compare the node affinity by which a volume is judged with the node's labels."""
    labels = node.metadata.labels
    keys = dict.fromkeys(part.key for term in required.node_selector_terms for part in term.match_expressions)
    asked = f"volume {volume.metadata.name}: {required}"
    return Evidence(asked, "does not match", _labels_text(keys, node) or "the node", (required, labels))


def other_selected_node(claim: PersistentVolumeClaim, selected: str, node: Node) -> Evidence:
    """Compare the node that was selected for a claim with the judged one."""
    return Evidence(f"claim {claim.metadata.name} selected node {selected}", "≠", node.metadata.name)


def nothing_provisioned(claim: PersistentVolumeClaim, class_name: str) -> Evidence:
    """Name a claim for which no volume was found, and its class, whose volumes are not provisioned."""
    return Evidence(f"claim {claim.metadata.name}", "finds no volume, and nothing is provisioned for class", class_name)


def conflicting_topology(storage_class: StorageClass, node: Node) -> Evidence:
    """Compare allowedTopologies of a class with the node's labels."""
    terms = storage_class.allowed_topologies
    allowed = " or ".join(
        " and ".join(f"{part.key} In [{', '.join(part.values)}]" for part in term.match_label_expressions) or "nothing"
        for term in terms
    )
    keys = sorted({part.key for term in terms for part in term.match_label_expressions})
    return Evidence(f"allowedTopologies {allowed}", "do not admit", _labels_text(keys, node))


def lacking_capacity(claim: PersistentVolumeClaim, largest: int, class_name: str) -> Evidence:
    """Compare a claim's request with the largest volume that can be made (bytes; below 0: none is published)."""
    request = volumes.requested(claim)
    published = f"{format_amount('memory', largest)}, the largest volume" if largest >= 0 else "nothing"
    asked = f"claim {claim.metadata.name} asks {format_amount('memory', request)}"
    return Evidence(asked, ">", f"{published} published for class {class_name}", (request, largest))


def _labels_text(keys: Iterable[str], node: Node) -> str:
    labels = node.metadata.labels
    return ", ".join(f"{key}={labels[key]}" if key in labels else f"no label {key}" for key in keys)
