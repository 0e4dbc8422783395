"""Validate LimitRanges, ResourceQuotas and RuntimeClasses.

Mirrors core `ValidateLimitRange` and `ValidateResourceQuota`, and node `ValidateRuntimeClass` (v1.36.2).
"""

from collections.abc import Iterable
from typing import Any

from ..kinds.meta import Resources
from ..kinds.name_syntax import check_dns_label, check_qualified_name
from ..kinds.policy import LimitRange, LimitRangeItem, ResourceQuota, RuntimeClass, ScopedResourceSelectorRequirement
from ..kinds.quantity import parse
from .field_error import FieldError, FieldErrors, invalid_values, validate_immutable, validate_labels, validate_unique
from .pod_rules import allows_overcommit, validate_resources
from .selector_rules import validate_tolerations

LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
OF_CONTAINERS = frozenset({"cpu", "memory", "ephemeral-storage"})
QUOTA_COUNTS = frozenset({
    "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
})  # fmt: skip
QUOTA_RESOURCES = QUOTA_COUNTS | OF_CONTAINERS | {"requests.storage"} | {
    f"{side}.{name}" for side in ("requests", "limits") for name in OF_CONTAINERS
}  # fmt: skip
OF_PODS = frozenset({"pods", *(f"{side}{name}" for side in ("", "requests.", "limits.") for name in ("cpu", "memory"))})
SCOPES = {  # scope -> the standard resources that a quota of it may limit
    **dict.fromkeys(("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"),
                    OF_PODS),
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}  # fmt: skip
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
NOT_STANDARD = "must be a standard resource type or fully qualified"


def validate_limit_range(limit_range: LimitRange) -> FieldErrors:
    """Validate a LimitRange: one entry for each type, resources of that type, and bounds that leave something."""
    seen: set[str] = set()
    for index, item in enumerate(limit_range.spec.limits):
        path = f"spec.limits[{index}]"
        if messages := check_qualified_name(item.type):
            yield from invalid_values(f"{path}.type", item.type, messages)
        elif "/" not in item.type and item.type not in LIMIT_TYPES:
            yield FieldError(f"{path}.type", "Invalid", item.type, "must be a standard limit type or fully qualified")
        yield from validate_unique(f"{path}.type", item.type, seen)
        yield from _validate_item(path, item)


def _validate_item(path: str, item: LimitRangeItem) -> FieldErrors:
    of_pod = item.type == "Pod"
    defaults = (("default", item.default), ("defaultRequest", item.default_request))
    for field, quantities in (("max", item.max), ("min", item.min), *(() if of_pod else defaults)):
        yield from _validate_names(f"{path}.{field}", quantities, of_containers=item.type in ("Pod", "Container"))
    for field, quantities in defaults if of_pod else ():
        if quantities:
            detail = "may not be specified when `type` is 'Pod'"
            yield FieldError(f"{path}.{field}", "Forbidden", detail=detail)
    if item.type == "PersistentVolumeClaim" and "storage" not in {*item.min, *item.max}:
        detail = "either minimum or maximum storage value is required, but neither was provided"
        yield FieldError(f"{path}.limits", "Required", detail=detail)
    yield from _validate_names(f"{path}.maxLimitRequestRatio", item.max_limit_request_ratio,
                               of_containers=item.type in ("Pod", "Container"))
    for name in dict.fromkeys((*item.max, *item.min, *item.default, *item.default_request)):
        yield from _validate_order(path, name, item)
    for name, ratio in item.max_limit_request_ratio.items():
        ratio_path = f"{path}.maxLimitRequestRatio[{name}]"
        if parse(ratio) < 1:
            yield FieldError(ratio_path, "Invalid", ratio, f"ratio {ratio} is less than 1")
        if name in item.min and name in item.max and parse(item.min[name]) and (
            parse(ratio) > (most := parse(item.max[name]) / parse(item.min[name]))
        ):
            yield FieldError(ratio_path, "Invalid", ratio, f"ratio {ratio} is greater than max/min = {float(most):f}")


def _validate_names(path: str, names: Iterable[str], *, of_containers: bool) -> FieldErrors:
    for name in names:
        if messages := check_qualified_name(name):
            yield from invalid_values(f"{path}[{name}]", name, messages)
        elif "/" in name or name.startswith("hugepages-"):
            continue
        elif name not in QUOTA_RESOURCES | {"storage"}:
            yield FieldError(f"{path}[{name}]", "Invalid", name, NOT_STANDARD)
        if of_containers and "/" not in name and name not in OF_CONTAINERS and not name.startswith("hugepages-"):
            yield FieldError(f"{path}[{name}]", "Invalid", name, "must be a standard resource for containers")


