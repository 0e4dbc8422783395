"""LimitRange, ResourceQuota and RuntimeClass: what the API server fills in or refuses of new pods and claims."""

from typing import ClassVar

import attrs

from .meta import ALWAYS_WRITTEN, EMPTY, ApiObject, Frozen, ManifestPart
from .selector import Toleration


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class LimitRangeItem(ManifestPart):
    """spec.limits[]: bounds and defaults for each Container, Pod or PersistentVolumeClaim, quantities by resource."""

    type: str = ""
    max: Frozen = EMPTY
    min: Frozen = EMPTY
    default: Frozen = EMPTY
    default_request: Frozen = EMPTY
    max_limit_request_ratio: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class LimitRangeSpec(ManifestPart):
    limits: tuple[LimitRangeItem, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class LimitRange(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: LimitRangeSpec = LimitRangeSpec()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ScopedResourceSelectorRequirement(ManifestPart):
    """spec.scopeSelector.matchExpressions[]: a scope, and for PriorityClass the names of classes."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ScopeSelector(ManifestPart):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ResourceQuotaSpec(ManifestPart):
    hard: Frozen = EMPTY
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None

    @property
    def selected_scopes(self) -> tuple[ScopedResourceSelectorRequirement, ...]:
        """The scopes that a counted object has all: those of the list, then those of the selector."""
        listed = (ScopedResourceSelectorRequirement(scope_name=name, operator="Exists") for name in self.scopes)
        return (*listed, *(self.scope_selector.match_expressions if self.scope_selector is not None else ()))


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ResourceQuotaStatus(ManifestPart):
    """status: the limits that are in force, and what of them is used."""

    hard: Frozen = EMPTY
    used: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class ResourceQuota(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Overhead(ManifestPart):
    pod_fixed: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class RuntimeClassScheduling(ManifestPart):
    node_selector: Frozen = EMPTY
    tolerations: tuple[Toleration, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class RuntimeClass(ApiObject):
    """A container runtime: what its pods use beside their containers, and on which nodes it is."""

    api_version: ClassVar[str] = "node.k8s.io/v1"
    handler: str = attrs.field(default="", metadata=ALWAYS_WRITTEN)
    overhead: Overhead | None = None
    scheduling: RuntimeClassScheduling | None = None
