"""What a pod asks of a node: its resources summed as kube-scheduler sums them, once per template.

Reads pod specs only. Mirrors component-helpers `resource.PodRequests` and `util/pod_resources.go` (v1.36.2): containers
run together, init containers one after the other beside the sidecars started before them, and overhead is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

import attrs

from kvolsched.api.kinds.meta import EMPTY, Frozen
from kvolsched.api.kinds.pod import Container, PodSpec
from kvolsched.api.kinds.quantity import parse

CPU, MEMORY, STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
NATIVE = (CPU, MEMORY, STORAGE)

# For scoring only, a container that names no request counts as if it asked for this much.
SCORED_CPU = Fraction(1, 10)
SCORED_MEMORY = Fraction(200 * 2**20)

LARGEST = 2**63 - 1  # Kubernetes counts in signed 64-bit integers


@attrs.frozen
class Requests:
    """Resources by name: `cpu` in thousandths, everything else in whole units; asks of zero are left out.

    `scored_cpu` and `scored_memory` are what the scores count, with the defaults for containers that name nothing.
    """

    asked: Mapping[str, int]
    scored_cpu: int
    scored_memory: int

    @property
    def cpu(self) -> int:
        """Requested cpu in thousandths of a core."""
        return self.asked.get(CPU, 0)

    @property
    def memory(self) -> int:
        """Requested memory in bytes."""
        return self.asked.get(MEMORY, 0)


def of(spec: PodSpec) -> Requests:
    """Return what a pod with this spec asks of its node."""
    return _summed(spec.containers, spec.init_containers, spec.overhead, spec.rest.get("resources", EMPTY))


def units(resource: str, number: Fraction) -> int:
    """Return an exact quantity of a resource in the integer units it is counted in, rounded up."""
    scaled = number * 1000 if resource == CPU else number
    return max(-LARGEST, min(LARGEST, -(-scaled // 1)))


def allocatable(quantities: Mapping[str, str]) -> dict[str, int]:
    """Return a node's allocatable resources in the units of `Requests`."""
    return {resource: units(resource, parse(text)) for resource, text in quantities.items()}


def written(resource: str, amount: int) -> str:
    """Return an amount as a person writes it: `500m` of cpu, `64Mi` of memory, `3` pods."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if resource in (MEMORY, STORAGE) or resource.startswith("hugepages-"):
        for power, suffix in ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
            if amount and amount % 2**power == 0:
                return f"{amount >> power}{suffix}"
    return str(amount)


@lru_cache(maxsize=1 << 14)
def _summed(
    containers: tuple[Container, ...], inits: tuple[Container, ...], overhead: Frozen, whole: Frozen
) -> Requests:
    real = _total(containers, inits, {})
    scored = _total(containers, inits, {CPU: SCORED_CPU, MEMORY: SCORED_MEMORY})
    for resource, text in whole.get(
        "requests", EMPTY
    ).items():  # asked for the pod as a whole: replaces the sums
        real[resource] = scored[resource] = parse(text)
    for resource, text in overhead.items():
        real[resource] = real.get(resource, Fraction(0)) + parse(text)
        scored[resource] = scored.get(resource, Fraction(0)) + parse(text)
    asked = {resource: units(resource, number) for resource, number in sorted(real.items())}
    return Requests(
        {resource: amount for resource, amount in asked.items() if amount},
        units(CPU, scored.get(CPU, Fraction(0))),
        units(MEMORY, scored.get(MEMORY, Fraction(0))),
    )


def _total(
    containers: Iterable[Container], inits: Iterable[Container], missing: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return max(containers + sidecars, each init container + the sidecars before it), resource by resource."""
    running: dict[str, Fraction] = {}
    for container in containers:
        _add(running, _requests(container, missing))
    sidecars: dict[str, Fraction] = {}
    starting: dict[str, Fraction] = {}
    for container in inits:
        here = _requests(container, missing)
        if container.restart_policy == "Always":
            _add(running, here)
            _add(sidecars, here)
            here = sidecars
        else:
            _add(here, sidecars)
        for resource, number in here.items():
            starting[resource] = max(starting.get(resource, number), number)
    for resource, number in starting.items():
        running[resource] = max(running.get(resource, number), number)
    return running


def _requests(container: Container, missing: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {**missing, **{resource: parse(text) for resource, text in container.resources.requests.items()}}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for resource, number in more.items():
        total[resource] = total.get(resource, Fraction(0)) + number
