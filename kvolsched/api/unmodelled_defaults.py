"""What the API server fills in beside `defaults`: the fields that no class models, so that what is stored is whole.

Pure and idempotent, over an object that was defaulted; what is given stays. Nothing here decides where a pod runs: the
engine loads clusters without it, only what goes through the API server is completed. Mirrors `defaults.go` and the
strategies of the kinds (v1.36.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from .kinds.meta import EMPTY, Frozen, evolve, evolve_parts
from .kinds.node import Node
from .kinds.pod import Container, Pod, PodSpec, PodTemplateSpec
from .kinds.pod_volume import Volume
from .kinds.quantity import parse
from .kinds.service import Service
from .kinds.volume import PersistentVolumeClaim
from .kinds.workload import DaemonSet, Deployment, Namespace, ReplicaSet, StatefulSet


def completed(obj: Any) -> Any:
    """Return the object with everything that the API server stores of its kind."""
    fill = _FILLS.get(type(obj))
    return obj if fill is None else fill(obj)


def _given(rest: Frozen, values: Frozen) -> Frozen:
    """Return unmodelled fields with those of these that are missing; the same value when nothing was given."""
    if not rest:
        return values
    if all(name in rest for name in values):
        return rest
    return Frozen({**values, **rest})


def _inside(rest: Frozen, name: str, values: Frozen) -> Frozen:
    """Return unmodelled fields with what is missing in one of them, if that one is given."""
    held = rest.get(name)
    return rest.with_(**{name: _given(held, values)}) if isinstance(held, Frozen) else rest


# --- pods ------------------------------------------------------------------------------------------------------------

_TERMINATION = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_PULLED = {
    policy: Frozen(imagePullPolicy=policy, **_TERMINATION)
    for policy in ("Always", "IfNotPresent")
}  # fmt: skip
_PROBE = Frozen(timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
_TEMPLATE = Frozen(dnsPolicy="ClusterFirst", securityContext=EMPTY)
_POD = _TEMPLATE.with_(enableServiceLinks=True)
_SOURCES: Mapping[str, Frozen] = {
    "secret": Frozen(defaultMode=420),
    "configMap": Frozen(defaultMode=420),
    "downwardAPI": Frozen(defaultMode=420),
    "projected": Frozen(defaultMode=420),
    "hostPath": Frozen(type=""),
    "scaleIO": Frozen(storageMode="ThinProvisioned", fsType="xfs"),
}


def _pull_policy(image: str) -> str:
    """An image without a tag, or tagged `latest`, is pulled always; one named by its digest need not be."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _container(container: Container) -> Container:
    rest = _given(container.rest, _PULLED[_pull_policy(container.image)])
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in rest:
            rest = _inside(rest, probe, _PROBE)
            rest = rest.with_(**{probe: _inside(rest[probe], "httpGet", Frozen(path="/", scheme="HTTP"))})
    if any("fieldRef" in one.get("valueFrom", EMPTY) for one in rest.get("env", ()) if isinstance(one, Frozen)):
        rest = rest.with_(env=tuple(_from_field(one) for one in rest["env"]))
    return container if rest == container.rest else evolve(container, rest=rest)


def _from_field(variable: Frozen) -> Frozen:
    source = _inside(variable.get("valueFrom", EMPTY), "fieldRef", Frozen(apiVersion="v1"))
    return variable.with_(valueFrom=source) if source else variable


