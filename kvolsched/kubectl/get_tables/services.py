"""`kubectl get services`: the row of a Service (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.meta import EMPTY
from ...api.kinds.service import Service
from ..formatting import NONE, format_labels
from .table import Table, object_age


def _service_row(service: Service, now: datetime) -> Sequence[str]:
    spec, external_ips = service.spec, ",".join(service.spec.rest.get("externalIPs", ()))
    ports = [f"{port.port}{f':{port.node_port}' if port.node_port else ''}/{port.protocol or 'TCP'}"
             for port in spec.ports]
    external = spec.external_name if spec.type == "ExternalName" else external_ips
    if spec.type == "LoadBalancer":
        balancer = service.rest.get("status", EMPTY).get("loadBalancer", EMPTY)
        points = ",".join(point.get("ip") or point.get("hostname", "") for point in balancer.get("ingress", ()))
        external = ",".join(part for part in (points, external_ips) if part) or "<pending>"
    return (
        service.metadata.name, spec.type or "ClusterIP", spec.cluster_ip or NONE, external or NONE,
        ",".join(ports) or NONE, object_age(service, now), format_labels(spec.selector),
    )  # fmt: skip


TABLES: Mapping[str, Table] = {
    "Service": Table(("NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE", "SELECTOR"), _service_row,
                     frozenset({"SELECTOR"})),
}  # fmt: skip
