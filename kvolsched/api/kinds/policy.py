"""PriorityClass and PodDisruptionBudget: which pods come first, and how many may be taken away."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .meta import ALWAYS_WRITTEN, EMPTY, Condition, Frozen, ObjectMeta
from .selector import LabelSelector


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PriorityClass:
    """A priority by name; `global_default` gives it to pods that name none."""

    kind: ClassVar[str] = "PriorityClass"
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"

    metadata: ObjectMeta = ObjectMeta()
    value: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudgetSpec:
    """Which pods are protected; an empty selector of `policy/v1` is every pod of the namespace, None is none."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudgetStatus:
    """What the disruption controller counted; `disrupted_pods` are those already told to go."""

    observed_generation: int | None = None
    disruptions_allowed: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    current_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    desired_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    expected_pods: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    disrupted_pods: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudget:
    kind: ClassVar[str] = "PodDisruptionBudget"
    api_version: ClassVar[str] = "policy/v1"

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
    rest: Frozen = EMPTY
