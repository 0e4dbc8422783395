"""The disruption controller: it alone counts, for each PodDisruptionBudget, how many disruptions are allowed.

A healthy pod is ready and not being deleted. The expected number of pods is the sum of their controllers' replicas; a
pod without controller counts only for a budget that asks for a number of pods. A pod that the API server evicts is not
healthy any more, until two minutes later it turns out that it was not deleted.
Mirrors `pkg/controller/disruption` (v1.36.2).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import attrs

from ..api.kinds.kind import KINDS_BY_NAME
from ..api.kinds.meta import Condition, Frozen, OwnerReference
from ..api.kinds.pod import Pod
from ..api.kinds.policy import PodDisruptionBudget
from ..api.kinds.selector import LabelSelector
from ..api.workloads import generation, is_ready, scaled_value
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists

NAME = "disruption-controller"
SOURCE = "controllermanager"  # of its Events
KIND = "PodDisruptionBudget"
DELETION_TIMEOUT = 120.0  # seconds after which an evicted pod that is still there counts again
FAILED = "Failed to calculate the number of expected pods"
SCALABLE = ("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController")  # have the scale subresource


class ExpectedCountUnknown(ValueError):
    """The expected number of pods is unknown; the message is Kubernetes'."""


def component() -> Component:
    """Return the disruption controller."""
    routine = Reconciler(NAME, _budgets_of, sync, report_refused, report_done)
    return Component(NAME, (KIND, "Pod", *SCALABLE), (routine,), activation=partial(Exists, KIND))


