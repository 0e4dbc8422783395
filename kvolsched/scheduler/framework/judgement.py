"""The judgement of one pod: which plugin rejects which node and why, and the message of the event.

A judgement is a function of pod, snapshot and profile. Inside it are arrays by row; what it returns is by node name,
and sorted. It must be read before the snapshot changes; to explain it later, go back in the log and judge again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod
from kvolsched.api.remembered import cached_property

from ..columns.column import Codes, Mask, RowIndices, distinct_numbers
from ..shortcuts import SHORTCUTS
from .evidence import Evidence
from .extension_points import ColumnContext, legend_of, lift_rule
from .kept_verdicts import KeptVerdicts, kept_verdicts, place_of
from .profile import error_of_filters, failing_columns
from .trials import Nominated, NominatedViews, columns_with_nominated, nominated_before
from .verdict import (
    OK,
    PASSES,
    PASSING_CELL,
    Code,
    FilterColumn,
    Ok,
    PreFiltered,
    PreFilterResult,
    ReasonsAndStatus,
    Reject,
)

if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot
    from .profile import ActivePlugins, FilterEntry, Profile

NO_NODES = "no nodes available to schedule pods"


class PluginVerdict(NamedTuple):
    """The verdict of one plugin on one node, as its rule explains it: reasons, status and evidence."""

    reason: str
    status: Code
    evidence: tuple[Evidence, ...]
    reasons: tuple[str, ...] = ()


class Judgement:
    """The verdicts of all filter plugins on all nodes for one pod at one moment."""

    def __init__(self, pod: Pod, seen: Snapshot, profile: Profile, *, columns: tuple[FilterColumn, ...],
                 prefiltered: PreFiltered, views: NominatedViews | None = None,
                 kept: KeptVerdicts | None = None, asked: tuple[FilterColumn, ...] = ()) -> None:
        self.pod = pod
        self.seen = seen
        self.profile = profile
        self.skipped, self.rejected_by, self.restrictions = prefiltered
        self.plugins: tuple[str, ...] = profile.filter_names  # names of the filter plugins, in order
        self.views: Mapping[str, Snapshot] = views or {}  # with the nominated pods, by the node that is judged so
        self.kept = kept  # what is kept for pods of this template; None: every plugin is asked
        self._columns = columns
        self._views = views
        self._nodes = seen.nodes
        self._version = seen.nodes.version
        self._all = len(seen.nodes.names) == seen.nodes.size
        # The mask is that of the kept columns, less the nodes that the others reject.
        self._asked = columns if kept is None else asked
        self._kept_mask = seen.nodes.live.array if kept is None else kept.mask
        self._kept_rows = None if kept is None else kept.rows

    @cached_property
    def active_plugins(self) -> ActivePlugins:
        """The plugins that are called for this pod."""
        return self.profile.active_plugins(self.pod.spec, self.seen)

    @cached_property
    def mask(self) -> Mask:
        """By table row: whether the node passes every plugin and restriction."""
        feasible = self._kept_mask
        if self.rejected_by is not None:
            return np.zeros(len(feasible), bool)
        for column in self._asked:
            if column.codes is not None and not column.rejects_none:
                feasible = feasible & (column.codes == 0)
        for restriction in self.restrictions:
            feasible = feasible & self._rows_in(restriction)
        return feasible

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The table rows of the feasible nodes."""
        if self._kept_rows is not None and self.mask is self._kept_mask:
            return self._kept_rows
        return np.flatnonzero(self.mask)

    @cached_property
    def _live(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._nodes.live.array)

    @cached_property
    def codes(self) -> Codes:
        """Codes uint16[plugin, node], 0 where the node passes; the nodes are in the order of `nodes`."""
        codes = np.zeros((len(self.plugins), self._nodes.size), np.uint16)
        for column in self._columns:
            if column.codes is not None:
                codes[column.place] = column.codes if self._all else column.codes[self._live]
        return codes

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, in the order of the second axis of `codes`; the order has no meaning."""
        return tuple(name for name in self._nodes.names if name is not None)

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """By table row: the index of the first plugin that rejects the node, or the number of plugins."""
        first = np.full(len(self._nodes.names), len(self.plugins))
        for column in reversed(self._columns):
            if column.codes is not None:
                first[column.codes != 0] = column.place
        return first

    @property
    def any_feasible(self) -> bool:
        """Whether some node passes."""
        return len(self.rows) > 0

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The names of the nodes that pass, sorted."""
        rows = self._nodes.rows_by_name()
        return tuple(self._nodes.names_array()[rows[self.mask[rows]]].tolist())

    @cached_property
    def first_rejecting(self) -> dict[str, str | None]:
        """By node: the first plugin that rejects it, or None."""
        plugins, first = (*self.plugins, None), self._first
        return {name: plugins[first[row]] for name, row in self._nodes.rows()}

    @property
    def active_filters(self) -> frozenset[str]:
        """The filter plugins that were evaluated and may reject nodes."""
        return frozenset(self.plugins[column.place] for column in self._columns if column.codes is not None)

    def rejection(self, node: str) -> ReasonsAndStatus:
        """Return reasons and status of the first plugin that rejects a node, or SUCCESS; ignores restrictions."""
        row = self._nodes.row_of[node]
        return self._reasons_at(int(self._first[row]), row)

    @cached_property
    def statuses(self) -> dict[str, Code]:
        """By node: the status of the first rejection, or SUCCESS; a node outside a restriction is unresolvable."""
        rows, codes = self._nodes.rows_by_name(), tuple(Code)
        names = self._nodes.names_array()[rows].tolist()
        return {name: codes[value] for name, value in zip(names, self._statuses[rows].tolist(), strict=True)}

    @cached_property
    def _statuses(self) -> NDArray[np.uint8]:
        """By table row, what `statuses` has."""
        found = np.full(len(self._first), Code.SUCCESS, np.uint8)
        for column in self._columns:
            if column.codes is not None:
                mine = self._first == column.place
                for code in distinct_numbers(column.codes[mine]):  # many nodes share a few codes
                    found[mine & (column.codes == code)] = column.legend(code)[1]
        found[~self._filtered] = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        return found

    def status(self, node: str) -> Code | None:
        """Return the status of a node, or None if there is no such node."""
        row = self._nodes.row_of.get(node)
        return None if row is None else Code(int(self._statuses[row]))

    def rows_with(self, status: Code) -> RowIndices:
        """Return the table rows of the nodes with a status, in order of their names."""
        rows = self._nodes.rows_by_name()
        found: RowIndices = rows[self._statuses[rows] == status]
        return found

    @property
    def rejecting_plugins(self) -> set[str]:
        """The plugins that are the first to reject some node."""
        places = distinct_numbers(self._first[self._live])
        return {self.plugins[place] for place in places if place < len(self.plugins)}

    @cached_property
    def error(self) -> str:
        """The error that ends the pass, or "": of filters on nodes that none rejects earlier, else of the ranking.

        One node with an error is enough, whatever the others say (`findNodesThatPassFilters`); but the nominated node
        is asked alone before.
        """
        return self._filter_error or self.ranking_error

    @cached_property
    def _filter_error(self) -> str:
        failing = failing_columns(self._columns, self.profile)
        if not failing or self.fitting_nominated_node:
            return ""
        masks = [(self._first == each.place) & self._filtered for each in failing]
        return error_of_filters(failing, masks, self.profile)

    @cached_property
    def ranking_error(self) -> str:
        """The error for which several nodes that fit cannot be ranked, or "": what the pod prefers cannot be read."""
        if len(self.rows) < 2 or self.fitting_nominated_node:
            return ""
        errors = ((plugin.name, plugin.prescore(self.pod)) for plugin in self.profile.prescoring)
        return next((f'running PreScore plugin "{name}": {error}' for name, error in errors if error), "")

    @cached_property
    def excluded(self) -> int:
        """How many nodes were not filtered, as they lie outside the restrictions of PreFilter."""
        return self._nodes.size - int(self._filtered.sum()) if self.restrictions else 0

    def reasons(self) -> Counter[str]:
        """Count the nodes by reason: for each node the reasons of the first rejecting plugin, or of its group."""
        counted: Counter[str] = Counter()
        first = self._first
        groups = [enabled.group for enabled in self.profile.filters]
        for column in self._columns:
            if column.codes is None:
                continue
            reporting = first == column.place
            if group := groups[column.place]:
                for index in (index for index, other in enumerate(groups) if other == group):
                    reporting = reporting | (first == index)
            codes = column.codes[reporting & self._filtered]
            for code, count in enumerate(np.bincount(codes).tolist() if len(codes) else ()):
                if code and count:
                    for reason in column.legend(code)[0]:
                        counted[reason] += count
        if self.excluded:
            counted[self.excluded_reason] += self.excluded
        return counted

    def leaving_out(self, node: str) -> tuple[str, ...]:
        """Return the plugins whose PreFilter leaves a node out."""
        return tuple(each.plugin for each in self.restrictions if node not in each.names)

    @property
    def excluded_reason(self) -> str:
        """The reason of the nodes outside those that plugins name before filtering."""
        first = len(self.plugins) if self._nominated is None else self._first[self._nominated]
        names = {restriction.plugin for restriction in self.restrictions} | {*self.plugins[first : first + 1]}
        return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(names))}]"

    def sentence(self, postfilter: str = "") -> str:
        """Return the message "0/N nodes are available": the counted reasons, sorted as strings.

        Args:
            postfilter: the message of PostFilter, appended; a PreFilter rejection ends in `after_prefilter` instead.
        """
        return " ".join(filter(None, self.sentence_parts(postfilter)))

    def sentence_parts(self, postfilter: str = "") -> tuple[str, str]:
        """Return the first words of the sentence, which count the nodes, and the rest; ("", all) if none is counted."""
        words, rejected = self.profile.words, self.rejected_by
        if not self._nodes.size or (self.error and rejected is None):
            return "", self.error or NO_NODES
        if rejected is not None and (words.prefilter_alone or rejected.code is Code.ERROR):
            return "", rejected.message
        reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in self.reasons().items()))
        if rejected is not None:
            reasons, postfilter = rejected.message, postfilter or words.after_prefilter
        parts = (reasons and f"{reasons}.", postfilter)
        return f"0/{self._nodes.size} nodes are available:", " ".join(filter(None, parts))

    @cached_property
    def fingerprint(self) -> bytes:
        """Return an 8-byte hash of the verdicts of all plugins on all nodes, by node name."""
        digest = blake2b(self._nodes.names_digest(), digest_size=8)
        if self.rejected_by is not None:
            digest.update(repr((self.rejected_by.plugin, self.rejected_by.message)).encode())
        rows = self._nodes.rows_by_name()
        for restriction in self.restrictions:
            digest.update(repr((restriction.plugin, sorted(restriction.names))).encode())
        for column in self._columns:
            if column.codes is not None and not column.rejects_none:
                codes = column.codes.take(rows) if column.codes.any() else column.codes
                if codes.any():
                    digest.update(self.plugins[column.place].encode())
                    digest.update(codes.tobytes())
        return digest.digest()

    def cell(self, node: str, plugin: str) -> PluginVerdict:
        """Explain one verdict by evaluating the plugin's rule.

        Raises:
            KeyError: there is no such node or filter plugin.
        """
        enabled = self.profile.filters[self.plugins.index(plugin)] if plugin in self.plugins else None
        found = self.seen.node(node)
        if enabled is None or found is None:
            raise KeyError(f"no verdict of {plugin!r} on node {node!r}")
        seen = self.views.get(node, self.seen)
        answer: Ok | Reject = OK if plugin in self.skipped else enabled.plugin.rule(self.pod, found, seen)
        if seen is not self.seen and isinstance(answer, Ok) and self.verdict(node, plugin)[0]:
            answer = enabled.plugin.rule(self.pod, found, self.seen)
        if isinstance(answer, Ok):
            return PluginVerdict("", Code.SKIP if plugin in self.skipped else Code.SUCCESS, ())
        return PluginVerdict(", ".join(answer.reasons), answer.status, answer.evidence, answer.reasons)

    def verdict(self, node: str, plugin: str) -> ReasonsAndStatus:
        """Return reasons and status of one verdict, read from the column."""
        return self._reasons_at(self.plugins.index(plugin), self._nodes.row_of[node])

    def with_rejections_of(self, others: Mapping[str, Judgement]) -> Judgement:
        """Return this judgement with the verdicts on some nodes taken from others, where the other rejects the node."""
        rejecting = {node: other for node, other in others.items() if other.rejection(node)[1] is not Code.SUCCESS}
        first = {node: self.plugins.index(str(other.first_rejecting[node])) for node, other in rejecting.items()}
        if not rejecting:
            return self
        columns = []
        for place in range(len(self.plugins)):
            column = self.columns.get(place) or FilterColumn(place, None, lambda _code: PASSES)
            for node, other in rejecting.items():
                row = self._nodes.row_of[node]
                cell = other.columns[place].cell(row) if place in other.columns else PASSING_CELL
                if cell.code or place < first[node]:  # later ones that pass it there say what they say here
                    column = column.with_cell(row, cell, len(self._nodes.names))
            columns.append(column)
        skipped = frozenset.intersection(self.skipped, *(other.skipped for other in rejecting.values()))
        views = NominatedViews(self.seen, self.nominated, list(rejecting))
        return Judgement(self.pod, self.seen, self.profile,
                         columns=tuple(column for column in columns if self.plugins[column.place] not in skipped),
                         prefiltered=PreFiltered(skipped, None, self.restrictions), views=views)

    @cached_property
    def nominated(self) -> Mapping[str, Nominated]:
        """The pods that come before this one and are nominated, by node."""
        return nominated_before(self.pod, self.seen) if self._views is None else self._views.nominated

    def with_nominated(self) -> Judgement:
        """Return this judgement with the verdicts on nodes that reject the pod beside the pods nominated to them."""
        columns, rejecting = columns_with_nominated(self.pod, self.seen, self.filters, self.columns, self.nominated)
        if not rejecting:
            return self
        changed = tuple(column for column in columns if column is not self.columns.get(column.place))
        return Judgement(self.pod, self.seen, self.profile, columns=columns, kept=self.kept,
                         asked=(*self._asked, *changed), views=NominatedViews(self.seen, self.nominated, rejecting),
                         prefiltered=PreFiltered(self.skipped, None, self.restrictions))  # fmt: skip

    @property
    def filters(self) -> list[FilterEntry]:
        """The filters that were asked."""
        return [entry for entry in self.active_plugins.filters if entry.name not in self.skipped]

    @cached_property
    def _filtered(self) -> Mask:
        """By table row: whether the node is filtered: it lies in every restriction, or the pod is nominated to it."""
        filtered: Mask = self._nodes.live.array
        for restriction in self.restrictions:
            filtered = filtered & self._rows_in(restriction)
        if self.restrictions and self._nominated is not None:
            filtered[self._nominated] = True
        return filtered

    @property
    def fitting_nominated_node(self) -> str:
        """The pod's nominated node if it fits and the profile takes it without ranking the others, else ""."""
        row = self._nominated if self.profile.nominated_first else None
        return self.pod.status.nominated_node_name if row is not None and self.mask[row] else ""

    @cached_property
    def _nominated(self) -> int | None:
        """The row of the nominated node; a plugin that rejects it is named among the restricting plugins."""
        return self._nodes.row_of.get(self.pod.status.nominated_node_name)

    def _reasons_at(self, index: int, row: int) -> ReasonsAndStatus:
        column = self.columns.get(index)
        if column is None or column.codes is None or not column.codes[row]:
            return (), Code.SUCCESS
        return column.legend(int(column.codes[row]))

    @cached_property
    def columns(self) -> dict[int, FilterColumn]:
        """The columns by the index of their plugin; a plugin that was not evaluated has none."""
        return {column.place: column for column in self._columns}

    def _rows_in(self, restriction: PreFilterResult) -> Mask:
        mask = np.zeros(len(self._nodes.names), bool)
        mask[[self._nodes.row_of[name] for name in restriction.names if name in self._nodes.row_of]] = True
        return mask


