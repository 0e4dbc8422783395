"""kubectl's print of LimitRanges, ResourceQuotas and RuntimeClasses."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ...api.kinds.policy import LimitRange, ResourceQuota
from .printer import DescribeContext, Printer, name_lines, object_age

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


def _quota_row(quota: ResourceQuota, now: datetime) -> Sequence[str]:
    sides: dict[bool, list[str]] = {False: [], True: []}  # by whether they are limits
    for name, used, hard in _used_and_hard(quota):
        sides[name.startswith("limits.")].append(f"{name}: {used}/{hard}")
    return quota.metadata.name, ", ".join(sides[False]), ", ".join(sides[True]), object_age(quota, now)


def quota_lines(quota: ResourceQuota, indent: str = "", rule: str = "----") -> Iterator[str]:
    """Yield the scopes of a quota, then used and hard of each resource."""
    scopes = sorted(quota.spec.scopes)
    if scopes:
        yield f"{indent}Scopes:\t{', '.join(scopes)}"
        yield from (f"{indent or ' '}* {SCOPES[scope]}" for scope in scopes if scope in SCOPES)
    yield f"{indent}Resource\tUsed\tHard"
    yield f"{indent}--------\t{rule}\t{rule}"
    yield from (f"{indent}{name}\t{used}\t{hard}" for name, used, hard in _used_and_hard(quota))


def _describe_quota(quota: ResourceQuota, _context: DescribeContext) -> Iterator[str]:
    yield from name_lines(quota)
    yield from quota_lines(quota)


def limit_lines(limit_range: LimitRange, indent: str = "") -> Iterator[str]:
    """Yield a line for each type and resource of a LimitRange."""
    for item in limit_range.spec.limits:
        sides = (item.min, item.max, item.default_request, item.default, item.max_limit_request_ratio)
        for name in sorted({name for side in sides for name in side}):
            yield "\t".join([f"{indent}{item.type}", name, *(side.get(name, "-") for side in sides)])


LIMITS = ("Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio",
          "----\t--------\t---\t---\t---------------\t-------------\t-----------------------")  # fmt: skip


def _describe_limits(limit_range: LimitRange, _context: DescribeContext) -> Iterator[str]:
    yield from name_lines(limit_range)
    yield from LIMITS
    yield from limit_lines(limit_range)


def namespace_lines(namespace: str, context: DescribeContext) -> Iterator[str]:
    """Yield the quotas and LimitRanges of a namespace, as its description shows them."""
    quotas = context.objects_of("ResourceQuota", namespace)
    yield from ("", "Resource Quotas" if quotas else "No resource quota.")
    for quota in quotas:
        yield f"  Name:\t{quota.metadata.name}"
        yield from quota_lines(quota, "  ", "---")
    found = context.objects_of("LimitRange", namespace)
    yield from ("", "Resource Limits" if found else "No LimitRange resource.")
    yield from (f" {line}" for line in LIMITS if found)
    for limit_range in found:
        yield from limit_lines(limit_range, " ")


PRINTERS: Mapping[str, Printer] = {
    "ResourceQuota": Printer(("NAME", "REQUEST", "LIMIT", "AGE"), _quota_row, _describe_quota),
    "LimitRange": Printer(("NAME", "CREATED AT"), lambda each, _now: (each.metadata.name,
                                                                     each.metadata.creation_timestamp or "<unknown>"),
                          _describe_limits),
    "RuntimeClass": Printer(("NAME", "HANDLER", "AGE"),
                            lambda each, now: (each.metadata.name, each.handler, object_age(each, now))),
}  # fmt: skip
