"""A snapshot with some pods removed or added, for preemption and nominated pods.

Only what pods change is copied: free resources, counts, and a node's pods once one of them is removed. Everything else
is shared with the original snapshot, which must not change meanwhile. Mutable.

Kubernetes' set of a node's host ports forgets a port with the first of two pods that have it (`HostPortInfo.Remove`).
So it is here in the trial alone: where a pod really leaves, kube-scheduler forgets it too, but not after a restart; a
view depends on what there is, not on what was, so that a third pod waits for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ...api.kinds.meta import evolve_parts
from .exclusive_use import HostPort, host_ports
from .node_table import NodeInfo
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .node_table import NodeTable


class HypotheticalSnapshot(Snapshot):
    """A copy of a snapshot from which pods are removed and to which pods are added. Mutable."""

    def __init__(self, seen: Snapshot) -> None:
        self.__dict__.update(seen.__dict__)
        self._node_infos = dict(self._node_infos)
        self._copied: set[str] = set()
        self._removed: dict[Key, Pod] = {_key(pod): pod for pod in seen.removed_pods}
        self.nodes: NodeTable = seen.nodes.copied(self._node_infos)
        self.pod_counts = seen.pod_counts.copied(self.nodes)
        self.exclusive_use = seen.exclusive_use.copied()
        self.attachments = seen.attachments.copied(self.nodes, self._node_infos, self)
        self.removed_pods: Collection[Pod] = self._removed.values()
        self._added: dict[Key, Pod] = {_key(pod): pod for pod in seen.added_pods}
        self.added_pods: Collection[Pod] = self._added.values()
        self.freed_ports = set(seen.freed_ports)

    def remove(self, pod: Pod) -> None:
        """Remove a pod from its node."""
        key = _key(pod)
        self._removed[key] = pod
        self.freed_ports |= _ports(pod)
        self._move(self._node_info(pod.spec.node_name), key, pod, -1)

    def put_back(self, pod: Pod) -> None:
        """Put a removed pod back on its node."""
        key = _key(pod)
        del self._removed[key]
        self.freed_ports -= _ports(pod)
        self._move(self._node_info(pod.spec.node_name), key, pod, 1)

    def place(self, pod: Pod, node: str) -> Pod:
        """Add a pod to a node, and return it as it is there."""
        assigned = evolve_parts(pod, spec={"node_name": node})
        self._added[_key(pod)] = assigned
        self.freed_ports -= _ports(assigned)
        self._move(self._node_info(node), _key(pod), assigned, 1)
        return assigned

    @contextmanager
    def hosting(self, pods: Mapping[str, Iterable[Pod]]) -> Iterator[None]:
        """Add pods to nodes, given by the node's name, for the time of a block."""
        freed = set(self.freed_ports)
        placed = [self.place(pod, node) for node in pods for pod in pods[node]]
        try:
            yield
        finally:
            self.freed_ports = freed
            for pod in placed:
                del self._added[_key(pod)]
                self._move(self._node_info(pod.spec.node_name), _key(pod), pod, -1)

    def _node_info(self, name: str) -> NodeInfo:
        if name not in self._copied:
            self._copied.add(name)
            self._node_infos[name] = self._node_infos[name].copied()
        return self._node_infos[name]


def _ports(pod: Pod) -> set[tuple[str, HostPort]]:
    return {(pod.spec.node_name, port) for port in host_ports(pod.spec)}


def _key(pod: Pod) -> Key:
    return Key("Pod", pod.metadata.namespace, pod.metadata.name)
