"""What if these pods were gone, or others were there? A copy of the scheduler's columns that pods leave and come to.

Only what pods write is copied (free resources, counts, and a node's list of pods once one of them is taken), never an
object; all else is shared with the snapshot behind, which must not move meanwhile. Mutable.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from ...api.kinds.meta import evolve_parts
from .node_table import NodeInfo
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .node_table import NodeTable


class HypotheticalSnapshot(Snapshot):
    """A snapshot without some of its pods. Mutable; `removed` are those taken away."""

    def __init__(self, seen: Snapshot) -> None:
        self.__dict__.update(seen.__dict__)
        self._rooms = dict(self._rooms)
        self._own: set[str] = set()
        self._gone: dict[Key, Pod] = {_key(pod): pod for pod in seen.removed}
        self.nodes: NodeTable = seen.nodes.copied(self._rooms)
        self.tallies = seen.tallies.copied(self.nodes)
        self.holdings = seen.holdings.copied()
        self.attachments = seen.attachments.copied(self.nodes, self._rooms, self)
        self.removed: Collection[Pod] = self._gone.values()

    def take(self, pod: Pod) -> None:
        """Take a pod off its node."""
        key = _key(pod)
        self._gone[key] = pod
        self._move(self._room(pod.spec.node_name), key, pod, -1)

    def put_back(self, pod: Pod) -> None:
        """Put a pod that was taken back on its node."""
        key = _key(pod)
        del self._gone[key]
        self._move(self._room(pod.spec.node_name), key, pod, 1)

    def place(self, pod: Pod, node: str) -> None:
        """Put a pod on a node where it is not."""
        placed = evolve_parts(pod, spec={"node_name": node})
        self._move(self._room(node), _key(pod), placed, 1)

    def _room(self, name: str) -> NodeInfo:
        if name not in self._own:
            self._own.add(name)
            self._rooms[name] = self._rooms[name].copied()
        return self._rooms[name]


def _key(pod: Pod) -> Key:
    return Key("Pod", pod.metadata.namespace, pod.metadata.name)
