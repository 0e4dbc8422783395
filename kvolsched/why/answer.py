"""The values that `why` answers with, and how they read as text; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched.notebook_output import PrintedAnswer
from kvolsched.results import LINE_WIDTH, hanging_indent

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
    example: str = ""

    @property
    def names(self) -> str:
        """The nodes' names, the first few of many."""
        return node_names_text(self.nodes)


@attrs.frozen
class Holding:
    """A resource that a node is short of: the pods that hold it with their amounts, largest first, and `more` pods."""

    node: str
    resource: str
    asked: str
    total: str
    free: str
    pods: tuple[tuple[str, str], ...]
    more: int = 0

    def __str__(self) -> str:
        holders = ", ".join(f"{pod} {amount}" for pod, amount in self.pods) or "no pod"
        more = f" and {self.more} more" if self.more else ""
        left = f"{self.node} has {self.free} of {self.total} {self.resource} left, the pod asks for {self.asked}"
        return f"{left}; held by {holders}{more}"


@attrs.frozen
class DemandRow:
    """A requirement of the pod that fails on some nodes: what is lacking, on how many nodes, and details.

    `sort` and `about` name the clause, `number` which of several it is; see `why.demands.Demand`.
    """

    plugin: str
    sort: str
    about: str
    words: str
    nodes: int
    number: int = 0
    details: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class Why(PrintedAnswer):
    """Why a pod has no node: a headline, the requirements that exclude every node, and the first failure per node.

    Args:
        pod: `namespace/name`.
        state: `unschedulable`, `fits`, `gated`, `waiting`, `bound`, `ended`, `leaving` or `not ours`.
        headline: the answer in one sentence.
        demands: a minimal unsatisfiable core: on every node one of these requirements fails, and none is superfluous.
        also: other requirements that fail on some nodes.
        rows: the first failing clause per node, grouped.
        holdings: the pods that hold the short resources of the nearest nodes.
        sentence: the event as kube-scheduler writes it.
        notes: how to read that sentence, and other hints.
        missing: what the answer cannot tell, since the dump lacks a kind.
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
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The answer in one line: what is lacking, or the headline."""
        if self.state != "unschedulable" or not self.demands:
            return f"{self.pod}: {self.headline}"
        first = self.demands[0]
        if first.sort == "before filtering":
            return f"{self.pod}: before filtering: {first.details[0] if first.details else first.words}"
        several = len(self.demands) > 1
        where = [f", on {_nodes(demand, self.size)}" if several else "" for demand in self.demands]
        lacking = [f"{demand.words}{nodes}" for demand, nodes in zip(self.demands, where, strict=True)]
        return f"{self.pod}: 0 of {self.size} nodes fit: {'; '.join(lacking)}"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[FailureRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        lines = [hanging_indent([f"{self.pod}: {self.headline}"], 0, LINE_WIDTH)]
        if len(self.demands) == 1:
            lines += ["", "This requirement alone excludes every node:", *_demand_lines(self.demands, self.size)]
        elif self.demands:
            without = "without either one" if len(self.demands) == 2 else "without any one of them"
            head = f"These {len(self.demands)} requirements together exclude every node; {without}, the rest of these"
            lines += ["", f"{head} would leave a node:", *_demand_lines(self.demands, self.size)]
        if self.rows:
            lines += ["", "What fails first, node by node:"]
            wide = min(MAX_NAME_WIDTH, max(len(row.names) for row in self.rows[:MAX_GROUPS]))
            for row in self.rows[:MAX_GROUPS]:
                long = len(row.names) > wide  # the names then have a line of their own
                lines += [f"  {hanging_indent([row.names], 2)}"] if long else []
                front = f"  {'' if long else row.names:<{wide}}  "
                lines.append(front + hanging_indent([row.clause or ", ".join(row.reasons)], len(front)))
            if len(self.rows) > MAX_GROUPS:
                lines.append(f"  … and {len(self.rows) - MAX_GROUPS} more groups of nodes (`.rows`)")
        if self.holdings:
            lines += ["", "Who holds the short resources:"]
            lines += [f"  {hanging_indent([str(holding)], 4)}" for holding in self.holdings]
        if self.also:
            lines += ["", "Other requirements that fail:", *_demand_lines(self.also, self.size)]
        if self.sentence:
            lines += ["", "kube-scheduler's words:", f"  {hanging_indent([self.sentence], 2)}"]
        if self.notes:
            lines += ["", *(f"- {hanging_indent([note], 2)}" for note in self.notes)]
        if self.missing:
            kinds = ", ".join(words.partition(":")[0].removeprefix("no ") for words in self.missing)
            lines += ["", hanging_indent([f"What was loaded has no {kinds}; `.missing` says what that hides."], 0)]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])


@attrs.frozen(repr=False)
class Whys(PrintedAnswer):
    """Why each of several pods is pending, one line per pod."""

    answers: tuple[Why, ...]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Why]:
        return iter(self.answers)

    def __getitem__(self, number: int) -> Why:
        return self.answers[number]

    def __repr__(self) -> str:
        return "\n".join(answer.line for answer in self.answers) or "No pod waits for a node."


def node_names_text(nodes: Sequence[str]) -> str:
    """Return node names as text: all of a few, else the first and the number of the others."""
    if len(nodes) <= MAX_NODE_NAMES + 1:
        return ", ".join(nodes)
    return f"{', '.join(nodes[:MAX_NODE_NAMES])} and {len(nodes) - MAX_NODE_NAMES} more"


def _demand_lines(demands: Sequence[DemandRow], size: int) -> list[str]:
    lines = []
    for demand in demands:
        before = demand.sort == "before filtering"
        where = "before any node is looked at" if before else f"on {_nodes(demand, size)}"
        lines.append(f"  • {hanging_indent([f'{demand.words} – {where}'], 4)}")
        lines += [f"      {hanging_indent([detail], 8)}" for detail in demand.details]
    return lines


def _nodes(demand: DemandRow, size: int) -> str:
    return "every node" if demand.nodes == size else f"{demand.nodes} of {size} nodes"
