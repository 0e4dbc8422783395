"""`kubectl describe` of services, budgets, priorities and what drivers say of a node.

Pure generators of lines, without Events. Mirrors kubectl `pkg/describe/describe.go` (v1.36.2). EndpointSlices are not
modelled: a service's endpoints are the addresses of the pods that its selector chooses and that are ready.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.kinds.csi import CSINode
from ...api.kinds.policy import PodDisruptionBudget, PriorityClass
from ...api.kinds.service import Service, ServicePort
from ..text import NONE, UNSET, annotations_column, labelled, labels_column, selected, stamp, truth
from .surroundings import Surroundings

SHOWN = 3  # endpoints of a port


def service(found: Service, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a Service."""
    meta, spec, rest = found.metadata, found.spec, found.spec.rest
    yield f"Name:\t{meta.name}"
    yield f"Namespace:\t{meta.namespace}"
    yield from labels_column("Labels", meta.labels)
    yield from annotations_column("Annotations", meta.annotations)
    yield f"Selector:\t{labelled(spec.selector)}"
    yield f"Type:\t{spec.type or 'ClusterIP'}"
    if "ipFamilyPolicy" in rest:
        yield f"IP Family Policy:\t{rest['ipFamilyPolicy']}"
    yield f"IP Families:\t{','.join(rest.get('ipFamilies', ())) or NONE}"
    yield f"IP:\t{spec.cluster_ip}"
    yield f"IPs:\t{','.join(rest.get('clusterIPs', ())) or NONE}"
    more = (
        ("External IPs", ",".join(rest.get("externalIPs", ()))),
        ("Desired LoadBalancer IP", rest.get("loadBalancerIP")),
        ("External Name", spec.external_name),
        ("LoadBalancer Ingress", _ingress(found)),
    )
    yield from (f"{title}:\t{said}" for title, said in more if said)
    endpoints = _endpoints(found, around)
    for port in spec.ports:
        yield from _port(port, endpoints)
    yield f"Session Affinity:\t{rest.get('sessionAffinity', 'None')}"
    yield from (
        f"{title}:\t{rest[name]}"
        for title, name in (
            ("External Traffic Policy", "externalTrafficPolicy"), ("Internal Traffic Policy", "internalTrafficPolicy"),
            ("HealthCheck NodePort", "healthCheckNodePort"), ("Traffic Distribution", "trafficDistribution"),
        )
        if rest.get(name)
    )  # fmt: skip


def _ingress(found: Service) -> str:
    balancer = found.rest.get("status", {}).get("loadBalancer", {})
    return ", ".join(one.get("ip") or one.get("hostname", "") for one in balancer.get("ingress", ()))


def _port(port: ServicePort, endpoints: list[str]) -> Iterator[str]:
    name, protocol = port.name or UNSET, port.protocol or "TCP"
    target = port.port if port.target_port is None else port.target_port
    yield f"Port:\t{name}\t{port.port}/{protocol}"
    yield f"TargetPort:\t{target}/{protocol}"
    if port.node_port:
        yield f"NodePort:\t{name}\t{port.node_port}/{protocol}"
    shown = ",".join(f"{address}:{target}" for address in endpoints[:SHOWN])
    more = f" + {len(endpoints) - SHOWN} more..." if len(endpoints) > SHOWN else ""
    yield f"Endpoints:\t{shown}{more}"


def _endpoints(found: Service, around: Surroundings) -> list[str]:
    selector = found.spec.selector
    pods = around.every("Pod", found.metadata.namespace) if selector else []
    return [
        str(pod.status.rest["podIP"])
        for pod in pods
        if all(pod.metadata.labels.get(key) == value for key, value in selector.items())
        and pod.status.rest.get("podIP")
        and (ready := pod.status.condition("Ready")) is not None
        and ready.status == "True"
    ]


def budget(found: PodDisruptionBudget, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a PodDisruptionBudget."""
    spec, status = found.spec, found.status
    yield f"Name:\t{found.metadata.name}"
    yield f"Namespace:\t{found.metadata.namespace}"
    if spec.min_available is not None:
        yield f"Min available:\t{spec.min_available}"
    elif spec.max_unavailable is not None:
        yield f"Max unavailable:\t{spec.max_unavailable}"
    yield f"Selector:\t{UNSET if spec.selector is None else selected(spec.selector) or NONE}"
    yield "Status:"
    yield f"    Allowed disruptions:\t{status.disruptions_allowed}"
    yield f"    Current:\t{status.current_healthy}"
    yield f"    Desired:\t{status.desired_healthy}"
    yield f"    Total:\t{status.expected_pods}"


def priority_class(found: PriorityClass, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a PriorityClass."""
    yield f"Name:\t{found.metadata.name}"
    yield f"Value:\t{found.value}"
    yield f"GlobalDefault:\t{truth(found.global_default)}"
    yield f"PreemptionPolicy:\t{found.preemption_policy or 'PreemptLowerPriority'}"
    yield f"Description:\t{found.description}"
    yield f"Annotations:\t{labelled(found.metadata.annotations)}"


def csi_node(found: CSINode, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a CSINode."""
    yield f"Name:\t{found.metadata.name}"
    yield from labels_column("Labels", found.metadata.labels)
    yield from annotations_column("Annotations", found.metadata.annotations)
    yield f"CreationTimestamp:\t{stamp(found.metadata.creation_timestamp)}"
    yield "Spec:"
    if found.spec.drivers:
        yield "  Drivers:"
    for driver in found.spec.drivers:
        yield f"    {driver.name}:"
        yield f"      Node ID:\t{driver.node_id}"
        if driver.allocatable is not None and driver.allocatable.count is not None:
            yield "      Allocatables:"
            yield f"        Count:\t{driver.allocatable.count}"
        if driver.topology_keys:
            yield f"      Topology Keys:\t{truth(driver.topology_keys)}"
