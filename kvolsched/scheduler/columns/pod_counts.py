"""Counts of pods per node, for topology spreading and pod affinity, updated with every pod that is added or removed.

Three kinds: pods that match selectors (counted from the first request on), pods that have a required anti-affinity
term, and pods that have a preferred or required affinity term. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.meta import EMPTY, Frozen
from kvolsched.api.kinds.pod import Affinity, Pod, PodAffinityTerm
from kvolsched.api.kinds.selector import LabelSelector

from ..shortcuts import SHORTCUTS
from .column import Column, Integers, RowIndices, sum_by_group
from .node_table import NodeInfo, NodeTable

PodsPerRow = NDArray[np.int32]
PodsByValue = dict[str, dict[tuple[str, str], tuple[Pod, int]]]
"""Pods with their rows by namespace and name, by the value of one label."""
MAX_KEPT_SUMS = 4  # of a count, by different groups
MAX_CACHED_MATCHERS = 1024  # columns; the least recently used is dropped


@attrs.define(frozen=True, cache_hash=True)
class PodMatcher:
    """Matches pods in these namespaces (None: in any) by all of the selectors, with or without terminating pods."""

    namespaces: frozenset[str] | None
    selectors: tuple[LabelSelector, ...]
    terminating: bool = True

    def matches(self, pod: Pod) -> bool:
        """Say whether a pod matches."""
        meta = pod.metadata
        if self.namespaces is not None and meta.namespace not in self.namespaces:
            return False
        if not self.terminating and meta.deletion_timestamp is not None:
            return False
        for selector in self.selectors:  # noqa: SIM110 - a loop takes half the time of `all`, for each pod that moves
            if not selector.matches(meta.labels):
                return False
        return True


@attrs.define(frozen=True, cache_hash=True)
class AffinityTerm:
    """A pod affinity term with its namespaces resolved: those named, or the pod's own if the term names none."""

    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    label_selector: LabelSelector | None

    def meets(self, pod: Pod, namespace_labels: Frozen) -> bool:
        """Say whether the term matches a pod in a namespace with these labels."""
        if self.label_selector is None or not self.label_selector.matches(pod.metadata.labels):
            return False
        return pod.metadata.namespace in self.namespaces or (
            self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)
        )

    def matcher(self, namespaces: Mapping[str, Frozen]) -> PodMatcher | None:
        """Return a matcher for the term of the pod to be placed, given all namespaces and their labels; None: no pod.

        A namespaceSelector that accepts empty labels (NotIn, DoesNotExist) accepts every namespace: kube-scheduler
        (v1.36.2) adds the names of those selected, and then asks the selector again without labels.
        """
        if self.label_selector is None:
            return None
        if self.namespace_selector is None:
            names: frozenset[str] | None = self.namespaces
        elif self.namespace_selector.matches(EMPTY):
            names = None
        else:
            selected = (name for name, labels in namespaces.items() if self.namespace_selector.matches(labels))
            names = self.namespaces | frozenset(selected)
        return PodMatcher(names, (self.label_selector,))

    @property
    def pods(self) -> str:
        """The pods that it selects, in words."""
        return f"pods with {self.label_selector}"

    def __str__(self) -> str:
        return f"{self.pods} per {self.topology_key}"


@lru_cache(maxsize=1 << 14)
def _resolved(terms: tuple[PodAffinityTerm, ...], namespace: str) -> tuple[AffinityTerm, ...]:
    found = []
    for term in terms:
        selector = term.namespace_selector
        names = frozenset(term.namespaces if term.namespaces or selector is not None else (namespace,))
        selector = None if selector is None else attrs.evolve(selector, rest=EMPTY)
        found.append(AffinityTerm(term.topology_key, names, selector, term.label_selector))
    return tuple(found)


def required_anti_affinity(pod: Pod) -> tuple[AffinityTerm, ...]:
    """Return the required anti-affinity terms of a pod."""
    affinity: Affinity | None = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return ()
    return _resolved(affinity.pod_anti_affinity.required, pod.metadata.namespace)


def required_affinity(pod: Pod) -> tuple[AffinityTerm, ...]:
    """Return the required affinity terms of a pod."""
    affinity: Affinity | None = pod.spec.affinity
    if affinity is None or affinity.pod_affinity is None:
        return ()
    return _resolved(affinity.pod_affinity.required, pod.metadata.namespace)


@attrs.define(frozen=True, cache_hash=True)
class PreferredTerm:
    """A preferred term of a pod with its weight, which is negative for anti-affinity.

    A required affinity term counts as a preferred one with weight None; the plugin sets its weight.
    """

    term: AffinityTerm
    weight: int | None


