"""One pass over all nodes: who is rejected by which plugin and why, and the sentence of it.

A judgement is a function of pod, snapshot and profile. It holds arrays by row while it is fresh; everything that
leaves it is by node name, and sorted. It must be read before the snapshot moves on: a judgement is explained later by
going there and judging again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod

from ..columns.arrays import Codes, Mask
from ..columns.hypothetical_snapshot import HypotheticalSnapshot
from .extension_points import ColumnContext, EventWording, legend_of, lift_rule
from .verdict import OK, Code, Evidence, Legend, Ok, PreFilterReject, PreFilterResult, Reject, Said, Skip

if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot
    from .profile import ActivePlugins, Profile

NOTHING: Said = ((), Code.SUCCESS)
NO_NODES = "no nodes available to schedule pods"


class PluginVerdict(NamedTuple):
    """One node × plugin verdict, explained by the rule: reasons, status and both sides of each comparison."""

    reason: str
    status: Code
    evidence: tuple[Evidence, ...]
    reasons: tuple[str, ...] = ()


@attrs.frozen
class MatrixRow:
    """One verdict as a plain row for the views; `first` marks the plugin that a real pass would stop at."""

    node: str
    plugin: str
    status: str
    reasons: tuple[str, ...]
    first: bool


class _Column(NamedTuple):
    """One filter plugin's codes: which plugin in order, the codes by row (None: rejects nobody), and what they mean."""

    place: int
    codes: Codes | None
    legend: Legend

    def with_cell(self, row: int, other: _Column | None, size: int) -> _Column:
        """Return this column with another's answer in one row; numbers may mean other things there."""
        answer = other.legend(int(other.codes[row])) if other is not None and other.codes is not None else NOTHING
        if self.codes is None and not answer[1]:
            return self
        codes = np.zeros(size, np.uint16) if self.codes is None else self.codes.copy()
        if not answer[1]:
            codes[row] = 0
            return self._replace(codes=codes)
        assert other is not None
        assert other.codes is not None
        code, legend = int(other.codes[row]), self.legend
        if legend(code) != answer:  # a number that is free here
            code = int(codes.max()) + 1
        codes[row] = code
        return self._replace(codes=codes, legend=lambda each: answer if each == code else legend(each))


