"""The clauses that a plugin reads, each with the pod that has, of this plugin's clauses, that one alone.

A plugin is asked about such a pod as about any other, so a clause fails where the plugin says so. What decides for the
others (which nodes a spread constraint counts, say) stays as it is. Plugins that are not in the table have no clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from kvolsched.api.kinds.pod import Affinity, Pod, PodAffinity, TopologySpreadConstraint
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Toleration
from kvolsched.volumes import REGION_LABELS, ZONE_LABELS

from ..api.kinds.meta import evolve_parts
from ..scheduler.columns.arrays import Mask
from ..scheduler.columns.pod_counts import (
    AffinityTerm,
    PodsPerRow,
    domain_mask,
    required_affinity,
    required_anti_affinity,
)
from ..scheduler.framework.extension_points import ColumnContext
from ..scheduler.node_selection import node_affinity
from ..scheduler.spread_constraints import HARD

NAMED = 3  # pods that object


@attrs.frozen
class Clause:
    """A clause and the pod that has, of its plugin's clauses, this one alone; `holds_on` exempts nodes by row."""

    sort: str
    about: str
    words: str
    pod: Pod
    number: int = 0
    holds_on: Mask | None = attrs.field(default=None, eq=False)


def clauses_of(plugin: str, pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Give the clauses that a plugin reads of a pod; none of a plugin that is not known here."""
    yield from CLAUSES[plugin](pod, at) if plugin in CLAUSES else ()


def _taints(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """One demand a taint key: the pod would tolerate every other."""
    keys = sorted({taint.key for taints in at.nodes.taint_sets for taint in taints})
    for key in keys:
        others = tuple(Toleration(key=other, operator="Exists") for other in keys if other != key)
        spec = attrs.evolve(pod.spec, tolerations=(*pod.spec.tolerations, *others))
        words = f"its node has no taint {key} that the pod does not tolerate"
        yield Clause("taint", key, words, attrs.evolve(pod, spec=spec))


def _selection(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each entry of nodeSelector; each expression of the only required term, or all terms as one."""
    for number, (key, value) in enumerate(sorted(pod.spec.node_selector.items())):
        alone = attrs.evolve(
            pod.spec, node_selector=type(pod.spec.node_selector)({key: value}), affinity=_without_node_affinity(pod)
        )
        words = f"nodeSelector: its node carries {key}={value}"
        yield Clause("node selector", key, words, attrs.evolve(pod, spec=alone), number)
    wishes = node_affinity(pod)
    if wishes is None or wishes.required is None:
        return
    terms = wishes.required.node_selector_terms
    parts: list[tuple[str, NodeSelector]] = []
    if len(terms) == 1:
        only = terms[0]
        parts += [(part.key, _only(NodeSelectorTerm(match_expressions=(part,)))) for part in only.match_expressions]
        parts += [(part.key, _only(NodeSelectorTerm(match_fields=(part,)))) for part in only.match_fields]
    if len(parts) < 2:
        parts = [(parts[0][0] if parts else "", wishes.required)]
    for number, (key, selector) in enumerate(parts):
        chosen = attrs.evolve(wishes, required=selector)
        affinity_alone = attrs.evolve(pod.spec.affinity or Affinity(), node_affinity=chosen)
        alone = attrs.evolve(pod.spec, node_selector=type(pod.spec.node_selector)(), affinity=affinity_alone)
        words = f"node affinity: its node has {selector}"
        yield Clause("node affinity", key, words, attrs.evolve(pod, spec=alone), number)


def _only(term: NodeSelectorTerm) -> NodeSelector:
    return NodeSelector(node_selector_terms=(term,))


def _without_node_affinity(pod: Pod) -> Any:
    return None if pod.spec.affinity is None else attrs.evolve(pod.spec.affinity, node_affinity=None)


def _ports(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each host port that the pod asks for."""
    containers = [*pod.spec.containers, *pod.spec.init_containers]
    ports = [(container, port) for container in containers for port in container.ports if port.host_port]
    for number, (container, port) in enumerate(ports):
        spec = attrs.evolve(pod.spec, containers=(attrs.evolve(container, ports=(port,)),), init_containers=())
        name = f"{port.host_ip + ':' if port.host_ip else ''}{port.host_port}/{port.protocol or 'TCP'}"
        yield Clause("port", name, f"host port {name} is free on its node", attrs.evolve(pod, spec=spec), number)


def _volumes(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each volume of the pod alone: whether it can be had."""
    for number, volume in enumerate(pod.spec.volumes):
        source = volume.persistent_volume_claim
        if source is None and volume.ephemeral is None:
            name, words = volume.name, f"its volume {volume.name} can be used on its node"
            sort = "volume"
        else:
            name = source.claim_name if source is not None else f"{pod.metadata.name}-{volume.name}"
            sort, words = "claim", _claim_words(pod, name, at)
        yield Clause(sort, name, words, evolve_parts(pod, spec={"volumes": (volume,)}), number)


def _claim_words(pod: Pod, name: str, at: ColumnContext) -> str:
    claim = at.seen.claim(pod.metadata.namespace, name)
    if claim is None:
        return f"its claim {name} exists"
    volume = at.seen.volume(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        wanted = volume.spec.node_affinity
        reach = f": {wanted.required}" if wanted is not None and wanted.required is not None else ""
        return f"its node reaches volume {volume.metadata.name} of claim {name}{reach}"
    size = claim.spec.resources.requests.get("storage", "")
    named = claim.spec.storage_class_name
    words = ", ".join(part for part in (size, f"class {named}" if named else "no class") if part)
    return f"claim {name} ({words}) finds a volume that its node reaches, or one can be made for it there"


def _spreads(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each hard constraint; the others stay, as they decide which nodes count, but allow any skew."""
    every = pod.spec.topology_spread_constraints
    hard = [constraint for constraint in every if constraint.when_unsatisfiable in (HARD, "")]
    loose = 2**31 - 1
    for number, constraint in enumerate(every):
        if constraint not in hard:
            continue
        kept = tuple(
            other if place == number else attrs.evolve(other, max_skew=loose, min_domains=None)
            for place, other in enumerate(every)
        )
        has = at.nodes.labels(constraint.topology_key).codes.array >= 0
        lacks = np.zeros(len(has), bool)
        for other in hard:
            lacks |= at.nodes.labels(other.topology_key).codes.array < 0
        variant = evolve_parts(pod, spec={"topology_spread_constraints": kept})
        yield Clause("spread", constraint.topology_key, _spread_words(constraint), variant, number, has & lacks)


def _spread_words(constraint: TopologySpreadConstraint) -> str:
    more = f", at least {constraint.min_domains} domains" if constraint.min_domains else ""
    selector = constraint.label_selector
    whom = f"pods with {selector}" if selector is not None else "no pods"
    return f"spread {whom} over {constraint.topology_key}, maxSkew {constraint.max_skew or 1}{more}"


def _company(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each required term of the pod, for company and against it; and what pods that are there object to."""
    none = attrs.evolve(pod.spec.affinity, pod_affinity=None, pod_anti_affinity=None) if pod.spec.affinity else None
    for number, term in enumerate(required_affinity(pod)):
        assert none is not None
        mine = pod.spec.affinity.pod_affinity.required[number]  # type: ignore[union-attr]
        variant = attrs.evolve(none, pod_affinity=PodAffinity(required=(mine,)))
        yield Clause("affinity", term.topology_key, f"near {term}", _with(pod, variant), number)
    for number, term in enumerate(required_anti_affinity(pod)):
        assert none is not None
        mine = pod.spec.affinity.pod_anti_affinity.required[number]  # type: ignore[union-attr]
        variant = attrs.evolve(none, pod_anti_affinity=PodAffinity(required=(mine,)))
        yield Clause("anti-affinity", term.topology_key, f"away from {term}", _with(pod, variant), number)
    labels = at.seen.namespace_labels(pod.metadata.namespace)
    objecting = [(term, counts) for term, counts in at.seen.pod_counts.anti_affinity_terms() if term.meets(pod, labels)]
    for number, (term, counts) in enumerate(sorted(objecting, key=lambda one: str(one[0]))):
        words = f"out of the way of {_carriers(term, counts, at)}, which must be away from {term}"
        elsewhere = ~domain_mask(at.nodes, term.topology_key, counts)
        yield Clause("objection", term.topology_key, words, _with(pod, none), number, elsewhere)


def _carriers(term: AffinityTerm, counts: PodsPerRow, at: ColumnContext) -> str:
    """Return the first pods by name that carry a term against others, and how many more there are."""
    nodes = (at.nodes.names[row] for row in np.flatnonzero(counts > 0).tolist())
    found = sorted(
        f"{pod.metadata.namespace}/{pod.metadata.name}"
        for node in nodes
        if node is not None
        for pod in at.seen.pods_on(node)
        if term in required_anti_affinity(pod)
    )
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}"


def _with(pod: Pod, wanted: Any) -> Pod:
    return evolve_parts(pod, spec={"affinity": wanted})


def _shared(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each volume alone: whether other pods leave it to this one."""
    for clause in _volumes(pod, at):
        yield attrs.evolve(clause, words=f"no other pod keeps {clause.sort} {clause.about} from it")


def _attached(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each volume alone: whether the node may attach one volume more."""
    for clause in _volumes(pod, at):
        words = f"its node may attach one volume more, that of {clause.sort} {clause.about}"
        yield attrs.evolve(clause, words=words)


def _zoned(pod: Pod, at: ColumnContext) -> Iterator[Clause]:
    """Each volume alone: whether the node carries the zone and region labels of the volume."""
    for clause in _volumes(pod, at):
        claim = at.seen.claim(pod.metadata.namespace, clause.about)
        volume = at.seen.volume(claim.spec.volume_name) if claim is not None else None
        labels = volume.metadata.labels if volume is not None else {}
        named = ", ".join(f"{key}={labels[key]}" for key in (*ZONE_LABELS, *REGION_LABELS) if key in labels)
        words = f"its node is where the labels of the volume of {clause.sort} {clause.about} say"
        yield attrs.evolve(clause, words=f"{words}: {named}" if named else words)


CLAUSES: Mapping[str, Callable[[Pod, ColumnContext], Iterator[Clause]]] = {
    "TaintToleration": _taints,
    "NodeAffinity": _selection,
    "NodePorts": _ports,
    "VolumeRestrictions": _shared,
    "NodeVolumeLimits": _attached,
    "VolumeBinding": _volumes,
    "VolumeZone": _zoned,
    "PodTopologySpread": _spreads,
    "InterPodAffinity": _company,
}
