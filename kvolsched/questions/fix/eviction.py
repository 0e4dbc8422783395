"""Whether the pod of a fix keeps its node: read from the fork that ran, its turns and what is still to come there."""

from __future__ import annotations

from typing import Any

import attrs

from kvolsched.controllers import taint_eviction
from kvolsched.core.core import ClusterCore
from kvolsched.world.apiserver import CommittedWrite
from kvolsched.world.log import Key, Note

REMOVALS = ("delete", "evict")


@attrs.frozen
class LostNode:
    """The node that a pod got and does not keep.

    Args:
        node: the node that it had.
        seconds: how long it has the node, in simulated time.
        why: who removes it and why, in words.
    """

    node: str
    seconds: float
    why: str

    @property
    def words(self) -> str:
        """When it leaves which node, and why."""
        return f"evicted from {self.node} after {self.seconds:g} s: {self.why}"


@attrs.frozen
class Placement:
    """A pod that got a node in a fork: the pod then, the time, and the number of turns that were made before."""

    pod: Any
    time: float
    turns: int

    def eviction(self, cluster: ClusterCore, key: Key) -> LostNode | None:
        """Return how the pod loses its node, in the run or at a time that is known already; None: it keeps it."""
        node = str(self.pod.spec.node_name)
        for turn in cluster.world.turns[self.turns :]:
            for outcome in turn.outcomes:
                if isinstance(outcome, CommittedWrite) and outcome.write.key == key and outcome.write.verb in REMOVALS:
                    why = self._ended_toleration(cluster) if turn.component == taint_eviction.NAME else ""
                    return LostNode(node, turn.time - self.time, why or turn.words)
        note = Note(taint_eviction.NAME, taint_eviction.EVICT, f"{key.namespace}/{key.name}")
        scheduled = cluster.world.log.notes.get(note)
        if scheduled is None:
            return None
        return LostNode(node, scheduled.at - self.time, self._ended_toleration(cluster))

    def _ended_toleration(self, cluster: ClusterCore) -> str:
        """Say which taints the pod does not tolerate for ever, "" if its node has none of them now."""
        node = cluster.world.log.objects.get(Key("Node", "", self.pod.spec.node_name))
        found = ", ".join(dict.fromkeys(map(str, taint_eviction.taints_that_evict(self.pod, node))))
        return f"it does not tolerate {found} for longer" if found else ""
