"""The subresource pods/binding, which assigns a node to a pod once (mirrors core `BindingREST.assignPod`, v1.36.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..api.kinds.meta import Condition, evolve, evolve_parts
from ..world.apiserver import Denial
from ..world.log import Key
from .plugins import with_topology_labels


def binding_subresource(*, zone_labels: bool) -> Callable[[Any, Any, Mapping[Key, Any]], Any]:
    """Return the subresource pods/binding: it sets nodeName and PodScheduled=True in one change.

    Args:
        zone_labels: copy the node's zone and region labels to the pod, and clear its nomination (v1.36.2).
    """

    def bind(pod: Any, node_name: str, objects: Mapping[Key, Any]) -> Any:
        name = pod.metadata.name
        if pod.metadata.deletion_timestamp is not None:
            return _deny(name, "is being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            return _deny(name, f'is already assigned to node "{pod.spec.node_name}"')
        if pod.spec.scheduling_gates:
            return _deny(name, "has non-empty .spec.schedulingGates")
        scheduled = Condition(type="PodScheduled", status="True")
        status = pod.status.with_condition(scheduled)
        if zone_labels:
            pod = with_topology_labels(pod, objects.get(Key("Node", "", node_name)))
            status = evolve(status, nominated_node_name="")
        return evolve_parts(pod, spec={"node_name": node_name}, status=status)

    return bind


def _deny(pod: str, why: str) -> Denial:
    return Denial("Conflict", f'Operation cannot be fulfilled on pods/binding "{pod}": pod {pod} {why}')