class Judgement:
    """What every plugin says of every node for one pod at one moment."""

    def __init__(
        self,
        pod: Pod,
        seen: Snapshot,
        profile: Profile,
        *,
        columns: tuple[_Column, ...],
        skipped: frozenset[str],
        rejected_by: PreFilterReject | None,
        restrictions: tuple[PreFilterResult, ...],
        views: Mapping[str, Snapshot] = MappingProxyType({}),
    ) -> None:
        self.pod = pod
        self.seen = seen
        self.profile = profile
        self.skipped = skipped
        """Plugins that had nothing to ask of this pod."""
        self.rejected_by = rejected_by
        """The rejection of the whole pod before any node was looked at, or None."""
        self.restrictions = restrictions
        """Restrictions to some nodes that plugins made before filtering."""
        self.plugins: tuple[str, ...] = profile.filter_names
        """Names of the filter plugins, in order."""
        self.views = views
        """The nodes that were judged with the pods they are promised to, and what was seen there."""
        self._columns = columns
        self._nodes = seen.nodes
        self._version = seen.nodes.version
        self._all = len(seen.nodes.names) == seen.nodes.size

    # --- by row, while fresh ----------------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> ActivePlugins:
        """Whom a pass of this pod asks."""
        return self.profile.plan(self.pod.spec, self.seen)

    @cached_property
    def mask(self) -> Mask:
        """By table row: whether the node passes every plugin and restriction."""
        feasible = self._nodes.live.now
        if self.rejected_by is not None:
            return np.zeros(len(feasible), bool)
        for column in self._columns:
            if column.codes is not None:
                feasible = feasible & (column.codes == 0)
        for restriction in self.restrictions:
            feasible = feasible & self._named(restriction)
        return feasible

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The table rows of the feasible nodes."""
        return np.flatnonzero(self.mask)

    @cached_property
    def _live(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._nodes.live.now)

    @cached_property
    def codes(self) -> Codes:
        """Array uint16[plugin, node] of the plugins' codes (0: passes); the nodes are in the order of `nodes`."""
        codes = np.zeros((len(self.plugins), self._nodes.size), np.uint16)
        for column in self._columns:
            if column.codes is not None:
                codes[column.place] = column.codes if self._all else column.codes[self._live]
        return codes

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, in the order of `codes`' second axis; this order means nothing."""
        return tuple(name for name in self._nodes.names if name is not None)

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """By table row: index of the first plugin that rejects, or the number of plugins."""
        first = np.full(len(self._nodes.names), len(self.plugins))
        for column in reversed(self._columns):
            if column.codes is not None:
                first[column.codes != 0] = column.place
        return first

    # --- by name ----------------------------------------------------------------------------------------------------

    @property
    def any_feasible(self) -> bool:
        """Whether some node passes."""
        return bool(self.mask.any())

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The names of the nodes that pass, sorted."""
        rows = self._nodes.rows_by_name()
        return tuple(self._nodes.names_array()[rows[self.mask[rows]]].tolist())

    @cached_property
    def first(self) -> dict[str, str | None]:
        """Per node the first plugin that rejects it, or None."""
        plugins = (*self.plugins, None)
        first = self._first
        return {name: plugins[first[row]] for name, row in self._nodes.rows()}

    @property
    def asked(self) -> frozenset[str]:
        """The filter plugins that had something to say of some node, or might have had."""
        return frozenset(self.plugins[column.place] for column in self._columns if column.codes is not None)

    def rejection(self, node: str) -> Said:
        """Return reasons and status of the first plugin that rejects a node, or SUCCESS; restrictions aside."""
        row = self._nodes.row_of[node]
        return self._said(int(self._first[row]), row)

    @cached_property
    def statuses(self) -> dict[str, Code]:
        """Per node the status of the first rejection, or SUCCESS; a node outside a restriction is unresolvable."""
        statuses: dict[str, Code] = {}
        first = self._first
        for name, row in self._nodes.rows():
            if not self._filtered[row]:
                statuses[name] = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            else:
                statuses[name] = self._said(first[row], row)[1]
        return statuses

    @cached_property
    def error(self) -> str:
        """The error that ends the pass, if a plugin met one on a node that no earlier plugin rejects; else ""."""
        messages = Counter[str]()
        for column in self._columns:
            if column.codes is None:
                continue
            met = column.codes[(self._first == column.place) & self._nodes.live.now]
            for code in np.unique(met).tolist():
                reasons, status = column.legend(code)
                if status is Code.ERROR:
                    messages[", ".join(reasons)] += int((met == code).sum())
        words = [
            f"{message} (repeated {count} times)" if self.profile.words.repeated and count > 1 else message
            for message, count in sorted(messages.items())
        ]
        if not self.profile.words.repeated:
            words = words[:1]
        return words[0] if len(words) == 1 else f"[{', '.join(words)}]" if words else ""

    @cached_property
    def excluded(self) -> int:
        """How many nodes the filters never saw, as they lie outside the restrictions made before filtering."""
        return self._nodes.size - int(self._filtered.sum()) if self.restrictions else 0

    def reasons(self) -> Counter[str]:
        """Return how many nodes each reason counts for: of every node the first rejecting plugin's, or its group's."""
        counted: Counter[str] = Counter()
        first = self._first
        groups = [enabled.group for enabled in self.profile.filters]
        for column in self._columns:
            if column.codes is None:
                continue
            speaks = first == column.place
            if group := groups[column.place]:
                for index in (index for index, other in enumerate(groups) if other == group):
                    speaks = speaks | (first == index)
            given = column.codes[speaks & self._filtered]
            for code, count in enumerate(np.bincount(given).tolist() if len(given) else ()):
                if code and count:
                    for reason in column.legend(code)[0]:
                        counted[reason] += count
        if self.excluded:
            names = {restriction.plugin for restriction in self.restrictions}
            if self._nominated is not None and first[self._nominated] < len(self.plugins):
                names.add(self.plugins[first[self._nominated]])
            counted[f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(names))}]"] += self.excluded
        return counted

    def sentence(self, words: EventWording | None = None, postfilter: str = "") -> str:
        """Return the event sentence of a pod that fits nowhere: a histogram of reasons, sorted as strings.

        Args:
            words: the revision's wording; the profile's own if not given.
            postfilter: what PostFilter had to say, put behind; a rejection before filtering brings its own words.
        """
        words = words or self.profile.words
        if not self._nodes.size:
            return NO_NODES
        if self.rejected_by is not None:
            if self.rejected_by.code is Code.ERROR:
                return self.rejected_by.message
            said, postfilter = self.rejected_by.message, postfilter or words.after_prefilter
            if words.prefilter_alone:
                return said
        elif self.error:
            return self.error
        else:
            said = ", ".join(sorted(f"{count} {reason}" for reason, count in self.reasons().items()))
        sentence = f"0/{self._nodes.size} nodes are available:"
        return " ".join(part for part in (sentence, said and f"{said}.", postfilter) if part)

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes of hash over what every plugin says of every node, by node name."""
        digest = blake2b(self._nodes.names_digest(), digest_size=8)
        if self.rejected_by is not None:
            digest.update(repr((self.rejected_by.plugin, self.rejected_by.message)).encode())
        rows = self._nodes.rows_by_name()
        for restriction in self.restrictions:
            digest.update(repr((restriction.plugin, sorted(restriction.names))).encode())
        for column in self._columns:
            if column.codes is not None:
                codes = column.codes[rows] if column.codes.any() else column.codes
                if codes.any():
                    digest.update(self.plugins[column.place].encode())
                    digest.update(codes.tobytes())
        return digest.digest()

    def cell(self, node: str, plugin: str) -> PluginVerdict:
        """Explain one verdict by the plugin's rule.

        Raises:
            KeyError: there is no such node or filter plugin.
        """
        enabled = self.profile.filters[self.plugins.index(plugin)] if plugin in self.plugins else None
        found = self.seen.node(node)
        if enabled is None or found is None:
            raise KeyError(f"no verdict of {plugin!r} on node {node!r}")
        seen = self.views.get(node, self.seen)
        answer: Ok | Reject = OK if plugin in self.skipped else enabled.plugin.rule(self.pod, found, seen)
        if isinstance(answer, Ok):
            return PluginVerdict("", Code.SKIP if plugin in self.skipped else Code.SUCCESS, ())
        return PluginVerdict(", ".join(answer.reasons), answer.status, answer.evidence, answer.reasons)

    def verdict(self, node: str, plugin: str) -> Said:
        """Return reasons and status of one verdict as the column says."""
        row = self._nodes.row_of[node]
        return self._said(self.plugins.index(plugin), row)

    def matrix(self) -> list[MatrixRow]:
        """Return every verdict as a plain row, nodes by name and plugins in order."""
        first = self._first
        rows = []
        for name, row in self._nodes.rows():
            for index, plugin in enumerate(self.plugins):
                reasons, status = self._said(index, row)
                if plugin in self.skipped:
                    status = Code.SKIP
                rows.append(MatrixRow(name, plugin, status.word, reasons, first[row] == index))
        return rows

    def beside(self, others: Mapping[str, Judgement]) -> Judgement:
        """Return this judgement with the verdicts on some nodes replaced, where the other one rejects the node."""
        held = {node: other for node, other in others.items() if other.rejection(node)[1] is not Code.SUCCESS}
        if not held:
            return self
        columns = []
        for place in range(len(self.plugins)):
            column = self.columns.get(place) or _Column(place, None, lambda _code: NOTHING)
            for node, other in held.items():
                column = column.with_cell(self._nodes.row_of[node], other.columns.get(place), len(self._nodes.names))
            columns.append(column)
        skipped = frozenset.intersection(self.skipped, *(other.skipped for other in held.values()))
        views = {node: other.seen for node, other in held.items()}
        return Judgement(
            self.pod,
            self.seen,
            self.profile,
            columns=tuple(column for column in columns if self.plugins[column.place] not in skipped),
            skipped=skipped,
            rejected_by=None,
            restrictions=self.restrictions,
            views=views,
        )

    # --- inside -----------------------------------------------------------------------------------------------------

    @cached_property
    def _filtered(self) -> Mask:
        """By table row: whether a pass filters the node: inside every restriction, or nominated, which goes first."""
        filtered: Mask = self._nodes.live.now
        for restriction in self.restrictions:
            filtered = filtered & self._named(restriction)
        if self.restrictions and self._nominated is not None:
            filtered[self._nominated] = True
        return filtered

    @cached_property
    def _nominated(self) -> int | None:
        """The row of the node that an earlier pass nominated; the plugin rejecting it speaks for the excluded too."""
        return self._nodes.row_of.get(self.pod.status.nominated_node_name)

    def _said(self, index: int, row: int) -> Said:
        column = self.columns.get(index)
        if column is None or column.codes is None or not column.codes[row]:
            return (), Code.SUCCESS
        return column.legend(int(column.codes[row]))

    @cached_property
    def columns(self) -> dict[int, _Column]:
        """The columns by the place of their plugin; one without opinion has none."""
        return {column.place: column for column in self._columns}

    def _named(self, restriction: PreFilterResult) -> Mask:
        mask = np.zeros(len(self._nodes.names), bool)
        mask[[self._nodes.row_of[name] for name in restriction.names if name in self._nodes.row_of]] = True
        return mask