@lru_cache(maxsize=1 << 14)
def _preferred_terms(affinity: Affinity, namespace: str) -> tuple[PreferredTerm, ...]:
    near, apart = affinity.pod_affinity, affinity.pod_anti_affinity
    terms = [PreferredTerm(term, None) for term in _resolved(near.required, namespace)] if near is not None else []
    for side, sign in ((near, 1), (apart, -1)):
        for preference in side.preferred if side is not None else ():
            (term,) = _resolved((preference.pod_affinity_term,), namespace)
            terms.append(PreferredTerm(term, sign * preference.weight))
    return tuple(terms)


def preferred_terms(pod: Pod) -> tuple[PreferredTerm, ...]:
    """Return the preferred terms of a pod, and its required affinity terms."""
    return () if pod.spec.affinity is None else _preferred_terms(pod.spec.affinity, pod.metadata.namespace)


class RowCount:
    """A number by row that changes by one at a time, and its sums by group. Mutable."""

    __slots__ = ("_sums", "_version", "column")

    def __init__(self, column: Column) -> None:
        self.column = column
        self._sums: list[tuple[RowIndices, Integers]] = []
        self._version = -1

    def add(self, row: int, number: int, version: int) -> None:
        """Add to a row's number; `version` is that of the node table."""
        self.column.array[row] += number
        if self._sums:
            if version != self._version:
                self._sums = []
            for at, sums in self._sums:
                sums[at.item(row)] += number

    def sums(self, at: RowIndices, size: int, version: int) -> Integers:
        """Return the sums by group, given the group by row; they are valid until the next change of a count.

        `at` is the same array as long as nothing but pods changes; `version` is that of the node table.
        """
        if version != self._version:
            self._sums, self._version = [], version
        if SHORTCUTS.on:
            for known, sums in self._sums:
                if known is at:
                    return sums
        found = sum_by_group(self.column.array, at, size)
        if SHORTCUTS.on:
            self._sums = [*self._sums[1 - MAX_KEPT_SUMS :], (at, found)]
        return found


class PodCount(RowCount):
    """Pods per row that match all of some matchers. Mutable."""

    __slots__ = ("matchers",)

    def __init__(self, matchers: tuple[PodMatcher, ...], column: Column) -> None:
        super().__init__(column)
        self.matchers = matchers

    def includes(self, pod: Pod) -> bool:
        """Say whether a pod is counted."""
        for matcher in self.matchers:  # noqa: SIM110 - as above
            if not matcher.matches(pod):
                return False
        return True


class TermCarriers(RowCount):
    """Pods per row that have one term, and their total number. Mutable."""

    __slots__ = ("number",)

    def __init__(self, column: Column, number: int = 0) -> None:
        super().__init__(column)
        self.number = number


