"""Takes a pod's spec apart into clauses, one variant of the pod for each, which `demands` lets the plugin judge.

A variant keeps only one of the clauses that a plugin reads, so a clause fails where the plugin rejects its variant.
What other clauses decide for this one stays (the nodes that a spread constraint counts). A clause's words say what is
lacking where it fails. Plugins that are not in the table have no clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from kvolsched.api.kinds.node import REGION_LABELS, ZONE_LABELS
from kvolsched.api.kinds.pod import DO_NOT_SCHEDULE, Affinity, Pod, PodAffinity, TopologySpreadConstraint
from kvolsched.api.kinds.selector import NodeSelector, NodeSelectorTerm, Toleration

from ...api.kinds.meta import evolve_parts
from ...scheduler.columns.arrays import Mask
from ...scheduler.columns.pod_counts import (
    AffinityTerm,
    PodsPerRow,
    domain_mask,
    required_affinity,
    required_anti_affinity,
)
from ...scheduler.framework.extension_points import ColumnContext
from ...scheduler.node_selection import node_affinity
from ...scheduler.plugins.inter_pod_affinity.column import rows_with_unwanted_pods, rows_without_wanted_pods

MAX_CARRIERS = 3  # named pods whose anti-affinity keeps the pod out


@attrs.frozen
class Clause:
    """One clause of a pod, and the variant of the pod that keeps it alone; `holds_on` exempts nodes by row.

    `title` is what is lacking in a few words, `kind` the same without the names of the pod's own objects.
    """

    sort: str
    about: str
    words: str
    pod: Pod
    number: int = 0
    holds_on: Mask | None = attrs.field(default=None, eq=False)
    title: str = ""
    kind: str = ""


def clauses_of(name: str, plugin: Any, pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield the clauses that the plugin of this name reads of a pod; none for an unknown plugin."""
    if name == "PodTopologySpread":
        yield from _spread_clauses(pod, columns, plugin)
    elif name in CLAUSES:
        yield from CLAUSES[name](pod, columns)


def as_read(plugin: Any, pod: Pod) -> Pod:
    """Return a pod as a plugin reads it: some releases do not know all fields."""
    read: Callable[[Pod], Pod] | None = getattr(plugin, "as_read", None)
    return pod if read is None else read(pod)


def _taint_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each taint key; its variant tolerates all other keys."""
    keys = sorted({taint.key for taints in columns.nodes.taint_sets for taint in taints})
    for key in keys:
        others = tuple(Toleration(key=other, operator="Exists") for other in keys if other != key)
        spec = attrs.evolve(pod.spec, tolerations=(*pod.spec.tolerations, *others))
        words = f"the pod does not tolerate the node's taint {key}"
        yield Clause("taint", key, words, attrs.evolve(pod, spec=spec), title=f"Taint {key} is not tolerated")


def _node_selection_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each nodeSelector entry and each expression of a single term; several terms are one clause."""
    for number, (key, value) in enumerate(sorted(pod.spec.node_selector.items())):
        alone = attrs.evolve(
            pod.spec, node_selector=type(pod.spec.node_selector)({key: value}), affinity=_without_node_affinity(pod)
        )
        words = f"the node lacks the label {key}={value} of nodeSelector"
        title = f"Label {key} is not {value}"
        yield Clause("node selector", key, words, attrs.evolve(pod, spec=alone), number, title=title)
    wishes = node_affinity(pod)
    if wishes is None or wishes.required is None:
        return
    terms = wishes.required.node_selector_terms
    parts: list[tuple[str, NodeSelector]] = []
    if len(terms) == 1:
        only = terms[0]
        terms_apart = [(part.key, NodeSelectorTerm(match_expressions=(part,))) for part in only.match_expressions]
        terms_apart += [(part.key, NodeSelectorTerm(match_fields=(part,))) for part in only.match_fields]
        parts += [(key, NodeSelector(node_selector_terms=(term,))) for key, term in terms_apart]
    if len(parts) < 2:
        parts = [(parts[0][0] if parts else "", wishes.required)]
    for number, (key, selector) in enumerate(parts):
        chosen = attrs.evolve(wishes, required=selector)
        affinity_alone = attrs.evolve(pod.spec.affinity or Affinity(), node_affinity=chosen)
        alone = attrs.evolve(pod.spec, node_selector=type(pod.spec.node_selector)(), affinity=affinity_alone)
        words = f"the node does not match the required node affinity {selector}"
        title = f"Node affinity not met: {selector}"
        yield Clause("node affinity", key, words, attrs.evolve(pod, spec=alone), number, title=title)


def _without_node_affinity(pod: Pod) -> Any:
    return None if pod.spec.affinity is None else attrs.evolve(pod.spec.affinity, node_affinity=None)


