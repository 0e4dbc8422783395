"""LimitRanger: a namespace's LimitRanges fill in resources of containers, and refuse pods and claims out of bounds.

Mirrors `plugin/pkg/admission/limitranger` (v1.36.2). LimitRanges apply in the order of their names, resources too.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...api.defaults import with_defaults
from ...api.kinds.meta import EMPTY, evolve, evolve_parts
from ...api.kinds.pod import Container, Pod
from ...api.kinds.policy import LimitRange, LimitRangeItem, ResourceQuota
from ...api.kinds.quantity import canonical, parse, total
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.pod_resources import pod_resources
from ...api.quotas import NOTHING, Quantities, calculated, computed, counts, usage_of
from ...world.apiserver import Denial
from .plugin import StoredObjects, deny_forbidden

ANNOTATION = "kubernetes.io/limit-ranger"


def fill_in_resources(_old: Pod | None, new: Pod, stored: StoredObjects) -> Pod:
    """Give containers the default requests and limits of their namespace, and say so in an annotation."""
    found = _limit_ranges(new, stored)
    if not found:
        return new
    new = with_defaults(new)  # a limit is the default of its request before LimitRanges are asked
    for limit_range in found:
        requests: dict[str, str] = {}
        limits: dict[str, str] = {}
        for item in limit_range.spec.limits:
            if item.type == "Container":
                requests |= item.default_request
                limits |= item.default
        told: list[str] = []
        containers = tuple(_filled(each, requests, limits, "container", told) for each in new.spec.containers)
        inits = tuple(_filled(each, requests, limits, "init container", told) for each in new.spec.init_containers)
        if told:
            said = new.metadata.annotations.merged({ANNOTATION: f"LimitRanger plugin set: {'; '.join(told)}"})
            spec = {"containers": containers, "init_containers": inits}
            new = evolve_parts(new, metadata={"annotations": said}, spec=spec)
    return new


def _filled(container: Container, requests: Quantities, limits: Quantities, what: str, told: list[str]) -> Container:
    """Return a container with the resources that it lacks, and tell which it got."""
    resources = container.resources
    for field, given in (("requests", requests), ("limits", limits)):
        before = getattr(resources, field)
        if missing := {name: given[name] for name in sorted(given) if name not in before}:
            told.append(f"{', '.join(missing)} {field.removesuffix('s')} for {what} {container.name}")
            resources = evolve(resources, **{field: before.merged(missing)})
    return evolve(container, resources=resources) if resources is not container.resources else container


def check_limits(
    _old: Pod | PersistentVolumeClaim | None, new: Pod | PersistentVolumeClaim, stored: StoredObjects
) -> Pod | PersistentVolumeClaim | Denial:
    """Refuse a pod or claim that is out of the bounds of its namespace, with all faults of the first LimitRange."""
    for limit_range in _limit_ranges(new, stored):
        found = [fault for item in limit_range.spec.limits for fault in _faults(item, new)]
        if faults := list(dict.fromkeys(found)):
            return deny_forbidden(new, faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return new


def _limit_ranges(obj: Pod | PersistentVolumeClaim, stored: StoredObjects) -> list[LimitRange]:
    found = [*stored.of_kind("LimitRange")]
    if not found:
        return found
    namespace = obj.metadata.namespace or "default"
    return sorted((each for each in found if each.metadata.namespace == namespace), key=lambda each: each.metadata.name)


def _faults(item: LimitRangeItem, obj: Pod | PersistentVolumeClaim) -> Iterator[str]:
    """Yield what an object exceeds or falls short of, in the server's words."""
    if isinstance(obj, PersistentVolumeClaim):
        if item.type == "PersistentVolumeClaim":
            yield from _faults_of(item, obj.spec.resources.requests, None)
    elif item.type == "Container":
        for container in (*obj.spec.containers, *obj.spec.init_containers):
            yield from _faults_of(item, container.resources.requests, container.resources.limits)
    elif item.type == "Pod":
        bare = evolve(obj.spec, overhead=EMPTY)  # which is no part of these sums
        yield from _faults_of(item, pod_resources(bare, "requests"), pod_resources(bare, "limits"))


