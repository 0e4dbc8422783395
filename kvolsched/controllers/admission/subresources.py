"""The subresources pods/binding, which assigns a node to a pod once, and pods/eviction.

An eviction deletes a pod if the budgets that protect it allow that: one request, several changes. The budget counts the
disruption, the pod gets its condition, and is deleted. Mirrors core `BindingREST.assignPod` and `EvictionREST.Create`
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from ...api.kinds.meta import Condition, evolve, evolve_parts
from ...api.kinds.pod import Pod, PodSpec, PodStatus
from ...api.kinds.policy import PodDisruptionBudget
from ...api.remembered import remembered
from ...api.workloads import PodConditionPatch, generation, is_ready
from ...world.apiserver import Denial, Write, key_of, moment
from ...world.log import Key, Log
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


KIND = "PodDisruptionBudget"
MAX_DISRUPTED = 2000
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
TOO_MANY = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def evict(pod: Pod, _payload: Any, log: Log) -> Denial | tuple[Write, ...]:
    """Return the changes that an eviction consists of, or why it is refused."""
    meta = pod.metadata
    patch = PodConditionPatch(
        "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting", moment(log)
    )
    key = key_of(pod)
    deletion = (Write("patch", key, patch, uid=meta.uid), Write("delete", key, uid=meta.uid))
    if pod.terminal or pod.status.phase in ("", "Pending") or meta.deletion_timestamp is not None:
        return deletion
    budgets: list[PodDisruptionBudget] = [found for found in log.of_kind(KIND) if found.covers(meta)]
    if len(budgets) > 1:
        return Denial("InternalError", TOO_MANY)
    if not budgets or (not is_ready(pod) and _may_lose_unready(budgets[0])):
        return deletion
    status = budgets[0].status
    if why := _refusal(budgets[0]):
        return why
    allowed = status.disruptions_allowed - 1
    conditions = tuple(
        attrs.evolve(found, status="False", reason="InsufficientPods", last_transition_time=moment(log))
        if found.type == "DisruptionAllowed" and not allowed and found.status != "False" else found
        for found in status.conditions
    )  # fmt: skip
    disrupted = status.disrupted_pods.merged({meta.name: moment(log)})
    counted = evolve_parts(
        budgets[0], status={"disruptions_allowed": allowed, "disrupted_pods": disrupted, "conditions": conditions}
    )
    return (Write("update_status", key_of(counted), counted), *deletion)


def _may_lose_unready(budget: PodDisruptionBudget) -> bool:
    """Say whether a pod that is not ready may go without being counted."""
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return budget.status.current_healthy >= budget.status.desired_healthy > 0


def _refusal(budget: PodDisruptionBudget) -> Denial | None:
    """Return why a budget does not allow one disruption more; None if it does."""
    name, status = budget.metadata.name, budget.status
    if (status.observed_generation or 0) < generation(budget):
        processed = f"The disruption budget {name} is still being processed by the server."
        return Denial("TooManyRequests", VIOLATES, (processed,))
    forbidden = f'poddisruptionbudgets.policy "{name}" is forbidden: '
    if status.disruptions_allowed < 0:
        return Denial("Forbidden", f"{forbidden}pdb disruptions allowed is negative")
    if len(status.disrupted_pods) > MAX_DISRUPTED:
        many = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        return Denial("Forbidden", forbidden + many)
    return Denial("TooManyRequests", VIOLATES, (_why_none(budget),)) if status.disruptions_allowed == 0 else None


def _why_none(budget: PodDisruptionBudget) -> str:
    status, words = budget.status, f"The disruption budget {budget.metadata.name}"
    found = next((each for each in status.conditions if each.type == "DisruptionAllowed"), None)
    if found is not None and found.status == "False" and found.message and found.reason == "SyncFailed":
        return f"{words} does not allow evicting pods currently because it failed sync: {found.message}"
    if status.current_healthy <= status.desired_healthy:
        return f"{words} needs {status.desired_healthy} healthy pods and has {status.current_healthy} currently"
    if found is not None and found.status == "False" and found.message:
        return f"{words} does not allow evicting pods currently ({found.reason}): {found.message}"
    return f"{words} does not allow evicting pods currently"
