"""Validate nodes: taints, quantities of the status, pod address ranges. Mirrors core `ValidateNode` (v1.36.2)."""

import ipaddress

from ..kinds import quantity
from ..kinds.node import Node
from .field_error import FieldError, FieldErrors
from .selector_rules import validate_taints


def validate_node(node: Node) -> FieldErrors:
    """Validate a node."""
    yield from validate_taints("metadata.taints", node.spec.taints)
    for field in ("capacity", "allocatable"):
        for name, text in getattr(node.status, field).items():
            number = quantity.parse(text)
            if number < 0:
                yield FieldError(f"status.{field}.{name}", "Invalid", text, "must be greater than or equal to 0")
            if number.denominator != 1 and (name == "pods" or ("/" in name and "kubernetes.io/" not in name)):
                yield FieldError(f"status.{field}.{name}", "Invalid", text, "must be an integer")
    ranges = [str(text) for text in node.spec.rest.get("podCIDRs", ())]
    families = []
    for index, text in enumerate(ranges):
        try:
            families.append(ipaddress.ip_network(text, strict=False).version)
        except ValueError:
            detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield FieldError(f"spec.podCIDRs[{index}]", "Invalid", text, detail)
    if len(ranges) > 1 and (len(families) > len(set(families)) or len(ranges) > 2):
        detail = "may specify no more than one CIDR for each IP family"
        yield FieldError("spec.podCIDRs", "Invalid", ranges, detail)