def judge(pod: Pod, seen: Snapshot, profile: Profile, skipped: frozenset[str] | None = None) -> Judgement:
    """Run PreFilter and the filters of a profile for a pod on every node.

    A node must also fit with the pods of equal or higher priority that are nominated to it; of these only the plugins
    hear that PreFilter did not skip without them (v1.36.2). `skipped` is what PreFilter skipped in this pass, if it has
    been asked; it is asked once a pass.
    """
    judgement = _run_filters(pod, seen, profile, skipped)
    if not seen.nominations or judgement.rejected_by is not None:
        return judgement
    nominated = judgement.nominated
    if not nominated:
        return judgement
    if SHORTCUTS.on:
        return judgement.with_nominated()
    views = NominatedViews(seen, nominated, sorted(nominated))
    others = {node: _run_filters(pod, view, profile, judgement.skipped) for node, view in views.items()}
    return judgement.with_rejections_of(others)


def _run_filters(pod: Pod, seen: Snapshot, profile: Profile, skipped: frozenset[str] | None = None) -> Judgement:
    active = profile.active_plugins(pod.spec, seen)
    columns: tuple[FilterColumn, ...] = ()
    kept = kept_verdicts(pod, seen, active) if SHORTCUTS.on and skipped is None else None
    if kept is None:
        prefiltered = active.prefilter(pod, seen, {}) if skipped is None else PreFiltered(skipped)
        if prefiltered.rejected_by is None:
            columns = _ask(active.filters, prefiltered.skipped, pod, seen)
        return Judgement(pod, seen, profile, columns=columns, prefiltered=prefiltered)
    prefiltered = kept.prefiltered or active.prefilter(pod, seen, kept.answers)
    asked: tuple[FilterColumn, ...] = ()
    if prefiltered.rejected_by is None:
        columns = kept.columns
        if kept.asked_filters:
            asked = _ask(kept.asked_filters, prefiltered.skipped, pod, seen)
            columns = tuple(sorted((*columns, *asked), key=place_of)) if asked else columns
    return Judgement(pod, seen, profile, columns=columns, prefiltered=prefiltered, kept=kept, asked=asked)


def _ask(filters: Iterable[FilterEntry], skipped: Collection[str], pod: Pod,
         seen: Snapshot) -> tuple[FilterColumn, ...]:
    """Return the columns of filters, without those that are skipped or reject no node."""
    context, nodes = ColumnContext(seen), seen.nodes
    columns: list[FilterColumn] = []
    for index, name, plugin, lifted, _, _ in filters:
        if name in skipped:
            continue
        codes = NotImplemented if lifted or not SHORTCUTS.columns else plugin.column(pod, context)
        if codes is NotImplemented:
            codes, legend = lift_rule(plugin, pod, context)
            columns.append(FilterColumn(index, codes, legend))
        elif codes is not None:
            columns.append(FilterColumn(index, codes, legend_of(plugin, pod), codes is nodes.no_codes()))
    return tuple(columns)
