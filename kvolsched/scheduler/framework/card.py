"""The card of a plugin: what pictures, questions and exercises tell of it, beside its rule.

A card is a frozen value next to its plugin. Rooms above read its fields and ask for no plugin by its name, so that a
plugin with letter, words, clauses and edits is one folder and one line in a release.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ..columns.column import Mask
from ..columns.pod_counts import AffinityTerm
from ..columns.snapshot import Snapshot
from .extension_points import ColumnContext

Objects = Mapping[Key, Any]


@attrs.frozen
class Clause:
    """One requirement of a pod that one plugin judges.

    Args:
        sort: what it is, which decides the edits that may lift it: `request`, `node selector`, `node affinity`,
            `taint`, `cordon`, `port`, `claim`, `spread`, `affinity`, `anti-affinity`, `objection`, `reason` or
            `left out`.
        about: its subject: a resource, a label key, a taint key, a claim, a topology key.
        words: what is lacking where it fails.
        title: what is lacking in a few words.
        kind: the title without the names of the pod's own objects; equal for pods that lack alike; "": the title.
        pod: the variant of the pod that keeps this clause alone, as far as the plugin reads it; None: the whole pod.
        number: its index among those of its sort in the manifest.
        holds_on: by row, nodes on which it holds although the plugin rejects the variant.
        term: the term by which placed pods object to the pod.
    """

    sort: str
    about: str
    words: str
    title: str = ""
    kind: str = ""
    pod: Pod | None = attrs.field(default=None, eq=False, repr=False)
    number: int = 0
    holds_on: Mask | None = attrs.field(default=None, eq=False, repr=False)
    term: AffinityTerm | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen
class SpreadPolicy:
    """The policy of a spread constraint by which it leaves out the nodes that a plugin rejects.

    `name` and `field` are its name in a manifest and in Python, `attribute` what a prepared constraint says of it, and
    `node` such a node in words.
    """

    name: str
    field: str
    attribute: str
    node: str


TAINTS_POLICY = SpreadPolicy("nodeTaintsPolicy", "node_taints_policy", "honors_node_taints", "tainted node")


@attrs.frozen
class RuleReads:
    """What a rule reads: fields of the pod and of the node by their paths, and whether the drivers of the node."""

    pod: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    csi_node: bool = False


@attrs.frozen
class ObjectEdit:
    """A change of one object that may lift a clause; a pod is then created again.

    Args:
        words: the edit as an imperative.
        cost: 1 for a field of one pod, more for what touches others.
        old, new: the object before and after.
        kind: which kind of edit it is, as `fix` classes them.
        note: a consequence or condition.
    """

    words: str
    cost: int
    old: Any
    new: Any
    kind: str
    note: str = ""


@attrs.frozen
class Card:
    """What other rooms tell of a plugin.

    Args:
        letter: its column in the matrix of verdicts; "": it rejects no node and gives no points.
        family: decides its colour: `node`, `resources`, `storage` or `spread`.
        short: its name on a bar of points.
        looks_at: what it compares, in a few words.
        drawn_if_asked: whether it has a column only for pods that it does not skip: few pods ask it anything.
        reads: what its rule reads.
        finds_fault_with_volumes: whether a claim fails by the volume that it has or may get, not by its being used.
        evidence_says_more: whether the evidence names what the reason only counts.
        spread_policy: the policy of spread constraints that leaves out the nodes that it rejects.
        clauses: (pod, columns, plugin) -> the clauses that the plugin reads of a pod.
        clause_of_reason: (pod, reason) -> what a reason means that no clause explains; None: its own words.
        edits: (pod, what a clause is about, near nodes) -> edits that may lift it, beside those for all of its sort.
        unchecked: (seen, nodes) -> what these nodes lack so that it checks nothing there; "" if it checks.
        unread: (pod, objects) -> what nobody reads of a pod without the plugin, as fields of a manifest.
        unranked: pod -> what nobody reads of a pod if the plugin has no weight.
    """

    letter: str = ""
    family: str = "node"
    short: str = ""
    looks_at: str = ""
    drawn_if_asked: bool = False
    reads: RuleReads = RuleReads()
    finds_fault_with_volumes: bool = False
    evidence_says_more: bool = False
    spread_policy: SpreadPolicy | None = None
    clauses: Callable[[Pod, ColumnContext, Any], Iterator[Clause]] = lambda _pod, _columns, _plugin: iter(())
    clause_of_reason: Callable[[Pod, str], Clause | None] = lambda _pod, _reason: None
    edits: Callable[[Pod, str, Sequence[Node]], Iterable[ObjectEdit]] = lambda _pod, _about, _near: ()
    unchecked: Callable[[Snapshot, Sequence[str]], str] = lambda _seen, _nodes: ""
    unread: Callable[[Pod, Objects], Iterable[str]] = lambda _pod, _objects: ()
    unranked: Callable[[Pod], Iterable[str]] = lambda _pod: ()


NO_CARD = Card()
"""The card of a plugin of one's own that has none."""
