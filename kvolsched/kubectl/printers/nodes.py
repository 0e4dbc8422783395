"""kubectl's print of nodes: status, roles, the pods that run there, and the resources that they request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from ...api.kinds.meta import EMPTY
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.quantity import total
from ...api.pod_resources import pod_resources
from .. import formatting
from .printer import DescribeContext, metadata_lines, printer

ROLE_LABEL, ROLE_LABEL_PREFIX = "kubernetes.io/role", "node-role.kubernetes.io/"


def _node_cells(node: Node) -> Iterable[str]:
    info, addresses = node.status.rest.get("nodeInfo", EMPTY), node.status.rest.get("addresses", ())
    by_type = {address.get("type"): address.get("address") for address in reversed(addresses)}
    versions = ("osImage", "kernelVersion", "containerRuntimeVersion")
    ips = (by_type.get(sort) or formatting.NONE for sort in ("InternalIP", "ExternalIP"))
    return (
        _node_status(node), ",".join(node_roles(node)) or formatting.NONE, info.get("kubeletVersion", ""), *ips,
        *(info.get(name) or formatting.UNKNOWN for name in versions),
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


_BUILT_IN = ("cpu", "memory", "ephemeral-storage", "pods")
_SYSTEM = (
    ("Machine ID", "machineID"), ("System UUID", "systemUUID"), ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"), ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"), ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"), ("Kubelet Version", "kubeletVersion"),
)  # fmt: skip


def describe_node(node: Node, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Node."""
    meta, rest = node.metadata, node.status.rest
    yield f"Roles:\t{','.join(node_roles(node)) or formatting.NONE}"
    yield from metadata_lines(node)
    yield f"CreationTimestamp:\t{formatting.format_time(meta.creation_timestamp)}"
    taints = sorted(node.spec.taints, key=lambda taint: f"{taint.effect},{taint.key}")
    yield from formatting.field_lines("Taints", list(map(str, taints)))
    yield f"Unschedulable:\t{formatting.go_string(node.spec.unschedulable)}"
    yield f'Lease:\tFailed to get lease: leases.coordination.k8s.io "{meta.name}" not found'
    yield from formatting.timed_condition_lines(node.status.conditions, "lastHeartbeatTime", "LastHeartbeatTime")
    yield "Addresses:"
    yield from (f"  {address.get('type', '')}:\t{address.get('address', '')}" for address in rest.get("addresses", ()))
    for title, resources in (("Capacity", node.status.capacity), ("Allocatable", node.status.allocatable)):
        if resources:
            yield f"{title}:"
            yield from (f"  {name}:\t{text}" for name, text in sorted(resources.items()))
    yield "System Info:"
    info = rest.get("nodeInfo", EMPTY)
    yield from (f"  {title}:\t{info.get(name, '')}" for title, name in _SYSTEM)
    spec = node.spec.rest
    yield from formatting.given_lines(PodCIDR=spec.get("podCIDR"), PodCIDRs=",".join(spec.get("podCIDRs", ())),
                                      ProviderID=spec.get("providerID"))  # fmt: skip
    pods = [pod for pod in context.objects_of("Pod") if pod.spec.node_name == meta.name and not pod.terminal]
    yield from _pod_lines(node, pods, context.now)


def _pod_lines(node: Node, pods: Sequence[Pod], now: datetime) -> Iterator[str]:
    room = node.status.allocatable or node.status.capacity
    cpu, memory, disk = (room.get(name, "0") for name in ("cpu", "memory", "ephemeral-storage"))
    yield f"Non-terminated Pods:\t({len(pods)} in total)"
    yield "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge"
    yield "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---"
    sums = [(pod_resources(pod.spec, "requests"), pod_resources(pod.spec, "limits")) for pod in pods]
    for pod, requests_and_limits in zip(pods, sums, strict=True):
        parts = [formatting.format_share(amounts.get("cpu", "0"), cpu, cpu=True) for amounts in requests_and_limits]
        parts += [formatting.format_share(amounts.get("memory", "0"), memory) for amounts in requests_and_limits]
        age = formatting.format_age(pod.metadata.creation_timestamp, now)
        yield f"  {pod.metadata.namespace}\t{pod.metadata.name}\t\t" + "\t".join([*parts, age])
    yield "Allocated resources:"
    yield "  (Total limits may be over 100 percent, i.e., overcommitted.)"
    yield "  Resource\tRequests\tLimits"
    yield "  --------\t--------\t------"

    def totals(name: str) -> list[str]:
        return [total(amounts[index][name] for amounts in sums if name in amounts[index]) for index in (0, 1)]

    for name, whole in (("cpu", cpu), ("memory", memory), ("ephemeral-storage", disk)):
        shares = [formatting.format_share(amount, whole, cpu=name == "cpu") for amount in totals(name)]
        yield f"  {name}\t" + "\t".join(shares)
    pages = sorted(name for name in room if name.startswith("hugepages-"))
    for name in pages:
        yield f"  {name}\t" + "\t".join(formatting.format_share(amount, room[name]) for amount in totals(name))
    for name in sorted(name for name in room if name not in (*_BUILT_IN, *pages)):
        yield f"  {name}\t" + "\t".join(totals(name))


PRINTER = printer("NAME  STATUS  ROLES  AGE  VERSION  [INTERNAL-IP]  [EXTERNAL-IP]  [OS-IMAGE]  [KERNEL-VERSION]  "
                  "[CONTAINER-RUNTIME]", _node_cells, describe_node)
