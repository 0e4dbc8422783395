"""NodePorts: the host ports that the pod asks for must be free on the node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ..columns.column import Codes
from ..columns.exclusive_use import HostPort, host_port, host_ports
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, ObjectEdit
from ..framework.evidence import Evidence, Predicate, Sides
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Code, Ok, Reason, Reject, Skip


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each host port of the pod."""
    for number, port in enumerate(host_ports(pod.spec)):
        spec = attrs.evolve(pod.spec, containers=(port.container,), init_containers=())
        name = port.short_name
        words, title = f"host port {name} is taken on the node", f"Host port {name} is taken"
        yield Clause("port", name, words, title, "", attrs.evolve(pod, spec=spec), number)


def _without_port(pod: Pod, about: str, _near: Sequence[Node]) -> Iterator[ObjectEdit]:
    """Remove a host port of one protocol and address from the pod's containers."""
    wanted = next((port for port in host_ports(pod.spec) if port.short_name == about), None)
    if wanted is None:
        return

    def without(container: Any) -> Any:
        ports = tuple(attrs.evolve(p, host_port=0) if host_port(p) == wanted else p for p in container.ports)
        return attrs.evolve(container, ports=ports)

    kept = {field: tuple(map(without, getattr(pod.spec, field))) for field in ("containers", "init_containers")}
    words = f"Remove host port {wanted.short_name}"
    yield ObjectEdit(words, 3, pod, evolve_parts(pod, spec=kept), "drop host port")


@attrs.frozen
class PortTaken(Evidence):
    """A pod (`namespace/name`) on the node holds a port that conflicts with the wanted one."""

    wanted: HostPort
    held: HostPort
    pod: str

    def of_node(self) -> Predicate:
        return "has", f"host port {self.wanted.short_name} taken by pod {self.pod}"

    def __str__(self) -> str:
        return f"hostPort {self.wanted} is taken by {self.held} of pod {self.pod}"

    def short(self) -> Sides:
        return Sides("taken", about=f"pod {self.pod}")


@attrs.frozen
class NodePorts:
    """Rejects nodes on which a pod holds a host port that this pod asks for."""

    name: ClassVar[str] = "NodePorts"
    card: ClassVar[Card] = Card(
        "P", looks_at="host ports", clauses=_clauses, edits=_without_port,
        unread=lambda pod, _objects: ["hostPort"] if host_ports(pod.spec) else (),
    )  # fmt: skip
    prefilter_fields: ClassVar[tuple[str, ...]] = ("containers", "init_containers")
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Pod", "a pod that holds one of its ports leaves its node",
                     lambda pod, old, _new: any(wanted.conflicts_with(port) for wanted in host_ports(pod.spec)
                                                for port in host_ports(old.spec)), Action.DELETE),
        QueueingHint("Node", "a node appears", action=Action.ADD),
    )

    taken: Reason = Reason(0, "node(s) didn't have free ports for the requested pod ports", Code.UNSCHEDULABLE)

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Skip if the pod asks for no host port."""
        return None if host_ports(pod.spec) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node on which a pod holds the same port and protocol, on the same address or on all addresses."""
        for wanted in host_ports(pod.spec):
            for other in seen.pods_on(node.metadata.name):
                for port in host_ports(other.spec):
                    if wanted.conflicts_with(port) and (node.metadata.name, port) not in seen.freed_ports:
                        holder = f"{other.metadata.namespace}/{other.metadata.name}"
                        return self.taken.reject(PortTaken(wanted, port, holder))
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once; only nodes where a pod holds such a port number are read."""
        freed = columns.seen.freed_ports
        rows = [
            columns.nodes.row_of[node]
            for wanted in host_ports(pod.spec)
            for node, users in columns.seen.exclusive_use.users(wanted.resource).items()
            if node in columns.nodes.row_of
            and any(
                wanted.conflicts_with(port) and (node, port) not in freed
                for key in users
                for pod_there in (columns.seen.pod(key),) if pod_there is not None
                for port in host_ports(pod_there.spec)
            )
        ]
        if not rows:
            return None
        taken = np.zeros(len(columns.nodes.names), bool)
        taken[rows] = True
        return self.taken.where(taken)
