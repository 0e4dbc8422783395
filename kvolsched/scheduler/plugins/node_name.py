"""NodeName: a pod that names a node fits that node only."""

from typing import ClassVar

import attrs
import numpy as np

from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ..columns.column import Codes
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, ObjectEdit
from ..framework.evidence import Evidence, Sides, node_text
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, Ok, Reason, Reject


@attrs.frozen
class OtherNodeNamed(Evidence):
    """The pod names another node."""

    wanted: str
    node: str

    def __str__(self) -> str:
        return f"spec.nodeName {self.wanted} ≠ {node_text(self.node)}"

    def short(self) -> Sides:
        return Sides("", "≠", self.wanted, "spec.nodeName")


@attrs.frozen
class NodeName:
    """Rejects every node but the one that the pod names."""

    name: ClassVar[str] = "NodeName"
    card: ClassVar[Card] = Card(
        "N", looks_at="the pod's spec.nodeName",
        clause_of_reason=lambda pod, _reason: Clause(
            "node name", pod.spec.node_name, f"the node is not {pod.spec.node_name}, which spec.nodeName asks for",
            title=f"The node is not {pod.spec.node_name}",
        ),
        edits=lambda pod, _about, _near: [
            ObjectEdit("Remove spec.nodeName", 3, pod, evolve_parts(pod, spec={"node_name": ""}), "drop nodeName"),
        ],
    )  # fmt: skip
    template_fields: ClassVar[tuple[str, ...]] = ("node_name",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears", action=Action.ADD),
    )

    mismatched: Reason = Reason(0, "node(s) didn't match the requested node name")

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node if the pod names another one."""
        wanted, name = pod.spec.node_name, node.metadata.name
        if not wanted or wanted == name:
            return OK
        return self.mismatched.reject(OtherNodeNamed(wanted, name))

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once."""
        if not pod.spec.node_name:
            return None
        codes = self.mismatched.where(np.ones(len(columns.nodes.names), bool))
        if (row := columns.nodes.row_of.get(pod.spec.node_name)) is not None:
            codes[row] = 0
        return codes
