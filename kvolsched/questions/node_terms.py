"""Which nodes a node selector matches: its terms in lines as kubectl writes selectors, each asked on every node.

Terms are ORed, the expressions of a term ANDed, a term without expressions matches nothing: as required node affinity,
and as the node affinity of a volume (S0, Volume Topology Specification). Nodes are the API objects of now, whatever the
scheduler has seen.
"""

from collections.abc import Sequence

import attrs

from ..api.kinds.node import Node
from ..api.kinds.selector import NodeSelectorTerm, read_label_selector
from ..api.notebook_output import DrawnAnswer, table_text
from ..api.unknown_name import UnknownName
from ..core.core import ClusterCore

MOST_NODES = 12
"""More nodes than these are not shown one by one."""
NO_LABEL = "–"
ALL, ANY = "all of these", "any of these terms"


@attrs.frozen
class TermLine:
    """A line about every node: an expression, or what several lines amount to.

    Args:
        words: the expression as Kubernetes spells it, its key as the reader wrote it; or `ALL`, `ANY`.
        matches: for each node whether it holds.
        values: for each node the value of the label, `NO_LABEL` without it; empty for what several lines amount to.
    """

    words: str
    matches: tuple[bool, ...]
    values: tuple[str, ...] = ()


class MatchedNodes(DrawnAnswer, list[str]):
    """The names of nodes that a node selector matches: a list; printed and drawn, every expression on every node."""

    __slots__ = ("keys", "lines", "nodes")

    def __init__(self, nodes: Sequence[str], lines: Sequence[TermLine], keys: Sequence[tuple[str, str]]) -> None:
        """Keep the lines, the last of which decides."""
        decided = lines[-1].matches if lines else (False,) * len(nodes)
        super().__init__(node for node, matches in zip(nodes, decided, strict=True) if matches)
        self.nodes, self.lines, self.keys = tuple(nodes), tuple(lines), tuple(keys)

    @property
    def sentence(self) -> str:
        """How many nodes match, and which."""
        names = [*self[:MOST_NODES], *(["…"] if len(self) > MOST_NODES else [])]
        verb = "matches" if len(self) == 1 else "match"
        return f"{len(self)} of {len(self.nodes)} nodes {verb}{': ' * bool(self)}{', '.join(names)}"

    @property
    def unseen(self) -> int:
        """How many nodes are not shown one by one."""
        return max(0, len(self.nodes) - MOST_NODES)

    def __repr__(self) -> str:
        table = [["", *self.nodes[:MOST_NODES]]]
        for line in self.lines:
            marks = ["✓" if matches else "✕" for matches in line.matches[:MOST_NODES]]
            values = [f" {value}" for value in line.values[:MOST_NODES]] or [""] * len(marks)
            table.append([line.words, *map(str.__add__, marks, values)])
        rows = table_text(table) if self.lines else []
        rows += [f"{self.unseen} nodes more"] * bool(self.unseen)
        in_full = f" ({', '.join(f'{short} is {key}' for short, key in self.keys)})" if self.keys else ""
        return "\n".join([*rows, f"{self.sentence}{in_full}"])


def where(cluster: ClusterCore, *terms: str) -> MatchedNodes:
    """Return the nodes that match one of these terms.

    Raises:
        ValueError: a term cannot be read; the message has the forms.
        UnknownName: a short key stands for several labels of nodes; the message lists them. It is a KeyError.
    """
    nodes: list[Node] = cluster.objects("nodes")
    labels = [node.metadata.labels for node in nodes]
    known = sorted({key for each in labels for key in each})
    lines: list[TermLine] = []
    keys: dict[str, str] = {}
    decided: list[TermLine] = []
    for text in terms:
        parts = []
        for written in read_label_selector(text).match_expressions:
            key = _full_key(written.key, known)
            keys |= {written.key: key} if key != written.key else {}
            parts.append((attrs.evolve(written, key=key), written))
        found = [TermLine(str(written), tuple(asked.is_label_requirement and asked.matches(each) for each in labels),
                          tuple(each.get(asked.key, NO_LABEL) for each in labels)) for asked, written in parts]
        term = NodeSelectorTerm(match_expressions=tuple(asked for asked, _ in parts))
        matches = tuple(term.matches(node.metadata.labels, node.metadata.name) for node in nodes)
        if len(found) != 1:
            found.append(TermLine(ALL if found else f"{text.strip() or 'an empty term'}", matches))
        lines += found
        decided.append(found[-1])
    if len(decided) > 1:
        lines.append(TermLine(ANY, tuple(map(any, zip(*(each.matches for each in decided), strict=True)))))
    return MatchedNodes([node.metadata.name for node in nodes], lines, sorted(keys.items()))


def _full_key(key: str, known: Sequence[str]) -> str:
    """Return the label that a key stands for: itself, or the only one of nodes that ends in `/key`."""
    if key in known or "/" in key:
        return key
    longer = [each for each in known if each.endswith(f"/{key}")]
    if len(longer) > 1:
        raise UnknownName(f"{key!r} may be {' or '.join(longer)}: write the whole key")
    return longer[0] if longer else key
