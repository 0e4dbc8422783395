"""NodeUnschedulable: a cordoned node takes only pods that tolerate its taint `unschedulable`."""

from typing import ClassVar

import attrs

from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import Taint
from ..columns.column import Codes
from ..columns.snapshot import Snapshot
from ..framework.card import TAINTS_POLICY, Card, Clause
from ..framework.evidence import Evidence, Predicate, Sides
from ..framework.extension_points import Action, ColumnContext, QueueingHint, is_same_pod
from ..framework.verdict import OK, Ok, Reason, Reject

CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


@attrs.frozen
class Cordoned(Evidence):
    """The node is cordoned, and the pod tolerates other taints only: those with these keys ("": every key)."""

    tolerated: tuple[str, ...]

    @property
    def until(self) -> str:
        return "the cordon is lifted"

    def of_node(self) -> Predicate:
        return "is", "cordoned"

    def __str__(self) -> str:
        keys = ", ".join(key or "every key" for key in self.tolerated)
        return f"spec.unschedulable true not tolerated by {f'tolerations of {keys}' if keys else 'no tolerations'}"

    def short(self) -> Sides:
        return Sides("cordoned", about="spec.unschedulable: true")


@attrs.frozen
class NodeUnschedulable:
    """Rejects cordoned nodes."""

    name: ClassVar[str] = "NodeUnschedulable"
    card: ClassVar[Card] = Card(
        "U", looks_at="cordoned nodes", spread_policy=attrs.evolve(TAINTS_POLICY, node="cordoned node"),
        clause_of_reason=lambda _pod, _reason: Clause(
            "cordon", "", "the node is cordoned (spec.unschedulable), and the pod does not tolerate that",
            title="The node is cordoned",
        ),
    )  # fmt: skip
    template_fields: ClassVar[tuple[str, ...]] = ("tolerations",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears or is uncordoned",
                     lambda _pod, old, new: not new.spec.unschedulable and (old is None or old.spec.unschedulable),
            Action.ADD | Action.NODE_TAINT),
        QueueingHint("Pod", "it tolerates cordons from now on",
                     lambda pod, _old, new: is_same_pod(pod, new) and _tolerated(new), Action.POD_TOLERATION),
    )

    cordoned: Reason = Reason(0, "node(s) were unschedulable")

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a cordoned node unless the pod tolerates that taint."""
        if not node.spec.unschedulable or _tolerated(pod):
            return OK
        return self.cordoned.reject(Cordoned(tuple(toleration.key for toleration in pod.spec.tolerations)))

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once."""
        cordoned = columns.nodes.unschedulable.array
        if not cordoned.any() or _tolerated(pod):
            return None
        return self.cordoned.where(cordoned)


def _tolerated(pod: Pod) -> bool:
    return any(toleration.tolerates(CORDON) for toleration in pod.spec.tolerations)
