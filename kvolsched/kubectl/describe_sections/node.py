"""`kubectl describe node`: one node, the pods that run on it, and how much of it they have asked for.

Pure generators of lines. Mirrors kubectl `pkg/describe/describe.go` (v1.36.2). A simulated cluster has no leases, and
kubectl says so where it looks for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from ...api.kinds.meta import EMPTY, Condition
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ..get_tables.core import roles
from ..text import NONE, annotations_column, column, labels_column, share, since, stamp, total, truth
from .pod import summed

_BUILT_IN = ("cpu", "memory", "ephemeral-storage", "pods")
_SYSTEM = (
    ("Machine ID", "machineID"), ("System UUID", "systemUUID"), ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"), ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"), ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"), ("Kubelet Version", "kubeletVersion"),
)  # fmt: skip


def node_lines(node: Node, pods: Sequence[Pod], now: datetime) -> Iterator[str]:
    """Yield what `describe` says of a node, without its Events; `pods` are those of the cluster."""
    meta, rest = node.metadata, node.status.rest
    yield f"Name:\t{meta.name}"
    yield f"Roles:\t{','.join(roles(node)) or NONE}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"CreationTimestamp:\t{stamp(meta.creation_timestamp)}"
    taints = sorted(node.spec.taints, key=lambda one: f"{one.effect},{one.key}")
    yield from column("Taints", [str(one) for one in taints])
    yield f"Unschedulable:\t{truth(node.spec.unschedulable)}"
    yield f'Lease:\tFailed to get lease: leases.coordination.k8s.io "{meta.name}" not found'
    yield from timed_conditions(node.status.conditions, "lastHeartbeatTime", "LastHeartbeatTime")
    yield "Addresses:"
    yield from (f"  {one.get('type', '')}:\t{one.get('address', '')}" for one in rest.get("addresses", ()))
    for title, resources in (("Capacity", node.status.capacity), ("Allocatable", node.status.allocatable)):
        if resources:
            yield f"{title}:"
            yield from (f"  {name}:\t{text}" for name, text in sorted(resources.items()))
    yield "System Info:"
    info = rest.get("nodeInfo", EMPTY)
    yield from (f"  {title}:\t{info.get(name, '')}" for title, name in _SYSTEM)
    spec = node.spec.rest
    found = (("PodCIDR", spec.get("podCIDR")), ("PodCIDRs", ",".join(spec.get("podCIDRs", ()))),
             ("ProviderID", spec.get("providerID")))  # fmt: skip
    yield from (f"{title}:\t{said}" for title, said in found if said)
    here = [pod for pod in pods if pod.spec.node_name == meta.name and not pod.terminal]
    yield from _pods(node, here, now)


def _pods(node: Node, pods: Sequence[Pod], now: datetime) -> Iterator[str]:
    room = node.status.allocatable or node.status.capacity
    cpu, memory, disk = (room.get(name, "0") for name in ("cpu", "memory", "ephemeral-storage"))
    yield f"Non-terminated Pods:\t({len(pods)} in total)"
    yield "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge"
    yield "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---"
    sums = [(summed(pod, "requests"), summed(pod, "limits")) for pod in pods]
    for pod, own in zip(pods, sums, strict=True):
        parts = [share(one.get("cpu", "0"), cpu, cpu=True) for one in own]
        parts += [share(one.get("memory", "0"), memory) for one in own]
        age = since(pod.metadata.creation_timestamp, now)
        yield f"  {pod.metadata.namespace}\t{pod.metadata.name}\t\t" + "\t".join([*parts, age])
    yield "Allocated resources:"
    yield "  (Total limits may be over 100 percent, i.e., overcommitted.)"
    yield "  Resource\tRequests\tLimits"
    yield "  --------\t--------\t------"

    def both(name: str) -> list[str]:
        return [total(one[place][name] for one in sums if name in one[place]) for place in (0, 1)]

    for name, whole in (("cpu", cpu), ("memory", memory), ("ephemeral-storage", disk)):
        asked, limit = both(name)
        yield f"  {name}\t{share(asked, whole, cpu=name == 'cpu')}\t{share(limit, whole, cpu=name == 'cpu')}"
    pages = sorted(name for name in room if name.startswith("hugepages-"))
    for name in pages:
        yield f"  {name}\t" + "\t".join(share(amount, room[name]) for amount in both(name))
    for name in sorted(name for name in room if name not in (*_BUILT_IN, *pages)):
        yield f"  {name}\t" + "\t".join(both(name))


def timed_conditions(conditions: Sequence[Condition], name: str, title: str) -> Iterator[str]:
    """Yield the conditions of a node or claim with their times; `name` is the field of the earlier one."""
    if conditions:
        yield "Conditions:"
        yield f"  Type\tStatus\t{title}\tLastTransitionTime\tReason\tMessage"
        yield "  ----\t------\t-----------------\t------------------\t------\t-------"
    for one in conditions:
        times = f"{stamp(one.rest.get(name))} \t{stamp(one.last_transition_time)}"
        yield f"  {one.type} \t{one.status} \t{times} \t{one.reason} \t{one.message}"
