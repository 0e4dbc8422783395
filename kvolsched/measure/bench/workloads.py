"""The workloads: equal nodes in three zones, what stands around them, and pods that arrive all at once.

A workload is a function of two numbers, so every size of it is the same question; nothing is drawn. It is made of
manifests: `write` stores the same objects for kube-scheduler's own benchmarks, and `read` them back gives the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import attrs

from ...api import make
from ...api.text import manifest
from ...api.unknown_name import unknown_name
from ...learn.scenario import nodes as equal_nodes

Plain = dict[str, Any]

APP = "bench"
MIXED_TEMPLATES = 20
GATED_TIMES = 5  # so many gated pods stand beside each other pod
VOLUME_LIMIT = 39  # of a node, as EBS has it
HELD_CPU = "20"  # of a node's 32: what a pod that is preempted holds, and what the pod that preempts it asks for
FILES = ("nodes", "cluster", "pods")


@attrs.frozen
class Workload:
    """Pods to be scheduled, and the cluster that they come to.

    Args:
        name: its name on the command line.
        about: what the pods ask for.
        pod: (number of the pod, number of nodes) -> its manifests: its claims, and itself.
        around: (numbers of nodes and of pods) -> the manifests that stand beside the nodes.
        components: dials of the simulated drivers.

    >>> workload("local").objects(nodes=2, pods=1)[-1].spec.volumes[0].name
    'v0'
    """

    name: str
    about: str
    pod: Callable[[int, int], list[Plain]]
    around: Callable[[int, int], Iterable[Plain]] = lambda nodes, pods: ()  # noqa: ARG005
    components: Mapping[str, Mapping[str, Any]] = {}

    def cluster(self, nodes: int, pods: int) -> list[Any]:
        """Return the nodes and what stands beside them."""
        return [*equal_nodes(nodes), *map(manifest.from_plain, self.around(nodes, pods))]

    def pods(self, nodes: int, pods: int, first: int = 0) -> list[Any]:
        """Return the pods, each after its claims, as many as asked for from the number `first` on."""
        numbers = range(first, first + pods)
        return [manifest.from_plain(each) for number in numbers for each in self.pod(number, nodes)]

    def objects(self, nodes: int, pods: int) -> list[Any]:
        """Return everything: the nodes, what stands beside them, the pods."""
        return [*self.cluster(nodes, pods), *self.pods(nodes, pods)]

    def write(self, folder: Path, nodes: int, pods: int) -> Path:
        """Write the workload as manifests below a folder, in the order in which they are to be created."""
        place = folder / self.name
        place.mkdir(parents=True, exist_ok=True)
        around = list(map(manifest.from_plain, self.around(nodes, pods)))
        parts: tuple[list[Any], ...] = (equal_nodes(nodes), around, self.pods(nodes, pods))
        for file, objects in zip(FILES, parts, strict=True):
            if objects:
                (place / f"{file}.yaml").write_text(manifest.write(objects), encoding="utf-8")
        return place


def workload(name: str) -> Workload:
    """Return the workload of a name; blanks and underscores stand for hyphens.

    Raises:
        UnknownName: there is none; the message has the nearest names.

    >>> workload("default spread").about
    'soft spread by the default constraints, from a Service'
    """
    found = WORKLOADS.get(name.lower().replace(" ", "-").replace("_", "-"))
    if found is None:
        raise unknown_name(f"workload {name!r}", name, WORKLOADS, most_listed=len(WORKLOADS))
    return found


def written_readme(written: Iterable[Workload], nodes: int, pods: int) -> str:
    """Return what the folder of written workloads says of itself."""
    lines = [f"- `{each.name}`: {each.about}" for each in written]
    return (
        f"# Workloads of {nodes:,} nodes and {pods:,} pods\n\n"
        "Each folder has one workload: `nodes.yaml`, `cluster.yaml` (what stands beside the nodes; not all have it) "
        "and `pods.yaml`, to be created in this order. Nodes are plain Node objects: KWOK or scheduler_perf play their "
        "kubelets, and volumes of drivers need a provisioner that plays the driver.\n\n"
        "    kubectl create -f zone/nodes.yaml && kubectl create -f zone/pods.yaml\n\n"
        "The same with kvolsched: `Cluster.from_manifests('zone')`.\n\n" + "\n".join(lines) + "\n"
    )


def _pod(number: int, _nodes: int = 0, *claims: Plain, app: str = APP, cpu: str = "100m", **spec: Any) -> list[Plain]:
    """Return the manifests of a pod and of its claims, all with its number in their names."""
    requests = {"cpu": cpu, "memory": "200Mi"}
    names = [each["metadata"]["name"] for each in claims]
    return [*claims, make.pod(f"pod-{number:05}", *names, labels={"app": app}, requests=requests, **spec)]


def _with_claim(storage_class: str) -> Callable[..., list[Plain]]:
    """Return the function that makes pods with one claim of a class."""
    return lambda number, nodes, **fields: _pod(
        number, nodes, make.claim(f"data-{number:05}", "10Gi", storage_class), **fields)


def _spread(key: str, skew: int, *, soft: bool = False) -> Callable[..., list[Plain]]:
    """Return the function that makes pods with one spread constraint over pods of their own label."""
    return lambda number, nodes, app=APP, **fields: _pod(
        number, nodes, app=app, topologySpreadConstraints=[make.spread(key, skew, soft=soft, app=app)], **fields)


def _affinity(number: int, nodes: int = 0, app: str = APP, **fields: Any) -> list[Plain]:
    return _pod(number, nodes, app=app, affinity=make.together(app=app), **fields)


def _anti_affinity(number: int, nodes: int, app: str = APP, **fields: Any) -> list[Plain]:
    """Return a pod that keeps away from its group: half as many pods as there are nodes, so that all of them fit."""
    group = f"{app}-{number // max(1, nodes // 2)}"
    return _pod(number, nodes, app=group, affinity=make.apart(app=group), **fields)


def _mixed(number: int, nodes: int) -> list[Plain]:
    """Return a pod of one of twenty templates: ten kinds of pods, each in two sizes with a label of its own."""
    template = Random(number).randrange(MIXED_TEMPLATES)
    kind = MIXED_KINDS[template % len(MIXED_KINDS)]
    return kind(number, nodes, app=f"mixed-{template:02}", cpu=f"{100 + 10 * template}m")


def _own_template(number: int, nodes: int) -> list[Plain]:
    """Return a pod with requests, label and spread constraint of its own."""
    return _spread(make.ZONE, 5)(number, nodes, app=f"own-{number:05}", cpu=f"{50 + number % 100}m")


def _names(nodes: int) -> Iterator[str]:
    return (f"node-{number:05}" for number in range(nodes))


def _local_disks(nodes: int, pods: int) -> Iterator[Plain]:
    """Yield a class and local disks of different sizes, at least two on each node and one for each pod."""
    yield make.storage_class("local", make.LOCAL)
    yield from local_disks(nodes, max(2, -(-pods // max(1, nodes))))


def local_disks(nodes: int, each: int) -> Iterator[Plain]:
    """Yield local disks of different sizes, so many on each node."""
    for number, node in enumerate(_names(nodes)):
        for disk in range(each):
            size = f"{10 + (number * 7 + disk * 13) % 90}Gi"
            found = make.volume(f"disk-{number:05}-{disk}", size, "local", {make.HOST: [node]})
            found["spec"]["local"] = {"path": f"/disks/{disk}"}
            del found["spec"]["csi"]
            yield found


def _zonal(nodes: int, pods: int) -> Iterator[Plain]:
    yield make.storage_class("zonal", "zonal.example.com")


def _capacities(nodes: int, pods: int) -> Iterator[Plain]:
    """Yield a driver with storage on each node, its class, and the free capacity of every node."""
    yield make.csi_driver("per-node.example.com", tracks=None, storageCapacity=True)
    yield make.storage_class("per-node", "per-node.example.com")
    for node in _names(nodes):
        yield {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": f"capacity-{node}", "namespace": "default"}, "storageClassName": "per-node",
            "nodeTopology": {"matchLabels": {make.HOST: node}}, "capacity": "10Ti",
        }  # fmt: skip


def _limits(nodes: int, pods: int) -> Iterator[Plain]:
    """Yield a class of zonal volumes, of which a node can attach no more than its CSINode says."""
    yield make.storage_class("limited", "limited.example.com")
    for node in _names(nodes):
        yield make.csi_node(node, VOLUME_LIMIT, "limited.example.com", topology_keys=[make.ZONE])


def _service(nodes: int, pods: int) -> Iterator[Plain]:
    yield {"apiVersion": "v1", "kind": "Service", "metadata": {"name": APP, "namespace": "default"},
           "spec": {"selector": {"app": APP}, "ports": [{"port": 80}]}}  # fmt: skip


def _held_nodes(nodes: int, pods: int) -> Iterator[Plain]:
    """Yield two priority classes, and on every node a pod of the lower one that leaves no room for a higher one."""
    for name, value in (("bench-low", 10), ("bench-high", 1000)):
        yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
               "value": value}  # fmt: skip
    for node in _names(nodes):
        low: Plain = {"priorityClassName": "bench-low", "priority": 10, "terminationGracePeriodSeconds": 0}
        yield make.pod(f"low-{node}", running_on=node, labels={"app": "low"}, cpu=HELD_CPU, **low)


def _gated_pods(nodes: int, pods: int) -> Iterator[Plain]:
    for number in range(GATED_TIMES * pods):
        yield make.pod(f"gated-{number:05}", labels={"app": APP}, gates=["example.com/wait"])


def _around_mixed(nodes: int, pods: int) -> Iterator[Plain]:
    for around in (_local_disks, _zonal, _capacities, _limits):
        yield from around(nodes, pods)


LOCAL, ZONAL, PER_NODE, LIMITED = map(_with_claim, ("local", "zonal", "per-node", "limited"))
HARD_ZONE, HARD_HOST = _spread(make.ZONE, 5), _spread(make.HOST, 1)
SOFT_ZONE = _spread(make.ZONE, 1, soft=True)
PREEMPTING = partial(_pod, cpu=HELD_CPU, priorityClassName="bench-high", priority=1000)
MIXED_KINDS: tuple[Callable[..., list[Plain]], ...] = (
    _pod, HARD_ZONE, HARD_HOST, SOFT_ZONE, _affinity, _anti_affinity, LOCAL, ZONAL, PER_NODE, LIMITED
)  # fmt: skip
ON_NODES: Mapping[str, Mapping[str, Any]] = {"per-node.example.com": {"kind": "local"}}

WORKLOADS: Mapping[str, Workload] = {each.name: each for each in (
    Workload("basic", "cpu and memory alone", _pod),
    Workload("zone", "hard spread over zones, maxSkew 5", HARD_ZONE),
    Workload("host", "hard spread over nodes, maxSkew 1", HARD_HOST),
    Workload("soft", "soft spread over zones, maxSkew 1", SOFT_ZONE),
    Workload("default-spread", "soft spread by the default constraints, from a Service", _pod, _service),
    Workload("affinity", "required affinity to pods of their label, by zone", _affinity),
    Workload("anti-affinity", "required anti-affinity to their group, by node", _anti_affinity),
    Workload("local", "a claim for one of at least two local disks on each node", LOCAL, _local_disks),
    Workload("zonal", "a claim that is provisioned in the zone of the chosen node", ZONAL, _zonal),
    Workload("capacity", "a claim that is provisioned on the chosen node, with a CSIStorageCapacity for each node",
             PER_NODE, _capacities, ON_NODES),
    Workload("limits", f"a zonal claim, at most {VOLUME_LIMIT} volumes on a node", LIMITED, _limits),
    Workload("preemption", "room that only the preemption of a pod of lower priority makes", PREEMPTING, _held_nodes),
    Workload("gated", f"cpu and memory alone, beside {GATED_TIMES} gated pods for each", _pod, _gated_pods),
    Workload("mixed", f"{MIXED_TEMPLATES} templates in disorder: spread, affinity, local, zonal, capacity, limits",
             _mixed, _around_mixed, ON_NODES),
    Workload("own-templates", "every pod its own template: requests, label, hard spread over zones", _own_template),
)}  # fmt: skip
