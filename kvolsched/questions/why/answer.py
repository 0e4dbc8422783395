"""The values that `why` answers with, and how they read as text; nothing is computed here."""

from collections.abc import Callable, Sequence
from typing import Self

import attrs

from ...api.notebook_output import DrawnAnswer, Rows, to_type
from ...api.text.not_read import NotRead, not_read_words
from ...api.words import LINE_WIDTH, counted, first_of, hanging_indent
from ...scheduler.framework.evidence import Sides

MAX_NODE_NAMES = 4  # named nodes of a group
MAX_GROUPS = 8  # listed groups of nodes
MAX_NAME_WIDTH = 32  # characters of the column of node names


@attrs.frozen
class FailureRow:
    """Nodes that one plugin rejects first for equal reasons, with both sides of the comparison."""

    nodes: tuple[str, ...]
    plugin: str
    reasons: tuple[str, ...]
    clause: str
    example: str

    @property
    def names(self) -> str:
        """The nodes' names, the first few of many."""
        return node_names_text(self.nodes)


class Remark(str):
    """A sentence that says what it is, so that nobody need take it apart.

    Args:
        words: the sentence without its head.
        head: what stands before a colon: `claim data`.
        kind: "table": on what the table of an answer shows as well; "before": on what the cluster said earlier;
            "words": on a phrase that kube-scheduler writes nearly always;
            "absent", "unread": a dump has no objects of a kind, or they could not be read.
        about: the kind of objects that is absent or unread.
    """

    __slots__ = ("about", "head", "kind", "words")
    words: str
    head: str
    kind: str
    about: str

    def __new__(cls, words: str, head: str = "", kind: str = "", about: str = "") -> Self:
        self = super().__new__(cls, f"{head}: {words}" if head else words)
        self.words, self.head, self.kind, self.about = words, head, kind, about
        return self

    def __getnewargs__(self) -> tuple[str, str, str, str]:  # type: ignore[override]
        return self.words, self.head, self.kind, self.about


@attrs.frozen
class Finding:
    """A part of the first sentence.

    Args:
        kinds: what sort of things is wrong.
        words: the part.
        predicate: the words without their subject, if it is a node.
    """

    kinds: tuple[str, ...]
    words: str
    predicate: str = ""


@attrs.frozen
class Holding:
    """A resource that a node is short of: the pods that hold it with their amounts, largest first, and `more` pods."""

    node: str
    resource: str
    asked: str
    total: str
    free: str
    pods: tuple[tuple[str, str], ...]
    more: int

    @property
    def left(self) -> str:
        """What is left of the resource, and what the pod asks for."""
        return f"{self.node} has {self.free} of {self.total} {self.resource} left, the pod asks for {self.asked}"

    @property
    def holders(self) -> str:
        """Who holds it."""
        holders = ", ".join(f"{pod} {amount}" for pod, amount in self.pods) or "no pod"
        return f"held by {holders}{f' and {self.more} more' if self.more else ''}"

    @property
    def only_holder(self) -> str:
        """The pod that alone holds it, with its amount; "" for several."""
        return "" if len(self.pods) != 1 else f"pod {' holds '.join(self.pods[0])}"

    def __str__(self) -> str:
        return f"{self.left}; {self.holders}"


@attrs.frozen
class DemandRow:
    """A demand of the pod that fails on some nodes: what is lacking, on how many nodes, and details.

    `sort` and `about` name the clause, `number` which of several it is; see `why.demands.Demand`.

    Args:
        title: what is lacking in a few words.
        kind: the title without the names of the pod's own objects.
        alone: the nodes on which no other demand fails.
    """

    plugin: str
    sort: str
    about: str
    words: str
    nodes: int
    number: int
    details: tuple[Remark, ...]
    title: str
    kind: str
    alone: tuple[str, ...]


@attrs.frozen
class SentenceClause:
    """A clause of kube-scheduler's sentence: its number, its words, and how many nodes it counts for which reason."""

    number: int
    text: str
    count: int
    reason: str
    preemption: bool = False