def _budgets_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a changed budget, those of a changed pod, or all of a namespace in which a workload was scaled."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
        return
    if key.kind != "Pod" and old is not None and new is not None and old.spec.replicas == new.spec.replicas:
        return
    for budget in ctx.seen.all(KIND):
        namespace = budget.metadata.namespace or "default"
        pods = [pod for pod in (old, new) if pod is not None] if key.kind == "Pod" else []
        if namespace == key.namespace and (key.kind != "Pod" or any(budget.covers(pod.metadata) for pod in pods)):
            yield f"{namespace}/{budget.metadata.name}"


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Count the pods of one budget, and write how many disruptions are allowed."""
    budget: PodDisruptionBudget | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if budget is None:
        return ()
    pods: list[Pod] = [pod for pod in ctx.seen.all("Pod") if budget.covers(pod.metadata)]
    plan = PlanBuilder(ctx, SOURCE)
    if not pods:
        plan.event(budget, "Normal", "NoPods", "No matching pods found")
    try:
        expected, desired = _expected_and_desired(plan, budget, pods)
    except ExpectedCountUnknown as why:
        plan.event(budget, "Warning", "CalculateExpectedPodCountFailed", f"{FAILED}: {why}")
        conditions = _conditions(budget, "False", "SyncFailed", f"{FAILED}: {why}", ctx.moment)
        status = attrs.evolve(budget.status, disruptions_allowed=0, conditions=conditions)
        words = f"disruption controller allows no disruption of {reference_of(budget)}: the expected count is unknown"
        plan.update_status(budget, attrs.evolve(budget, status=status), words)
        return plan.writes
    disrupted = _still_disrupted(ctx, cause, budget, pods)
    remaining = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    healthy = sum(is_ready(pod) and pod.metadata.name not in disrupted for pod in remaining)
    allowed = max(0, healthy - desired) if expected > 0 else 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    status = attrs.evolve(
        budget.status, observed_generation=generation(budget), disruptions_allowed=allowed, current_healthy=healthy,
        desired_healthy=desired, expected_pods=expected, disrupted_pods=disrupted,
        conditions=_conditions(budget, "True" if allowed else "False", reason, "", ctx.moment)
    )
    words = f"disruption controller allows {allowed} disruption{'' if allowed == 1 else 's'} of {reference_of(budget)}"
    plan.update_status(budget, attrs.evolve(budget, status=status), words)
    return plan.writes


def _still_disrupted(ctx: TurnContext, cause: str, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> Frozen:
    """Return the pods that the API server said it evicts and that are not yet seen as deleted, with the time."""
    left: dict[str, str] = {}
    for pod in pods:
        since = budget.status.disrupted_pods.get(pod.metadata.name)
        if since is None or pod.metadata.deletion_timestamp is not None:
            continue
        passed = (datetime.fromisoformat(ctx.moment) - datetime.fromisoformat(since.upper())).total_seconds()
        if passed < DELETION_TIMEOUT:
            left[pod.metadata.name] = since
            ctx.wake_after(cause, DELETION_TIMEOUT - passed)
    return Frozen(left)


def _expected_and_desired(plan: PlanBuilder, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> tuple[int, int]:
    max_unavailable, min_available = budget.spec.max_unavailable, budget.spec.min_available
    if max_unavailable is not None:
        expected = _expected_scale(plan, budget, pods)
        return expected, max(0, expected - scaled_value(max_unavailable, expected, up=True))
    if isinstance(min_available, str):
        expected = _expected_scale(plan, budget, pods)
        return expected, scaled_value(min_available, expected, up=True)
    return len(pods), 0 if min_available is None else min_available


def _expected_scale(plan: PlanBuilder, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    replicas: dict[str, int] = {}
    unmanaged = False
    for pod in pods:
        owner = pod.metadata.controller
        if owner is None:
            unmanaged = True
            continue
        workload: Any = _controller(plan.ctx, owner, pod)
        parent = workload.metadata.controller
        if owner.kind == "ReplicaSet" and parent is not None and parent.kind == "Deployment":
            workload = _controller(plan.ctx, parent, pod)
        replicas[workload.metadata.uid] = 1 if workload.spec.replicas is None else workload.spec.replicas
    if unmanaged:
        message = (
            f"Pods selected by this PodDisruptionBudget (selector: {_go_selector(budget.spec.selector)}) were found "
            "to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in "
            "undefined behavior. To account for these pods please set "
            '".spec.minAvailable" field of the PDB to an integer value.'
        )
        plan.event(budget, "Warning", "UnmanagedPods", message)
    return sum(replicas.values())


def _controller(ctx: TurnContext, owner: OwnerReference, pod: Pod) -> Any:
    """Return the workload that controls a pod, directly or not.

    Raises:
        ExpectedCountUnknown: it cannot be scaled, or is not there.
    """
    kind = owner.kind
    if kind not in SCALABLE:
        resource = KINDS_BY_NAME[kind].resource if kind in KINDS_BY_NAME else f"{kind.lower()}s"
        raise ExpectedCountUnknown(f"{resource} does not implement the scale subresource")
    found = ctx.seen.get(kind, owner.name, pod.metadata.namespace or "default")
    if found is None or found.metadata.uid != owner.uid:
        raise ExpectedCountUnknown(f'found no controllers for pod "{pod.metadata.name}"')
    return found


def _go_selector(selector: LabelSelector | None) -> str:
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.match_labels.items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{part.key},Operator:{part.operator},Values:[{' '.join(part.values)}],}},"
        for part in selector.match_expressions
    )
    matches = f"MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}}"
    return f"&LabelSelector{{{matches},}}"


def _conditions(budget: PodDisruptionBudget, status: str, reason: str, message: str, now: str) -> tuple[Condition, ...]:
    """Return a budget's conditions with DisruptionAllowed; lastTransitionTime changes with its status."""
    old = next((found for found in budget.status.conditions if found.type == "DisruptionAllowed"), None)
    since = old.last_transition_time if old is not None and old.status == status else now
    condition = Condition(
        type="DisruptionAllowed", status=status, reason=reason, message=message, last_transition_time=since,
        rest=Frozen(observedGeneration=generation(budget))
    )
    return (*(found for found in budget.status.conditions if found.type != "DisruptionAllowed"), condition)
