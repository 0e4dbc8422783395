"""Zones of nodes, and how fast nodes of a zone are tainted with NoExecute (mirrors `pkg/controller/nodelifecycle`)."""

from __future__ import annotations

from collections.abc import Iterable

from ...api.kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL, Node

UNHEALTHY_SHARE = 0.55  # --unhealthy-zone-threshold
LARGE_CLUSTER = 50  # --large-cluster-size-threshold


def readiness(node: Node) -> str:
    """Return the status of a node's condition Ready; a node without it counts as ready."""
    return next((found.status for found in node.status.conditions if found.type == "Ready"), "True")


def zone_of(node: Node) -> str:
    """Return a node's region and zone as one text."""
    labels = node.metadata.labels
    region = labels.get(REGION_LABEL) or labels.get(BETA_REGION_LABEL, "")
    return f"{region}:{labels.get(ZONE_LABEL) or labels.get(BETA_ZONE_LABEL, '')}"


def all_disrupted(nodes: Iterable[Node]) -> bool:
    """Return whether no node of the cluster is ready: then the controller trusts itself least and evicts nothing."""
    return all(readiness(node) != "True" for node in nodes)


def eviction_rate(zone: str, nodes: Iterable[Node], usual: float, secondary: float) -> float:
    """Return how many nodes of a zone may be tainted a second.

    A zone of which all nodes are lost is treated as usual; one that lost many, but not all, slows down, and stops in
    clusters of up to 50 nodes.
    """
    states = [readiness(node) == "True" for node in nodes if zone_of(node) == zone]
    lost = states.count(False)
    if lost < len(states) and lost > 2 and lost / len(states) >= UNHEALTHY_SHARE:
        return secondary if len(states) > LARGE_CLUSTER else 0.0
    return usual
