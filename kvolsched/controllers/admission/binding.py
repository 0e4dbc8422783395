"""The subresource pods/binding, which assigns a node to a pod once (mirrors core `BindingREST.assignPod`, v1.36.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ...api.kinds.meta import Condition, evolve
from ...api.kinds.pod import PodSpec, PodStatus
from ...api.remembered import remembered
from ...world.apiserver import Denial
from ...world.log import Key
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
        status = _scheduled(pod.status)
        if zone_labels:
            pod = with_topology_labels(pod, objects.get(Key("Node", "", node_name)))
            status = _without_nomination(status)
        return evolve(pod, spec=_on_node(pod.spec, node_name), status=status)

    return bind


SCHEDULED = Condition(type="PodScheduled", status="True")


@remembered
def _scheduled(status: PodStatus) -> PodStatus:
    return status.with_condition(SCHEDULED)


@remembered
def _without_nomination(status: PodStatus) -> PodStatus:
    return evolve(status, nominated_node_name="")


@lru_cache(maxsize=1 << 14)
def _on_node(spec: PodSpec, node_name: str) -> PodSpec:
    """Return the spec of a pod on a node; equal pods of a node share it."""
    return evolve(spec, node_name=node_name)


def _deny(pod: str, why: str) -> Denial:
    return Denial("Conflict", f'Operation cannot be fulfilled on pods/binding "{pod}": pod {pod} {why}')
