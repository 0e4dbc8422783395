"""PodTopologySpread's score (v1.36.2): the fewer counted pods in a node's domain, the better.

A `SpreadScore` is the part of the plugin that releases do differently; theirs are in `releases`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api.kinds.node import HOSTNAME_LABEL
from ....api.kinds.pod import Pod
from ...columns.column import Groups, Integers
from ...columns.node_table import NodeTable
from ...framework.extension_points import ColumnContext, GroupedScores
from ...shortcuts import SHORTCUTS
from .column import domain_rows, match_nums, matches_by_row, rows_with
from .constraint import SpreadConstraint, topology_keys

MAX_GROUPED = 2  # constraints whose sums are worked out by group: with more, the order of summing would show
MAX_GROUPS = 1024

NOT_RANKED = -1
"""The raw score of a node that lacks one of the topology keys; its score is 0."""


class SpreadScore(Protocol):
    """Makes raw scores of soft constraints, and scores of raw ones."""

    formula: ClassVar[str]
    """How it does, in words."""

    def raw(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], keys: tuple[str, ...],
            columns: ColumnContext) -> Integers | GroupedScores:
        """Return raw scores by row, or by group; nodes that lack one of `keys` are not ranked."""

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores of the feasible nodes, 0 to 100."""


@attrs.frozen
class WeightedCountScore:
    """Ranks by Σ over constraints of count · ln(domains + 2) + maxSkew − 1, rounded half up.

    A host counts its own pods, any other domain those of all its counted nodes. Domains are those of the nodes that
    passed the filters.
    """

    formula: ClassVar[str] = (
        "raw = matching pods × ln(domains + 2) + maxSkew − 1; score = 100 × (greatest + least − raw) ÷ greatest"
    )

    def raw(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], keys: tuple[str, ...],
            columns: ColumnContext) -> Integers | GroupedScores:
        """Return the sums by row, or by group where every node has the topology keys."""
        nodes = columns.nodes
        grouped = self._by_group(pod, constraints, keys, columns) if SHORTCUTS.on else None
        if grouped is not None:
            return grouped
        ranked = rows_with(keys, nodes)
        passed = ranked if columns.candidates is None else ranked & columns.candidates
        total: NDArray[Any] | None = None
        for constraint in constraints:
            codes = nodes.labels(constraint.topology_key).codes.array
            counts = matches_by_row(constraint, columns.seen)
            base = constraint.max_skew - 1
            if constraint.topology_key == HOSTNAME_LABEL:
                weight = np.log(int(np.count_nonzero(passed)) + 2)
                part: NDArray[Any] = np.full(len(codes), float(base)) if counts is None else counts * weight + base
                if not keys:
                    part = np.where(codes >= 0, part, 0)
            else:  # each domain once; nodes without the topology key read the last slot
                domains = domain_rows(pod, constraint, keys, nodes)
                weight = np.log(_count_domains(codes, passed, domains.size) + 2)
                by_domain = np.append(domains.sums(counts) * weight + base, 0)
                part = (_round_half_up(by_domain) if len(constraints) == 1 else by_domain)[codes]
            total = part if total is None else total + part
        assert total is not None
        raw = total if total.dtype == np.int64 else _round_half_up(total)
        return raw if not keys or ranked.all() else np.where(ranked, raw, NOT_RANKED)

    def _by_group(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], keys: tuple[str, ...],
                  columns: ColumnContext) -> GroupedScores | None:
        """Return the sums by group: the nodes of the same domains that have as many counted pods themselves.

        None: some node lacks a key, there are too many groups to save work, or counts may be negative.
        """
        nodes, seen, candidates, rows = columns.nodes, columns.seen, columns.candidates, columns.candidate_rows
        if candidates is None or rows is None or seen.removed_pods:
            return None
        asked = topology_keys(constraints)
        found = nodes.cached(("grouping", asked), lambda: Grouping.of(asked, nodes))
        if not found.is_possible:
            return None
        groups, most = found.groups, 0
        if found.host >= 0:
            counts = matches_by_row(constraints[found.host], seen)
            most = 0 if counts is None else counts.item(counts.argmax())
            if (most + 1) * groups.size > MAX_GROUPS:
                return None
            if counts is not None and most:
                at = np.multiply(counts, groups.size, dtype=np.intp)
                at += groups.at
                groups = Groups(at, groups.size * (most + 1))
        total: NDArray[Any] | None = None
        for constraint, domain, shape in zip(constraints, found.domains, found.shapes, strict=True):
            base = constraint.max_skew - 1
            if domain is None:
                part: NDArray[Any] = np.arange(most + 1) * _weight(len(rows)) + base
            else:
                domains = domain_rows(pod, constraint, keys, nodes)
                part = np.zeros(domain.size)
                part[:-1] = match_nums(constraint, domains, seen)
                part *= _weight(int(np.count_nonzero(domain.present(candidates, rows))))
                part += base
                part[-1] = 0
            part = part.reshape(shape)
            total = part if total is None else total + part
        assert total is not None
        if total.size < groups.size:
            total = np.broadcast_to(total, (most + 1, *found.sizes))
        return GroupedScores(_round_half_up(total.reshape(-1)), groups)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 · (most + least − raw) / most, rounded down; 100 for all if most is 0."""
        least = int(raw[raw.argmin()])
        if least == NOT_RANKED:
            ranked = raw != NOT_RANKED
            ranked_scores = np.zeros(len(raw), np.int64)
            if ranked.any():
                ranked_scores[ranked] = self.normalise(raw[ranked])
            return ranked_scores
        most = int(raw[raw.argmax()])
        if not most:
            return np.full(len(raw), 100)
        if most - least > len(raw):
            divided: Integers = 100 * (most + least - raw) // most
            return divided
        score_of = 100 * (most + least - np.arange(least, most + 1)) // most  # divides each distinct number once
        scores: Integers = score_of[raw - least]
        return scores


class Grouping(NamedTuple):
    """How constraints of these topology keys group nodes: by the values of all keys but the host's.

    Args:
        is_possible: whether every node has all keys, and there are few groups.
        groups: the groups.
        host: which of the keys is the host's; -1: none.
        domains: by key, the groups of its values; None for the host's.
        shapes: by key, the shape of its part of the sum: an axis for the host, and one for each other key.
        sizes: the lengths of these other axes.
    """

    is_possible: bool
    groups: Groups
    host: int
    domains: tuple[Groups | None, ...]
    shapes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, keys: tuple[str, ...], nodes: NodeTable) -> Grouping:
        """Return the grouping by these keys."""
        wide = tuple(key for key in keys if key != HOSTNAME_LABEL)
        groups = nodes.groups(wide)
        is_possible = groups.size <= MAX_GROUPS and nodes.cached(  # every node has all these labels
        ("all have", keys), lambda: bool((rows_with(keys, nodes) == nodes.live.array).all())
    )
        is_possible = is_possible and len(keys) <= MAX_GROUPED and len(keys) - len(wide) <= 1
        domains = tuple(None if key == HOSTNAME_LABEL else nodes.groups((key,)) for key in keys)
        axes = tuple(0 if key == HOSTNAME_LABEL else 1 + wide.index(key) for key in keys)
        shapes = tuple(tuple(-1 if place == axis else 1 for place in range(1 + len(wide))) for axis in axes)
        sizes = tuple(nodes.groups((key,)).size for key in wide)
        host = keys.index(HOSTNAME_LABEL) if HOSTNAME_LABEL in keys else -1
        return cls(is_possible, groups, host, domains, shapes, sizes)


@lru_cache(maxsize=1 << 10)
def _weight(domains: int) -> float:
    """Return ln(domains + 2)."""
    return float(np.log(domains + 2))


def _count_domains(codes: NDArray[np.int32], passed: NDArray[np.bool_], size: int) -> int:
    """Return how many domains the nodes that passed are in; those without the label are one together."""
    present = np.zeros(size + 1, bool)
    present[codes if passed.all() else codes[passed]] = True
    return int(np.count_nonzero(present))


def _round_half_up(numbers: NDArray[Any]) -> Integers:
    """Round numbers, none below 0, to whole ones, halves up."""
    whole = np.floor(numbers)
    rounded: Integers = (whole + (numbers - whole >= 0.5)).astype(np.int64)
    return rounded
