"""The rows from which the gate workbench is drawn: a patch, the answer to it, and the nodes it selects."""

from attrs import frozen


@frozen
class PatchView:
    """One patch of a pod as it is drawn."""

    number: int  # Its number, from 1
    path: str  # The field that all changes share
    lines: tuple[tuple[str, str], ...]  # The lines of its difference, each with its sign
    allowed: bool
    verdict: str  # The API server's answer
    effect: str  # What the patch does to the nodes, in a few words
    before: frozenset[str]  # Nodes that match
    after: frozenset[str]  # Nodes that match then
    message: str  # The server's words
    rules: tuple[str, ...]  # The rules that it breaks
    witness: str  # The head of the witness
    witness_lines: tuple[str, ...]  # Its labels as lines of YAML
    witness_kind: str  # "real", "made" or "" for none
    note: str  # What there is to say without a witness
    instead: tuple[str, ...]  # The lines of an allowed patch for the same nodes
    label: str  # All of it as text
    readable: bool = True  # Whether the patch leaves a pod
    hint: str = ""  # Another way to write a refused patch
    title: str = ""  # What a suggested patch changes, in words
    change: str = ""  # What it changes, on one line
    why: str = ""  # Why it is refused, or what is dropped of it; "" for neither


@frozen
class PatchPage:
    """The answers to several patches of a pod, each tried by itself."""

    headline: str
    summary: str
    source: str
    zones: tuple[tuple[str, tuple[str, ...]], ...]  # Zone -> the names of its nodes, sorted
    patches: tuple[PatchView, ...]  # The patches
    short: bool = False  # Whether each patch has a row of few lines, which opens

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(len(names) for _, names in self.zones)