def _faults_of(item: LimitRangeItem, requests: Quantities, limits: Quantities | None) -> Iterator[str]:
    """Yield the faults of requests and limits; without limits (None) the maximum is of requests."""
    for name, bound in sorted(item.min.items()):
        words, least = f"minimum {name} usage per {item.type} is {bound}", parse(bound)
        if name not in requests:
            yield f"{words}.  No request is specified"
            continue
        sides = (("request", requests.get(name)), ("limit", (limits or EMPTY).get(name)))
        found = (f"{words}, but {side} is {text}" for side, text in sides if text is not None and parse(text) < least)
        yield from islice(found, 1)
    for name, bound in sorted(item.max.items()):
        words, most = f"maximum {name} usage per {item.type} is {bound}", parse(bound)
        needed, given = ("request", requests) if limits is None else ("limit", limits)
        if name not in given:
            yield f"{words}.  No {needed} is specified"
            continue
        sides = (("limit", (limits or EMPTY).get(name)), ("request", requests.get(name)))
        found = (f"{words}, but {side} is {text}" for side, text in sides if text is not None and parse(text) > most)
        yield from islice(found, 1)
    if limits is not None:
        yield from _ratio_faults(item, requests, limits)


def _ratio_faults(item: LimitRangeItem, requests: Quantities, limits: Quantities) -> Iterator[str]:
    for name, bound in sorted(item.max_limit_request_ratio.items()):
        words = f"{name} max limit to request ratio per {item.type} is {bound}"
        request, limit = (parse(side.get(name, "0")) for side in (requests, limits))
        if not request:
            yield f"{words}, but no request is specified or request is 0"
        elif not limit:
            yield f"{words}, but no limit is specified or limit is 0"
        elif limit / request > parse(bound):
            yield f"{words}, but provided ratio is {float(limit / request):f}"


COMPUTED = ("cpu", "memory")  # which every container must name if a quota limits them


def charge(old: Any, new: Any, stored: StoredObjects) -> tuple[ResourceQuota, ...] | Denial:
    """Return the quotas that count a new object, or how a claim or Service grows, with their use; or the refusal."""
    if old is not None and new.kind not in ("PersistentVolumeClaim", "Service"):
        return ()
    found: list[ResourceQuota] = [*stored.of_kind("ResourceQuota")]
    if not found:
        return ()
    namespace = new.metadata.namespace or "default"
    usage = usage_of(new)
    found = [each for each in found if each.metadata.namespace == namespace and counts(each, usage)]
    before = (usage_of(old) if old is not None else NOTHING).amounts
    asked = {name: text if name not in before else canonical(f"{(parse(text) - parse(before[name])) * 10**9 // 1}n")
             for name, text in usage.amounts.items()}
    charged = []
    for quota in sorted(found, key=lambda each: each.metadata.name):
        in_force = quota.status if quota.status.hard == quota.spec.hard else calculated(quota, Counter(
            usage_of(obj) for key, obj in stored.objects.items() if key[1] == namespace and key[0] != "Event"
        ))  # fmt: skip
        if missing := _unspecified(new, in_force.hard) if old is None else "":
            return deny_forbidden(new, f"failed quota: {quota.metadata.name}: must specify {missing}")
        asks = {name: text for name, text in sorted(asked.items()) if name in in_force.hard and parse(text) > 0}
        used = {name: total([in_force.used.get(name, "0"), text]) for name, text in asks.items()}
        if exceeded := [name for name, text in used.items() if parse(text) > parse(in_force.hard[name])]:
            sides = (asks, in_force.used, in_force.hard)
            numbers = (",".join(f"{name}={side.get(name, '0')}" for name in exceeded) for side in sides)
            words = "exceeded quota: {}, requested: {}, used: {}, limited: {}"
            return deny_forbidden(new, words.format(quota.metadata.name, *numbers))
        if used:
            charged.append(evolve(quota, status=evolve(in_force, used=in_force.used.merged(used))))
    return tuple(charged)


def _unspecified(obj: Any, hard: Quantities) -> str:
    """Return which resources that a quota limits the containers of a pod do not name, as `requests.cpu for: app`."""
    if not isinstance(obj, Pod) or obj.spec.rest.get("resources"):
        return ""
    limited = {name for name in hard if name.removeprefix("requests.").removeprefix("limits.") in COMPUTED}
    lacking: dict[str, list[str]] = {}
    for container in (*obj.spec.containers, *obj.spec.init_containers):
        for name in limited - computed(container.resources.requests, container.resources.limits).keys():
            lacking.setdefault(name, []).append(container.name)
    return "; ".join(f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))
