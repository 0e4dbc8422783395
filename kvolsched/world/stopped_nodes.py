"""Nodes whose kubelet answers nobody: a fact of the world like an outage, which no API object shows at once.

The kubelets do nothing for a stopped node. Others notice only that its heartbeats end.
"""

from .component import TurnContext
from .log import Note
from .view import Exists

STOPPED = "stopped"  # sort of the world's notes


def stopped_note(node: str) -> Note:
    """Return the key of the note whether a node is stopped; there is none if it never was."""
    return Note("world", STOPPED, node)


def is_stopped(ctx: TurnContext, node: str) -> bool:
    """Return whether the kubelet of a node answers nobody."""
    return ctx.sim.log.notes.get(stopped_note(node)) is True


def some_node_stopped() -> Exists:
    """Return the condition that a node is stopped, or was: somebody has to clean up after it."""
    return Exists(STOPPED)
