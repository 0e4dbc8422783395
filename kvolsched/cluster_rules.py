"""Who runs the loop, and under which rules: plugins and components of your own, and what may happen to a component.

`with_*` return forks. What happens to a component is an entry of the log, which `back` undoes.
"""

from __future__ import annotations

from typing import Any, Self

from .cluster_acts import ClusterActs
from .component_names import COMPONENT_NAMES
from .scheduler.framework.custom_plugin import custom_plugin


class ClusterRules(ClusterActs):
    """The core with plugins of your own and faults of components."""

    def with_plugin(self, rule: Any = None, prefer: Any = None, *, weight: int = 1, name: str = "") -> Self:
        """Return a fork whose scheduler runs a custom plugin too; the past stays, a scheduler that has begun restarts.

        Args:
            rule: a filter `rule(pod, node, seen)` that answers True, False or a reason; or an object with both methods.
            prefer: a score `prefer(pod, node, seen)` from 0 to 100.
            weight: the weight of the score.
            name: the plugin's name; by default the function's.
        """
        other = self.fork()
        other.revision = self.revision.with_plugin(custom_plugin(rule, prefer, name), weight)
        other.name = f"{self.name}, {other.revision.name}"
        other.world.replace_components(other.revision.simulation(components=self.components).components)
        if self.world.step_number:
            other.crash(COMPONENT_NAMES["scheduler"])
        return other

    def crash(self, component: str) -> None:
        """Restart a component: it loses its notes and lists every object again."""
        self.world.crash(self._component(component))

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> None:
        """Refuse the nth write of a component from now on, with this reason."""
        self.world.refuse(self._component(component), nth, reason)
