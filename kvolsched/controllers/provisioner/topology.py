"""Decides where a CSI driver is asked to make a volume: requisite and preferred topologies (AccessibilityRequirements).

Pure functions of class, claim, selected node and what nodes registered. What a first attempt read is remembered for the
claim, so that a repeated request equals one that may still be running. Mirrors external-provisioner v6.3.0
`topology.go` and `cache.go`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.csi import CSINode
from ...api.kinds.meta import EMPTY, Frozen, evolve
from ...api.kinds.node import ZONE_LABELS, Node
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from ...api.kinds.storage_class import TopologySelectorTerm
from ...api.kinds.volume import VolumeNodeAffinity
from ...api.volumes import Topology, flattened, segment_of
from ...api.workloads import fnv1
from ...world.log import LogKey
from ...world.view import InformerCache, build

NO_KEYS: tuple[str, ...] = ()


class NoTopology(ValueError):
    """No topology suits such a volume; the message is the provisioner's."""


@attrs.frozen
class TopologyRequirement:
    """What a driver is asked: a volume reachable from one of `requisite`, tried in the order of `preferred`."""

    requisite: tuple[Topology, ...]
    preferred: tuple[Topology, ...]


@attrs.frozen
class FirstAttempt:
    """A note: what the first attempt for a claim read. Empty: not read yet.

    `abridged`: the driver was handed every topology of the cluster, of which only the selected node's is kept, since it
    takes the first.
    """

    keys: tuple[str, ...] = ()
    labels: Frozen = EMPTY
    requisite: tuple[Topology, ...] = ()
    preferred: tuple[Topology, ...] = ()
    abridged: bool = False


@attrs.frozen
class TopologyRequest:
    """The claim, class and selected node that a volume is asked for.

    Args:
        claim: the claim's name: without a node it decides which topology is preferred, so that replicas spread.
        allowed: allowedTopologies of the class.
        node: the selected node, or "".
        strict: the driver is given the selected node's topology and nothing else (`--strict-topology`).
        immediate: a topology is asked for even if neither class nor pod wants one (`--immediate-topology`).
    """

    claim: str
    allowed: tuple[TopologySelectorTerm, ...]
    node: str
    strict: bool
    immediate: bool


