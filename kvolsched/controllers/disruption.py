"""The disruption controller: it alone counts, for each PodDisruptionBudget, how many pods may be taken away.

Healthy is a ready pod that is not being deleted. How many there ought to be is what the pods' controllers are sized
for; a pod without one counts only for a budget that asks for a number of pods. Evictions are not modelled, so nothing
is remembered of pods that were told to go.
Mirrors `pkg/controller/disruption` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ..api.kinds.kind import KINDS_BY_NAME
from ..api.kinds.meta import Condition, Frozen
from ..api.kinds.pod import Pod
from ..api.kinds.policy import PodDisruptionBudget
from ..api.kinds.selector import LabelSelector
from ..workloads import generation, is_ready, scaled_value
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler

NAME = "disruption-controller"
SOURCE = "controllermanager"  # how it signs its Events
KIND = "PodDisruptionBudget"
SIZED = ("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController")  # whose `replicas` say how many


class ExpectedCountUnknown(ValueError):
    """How many pods there ought to be cannot be told; the message is Kubernetes'."""


def component() -> Component:
    """Return the disruption controller."""
    routine = Reconciler(NAME, _budgets_of, sync, report_refused, report_done)
    return Component(NAME, (KIND, "Pod", *SIZED), (routine,), activation=_need)


def _need() -> ActivationCondition:
    return Exists(KIND)


def _budgets_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a budget that has changed, those of a pod that has, or all of a namespace where something was sized."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
        return
    if key.kind != "Pod" and old is not None and new is not None and old.spec.replicas == new.spec.replicas:
        return
    for budget in ctx.seen.all(KIND):
        where = budget.metadata.namespace or "default"
        pods = [pod for pod in (old, new) if pod is not None] if key.kind == "Pod" else []
        if where == key.namespace and (key.kind != "Pod" or any(_is_of(pod, budget) for pod in pods)):
            yield f"{where}/{budget.metadata.name}"


def _is_of(pod: Pod, budget: PodDisruptionBudget) -> bool:
    return budget.spec.selector is not None and budget.spec.selector.matches(pod.metadata.labels)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Count the pods of one budget, and write what may be taken away."""
    budget: PodDisruptionBudget | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if budget is None:
        return ()
    space = budget.metadata.namespace or "default"
    every: list[Pod] = ctx.seen.all("Pod")
    pods = [pod for pod in every if (pod.metadata.namespace or "default") == space and _is_of(pod, budget)]
    decision = PlanBuilder(ctx, SOURCE)
    if not pods:
        decision.event(budget, "Normal", "NoPods", "No matching pods found")
    try:
        expected, desired = _wanted(decision, budget, pods)
    except ExpectedCountUnknown as why:
        decision.event(budget, "Warning", "CalculateExpectedPodCountFailed", f"{FAILED}: {why}")
        _fail_safe(decision, budget, f"{FAILED}: {why}")
        return decision.writes
    healthy = sum(is_ready(pod) and pod.metadata.deletion_timestamp is None for pod in pods)
    spare = max(0, healthy - desired) if expected > 0 else 0
    reason = "SufficientPods" if spare else "InsufficientPods"
    status = attrs.evolve(
        budget.status,
        observed_generation=generation(budget),
        disruptions_allowed=spare,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
        conditions=_with(budget, "True" if spare else "False", reason, "", ctx.moment),
    )
    words = f"disruption controller lets {spare} pods of {reference_of(budget)} be taken away"
    decision.update_status(budget, attrs.evolve(budget, status=status), words)
    return decision.writes


FAILED = "Failed to calculate the number of expected pods"


def _wanted(decision: PlanBuilder, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> tuple[int, int]:
    """Return how many pods there ought to be, and how many of them have to be healthy."""
    most, least = budget.spec.max_unavailable, budget.spec.min_available
    if most is not None:
        expected = _scale(decision, budget, pods)
        return expected, max(0, expected - scaled_value(most, expected, up=True))
    if isinstance(least, str):
        expected = _scale(decision, budget, pods)
        return expected, scaled_value(least, expected, up=True)
    return len(pods), 0 if least is None else least


def _scale(decision: PlanBuilder, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    """Return the sizes of all that made these pods together."""
    sizes: dict[str, int] = {}
    alone = False
    for pod in pods:
        owner = pod.metadata.controller
        if owner is None:
            alone = True
            continue
        above: Any = _owner(decision.ctx, owner.kind, owner.name, owner.uid, pod)
        higher = above.metadata.controller
        if owner.kind == "ReplicaSet" and higher is not None and higher.kind == "Deployment":
            above = _owner(decision.ctx, higher.kind, higher.name, higher.uid, pod)
        sizes[above.metadata.uid] = 1 if above.spec.replicas is None else above.spec.replicas
    if alone:
        words = (
            f"Pods selected by this PodDisruptionBudget (selector: {_go(budget.spec.selector)}) were found to be "
            "unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in "
            "undefined behavior. To account for these pods please set "
            '".spec.minAvailable" field of the PDB to an integer value.'
        )
        decision.event(budget, "Warning", "UnmanagedPods", words)
    return sum(sizes.values())


def _owner(ctx: TurnContext, kind: str, name: str, uid: str, pod: Pod) -> Any:
    """Return what made a pod, if it has a size."""
    if kind not in SIZED:
        resource = KINDS_BY_NAME[kind].resource if kind in KINDS_BY_NAME else f"{kind.lower()}s"
        raise ExpectedCountUnknown(f"{resource} does not implement the scale subresource")
    found = ctx.seen.get(kind, name, pod.metadata.namespace or "default")
    if found is None or found.metadata.uid != uid:
        raise ExpectedCountUnknown(f'found no controllers for pod "{pod.metadata.name}"')
    return found


def _go(selector: LabelSelector | None) -> str:
    """Write a selector as Go prints it."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.match_labels.items()))
    asked = "".join(
        f"LabelSelectorRequirement{{Key:{one.key},Operator:{one.operator},Values:[{' '.join(one.values)}],}},"
        for one in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{asked}}},}}"
    )


def _fail_safe(decision: PlanBuilder, budget: PodDisruptionBudget, why: str) -> None:
    """Let nothing be taken away while nobody knows how much."""
    conditions = _with(budget, "False", "SyncFailed", why, decision.ctx.moment)
    status = attrs.evolve(budget.status, disruptions_allowed=0, conditions=conditions)
    words = f"disruption controller lets no pod of {reference_of(budget)} be taken away"
    decision.update_status(budget, attrs.evolve(budget, status=status), words)


def _with(budget: PodDisruptionBudget, status: str, reason: str, message: str, now: str) -> tuple[Condition, ...]:
    """Return a budget's conditions with whether disruptions are allowed; the time is that of a change of status."""
    told = budget.status.conditions
    before = next((one for one in told if one.type == "DisruptionAllowed"), None)
    since = before.last_transition_time if before is not None and before.status == status else now
    condition = Condition(
        type="DisruptionAllowed",
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since,
        rest=Frozen(observedGeneration=generation(budget)),
    )
    return (*(one for one in told if one.type != "DisruptionAllowed"), condition)


__all__ = ["NAME", "component"]