def _volume(volume: Volume) -> Volume:
    rest = volume.rest
    for name, values in _SOURCES.items():
        if name in rest:
            rest = _inside(rest, name, values)
    if not rest and volume == Volume(name=volume.name):
        rest = Frozen(emptyDir=EMPTY)
    if volume.iscsi is not None:
        iscsi: Any = evolve(volume.iscsi, rest=_given(volume.iscsi.rest, Frozen(iscsiInterface="default")))
        return evolve(volume, rest=rest, iscsi=iscsi)
    if volume.azure_disk is not None:
        values = Frozen(cachingMode="ReadWrite", fsType="ext4", kind="Shared")
        disk: Any = evolve(volume.azure_disk, rest=_given(volume.azure_disk.rest, values))
        disk = evolve(disk, read_only=bool(disk.read_only))
        return evolve(volume, rest=rest, azure_disk=disk)
    if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
        template = volume.ephemeral.volume_claim_template
        source: Any = evolve_parts(template, spec={"rest": _sources(template.spec.rest)})
        return evolve(volume, ephemeral=evolve(volume.ephemeral, volume_claim_template=source))
    return volume if rest is volume.rest else evolve(volume, rest=rest)


def _pod_spec(spec: PodSpec, values: Frozen) -> PodSpec:
    containers = tuple(map(_container, spec.containers))
    if spec.rest.get("hostNetwork"):
        containers = tuple(map(_on_the_host, containers))
    return evolve(
        spec,
        containers=containers,
        init_containers=tuple(map(_container, spec.init_containers)),
        volumes=tuple(map(_volume, spec.volumes)),
        rest=_given(spec.rest, values),
    )


def _on_the_host(container: Container) -> Container:
    """A container in the node's network takes its ports there."""
    if all(port.host_port for port in container.ports):
        return container
    ports = tuple(evolve(port, host_port=port.host_port or port.container_port) for port in container.ports)
    return evolve(container, ports=ports)


def _pod(pod: Pod) -> Pod:
    status = pod.status
    if "qosClass" not in status.rest:
        status = evolve(status, rest=status.rest.with_(qosClass=pod_qos_class(pod.spec)))
    return evolve(pod, spec=_pod_spec(pod.spec, _POD), status=status)


def pod_qos_class(spec: PodSpec) -> str:
    """Return a pod's class of service: Guaranteed, Burstable or BestEffort (mirrors `ComputePodQOS`)."""
    containers = (*spec.containers, *spec.init_containers)
    asked = [_positive(container.resources.requests) for container in containers]
    bounds = [_positive(container.resources.limits) for container in containers]
    if not any(asked) and not any(bounds):
        return "BestEffort"
    same = all(len(bound) == 2 and (not ask or ask == bound) for ask, bound in zip(asked, bounds, strict=True))
    return "Guaranteed" if same else "Burstable"


def _positive(frozen: Frozen) -> dict[str, Any]:
    return {name: frozen[name] for name in ("cpu", "memory") if name in frozen and parse(frozen[name]) > 0}