class NodeTopologies:
    """Counts the topologies of the seen nodes by label keys, and the nodes of each driver, so that no claim looks for
    them. Mutable view.
    """

    follows = frozenset({"Node", "CSINode"})

    def __init__(self) -> None:
        self.labels: dict[LogKey, Mapping[str, str]] = {}
        self.counted: dict[tuple[str, ...], Counter[tuple[str, ...]]] = {}  # by the keys asked for so far
        self.drivers: dict[str, dict[str, tuple[str, ...]]] = {}  # by driver and node: the keys that it registered
        self._any_keys: dict[str, tuple[str, ...]] = {}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Count a node that came, changed or went, or what drivers registered on one."""
        if key[0] == "CSINode":
            self._register(old, new)
            return
        self.labels.pop(key, None)
        if new is not None:
            self.labels[key] = new.metadata.labels
        for keys, counts in self.counted.items():
            for node, step in ((old, -1), (new, 1)):
                values = _values(node.metadata.labels, keys) if node is not None else None
                if values is not None:
                    counts[values] += step

    def of(self, keys: Sequence[str]) -> list[Topology]:
        """Return the distinct topologies of the nodes that have all these labels, sorted."""
        wanted = tuple(sorted(set(keys)))
        counts = self.counted.get(wanted)
        if counts is None:
            found = (_values(labels, wanted) for labels in self.labels.values())
            counts = self.counted[wanted] = Counter(values for values in found if values is not None)
        return [tuple(zip(wanted, values, strict=True)) for values in sorted(+counts)]

    def _register(self, old: CSINode | None, new: CSINode | None) -> None:
        self._any_keys.clear()
        if old is not None:
            for driver in old.spec.drivers:
                nodes = self.drivers.get(driver.name, {})
                nodes.pop(old.metadata.name, None)
                if not nodes:
                    self.drivers.pop(driver.name, None)
        if new is not None:
            for driver in new.spec.drivers:
                self.drivers.setdefault(driver.name, {}).setdefault(new.metadata.name, driver.topology_keys)

    def any_keys(self, driver: str) -> tuple[str, ...]:
        """Return the keys of the first node (by name) on which a driver has registered some."""
        if driver not in self._any_keys:
            registered = sorted(self.drivers.get(driver, {}).items())
            self._any_keys[driver] = next((keys for _, keys in registered if keys), NO_KEYS)
        return self._any_keys[driver]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeTopologies) and (self.labels, self.drivers) == (other.labels, other.drivers)

    __hash__ = None  # type: ignore[assignment]


def _values(labels: Mapping[str, str], keys: Sequence[str]) -> tuple[str, ...] | None:
    return tuple([labels[key] for key in keys]) if all(key in labels for key in keys) else None


@attrs.frozen
class DriverTopology:
    """What a provisioner sees of a driver on the nodes: the label keys that each CSINode names, and the labels.

    `assumed` are keys that count as registered on every node while no CSINode names the driver at all: most manifests
    have no CSINode. `selected` is a node that was read from the API; `counts` has the topologies that are seen.
    """

    driver: str
    seen: InformerCache
    assumed: tuple[str, ...] = ()
    selected: Node | None = None
    counts: NodeTopologies | None = None

    def node(self, name: str) -> Node | None:
        """Return the selected node, else the one of this name, or None."""
        if self.selected is not None:
            return self.selected
        found: Node | None = self.seen.get("Node", name)
        return found

    def keys_of(self, node: str) -> tuple[str, ...] | None:
        """Return the label keys that a driver has registered on a node; None if the node has no CSINode."""
        found: CSINode | None = self.seen.get("CSINode", node)
        driver = found.driver(self.driver) if found is not None else None
        if driver is not None:
            return driver.topology_keys
        return self.assumed if self.assumes else None if found is None else NO_KEYS

    @property
    def assumes(self) -> bool:
        """Whether the keys of every node are only assumed."""
        return bool(self.assumed) and not self._topologies.drivers.get(self.driver)

    @property
    def without_topology(self) -> bool:
        """Whether the driver runs on nodes and names no label key on any of them: every node reaches its volumes.

        external-provisioner asks such a driver, which lacks the capability VOLUME_ACCESSIBILITY_CONSTRAINTS, for no
        topology. A driver that has the capability and registered no keys looks the same from the API.
        """
        return bool(self._topologies.drivers.get(self.driver)) and not self.any_keys()

    def any_keys(self) -> tuple[str, ...]:
        """Return the keys of the first node (by name) on which some are registered; Kubernetes takes any."""
        return self.assumed if self.assumes else self._topologies.any_keys(self.driver)

    def topologies(self, keys: Sequence[str]) -> list[Topology]:
        """Return the distinct topologies of the nodes with all these labels, whether the driver runs there or not."""
        return self._topologies.of(keys)

    @property
    def _topologies(self) -> NodeTopologies:
        if self.counts is not None:
            return self.counts
        objects: dict[LogKey, Any] = {}
        for kind in sorted(NodeTopologies.follows):
            objects.update(self.seen.kinds[kind].items())
        return build(NodeTopologies(), objects)

    def segments(self, only: str = "") -> tuple[Topology, ...]:
        """Return the distinct topologies in which the driver runs, of all nodes or `only` one, sorted.

        A node that lacks a label has none.
        """
        if self.assumes:
            nodes = self._seen("Node", only)
            found = {segment_of(node.metadata.labels, self.assumed) for node in nodes}
        else:
            names = self._seen("CSINode", only)
            pairs = ((csi.driver(self.driver), self.node(csi.metadata.name)) for csi in names)
            found = {segment_of(node.metadata.labels, csi.topology_keys) for csi, node in pairs if csi and node}
        return tuple(sorted(segment for segment in found if segment is not None))

    def _seen(self, kind: str, only: str) -> list[Any]:
        """Return the objects of a kind, or the one with a name."""
        return self.seen.all(kind) if not only else [found for found in [self.seen.get(kind, only)] if found]


def accessibility(
    request: TopologyRequest, registered: DriverTopology, remembered: FirstAttempt = FirstAttempt()
) -> tuple[TopologyRequirement | None, FirstAttempt]:
    """Return what to ask the driver for (None: it may choose), and what to remember for a repetition.

    Raises:
        NoTopologyYet: there is no such topology; its `remembered` is to be kept all the same.
    """
    selected: Topology = ()
    if request.node:
        selected, remembered = _selected(request.node, registered, remembered)
        if request.strict:
            allowed = flattened(request.allowed)
            if request.allowed and not any(set(segment) <= set(selected) for segment in allowed):
                message = f"selected node '\"{request.node}\"' topology '{go_segment(selected)}' is not in allowed"
                raise NoTopologyYet(f"{message} topologies: {go_segments(allowed)}", remembered)
            only = (selected,)
            return TopologyRequirement(only, only), evolve(remembered, requisite=only, preferred=only)
    if remembered.preferred:
        return TopologyRequirement(remembered.requisite, remembered.preferred), remembered
    requisite = remembered.requisite
    if not requisite:
        if not request.allowed and not request.node and not request.immediate:
            return None, remembered
        terms = flattened(request.allowed) if request.allowed else _aggregated(request, registered, remembered)
        requisite = tuple(sorted(set(terms), key=lambda segment: (len(segment), segment)))
    if not requisite:
        return None, remembered  # a list of empty entries, or no node has registered a topology
    remembered = evolve(remembered, requisite=requisite)
    if request.node:
        first = next((index for index, segment in enumerate(requisite) if set(segment) <= set(selected)), None)
        if first is None:
            message = f'topology {go_segment(selected)} from selected node "{request.node}" is not in requisite'
            raise NoTopologyYet(f"{message}: {go_segments(requisite)}", remembered)
    else:
        first = spread_index(request.claim, len(requisite))
    preferred = requisite[first:] + requisite[:first]
    return TopologyRequirement(requisite, preferred), evolve(remembered, preferred=preferred)


class NoTopologyYet(NoTopology):
    """No topology suits now; `remembered` is what the attempt had read by then."""

    def __init__(self, message: str, remembered: FirstAttempt) -> None:
        super().__init__(message)
        self.remembered = remembered


def _selected(node: str, registered: DriverTopology, remembered: FirstAttempt) -> tuple[Topology, FirstAttempt]:
    keys = remembered.keys
    if not keys:
        found = registered.keys_of(node)
        if found is None:
            message = f'failed to get selected CSINode {node}: csinode.storage.k8s.io "{node}" not found'
            raise NoTopologyYet(message, remembered)
        if not found:
            raise NoTopologyYet(f"no topology key found for node {node}", remembered)
        keys = found
    labels: Mapping[str, str] = remembered.labels
    if not labels:
        present = registered.node(node)
        if present is None:
            raise NoTopologyYet(f'failed to get selected node {node}: node "{node}" not found', remembered)
        labels = present.metadata.labels
    segment = segment_of(labels, keys)
    if segment is None:  # what is missing may still come: neither is remembered
        message = f"topology labels from selected node {go_map(labels)} does not match topology keys from CSINode"
        raise NoTopologyYet(f"{message} [{' '.join(keys)}]", remembered)
    return segment, evolve(remembered, keys=keys, labels=Frozen(labels))


def _aggregated(request: TopologyRequest, registered: DriverTopology, remembered: FirstAttempt) -> Iterable[Topology]:
    """Return the topologies of the whole cluster, in the keys of the selected node or of any."""
    keys = remembered.keys or registered.any_keys()
    if not keys:
        raise NoTopologyYet("no available topology found", remembered)
    found = registered.topologies(keys)
    if not found and not registered.assumes:
        raise NoTopologyYet(f"topologyKeys [{' '.join(keys)}] were not found on any nodes", remembered)
    return found


def node_affinity_of(segments: Iterable[Sequence[tuple[str, str | tuple[str, ...]]]]) -> VolumeNodeAffinity | None:
    """Return the node affinity of a volume that a driver says is accessible from these topologies (ORed).

    Without topologies there is none: every node. An empty topology, "from anywhere", gives no term and matches no node.
    """
    segments = tuple(segments)
    if not segments:
        return None
    terms = tuple(
        NodeSelectorTerm(
            match_expressions=tuple(
                Requirement(key=key, operator="In", values=(value,) if isinstance(value, str) else tuple(value))
                for key, value in sorted(segment)
            )
        )
        for segment in segments
        if segment
    )
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def spread_index(claim: str, among: int) -> int:
    """Return which of several domains a claim of this name takes: replicas of a StatefulSet take one after the other.

    An ordinal at the end of the name (below 2^32) is an offset; then only the last part before it is hashed, so that
    the claims of one replica lie together.
    """
    name, dash, digits = claim.rpartition("-")
    is_ordinal = dash and digits.isascii() and digits.isdigit() and int(digits) < 1 << 32
    text, offset = (name.rpartition("-")[2], int(digits)) if is_ordinal else (claim, 0)
    return ((fnv1(text.encode()) + offset) % (1 << 32)) % among


def keys_in_use(allowed: Iterable[TopologySelectorTerm], nodes: Iterable[Node], keys: Sequence[str]) -> tuple[str, ...]:
    """Return a driver's keys in the spelling that class or nodes use, and the keys that the class adds.

    A key that neither uses is left out if the class names others: the driver's keys are only assumed.
    """
    named = [part.key for term in allowed for part in term.match_label_expressions]
    labelled = {key for node in nodes for key in node.metadata.labels}
    found = []
    for key in keys:
        spellings = ZONE_LABELS if key in ZONE_LABELS else (key,)
        used = [text for text in spellings if text in named] or [text for text in spellings if text in labelled]
        if used or not named:
            found.append(used[0] if used else key)
    return tuple(dict.fromkeys(found + [key for key in named if key not in ZONE_LABELS]))


def go_map(labels: Mapping[str, str]) -> str:
    """Return labels as Go prints a map."""
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]"


def go_segment(segment: Topology) -> str:
    """Return one topology as Go prints it."""
    return f"[{' '.join(f'{{{key} {value}}}' for key, value in segment)}]"


def go_segments(segments: Iterable[Topology]) -> str:
    """Return topologies as Go prints them."""
    return f"[{' '.join(map(go_segment, segments))}]"
