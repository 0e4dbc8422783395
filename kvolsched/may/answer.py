"""The answer of the gate workbench: a row for each patch, printed as text, shown as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from kvolsched.notebook_output import DrawnAnswer, PrintedAnswer
from kvolsched.results import hanging_indent

from .changes import Changes
from .witness import Witness

MAX_NAMES = 8  # nodes that are named in one line of text
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
        hint: another way to write this refused patch: at another place, or of another kind; "" if none is known.
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
    changes: Changes | None = None
    rules: tuple[str, ...] = ()
    directives: bool = True
    instead: str = ""
    hint: str = ""

    @property
    def verdict(self) -> str:
        """`allowed (200)` or `refused (422 Invalid)`."""
        return f"allowed ({self.code})" if self.allowed else f"refused ({self.code} {self.reason})"

    @property
    def effect(self) -> str:
        """The nodes that match before and after, in words."""
        words = RELATIONS[self.relation]
        if self.relation == "unknown":
            return words
        return f"{words}: of those here {len(self.before)} before, {len(self.after)} after ({_names(self.after)})"

    @property
    def words(self) -> str:
        """The API server's message without the difference of Go values at its end, on one line."""
        return " ".join(self.message.partition("\n@@")[0].split())

    def __repr__(self) -> str:
        instead = f"allowed, for these nodes: {self.instead}" if self.instead else ""
        effect = self.effect if self.relation != "unknown" else ""  # the explanation says it
        lines = [part for part in (effect, self.words, self.explanation, self.hint, instead) if part]
        head = hanging_indent([f"{self.verdict}: {self.patch}"], 0)
        return "\n  ".join([head, *(hanging_indent([line], 2) for line in lines)])


@attrs.frozen(repr=False)
class PatchAnswers(DrawnAnswer):
    """What the API server answers to patches of a pod, each tried by itself on a fork.

    Args:
        pod: `namespace/name`.
        revision: the name of the rules.
        gates: the pod's scheduling gates.
        size: the number of nodes.
        before: the nodes that match its nodeSelector and node affinity now, sorted.
        rows: a row for each patch.
        zones: node -> its zone, "" for a node without that label.
    """

    pod: str
    revision: str
    gates: tuple[str, ...]
    size: int
    before: tuple[str, ...]
    rows: tuple[PatchRow, ...]
    zones: Mapping[str, str] = attrs.Factory(dict)

    @property
    def allowed(self) -> bool:
        """Whether every patch is allowed."""
        return all(row.allowed for row in self.rows)

    @property
    def headline(self) -> str:
        """The pod, its gates, and the nodes that match now."""
        gates = f"is held by {', '.join(self.gates)}" if self.gates else "has no scheduling gate"
        return f"{self.pod} {gates}; {len(self.before)} of {self.size} nodes match now ({_names(self.before)})"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PatchRow]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> PatchRow:
        return self.rows[number]

    def __repr__(self) -> str:
        lines = [hanging_indent([self.headline], 0)]
        for number, row in enumerate(self.rows):
            lines.append(f"  [{number}] " + repr(row).replace("\n", "\n      "))
        return "\n".join([*lines, f"(rules: {self.revision})"])


def _names(names: tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    if not names:
        return "none"
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
