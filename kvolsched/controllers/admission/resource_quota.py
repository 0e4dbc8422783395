"""ResourceQuota: what a namespace's pods, claims and objects use of its quotas, and refusals of what would exceed one.

Asked last, after webhooks; what it admits is counted at once in status.used. Limits that the quota controller has not
put in force yet are in force here: the request finds the use by counting what is stored. Mirrors
`plugin/pkg/admission/resourcequota` (v1.36.2).
"""

from collections import Counter
from typing import Any

from ...api.kinds.meta import evolve
from ...api.kinds.pod import Pod
from ...api.kinds.quantity import canonical, parse, total
from ...api.kinds.quota import ResourceQuota
from ...api.quotas import NOTHING, Quantities, Usage, calculated, computed, counts, usage_of
from ...world.apiserver import Denial
from .plugin import StoredObjects, deny_forbidden

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
        in_force = quota.status if quota.status.hard == quota.spec.hard else calculated(quota, _uses(namespace, stored))
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


def _uses(namespace: str, stored: StoredObjects) -> Counter[Usage]:
    """Return how many of the stored objects of a namespace use the same."""
    return Counter(usage_of(obj) for key, obj in stored.objects.items() if key[1] == namespace and key[0] != "Event")


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
