"""InterPodAffinity over all nodes at once: pods per node, summed up by domain; a test holds it equal to the rule."""

from collections.abc import Iterator

import numpy as np

from ....api.kinds.pod import Pod
from ...columns.column import Integers, Mask
from ...columns.pod_counts import (
    AffinityTerm,
    PodMatcher,
    RowCount,
    domain_mask,
    preferred_terms,
    required_affinity,
    required_anti_affinity,
)
from ...columns.snapshot import Snapshot
from ...framework.extension_points import ColumnContext, GroupedScores

HARD_POD_AFFINITY_WEIGHT = 1  # what a required affinity of a pod on a node weighs for a pod that meets it


def rows_without_wanted_pods(pod: Pod, columns: ColumnContext) -> Mask | None:
    """Return, by row, whether the node's domain lacks a pod that the required affinity wants."""
    terms = required_affinity(pod)
    if not terms:
        return None
    matchers = matchers_of(terms, columns.seen)
    lacks = ~columns.nodes.live.array
    any_near = False
    lacks_key = lacks
    for term in terms:
        codes = columns.nodes.labels(term.topology_key).codes.array
        lacks_key = lacks_key | (codes < 0)
        if matchers is not None:
            near = domain_mask(columns.nodes, term.topology_key, columns.seen.pod_count(*matchers))
            any_near = any_near or bool(near.any())
            lacks = lacks | ~near
    if not any_near:
        return lacks_key if meets_all(terms, pod, columns.seen) else np.ones(len(lacks), bool)
    rejected: Mask = lacks | lacks_key
    return rejected


def rows_with_unwanted_pods(pod: Pod, columns: ColumnContext) -> Mask | None:
    """Return, by row, whether the node's domain holds a pod that the required anti-affinity excludes."""
    mask: Mask | None = None
    for term in required_anti_affinity(pod):
        matcher = term.matcher(columns.seen.namespaces())
        if matcher is not None:
            holds = domain_mask(columns.nodes, term.topology_key, columns.seen.pod_count(matcher))
            mask = holds if mask is None else mask | holds
    return mask


def rows_with_objecting_pods(pod: Pod, columns: ColumnContext) -> Mask | None:
    """Return, by row, whether the node's domain holds a pod whose required anti-affinity excludes this pod."""
    mask: Mask | None = None
    labels = columns.seen.namespace_labels(pod.metadata.namespace)
    for term, counts in columns.seen.pod_counts.anti_affinity_terms():
        if term.meets(pod, labels):
            holds = domain_mask(columns.nodes, term.topology_key, counts)
            mask = holds if mask is None else mask | holds
    return mask


def preference_sums(pod: Pod, columns: ColumnContext) -> Integers | GroupedScores | None:
    """Return Σ weight · pods in the node's domain over all preferences, by row; None if none meets a pod.

    If all preferences are about one topology key, the sums are by domain.
    """
    nodes = columns.nodes
    by_key: dict[str, Integers] = {}
    for term, weight, count in _weighted_terms(pod, columns):
        groups = nodes.groups((term.topology_key,))
        sums = count.sums(groups.at, groups.size, nodes.version)
        if not by_key and not (sums[:-1] > 0).any():
            continue
        part = weight * sums
        part[-1] = 0
        known = by_key.get(term.topology_key)
        by_key[term.topology_key] = part if known is None else known + part
    if not by_key:
        return None
    scores = [GroupedScores(sums, nodes.groups((key,))) for key, sums in by_key.items()]
    if len(scores) == 1:
        return scores[0]
    total: Integers = sum((each.by_row() for each in scores), np.zeros(len(nodes.names), np.int64))
    return total


def _weighted_terms(pod: Pod, columns: ColumnContext) -> Iterator[tuple[AffinityTerm, int, RowCount]]:
    """Yield each term that is for or against a node, with its weight, and how many pods it counts."""
    for preference in preferred_terms(pod):
        matcher = preference.term.matcher(columns.seen.namespaces()) if preference.weight is not None else None
        if matcher is not None and preference.weight is not None:
            yield preference.term, preference.weight, columns.seen.pod_count(matcher)
    labels = columns.seen.namespace_labels(pod.metadata.namespace)
    for preference, carriers in columns.seen.pod_counts.preferred_terms():
        if preference.term.meets(pod, labels):
            weight = HARD_POD_AFFINITY_WEIGHT if preference.weight is None else preference.weight
            yield preference.term, weight, carriers


def meets(term: AffinityTerm, pod: Pod, seen: Snapshot) -> bool:
    """Say whether a term of the pod to be placed matches a pod; its namespace selector reads the namespaces seen."""
    matcher = term.matcher(seen.namespaces())
    return matcher is not None and matcher.matches(pod)


def meets_all(terms: tuple[AffinityTerm, ...], pod: Pod, seen: Snapshot) -> bool:
    """Say whether every term matches a pod."""
    return all(meets(term, pod, seen) for term in terms)


def matchers_of(terms: tuple[AffinityTerm, ...], seen: Snapshot) -> tuple[PodMatcher, ...] | None:
    """Return what a pod must match to meet every term, or None if no pod can."""
    found = [term.matcher(seen.namespaces()) for term in terms]
    matchers = tuple(matcher for matcher in found if matcher is not None)
    return matchers if len(matchers) == len(found) else None
