"""What objects use of a ResourceQuota: shared by admission, which counts a request, and the quota controller.

Mirrors `pkg/quota/v1/evaluator/core` (v1.36.2).
"""

from collections.abc import Mapping
from typing import Any

import attrs

from .kinds.kind import KINDS_BY_NAME
from .kinds.meta import EMPTY, Frozen, evolve
from .kinds.pod import Pod, PodSpec
from .kinds.policy import ResourceQuota, ResourceQuotaStatus, ScopedResourceSelectorRequirement
from .kinds.quantity import in_form_of, parse, total, value
from .kinds.service import Service
from .kinds.volume import PersistentVolumeClaim
from .pod_resources import pod_resources
from .remembered import remembered
from .unmodelled_defaults import pod_qos_class
from .volumes import class_of_claim

Quantities = Mapping[str, str]
BY_KIND = {  # kind -> the resource that counts its objects, beside `count/...`
    "PersistentVolumeClaim": "persistentvolumeclaims", "Service": "services", "ResourceQuota": "resourcequotas",
    "ReplicationController": "replicationcontrollers",
}  # fmt: skip


@attrs.frozen(cache_hash=True)
class Usage:
    """What an object uses, by the names of quotas, and the scopes that it is in, each with the classes it names."""

    amounts: Frozen
    scopes: Frozen = EMPTY


NOTHING = Usage(EMPTY)


def calculated(quota: ResourceQuota, uses: Mapping[Usage, int]) -> ResourceQuotaStatus:
    """Return the status of a quota in whose namespace so many objects use the same each."""
    used: dict[str, str] = dict.fromkeys(quota.spec.hard, "0")
    for usage in sorted(uses, key=lambda usage: sorted(usage.amounts.items())):
        for name, text in usage.amounts.items() if counts(quota, usage) else ():
            if name in used:
                used[name] = total([used[name], in_form_of(text, parse(text) * uses[usage])])
    return evolve(quota.status, hard=quota.spec.hard, used=Frozen(used))


def usage_of(obj: Any) -> Usage:
    """Return what an object uses: its own count, and the resources of a pod, claim or Service.

    A pod that has ended uses nothing but `count/pods`.
    """
    if isinstance(obj, Pod):
        usage = _usage_of_pod(obj.spec)
        return usage if not obj.terminal else Usage(Frozen({"count/pods": "1"}), usage.scopes)
    if obj.kind not in KINDS_BY_NAME:  # of which nobody knows the plural
        return Usage(Frozen({BY_KIND[obj.kind]: "1"}) if obj.kind in BY_KIND else EMPTY, EMPTY)
    amounts, scopes = {f"count/{KINDS_BY_NAME[obj.kind].resource}": "1"}, EMPTY
    if obj.kind in BY_KIND:
        amounts[BY_KIND[obj.kind]] = "1"
    if isinstance(obj, PersistentVolumeClaim):
        scopes = Frozen({"VolumeAttributesClass": _attributes_classes(obj)})
        amounts["requests.storage"] = _size(obj)
        if name := class_of_claim(obj):
            of_class = ("persistentvolumeclaims", "requests.storage")
            amounts |= {f"{name}.storageclass.storage.k8s.io/{each}": amounts[each] for each in of_class}
    if isinstance(obj, Service):
        amounts |= _ports_and_balancers(obj)
    return Usage(Frozen(amounts), scopes)


@remembered
def _usage_of_pod(spec: PodSpec) -> Usage:
    """Return what a pod uses that has not ended."""
    amounts = computed(pod_resources(spec, "requests"), pod_resources(spec, "limits"))
    is_short, is_best_effort = "activeDeadlineSeconds" in spec.rest, pod_qos_class(spec) == "BestEffort"
    scopes = {"Terminating" if is_short else "NotTerminating": (),
              "BestEffort" if is_best_effort else "NotBestEffort": (),
              "PriorityClass": (spec.priority_class_name,)}  # fmt: skip
    if any(term.namespaces or term.namespace_selector is not None for term in spec.pod_terms):
        scopes["CrossNamespacePodAffinity"] = ()
    return Usage(Frozen({"count/pods": "1", "pods": "1"} | amounts), Frozen(scopes))


def _size(claim: PersistentVolumeClaim) -> str:
    """Return the storage of a claim: what it asks for or, if that is more, what is allocated; in whole bytes."""
    sizes = claim.spec.resources.requests, claim.status.rest.get("allocatedResources", EMPTY)
    size = max((str(each.get("storage", "0")) for each in sizes), key=parse)
    return size if parse(size).denominator == 1 else str(value(size))


def _ports_and_balancers(service: Service) -> dict[str, str]:
    """Return the load balancers and node ports of a Service, those that it will be given among them."""
    spec, is_balanced = service.spec, service.spec.type == "LoadBalancer"
    if is_balanced and spec.rest.get("allocateLoadBalancerNodePorts") is False:
        ports = sum(bool(port.node_port) for port in spec.ports)
    else:
        ports = len(spec.ports) if is_balanced or spec.type == "NodePort" else 0
    return {"services.loadbalancers": str(int(is_balanced)), "services.nodeports": str(ports)}


def computed(requests: Quantities, limits: Quantities) -> dict[str, str]:
    """Return requests and limits by the names of quotas; of extended resources only requests count."""
    amounts = {}
    for name, text in requests.items():
        amounts[f"requests.{name}"] = text
        if "/" not in name:
            amounts[name] = text
    return amounts | {f"limits.{name}": text for name, text in limits.items() if "/" not in name}


def _attributes_classes(claim: PersistentVolumeClaim) -> tuple[str, ...]:
    """Return the classes of volume attributes that a claim has, asks for or is changed to; ("",) for none."""
    status = claim.status.rest
    target = status.get("modifyVolumeStatus", EMPTY).get("targetVolumeAttributesClassName")
    names = {claim.spec.volume_attributes_class_name, status.get("currentVolumeAttributesClassName"), target}
    return tuple(sorted(filter(None, names))) or ("",)


def counts(quota: ResourceQuota, usage: Usage) -> bool:
    """Say whether what uses this is in all scopes of a quota; only pods and claims are in scopes."""
    return all(_in_scope(usage.scopes, selector) for selector in quota.spec.selected_scopes)


def _in_scope(scopes: Mapping[str, tuple[str, ...]], selector: ScopedResourceSelectorRequirement) -> bool:
    names = scopes.get(selector.scope_name)
    return names is not None and (not names or any(_selects(selector, name) for name in names))


def _selects(selector: ScopedResourceSelectorRequirement, name: str) -> bool:
    match selector.operator:
        case "In":
            return name in selector.values
        case "NotIn":
            return name not in selector.values
        case "Exists":
            return bool(name)
    return not name
