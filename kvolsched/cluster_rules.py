"""Who runs the loop, and under which rules: plugins and components of your own, and what may happen to a component.

`with_*` return forks. What happens to a component is an entry of the log, which `back` undoes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from .cluster_acts import ClusterActs
from .component_names import COMPONENT_NAMES
from .custom_controller import ReconcileFunction, custom_controller, is_custom
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

    def with_controller(self, name: str, watches: str | Iterable[str], reconcile: ReconcileFunction) -> Self:
        """Return a fork with a controller of your own: a component like any other, with a queue and a lane of its own.

        A function is the whole controller: it is told what the controller has seen, which may be old, and the reference
        of an object that changed. The writes that it returns are made one by one, a turn each; a refused one drops the
        rest, and the function is called again after a back-off. It keeps no state of its own (see `seen.note`).

        Args:
            name: the component's name; one that a controller of yours has already replaces it, which restarts.
            watches: the kinds that it watches, such as `["Pod", "Node"]`.
            reconcile: `f(seen, ref)` returns writes of `kvolsched.writes`, a list, one, or None. `seen.get(ref)`,
                `seen.list(kind, namespace, selector)`, `seen.manifest(ref)`, `seen.note(key)` and `seen.now` are all
                that it knows.

        Raises:
            ValueError: the name is taken, or has other characters than names have.
            KeyError: there is no such kind.
            TypeError: the function cannot be called with (seen, ref).

        >>> from kvolsched import Cluster, example
        >>> from kvolsched.writes import patch
        >>> def label(seen, ref):
        ...     pod = seen.get(ref)
        ...     if pod and "seen" not in pod.metadata.labels:
        ...         return patch(ref, {"metadata": {"labels": {"seen": "yes"}}})
        >>> pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
        >>> pod["spec"] = {"containers": [{"name": "web", "image": "web"}]}
        >>> c = Cluster.from_manifests([pod]).with_controller("labeller", watches=["Pod"], reconcile=label)
        >>> c.step("labeller")
        step 1, t=0 s: Labeller patches pod/web (metadata.labels).
        """
        other = self.fork()
        processes = other.world.processes.values()
        known = {actor.name for process in processes for actor in process.component.actors} | set(other.world.processes)
        own = {process.name for process in processes if is_custom(process.component)}
        taken = (known | set(COMPONENT_NAMES) | {"world"}) - own
        component = custom_controller(name, watches, reconcile, taken)
        other.name = ", ".join(part for part in (self.name, f"with {name}") if part)
        if name not in own:
            other.world.add_components([component])
            return other
        other.world.replace_components([component])
        if any(note.component == name for note in other.world.log.notes):
            other.crash(name)
        return other

    def crash(self, component: str) -> None:
        """Restart a component: it loses its notes and lists every object again."""
        self.world.crash(self._component(component))

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> None:
        """Refuse the nth write of a component from now on, with this reason."""
        self.world.refuse(self._component(component), nth, reason)