@attrs.frozen
class Cell:
    """How one demand fares on nodes that are judged alike: both sides of the comparison in a few words.

    Args:
        verdict: `passes`; `first`: its plugin rejects first, so the sentence counts it; `also`: it fails, too.
        sides: the comparison, as `20Gi > 15Gi`; of many nodes a range.
        clauses: the numbers of the clauses that count it.
    """

    verdict: str
    sides: Sides
    clauses: tuple[int, ...] = ()


@attrs.frozen
class AlikeNodes:
    """Nodes that are judged alike: the same demands fail, and the same clauses count them.

    Args:
        nodes: their names, sorted.
        zones: their zones.
        first: the plugin that rejects them first.
        resolvable: whether removing pods could help there.
        clauses: the numbers of the clauses that count them.
        preemption: the numbers of the preemption clauses that count them, that of most nodes first.
        cells: one for each demand: those of the minimal set, then the others.
    """

    nodes: tuple[str, ...]
    zones: tuple[str, ...]
    first: str
    resolvable: bool
    clauses: tuple[int, ...]
    preemption: tuple[int, ...]
    cells: tuple[Cell, ...]


@attrs.frozen(repr=False)
class Why(Rows[FailureRow], DrawnAnswer):
    """Why a pod has no node: a headline, the demands that exclude every node, and both sides of each comparison.

    Args:
        pod: `namespace/name`.
        state: `unschedulable`, `fits`, `gated`, `waiting`, `bound`, `ended`, `leaving` or `not ours`.
        headline: the answer in one sentence, which begins with the cause.
        findings: the parts of that sentence, if no node takes the pod.
        demands: a minimal unsatisfiable core: on every node one of these demands fails, and none is superfluous.
        also: other demands that fail on some nodes.
        rows: the first failing clause per node, grouped.
        holdings: the pods that hold the short resources of the nearest nodes.
        sentence: the event as kube-scheduler writes it.
        start: its first words, which count the nodes.
        notes: how to read that sentence, and other hints.
        missing: what the answer cannot tell, since the dump lacks a kind.
        clauses: the sentence's clauses.
        groups: nodes that are judged alike, in the order of the clauses, with a cell for each demand.
        fits: the nodes that would take the pod.
        asked_for: the workload that was asked for, and which of its pods this is, in words.
        gates: the scheduling gates of a gated pod.
        ungated: whether it would fit without them, in words.
        nearest_edit: finds the nearest edit after which the pod (`namespace/name`) fits, for the picture.
    """

    pod: str
    revision: str
    state: str
    headline: str
    size: int = 0
    demands: tuple[DemandRow, ...] = ()
    also: tuple[DemandRow, ...] = ()
    rows: tuple[FailureRow, ...] = ()
    holdings: tuple[Holding, ...] = ()
    sentence: str = ""
    notes: tuple[Remark, ...] = ()
    missing: tuple[Remark, ...] = ()
    clauses: tuple[SentenceClause, ...] = ()
    groups: tuple[AlikeNodes, ...] = ()
    fits: tuple[str, ...] = ()
    asked_for: str = ""
    start: str = ""
    gates: tuple[str, ...] = ()
    ungated: str = ""
    findings: tuple[Finding, ...] = ()
    nearest_edit: Callable[[str], str] | None = attrs.field(default=None, eq=False)

    @property
    def words(self) -> tuple[Remark, ...]:
        """What phrases mean that kube-scheduler writes nearly always, whatever is wrong."""
        return tuple(note for note in self.notes if note.kind == "words")

    @property
    def title(self) -> str:
        """The pod, and the answer in one sentence."""
        return f"{self.asked_for}: {self.line}" if self.asked_for else self.line

    @property
    def line(self) -> str:
        """The pod, and the answer in one sentence, without the workload that was asked for."""
        return f"{self.pod}: {self.headline}"

    def __repr__(self) -> str:
        lines = [hanging_indent([self.title], 0, LINE_WIDTH)]
        if self.sentence:
            lines += ["", "kube-scheduler's words:", f"  {hanging_indent([self.sentence], 2)}"]
        # Of a single demand the title tells; details of its claims tell more than the nodes, which then fail alike.
        single = self.demands[0] if len(self.demands) == 1 else None
        if single is not None and single.sort == "before filtering":
            lines += ["", "Known of it:", *(_detail_lines(single.details, 2, "• ") or _demand_lines(self.demands, 0))]
        elif self.demands and (single is None or single.details):
            lines += ["", hanging_indent([set_words(len(self.demands))], 0), *_demand_lines(self.demands, self.size)]
        told_already = len(self.rows) == 1 and (bool(single and single.details) or self.rows[0].clause in self.headline)
        if self.rows and not told_already:
            lines += ["", "What fails first, node by node:"]
            wide = min(MAX_NAME_WIDTH, max(len(row.names) for row in self.rows[:MAX_GROUPS]))
            for row in self.rows[:MAX_GROUPS]:
                long = len(row.names) > wide  # the names then have a line of their own
                lines += [f"  {hanging_indent([row.names], 2)}"] if long else []
                front = f"  {'' if long else row.names:<{wide}}  "
                lines.append(front + hanging_indent([row.clause or ", ".join(row.reasons)], len(front)))
            if len(self.rows) > MAX_GROUPS:
                more = counted(len(self.rows) - MAX_GROUPS, "more group")
                lines.append(f"  … and {more} of nodes{to_type(' (`.rows`)', '')}")
        untold = [each for each in self.holdings if not each.only_holder or each.only_holder not in self.headline]
        if untold:
            lines += ["", "Who holds the short resources:"]
            lines += [f"  {hanging_indent([str(holding)], 4)}" for holding in untold]
        if self.also:
            lines += ["", "Also in the way, but not needed to exclude every node:"]
            lines += _demand_lines(self.also, self.size)
        told = [note for note in self.notes if note.kind != "words"]
        if told:
            lines += ["", *(f"- {hanging_indent([note], 2)}" for note in told)]
        if self.missing:
            hides = to_type("; `.missing` says what that hides", "")
            lines += ["", hanging_indent([f"{missing_in_words(self.missing)}{hides}."], 0)]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])


