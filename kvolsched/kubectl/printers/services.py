"""kubectl's print of services.

EndpointSlices are not modelled: the endpoints are the addresses of the ready pods that the selector chooses.
"""

from collections.abc import Iterable, Iterator

from ...api.kinds.meta import EMPTY
from ...api.kinds.service import Service, ServicePort
from ..formatting import NONE, UNSET, format_labels, given_lines
from .printer import DescribeContext, metadata_lines, printer


def _service_cells(service: Service) -> Iterable[str]:
    spec, external_ips = service.spec, ",".join(service.spec.rest.get("externalIPs", ()))
    ports = [f"{port.port}{f':{port.node_port}' if port.node_port else ''}/{port.protocol or 'TCP'}"
             for port in spec.ports]
    external = spec.external_name if spec.type == "ExternalName" else external_ips
    if spec.type == "LoadBalancer":
        external = ",".join(part for part in (*_ingress_points(service), external_ips) if part) or "<pending>"
    return (spec.type or "ClusterIP", spec.cluster_ip or NONE, external or NONE, ",".join(ports) or NONE,
            format_labels(spec.selector))  # fmt: skip


MAX_ENDPOINTS = 3  # listed for one port


def describe_service(service: Service, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Service."""
    spec, rest = service.spec, service.spec.rest
    yield from metadata_lines(service)
    yield f"Selector:\t{format_labels(spec.selector)}"
    yield f"Type:\t{spec.type or 'ClusterIP'}"
    yield from given_lines(IP_Family_Policy=rest.get("ipFamilyPolicy"))
    yield f"IP Families:\t{','.join(rest.get('ipFamilies', ())) or NONE}"
    yield f"IP:\t{spec.cluster_ip}"
    yield f"IPs:\t{','.join(rest.get('clusterIPs', ())) or NONE}"
    yield from given_lines(External_IPs=",".join(rest.get("externalIPs", ())),
                           Desired_LoadBalancer_IP=rest.get("loadBalancerIP"), External_Name=spec.external_name,
                           LoadBalancer_Ingress=", ".join(_ingress_points(service)))  # fmt: skip
    endpoints = _ready_addresses(service, context)
    for port in spec.ports:
        yield from _port_lines(port, endpoints)
    yield f"Session Affinity:\t{rest.get('sessionAffinity', 'None')}"
    yield from given_lines(External_Traffic_Policy=rest.get("externalTrafficPolicy"),
                           Internal_Traffic_Policy=rest.get("internalTrafficPolicy"),
                           HealthCheck_NodePort=rest.get("healthCheckNodePort") or None,
                           Traffic_Distribution=rest.get("trafficDistribution"))  # fmt: skip


def _ingress_points(service: Service) -> list[str]:
    balancer = service.rest.get("status", EMPTY).get("loadBalancer", EMPTY)
    return [point.get("ip") or point.get("hostname", "") for point in balancer.get("ingress", ())]


def _port_lines(port: ServicePort, endpoints: list[str]) -> Iterator[str]:
    name, protocol = port.name or UNSET, port.protocol or "TCP"
    target = port.port if port.target_port is None else port.target_port
    yield f"Port:\t{name}\t{port.port}/{protocol}"
    yield f"TargetPort:\t{target}/{protocol}"
    if port.node_port:
        yield f"NodePort:\t{name}\t{port.node_port}/{protocol}"
    shown = ",".join(f"{address}:{target}" for address in endpoints[:MAX_ENDPOINTS])
    rest = f" + {len(endpoints) - MAX_ENDPOINTS} more..." if len(endpoints) > MAX_ENDPOINTS else ""
    yield f"Endpoints:\t{shown}{rest}"


def _ready_addresses(service: Service, context: DescribeContext) -> list[str]:
    selector = service.spec.selector
    pods = context.objects_of("Pod", service.metadata.namespace) if selector else []
    return [
        str(pod.status.rest["podIP"])
        for pod in pods
        if all(pod.metadata.labels.get(key) == value for key, value in selector.items())
        and pod.status.rest.get("podIP")
        and (ready := pod.status.condition("Ready")) is not None
        and ready.status == "True"
    ]


PRINTER = printer("NAME  TYPE  CLUSTER-IP  EXTERNAL-IP  PORT(S)  AGE  [SELECTOR]", _service_cells, describe_service)
