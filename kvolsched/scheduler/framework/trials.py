"""Verdicts on a few nodes to which pods come, or from which pods go: nominated pods, and victims of preemption.

A plugin that reads the pod's template and the node alone says what it said before. One that reads the row's resources
(`column_by_row`) is asked for these rows, with what comes and goes added up: no snapshot is copied. For a pod of which
any other plugin has something to say, a hypothetical snapshot is changed and these plugins are asked for the nodes in
question. What PreFilter skipped in the pass stays skipped, as in kube-scheduler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ..columns.column import ALL_ROWS, Codes, Integers, Mask, RowIndices, RowWise
from ..columns.hypothetical_snapshot import HypotheticalSnapshot
from ..columns.node_table import NodeTable
from ..columns.ranked_pods import COMMON, RankedPods, priority
from ..columns.snapshot import Snapshot
from ..requests import PODS
from .extension_points import ColumnContext, legend_of
from .verdict import PASSING_CELL, FilterCell, FilterColumn, Legend, Ok, ReasonsAndStatus, Reject

if TYPE_CHECKING:
    from .profile import FilterEntry


class Nominated(NamedTuple):
    """The pods nominated to a node that come before a pod: the first `number` of them by importance."""

    ranked: RankedPods
    number: int

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods."""
        return self.ranked.pods[: self.number]


def nominated_before(pod: Pod, seen: Snapshot) -> dict[str, Nominated]:
    """Return, by node, the other pods nominated to it whose priority is not lower than this pod's."""
    own = Key("Pod", pod.metadata.namespace, pod.metadata.name)
    found: dict[str, Nominated] = {}
    for name, nominated in seen.nominations.items():
        if name in seen.nodes.row_of:
            ranked = (nominated.without(own) if own in nominated.pods else nominated).ranked
            if number := ranked.first_below(priority(pod)):
                found[name] = Nominated(ranked, number)
    return found


class Guests(NamedTuple):
    """Some of the pods of a `RankedPods`, those from `start` to before `stop`, and the trial row that they touch."""

    row: int
    ranked: RankedPods
    stop: int
    start: int = 0


class TrialRows:
    """The resources of some rows while pods come and go there: what `column_by_row` reads of a node table. Mutable.

    A row may be there more than once; `guests` are the pods that may come and go, in runs of one row each.
    """

    def __init__(self, nodes: NodeTable, rows: RowIndices, guests: Sequence[Guests]) -> None:
        self._nodes = nodes
        self._rows = rows
        self._guests = guests
        lengths = [stop - start for _, _, stop, start in guests]
        self.of_row = np.repeat(np.array([each.row for each in guests], np.intp), lengths)
        """By pod, its trial row."""
        self._change = np.zeros(len(self.of_row), np.int64)  # by pod: 1 if it has come, -1 if it has gone
        self._free: dict[str, Integers] = {}
        self._amounts: dict[str, Integers] = {}

    def by_pod(self, name: str) -> Integers:
        """Return, by pod, the amount of a resource, or another number of a `RankedPods`."""
        if name == PODS:
            return np.ones(len(self.of_row), np.int64)
        if name in COMMON:
            common: Integers = self._common[COMMON.index(name)]
            return common
        parts = [each.ranked.amounts(name)[each.start : each.stop] for each in self._guests]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    @cached_property
    def _common(self) -> Integers:
        """Numbers int64[COMMON, pod]."""
        parts = [ranked.common[:, start:stop] for _, ranked, stop, start in self._guests]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(COMMON), 0), np.int64)

    def free(self, resource: str) -> Integers:
        """Return, by trial row, how much of a resource is not requested by any pod."""
        found = self._free.get(resource)
        if found is None:
            amounts = self._amounts[resource] = self.by_pod(resource)
            found = self._free[resource] = self._nodes.free(resource)[self._rows]
            np.subtract.at(found, self.of_row, amounts * self._change)
        return found

    def total(self, resource: str) -> Integers:
        """Return, by trial row, the allocatable amount of a resource."""
        amounts: Integers = self._nodes.total(resource)[self._rows]
        return amounts

    def move(self, pods: Any, sign: int) -> None:
        """Add pods (sign 1) or remove them (-1), by their numbers; several of one row only before `free` is read."""
        self._change[pods] += sign
        for resource, free in self._free.items():
            free[self.of_row[pods]] -= sign * self._amounts[resource][pods]


