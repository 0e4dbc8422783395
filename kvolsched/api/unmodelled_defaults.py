"""Defaulting of unmodelled fields: the values that the API server fills in beside those of `defaults`.

Pure and idempotent, applied after `defaults`. No such field decides where a pod runs, so a cluster loads objects
without them; only writes through the API server are completed. Mirrors `defaults.go` and the strategies of the kinds
(v1.36.2).
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from .defaults import with_host_ports
from .kinds.meta import EMPTY, Frozen, evolve, evolve_parts
from .kinds.node import Node
from .kinds.pod import Container, Pod, PodSpec, PodStatus, PodTemplateSpec, Volume
from .kinds.quantity import parse
from .kinds.service import Service
from .kinds.volume import PersistentVolume, PersistentVolumeClaim
from .kinds.workload import DaemonSet, Deployment, Job, Namespace, ReplicaSet, ReplicationController, StatefulSet
from .remembered import remembered


def with_unmodelled_defaults(obj: Any) -> Any:
    """Return an object with the unmodelled defaults of its kind."""
    set_defaults = _DEFAULTERS.get(type(obj))
    return obj if set_defaults is None else set_defaults(obj)


def _with_missing(rest: Frozen, values: Frozen) -> Frozen:
    """Return unmodelled fields with these values where they are missing."""
    if not rest:
        return values
    if all(name in rest for name in values):
        return rest
    return Frozen({**values, **rest})


def _with_missing_in(rest: Frozen, name: str, values: Frozen) -> Frozen:
    """Return unmodelled fields with values filled into one field that is a mapping, if it exists."""
    inner = rest.get(name)
    return rest.with_(**{name: _with_missing(inner, values)}) if isinstance(inner, Frozen) else rest


_TERMINATION_FIELDS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_CONTAINER_BY_PULL_POLICY = {policy: Frozen(imagePullPolicy=policy, **_TERMINATION_FIELDS)
                             for policy in ("Always", "IfNotPresent")}
_PROBE_FIELDS = Frozen(timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
_TEMPLATE_SPEC = Frozen(dnsPolicy="ClusterFirst", securityContext=EMPTY)
_POD_SPEC = _TEMPLATE_SPEC.with_(enableServiceLinks=True)
_VOLUME_SOURCES: Mapping[str, Frozen] = {
    "secret": Frozen(defaultMode=420), "configMap": Frozen(defaultMode=420), "downwardAPI": Frozen(defaultMode=420),
    "projected": Frozen(defaultMode=420), "hostPath": Frozen(type=""),
    "scaleIO": Frozen(storageMode="ThinProvisioned", fsType="xfs"),
}


def _pull_policy(image: str) -> str:
    """Return the default imagePullPolicy: Always for `latest` or without a tag and digest, else IfNotPresent."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _container(container: Container) -> Container:
    rest = _with_missing(container.rest, _CONTAINER_BY_PULL_POLICY[_pull_policy(container.image)])
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in rest:
            rest = _with_missing_in(rest, probe, _PROBE_FIELDS)
            rest = rest.with_(**{probe: _with_missing_in(rest[probe], "httpGet", Frozen(path="/", scheme="HTTP"))})
    variables = [variable for variable in rest.get("env", ()) if isinstance(variable, Frozen)]
    if any("fieldRef" in variable.get("valueFrom", EMPTY) for variable in variables):
        rest = rest.with_(env=tuple(_env_from_field(variable) for variable in rest["env"]))
    return container if rest == container.rest else evolve(container, rest=rest)


def _env_from_field(variable: Frozen) -> Frozen:
    source = _with_missing_in(variable.get("valueFrom", EMPTY), "fieldRef", Frozen(apiVersion="v1"))
    return variable.with_(valueFrom=source) if source else variable


def _volume(volume: Volume) -> Volume:
    rest = volume.rest
    for name, values in _VOLUME_SOURCES.items():
        if name in rest:
            rest = _with_missing_in(rest, name, values)
    if not rest and volume == Volume(name=volume.name):
        rest = Frozen(emptyDir=EMPTY)
    if volume.iscsi is not None:
        iscsi: Any = evolve(volume.iscsi, rest=_with_missing(volume.iscsi.rest, Frozen(iscsiInterface="default")))
        return evolve(volume, rest=rest, iscsi=iscsi)
    if volume.azure_disk is not None:
        values = Frozen(cachingMode="ReadWrite", fsType="ext4", kind="Shared")
        disk: Any = evolve(volume.azure_disk, rest=_with_missing(volume.azure_disk.rest, values))
        disk = evolve(disk, read_only=bool(disk.read_only))
        return evolve(volume, rest=rest, azure_disk=disk)
    if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
        template = volume.ephemeral.volume_claim_template
        source: Any = evolve_parts(template, spec={"rest": _data_sources(template.spec.rest)})
        return evolve(volume, ephemeral=evolve(volume.ephemeral, volume_claim_template=source))
    return volume if rest is volume.rest else evolve(volume, rest=rest)


def _pod_spec(spec: PodSpec, values: Frozen) -> PodSpec:
    containers = tuple(map(_container, spec.containers))
    if spec.rest.get("hostNetwork"):
        containers = tuple(map(with_host_ports, containers))
    return evolve(spec, containers=containers, init_containers=tuple(map(_container, spec.init_containers)),
                  volumes=tuple(map(_volume, spec.volumes)), rest=_with_missing(spec.rest, values))


