"""Chooses where a new volume lies, for plugins that choose by themselves: a pure function of class, node and nodes.

These are in-tree plugins, and drivers whose class names zones or asks for a regional disk; other drivers take the
first topology that they are asked for (`topology`). A topology is terms (ORed) of label key -> values. Mirrors the
zone chooser of in-tree plugins (`SelectZonesForVolume`).
"""

from collections.abc import Iterable, Mapping, Sequence

from ...api.kinds.node import REGION_LABELS, ZONE_LABELS, Node
from ...api.kinds.storage_class import StorageClass
from ...api.volumes import flattened, segment_of
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
        nodes: every node, from which the domains are known; not read if the selected node suffices.
        keys: the driver's topology keys.

    Raises:
        NoTopology: no topology meets all of this.
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
    node_segment = None
    if node is not None:
        keys = keys_in_use(storage_class.allowed_topologies, [node], keys)
        node_segment = _segment(node, keys)
        if replicas == 1:
            return ({key: (value,) for key, value in node_segment.items()},)
    nodes = list(nodes)
    if node is None:
        keys = keys_in_use(storage_class.allowed_topologies, nodes, keys)
    if named_zones:
        segments = [{keys[0]: zone} for zone in sorted(named_zones)]
    elif storage_class.allowed_topologies:
        segments = allowed_segments(storage_class)
    else:
        segments = _unique(_segment(node, keys) for node in nodes if all(key in node.metadata.labels for key in keys))
    if replicas > 1:
        return (_two_zones(claim, keys[0], segments, node_segment, nodes),)
    if not segments:
        return ()
    return ({key: (value,) for key, value in segments[spread_index(claim, len(segments))].items()},)


def check_keys(storage_class: StorageClass, node: Node | None, keys: Sequence[str]) -> None:
    """Refuse a class whose allowedTopologies name a key that a plugin does not know (`ZonesFromAllowedTopologies`).

    A volume of one domain for a selected node does not read the list.

    Raises:
        NoTopology: there is such a key.
    """
    if node is not None and storage_class.parameters.get("replication-type") != REGIONAL:
        return
    known = {spelling for key in keys for spelling in (ZONE_LABELS if key in ZONE_LABELS else (key,))}
    for term in storage_class.allowed_topologies:
        for part in term.match_label_expressions:
            if part.key not in known:
                raise NoTopology(f"unsupported key found in matchLabelExpressions: {part.key}")


def whole_topology(
    claim: str, storage_class: StorageClass, node: Node | None
) -> tuple[Mapping[str, tuple[str, ...]], ...]:
    """Return a listed topology that has the node, each term being the topology of one volume; the claim's name decides.

    S0 (Restricting Topology, Alternatives) rejects such lists: every combination has to be listed.

    Raises:
        NoTopology: no term has as many values as the volume has domains, and the node among them.
    """
    replicas = 2 if storage_class.parameters.get("replication-type") == REGIONAL else 1
    found = []
    for term in storage_class.allowed_topologies:
        values = {part.key: tuple(part.values) for part in term.match_label_expressions}
        reached = node is None or all(node.metadata.labels.get(key) in listed for key, listed in values.items())
        if reached and all(len(listed) == replicas for listed in values.values()):
            found.append(values)
    if found:
        return (found[spread_index(claim, len(found))],)
    on = f" with node {node.metadata.name}" if node is not None else ""
    raise NoTopology(f"class {storage_class.metadata.name} lists no topology of {replicas} domains{on}")


def zones_of_parameters(storage_class: StorageClass) -> set[str]:
    """Return the zones that the legacy parameters `zone` and `zones` name (S0, Restricting Topology)."""
    zone, zones = storage_class.parameters.get("zone"), storage_class.parameters.get("zones")
    if zone is not None and zones is not None:
        raise NoTopology("both zone and zones StorageClass parameters must not be used at the same time")
    text = zones if zone is None else zone
    return {part.strip() for part in str(text).split(",")} if text is not None else set()


def allowed_segments(storage_class: StorageClass) -> list[dict[str, str]]:
    """Return the segments that allowedTopologies allow: one for each choice of values, sorted and unique."""
    return _unique(map(dict, flattened(storage_class.allowed_topologies)))


def _segment(node: Node, keys: Sequence[str]) -> dict[str, str]:
    found = segment_of(node.metadata.labels, keys)
    if found is None:
        raise NoTopology(
            f"topology labels from selected node {go_map(node.metadata.labels)} does not match topology keys from "
            f"CSINode [{' '.join(keys)}]"
        )
    return dict(found)


def _two_zones(
    claim: str, key: str, segments: Sequence[Mapping[str, str]], node_segment: Mapping[str, str] | None,
    nodes: Sequence[Node]
) -> dict[str, tuple[str, ...]]:
    """Return two zones of one region (checklist C21), the node's among them if there is a node."""
    known = {segment[key] for segment in segments if key in segment}
    zones = sorted(known | ({node_segment[key]} if node_segment else set()))
    regions = {zone: _region(zone, key, nodes) for zone in zones}
    if node_segment:
        first = node_segment[key]
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
    in_zone = (node.metadata.labels for node in nodes if node.metadata.labels.get(key) == zone)
    regions = (str(labels[label]) for labels in in_zone for label in REGION_LABELS if label in labels)
    return next(regions, zone.rpartition("-")[0])


def _unique(segments: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    found = {tuple(sorted(segment.items())) for segment in segments}
    return [dict(segment) for segment in sorted(found, key=lambda segment: (len(segment), segment))]