def judge(pod: Pod, seen: Snapshot, profile: Profile) -> Judgement:
    """Ask every filter plugin of a profile about every node for a pod.

    A node that is promised to pods of the same or higher priority must have room beside them, too.
    """
    judgement = _ask(pod, seen, profile)
    if not seen.promises or judgement.rejected_by is not None:
        return judgement
    beside = {}
    for node in sorted({one.status.nominated_node_name for one in seen.promises}):
        others = [one for one in seen.promised(node) if _goes_first(one, pod)]
        if others and seen.node(node) is not None:
            view = HypotheticalSnapshot(seen)
            for one in others:
                view.place(one, node)
            beside[node] = _ask(pod, view, profile)
    return judgement.beside(beside) if beside else judgement


def _goes_first(promised: Pod, pod: Pod) -> bool:
    same = (promised.metadata.namespace, promised.metadata.name) == (pod.metadata.namespace, pod.metadata.name)
    return not same and (promised.spec.priority or 0) >= (pod.spec.priority or 0)


def _ask(pod: Pod, seen: Snapshot, profile: Profile) -> Judgement:
    plan = profile.plan(pod.spec, seen)
    skipped: set[str] = set()
    rejected: PreFilterReject | None = None
    restrictions: list[PreFilterResult] = []
    for name, prefilter in plan.prefilters:
        answer = prefilter(pod, seen)
        if answer is None:
            continue
        if isinstance(answer, Skip):
            skipped.add(name)
        elif isinstance(answer, PreFilterResult):
            restrictions.append(answer)
        else:
            rejected = answer
            break
    columns: list[_Column] = []
    if rejected is None:
        at = ColumnContext(seen)
        for index, name, plugin, lifted in plan.filters:
            if name in skipped:
                continue
            found = NotImplemented if lifted else plugin.column(pod, at)
            if found is NotImplemented:
                codes, legend = lift_rule(plugin, pod, at)
                columns.append(_Column(index, codes, legend))
            elif found is not None:
                columns.append(_Column(index, found, legend_of(plugin, pod)))
    return Judgement(
        pod,
        seen,
        profile,
        columns=tuple(columns),
        skipped=plan.skipped | skipped if skipped else plan.skipped,
        rejected_by=rejected,
        restrictions=tuple(restrictions),
    )


def check(judgement: Judgement) -> None:
    """Compare every column with its rule, cell by cell (debug mode; law: the column is the proved shadow).

    Raises:
        AssertionError: some cell differs; the message names node, plugin and both sides.
    """
    if judgement.rejected_by is not None:
        return
    for plugin in judgement.plugins:
        if plugin in judgement.skipped:
            continue
        for node in judgement.nodes:
            cell = judgement.cell(node, plugin)
            reasons, status = judgement.verdict(node, plugin)
            if (cell.reasons, cell.status) != (reasons, status):
                raise AssertionError(
                    f"{plugin} on {node}: the rule says {cell.status.word} {list(cell.reasons)}, "
                    f"the column {status.word} {list(reasons)}"
                )