def remarks_on_not_read(not_read: NotRead) -> tuple[Remark, ...]:
    """Return what bears on placement and is not modelled."""
    words = not_read_words(not_read)
    return tuple(Remark(effect, f"not read {what}", "unread", what) for what, effect in words.items())


def missing_in_words(missing: Sequence[Remark]) -> str:
    """Return which kinds a dump has not and what was not read of a live cluster, without what that hides."""
    absent, unread = (", ".join(one.about for one in missing if one.kind == kind) for kind in ("absent", "unread"))
    return "; ".join([f"The dump has no {absent}"] * bool(absent) + [f"Not read: {unread}"] * bool(unread))


def node_names_text(nodes: Sequence[str]) -> str:
    """Return node names as text: all of a few, else the first and the number of the others."""
    return first_of(nodes, MAX_NODE_NAMES + (len(nodes) == MAX_NODE_NAMES + 1))


def set_words(count: int) -> str:
    """Return what the minimal set is: the claim holds of its demands alone, as others may fail as well."""
    if count == 1:
        return "This demand alone excludes every node:"
    without = "without either one" if count == 2 else "without any one of them"
    return f"These {count} demands together exclude every node; {without}, some node would meet the rest of these:"


def _demand_lines(demands: Sequence[DemandRow], size: int) -> list[str]:
    lines = []
    for demand in demands:
        before = demand.sort == "before filtering"
        nodes = "every node" if demand.nodes == size else f"{demand.nodes} of {size} nodes"
        where = "before any node is looked at" if before else f"on {nodes}"
        lines.append(f"  • {hanging_indent([f'{demand.words} – {where}'], 4)}")
        lines += _detail_lines(demand.details, 6)
    return lines


def _detail_lines(details: Sequence[Remark], indent: int, bullet: str = "") -> list[str]:
    return [f"{' ' * indent}{bullet}{hanging_indent([detail], indent + 2)}" for detail in details]
