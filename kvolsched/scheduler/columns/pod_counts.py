"""How many pods of which sort are on each node: what spreading and pod affinity count, kept up pod by pod.

A tally is made when first asked for and then follows every pod that comes or goes; it always equals a count made now.
Three sorts: pods *matched* by selectors, pods that *carry* a required anti-affinity term, and pods that *wish* for
company or against it. Mutable; the snapshot alone moves it.
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

from .node_table import Column, NodeInfo, NodeTable

PodsPerRow = NDArray[np.int32]
MAX_CACHED_MATCHERS = 1024  # tallies; the one not asked for longest goes first


@attrs.define(frozen=True, cache_hash=True)
class PodMatcher:
    """Which pods are meant: in these namespaces (None: in any), matched by every selector, terminating ones or not."""

    namespaces: frozenset[str] | None
    selectors: tuple[LabelSelector, ...]
    terminating: bool = True

    def matches(self, pod: Pod) -> bool:
        """Say whether a pod is meant."""
        return (
            (self.namespaces is None or pod.metadata.namespace in self.namespaces)
            and (self.terminating or pod.metadata.deletion_timestamp is None)
            and all(selector.matches(pod.metadata.labels) for selector in self.selectors)
        )


@attrs.define(frozen=True, cache_hash=True)
class AffinityTerm:
    """A pod affinity term with its namespaces settled: those named, or the owner's own if the term says nothing."""

    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    label_selector: LabelSelector | None

    def meets(self, pod: Pod, namespace_labels: Frozen) -> bool:
        """Say whether a pod, whose namespace carries these labels, is one that the term speaks of."""
        if self.label_selector is None or not self.label_selector.matches(pod.metadata.labels):
            return False
        return pod.metadata.namespace in self.namespaces or (
            self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)
        )

    def matcher(self, namespaces: Mapping[str, Frozen]) -> PodMatcher | None:
        """Return which pods the term speaks of, given all namespaces and their labels; None if of none."""
        if self.label_selector is None:
            return None
        if self.namespace_selector is None:
            meant: frozenset[str] | None = self.namespaces
        elif self.namespace_selector == _EVERY:
            meant = None
        else:
            chosen = (name for name, labels in namespaces.items() if self.namespace_selector.matches(labels))
            meant = self.namespaces | frozenset(chosen)
        return PodMatcher(meant, (self.label_selector,))

    def __str__(self) -> str:
        return f"pods with {self.label_selector} per {self.topology_key}"


_EVERY = LabelSelector()


@lru_cache(maxsize=1 << 14)
def _settled(terms: tuple[PodAffinityTerm, ...], namespace: str) -> tuple[AffinityTerm, ...]:
    return tuple(
        AffinityTerm(
            term.topology_key,
            frozenset(term.namespaces)
            if term.namespaces or term.namespace_selector is not None
            else frozenset((namespace,)),
            None if term.namespace_selector is None else attrs.evolve(term.namespace_selector, rest=EMPTY),
            term.label_selector,
        )
        for term in terms
    )


def required_anti_affinity(pod: Pod) -> tuple[AffinityTerm, ...]:
    """Return the required anti-affinity terms that a pod carries."""
    affinity: Affinity | None = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return ()
    return _settled(affinity.pod_anti_affinity.required, pod.metadata.namespace)


def required_affinity(pod: Pod) -> tuple[AffinityTerm, ...]:
    """Return the required affinity terms that a pod carries."""
    found: Affinity | None = pod.spec.affinity
    if found is None or found.pod_affinity is None:
        return ()
    return _settled(found.pod_affinity.required, pod.metadata.namespace)


@attrs.define(frozen=True, cache_hash=True)
class PreferredTerm:
    """What a pod on a node would like of pods that come: preferred terms with their weights, anti-affinity's negated.

    A required affinity term is a wish too, of weight None: how much it weighs is the plugin's to say.
    """

    term: AffinityTerm
    weight: int | None


@lru_cache(maxsize=1 << 14)
def _wishes(affinity: Affinity, namespace: str) -> tuple[PreferredTerm, ...]:
    near, apart = affinity.pod_affinity, affinity.pod_anti_affinity
    found = [PreferredTerm(term, None) for term in _settled(near.required, namespace)] if near is not None else []
    for side, sign in ((near, 1), (apart, -1)):
        for each in side.preferred if side is not None else ():
            (term,) = _settled((each.pod_affinity_term,), namespace)
            found.append(PreferredTerm(term, sign * each.weight))
    return tuple(found)


def preferred_terms(pod: Pod) -> tuple[PreferredTerm, ...]:
    """Return what a pod wishes for; what it requires counts among it."""
    return () if pod.spec.affinity is None else _wishes(pod.spec.affinity, pod.metadata.namespace)


class PodCount:
    """Pods per row that every one of some matchers means. Mutable."""

    __slots__ = ("column", "matchers")

    def __init__(self, matchers: tuple[PodMatcher, ...], column: Column) -> None:
        self.matchers = matchers
        self.column = column

    def counts(self, pod: Pod) -> bool:
        """Say whether a pod is counted here."""
        return all(matcher.matches(pod) for matcher in self.matchers)


class TermCarriers:
    """Pods per row that carry one term or wish, and how many there are in all. Mutable."""

    __slots__ = ("column", "number")

    def __init__(self, column: Column, number: int = 0) -> None:
        self.column = column
        self.number = number


