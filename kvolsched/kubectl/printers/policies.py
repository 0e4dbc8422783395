"""kubectl's print of namespaces, quotas, LimitRanges, PodDisruptionBudgets, PriorityClasses and RuntimeClasses."""

from collections.abc import Iterable, Iterator, Mapping

from ...api.kinds.meta import EMPTY
from ...api.kinds.policy import LimitRange, PodDisruptionBudget, PriorityClass, ResourceQuota
from ...api.kinds.workload import Namespace
from ..formatting import NONE, UNKNOWN, UNSET, format_labels, format_selector, go_string
from .printer import DescribeContext, Printer, metadata_lines, printer

SCOPES = {  # what kubectl says of a scope
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before "
    "being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long running "
    "pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort quality "
    "of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a burstable or "
    "guaranteed quality of service.",
}


def _used_and_hard(quota: ResourceQuota) -> list[tuple[str, str, str]]:
    status = quota.status
    return [(name, status.used.get(name, "0"), hard) for name, hard in sorted(status.hard.items())]


def _quota_cells(quota: ResourceQuota) -> Iterable[str]:
    sides: dict[bool, list[str]] = {False: [], True: []}  # by whether they are limits
    for name, used, hard in _used_and_hard(quota):
        sides[name.startswith("limits.")].append(f"{name}: {used}/{hard}")
    return map(", ".join, sides.values())


def quota_lines(quota: ResourceQuota, indent: str = "", rule: str = "----") -> Iterator[str]:
    """Yield the scopes of a quota, then used and hard of each resource."""
    scopes = sorted(quota.spec.scopes)
    if scopes:
        yield f"{indent}Scopes:\t{', '.join(scopes)}"
        yield from (f"{indent or ' '}* {SCOPES[scope]}" for scope in scopes if scope in SCOPES)
    yield f"{indent}Resource\tUsed\tHard"
    yield f"{indent}--------\t{rule}\t{rule}"
    yield from (f"{indent}{name}\t{used}\t{hard}" for name, used, hard in _used_and_hard(quota))


def limit_lines(limit_range: LimitRange, indent: str = "") -> Iterator[str]:
    """Yield a line for each type and resource of a LimitRange."""
    for item in limit_range.spec.limits:
        sides = (item.min, item.max, item.default_request, item.default, item.max_limit_request_ratio)
        for name in sorted({name for side in sides for name in side}):
            yield "\t".join([f"{indent}{item.type}", name, *(side.get(name, "-") for side in sides)])


LIMITS = ("Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio",
          "----\t--------\t---\t---\t---------------\t-------------\t-----------------------")  # fmt: skip


def _namespace_phase(namespace: Namespace) -> str:
    """Return a namespace's phase; without one, the phase that the API server would write."""
    default = "Active" if namespace.metadata.deletion_timestamp is None else "Terminating"
    return str(namespace.rest.get("status", EMPTY).get("phase", default))


def describe_namespace(namespace: Namespace, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Namespace, with its quotas and LimitRanges."""
    yield from metadata_lines(namespace)
    yield f"Status:\t{_namespace_phase(namespace)}"
    quotas = context.objects_of("ResourceQuota", namespace.metadata.name)
    yield from ("", "Resource Quotas" if quotas else "No resource quota.")
    for quota in quotas:
        yield f"  Name:\t{quota.metadata.name}"
        yield from quota_lines(quota, "  ", "---")
    found = context.objects_of("LimitRange", namespace.metadata.name)
    yield from ("", "Resource Limits" if found else "No LimitRange resource.")
    yield from (f" {line}" for line in LIMITS if found)
    for limit_range in found:
        yield from limit_lines(limit_range, " ")


def describe_disruption_budget(budget: PodDisruptionBudget, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PodDisruptionBudget."""
    spec, status = budget.spec, budget.status
    if spec.min_available is not None:
        yield f"Min available:\t{spec.min_available}"
    elif spec.max_unavailable is not None:
        yield f"Max unavailable:\t{spec.max_unavailable}"
    yield f"Selector:\t{UNSET if spec.selector is None else format_selector(spec.selector) or NONE}"
    yield "Status:"
    yield f"    Allowed disruptions:\t{status.disruptions_allowed}"
    yield f"    Current:\t{status.current_healthy}"
    yield f"    Desired:\t{status.desired_healthy}"
    yield f"    Total:\t{status.expected_pods}"


def describe_priority_class(priority_class: PriorityClass, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PriorityClass."""
    yield f"Value:\t{priority_class.value}"
    yield f"GlobalDefault:\t{go_string(priority_class.global_default)}"
    yield f"PreemptionPolicy:\t{priority_class.preemption_policy or 'PreemptLowerPriority'}"
    yield f"Description:\t{priority_class.description}"
    yield f"Annotations:\t{format_labels(priority_class.metadata.annotations)}"


PRINTERS: Mapping[str, Printer] = {
    "Namespace": printer("NAME  STATUS  AGE", lambda each: [_namespace_phase(each)], describe_namespace),
    "ResourceQuota": printer("NAME  REQUEST  LIMIT  AGE", _quota_cells, lambda quota, _context: quota_lines(quota)),
    "LimitRange": printer("NAME  CREATED AT", lambda each: [each.metadata.creation_timestamp or UNKNOWN],
                          lambda limit_range, _context: (*LIMITS, *limit_lines(limit_range))),
    "PodDisruptionBudget": printer("NAME  MIN AVAILABLE  MAX UNAVAILABLE  ALLOWED DISRUPTIONS  AGE", lambda each: (
        *("N/A" if limit is None else str(limit) for limit in (each.spec.min_available, each.spec.max_unavailable)),
        str(each.status.disruptions_allowed)), describe_disruption_budget),
    "PriorityClass": printer("NAME  VALUE  GLOBAL-DEFAULT  AGE  PREEMPTIONPOLICY", lambda each: (
        str(each.value), go_string(each.global_default), each.preemption_policy or "PreemptLowerPriority"),
        describe_priority_class),
    "RuntimeClass": printer("NAME  HANDLER  AGE", lambda each: [each.handler]),
}  # fmt: skip
