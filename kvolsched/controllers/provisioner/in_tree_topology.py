"""Where a plugin lays a volume that chooses by itself: one pure function of class, node and nodes.

So do Kubernetes' own plugins, and drivers whose class names zones or asks for a regional disk; all others take the
first place that they are asked for (`topology`). Topology is terms (ORed) of label key -> values. Mirrors the zone
chooser of Kubernetes' own plugins (`SelectZonesForVolume`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...api.kinds.node import REGION_LABELS, Node
from ...api.kinds.storage_class import StorageClass
from ...volumes import flattened, segment_of
from .topology import NoTopology, go_map, keys_in_use, spread_index

REGIONAL = "regional-pd"


def choose_topology(
    claim: str, storage_class: StorageClass, node: Node | None, nodes: Iterable[Node], keys: Sequence[str]
) -> tuple[Mapping[str, tuple[str, ...]], ...]:
    """Return where a new volume can be reached: terms (ORed) of label key -> values.

    A single-domain volume for a selected node lies where the node lies, whatever the class allows (S0, checklist 60);
    a volume with two domains takes the node's and another one of the class's list, of the same region.

    Args:
        claim: the claim's name: without a node it decides the domain, so that replicas spread.
        storage_class: allowedTopologies, and the parameters zone, zones and replication-type.
        node: the node that the scheduler selected.
        nodes: every node, for where domains are known from; not looked at where one node says it all.
        keys: the driver's topology keys.

    Raises:
        Nowhere: no place meets all of this.
    """
    replicas = 2 if storage_class.parameters.get("replication-type") == REGIONAL else 1
    named_zones = zones_of_parameters(storage_class)
    if named_zones and node is not None:
        raise NoTopology(
            "zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer. "
            "Please specify allowedTopologies in StorageClass for constraining zones"
        )
    if named_zones and storage_class.allowed_topologies:
        raise NoTopology("zone[s] cannot be specified in StorageClass if allowedTopologies specified")
    here = None
    if node is not None:
        keys = keys_in_use(storage_class.allowed_topologies, [node], keys)
        here = _topology(node, keys)
        if replicas == 1:
            return ({key: (value,) for key, value in here.items()},)
    nodes = list(nodes)
    if node is None:
        keys = keys_in_use(storage_class.allowed_topologies, nodes, keys)
    if named_zones:
        known = [{keys[0]: zone} for zone in sorted(named_zones)]
    elif storage_class.allowed_topologies:
        known = allowed(storage_class)
    else:
        known = _unique(_topology(node, keys) for node in nodes if all(key in node.metadata.labels for key in keys))
    if replicas > 1:
        return (_two_zones(claim, keys[0], known, here, nodes),)
    if not known:
        return ()
    chosen = known[spread_index(claim, len(known))]
    return ({key: (value,) for key, value in chosen.items()},)


def zones_of_parameters(storage_class: StorageClass) -> set[str]:
    """Return the zones that the legacy parameters `zone` and `zones` name (S0, Restricting Topology)."""
    zone, zones = storage_class.parameters.get("zone"), storage_class.parameters.get("zones")
    if zone is not None and zones is not None:
        raise NoTopology("both zone and zones StorageClass parameters must not be used at the same time")
    text = zones if zone is None else zone
    return {part.strip() for part in str(text).split(",")} if text is not None else set()


def allowed(storage_class: StorageClass) -> list[dict[str, str]]:
    """Return allowedTopologies written out: one topology for each choice of values, sorted, each once."""
    return _unique(map(dict, flattened(storage_class.allowed_topologies)))


def _topology(node: Node, keys: Sequence[str]) -> dict[str, str]:
    found = segment_of(node.metadata.labels, keys)
    if found is None:
        raise NoTopology(
            f"topology labels from selected node {go_map(node.metadata.labels)} does not match topology keys from "
            f"CSINode [{' '.join(keys)}]"
        )
    return dict(found)


def _two_zones(
    claim: str, key: str, known: Sequence[Mapping[str, str]], here: Mapping[str, str] | None, nodes: Sequence[Node]
) -> dict[str, tuple[str, ...]]:
    """Return two zones of one region (checklist C21), the node's among them if there is a node."""
    zones = sorted({one[key] for one in known if key in one} | ({here[key]} if here else set()))
    regions = {zone: _region(zone, key, nodes) for zone in zones}
    if here:
        first = here[key]
    else:
        paired = [zone for zone in zones if list(regions.values()).count(regions[zone]) > 1]
        first = paired[spread_index(claim, len(paired))] if paired else ""
    others = [zone for zone in zones if zone != first and first and regions[zone] == regions[first]]
    if not others:
        raise NoTopology(
            "not enough zones found to provision a volume with 2 replicas. "
            "Need at least 2 distinct zones for a volume with 2 replicas"
        )
    second = next((zone for zone in others if zone > first), others[0])
    return {key: tuple(sorted((first, second)))}


def _region(zone: str, key: str, nodes: Sequence[Node]) -> str:
    """Return a zone's region: as its nodes' labels say, else the zone's name without its last part."""
    for node in nodes:
        labels = node.metadata.labels
        if labels.get(key) == zone:
            for region in REGION_LABELS:
                if region in labels:
                    return str(labels[region])
    return zone.rpartition("-")[0]


def _unique(topologies: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    found = {tuple(sorted(one.items())) for one in topologies}
    return [dict(one) for one in sorted(found, key=lambda one: (len(one), one))]