def _validate_order(path: str, name: str, item: LimitRangeItem) -> FieldErrors:
    """Refuse a minimum, default or maximum of a resource that is greater than the next."""
    request, limit = (None if item.type == "Pod" else side.get(name) for side in (item.default_request, item.default))
    low, high = item.min.get(name), item.max.get(name)
    pairs = (  # smaller, larger, field and value of the error
        (low, "min value", high, "max value", "min", low),
        (low, "min value", request, "default request value", "defaultRequest", request),
        (request, "default request value", high, "max value", "defaultRequest", request),
        (request, "default request value", limit, "default limit value", "defaultRequest", request),
        (low, "min value", limit, "default value", "default", low),
        (limit, "default value", high, "max value", "default", high),
    )  # fmt: skip
    for small, small_words, large, large_words, field, value in pairs:
        if small is not None and large is not None and parse(small) > parse(large):
            detail = f"{small_words} {small} is greater than {large_words} {large}"
            yield FieldError(f"{path}.{field}[{name}]", "Invalid", value, detail)
    if request is not None and limit is not None and not allows_overcommit(name) and parse(limit) != parse(request):
        detail = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        yield FieldError(f"{path}.defaultRequest[{name}]", "Invalid", request, detail)


def validate_resource_quota(quota: ResourceQuota) -> FieldErrors:
    """Validate a ResourceQuota: names of resources, quantities that are not negative, scopes that fit them."""
    for name, text in quota.spec.hard.items():
        path = f"spec.hard[{name}]"
        yield from _validate_names("spec.hard", (name,), of_containers=False)
        if "/" not in name and not _is_standard(name):
            yield FieldError(path, "Invalid", name, "must be a standard resource for quota")
        if parse(text) < 0:
            yield FieldError(path, "Invalid", text, "must be greater than or equal to 0")
        if name in QUOTA_COUNTS and parse(text).denominator != 1:
            yield FieldError(path, "Invalid", text, "must be an integer")
    scopes, selector = quota.spec.scopes, quota.spec.scope_selector
    for scope in scopes:
        if scope not in SCOPES:
            yield FieldError("spec.scopes", "Invalid", scopes, "unsupported scope")
        yield from _validate_scope("spec.scopes", scope, quota, scopes)
    yield from _validate_conflicts("spec.scopes", scopes, scopes)
    path, requirements = "spec.scopeSelector.matchExpressions", selector.match_expressions if selector else ()
    for requirement in requirements:
        if requirement.scope_name not in SCOPES:
            yield FieldError(f"{path}.scopeName", "Invalid", requirement.scope_name, "unsupported scope")
        yield from _validate_scope(path, requirement.scope_name, quota, selector)
        yield from _validate_operator(path, requirement)
    yield from _validate_conflicts(path, [each.scope_name for each in requirements], scopes or None)


def _is_standard(name: str) -> bool:
    return name in QUOTA_RESOURCES or name.removeprefix("requests.").startswith("hugepages-")


def _validate_scope(path: str, scope: str, quota: ResourceQuota, shown: Any) -> FieldErrors:
    if any(_is_standard(name) and name not in SCOPES.get(scope, (name,)) for name in quota.spec.hard):
        yield FieldError(path, "Invalid", shown, "unsupported scope applied to resource")


def _validate_operator(path: str, requirement: ScopedResourceSelectorRequirement) -> FieldErrors:
    """Validate the operator of a scope in a selector, and whether it has values."""
    operator, values = requirement.operator, requirement.values
    if requirement.scope_name in SCOPES.keys() - {"PriorityClass", "VolumeAttributesClass"} and operator != "Exists":
        yield FieldError(f"{path}.operator", "Invalid", operator, ONLY_EXISTS)
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield FieldError(f"{path}.values", "Required", detail=detail)
    elif operator not in ("Exists", "DoesNotExist"):
        yield FieldError(f"{path}.operator", "Invalid", operator, "not a valid selector operator")
    elif values:
        detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        yield FieldError(f"{path}.values", "Invalid", values, detail)


def _validate_conflicts(path: str, scopes: Iterable[str], shown: Any) -> FieldErrors:
    for scope in ("BestEffort", "Terminating"):
        if {scope, f"Not{scope}"} <= set(scopes):
            yield FieldError(path, "Invalid", shown, "conflicting scopes")


def validate_runtime_class(runtime_class: RuntimeClass) -> FieldErrors:
    """Validate a RuntimeClass: the name of its handler, its overhead, and what it asks of nodes."""
    yield from invalid_values("handler", runtime_class.handler, check_dns_label(runtime_class.handler))
    if runtime_class.overhead is not None:
        yield from validate_resources("overhead", Resources(limits=runtime_class.overhead.pod_fixed))
    if runtime_class.scheduling is not None:
        yield from validate_labels("scheduling.nodeSelector", runtime_class.scheduling.node_selector)
        yield from validate_tolerations("scheduling.tolerations", runtime_class.scheduling.tolerations)


def validate_resource_quota_update(old: ResourceQuota, new: ResourceQuota) -> FieldErrors:
    """Refuse changes of the scopes of a quota."""
    before, after = (frozenset(quota.spec.scopes) for quota in (old, new))
    if before != after:
        yield from validate_immutable("spec.scopes", old.spec.scopes, new.spec.scopes)
