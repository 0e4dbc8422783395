"""Where a new volume may lie: one pure function of class, node and nodes, as drivers decide it.

Topology is terms (ORed) of label key -> values. Mirrors external-provisioner v6.3.0 `topology.go` and the zone
chooser of Kubernetes' own plugins (`SelectZonesForVolume`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ...api.node import Node
from ...api.storage import StorageClass
from ...volumes import REGION_LABELS, ZONE_LABELS

REGIONAL = "regional-pd"


class Nowhere(ValueError):
    """There is no place for such a volume; the message is the provisioner's."""


def place(
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
        raise Nowhere(
            "zone[s] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer. "
            "Please specify allowedTopologies in StorageClass for constraining zones"
        )
    if named_zones and storage_class.allowed_topologies:
        raise Nowhere("zone[s] cannot be specified in StorageClass if allowedTopologies specified")
    here = None
    if node is not None:
        keys = _keys_in_use(storage_class, [node], keys)
        here = _topology(node, keys)
        if replicas == 1:
            return ({key: (value,) for key, value in here.items()},)
    nodes = list(nodes)
    if node is None:
        keys = _keys_in_use(storage_class, nodes, keys)
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
        raise Nowhere("both zone and zones StorageClass parameters must not be used at the same time")
    text = zones if zone is None else zone
    return {part.strip() for part in str(text).split(",")} if text is not None else set()


def allowed(storage_class: StorageClass) -> list[dict[str, str]]:
    """Return allowedTopologies written out: one topology for each choice of values, sorted, each once."""
    found: list[dict[str, str]] = []
    for term in storage_class.allowed_topologies:
        combined: list[dict[str, str]] = [{}]
        for part in term.match_label_expressions:
            combined = [{**one, part.key: value} for value in part.values for one in combined]
        found += [one for one in combined if one]
    return _unique(found)


def spread_index(claim: str, among: int) -> int:
    """Return which of several domains a claim of this name takes: StatefulSet replicas take one after the other."""
    match = re.fullmatch(r"(.*)-(\d{1,10})", claim)
    name, ordinal = (match[1], int(match[2])) if match and int(match[2]) < 2**32 else (claim, 0)
    number = 0x811C9DC5
    for byte in (name.rpartition("-")[2] if ordinal or match else name).encode():
        number = (number * 0x01000193) % 2**32 ^ byte  # 32-bit FNV-1
    return (number + ordinal) % among


def _keys_in_use(storage_class: StorageClass, nodes: Sequence[Node], keys: Sequence[str]) -> tuple[str, ...]:
    """Return the topology keys, each in the spelling that class or nodes use, with those that the class adds."""
    named = [part.key for term in storage_class.allowed_topologies for part in term.match_label_expressions]
    labelled = {key for node in nodes for key in node.metadata.labels}
    found = []
    for key in keys:
        spellings = ZONE_LABELS if key in ZONE_LABELS else (key,)
        used = [one for one in spellings if one in named] or [one for one in spellings if one in labelled]
        found.append(used[0] if used else key)
    return tuple(dict.fromkeys(found + [key for key in named if key not in ZONE_LABELS or key in found]))


def _topology(node: Node, keys: Sequence[str]) -> dict[str, str]:
    labels = node.metadata.labels
    missing = [key for key in keys if key not in labels]
    if missing:
        raise Nowhere(
            f"topology labels from selected node {_go_map(labels)} does not match topology keys from CSINode "
            f"[{' '.join(keys)}]"
        )
    return {key: labels[key] for key in keys}


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
        raise Nowhere(
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


def _go_map(labels: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]"