class PodCounts:
    """The counts per node, by what they count. Mutable."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._matched: dict[tuple[PodMatcher, ...], PodCount] = {}
        # A tally whose first selector wants key=value can only ever count pods that carry it.
        self._by_label: dict[tuple[str, str], dict[tuple[PodMatcher, ...], PodCount]] = {}
        self._other: dict[tuple[PodMatcher, ...], PodCount] = {}
        self._carried: dict[AffinityTerm, TermCarriers] = {}
        self._wished: dict[PreferredTerm, TermCarriers] = {}

    # --- asking -----------------------------------------------------------------------------------------------------

    def matched(self, *matchers: PodMatcher, rooms: Iterable[NodeInfo]) -> PodsPerRow:
        """Return, by row, how many pods every one of these matchers means."""
        tally = self._matched.pop(matchers, None)
        if tally is None:
            tally = self._make(matchers, rooms)
        self._matched[matchers] = tally  # the order of this dict is the order of last use
        return tally.column.now

    def carried(self) -> Iterable[tuple[AffinityTerm, PodsPerRow]]:
        """Yield each required anti-affinity term that pods on nodes carry, and by row how many carry it."""
        for term, carriers in self._carried.items():
            yield term, carriers.column.now

    @property
    def any_term(self) -> bool:
        """Whether any pod on a node has a term for or against others."""
        return bool(self._wished or self._carried)

    def wished(self) -> Iterable[tuple[PreferredTerm, PodsPerRow]]:
        """Yield each wish that pods on nodes have, and by row how many have it."""
        for wish, carriers in self._wished.items():
            yield wish, carriers.column.now

    # --- following --------------------------------------------------------------------------------------------------

    def place(self, pod: Pod, row: int, sign: int) -> None:
        """Count a pod that comes to a row (sign 1) or leaves it (-1)."""
        if self._matched:
            if self._by_label:
                for item in pod.metadata.labels.items():
                    for tally in self._by_label.get(item, _NOTHING).values():
                        if tally.counts(pod):
                            tally.column.now[row] += sign
            for tally in self._other.values():
                if tally.counts(pod):
                    tally.column.now[row] += sign
        if pod.spec.affinity is not None:
            for term in required_anti_affinity(pod):
                self._carry(self._carried, term, row, sign)
            for wish in preferred_terms(pod):
                self._carry(self._wished, wish, row, sign)

    def meaning(self) -> dict[AffinityTerm | PreferredTerm, dict[str, int]]:
        """Return what is carried and wished for, by node name: for comparing two snapshots."""
        everything: list[tuple[AffinityTerm | PreferredTerm, PodsPerRow]] = [*self.carried(), *self.wished()]
        return {
            what: {name: int(counts[row]) for name, row in self._nodes.rows() if counts[row]}
            for what, counts in everything
        }

    def copied(self, nodes: NodeTable) -> PodCounts:
        """Return tallies over a copy of the table, which count the same and go on by themselves."""
        tallies = PodCounts(nodes)
        for matchers, tally in self._matched.items():
            tallies._matched[matchers] = tallies._home(matchers)[matchers] = PodCount(
                matchers, nodes.adopt(tally.column.copied())
            )
        for what, carriers in self._carried.items():
            tallies._carried[what] = TermCarriers(nodes.adopt(carriers.column.copied()), carriers.number)
        for wish, carriers in self._wished.items():
            tallies._wished[wish] = TermCarriers(nodes.adopt(carriers.column.copied()), carriers.number)
        return tallies

    def asked(self) -> list[tuple[PodMatcher, ...]]:
        """Return what has been asked for and is still kept up."""
        return list(self._matched)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _make(self, matchers: tuple[PodMatcher, ...], rooms: Iterable[NodeInfo]) -> PodCount:
        while len(self._matched) >= MAX_CACHED_MATCHERS:
            self._forget(next(iter(self._matched)))
        tally = PodCount(matchers, self._nodes.column(np.int32, 0))
        for room in rooms:
            if room.row >= 0:
                tally.column.now[room.row] = sum(tally.counts(pod) for pod in room.pods.values())
        self._home(matchers)[matchers] = tally
        return tally

    def _forget(self, matchers: tuple[PodMatcher, ...]) -> None:
        tally = self._matched.pop(matchers)
        self._nodes.drop(tally.column)
        del self._home(matchers)[matchers]
        if (label := _wanted(matchers)) and not self._by_label[label]:
            del self._by_label[label]

    def _home(self, matchers: tuple[PodMatcher, ...]) -> dict[tuple[PodMatcher, ...], PodCount]:
        label = _wanted(matchers)
        return self._other if label is None else self._by_label.setdefault(label, {})

    def _carry(self, sort: dict[Any, TermCarriers], what: AffinityTerm | PreferredTerm, row: int, sign: int) -> None:
        carriers = sort.get(what)
        if carriers is None:
            carriers = sort[what] = TermCarriers(self._nodes.column(np.int32, 0))
        carriers.column.now[row] += sign
        carriers.number += sign
        if not carriers.number:
            self._nodes.drop(carriers.column)
            del sort[what]


_NOTHING: dict[tuple[PodMatcher, ...], PodCount] = {}


def _wanted(matchers: tuple[PodMatcher, ...]) -> tuple[str, str] | None:
    """Return the first key=value that every counted pod must carry, if the selectors name one."""
    for matcher in matchers:
        for selector in matcher.selectors:
            for item in selector.match_labels.items():
                return item
    return None


def in_domain(nodes: NodeTable, key: str, counts: PodsPerRow) -> NDArray[np.bool_]:
    """Return, by row, whether the node's domain of a key holds any of the counted pods; without the key: no."""
    labels = nodes.labels(key)
    codes = labels.codes.now
    held = np.zeros(len(labels.values) + 1, bool)
    held[codes[counts > 0]] = True
    held[-1] = False
    near: NDArray[np.bool_] = held[codes]
    return near
