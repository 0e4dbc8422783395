"""Validate services, priority classes and disruption budgets, and updates of priority classes.

Mirrors core `ValidateService`, scheduling `ValidatePriorityClass` and policy `ValidatePodDisruptionBudget`, with the
updates of each (v1.36.2).
"""

import ipaddress
import re

from ..kinds.name_syntax import check_dns_label, check_port_name
from ..kinds.policy import SYSTEM_PRIORITY_CLASSES, PodDisruptionBudget, PriorityClass
from ..kinds.service import Service, ServicePort
from .field_error import (
    FieldError,
    FieldErrors,
    invalid_values,
    validate_immutable,
    validate_labels,
    validate_name,
    validate_supported,
    validate_unique,
)
from .selector_rules import validate_label_selector

MAX_USER_PRIORITY = 1_000_000_000
_PERCENT = re.compile("[0-9]+%")


def validate_priority_class(priority_class: PriorityClass) -> FieldErrors:
    """Validate a PriorityClass: at most the maximum for users, unless it is one of the two system classes."""
    name = priority_class.metadata.name
    if name.startswith("system-"):
        if name not in SYSTEM_PRIORITY_CLASSES:
            reason = f"{name} is not a known system priority class"
        elif priority_class.value != SYSTEM_PRIORITY_CLASSES[name]:
            reason = f"value of {name} PriorityClass must be {SYSTEM_PRIORITY_CLASSES[name]}"
        elif priority_class.global_default:
            reason = f"globalDefault of {name} PriorityClass must be false"
        else:
            reason = ""
        if reason:
            detail = f"priority class names with 'system-' prefix are reserved for system use only. error: {reason}"
            yield FieldError("metadata.name", "Forbidden", detail=detail)
    elif priority_class.value > MAX_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}"
        yield FieldError("value", "Forbidden", detail=detail)
    policy = priority_class.preemption_policy
    if policy is not None:
        yield from validate_supported("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def validate_priority_class_update(old: PriorityClass, new: PriorityClass) -> FieldErrors:
    """Validate an update of a PriorityClass: value and preemptionPolicy stay."""
    if old.value != new.value:
        yield FieldError("value", "Forbidden", detail="may not be changed in an update.")
    yield from validate_immutable("preemptionPolicy", old.preemption_policy, new.preemption_policy)


def validate_disruption_budget(budget: PodDisruptionBudget) -> FieldErrors:
    """Validate a PodDisruptionBudget: at most one of minAvailable and maxUnavailable, a selector, a known policy."""
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        yield FieldError("spec", "Invalid", spec, "minAvailable and maxUnavailable cannot be both set")
    for field, number in (("minAvailable", spec.min_available), ("maxUnavailable", spec.max_unavailable)):
        if number is not None:
            yield from validate_int_or_percent(f"spec.{field}", number)
            yield from validate_at_most_all(f"spec.{field}", number)
    yield from validate_label_selector("spec.selector", spec.selector)
    if spec.unhealthy_pod_eviction_policy is not None:
        policies = ("AlwaysAllow", "IfHealthyBudget")
        yield from validate_supported("spec.unhealthyPodEvictionPolicy", spec.unhealthy_pod_eviction_policy, policies)


def validate_int_or_percent(path: str, number: int | str) -> FieldErrors:
    """Validate a number that is not negative, or a percentage."""
    if isinstance(number, int):
        if number < 0:
            yield FieldError(path, "Invalid", number, "must be greater than or equal to 0")
    elif not _PERCENT.fullmatch(number):
        detail = (
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
            "regex used for validation is '[0-9]+%')"
        )
        yield FieldError(path, "Invalid", number, detail)


def validate_at_most_all(path: str, number: int | str) -> FieldErrors:
    """Refuse a percentage above 100."""
    if isinstance(number, str) and _PERCENT.fullmatch(number) and int(number[:-1]) > 100:
        yield FieldError(path, "Invalid", number, "must not be greater than 100%")


def number_of_int_or_percent(number: int | str) -> int:
    """Return the number of an integer or a percentage, 0 for other texts."""
    if isinstance(number, int):
        return number
    digits = number.removesuffix("%")
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def validate_service(service: Service) -> FieldErrors:
    """Validate a Service: type, selector, ports, with unique names if there are several."""
    spec, rest = service.spec, service.spec.rest
    external = spec.type == "ExternalName"
    if external:
        if spec.cluster_ip or rest.get("clusterIPs"):
            yield FieldError("spec.clusterIPs", "Forbidden", detail="may not be set for ExternalName services")
        if not spec.external_name:
            yield FieldError("spec.externalName", "Required")
    elif spec.cluster_ip != "None" and not spec.ports:
        yield FieldError("spec.ports", "Required")
    yield from validate_labels("spec.selector", spec.selector)
    yield from validate_supported("spec.type", spec.type, ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"))
    yield from validate_supported("spec.sessionAffinity", rest.get("sessionAffinity", ""), ("ClientIP", "None"))
    names: set[str] = set()
    pairs: set[tuple[str, int]] = set()
    for index, port in enumerate(spec.ports):
        if (port.protocol, port.port) in pairs:
            yield FieldError(f"spec.ports[{index}]", "Duplicate", ServicePort(protocol=port.protocol, port=port.port))
        pairs.add((port.protocol, port.port))
        if port.node_port and spec.type == "ClusterIP":
            detail = "may not be used when `type` is 'ClusterIP'"
            yield FieldError(f"spec.ports[{index}].nodePort", "Forbidden", detail=detail)
        yield from _validate_port(f"spec.ports[{index}]", port, only_port=len(spec.ports) == 1)
        if port.name:
            yield from validate_unique(f"spec.ports[{index}].name", port.name, names)


def validate_cluster_ip(service: Service) -> FieldErrors:
    """Refuse a clusterIP that is no address; the API server allocates it before any other rule is judged."""
    address = service.spec.cluster_ip
    if address in ("", "None") or service.spec.type == "ExternalName":
        return
    try:
        ipaddress.ip_address(address)
    except ValueError:
        detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        yield FieldError("spec.clusterIPs[0]", "Invalid", address, detail)


def _validate_port(path: str, port: ServicePort, *, only_port: bool) -> FieldErrors:
    yield from validate_name(f"{path}.name", port.name, check_dns_label, required=not only_port)
    if not 0 < port.port < 65536:
        yield FieldError(f"{path}.port", "Invalid", port.port, "must be between 1 and 65535, inclusive")
    yield from validate_supported(f"{path}.protocol", port.protocol, ("SCTP", "TCP", "UDP"))
    target = port.target_port
    if isinstance(target, int) and not 0 < target < 65536:
        yield FieldError(f"{path}.targetPort", "Invalid", target, "must be between 1 and 65535, inclusive")
    elif isinstance(target, str):
        yield from invalid_values(f"{path}.targetPort", target, check_port_name(target))
