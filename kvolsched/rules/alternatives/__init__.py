"""The designs that the documents reject, each as a revision: run one, and see what the document's reason looks like.

`Cluster("late_binder")`, `scenario("two-disks-one-by-one", "late_binder")` and `alternatives.late_binder()` have the
same rules. The docstring of each says what it is and why the document rejects it. `experiment(name)` has the scenario
on which it fails by itself; `compare()` runs every alternative on every scenario.
"""

from collections.abc import Callable

from ..named import REVISIONS
from ..revision import Revision
from .binding_places import bind_in_kubelet, bind_in_pv_controller, bind_in_scheduler, late_binder, place_first
from .one_function import single_function
from .pod_updates import added_terms, affinity_at_creation, lax_updates
from .scheduler_extender import extender
from .spreading import spread_by_affinity_terms, spread_inside_affinity
from .topology_quota import list_of_topologies, quota_by_topology

ALTERNATIVES: dict[str, Callable[..., Revision]] = {
    each.__name__: each
    for each in (
        place_first, late_binder, bind_in_pv_controller, bind_in_kubelet, bind_in_scheduler, extender, single_function,
        quota_by_topology, spread_by_affinity_terms, spread_inside_affinity, lax_updates, added_terms,
        affinity_at_creation, list_of_topologies,
    )
}  # fmt: skip
REVISIONS.update(ALTERNATIVES)


def names() -> tuple[str, ...]:
    """Return the names of the rejected designs, by which clusters and scenarios take them.

    >>> "late_binder" in names()
    True
    """
    return tuple(ALTERNATIVES)


__all__ = [
    "added_terms", "affinity_at_creation", "bind_in_kubelet", "bind_in_pv_controller", "bind_in_scheduler", "extender",
    "late_binder", "lax_updates", "list_of_topologies", "names", "place_first", "quota_by_topology",
    "single_function", "spread_by_affinity_terms", "spread_inside_affinity",
]
