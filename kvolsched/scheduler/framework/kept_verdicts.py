"""What is kept of a pass for the next pod of the same template: the answers of plugins that read no more than that.

Such a plugin declares `template_fields`: of the pod it reads these fields only, and of the cluster the nodes' names,
labels, taints, images and free resources only. Its answers hold until a node changes; where a pod came or went, only
that row is judged again. All other plugins are asked in every pass. kube-scheduler has the same idea in its plugins'
`SignPod` (since 1.35). Mutable.
"""

from __future__ import annotations

from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod

from ..columns.column import Integers, KeptColumn, Mask, RowIndices, RowWise
from .extension_points import ColumnContext, legend_of
from .verdict import FilterColumn, Legend, PreFiltered, Skip

if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot
    from .profile import ActivePlugins, FilterEntry, ScoreEntry

place_of = itemgetter(0)
UNKNOWN = object()

MAX_KEPT_TEMPLATES = 128  # the least recently used is dropped


class KeptScore(NamedTuple):
    """A score whose raw values are kept, and that is normalised anew in each pass: that takes the nodes that fit."""

    plugin: Any
    weight: int
    raw: NDArray[Any]


class KeptVerdicts:
    """The kept answers of the plugins that are called for the pods of one template. Mutable."""

    def __init__(self, pod: Pod, seen: Snapshot, active: ActivePlugins) -> None:
        self._nodes = seen.nodes
        self._state = _state_of(seen)
        self.answers = {name: ask(pod, seen) for name, ask in active.prefilters if name in active.kept_prefilters}
        self.prefiltered: PreFiltered | None = None
        """What PreFilter makes of the pod, if all of it is kept."""
        if len(self.answers) == len(active.prefilters):
            self.prefiltered = active.prefilter(pod, seen, self.answers)
        self.asked_filters: list[FilterEntry] = []  # the filters that are asked in every pass
        self.columns: tuple[FilterColumn, ...] = ()
        self.mask: Mask = seen.nodes.live.array.copy()
        self.rows: RowIndices = np.zeros(0, np.intp)
        self._by_row: list[tuple[int, Legend, KeptColumn]] = []
        self._fixed: list[FilterColumn] = []
        context = ColumnContext(seen)
        for entry in active.filters:
            if not isinstance(self.answers.get(entry.name), Skip) and not self._keep(entry, pod, context):
                self.asked_filters.append(entry)
        for column in self._fixed:
            if column.codes is not None:
                self.mask &= column.codes == 0
        self._fixed_mask = self.mask
        self._scores: KeptScores | None = None
        self._last_codes: list[Any] = [None]

    def _keep(self, entry: FilterEntry, pod: Pod, context: ColumnContext) -> bool:
        """Keep the column of a plugin; return False if the plugin has to be asked in every pass."""
        plugin = entry.plugin
        if not entry.kept:
            return False
        if hasattr(plugin, "column_by_row"):
            row_wise: RowWise | None = plugin.column_by_row(pod, self._nodes)
            if row_wise is not None:
                self._by_row.append((entry.place, legend_of(plugin, pod), KeptColumn(row_wise)))
            return row_wise is not None
        codes = plugin.column(pod, context)
        if codes is NotImplemented:
            return False
        if codes is not None:
            self._fixed.append(FilterColumn(entry.place, codes, legend_of(plugin, pod), not codes.any()))
        return True

    def holds(self, seen: Snapshot) -> bool:
        """Say whether no node has changed but for its pods."""
        return self._state == _state_of(seen)

    def update(self) -> None:
        """Judge the rows again in which pods came or went."""
        codes = [column.values(self._nodes) for _, _, column in self._by_row]
        if all(map(is_, codes, self._last_codes)) and len(codes) == len(self._last_codes):
            return
        self._last_codes = codes
        columns = [
            FilterColumn(place, found, legend, not found.any())
            for found, (place, legend, _) in zip(codes, self._by_row, strict=True)
        ]
        mask = self._fixed_mask
        for column in columns:
            if not column.rejects_none:
                mask = mask & (column.codes == 0)
        self.columns = tuple(sorted((*self._fixed, *columns), key=place_of))
        if mask is not self.mask or not len(self.rows):
            self.mask, self.rows = mask, np.flatnonzero(mask)

    def scores(self, pod: Pod, seen: Snapshot, active: ActivePlugins) -> KeptScores:
        """Return the kept scores."""
        if self._scores is None:
            self._scores = KeptScores(pod, seen, active)
        return self._scores


class KeptScores:
    """The kept scores for one pod template. Mutable."""

    def __init__(self, pod: Pod, seen: Snapshot, active: ActivePlugins) -> None:
        self._nodes = seen.nodes
        self.asked: list[ScoreEntry] = []  # the scores that are asked for in every pass
        self.normalised_anew: list[KeptScore] = []
        constant = 0
        by_row: list[tuple[int, RowWise]] = []
        for entry in active.scores:
            if not entry.kept:
                self.asked.append(entry)
            elif hasattr(entry.plugin, "score_by_row"):
                row_wise = entry.plugin.score_by_row(pod, seen.nodes)
                if row_wise is not None:
                    by_row.append((entry.weight, row_wise))
            else:
                raw = entry.plugin.score(pod, ColumnContext(seen))
                if isinstance(raw, np.ndarray) and len(raw):
                    if raw.min() == raw.max():  # equal on all nodes, and so on those that fit
                        constant += entry.weight * int(entry.plugin.normalise(raw[:1])[0])
                    else:
                        self.normalised_anew.append(KeptScore(entry.plugin, entry.weight, raw))
        self._totals = KeptColumn(_sum_of(by_row, constant, len(seen.nodes.names)))

    def totals(self) -> Integers:
        """Return, by row, the weighted sum of the scores that need no other node; it is never modified."""
        return self._totals.values(self._nodes)


def _sum_of(parts: list[tuple[int, RowWise]], constant: int, size: int) -> RowWise:
    """Return the weighted sum of scores by row, and a constant, as one computation by row."""
    ones = [(weight, part.one) for weight, part in parts if part.one is not None]

    def some(rows: Any) -> Integers:
        total: Integers = np.full(size, constant, np.int64)[rows]
        for weight, part in parts:
            total += part.some(rows) if weight == 1 else part.some(rows) * weight
        return total

    def one(row: int) -> int:
        total = constant
        for weight, score in ones:
            total += weight * score(row)
        return total

    return RowWise(one if len(ones) == len(parts) else None, some)


def kept_verdicts(pod: Pod, seen: Snapshot, active: ActivePlugins) -> KeptVerdicts | None:
    """Return the kept answers for a pod's template, brought up to date; None for the first pod of a template.

    They are made for the second pod: most templates of a cluster in which each pod has its own are never seen again.
    """
    kept: dict[Any, Any] = seen.nodes.kept_verdicts
    key = (active, active.read_template(pod.spec))
    known = kept.pop(key, UNKNOWN)
    if known is UNKNOWN:
        if len(kept) >= MAX_KEPT_TEMPLATES:
            del kept[next(iter(kept))]
        kept[key] = None
        return None
    found: KeptVerdicts = known if known is not None and known.holds(seen) else KeptVerdicts(pod, seen, active)
    kept[key] = found
    found.update()
    return found


def _state_of(seen: Snapshot) -> tuple[int, bool, int]:
    return seen.nodes.version, bool(seen.nodes.huge), seen.images.version
