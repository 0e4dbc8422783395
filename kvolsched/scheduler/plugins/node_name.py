"""NodeName: a pod that names its node fits that node only."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Codes
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, Evidence, Ok, Reason, Reject


@attrs.frozen
class NodeName:
    """Rejects every node but the one that the pod names."""

    name: ClassVar[str] = "NodeName"
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears", action=Action.ADD),
    )

    other: Reason = Reason(0, "node(s) didn't match the requested node name")

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """The node's name is the one that the pod asks for, if it asks."""
        asked, name = pod.spec.node_name, node.metadata.name
        if not asked or asked == name:
            return OK
        return self.other.reject(Evidence(f"spec.nodeName {asked}", "≠", f"node {name}", (asked, name)))

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same for all nodes."""
        if not pod.spec.node_name:
            return None
        codes = self.other.where(np.ones(len(at.nodes.names), bool))
        if (row := at.nodes.row_of.get(pod.spec.node_name)) is not None:
            codes[row] = 0
        return codes
