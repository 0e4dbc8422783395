"""Nodes whose kubelet answers nobody: a fact of the world like an outage, which no API object shows at once.

The kubelets do nothing for a stopped node. Others notice only that its heartbeats end.
"""

from __future__ import annotations

from typing import Any

from .component import TurnContext
from .log import LogKey, Note

STOPPED = "stopped"  # sort of the world's notes


def stopped_note(node: str) -> Note:
    """Return the key of the note whether a node is stopped; there is none if it never was."""
    return Note("world", STOPPED, node)


def is_stopped(ctx: TurnContext, node: str) -> bool:
    """Return whether the kubelet of a node answers nobody."""
    return ctx.sim.log.notes.get(stopped_note(node)) is True


class SomeNodeStopped:
    """Condition that a node is stopped, or was: somebody has to clean up after it. Mutable view."""

    def __init__(self) -> None:
        self.follows = frozenset([STOPPED])
        self.count = 0

    def apply(self, _key: LogKey, old: Any, new: Any) -> None:
        """Update the count of nodes that were stopped."""
        self.count += (new is not None) - (old is not None)

    @property
    def is_met(self) -> bool:
        """Whether some node is or was stopped."""
        return self.count > 0
