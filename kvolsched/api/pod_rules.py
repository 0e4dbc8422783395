"""Which pod specs the API server takes, one function a rule. Mirrors core `ValidatePodSpec` (v1.36.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import quantity
from .invalid import Invalid, Refusals, dns_label, each, labels, port_name, qualified_name, subdomain, supported
from .meta import EMPTY
from .pod import (
    Affinity,
    Container,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpreadConstraint,
)
from .pod_volume import EphemeralVolumeSource
from .resources import Resources
from .selector_rules import label_selector, node_selector, node_selector_term, tolerations
from .volume_rules import claim_spec

HARD = "DoNotSchedule"
_PORTS = "must be between 1 and 65535, inclusive"


def pod_spec(path: str, spec: PodSpec) -> Refusals:
    """Everything that is wrong with a pod's spec, at this path."""
    refused = list(volumes(f"{path}.volumes", spec))
    yield from refused
    yield from _containers(path, spec, _mountable(f"{path}.volumes", spec, refused))
    yield from supported(f"{path}.restartPolicy", spec.restart_policy, ("Always", "OnFailure", "Never"))
    yield from _words(path, spec.rest)
    if spec.node_name:
        yield from each(f"{path}.nodeName", spec.node_name, subdomain(spec.node_name))
    yield from labels(f"{path}.nodeSelector", spec.node_selector)
    yield from affinity(f"{path}.affinity", spec.affinity)
    yield from tolerations(f"{path}.tolerations", spec.tolerations)
    yield from _gates(path, spec)
    yield from spread(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints)
    yield from _names(path, spec.rest)


def _words(path: str, rest: Mapping[str, Any]) -> Refusals:
    """How names are looked up, how long it may run, and as whom."""
    if rest.get("dnsPolicy"):
        policies = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
        yield from supported(f"{path}.dnsPolicy", rest["dnsPolicy"], policies)
    deadline = rest.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        words = "must be between 1 and 2147483647, inclusive"
        yield Invalid(f"{path}.activeDeadlineSeconds", "Invalid", deadline, words)
    account = rest.get("serviceAccountName")
    if account:
        yield from each(f"{path}.serviceAccountName", account, subdomain(account))


def _names(path: str, rest: Mapping[str, Any]) -> Refusals:
    for field in ("hostname", "subdomain"):
        if isinstance(rest.get(field), str) and rest[field]:
            yield from each(f"{path}.{field}", rest[field], dns_label(rest[field]))
    if isinstance(rest.get("os"), dict):
        yield from supported(f"{path}.os", rest["os"].get("name", ""), ("linux", "windows"))


def volumes(path: str, spec: PodSpec) -> Refusals:
    """Volumes: a name, once; what their source requires; the claim of an ephemeral one as any claim."""
    seen: set[str] = set()
    for index, volume in enumerate(spec.volumes):
        here = f"{path}[{index}]"
        if not volume.name:
            yield Invalid(f"{here}.name", "Required")
        else:
            yield from each(f"{here}.name", volume.name, dns_label(volume.name))
        if volume.name in seen:
            yield Invalid(f"{here}.name", "Duplicate", volume.name)
        seen.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and not claim.claim_name:
            yield Invalid(f"{here}.persistentVolumeClaim.claimName", "Required")
        if volume.csi is not None and not volume.csi.driver:
            yield Invalid(f"{here}.csi.driver", "Required")
        if volume.ephemeral is not None:
            yield from _ephemeral(f"{here}.ephemeral.volumeClaimTemplate", volume.ephemeral)


def _ephemeral(path: str, source: EphemeralVolumeSource) -> Refusals:
    template = source.volume_claim_template
    if template is None:
        yield Invalid(path, "Required")
        return
    if template.metadata.name:
        yield Invalid(f"{path}.metadata.name", "Forbidden", detail="cannot be set")
    yield from claim_spec(f"{path}.spec", template.spec)


def _mountable(path: str, spec: PodSpec, refused: Iterable[Invalid]) -> set[str]:
    """Return the names of the volumes that nothing was said against: only they can be mounted."""
    bad = {refusal.path.removeprefix(path).partition("]")[0] for refusal in refused}
    return {volume.name for index, volume in enumerate(spec.volumes) if f"[{index}" not in bad}


