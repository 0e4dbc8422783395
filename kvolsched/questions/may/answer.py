"""The answer of the gate workbench: a row for each patch, printed as text, shown as a picture."""

from collections.abc import Mapping

import attrs

from ...api.notebook_output import DrawnAnswer, NumberedRows, PrintedAnswer
from ...api.words import first_of, hanging_indent
from ...rules.named import documents_of
from ...rules.registry import TODAY
from .changes import Changes
from .witness import Witness

MAX_NAMES = 8  # nodes that are named in one line of text
MANY = 7  # patches; more have one line each
AS_WRITTEN = "the rule compares requirements as written, not nodes"
RELATIONS = {  # how the nodes that match after a patch compare with those before, for all nodes that can exist
    "same": "it selects the same nodes",
    "narrower": "it selects fewer nodes",
    "wider": "it selects more nodes",
    "different": "it selects other nodes",
    "unknown": "it leaves no pod that can be read",
}


@attrs.frozen(repr=False, kw_only=True)
class PatchRow(PrintedAnswer):
    """What the API server answers to one patch of a pod, and what the patch does to the nodes that the pod may use.

    Args:
        patch: the patch on one line.
        allowed: whether the API server takes it.
        code: the HTTP status.
        reason: the API server's reason of a refusal, or "".
        message: its message, or "".
        before, after: the names of the cluster's nodes that match nodeSelector and node affinity, sorted.
        relation: `same`, `narrower`, `wider` or `different` (some nodes more and some fewer), for all nodes that can
            exist; `unknown` if the patch leaves no pod.
        witness: a node that would newly match; None is a proof that there is no such node.
        explanation: why a refused patch is refused.
        changes: what the patch changes of the pod, as lines; None if it leaves no pod.
        rules: the rules that a refused patch breaks.
        directives: whether the patch changes nodeSelector or node affinity.
        instead: a merge patch on one line that is allowed and selects the nodes of this refused one; "" if none is
            known.
        remedy: in words what such patches add: `append the requirement zone In [a] to nodeSelectorTerms[0]`; or "".
        hint: another way to write this patch: at another place, or of another kind; "" if none is known.
        warnings: what the API server warns of although it takes the patch: fields that it drops.
        title: what the patch changes, in words, if it was suggested; "" for a patch of yours.
    """

    patch: str
    allowed: bool
    code: int
    reason: str
    message: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    relation: str
    witness: Witness | None
    explanation: str
    changes: Changes | None
    rules: tuple[str, ...]
    directives: bool
    instead: str
    remedy: str
    hint: str
    warnings: tuple[str, ...]
    title: str = ""

    @property
    def verdict(self) -> str:
        """`allowed (200)` or `refused (422 Invalid)`."""
        return f"allowed ({self.code})" if self.allowed else f"refused ({self.code} {self.reason})"

    @property
    def change(self) -> str:
        """What the patch changes, on one line: `spec.nodeSelector.zone: a → b`; or the patch if that is nothing."""
        return (self.changes.short if self.changes is not None else "") or self.patch

    def why_under(self, rule: str) -> str:
        """Return why the patch is refused: the rule it breaks, unless it stands at the top, or the server's words."""
        if rule and self.rules == (rule,):
            return "it breaks the rule at the top"
        if self.remedy:
            return f"though {RELATIONS[self.relation]}: {AS_WRITTEN} ({self.rules[0]}). Instead {self.remedy}"
        return f"rule: {self.rules[0]}" if self.rules else self.words or self.explanation

    @property
    def effect(self) -> str:
        """The nodes that match before and after, in words."""
        words = RELATIONS[self.relation]
        if self.relation == "unknown":
            return words
        if self.relation != "same" and self.before == self.after:  # the difference is among nodes that are not here
            return f"{words} of all that can exist; of those here the same {len(self.after)} ({_names(self.after)})"
        return f"{words}: of those here {len(self.before)} before, {len(self.after)} after ({_names(self.after)})"

    @property
    def words(self) -> str:
        """The API server's message without the difference of Go values at its end, on one line."""
        return " ".join(self.message.partition("\n@@")[0].split())

    def __repr__(self) -> str:
        instead = f"allowed, for these nodes: {self.instead}" if self.instead else ""
        effect = self.effect if self.relation != "unknown" else ""  # the explanation says it
        warned = [f"Warning: {warning}, which is dropped" for warning in self.warnings]
        lines = [part for part in (*warned, effect, self.words, self.explanation, self.hint, instead) if part]
        head = hanging_indent([f"{self.verdict}: {f'{self.title}: ' if self.title else ''}{self.patch}"], 0)
        return "\n  ".join([head, *(hanging_indent([line], 2) for line in lines)])