def _template(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve(template, spec=_pod_spec(template.spec, _TEMPLATE))


# --- workloads -------------------------------------------------------------------------------------------------------


def _stateful_set(stateful_set: StatefulSet) -> StatefulSet:
    rest = _given(stateful_set.spec.rest, Frozen(revisionHistoryLimit=10))
    strategy = _given(rest.get("updateStrategy", EMPTY), Frozen(type="RollingUpdate"))
    if strategy["type"] == "RollingUpdate":
        rolling = _given(strategy.get("rollingUpdate", EMPTY), Frozen(partition=0))
        strategy = strategy.with_(rollingUpdate=rolling)
    retention = Frozen(whenDeleted="Retain", whenScaled="Retain")
    policy = _given(rest.get("persistentVolumeClaimRetentionPolicy", EMPTY), retention)
    rest = rest.with_(updateStrategy=strategy, persistentVolumeClaimRetentionPolicy=policy)
    spec = evolve(
        stateful_set.spec,
        template=_template(stateful_set.spec.template),
        volume_claim_templates=tuple(map(_claim, stateful_set.spec.volume_claim_templates)),
        rest=rest,
    )
    return evolve(stateful_set, spec=spec)


def _templated(found: Deployment | ReplicaSet | DaemonSet) -> Any:
    return evolve_parts(found, spec={"template": _template(found.spec.template)})


# --- storage ---------------------------------------------------------------------------------------------------------


def _claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    rest = _sources(claim.spec.rest)
    return claim if rest is claim.spec.rest else evolve_parts(claim, spec={"rest": rest})


def _sources(rest: Frozen) -> Frozen:
    """Keep a claim's dataSource and dataSourceRef the same; what neither may name is dropped without a word.

    A source in another namespace needs a gate that is off; the older field may name claims and snapshots alone.
    """
    source, reference = rest.get("dataSource"), rest.get("dataSourceRef")
    if source is None and reference is None:
        return rest
    if reference is not None and reference.get("namespace"):
        reference = None
    if source is not None and reference is None and (source.get("apiGroup"), source.get("kind")) not in _COPIED:
        source = None
    source, reference = source or reference, reference or source
    return rest.with_(dataSource=source, dataSourceRef=reference)


_COPIED = (
    (None, "PersistentVolumeClaim"), ("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")
)  # fmt: skip


# --- the rest --------------------------------------------------------------------------------------------------------

_NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip
_NODE = Frozen(
    daemonEndpoints=Frozen(kubeletEndpoint=Frozen(Port=0)), nodeInfo=Frozen(dict.fromkeys(_NODE_INFO, ""))
)


def _node(node: Node) -> Node:
    status = evolve(node.status, rest=_given(node.status.rest, _NODE))
    ranges = node.spec.rest.get("podCIDRs")
    if ranges and "podCIDR" not in node.spec.rest:
        spec = evolve(node.spec, rest=node.spec.rest.with_(podCIDR=ranges[0]))
        return evolve(node, spec=spec, status=status)
    return evolve(node, status=status)


def _namespace(namespace: Namespace) -> Namespace:
    spec = namespace.rest.get("spec", EMPTY)
    finalizers = spec.get("finalizers", ())
    if "kubernetes" not in finalizers:
        spec = spec.with_(finalizers=(*finalizers, "kubernetes"))
    status = namespace.rest.get("status") or Frozen(phase="Active")
    return evolve(namespace, rest=namespace.rest.with_(spec=spec, status=status))


def _service(service: Service) -> Service:
    """A service's families and its address: none, the one asked for, or one that follows from its name."""
    spec = service.spec
    if spec.type == "ExternalName":
        return evolve(service, rest=_given(service.rest, _NO_BALANCER))
    address = spec.cluster_ip or _address(f"{service.metadata.namespace}/{service.metadata.name}")
    families: tuple[str, ...] = ("IPv6",) if ":" in address else ("IPv4",)
    policy = "SingleStack"
    if address == "None" and not spec.selector:
        families, policy = ("IPv4", "IPv6"), "RequireDualStack"
    values: dict[str, Any] = {"clusterIPs": (address,), "ipFamilies": families, "ipFamilyPolicy": policy}
    if spec.type in ("NodePort", "LoadBalancer"):
        values["externalTrafficPolicy"] = "Cluster"
    if spec.type == "LoadBalancer":
        values["allocateLoadBalancerNodePorts"] = True
    filled = evolve(spec, cluster_ip=address, rest=_given(spec.rest, Frozen(values)))
    return evolve(service, spec=filled, rest=_given(service.rest, _NO_BALANCER))


_NO_BALANCER = Frozen(status=Frozen(loadBalancer=EMPTY))


def _address(name: str) -> str:
    """Return an address of 10.96.0.0/12 for a name: the same in every run, unlike any allocator's."""
    number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big") % (2**20 - 2) + 1
    return f"10.{96 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


_FILLS: Mapping[type[Any], Callable[[Any], Any]] = {
    Pod: _pod,
    StatefulSet: _stateful_set,
    Deployment: _templated,
    ReplicaSet: _templated,
    DaemonSet: _templated,
    PersistentVolumeClaim: _claim,
    Node: _node,
    Namespace: _namespace,
    Service: _service,
}
