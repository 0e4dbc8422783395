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
from copy import copy
from typing import TYPE_CHECKING, Any

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ...api.kinds.meta import evolve_parts
from .exclusive_use import HostPort, host_ports
from .node_table import NodeInfo
from .snapshot import Snapshot, snapshot_of

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


class KeptSnapshot:
    """The snapshot of the contents that were asked for last: that of others is made of it by what differs. Mutable.

    Frozen values are compared by identity, so what differs between two contents of 100,000 objects is known in
    milliseconds, and forks share a snapshot; the snapshots that it gives are never changed again.
    """

    def __init__(self) -> None:
        self._kept: tuple[Mapping[Key, Any], Snapshot] = ({}, Snapshot())

    def of(self, objects: Mapping[Key, Any], moment: str) -> Snapshot:
        """Return the snapshot of these objects, a mapping that must not change afterwards, to judge on at a moment.

        Who wants to change it changes its `copied()`.
        """
        before, found = self._kept
        if before:
            differing = [(key, before.get(key), new) for key, new in objects.items() if before.get(key) is not new]
            differing += [(key, old, None) for key, old in before.items() if key not in objects]
            changes = [change for change in differing if change[0].kind in Snapshot.follows]
            if len(changes) > len(objects) // 4:
                found = snapshot_of(objects)
            elif changes:
                found = found.copied()
                for key, old, new in changes:
                    found.apply(key, old, new)
            if changes:
                self._kept = objects, found
        elif objects:
            found = snapshot_of(objects)
            self._kept = objects, found
        view = copy(found)
        view.moment = moment
        view.visits.begin_pass()
        return view

    def __reduce__(self) -> tuple[type[KeptSnapshot], tuple[()]]:
        return KeptSnapshot, ()  # it can be built again: it travels to no other process
