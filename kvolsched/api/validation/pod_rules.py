"""Validate the spec of a pod or template. Mirrors core `ValidatePodSpec` and `validateContainers` (v1.36.2)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..kinds import quantity
from ..kinds.meta import EMPTY, Resources
from ..kinds.name_syntax import check_dns_label, check_port_name, check_subdomain
from ..kinds.pod import Container, EphemeralVolumeSource, PodSpec, Volume
from .field_error import (
    FieldError,
    FieldErrors,
    invalid_values,
    validate_labels,
    validate_name,
    validate_supported,
    validate_unique,
)
from .pod_scheduling_rules import validate_affinity, validate_scheduling_gates, validate_spread_constraints
from .selector_rules import validate_tolerations
from .volume_rules import validate_claim_spec

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


SOURCES = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
    "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc",
    "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos",
    "projected", "scaleIO", "csi", "ephemeral", "image",
)  # fmt: skip
FORBIDDEN = {  # system -> what its pods' specs and their containers' securityContext may not have, in what words
    "linux": (("securityContext.windowsOptions",), ("windowsOptions",),
              "windows options cannot be set for a linux pod"),
    "windows": (
        ("securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
         "securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
         "securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup",
         "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
         "securityContext.seLinuxChangePolicy"),
        ("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
         "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
        "cannot be set for a windows pod",
    ),
}  # fmt: skip
_CAPITALS = re.compile("([A-Z]+)")


def validate_pod_spec(path: str, spec: PodSpec) -> FieldErrors:
    """Validate a pod's spec at this path."""
    errors = list(validate_pod_volumes(f"{path}.volumes", spec))
    yield from errors
    yield from validate_containers(path, spec, _mountable_volumes(f"{path}.volumes", spec, errors))
    if spec.rest.get("resources") and spec.rest.get("os", EMPTY).get("name") == "windows":
        yield FieldError(f"{path}.resources", "Forbidden", detail="may not be set for a windows pod")
    yield from validate_supported(f"{path}.restartPolicy", spec.restart_policy, ("Always", "OnFailure", "Never"))
    yield from _validate_other_fields(path, spec.rest)
    yield from validate_name(f"{path}.nodeName", spec.node_name, check_subdomain)
    yield from validate_labels(f"{path}.nodeSelector", spec.node_selector)
    yield from validate_affinity(f"{path}.affinity", spec.affinity)
    yield from validate_tolerations(f"{path}.tolerations", spec.tolerations)
    yield from validate_scheduling_gates(path, spec)
    yield from validate_spread_constraints(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints)
    yield from _validate_names(path, spec.rest)
    if spec.rest.get("os") is not None:
        yield from _validate_os(path, spec, spec.rest["os"].get("name"))


def _validate_other_fields(path: str, rest: Mapping[str, Any]) -> FieldErrors:
    """Validate dnsPolicy, activeDeadlineSeconds and serviceAccountName."""
    if rest.get("dnsPolicy"):
        policies = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
        yield from validate_supported(f"{path}.dnsPolicy", rest["dnsPolicy"], policies)
    deadline = rest.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        detail = "must be between 1 and 2147483647, inclusive"
        yield FieldError(f"{path}.activeDeadlineSeconds", "Invalid", deadline, detail)
    yield from validate_name(f"{path}.serviceAccountName", rest.get("serviceAccountName", ""), check_subdomain)


def _validate_names(path: str, rest: Mapping[str, Any]) -> FieldErrors:
    for field in ("hostname", "subdomain"):
        if isinstance(rest.get(field), str) and rest[field]:
            yield from invalid_values(f"{path}.{field}", rest[field], check_dns_label(rest[field]))


def _validate_os(path: str, spec: PodSpec, system: str | None) -> FieldErrors:
    """Validate the operating system of a pod, and refuse the fields that are only for another."""
    if not system:
        yield FieldError(f"{path}.os.name", "Required", detail="cannot be empty")
    elif system not in FORBIDDEN:
        yield from validate_supported(f"{path}.os", system, FORBIDDEN)
    else:
        fields, of_containers, detail = FORBIDDEN[system]
        found = [f"{path}.{field}" for field in fields if _is_set(spec.rest, *field.split("."))]
        for name, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
            found += [f"{path}.{name}[{index}].securityContext.{field}" for index, container in enumerate(containers)
                      for field in of_containers if _is_set(container.rest, "securityContext", field)]  # fmt: skip
        for field in found:
            yield FieldError(field, "Forbidden", detail=detail)


def _is_set(rest: Mapping[str, Any], *names: str) -> bool:
    value: Any = rest
    for name in names:
        value = (value or EMPTY).get(name)
    return bool(value) if names[-1] in ("hostPID", "hostIPC", "sysctls") else value is not None


def validate_pod_volumes(path: str, spec: PodSpec) -> FieldErrors:
    """Validate a pod's volumes: unique names, required fields of sources, claim templates of ephemeral volumes."""
    seen: set[str] = set()
    for index, volume in enumerate(spec.volumes):
        item_path = f"{path}[{index}]"
        yield from validate_name(f"{item_path}.name", volume.name, check_dns_label, required=True)
        yield from validate_unique(f"{item_path}.name", volume.name, seen)
        for source in _sources(volume)[1:]:
            yield FieldError(f"{item_path}.{source}", "Forbidden", detail="may not specify more than 1 volume type")
        claim = volume.persistent_volume_claim
        if claim is not None and not claim.claim_name:
            yield FieldError(f"{item_path}.persistentVolumeClaim.claimName", "Required")
        if volume.csi is not None and not volume.csi.driver:
            yield FieldError(f"{item_path}.csi.driver", "Required")
        if volume.ephemeral is not None:
            yield from _validate_ephemeral(f"{item_path}.ephemeral.volumeClaimTemplate", volume.ephemeral)


def _sources(volume: Volume) -> list[str]:
    """Return the sources that a volume has, by their manifest names in the order in which they are checked."""
    return [
        name for name in SOURCES
        if name in volume.rest or getattr(volume, _CAPITALS.sub(r"_\1", name).lower(), None) is not None
    ]  # fmt: skip


def _validate_ephemeral(path: str, source: EphemeralVolumeSource) -> FieldErrors:
    template = source.volume_claim_template
    if template is None:
        yield FieldError(path, "Required")
        return
    if template.metadata.name:
        yield FieldError(f"{path}.metadata.name", "Forbidden", detail="cannot be set")
    yield from validate_claim_spec(f"{path}.spec", template.spec)


def _mountable_volumes(path: str, spec: PodSpec, errors: Iterable[FieldError]) -> set[str]:
    """Return the names of the valid volumes: only they can be mounted."""
    invalid = {error.path.removeprefix(path).partition("]")[0] for error in errors}
    return {volume.name for index, volume in enumerate(spec.volumes) if f"[{index}" not in invalid}
