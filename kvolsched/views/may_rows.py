"""The rows from which the gate workbench is drawn: a patch, the answer to it, and the nodes it selects."""

from __future__ import annotations

from attrs import frozen


@frozen
class PatchView:
    """One patch of a pod as it is drawn.

    Args:
        number: its number, from 1.
        path: the field that all changes share.
        lines: the lines of its difference, each with its sign.
        allowed, verdict, effect: the API server's answer, and in a few words what the patch does to the nodes.
        before, after: the nodes that match.
        message: the server's words.
        rules: the rules that it breaks.
        witness, witness_lines: the head of the witness, and its labels as lines of YAML.
        witness_kind: "real", "made" or "" for none.
        note: what there is to say without a witness.
        instead: the lines of an allowed patch for the same nodes.
        hint: another way to write a refused patch.
        label: all of it as text.
        readable: whether the patch leaves a pod.
        title: what a suggested patch changes, in words.
        change: what it changes, on one line.
        why: why it is refused, or what is dropped of it; "" for neither.
    """

    number: int
    path: str
    lines: tuple[tuple[str, str], ...]
    allowed: bool
    verdict: str
    effect: str
    before: frozenset[str]
    after: frozenset[str]
    message: str
    rules: tuple[str, ...]
    witness: str
    witness_lines: tuple[str, ...]
    witness_kind: str
    note: str
    instead: tuple[str, ...]
    label: str
    readable: bool = True
    hint: str = ""
    title: str = ""
    change: str = ""
    why: str = ""


@frozen
class PatchPage:
    """The answers to several patches of a pod, each tried by itself.

    Args:
        headline, summary, source: what the page says on top.
        zones: zone -> the names of its nodes, sorted.
        patches: the patches.
        short: whether each patch has a row of few lines, which opens.
    """

    headline: str
    summary: str
    source: str
    zones: tuple[tuple[str, tuple[str, ...]], ...]
    patches: tuple[PatchView, ...]
    short: bool = False

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(len(names) for _, names in self.zones)
