"""The requests or limits of a whole pod, as quantities: what quotas count, limits bound and kubectl prints.

Mirrors component-helpers `resource.PodRequests` and `PodLimits` (v1.36.2); the scheduler sums by itself, in integers.
"""

from collections.abc import Sequence

from .kinds import quantity
from .kinds.meta import EMPTY, Frozen
from .kinds.pod import Container, PodSpec


def pod_resources(spec: PodSpec, field: str) -> dict[str, str]:
    """Return a pod's `requests` or `limits`: of containers and sidecars, or of the largest init phase, plus overhead.

    Pod-level resources replace the sum over containers.
    """
    sidecars: list[Container] = []
    peaks: list[dict[str, str]] = []
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            sidecars.append(container)
            peaks.append(_sum_of_containers(sidecars, field))
        else:
            peaks.append(_sum_of_containers([container, *sidecars], field))
    amounts = _sum_of_containers([*spec.containers, *sidecars], field)
    for peak in peaks:
        for name, text in peak.items():
            if name not in amounts or quantity.parse(text) > quantity.parse(amounts[name]):
                amounts[name] = text
    amounts |= spec.rest.get("resources", EMPTY).get(field, EMPTY)
    for name, text in spec.overhead.items():
        if field == "requests" or name in amounts:
            amounts[name] = quantity.total([amounts.get(name, "0"), text])
    return amounts


def _sum_of_containers(containers: Sequence[Container], field: str) -> dict[str, str]:
    given: list[Frozen] = [getattr(container.resources, field) for container in containers]
    names = dict.fromkeys(name for quantities in given for name in quantities)
    return {name: quantity.total(quantities[name] for quantities in given if name in quantities) for name in names}