def _containers(path: str, spec: PodSpec, known: set[str]) -> Refusals:
    if not spec.containers:
        yield Invalid(f"{path}.containers", "Required")
    names: set[str] = set()
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            here = f"{path}.{field}[{index}]"
            yield from _container(here, container, known)
            if container.name and container.name in names:
                yield Invalid(f"{here}.name", "Duplicate", container.name)
            names.add(container.name)


def _container(path: str, container: Container, volumes: Iterable[str]) -> Refusals:
    if not container.name:
        yield Invalid(f"{path}.name", "Required")
    else:
        yield from each(f"{path}.name", container.name, dns_label(container.name))
    if not container.image:
        yield Invalid(f"{path}.image", "Required")
    yield from _ports(f"{path}.ports", container)
    if container.rest.get("imagePullPolicy"):
        policies = ("Always", "IfNotPresent", "Never")
        yield from supported(f"{path}.imagePullPolicy", container.rest["imagePullPolicy"], policies)
    yield from resources(f"{path}.resources", container.resources)
    yield from _mounts(f"{path}.volumeMounts", container, volumes)


def _ports(path: str, container: Container) -> Refusals:
    """Ports: numbers, a protocol, names that are names and differ."""
    names: set[str] = set()
    for index, port in enumerate(container.ports):
        name = port.rest.get("name", "")
        if name:
            yield from each(f"{path}[{index}].name", name, port_name(name))
        if name and name in names:
            yield Invalid(f"{path}[{index}].name", "Duplicate", name)
        names.add(name)
        if not port.container_port:
            yield Invalid(f"{path}[{index}].containerPort", "Required")
        elif not 0 < port.container_port < 65536:
            yield Invalid(f"{path}[{index}].containerPort", "Invalid", port.container_port, _PORTS)
        if port.host_port and not 0 < port.host_port < 65536:
            yield Invalid(f"{path}[{index}].hostPort", "Invalid", port.host_port, _PORTS)
        if port.protocol:
            yield from supported(f"{path}[{index}].protocol", port.protocol, ("SCTP", "TCP", "UDP"))


def _mounts(path: str, container: Container, volumes: Iterable[str]) -> Refusals:
    """Mounts: of a volume that is there, each at a path of its own."""
    paths: set[str] = set()
    for index, mount in enumerate(container.rest.get("volumeMounts", ())):
        if not isinstance(mount, dict):
            continue
        name, mounted = mount.get("name", ""), mount.get("mountPath", "")
        here = f"{path}[{index}]"
        if not name:
            yield Invalid(f"{here}.name", "Required")
        elif name not in volumes:
            yield Invalid(f"{here}.name", "NotFound", name)
        if not mounted:
            yield Invalid(f"{here}.mountPath", "Required")
        elif mounted in paths:
            yield Invalid(f"{here}.mountPath", "Invalid", mounted, "must be unique")
        paths.add(mounted)


def resources(path: str, found: Resources) -> Refusals:
    """Quantities are not negative, and a request is at most its limit."""
    for field, quantities in (("limits", found.limits), ("requests", found.requests)):
        for name, text in quantities.items():
            if quantity.parse(text) < 0:
                yield Invalid(f"{path}.{field}.{name}", "Invalid", text, "must be greater than or equal to 0")
    for name, text in found.requests.items():
        limit = found.limits.get(name)
        if limit is not None and quantity.parse(text) > quantity.parse(limit):
            words = f"must be less than or equal to {name} limit of {limit}"
            yield Invalid(f"{path}.requests", "Invalid", text, words)


def _gates(path: str, spec: PodSpec) -> Refusals:
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        here = f"{path}.schedulingGates[{index}]"
        yield from each(here, gate.name, qualified_name(gate.name))
        if gate.name in seen:
            yield Invalid(here, "Duplicate", gate.name)
        seen.add(gate.name)
    if spec.scheduling_gates and spec.node_name:
        yield Invalid(
            f"{path}.nodeName",
            "Forbidden",
            detail="cannot be set until all schedulingGates have been cleared",
        )