class PodCounts:
    """All counts of pods per node. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._matching: dict[tuple[PodMatcher, ...], PodCount] = {}
        # A count whose first selector requires key=value is only updated for pods with that label.
        self._by_label: dict[tuple[str, str], dict[tuple[PodMatcher, ...], PodCount]] = {}
        self._other: dict[tuple[PodMatcher, ...], PodCount] = {}
        self._carriers: dict[str, PodsByValue] = {}  # by the label keys that counts have asked for
        self._anti_affinity: dict[AffinityTerm, TermCarriers] = {}
        self._preferred: dict[PreferredTerm, TermCarriers] = {}

    def count_matching(self, *matchers: PodMatcher, node_infos: Iterable[NodeInfo]) -> PodCount:
        """Return how many pods match all of these matchers, by row."""
        count = self._matching.pop(matchers, None)
        if count is None:
            count = self._compute(matchers, node_infos)
        self._matching[matchers] = count  # the order of this dict is the order of last use
        return count

    def anti_affinity_terms(self) -> Iterable[tuple[AffinityTerm, TermCarriers]]:
        """Return each required anti-affinity term of pods on nodes, and how many pods have it."""
        return self._anti_affinity.items()

    @property
    def any_affinity_term(self) -> bool:
        """Whether any pod on a node has an affinity or anti-affinity term."""
        return bool(self._preferred or self._anti_affinity)

    def preferred_terms(self) -> Iterable[tuple[PreferredTerm, TermCarriers]]:
        """Return each preferred term of pods on nodes, and how many pods have it."""
        return self._preferred.items()

    def place(self, pod: Pod, row: int, sign: int) -> None:
        """Count a pod that is added to a row (sign 1) or removed from it (-1)."""
        version = self._nodes.version
        for label, by_value in self._carriers.items():
            _put_pod(by_value, label, pod, row if sign > 0 else None)
        if self._matching:
            if self._by_label:
                for item in pod.metadata.labels.items():
                    for count in self._by_label.get(item, _NO_COUNTS).values():
                        if count.includes(pod):
                            count.add(row, sign, version)
            for count in self._other.values():
                if count.includes(pod):
                    count.add(row, sign, version)
        if pod.spec.affinity is not None:
            for term in required_anti_affinity(pod):
                self._carry(self._anti_affinity, term, row, sign)
            for preference in preferred_terms(pod):
                self._carry(self._preferred, preference, row, sign)

    def facts(self) -> dict[AffinityTerm | PreferredTerm, dict[str, int]]:
        """Return the counts of terms by node name, for comparing two snapshots."""
        terms: list[tuple[AffinityTerm | PreferredTerm, TermCarriers]] = [
            *self.anti_affinity_terms(),
            *self.preferred_terms(),
        ]
        return {
            term: {name: int(count) for name, row in self._nodes.rows() if (count := carriers.column.array[row])}
            for term, carriers in terms
        }

    def copied(self, nodes: NodeTable) -> PodCounts:
        """Return independent counts for a copied node table."""
        copy = PodCounts(nodes)
        for matchers, count in self._matching.items():
            copy._matching[matchers] = copy._index_of(matchers)[matchers] = PodCount(
                matchers, nodes.adopt(count.column.copied())
            )
        for term, carriers in self._anti_affinity.items():
            copy._anti_affinity[term] = TermCarriers(nodes.adopt(carriers.column.copied()), carriers.number)
        for preference, carriers in self._preferred.items():
            copy._preferred[preference] = TermCarriers(nodes.adopt(carriers.column.copied()), carriers.number)
        return copy

    def _compute(self, matchers: tuple[PodMatcher, ...], node_infos: Iterable[NodeInfo]) -> PodCount:
        while len(self._matching) >= MAX_CACHED_MATCHERS:
            self._forget(next(iter(self._matching)))
        count = PodCount(matchers, self._nodes.column(np.int32, 0))
        label = _required_label(matchers) if SHORTCUTS.on else None
        if label is not None:
            for pod, row in self._pods_with(label[0], node_infos).get(label[1], _NO_PODS).values():
                count.column.array[row] += count.includes(pod)
        else:
            for info in node_infos:
                if info.row >= 0:
                    count.column.array[info.row] = sum(count.includes(pod) for pod in info.pods.values())
        self._index_of(matchers)[matchers] = count
        return count

    def _pods_with(self, label: str, node_infos: Iterable[NodeInfo]) -> PodsByValue:
        """Return the pods on nodes that have a label, by its value; of a key that is asked for first all are read."""
        found = self._carriers.get(label)
        if found is None:
            found = {}
            for info in node_infos:
                for pod in info.pods.values() if info.row >= 0 else ():
                    _put_pod(found, label, pod, info.row)
            self._carriers[label] = found  # not before it is whole: an interrupt must leave no half of it
        return found

    def _forget(self, matchers: tuple[PodMatcher, ...]) -> None:
        count = self._matching.pop(matchers)
        self._nodes.drop(count.column)
        del self._index_of(matchers)[matchers]
        if (label := _required_label(matchers)) and not self._by_label[label]:
            del self._by_label[label]

    def _index_of(self, matchers: tuple[PodMatcher, ...]) -> dict[tuple[PodMatcher, ...], PodCount]:
        label = _required_label(matchers)
        return self._other if label is None else self._by_label.setdefault(label, {})

    def _carry(self, counts: dict[Any, TermCarriers], term: AffinityTerm | PreferredTerm, row: int, sign: int) -> None:
        carriers = counts.get(term)
        if carriers is None:
            carriers = counts[term] = TermCarriers(self._nodes.column(np.int32, 0))
        carriers.add(row, sign, self._nodes.version)
        carriers.number += sign
        if not carriers.number:
            self._nodes.drop(carriers.column)
            del counts[term]


def _put_pod(by_value: PodsByValue, label: str, pod: Pod, row: int | None) -> None:
    """Note the row of a pod, or that it is on none, if it has a label."""
    value = pod.metadata.labels.get(label)
    if value is None:
        return
    name = pod.metadata.namespace, pod.metadata.name
    if row is not None:
        by_value.setdefault(value, {})[name] = pod, row
        return
    pods = by_value[value]
    del pods[name]
    if not pods:
        del by_value[value]


_NO_PODS: dict[tuple[str, str], tuple[Pod, int]] = {}
_NO_COUNTS: dict[tuple[PodMatcher, ...], PodCount] = {}


def _required_label(matchers: tuple[PodMatcher, ...]) -> tuple[str, str] | None:
    """Return the first label that the selectors require of every counted pod, or None."""
    for matcher in matchers:
        for selector in matcher.selectors:
            for item in selector.match_labels.items():
                return item
    return None


def domain_mask(nodes: NodeTable, key: str, count: RowCount) -> NDArray[np.bool_]:
    """Return, by row, whether the node's domain of a topology key has a counted pod; False without the key."""
    groups = nodes.groups((key,))
    occupied = count.sums(groups.at, groups.size, nodes.version) > 0
    occupied[-1] = False
    return occupied.take(groups.at)
