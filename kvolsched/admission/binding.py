"""The subresource pods/binding: a pod is given its node, once (mirrors core `BindingREST.assignPod`, v1.36.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..api.kinds.meta import Condition, evolve, evolve_parts
from ..world.apiserver import Denial
from ..world.log import Key
from .plugins import with_topology_labels


def binding_subresource(*, zone_labels: bool) -> Callable[[Any, Any, Mapping[Key, Any]], Any]:
    """Return the subresource pods/binding: nodeName and PodScheduled=True in one change.

    Args:
        zone_labels: the node's zone and region labels are copied to the pod, and its nomination is cleared (v1.36.2).
    """

    def store(pod: Any, node_name: str, objects: Mapping[Key, Any]) -> Any:
        name = pod.metadata.name
        if pod.metadata.deletion_timestamp is not None:
            return _taken(name, "is being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            return _taken(name, f'is already assigned to node "{pod.spec.node_name}"')
        if pod.spec.scheduling_gates:
            return _taken(name, "has non-empty .spec.schedulingGates")
        scheduled = Condition(type="PodScheduled", status="True")
        status = pod.status.with_condition(scheduled)
        if zone_labels:
            pod = with_topology_labels(pod, objects.get(Key("Node", "", node_name)))
            status = evolve(status, nominated_node_name="")
        return evolve_parts(pod, spec={"node_name": node_name}, status=status)

    return store


def _taken(pod: str, why: str) -> Denial:
    return Denial("Conflict", f'Operation cannot be fulfilled on pods/binding "{pod}": pod {pod} {why}')
