"""The acts of a user that change one thing: kubectl's commands beside apply and delete, each a step of the log."""

from __future__ import annotations

from . import user_commands
from .cluster_core import ClusterCore
from .results import CommandResult


class ClusterActs(ClusterCore):
    """The core with kubectl's commands. Each goes through admission, and raises `ApplyRefused` if it is refused."""

    def cordon(self, node: str) -> CommandResult:
        """Mark a node unschedulable, as `kubectl cordon` does."""
        return self.edit(f"node/{node}", user_commands.cordon, f"user cordons {node}", "cordoned")

    def uncordon(self, node: str) -> CommandResult:
        """Mark a node schedulable again, as `kubectl uncordon` does."""
        return self.edit(f"node/{node}", user_commands.uncordon, f"user uncordons {node}", "uncordoned")

    def taint(self, node: str, taint: str) -> CommandResult:
        """Add a taint `key=value:Effect` to a node, as `kubectl taint` does."""
        words = f"user taints {node} {taint}"
        return self.edit(f"node/{node}", lambda old: user_commands.add_taint(old, taint), words, "tainted")