def affinity(path: str, found: Affinity | None) -> Refusals:
    """Node and pod affinity: selectors, weights from 1 to 100, topology keys."""
    if found is None:
        return
    if found.node_affinity is not None:
        required, preferred = found.node_affinity.required, found.node_affinity.preferred
        if required is not None:
            yield from node_selector(f"{path}.nodeAffinity.{_REQUIRED}", required)
        for index, term in enumerate(preferred):
            here = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
            yield from _weight(here, term.weight)
            yield from node_selector_term(f"{here}.preference", term.preference)
    yield from _pod_affinity(f"{path}.podAffinity", found.pod_affinity)
    yield from _pod_affinity(f"{path}.podAntiAffinity", found.pod_anti_affinity)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _weight(path: str, weight: int) -> Refusals:
    if not 1 <= weight <= 100:
        yield Invalid(f"{path}.weight", "Invalid", weight, "must be in the range 1-100")


def _pod_affinity(path: str, found: PodAffinity | None) -> Refusals:
    if found is None:
        return
    for index, term in enumerate(found.required):
        yield from _pod_affinity_term(f"{path}.{_REQUIRED}[{index}]", term)
    for index, weighted in enumerate(found.preferred):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(here, weighted.weight)
        yield from _pod_affinity_term(f"{here}.podAffinityTerm", weighted.pod_affinity_term)


def _pod_affinity_term(path: str, term: PodAffinityTerm) -> Refusals:
    yield from label_selector(f"{path}.labelSelector", term.label_selector)
    yield from label_selector(f"{path}.namespaceSelector", term.namespace_selector)
    for name in term.namespaces:
        yield from each(f"{path}.namespace", name, dns_label(name))
    if not term.topology_key:
        yield Invalid(f"{path}.topologyKey", "Required", detail="can not be empty")
    yield from each(f"{path}.topologyKey", term.topology_key, qualified_name(term.topology_key))


def spread(path: str, found: tuple[TopologySpreadConstraint, ...]) -> Refusals:
    """Spread constraints (S3, API): each of them, and no two with the same key and mode."""
    for index, constraint in enumerate(found):
        here = f"{path}[{index}]"
        yield from _constraint(here, constraint)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        for other in found[index + 1 :]:
            if pair == (other.topology_key, other.when_unsatisfiable):
                words = f"{{{pair[0]}, {pair[1]}}}"
                yield Invalid(f"{here}.{{topologyKey, whenUnsatisfiable}}", "Duplicate", words)


def _constraint(path: str, constraint: TopologySpreadConstraint) -> Refusals:
    if constraint.max_skew <= 0:
        yield Invalid(f"{path}.maxSkew", "Invalid", constraint.max_skew, "must be greater than zero")
    if not constraint.topology_key:
        yield Invalid(f"{path}.topologyKey", "Required", detail="can not be empty")
    mode = constraint.when_unsatisfiable
    yield from supported(f"{path}.whenUnsatisfiable", mode, (HARD, "ScheduleAnyway"))
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            yield Invalid(
                f"{path}.minDomains", "Invalid", constraint.min_domains, "must be greater than zero"
            )
        if mode != HARD:
            words = f"can only use minDomains if whenUnsatisfiable={HARD}, not {mode}"
            yield Invalid(f"{path}.minDomains", "Invalid", constraint.min_domains, words)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None:
            yield from supported(f"{path}.{field}", policy, ("Honor", "Ignore"))
    yield from _label_keys(path, constraint)
    yield from label_selector(f"{path}.labelSelector", constraint.label_selector)


def _label_keys(path: str, constraint: TopologySpreadConstraint) -> Refusals:
    if not constraint.match_label_keys:
        return
    selector = constraint.label_selector
    if selector is None:
        words = "must not be specified when labelSelector is not set"
        yield Invalid(f"{path}.matchLabelKeys", "Forbidden", detail=words)
    labelled = selector.match_labels if selector is not None else EMPTY
    expressed = selector.match_expressions if selector is not None else ()
    selected = {*labelled, *(expression.key for expression in expressed)}
    for index, key in enumerate(constraint.match_label_keys):
        yield from each(f"{path}.matchLabelKeys[{index}]", key, qualified_name(key))
        if key in selected:
            yield Invalid(
                f"{path}[{index}]", "Invalid", key, "exists in both matchLabelKeys and labelSelector"
            )
