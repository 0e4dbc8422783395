"""The extension points of the scheduling framework, each a small protocol, and what plugins are given to read.

A plugin is any object with a `name` and some of these methods; there is no registry and no base class. `rule` judges
one node and is written to be read; `column`, where speed matters, judges all nodes at once and must give the verdicts
of `rule`. A plugin without `column` is lifted: its rule is evaluated once per distinct input. Queueing and binding are
no extension points here: see `loop/scheduling_queue.py` and `loop/binding_flow.py`.

A cluster event is one object and one or more actions. A pod is added when it is bound to a node and deleted when it
ends or is removed; a change of a pod without a node concerns that pod only, unless it is deleted while nominated to a
node. Mirrors kube-scheduler's `framework/interface.go` and `framework/events.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import IntFlag, auto
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from .. import requests
from ..columns.column import Codes, Groups, Mask, RowIndices
from ..columns.node_table import NodeTable
from .verdict import (
    Code,
    Legend,
    Ok,
    PreFilterReject,
    PreFilterResult,
    Reason,
    ReasonsAndStatus,
    Reject,
    Skip,
    reason_texts,
)


class Action(IntFlag):
    """What happens to an object (kube-scheduler's `ActionType`); `UPDATE`: nothing more specific."""

    ADD = auto()
    DELETE = auto()
    UPDATE = auto()
    NODE_ALLOCATABLE = auto()
    NODE_LABEL = auto()
    NODE_TAINT = auto()
    NODE_CONDITION = auto()
    NODE_ANNOTATION = auto()
    NODE_DECLARED_FEATURE = auto()
    POD_LABEL = auto()
    POD_SCALE_DOWN = auto()
    POD_TOLERATION = auto()
    ANY = ADD | DELETE | UPDATE | NODE_ALLOCATABLE | NODE_LABEL | NODE_TAINT | NODE_CONDITION | NODE_ANNOTATION | (
        NODE_DECLARED_FEATURE | POD_LABEL | POD_SCALE_DOWN | POD_TOLERATION
    )


NO_ACTION = Action(0)


@attrs.frozen
class ClusterEvent:
    """One change of one object.

    Args:
        kind: the kind of the object.
        action: what happened; several flags if several things changed.
        old, new: the object before (None: added) and after (None: deleted).
        only_pod: the one waiting pod that the event concerns, by its name in the queue; "": any pod.
        max_priority: the highest priority of pods that the event concerns; None: any.
    """

    kind: str
    action: Action
    old: Any
    new: Any
    only_pod: str = ""
    max_priority: int | None = None


def events_of(key: Key, old: Any, new: Any) -> tuple[ClusterEvent, ...]:
    """Return the events of a change: none, one, or two if an object was deleted and recreated under its name."""
    if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
        return *events_of(key, old, None), *events_of(key, None, new)
    if key.kind == "Pod":
        event = _pod_event(key, old, new)
        return (event,) if event is not None else ()
    if old is None or new is None:
        return (ClusterEvent(key.kind, Action.ADD if old is None else Action.DELETE, old, new),)
    action = _node_action(old, new) if key.kind == "Node" else Action.UPDATE
    return (ClusterEvent(key.kind, action, old, new),) if action else ()


def _node_action(old: Node, new: Node) -> Action:
    """Return what differs between two versions of a node; uncordoning is a taint change, cordoning no action."""
    action = NO_ACTION
    uncordoned = old.spec.unschedulable and not new.spec.unschedulable
    if uncordoned or old.spec.taints != new.spec.taints:
        action |= Action.NODE_TAINT
    if old.status.allocatable != new.status.allocatable:
        action |= Action.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        action |= Action.NODE_LABEL
    if old.metadata.annotations != new.metadata.annotations:
        action |= Action.NODE_ANNOTATION
    if old.status.declared_features != new.status.declared_features:
        action |= Action.NODE_DECLARED_FEATURE
    if _conditions(old) != _conditions(new):
        action |= Action.NODE_CONDITION
    return action


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _pod_event(key: Key, old: Pod | None, new: Pod | None) -> ClusterEvent | None:
    was_running, is_running = _is_on_node(old), _is_on_node(new)
    if was_running and is_running:
        assert old is not None
        assert new is not None
        return ClusterEvent("Pod", _pod_action(old, new), old, new)
    if is_running:
        return ClusterEvent("Pod", Action.ADD, None, new)
    if was_running:
        return ClusterEvent("Pod", Action.DELETE, old, None)
    if old is not None and new is not None:
        return ClusterEvent("Pod", _pod_action(old, new), old, new, only_pod=f"{key.namespace}/{key.name}")
    if old is not None and old.status.nominated_node_name:
        return ClusterEvent("Pod", Action.DELETE, old, None, max_priority=old.spec.priority or 0)
    return None


def _is_on_node(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.spec.node_name) and not pod.terminal


def _pod_action(old: Pod, new: Pod) -> Action:
    action = NO_ACTION
    if old.metadata.labels != new.metadata.labels:
        action |= Action.POD_LABEL
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        action |= Action.POD_TOLERATION
    if old.spec is not new.spec or requests.is_resized(old, new):
        before, after = requests.held_requests(old).amounts, requests.held_requests(new).amounts
        if any(amount > after.get(resource, 0) for resource, amount in before.items()):
            action |= Action.POD_SCALE_DOWN
    return action or Action.UPDATE


def is_same_pod(pod: Pod, other: Pod | None) -> bool:
    """Say whether the pod of an event is the waiting pod."""
    return other is not None and other.metadata.uid == pod.metadata.uid


if TYPE_CHECKING:
    from ..columns.snapshot import Snapshot


class ColumnContext:
    """What `column` and `score` read: the node table, and the snapshot for everything that is not a column.

    `candidates`: by row, the nodes that passed every filter; None during filtering. `candidate_rows` are their rows.
    """

    __slots__ = ("candidate_rows", "candidates", "nodes", "seen")

    def __init__(self, seen: Snapshot, candidates: Mask | None = None,
                 candidate_rows: RowIndices | None = None) -> None:
        self.seen = seen
        self.nodes: NodeTable = seen.nodes
        self.candidates = candidates
        self.candidate_rows = candidate_rows


class RowResources(Protocol):
    """The total and free resources of rows: a node table, or a few rows of it in a trial."""

    def free(self, resource: str) -> NDArray[np.int64]: ...
    def total(self, resource: str) -> NDArray[np.int64]: ...


class SchedulerPlugin(Protocol):
    """What every plugin has: a name. The other attributes are optional.

    Attributes:
        name: Kubernetes' name of the plugin.
        document_name: the name that a design document gives it, if that differs.
        skip_without: fields of a pod's spec and properties of a snapshot (`has_pods_with_affinity`,
            `has_pod_selectors`); the plugin is not called for a pod where all of them are empty.
        filter_skip_without: the same, of `rule` and `column` alone.
        reads_other_nodes: whether the rule reads more than the judged node and the pods on it (taken for granted of a
            plugin without `column`); preemption then tries removals one node at a time.
        template_fields: fields of a pod's spec. `prefilter`, `column` and `score` read nothing else of the pod, no
            `candidates`, and of the cluster only the nodes' names, labels, taints, images, declared features and free
            resources: their answers are kept for the next pod with equal fields. Counts only in the class that has it.
        prefilter_fields: the same, of `prefilter` alone.
        column_by_row, score_by_row: (pod, nodes) -> `RowWise` or None, in a plugin with `template_fields`: column or
            score reads the row's own resources only, so that one row can be judged again; of the nodes a column calls
            `free` and `total` alone (`RowResources`). `normalise` of such a score changes nothing.
        watches: kinds of objects that the scheduler must watch for this plugin.
        events_to_register: `QueueingHint`s, the events after which a pod that it rejected is worth another attempt.
    """

    @property
    def name(self) -> str: ...


@runtime_checkable
class PreFilter(Protocol):
    """Examine the pod once, before any node: skip the plugin, reject the pod, restrict the nodes, or go on (None).

    A plugin that is skipped is skipped for the whole pass: also when nominated pods are added, and pods are removed in
    dry runs of preemption.
    """

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject | PreFilterResult | None: ...


@runtime_checkable
class Filter(Protocol):
    """Judge one node."""

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject: ...


@runtime_checkable
class ColumnFilter(Protocol):
    """Judge all nodes at once: return, by row, the bits of the plugin's reasons.

    None: no node is rejected. NotImplemented: evaluate `rule` node by node for this pod.
    """

    def column(self, pod: Pod, columns: ColumnContext) -> Any: ...


@attrs.frozen
class PostFilterResult:
    """What PostFilter found for a pod that fits on no node.

    Args:
        message: appended to the event message if no node can be made to fit.
        nominated: the node on which the pod will fit once the victims are gone; "" clears an earlier nomination,
            None keeps it.
        victims: the pods to be deleted from that node, sorted by name.
        counted: how many nodes the message counts for which reason, in its order; None: all of them, uncounted.
    """

    message: str = ""
    nominated: str | None = None
    victims: tuple[Pod, ...] = ()
    counted: tuple[tuple[int | None, str], ...] = ()


@runtime_checkable
class PostFilter(Protocol):
    """Try to make a node fit when none does, as the `Judgement` says, for example by preemption."""

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Any) -> PostFilterResult: ...


