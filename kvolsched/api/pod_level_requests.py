"""What a pod's containers request together, and the requests of a pod as a whole that follow from its limits.

Mirrors component-helpers `resource.AggregateContainerRequests` and `defaultPodRequests` of apis/core/v1 (v1.36.2).
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from .kinds.meta import EMPTY, Frozen, evolve
from .kinds.pod import PodSpec
from .kinds.quantity import in_form_of, parse

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
