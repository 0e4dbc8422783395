"""The ranking of the feasible nodes: the scores of each plugin, normalised to 0..100, weighted and summed.

Inside it are arrays by row; what it returns is by node name. Like a judgement it must be read before the snapshot
changes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...api.remembered import cached_property
from ..columns.column import Integers, RowIndices
from .extension_points import ColumnContext, GroupedScores
from .judgement import Judgement
from .kept_verdicts import KeptScore

FEW = 200  # up to so many tied nodes are sorted; more are picked from all nodes in their order


class Scores(NamedTuple):
    """The scores of the feasible nodes by plugin, in the order of the table. Not to be confused with their picture."""

    raw: Mapping[str, NDArray[Any]]
    normalised: Mapping[str, Integers]
    weighted: Mapping[str, Integers]
    totals: Integers


class Ranking:
    """The scores of the feasible nodes by plugin; the arrays are in the order of `nodes`, which has no meaning.

    `totals` are the sums of the weighted scores; `scores` None: they are worked out when they are asked for.
    """

    def __init__(self, judgement: Judgement, totals: Integers, scores: Scores | None = None) -> None:
        self.totals = totals
        self._judgement = judgement
        self._rows = judgement.rows
        self._nodes = judgement.seen.nodes
        self._state = self._nodes.position, self._nodes.version
        if scores is not None:
            self._scores = scores

    @cached_property
    def _scores(self) -> Scores:
        if self._state != (self._nodes.position, self._nodes.version):
            raise RuntimeError("scores must be read before the snapshot changes that they rank")
        return score_nodes(self._judgement)

    @property
    def raw(self) -> Mapping[str, NDArray[Any]]:
        """The raw scores by plugin; plugins that do not rank the pod are left out."""
        return self._scores.raw

    @property
    def normalised(self) -> Mapping[str, Integers]:
        """The scores by plugin, 0 to 100."""
        return self._scores.normalised

    @property
    def weighted(self) -> Mapping[str, Integers]:
        """The scores by plugin times its weight."""
        return self._scores.weighted

    @cached_property
    def _best(self) -> RowIndices:
        """The rows of the nodes with the highest total, in the order of their names."""
        totals = self.totals
        if not len(totals):
            return self._rows
        highest = np.flatnonzero(totals == totals[totals.argmax()])
        rows = highest if len(totals) == len(self._nodes.names) else self._rows[highest]
        order = self._nodes.name_order()
        if order.by_row:
            return rows
        if len(rows) <= FEW:
            places = order.place_of_row[rows]
            places.sort()
            return order.rows[places]
        is_highest = np.zeros(len(self._nodes.names), bool)
        is_highest[rows] = True
        return order.rows[is_highest[order.rows]]

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
                decisive.update(np.flatnonzero(totals == totals[totals.argmax()])[:limit].tolist())
        return tuple(sorted(names[sorted(decisive)].tolist()))

    def total(self) -> dict[str, int]:
        """Return the totals by node name, sorted."""
        return dict(sorted(zip(self.nodes, self.totals.tolist(), strict=True)))


def rank(judgement: Judgement) -> Ranking:
    """Score the feasible nodes of a judgement; plugins whose score is None are left out."""
    kept = judgement.kept
    if kept is None:
        scores = score_nodes(judgement)
        return Ranking(judgement, scores.totals, scores)
    rows, pod = judgement.rows, judgement.pod
    if not len(rows):
        return Ranking(judgement, np.zeros(0, np.int64))
    kept_scores = kept.scores(pod, judgement.seen, judgement.active_plugins)
    by_row = kept_scores.totals()
    own = list(kept_scores.normalised_anew)
    context = ColumnContext(judgement.seen, judgement.mask, rows)
    for _, plugin, weight, _ in kept_scores.asked:
        found = plugin.score(pod, context)
        if isinstance(found, GroupedScores):
            by_row = by_row + found.weighted(plugin.normalise, weight, judgement.mask, rows)
        elif found is not None and not isinstance(found, int):
            own.append(KeptScore(plugin, weight, found))
    all_fit = len(rows) == len(by_row)
    totals = by_row if all_fit else by_row.take(rows)
    for plugin, weight, raw in own:
        totals = totals + plugin.normalise(raw if all_fit else raw[rows]) * weight
    return Ranking(judgement, totals)


def score_nodes(judgement: Judgement) -> Scores:
    """Ask every plugin for its scores of the feasible nodes."""
    rows = judgement.rows
    context = ColumnContext(judgement.seen, judgement.mask, rows)
    all_fit = len(rows) == len(context.nodes.names)
    raw: dict[str, NDArray[Any]] = {}
    normalised: dict[str, Integers] = {}
    weighted: dict[str, Integers] = {}
    totals: Integers = np.zeros(len(rows), np.int64)
    zeros: Integers = np.zeros(len(rows), np.int64)
    if len(rows):
        for name, plugin, weight, _ in judgement.active_plugins.scores:
            scores = plugin.score(judgement.pod, context)
            if scores is None:
                continue
            if isinstance(scores, int):  # 0 on every node
                raw[name] = normalised[name] = weighted[name] = zeros
                continue
            by_row = scores.by_row() if isinstance(scores, GroupedScores) else scores
            raw[name] = by_row if all_fit else by_row[rows]
            normalised[name] = plugin.normalise(raw[name])
            weighted[name] = normalised[name] if weight == 1 else normalised[name] * weight
            totals += weighted[name]
    return Scores(raw, normalised, weighted, totals)
