"""NodePorts: the host ports that the pod asks for are still free on the node."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Codes
from kvolsched.scheduler.columns.exclusive_use import HostPort, host_ports
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, SKIP, Code, Evidence, Ok, Reason, Reject, Skip


def _frees(pod: Pod, old: Pod, _new: None) -> bool:
    """Whether a pod that has gone held a port which this one asks for."""
    return any(wanted.conflicts_with(port) for wanted in host_ports(pod.spec) for port in host_ports(old.spec))


@attrs.frozen
class NodePorts:
    """Rejects nodes on which a pod holds a host port that this pod asks for."""

    name: ClassVar[str] = "NodePorts"
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod that holds one of its ports leaves its node", _frees, Action.DELETE),
        QueueingHint("Node", "a node appears", action=Action.ADD),
    )

    taken: Reason = Reason(0, "node(s) didn't have free ports for the requested pod ports", Code.UNSCHEDULABLE)

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """No host port asked for: nothing to do."""
        return None if host_ports(pod.spec) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """No pod of the node holds a port of the same number and protocol, on the same address or on all of them."""
        for wanted in host_ports(pod.spec):
            for other in seen.pods_on(node.metadata.name):
                for port in host_ports(other.spec):
                    if wanted.conflicts_with(port):
                        holder = f"{port} of pod {other.metadata.namespace}/{other.metadata.name}"
                        return self.taken.reject(Evidence(f"hostPort {wanted}", "is taken by", holder, (wanted, port)))
        return OK

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """The same, asked only of nodes where somebody holds a port of such a number."""
        rows = [
            at.nodes.row_of[node]
            for wanted in host_ports(pod.spec)
            for node, users in at.seen.exclusive_use.users(wanted.resource).items()
            if node in at.nodes.row_of
            and any(wanted.conflicts_with(port) for key in users for port in _ports_of(at.seen.pod(key)))
        ]
        if not rows:
            return None
        taken = np.zeros(len(at.nodes.names), bool)
        taken[rows] = True
        return self.taken.where(taken)


def _ports_of(pod: Pod | None) -> tuple[HostPort, ...]:
    return () if pod is None else host_ports(pod.spec)