def _port_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each host port of the pod."""
    containers = [*pod.spec.containers, *pod.spec.init_containers]
    ports = [(container, port) for container in containers for port in container.ports if port.host_port]
    for number, (container, port) in enumerate(ports):
        spec = attrs.evolve(pod.spec, containers=(attrs.evolve(container, ports=(port,)),), init_containers=())
        name = f"{port.host_ip + ':' if port.host_ip else ''}{port.host_port}/{port.protocol or 'TCP'}"
        words, title = f"host port {name} is taken on the node", f"Host port {name} is taken"
        yield Clause("port", name, words, attrs.evolve(pod, spec=spec), number, title=title)


def _volume_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each volume of the pod: whether the node can use it."""
    for number, volume in enumerate(pod.spec.volumes):
        source = volume.persistent_volume_claim
        if source is None and volume.ephemeral is None:
            name, words = volume.name, f"volume {volume.name} cannot be used on the node"
            sort, title, kind = "volume", f"Volume {volume.name} cannot be used", "The pod's volume cannot be used"
        else:
            name = source.claim_name if source is not None else f"{pod.metadata.name}-{volume.name}"
            sort, words = "claim", _claim_words(pod, name, columns)
            title, kind = _claim_titles(pod, name, columns)
        alone = evolve_parts(pod, spec={"volumes": (volume,)})
        yield Clause(sort, name, words, alone, number, title=title, kind=kind)


def _claim_titles(pod: Pod, name: str, columns: ColumnContext) -> tuple[str, str]:
    """Return what a claim lacks in a few words, with its name and without."""
    claim = columns.seen.claim(pod.metadata.namespace, name)
    if claim is None:
        return f"Claim {name} does not exist", "The claim does not exist"
    if claim.spec.volume_name and columns.seen.volume(claim.spec.volume_name) is not None:
        return f"Volume of claim {name} is out of reach", "The claim's volume is out of reach"
    size, class_name = claim.spec.resources.requests.get("storage", ""), claim.spec.storage_class_name
    kind = f"The claim finds no volume of class {class_name}" if class_name else "The claim finds no volume"
    return f"Claim {name} finds no volume{f' of {size}' if size else ''}", kind


