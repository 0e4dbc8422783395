"""`kubectl get nodes`: the row of a node, with its status and roles (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.meta import EMPTY
from ...api.kinds.node import Node
from ..formatting import NONE, UNKNOWN
from .table import Table, object_age

ROLE_LABEL, ROLE_LABEL_PREFIX = "kubernetes.io/role", "node-role.kubernetes.io/"


def _node_row(node: Node, now: datetime) -> Sequence[str]:
    info, addresses = node.status.rest.get("nodeInfo", EMPTY), node.status.rest.get("addresses", ())
    by_type = {address.get("type"): address.get("address") for address in reversed(addresses)}
    versions = ("osImage", "kernelVersion", "containerRuntimeVersion")
    return (
        node.metadata.name, _node_status(node), ",".join(node_roles(node)) or NONE, object_age(node, now),
        info.get("kubeletVersion", ""), by_type.get("InternalIP") or NONE, by_type.get("ExternalIP") or NONE,
        *(info.get(name) or UNKNOWN for name in versions),
    )


def _node_status(node: Node) -> str:
    ready = next((condition.status for condition in node.status.conditions if condition.type == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if node.spec.unschedulable else word


def node_roles(node: Node) -> list[str]:
    """Return the roles that a node's labels name, sorted."""
    labels = node.metadata.labels
    roles = {key.removeprefix(ROLE_LABEL_PREFIX) for key in labels if key.startswith(ROLE_LABEL_PREFIX)}
    return sorted((roles | {labels.get(ROLE_LABEL, "")}) - {""})


TABLES: Mapping[str, Table] = {
    "Node": Table(
        ("NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION",
         "CONTAINER-RUNTIME"),
        _node_row, frozenset({"INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"}),
    ),
}  # fmt: skip
