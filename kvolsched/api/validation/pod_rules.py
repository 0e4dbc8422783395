"""Which pod specs the API server takes, one function a rule. Mirrors core `ValidatePodSpec` (v1.36.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..kinds.pod import PodSpec
from ..kinds.pod_volume import EphemeralVolumeSource
from .container_rules import validate_containers
from .field_error import (
    FieldError,
    FieldErrors,
    check_dns_label,
    check_subdomain,
    invalid_values,
    validate_labels,
    validate_supported,
)
from .pod_scheduling_rules import validate_affinity, validate_scheduling_gates, validate_spread_constraints
from .selector_rules import validate_tolerations
from .volume_rules import validate_claim_spec


def validate_pod_spec(path: str, spec: PodSpec) -> FieldErrors:
    """Everything that is wrong with a pod's spec, at this path."""
    refused = list(validate_pod_volumes(f"{path}.volumes", spec))
    yield from refused
    yield from validate_containers(path, spec, _mountable(f"{path}.volumes", spec, refused))
    yield from validate_supported(f"{path}.restartPolicy", spec.restart_policy, ("Always", "OnFailure", "Never"))
    yield from _words(path, spec.rest)
    if spec.node_name:
        yield from invalid_values(f"{path}.nodeName", spec.node_name, check_subdomain(spec.node_name))
    yield from validate_labels(f"{path}.nodeSelector", spec.node_selector)
    yield from validate_affinity(f"{path}.affinity", spec.affinity)
    yield from validate_tolerations(f"{path}.tolerations", spec.tolerations)
    yield from validate_scheduling_gates(path, spec)
    yield from validate_spread_constraints(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints)
    yield from _names(path, spec.rest)


def _words(path: str, rest: Mapping[str, Any]) -> FieldErrors:
    """How names are looked up, how long it may run, and as whom."""
    if rest.get("dnsPolicy"):
        policies = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
        yield from validate_supported(f"{path}.dnsPolicy", rest["dnsPolicy"], policies)
    deadline = rest.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        words = "must be between 1 and 2147483647, inclusive"
        yield FieldError(f"{path}.activeDeadlineSeconds", "Invalid", deadline, words)
    account = rest.get("serviceAccountName")
    if account:
        yield from invalid_values(f"{path}.serviceAccountName", account, check_subdomain(account))


def _names(path: str, rest: Mapping[str, Any]) -> FieldErrors:
    for field in ("hostname", "subdomain"):
        if isinstance(rest.get(field), str) and rest[field]:
            yield from invalid_values(f"{path}.{field}", rest[field], check_dns_label(rest[field]))
    if isinstance(rest.get("os"), dict):
        yield from validate_supported(f"{path}.os", rest["os"].get("name", ""), ("linux", "windows"))


def validate_pod_volumes(path: str, spec: PodSpec) -> FieldErrors:
    """Volumes: a name, once; what their source requires; the claim of an ephemeral one as any claim."""
    seen: set[str] = set()
    for index, volume in enumerate(spec.volumes):
        here = f"{path}[{index}]"
        if not volume.name:
            yield FieldError(f"{here}.name", "Required")
        else:
            yield from invalid_values(f"{here}.name", volume.name, check_dns_label(volume.name))
        if volume.name in seen:
            yield FieldError(f"{here}.name", "Duplicate", volume.name)
        seen.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and not claim.claim_name:
            yield FieldError(f"{here}.persistentVolumeClaim.claimName", "Required")
        if volume.csi is not None and not volume.csi.driver:
            yield FieldError(f"{here}.csi.driver", "Required")
        if volume.ephemeral is not None:
            yield from _ephemeral(f"{here}.ephemeral.volumeClaimTemplate", volume.ephemeral)


def _ephemeral(path: str, source: EphemeralVolumeSource) -> FieldErrors:
    template = source.volume_claim_template
    if template is None:
        yield FieldError(path, "Required")
        return
    if template.metadata.name:
        yield FieldError(f"{path}.metadata.name", "Forbidden", detail="cannot be set")
    yield from validate_claim_spec(f"{path}.spec", template.spec)


def _mountable(path: str, spec: PodSpec, refused: Iterable[FieldError]) -> set[str]:
    """Return the names of the volumes that nothing was said against: only they can be mounted."""
    bad = {refusal.path.removeprefix(path).partition("]")[0] for refusal in refused}
    return {volume.name for index, volume in enumerate(spec.volumes) if f"[{index}" not in bad}
