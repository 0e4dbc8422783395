"""The resource requests of a pod, summed as kube-scheduler sums them and cached per pod template.

Reads pods only. Mirrors component-helpers `resource.PodRequests` and `util/pod_resources.go` (v1.36.2): containers
run together, init containers run one after the other beside the sidecars started before them, and overhead is added.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

import attrs

from kvolsched.api.kinds.meta import EMPTY, Frozen, evolve
from kvolsched.api.kinds.pod import Container, Pod, PodSpec
from kvolsched.api.kinds.quantity import parse
from kvolsched.api.pod_resources import add, parsed, total_requests

CPU, MEMORY, STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
NATIVE = (CPU, MEMORY, STORAGE)

# Scores count a container without requests as if it requested this much.
SCORED_CPU = Fraction(1, 10)
SCORED_MEMORY = Fraction(200 * 2**20)

LARGEST = 2**63 - 1  # Kubernetes counts in signed 64-bit integers


@attrs.frozen
class Requests:
    """Amounts by resource: `cpu` in thousandths, everything else in whole units; amounts of zero are left out.

    `scored_cpu` and `scored_memory` are what scores count, with defaults for containers without requests. Of the pod to
    be placed LeastAllocated counts `placed_cpu` and `placed_memory`, which leave pod-level requests out (v1.36.2).
    """

    amounts: Mapping[str, int]
    scored_cpu: int
    scored_memory: int
    placed_cpu: int
    placed_memory: int

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
    return _summed(spec, spec.containers, spec.init_containers)


def held_requests(pod: Pod) -> Requests:
    """Return what a pod on a node requests: of a container that is being resized the most of old and new."""
    spec, statuses = pod.spec, _statuses_with_resources(pod)
    if not statuses:
        return _summed(spec, spec.containers, spec.init_containers)
    return _summed(spec, _resized(pod, spec.containers, statuses), _resized(pod, spec.init_containers, statuses))


def is_resized(old: Pod, new: Pod) -> bool:
    """Say whether a new status of a pod, with the spec as it was, changes what the pod requests."""
    return (_lists_containers(old) or _lists_containers(new)) and held_requests(old) != held_requests(new)


def _lists_containers(pod: Pod) -> bool:
    return "containerStatuses" in pod.status.rest or "initContainerStatuses" in pod.status.rest


def _statuses_with_resources(pod: Pod) -> dict[str, Frozen]:
    """Return the statuses of containers that tell of resources, by name."""
    rest, found = pod.status.rest, {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for status in rest.get(field, ()):
            if "resources" in status:
                found[status.get("name")] = status
    return found


def _resized(pod: Pod, containers: tuple[Container, ...], statuses: Mapping[str, Frozen]) -> tuple[Container, ...]:
    """Return containers with the most of spec, status and allocated resources; without spec if it is infeasible.

    In-place resize as `resource.PodRequests` with status resources (v1.36.2); of init containers only sidecars resize.
    """
    infeasible = any(one.type == "PodResizePending" and one.reason == "Infeasible" for one in pod.status.conditions)
    found = []
    for container in containers:
        status = statuses.get(container.name)
        if status is None or (container.restart_policy != "Always" and container not in pod.spec.containers):
            found.append(container)
            continue
        sides = [status["resources"].get("requests", EMPTY), status.get("allocatedResources", EMPTY)]
        if not infeasible:
            sides.append(container.resources.requests)
        most: dict[str, str] = {}
        for side in sides:
            for resource, quantity in side.items():
                if resource not in most or parse(str(quantity)) > parse(most[resource]):
                    most[resource] = str(quantity)
        found.append(evolve(container, resources=evolve(container.resources, requests=Frozen(most))))
    return tuple(found)


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


def _summed(spec: PodSpec, containers: Iterable[Container], inits: Iterable[Container]) -> Requests:
    """Return the sum for containers of a pod; of them only what is summed is compared with that of other pods."""
    run_together = tuple([container.resources.requests for container in containers])
    run_first = tuple([(container.resources.requests, container.restart_policy == "Always") for container in inits])
    return _sum_requests(run_together, run_first, spec.overhead or None, spec.rest.get("resources"))


@lru_cache(maxsize=1 << 14)
def _sum_requests(containers: tuple[Frozen, ...], inits: tuple[tuple[Frozen, bool], ...], overhead: Frozen | None,
                  pod_resources: Frozen | None) -> Requests:
    of_pod = (pod_resources or EMPTY).get("requests", EMPTY)
    whole, more = parsed(of_pod), parsed(overhead or EMPTY)
    real = {**total_requests(containers, inits), **whole}  # pod-level requests replace the sums
    add(real, more)
    assumed = {CPU: SCORED_CPU, MEMORY: SCORED_MEMORY}
    placed = scored = total_requests(containers, inits, assumed)
    add(placed, more)
    if whole:  # then nothing is assumed of containers in what the pod requests anyway
        assumed = {resource: number for resource, number in assumed.items() if resource not in real}
        scored = {**total_requests(containers, inits, assumed), **whole}
        add(scored, more)
    amounts = {resource: to_units(resource, number) for resource, number in sorted(real.items())}
    counted = [
        to_units(resource, sums.get(resource, Fraction(0))) for sums in (scored, placed) for resource in (CPU, MEMORY)
    ]
    return Requests({resource: amount for resource, amount in amounts.items() if amount}, *counted)
