"""What `why` answers, as values that read as text in ten seconds; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched.results import LINE_WIDTH, hanging_indent

NAMED = 4  # so many nodes of a group are named
LISTED = 8  # so many groups of nodes are listed
COLUMN = 32  # the widest column of node names


@attrs.frozen
class FailureRow:
    """Nodes that fail alike: the plugin that rejects them first, its reasons, and both sides of the comparison."""

    nodes: tuple[str, ...]
    plugin: str
    reasons: tuple[str, ...]
    clause: str
    example: str = ""

    @property
    def names(self) -> str:
        """The names, the first few of many."""
        return node_names_text(self.nodes)


@attrs.frozen
class Holding:
    """Who holds what a node is short of: (pod, amount), largest first, and how many more there are."""

    node: str
    resource: str
    asked: str
    total: str
    free: str
    pods: tuple[tuple[str, str], ...]
    more: int = 0

    def __str__(self) -> str:
        who = ", ".join(f"{pod} {amount}" for pod, amount in self.pods) or "no pod"
        more = f" and {self.more} more" if self.more else ""
        return f"{self.node} has {self.free} of {self.total} {self.resource} left, {self.asked} asked: {who}{more}"


@attrs.frozen
class DemandRow:
    """One demand in plain words, on how many nodes it fails, and what is behind it.

    `sort` and `about` name the clause, `number` which of several it is; see `scheduler.demands.Demand`.
    """

    plugin: str
    sort: str
    about: str
    words: str
    nodes: int
    number: int = 0
    details: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class Why:
    """Why a pod is where it is: a headline, the demands that leave no node, and node by node what fails first.

    Args:
        pod: `namespace/name`.
        state: `unschedulable`, `fits`, `gated`, `waiting`, `bound`, `ended`, `leaving` or `not ours`.
        headline: the answer in one sentence.
        demands: a set of which some demand fails on every node, and none could be left out.
        also: demands that fail on some nodes too, but are not needed to leave none.
        rows: per node, grouped, the first failing clause.
        holdings: who holds what the nearest nodes are short of.
        sentence: the event as kube-scheduler writes it.
        notes: how to read that sentence, and what else is worth knowing.
        missing: what cannot be told, as the dump lacks a kind.
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
        """The answer in one line: what leaves no node, or the headline."""
        if self.state != "unschedulable" or not self.demands:
            return f"{self.pod}: {self.headline}"
        before = self.demands[0].sort == "before filtering"
        many = "before filtering" if before else f"0 of {self.size} nodes fit"
        behind = [demand.details[0] if before and demand.details else demand.words for demand in self.demands]
        return f"{self.pod}: {many}: {'; '.join(behind)}"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[FailureRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        lines = [hanging_indent([f"{self.pod}: {self.headline}"], 0, LINE_WIDTH)]
        if len(self.demands) == 1:
            lines += ["", "One demand alone leaves no node:", *_listed(self.demands, self.size)]
        elif self.demands:
            head = f"{len(self.demands)} demands together leave no node; but for any of them, some node would do:"
            lines += ["", head, *_listed(self.demands, self.size)]
        if self.rows:
            lines += ["", "What fails first, node by node:"]
            wide = min(COLUMN, max(len(row.names) for row in self.rows[:LISTED]))
            for row in self.rows[:LISTED]:
                long = len(row.names) > wide  # the names then have a line of their own
                lines += [f"  {hanging_indent([row.names], 2)}"] if long else []
                front = f"  {'' if long else row.names:<{wide}}  "
                lines.append(front + hanging_indent([row.clause or ", ".join(row.reasons)], len(front)))
            if len(self.rows) > LISTED:
                lines.append(f"  … and {len(self.rows) - LISTED} more groups of nodes (`.rows`)")
        if self.holdings:
            lines += ["", "Who holds it:", *(f"  {hanging_indent([str(held)], 4)}" for held in self.holdings)]
        if self.also:
            lines += ["", "Also in the way:", *_listed(self.also, self.size)]
        if self.sentence:
            lines += ["", "kube-scheduler's words:", f"  {hanging_indent([self.sentence], 2)}"]
        if self.notes:
            lines += ["", *(f"- {hanging_indent([note], 2)}" for note in self.notes)]
        if self.missing:
            kinds = ", ".join(words.partition(":")[0].removeprefix("no ") for words in self.missing)
            lines += ["", hanging_indent([f"What was loaded has no {kinds}; `.missing` says what that hides."], 0)]
        return "\n".join([*lines, "", f"(rules: {self.revision})"])


@attrs.frozen(repr=False)
class Whys:
    """Why each of several pods is pending, a line each."""

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
    """Return node names, the first few of many and how many more."""
    if len(nodes) <= NAMED + 1:
        return ", ".join(nodes)
    return f"{', '.join(nodes[:NAMED])} and {len(nodes) - NAMED} more"


def _listed(demands: Sequence[DemandRow], size: int) -> list[str]:
    lines = []
    for demand in demands:
        where = "before any node is looked at" if demand.sort == "before filtering" else _where(demand.nodes, size)
        lines.append(f"  • {hanging_indent([f'{demand.words} – {where}'], 4)}")
        lines += [f"      {hanging_indent([detail], 8)}" for detail in demand.details]
    return lines


def _where(nodes: int, size: int) -> str:
    return "fails on every node" if nodes == size else f"fails on {nodes} of {size} nodes"