class RowVerdicts:
    """What the filters say of trial rows, if all of them read the pod's template and the row's resources alone.

    `columns` have, by the plugin's index, what the filters that are not skipped said of all rows in this pass; `rows`
    are the rows of the node table for which the trial rows stand.
    """

    def __init__(self, pod: Pod, filters: Iterable[FilterEntry], columns: Mapping[int, FilterColumn], trial: TrialRows,
                 rows: RowIndices) -> None:
        self._size = len(rows)
        self._parts: list[tuple[int, Legend, Codes | RowWise]] = []  # in order of the plugins
        for entry in filters:
            column = columns.get(entry.place)
            if hasattr(entry.plugin, "column_by_row"):
                by_row = entry.plugin.column_by_row(pod, trial)
                self._parts.append((entry.place, legend_of(entry.plugin, pod), by_row))
            elif column is not None and column.codes is not None and not column.rejects_none:
                self._parts.append((entry.place, column.legend, column.codes[rows]))

    def columns(self) -> list[FilterColumn]:
        """Return what each filter says, by trial row."""
        return [FilterColumn(place, _codes(part, ALL_ROWS), legend) for place, legend, part in self._parts]

    def rejects(self, rows: Any = ALL_ROWS) -> Mask:
        """Return, for some trial rows, whether any filter rejects them."""
        rejected: Mask = np.zeros(self._size, bool)[rows]
        for _, _, part in self._parts:
            rejected |= _codes(part, rows) != 0
        return rejected

    def reasons(self, rows: RowIndices) -> Counter[str]:
        """Count trial rows by the reasons of the first filter that rejects them."""
        counted: Counter[str] = Counter()
        left = rows
        for _, legend, part in self._parts:
            codes = _codes(part, left)
            for code, count in enumerate(np.bincount(codes).tolist() if len(codes) else ()):
                for reason in legend(code)[0] if code and count else ():
                    counted[reason] += count
            left = left[codes == 0]
        return counted


def _codes(part: Codes | RowWise, rows: Any) -> Codes:
    found: Codes = part.some(rows) if isinstance(part, RowWise) else part[rows]
    return found


def read_rows_alone(pod: Pod, filters: Iterable[FilterEntry], nodes: NodeTable) -> bool:
    """Say whether filters read the pod's template and the row's resources alone, so that `RowVerdicts` is right."""
    return all(
        entry.kept and not entry.reads_other_nodes
        and (not hasattr(entry.plugin, "column_by_row") or entry.plugin.column_by_row(pod, nodes) is not None)
        for entry in filters
    )  # fmt: skip


class NodeVerdicts:
    """What the filters say of single nodes of a hypothetical snapshot, whose pods come and go.

    `columns` have, by the plugin's index, what the filters that are not skipped said of all rows in this pass;
    `nominated`, by node, the nominated pods that come before the pod.
    """

    def __init__(self, pod: Pod, filters: Iterable[FilterEntry], columns: Mapping[int, FilterColumn],
                 view: HypotheticalSnapshot, nominated: Mapping[str, Nominated]) -> None:
        self._pod = pod
        self._filters = tuple(filters)
        self._columns = columns
        self._view = view
        self._legends = {entry.place: legend_of(entry.plugin, pod) for entry in self._filters}
        self._by_row: dict[int, RowWise | None] = {
            entry.place: entry.plugin.column_by_row(pod, view.nodes)
            for entry in self._filters
            if entry.kept and hasattr(entry.plugin, "column_by_row")
        }
        self._answers: dict[tuple[int, int], FilterCell] = {}
        self._nominated = nominated
        self._together = not any(entry.reads_other_nodes for entry in self._filters)

    def rejection(self, names: Iterable[str]) -> dict[str, ReasonsAndStatus]:
        """Return the first rejection by node, without the nominated pods or with them, or that the node passes."""
        found = self.on(names) | self.with_nominated(names)
        return {name: next(iter(rejections.values()), PASSING_CELL).answer for name, rejections in found.items()}

    def with_nominated(self, names: Iterable[str] | None = None) -> dict[str, dict[int, FilterCell]]:
        """Return what rejects those of these nodes (None: of all) that reject the pod beside their nominated pods."""
        wanted = sorted(self._nominated if names is None else self._nominated.keys() & set(names))
        found: dict[str, dict[int, FilterCell]] = {}
        for group in [wanted] if self._together else [[name] for name in wanted]:
            with self._view.hosting({name: self._nominated[name].pods for name in group}):
                found |= self.on(group)
        return {name: rejections for name, rejections in found.items() if rejections}

    def on(self, names: Iterable[str]) -> dict[str, dict[int, FilterCell]]:
        """Return, by node, the rejections by the plugin's index, in the order of the plugins."""
        rejections: dict[str, dict[int, FilterCell]] = {name: {} for name in names}
        nodes = [node for name in rejections if (node := self._view.node(name)) is not None]
        rows = np.array([self._view.nodes.row_of[name] for name in rejections], np.intp)
        for entry in self._filters:
            for node, found in zip(nodes, self._ask(entry, nodes, rows), strict=True):
                if found.answer[1]:
                    rejections[node.metadata.name][entry.place] = found
        return rejections

    def _ask(self, entry: FilterEntry, nodes: Sequence[Node], rows: RowIndices) -> Iterable[FilterCell]:
        """Return what one filter says of the nodes."""
        place, plugin, legend = entry.place, entry.plugin, self._legends[entry.place]
        codes: Any = NotImplemented
        row_wise = self._by_row.get(place)
        if row_wise is not None:
            codes = row_wise.some(rows)
        elif entry.kept and place not in self._by_row:
            column = self._columns.get(place)
            if column is None or column.codes is None:
                return [PASSING_CELL] * len(rows)
            codes, legend = column.codes[rows], column.legend
        elif not entry.lifted:
            found = plugin.column(self._pod, ColumnContext(self._view))
            if found is None:
                return [PASSING_CELL] * len(rows)
            codes = found if found is NotImplemented else found[rows]
        if codes is NotImplemented:
            return [_cell(plugin.rule(self._pod, node, self._view)) for node in nodes]
        return [self._answer(place, code, legend) for code in codes.tolist()]

    def _answer(self, place: int, code: int, legend: Legend) -> FilterCell:
        """Return what a code means; looked up once."""
        if not code:
            return PASSING_CELL
        if (place, code) not in self._answers:
            self._answers[place, code] = FilterCell(code, legend(code))
        return self._answers[place, code]


