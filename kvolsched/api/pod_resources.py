"""The requests or limits of a whole pod, as quantities: what quotas count, limits bound and kubectl prints.

Mirrors component-helpers `resource.PodRequests`, `PodLimits` and `AggregateContainerRequests`, and `defaultPodRequests`
of apis/core/v1 (v1.36.2); the scheduler sums by itself, in integers.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from .kinds import quantity
from .kinds.meta import EMPTY, Frozen, evolve
from .kinds.pod import Container, PodSpec
from .kinds.quantity import in_form_of, parse


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


POD_LEVEL = ("cpu", "memory")  # and hugepages: the resources that `spec.resources` may hold


def with_pod_level_requests(spec: PodSpec) -> PodSpec:
    """Return a spec in which pod-level limits have requests: what the containers request together, else the limits."""
    resources = spec.rest.get("resources") or EMPTY
    limits, requests = resources.get("limits", EMPTY), resources.get("requests", EMPTY)
    if not limits:
        return spec
    containers = tuple(container.resources.requests for container in spec.containers)
    inits = tuple((container.resources.requests, container.restart_policy == "Always")
                  for container in spec.init_containers)
    forms: dict[str, str] = {}
    for each in (*containers, *(each for each, _ in inits)):
        forms = {**each, **forms}
    total = total_requests(containers, inits)
    together = {name: in_form_of(forms[name], total[name]) for name in POD_LEVEL if name in total}
    limited = {name: text for name, text in limits.items() if name in POD_LEVEL or name.startswith("hugepages-")}
    filled = {**limited, **together, **requests}
    return evolve(spec, rest=spec.rest.with_(resources=resources.with_(requests=Frozen(filled))))


def total_requests(containers: Iterable[Frozen], inits: Iterable[tuple[Frozen, bool]],
                   defaults: Mapping[str, Fraction] = EMPTY) -> dict[str, Fraction]:
    """Return max(containers + sidecars, each init container + the sidecars before it), resource by resource.

    Containers are given by their requests, init containers also by whether they are sidecars; `defaults` are what a
    container without requests counts.
    """
    running: dict[str, Fraction] = {}
    for requests in containers:
        add(running, parsed(requests, defaults))
    sidecars: dict[str, Fraction] = {}
    starting: dict[str, Fraction] = {}
    for requests, is_sidecar in inits:
        requested = parsed(requests, defaults)
        if is_sidecar:
            add(running, requested)
            add(sidecars, requested)
            requested = sidecars
        else:
            add(requested, sidecars)
        for resource, number in requested.items():
            starting[resource] = max(starting.get(resource, number), number)
    for resource, number in starting.items():
        running[resource] = max(running.get(resource, number), number)
    return running


def parsed(requests: Frozen, defaults: Mapping[str, Fraction] = EMPTY) -> dict[str, Fraction]:
    """Return requests as exact numbers, over the defaults."""
    return {**defaults, **{resource: parse(text) for resource, text in requests.items()}}


def add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    """Add amounts to others, resource by resource."""
    for resource, number in more.items():
        total[resource] = total.get(resource, Fraction(0)) + number
