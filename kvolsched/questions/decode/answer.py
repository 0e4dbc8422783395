"""The values that `decode` answers with, and how they read as text; nothing is decoded here."""

import attrs

from kvolsched.api.notebook_output import DrawnAnswer, NumberedRows, to_type
from kvolsched.api.words import LINE_WIDTH, hanging_indent

from .table import GROUPS

WHICH_NODES = "\nWhich nodes, zones and volumes: kvolsched why --live, or kvolsched why DUMP (kubectl get -o yaml)"


@attrs.frozen
class DecodedClause:
    """One clause of a sentence, with its meaning.

    Args:
        clause: the clause as it was written, control characters shown escaped.
        count: the number of nodes that it counts (or of repetitions); None where the sentence counts nothing.
        size: the number of nodes that the sentence speaks of; None where it does not say.
        plugin: the scheduler's plugin or the component that writes it; empty for an unknown clause.
        rule: the rule in one line.
        cause: what usually causes it.
        next_line: the kubectl line that shows more; what the sentence does not name stands as `<pod>`.
        part: `nodes`, `preemption`, `groups` (of nodes, which an autoscaler counts), or `` for words about the whole
            pod, a claim or an event.
        known: whether the clause is in the table.
        cut: whether the sentence was cut in or behind the clause.
        incidents: names of incidents that show it, the nearest first: `kvolsched.incident(name)` plays one.
    """

    clause: str
    count: int | None
    size: int | None
    plugin: str
    rule: str
    cause: str
    next_line: str
    part: str = ""
    known: bool = True
    incidents: tuple[str, ...] = ()
    cut: bool = False

    @property
    def where(self) -> str:
        """How many nodes the clause speaks of, as words."""
        if self.part == GROUPS:
            return f"{self.count} node group{'' if self.count == 1 else 's'}" if self.count is not None else ""
        of = f" of {self.size}" if self.size is not None else ""
        counted = "" if self.count is None else f"{self.count}{of} node{'' if (self.size or self.count) == 1 else 's'}"
        return f"preemption: {counted}" if self.part == "preemption" and counted else counted or self.part

    @property
    def incidents_to_play(self) -> tuple[str, ...]:
        """The incidents, but for words about preemption, which repeat what the nodes' reasons say."""
        return self.incidents if self.part != "preemption" else ()


@attrs.frozen(repr=False)
class Decoded(NumberedRows[DecodedClause], DrawnAnswer):
    """What a pasted sentence says, clause by clause.

    `rows` has a `DecodedClause` for each clause, in the order of the sentence; `unknown` quotes the clauses that are in
    no row of the table.
    """

    sentence: str
    rows: tuple[DecodedClause, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The clauses that are not known, as they were written."""
        return tuple(row.clause for row in self.rows if not row.known)

    def __repr__(self) -> str:
        lines = [hanging_indent([self.sentence], 0, LINE_WIDTH)]
        for row in self.rows:
            where = f"{row.where}: " if row.where else ""
            lines += ["", hanging_indent([f"{where}“{row.clause}”"], 2)]
            lines += [f"  {label:<8}{hanging_indent([words], 10)}" for label, words in _labelled(row)]
            lines += [f"  {'next':<8}{row.next_line}"] if row.next_line else []  # never wrapped: it is to be copied
        if any(row.size for row in self.rows):
            lines += filter(None, [to_type("", WHICH_NODES)])  # a notebook's picture ends with it
        return "\n".join(lines)


def _labelled(row: DecodedClause) -> list[tuple[str, str]]:
    """Return the lines of a row with their labels; those without words are left out."""
    found = [("from", row.plugin), ("rule", row.rule), ("usually", row.cause)]
    if row.incidents_to_play:
        python = ", ".join(f'kvolsched.incident("{name}")' for name in row.incidents_to_play)
        command = f"kvolsched incidents --play {', or '.join(row.incidents_to_play)}"
        found.append(("play", to_type(python, command)))
    return [(label, words) for label, words in found if words]