class GroupedScores(NamedTuple):
    """Raw scores that are equal on all nodes of a group; `normalise` reads no more of them than which there are.

    Args:
        raw: the raw score of each group.
        groups: the groups of rows.
    """

    raw: NDArray[Any]
    groups: Groups

    def by_row(self) -> NDArray[Any]:
        """Return the raw scores by row."""
        return self.raw.take(self.groups.at)

    def weighted(self, normalise: Callable[[NDArray[Any]], NDArray[Any]], weight: int, mask: Mask,
                 rows: RowIndices) -> NDArray[Any]:
        """Return, by row, the weighted scores of the nodes in a mask (`rows`); those of others have no meaning."""
        present = self.groups.present(mask, rows)
        scores = np.zeros(len(self.raw), np.int64)
        scores[present] = normalise(self.raw[present]) * weight
        return scores.take(self.groups.at)


RawScores = NDArray[Any] | GroupedScores | Literal[0] | None
"""Raw scores by row, or by group of rows; 0: every node scores 0; None: the plugin does not rank this pod."""


@runtime_checkable
class Score(Protocol):
    """Rank nodes: return raw scores; `normalise` maps the scores of feasible nodes to 0..100."""

    def score(self, pod: Pod, columns: ColumnContext) -> RawScores: ...

    def normalise(self, raw: NDArray[Any]) -> NDArray[Any]: ...


