"""The extension points that plugins hang in, each a small protocol, and what a plugin is given to read.

A plugin is any object with a `name` and some of these methods; there is no registry and no base class. `rule` is the
readable truth about one node; `column`, where speed asks for it, is its shadow over all nodes and must equal it. A
plugin with a rule alone is lifted: its rule is evaluated once per distinct input. What comes before and after judging
hangs in no plugin: the queue is `queue.py`, what follows a choice the revision's flow (`flow.py`). Mirrors
kube-scheduler's `framework/interface.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod

from ..columns.arrays import Codes, Mask
from ..columns.node_table import NodeTable
from .cluster_event import Action
from .verdict import Code, Legend, Ok, PreFilterReject, PreFilterResult, Reason, Reject, Said, Skip, reason_texts

if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot
    from .judgement import Judgement


class ColumnContext:
    """What a column reads: the node table, and the snapshot behind it for what is no column.

    `candidates`: by row, the nodes that passed every filter and are to be ranked; None while they are filtered.
    """

    __slots__ = ("candidates", "nodes", "seen")

    def __init__(self, seen: Snapshot, candidates: Mask | None = None) -> None:
        self.seen = seen
        self.nodes: NodeTable = seen.nodes
        self.candidates = candidates


# --- the extension points -------------------------------------------------------------------------------------------


class SchedulerPlugin(Protocol):
    """What every plugin has: a name. The other attributes are optional.

    Attributes:
        name: Kubernetes' name of the plugin.
        document_name: the name that a design document gives it, if that differs.
        skip_without: fields of a pod's spec and properties of a snapshot (`has_pods_with_affinity`,
            `has_pod_selectors`); the plugin is not called for a pod where all of them are empty.
        reads_other_nodes: whether the rule reads more than the judged node and the pods on it (taken for granted of a
            plugin without `column`); preemption then tries removals one node at a time.
        watches: kinds of objects that the scheduler must watch for this plugin.
        events_to_register: see `EnqueueExtensions`.
    """

    @property
    def name(self) -> str: ...


@runtime_checkable
class PreFilter(Protocol):
    """Looks at the pod once: has nothing to ask (`SKIP`), rejects it, restricts the nodes, or lets it go on (None)."""

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | PreFilterResult | None: ...


@runtime_checkable
class Filter(Protocol):
    """Judges one node: the readable truth."""

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject: ...


@runtime_checkable
class ColumnFilter(Protocol):
    """Judges all nodes at once, as bits of the plugin's reasons by row.

    None: no node is rejected. NotImplemented: this pod is too odd for columns, ask the rule node by node.
    """

    def column(self, pod: Pod, at: ColumnContext) -> Any: ...


@attrs.frozen
class PostFilterResult:
    """What could be done for a pod that fits nowhere.

    Args:
        words: behind the event sentence, where nothing could be done.
        nominated: the node on which the pod will fit once the victims are gone; "" takes an earlier nomination back,
            None leaves it alone.
        victims: the pods to be deleted there, sorted by name.
    """

    words: str = ""
    nominated: str | None = None
    victims: tuple[Pod, ...] = ()


@runtime_checkable
class PostFilter(Protocol):
    """Is asked when no node fits: it may find a way, or adds words to the event sentence."""

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult: ...


@runtime_checkable
class Score(Protocol):
    """Ranks nodes: a raw number by row; `normalise` brings those of feasible nodes to 0..100.

    0: nothing on every node. None: the plugin does not take part for this pod.
    """

    def score(self, pod: Pod, at: ColumnContext) -> NDArray[Any] | Literal[0] | None: ...

    def normalise(self, raw: NDArray[Any]) -> NDArray[Any]: ...


@attrs.frozen
class QueueingHint:
    """A cluster event that may make a rejected pod schedulable (kube-scheduler's ClusterEventWithHint).

    Args:
        kind: the kind of the object that changes.
        description: the event in words.
        hint_fn: called with the waiting pod and the object before (None: added) and after (None: deleted); says
            whether the pod is worth another attempt.
        action: what must have happened to the object for the hint to be asked.
    """

    kind: str
    description: str
    hint_fn: Callable[[Pod, Any, Any], bool] = lambda pod, old, new: True  # noqa: ARG005
    action: Action = Action.ANY


@runtime_checkable
class EnqueueExtensions(Protocol):
    """Declares which events are worth another try of a pod that this plugin rejected."""

    @property
    def events_to_register(self) -> tuple[QueueingHint, ...]: ...


# --- what a profile enables -----------------------------------------------------------------------------------------


@attrs.frozen
class EventWording:
    """How a revision words its event sentences, where they differ.

    Args:
        after_prefilter: the words behind a rejection before filtering (1.36 ends in the often misread `not found`).
        prefilter_alone: whether a rejection before filtering is the whole sentence (1.11).
        repeated: whether an error met on several nodes says how often (1.11: ` (repeated 3 times)`).
    """

    after_prefilter: str = ""
    prefilter_alone: bool = False
    repeated: bool = False


@attrs.frozen
class EnabledPlugin:
    """A plugin in a profile: its weight among the scores, and the group whose members give their reasons together.

    1.11 judged host, selector and resources as one predicate: a node failing several of them gave all reasons.
    """

    plugin: Any
    weight: int = 1
    group: str = ""

    @property
    def name(self) -> str:
        """The plugin's name."""
        return str(self.plugin.name)

    @property
    def document_name(self) -> str:
        """The name that a design document gives it, or its own."""
        return str(getattr(self.plugin, "document_name", "") or self.plugin.name)


def legend_of(plugin: Any, pod: Pod) -> Legend:
    """Return what a plugin's codes mean for a pod: its reasons by bit, its own, or those it names for this pod.

    They are put together when a code is asked about: of most columns none is.
    """
    return lambda code: reason_texts(plugin.reasons(pod) if hasattr(plugin, "reasons") else declared_reasons(plugin), code)


def declared_reasons(plugin: Any) -> tuple[Reason, ...]:
    """Return the reasons that a plugin holds as fields, in order of their bits."""
    names = (
        [field.name for field in attrs.fields(type(plugin))] if attrs.has(type(plugin)) else list(vars(type(plugin)))
    )
    held = (getattr(plugin, name) for name in names)
    return tuple(sorted((item for item in held if isinstance(item, Reason)), key=lambda reason: reason.bit))


def lift_rule(plugin: Filter, pod: Pod, at: ColumnContext) -> tuple[Codes, Legend]:
    """Make a column of a rule alone: evaluate it once per distinct input and number the distinct answers.

    A plugin may say what its rule reads of a node with `reads(node, seen) -> hashable`; else every node is its own
    input. Answers are numbered in the order of their words, so that no row order shows in a code.
    """
    reads: Callable[[Node, Any], Hashable] | None = getattr(plugin, "reads", None)
    answers: dict[Hashable, Said | None] = {}
    by_row: list[tuple[int, Said]] = []
    for node in at.seen.all_nodes():
        key = node.metadata.name if reads is None else reads(node, at.seen)
        if key not in answers:
            given = plugin.rule(pod, node, at.seen)
            answers[key] = None if isinstance(given, Ok) else (given.reasons, given.status)
        found = answers[key]
        if found is not None:
            by_row.append((at.nodes.row_of[node.metadata.name], found))
    numbered = sorted({answer for _, answer in by_row})
    number = {answer: index + 1 for index, answer in enumerate(numbered)}
    codes = np.zeros(len(at.nodes.names), np.uint16)
    for row, answer in by_row:
        codes[row] = number[answer]
    return codes, lambda code: numbered[code - 1] if code else ((), Code.SUCCESS)
