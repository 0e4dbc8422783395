"""A snapshot with some pods removed or added, for preemption and nominated pods.

Only what pods change is copied: free resources, counts, and a node's pods once one of them is removed. Everything else
is shared with the original snapshot, which must not change meanwhile. Mutable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ...api.kinds.meta import evolve_parts
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

    def remove(self, pod: Pod) -> None:
        """Remove a pod from its node."""
        key = _key(pod)
        self._removed[key] = pod
        self._move(self._node_info(pod.spec.node_name), key, pod, -1)

    def put_back(self, pod: Pod) -> None:
        """Put a removed pod back on its node."""
        key = _key(pod)
        del self._removed[key]
        self._move(self._node_info(pod.spec.node_name), key, pod, 1)

    def place(self, pod: Pod, node: str) -> None:
        """Add a pod to a node."""
        assigned = evolve_parts(pod, spec={"node_name": node})
        self._move(self._node_info(node), _key(pod), assigned, 1)

    @contextmanager
    def hosting(self, pods: Mapping[str, Iterable[Pod]]) -> Iterator[None]:
        """Add pods to nodes, given by the node's name, for the time of a block."""
        placed = [(evolve_parts(pod, spec={"node_name": node}), node) for node in pods for pod in pods[node]]
        for pod, node in placed:
            self._move(self._node_info(node), _key(pod), pod, 1)
        try:
            yield
        finally:
            for pod, node in placed:
                self._move(self._node_info(node), _key(pod), pod, -1)

    def _node_info(self, name: str) -> NodeInfo:
        if name not in self._copied:
            self._copied.add(name)
            self._node_infos[name] = self._node_infos[name].copied()
        return self._node_infos[name]


def _key(pod: Pod) -> Key:
    return Key("Pod", pod.metadata.namespace, pod.metadata.name)