@attrs.frozen(repr=False)
class PatchAnswers(NumberedRows[PatchRow], DrawnAnswer):
    """What the API server answers to patches of a pod, each tried by itself on a fork.

    Args:
        pod: `namespace/name`.
        revision: the name of the rules.
        called: that name without settings and plugins of one's own.
        gates: the pod's scheduling gates.
        size: the number of nodes.
        before: the nodes that match its nodeSelector and node affinity now, sorted.
        rows: a row for each patch.
        zones: node -> its zone, "" for a node without that label.
        rule: the sentence that says what may change, if it is what refused one of the suggested patches.
        suggested: whether the patches are those that answer what may be changed on the pod.
    """

    pod: str
    revision: str
    called: str
    gates: tuple[str, ...]
    size: int
    before: tuple[str, ...]
    rows: tuple[PatchRow, ...]
    zones: Mapping[str, str]
    rule: str
    suggested: bool

    @property
    def not_today(self) -> str:
        """Which rules answer, if they are not today's: `rules design (the design documents), not today's`; or ""."""
        if self.called == TODAY:
            return ""
        documents = documents_of(self.called) or "a design that the documents reject"
        return f"rules {self.revision} ({documents}), not today's"

    @property
    def is_short(self) -> bool:
        """Whether each patch has one line, since there are many, or they answer one question together."""
        return self.suggested or len(self.rows) > MANY

    @property
    def allowed(self) -> bool:
        """Whether every patch is allowed."""
        return all(row.allowed for row in self.rows)

    @property
    def headline(self) -> str:
        """The pod, its gates, the nodes that match now, and the rules if they are not today's."""
        gates = f"is held by {', '.join(self.gates)}" if self.gates else "has no scheduling gate"
        now = f"{self.pod} {gates}; {len(self.before)} of {self.size} nodes match now ({_names(self.before)})"
        return f"{now}; {self.not_today}" if self.not_today else now

    def __repr__(self) -> str:
        lines = [hanging_indent([self.headline], 0)]
        if self.suggested:
            lines.append(hanging_indent([self.may_change], 0))
        for number, row in enumerate(self.rows, 1):  # as the picture counts them
            if self.is_short:
                lines += _short_lines(number, row, self.rule)
            else:
                lines.append(f"  {number:>2}. " + repr(row).replace("\n", "\n      "))
        return "\n".join([*lines, f"(rules: {self.revision})"])

    @property
    def may_change(self) -> str:
        """What may change on the pod, in a sentence; what follows it are changes of its own spec."""
        rule = f"{self.rule[:1].upper()}{self.rule[1:]}." if self.rule else ""
        return f"{rule} Tried on its own spec, each alone:".strip()


def _short_lines(number: int, row: PatchRow, rule: str) -> list[str]:
    """Return a patch with its answer on one line, and below it what is dropped, or why it is refused."""
    sign = "✓ allowed" if row.allowed else f"✕ refused ({row.code})"
    head = f"  {number:>2}. {sign}  " + hanging_indent([f"{row.title}; {row.change}" if row.title else row.change], 8)
    why = [f"Warning: {warning}, which is dropped" for warning in row.warnings]
    if not row.allowed:
        why.append(row.why_under(rule))
    elif row.directives:
        why.append(row.effect)
    return [head, *(f"      {hanging_indent([line], 8)}" for line in why if line)]


def _names(names: tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    return first_of(names, MAX_NAMES) or "none"