def _cell(answer: Ok | Reject) -> FilterCell:
    return PASSING_CELL if isinstance(answer, Ok) else FilterCell(1, (answer.reasons, answer.status))


class NominatedViews(Mapping[str, "Snapshot"]):
    """Snapshots with the nominated pods of one node placed there, by that node; each is made when it is asked for.

    They must be asked for before the snapshot changes.
    """

    def __init__(self, seen: Snapshot, nominated: Mapping[str, Nominated], names: Sequence[str]) -> None:
        self._seen = seen
        self.nominated = nominated
        self._names = names
        self._made: dict[str, Snapshot] = {}

    def __getitem__(self, name: str) -> Snapshot:
        if name not in self._names:
            raise KeyError(name)
        if name in self._made:
            return self._made[name]
        view = self._made[name] = HypotheticalSnapshot(self._seen)
        for pod in self.nominated[name].pods:
            view.place(pod, name)
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def columns_with_nominated(
    pod: Pod, seen: Snapshot, filters: Sequence[FilterEntry], columns: Mapping[int, FilterColumn],
    nominated: Mapping[str, Nominated],
) -> tuple[tuple[FilterColumn, ...], list[str]]:  # fmt: skip
    """Return the columns with the verdicts on nodes that reject a pod beside the pods nominated there; and these nodes.

    `columns` has, by the plugin's index, what the filters that are not skipped say without nominated pods.
    """
    names, found, size = sorted(nominated), dict(columns), len(seen.nodes.names)
    rows = np.array([seen.nodes.row_of[name] for name in names], np.intp)
    exact = all(nominated[name].ranked.exact and seen.ranked_pods_on(name).exact for name in names)
    if exact and read_rows_alone(pod, filters, seen.nodes):
        trial = TrialRows(seen.nodes, rows, [Guests(index, *nominated[name]) for index, name in enumerate(names)])
        trial.move(ALL_ROWS, 1)
        verdicts = RowVerdicts(pod, filters, columns, trial, rows)
        rejects = verdicts.rejects()
        rejecting = [name for name, rejected in zip(names, rejects.tolist(), strict=True) if rejected]
        for column in verdicts.columns() if rejecting else ():
            assert column.codes is not None
            known = columns.get(column.place, column._replace(codes=None))
            found[column.place] = known.with_codes(rows[rejects], column.codes[rejects], size)
    else:
        rejections = NodeVerdicts(pod, filters, columns, HypotheticalSnapshot(seen), nominated).with_nominated()
        rejecting = sorted(rejections)
        legends = {entry.place: legend_of(entry.plugin, pod) for entry in filters}
        for place, legend in legends.items():
            column = found.get(place) or FilterColumn(place, None, legend)
            for name in rejecting:
                # A plugin after the first that rejects beside them, and does not, says what it says without them.
                if place in rejections[name] or place < min(rejections[name]):
                    cell = rejections[name].get(place, PASSING_CELL)
                    column = column.with_cell(seen.nodes.row_of[name], cell, size)
            found[place] = column
    return tuple(found[place] for place in sorted(found)), rejecting
