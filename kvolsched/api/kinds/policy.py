"""Policies: priorities of pods, how many may be evicted, and what is filled in or refused of new pods and claims."""

from typing import ClassVar

import attrs

from .meta import ALWAYS_WRITTEN, EMPTY, ApiObject, Condition, Frozen, ManifestPart, ObjectMeta
from .selector import LabelSelector, Toleration

SYSTEM_PRIORITY_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PriorityClass(ApiObject):
    """A named priority; with `global_default` it applies to pods that name no class."""

    api_version: ClassVar[str] = "scheduling.k8s.io/v1"
    value: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodDisruptionBudgetSpec(ManifestPart):
    """spec: an empty selector protects every pod of the namespace (`policy/v1`), None protects none."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodDisruptionBudgetStatus(ManifestPart):
    """status: the disruption controller's counts; `disrupted_pods` are being evicted."""

    observed_generation: int | None = None
    disruptions_allowed: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    current_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    desired_healthy: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    expected_pods: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    disrupted_pods: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class PodDisruptionBudget(ApiObject):
    api_version: ClassVar[str] = "policy/v1"
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    def covers(self, pod: ObjectMeta) -> bool:
        """Say whether a pod with this metadata is in the budget's namespace and selected by it."""
        same = (self.metadata.namespace or "default") == (pod.namespace or "default")
        return same and self.spec.selector is not None and self.spec.selector.matches(pod.labels)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class LimitRangeItem(ManifestPart):
    """spec.limits[]: bounds and defaults for each Container, Pod or PersistentVolumeClaim, quantities by resource."""

    type: str = ""
    max: Frozen = EMPTY
    min: Frozen = EMPTY
    default: Frozen = EMPTY
    default_request: Frozen = EMPTY
    max_limit_request_ratio: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class LimitRangeSpec(ManifestPart):
    limits: tuple[LimitRangeItem, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class LimitRange(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: LimitRangeSpec = LimitRangeSpec()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ScopedResourceSelectorRequirement(ManifestPart):
    """spec.scopeSelector.matchExpressions[]: a scope, and for PriorityClass the names of classes."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ScopeSelector(ManifestPart):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ResourceQuotaSpec(ManifestPart):
    hard: Frozen = EMPTY
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None

    @property
    def selected_scopes(self) -> tuple[ScopedResourceSelectorRequirement, ...]:
        """The scopes that a counted object has all: those of the list, then those of the selector."""
        listed = (ScopedResourceSelectorRequirement(scope_name=name, operator="Exists") for name in self.scopes)
        return (*listed, *(self.scope_selector.match_expressions if self.scope_selector is not None else ()))


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ResourceQuotaStatus(ManifestPart):
    """status: the limits that are in force, and what of them is used."""

    hard: Frozen = EMPTY
    used: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ResourceQuota(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Overhead(ManifestPart):
    pod_fixed: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class RuntimeClassScheduling(ManifestPart):
    node_selector: Frozen = EMPTY
    tolerations: tuple[Toleration, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class RuntimeClass(ApiObject):
    """A container runtime: what its pods use beside their containers, and on which nodes it is."""

    api_version: ClassVar[str] = "node.k8s.io/v1"
    handler: str = attrs.field(default="", metadata=ALWAYS_WRITTEN)
    overhead: Overhead | None = None
    scheduling: RuntimeClassScheduling | None = None
