"""The ranking of the nodes that fit: each score plugin's numbers, brought to 0..100, weighted and summed.

Arrays are by row while fresh; everything that leaves is by node name. Like a judgement it is read before the snapshot
moves on.
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

FEW = 200  # names that are sorted rather than picked out of all sorted names


class Ranking:
    """The scores of the feasible nodes, plugin by plugin; arrays are in the order of `rows`, which means nothing."""

    def __init__(
        self,
        judgement: Judgement,
        raw: Mapping[str, NDArray[Any]],
        normalised: Mapping[str, Integers],
        weighted: Mapping[str, Integers],
        totals: Integers,
    ) -> None:
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
        if len(rows) <= FEW:
            names = self._nodes.names
            return np.array(sorted(rows.tolist(), key=lambda row: names[row] or ""), np.intp)
        highest = np.zeros(len(self._nodes.names), bool)
        highest[rows] = True
        return by_name[highest[by_name]]

    @property
    def ties(self) -> int:
        """How many nodes have the highest total."""
        return len(self._best)

    def tied(self, place: int) -> str:
        """Return one of the nodes with the highest total, by its place among their sorted names."""
        return str(self._nodes.names[self._best[place]])

    @property
    def best(self) -> tuple[str, ...]:
        """The names of the nodes with the highest total, sorted."""
        return tuple(self._nodes.names_array()[self._best].tolist())

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the feasible nodes, in the order of the arrays."""
        return tuple(self._nodes.names_array()[self._rows].tolist())

    def of(self, node: str) -> dict[str, tuple[float, int, int]]:
        """Return raw, normalised and weighted score of a feasible node by plugin."""
        at = self.nodes.index(node)
        return {
            plugin: (
                float(self.raw[plugin][at]),
                int(self.normalised[plugin][at]),
                int(self.weighted[plugin][at]),
            )
            for plugin in self.weighted
        }

    def telling(self, chosen: str, most: int) -> tuple[str, ...]:
        """Return nodes that tell how it was decided: the chosen, so many of the best, and who other weights favour.

        For each plugin these are the winners at the first weights of it, above and below today's, at which the chosen
        node is no longer among the best.
        """
        names = self._nodes.names_array()[self._rows]
        place = int(np.flatnonzero(names == chosen)[0]) if chosen in self.nodes else int(self.totals.argmax())
        kept = {int(place), *np.argsort(-self.totals, kind="stable")[:most].tolist()}
        for plugin, weighted in self.weighted.items():
            score, rest = self.normalised[plugin].astype(np.int64), self.totals - weighted
            more, behind = score - score[place], rest[place] - rest
            above, below = more > 0, more < 0
            weights = []
            if above.any():
                weights.append(int((behind[above] // more[above]).min()) + 1)
            if below.any():
                weights.append(int((-(-behind[below] // more[below])).max()) - 1)
            for weight in weights:
                totals = rest + max(weight, 1) * score
                kept.update(np.flatnonzero(totals == totals.max())[:most].tolist())
        return tuple(sorted(names[sorted(kept)].tolist()))

    def total(self) -> dict[str, int]:
        """Return the totals by node name, sorted."""
        return dict(sorted(zip(self.nodes, self.totals.tolist(), strict=True)))


def rank(judgement: Judgement) -> Ranking:
    """Score the feasible nodes of a judgement; a plugin that has nothing to rank is left out."""
    rows = judgement.rows
    at = ColumnContext(judgement.seen, judgement.mask)
    every = len(rows) == len(at.nodes.names)
    raw: dict[str, NDArray[Any]] = {}
    normalised: dict[str, Integers] = {}
    weighted: dict[str, Integers] = {}
    totals: Integers = np.zeros(len(rows), np.int64)
    nothing: Integers = np.zeros(len(rows), np.int64)
    if len(rows):
        for name, plugin, weight in judgement.plan.scores:
            scores = plugin.score(judgement.pod, at)
            if scores is None:
                continue
            if isinstance(scores, int):  # 0: nothing anywhere, and nothing to add up
                raw[name] = normalised[name] = weighted[name] = nothing
                continue
            raw[name] = scores if every else scores[rows]
            normalised[name] = plugin.normalise(raw[name])
            weighted[name] = normalised[name] if weight == 1 else normalised[name] * weight
            totals += weighted[name]
    return Ranking(judgement, raw, normalised, weighted, totals)
