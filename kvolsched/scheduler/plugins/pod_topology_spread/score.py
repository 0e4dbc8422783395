"""PodTopologySpread's score (v1.36.2): the fewer counted pods in a node's domain, the better.

A `SpreadScore` is the part of the plugin that releases do differently; theirs are in `releases`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import HOSTNAME_LABEL
from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Integers, Mask
from kvolsched.scheduler.columns.groups import Groups
from kvolsched.scheduler.columns.node_table import NodeTable
from kvolsched.scheduler.framework.extension_points import ColumnContext, GroupedScores
from kvolsched.scheduler.shortcuts import SHORTCUTS

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
        if SHORTCUTS.on and columns.candidates is not None:
            grouped = self._by_group(pod, constraints, keys, columns, columns.candidates)
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
                  columns: ColumnContext, candidates: Mask) -> GroupedScores | None:
        """Return the sums by group: the nodes of the same domains that have as many counted pods themselves.

        None: some node lacks a key, or there are too many groups to save work.
        """
        nodes, asked = columns.nodes, topology_keys(constraints)
        if len(constraints) > MAX_GROUPED or not _have_all(asked, nodes):
            return None
        wide = tuple(key for key in asked if key != HOSTNAME_LABEL)
        groups, most = nodes.groups(wide), 0
        if groups.size > MAX_GROUPS or len(asked) - len(wide) > 1:
            return None
        shape = [len(nodes.labels(key).values) + 1 for key in wide]
        if len(wide) < len(asked):
            counts = matches_by_row(constraints[asked.index(HOSTNAME_LABEL)], columns.seen)
            if counts is not None:
                most = int(counts[counts.argmax()])
                if (most + 1) * groups.size > MAX_GROUPS or counts[counts.argmin()] < 0:
                    return None
            if counts is not None and most:
                groups = Groups(counts * groups.size + groups.at, groups.size * (most + 1))
        total: NDArray[Any] | None = None
        for constraint in constraints:
            base = constraint.max_skew - 1
            if constraint.topology_key == HOSTNAME_LABEL:
                part: NDArray[Any] = np.arange(most + 1) * np.log(int(np.count_nonzero(candidates)) + 2) + base
                part = part.reshape(-1, *(1 for _ in wide))
            else:
                axis, domain = wide.index(constraint.topology_key), nodes.groups((constraint.topology_key,))
                domains = domain_rows(pod, constraint, keys, nodes)
                weight = np.log(int(np.count_nonzero(domain.present(candidates))) + 2)
                part = np.zeros(shape[axis])
                part[:-1] = match_nums(constraint, domains, columns.seen) * weight + base
                part = part.reshape([-1 if place == axis else 1 for place in range(len(wide))])
            total = part if total is None else total + part
        assert total is not None
        raw = np.broadcast_to(total, (most + 1, *shape))
        return GroupedScores(_round_half_up(raw.reshape(-1)), groups)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 · (most + least − raw) / most, rounded down; 100 for all if most is 0."""
        least = int(raw.min())
        if least == NOT_RANKED:
            ranked = raw != NOT_RANKED
            ranked_scores = np.zeros(len(raw), np.int64)
            if ranked.any():
                ranked_scores[ranked] = self.normalise(raw[ranked])
            return ranked_scores
        most = int(raw.max())
        if not most:
            return np.full(len(raw), 100)
        if most - least > len(raw):
            divided: Integers = 100 * (most + least - raw) // most
            return divided
        score_of = 100 * (most + least - np.arange(least, most + 1)) // most  # divides each distinct number once
        scores: Integers = score_of[raw - least]
        return scores


def _have_all(keys: tuple[str, ...], nodes: NodeTable) -> bool:
    """Say whether every node has all these labels."""
    return nodes.cached(("all have", keys), lambda: bool((rows_with(keys, nodes) == nodes.live.array).all()))


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