def _claim_words(pod: Pod, name: str, columns: ColumnContext) -> str:
    claim = columns.seen.claim(pod.metadata.namespace, name)
    if claim is None:
        return f"claim {name} does not exist"
    volume = columns.seen.volume(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        wanted = volume.spec.node_affinity
        reach = f" ({wanted.required})" if wanted is not None and wanted.required is not None else ""
        return f"the node does not reach volume {volume.metadata.name} of claim {name}{reach}"
    size = claim.spec.resources.requests.get("storage", "")
    class_name = claim.spec.storage_class_name
    words = ", ".join(part for part in (size, f"class {class_name}" if class_name else "no class") if part)
    return f"claim {name} ({words}) finds no volume that the node reaches, and none can be provisioned there"


def _spread_clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each hard constraint; in its variant the others allow any skew but still select nodes.

    The plugin reads the variant's constraints in order: where it finds a label missing that this one, the first, does
    not ask for, this one holds.
    """
    constraints = pod.spec.topology_spread_constraints
    any_skew = 2**31 - 1
    for number, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable not in (DO_NOT_SCHEDULE, ""):
            continue
        others = (
            attrs.evolve(other, max_skew=any_skew, min_domains=None)
            for place, other in enumerate(constraints) if place != number
        )  # fmt: skip
        variant = evolve_parts(pod, spec={"topology_spread_constraints": (constraint, *others)})
        codes, key = plugin.column(variant, columns), constraint.topology_key
        lacks_another = None
        if codes is not None:
            lacks_another = (codes == 1 << plugin.no_label.bit) & (columns.nodes.labels(key).codes.array >= 0)
        title = f"Spread over {key} would exceed maxSkew {constraint.max_skew or 1}"
        yield Clause("spread", key, _spread_words(constraint), variant, number, lacks_another, title)


def _spread_words(constraint: TopologySpreadConstraint) -> str:
    domains = f", minDomains {constraint.min_domains}" if constraint.min_domains else ""
    selector = constraint.label_selector
    pods = f"pods with {selector}" if selector is not None else "no pods"
    limits = f"maxSkew {constraint.max_skew or 1}{domains}"
    return f"the node would break the spread of {pods} over {constraint.topology_key} ({limits})"


def _pod_affinity_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each required pod (anti-)affinity term, and each anti-affinity of placed pods that matches."""
    none = attrs.evolve(pod.spec.affinity, pod_affinity=None, pod_anti_affinity=None) if pod.spec.affinity else None
    for number, term in enumerate(required_affinity(pod)):
        assert none is not None
        mine = pod.spec.affinity.pod_affinity.required[number]  # type: ignore[union-attr]
        variant = attrs.evolve(none, pod_affinity=PodAffinity(required=(mine,)))
        words = f"podAffinity: the node's domain has no {term}"
        title = f"No {term}, which the pod must be with"
        yield _own_term("affinity", term, words, _with_affinity(pod, variant), number, title, columns)
    for number, term in enumerate(required_anti_affinity(pod)):
        assert none is not None
        mine = pod.spec.affinity.pod_anti_affinity.required[number]  # type: ignore[union-attr]
        variant = attrs.evolve(none, pod_anti_affinity=PodAffinity(required=(mine,)))
        words = f"podAntiAffinity: the node's domain has {term}"
        title = f"The pod avoids {term}"
        yield _own_term("anti-affinity", term, words, _with_affinity(pod, variant), number, title, columns)
    labels = columns.seen.namespace_labels(pod.metadata.namespace)
    terms = columns.seen.pod_counts.anti_affinity_terms()
    objecting = [(term, counts) for term, counts in terms if term.meets(pod, labels)]
    for number, (term, counts) in enumerate(sorted(objecting, key=lambda found: str(found[0]))):
        carriers = _carrier_names(term, counts.column.array, columns)
        words = f"podAntiAffinity of {carriers} forbids {term}, as this one is"
        elsewhere = ~domain_mask(columns.nodes, term.topology_key, counts)
        title, kind = f"{carriers}: no {term} allowed", f"Other pods allow no {term}"
        yield Clause("objection", term.topology_key, words, _with_affinity(pod, none), number, elsewhere, title, kind)


def _own_term(sort: str, term: AffinityTerm, words: str, variant: Pod, number: int, title: str,
              columns: ColumnContext) -> Clause:
    """Return the clause of one term of the pod; it holds where the plugin rejects only what other pods object to."""
    rejected = rows_without_wanted_pods if sort == "affinity" else rows_with_unwanted_pods
    fails = rejected(variant, columns)
    holds = np.ones(len(columns.nodes.names), bool) if fails is None else ~fails
    return Clause(sort, term.topology_key, words, variant, number, holds, title)


def _carrier_names(term: AffinityTerm, counts: PodsPerRow, columns: ColumnContext) -> str:
    """Return the first pods by name that carry a term against others, and how many more there are."""
    nodes = (columns.nodes.names[row] for row in np.flatnonzero(counts > 0).tolist())
    found = sorted(
        f"{pod.metadata.namespace}/{pod.metadata.name}"
        for node in nodes
        if node is not None
        for pod in columns.seen.pods_on(node)
        if term in required_anti_affinity(pod)
    )
    more = f" and {len(found) - MAX_CARRIERS} more" if len(found) > MAX_CARRIERS else ""
    return f"{', '.join(found[:MAX_CARRIERS])}{more}"


def _with_affinity(pod: Pod, wanted: Any) -> Pod:
    return evolve_parts(pod, spec={"affinity": wanted})


def _shared_volume_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each volume: whether other pods share it."""
    for clause in _volume_clauses(pod, columns):
        title, kind = f"Another pod uses {clause.sort} {clause.about}", f"Another pod uses the {clause.sort}"
        words = f"another pod does not share {clause.sort} {clause.about}"
        yield attrs.evolve(clause, words=words, title=title, kind=kind)


def _attach_limit_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each volume: whether the node's attach limit has room for it."""
    for clause in _volume_clauses(pod, columns):
        words = f"the node's attach limit has no room for the volume of {clause.sort} {clause.about}"
        title = f"No slot left to attach the volume of {clause.sort} {clause.about}"
        yield attrs.evolve(clause, words=words, title=title, kind="No slot left to attach one more volume")


def _volume_zone_clauses(pod: Pod, columns: ColumnContext) -> Iterator[Clause]:
    """Yield a clause for each volume: whether the node carries the volume's zone and region labels."""
    for clause in _volume_clauses(pod, columns):
        claim = columns.seen.claim(pod.metadata.namespace, clause.about)
        volume = columns.seen.volume(claim.spec.volume_name) if claim is not None else None
        labels = volume.metadata.labels if volume is not None else {}
        wanted = ", ".join(f"{key}={labels[key]}" for key in (*ZONE_LABELS, *REGION_LABELS) if key in labels)
        words = f"the node lacks the zone labels of the volume of {clause.sort} {clause.about}"
        title = f"Volume of {clause.sort} {clause.about} is in another zone"
        words = f"{words}: {wanted}" if wanted else words
        yield attrs.evolve(clause, words=words, title=title, kind=f"The volume of the {clause.sort} is in another zone")


CLAUSES: Mapping[str, Callable[[Pod, ColumnContext], Iterator[Clause]]] = {
    "TaintToleration": _taint_clauses,
    "NodeAffinity": _node_selection_clauses,
    "NodePorts": _port_clauses,
    "VolumeRestrictions": _shared_volume_clauses,
    "NodeVolumeLimits": _attach_limit_clauses,
    "VolumeBinding": _volume_clauses,
    "VolumeNode": _volume_clauses,
    "VolumeZone": _volume_zone_clauses,
    "InterPodAffinity": _pod_affinity_clauses,
}
