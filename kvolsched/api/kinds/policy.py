"""PriorityClass and PodDisruptionBudget: priorities of pods, and how many pods may be evicted."""

from typing import ClassVar

import attrs

from .meta import ALWAYS_WRITTEN, EMPTY, ApiObject, Condition, Frozen, ManifestPart, ObjectMeta
from .selector import LabelSelector

SYSTEM_PRIORITY_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PriorityClass(ApiObject):
    """A named priority; with `global_default` it applies to pods that name no class."""

    api_version: ClassVar[str] = "scheduling.k8s.io/v1"
    value: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudgetSpec(ManifestPart):
    """spec: an empty selector protects every pod of the namespace (`policy/v1`), None protects none."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudgetStatus(ManifestPart):
    """status: the disruption controller's counts; `disrupted_pods` are being evicted."""

    observed_generation: int | None = None
    disruptions_allowed: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    current_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    desired_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    expected_pods: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    disrupted_pods: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class PodDisruptionBudget(ApiObject):
    api_version: ClassVar[str] = "policy/v1"
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    def covers(self, pod: ObjectMeta) -> bool:
        """Say whether a pod with this metadata is in the budget's namespace and selected by it."""
        same = (self.metadata.namespace or "default") == (pod.namespace or "default")
        return same and self.spec.selector is not None and self.spec.selector.matches(pod.labels)