def _pod(pod: Pod) -> Pod:
    status = pod.status
    if "qosClass" not in status.rest:
        status = _with_qos_class(status, pod_qos_class(pod.spec))
    spec = _whole_pod_spec(pod.spec)
    return pod if spec is pod.spec and status is pod.status else evolve(pod, spec=spec, status=status)


@lru_cache(maxsize=1 << 10)
def _with_qos_class(status: PodStatus, name: str) -> PodStatus:
    return evolve(status, rest=status.rest.with_(qosClass=name))


@remembered
def _whole_pod_spec(spec: PodSpec) -> PodSpec:
    filled = _pod_spec(spec, _POD_SPEC)
    return spec if filled == spec else filled


@remembered
def pod_qos_class(spec: PodSpec) -> str:
    """Return the QoS class of a pod: Guaranteed, Burstable or BestEffort (mirrors `ComputePodQOS`)."""
    containers = (*spec.containers, *spec.init_containers)
    requests = [_positive(container.resources.requests) for container in containers]
    limits = [_positive(container.resources.limits) for container in containers]
    if not any(requests) and not any(limits):
        return "BestEffort"
    pairs = zip(requests, limits, strict=True)
    guaranteed = all(len(limit) == 2 and (not request or request == limit) for request, limit in pairs)
    return "Guaranteed" if guaranteed else "Burstable"


def _positive(quantities: Frozen) -> dict[str, Any]:
    return {name: quantities[name] for name in ("cpu", "memory") if name in quantities and parse(quantities[name]) > 0}


def _template(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve(template, spec=_pod_spec(template.spec, _TEMPLATE_SPEC))


def _stateful_set(stateful_set: StatefulSet) -> StatefulSet:
    rest = _with_missing(stateful_set.spec.rest, Frozen(revisionHistoryLimit=10))
    strategy = _with_missing(rest.get("updateStrategy", EMPTY), Frozen(type="RollingUpdate"))
    if strategy["type"] == "RollingUpdate":
        rolling = _with_missing(strategy.get("rollingUpdate", EMPTY), Frozen(partition=0))
        strategy = strategy.with_(rollingUpdate=rolling)
    retention = Frozen(whenDeleted="Retain", whenScaled="Retain")
    policy = _with_missing(rest.get("persistentVolumeClaimRetentionPolicy", EMPTY), retention)
    rest = rest.with_(updateStrategy=strategy, persistentVolumeClaimRetentionPolicy=policy)
    spec = evolve(stateful_set.spec, template=_template(stateful_set.spec.template),
                  volume_claim_templates=tuple(map(_claim, stateful_set.spec.volume_claim_templates)), rest=rest)
    return evolve(stateful_set, spec=spec)


def _workload(workload: Deployment | ReplicaSet | ReplicationController | DaemonSet | Job) -> Any:
    return evolve_parts(workload, spec={"template": _template(workload.spec.template)})


def _claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    rest = _data_sources(claim.spec.rest)
    return claim if rest is claim.spec.rest else evolve_parts(claim, spec={"rest": rest})


def _persistent_volume(volume: PersistentVolume) -> PersistentVolume:
    if "hostPath" not in volume.spec.rest:
        return volume
    rest = _with_missing_in(volume.spec.rest, "hostPath", _VOLUME_SOURCES["hostPath"])
    return evolve_parts(volume, spec={"rest": rest})


def _data_sources(rest: Frozen) -> Frozen:
    """Copy a claim's dataSource to dataSourceRef or back, and drop what may not be referenced.

    A source in another namespace needs a feature gate that is off; dataSource may name claims and snapshots only.
    """
    source, reference = rest.get("dataSource"), rest.get("dataSourceRef")
    if source is None and reference is None:
        return rest
    if reference is not None and reference.get("namespace"):
        reference = None
    if source is not None and reference is None:
        source = source if (source.get("apiGroup"), source.get("kind")) in _DATA_SOURCE_KINDS else None
    source, reference = source or reference, reference or source
    return rest.with_(dataSource=source, dataSourceRef=reference)


_DATA_SOURCE_KINDS = (
    (None, "PersistentVolumeClaim"), ("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")
)  # fmt: skip


_NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip
_NODE_STATUS = Frozen(daemonEndpoints=Frozen(kubeletEndpoint=Frozen(Port=0)),
                      nodeInfo=Frozen(dict.fromkeys(_NODE_INFO, "")))


def _node(node: Node) -> Node:
    status = evolve(node.status, rest=_with_missing(node.status.rest, _NODE_STATUS))
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
    """Set a service's IP families and its address: None, the requested one, or one derived from its name."""
    spec = service.spec
    if spec.type == "ExternalName":
        return evolve(service, rest=_with_missing(service.rest, _EMPTY_STATUS))
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
    filled = evolve(spec, cluster_ip=address, rest=_with_missing(spec.rest, Frozen(values)))
    return evolve(service, spec=filled, rest=_with_missing(service.rest, _EMPTY_STATUS))


_EMPTY_STATUS = Frozen(status=Frozen(loadBalancer=EMPTY))


def _address(name: str) -> str:
    """Return an address in 10.96.0.0/12 derived from a name, so that every run gives the service one address."""
    number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big") % (2**20 - 2) + 1
    return f"10.{96 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


_DEFAULTERS: Mapping[type[Any], Callable[[Any], Any]] = {
    Pod: _pod, StatefulSet: _stateful_set, Deployment: _workload, ReplicaSet: _workload, DaemonSet: _workload,
    ReplicationController: _workload, Job: _workload, PersistentVolume: _persistent_volume,
    PersistentVolumeClaim: _claim, Node: _node, Namespace: _namespace, Service: _service,
}
