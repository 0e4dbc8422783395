"""The ranking of the feasible nodes: the scores of each plugin, normalised to 0..100, weighted and summed.

Inside it are arrays by row; what it returns is by node name. Like a judgement it must be read before the snapshot
changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns.arrays import Integers, RowIndices
from .extension_points import ColumnContext
from .judgement import Judgement

SORT_LIMIT = 200  # up to so many tied names are sorted; more are picked from the sorted names of all nodes


class Ranking:
    """The scores of the feasible nodes by plugin; the arrays are in the order of `nodes`, which has no meaning."""

    def __init__(self, judgement: Judgement, raw: Mapping[str, NDArray[Any]], normalised: Mapping[str, Integers],
                 weighted: Mapping[str, Integers], totals: Integers) -> None:
        self.raw = raw
        self.normalised = normalised
        self.weighted = weighted
        self.totals = totals
        self._rows = judgement.rows
        self._nodes = judgement.seen.nodes

    @cached_property
    def _best(self) -> RowIndices:
        """The rows of the nodes with the highest total, in the order of their names."""
        if not len(self._rows):
            return self._rows
        by_name = self._nodes.rows_by_name()
        rows = self._rows[self.totals == self.totals.max()]
        if len(rows) == len(by_name):
            return by_name
        if len(rows) <= SORT_LIMIT:
            names = self._nodes.names
            return np.array(sorted(rows.tolist(), key=lambda row: names[row] or ""), np.intp)
        highest = np.zeros(len(self._nodes.names), bool)
        highest[rows] = True
        return by_name[highest[by_name]]

    @property
    def tie_count(self) -> int:
        """How many nodes have the highest total."""
        return len(self._best)

    def best_node(self, index: int) -> str:
        """Return one of the nodes with the highest total, by its index in the order of their names."""
        return str(self._nodes.names[self._best[index]])

    @property
    def best(self) -> tuple[str, ...]:
        """The names of the nodes with the highest total, sorted."""
        return tuple(self._nodes.names_array()[self._best].tolist())

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the feasible nodes, in the order of the arrays."""
        return tuple(self._nodes.names_array()[self._rows].tolist())

    def scores_of(self, node: str) -> dict[str, tuple[float, int, int]]:
        """Return raw, normalised and weighted score of a feasible node by plugin."""
        index = self.nodes.index(node)
        return {
            plugin: (float(self.raw[plugin][index]), int(self.normalised[plugin][index]), int(weighted[index]))
            for plugin, weighted in self.weighted.items()
        }

    def decisive_nodes(self, chosen: str, limit: int) -> tuple[str, ...]:
        """Return nodes that explain the choice: the chosen, the best `limit`, and the winners under other weights.

        For each plugin these are the winners at the nearest weights above and below the present one at which the chosen
        node no longer has the highest total.
        """
        names = self._nodes.names_array()[self._rows]
        index = int(np.flatnonzero(names == chosen)[0]) if chosen in self.nodes else int(self.totals.argmax())
        decisive = {int(index), *np.argsort(-self.totals, kind="stable")[:limit].tolist()}
        for plugin, weighted in self.weighted.items():
            score, rest = self.normalised[plugin].astype(np.int64), self.totals - weighted
            lead, deficit = score - score[index], rest[index] - rest
            above, below = lead > 0, lead < 0
            weights = []
            if above.any():
                weights.append(int((deficit[above] // lead[above]).min()) + 1)
            if below.any():
                weights.append(int((-(-deficit[below] // lead[below])).max()) - 1)
            for weight in weights:
                totals = rest + max(weight, 1) * score
                decisive.update(np.flatnonzero(totals == totals.max())[:limit].tolist())
        return tuple(sorted(names[sorted(decisive)].tolist()))

    def total(self) -> dict[str, int]:
        """Return the totals by node name, sorted."""
        return dict(sorted(zip(self.nodes, self.totals.tolist(), strict=True)))


def rank(judgement: Judgement) -> Ranking:
    """Score the feasible nodes of a judgement; plugins whose score is None are left out."""
    rows = judgement.rows
    context = ColumnContext(judgement.seen, judgement.mask)
    all_fit = len(rows) == len(context.nodes.names)
    raw: dict[str, NDArray[Any]] = {}
    normalised: dict[str, Integers] = {}
    weighted: dict[str, Integers] = {}
    totals: Integers = np.zeros(len(rows), np.int64)
    zeros: Integers = np.zeros(len(rows), np.int64)
    if len(rows):
        for name, plugin, weight in judgement.active_plugins.scores:
            scores = plugin.score(judgement.pod, context)
            if scores is None:
                continue
            if isinstance(scores, int):  # 0 on every node
                raw[name] = normalised[name] = weighted[name] = zeros
                continue
            raw[name] = scores if all_fit else scores[rows]
            normalised[name] = plugin.normalise(raw[name])
            weighted[name] = normalised[name] if weight == 1 else normalised[name] * weight
            totals += weighted[name]
    return Ranking(judgement, raw, normalised, weighted, totals)
