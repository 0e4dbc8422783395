"""The resource requests of a pod, summed as kube-scheduler sums them and cached per pod template.

Reads pod specs only. Mirrors component-helpers `resource.PodRequests` and `util/pod_resources.go` (v1.36.2): containers
run together, init containers run one after the other beside the sidecars started before them, and overhead is added.
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

# Scores count a container without requests as if it requested this much.
SCORED_CPU = Fraction(1, 10)
SCORED_MEMORY = Fraction(200 * 2**20)

LARGEST = 2**63 - 1  # Kubernetes counts in signed 64-bit integers


@attrs.frozen
class Requests:
    """Amounts by resource: `cpu` in thousandths, everything else in whole units; amounts of zero are left out.

    `scored_cpu` and `scored_memory` are what scores count, with defaults for containers without requests.
    """

    amounts: Mapping[str, int]
    scored_cpu: int
    scored_memory: int

    @property
    def cpu(self) -> int:
        """Requested cpu in thousandths of a core."""
        return self.amounts.get(CPU, 0)

    @property
    def memory(self) -> int:
        """Requested memory in bytes."""
        return self.amounts.get(MEMORY, 0)


def pod_requests(spec: PodSpec) -> Requests:
    """Return the resource requests of a pod with this spec."""
    return _sum_requests(spec.containers, spec.init_containers, spec.overhead, spec.rest.get("resources", EMPTY))


def to_units(resource: str, number: Fraction) -> int:
    """Convert an exact quantity of a resource to the integer units of `Requests`, rounded up."""
    scaled = number * 1000 if resource == CPU else number
    return max(-LARGEST, min(LARGEST, -(-scaled // 1)))


def allocatable(quantities: Mapping[str, str]) -> dict[str, int]:
    """Return a node's allocatable resources in the units of `Requests`."""
    return {resource: _units(resource, text) for resource, text in quantities.items()}


@lru_cache(maxsize=1 << 12)
def _units(resource: str, text: str) -> int:
    return to_units(resource, parse(text))


def format_amount(resource: str, amount: int) -> str:
    """Format an amount as a Kubernetes quantity: `500m` of cpu, `64Mi` of memory, `3` pods."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if resource in (MEMORY, STORAGE) or resource.startswith("hugepages-"):
        for power, suffix in ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
            if amount and amount % 2**power == 0:
                return f"{amount >> power}{suffix}"
    return str(amount)


@lru_cache(maxsize=1 << 14)
def _sum_requests(containers: tuple[Container, ...], inits: tuple[Container, ...], overhead: Frozen,
                  pod_resources: Frozen) -> Requests:
    real = _total(containers, inits, {})
    scored = _total(containers, inits, {CPU: SCORED_CPU, MEMORY: SCORED_MEMORY})
    for resource, text in pod_resources.get("requests", EMPTY).items():  # pod-level requests replace the sums
        real[resource] = scored[resource] = parse(text)
    for resource, text in overhead.items():
        real[resource] = real.get(resource, Fraction(0)) + parse(text)
        scored[resource] = scored.get(resource, Fraction(0)) + parse(text)
    amounts = {resource: to_units(resource, number) for resource, number in sorted(real.items())}
    return Requests({resource: amount for resource, amount in amounts.items() if amount},
                    to_units(CPU, scored.get(CPU, Fraction(0))), to_units(MEMORY, scored.get(MEMORY, Fraction(0))))


def _total(containers: Iterable[Container], inits: Iterable[Container],
           defaults: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return max(containers + sidecars, each init container + the sidecars before it), resource by resource."""
    running: dict[str, Fraction] = {}
    for container in containers:
        _add(running, _requests(container, defaults))
    sidecars: dict[str, Fraction] = {}
    starting: dict[str, Fraction] = {}
    for container in inits:
        requested = _requests(container, defaults)
        if container.restart_policy == "Always":
            _add(running, requested)
            _add(sidecars, requested)
            requested = sidecars
        else:
            _add(requested, sidecars)
        for resource, number in requested.items():
            starting[resource] = max(starting.get(resource, number), number)
    for resource, number in starting.items():
        running[resource] = max(running.get(resource, number), number)
    return running


def _requests(container: Container, defaults: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {**defaults, **{resource: parse(text) for resource, text in container.resources.requests.items()}}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for resource, number in more.items():
        total[resource] = total.get(resource, Fraction(0)) + number