@runtime_checkable
class PreScore(Protocol):
    """Read what a pod prefers before several nodes are ranked: return an error that ends the pass, or ""."""

    def prescore(self, pod: Pod) -> str: ...


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
class VolumeDecider(Protocol):
    """Decide which volumes a pod's claims take on a node, and which are to be made there; binding writes it."""

    def decide(self, pod: Pod, node: str, seen: Snapshot) -> Any: ...


@runtime_checkable
class DomainCounter(Protocol):
    """Read a pod's spread constraints: what counts in which domain."""

    def hard_constraints(self, pod: Pod) -> tuple[Any, ...]: ...

    def soft_constraints(self, pod: Pod, seen: Snapshot) -> tuple[Any, ...]: ...


@cache
def _methods(point: type) -> tuple[str, ...]:
    return tuple(name for name in vars(point) if not name.startswith("_"))


@attrs.frozen
class EventWording:
    """How a release words its FailedScheduling messages.

    Args:
        after_prefilter: the end of a message about a PreFilter rejection (1.36: the often misread `not found`).
        prefilter_alone: whether the message of a PreFilter rejection stands without "0/N nodes are available" (1.11).
        counts_errors: whether an error met on several nodes says how often (1.11: ` (repeated 3 times)`).
        filter_error: what comes before the error of a filter, with a place for the plugin's name.
    """

    after_prefilter: str = ""
    prefilter_alone: bool = False
    counts_errors: bool = False
    filter_error: str = ""


