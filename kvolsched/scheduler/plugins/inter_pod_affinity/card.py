"""The card of InterPodAffinity, and as clauses each required term of a pod and those of other pods against it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....api.kinds.directives import pod_term_alone, without_pod_terms
from ....api.kinds.meta import evolve
from ....api.kinds.pod import Affinity, Pod
from ....api.words import first_of
from ...columns import pod_counts
from ...columns.arrays import Mask
from ...framework.card import Card, Clause
from ...framework.extension_points import ColumnContext
from .column import rows_with_unwanted_pods, rows_without_wanted_pods

MAX_CARRIERS = 3  # named pods whose anti-affinity keeps the pod out


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each required pod (anti-)affinity term, and each anti-affinity of placed pods that matches."""
    for number, term in enumerate(pod_counts.required_affinity(pod)):
        words, title = f"podAffinity: the node's domain has no {term}", f"No {term}, which the pod must be with"
        variant = evolve(pod, spec=pod_term_alone(pod.spec, "pod_affinity", number))
        holds = _outside(rows_without_wanted_pods(variant, columns), columns)
        yield Clause("affinity", term.topology_key, words, title, "", variant, number, holds)
    for number, term in enumerate(pod_counts.required_anti_affinity(pod)):
        words, title = f"podAntiAffinity: the node's domain has {term}", f"The pod avoids {term}"
        variant = evolve(pod, spec=pod_term_alone(pod.spec, "pod_anti_affinity", number))
        holds = _outside(rows_with_unwanted_pods(variant, columns), columns)
        yield Clause("anti-affinity", term.topology_key, words, title, "", variant, number, holds)
    variant = evolve(pod, spec=without_pod_terms(pod.spec))
    labels = columns.seen.namespace_labels(pod.metadata.namespace)
    terms = columns.seen.pod_counts.anti_affinity_terms()
    objecting = [(term, counts) for term, counts in terms if term.meets(pod, labels)]
    for number, (term, counts) in enumerate(sorted(objecting, key=lambda found: str(found[0]))):
        carriers = _carrier_names(term, counts.column.array, columns)
        words = f"podAntiAffinity of {carriers} forbids {term}, as this one is"
        elsewhere = ~pod_counts.domain_mask(columns.nodes, term.topology_key, counts)
        title, kind = f"{carriers}: no {term} allowed", f"Other pods allow no {term}"
        yield Clause("objection", term.topology_key, words, title, kind, variant, number, elsewhere, term)


def _outside(rejected: Mask | None, columns: ColumnContext) -> Mask:
    """Return the rows where a term of the pod holds: there the plugin rejects only what other pods object to."""
    return np.ones(len(columns.nodes.names), bool) if rejected is None else ~rejected


def _carrier_names(term: pod_counts.AffinityTerm, counts: pod_counts.PodsPerRow, columns: ColumnContext) -> str:
    """Return the first pods by name that carry a term against others, and how many more there are."""
    nodes = (columns.nodes.names[row] for row in np.flatnonzero(counts > 0).tolist())
    found = sorted(
        f"{pod.metadata.namespace}/{pod.metadata.name}"
        for node in nodes
        if node is not None
        for pod in columns.seen.pods_on(node)
        if term in pod_counts.required_anti_affinity(pod)
    )
    return first_of(found, MAX_CARRIERS)


def _unranked(pod: Pod) -> Iterator[str]:
    affinity = pod.spec.affinity or Affinity()
    for name, wishes in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if wishes is not None and wishes.preferred:
            yield f"{name}.preferredDuringSchedulingIgnoredDuringExecution"


CARD = Card("I", "spread", "pods", "pods it wants near, or far", clauses=_clauses, unranked=_unranked)
