"""What objects use of a ResourceQuota: shared by admission, which counts a request, and the quota controller.

Mirrors `pkg/quota/v1/evaluator/core` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .kinds.kind import KINDS_BY_NAME
from .kinds.meta import Frozen, evolve
from .kinds.pod import Pod
from .kinds.quantity import parse, total, value
from .kinds.quota import ResourceQuota, ResourceQuotaStatus, ScopedResourceSelectorRequirement
from .kinds.volume import PersistentVolumeClaim
from .pod_resources import pod_resources
from .unmodelled_defaults import pod_qos_class
from .volumes import class_of_claim

Quantities = Mapping[str, str]
BY_KIND = {  # kind -> the resource that counts its objects, beside `count/...`
    "PersistentVolumeClaim": "persistentvolumeclaims", "Service": "services", "ResourceQuota": "resourcequotas",
    "ReplicationController": "replicationcontrollers",
}  # fmt: skip


def calculated(quota: ResourceQuota, objects: Iterable[Any]) -> ResourceQuotaStatus:
    """Return the status of a quota that counts these objects, those of its namespace and scopes."""
    used: dict[str, str] = dict.fromkeys(quota.spec.hard, "0")
    for obj in objects:
        if obj.metadata.namespace == quota.metadata.namespace and counts(quota, obj):
            for name, text in usage_of(obj).items():
                if name in used:
                    used[name] = total([used[name], text])
    return evolve(quota.status, hard=quota.spec.hard, used=Frozen(used))


def usage_of(obj: Any) -> dict[str, str]:
    """Return what an object uses, by the names of quotas: its own count, and the resources of a pod or claim.

    A pod that has ended uses nothing but `count/pods`.
    """
    amounts = {f"count/{KINDS_BY_NAME[obj.kind].resource}": "1"}
    if obj.kind in BY_KIND:
        amounts[BY_KIND[obj.kind]] = "1"
    if isinstance(obj, Pod) and not obj.terminal:
        amounts["pods"] = "1"
        amounts |= computed(pod_resources(obj, "requests"), pod_resources(obj, "limits"))
    if isinstance(obj, PersistentVolumeClaim):
        of_class = f"{class_of_claim(obj)}.storageclass.storage.k8s.io/"
        size = obj.spec.resources.requests.get("storage", "0")
        amounts["requests.storage"] = size if parse(size).denominator == 1 else str(value(size))
        if class_of_claim(obj):
            amounts |= {f"{of_class}{name}": amounts[name] for name in ("persistentvolumeclaims", "requests.storage")}
    return amounts


def computed(requests: Quantities, limits: Quantities) -> dict[str, str]:
    """Return requests and limits by the names of quotas; of extended resources only requests count."""
    amounts = {}
    for name, text in requests.items():
        amounts[f"requests.{name}"] = text
        if "/" not in name:
            amounts[name] = text
    return amounts | {f"limits.{name}": text for name, text in limits.items() if "/" not in name}


def counts(quota: ResourceQuota, obj: Any) -> bool:
    """Say whether an object is in all scopes of a quota; only pods and claims are in scopes."""
    return all(_in_scope(obj, selector) for selector in quota.spec.selected_scopes)


def _in_scope(obj: Any, selector: ScopedResourceSelectorRequirement) -> bool:
    scope = selector.scope_name
    if isinstance(obj, PersistentVolumeClaim):
        current = obj.status.rest.get("currentVolumeAttributesClassName", "")
        names = {obj.spec.volume_attributes_class_name or "", current} - {""}
        return scope == "VolumeAttributesClass" and any(_selects(selector, name) for name in names or ("",))
    if not isinstance(obj, Pod):
        return False
    match scope.removeprefix("Not"):
        case "PriorityClass":
            return _selects(selector, obj.spec.priority_class_name)
        case "Terminating":
            is_in = obj.spec.rest.get("activeDeadlineSeconds") is not None
        case "BestEffort":
            is_in = pod_qos_class(obj.spec) == "BestEffort"
        case "CrossNamespacePodAffinity":
            is_in = any(term.namespaces or term.namespace_selector is not None for term in obj.spec.pod_terms)
        case _:
            return False
    return is_in is not scope.startswith("Not")


def _selects(selector: ScopedResourceSelectorRequirement, name: str) -> bool:
    match selector.operator:
        case "In":
            return name in selector.values
        case "NotIn":
            return name not in selector.values
        case "Exists":
            return bool(name)
    return not name