@attrs.frozen
class EnabledPlugin:
    """A plugin in a profile: its weight as a score, and the group of plugins that report their reasons together.

    1.11 judged host, selector and resources as one predicate: a node that failed several of them gave all reasons.
    """

    plugin: Any
    weight: int = 1
    group: str = ""

    def extends(self, point: type) -> bool:
        """Say whether the plugin has the methods of an extension point: `isinstance`, which takes 40 µs in 3.11."""
        return all(hasattr(self.plugin, name) for name in _methods(point))

    @property
    def name(self) -> str:
        """The plugin's name."""
        return str(self.plugin.name)

    @property
    def names(self) -> tuple[str, ...]:
        """Its names: Kubernetes' first, then those that a design document gives it as predicate and as priority."""
        of_documents = (getattr(self.plugin, word, "") for word in ("document_name", "document_score_name"))
        return (self.name, *filter(None, of_documents))

    @property
    def shown_name(self) -> str:
        """The name as it is shown, with that of the document: `VolumeBinding (CheckVolumeBinding)`."""
        return f"{self.name} ({self.names[1]})" if len(self.names) > 1 else self.name


def legend_of(plugin: Any, pod: Pod) -> Legend:
    """Return the legend of a plugin's column: a function from a code to reasons and status.

    The reasons are the plugin's fields, or what its `reasons(pod)` returns. They are looked up on the first call, as
    most columns are never explained.
    """

    def legend(code: int) -> ReasonsAndStatus:
        return reason_texts(plugin.reasons(pod) if hasattr(plugin, "reasons") else declared_reasons(plugin), code)

    return legend


def declared_reasons(plugin: Any) -> tuple[Reason, ...]:
    """Return the reasons among a plugin's fields, in order of their bits."""
    kind = type(plugin)
    names = [field.name for field in attrs.fields(kind)] if attrs.has(kind) else list(vars(kind))
    fields = (getattr(plugin, name) for name in names)
    return tuple(sorted((field for field in fields if isinstance(field, Reason)), key=lambda reason: reason.bit))


def lift_rule(plugin: Filter, pod: Pod, columns: ColumnContext) -> tuple[Codes, Legend]:
    """Make a column out of a rule: evaluate the rule once per distinct input and number the distinct answers.

    A plugin may declare the input of its rule with `reads(node, seen) -> hashable`; without it every node is a distinct
    input. Answers are numbered in the order of their texts, so that codes do not depend on the order of rows.
    """
    reads: Callable[[Node, Any], Hashable] | None = getattr(plugin, "reads", None)
    answers: dict[Hashable, ReasonsAndStatus | None] = {}
    by_row: list[tuple[int, ReasonsAndStatus]] = []
    for node in columns.seen.all_nodes():
        key = node.metadata.name if reads is None else reads(node, columns.seen)
        if key not in answers:
            verdict = plugin.rule(pod, node, columns.seen)
            answers[key] = None if isinstance(verdict, Ok) else (verdict.reasons, verdict.status)
        answer = answers[key]
        if answer is not None:
            by_row.append((columns.nodes.row_of[node.metadata.name], answer))
    numbered = sorted({answer for _, answer in by_row})
    number = {answer: index + 1 for index, answer in enumerate(numbered)}
    codes = np.zeros(len(columns.nodes.names), np.uint16)
    for row, answer in by_row:
        codes[row] = number[answer]
    return codes, lambda code: numbered[code - 1] if 0 < code <= len(numbered) else ((), Code.SUCCESS)
