"""Validate containers: names, images, ports, resources, mounts. Mirrors core `validateContainers` (v1.36.2)."""

from collections.abc import Iterable

from ..kinds import quantity
from ..kinds.meta import Resources
from ..kinds.name_syntax import check_dns_label, check_port_name
from ..kinds.pod import Container, PodSpec
from .field_error import FieldError, FieldErrors, invalid_values, validate_name, validate_supported, validate_unique

_PORT_RANGE = "must be between 1 and 65535, inclusive"


def validate_containers(path: str, spec: PodSpec, known: set[str]) -> FieldErrors:
    """Validate a pod's containers; `known` are the names of the volumes that they may mount."""
    if not spec.containers:
        yield FieldError(f"{path}.containers", "Required")
    names: set[str] = set()
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            item_path = f"{path}.{field}[{index}]"
            yield from _validate_container(item_path, container, known)
            if container.name:
                yield from validate_unique(f"{item_path}.name", container.name, names)


def _validate_container(path: str, container: Container, volumes: Iterable[str]) -> FieldErrors:
    yield from validate_name(f"{path}.name", container.name, check_dns_label, required=True)
    if not container.image:
        yield FieldError(f"{path}.image", "Required")
    yield from _validate_ports(f"{path}.ports", container)
    if container.rest.get("imagePullPolicy"):
        policies = ("Always", "IfNotPresent", "Never")
        yield from validate_supported(f"{path}.imagePullPolicy", container.rest["imagePullPolicy"], policies)
    yield from validate_resources(f"{path}.resources", container.resources)
    yield from _validate_mounts(f"{path}.volumeMounts", container, volumes)


def _validate_ports(path: str, container: Container) -> FieldErrors:
    """Validate a container's ports: numbers, protocol, unique names."""
    names: set[str] = set()
    for index, port in enumerate(container.ports):
        name = port.rest.get("name", "")
        if name:
            yield from invalid_values(f"{path}[{index}].name", name, check_port_name(name))
            yield from validate_unique(f"{path}[{index}].name", name, names)
        if not port.container_port:
            yield FieldError(f"{path}[{index}].containerPort", "Required")
        elif not 0 < port.container_port < 65536:
            yield FieldError(f"{path}[{index}].containerPort", "Invalid", port.container_port, _PORT_RANGE)
        if port.host_port and not 0 < port.host_port < 65536:
            yield FieldError(f"{path}[{index}].hostPort", "Invalid", port.host_port, _PORT_RANGE)
        if port.protocol:
            yield from validate_supported(f"{path}[{index}].protocol", port.protocol, ("SCTP", "TCP", "UDP"))


def _validate_mounts(path: str, container: Container, volumes: Iterable[str]) -> FieldErrors:
    """Validate a container's mounts: each of an existing volume, at a unique path."""
    paths: set[str] = set()
    for index, mount in enumerate(container.rest.get("volumeMounts", ())):
        if not isinstance(mount, dict):
            continue
        name, mounted = mount.get("name", ""), mount.get("mountPath", "")
        item_path = f"{path}[{index}]"
        if not name:
            yield FieldError(f"{item_path}.name", "Required")
        elif name not in volumes:
            yield FieldError(f"{item_path}.name", "NotFound", name)
        if not mounted:
            yield FieldError(f"{item_path}.mountPath", "Required")
        elif mounted in paths:
            yield FieldError(f"{item_path}.mountPath", "Invalid", mounted, "must be unique")
        paths.add(mounted)


def validate_resources(path: str, resources: Resources) -> FieldErrors:
    """Validate requests and limits: quantities are not negative, and a request is at most its limit.

    A request of an extended resource or of huge pages equals its limit, which must be given.
    """
    for field, quantities in (("limits", resources.limits), ("requests", resources.requests)):
        for name, text in quantities.items():
            if quantity.parse(text) < 0:
                yield FieldError(f"{path}.{field}.{name}", "Invalid", text, "must be greater than or equal to 0")
    for name, text in resources.requests.items():
        limit, more_allowed = resources.limits.get(name), allows_overcommit(name)
        if limit is None and not more_allowed:
            yield FieldError(f"{path}.limits", "Required", detail="Limit must be set for non overcommitable resources")
        elif limit is None:
            continue
        elif not more_allowed and quantity.parse(text) != quantity.parse(limit):
            yield FieldError(f"{path}.requests", "Invalid", text, f"must be equal to {name} limit of {limit}")
        elif quantity.parse(text) > quantity.parse(limit):
            detail = f"must be less than or equal to {name} limit of {limit}"
            yield FieldError(f"{path}.requests", "Invalid", text, detail)


def allows_overcommit(name: str) -> bool:
    """Say whether a pod may use more of a resource than it asks for: not of extended resources and huge pages."""
    native = "/" not in name or "kubernetes.io/" in name
    return native and not name.startswith("hugepages-")
